"""What noisy tables leave to believe: drawn populations against the exact law on small worlds."""

from __future__ import annotations

from itertools import product
from math import exp, prod

import numpy as np
import pytest

from quincunx.attack.gibbs import _sweeps, believed_guess

ROWS = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 1]])
SHARES = np.array([0.5, 0.3, 0.2])


def exact(told: tuple[int, ...], variance: float, people: int) -> dict[tuple[int, ...], float]:
    """The probability of every population given the told numbers, by trying all."""
    law: dict[tuple[int, ...], float] = {}
    for kinds in product(range(3), repeat=people):
        counts = tuple(kinds.count(kind) for kind in range(3))
        far = sum((a - b) ** 2 for a, b in zip(told, ROWS @ np.array(counts), strict=True))
        law[counts] = law.get(counts, 0.0) + prod(SHARES[kind] for kind in kinds) * exp(-far / (2 * variance))
    whole = sum(law.values())
    return {counts: each / whole for counts, each in law.items()}


@pytest.mark.parametrize(("told", "variance"), [((2, 1, 2), 1.0), ((5, -3, 0), 4.0), ((0, 0, 0), 100.0)])
def test_populations_are_drawn_from_what_must_be_believed(told: tuple[int, ...], variance: float) -> None:
    draws = 6_000
    source, start = np.random.default_rng(1), np.array([0, 1, 2])
    held: dict[tuple[int, ...], int] = {}
    for kinds in _sweeps(ROWS, np.array(told), variance, np.log(SHARES), start, source, draws):
        counts = tuple(np.bincount(kinds, minlength=3).tolist())
        held[counts] = held.get(counts, 0) + 1
    for counts, chance in exact(told, variance, 3).items():
        # Draws depend on each other; if ten of them count as one, five deviations are 0.1.
        assert held.get(counts, 0) / draws == pytest.approx(chance, abs=5 * 0.5 * (10 / draws) ** 0.5)


def test_the_start_is_left_as_it_is() -> None:
    start = np.array([0, 0, 1])
    for _ in _sweeps(ROWS, np.zeros(3, dtype=np.int64), 1.0, np.log(SHARES), start, np.random.default_rng(2), 5):
        pass
    assert start.tolist() == [0, 0, 1]


def test_without_noise_to_speak_of_the_guess_is_the_truth() -> None:
    truth = np.array([3, 1, 2])
    found = believed_guess(
        ROWS, ROWS @ truth, variance=1e-4, shares=SHARES, start=(2, 2, 2), source=np.random.default_rng(3)
    )
    assert found == (3, 1, 2)


def test_with_endless_noise_the_guess_is_that_from_the_shares() -> None:
    found = believed_guess(
        ROWS,
        np.array([900, -900, 0]),
        variance=1e12,
        shares=np.array([0.98, 0.01, 0.01]),
        start=(0, 0, 5),
        source=np.random.default_rng(4),
        sweeps=200,
    )
    assert found == (5, 0, 0)


def test_the_same_source_gives_the_same_guess() -> None:
    def once() -> tuple[int, ...]:
        return believed_guess(
            ROWS, np.array([4, 4, 4]), variance=9.0, shares=SHARES, start=(2, 2, 2), source=np.random.default_rng(5)
        )

    assert once() == once()
    assert sum(once()) == 6
