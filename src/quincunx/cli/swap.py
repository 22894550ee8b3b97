"""`quincunx swap`: swap a file and say what is guaranteed."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Annotated

import typer

from quincunx.address import masked
from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.cli.progress import working
from quincunx.numbers import above

if TYPE_CHECKING:
    from quincunx.invariant import Drawn


@reports_errors
def swap(
    file: Annotated[str, typer.Argument(help="The data: a CSV or Parquet file.")],
    column: Annotated[str, typer.Option(help="The swapped column, or several, with commas, that move together.")],
    match: Annotated[str, typer.Option(help="The columns, with commas, on which records agree that exchange values.")],
    rate: Annotated[str, typer.Option(help="The probability with which a record is selected, exact as typed.")],
    out: Annotated[str, typer.Option(help="Where to write the swapped data: .csv or .parquet.")],
    kind: Annotated[str, typer.Option(help="derangement (nobody keeps their own) or uniform.")] = "derangement",
    household: Annotated[
        str | None, typer.Option(help="The column that identifies households that move whole.")
    ] = None,
    move: Annotated[
        str, typer.Option(help="Columns, with commas, that go along: they would give the swap away if they stayed.")
    ] = "",
    report: Annotated[bool, typer.Option("--report", help="Also say what happened, for the curator's eyes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Exchange a column's values at random between matching records, and print the guarantee.

    The rows leave in random order, without the household key. The counts by the matched and the other columns, and by
    the matched and the swapped columns, stay exactly as they were.
    """
    from quincunx.invariant import FileTable, check_target, draw

    check_target(file, out)
    with working("reading the file", quiet=as_json) as stage, warnings.catch_warnings(record=True) as noticed:
        table = FileTable(file)
        warnings.simplefilter("always")
        stage("swapping")
        drawn = draw(
            table,
            column=_listed(column),
            match=_listed(match),
            rate=rate,
            kind=kind,
            household=household,
            move=_listed(move),
        )
        stage("writing the file")
        table.write(drawn, out)
    for warning in noticed:
        typer.echo(f"warning: {warning.message}", err=True)
    if report:
        _tell(drawn)
    if as_json:
        print_json(_content(drawn, out))
        return
    record = "record" if household is None else "household"
    typer.echo(drawn.specification.describe())
    typer.echo("")
    theorem = above(drawn.epsilon.theorem)
    typer.echo(
        f"ε ≤ {above(drawn.epsilon.exact)} (the theorem's simple bound: {theorem}) for each {record} of "
        f"difference, at rate {rate}; the "
        f"largest stratum that can swap has {drawn.epsilon.largest_stratum:,} {record}s."
    )
    typer.echo(drawn.epsilon.words(record))
    typer.echo(f"Swapped data: {masked(str(out))}", err=True)


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _content(drawn: Drawn, out: str) -> dict[str, object]:
    epsilon = drawn.epsilon
    record = "record" if drawn.roles.household is None else "household"
    return {
        "out": masked(out),
        "specification": json.loads(drawn.specification.to_json()),
        "epsilon": {
            "rate": str(epsilon.rate),
            "largest_stratum": epsilon.largest_stratum,
            "kind": epsilon.kind.value,
            "theorem": epsilon.theorem,
            "exact": epsilon.exact,
            "stated": str(epsilon.intensity),
        },
        "smallest_change": epsilon.words(record),
        "injected": drawn.injected,
    }


def _tell(drawn: Drawn) -> None:
    found = drawn.report
    typer.echo("For the curator's eyes only; none of this is protected:", err=True)
    typer.echo(
        f"  {found.records:,} rows, {found.units:,} units in {found.strata:,} strata; {found.selected:,} selected, "
        f"{found.moved:,} with other values than before.",
        err=True,
    )
    for gone in found.dependences:
        typer.echo(
            f"  {', '.join(gone.columns)} beside {gone.swapped}: {100 * gone.undone:.3g} % of the units can be undone, "
            f"{100 * gone.marked:.3g} % show that they were swapped.",
            err=True,
        )
    for each in found.tables:
        typer.echo(
            f"  {' × '.join(each.columns)}: {each.misplaced:,} rows in another cell, mean absolute error "
            f"{each.mean_absolute_error:.4g}, {each.mean_absolute_percentage_error:.4g} % of {each.cells:,} cells.",
            err=True,
        )
