"""The fit against the conditions of optimality, and its projections against their definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from quincunx.invariant.topdown import TopDown
from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.extrapolate import Extrapolation
from quincunx.invariant.topdown.families import Families
from quincunx.invariant.topdown.fit import Margin, Pull, Slab, fit, simplex_shift
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.schema import Schema
from quincunx.noise.testing import key_of, keyed
from quincunx.spec.unit import Replace

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
    families = Families.of(np.cumsum([0, *sizes[:-1]]), int(sizes.sum()))
    tables = rng.normal(0, 10, (sizes.sum(), 5))
    totals = rng.poisson(2, (4, 5)).astype(float)
    for start in (None, rng.normal(0, 100, (4, 5))):
        theta = simplex_shift(tables, totals, families, start)
        sums = np.add.reduceat(np.maximum(tables - theta[families.owner], 0), families.starts, axis=0)
        assert np.allclose(sums, totals, atol=1e-9)


def test_extrapolation_solves_a_linear_iteration_for_each_family_by_itself() -> None:
    """Two families with iterations of their own, one of them begun later: both end where F(w) = w, in few jumps."""
    rng = np.random.default_rng(8)
    families = Families.of(np.array([0, 2]), 5)
    maps = [0.95 * np.linalg.qr(rng.normal(size=(2 * n, 2 * n)))[0] for n in (2, 3)]
    maps = [(each + each.T) / 2 for each in maps]
    goals = [rng.normal(size=(2, 2)), rng.normal(size=(3, 2))]
    memory, state, plain = Extrapolation(families, [1.0]), np.zeros((5, 2)), np.zeros((5, 2))

    def moved(now: np.ndarray) -> np.ndarray:
        parts = (now[:2], now[2:])
        return np.vstack(
            [(m @ (p - g).reshape(-1)).reshape(p.shape) + g - p for m, p, g in zip(maps, parts, goals, strict=True)]
        )

    for step in range(1, 41):
        if step == 4:
            memory.forget(np.array([False, True]))
        (state,) = memory.step([state], [moved(state)], jump=step % 5 == 0)
        plain = plain + moved(plain)
    assert np.abs(state - np.vstack(goals)).max() < 1e-9
    assert np.abs(plain - np.vstack(goals)).max() > 1e-2


def siblings(seed: int, count: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray]:
    """Targets and precisions of some siblings, and the table of their parent."""
    rng = np.random.default_rng(seed)
    value = BASIS.coordinates(rng.normal(6, 4, (count, 6)))
    precision = rng.uniform(0.1, 3, (1, 6)).repeat(count, axis=0)
    return rng, value, precision, rng.poisson(18, (1, 6)).astype(float)


def check_least(
    value: np.ndarray,
    precision: np.ndarray,
    totals: np.ndarray,
    term: Slab | Pull | Margin,
    more: Sequence[Slab | Pull | Margin] = (),
    *,
    extra: Callable[[np.ndarray], float] = lambda _: 0.0,
    rules: Sequence[LinearConstraint] = (),
    tolerance: float = 1e-8,
) -> np.ndarray:
    """The fit adds up and costs no more than what a general solver finds. extra: what the terms add to the cost."""
    count = len(value)
    found = fit(
        BASIS,
        value=value,
        precision=precision,
        totals=totals,
        starts=np.array([0]),
        mask=np.ones(6, dtype=np.bool_),
        slabs=[term, *more],
        tolerance=tolerance,
    ).tables

    def cost(x: np.ndarray) -> float:
        return objective(x.reshape(count, 6), value, precision) + extra(x.reshape(count, 6))

    best = minimize(
        cost,
        np.repeat(totals / count, count, axis=0).reshape(-1),
        bounds=[(0, None)] * (6 * count),
        constraints=[LinearConstraint(np.hstack([np.eye(6)] * count), totals[0], totals[0]), *rules],
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    assert cost(found) <= best.fun + 1e-6 * max(1.0, abs(best.fun))
    assert np.allclose(found.sum(axis=0), totals[0], atol=1e-9)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_bounds_that_bind_are_met_at_the_optimum(seed: int) -> None:
    """Three siblings, bounds on a margin that the free optimum breaks."""
    _, value, precision, totals = siblings(seed, 3)
    query = SCHEMA.query("a")
    low = np.outer([0.5, 0.2, 0.1], SCHEMA.answers(query, totals)[0])
    slab = Slab(groups=SCHEMA.groups(query), low=low, high=np.full((3, 2), np.inf), diagonal=BASIS.weights(query))
    margins = np.kron(np.eye(3), SCHEMA.matrix(0, "a").repeat(3, axis=1))
    rules = [LinearConstraint(margins, low.reshape(-1), np.inf)]
    found = check_least(value, precision, totals, slab, rules=rules, tolerance=1e-9)
    assert (SCHEMA.answers(query, found) >= low - 1e-6).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_weighted_sum_known_with_noise_is_one_more_term(seed: int) -> None:
    """Two siblings; one sum is known well, one hardly, and a third not at all."""
    rng, value, precision, totals = siblings(seed, 2)
    weights = np.array([0.0, 1, 2, 3, 4, 7.5])
    known, spread = rng.normal(150, 30, 2), np.array([0.5, 400.0])
    nothing = Pull(weights=np.ones(6), value=np.zeros(2), variance=np.full(2, np.inf))
    check_least(
        value,
        precision,
        totals,
        Pull(weights=weights, value=known, variance=spread),
        [nothing],
        extra=lambda tables: float(((tables @ weights - known) ** 2 / spread).sum() / 2),
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_margin_of_unequal_groups_is_one_more_term(seed: int) -> None:
    rng, value, precision, totals = siblings(seed, 2)
    groups, seen, variance = np.array([0, 1, 1, 0, 1, 1]), rng.normal(40, 15, (2, 2)), 0.7
    matrix = np.array([groups == 0, groups == 1], dtype=float)
    check_least(
        value,
        precision,
        totals,
        Margin(groups=groups, value=seen, variance=variance),
        extra=lambda tables: float(((tables @ matrix.T - seen) ** 2).sum() / variance / 2),
    )


def test_a_measured_recode_of_unequal_groups_makes_tables_better() -> None:
    """Blocks that measure such a recode well and the table badly: its groups come out well, with the same keys."""
    places = Geography.of([("r", f"b{i:02d}") for i in range(30)], ["root", "block"], "place")
    leaves = np.random.default_rng(2).poisson(30, (30, 4))
    shares = {"root": {"share": "1/10", "detailed": 1}, "block": {"share": "9/10", "detailed": "1/50", "pair": "49/50"}}
    plan = TopDown(
        dataset="d",
        version="1",
        ledger=":memory:",
        source=leaves,
        geography=places,
        attributes={"a": list("wxyz")},
        recodes={"pair": {"attribute": "a", "groups": [["w"], ["x", "y", "z"]]}},
        shares=shares,
        rho="1/2",
        unit=Replace(),
    )
    query = plan.schema.query("pair")
    exact = plan.schema.answers(query, leaves)
    with keyed(key_of("unequal")):
        measured = plan.measure()
    noisy = next(answers for line, answers in measured.answers if line.query.name == "pair")
    made = plan.schema.answers(query, plan.computed(measured).tables[-1])
    # The noise of the recode has σ = 1.5 and that of the table 10.5.
    assert np.abs(made - exact).mean() < 1.5 * np.abs(noisy - exact).mean()
