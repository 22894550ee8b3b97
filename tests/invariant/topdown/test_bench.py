"""The problem of `bench/topdown.py`, small: both forms of it agree, and the fit is feasible and good."""

from __future__ import annotations

import numpy as np

from tests import benches


def test_the_family_and_its_objective() -> None:
    bench = benches.bench("topdown")
    problem = bench.family(3, 1)
    found = bench.ours(problem, None)["tables"]
    assert found.min() >= 0
    assert np.allclose(found.sum(axis=0), problem["parent"], atol=1e-9)
    shared = np.tile(problem["parent"] / 3, (3, 1))
    assert bench.objective(problem, found) < bench.objective(problem, shared)
    # The diagonal form differs from the sum over measurements by what no table can explain: a constant.
    basis, gaps = problem["basis"], []
    for tables in (found, shared, np.zeros_like(found)):
        diagonal = (problem["precision"] * (basis.coordinates(tables) - problem["value"]) ** 2).sum() / 2
        gaps.append(bench.objective(problem, tables) - diagonal)
    assert np.allclose(gaps, gaps[0], rtol=1e-9)


def test_bounds_bind_and_rounding_keeps_them() -> None:
    bench = benches.bench("topdown")
    problem = bench.family(3, 2)
    slab = bench.bounded(problem)
    assert slab["violation"] > 1
    found = bench.ours(problem, slab)["tables"]
    made = bench.rounded(problem, found, slab)
    assert made["fractional"] == 0
    assert made["relaxed"] == 0


def test_a_small_state() -> None:
    made = benches.bench("topdown").state(2_000, 60)
    assert made["fractional"] == 0
    assert made["blocks"] == 60
