"""The story of the reconstructed column, and the session that stops."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from quincunx.attack.reconstruction import with_ledger
from quincunx.attack.secret_column import EPSILONS, KINDS, column
from quincunx.noise.testing import key_of, keyed
from tests.attack.telling import told
from tests.chart.reading import check_readable, texts


def test_fewer_questions_than_the_budget_are_all_answered() -> None:
    with keyed(key_of("a few questions")):
        few = with_ledger(column(np.random.default_rng(2), 20, 3))
    assert len(few.answers) == 3
    secret = column(np.random.default_rng(2), 20, 3)
    errors = np.abs(np.array(few.answers) - secret.questions @ secret.bits)
    # Laplace noise of scale 100: beyond 100·ln(3·1e9) = 2,182 with a chance below 1e-9.
    assert errors.max() <= 2_182
    assert few.refusal == ""
    assert few.spent == Fraction(3, 100)


def test_the_story_shows_what_the_issue_asks() -> None:
    figures = told("reconstruction").figures
    for kind in KINDS:
        assert float(figures[f"{kind} noise of 0.1·√n"]) >= 0.95
    for name in ("laplace", "gaussian"):
        # 1,000 guesses: 0.1 is six deviations of as many coins; a chance below 1e-8.
        assert 0.4 <= float(figures[f"{name}, ε = 0.5"]) <= 0.6
    assert float(figures["gaussian, ε = 100"]) >= 0.95
    assert float(figures["no attack exceeds on average at ε = 0.5"]) == pytest.approx(0.6225, abs=1e-4)
    assert figures["answered by the session"] == 50
    assert figures["spent by the session"] == "1/2"
    assert "the dataset's budget does not cover this; nothing was spent" in str(figures["refusal"])
    assert "ε = 0.01" in str(figures["refusal"])


def test_the_table_has_a_row_for_each_way_of_publishing() -> None:
    story = told("reconstruction")
    assert len(story.rows) == len(KINDS) + 2 * len(EPSILONS) + 1
    assert all(row[1] == "none" for row in story.rows[: len(KINDS)])
    assert "50 answers, then refused" in story.rows[-1][0]
    assert all(row[2].endswith(" %") for row in story.rows)
    assert "52 %" in story.title or "coin 50 %" in story.title


def test_the_story_is_whole() -> None:
    story = told("reconstruction")
    assert story.name == "reconstruction"
    assert len(story.sources) == 2
    assert all(len(row) == len(story.columns) for row in story.rows)
    for part in (story.published, story.known, story.recovered, story.lesson):
        assert part.endswith(".")


def test_the_pictures_can_be_read() -> None:
    charts = told("reconstruction").charts
    assert set(charts) == {"reconstruction_noise", "reconstruction_epsilon"}
    for chart in charts.values():
        check_readable(chart)
        assert "a coin" in texts(chart)
        assert any("(%)" in text for text in texts(chart))
        assert not any("…" in text for text in texts(chart))
