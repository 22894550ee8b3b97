"""Ways to cut the space of outputs into cells, and how to say which cells an event is made of.

A feature turns a batch into one number for each output; bins cut its range. Cells are learned from the first samples
and then fixed, so that counting an event in later samples is one pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.audit.blackbox.outputs import Batch, Floats
from quincunx.audit.blackbox.sampler import Raised

Codes = NDArray[np.intp]
Mask = NDArray[np.bool_]
Feature = Callable[[Batch], Floats]

_MOST_VALUES: Final = 512
_MOST_LABELS: Final = 1024
_MOST_INTERVALS: Final = 3
# A value that makes up this part of the outputs is an atom and has a cell of its own.
_ATOM: Final = 1e-3


class Cells(ABC):
    """A partition of all outputs into cells."""

    __slots__ = ()

    @property
    @abstractmethod
    def size(self) -> int:
        """How many cells there are."""

    @property
    @abstractmethod
    def ordered(self) -> bool:
        """Whether neighbouring cells are neighbouring values, all but the last."""

    @abstractmethod
    def codes(self, batch: Batch) -> Codes:
        """The cell of each output, from 0."""

    @abstractmethod
    def words(self, mask: Mask) -> str:
        """The union of some cells, in words."""

    def merged(self, mask: Mask) -> tuple[Cells, Mask]:
        """The same union as cells that are faster to count, where there are such."""
        return self, mask

    def counts(self, batch: Batch) -> NDArray[np.int64]:
        """How many outputs are in each cell."""
        return np.bincount(self.codes(batch), minlength=self.size).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Bins(Cells):
    """Cell i holds cuts[i−1] < value ≤ cuts[i]; the last but one is above all cuts, the last is NaN.

    name: of the feature, in words. listed: whether the cuts are all values that were seen, so that cells are values.
    """

    name: str
    feature: Feature
    cuts: Floats
    listed: bool

    @property
    def size(self) -> int:
        """One cell for each cut, one above and one for what is not a number."""
        return len(self.cuts) + 2

    @property
    def ordered(self) -> bool:
        """By value."""
        return True

    def codes(self, batch: Batch) -> Codes:
        """By binary search among the cuts."""
        with np.errstate(all="ignore"):
            values = self.feature(batch)
        found = np.searchsorted(self.cuts, values, side="left")
        found[np.isnan(values)] = len(self.cuts) + 1
        return found

    def merged(self, mask: Mask) -> tuple[Cells, Mask]:
        """Neighbouring cells on the same side as one: a threshold is one cut, however many there were."""
        ends = np.flatnonzero(np.diff(mask[:-1]))
        return Bins(self.name, self.feature, self.cuts[ends], False), np.append(mask[:-1][[*ends, -1]], mask[-1])

    def words(self, mask: Mask) -> str:
        """Intervals of the feature, or its values where each cell is one."""
        parts = [self._run(first, last) for first, last in _runs(mask[:-1])]
        if mask[-1]:
            parts.append(f"{self.name} is not a number")
        more = f" or {len(parts) - _MOST_INTERVALS} more" if len(parts) > _MOST_INTERVALS else ""
        return " or ".join(parts[:_MOST_INTERVALS]) + more or "nothing"

    def _run(self, first: int, last: int) -> str:
        cuts, name = self.cuts, self.name
        if first == 0 and last == len(cuts):
            return f"{name} is a number"
        if first == 0:
            return f"{name} ≤ {_figure(cuts[last])}"
        if last == len(cuts):
            return f"{name} > {_figure(cuts[first - 1])}"
        if self.listed:
            start, end = f"{_figure(cuts[first])}", f"{_figure(cuts[last])}"
            return f"{name} = {start}" if first == last else f"{start} ≤ {name} ≤ {end}"
        return f"{_figure(cuts[first - 1])} < {name} ≤ {_figure(cuts[last])}"


def _figure(value: float) -> str:
    # Adding 0 turns −0 into 0.
    return f"{value + 0.0:.12g}"


def _runs(mask: Mask) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def bins(name: str, feature: Feature, values: Floats, pieces: int) -> Bins:
    """Bins for values of both inputs together: all of them where they are few, else about `pieces` quantiles."""
    known = np.sort(values[~np.isnan(values)])
    distinct, counts = np.unique(known, return_counts=True)
    if len(distinct) <= _MOST_VALUES:
        return Bins(name, feature, distinct, True)
    tails = np.geomspace(10 / len(known), 0.5, max(pieces // 4, 2))
    levels = np.concatenate((np.linspace(0, 1, pieces + 1)[1:-1], tails, 1 - tails))
    atoms = distinct[counts >= max(3, _ATOM * len(known))]
    cuts = np.concatenate((known[(levels * (len(known) - 1)).astype(np.intp)], atoms, np.nextafter(atoms, -np.inf)))
    return Bins(name, feature, np.unique(cuts), False)


@dataclass(frozen=True, slots=True)
class Joint(Cells):
    """Exact values of several columns together: one cell for each combination that was seen, and one for the rest."""

    parts: tuple[Bins, ...]
    table: Codes
    kept: int

    @property
    def size(self) -> int:
        """The combinations that are kept, and the rest."""
        return self.kept + 1

    @property
    def ordered(self) -> bool:
        """Combinations have no order."""
        return False

    def codes(self, batch: Batch) -> Codes:
        """The combination's place in the table."""
        return self.table[_combined(self.parts, batch)]

    def words(self, mask: Mask) -> str:
        """The combinations, the first few by their values."""
        where = np.flatnonzero(mask[self.table])
        shapes = np.unravel_index(where, [part.size for part in self.parts])
        shown = [
            "(" + ", ".join(_value(part, int(code[i])) for part, code in zip(self.parts, shapes, strict=True)) + ")"
            for i in range(min(len(where), _MOST_INTERVALS))
        ]
        more = f" or {len(where) - len(shown):,} more" if len(where) > len(shown) else ""
        return f"({', '.join(part.name for part in self.parts)}) is " + " or ".join(shown) + more


def _value(part: Bins, code: int) -> str:
    return f"{_figure(part.cuts[code])}" if code < len(part.cuts) else "anything else"


def _combined(parts: tuple[Bins, ...], batch: Batch) -> Codes:
    total = np.zeros(len(batch), dtype=np.intp)
    for part in parts:
        total = total * part.size + part.codes(batch)
    return total


def joint(parts: tuple[Bins, ...], batch: Batch) -> Joint | None:
    """The combinations of columns with few values each; None where there would be too many."""
    room = int(np.prod([part.size for part in parts], dtype=np.float64))
    if room > 2**20 or not all(part.listed for part in parts):
        return None
    counts = np.bincount(_combined(parts, batch), minlength=room)
    often = np.argsort(-counts, kind="stable")[:_MOST_LABELS]
    kept = often[counts[often] > 1]
    table = np.full(room, len(kept), dtype=np.intp)
    table[kept] = np.arange(len(kept))
    return Joint(parts, table, len(kept))


@dataclass(frozen=True, slots=True)
class Labels(Cells):
    """One cell for each label that was seen often, one for other labels and one for numbers."""

    places: dict[Hashable, int]

    @property
    def ordered(self) -> bool:
        """Labels have no order."""
        return False

    @property
    def size(self) -> int:
        """The labels, other labels, and no label."""
        return len(self.places) + 2

    def codes(self, batch: Batch) -> Codes:
        """By looking each label up."""
        other, none = len(self.places), len(self.places) + 1
        if not batch.labels:
            return np.full(len(batch), none, dtype=np.intp)
        found = (none if label is None else self.places.get(label, other) for label in batch.labels)
        return np.fromiter(found, dtype=np.intp, count=len(batch))

    def words(self, mask: Mask) -> str:
        """The labels, the first few of them."""
        names = [_labelled(label) for label, place in self.places.items() if mask[place]]
        names += ["the output is rare"] * bool(mask[-2])
        if mask[-1]:
            others = [_labelled(label) for label, place in self.places.items() if not mask[place]]
            names.append("the output is a number" + (f" (elsewhere: {others[0]})" if others else ""))
        more = f" or {len(names) - _MOST_INTERVALS:,} more" if len(names) > _MOST_INTERVALS else ""
        return " or ".join(names[:_MOST_INTERVALS]) + more or "nothing"


def _labelled(label: Hashable) -> str:
    if isinstance(label, Raised):
        return repr(label)
    text = f"the output is {label!r}" if label != "None" else "the output is None"
    return text if len(text) <= 80 else text[:79] + "…"


def labels(batch: Batch) -> Labels:
    """The labels that occur more than once, the most frequent first."""
    counted = Counter(label for label in batch.labels if label is not None).most_common(_MOST_LABELS)
    return Labels({label: place for place, (label, count) in enumerate(counted) if count > 1})
