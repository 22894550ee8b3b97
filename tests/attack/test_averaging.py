"""Averaging: what repetition gives without a ledger, and what it gives with one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from quincunx.attack.averaging import Kept, running_means, with_ledger
from quincunx.mechanisms import DiscreteLaplace
from quincunx.noise.testing import KeyedBits, key_of, keyed
from tests.attack.telling import told

ILL = frozenset(range(0, 1200, 3))


@pytest.fixture(scope="module")
def kept() -> Kept:
    with keyed(key_of("tests/attack/test_averaging.py")):
        return with_ledger(ILL)


def test_the_same_question_has_one_answer(kept: Kept) -> None:
    assert len(kept.repeats) == 100
    assert len({*kept.repeats, kept.again}) == 1


def test_other_words_are_the_same_question(kept: Kept) -> None:
    assert len(kept.same) == 4
    assert set(kept.same) == {kept.repeats[0]}


def test_other_questions_are_paid_for_until_the_budget_refuses(kept: Kept) -> None:
    assert len(kept.others) == 9
    assert len({*kept.others, kept.repeats[0]}) > 1
    assert kept.spent == Fraction(1)
    assert "the dataset's budget does not cover this; nothing was spent" in kept.refusal
    assert "ε = 0.1" in kept.refusal
    # The stored answer is still there when nothing is left.
    assert kept.again == kept.repeats[0]


def test_the_answers_are_near_the_truth(kept: Kept) -> None:
    # P(|noise| > m) < e^(−m/10): ten answers are all within 10·ln(1e10) = 230 but for a chance of 1e-9.
    for answer in (kept.repeats[0], *kept.others):
        assert abs(answer - len(ILL)) <= 230


def test_means_err_by_one_over_root_k(stream: KeyedBits) -> None:
    asked, runs = (1, 4, 16, 64, 256), 400
    means = running_means(runs, asked)
    assert means.shape == (runs, len(asked))
    variance = DiscreteLaplace(scale=10).variance
    found = (means**2).mean(axis=0) * np.array(asked) / variance
    # The mean of 400 squares of a law of kurtosis at most 6 has a relative deviation of at most √(5/400) = 0.11; six.
    assert np.all(np.abs(found - 1) <= 0.67)
    assert stream.injected


def test_means_are_of_the_same_draws() -> None:
    key = key_of("one stream")
    with keyed(key):
        all_means = running_means(3, tuple(range(1, 9)))
    with keyed(key):
        some = running_means(3, (2, 8))
    assert np.array_equal(all_means[:, [1, 7]], some)
    totals = all_means * np.arange(1, 9)
    assert np.allclose(totals, np.rint(totals))


def test_the_story_recovers_the_count_without_a_ledger_and_not_with_one() -> None:
    story = told("averaging")
    figures = story.figures
    assert float(figures["share of runs exact at 10,000"]) >= 0.95
    assert 1_000 <= int(figures["repeats until 95 % of runs are exact"]) <= 10_000
    assert figures["different answers with a ledger"] == 1
    assert (figures["admitted"], figures["spent"]) == (10, "1")
    assert float(figures["error at 1"]) / float(figures["error at 10,000"]) == pytest.approx(100, rel=0.4)
    assert "refused" in story.rows[-1][2]


def test_the_chart_has_a_line_for_each_way() -> None:
    svg = told("averaging").charts["averaging"].svg
    assert svg.count('class="line"') == 4
