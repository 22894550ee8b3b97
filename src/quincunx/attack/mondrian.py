"""Mondrian: a table cut into boxes of at least k people each (LeFevre, DeWitt and Ramakrishnan 2006, strict form).

A box is cut across its widest attribute next to the median, as long as both sides keep k people; if that attribute
cannot be cut, the next widest is tried. All boxes of one depth are cut at once. See mondrian.md for what holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import DataError
from quincunx.numbers import positive_integer

__all__ = ["Classes", "mondrian"]

Ints = NDArray[np.int64]
_NUMBERS: Final = "biufMm"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Classes:
    """A partition of the rows of a table into boxes.

    k: how many rows every class has at least. label: the class of every row, from 0. low, high: for every attribute,
    the smallest and the largest value in each class, which is what a k-anonymous release prints instead of the value.
    """

    k: int
    label: Ints
    low: Mapping[str, NDArray[Any]]
    high: Mapping[str, NDArray[Any]]

    @property
    def sizes(self) -> Ints:
        """How many rows each class has."""
        return np.bincount(self.label).astype(np.int64)


def mondrian(columns: Mapping[str, object], k: object) -> Classes:
    """Cut the rows of a table into boxes of at least `k` rows, until no box can be cut further.

    columns: attribute → values, all of one length. Numbers and dates are cut in their order, texts in that of the
    alphabet; give other orders as numbers. The width of an attribute in a box is its range there, as a share of its
    range in the table (texts count their places).
    """
    least = positive_integer(k, "k")
    coded = {name: _coded(values, name) for name, values in columns.items()}
    rows = {codes.size for _, codes in coded.values()}
    if len(rows) != 1:
        got = "no column" if not rows else f"{len(rows)} different lengths"
        raise DataError("expected columns of one length", where="mondrian", got=got, hint="Give every row every value.")
    if min(rows) < least:
        hint = "A class needs k rows: take a smaller k or more rows."
        raise DataError(f"fewer than k = {least} rows", where="mondrian", hint=hint)
    codes = np.stack([codes for _, codes in coded.values()], axis=1)
    order, starts = _cut(codes, [_places(values) for values, _ in coded.values()], least)
    label = np.empty(order.size, dtype=np.int64)
    label[order] = np.repeat(np.arange(starts.size), np.diff(np.append(starts, order.size)))
    low, high = _ends(codes[order], starts)
    names = list(coded)
    return Classes(
        k=least,
        label=label,
        low={name: coded[name][0][low[:, i]] for i, name in enumerate(names)},
        high={name: coded[name][0][high[:, i]] for i, name in enumerate(names)},
    )


def _coded(values: object, name: str) -> tuple[NDArray[Any], Ints]:
    """The distinct values in order, and the place of every row's value among them."""
    array = np.asarray(values)
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.ravel().tolist()):
        array = array.astype(str)
    if array.ndim != 1 or array.dtype.kind not in _NUMBERS + "U":
        got = f"{array.ndim} dimensions of {array.dtype}"
        hint = "Give one number, date or text for each row, none missing."
        raise DataError("cannot be put in order", where=f"column {name!r}", got=got, hint=hint)
    if array.dtype.kind in "fMm" and not np.isfinite(array).all():
        hint = "Drop these rows, or give missing values a number of their own."
        raise DataError("has missing or infinite values", where=f"column {name!r}", hint=hint)
    distinct, codes = np.unique(array, return_inverse=True)
    return distinct, codes.astype(np.int64)


def _places(distinct: NDArray[Any]) -> NDArray[np.float64]:
    """Where the distinct values lie between 0 and 1: numbers by their size, texts by their rank."""
    if distinct.dtype.kind == "U" or distinct.size < 2:
        return np.arange(distinct.size) / max(1, distinct.size - 1)
    # Subtracting as floats: integers of 64 bits could overflow.
    numbers = distinct.astype("int64" if distinct.dtype.kind in "Mm" else "float64").astype(np.float64)
    half = numbers / 2
    span = half[-1] - half[0]
    return np.asarray((half - half[0]) / span if span else np.zeros(half.size))


def _ends(codes: Ints, starts: Ints) -> tuple[Ints, Ints]:
    return np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)


def _cut(codes: Ints, places: list[NDArray[np.float64]], k: int) -> tuple[Ints, Ints]:
    """The rows with those of one class together, and where each class starts."""
    closed: list[Ints] = []
    order, starts = np.arange(codes.shape[0]), np.zeros(1, dtype=np.int64)
    while starts.size:
        sizes = np.diff(np.append(starts, order.size))
        group = np.repeat(np.arange(starts.size), sizes)
        inside = codes[order]
        attribute, last = _chosen(inside, group, starts, sizes, places, k)
        cuts = attribute >= 0
        closed += np.split(order[~cuts[group]], np.cumsum(sizes[~cuts])[:-1]) if not cuts.all() else []
        keep = cuts[group]
        right = inside[keep, attribute[group[keep]]] > last[group[keep]]
        part = 2 * group[keep] + right
        arranged = np.argsort(part, kind="stable")
        order, part = order[keep][arranged], part[arranged]
        starts = np.flatnonzero(np.diff(part, prepend=-1))
    return np.concatenate(closed), np.cumsum([0, *(rows.size for rows in closed[:-1])])


def _chosen(
    inside: Ints, group: Ints, starts: Ints, sizes: Ints, places: list[NDArray[np.float64]], k: int
) -> tuple[Ints, Ints]:
    """For every group the attribute to cut, −1 for none, and the last code on the left side."""
    low, high = _ends(inside, starts)
    width = np.stack([place[high[:, i]] - place[low[:, i]] for i, place in enumerate(places)], axis=1)
    # An attribute with several values can be cut however narrow it is; one value cannot.
    width = np.where(high > low, width, -1.0)
    widest = np.argsort(-width, axis=1, kind="stable")
    attribute, last = np.full(starts.size, -1), np.zeros(starts.size, dtype=np.int64)
    undecided = sizes >= 2 * k
    span = int(inside.max()) + 1
    for column in widest.T:
        asked = np.flatnonzero(undecided & (width[np.arange(starts.size), column] >= 0))
        if not asked.size:
            break
        rows = np.isin(group, asked) if asked.size < starts.size else np.full(group.size, True)
        # Sorting group·span + code sorts the codes of every group.
        keys = np.sort(group[rows] * span + inside[rows, column[group[rows]]])
        first = np.cumsum(sizes[asked]) - sizes[asked]
        middle = keys[first + (sizes[asked] - 1) // 2]
        # If any cut of the attribute leaves k on both sides, one next to the median does (mondrian.md).
        through = np.searchsorted(keys, middle, side="right") - first
        before = np.searchsorted(keys, middle, side="left") - first
        smaller = [np.minimum(left, sizes[asked] - left) for left in (through, before)]
        take_before = smaller[1] > smaller[0]
        found = np.maximum(*smaller) >= k
        chosen = asked[found]
        attribute[chosen] = column[chosen]
        last[chosen] = (middle % span - take_before)[found]
        undecided[chosen] = False
    return attribute, last
