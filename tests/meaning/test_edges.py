"""The ends of every range, and what the words must not leave out: found by attacking this room."""

import math
from fractions import Fraction
from typing import Any

import pytest

from quincunx.errors import PrivacyError
from quincunx.finite import Mechanism
from quincunx.loss import Loss, StatedLaw
from quincunx.meaning import best_attack, explain, groups, odds, posterior_bounds
from quincunx.meaning.belief import sentence
from quincunx.meaning.dependence import Chamber, Joint, chamber, farthest
from quincunx.meaning.shapes import Adversarial, APosterioriNoiseless, Differential, PositiveMembership
from quincunx.meaning.testing import error_curve
from quincunx.mechanisms import DiscreteGaussian, Gaussian, Laplace
from quincunx.numbers import Log, ball, precision
from quincunx.spec import domain, standard, unit
from tests.meaning.guarantees import spec

HUGE = "1e400"
TINY = "1e-400"
LAPLACE = Laplace(scale=1).loss


# Intensities beyond every float.


@pytest.mark.parametrize(
    ("subject", "one"),
    [(spec(intensity=HUGE), None), (Loss.of(StatedLaw(epsilon=Fraction(HUGE), rho=Fraction(HUGE))), "replace")],
    ids=["specification", "loss"],
)
@pytest.mark.parametrize("outside", [None, "0.1"])
def test_an_epsilon_beyond_every_float_bounds_nothing(subject: Any, one: Any, outside: Any) -> None:
    found = posterior_bounds("0.1", subject, unit=one, outside=outside)
    assert (found.low, found.high) == (0.0, 1.0)
    ratios = odds("0.1", subject, unit=one, outside=outside)
    assert ratios.likelihood_ratio == ratios.after == (0.0, math.inf)
    assert ratios.relative_risk == (0.0, 10.0)
    assert odds(0, subject, unit=one).after == (0.0, 0.0)
    assert odds(0, subject, unit=one).relative_risk == (0.0, math.inf)
    assert odds(1, subject, unit=one).relative_risk == (1.0, 1.0)


def test_so_do_the_four_promises() -> None:
    for shape in (Differential, PositiveMembership, Adversarial, APosterioriNoiseless):
        assert shape(HUGE).bounds("0.1") == (0.0, 1.0)  # type: ignore[arg-type]
    assert groups("0.1", LAPLACE, unit="replace", sizes=[10**400])[0].high == 1.0


@pytest.mark.parametrize("epsilon", [37, 200, 10**6, HUGE])
@pytest.mark.parametrize("kind", [standard.Pure(), standard.GaussianDP(), standard.Renyi(2)], ids=str)
def test_no_advantage_is_above_one(kind: standard.Standard, epsilon: object) -> None:
    found = best_attack(spec(standard=kind, intensity=epsilon))
    assert 0.999 < found.advantage <= 1
    assert 0 <= found.errors < 0.001
    assert found.words().endswith("100 %.")


# Probabilities smaller than every float.


@pytest.mark.parametrize("kind", [standard.Pure(), standard.GaussianDP(), standard.ZCDP()], ids=str)
def test_false_alarms_smaller_than_every_float(kind: standard.Standard) -> None:
    rare, never = (best_attack(spec(standard=kind), false_alarms=level) for level in (TINY, 0))
    assert 0 <= rare.misses <= 1
    assert rare.misses == pytest.approx(never.misses, abs=1e-9)
    assert error_curve(spec(), [TINY])[0] > 0.999


@pytest.mark.parametrize("loss", [LAPLACE, Gaussian(sigma=1).loss], ids=str)
def test_a_probability_outside_that_is_smaller_than_every_float(loss: Loss) -> None:
    found = posterior_bounds("0.1", loss, unit="replace", outside=TINY)
    assert found.low < 0.1 < found.high
    assert found.outside in (0, Fraction(TINY))
    assert found.high >= posterior_bounds("0.1", loss, unit="replace", outside="1e-300").high


# Nothing leaks.


@pytest.mark.parametrize(
    "kind",
    [standard.ZCDP(), standard.GaussianDP(), standard.Renyi(2), standard.TV(), standard.KL(),
     standard.Tradeoff([(0, 1), ("1/4", "1/4"), (1, 0)])],
    ids=str,
)  # fmt: skip
def test_at_intensity_zero_no_belief_moves(kind: standard.Standard) -> None:
    for outside in (None, "0.01"):
        found = posterior_bounds("1/4", spec(standard=kind, intensity=0), outside=outside)
        assert (found.low, found.high, found.outside) == (0.25, 0.25, 0)


@pytest.mark.parametrize(
    "kind",
    [standard.Approximate("1/10"), standard.ZCDP("1/10"), standard.Divergence(lambda t: (t - 3).max(t * 0), 0, 1)],
    ids=["approximate", "zcdp", "divergence"],
)
def test_where_intensity_zero_is_not_secrecy_it_is_not_taken_for_it(kind: standard.Standard) -> None:
    """Outside δ anything may happen, and a convex f may be 0 around 1."""
    with pytest.raises(PrivacyError, match="no bounds hold always"):
        posterior_bounds("1/4", spec(standard=kind, intensity=0))


def test_a_loss_of_nothing_moves_nothing_in_words_too() -> None:
    assert "between 10 % and 10 %, whatever" in sentence("0.1", Loss(), unit="replace")
    assert "between 10 % and 10 %, whatever" in sentence("0.1", Loss(), unit="replace", outside="0.1")


# What the words must not leave out.

PEOPLE = domain.Finite.multisets(["a", "b"], range(1, 3))


def test_replacing_says_nothing_about_who_is_in_the_data_at_all() -> None:
    """The number of people costs nothing under replace, and tells whether somebody came: the sentence must say so."""
    number = Mechanism({x: {len(x): 1} for x in PEOPLE.datasets})
    asked = spec(domain=PEOPLE, intensity=0)
    assert asked.holds(number)
    # Whoever knows the other's record, "a", is certain after seeing a 2 that the person is there.
    assert number.law(("a",)) != number.law(("a", "b"))
    assert posterior_bounds("0.1", asked, about="presence").high == pytest.approx(0.1)
    said = sentence("0.1", asked, about="presence")
    assert "that this person is in the data and not another in their place, believes" in said
    assert "something about this person's record with" in sentence("0.1", asked)
    # With the number fixed it is true: this person, or another in their place.
    both = [("a", "a"), ("a", "b")]
    assert number.law(both[0]) == number.law(both[1])


def test_words_of_a_replacement_follow_the_unit() -> None:
    daily = {"key": "person", "per": {"column": "day", "period": "day"}}
    said = [
        sentence("0.1", LAPLACE, unit=one, people=people, about=about)
        for one, people, about in [
            (unit.Hamming(), 1, "presence"),
            (unit.Replace(), 2, "presence"),
            (unit.Replace(**daily), 1, "presence"),
            (unit.AddRemove(), 1, "presence"),
            (unit.Replace(), 2, "record"),
            (unit.Replace(**daily), 1, "record"),
            (unit.AddRemove(), 1, "record"),
        ]
    ]
    assert "this person is in the data and not another in their place," in said[0]
    assert "these 2 people are in the data and not others in their place," in said[1]
    assert "those rows are in the data and not others in their place," in said[2]
    assert "this person is in the data, believes" in said[3]
    assert "something about these 2 people's records with" in said[4]
    assert "something about those rows with" in said[5]
    assert "something about this person with" in said[6]


def test_a_chamber_of_which_only_presence_is_in_question_says_who_it_is_for() -> None:
    """There with a partner "a", or absent with a partner "b": three steps, which e^{2ε} does not cover."""
    rows = {}
    for x in [(i, j) for i in (None, "a", "b") for j in (None, "a", "b")]:
        weights = {
            (m, n): Fraction(2) ** -(abs(m - x.count("a")) + abs(n - x.count("b"))) for m in (0, 1, 2) for n in (0, 1)
        }
        # Ends take what lies beyond, so that one person more or less is a factor of 2 in each cell.
        for cell in weights:
            weights[cell] *= math.prod(2 if end else 1 for end in (cell[0] in (0, 2), cell[1] in (0, 1)))
        rows[x] = {cell: weight / sum(weights.values()) for cell, weight in weights.items()}
    joint = Joint({("a", "a"): "1/2", (None, "b"): "1/2"})
    pair = chamber(joint, 0)
    spread = farthest(Mechanism(rows), joint, record=0, by="odds").spread("odds")
    assert spread is not None
    assert pair.factor(Log(2), unit=unit.AddRemove(), about="presence") == 4 < spread <= 8
    said = pair.words(Log(2), unit=unit.AddRemove(), about="presence")
    assert "nobody's record" not in said
    assert "for someone who knows of everyone in the chamber what their record would be, and of nobody whether" in said
    assert "already knows all other records, and what this person's would be, the factor is at most e^ε = 2" in said
    assert "nobody's record" in pair.words(Log(2), unit=unit.AddRemove())


def test_a_chamber_s_presence_under_replace_is_in_place_of_another() -> None:
    said = Chamber(record=0, others=(1,)).words(1, unit=unit.Replace(), about="presence")
    assert "whether this person is in the data and not another in their place by a factor" in said


def test_every_paragraph_about_beliefs_says_that_it_may_fail() -> None:
    told = explain("0.1", Gaussian(sigma=4).loss, unit="replace", outside="0.001").words().split("\n\n")
    assert "except with probability at most 0.001 over its noise" in told[0]
    assert told[1].endswith("except with probability at most 0.001.")
    assert "except" not in explain("0.1", spec()).words().split("\n\n")[1]


def test_bounds_for_groups_carry_their_own_probability_outside() -> None:
    """For ten the total ε is best and holds always; for one and two the curve, which may fail: it must be said."""
    loss = Loss.of(StatedLaw(epsilon=Fraction(1), rho=Fraction(1, 20)))
    found = groups("0.1", loss, unit="replace", outside="0.12")
    assert [each.outside for each in found] == [Fraction(12, 100)] * 2 + [Fraction(0)] * 2
    for each in found:
        bounds = posterior_bounds("0.1", loss, unit="replace", people=each.people, outside="0.12")
        assert (each.low, each.high, each.outside) == (bounds.low, bounds.high, bounds.outside)
    told = explain("0.1", loss, unit="replace", people=10, outside="0.12")
    assert told.posterior.outside == 0
    assert any("may fail with probability at most 0.12" in each for each in told.conditions)
    assert [row["outside"] for row in told.to_dict()["groups"]] == ["3/25", "3/25", "0", "0"]  # type: ignore[attr-defined]
    assert "except with probability 0.12" in told.charts()["groups"].svg.replace("</tspan>", " ")


def test_a_loss_is_not_named_by_a_fraction_that_nobody_reads() -> None:
    sampled = LAPLACE.subsample("0.1", scheme="poisson", unit=unit.AddRemove())
    assert "a loss of ε ≤ 0.15856" in sentence("0.1", sampled, unit="add-remove", about="presence")
    assert "a loss of ε = 1/3 in all" in sentence("0.1", Laplace(scale=3).loss, unit="replace")


def test_the_hint_fits_a_loss_that_states_no_delta() -> None:
    with pytest.raises(PrivacyError, match="no bound on a belief follows from this loss") as caught:
        posterior_bounds("0.1", DiscreteGaussian(sigma=1).loss, unit="replace", people=50, outside="0.01")
    assert "where it states none, too much leaks" in caught.value.hint


@pytest.mark.parametrize("epsilon", ["0.1", "1", "2", "10"])
def test_every_end_is_rounded_outwards(epsilon: str) -> None:
    """Against the exact ends in balls of far more bits: none of e^ε, e^{2ε} or the beliefs is a float."""
    given, prior = Fraction(epsilon), Fraction(1, 3)
    with precision(2000):
        growth, power = ball(given).exp(), (2 * ball(given)).exp()
        low, high = 1 / (1 + 2 * growth), 1 / (1 + 2 / growth)
        found, ratios = posterior_bounds(prior, spec(intensity=epsilon)), odds(prior, spec(intensity=epsilon))
        ends = [(found.low, low), (ratios.likelihood_ratio[0], 1 / growth), (ratios.after[0], 1 / (2 * growth))]
        assert all(ball(Fraction(bound)) < exact for bound, exact in ends)
        factor = Chamber(record=0, others=(1,)).factor(epsilon, unit=unit.Replace())
        ends = [(found.high, high), (ratios.factor, growth), (ratios.after[1], growth / 2), (factor, power)]
        assert all(ball(Fraction(bound)) > exact for bound, exact in ends)
        # The rationals between, before they become floats.
        inside = Differential(epsilon).enclosure(prior)  # type: ignore[arg-type]
        assert ball(inside[0]) < low
        assert high < ball(inside[1])
