"""`quincunx check`: everything that can be wrong with a plan before the first private row is read."""

from __future__ import annotations

import typer

from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.cli.plan import Analyst, PlanPath, opened


@reports_errors
def check(plan: PlanPath, analyst: Analyst = None, as_json: AsJson = False) -> None:
    """Check a plan: its tables' metadata, every release, its errors and costs, and the budget. Reads no private row.

    A plan whose releases the budgets do not cover ends with exit code 3.
    """
    with opened(plan, analyst, "planning every release", as_json=as_json) as (session, _):
        found = session.check()
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))
    if not found.covered:
        raise typer.Exit(3)
