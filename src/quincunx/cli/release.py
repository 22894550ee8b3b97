"""`quincunx release`: answer every release of a plan and write the tables."""

from __future__ import annotations

from typing import Annotated

import typer

from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.cli.plan import Analyst, PlanPath, opened
from quincunx.errors import ParameterError


@reports_errors
def release(
    plan: PlanPath,
    out: Annotated[str | None, typer.Option(help="The folder for the tables and the summary.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Costs and errors only: no private row is read.")] = False,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Answer every release of a plan: NAME.csv and NAME.parquet for each, summary.json and summary.md.

    Refused as a whole, before anything is spent, where the budgets do not cover it.
    """
    if out is None and not dry_run:
        raise ParameterError("the folder is missing", where="--out", hint="Write --out DIR, or --dry-run.")
    with opened(plan, analyst, "planning every release", as_json=as_json) as (session, stage):
        found = session.check() if dry_run or out is None else None
        done = None if out is None or found is not None else session.release(out, progress=stage)
    if found is not None:
        if as_json:
            print_json(found.to_dict())
        else:
            typer.echo(str(found))
        if not found.covered:
            raise typer.Exit(3)
    if done is None:
        return
    if as_json:
        releases = {name: answer.to_dict() for name, answer in done.answers.items()}
        print_json({"folder": out, "head": done.head, "releases": releases})
        return
    from quincunx.numbers import stated

    for note in done.notes:
        typer.echo(note, err=True)
    for name, answer in done.answers.items():
        spent = stated(answer.symbol, answer.spent, answer.delta)
        typer.echo(f"{name}: {len(answer):,} rows, spent {spent}")
    last = next(reversed(done.answers.values()))
    typer.echo(f"remaining {stated(last.symbol, last.remaining, last.remaining_delta)} for {last.dataset}")
    typer.echo(f"ledger head {done.head}")
