"""`quincunx sql`: ask a question of a plan's data, pay for it, and print the answer."""

from __future__ import annotations

from typing import Annotated

import typer

from quincunx.cli.output import AsJson, console, print_json, reports_errors
from quincunx.cli.plan import Analyst, Delta, PlanPath, Spend, Sql, Within, half_widths, opened, question
from quincunx.errors import ParameterError


@reports_errors
def sql(
    plan: PlanPath,
    sql: Sql,
    spend: Spend = None,
    delta: Delta = None,
    within: Within = None,
    tidy: Annotated[
        list[str] | None, typer.Option(help="Post-processing: non-negative or integer. May be repeated.")
    ] = None,
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
            question(sql), spend=spend, delta=delta, within=half_widths(within), tidy=tuple(tidy or ())
        )
    if as_json:
        print_json(answer.to_dict())
    elif as_csv:
        from quincunx.release.show import footer
        from quincunx.release.write import csv_text

        typer.echo(csv_text(answer), nl=False)
        for line in footer(answer):
            typer.echo(line, err=True)
    else:
        console().print(answer)
