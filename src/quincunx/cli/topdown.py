"""`quincunx topdown`: a hierarchical release that keeps invariants, with intervals."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.errors import ParameterError
from quincunx.numbers.text import stated

if TYPE_CHECKING:
    from quincunx.invariant.topdown import Release, TopDown


@reports_errors
def topdown(
    plan: Annotated[str, typer.Argument(help="The plan: a TOML file with [spec] and [topdown].")],
    out: Annotated[str | None, typer.Option(help="The folder for microdata, measurements, estimates and more.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Budget and guarantee only: no private row is read.")
    ] = False,
    report: Annotated[bool, typer.Option("--report", help="Also say how wrong it is, for the curator's eyes.")] = False,
    reruns: Annotated[int, typer.Option(help="Run again so often on its own output: intervals for the microdata.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Publish tables of a hierarchy that add up, keep invariants and are not negative, with intervals.

    The noisy measurements are drawn once and kept in the ledger before anything is solved: a run that was interrupted
    goes on for nothing. Where the budget does not cover the release nothing is spent.
    """
    from quincunx.invariant.topdown import TopDown
    from quincunx.invariant.topdown.write import budget_rows, check_folder, specification, summary, write

    if out is None and not dry_run:
        raise ParameterError("the folder is missing", where="--out", hint="Write --out DIR, or --dry-run.")
    if reruns < 0 or reruns == 1:
        raise ParameterError("give two reruns or more", where="--reruns", got=str(reruns))
    planned = TopDown.open(plan)
    if dry_run or out is None:
        if as_json:
            print_json({**specification(planned), "budget": list(budget_rows(planned))})
        else:
            _show(planned)
        return
    folder = Path(out)
    check_folder(folder)
    _say_if_new(planned)
    release = planned.run(progress=None if as_json else _progress())
    files = write(release, folder)
    spreads = _rerun(release, reruns, folder) if reruns else []
    if report:
        _tell(release)
    if as_json:
        content = {**summary(release), "charged": str(release.measured.charged)}
        print_json({**content, "files": [str(path) for path in files], "reruns": spreads})
        return
    _show(planned)
    solved = release.solved
    typer.echo(
        f"{int(release.tables[-1].sum()):,} rows of microdata; {solved.programs:,} rounding programs, "
        f"{solved.fractional} fractions; charged {stated('ρ', release.measured.charged)}"
    )
    for name, amount in solved.repairs:
        typer.echo(f"not kept: {name}, by {amount:g}")
    for each in spreads:
        typer.echo(
            f"reruns: {each['level']}, {each['query']}: mean half-width {each['half']:.4g}, covers "
            f"{each['covered']:.3f} of reruns; approximate"
        )
    if release.measured.injected:
        typer.echo("not private: injected key")
    typer.echo(f"ledger head {release.measured.head}")


def _show(planned: TopDown) -> None:
    from quincunx.invariant.topdown.write import budget_rows

    geography = planned.geography
    sizes = ", ".join(f"{geography.nodes(level):,} {name}" for level, name in enumerate(geography.names))
    typer.echo(f"{planned.dataset}: {sizes}; {planned.schema.cells:,} cells in each")
    for row in budget_rows(planned):
        noise = f"σ = {row['sigma']}" if row["sigma"] else "not measured"
        typer.echo(f"  {row['level']}, {row['query']}: {stated('ρ', Fraction(row['rho']))}, {noise}; {row['note']}")
    typer.echo(f"{stated('ρ', planned.rho)} for each person replaced, among data that agree on the published facts")
    if planned.counts is not None:
        typer.echo(f"  you vouch that one count of {planned.counts} is one person")
    for name, cost in planned.without.items():
        typer.echo(f"  without “{name}” in the scope: ρ = {cost}")


def _say_if_new(planned: TopDown) -> None:
    """A mistyped path makes a new ledger, and a new ledger has a whole budget: that must not pass in silence."""
    if str(planned.ledger) == ":memory:":
        typer.echo("The ledger is in memory: what was spent is forgotten when this process ends.", err=True)
    elif not Path(str(planned.ledger)).exists():
        typer.echo(f"A new ledger, which gives {planned.dataset} {stated('ρ', planned.rho)} in all.", err=True)


def _progress() -> Callable[[str, int, int], None]:
    shown = sys.stderr.isatty()

    def told(level: str, done: int, total: int) -> None:
        if shown:
            typer.echo(f"\r{level}: {done:,} of {total:,}" + ("\n" if done == total else ""), err=True, nl=False)
        elif done == total:
            typer.echo(f"{level}: {total:,}", err=True)

    return told


def _rerun(release: Release, count: int, folder: Path) -> list[dict[str, object]]:
    from quincunx.invariant.topdown.rerun import rerun
    from quincunx.invariant.topdown.write import write_intervals

    spreads = rerun(release, count)
    write_intervals(release, spreads, folder)
    return [
        {"level": each.level, "query": each.query, "half": float(each.half.mean()), "covered": each.covered}
        for each in spreads
    ]


def _tell(release: Release) -> None:
    from quincunx.invariant.topdown.report import errors

    typer.echo("For the curator's eyes only; none of this is protected:", err=True)
    for each in errors(release):
        more = ""
        if each.estimate is not None and each.covered is not None:
            more = f"; estimates {each.estimate:.4g}, covered {each.covered:.3f}"
        typer.echo(f"  {each.level}, {each.query}: mean absolute error {each.error:.4g}{more}", err=True)
