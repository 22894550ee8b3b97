"""A table of words: rows that are compared in the same few respects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from quincunx.chart import frame
from quincunx.chart.text import tag, width, wrapped
from quincunx.errors import DataError

_SIZE: Final = 14.0
_LINE: Final = 18.0
_PAD: Final = 10.0
_NARROWEST: Final = 90.0


def grid(
    cells: Sequence[Sequence[str]], *, rows: Sequence[str], columns: Sequence[str], title: str, note: str = ""
) -> frame.Chart:
    """Draw cells[row][column], wrapped; `rows` and `columns` are the headings."""
    frame.some(rows, "rows")
    frame.some(columns, "columns")
    if len(cells) != len(rows) or any(len(row) != len(columns) for row in cells):
        got = f"{len(cells)} rows, for {len(rows)} headings of rows and {len(columns)} of columns"
        raise DataError("the cells do not have the shape of the headings", where="grid", got=got)
    table = [["", *columns], *([name, *row] for name, row in zip(rows, cells, strict=True))]
    breadths = _breadths(table)
    parts, y = frame.head(title, [])
    for index, row in enumerate(table):
        x, height, header = frame.MARGIN, 0.0, index == 0
        for column, (text, breadth) in enumerate(zip(row, breadths, strict=True)):
            bold = header or column == 0
            for number, line in enumerate(wrapped(text, _SIZE, breadth - _PAD, bold=bold)):
                weight, below = "bold" if bold else "normal", _LINE * (number + 0.8) + _PAD / 2
                parts.append(tag("text", line, x=x, y=y + below, font_size=_SIZE, font_weight=weight, _class="cell"))
                height = max(height, _LINE * (number + 1))
            x += breadth
        y += max(height, _LINE) + _PAD
        ink = frame.INK if header else frame.GRID
        parts.append(tag("line", x1=frame.MARGIN, y1=y, x2=frame.WIDTH - frame.MARGIN, y2=y, stroke=ink))
    foot_parts, end = frame.foot(note, y + 4)
    described = "; ".join(f"{name}: {', '.join(row)}" for name, row in zip(rows, cells, strict=True))
    return frame.picture(title, [*parts, *foot_parts], end, f"{described}. {note}")


def _breadths(table: list[list[str]]) -> list[float]:
    """The pixels of each column: room for its widest word, and of the rest a share that grows with its text."""
    room = frame.WIDTH - 2 * frame.MARGIN
    longest, total = [], []
    for column in zip(*table, strict=True):
        words = [word for text in column for word in text.split()]
        longest.append(_PAD + max([0.0, *(width(word, _SIZE, bold=True) for word in words)]))
        total.append(sum(len(text) for text in column) ** 0.5)
    if sum(longest) > room:
        if room / len(longest) < _NARROWEST:
            got, hint = f"{len(longest) - 1} columns", "Draw several charts."
            raise DataError("the columns are too many to be read", where="grid", got=got, hint=hint)
        return [room / len(longest)] * len(longest)
    # Columns whose words need more than their share keep what they need; the others share what is left.
    fixed: dict[int, float] = {}
    while True:
        free = [i for i in range(len(total)) if i not in fixed]
        rest, weights = room - sum(fixed.values()), sum(total[i] for i in free) or 1.0
        short = {i: longest[i] for i in free if rest * total[i] / weights < longest[i]}
        if not short:
            return [fixed.get(i, rest * total[i] / weights) for i in range(len(total))]
        fixed |= short
