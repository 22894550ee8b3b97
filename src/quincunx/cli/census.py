"""`quincunx census`: the census systems in five blocks, what swapping costs, and what if 2020 had used it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.table import Table

from quincunx.address import masked
from quincunx.cli.output import AsJson, console, made, print_json, reports_errors

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import Console

    from quincunx.chart import Chart
    from quincunx.invariant import SwapEpsilon

_TICKS: Final = ("0.01", "0.1", "0.5", "0.9", "0.99", "0.999", "0.9999", "0.99999")
_CAUTION: Final = (
    "The numbers of different systems are not on one scale: scope, unit and standard differ. Swapping keeps far more "
    "tables exact than TopDown, and everything that follows from them is outside its protection."
)
_SMALLEST: Final = (
    "Inside swapping's scope the smallest change has two households, so its effect is bounded by e^(2ε), not e^ε."
)

app = typer.Typer(invoke_without_command=True, no_args_is_help=False, rich_markup_mode=None)


@app.callback()
@reports_errors
def census(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option(help="A folder for the pictures (SVG); made if it is missing.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the privacy systems of the United States' censuses in the five blocks.

    Swapping as in 1990 to 2010, TopDown and SafeTab as in 2020, the swap rate that an ε needs, and what if 2020 had
    used swapping. Nothing is read and nothing is released: this is arithmetic on what was published.
    """
    if context.invoked_subcommand is not None:
        return
    drawn = _write(pictures(), out) if out is not None else []
    if as_json:
        print_json({**_as_json(), "pictures": [masked(str(path)) for path in drawn]})
        return
    _show(console())
    for path in drawn:
        typer.echo(f"wrote {masked(str(path))}", err=True)


def pictures() -> dict[str, Chart]:
    """The three pictures, by the name of their file."""
    return {"systems.svg": _systems_picture(), "swap_rates.svg": _curves_picture(), "what_if.svg": _what_if_picture()}


def _write(charts: Mapping[str, Chart], folder: Path) -> list[Path]:
    return [chart.write(made(folder) / name) for name, chart in charts.items()]


def _systems_picture() -> Chart:
    from quincunx.chart import grid
    from quincunx.invariant import census as content

    found = content.systems()
    return grid(
        [system.blocks for system in found],
        rows=[system.name for system in found],
        columns=content.BLOCKS,
        title="The census systems differ in scope, unit and standard, so their numbers cannot be ranked",
        note=_CAUTION,
    )


def _curves_picture() -> Chart:
    from quincunx.chart import Axis, Line, lines
    from quincunx.invariant import census as content
    from quincunx.numbers import rational

    ticks = {float(_odds(rational(tick, "tick"))): f"{float(tick) * 100:g} %" for tick in _TICKS}
    return lines(
        [
            Line(
                label=f"{b:,} records",
                points=[(float(_odds(each.rate)), each.theorem) for each in content.curve(largest_stratum=b)],
                marks=False,
            )
            for b in content.CURVE_STRATA
        ],
        title="The larger the largest stratum, the more the same swap rate leaks",
        x=Axis(title="swap rate, spaced by its odds", scale="log", ticks=ticks),
        y="ε by the theorem, for each record of Hamming distance",
        note="Each ε above the lowest is reached at two rates. To the right of its lowest point every curve is the "
        "logarithm of the odds, ln p/(1−p).",
    )


def _what_if_picture() -> Chart:
    from quincunx.chart import Bar, bars
    from quincunx.invariant import census as content

    cases = content.what_if()
    costs = [epsilon.theorem for each in cases for epsilon in each.epsilons]
    return bars(
        [
            Bar(
                label=f"{each.largest_stratum:,} households",
                value=epsilon.theorem,
                series=f"{_percent(epsilon.rate)} of records selected",
                text=_epsilon(epsilon.theorem),
            )
            for each in cases
            for epsilon in each.epsilons
        ],
        title=f"Had 2020 used swapping, ε would have been {min(costs):.1f} to {max(costs):.1f}",
        x="ε by the theorem, for each household of Hamming distance",
        note="By the size of the largest stratum; 13,475,623 are all households of California. One ε would have "
        "covered all products made from the swapped file, among files that agree on swapping's invariants.",
    )


def _show(out: Console) -> None:
    from quincunx.invariant import census as content
    from quincunx.invariant import swap_rate

    for system in content.systems():
        out.rule(f"[bold]{system.name}", align="left")
        table = _table()
        table.add_column(no_wrap=True)
        table.add_column()
        for block, words in zip(content.BLOCKS, system.blocks, strict=True):
            table.add_row(block, words)
        table.add_row("source", system.source)
        out.print(table)
        out.print()
    out.print(_CAUTION, markup=False)
    for one, other, relation in content.comparisons():
        unknown = f"No known rule ranks “{one}” and “{other}”."
        known = f"“{one}” is {relation} than “{other}”, by the rules of specifications."
        out.print(unknown if relation == "unknown" else known, markup=False)
    out.print()
    out.rule("[bold]From swap rate to ε, by the size of the largest stratum", align="left")
    rates = content.RATES_1940
    table = _table("largest stratum", *(_percent(rate) for rate in rates), "lowest ε", "at rate")
    for b in content.CURVE_STRATA:
        lowest = swap_rate(epsilon=1_000, largest_stratum=b).smallest
        found = [_epsilon(each.theorem) for each in content.swapped(b, rates)]
        table.add_row(f"{b:,}", *found, _epsilon(lowest.exact), f"{float(lowest.rate) * 100:.6g} %")
    out.print(table)
    out.print(
        f"{content.STRATUM_1940:,} are the two-person households of Massachusetts in the 1940 Census. The theorem's ε "
        "is shown; the lowest ε is the exact one.",
        markup=False,
    )
    out.print()
    out.rule("[bold]What if 2020 had used swapping", align="left")
    table = _table("largest stratum", "what it is", *(f"ε at {_percent(rate)}" for rate in content.RATES_2020))
    for case in content.what_if():
        table.add_row(f"{case.largest_stratum:,}", case.words, *(_epsilon(each.theorem) for each in case.epsilons))
    out.print(table)
    out.print(_SMALLEST, markup=False)


def _as_json() -> dict[str, object]:
    from quincunx.invariant import census as content

    return {
        "systems": [
            {
                "name": system.name,
                **dict(zip(content.BLOCKS, system.blocks, strict=True)),
                "source": system.source,
                "specification": None if system.specification is None else system.specification.to_dict(),
            }
            for system in content.systems()
        ],
        "conversion": [_plain(each) for b in content.CURVE_STRATA for each in content.swapped(b, content.RATES_1940)],
        "what_if": [{"what": case.words, **_plain(epsilon)} for case in content.what_if() for epsilon in case.epsilons],
        "comparisons": [
            {"one": one, "other": other, "relation": relation} for one, other, relation in content.comparisons()
        ],
        "cautions": [_CAUTION, _SMALLEST],
    }


def _plain(epsilon: SwapEpsilon) -> dict[str, object]:
    return {
        "rate": str(epsilon.rate),
        "largest_stratum": epsilon.largest_stratum,
        "kind": epsilon.kind.value,
        "theorem": epsilon.theorem,
        "exact": epsilon.exact,
    }


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, show_header=bool(headings), header_style="")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "what it is" else "right")
    return table


def _odds(rate: Fraction) -> Fraction:
    return rate / (1 - rate)


def _percent(rate: Fraction) -> str:
    return f"{float(100 * rate):g} %"


def _epsilon(value: float) -> str:
    """Rounded up to four decimals: two more than the slides print, so that rounding is not taken for a difference."""
    return str(Decimal(repr(value)).quantize(Decimal("0.0001"), rounding=ROUND_CEILING))
