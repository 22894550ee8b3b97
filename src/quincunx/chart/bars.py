"""Bars with intervals: one horizontal bar for each label, or one for each label and series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quincunx.chart import frame
from quincunx.chart.scale import Scale, across, checked, label_of, linear, on_paper
from quincunx.chart.text import shortened, tag, width
from quincunx.errors import DataError

_THICK, _SPACE = 20.0, 12.0
_LABEL_ROOM: Final = 260.0
MOST: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One value. `low` and `high` are the ends of its interval, both or neither, with low ≤ value ≤ high.

    `series` names the group that the bar belongs to where each label has several bars. `text` is printed beside the
    bar instead of the number.
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    series: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        where = f"bar {frame.named(self.label, 'Bar(label)')!r}"
        ends = [end for end in (self.low, self.high) if end is not None]
        numbers = checked([self.value, *ends], where)
        if len(ends) == 1:
            hint = "Give both low and high, or neither."
            raise DataError("an interval has two ends", where=where, got="one end", hint=hint)
        if ends and not numbers[1] <= numbers[0] <= numbers[2]:
            raise DataError("expected low ≤ value ≤ high", where=where, hint="Check the order of the interval's ends.")

    @property
    def reach(self) -> tuple[float, float]:
        """The smallest and the largest value that is drawn."""
        every = [float(end) for end in (self.value, self.low, self.high) if end is not None]
        return min(every), max(every)


def bars(data: Sequence[Bar], *, title: str, x: str, note: str = "") -> frame.Chart:
    """Draw the bars in the order given, from zero. `x` is the axis' title with its unit; `note` stands below."""
    frame.some(data, "bars")
    frame.named(x, "x")
    labels = list(dict.fromkeys(bar.label for bar in data))
    series = list(dict.fromkeys(bar.series for bar in data))
    _check(data, labels)
    styles = {name: frame.style_of(i, len(series)) for i, name in enumerate(series)}
    legend = [(name, _key(styles[name])) for name in series] if len(series) > 1 else []
    parts, top = frame.head(title, legend)
    shown = [shortened(label, frame.LABEL_SIZE, _LABEL_ROOM) for label in labels]
    left = frame.MARGIN + 10 + max(width(label, frame.LABEL_SIZE) for label in shown)
    numbers = _numbers(data)
    right = frame.WIDTH - frame.MARGIN - 10 - max(width(text, frame.LABEL_SIZE) for text in numbers)
    pitch = _THICK * len(series) + _SPACE
    bottom = top + pitch * len(labels) + 4
    ends = [end for bar in data for end in bar.reach]
    scale = on_paper(lambda a, b: linear(ends, a, b, across, zero=True), left, right, frame.PAPER_SPAN)
    axis_parts, end = frame.x_axis(scale, x, top, bottom)
    parts += axis_parts
    for index, label in enumerate(shown):
        middle = top + pitch * (index + 0.5) + 2
        parts.append(
            tag("text", label, x=left - 10, y=middle + 5, font_size=frame.LABEL_SIZE, text_anchor="end", _class="label")
        )
    pairs = list(zip(data, numbers, strict=True))
    for bar, text in pairs:
        y = top + 2 + pitch * labels.index(bar.label) + _SPACE / 2 + _THICK * series.index(bar.series)
        parts += _drawn(bar, text, styles[bar.series], scale, y)
    zero = scale.at(0.0)
    parts.append(tag("line", x1=zero, y1=top, x2=zero, y2=bottom, stroke=frame.INK, _class="zero"))
    foot_parts, end = frame.foot(note, end)
    described = "; ".join(" ".join(f"{bar.label} {bar.series} {text}".split()) for bar, text in pairs)
    return frame.picture(title, [*parts, *foot_parts], end, f"{x}: {described}. {note}")


def _check(data: Sequence[Bar], labels: list[str]) -> None:
    if len({(bar.label, bar.series) for bar in data}) < len(data):
        hint = "Give each bar a label of its own, or a series."
        raise DataError("two bars have the same label and series", where="bars", hint=hint)
    if len(labels) > MOST:
        hint = "Draw the largest ones, or several charts."
        raise DataError(f"at most {MOST} labels can be read", where="bars", got=f"{len(labels)} labels", hint=hint)


def _numbers(data: Sequence[Bar]) -> list[str]:
    """The numbers beside the bars: whole ones as they are, others with decimals for three digits of the largest."""
    largest = max(abs(float(bar.value)) for bar in data)
    whole = all(float(bar.value).is_integer() for bar in data)
    decimals = 0 if whole else next((d for d in range(6) if largest * 10**d >= 100), 6)
    return [bar.text or label_of(float(bar.value), decimals) for bar in data]


def _drawn(bar: Bar, text: str, style: frame.Style, scale: Scale, y: float) -> list[str]:
    start, end = sorted((scale.at(0.0), scale.at(float(bar.value))))
    parts = [
        tag("rect", x=start, y=y + 1, width=end - start, height=_THICK - 2, fill=style.fill, stroke=style.colour,
            _class="bar")
    ]  # fmt: skip
    if bar.low is not None and bar.high is not None:
        low, high, middle = scale.at(float(bar.low)), scale.at(float(bar.high)), y + _THICK / 2
        path = f"M{low:.2f} {middle - 5:.2f}V{middle + 5:.2f}M{low:.2f} {middle:.2f}H{high:.2f}"
        path += f"M{high:.2f} {middle - 5:.2f}V{middle + 5:.2f}"
        # A white halo keeps the whisker visible on a dark bar.
        parts.append(tag("path", d=path, fill="none", stroke=frame.PAPER, stroke_width=5))
        parts.append(tag("path", d=path, fill="none", stroke=frame.INK, stroke_width=1.6, _class="interval"))
    beside = max(scale.at(0.0), scale.at(bar.reach[1])) + 7
    parts.append(tag("text", text, x=beside, y=y + _THICK / 2 + 5, font_size=frame.LABEL_SIZE, _class="value"))
    return parts


def _key(style: frame.Style) -> list[str]:
    return [tag("rect", x=4, y=1, width=26, height=14, fill=style.fill, stroke=style.colour)]
