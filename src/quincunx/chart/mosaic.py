"""A mosaic: small square cells, from paper to ink, in one panel or in several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from quincunx.chart import frame
from quincunx.chart.scale import checked
from quincunx.chart.text import group, number, tag, wrapped
from quincunx.errors import DataError, ParameterError

_GAP: Final = 22.0
_LINE: Final = 19.0
_TALLEST: Final = 560.0
MOST_PANELS: Final = 12
MOST_CELLS: Final = 20_000
# Shades between paper (0) and ink; more cannot be told apart.
_LEVELS: Final = 16
_PAPER, _INK = (0xFF, 0xFF, 0xFF), (0x12, 0x39, 0x5B)


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One picture of a mosaic: `cells[row][column]` from 0, paper, to 1, ink; `label` stands above it."""

    label: str
    cells: tuple[tuple[float, ...], ...]

    def __init__(self, *, label: str, cells: Sequence[Sequence[object]]) -> None:
        object.__setattr__(self, "label", frame.named(label, "Panel(label)"))
        where = f"panel {label!r}"
        rows = tuple(tuple(checked(row, where)) for row in cells)
        frame.some(rows, "rows")
        frame.some(rows[0], "cells")
        if any(len(row) != len(rows[0]) for row in rows):
            raise DataError("the rows have different lengths", where=where, hint="Give every row as many cells.")
        if any(not 0 <= cell <= 1 for row in rows for cell in row):
            hint = "0 is paper and 1 is ink; scale the values first."
            raise DataError("expected cells from 0 to 1", where=where, got="a cell outside", hint=hint)
        if len(rows) * len(rows[0]) > MOST_CELLS:
            hint = "Draw larger cells, or a part of the picture."
            got = f"{len(rows) * len(rows[0]):,} cells"
            raise DataError(f"at most {MOST_CELLS:,} cells can be seen", where=where, got=got, hint=hint)
        object.__setattr__(self, "cells", rows)


def mosaic(panels: Sequence[Panel], *, title: str, across: int = 3, note: str = "") -> frame.Chart:
    """Draw the panels in the order given, `across` of them side by side, all at one size of cells."""
    frame.some(panels, "panels")
    _check(panels, across)
    beside = min(across, len(panels))
    parts, y = frame.head(title, [])
    room = (frame.WIDTH - 2 * frame.MARGIN - _GAP * (beside - 1)) / beside
    widest = max(len(panel.cells[0]) for panel in panels)
    tallest = max(len(panel.cells) for panel in panels)
    side = min(room / widest, _TALLEST / tallest)
    for first in range(0, len(panels), beside):
        row = panels[first : first + beside]
        labels = [wrapped(panel.label, frame.LABEL_SIZE, room) for panel in row]
        lines = max(len(label) for label in labels)
        for place, (panel, label) in enumerate(zip(row, labels, strict=True)):
            x = frame.MARGIN + place * (room + _GAP)
            parts += [
                tag("text", line, x=x, y=y + _LINE * (i + 1), font_size=frame.LABEL_SIZE, _class="label")
                for i, line in enumerate(label)
            ]
            parts += _drawn(panel, x, y + _LINE * lines + 8, side)
        y += _LINE * lines + 8 + side * max(len(panel.cells) for panel in row) + 12
    foot_parts, end = frame.foot(note, y)
    described = "; ".join(f"{p.label}: {len(p.cells)} rows of {len(p.cells[0])} cells" for p in panels)
    return frame.picture(title, [*parts, *foot_parts], end, f"{described}. {note}")


def _check(panels: Sequence[Panel], across: int) -> None:
    if isinstance(across, bool) or not isinstance(across, int) or not 1 <= across <= 4:
        hint = "More panels than four would be too small to be seen."
        raise ParameterError("must be a whole number from 1 to 4", where="across", got=repr(across)[:40], hint=hint)
    if len(panels) > MOST_PANELS:
        hint = "Draw the most telling ones, or several charts."
        got = f"{len(panels)} panels"
        raise DataError(f"at most {MOST_PANELS} panels can be compared", where="mosaic", got=got, hint=hint)


def _drawn(panel: Panel, x: float, y: float, side: float) -> list[str]:
    wide, high = len(panel.cells[0]) * side, len(panel.cells) * side
    # One path for each shade, in units of cells: thousands of separate squares would make a large file.
    paths: dict[int, list[str]] = {}
    for row, cells in enumerate(panel.cells):
        column = 0
        for level, run in groupby(round(cell * (_LEVELS - 1)) for cell in cells):
            length = len(list(run))
            if level:
                paths.setdefault(level, []).append(f"M{column} {row}h{length}v1h-{length}z")
            column += length
    shades = [tag("path", d="".join(paths[level]), fill=_colour(level), _class="cells") for level in sorted(paths)]
    move = f"translate({number(x)} {number(y)}) scale({side:.5f})"
    border = tag("rect", x=x, y=y, width=wide, height=high, fill="none", stroke=frame.FADED, _class="panel")
    # Crisp edges keep neighbouring cells of one shade from showing a seam.
    return [group(shades, transform=move, shape_rendering="crispEdges"), border] if shades else [border]


def _colour(level: int) -> str:
    share = level / (_LEVELS - 1)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(_PAPER, _INK, strict=True))
