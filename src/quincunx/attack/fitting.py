"""The people of a block from its tables: all populations that agree with exact ones, the closest to noisy ones."""

from __future__ import annotations

import numpy as np

from quincunx.attack.consistent import Floats, Ints, Reconstruction, consistent
from quincunx.attack.programs import closest_counts, numbers
from quincunx.errors import DataError
from quincunx.numbers import positive, positive_integer


def reconstruct_block(rows: object, counts: object, *, shares: object = None) -> Reconstruction:
    """Every population that agrees with published counts, summed up exactly.

    rows: one row for each published count and one column for each kind of person, 1 where the count includes the kind
    and 0 elsewhere; every kind in at least one row. counts: whole numbers ≥ 0. shares: how common each kind is
    beforehand, in any unit, alike if not given; they decide the guess, and nothing else.
    """
    asked = _rows(rows)
    told = numbers(counts, "counts", 1)
    if len(told) != len(asked):
        raise DataError("expected one count for each row", where="counts", got=f"{len(told)} for {len(asked)} rows")
    if (told < 0).any() or (told != np.rint(told)).any():
        hint = "Noisy counts agree with no population: fit_block finds the closest one."
        raise DataError("expected whole numbers that are not negative", where="counts", hint=hint)
    if not asked.any(axis=0).all():
        hint = "A kind of person that no count includes could be anybody: leave it out."
        raise DataError("every kind of person must be in a row", where="rows", hint=hint)
    found = consistent(asked, told.astype(np.int64), _shares(shares, asked.shape[1]))
    if found is None:
        hint = "Counts with noise, rounding or suppression contradict each other: fit_block finds the closest people."
        raise DataError("no population agrees with these counts", where="reconstruct_block", hint=hint)
    return found


def fit_block(
    rows: object, counts: object, *, people: object, shares: object = None, scale: object = 1
) -> tuple[int, ...]:
    """The population of so many people that is closest to noisy counts, as a count for each kind of person.

    It minimises Σ|count − row·x|/scale − Σ x·ln share over whole numbers x ≥ 0 with Σx = people: the most probable one
    where the noise is Laplace noise of that scale and shares are known, the closest one without shares.
    """
    asked, told = _rows(rows), numbers(counts, "counts", 1)
    if len(told) != len(asked):
        raise DataError("expected one count for each row", where="counts", got=f"{len(told)} for {len(asked)} rows")
    kinds, size = asked.shape[1], positive_integer(people, "people")
    cost = np.zeros(kinds) if shares is None else -np.log(_shares(shares, kinds))
    weight = np.full(len(asked), 1 / float(positive(scale, "scale")))
    return tuple(closest_counts(asked, told, total=size, weight=weight, cost=cost).tolist())


def _rows(rows: object) -> Ints:
    found = numbers(rows, "rows", 2)
    if 0 in found.shape or not np.isin(found, (0, 1)).all():
        hint = "1 where the count includes the kind of person, 0 elsewhere."
        raise DataError("expected rows of zeros and ones", where="rows", got=f"shape {found.shape}", hint=hint)
    return found.astype(np.int64)


def _shares(shares: object, kinds: int) -> Floats:
    if shares is None:
        return np.ones(kinds)
    found = numbers(shares, "shares", 1)
    if found.shape != (kinds,) or (found <= 0).any():
        got = f"{found.size} for {kinds} kinds"
        raise DataError("expected one share above 0 for each kind of person", where="shares", got=got)
    # Products of many small shares must not vanish.
    return np.asarray(found / found.mean())
