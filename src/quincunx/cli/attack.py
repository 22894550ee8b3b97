"""`quincunx attack`: the attacks that motivated all this, told on people who do not exist."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from quincunx.address import masked
from quincunx.cli.output import AsJson, console, made, print_json, reports_errors
from quincunx.cli.progress import working

if TYPE_CHECKING:
    from rich.console import Console

    from quincunx.attack import Story

app = typer.Typer(help="Tell the attacks that motivated differential privacy.", no_args_is_help=True)

ALL: Final = "all"
# Characters between columns, and those that the first column needs at least, if it has so many.
_BETWEEN, _FIRST = 2, 20
_PARTS: Final = ("published", "known", "recovered")


@app.command("list")
@reports_errors
def list_(as_json: AsJson = False) -> None:
    """Name the stories, with a line each."""
    from quincunx.attack import names

    if as_json:
        print_json([{"name": name, "about": about} for name, about in names()])
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for name, about in names():
        table.add_row(name, about)
    console().print(table)


@app.command("run")
@reports_errors
def run(
    name: Annotated[str, typer.Argument(help="The story's name, as in quincunx attack list, or all.")],
    out: Annotated[Path | None, typer.Option(help="A folder for the pictures (SVG); made if it is missing.")] = None,
    series: Annotated[
        str, typer.Option(help="A whole number: other people, other noise. The same one, the same.")
    ] = "0",
    as_json: AsJson = False,
) -> None:
    """Tell one story, or all: what was published, known and recovered, and how releases at several ε fare.

    The people are generated and the noise is repeatable. Nothing is read and nobody is attacked.
    """
    from quincunx import attack

    folder = None if out is None else made(out)
    chosen = [each for each, _ in attack.names()] if name == ALL else [name]
    shown, collected = console(), []
    for place, each in enumerate(chosen):
        with working(f"telling {each}, {place + 1} of {len(chosen)}", quiet=as_json):
            story = attack.run(each, series=series)
        paths = [] if folder is None else [chart.write(folder / f"{stem}.svg") for stem, chart in story.charts.items()]
        if as_json:
            collected.append({**_plain(story), "series": series, "pictures": [masked(str(path)) for path in paths]})
            continue
        if place:
            shown.print()
        _tell(shown, story)
        for path in paths:
            typer.echo(f"wrote {masked(str(path))}", err=True)
    if as_json:
        print_json(collected if name == ALL else collected[0])
    elif folder is None:
        typer.echo("hint: --out FOLDER writes the pictures.", err=True)


def _tell(out: Console, story: Story) -> None:
    out.print(Text(story.title, style="bold"))
    for part in _PARTS:
        out.print()
        out.print(Text(part))
        out.print(Padding(Text(getattr(story, part)), (0, 0, 0, 2)))
    out.print()
    widths = _widths(story, out.width)
    if widths is None:
        _row_by_row(out, story)
    else:
        table = Table(box=None, pad_edge=False, header_style="")
        for place, (heading, wide) in enumerate(zip(story.columns, widths, strict=True)):
            table.add_column(Text(heading), width=wide, justify="right" if place else "left", vertical="bottom")
        for row in story.rows:
            table.add_row(*(Text(cell) for cell in row))
        out.print(table)
    out.print()
    out.print(Text("lesson"))
    out.print(Padding(Text(story.lesson), (0, 0, 0, 2)))
    for source in story.sources:
        out.print(Text(f"source: {source}"))


def _widths(story: Story, room: int) -> list[int] | None:
    """The characters of each column: whole cells if they fit, or else whole words; None where not even these do.

    The first column says what was published. It takes what is left, and is broken last.
    """
    columns = [(heading, *cells) for heading, *cells in zip(story.columns, *story.rows, strict=True)]
    words = [max(len(word) for cell in column for word in cell.split()) for column in columns]
    cells = [max([most, *map(len, column[1:])]) for most, column in zip(words, columns, strict=True)]
    for others in (cells[1:], words[1:]):
        left = room - sum(others) - _BETWEEN * len(others)
        if left >= max(words[0], min(cells[0], _FIRST)):
            return [min(left, cells[0]), *others]
    return None


def _row_by_row(out: Console, story: Story) -> None:
    """The table for windows that are too narrow for it: every row with its cells below each other."""
    for first, *rest in story.rows:
        out.print(Text(first))
        for heading, cell in zip(story.columns[1:], rest, strict=True):
            if cell:
                out.print(Padding(Text(f"{heading}: {cell}"), (0, 0, 0, 2)))


def _plain(story: Story) -> dict[str, object]:
    return {
        "name": story.name,
        "title": story.title,
        **{part: getattr(story, part) for part in _PARTS},
        "columns": list(story.columns),
        "rows": [list(row) for row in story.rows],
        "figures": dict(story.figures),
        "lesson": story.lesson,
        "sources": list(story.sources),
    }
