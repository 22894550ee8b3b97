"""How far a belief can move, against the exact posteriors of small worlds."""

import itertools
import math
import random
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quincunx as qx
from quincunx.errors import ParameterError, PrivacyError
from quincunx.finite import Mechanism
from quincunx.meaning import describe, posterior_bounds
from quincunx.meaning.belief import Posterior, sentence
from quincunx.mechanisms import DiscreteLaplace, RandomizedResponse
from quincunx.numbers import Log, float_above
from quincunx.spec import domain, scope, standard, unit
from tests.meaning.guarantees import spec

from ..spec.small_worlds import just_within, random_mechanism

PRIORS = [Fraction(1, 10), Fraction(1, 2), Fraction(999, 1000), Fraction(1, 10**6)]


# The figures and their closed forms.


def test_ten_per_cent_at_epsilon_one() -> None:
    found = posterior_bounds("0.1", spec())
    assert (found.prior, found.outside) == (Fraction(1, 10), 0)
    assert found.low == pytest.approx(0.0392703, abs=1e-7)
    assert found.high == pytest.approx(0.2319693, abs=1e-7)
    said = sentence("0.1", spec())
    assert said.startswith(
        "Someone who already knows everyone else's records, and who believed something about this person's record with "
        "probability 10 %, believes it after the release with a probability between 3.9 % and 23.2 %, whatever the "
        "release says. This is one release at ε = 1; further releases"
    )
    assert "people in general" in said


def test_logarithms_are_exact() -> None:
    found = posterior_bounds("1/3", spec(intensity=Log(3)))
    assert (found.low, found.high) == (float(Fraction(1, 7)), float_above(Fraction(3, 5)))
    assert "between 14.2 % and 60 %" in sentence("1/3", spec(intensity=Log(3)))
    assert "with probability 1/3" in sentence("1/3", spec(intensity=Log(3)))


@given(st.fractions(0, 1, max_denominator=1000), st.fractions(0, 30, max_denominator=100))
def test_a_belief_moves_around_itself_and_both_ways_alike(prior: Fraction, epsilon: Fraction) -> None:
    found = posterior_bounds(prior, spec(intensity=epsilon))
    mirrored = posterior_bounds(1 - prior, spec(intensity=epsilon))
    assert Fraction(found.low) <= prior <= Fraction(found.high)
    assert found.low == pytest.approx(1 - mirrored.high, abs=1e-15)
    more = posterior_bounds(prior, spec(intensity=epsilon + 1))
    assert more.low <= found.low
    assert found.high <= more.high


def test_no_belief_and_certainty_do_not_move() -> None:
    for prior in (0, 1):
        assert posterior_bounds(prior, spec()) == Posterior(
            prior=Fraction(prior), low=float(prior), high=float(prior), outside=Fraction(0)
        )
    assert posterior_bounds("0.3", spec(intensity=0)).high == pytest.approx(0.3)


def test_an_enormous_epsilon_promises_nothing() -> None:
    found = posterior_bounds("0.1", spec(intensity=10**6))
    assert (found.low, found.high) == (0.0, 1.0)


# Below the description.


def test_describe_adds_the_sentence_to_the_description() -> None:
    said = describe(spec())
    assert said == f"{spec().describe()}\n\nWhat it means for one person. {sentence('1/10', spec())}"
    assert describe(spec(), prior="1/2").endswith(sentence("1/2", spec()))
    present = spec(unit=unit.AddRemove())
    assert describe(present, about="presence").endswith(sentence("1/10", present, about="presence"))
    weaker = spec(standard=standard.Approximate("1e-6"))
    assert describe(weaker, outside="0.001").endswith(sentence("1/10", weaker, outside="0.001"))


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        ({"standard": standard.Approximate("1e-6")}, "no bounds hold always under Approximate"),
        ({"standard": standard.ZCDP()}, "no bounds hold always under ZCDP"),
        ({"standard": standard.KL()}, "no bounds hold always under KL"),
        (
            {"unit": unit.AddRemove(), "scope": scope.Invariants({"total": "the number of people"})},
            "datasets between two that are 2 steps apart may lie outside their universe",
        ),
    ],
    ids=str,
)
def test_where_nothing_is_proved_describe_says_why(blocks: dict[str, Any], reason: str) -> None:
    unproved = spec(**blocks)
    with pytest.raises(PrivacyError) as caught:
        sentence("1/10", unproved)
    said = describe(unproved)
    assert said.startswith(unproved.describe())
    assert said.endswith(f"No bound on a belief about one person is stated here: {caught.value.what}.")
    assert "%" not in said.removeprefix(unproved.describe())
    assert caught.value.what == reason


@pytest.mark.parametrize(
    ("given_", "where"),
    [
        ({"prior": 2}, "prior"),
        ({"prior": "nan"}, "prior"),
        ({"about": "age"}, "about"),
        ({"outside": 0}, "outside"),
        ({"outside": 1}, "outside"),
    ],
    ids=str,
)
def test_describe_refuses_what_it_cannot_read(given_: dict[str, Any], where: str) -> None:
    with pytest.raises(ParameterError) as caught:
        describe(spec(), **given_)
    assert caught.value.where == where


# Units.


def test_add_remove_counts_twice_for_a_record_and_once_for_presence() -> None:
    about_record = posterior_bounds("0.1", spec(unit=unit.AddRemove()))
    assert about_record == posterior_bounds("0.1", spec(intensity=2))
    assert posterior_bounds("0.1", spec(unit=unit.AddRemove()), about="presence") == posterior_bounds("0.1", spec())
    # Two people added or removed at once cover one replaced.
    assert posterior_bounds("0.1", spec(unit=unit.AddRemove(group=2))) == posterior_bounds("0.1", spec())
    assert posterior_bounds("0.1", spec(unit=unit.Replace(group=3))) == posterior_bounds("0.1", spec())


def test_words_follow_the_unit() -> None:
    present = sentence("0.1", spec(unit=unit.AddRemove()), about="presence")
    assert (
        "knows everyone else's records and what this person's would be, and who believed with probability 10 %"
        in present
    )
    assert "that this person is in the data" in present
    table = domain.Tables(columns={"person": "text", "day": "date"})
    daily = spec(domain=table, unit=unit.AddRemove(key="person", per={"column": "day", "period": "day"}))
    assert "knows everything but one person's rows of one day" in sentence("0.1", daily)
    assert "something about those rows with probability 10 %" in sentence("0.1", daily)
    assert "that those rows are in the data" in sentence("0.1", daily, about="presence")


def test_words_follow_the_scope_and_the_intensity() -> None:
    fixed = spec(scope=scope.Invariants({"total": "the number of people"}))
    assert "records and the facts that are published exactly, and who" in sentence("0.1", fixed)
    vectors = domain.Finite.vectors([0, 1], 2)
    first = scope.Invariants({"first": ("the first", lambda x: x[0])})
    several = spec(domain=vectors, scope=first, intensity={"first = 0": 1, "first = 1": "1/2"})
    assert "at the largest intensity stated, ε = 1;" in sentence("0.1", several)
    assert posterior_bounds("0.1", several) == posterior_bounds("0.1", spec())


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ({"scope": scope.OneDataset("this year's")}, "between all datasets"),
        (
            {"domain": domain.Finite(datasets=["a", "b"]), "unit": unit.Neighbours([("a", "b")])},
            "needs a unit of people",
        ),
        ({"unit": unit.AddRemove(), "standard": standard.Renyi(2)}, "no group map"),
        ({"unit": unit.AddRemove(), "scope": scope.Invariants({"total": "n"})}, "outside their universe"),
    ],
)
def test_what_does_not_follow_is_refused(blocks: dict[str, Any], message: str) -> None:
    with pytest.raises(PrivacyError, match=message):
        posterior_bounds("0.1", spec(**blocks), outside="0.01")


# Standards with an event outside.

OTHERS: list[tuple[standard.Standard, object]] = [
    (standard.Approximate("1e-6"), 1),
    (standard.ZCDP(), "1/8"),
    (standard.ZCDP("1e-6"), "1/8"),
    (standard.GaussianDP(), "1/2"),
    (standard.Renyi(16), "1/2"),
    (standard.TV(), "1e-5"),
]


@pytest.mark.parametrize(("kind", "intensity"), OTHERS, ids=str)
def test_an_event_outside_must_be_allowed(kind: standard.Standard, intensity: object) -> None:
    what = spec(standard=kind, intensity=intensity)
    for ask in (posterior_bounds, sentence):
        with pytest.raises(PrivacyError, match="no bounds hold always") as caught:
            ask("0.1", what)
        assert "outside=" in caught.value.hint
    found = posterior_bounds("0.1", what, outside="0.001")
    assert 0 < found.low < 0.1 < found.high < 1
    assert found.outside == Fraction(1, 1000)
    said = sentence("0.1", what, outside="0.001")
    assert "except with probability at most 0.001 over its noise" in said
    assert "whatever the release says" not in said


@pytest.mark.parametrize(("kind", "intensity"), OTHERS, ids=str)
def test_more_outside_is_a_shorter_interval(kind: standard.Standard, intensity: object) -> None:
    what = spec(standard=kind, intensity=intensity)
    found = [posterior_bounds("0.1", what, outside=risk) for risk in ("1e-4", "1e-3", "1e-2", "0.3")]
    assert [each.high for each in found] == sorted((each.high for each in found), reverse=True)
    assert [each.low for each in found] == sorted(each.low for each in found)


@pytest.mark.parametrize(
    ("epsilon", "delta", "outside"), [("1", "1e-6", "0.001"), ("0.1", "0.01", "0.03"), ("3", "0.1", "0.5")]
)
@pytest.mark.parametrize("prior", PRIORS)
def test_the_closed_form_with_a_delta(prior: Fraction, epsilon: str, delta: str, outside: str) -> None:
    """Odds by e^ε·η/(η − 2δ), where δ counts once for each end of the interval."""
    share, risk = Fraction(delta), Fraction(outside)
    found = posterior_bounds(prior, spec(standard=standard.Approximate(delta), intensity=epsilon), outside=outside)
    growth = math.exp(float(Fraction(epsilon))) * float(risk / (risk - 2 * share))
    odds = float(prior / (1 - prior))
    assert found.high == pytest.approx(odds * growth / (1 + odds * growth), rel=1e-12)
    assert found.low == pytest.approx(odds / growth / (1 + odds / growth), rel=1e-12)


def test_pure_needs_nothing_outside_and_says_so() -> None:
    assert posterior_bounds("0.1", spec(), outside="0.01").outside == 0
    exact = spec(standard=standard.Approximate(0))
    assert posterior_bounds("0.1", exact) == posterior_bounds("0.1", spec())


@pytest.mark.parametrize(
    ("kind", "intensity"),
    [(standard.KL(), "1/10"), (standard.TV(), "1/10"), (standard.Approximate("0.01"), 1),
     (standard.Divergence("chi-squared"), "1/10"),
     (standard.Tradeoff([(0, 1), ("1/4", "1/4"), (1, 0)]), 1)],
    ids=str,
)  # fmt: skip
def test_standards_without_a_bound_are_refused(kind: standard.Standard, intensity: object) -> None:
    with pytest.raises(PrivacyError, match="no bound on a belief follows"):
        posterior_bounds("0.1", spec(standard=kind, intensity=intensity), outside="0.01")


# Small worlds: exact posteriors of every output, every truth and random beliefs.


def beliefs(source: random.Random, datasets: Sequence[Any]) -> Iterator[tuple[dict[Any, Fraction], frozenset[Any]]]:
    """Random weights on the datasets, and a statement that is true of some of them."""
    for _ in range(4):
        weights = [source.choice((1, 1, 2, 9, 1000)) for _ in datasets]
        total = sum(weights)
        true_of = frozenset(x for x in datasets if source.random() < 0.5) or frozenset(datasets[:1])
        if len(true_of) < len(datasets):
            yield {x: Fraction(w, total) for x, w in zip(datasets, weights, strict=True)}, true_of


def posteriors(
    world: Mechanism, belief: dict[Any, Fraction], true_of: frozenset[Any]
) -> tuple[Fraction, list[Fraction | None]]:
    """The prior of the statement, and its exact posterior after each output; None where the output never occurs."""
    prior = sum((belief[x] for x in true_of), Fraction(0))
    found: list[Fraction | None] = []
    for i in range(len(world.outputs)):
        joint = {x: weight * Fraction(world.law(x)[i]) for x, weight in belief.items()}
        total = sum(joint.values(), Fraction(0))
        found.append(sum((joint[x] for x in true_of), Fraction(0)) / total if total else None)
    return prior, found


VECTORS = domain.Finite.vectors([0, 1, 2], 2)
TABLES = domain.Finite.multisets(["a", "b"], range(3))


def possible(others: str) -> list[Any]:
    """The datasets that someone holds possible who knows the other's record: absent, or one of two."""
    return [x for x in TABLES.datasets if x in {(others,), *(tuple(sorted((others, r))) for r in "ab")}]


@pytest.mark.parametrize("seed", range(25))
def test_pure_worlds_under_replace(seed: int) -> None:
    source = random.Random(f"posterior {seed}")
    world = random_mechanism(source, VECTORS.datasets, 3)
    asked = spec(domain=VECTORS, intensity=source.choice((Log(2), Log(5), "1/3")))
    world = just_within(asked, world)
    assert asked.holds(world)
    for other in range(3):
        datasets = [(other, record) for record in range(3)]
        for belief, true_of in beliefs(source, datasets):
            prior, found = posteriors(world, belief, true_of)
            bounds = posterior_bounds(prior, asked)
            for posterior in found:
                assert posterior is None or Fraction(bounds.low) <= posterior <= Fraction(bounds.high)


@pytest.mark.parametrize("seed", range(25))
def test_pure_worlds_under_add_remove(seed: int) -> None:
    source = random.Random(f"presence {seed}")
    asked = spec(domain=TABLES, unit=unit.AddRemove(), intensity=source.choice((Log(2), Log(3), "1/3")))
    world = just_within(asked, random_mechanism(source, TABLES.datasets, 3))
    assert asked.holds(world)
    for other in "ab":
        datasets = possible(other)
        for belief, true_of in beliefs(source, datasets):
            prior, found = posteriors(world, belief, true_of)
            bounds = posterior_bounds(prior, asked)
            assert all(p is None or Fraction(bounds.low) <= p <= Fraction(bounds.high) for p in found)
        for record in "ab":
            pair = {(other,): Fraction(2, 3), tuple(sorted((other, record))): Fraction(1, 3)}
            prior, found = posteriors(world, pair, frozenset({tuple(sorted((other, record)))}))
            bounds = posterior_bounds(prior, asked, about="presence")
            assert all(p is None or Fraction(bounds.low) <= p <= Fraction(bounds.high) for p in found)


@pytest.mark.parametrize("seed", range(25))
def test_worlds_with_an_event_outside(seed: int) -> None:
    """Whatever the truth is, the posterior leaves the bounds with probability at most `outside`."""
    source = random.Random(f"outside {seed}")
    delta = source.choice((Fraction(1, 100), Fraction(1, 20)))
    asked = spec(domain=VECTORS, standard=standard.Approximate(delta), intensity=source.choice((Log(2), "1/3", 0)))
    world = just_within(asked, random_mechanism(source, VECTORS.datasets, 4))
    assert asked.holds(world)
    for other, risk in itertools.product(range(3), (3 * delta, 8 * delta)):
        datasets = [(other, record) for record in range(3)]
        for belief, true_of in beliefs(source, datasets):
            prior, found = posteriors(world, belief, true_of)
            bounds = posterior_bounds(prior, asked, outside=risk)
            escaped = [
                i for i, p in enumerate(found)
                if p is not None and not Fraction(bounds.low) <= p <= Fraction(bounds.high)
            ]  # fmt: skip
            for truth in datasets:
                assert sum((Fraction(world.law(truth)[i]) for i in escaped), Fraction(0)) <= risk


def test_without_the_event_outside_the_pure_bounds_would_be_false() -> None:
    """Publishing the record with probability δ is (0, δ): the belief then becomes certain."""
    leak = Mechanism({(x,): {("it is", x): "1/100", "nothing": "99/100"} for x in (0, 1)})
    world = domain.Finite.vectors([0, 1], 1)
    asked = spec(domain=world, standard=standard.Approximate("1/100"), intensity=0)
    assert asked.holds(leak)
    _, found = posteriors(leak, {(0,): Fraction(1, 2), (1,): Fraction(1, 2)}, frozenset({(0,)}))
    assert {1, 0} <= set(found)
    with pytest.raises(PrivacyError):
        posterior_bounds("1/2", asked)


@pytest.mark.parametrize("probability", ["3/4", "2/3", "99/100"])
@pytest.mark.parametrize("prior", PRIORS)
def test_randomized_response_attains_both_ends(probability: str, prior: Fraction) -> None:
    p = Fraction(probability)
    table = RandomizedResponse(probability=p).finite()
    world = Mechanism({(x,): {y: table.probability(x, y) for y in (0, 1)} for x in (0, 1)})
    asked = spec(domain=domain.Finite.vectors([0, 1], 1), intensity=Log(p / (1 - p)))
    assert asked.holds(world)
    _, found = posteriors(world, {(0,): 1 - prior, (1,): prior}, frozenset({(1,)}))
    bounds = posterior_bounds(prior, asked)
    exact = sorted(each for each in found if each is not None)
    assert bounds.low == pytest.approx(float(exact[0]), rel=1e-15)
    assert bounds.high == pytest.approx(float(exact[1]), rel=1e-15)
    assert Fraction(bounds.low) <= exact[0]
    assert exact[1] <= Fraction(bounds.high)


def test_a_real_mechanism_stays_within() -> None:
    """Discrete Laplace counts at ε = 1 under add/remove: presence moves a belief of 10 % to 23.2 % at most."""
    world = DiscreteLaplace(scale=1).finite([5, 6], reach=20)
    bounds = posterior_bounds("0.1", spec(unit=unit.AddRemove()), about="presence")
    for i in range(len(world.outputs)):
        absent, present = (float(world.law(x)[i].mid()) for x in (5, 6))  # type: ignore[union-attr]
        belief = 0.1 * present / (0.1 * present + 0.9 * absent)
        assert bounds.low * (1 - 1e-12) <= belief <= bounds.high * (1 + 1e-12)


# Printing, and what cannot be read.


@given(
    st.fractions("1/100000", "99999/100000", max_denominator=10**6), st.fractions("1/1000", 20, max_denominator=1000)
)
def test_printed_percentages_are_outside_the_bounds(prior: Fraction, epsilon: Fraction) -> None:
    found = posterior_bounds(prior, spec(intensity=epsilon))
    match = re.search(r"between ([\d.]+) % and ([\d.]+) %", sentence(prior, spec(intensity=epsilon)))
    assert match is not None
    low, high = (Fraction(text) / 100 for text in match.groups())
    assert low <= Fraction(found.low) * (1 + Fraction(1, 2**50))
    assert high >= Fraction(found.high) * (1 - Fraction(1, 2**50))
    # One decimal, or two digits of what is left: never further out than a tenth of that.
    assert abs(low - Fraction(found.low)) <= max(Fraction(1, 1000), min(low, 1 - low) / 5)
    assert abs(high - Fraction(found.high)) <= Fraction(1, 1000)


def test_small_and_large_beliefs_keep_their_digits() -> None:
    assert "probability 0.0001 %" in sentence("1e-6", spec())
    assert "between 0.000036 % and 0.00028 %" in sentence("1e-6", spec())
    assert "between 99.99972 % and 99.999964 %" in sentence("0.999999", spec())
    assert "probability 12.5 %" in sentence("1/8", spec())


@pytest.mark.parametrize("prior", [-1, 2, "nan", None, "x", True, [0.1]])
def test_bad_priors(prior: object) -> None:
    with pytest.raises(ParameterError) as caught:
        posterior_bounds(prior, spec())
    assert caught.value.where == "prior"


@pytest.mark.parametrize("outside", [0, 1, -1, 2, "nan", "x", True])
def test_bad_risks(outside: object) -> None:
    for kind in (standard.Pure(), standard.Approximate("1e-6")):
        with pytest.raises(ParameterError) as caught:
            posterior_bounds("0.1", spec(standard=kind), outside=outside)
        assert caught.value.where == "outside"


@pytest.mark.parametrize("about", ["", "name", None, 1])
def test_bad_subjects(about: Any) -> None:
    with pytest.raises(ParameterError, match='"record" or "presence"') as caught:
        sentence("0.1", spec(), about=about)
    assert caught.value.where == "about"


def test_the_value_is_frozen_and_repeats_itself() -> None:
    found = posterior_bounds("0.1", spec())
    assert eval(repr(found), {"Posterior": Posterior, "Fraction": Fraction}) == found
    with pytest.raises(AttributeError):
        found.low = 0.0  # type: ignore[misc]
    assert qx.errors.PrivacyError.exit_code == 4
