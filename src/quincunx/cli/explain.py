"""`quincunx explain`: what a question would do and cost. Reads no private row and spends nothing."""

from __future__ import annotations

from typing import Annotated

import typer

from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.cli.plan import (
    Analyst,
    Assume,
    Delta,
    Interval,
    Limit,
    PlanPath,
    Spend,
    Sql,
    Weights,
    Within,
    half_widths,
    limits_of,
    opened,
    question,
)


@reports_errors
def explain(
    plan: PlanPath,
    sql: Sql,
    spend: Spend = None,
    delta: Delta = None,
    within: Within = None,
    weight: Weights = None,
    assume: Assume = None,
    group_size: Annotated[
        str, typer.Option(help="How many rows a group has, for the errors of means and quantiles.")
    ] = "1000",
    engine_sql: Annotated[bool, typer.Option(help="Also print the statement that the engine would run.")] = False,
    limits: Limit = None,
    interval: Interval = True,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Say what a question would do: what counts of each person, keys, noise, errors and cost."""
    with opened(plan, analyst, "planning the question", as_json=as_json) as (session, _):
        found = session.explain(
            question(sql),
            spend=spend,
            delta=delta,
            within=half_widths(within),
            weights=half_widths(weight, "weight"),
            assume=half_widths(assume, "assume"),
            limits=limits_of(limits),
            group_size=group_size,
            interval=interval,
        )
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found) + (f"\n\n{found.engine_sql}" if engine_sql else ""))
