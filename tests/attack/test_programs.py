"""The programs behind the reconstruction attacks: optimal by their dual, against SciPy, and checked."""

from __future__ import annotations

import builtins
import subprocess
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from quincunx.attack import programs
from quincunx.attack.programs import Solved, closest_counts, closest_point, minimise, whole_numbers
from quincunx.errors import UnavailableError, VerificationError

scipy_optimize = pytest.importorskip("scipy.optimize", reason="SciPy is the peer")


def by_scipy(matrix: NDArray[np.float64], target: NDArray[np.float64]) -> float:
    """The smallest distance by SciPy: the program itself, with a slack for each answer."""
    answers, people = matrix.shape
    slack = np.eye(answers)
    found = scipy_optimize.linprog(
        np.concatenate([np.zeros(people), np.ones(answers)]),
        A_ub=np.block([[matrix, -slack], [-matrix, -slack]]),
        b_ub=np.concatenate([target, -target]),
        bounds=[(0, 1)] * people + [(0, None)] * answers,
    )
    return float(found.fun)


@pytest.mark.parametrize(("answers", "people", "size"), [(1, 1, 0), (3, 5, 1), (12, 6, 2), (40, 10, 5), (60, 20, 100)])
def test_the_point_is_as_close_as_scipys(answers: int, people: int, size: float) -> None:
    source = np.random.default_rng((answers, people))
    for _ in range(3):
        matrix = source.integers(0, 2, (answers, people)).astype(float)
        target = matrix @ source.integers(0, 2, people) + size * source.standard_normal(answers)
        point = closest_point(matrix, target)
        assert ((point >= 0) & (point <= 1)).all()
        assert np.abs(target - matrix @ point).sum() == pytest.approx(by_scipy(matrix, target), rel=1e-5, abs=1e-5)


def test_exact_answers_have_a_distance_of_nothing() -> None:
    source = np.random.default_rng(1)
    matrix, truth = source.integers(0, 2, (60, 20)).astype(float), source.integers(0, 2, 20)
    assert closest_point(matrix, matrix @ truth) == pytest.approx(truth, abs=1e-4)


def test_a_point_that_is_not_optimal_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(**given: Any) -> Solved:
        right = minimise(**given)
        assert right is not None
        return Solved(values=right.values, prices=1 + right.prices, objective=right.objective)

    monkeypatch.setattr(programs, "minimise", elsewhere)
    with pytest.raises(VerificationError, match="not as close as its dual bound"):
        closest_point(np.eye(4), np.array([0.0, 1, 0, 1]))


@pytest.mark.parametrize("function", [closest_point, closest_counts])
def test_a_program_with_solutions_is_never_called_infeasible(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "minimise", lambda **_: None)
    more = {} if function is closest_point else {"total": 1, "weight": np.ones(2), "cost": np.zeros(2)}
    with pytest.raises(VerificationError, match="called infeasible"):
        function(np.eye(2), np.ones(2), **more)


WORLD = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]])


@given(
    target=st.lists(st.integers(-2, 5), min_size=3, max_size=3),
    total=st.integers(1, 4),
    cost=st.lists(st.integers(0, 3), min_size=4, max_size=4),
)
def test_the_counts_are_as_close_as_any(target: list[int], total: int, cost: list[int]) -> None:
    weight = np.array([1.0, 2.0, 0.5])

    def distance(counts: tuple[int, ...]) -> float:
        return float(weight @ np.abs(np.array(target) - WORLD @ np.array(counts)) + np.array(cost) @ np.array(counts))

    found = closest_counts(WORLD, np.array(target, float), total=total, weight=weight, cost=np.array(cost, float))
    assert found.sum() == total
    every = (counts for counts in product(range(total + 1), repeat=4) if sum(counts) == total)
    assert distance(tuple(found.tolist())) == pytest.approx(min(map(distance, every)), abs=1e-6)


def test_a_program_without_solutions_has_none() -> None:
    for whole in (None, np.array([True])):
        found = minimise(
            cost=np.ones(1),
            lower=np.zeros(1),
            upper=np.ones(1),
            matrix=np.ones((1, 1)),
            row_lower=np.array([2.0]),
            row_upper=np.array([3.0]),
            whole=whole,
        )
        assert found is None


def test_half_a_person_is_no_solution_of_whole_numbers() -> None:
    given = {
        "cost": np.ones(1),
        "lower": np.zeros(1),
        "upper": np.ones(1),
        "matrix": np.full((1, 1), 2.0),
        "row_lower": np.ones(1),
        "row_upper": np.ones(1),
    }
    relaxed = minimise(**given)
    assert relaxed is not None
    assert relaxed.values[0] == pytest.approx(0.5)
    assert minimise(**given, whole=np.array([True])) is None


def test_a_program_without_an_end_is_an_error() -> None:
    with pytest.raises(VerificationError, match="was not solved") as caught:
        minimise(
            cost=-np.ones(1),
            lower=np.zeros(1),
            upper=np.array([np.inf]),
            matrix=np.ones((1, 1)),
            row_lower=np.zeros(1),
            row_upper=np.array([np.inf]),
        )
    assert caught.value.got


@pytest.mark.parametrize("values", [[0.5, 1.5], [1.0, 2.0], [-1.0, 3.0]])
def test_what_is_not_whole_is_not_returned(values: list[float]) -> None:
    with pytest.raises(VerificationError, match="not whole numbers with their total"):
        whole_numbers(np.array(values), 2)


def test_whole_numbers_may_be_off_by_a_hair() -> None:
    assert whole_numbers(np.array([0.99999, 1.00001]), 2).tolist() == [1, 1]


def test_the_solver_is_loaded_on_use_only() -> None:
    loading = "import sys, quincunx.attack.reconstruction, quincunx.attack.block; print('highspy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loading], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "highspy":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "highspy", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnavailableError, match=r"needs the solver HiGHS, which is missing\. Install highspy"):
        closest_point(np.eye(2), np.ones(2))
