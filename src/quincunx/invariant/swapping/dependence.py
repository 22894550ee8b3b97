"""Columns that stay and give a swap away: what they determine of the swapped columns, for the curator's eyes.

If a column that stays determines the swapped one (a block its tract), whoever knows the rule reads the old value off
it, and the swap is undone. If it is determined by the swapped one (the tract of a swapped block), it contradicts every
value that moved, and shows which records were swapped. The guarantee is not touched: ε bounds how likely outputs are,
among datasets that agree on the invariants, and a rule between columns narrows those datasets (`swap.md`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Final

import numpy as np

from quincunx.invariant.swapping.columns import Codes, Integers, combined, numbered
from quincunx.invariant.swapping.strata import Strata, varies

# How much more of the records than by chance a column must determine to be named.
EXCESS: Final = 0.05
# Of pairs of columns only rules are named, which hold for at least this share.
RULE: Final = 0.5
# In fewer records chance is as loud as a rule.
_FEWEST: Final = 100
# Records that are looked at first: a rule shows in them, and most columns follow none.
_FIRST_LOOK: Final = 20_000
# Pairs of columns are looked at as long as that takes no more than so many records in all.
_MOST: Final = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """What columns that stay give away of a swapped one. Exact facts about the data: not protected.

    columns: that stay. swapped: the column. undone: the share of records (households), among those in strata where
    values differ, whose value follows from `columns` in at least one other record of the stratum: whoever knows the
    rule undoes them. marked: the share whose `columns` follow from the value: whoever knows that rule sees that a
    record with another value was swapped.
    """

    columns: tuple[str, ...]
    swapped: str
    undone: float
    marked: float

    def words(self, record: str) -> str:
        """A warning, with what to write."""
        names, one = " and ".join(repr(name) for name in self.columns), len(self.columns) == 1
        stays, determines = ("stays", "determines") if one else ("stay", "together determine")
        given = repr(self.columns[0]) if one else repr(list(self.columns))
        out = f"Take {'it' if one else 'them'} along with move={given}, or drop {'it' if one else 'one of them'}."
        if self.undone >= self.marked:
            return (
                f"{'column' if one else 'columns'} {names} {stays} and {determines} {self.swapped!r} for "
                f"{_percent(self.undone)} of the {record}s that can be swapped: whoever knows the rule undoes the "
                f"swap. {out}"
            )
        return (
            f"{self.swapped!r} is swapped and determines {names}, which {stays}, for {_percent(self.marked)} of the "
            f"{record}s that can be swapped: whoever knows the rule sees which were swapped. {out}"
        )


def dependences(
    strata: Strata, swapped: Mapping[str, Integers], rest: tuple[str, ...], codes: Codes
) -> Iterator[Dependence]:
    """The columns, and pairs of columns that are no rule alone, that give a swapped one away; most first."""
    if len(strata.of) < _FEWEST:
        return
    units = _Units(strata, codes)
    for name, values in swapped.items():
        search = _Search(units, name, units.picked(values))
        found = [each for each in (search.found((one,)) for one in rest) if each]
        rules = {each.columns[0] for each in found if each.undone >= RULE}
        pairs = list(combinations([one for one in rest if one not in rules], 2))
        if len(pairs) * min(units.count, _FIRST_LOOK) <= _MOST:
            found += [each for each in map(search.found, pairs) if each is not None and each.undone >= RULE]
        yield from sorted(found, key=lambda each: -max(each.undone, each.marked))


class _Units:
    """The records or households: strata and the codes of columns that stay, of all of them and of a part."""

    def __init__(self, strata: Strata, codes: Codes) -> None:
        self.strata, self.count = strata.of, len(strata.of)
        # Without households a unit is a row, and nothing is picked.
        self._rows = None if strata.units is strata.first else strata.first
        self.some = slice(None, None, max(1, self.count // _FIRST_LOOK))
        self.few = numbered(self.strata[self.some])
        self.whole = cache(lambda name: self.picked(codes(name)))
        by_row = self._rows is None
        self.part = cache(lambda name: codes(name, self.some) if by_row else numbered(self.whole(name)[self.some]))

    def picked(self, codes: Integers) -> Integers:
        return codes if self._rows is None else codes[self._rows]


class _Search:
    """Looks for rules between columns that stay and the swapped column `name`: in a part first, then in all units."""

    def __init__(self, units: _Units, name: str, values: Integers) -> None:
        self._units, self._name, self._values = units, name, values
        self._few = numbered(values[units.some])

    def found(self, columns: tuple[str, ...]) -> Dependence | None:
        """What the columns give away; None where that is no more than chance."""
        units = self._units
        if len(units.few) < units.count and not self._promises(columns):
            return None
        rule = combined([units.whole(name) for name in columns], units.count)
        undone = _determined(units.strata, rule, self._values)
        # A value that determines two columns determines each.
        marked = _determined(units.strata, self._values, rule) if len(columns) == 1 else _NOTHING
        if max(undone.excess, marked.excess) < EXCESS:
            return None
        return Dependence(
            columns=columns,
            swapped=self._name,
            undone=undone.share if undone.excess >= EXCESS else 0.0,
            marked=marked.share if marked.excess >= EXCESS else 0.0,
        )

    def _promises(self, columns: tuple[str, ...]) -> bool:
        """Whether the part shows that all units are worth a look."""
        few, single = self._units.few, len(columns) == 1
        rule = combined([self._units.part(name) for name in columns], len(few))
        if _determined(few, rule, self._few).promises(EXCESS if single else RULE):
            return True
        return single and _determined(few, self._few, rule).promises(EXCESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """Records in strata where values differ: total; shared: with another of the same rule; same: all of which agree;
    chance: no less than how many of them would agree if values were spread at random in each stratum."""

    total: int
    shared: int
    same: int
    chance: float

    def promises(self, wanted: float) -> bool:
        """Whether a part shows half of what is wanted, and more than chance. Few of its records share a rare value, so
        it is those that count: of a rule they all agree."""
        return self.same - self.chance >= max(self.shared * wanted / 2, 1.5 * math.sqrt(self.shared), 1.0)

    @property
    def share(self) -> float:
        return self.same / self.total if self.total else 0.0

    @property
    def excess(self) -> float:
        return (self.same - self.chance) / self.total if self.total else 0.0


_NOTHING: Final = _Look(total=0, shared=0, same=0, chance=0.0)


def _determined(strata: Integers, rule: Integers, values: Integers) -> _Look:
    """How many records have the value of all others with the same rule in the stratum, at least one of them."""
    cells = combined([strata, rule], len(strata))
    counted = varies(strata, values)[strata]
    shared = counted & (np.bincount(cells)[cells] > 1)
    same = shared & ~varies(cells, values)[cells]
    # Two records of a stratum of n agree by chance with probability Σ n_v(n_v − 1)/n(n − 1), more of them less often.
    pairs = combined([strata, values], len(strata))
    agree = np.bincount(strata, weights=np.bincount(pairs)[pairs] - 1.0)
    people = np.bincount(strata).astype(np.float64)
    chance = agree / np.maximum(people * (people - 1), 1.0)
    return _Look(
        total=int(counted.sum()),
        shared=int(shared.sum()),
        same=int(same.sum()),
        chance=float(chance[strata[shared]].sum()),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
