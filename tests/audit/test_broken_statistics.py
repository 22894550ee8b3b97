"""Replay of a statistic finds every seeded bug and makes it small; the originals hold on as many pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from quincunx.audit import StatisticReplay, replay_statistic
from tests.audit.broken_statistics import SEEDS, Seed

# A word of the name for each class of DESIGN that a statistic before noise can have.
CLASSES = (
    "wrong bound",
    "clip computed",
    "null",
    "NaN",
    "infinity",
    "not row-wise",
    "survives the redefinition",
    "> for ≥",
    "add/remove for replace",
    "ℓ2 for ℓ1",
    "ordered for unordered",
    "float32",
    "overflow of int32",
    "overflow of int64",
    "order of summation",
    "exception",
    "type",
    "row order",
    "group presence",
)


def replayed(seed: Seed, statistic: Callable[[Any], Any], declared: object) -> StatisticReplay:
    return replay_statistic(
        statistic,
        space=seed.space,
        norm=seed.norm,  # type: ignore[arg-type]
        sensitivity2=declared,
        keys=seed.keys,  # type: ignore[arg-type]
        cases=seed.cases,
        series=seed.name,
        name="wrong",
    )


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.name)
def test_a_seeded_bug_is_found(seed: Seed) -> None:
    found = replayed(seed, seed.wrong, seed.squares[0])
    assert not found.holds
    parts = {each.part: each for each in found.counterexamples}
    assert seed.part in parts
    # What is shown is small enough to be read, and breaks again when it is asked again.
    shown = parts[seed.part]
    assert len(str(shown)) < 1_500, shown
    print(f"\n{found.violations} of {found.cases} pairs\n{shown}")


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.name)
def test_the_original_holds_on_as_many_pairs(seed: Seed) -> None:
    found = replayed(seed, seed.right, seed.squares[1])
    print(f"\n{found}")
    # Not because the worlds are easy: some pair is as far apart as it may be.
    assert found.check(reach=seed.reach).cases == (seed.cases or len(list(seed.space.listed() or ())))
    assert found.raised == 0


def test_there_are_bugs_of_every_class() -> None:
    names = [seed.name for seed in SEEDS]
    assert len(set(names)) == len(names) >= 25
    assert [each for each in CLASSES if not any(each in name for name in names)] == []
