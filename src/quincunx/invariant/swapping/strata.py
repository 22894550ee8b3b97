"""Who may exchange with whom: the arguments of a swap, read and checked against a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import DataError, kind_of
from quincunx.invariant.swapping.columns import Integers, Table, combined, numbered

# In fewer rows all values may differ by chance.
_FEWEST: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """What each column does. column: swapped together, with those that go along. match: equal within a stratum.
    household: the key of whole households, or None. rest: all other columns, which stay where they are."""

    column: tuple[str, ...]
    match: tuple[str, ...]
    household: str | None
    rest: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """units: for each row its record or household. of: for each unit its stratum. first: for each unit a row of it.
    largest: b, the size of the largest stratum with two different rests and two different values to swap, or 0."""

    units: Integers
    of: Integers
    first: Integers
    largest: int


def read_roles(table: Table, column: object, match: object, household: object, move: object = ()) -> Roles:
    """The roles of the columns; whatever does not fit the table is refused."""
    swapped, matched = _names(column, "column"), _names(match, "match")
    if not swapped:
        raise DataError("name at least one column to swap", where="column", got="none")
    # What moves together is one value: a column that goes along is swapped like those that are named.
    swapped = (*swapped, *_names(move, "move"))
    if household is not None and not isinstance(household, str):
        raise DataError("expected the name of a column", where="household", got=kind_of(household))
    named = [*swapped, *matched, *([household] if household is not None else [])]
    unknown = sorted({name for name in named if name not in table.types})
    if unknown:
        hint = f"The columns are {', '.join(list(table.types)[:20])}."
        raise DataError(f"no column {', '.join(repr(name) for name in unknown)}", where="swap", hint=hint)
    if len(set(named)) < len(named):
        twice = sorted({name for name in named if named.count(name) > 1})
        hint = "A column is swapped, matched, or the key of households."
        got = ", ".join(repr(name) for name in twice)
        raise DataError("a column is named twice", where="swap", got=got, hint=hint)
    for name in (*matched, *([household] if household is not None else [])):
        if table.incomplete(name):
            hint = "A record without a key belongs to no stratum: fill the gaps, or leave these rows out."
            raise DataError(f"column {name!r} has missing values", where="match", hint=hint)
    rest = tuple(name for name in table.types if name not in named)
    return Roles(column=swapped, match=matched, household=household, rest=rest)


def _names(value: object, where: str) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, Iterable):
        raise DataError("expected names of columns", where=where, got=kind_of(value))
    listed = tuple(names)
    if not all(isinstance(name, str) for name in listed):
        raise DataError("expected names of columns", where=where, got=kind_of(value))
    return listed


def read_strata(table: Table, roles: Roles, swapped: Integers) -> Strata:
    """The strata of the table. swapped: codes of the swapped columns together."""
    rows = table.rows
    strata = combined([table.codes(name) for name in roles.match], rows)
    if roles.household is None:
        every = np.arange(rows, dtype=np.int64)
        largest = _largest(strata, swapped, lambda: (table.codes(name) for name in roles.rest))
        return Strata(units=every, of=strata, first=every, largest=largest)
    units = numbered(table.codes(roles.household))
    first = np.zeros(int(units.max(initial=-1)) + 1, dtype=np.int64)
    first[units[::-1]] = np.arange(rows - 1, -1, -1)
    for codes, names in ((strata, roles.match), (swapped, roles.column)):
        if not np.array_equal(codes, codes[first[units]]):
            what = f"the members of a household differ in {', '.join(repr(name) for name in names)}"
            hint = "A household lies in one stratum and moves as a whole: give all its members the same value."
            raise DataError(what, where="household", hint=hint)
    rests = combined([table.codes(name) for name in roles.rest], rows)
    of = strata[first]
    largest = _largest_of(of, varies(of, swapped[first]), [_members_vary(of, units, rests)])
    return Strata(units=units, of=of, first=first, largest=largest)


def varies(strata: Integers, values: Integers) -> NDArray[np.bool_]:
    """For each stratum, whether two of its units have different values."""
    count = int(strata.max(initial=-1)) + 1
    some = np.zeros(count, dtype=np.int64)
    some[strata] = values
    flags = np.zeros(count, dtype=np.bool_)
    flags[strata[values != some[strata]]] = True
    return flags


def _members_vary(strata: Integers, units: Integers, rests: Integers) -> NDArray[np.bool_]:
    """For each stratum, whether two of its households differ in the multiset of their members' rests."""
    sizes = np.bincount(units, minlength=len(strata))
    order = np.lexsort((rests, units))
    sorted_rests, sorted_units = rests[order], units[order]
    starts = np.cumsum(sizes) - sizes
    model = np.zeros(int(strata.max(initial=-1)) + 1, dtype=np.int64)
    model[strata] = np.arange(len(strata))
    flags = varies(strata, sizes)
    # Households of the model's size are compared member by member, both in the order of their rests.
    alike = sizes[sorted_units] == sizes[model[strata[sorted_units]]]
    held = sorted_units[alike]
    places = np.arange(len(order))[alike] - starts[held]
    differs = sorted_rests[alike] != sorted_rests[starts[model[strata[held]]] + places]
    flags[strata[held[differs]]] = True
    return flags


def _largest(strata: Integers, swapped: Integers, rests: Callable[[], Iterable[Integers]]) -> int:
    """b, where units are rows. Most tables vary in their largest stratum, which is looked at first."""
    sizes = np.bincount(strata, minlength=1)
    rows = np.flatnonzero(strata == np.argmax(sizes))
    if _differ(swapped[rows]) and any(_differ(rest[rows]) for rest in rests()):
        return len(rows)
    return _largest_of(strata, varies(strata, swapped), (varies(strata, rest) for rest in rests()))


def _differ(values: Integers) -> bool:
    return len(values) > 1 and bool((values != values[0]).any())


def _largest_of(strata: Integers, swaps: NDArray[np.bool_], rests: Iterable[NDArray[np.bool_]]) -> int:
    sizes = np.where(swaps, np.bincount(strata, minlength=len(swaps)), 0)
    wanted, best = int(sizes.max(initial=0)), 0
    for flags in rests:
        best = max(best, int(sizes[flags].max(initial=0)))
        if best == wanted:
            break
    return best


def identifies(table: Table, name: str) -> bool:
    """Whether every row of a table of at least 100 has a value of its own. Most columns repeat one early."""
    if table.rows < _FEWEST:
        return False
    for head in (1_000, 100_000, table.rows):
        codes = table.codes(name, slice(0, head))
        if len(np.unique(codes)) < len(codes):
            return False
    return True
