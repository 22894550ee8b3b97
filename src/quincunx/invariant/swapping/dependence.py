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
_FIRST_LOOK: Final = 10_000
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
    # Without households a unit is a row, and nothing is picked.
    every = strata.units is strata.first
    stay = {name: codes(name) if every else codes(name)[strata.first] for name in rest}
    moving = {name: values if every else values[strata.first] for name, values in swapped.items()}
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
    step = len(strata) // _FIRST_LOOK
    if step > 1 and not _promises(columns, strata[::step], [stay[each][::step] for each in columns], values[::step]):
        return None
    rule = combined([stay[column] for column in columns], len(strata))
    undone = _determined(strata, rule, values)
    # A value that determines two columns determines each.
    marked = _determined(strata, values, rule) if len(columns) == 1 else _NOTHING
    if max(undone.excess, marked.excess) < EXCESS:
        return None
    return Dependence(
        columns=columns,
        swapped=name,
        undone=undone.share if undone.excess >= EXCESS else 0.0,
        marked=marked.share if marked.excess >= EXCESS else 0.0,
    )


def _promises(columns: tuple[str, ...], strata: Integers, parts: list[Integers], values: Integers) -> bool:
    """Whether a sample shows more than chance. Few of its records share a rare value, so it is those that count."""
    rule, single = combined(parts, len(strata)), len(columns) == 1
    looks = [_determined(strata, rule, values), *([_determined(strata, values, rule)] if single else [])]
    return any(
        look.same - look.chance >= max(look.shared * (EXCESS if single else RULE) / 2, 1.5 * look.shared**0.5)
        or (single and look.shared < _FEWEST and look.total > 0)
        for look in looks
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """Records in strata where values differ: total; shared: with another of the same rule; same: all of which agree;
    chance: no less than how many of them would agree if values were spread at random in each stratum."""

    total: int
    shared: int
    same: int
    chance: float

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
