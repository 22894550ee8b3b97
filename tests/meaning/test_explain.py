"""One guarantee explained whole: the same numbers as the functions alone, words that say them, pictures that draw."""

import json
import re
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from quincunx.errors import ParameterError, PrivacyError
from quincunx.loss import Loss
from quincunx.meaning import Meaning, best_attack, explain, groups, odds, posterior_bounds
from quincunx.meaning.belief import sentence, vacuous_from
from quincunx.mechanisms import Gaussian, Laplace, RandomizedResponse
from quincunx.spec import scope, standard, unit
from tests.meaning.guarantees import spec

LAPLACE, GAUSSIAN = Laplace(scale=1).loss, Gaussian(sigma=4).loss


CASES: list[tuple[str, Any, dict[str, Any]]] = [
    ("0.1", LAPLACE, {"unit": "replace"}),
    ("0.01", GAUSSIAN, {"unit": "add-remove", "about": "presence", "outside": "0.001"}),
    ("1/3", RandomizedResponse(probability="3/4").loss, {"unit": unit.Replace(), "people": 3}),
    ("0.5", spec(), {}),
    ("0.2", spec(standard=standard.Approximate("1e-6")), {"outside": "0.01"}),
    ("0.1", spec(standard=standard.Renyi(16), intensity="1/2"), {"outside": "0.01"}),
    ("0", LAPLACE, {"unit": "replace"}),
    ("1", LAPLACE, {"unit": "replace"}),
    ("0.97", LAPLACE, {"unit": "replace"}),
]
IDS = [f"{prior} {type(each).__name__} {i}" for i, (prior, each, _) in enumerate(CASES)]


@pytest.mark.parametrize(("prior", "guarantee", "asked"), CASES, ids=IDS)
def test_it_gathers_what_the_functions_say(prior: str, guarantee: Any, asked: dict[str, Any]) -> None:
    found = explain(prior, guarantee, **asked)
    assert found.posterior == posterior_bounds(prior, guarantee, **asked)
    assert found.odds == odds(prior, guarantee, **asked)
    assert found.sentence == sentence(prior, guarantee, **asked)
    tested = {name: value for name, value in asked.items() if name != "outside"}
    assert found.attack == best_attack(guarantee, **tested)
    grouped = {name: value for name, value in asked.items() if name != "people"}
    assert found.groups == groups(prior, guarantee, **grouped)
    if 0 < Fraction(prior) < Fraction(95, 100):
        assert found.vacuous_from == vacuous_from(prior, guarantee, **grouped)
    else:
        assert found.vacuous_from is None
    assert found.prior == Fraction(prior)
    assert found.people == asked.get("people", 1)


@pytest.mark.parametrize(("prior", "guarantee", "asked"), CASES, ids=IDS)
def test_json_holds_every_number_and_no_infinity(prior: str, guarantee: Any, asked: dict[str, Any]) -> None:
    found = explain(prior, guarantee, **asked)
    stored = json.loads(found.to_json())
    assert stored == found.to_dict()
    assert "Infinity" not in found.to_json()
    assert stored["posterior"] == {"low": found.posterior.low, "high": found.posterior.high}
    assert Fraction(stored["prior"]) == Fraction(prior)
    assert [each["people"] for each in stored["groups"]] == [1, 2, 5, 10]
    assert stored["attack"]["power_at_most"] == found.attack.power
    assert stored["conditions"] == list(found.conditions)
    assert stored["odds"]["likelihood_ratio"][1] == stored["odds"]["factor"]


def test_the_words() -> None:
    told = explain("0.1", LAPLACE, unit="replace").words().split("\n\n")
    assert [part.split(". ")[0] for part in told] == [
        "What may be believed",
        "As odds",
        "As a test between two datasets",
        "For groups",
        "Conditions",
    ]
    assert "between 3.9 % and 23.2 %" in told[0]
    assert "by a factor of at most 2.72, up or down; a belief of 10 % stays between 3.9 % and 23.2 %." in told[1]
    assert "detects the difference with probability at most 13.6 %" in told[2]
    assert told[3] == (
        "For groups. The same belief of 10 % about several people together may become, for 1 person: at most 23.2 %; "
        "2 people: at most 45.1 %; 5 people: at most 94.3 %; 10 people: at most 99.96 %. From 6 people on it may reach "
        "95 %."
    )


def test_the_conditions_name_unit_knowledge_release_and_dependence() -> None:
    told = explain("0.1", LAPLACE, unit="replace").conditions
    assert "exchanged for another person" in told[0]
    assert "everyone else's records" in told[1]
    assert "every further release" in told[2]
    assert "depend on each other" in told[3]
    assert not any("may fail" in each for each in told)
    gaussian = explain("0.1", GAUSSIAN, unit="add-remove", outside="0.001").conditions
    assert "added to the data or removed" in gaussian[0]
    assert "may fail with probability at most 0.001" in gaussian[-1]
    fixed = explain("0.1", spec(scope=scope.Invariants({"total": "the number of people"}), unit=unit.Replace()))
    assert "the facts that are published exactly" in fixed.conditions[1]
    # Inside invariants a path of replacements may leave the universe: nothing is said of groups, and why.
    assert all(each.why for each in fixed.groups[1:])
    assert "no bound (datasets between two" in fixed.words()


@pytest.mark.parametrize(("prior", "guarantee", "asked"), CASES, ids=IDS)
def test_pictures_are_well_formed_and_say_their_finding(
    prior: str, guarantee: Any, asked: dict[str, Any], tmp_path: Path
) -> None:
    found = explain(prior, guarantee, **asked)
    drawn = found.charts()
    assert list(drawn) == ["belief", "errors", "epsilons", "groups"]
    for name, chart in drawn.items():
        ElementTree.fromstring(chart.svg)
        assert chart.write(tmp_path / f"{name}.svg").exists()
        assert re.search(r"\d %", chart.title)


def test_the_pictures_carry_the_numbers() -> None:
    found = explain("0.1", LAPLACE, unit="replace")
    drawn = found.charts()
    assert found.charts() == drawn
    assert drawn["belief"].title == "With ε = 1, a belief of 10 % about one person ends between 3.9 % and 23.2 %"
    assert "release of ε = 1 detects at most 13.6 %" in drawn["errors"].title
    assert drawn["epsilons"].title == "At ε = 1 a belief of 10 % may become 23.2 %, at ε = 10 it may become 99.96 %"
    assert "23.2 % about one person and 99.96 % about 10 people together" in drawn["groups"].title
    outside = explain("0.1", GAUSSIAN, unit="replace", outside="0.001").charts()["belief"]
    assert "Except with probability 0.001" in outside.svg


def test_other_sizes_and_levels() -> None:
    found = explain("0.1", LAPLACE, unit="replace", sizes=[3], false_alarms="0.01")
    assert [each.people for each in found.groups] == [3]
    assert found.attack.false_alarms == Fraction(1, 100)


def test_what_is_refused() -> None:
    with pytest.raises(PrivacyError, match="no bounds hold always"):
        explain("0.1", GAUSSIAN, unit="replace")
    with pytest.raises(ParameterError, match="says nothing about its unit"):
        explain("0.1", LAPLACE)
    for prior in (-0.1, 1.5, "x", None):
        with pytest.raises(ParameterError) as caught:
            explain(prior, LAPLACE, unit="replace")
        assert caught.value.where == "prior"


def test_the_value_is_frozen() -> None:
    found = explain("0.1", Loss(), unit="replace")
    assert isinstance(found, Meaning)
    assert found.vacuous_from is None
    with pytest.raises(AttributeError):
        found.people = 2  # type: ignore[misc]
