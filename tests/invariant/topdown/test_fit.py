"""The fit against the conditions of optimality, and its projections against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.fit import Slab, fit, simplex_shift
from quincunx.invariant.topdown.schema import Schema

SCHEMA = Schema(attributes={"a": ["x", "y"], "b": ["p", "q", "r"]})
BASIS = Basis.of(SCHEMA)


def problem(seed: int, families: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    places = sum(families)
    weight = sum(rng.random() * BASIS.weights(SCHEMA.query(name)) for name in ("total", "a", "b", "detailed"))
    precision = np.tile(weight, (places, 1)) * rng.uniform(0.5, 2, (places, 1))
    totals = rng.poisson(3, (len(families), SCHEMA.cells)).astype(float)
    value = BASIS.coordinates(rng.normal(1, 3, (places, SCHEMA.cells)))
    return value, precision, totals, np.cumsum([0, *families[:-1]])


def objective(tables: np.ndarray, value: np.ndarray, precision: np.ndarray) -> float:
    return float((precision * (BASIS.coordinates(tables) - value) ** 2).sum() / 2)


@pytest.mark.parametrize("seed", range(6))
def test_it_is_as_good_as_a_general_solver(seed: int) -> None:
    value, precision, totals, starts = problem(seed, [3])
    found = fit(BASIS, value=value, precision=precision, totals=totals, starts=starts, mask=~SCHEMA.empty)
    assert found.tables.min() >= 0
    assert np.allclose(found.tables.sum(axis=0), totals[0], atol=1e-9)
    sums = np.tile(np.eye(SCHEMA.cells), 3)
    best = minimize(
        lambda x: objective(x.reshape(3, -1), value, precision),
        np.tile(totals[0] / 3, 3),
        jac=lambda x: BASIS.tables(precision * (BASIS.coordinates(x.reshape(3, -1)) - value)).reshape(-1),
        bounds=[(0, None)] * 18,
        constraints=[LinearConstraint(sums, totals[0], totals[0])],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert objective(found.tables, value, precision) <= best.fun + 1e-5 * (1 + best.fun)


def test_bounds_are_met_and_families_are_apart() -> None:
    value, precision, totals, starts = problem(11, [3, 1, 4])
    groups = SCHEMA.groups(SCHEMA.query("a"))
    share = (
        np.repeat(SCHEMA.answers(SCHEMA.query("a"), totals), [3, 1, 4], axis=0)
        / np.array([3] * 3 + [1] + [4] * 4)[:, None]
    )
    slab = Slab(groups=groups, low=share * 0.95, high=share * 1.05)
    found = fit(BASIS, value=value, precision=precision, totals=totals, starts=starts, mask=~SCHEMA.empty, slabs=[slab])
    sums = slab.sums(found.tables)
    assert (sums >= slab.low - 1e-4).all()
    assert (sums <= slab.high + 1e-4).all()
    assert np.allclose(np.add.reduceat(found.tables, starts, axis=0), totals, atol=1e-9)
    # An only child is its parent.
    assert np.allclose(found.tables[3], totals[1], atol=1e-9)


def test_the_root_is_not_negative_and_keeps_structural_zeros() -> None:
    schema = Schema(attributes={"a": ["x", "y"], "b": ["p", "q", "r"]}, zeros=[{"a": "x", "b": "p"}])
    value = BASIS.coordinates(np.array([[5.0, -3.0, 2.0, 1.0, 0.5, 4.0]]))
    found = fit(BASIS, value=value, precision=np.ones((1, 6)), totals=None, starts=np.array([0]), mask=~schema.empty)
    assert np.allclose(found.tables, [[0, 0, 2, 1, 0.5, 4]], atol=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_the_shift_of_a_simplex(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, size=4)
    starts, owner = np.cumsum([0, *sizes[:-1]]), np.repeat(np.arange(4), sizes)
    tables = rng.normal(0, 10, (sizes.sum(), 5))
    totals = rng.poisson(2, (4, 5)).astype(float)
    for start in (None, rng.normal(0, 100, (4, 5))):
        theta = simplex_shift(tables, totals, starts, owner, start)
        sums = np.add.reduceat(np.maximum(tables - theta[owner], 0), starts, axis=0)
        assert np.allclose(sums, totals, atol=1e-9)
