"""Findings and reports: what they say, and that they never say more."""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pytest

from quincunx.audit.blackbox.claim import Claim
from quincunx.audit.blackbox.finding import Finding, Report
from quincunx.errors import ParameterError, VerificationError
from quincunx.spec.standard import TV, ZCDP, Approximate, GaussianDP, Pure


def finding(claim: str = "epsilon=1", p_low: float = 0.75, q_high: float = 0.25) -> Finding:
    stated = Claim.parse(claim)
    return Finding(
        mechanism="mine",
        claim=stated,
        inputs=("0", "1"),
        event="output ≤ 0",
        p_low=p_low,
        q_high=q_high,
        samples=1000,
        tested=700,
        confidence=Fraction(19, 20),
        seconds=0.5,
        weighed=stated.weigh(p_low, q_high),
    )


def test_what_a_finding_says() -> None:
    found = finding()
    assert found.refuted
    assert found.verdict == "refuted"
    assert found.bound == pytest.approx(math.log(3))
    assert found.bound <= math.log(3)
    assert found.stated == 1
    assert found.tightness == pytest.approx(math.log(3))
    assert str(found) == (
        "mine: ε = 1 refuted; ε ≥ 1.09861. The event “output ≤ 0” has probability at least 0.75 at 0 "
        "and at most 0.25 at 1."
    )
    held = finding("epsilon=2")
    assert held.verdict == "not refuted"
    assert held.tightness == pytest.approx(math.log(3) / 2)
    with pytest.raises(FrozenInstanceError):
        found.p_low = 1.0  # type: ignore[misc]


def test_the_same_evidence_in_every_standard() -> None:
    found = finding()
    assert found.least(Pure()) == found.bound
    assert found.least(Approximate(Fraction(1, 4))) == pytest.approx(math.log(2))
    assert found.least(TV()) == 0.5
    assert found.least(GaussianDP()) == pytest.approx(2 * 0.6744897501960817)
    assert 0.5 < found.least(ZCDP()) < found.bound * math.tanh(found.bound / 2) + 1e-9
    assert found.tradeoff == (0.25, 0.25)
    assert finding(p_low=0.2, q_high=0.4).least(Pure()) == 0


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0.5), ("1/2", 0.75 - math.exp(0.5) / 4), (2, 0.0)])
def test_delta_at_an_epsilon(epsilon: object, delta: float) -> None:
    assert finding().delta(epsilon) == pytest.approx(delta)
    assert finding(p_low=0.99, q_high=0.5).delta(1) == pytest.approx(0.5 - math.e * 0.01)
    with pytest.raises(ParameterError):
        finding().delta(-1)


def test_json_holds_all_of_it() -> None:
    data = json.loads(json.dumps(finding().to_json()))
    assert data == {
        "mechanism": "mine",
        "claim": "ε = 1",
        "parameter": "ε",
        "stated": 1.0,
        "bound": finding().bound,
        "tightness": finding().tightness,
        "verdict": "refuted",
        "event": "output ≤ 0",
        "likelier": "0",
        "other": "1",
        "p_low": 0.75,
        "q_high": 0.25,
        "samples": 1000,
        "tested": 700,
        "confidence": "19/20",
        "seconds": 0.5,
    }


def test_an_infinite_tightness_is_null_in_json() -> None:
    broken = finding("epsilon=0")
    assert broken.tightness == math.inf
    assert json.loads(json.dumps(broken.to_json(), allow_nan=False))["tightness"] is None


def test_a_report_of_several_pairs() -> None:
    held, broken = finding("epsilon=2"), finding("epsilon=1")
    closer = replace(held, weighed=Claim.parse("epsilon=2").weigh(0.8, 0.2), p_low=0.8, q_high=0.2)
    good = Report(findings=(held, closer), confidence=Fraction(19, 20))
    assert not good.refuted
    assert good.verdict == "not refuted"
    assert good.worst is closer
    assert good.check() is good
    assert str(good).count("\n") == 1
    bad = Report(findings=(held, broken), confidence=Fraction(19, 20))
    assert bad.refuted
    assert bad.verdict == "refuted"
    assert bad.worst is broken
    with pytest.raises(VerificationError, match=r"ε ≥ 1\.09861"):
        bad.check()
    data = json.loads(json.dumps(bad.to_json()))
    assert data["verdict"] == "refuted"
    assert [each["verdict"] for each in data["findings"]] == ["not refuted", "refuted"]
    assert data["confidence"] == "19/20"


def test_nothing_is_ever_proved() -> None:
    for claim in ("epsilon=1", "epsilon=100"):
        assert "prove" not in json.dumps(finding(claim).to_json())
        assert "prove" not in str(finding(claim))
