"""How an answer looks: a table with intervals, and a footer that says what it cost and what it protects."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any, Final, Protocol

from quincunx.numbers import percent
from quincunx.release.column import Column

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType


ROWS: Final = 50
_WIDTH: Final = 100
_WIDE: Final = 10_000
COVERED: Final = "Intervals cover the bounded statistic with at least {} confidence, row by row"


class Shown(Protocol):
    """A table of published columns, and what is said below it."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Keys and numbers, each number with its companions."""
        ...

    @property
    def confidence(self) -> Fraction:
        """Of all intervals."""
        ...

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the columns that are not measured."""
        ...

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the measured columns."""
        ...

    def __len__(self) -> int:
        """The number of rows."""
        ...

    def told(self) -> list[str]:
        """The lines below the table."""
        ...


def column_notes(columns: Sequence[Column]) -> list[str]:
    """What is to be said about single columns."""
    return [f"{column.name}: {column.note}" for column in columns if column.note]


def cells(answer: Shown) -> Iterator[tuple[str, bool, list[str]]]:
    """(heading, whether it is a number, texts) of each column as shown; the interval is one column."""
    columns = {column.name: column for column in answer.columns}
    for column in answer.columns:
        if column.role in ("key", "value"):
            numeric = column.type in ("integer", "decimal", "float")
            se = columns.get(f"{column.name}_se") if column.role == "value" else None
            digits = _digits(column, se)
            # A key is a name: 2024 is a year, and no two thousand of anything.
            texts = [_cell(each, digits, "" if column.role == "key" else ",") for each in column.values[:ROWS]]
            yield column.name, numeric, texts
            if se is not None:
                low, high = (columns[f"{column.name}_{end}"].values[:ROWS] for end in ("low", "high"))
                ends = zip(low, high, strict=True)
                # The interval of a whole number is read in whole numbers.
                fine = 0 if column.type == "integer" else digits
                heading = f"{percent(answer.confidence)}, {column.about or 'bounded'}"
                yield heading, True, [_interval(down, up, fine) for down, up in ends]
            bias = columns.get(f"{column.name}_bias") if column.role == "value" else None
            if bias is not None:
                low, high = (columns[f"{column.name}_bias_{end}"].values[:ROWS] for end in ("low", "high"))
                yield "bias", True, [_interval(down, up, digits) for down, up in zip(low, high, strict=True)]


def rich(answer: Shown) -> RenderableType:
    """The answer for a terminal."""
    return _Fitted(answer)


class _Fitted:
    """An answer that takes as many tables as the window needs, so that no number is cut off."""

    __slots__ = ("answer",)

    def __init__(self, answer: Shown) -> None:
        self.answer = answer

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield from _parts(self.answer, options.max_width)


def _panels(answer: Shown, width: int) -> list[list[tuple[str, bool, list[str]]]]:
    """The columns in tables of at most `width` where that can be: each has all keys, then outputs with intervals."""
    shown = list(cells(answer))
    keys = [each for each in shown if each[0] in answer.keys]
    blocks: list[list[tuple[str, bool, list[str]]]] = []
    for each in shown:
        if each[0] in answer.outputs:
            blocks.append([each])
        elif each not in keys:
            blocks[-1].append(each)
    panels = [keys]
    for block in blocks:
        if panels[-1] is not keys and _width([*panels[-1], *block]) > width:
            panels.append([*keys, *block])
        else:
            panels[-1] = [*panels[-1], *block]
    return panels


def _width(columns: list[tuple[str, bool, list[str]]]) -> int:
    from rich.cells import cell_len

    return sum(2 + max(cell_len(_printable(text)) for text in (heading, *texts)) for heading, _, texts in columns) - 2


def _parts(answer: Shown, width: int) -> list[RenderableType]:
    """The tables, what is left out of them, and the lines below."""
    from rich.text import Text

    tables = [_table(panel) for panel in _panels(answer, width)]
    spaced = [part for table in tables for part in (Text(""), table)][1:]
    more = [Text(f"… {len(answer) - ROWS:,} more rows")] if len(answer) > ROWS else []
    if len(answer) == 0:
        more = [Text("no rows")]
    below = "\n".join(["", *(_printable(line) for line in answer.told())])
    return [*spaced, *more, Text(below, style="dim")]


def _table(shown: list[tuple[str, bool, list[str]]]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, numeric, _ in shown:
        # Text, not markup: keys and names may contain brackets.
        table.add_column(Text(heading), justify="right" if numeric else "left", overflow="fold", no_wrap=numeric)
    for row in zip(*(texts for _, _, texts in shown), strict=True):
        table.add_row(*(Text(_printable(cell)) for cell in row))
    return table


def text(answer: Shown) -> str:
    """The answer as plain text; the table is as wide as it needs to be."""
    from rich.console import Console

    out = StringIO()
    plain = Console(file=out, no_color=True, highlight=False, force_terminal=False, width=_WIDE)
    # The table alone may be wider than the lines below it.
    *table, below = _parts(answer, _WIDE)
    plain.print(*table, sep="\n")
    plain.width = _WIDTH
    plain.print(below)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def html(answer: Shown) -> str:
    """The answer for a notebook; every text is escaped."""
    shown = list(cells(answer))
    # Numbers and intervals stay on one line; a table that is wider than the page scrolls by itself.
    sides = ["right; white-space: nowrap" if numeric else "left" for _, numeric, _ in shown]
    aligned = [f"padding: .1em .5em; text-align: {side}" for side in sides]
    heads = "".join(
        f'<th style="{style}">{escape(heading)}</th>' for style, (heading, _, _) in zip(aligned, shown, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{style}">{escape(cell)}</td>' for style, cell in zip(aligned, row, strict=True))
        + "</tr>"
        for row in zip(*(texts for _, _, texts in shown), strict=True)
    )
    more = f"<p>… {len(answer) - ROWS:,} more rows</p>" if len(answer) > ROWS else ""
    lines = "<br>".join(escape(line) for line in answer.told())
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    # Colours are the page's own, light or dark.
    return f'<div><div style="overflow-x: auto">{table}</div>{more}<p><small>{lines}</small></p></div>'


def _printable(cell: str) -> str:
    """Control characters, which could move a terminal's cursor, as escapes."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in cell)


def _digits(column: Column, se: Column | None) -> int:
    """Digits after the point: two significant ones of the smallest standard error, at most 12.

    Without a standard error as many as the values have, at most 6: a median of whole numbers is a whole number.
    """
    known = [value for value in se.values if value] if se is not None else []
    if known:
        return max(0, min(12, 1 - math.floor(math.log10(min(known)))))
    values = [value for value in column.values if isinstance(value, float)]
    return next((digits for digits in range(6) if all(round(each, digits) == each for each in values)), 6)


def _cell(value: Any, digits: int, mark: str) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:{mark}}"
    if isinstance(value, Decimal):
        return f"{value:{mark}f}"
    if isinstance(value, float):
        return f"{value:{mark}.{digits}f}"
    return value.isoformat() if isinstance(value, date) else str(value)


def _interval(low: float | None, high: float | None, digits: int) -> str:
    if low is None or high is None:
        return "–"
    if isinstance(low, int) and isinstance(high, int):
        return f"{low:,} to {high:,}"
    unit = 10.0**digits
    # Rounded outwards, so that what is read still covers.
    down, up = math.floor(low * unit) / unit, math.ceil(high * unit) / unit
    return f"{down:,.{digits}f} to {up:,.{digits}f}"
