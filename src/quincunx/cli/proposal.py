"""`quincunx plan`: spends for a whole plan from how exact its outputs are to be. Reads no private row, spends nothing."""

from __future__ import annotations

from typing import Annotated

import typer

from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.cli.plan import Analyst, Assume, PlanPath, half_widths, opened
from quincunx.errors import ParameterError


@reports_errors
def plan(
    plan: PlanPath,
    within: Annotated[
        list[str] | None,
        typer.Option(help="A half-width to reach: visits.n=25, or n=25 for every release that has n. May be repeated."),
    ] = None,
    assume: Assume = None,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Propose what each release of a plan should spend, for half-widths of its outputs, and the lines for the plan.

    Releases that are not named spend what the plan says. Where the budgets do not cover the sum, the exit code is 3.
    """
    widths = half_widths(within)
    if widths is None:
        hint = "Write --within visits.n=25: a release, its output and the half-width."
        raise ParameterError("no half-width is given", where="--within", hint=hint)
    with opened(plan, analyst, "planning every release", as_json=as_json) as (session, _):
        found = session.propose(widths, assume=half_widths(assume, "assume"))
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))
    if not found.covered:
        raise typer.Exit(3)
