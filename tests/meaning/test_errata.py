"""What the slides and the survey say about meaning, and where they misprint: the smallest counterexamples."""

import itertools
from fractions import Fraction

import pytest

from quincunx.finite import Mechanism
from quincunx.meaning.dependence import Joint, chamber, farthest, marginal, markov_boundary
from quincunx.mechanisms import RandomizedResponse
from quincunx.numbers import Log
from quincunx.spec import standard

from .dependent_worlds import ODDS, parity_prior, responses

HALF = Fraction(1, 2)
# ε = ln 3, as in the survey's Figure 2.
LIMIT = 2 / (1 + ODDS)


def errors(world: Mechanism, x: object, y: object) -> list[tuple[Fraction, Fraction]]:
    """(false alarms, misses) of every rejection region: P(M(x) ∈ S) and P(M(y) ∉ S)."""
    p, q = world.law(x), world.law(y)
    found = []
    for region in itertools.product((False, True), repeat=len(p)):
        alarms = sum((Fraction(str(a)) for a, inside in zip(p, region, strict=True) if inside), Fraction(0))
        misses = sum((Fraction(str(b)) for b, inside in zip(q, region, strict=True) if not inside), Fraction(0))
        found.append((alarms, misses))
    return found


# The survey, section 7.1.


def test_the_sum_of_errors_is_implied_by_epsilon_and_does_not_imply_it() -> None:
    private = RandomizedResponse(probability="3/4").finite()
    assert all(alarms + misses >= LIMIT for alarms, misses in errors(private, 0, 1))
    # Two outputs, of which one is impossible for the second dataset: the sums are the same, and no ε is finite.
    telling = Mechanism({0: {"a": HALF, "b": HALF}, 1: {"a": 1}})
    for x, y in ((0, 1), (1, 0)):
        assert all(alarms + misses >= LIMIT for alarms, misses in errors(telling, x, y))
    assert standard.Pure().least(telling.law(0), telling.law(1)).exact is None
    as_records = Mechanism({(x,): telling.row(x) for x in (0, 1)})
    assert not marginal(as_records, Joint({(0,): HALF, (1,): HALF}), epsilon=50).holds
    # The two printed inequalities with weights are an equivalence, and notice it.
    assert min(ODDS * alarms + misses for alarms, misses in errors(telling, 1, 0)) < 1


@pytest.mark.parametrize("p", ["1/2", "3/5", "3/4", "4/5", "9/10"])
def test_the_weighted_sums_are_equivalent_to_epsilon(p: str) -> None:
    world = RandomizedResponse(probability=p).finite()
    found = errors(world, 0, 1) + errors(world, 1, 0)
    kept = all(a + ODDS * m >= 1 and ODDS * a + m >= 1 for a, m in found)
    odds = Fraction(p) / (1 - Fraction(p))
    assert kept == (odds <= ODDS)


def test_the_errors_lie_in_a_region_and_need_not_fill_it() -> None:
    constant = Mechanism({0: {"a": 1}, 1: {"a": 1}})
    found = errors(constant, 0, 1)
    assert all(1 - alarms <= ODDS * misses for alarms, misses in found)
    # A point of the printed region that this mechanism, private for every ε and δ, does not reach by any test: also
    # with coins its errors add up to 1.
    inside = (HALF, Fraction(1, 6))
    assert 1 - inside[0] <= ODDS * inside[1]
    assert sum(inside) < 1
    assert {alarms + misses for alarms, misses in found} == {1}


# The survey's Table 3: ε-DP and noiseless privacy.


def test_epsilon_does_not_imply_noiseless_privacy_under_dependence() -> None:
    alike = Joint.alike({0: HALF, 1: HALF}, 2)
    moved = farthest(responses(2), alike, record=0, by="odds")
    # M(D) given D(i) = 0 and given D(i) = 1 differ by e^{2ε}, and no bound holds for every number of people.
    assert moved.spread("odds") == ODDS**2
    for people in (3, 4):
        alike = Joint.alike({0: HALF, 1: HALF}, people)
        assert farthest(responses(people), alike, record=0, by="odds").spread("odds") == ODDS**people


# The slides.


def test_the_supremum_bounds_one_side_only() -> None:
    # sup_t P(t | 1)/P(t | 0) is never below 1, so its lower bound e^{−ε} says nothing.
    one, zero = {"a": Fraction(1)}, {"a": HALF, "b": HALF}
    ratios = [one.get(t, Fraction(0)) / zero[t] for t in zero]
    assert Fraction(1, 2) <= max(ratios) <= 2
    assert min(ratios) == 0
    least = standard.Pure().least([Fraction(1), Fraction(0)], [HALF, HALF])
    assert least.exact is None


def test_one_member_of_the_boundary_may_say_nothing() -> None:
    joint = parity_prior()
    assert markov_boundary(joint, 0) == (1, 2)
    for member, value in itertools.product((1, 2), (0, 1)):
        assert joint.given({member: value}).law(0) == joint.law(0)
    # The two together say everything.
    assert joint.given({1: 1, 2: 0}).law(0) == {1: 1}


def test_who_knows_more_may_learn_more() -> None:
    joint = parity_prior()
    found = [farthest(responses(3), joint, record=0, known=k, by="odds").spread("odds") for k in ((), (2,), (1, 2))]
    assert found == [5, 9, 1]
    assert chamber(joint, 0).size == chamber(joint.given({2: 0}), 0).size == 2
    assert Log(found[1] or 0) == Log(ODDS**2)
