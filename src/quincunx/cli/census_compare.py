"""`quincunx census compare`: swapping and TopDown on one table, side by side."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quincunx.cli.output import AsJson, console, made, print_json, reports_errors
from quincunx.cli.progress import working
from quincunx.errors import ParameterError

if TYPE_CHECKING:
    from quincunx.chart import Chart
    from quincunx.invariant import Comparison, Method

_CAUTION = (
    "The two are not on one scale: swapping keeps the counts of its strata by place and by the other column, TopDown "
    "the total alone; one is stated in pure ε, the other in zCDP. The errors compare with the truth."
)


@reports_errors
def compare(
    file: Annotated[
        str | None, typer.Argument(help="CSV or Parquet, a row for each record; left out: a world like 1940.")
    ] = None,
    place: Annotated[str, typer.Option(help="The column of places, which is swapped.")] = "county",
    rest: Annotated[str, typer.Option(help="The column that is counted by place.")] = "tenure",
    match: Annotated[str, typer.Option(help="The columns, with commas, on which records agree that swap.")] = "persons",
    rates: Annotated[str, typer.Option(help="Swap rates, with commas.")] = "1/100,5/100,10/100,30/100,50/100",
    rhos: Annotated[str, typer.Option(help="Budgets of TopDown, with commas.")] = "1/1000,1/100,1/10,1,2.56",
    runs: Annotated[int, typer.Option(help="Runs at each setting.")] = 20,
    out: Annotated[Path | None, typer.Option(help="A folder for the pictures (SVG) and the table (CSV).")] = None,
    as_json: AsJson = False,
) -> None:
    """Swap a table and publish it by TopDown, many times each, and compare the errors of the two-way table.

    The demonstration of the slides on swapping, with TopDown beside it. The errors compare with the truth, so they are
    for the curator's eyes, or for data that do not exist.
    """
    from quincunx.invariant import compare_methods as compared
    from quincunx.invariant import write_dwellings

    if not _listed(rates) or not _listed(rhos):
        hint = "Write --rates 1/10 --rhos 1, or leave both out."
        raise ParameterError("a comparison needs a swap rate and a ρ", where="--rates, --rhos", hint=hint)
    folder = None if out is None else made(out)
    with tempfile.TemporaryDirectory() as home, working("reading the table", quiet=as_json) as stage:
        source = Path(file) if file is not None else write_dwellings(Path(home) / "dwellings.csv")
        found = compared(
            source,
            place=place,
            rest=rest,
            match=_listed(match),
            rates=_listed(rates),
            rhos=_listed(rhos),
            runs=runs,
            progress=stage,
        )
    written = []
    if folder is not None:
        for name, chart in pictures(found, place, rest).items():
            written.append(chart.write(folder / name))
        written.append(_table(found, folder / "comparison.csv"))
    if as_json:
        print_json({**_content(found), "caution": _CAUTION, "files": [str(path) for path in written]})
        return
    _show(found, place, rest)
    for path in written:
        typer.echo(f"wrote {path}", err=True)


def pictures(found: Comparison, place: str, rest: str) -> dict[str, Chart]:
    """The two-way table before and after, and the errors of every setting."""
    from quincunx.chart import Box, boxes, heat, unbroken

    swapped = [method for method in found.methods if method.name == "swapping"][-1]
    released = [method for method in found.methods if method.name == "TopDown"][-1]
    rows = _largest(found)
    tables = (
        ("before", found.before),
        (f"swapped {unbroken(swapped.setting)}", swapped.table),
        (f"TopDown {unbroken(released.setting)}", released.table),
    )
    chosen = _frequent(found)
    values = [[int(table[row, column]) for column in chosen for _, table in tables] for row in rows]
    return {
        "comparison_table.svg": heat(
            values,
            rows=[found.places[row] for row in rows],
            columns=[f"{found.values[column]}, {name}" for column in chosen for name, _ in tables],
            title=f"The table of {rest} by {place}: before, swapped, and published by TopDown",
            unit="records",
            note=f"One run of each. {_shown(found)}{_CAUTION}",
        ),
        "comparison_error.svg": boxes(
            [Box(label=_label(m), values=m.errors) for m in found.methods],
            title=f"The error of {rest} by {place}: {unbroken(f'{swapped.median:.2g} %')} swapped at "
            f"{unbroken(swapped.setting)}, {unbroken(f'{released.median:.2g} %')} by TopDown at "
            f"{unbroken(released.setting)}",
            x="swap rate, and ρ of TopDown",
            y="mean absolute percentage error of the cells (%)",
            note=f"{_runs(found)} at each setting. {_CAUTION}",
            zero=True,
        ),
    }


def _label(method: Method) -> str:
    from quincunx.chart import unbroken

    return f"swap {unbroken(method.setting)}" if method.name == "swapping" else method.setting


def _runs(found: Comparison) -> str:
    count = len(found.methods[0].errors)
    return f"{count} run" if count == 1 else f"{count} runs"


def _largest(found: Comparison) -> list[int]:
    """The largest places, at most fourteen, in the order of their names."""
    totals = found.before.sum(axis=1)
    return sorted(sorted(range(len(totals)), key=lambda row: (-int(totals[row]), row))[:14])


def _frequent(found: Comparison) -> list[int]:
    """The most frequent values, at most three, in their own order."""
    totals = found.before.sum(axis=0)
    return sorted(sorted(range(len(totals)), key=lambda column: (-int(totals[column]), column))[:3])


def _shown(found: Comparison) -> str:
    """What of the table is shown, where it is not all."""
    rows, columns = len(_largest(found)), len(_frequent(found))
    parts = [f"the {rows} largest of {len(found.places):,} places"] if rows < len(found.places) else []
    parts += [f"the {columns} most frequent of {len(found.values):,} values"] if columns < len(found.values) else []
    return f"Shown are {' and '.join(parts)}. " if parts else ""


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _content(found: Comparison) -> dict[str, object]:
    return {
        "places": list(found.places),
        "values": list(found.values),
        "before": found.before.tolist(),
        "methods": [
            {
                "name": method.name,
                "setting": method.setting,
                "cost": method.cost,
                "median_error": method.median,
                "errors": list(method.errors),
                "table": method.table.tolist(),
            }
            for method in found.methods
        ],
    }


def _table(found: Comparison, path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("method", "setting", "cost", "run", "mean_absolute_percentage_error"))
        for method in found.methods:
            for run, error in enumerate(method.errors, start=1):
                writer.writerow((method.name, method.setting, method.cost, run, repr(error)))
    return path


def _show(found: Comparison, place: str, rest: str) -> None:
    from rich.table import Table

    screen = console()
    swapped = [method for method in found.methods if method.name == "swapping"][-1]
    released = [method for method in found.methods if method.name == "TopDown"][-1]
    table = Table(box=None, pad_edge=False, header_style="")
    table.add_column(place)
    for value in (found.values[column] for column in _frequent(found)):
        for when in ("before", f"swap\n{swapped.setting}", released.setting.replace(" = ", "\n")):
            table.add_column(f"{value}\n{when}", justify="right", no_wrap=True)
    for row in _largest(found):
        cells = [
            f"{int(each[row, column]):,}"
            for column in _frequent(found)
            for each in (found.before, swapped.table, released.table)
        ]
        table.add_row(found.places[row], *cells)
    screen.print(table)
    if _shown(found):
        screen.print(_shown(found), markup=False)
    screen.print()
    errors = Table(box=None, pad_edge=False, header_style="")
    for heading in ("method", "setting", "promise", "median error"):
        errors.add_column(heading, justify="right" if heading == "median error" else "left")
    for method in found.methods:
        errors.add_row(method.name, method.setting, method.cost, f"{method.median:.3g} %")
    screen.print(errors)
    screen.print(f"{_runs(found)} at each setting: {rest} by {place}. {_CAUTION}", markup=False)
