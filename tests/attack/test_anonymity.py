"""The stories of k-anonymity: the chapter's figures, and what is true of the generated people."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from quincunx.attack.anonymity import homogeneity
from quincunx.attack.credit_scores import BANDS, COMPANY, EMPLOYEES, band
from quincunx.attack.mondrian import mondrian
from quincunx.attack.people import people
from quincunx.attack.story import Story
from quincunx.mechanisms import DiscreteLaplace
from quincunx.noise.testing import key_of, keyed
from tests.attack.telling import told
from tests.chart.reading import check_readable
from tests.laws.test_errata import TABLE_1_1

EPSILONS = ("0.1", "1", "10")
KS = (2, 5, 10, 25)


def share(story: Story, name: str) -> float:
    return float(story.figures[name])


def test_bands_end_where_they_should() -> None:
    names = list(BANDS)
    edges = {300: "Poor", 579: "Poor", 580: "Fair", 669: "Fair", 670: "Good", 739: "Good", 740: "Very good"}
    edges |= {799: "Very good", 800: "Exceptional", 850: "Exceptional"}
    assert {score: names[band(score)] for score in edges} == edges


def test_the_chapters_table_is_four_anonymous_and_homogeneous() -> None:
    groups = Counter((row.place, row.age) for row in EMPLOYEES)
    assert sorted(groups.values()) == [4, 4]
    assert {EMPLOYEES[i - 1].place for i in (2, 4, 6, 7)} == {"30***"}
    assert [EMPLOYEES[i - 1].name for i in (2, 4, 6, 7)] == ["Nathan", "Xiao", "Anastasia", "Marcia"]
    bands = {key: {band(row.score) for row in EMPLOYEES if (row.place, row.age) == key} for key in groups}
    assert bands == {("30***", "30-40"): {1}, ("19***", "60-70"): {3}}


def test_the_tables_are_those_of_the_errata() -> None:
    assert [(row.name, row.place, row.age) for row in EMPLOYEES] == [
        (name, printed, decade) for name, (_, _, printed, decade) in TABLE_1_1.items()
    ]


def test_homogeneity_makes_every_band_certain() -> None:
    story = told("homogeneity")
    assert story.figures["band certain"] == 8
    assert (story.figures["lowest score of the class"], story.figures["highest score of the class"]) == (590, 650)
    assert "580 to 669, the band Fair" in story.recovered
    # The erratum is noted.
    assert "19456" in story.known
    assert "does not generalise to 30***" in story.known
    assert story.rows[0][1] == "8 of 8"
    assert {row[1] for row in story.rows[1:]} == {"0 of 8"}


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_what_her_row_adds_is_limited(epsilon: str) -> None:
    story, slack = told("homogeneity"), 6.2 * math.sqrt(0.25 / 20_000)
    e = float(epsilon)
    limit = share(story, f"limit at ε = {epsilon}")
    assert limit == pytest.approx(math.exp(2 * e) / (math.exp(2 * e) + 4))
    alone = share(story, f"right from her row alone at ε = {epsilon}")
    assert alone <= limit + slack
    # In closed form: her count shows one more with r = 1/(1 + q), each of four others with 1 − r; ties are even.
    r = 1 / (1 + math.exp(-e))
    chances = [math.comb(4, n) * (1 - r) ** n * r ** (4 - n) for n in range(5)]
    expected = r * sum(chance / (n + 1) for n, chance in enumerate(chances)) + (1 - r) * chances[0] / 5
    assert alone == pytest.approx(expected, abs=slack)
    # What is guessed from the group is right at most e^ε times as often with her as without.
    right, without = (share(story, f"right {words}at ε = {epsilon}") for words in ("", "if left out "))
    assert without - slack <= right <= math.exp(e) * (without + slack) + slack


def test_no_output_of_the_counts_goes_beyond_the_limit() -> None:
    # Enumerated: five counts of which one is hers, every combination within reach. The posterior of any band, all being
    # equally likely at first, is at most e^{2ε}/(e^{2ε} + 4).
    law = DiscreteLaplace(scale=2).finite([0, 1], reach=1)
    outputs = list(law.outputs)
    chance = {(x, y): float(law.probability(x, y)) for x in (0, 1) for y in outputs}
    worst = 0.0
    for seen in np.ndindex(*(len(outputs),) * 5):
        weights = [
            math.prod(chance[int(place == truth), outputs[at]] for place, at in enumerate(seen)) for truth in range(5)
        ]
        worst = max(worst, max(weights) / sum(weights))
    limit = math.exp(2 * 0.5) / (math.exp(2 * 0.5) + 4)
    assert 0.99 * limit <= worst <= limit * (1 + 1e-9)


def test_the_only_match_is_613() -> None:
    story = told("intersection")
    assert story.figures["score in common"] == 613
    assert story.figures["scores in common"] == 1
    assert {row.score for row in COMPANY} & {row.score for row in EMPLOYEES} == {613}
    assert next(row.name for row in EMPLOYEES if row.score == 613) == "Marcia"
    assert len(COMPANY) == 4
    assert story.rows[0][2] == "613"


def test_more_tables_pin_down_more_people() -> None:
    story = told("intersection")
    for k in KS:
        certain = [share(story, f"certain, k = {k}, {n} tables") for n in (1, 2, 3, 4)]
        assert certain == sorted(certain)
    for n in (2, 3, 4):
        by_k = [share(story, f"certain, k = {k}, {n} tables") for k in KS]
        assert by_k == sorted(by_k, reverse=True)
    assert share(story, "certain, k = 5, 1 tables") == 0
    assert share(story, "certain, k = 5, 2 tables") > 0.5
    assert share(story, "certain, k = 2, 4 tables") > 0.95


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_four_noisy_tables_cost_four_times_epsilon(epsilon: str) -> None:
    story = told("intersection")
    right, without = (share(story, f"band right {w}at ε = {epsilon}, 4 tables") for w in ("", "if left out "))
    # 500 people, 20 draws; and never certain.
    assert right <= math.exp(4 * float(epsilon)) * (without + 0.05)
    assert right < 0.5
    noisy = next(row for row in story.rows if f"ε = {epsilon} each" in row[0])
    assert noisy[1:4] == ("0.0 %",) * 3


def test_small_boxes_tell_by_ones_own_row() -> None:
    story = told("mondrian")
    assert share(story, "one of two, k = 2") > 0.5
    assert share(story, "certain, k = 2") > 0.03
    assert share(story, "certain with a second table, k = 2") > 0.5
    gained = [share(story, f"guess right, k = {k}") - share(story, f"guess right if left out, k = {k}") for k in KS]
    assert gained == sorted(gained, reverse=True)
    assert gained[0] > 0.3
    for epsilon in EPSILONS:
        right, without = (share(story, f"guess right {w}at ε = {epsilon}") for w in ("", "if left out "))
        assert right <= math.exp(float(epsilon)) * without + 0.01
        assert right - without < 0.03
        assert right - share(story, "commonest diagnosis") < 0.05


@pytest.mark.parametrize("name", ["homogeneity", "intersection", "mondrian"])
@pytest.mark.parametrize("series", [0, 1])
def test_stories_are_whole(name: str, series: int) -> None:
    story = told(name, series) if series else told(name)
    assert story.name == name
    assert all(len(row) == len(story.columns) for row in story.rows)
    assert all(isinstance(cell, str) for row in story.rows for cell in row)
    assert story.sources
    for chart in story.charts.values():
        check_readable(chart)


def test_a_story_is_the_same_again_and_other_people_are_others() -> None:
    def tell(series: int) -> Story:
        with keyed(key_of("again")):
            return homogeneity(series=series)

    assert tell(0) == tell(0)
    assert told("mondrian").figures != told("mondrian", 1).figures


def test_the_generated_tables_are_k_anonymous() -> None:
    everybody = people(np.random.default_rng((10, 0)), 12_000)
    for k in KS:
        assert mondrian(everybody.known, k).sizes.min() >= k


def test_noise_is_the_mechanism_of_the_library() -> None:
    for epsilon in EPSILONS:
        assert DiscreteLaplace.calibrate(epsilon=epsilon).loss.pure() <= float(Fraction(epsilon))
