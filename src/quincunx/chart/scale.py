"""From data to pixels: linear, logarithmic and banded scales, with ticks whose labels do not collide.

A scale covers every value it was made for, and its ticks lie within it. Ticks are 1, 2, 2.5 or 5 times a power of ten;
the densest choice whose labels keep `GAP` pixels apart is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from quincunx.chart.text import width
from quincunx.errors import DataError

LARGEST: Final = 1e100
# Below this, a value is drawn as zero.
SMALLEST: Final = 1e-100
GAP: Final = 14.0
_HAIR: Final = 1e-3
TICK_SIZE: Final = 15.0
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Room = Callable[[str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A labelled place on an axis: `value` in data units."""

    value: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The map from [low, high] in data units to [start, end] in pixels: linear, or linear in the logarithm."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool
    ticks: tuple[Tick, ...] = ()

    def at(self, value: float) -> float:
        """The pixel of a value."""
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return self.start + (value - low) / (high - low) * (self.end - self.start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bands:
    """Equal bands between two pixels, one for each label."""

    count: int
    start: float
    end: float

    @property
    def breadth(self) -> float:
        """The pixels of one band."""
        return abs(self.end - self.start) / self.count

    def middle(self, index: int) -> float:
        """The pixel of the band's middle."""
        return self.start + (index + 0.5) * (self.end - self.start) / self.count


def across(label: str) -> float:
    """The room that a label takes along a horizontal axis, in pixels."""
    return width(label, TICK_SIZE)


def down(label: str) -> float:  # noqa: ARG001 - every line of text is as high as any other
    """The room that a label takes along a vertical axis, in pixels."""
    return TICK_SIZE + GAP


def linear(values: Iterable[float], start: float, end: float, room: Room, *, zero: bool = False) -> Scale:
    """The linear scale that covers the values, and zero if asked."""
    low, high = _extent(values, zero=zero)
    for count in range(7, 0, -1):
        ticks = _steps(low, high, (high - low) / count)
        first, last = min(low, _end(ticks[0], ticks[1], low)), max(high, _end(ticks[-1], ticks[-2], high))
        kept = tuple(tick for tick in ticks if first <= tick.value <= last)
        scale = Scale(low=first, high=last, start=start, end=end, logarithmic=False, ticks=kept)
        if _apart(scale, room):
            return scale
    return _ends_only(scale, room)


def _end(outer: Tick, inner: Tick, reached: float) -> float:
    """An axis ends on a tick, unless the tick would leave more than half a step empty: then where the values end."""
    return outer.value if abs(outer.value - reached) <= abs(outer.value - inner.value) / 2 else reached


def logarithmic(values: Iterable[float], start: float, end: float, room: Room) -> Scale:
    """The logarithmic scale that covers the positive values; it ends on 1, 2 or 5 times powers of ten."""
    low, high = _extent(values, zero=False, positive=True)
    first, last = _below(low), _above(high)
    if first == last:
        last = _above(last * 1.5)
    for ticks in _log_ticks(first, last):
        scale = Scale(low=first, high=last, start=start, end=end, logarithmic=True, ticks=tuple(ticks))
        if _apart(scale, room):
            return scale
    return _ends_only(scale, room)


def marked(
    values: Iterable[float], start: float, end: float, ticks: Mapping[float, str], room: Room, *, log: bool
) -> Scale:
    """A scale with the ticks that the caller names: value → label. It covers the ticks and the values."""
    every = [*values, *ticks]
    low, high = _extent(every, zero=False, positive=log)
    placed = tuple(Tick(value=float(value), label=str(label)) for value, label in sorted(ticks.items()))
    scale = Scale(low=low, high=high, start=start, end=end, logarithmic=log, ticks=placed)
    if len(placed) > 1 and not _apart(scale, room):
        raise DataError("the labels of the named ticks collide", where="Axis(ticks)", hint="Name fewer ticks.")
    return scale


def on_paper(make: Callable[[float, float], Scale], start: float, end: float, paper: tuple[float, float]) -> Scale:
    """The horizontal scale from `make(start, end)`, shortened until the labels of its ticks stand on the paper."""
    for _ in range(5):
        scale = make(start, end)
        reach = [(scale.at(tick.value), across(tick.label) / 2) for tick in scale.ticks]
        left = max([0.0, *(paper[0] - place + half for place, half in reach)])
        right = max([0.0, *(place + half - paper[1] for place, half in reach)])
        if left + right < _HAIR:
            return scale
        start, end = start + left, end - right
    # Rarely another length has other ticks and so on for ever: then what does not fit goes without a label.
    inside = zip(scale.ticks, reach, strict=True)
    kept = [tick for tick, (at, half) in inside if paper[0] <= at - half and at + half <= paper[1]]
    return replace(scale, ticks=tuple(kept))


def label_of(value: float, decimals: int = 0) -> str:
    """A number as people write it: 12,000 but 3×10⁹, 0.05 but 10⁻⁷; a true minus sign."""
    if abs(value) < SMALLEST:
        return "0"
    exponent = math.floor(math.log10(abs(value)) + 1e-12)
    if -5 < exponent < 9:
        return f"{value:,.{decimals}f}".replace("-", "−")
    mantissa = f"{abs(value) / 10.0**exponent:.3g}"
    power = f"10{str(exponent).translate(_SUPERSCRIPTS)}"
    return ("−" if value < 0 else "") + (power if mantissa == "1" else f"{mantissa}×{power}")


def checked(values: Iterable[object], where: str) -> list[float]:
    """The values as floats; refused unless all are finite numbers that can be drawn."""
    found = []
    for value in values:
        drawn = _as_float(value)
        if drawn is None or not abs(drawn) <= LARGEST:
            hint = "Leave out what is missing or infinite; a picture cannot show it."
            # The value itself may be private: only its kind is named.
            kind = "not finite" if drawn is not None else type(value).__name__
            raise DataError("expected finite numbers", where=where, got=kind, hint=hint)
        found.append(drawn)
    return found


def _as_float(value: object) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    except OverflowError:
        return math.inf


def _extent(values: Iterable[float], *, zero: bool, positive: bool = False) -> tuple[float, float]:
    every = [0.0 if abs(value) < SMALLEST else value for value in values]
    if positive and min(every) <= 0:
        hint = "Use a linear axis, or leave the values out."
        raise DataError("a logarithmic axis has no place for zero or negative values", where="chart", hint=hint)
    low, high = min(every), max(every)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if positive or high > low:
        # Values that differ by rounding alone would ask for steps that floats cannot make.
        span = max(abs(low), abs(high)) * 1e-9
        return (low, high) if positive or high - low > span else (low - span, high + span)
    return (low - abs(low) / 2, high + abs(high) / 2) if low else (0.0, 1.0)


def _steps(low: float, high: float, wanted: float) -> list[Tick]:
    """Ticks from at or below `low` to at or above `high`, at the smallest nice step that is at least `wanted`."""
    exponent = math.floor(math.log10(wanted))
    # 2.5 is for steps of 25 and more: 0, 2.5, 5 mixes numbers with and without decimals.
    choices: tuple[float, ...] = (1, 2, 2.5, 5, 10) if exponent >= 1 else (1, 2, 5, 10)
    mantissa = next(each for each in choices if each >= wanted / 10.0**exponent * (1 - 1e-9))
    # The step is `whole` units of 10^-places, so that ticks are rounded once and not accumulated.
    whole, places = (25, 1 - exponent) if mantissa == 2.5 else (int(mantissa), -exponent)
    step = whole * 10.0**-places
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    decimals = max(0, places - (1 if mantissa == 10 else 0))
    values = [_decimal(index * whole, places) for index in range(first, max(last, first + 1) + 1)]
    return [Tick(value=value, label=label_of(value, decimals)) for value in values]


def _decimal(whole: int, places: int) -> float:
    return whole / 10**places if places >= 0 else float(whole * 10**-places)


def _log_ticks(first: float, last: float) -> Iterator[list[Tick]]:
    """Ever thinner choices of ticks: 1, 2, 5 in each decade, then decades, then every second, third, … decade."""
    low, high = math.floor(math.log10(first) + 1e-9), math.ceil(math.log10(last) - 1e-9)
    for mantissas in ((1, 2, 5), (1,)):
        powers = [(m, e) for e in range(low, high + 1) for m in mantissas]
        yield [_log_tick(m, e) for m, e in powers if first * (1 - 1e-9) <= m * 10.0**e <= last * (1 + 1e-9)]
    for every in range(2, high - low + 1):
        decades = [e for e in range(low, high + 1) if e % every == 0]
        yield [_log_tick(1, e) for e in decades if first * (1 - 1e-9) <= 10.0**e <= last * (1 + 1e-9)]


def _log_tick(mantissa: int, exponent: int) -> Tick:
    value = _decimal(mantissa, -exponent)
    return Tick(value=value, label=label_of(value, max(0, -exponent)))


def _below(value: float) -> float:
    exponent = math.floor(math.log10(value) + 1e-12)
    return max(_decimal(m, -e) for e in (exponent - 1, exponent) for m in (1, 2, 5) if _decimal(m, -e) <= value)


def _above(value: float) -> float:
    exponent = math.floor(math.log10(value) + 1e-12)
    return min(_decimal(m, -e) for e in (exponent, exponent + 1) for m in (1, 2, 5) if _decimal(m, -e) >= value)


def _apart(scale: Scale, room: Room) -> bool:
    if len(scale.ticks) < 2:
        return False
    places = [(scale.at(tick.value), room(tick.label)) for tick in scale.ticks]
    return no_overlap(places, 0.0 if room is down else GAP)


def no_overlap(places: Sequence[tuple[float, float]], gap: float) -> bool:
    """Whether intervals of given middles and lengths, in order, keep the gap."""
    pairs = pairwise(places)
    return all(abs(b - a) >= (room_a + room_b) / 2 + gap for (a, room_a), (b, room_b) in pairs)


def _ends_only(scale: Scale, room: Room) -> Scale:
    """A last resort for tiny axes and long labels: the two ends if they fit, or one of them."""
    for kept in ((scale.ticks[0], scale.ticks[-1]), scale.ticks[:1]):
        last = replace(scale, ticks=tuple(kept))
        if _apart(last, room):
            break
    return last
