"""`quincunx limits`: how far the limits of a table are from its people, measured privately and paid for."""

from __future__ import annotations

from typing import Annotated

import typer

from quincunx.cli.output import AsJson, made, print_json, reports_errors
from quincunx.cli.plan import Analyst, PlanPath, opened


@reports_errors
def limits(
    plan: PlanPath,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The private table.")],
    spend: Annotated[str, typer.Option(help="What to spend on the whole report, in the standard's parameter.")],
    by: Annotated[
        list[str] | None, typer.Option(help="A column with public keys whose groups are looked at. May be repeated.")
    ] = None,
    beyond: Annotated[
        int | None, typer.Option(help="How many rows beyond the limit are looked at, of each person.")
    ] = None,
    out: Annotated[str | None, typer.Option(help="A folder for the chart, limits.svg.")] = None,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Measure privately who is over the limits of a table and what they lose. Charges the plan's ledger, once."""
    with opened(plan, analyst, "measuring the limits", as_json=as_json) as (session, _):
        found = session.limits(table, by=by, spend=spend, beyond=beyond)
    if out is not None:
        found.chart().write(made(out) / "limits.svg")
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))
