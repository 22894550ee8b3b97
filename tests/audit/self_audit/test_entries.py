"""The draws behind the catalogue: each is the law that its entry speaks of, on the datasets that it names.

Frequencies are held against exact probabilities by Hoeffding's inequality at 1e-9, with keys of the test's name.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from quincunx.audit import self_audit
from quincunx.audit.self_audit import sessions, statistics, tables
from quincunx.audit.self_audit.controls import _floating
from quincunx.loss import Loss
from quincunx.mechanisms import ThresholdSelection, sensitivity
from quincunx.mechanisms.threshold_selection import present
from quincunx.noise.testing import KeyedBits
from quincunx.spec.standard import Approximate, Pure
from quincunx.spec.unit import AddRemove, Replace

CLAIMS = self_audit.claims()
COUNT = 20_000


def near(outcomes: Any, probability: float) -> bool:
    """Whether a frequency is within what chance does to it once in 10^9 tests."""
    room = math.sqrt(math.log(2 / 1e-9) / (2 * len(outcomes)))
    return abs(float(np.mean(outcomes)) - probability) <= room


def drawn(name: str, side: int) -> Any:
    entry = CLAIMS.get(name) or self_audit.controls()[name]
    return entry.draw(entry.pair[side], COUNT)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2])
def test_discrete_laplace_noise_falls_at_or_below_its_centre(epsilon: float, stream: KeyedBits) -> None:
    name = f"DiscreteLaplace, ε = {epsilon}"
    above = 1 / (1 + math.exp(-epsilon))
    assert near(drawn(name, 0) <= 0, above)
    assert near(drawn(name, 1) <= 0, 1 - above)
    assert stream.injected


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2])
def test_laplace_noise_is_rounded(epsilon: float, stream: KeyedBits) -> None:
    name = f"Laplace, ε = {epsilon}"
    assert near(drawn(name, 0) <= -1, math.exp(-epsilon / 2) / 2)
    assert near(drawn(name, 1) <= -1, math.exp(-1.5 * epsilon) / 2)
    assert stream.injected


def test_values_count_lattice_steps(stream: KeyedBits) -> None:
    # A sensitivity of 1 is a hundred steps of 0.01, and σ = 1 is too.
    low, high = drawn("Gaussian, μ = 1, fine", 0), drawn("Gaussian, μ = 1, fine", 1)
    assert near(low <= 0, 0.5 + 0.5 * math.erf(0.005 / math.sqrt(2)))
    assert near(high <= 0, 0.5 - 0.5 * math.erf(0.995 / math.sqrt(2)))
    assert stream.injected


@pytest.mark.parametrize(("options", "side"), [(2, 0), (2, 1), (3, 0), (3, 1)])
def test_responses_are_truthful_as_often_as_calibrated(options: int, side: int, stream: KeyedBits) -> None:
    truth = (0, options - 1)[side]
    told = drawn(f"RandomizedResponse, ε = 1, {options} options", side)
    assert near(told == truth, math.e / (math.e + options - 1))
    assert stream.injected


def test_the_worse_candidate_is_taken_as_often_as_it_should_be(stream: KeyedBits) -> None:
    entry = CLAIMS["PermuteAndFlip, ε = 1"]
    assert near(entry.draw(entry.pair[0], 4_000) == 1, 0.5)
    assert near(entry.draw(entry.pair[1], 4_000) == 1, math.exp(-1) / 2)
    rare = CLAIMS["Exponential, ε = 2"]
    assert near(rare.draw(rare.pair[1], 4_000) == 0, 1 / (1 + math.exp(2)))
    assert stream.injected


def test_answers_of_a_sparse_vector_are_one_number(stream: KeyedBits) -> None:
    entry = CLAIMS["SparseVector, three above"]
    codes = entry.draw(entry.pair[0], 300)
    for code in codes.tolist():
        answers = bin(code)[3:]
        # At most six answers, and none after the third "above".
        assert len(answers) == 6 or (answers.endswith("1") and answers.count("1") == 3)
    assert stream.injected


def test_a_key_without_votes_is_never_shown(stream: KeyedBits) -> None:
    selection = ThresholdSelection.calibrate(groups=2, delta="0.3", epsilon=1, bits=2)
    kept = present(selection)((0, selection.votes(1)), COUNT)
    assert not kept[:, 0].any()
    assert near(kept[:, 1], selection.chance(selection.votes(1)))
    assert stream.injected


def test_a_sampled_person_counts_as_often_as_the_rate(stream: KeyedBits) -> None:
    low, high = 1 / (1 + math.e), math.e / (1 + math.e)
    outputs = drawn("sampling, Poisson, discrete Laplace", 1)
    assert near(outputs <= 0, 0.75 * high + 0.25 * low)
    assert stream.injected


def test_two_laws_are_drawn_side_by_side(stream: KeyedBits) -> None:
    outputs = drawn("composition, two laws", 1)
    assert outputs.shape == (COUNT, 2)
    assert near(outputs[:, 0] <= 0, 1 / (1 + math.exp(0.5)))
    assert near(outputs[:, 1] <= 1, 0.5 + 0.5 / sum(math.exp(-k * k / 8) for k in range(-60, 61)))
    # Independent: the product of the two probabilities.
    both = (outputs[:, 0] <= 0) & (outputs[:, 1] <= 1)
    assert near(both, float(np.mean(outputs[:, 0] <= 0) * np.mean(outputs[:, 1] <= 1)))
    assert stream.injected


def test_claims_of_the_algebra_are_what_the_algebra_says() -> None:
    twice, pair = CLAIMS["composition, two answers"].claim, CLAIMS["composition, a group of 2"].claim
    moved, added = (CLAIMS[f"composition, parallel, {unit}"].claim for unit in ("replace", "add or remove"))
    assert isinstance(twice, Loss)
    assert isinstance(added, Loss)
    # A person who stays in a part and changes there costs as much as two, which covers one who moves.
    assert moved == pair
    assert (twice.pure(), added.pure()) == (1.0, 0.5)


# Questions: with next to no noise the numbers are exact.

PERSON = AddRemove(key="person")
ROWS = ((1, "a", 3), (2, "b", 0), (3, "b", -5), (4, "b", 99))


def exact(text: str, limits: dict[str, object], standard: Any = None, **more: Any) -> list[list[float]]:
    draw = tables.asked(text, standard or Pure(), PERSON, limits, spend=10**12, **more)
    return [[round(value, 3) for value in line] for line in draw(ROWS, 3).tolist()]


def test_a_question_is_computed_by_the_engine(stream: KeyedBits) -> None:
    assert exact("SELECT COUNT(DISTINCT person) AS p FROM t", {"rows": 1}) == [[4]] * 3
    counts = exact("SELECT region, COUNT(*) AS n FROM t GROUP BY region", {"rows": 1})
    assert [[value / 2**20 for value in line] for line in counts] == [[1, 3]] * 3
    # 99 is clipped to 10.
    sums = exact("SELECT SUM(amount) AS s FROM t", {"rows": 1})
    assert [[value / 2**20 for value in line] for line in sums] == [[8]] * 3
    assert stream.injected


def test_unknown_keys_have_a_column_that_says_whether_they_are_shown(stream: KeyedBits) -> None:
    text = "SELECT amount, COUNT(*) AS n FROM t GROUP BY amount"
    standard = Approximate(Fraction("0.99"))
    limits: dict[str, object] = {"rows": 1, "groups": 1}
    rows = tuple((i, "a", 4) for i in range(50))
    draw = tables.asked(text, standard, PERSON, limits, spend=100, shown=(4, 7), delta="0.99")
    found = draw(rows, 5)
    # Fifty people behind 4, nobody behind 7.
    assert found[:, 0].tolist() == [1] * 5
    assert np.allclose(found[:, 1] / 2**20, 50, atol=2)
    assert not found[:, 2:].any()
    assert stream.injected


def test_an_empty_selection_is_a_line_of_zeros(stream: KeyedBits) -> None:
    lines = tables._fates(np.zeros(0, dtype=np.int64), [np.zeros(0, dtype=np.int64)], 2, 1, [0, None])
    assert lines.tolist() == [[0, 0, 0, 0]] * 2
    assert stream.injected


def test_published_numbers_are_around_the_truth(stream: KeyedBits) -> None:
    text = "SELECT region, COUNT(*) AS n, SUM(amount) AS s FROM t GROUP BY region"
    found = sessions.published(text, Pure(), ("n", "s"))(4, 12_000)
    # Two sessions: of ten thousand regions and of two thousand.
    assert found.shape == (12_000, 2)
    assert near(found[:, 0] <= 4, 0.5 + 0.5 * (1 - math.exp(-0.25)))
    assert abs(float(np.median(found[:, 1])) - 13) <= 1
    assert stream.injected


def test_a_region_of_nobody_is_never_shown(stream: KeyedBits) -> None:
    text = "SELECT region, COUNT(*) AS n FROM t GROUP BY region"
    draw = sessions.published(text, Approximate(Fraction("0.01")), ("n",), delta="0.01")
    assert not draw(0, 500).any()
    shown = draw(1, 10_000)
    assert near(shown[:, 0] == 1, 0.01)
    assert not shown[shown[:, 0] == 0].any()
    assert stream.injected


def test_amounts_of_a_region() -> None:
    rows = sessions.relation(4, 2).fetchall()
    assert sorted(row[2] for row in rows if row[1] == 0) == [0, 1, 2, 10]
    assert len({row[0] for row in rows}) == 8


# Statistics and controls.


@pytest.mark.parametrize("each", list(statistics.declared()), ids=lambda each: each.name)
def test_statistics_are_computed_exactly_and_without_gaps(each: statistics.Declared) -> None:
    records = ["a", "b", "b"] if each.name in ("Histogram", "Linear") else [None, float("nan"), 3.3]
    found = each.function(list(records))
    wanted: dict[str, object] = {
        "Count": 1,
        "Histogram": [1, 2, 0],
        "Linear": [3, Fraction(1, 2) - 4],
        "Sum": Fraction("3.25") + 2 * Fraction("-5.25"),
    }
    if each.name in wanted:
        assert found == wanted[each.name]
    if each.people is not None:
        with pytest.raises(Exception, match="adding or removing a person changes n"):
            each.statistic.l1(AddRemove())
        assert each.statistic.l1(Replace()) > 0


def test_centred_sums_end_with_the_number_of_records() -> None:
    mean = sensitivity.Mean(sensitivity.Clip("-5.3", "10.1"), step="0.25")
    function = next(each.function for each in statistics.declared() if each.name == "Mean")
    assert function([]) == [0, 0]
    assert function([float(mean.centre)] * 3) == [0, 3]
    squares = next(each.function for each in statistics.declared() if each.name == "Variance")
    assert squares([float(mean.centre) + 2] * 2) == [4, 8, 2]


def test_the_textbook_noise_has_the_right_law_and_the_wrong_digits(stream: KeyedBits) -> None:
    found = _floating(1.0, COUNT)
    assert near(found <= 0, math.exp(-1) / 2)
    assert near(np.abs(found - 1) <= 1, 1 - math.exp(-1))
    # Values that noise around 0 can have and noise around 1 cannot: finer than one ulp of what was added.
    assert np.mean(found * 2**54 % 1 == 0) > 0.99
    assert np.mean(_floating(0.0, COUNT) * 2**54 % 1 == 0) < 0.9
    assert stream.injected


def test_each_control_runs_what_it_says(stream: KeyedBits) -> None:
    assert near(drawn("1.25 times too little noise", 0) <= 0, 1 / (1 + math.exp(-1.25)))
    deviation = float(np.std(drawn("variance for deviation", 0)))
    assert 78 < deviation < 82
    low = drawn("off-by-one threshold", 1)
    assert near(low, math.exp(-4) / (1 + math.exp(-1)))
    assert not drawn("off-by-one threshold", 0).any()
    assert stream.injected
