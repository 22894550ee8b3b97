"""Our certified bounds beside the figures of three other accountants, which bench/agreement.py stored.

The peers are not needed here: ours are computed anew, and every verdict is passed again. A figure that contradicts ours
must have a known cause.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from quincunx.numbers import Ball, ball, precision
from tests import benches

ROOT = Path(__file__).parents[2]


agreement = benches.bench("agreement")
STORED: dict[str, Any] = json.loads((ROOT / "tests" / "fixtures" / "agreement.json").read_text(encoding="utf-8"))
FIGURES: dict[str, dict[str, Any]] = STORED["figures"]
# Every count at every δ is in the report; here each case has all counts at one δ, and all δ at one count.
CHECKED = [(case, count, delta) for case, count, delta in agreement.grid() if delta == "1e-6" or count == 100]


@pytest.mark.parametrize(("case", "count", "delta"), CHECKED)
def test_every_figure_agrees_or_its_error_is_known(case: str, count: int, delta: str) -> None:
    mine = agreement.ours(case, count, delta)
    assert 0 < mine[0] <= mine[1] < math.inf
    for way, answer in FIGURES[agreement.key(case, count, delta)].items():
        if isinstance(answer, str):
            continue
        low, high = answer
        if agreement.verdict(mine, (low, high)) == "wrong":
            gap = agreement.gap_of(mine, (low, high))
            assert agreement.cause(way, case, count, gap) is not None, (way, mine, answer)


def test_the_fixture_is_the_whole_grid_of_the_pinned_peers() -> None:
    assert list(FIGURES) == [agreement.key(*each) for each in agreement.grid()]
    assert STORED["peers"] == agreement.PEERS
    ways = {way for answers in FIGURES.values() for way in answers}
    assert {way.split()[0] for way in ways} == {"dp-accounting", "prv-accountant", "autodp"}
    # Anti-fake: most cases have figures, from every peer.
    known = Counter(
        way.split()[0] for found in FIGURES.values() for way, answer in found.items() if not isinstance(answer, str)
    )
    assert len(FIGURES) == len(agreement.CASES) * 5 * 3
    assert all(known[peer] >= 100 for peer in agreement.PEERS), known


def test_the_lost_repetition_count() -> None:
    """dp-accounting's events charge 10,000 uses of randomized response like one; its distributions do not."""
    case = "randomized response, p = 0.51"
    once, often = (FIGURES[agreement.key(case, count, "1e-6")] for count in (1, 10_000))
    assert often["dp-accounting events"] == once["dp-accounting events"]
    mine = agreement.ours(case, 10_000, "1e-6")
    assert often["dp-accounting events"][1] < mine[0] / 600
    low, high = often["dp-accounting distributions"]
    assert low <= mine[1]
    assert mine[0] <= high


def test_an_upper_bound_below_the_truth_by_rounding() -> None:
    """10,000 uses of the discrete Laplace law at δ = 1e-9, where δ(ε) is a binomial sum, written out here."""
    case, n = "discrete laplace, scale 20", 10_000
    mine = agreement.ours(case, n, "1e-9")
    claimed = FIGURES[agreement.key(case, n, "1e-9")]["dp-accounting events"][1]
    assert claimed < mine[0]
    assert agreement.gap_of(mine, (None, claimed)) < 1e-5
    with precision(512):
        loss, epsilon = ball(Fraction(1, 20)), ball(Fraction(claimed))
        truth = 1 / (1 + (-loss).exp())
        delta = Ball(0)
        # k truths of n have the loss (2k − n)/20 and the probability C(n, k)·truth^k·(1 − truth)^(n − k).
        for k in range(math.ceil((20 * claimed + n) / 2), n + 1):
            mass = math.comb(n, k) * truth**k * (1 - truth) ** (n - k)
            delta += mass * (1 - (epsilon - (2 * k - n) * loss).exp())
        assert delta > ball(Fraction(1, 10**9)) * ball(Fraction(1_000_001, 1_000_000))


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        ((None, 1.0), "overlap"),
        ((None, 1.05), "overlap"),
        ((0.9, 1.0505), "overlap"),
        ((0.5, 2.0), "looser"),
        ((None, 3.0), "looser"),
        ((None, 0.999), "wrong"),
        ((0.1, 0.2), "wrong"),
        ((1.06, 1.07), "wrong"),
    ],
)
def test_verdicts(theirs: tuple[float | None, float], expected: str) -> None:
    assert agreement.verdict((1.0, 1.05), theirs) == expected


def test_an_error_without_a_cause_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    case = "gaussian, σ = 50"
    told = {agreement.key(*each): {"dp-accounting events": [None, 1e-3]} for each in agreement.grid(case)}
    assert agreement.report(told, case) == 6
    assert "wrong without an explanation: dp-accounting events: 1 × gaussian" in capsys.readouterr().out
    right = {agreement.key(*each): {"prv-accountant": [0.0, 1e3]} for each in agreement.grid(case)}
    assert agreement.report(right, case) == 0
    # A cause explains no more than it says.
    assert agreement.cause("dp-accounting events", "discrete laplace, scale 20", 10, 1e-6) is not None
    assert agreement.cause("dp-accounting events", "discrete laplace, scale 20", 10, 1e-3) is None
    assert agreement.cause("dp-accounting events", "randomized response, p = 0.51", 1, 0.1) is None
