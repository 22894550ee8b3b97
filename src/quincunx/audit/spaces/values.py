"""What a record may hold: numbers with their ends and awkward cases, choices, and rows of named fields."""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from quincunx.audit.spaces.literal import literal
from quincunx.audit.spaces.space import expect
from quincunx.errors import ParameterError

# How the values of one world are chosen: anything; one end of what is allowed; what is missing or undefined.
STYLES: Final = ("any", "high", "low", "odd")
_FLOATS: Final = (0.0, -0.0, 1.0, -1.0, 0.1, 0.3, -2.5, 1e-9, 5e-324, 1e16, 2.0**53 + 2, 1e300, -1e300, 3.4e38, 123.456)
_WHOLE: Final = (0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, -(2**63))
_LIMITS: Final = (-(2**63), 2**63 - 1)


class Values(ABC):
    """A set of values that one field or record may take."""

    __slots__ = ()

    @abstractmethod
    def draw(self, source: random.Random, style: str) -> Any:
        """A value. style: "any", "high" or "low" (an end of what is allowed, mostly), "odd" (missing or undefined)."""

    @abstractmethod
    def simpler(self, value: Any) -> Iterator[Any]:
        """Allowed values that are simpler to read than this one, the simplest first."""

    def fresh(self, value: Any) -> Any:
        """The value as an object that a statistic may change."""
        return deepcopy(value)


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Real(Values):
    """Floats from `low` to `high`, each None for no end. nan: NaN too; infinite: ±∞ where there is no end.

    missing: None too. State what the column can hold, not what the statistic clips it to: a clip that was forgotten
    shows on values beyond it.
    """

    low: float | None
    high: float | None
    nan: bool
    infinite: bool
    missing: bool

    def __init__(
        self,
        low: float | None = None,
        high: float | None = None,
        *,
        nan: bool = True,
        infinite: bool = True,
        missing: bool = False,
    ) -> None:
        _set(self, low=_end(low, "low"), high=_end(high, "high"), nan=nan, infinite=infinite, missing=missing)
        _ordered(self.low, self.high, "Real")

    def draw(self, source: random.Random, style: str) -> Any:
        odd = self._odd()
        if odd and (style == "odd" or (style == "any" and source.random() < 0.1)):
            return source.choice(odd)
        least, most = self._ends()
        if style in ("high", "low") and source.random() < 0.9:
            return most if style == "high" else least
        if source.random() < 0.5:
            return source.choice(self._pool())
        return source.uniform(max(least, -1e6), min(most, 1e6)) if least < 1e6 and most > -1e6 else least

    def fresh(self, value: Any) -> Any:
        return value

    def simpler(self, value: Any) -> Iterator[Any]:
        rounded = [] if value is None or not math.isfinite(value) else [float(round(value)), round(value, 1)]
        for each in _simpler(value, (self.low, self.high), rounded, self._allows):
            yield float(each)

    def _ends(self) -> tuple[float, float]:
        return (-1e300 if self.low is None else self.low), (1e300 if self.high is None else self.high)

    def _odd(self) -> list[float | None]:
        ends = [math.inf] * (self.high is None) + [-math.inf] * (self.low is None)
        return [None] * self.missing + [math.nan] * self.nan + ends * self.infinite

    def _pool(self) -> list[float]:
        least, most = self._ends()
        # Inside the ends by one ulp, and the middle: where a rounding or a strict comparison shows.
        near = (least, most, math.nextafter(least, most), math.nextafter(most, least), least / 2 + most / 2)
        return [value for value in (*near, *_FLOATS) if least <= value <= most]

    def _allows(self, value: Any) -> bool:
        least, most = self._ends()
        return value is not None and least <= value <= most


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Whole(Values):
    """Integers from `low` to `high`; without ends, what fits 64 bits. missing: None too."""

    low: int
    high: int
    missing: bool

    def __init__(self, low: int = _LIMITS[0], high: int = _LIMITS[1], *, missing: bool = False) -> None:
        for name, value in (("low", low), ("high", high)):
            expect(value, int, where=f"Whole({name})", hint="Give a whole number.")
        _set(self, low=low, high=high, missing=missing)
        _ordered(low, high, "Whole")

    def draw(self, source: random.Random, style: str) -> Any:
        if self.missing and (style == "odd" or (style == "any" and source.random() < 0.1)):
            return None
        if style in ("high", "low") and source.random() < 0.9:
            return self.high if style == "high" else self.low
        near = (self.low, self.high, self.low + 1, self.high - 1, (self.low + self.high) // 2)
        value = source.choice((*near, *_WHOLE)) if source.random() < 0.6 else source.randint(self.low, self.high)
        return value if self.low <= value <= self.high else source.randint(self.low, self.high)

    def fresh(self, value: Any) -> Any:
        return value

    def simpler(self, value: Any) -> Iterator[Any]:
        yield from _simpler(value, (self.low, self.high), [], self._allows)

    def _allows(self, value: Any) -> bool:
        return value is not None and self.low <= value <= self.high


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class OneOf(Values):
    """One of the listed values, of any type; the earlier are the simpler."""

    values: tuple[Any, ...]

    def __init__(self, values: Iterable[Any]) -> None:
        _set(self, values=tuple(values))
        if not self.values:
            raise ParameterError("needs at least one value", where="OneOf", got="none")

    def draw(self, source: random.Random, style: str) -> Any:
        chosen = {"high": self.values[-1], "low": self.values[0]}.get(style)
        return chosen if chosen is not None and source.random() < 0.8 else source.choice(self.values)

    def simpler(self, value: Any) -> Iterator[Any]:
        written = [literal(each) for each in self.values]
        yield from self.values[: written.index(literal(value))]


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Row(Values):
    """A dict with a value for each named field: Row({"person": Whole(0, 9), "cost": Real(0, 100)})."""

    fields: tuple[tuple[str, Values], ...]

    def __init__(self, fields: Mapping[str, Values]) -> None:
        hint = "Give a mapping from name to Real, Whole, OneOf or a Values of your own."
        expect(fields, Mapping, where="Row", hint=hint)
        if not fields:
            raise ParameterError("needs at least one field", where="Row", got="none", hint=hint)
        for name, values in fields.items():
            expect(values, Values, where=f"Row({name})", hint=hint)
        _set(self, fields=tuple(fields.items()))

    def draw(self, source: random.Random, style: str) -> Any:
        return {name: values.draw(source, style) for name, values in self.fields}

    def fresh(self, value: Any) -> Any:
        return {name: values.fresh(value[name]) for name, values in self.fields}

    def simpler(self, value: Any) -> Iterator[Any]:
        for name, values in self.fields:
            for other in values.simpler(value[name]):
                yield {**value, name: other}


def _set(target: object, **fields: object) -> None:
    for name, value in fields.items():
        object.__setattr__(target, name, value)


def _end(value: float | None, name: str) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        hint = "Leave it out where there is no end."
        raise ParameterError("expected a finite number", where=f"Real({name})", got=repr(value)[:40], hint=hint)
    return float(value)


def _ordered(low: float | None, high: float | None, where: str) -> None:
    if low is not None and high is not None and low > high:
        raise ParameterError("low must not exceed high", where=where, got=f"{low} and {high}")


def _simpler(value: Any, ends: tuple[Any, Any], others: list[Any], allows: Callable[[Any], bool]) -> Iterator[Any]:
    """0, 1 and the ends in this order, up to the value itself; then what is shorter to write."""
    plain = [each for each in dict.fromkeys((0, 1, *ends)) if each is not None]

    def rank(each: Any) -> tuple[float, ...]:
        if each is None or not math.isfinite(each):
            # What is missing or undefined comes last: a number in its place says more about the cause.
            return (math.inf,)
        return (plain.index(each),) if each in plain else (len(plain), len(literal(each)), abs(each))

    for candidate in (*plain, *others):
        if allows(candidate) and rank(candidate) < rank(value):
            yield candidate
