"""The commands and their names."""

from __future__ import annotations

import typer

from quincunx.cli import account, calibrate, demo, error, noise, spec

app = typer.Typer(
    name="quincunx",
    help="Differential privacy whose guarantee can be stated, computed, checked and audited.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("account")(account.account)
app.command("calibrate")(calibrate.calibrate)
app.command("demo")(demo.demo)
app.command("error")(error.error)
app.command("noise")(noise.noise)
app.add_typer(spec.app, name="spec")


def main() -> None:
    """Run the command line."""
    app()
