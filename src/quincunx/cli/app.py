"""The commands and their names."""

from __future__ import annotations

import typer

from quincunx.cli import (
    account,
    attack,
    audit,
    calibrate,
    census,
    check,
    demo,
    error,
    explain,
    init,
    ledger,
    meaning,
    noise,
    release,
    spec,
    sql,
    swap,
    taxonomy,
)

app = typer.Typer(
    name="quincunx",
    help="Differential privacy whose guarantee can be stated, computed, checked and audited.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("account")(account.account)
app.add_typer(attack.app, name="attack")
app.add_typer(audit.app, name="audit")
app.command("calibrate")(calibrate.calibrate)
app.command("census")(census.census)
app.command("check")(check.check)
app.command("demo")(demo.demo)
app.command("error")(error.error)
app.command("explain")(explain.explain)
app.command("init")(init.init)
app.add_typer(ledger.app, name="ledger")
app.command("meaning")(meaning.meaning)
app.command("noise")(noise.noise)
app.command("release")(release.release)
app.add_typer(spec.app, name="spec")
app.command("sql")(sql.sql)
app.command("swap")(swap.swap)
app.add_typer(taxonomy.app, name="taxonomy")


def main() -> None:
    """Run the command line."""
    app()
