"""How an answer looks: a table with intervals, and a footer that says what it cost and what it protects."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from quincunx.numbers import percent, stated
from quincunx.release.column import Column

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

    from quincunx.release.answer import Answer

ROWS: Final = 50
_WIDTH: Final = 100
_WIDE: Final = 10_000


def cells(answer: Answer) -> Iterator[tuple[str, bool, list[str]]]:
    """(heading, whether it is a number, texts) of each column as shown; the interval is one column."""
    columns = {column.name: column for column in answer.columns}
    for column in answer.columns:
        if column.role in ("key", "value"):
            numeric = column.type in ("integer", "decimal", "float")
            se = columns.get(f"{column.name}_se") if column.role == "value" else None
            digits = _digits(se)
            yield column.name, numeric, [_cell(value, digits) for value in column.values[:ROWS]]
            if se is not None:
                low, high = (columns[f"{column.name}_{end}"].values[:ROWS] for end in ("low", "high"))
                ends = zip(low, high, strict=True)
                # The interval of a whole number is read in whole numbers.
                fine = 0 if column.type == "integer" else digits
                yield percent(answer.confidence), True, [_interval(down, up, fine) for down, up in ends]


def footer(answer: Answer) -> list[str]:
    """The lines below the table."""
    delta = answer.remaining_delta
    spent = stated(answer.symbol, answer.spent, answer.delta)
    lines = [
        f"spent {spent}; remaining {stated(answer.symbol, answer.remaining, delta)} for {answer.dataset}",
        *(f"noise: {words}" for words in answer.mechanisms),
        f"protects: {answer.specification.unit.words()}",
    ]
    lines += [f"{column.name}: {column.note}" for column in answer.columns if column.note]
    if any(column.role == "low" for column in answer.columns):
        lines.append(
            f"Intervals cover the bounded statistic with at least {percent(answer.confidence)} confidence, row by row; "
            "sampling error is not included."
        )
    lines += [*answer.biases, *answer.notes]
    return [*lines, f"ledger head {answer.head}"]


def rich(answer: Answer) -> RenderableType:
    """The answer for a terminal."""
    return _Fitted(answer)


class _Fitted:
    """An answer that takes as many tables as the window needs, so that no number is cut off."""

    __slots__ = ("answer",)

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield from _parts(self.answer, options.max_width)


def _panels(answer: Answer, width: int) -> list[list[tuple[str, bool, list[str]]]]:
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


def _parts(answer: Answer, width: int) -> list[RenderableType]:
    """The tables, what is left out of them, and the lines below."""
    from rich.text import Text

    tables = [_table(panel) for panel in _panels(answer, width)]
    spaced = [part for table in tables for part in (Text(""), table)][1:]
    more = [Text(f"… {len(answer) - ROWS:,} more rows")] if len(answer) > ROWS else []
    if len(answer) == 0:
        more = [Text("no rows")]
    below = "\n".join(["", *(_printable(line) for line in footer(answer))])
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


def text(answer: Answer) -> str:
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


def html(answer: Answer) -> str:
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
    lines = "<br>".join(escape(line) for line in footer(answer))
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    # Colours are the page's own, light or dark.
    return f'<div><div style="overflow-x: auto">{table}</div>{more}<p><small>{lines}</small></p></div>'


def _printable(cell: str) -> str:
    """Control characters, which could move a terminal's cursor, as escapes."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in cell)


def _digits(se: Column | None) -> int:
    """Digits after the point: two significant ones of the smallest standard error, at most 12."""
    known = [value for value in se.values if value] if se is not None else []
    return 6 if not known else max(0, min(12, 1 - math.floor(math.log10(min(known)))))


def _cell(value: Any, digits: int) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Decimal):
        return f"{value:,f}"
    if isinstance(value, float):
        return f"{value:,.{digits}f}"
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
