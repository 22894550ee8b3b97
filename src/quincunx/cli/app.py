"""The commands and their names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from quincunx import __version__
from quincunx.address import masked
from quincunx.cli import (
    account,
    attack,
    audit,
    calibrate,
    census,
    census_compare,
    check,
    convert,
    demo,
    error,
    explain,
    init,
    ledger,
    limits,
    meaning,
    noise,
    proposal,
    release,
    snapshot,
    spec,
    sql,
    swap,
    taxonomy,
    topdown,
)


class Commands(TyperGroup):
    """The commands; what is said about arguments that cannot be read holds no password of an address."""

    def make_context(self, *args: Any, **more: Any) -> Any:
        """The options of the command itself."""
        with _masking():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """The options of the commands below, and what they do."""
        with _masking():
            return super().invoke(ctx)


@contextmanager
def _masking() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        # What the parser of options says; errors of the library are masked where they are made.
        if isinstance(message := getattr(error, "message", None), str):
            setattr(error, "message", masked(message))  # noqa: B010 - the parser calls it final
        raise


app = typer.Typer(
    name="quincunx",
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"quincunx {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Differential privacy whose guarantee can be stated, computed, checked and audited."""


app.command("account")(account.account)
app.add_typer(attack.app, name="attack")
app.add_typer(audit.app, name="audit")
app.command("calibrate")(calibrate.calibrate)
census.app.command("compare")(census_compare.compare)
app.add_typer(census.app, name="census")
app.command("check")(check.check)
app.command("convert")(convert.convert)
app.command("demo")(demo.demo)
app.command("error")(error.error)
app.command("explain")(explain.explain)
app.command("init")(init.init)
app.add_typer(ledger.app, name="ledger")
app.command("limits")(limits.limits)
app.command("meaning")(meaning.meaning)
app.command("noise")(noise.noise)
app.command("plan")(proposal.plan)
app.command("release")(release.release)
app.command("snapshot")(snapshot.snapshot)
app.add_typer(spec.app, name="spec")
app.command("sql")(sql.sql)
app.command("swap")(swap.swap)
app.command("topdown")(topdown.topdown)
app.add_typer(taxonomy.app, name="taxonomy")


def main() -> None:
    """Run the command line."""
    app()
