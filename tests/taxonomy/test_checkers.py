"""Every checker beside brute force that was written by other means, on random worlds."""

from __future__ import annotations

import math
import random

import pytest

from quincunx.errors import PrivacyError
from quincunx.taxonomy import World, entries, generate, named
from tests.taxonomy.oracles import ORACLES

# These are decided by programs in floats on the brute side: near-ties at 1e-16 are below what scipy can see.
BY_PROGRAM = {"ZKPr", "CWPr", "IBCWPr", "IBDDP", "TypSt", "SemPr"}


def worlds(name: str, count: int) -> list[World]:
    """Random worlds: with and without zeros, near-ties, absent records; two or three values and outputs."""
    dice = random.Random(f"worlds of {name}")
    program = name in BY_PROGRAM
    return [
        generate.random_world(
            dice,
            values=2,
            people=dice.choice((1, 2)) if name != "IDDP" else 2,
            outputs=dice.choice((2, 3)),
            near=not program,
            zeros=i % 2 == 0,
        )
        for i in range(count)
    ]


@pytest.mark.parametrize("name", ORACLES)
def test_the_answer_is_what_brute_force_finds(name: str, ci: bool, full: bool) -> None:
    definition, check = named(name).definition, ORACLES[name]
    for world in worlds(name, 300 if full else 30 if ci else 6):
        check(world, definition.tightest(world))


def test_eighty_four_definitions_have_a_checker_and_an_oracle() -> None:
    decided = [entry.short for entry in entries() if not entry.definition.undecided]
    assert len(entries()) == 89
    assert decided == list(ORACLES)
    assert len(decided) == 84


@pytest.mark.parametrize("name", ["SimCDP", "IndCDP", "CZKPr", "OCDP", "RLDP"])
def test_computational_definitions_say_why_nothing_decides_them(name: str) -> None:
    with pytest.raises(PrivacyError, match="security parameter"):
        named(name).definition.tightest(generate.randomized_response("3/4"))


@pytest.mark.parametrize(("name", "tightest"), [("IBCWPr", "ε = ∞"), ("IBDDP", "ε = ∞"), ("CWPr", "ε = ∞")])
def test_no_simulator_leaves_out_what_tells_most(name: str, tightest: str) -> None:
    """Half of the time the secret is told: a simulator that says nothing then is none."""
    world = World.from_json(
        """{"datasets": {"0": ["0"], "1": ["1"]}, "priors": {"even": {"0": "1/2", "1": "1/2"}},
        "laws": {"0": {"nothing": "1/2", "0": "1/2"}, "1": {"nothing": "1/2", "1": "1/2"}},
        "coupled": {"one": {"aggregate": {"0": "same", "1": "same"}, "private": {"0": "0", "1": "1"}}}}"""
    )
    assert str(named(name).definition.tightest(world)) == tightest


def test_a_simulator_gives_each_output_under_each_prior() -> None:
    """Under `even` "b" raises the belief in 1 from 1/2 to 2/3; one that never gives "b" would have ln 5/4."""
    world = World.from_json(
        """{"datasets": {"0": ["0"], "1": ["1"]},
        "priors": {"even": {"0": "1/2", "1": "1/2"}, "sure": {"0": "1", "1": "0"}},
        "laws": {"0": {"a": "3/4", "b": "1/4"}, "1": {"a": "1/2", "b": "1/2"}},
        "coupled": {"one": {"aggregate": {"0": "same", "1": "same"}, "private": {"0": "0", "1": "1"}}}}"""
    )
    low, high = named("IBCWPr").definition.tightest(world).value.bounds
    assert low <= math.log(1.5) <= high < math.log(1.5) + 1e-5
