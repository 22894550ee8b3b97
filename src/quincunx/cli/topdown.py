"""`quincunx topdown`: a hierarchical release that keeps invariants, with intervals."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.cli.progress import working
from quincunx.errors import ParameterError
from quincunx.numbers import stated

if TYPE_CHECKING:
    from quincunx.invariant import TopDown
    from quincunx.invariant.topdown import Pair, PairRelease, Release


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
    from quincunx.invariant.topdown import Pair, PairRelease
    from quincunx.invariant.topdown.pair import opened
    from quincunx.invariant.topdown.write import budget_rows, specification, summary, write
    from quincunx.release.whole import check_folder

    if out is None and not dry_run:
        raise ParameterError("the folder is missing", where="--out", hint="Write --out DIR, or --dry-run.")
    if reruns < 0 or reruns == 1:
        raise ParameterError("give two reruns or more", where="--reruns", got=str(reruns))
    planned = opened(plan)
    halves = planned.halves if isinstance(planned, Pair) else (planned,)
    if dry_run or out is None:
        if as_json:
            lines = [{"table": half.universe, **row} for half in halves for row in budget_rows(half)]
            print_json({**specification(planned), "budget": lines})
        else:
            _show(planned)
        return
    folder = Path(out)
    check_folder(folder)
    _say_if_new(halves[0])
    with working("counting and measuring", quiet=as_json) as stage:
        # The places of a geography are public, and so is how many of them are solved.
        release = planned.run(progress=lambda level, done, total: stage(f"{level}, {done:,} of {total:,}"))
        stage("writing the files")
        files = write(release, folder)
        made = (release.people, release.households) if isinstance(release, PairRelease) else (release,)
        stage("running again on what was published")
        spreads = _rerun(release, reruns, folder) if reruns else []
    charged = sum((each.measured.charged for each in made), Fraction(0))
    if report:
        _tell(made)
    if as_json:
        content = {**summary(release), "charged": str(charged)}
        print_json({**content, "files": [str(path) for path in files], "reruns": spreads})
        return
    _show(planned)
    for each in made:
        _solved(each)
    if isinstance(release, PairRelease):
        places = f"{halves[0].geography.nodes(halves[0].geography.depth - 1):,}"
        typer.echo(f"people agree with the sizes of households in all but {release.broken:,} of {places} places")
    typer.echo(f"charged {stated('ρ', charged)}")
    for spread in spreads:
        table = f"{spread['table']}, " if "table" in spread else ""
        typer.echo(
            f"reruns: {table}{spread['level']}, {spread['query']}: mean half-width {spread['half']:.4g}, covers "
            f"{spread['covered']:.3f} of reruns; approximate"
        )
    if made[0].measured.injected:
        typer.echo("not private: injected key")
    typer.echo(f"ledger head {made[0].measured.head}")


def _solved(release: Release) -> None:
    solved, universe = release.solved, release.topdown.universe
    typer.echo(
        f"{f'{universe}: ' if universe else ''}{int(release.tables[-1].sum()):,} rows of microdata; "
        f"{solved.programs:,} rounding programs, {solved.fractional} fractions"
    )
    if solved.joint:
        more = f", {solved.unproved} of them not proved to be the nearest" if solved.unproved else ""
        typer.echo(f"{solved.joint} subtrees solved as a whole, since their parents could not be divided{more}")
    for name, amount in solved.repairs:
        typer.echo(f"not kept: {name}, by {amount:g}")


def _show(planned: TopDown | Pair) -> None:
    from quincunx.invariant.topdown import Pair
    from quincunx.invariant.topdown.write import budget_rows

    halves = planned.halves if isinstance(planned, Pair) else (planned,)
    for half in halves:
        geography = half.geography
        sizes = ", ".join(f"{geography.nodes(level):,} {name}" for level, name in enumerate(geography.names))
        name = f"{half.dataset}, {half.universe}" if half.universe else half.dataset
        typer.echo(f"{name}: {sizes}; {half.schema.cells:,} cells in each")
        for row in budget_rows(half):
            noise = f"σ = {row['sigma']}" if row["sigma"] else "not measured"
            typer.echo(f"  {row['level']}, {row['query']}: {stated('ρ', Fraction(row['rho']))}, {noise}; {row['note']}")
    if len(halves) > 1:
        typer.echo(" + ".join(f"{stated('ρ', half.rho)} for {half.universe}" for half in halves))
    typer.echo(f"{stated('ρ', planned.rho)} for each person replaced, among data that agree on the published facts")
    for half in halves:
        if half.counts is not None:
            typer.echo(f"  you vouch that one count of {half.counts} is one person")
    for name, cost in planned.without.items():
        typer.echo(f"  without “{name}” in the scope: ρ = {cost}")


def _say_if_new(planned: TopDown) -> None:
    """A mistyped path makes a new ledger, and a new ledger has a whole budget: that must not pass in silence."""
    from quincunx.ledger import Ledger

    if str(planned.ledger) == ":memory:":
        typer.echo("The ledger is in memory: what was spent is forgotten when this process ends.", err=True)
    elif not Ledger.exists(str(planned.ledger)):
        typer.echo(f"A new ledger, which gives {planned.dataset} {stated('ρ', planned.rho)} in all.", err=True)


def _rerun(release: Release | PairRelease, count: int, folder: Path) -> list[dict[str, object]]:
    from quincunx.invariant.topdown.rerun import rerun
    from quincunx.invariant.topdown.write import write_intervals

    spreads = rerun(release, count)
    write_intervals(release, spreads, folder)
    return [
        {
            **({"table": each.table} if each.table else {}),
            "level": each.level,
            "query": each.query,
            "half": float(each.half.mean()),
            "covered": each.covered,
        }
        for each in spreads
    ]


def _tell(releases: tuple[Release, ...]) -> None:
    from quincunx.invariant.topdown.report import errors

    typer.echo("For the curator's eyes only; none of this is protected:", err=True)
    for release in releases:
        universe = f"{release.topdown.universe}, " if release.topdown.universe else ""
        for each in errors(release):
            more = ""
            if each.estimate is not None and each.covered is not None:
                more = f"; estimates {each.estimate:.4g}, covered {each.covered:.3f}"
            where = f"{universe}{each.level}, {each.query}"
            typer.echo(f"  {where}: mean absolute error {each.error:.4g}{more}", err=True)
