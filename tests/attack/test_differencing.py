"""Differencing: 630,000, with and without refusals, and what noise leaves of it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from quincunx.attack.differencing import asked, best_guesses, noise, solved
from quincunx.attack.staff import RICK, RICKS_SALARY, exposed, staff
from quincunx.noise.testing import KeyedBits
from tests.attack.telling import told

SERIES = range(12)


def members(firm: object, words: str) -> set[int]:
    """Who fulfils the words of a group, read from the words alone."""
    known: dict[str, tuple[object, ...]] = firm.known  # type: ignore[attr-defined]
    chosen = set(range(RICK + 1))
    if words != "everyone":
        for condition in words.split(" and "):
            name, sign, value = condition.split(" ")
            fits = {i for i, each in enumerate(known[name]) if str(each) == value}
            chosen &= fits if sign == "=" else set(range(RICK + 1)) - fits
    return chosen


@pytest.mark.parametrize("series", SERIES)
def test_every_firm_has_the_chapters_averages(series: int) -> None:
    firm = staff(series)
    assert len(firm.salaries) == 26
    assert Fraction(firm.total(25), 25) == 500_000
    assert Fraction(firm.total(26), 26) == 505_000
    assert firm.salaries[RICK] == RICKS_SALARY == 630_000
    assert all(0 < salary < 1_000_000 for salary in firm.salaries)
    assert all(len(column) == 26 for column in firm.known.values())


def test_the_chapters_equation() -> None:
    assert solved(Fraction(500_000), Fraction(505_000)) == 630_000
    assert solved(Fraction(2), Fraction(3), people=1) == 4
    assert told("differencing").figures["recovered"] == 630_000


@pytest.mark.parametrize("series", SERIES)
@pytest.mark.parametrize("least", [2, 5, 8])
def test_two_allowed_groups_differ_by_one_person(series: int, least: int) -> None:
    firm = staff(series)
    found = exposed(firm, least)
    assert RICK in found
    for person, (large, small) in found.items():
        first, second = members(firm, large), members(firm, small)
        assert first - second == {person}
        assert second <= first
        assert all(least <= len(group) <= 26 - least for group in (first, second))
        recovered = sum(firm.salaries[i] for i in first) - sum(firm.salaries[i] for i in second)
        assert recovered == firm.salaries[person]


def test_stricter_interfaces_expose_fewer() -> None:
    for series in SERIES:
        counts = [len(exposed(staff(series), least)) for least in (1, 3, 5, 8, 13)]
        assert counts == sorted(counts, reverse=True)
        # With groups of exactly one half only, no two allowed groups differ by one person.
        assert counts[-1] == 0


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(10)])
def test_the_draws_have_the_noise_of_a_session(epsilon: Fraction, stream: KeyedBits) -> None:
    answer = asked(staff(0), 26, epsilon)
    (words,) = answer.mechanisms
    kind, scale = words.split("scale = ")
    assert kind == "total: discrete Laplace noise, "
    assert Fraction(scale) == noise(epsilon).scale == 1_000_000 / epsilon
    assert answer.spent == epsilon
    assert noise(epsilon).loss.pure() == float(epsilon)
    assert "injected key" in " ".join(answer.notes)
    assert stream.injected


def test_a_guess_is_the_median_of_the_belief() -> None:
    # At a tiny scale the observation is believed; at a huge one, nothing is learnt; outside the range, the nearer end.
    sure = best_guesses(np.array([630_000.0, 0.0, 1_000_000.0, -5e7, 5e7]), 10.0)
    assert sure.tolist() == [630_000, 0, 1_000_000, 0, 1_000_000]
    assert best_guesses(np.array([630_000.0]), 1e12).tolist() == [500_000]
    rising = best_guesses(np.linspace(-1e6, 2e6, 40), 1e5)
    assert np.all(np.diff(rising) >= 0)


def test_the_belief_is_the_difference_of_two_laplace_laws() -> None:
    # (1 + t)·e^(−t)/4 against the convolution of two densities e^(−|t|)/2, by a sum over a fine grid.
    grid = np.arange(-40, 40, 0.01)
    for t in (0.0, 0.5, 2.0, 5.0):
        convolved = (np.exp(-np.abs(grid)) / 2 * np.exp(-np.abs(t - grid)) / 2).sum() * 0.01
        assert convolved == pytest.approx((1 + t) * np.exp(-t) / 4, rel=1e-4)


def test_noise_takes_the_salary_back() -> None:
    story = told("differencing")
    figures = story.figures
    exact, refusing, *noisy, guess = story.rows
    assert exact[1:4] == ("$0 off", "$0 off", "100 %")
    assert refusing[1] == "$0 off"
    assert [row[0] for row in noisy] == ["ε = 0.1 each", "ε = 1 each", "ε = 10 each"]
    assert guess[2] == "$130,000 off"
    best = [float(figures[f"median error of the best guess at ε = {e}"]) for e in ("0.1", "1", "10")]
    assert best == sorted(best, reverse=True)
    # At ε = 0.1 the best guess is as far off as a guess without data.
    assert abs(best[0] - 130_000) <= 10_000
    assert best[2] > 50_000
    assert int(figures["salaries from two allowed sums"]) >= 10


def test_the_words_show_the_equation() -> None:
    story = told("differencing")
    assert "26 × 505,000 − 25 × 500,000 = 630,000" in story.recovered
    assert "$630,000" in story.title
    assert "hired ≠ 2024" in story.recovered
