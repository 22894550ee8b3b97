"""The pictures of dependence: what they draw is what is proved, and what cannot be drawn is refused."""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from quincunx.chart import Chart
from quincunx.errors import ParameterError
from quincunx.meaning.dependence import chamber, copying_chart, correlation_chart, family_chart, farthest
from quincunx.meaning.dependence.charts import _all_yes, _chain, _correlated
from quincunx.meaning.dependence.respondents import Respondents

from .dependent_worlds import ODDS, chain, responses

DRAWN: list[Callable[[], Chart]] = [correlation_chart, family_chart, copying_chart]


@pytest.mark.parametrize("draw", DRAWN)
def test_every_chart_is_a_picture_with_units(draw: Callable[[], Chart]) -> None:
    chart = draw()
    root = ET.fromstring(chart.svg)
    assert root.tag.endswith("svg")
    assert chart.width == 800
    assert len(re.findall(r'class="x-title"', chart.svg)) == len(re.findall(r'class="y-title"', chart.svg)) == 1
    assert draw() == chart


def test_every_curve_crosses_its_power_exactly_at_no_correlation() -> None:
    for p in ("3/4", "9/10"):
        alone = Respondents(prior=_correlated(Fraction(0)), probability=p)
        assert (alone.covariance, alone.together) == (0, alone.epsilon.of)
        ratios = [Respondents(prior=_correlated(Fraction(k, 20)), probability=p).together for k in range(-20, 21)]
        assert ratios == sorted(set(ratios))
        assert (ratios[0], ratios[-1]) == (1, alone.epsilon.of**2)
    svg = correlation_chart().svg
    assert svg.count("<polyline") == 3
    for label in ("ε = 0.5", "ε = 1", "ε = 2", "e^0.5 ≈ 1.65", "e^1 ≈ 2.72", "e^2 ≈ 7.39", "e^4 ≈ 54.6"):
        assert label in svg


def test_families_are_drawn_to_their_bound() -> None:
    chart = family_chart(sizes=[1, 2, 3, 5], prior="0.1", most=2)
    assert chart.title.startswith("A belief of 10 % about one of a family")
    for label in ("independent of all others", "2 alike: e^(2ε)", "3 alike: e^(3ε)", "5 alike: e^(5ε)"):
        assert label in chart.svg


def test_a_chain_climbs_from_one_to_its_length() -> None:
    for people in (2, 3, 4):
        powers = []
        for copy in (Fraction(1, 2), Fraction(3, 5), Fraction(9, 10), Fraction(999, 1000), Fraction(1)):
            joint = _chain(people, copy)
            assert joint == chain(people, copy)
            ratio = _all_yes(joint, ODDS)
            # All answers yes is what moves the odds most.
            assert ratio == farthest(responses(people), joint, record=0, by="odds").spread("odds")
            powers.append(math.log(ratio, 3))
            assert ratio <= ODDS ** chamber(joint, 0).size
        assert powers == sorted(powers)
        assert powers[0] == pytest.approx(1)
        assert powers[-1] == pytest.approx(people)
    assert copying_chart().svg.count("<polyline") == 4


@pytest.mark.parametrize(
    ("draw", "given_", "where"),
    [
        (correlation_chart, {"epsilons": []}, "epsilons"),
        (correlation_chart, {"epsilons": [1, 1]}, "epsilons"),
        (correlation_chart, {"epsilons": [0]}, "epsilons"),
        (correlation_chart, {"epsilons": [21]}, "epsilons"),
        (correlation_chart, {"epsilons": ["nan"]}, "epsilons"),
        (family_chart, {"sizes": []}, "sizes"),
        (family_chart, {"sizes": [2, 2]}, "sizes"),
        (family_chart, {"sizes": [0]}, "sizes"),
        (family_chart, {"sizes": [13]}, "sizes"),
        (family_chart, {"prior": 0}, "prior"),
        (family_chart, {"prior": "1.5"}, "prior"),
        (family_chart, {"most": -1}, "most"),
        (copying_chart, {"sizes": [1.5]}, "sizes"),
        (copying_chart, {"epsilon": 0}, "epsilon"),
        (copying_chart, {"epsilon": 100}, "epsilon"),
    ],
    ids=lambda each: getattr(each, "__name__", str(each)),
)
def test_what_cannot_be_drawn_is_refused(draw: Callable[..., Chart], given_: dict[str, Any], where: str) -> None:
    with pytest.raises(ParameterError) as caught:
        draw(**given_)
    assert caught.value.where == where
