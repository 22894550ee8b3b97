"""`quincunx sql`: ask a question of a plan's data, pay for it, and print the answer."""

from __future__ import annotations

from typing import Annotated

import typer

from quincunx.cli.output import AsJson, console, print_json, reports_errors
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
from quincunx.errors import ParameterError


@reports_errors
def sql(
    plan: PlanPath,
    sql: Sql,
    spend: Spend = None,
    delta: Delta = None,
    within: Within = None,
    weight: Weights = None,
    assume: Assume = None,
    tidy: Annotated[
        list[str] | None, typer.Option(help="Post-processing: non-negative or integer. May be repeated.")
    ] = None,
    interval: Interval = True,
    then: Annotated[str | None, typer.Option(help="SQL over the published answer: SELECT … FROM answer. Free.")] = None,
    limits: Limit = None,
    analyst: Analyst = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print the table as CSV; the rest goes to standard error.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Answer a question with noise, and charge the plan's ledger. A question asked before costs nothing."""
    if as_csv and as_json:
        raise ParameterError("choose one form", where="sql", got="--csv and --json")
    with opened(plan, analyst, "answering the question", as_json=as_json) as (session, _):
        answer = session.sql(
            question(sql),
            spend=spend,
            delta=delta,
            within=half_widths(within),
            weights=half_widths(weight, "weight"),
            assume=half_widths(assume, "assume"),
            limits=limits_of(limits),
            tidy=tuple(tidy or ()),
            interval=interval,
        )
    shown = answer if then is None else answer.then(then)
    if as_json:
        print_json(shown.to_dict() if then is None else {"answer": answer.to_dict(), "then": shown.to_dict()})
    elif as_csv:
        from quincunx.release.write import csv_text

        typer.echo(csv_text(shown), nl=False)
        for line in [*(answer.told()[:1] if then is not None else ()), *shown.told()]:
            typer.echo(line, err=True)
    else:
        console().print(shown)
        if then is not None:
            # What the answer below it cost is said too.
            typer.echo(answer.told()[0], err=True)
