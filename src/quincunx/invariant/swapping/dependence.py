"""Columns that stay and give a swap away: what they determine of the swapped columns, for the curator's eyes.

If a column that stays determines the swapped one (a block its tract), whoever knows the rule reads the old value off
it, and the swap is undone. If it is determined by the swapped one (the tract of a swapped block), it contradicts every
value that moved, and shows which records were swapped. The guarantee is not touched: ε bounds how likely outputs are,
among datasets that agree on the invariants, and a rule between columns narrows those datasets (`swap.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from quincunx.invariant.swapping.columns import Integers, combined
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
    strata: Strata, swapped: Mapping[str, Integers], rest: tuple[str, ...], codes: Callable[[str], Integers]
) -> Iterator[Dependence]:
    """The columns, and pairs of columns that are no rule alone, that give a swapped one away; most first."""
    if len(strata.of) < _FEWEST:
        return
    stay = {name: codes(name)[strata.first] for name in rest}
    moving = {name: values[strata.first] for name, values in swapped.items()}
    for name, values in moving.items():
        found = [each for each in (_dependence((one,), name, strata.of, stay, values) for one in rest) if each]
        rules = {each.columns[0] for each in found if each.undone >= RULE}
        others = [one for one in rest if one not in rules]
        pairs = list(combinations(others, 2))
        if len(pairs) * min(len(strata.of), _FIRST_LOOK) <= _MOST:
            joint = (_dependence(pair, name, strata.of, stay, values) for pair in pairs)
            found += [each for each in joint if each is not None and each.undone >= RULE]
        yield from sorted(found, key=lambda each: -max(each.undone, each.marked))


def _dependence(
    columns: tuple[str, ...], name: str, strata: Integers, stay: Mapping[str, Integers], values: Integers
) -> Dependence | None:
    every = max(1, len(strata) // _FIRST_LOOK)
    for step in (every, 1) if every > 1 else (1,):
        part, value = strata[::step], values[::step]
        rule = combined([stay[column][::step] for column in columns], len(part))
        undone, by_chance = _determined(part, rule, value)
        marked, marked_by_chance = _determined(part, value, rule)
        if undone - by_chance < EXCESS and (len(columns) > 1 or marked - marked_by_chance < EXCESS):
            return None
    # A pair contains its columns, and a value that determines both determines each.
    kept = marked if len(columns) == 1 and marked - marked_by_chance >= EXCESS else 0.0
    return Dependence(
        columns=columns, swapped=name, undone=undone if undone - by_chance >= EXCESS else 0.0, marked=kept
    )


def _determined(strata: Integers, rule: Integers, values: Integers) -> tuple[float, float]:
    """The share of records whose value is that of all others with the same rule in the stratum, at least one of them;
    and no less than what it would be if values were spread at random in each stratum."""
    cells = combined([strata, rule], len(strata))
    sizes = np.bincount(cells)
    counted = varies(strata, values)[strata]
    total = int(counted.sum())
    if not total:
        return 0.0, 0.0
    shared = counted & (sizes[cells] > 1)
    same = shared & ~varies(cells, values)[cells]
    # Two records of a stratum of n agree by chance with probability Σ n_v(n_v − 1)/n(n − 1), more of them less often.
    pairs = combined([strata, values], len(strata))
    agree = np.bincount(strata, weights=np.bincount(pairs)[pairs] - 1.0)
    people = np.bincount(strata).astype(np.float64)
    chance = agree / np.maximum(people * (people - 1), 1.0)
    return float(same.sum() / total), float(chance[strata[shared]].sum() / total)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
