"""The commands and their names."""

from __future__ import annotations

import typer

from quincunx.cli import demo, noise, spec

app = typer.Typer(
    name="quincunx",
    help="Differential privacy whose guarantee can be stated, computed, checked and audited.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.demo)
app.command("noise")(noise.noise)
app.add_typer(spec.app, name="spec")


def main() -> None:
    """Run the command line."""
    app()
