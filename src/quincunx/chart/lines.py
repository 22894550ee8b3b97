"""Lines: one quantity against another, for up to six series."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from quincunx.chart import frame
from quincunx.chart.scale import Room, Scale, across, checked, down, linear, logarithmic, marked, on_paper
from quincunx.chart.text import number, tag, width
from quincunx.errors import DataError

_HEIGHT: Final = 340.0
_MARKS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One series: `label` for the legend, `points` as (x, y) in the order in which they are joined.

    marks: False for a curve that was computed, so that nobody takes its points for data.
    """

    label: str
    points: tuple[tuple[float, float], ...]
    marks: bool

    def __init__(self, *, label: str, points: Iterable[tuple[object, object]], marks: bool = True) -> None:
        object.__setattr__(self, "marks", bool(marks))
        object.__setattr__(self, "label", frame.named(label, "Line(label)"))
        pairs = [tuple(point) for point in points]
        if any(len(pair) != 2 for pair in pairs):
            raise DataError("expected pairs (x, y)", where=f"line {label!r}", hint="points=[(1, 2.5), (2, 3.5)].")
        frame.some(pairs, "points")
        xs, ys = (checked(column, f"line {label!r}") for column in zip(*pairs, strict=True))
        object.__setattr__(self, "points", tuple(zip(xs, ys, strict=True)))


def lines(
    series: Sequence[Line], *, title: str, x: str | frame.Axis, y: str | frame.Axis, note: str = ""
) -> frame.Chart:
    """Draw the series. `x` and `y` are the axes' titles with units, or `Axis` values; `note` stands below."""
    frame.some(series, "lines")
    styles = [frame.style_of(i, len(series)) for i in range(len(series))]
    across_axis, up_axis = _axis(x), _axis(y)
    legend = [(each.label, _key(each, style)) for each, style in zip(series, styles, strict=True)]
    top_parts, head_end = frame.head(title, legend)
    # The title of the vertical axis stands above the plot.
    top, bottom = head_end + 34, head_end + 34 + _HEIGHT
    up = _scale(up_axis, [y for each in series for _, y in each.points], bottom, top, down)
    left = frame.MARGIN + 12 + max(width(tick.label, frame.LABEL_SIZE) for tick in up.ticks)
    xs = [x for each in series for x, _ in each.points]
    right = frame.WIDTH - frame.MARGIN
    along = on_paper(lambda a, b: _scale(across_axis, xs, a, b, across), left, right, frame.PAPER_SPAN)
    parts = [*top_parts, *frame.y_axis(up, up_axis.title, along.start, along.end)]
    axis_parts, end = frame.x_axis(along, across_axis.title, top, bottom)
    parts += axis_parts
    for each, style in zip(series, styles, strict=True):
        parts += _drawn(each, style, along, up)
    foot_parts, end = frame.foot(note, end)
    described = f"{up_axis.title} against {across_axis.title}: {', '.join(each.label for each in series)}. {note}"
    return frame.picture(title, [*parts, *foot_parts], end, described)


def _axis(axis: str | frame.Axis) -> frame.Axis:
    return axis if isinstance(axis, frame.Axis) else frame.Axis(title=axis)


def _scale(axis: frame.Axis, values: list[float], start: float, end: float, room: Room) -> Scale:
    if axis.ticks:
        checked(axis.ticks, f"axis {axis.title!r}")
        return marked(values, start, end, axis.ticks, room, log=axis.scale == "log")
    if axis.scale == "log":
        return logarithmic(values, start, end, room)
    return linear(values, start, end, room)


def _drawn(line: Line, style: frame.Style, along: Scale, up: Scale) -> list[str]:
    places = [(along.at(x), up.at(y)) for x, y in line.points]
    joined = " ".join(f"{number(x)},{number(y)}" for x, y in places)
    drawn = [
        tag("polyline", points=joined, fill="none", stroke=style.colour, stroke_width=2.5,
            stroke_dasharray=style.dash or "none", stroke_linejoin="round", _class="line")
    ]  # fmt: skip
    if not line.marks:
        return drawn
    # Few points are all marked; of many, some, so that the series can be told apart without colour.
    every = 1 if len(places) <= _MARKS else len(places) // 6
    first = 0 if every == 1 else every // 2
    return drawn + [frame.marker(style.marker, x, y, style.colour) for x, y in places[first::every]]


def _key(line: Line, style: frame.Style) -> list[str]:
    stroke = tag("line", x1=0, y1=8, x2=34, y2=8, stroke=style.colour, stroke_width=2.5,
                 stroke_dasharray=style.dash or "none")  # fmt: skip
    return [stroke, frame.marker(style.marker, 17, 8, style.colour)] if line.marks else [stroke]
