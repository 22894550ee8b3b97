"""Box plots: how a number varies over repetitions, one box for each label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from quincunx.chart import frame
from quincunx.chart.scale import Scale, checked, down, linear
from quincunx.chart.text import tag, width
from quincunx.errors import DataError

_HEIGHT: Final = 340.0
_WIDEST: Final = 56.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """The values of one label, at least one. Median and quartiles interpolate between the sorted values.

    The quantile at level q of n sorted values v_0 ≤ … ≤ v_{n−1} is v_k + (h − k)(v_{k+1} − v_k), h = q(n − 1), k = ⌊h⌋.
    The whiskers end at the furthest values within 1.5 times the distance of the quartiles from them; values beyond
    are drawn one by one.
    """

    label: str
    values: tuple[float, ...]

    def __init__(self, *, label: str, values: Iterable[object]) -> None:
        object.__setattr__(self, "label", frame.named(label, "Box(label)"))
        found = checked(values, f"box {label!r}")
        frame.some(found, "values")
        object.__setattr__(self, "values", tuple(sorted(found)))

    def quantile(self, level: float) -> float:
        """The quantile at `level` between 0 and 1, by the formula above."""
        place = level * (len(self.values) - 1)
        below = int(place)
        above = min(below + 1, len(self.values) - 1)
        return self.values[below] + (place - below) * (self.values[above] - self.values[below])

    @property
    def whiskers(self) -> tuple[float, float]:
        """Where the whiskers end."""
        first, third = self.quantile(0.25), self.quantile(0.75)
        reach = 1.5 * (third - first)
        inside = [value for value in self.values if first - reach <= value <= third + reach]
        # A quartile between two values may have no value of its own side within reach; the box ends there.
        return min([*inside, first]), max([*inside, third])

    @property
    def outliers(self) -> tuple[float, ...]:
        """The values beyond the whiskers."""
        low, high = self.whiskers
        return tuple(value for value in self.values if not low <= value <= high)


def boxes(data: Sequence[Box], *, title: str, x: str, y: str, note: str = "", zero: bool = False) -> frame.Chart:
    """Draw the boxes in the order given. `x` and `y` are the axes' titles with units; `zero` makes y begin at 0."""
    frame.some(data, "boxes")
    frame.named(x, "x")
    frame.named(y, "y")
    if len({box.label for box in data}) < len(data):
        raise DataError("two boxes have the same label", where="boxes", hint="Put their values into one box.")
    parts, head_end = frame.head(title, [])
    top, bottom = head_end + 34, head_end + 34 + _HEIGHT
    up = linear([value for box in data for value in box.values], bottom, top, down, zero=zero)
    labels = [box.label for box in data]
    bands = frame.bands_for(labels, frame.MARGIN + 12 + max(width(tick.label, frame.LABEL_SIZE) for tick in up.ticks))
    parts += frame.y_axis(up, y, bands.start, bands.end)
    for index, box in enumerate(data):
        parts += _drawn(box, bands.middle(index), min(_WIDEST, bands.breadth * 0.6), up)
    axis_parts, end = frame.category_axis(bands, labels, x, bottom)
    foot_parts, end = frame.foot(note, end + 6)
    described = "; ".join(f"{box.label}: median {box.quantile(0.5):.4g} of {len(box.values)}" for box in data)
    return frame.picture(title, [*parts, *axis_parts, *foot_parts], end, f"{y} by {x}. {described}. {note}")


def _drawn(box: Box, middle: float, breadth: float, up: Scale) -> list[str]:
    first, median, third = (up.at(box.quantile(level)) for level in (0.25, 0.5, 0.75))
    low, high = (up.at(value) for value in box.whiskers)
    left, right = middle - breadth / 2, middle + breadth / 2
    ink, fill = frame.STYLES[0].colour, "#c9d8e6"
    parts = [
        tag("line", x1=middle, y1=low, x2=middle, y2=first, stroke=ink, stroke_width=1.5, _class="whisker"),
        tag("line", x1=middle, y1=third, x2=middle, y2=high, stroke=ink, stroke_width=1.5, _class="whisker"),
        *(tag("line", x1=middle - breadth / 4, y1=y, x2=middle + breadth / 4, y2=y, stroke=ink) for y in (low, high)),
        tag("rect", x=left, y=third, width=breadth, height=first - third, fill=fill, stroke=ink, _class="box"),
        tag("line", x1=left, y1=median, x2=right, y2=median, stroke=ink, stroke_width=3, _class="median"),
    ]
    dots = [
        tag("circle", cx=middle, cy=up.at(value), r=3.2, fill="none", stroke=ink, _class="outlier")
        for value in box.outliers
    ]
    return parts + dots
