"""The δ of unknown keys, summed term by term for a person alone in `groups` keys: from the plan's selection, through
pricing, to the threshold, with the votes that the engine gives."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

from quincunx.audit.tables.values import STORAGE
from quincunx.audit.tables.world import Row
from quincunx.audit.tables.worlds import alone
from quincunx.mechanisms import DiscreteLaplace, PartitionSelection, ThresholdSelection
from quincunx.release.pricing import price
from quincunx.spec.standard import ZCDP, Approximate
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.measure import Program
from quincunx.table.rules import plan
from quincunx.table.schema import Limits, Schema
from quincunx.table.sql import read
from tests.audit.tables.scenes import VISITS

SQL = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"
DELTA = Fraction(1, 10**6)


def tail(noise: object, k: int) -> float:
    """P(K ≥ k) for k ≥ 1, by a geometric series or by adding up every term of the discrete Gaussian."""
    if isinstance(noise, DiscreteLaplace):
        rate = 1 / float(noise.scale)
        return math.exp(-k * rate) / (1 + math.exp(-rate))
    terms, whole = densities(float(noise.sigma2))  # type: ignore[attr-defined]
    return float(terms[k:].sum()) / whole


@lru_cache(maxsize=4)
def densities(variance: float) -> tuple[NDArray[np.float64], float]:
    """exp(−k²/2σ²) for k = 0, 1, …, as far as a double can tell it from 0, and the sum over all whole numbers.

    Pairwise sums of positive numbers: the relative error is below 1e-12.
    """
    terms = np.exp(-(np.arange(0, int(14 * math.sqrt(variance)) + 2, dtype=np.float64) ** 2) / (2 * variance))
    return terms, float(terms[0] + 2 * terms[1:].sum())


def schema_of(unit: AddRemove | Replace, groups: int) -> Schema:
    return Schema(tables={"visits": replace(VISITS, limits=Limits(rows=50, groups=groups))}, unit=unit)


def voted(program: Program, schema: Schema, holdings: list[list[str]]) -> list[int]:
    """The engine's votes for each key in a world where person i holds the keys of holdings[i], and nobody else is."""
    table = schema.tables["visits"]
    rows: list[Row] = [
        tuple({"person": str(i), "note": key, "seen": "2024-03-01"}.get(column.name) for column in table.columns)
        for i, keys in enumerate(holdings)
        for key in keys
    ]
    kinds = {column.name.lower(): STORAGE[column.type] for column in table.columns}
    found = alone(schema, {table.name: kinds}, {table.name: rows}, program)
    assert found.selection is not None
    return found.selection.tolist()  # type: ignore[no-any-return]


def rule(program: Program, standard: Approximate | ZCDP) -> ThresholdSelection:
    """The rule by which keys of people with several are shown; it is charged once."""
    found = price(program, standard, 8, DELTA).selection
    assert found is not None
    assert isinstance(found.mechanism, ThresholdSelection)
    assert found.uses == 1
    return found.mechanism


def risk(selector: ThresholdSelection, votes: list[int], threshold: int) -> float:
    """The probability that at least one of these keys is kept."""
    return -math.expm1(math.fsum(math.log1p(-tail(selector.noise, threshold - each)) for each in votes))


@pytest.mark.parametrize("kind", [AddRemove, Replace])
@pytest.mark.parametrize("groups", [2, 3, 7])
@pytest.mark.parametrize("standard", [Approximate("1e-5"), ZCDP(delta="1e-5")], ids=["laplace", "gaussian"])
def test_one_person_alone(kind: type[AddRemove] | type[Replace], groups: int, standard: Approximate | ZCDP) -> None:
    schema = schema_of(kind(key="person"), groups)
    program = plan(read(SQL, schema), schema, 2 if isinstance(standard, ZCDP) else 1)
    selector = rule(program, standard)
    risks, tight = [], []
    for held in (*range(1, groups + 1), groups + 5):
        votes = voted(program, schema, [[f"key {i}" for i in range(held)]])
        assert len(votes) == min(held, groups)
        risks.append(risk(selector, votes, selector.threshold))
        tight.append(risk(selector, votes, selector.threshold - 1))
    print(f"\n{groups} groups: largest risk {max(risks):.12e}, one vote less {max(tight):.12e}")
    assert max(risks) <= float(DELTA) * (1 + 1e-9)
    # The threshold is the smallest that keeps δ; the tail of the discrete Gaussian is known from above to 1 in 100.
    slack = 1e-9 if isinstance(selector.noise, DiscreteLaplace) else 1e-2
    assert max(tight) > float(DELTA) * (1 - slack)


@pytest.mark.parametrize("standard", [Approximate("1e-5"), ZCDP(delta="1e-5")], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("groups", [1, 3])
def test_three_people_alone(groups: int, standard: Approximate | ZCDP) -> None:
    schema = schema_of(AddRemove(key="person", group=3), groups)
    program = plan(read(SQL, schema), schema, 2 if isinstance(standard, ZCDP) else 1)
    selector = rule(program, standard)
    together = [[f"key {i}" for i in range(groups)]] * 3
    apart = [[f"key {i} of {person}" for i in range(groups)] for person in range(3)]
    stacked = [["key"], ["key"], ["key"]]
    two = [["key"], ["key"], [f"key {i}" for i in range(groups)]]
    for holdings in (together, apart, stacked, two):
        votes = voted(program, schema, holdings)
        assert risk(selector, votes, selector.threshold) <= float(DELTA) * (1 + 1e-9), holdings


@pytest.mark.parametrize("kind", [AddRemove, Replace])
@pytest.mark.parametrize("standard", [Approximate("1e-5"), ZCDP(delta="1e-5")], ids=["laplace", "gaussian"])
def test_one_key_each_is_selected_by_the_optimal_rule(
    kind: type[AddRemove] | type[Replace], standard: Approximate | ZCDP
) -> None:
    schema = schema_of(kind(key="person"), 1)
    program = plan(read(SQL, schema), schema, 2 if isinstance(standard, ZCDP) else 1)
    found = price(program, standard, 8, DELTA).selection
    assert found is not None
    assert isinstance(found.mechanism, PartitionSelection)
    assert voted(program, schema, [["a", "b", "c"]]) == [1]
    law = found.mechanism.finite([0, 1])
    uses = 2 if kind is Replace else 1
    assert found.uses == uses
    assert float(law.probability(1, True)) * uses <= float(DELTA) * (1 + 1e-12)
    assert float(law.probability(0, True)) == 0


@pytest.mark.parametrize("standard", [Approximate("1e-5"), ZCDP(delta="1e-5")], ids=["laplace", "gaussian"])
def test_a_key_at_the_threshold_is_kept(standard: Approximate | ZCDP, monkeypatch: pytest.MonkeyPatch) -> None:
    """≥, as the risk was computed: with no noise, exactly τ votes are enough and one less is not."""
    schema = schema_of(AddRemove(key="person"), 3)
    program = plan(read(SQL, schema), schema, 2 if isinstance(standard, ZCDP) else 1)
    selector = rule(program, standard)
    monkeypatch.setattr(type(selector.noise), "sample", lambda _self, counts: counts)
    tau = selector.threshold
    assert selector.sample(np.array([tau - 1, tau, tau + 1])).tolist() == [False, True, True]
