"""Groups: bounds that widen with the number of people, against worlds in which several records change."""

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from quincunx.errors import ParameterError, PrivacyError
from quincunx.loss import GaussianLaw, Loss, StatedLaw
from quincunx.meaning import best_attack, groups, posterior_bounds
from quincunx.meaning.belief import Group, vacuous_from
from quincunx.mechanisms import DiscreteLaplace, Gaussian, Laplace, RandomizedResponse
from quincunx.spec import domain, scope, standard, unit
from tests.meaning.guarantees import spec

LAPLACE = Laplace(scale=1).loss


def test_pure_bounds_grow_as_k_epsilon() -> None:
    found = groups("0.1", spec())
    assert [each.people for each in found] == [1, 2, 5, 10]
    for each in found:
        assert each.factor == pytest.approx(math.exp(each.people))
        assert each.high == pytest.approx(1 / (1 + 9 * math.exp(-each.people)))
        assert each.low == pytest.approx(1 / (1 + 9 * math.exp(each.people)))
        assert each.advantage == pytest.approx(math.tanh(each.people / 2))
        assert each.why == ""


@pytest.mark.parametrize(("loss", "outside"), [(LAPLACE, None), (Gaussian(sigma=2).loss, "0.01")])
def test_each_row_is_what_the_other_functions_say(loss: Loss, outside: str | None) -> None:
    for each in groups("0.2", loss, unit="add-remove", sizes=[1, 3], outside=outside, false_alarms="0.1"):
        bounds = posterior_bounds("0.2", loss, unit="add-remove", people=each.people, outside=outside)
        attack = best_attack(loss, unit="add-remove", people=each.people, false_alarms="0.1")
        assert (each.low, each.high) == (bounds.low, bounds.high)
        assert (each.power, each.advantage) == (attack.power, attack.advantage)


@pytest.mark.parametrize(
    "loss",
    [LAPLACE, Gaussian(sigma=3).loss, RandomizedResponse(probability="3/4").loss, 4 * DiscreteLaplace(scale=3).loss],
)
def test_bounds_widen_with_the_group(loss: Loss) -> None:
    found = groups("0.1", loss, unit="replace", sizes=range(1, 8), outside="0.01")
    for one, more in itertools.pairwise(found):
        assert more.high >= one.high
        assert more.low <= one.low
        assert more.power >= one.power
        assert more.advantage >= one.advantage


@pytest.mark.parametrize("people", [1, 2, 3])
@pytest.mark.parametrize("prior", [Fraction(1, 10), Fraction(1, 2)])
def test_worlds_in_which_several_records_change(people: int, prior: Fraction) -> None:
    """Everybody answers by randomized response; a statement is about the first `people` of four respondents."""
    mechanism = RandomizedResponse(probability="3/4")
    coin = mechanism.finite()
    rows = {x: [Fraction(p) for p in coin.law(x)] for x in (0, 1)}  # type: ignore[arg-type]
    # Replacing one respondent changes one answer: ε = ln 3 for one, and the group map for several.
    ends = groups(prior, mechanism.loss, unit="replace", sizes=[people])[0]
    unknown = list(itertools.product((0, 1), repeat=people))
    best = Fraction(0)
    for answers in itertools.product((0, 1), repeat=people):
        chance = {x: math.prod(rows[value][a] for value, a in zip(x, answers, strict=True)) for x in unknown}
        # "All of them answered yes", against "none of them", and against everything else alike.
        for others in ([unknown[0]], unknown[:-1]):
            top = prior * chance[unknown[-1]]
            rest = (1 - prior) * sum(chance[x] for x in others) / len(others)
            after = top / (top + rest)
            best = max(best, after)
            assert Fraction(ends.low) <= after <= Fraction(ends.high)
    # The bound is reached: all answers yes, against none.
    assert float(best) == pytest.approx(ends.high)


@pytest.mark.parametrize("where", [scope.Everything(), scope.Invariants({"total": "the number of people"})])
def test_a_metric_speaks_of_every_distance_itself(where: Any) -> None:
    found = groups("0.1", spec(unit=unit.Hamming(), scope=where))
    assert found == groups("0.1", spec())
    by_name = spec(
        domain=domain.Finite.vectors([0, 1], 3),
        scope=scope.Invariants({"first": ("the first", lambda x: x[0])}),
        unit=unit.Hamming(),
        intensity={"first = 0": "1/2", "first = 1": 1},
    )
    assert groups("0.1", by_name, sizes=[1, 2]) == found[:2]


# Where nothing is left.


@pytest.mark.parametrize("prior", ["0.01", "0.1", "0.5"])
@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "10"])
def test_vacuous_from_is_where_the_odds_reach_nineteen_to_one(prior: str, epsilon: str) -> None:
    found = vacuous_from(prior, spec(intensity=epsilon))
    p = Fraction(prior)
    exact = math.log(19 * (1 - p) / p) / float(epsilon)
    assert found == math.ceil(exact)
    high = [posterior_bounds(prior, spec(intensity=epsilon), people=k).high for k in (found, max(1, found - 1))]
    assert high[0] >= 0.95
    assert high[1] < 0.95 or found == 1


def test_vacuous_from_a_curve() -> None:
    loss = Loss.of(GaussianLaw(mu2=Fraction(1, 100)))
    found = vacuous_from("0.1", loss, unit="replace", outside="0.001", certainty="0.9")
    assert found is not None
    ends = [posterior_bounds("0.1", loss, unit="replace", people=k, outside="0.001").high for k in (found - 1, found)]
    assert ends[0] < 0.9 <= ends[1]


def test_never_vacuous() -> None:
    assert vacuous_from("0.1", Loss(), unit="replace") is None
    assert vacuous_from("0.1", spec(intensity=0)) is None
    assert vacuous_from("0.1", spec(intensity="1e-9")) is None


def test_a_guarantee_without_a_group_map_ends_after_one() -> None:
    renyi = spec(standard=standard.Renyi(16), intensity="1/2")
    found = groups("0.1", renyi, outside="0.01")
    assert found[0].high < 1
    assert found[0].why == ""
    for each in found[1:]:
        assert (each.low, each.high, each.advantage, each.power) == (0.0, 1.0, 1.0, 1.0)
        assert each.factor == math.inf
        assert "no group map" in each.why
    assert vacuous_from("0.1", renyi, outside="0.01", certainty="0.999") == 2
    certain = groups(1, renyi, outside="0.01", sizes=[2])[0]
    assert (certain.low, certain.high) == (1.0, 1.0)


def test_a_delta_grows_until_nothing_is_left() -> None:
    loss = Loss.of(StatedLaw(epsilon=Fraction(1), rho=Fraction(1), delta=Fraction(1, 1000)))
    found = {each.people: each for each in groups("0.1", loss, unit="replace", outside="0.01")}
    assert found[1].why == ""
    assert found[10].why != ""
    limit = vacuous_from("0.1", loss, unit="replace", outside="0.01")
    assert limit is not None
    assert 1 < limit <= 5


def test_one_person_without_a_bound_is_refused_and_not_hidden() -> None:
    for ask in (groups, vacuous_from):
        with pytest.raises(PrivacyError, match="no bounds hold always"):
            ask("0.1", Gaussian(sigma=1).loss, unit="replace")


@pytest.mark.parametrize("sizes", [[0], [-1], ["x"], [1, "1/2"], []])
def test_bad_sizes(sizes: list[object]) -> None:
    with pytest.raises(ParameterError) as caught:
        groups("0.1", LAPLACE, unit="replace", sizes=sizes)
    assert caught.value.where == "sizes"


@pytest.mark.parametrize("certainty", ["0.1", "0.05", 1, 2, "x"])
def test_bad_certainties(certainty: object) -> None:
    with pytest.raises(ParameterError) as caught:
        vacuous_from("0.1", LAPLACE, unit="replace", certainty=certainty)
    assert caught.value.where == "certainty"


def test_the_value_is_frozen_and_repeats_itself() -> None:
    found = groups("0.1", spec())[0]
    assert eval(repr(found), {"Group": Group, "Fraction": Fraction}) == found
    with pytest.raises(AttributeError):
        found.high = 0.0  # type: ignore[misc]
