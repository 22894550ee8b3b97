"""What someone holds possible about several people's records together: an exact law on tuples of records."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm, prod
from typing import Any, Final, TypeAlias

from quincunx.errors import ParameterError, kind_of
from quincunx.numbers import positive_integer, probability

Label: TypeAlias = Hashable
Records: TypeAlias = tuple[Label, ...]

MOST: Final = 2**16


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Joint:
    """The prior π on n records X_0, …, X_{n−1}: π(x) for each tuple x of values; tuples left out have probability 0.

    weights: {(x_0, …, x_{n−1}): probability}, exact as typed, summing to 1. `records` is n. Stored are `cells`, the
    possible tuples with whole weights, and `total`, the sum of the weights: π(x) = weight/total.
    """

    records: int
    total: int
    cells: tuple[tuple[Records, int], ...]

    def __init__(self, weights: Mapping[Any, object]) -> None:
        if not isinstance(weights, Mapping) or not weights:
            got = "nothing" if isinstance(weights, Mapping) else type(weights).__name__
            hint = 'Write {(0, 0): "1/2", (1, 1): "1/2"}.'
            raise ParameterError("expected {records: probability}", where="Joint", got=got, hint=hint)
        _small(len(weights))
        read = {_records(x): probability(p, f"Joint[{x!r}]") for x, p in weights.items()}
        lengths = {len(x) for x in read}
        if len(lengths) > 1 or 0 in lengths:
            got = f"tuples of {' and '.join(str(n) for n in sorted(lengths))} records"
            raise ParameterError("every tuple must have the same records, at least one", where="Joint", got=got)
        if sum(read.values()) != 1:
            got, hint = str(sum(read.values()))[:40], 'Write thirds as "1/3".'
            raise ParameterError("the probabilities do not sum to 1", where="Joint", got=got, hint=hint)
        total = lcm(*(p.denominator for p in read.values()))
        self._fill(lengths.pop(), {x: int(p * total) for x, p in read.items()})

    def _fill(self, records: int, whole: Mapping[Records, int]) -> None:
        """Weights without a common factor, in an order of their own, so that equal priors are equal values."""
        shared = gcd(*whole.values())
        cells = sorted(((x, weight // shared) for x, weight in whole.items() if weight), key=lambda cell: repr(cell[0]))
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "cells", tuple(cells))
        object.__setattr__(self, "total", sum(weight for _, weight in cells))

    @classmethod
    def independent(cls, *parts: Joint | Mapping[Any, object]) -> Joint:
        """The records of the parts one after another, independent between parts.

        A part is a Joint of several records, or {value: probability} for one record.
        """
        if not parts:
            raise ParameterError("nothing to join", where="Joint.independent", hint="Give at least one part.")
        read = [part if isinstance(part, Joint) else _single(part) for part in parts]
        _small(prod(len(part.cells) for part in read))
        whole: dict[Records, int] = {(): 1}
        for part in read:
            whole = {(*x, *more): w * v for x, w in whole.items() for more, v in part.cells}
        return cls._of(sum(part.records for part in read), whole)

    @classmethod
    def alike(cls, law: Mapping[Any, object], records: object) -> Joint:
        """That many records which are always equal; `law`: {value: probability} of each."""
        count = positive_integer(records, "records")
        return cls._of(count, {x * count: weight for x, weight in _single(law).cells})

    @classmethod
    def _of(cls, records: int, whole: Mapping[Records, int]) -> Joint:
        joint = object.__new__(cls)
        joint._fill(records, whole)
        return joint

    def probability(self, x: Sequence[Label]) -> Fraction:
        """π(x); 0 for a tuple that is not listed."""
        return Fraction(dict(self.cells).get(_records(x), 0), self.total)

    def table(self) -> dict[Records, Fraction]:
        """Every possible tuple with its probability."""
        return {x: Fraction(weight, self.total) for x, weight in self.cells}

    def values(self, record: int) -> tuple[Label, ...]:
        """The values that one record may have."""
        place = self.place(record)
        return tuple(dict.fromkeys(x[place] for x, _ in self.cells))

    def law(self, record: int) -> dict[Label, Fraction]:
        """The marginal prior of one record."""
        found = self.sums((self.place(record),))
        return {value: Fraction(weight, self.total) for (value,), weight in found.items()}

    def sums(self, places: Sequence[int]) -> dict[Records, int]:
        """The weights of what the records at these places may be together, out of `total`."""
        found: dict[Records, int] = {}
        for x, weight in self.cells:
            key = tuple(x[place] for place in places)
            found[key] = found.get(key, 0) + weight
        return found

    def given(self, known: Mapping[int, Label]) -> Joint:
        """The prior of someone who has learned the values of some records: π(· | X_j = known[j] for every j)."""
        wanted = {self.place(record): value for record, value in known.items()}
        whole = {x: weight for x, weight in self.cells if all(x[j] == value for j, value in wanted.items())}
        if not whole:
            raise ParameterError("what is known has probability 0", where="given", got=f"{len(wanted)} values")
        return self._of(self.records, whole)

    def place(self, record: object) -> int:
        """A record's number, checked."""
        if isinstance(record, bool) or not isinstance(record, int) or not 0 <= record < self.records:
            got, hint = repr(record)[:40], f"Records are numbered from 0 to {self.records - 1}."
            raise ParameterError("no such record", where="record", got=got, hint=hint)
        return record

    def __repr__(self) -> str:
        inside = ", ".join(f"{x!r}: '{p}'" for x, p in self.table().items())
        return f"Joint({{{inside}}})"


def _records(x: object) -> Records:
    if isinstance(x, str | bytes) or not isinstance(x, Iterable):
        hint = "Write the records of one dataset as a tuple: (0, 1, 1)."
        raise ParameterError("expected a tuple of records", where="Joint", got=kind_of(x), hint=hint)
    return tuple(x)


def _single(law: object) -> Joint:
    if not isinstance(law, Mapping):
        raise ParameterError("expected {value: probability} of one record", where="Joint", got=kind_of(law))
    return Joint({(value,): chance for value, chance in law.items()})


def _small(tuples: int) -> None:
    if tuples > MOST:
        hint = "Enumeration is for small worlds; for more people describe who depends on whom: component(…)."
        raise ParameterError("too many tuples", where="Joint", got=f"{tuples:,}, more than {MOST:,}", hint=hint)
