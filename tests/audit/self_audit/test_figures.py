"""The figures of the last full self-audit, kept in the documentation with each release: of a full run, and good.

They are of the catalogue as it was then. A commit that adds an entry does not ask for a new run of half an hour.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DOCS / "figures" / "audit-self.json").read_text(encoding="utf-8"))
    return found


def test_they_are_of_a_full_run_with_fresh_noise(kept: dict[str, Any]) -> None:
    assert (kept["format"], kept["samples"], kept["keyed"]) == ("quincunx/audit-self/1", 10**7, False)
    assert kept["confidence"] == "1 - 1e-06"
    assert kept["claims in the family"] == len(kept["claims"])


def test_no_claim_was_refuted_and_every_control_was(kept: dict[str, Any]) -> None:
    assert (kept["refuted"], kept["controls missed"]) == ([], [])
    assert {each["verdict"] for each in kept["claims"]} == {"not refuted"}
    assert {each["verdict"] for each in kept["controls"]} == {"refuted"}
    assert {each["name"] for each in kept["replays"] if each["verdict"] == "refuted"} == {
        "sensitivity from the wrong bound"
    }


def test_tight_pure_claims_are_reached_to_nine_tenths(kept: dict[str, Any]) -> None:
    found = [each for each in kept["claims"] if each["tight"] and each["claim"] in CLAIMED]
    assert len(found) >= 25
    assert {each["claim"] for each in found} == set(CLAIMED)
    for each in found:
        assert 0.9 <= each["tightness"] <= 1, each["name"]


CLAIMED = ("ε = 0.1", "ε = 0.5", "ε = 1", "ε = 2")


def test_each_mechanism_had_ten_million_draws_on_each_side(kept: dict[str, Any]) -> None:
    """In one of its entries at least: names of entries begin with that of their mechanism."""
    names = {"Laplace", "DiscreteLaplace", "Gaussian", "DiscreteGaussian", "RandomizedResponse", "Exponential",
             "PermuteAndFlip", "SparseVector", "PartitionSelection", "ThresholdSelection"}  # fmt: skip
    for name in names:
        drawn = max(each["samples"] for each in kept["claims"] if each["name"].partition(",")[0] == name)
        assert drawn == 10**7, name
