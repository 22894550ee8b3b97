"""A heat map: a table of numbers, the larger the darker, with the numbers in the cells where they fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from quincunx.chart import frame
from quincunx.chart.scale import Bands, Scale, across, checked, label_of, linear
from quincunx.chart.text import shortened, tag, width
from quincunx.errors import DataError

_CELL_HEIGHT: Final = 28.0
_LABEL_ROOM: Final = 230.0
MOST: Final = 60
# From light to dark, so that grey keeps the order.
_LIGHT, _DARK = (0xEE, 0xF3, 0xF8), (0x0E, 0x3A, 0x63)


def heat(
    values: Sequence[Sequence[float | None]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    unit: str,
    x: str = "",
    note: str = "",
    decimals: int = 0,
) -> frame.Chart:
    """Draw values[row][column]; None is a missing value. `unit` says what the numbers are, in words with their unit."""
    frame.some(rows, "rows")
    frame.some(columns, "columns")
    frame.named(unit, "unit")
    _check(values, rows, columns)
    known = [value for row in values for value in checked([v for v in row if v is not None], "heat")]
    frame.some(known, "values")
    parts, top = frame.head(title, [])
    top += 8
    shown = [shortened(frame.named(row, "rows"), frame.LABEL_SIZE, _LABEL_ROOM) for row in rows]
    left = frame.MARGIN + 10 + max(width(label, frame.LABEL_SIZE) for label in shown)
    names = [frame.named(column, "columns") for column in columns]
    bands = frame.bands_for(names, left)
    left = bands.start
    low, high = min(known), max(known)
    fits = all(width(label_of(value, decimals), frame.NOTE_SIZE) <= bands.breadth - 6 for value in known)
    for index, (label, row) in enumerate(zip(shown, values, strict=True)):
        y = top + _CELL_HEIGHT * index
        parts.append(
            tag("text", label, x=left - 10, y=y + 19, font_size=frame.LABEL_SIZE, text_anchor="end", _class="label")
        )
        for column, value in enumerate(row):
            parts += _cell(value, bands, column, y, _share(value, low, high), decimals if fits else None)
    bottom = top + _CELL_HEIGHT * len(rows)
    axis_parts, end = frame.category_axis(bands, names, x, bottom - 2)
    key_parts, end = _key(low, high, unit, left, end + 18)
    foot_parts, end = frame.foot(note, end)
    described = f"{unit}: {len(rows)} rows by {len(names)} columns, from {low:.4g} to {high:.4g}. {note}"
    return frame.picture(title, [*parts, *axis_parts, *key_parts, *foot_parts], end, described)


def _check(values: Sequence[Sequence[float | None]], rows: Sequence[str], columns: Sequence[str]) -> None:
    if len(values) != len(rows) or any(len(row) != len(columns) for row in values):
        got = f"{len(values)} rows, for {len(rows)} labels of rows and {len(columns)} of columns"
        raise DataError("the values do not have the shape of the labels", where="heat", got=got)
    if len(rows) > MOST:
        hint = "Draw the most telling rows, or several charts."
        raise DataError(f"at most {MOST} rows can be read", where="heat", got=f"{len(rows)} rows", hint=hint)


def _share(value: float | None, low: float, high: float) -> float:
    return 0.0 if value is None or high == low else (float(value) - low) / (high - low)


def _colour(share: float) -> str:
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(_LIGHT, _DARK, strict=True))


def _cell(value: float | None, bands: Bands, column: int, y: float, share: float, decimals: int | None) -> list[str]:
    x, breadth = bands.middle(column) - bands.breadth / 2, bands.breadth
    fill = frame.PAPER if value is None else _colour(share)
    # A missing value is white with a border and a dash, so that it is not taken for a small one.
    border = {"stroke": frame.GRID} if value is None else {}
    parts = [tag("rect", x=x, y=y, width=breadth - 1.5, height=_CELL_HEIGHT - 1.5, fill=fill, _class="cell", **border)]
    if decimals is not None or value is None:
        text = "–" if value is None else label_of(float(value), decimals or 0)
        ink = frame.PAPER if share > 0.6 else frame.INK
        parts.append(
            tag("text", text, x=bands.middle(column), y=y + 19, font_size=frame.NOTE_SIZE, text_anchor="middle",
                fill=ink, _class="number")
        )  # fmt: skip
    return parts


def _key(low: float, high: float, unit: str, left: float, y: float) -> tuple[list[str], float]:
    """The bar that says which darkness is which number."""
    if low == high:
        text = f"{unit}: {label_of(low, 3) if not float(low).is_integer() else label_of(low)} everywhere"
        text = shortened(text, frame.LABEL_SIZE, frame.WIDTH - frame.MARGIN - left)
        return [tag("text", text, x=left, y=y + 14, font_size=frame.LABEL_SIZE, fill=frame.FADED)], y + 18
    unit = shortened(unit, frame.LABEL_SIZE, frame.WIDTH - frame.MARGIN - left)
    end = min(left + 360, frame.WIDTH - frame.MARGIN - 40)
    nice = linear([low, high], left, end, across)
    scale = Scale(low=low, high=high, start=left, end=end, logarithmic=False, ticks=nice.ticks)
    steps, breadth = 48, (end - left) / 48
    parts = [
        tag("rect", x=left + i * breadth, y=y, width=breadth + 0.5, height=12, fill=_colour(i / (steps - 1)))
        for i in range(steps)
    ]
    for tick in scale.ticks:
        if low <= tick.value <= high:
            place = scale.at(tick.value)
            parts.append(tag("line", x1=place, y1=y + 12, x2=place, y2=y + 17, stroke=frame.INK))
            parts.append(
                tag("text", tick.label, x=place, y=y + 32, font_size=frame.LABEL_SIZE, text_anchor="middle",
                    _class="key-tick")
            )  # fmt: skip
    parts.append(tag("text", unit, x=left, y=y + 52, font_size=frame.LABEL_SIZE, fill=frame.FADED, _class="key-title"))
    return parts, y + 58
