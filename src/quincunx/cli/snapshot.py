"""`quincunx snapshot`: the private tables of a plan read once into a file, for the questions to come."""

from __future__ import annotations

from pathlib import Path

import typer

from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.cli.plan import PlanPath, opened


@reports_errors
def snapshot(plan: PlanPath, as_json: AsJson = False) -> None:
    """Read the private tables into the file that the plan names, snapshot = "…". Asks nothing and spends nothing.

    For the curator: private rows then rest in that file, which nobody else may read. It is made anew each time.
    """
    with opened(plan, None, "reading the tables", as_json=as_json) as (session, _):
        made = Path(session.keep())
    if as_json:
        print_json({"snapshot": made.name})
    else:
        typer.echo(f"{made.name}: private rows rest in it; remove it when they are no longer needed.")
