"""The least noise that meets a guarantee, and the most noise that meets an accuracy."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quincunx as qx
from quincunx.errors import ParameterError, PrivacyError, VerificationError
from quincunx.loss import Loss
from quincunx.mechanisms import (
    CountTree,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    LadderChoice,
    LadderSum,
    Laplace,
    PartitionSelection,
    PermuteAndFlip,
    QuantileChoice,
    QuantileCuts,
    QuantileFlip,
    RandomizedResponse,
    SparseVector,
    calibration,
    kinds,
)
from quincunx.mechanisms.additive import Additive
from quincunx.mechanisms.calibration import DIGITS, calibrated, verified
from quincunx.mechanisms.goal import goal
from quincunx.numbers import ball, precision
from quincunx.spec import standard

from .grid import one_digit_less

ADDITIVE: list[Any] = [kind for kind in kinds().values() if issubclass(kind, Additive)]
PURE: list[Any] = [Laplace, DiscreteLaplace, RandomizedResponse]
EVERY: list[Any] = [*ADDITIVE, RandomizedResponse]


def root(square: Fraction) -> Fraction:
    """√ of a square of a rational."""
    found = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    assert found**2 == square
    return found


def noise(mechanism: Any) -> Fraction:
    """Its scale or sigma; for randomized response 1/(2p − 1), which is also larger the less is leaked."""
    if isinstance(mechanism, RandomizedResponse):
        return 1 / (2 * mechanism.probability - 1)
    return mechanism.scale if hasattr(mechanism, "scale") else root(mechanism.sigma2)


def met(loss: Loss, **wanted: object) -> bool:
    """The guarantee, read from the public answers: floats not below the truth, so at most an ulp above the limit."""
    asked = {name: Fraction(str(value)) for name, value in wanted.items()}
    if "rho" in asked:
        return loss.zcdp() <= asked["rho"] * (1 + Fraction(1, 10**15))
    if "mu" in asked:
        return loss.gdp() <= asked["mu"] * (1 + Fraction(1, 10**15))
    if "alpha" in asked:
        return loss.renyi(asked["alpha"]) <= asked["epsilon"] * (1 + Fraction(1, 10**15))
    return loss.delta(asked["epsilon"]) <= asked.get("delta", 0) * (1 + Fraction(1, 10**15))


# The figures that the documentation states.


def test_analytic_calibration_of_the_gaussian() -> None:
    found = Gaussian.calibrate(sensitivity=1, epsilon=1, delta=1e-6)
    assert found == Gaussian(sigma="4.22468")
    assert found.loss.delta(1) <= 1e-6
    assert Gaussian(sigma="4.22467").loss.delta_bounds(1)[0] > 1e-6


def test_the_discrete_gaussian_needs_more() -> None:
    found = DiscreteGaussian.calibrate(sensitivity=1, epsilon=1, delta=1e-6)
    assert found == DiscreteGaussian(sigma="4.23078")
    assert found.loss.delta(1) <= 1e-6 < 1.015e-6 < DiscreteGaussian(sigma="4.22468").loss.delta_bounds(1)[0]


@pytest.mark.parametrize("sensitivity", ["1/3", 1, 7])
@pytest.mark.parametrize("amount", ["1/1000000", "1/3", "0.1", 1, 50])
def test_closed_forms_are_exact(sensitivity: object, amount: str) -> None:
    size, limit = Fraction(sensitivity), Fraction(amount)  # type: ignore[arg-type]
    step = size
    for kind in (Laplace, DiscreteLaplace):
        assert kind.calibrate(sensitivity=size, step=step, epsilon=limit).scale == size / limit
        assert kind.calibrate(sensitivity=size, step=step, epsilon=limit, delta=0).loss.total_pure() == limit
    for kind in (Gaussian, DiscreteGaussian):
        assert kind.calibrate(sensitivity=size, step=step, rho=limit).sigma2 == size**2 / (2 * limit)
        assert kind.calibrate(sensitivity=size, step=step, alpha=3, epsilon=limit).sigma2 == 3 * size**2 / (2 * limit)
    assert Gaussian.calibrate(sensitivity=size, mu=limit).sigma2 == size**2 / limit**2
    assert Gaussian.calibrate(sensitivity2=2, mu=limit).sigma2 == 2 / limit**2


def test_the_sensitivity_and_the_lattice_are_kept() -> None:
    found = DiscreteGaussian.calibrate(sensitivity=6, step=3, coordinates=1, epsilon=1, delta="1e-5")
    assert (found.sensitivity2, found.step, found.coordinates) == (36, 3, 1)
    # Only the number of steps counts.
    assert noise(found) == pytest.approx(3 * noise(DiscreteGaussian.calibrate(sensitivity=2, coordinates=1, epsilon=1,
                                                                              delta="1e-5")), rel=1e-5)  # fmt: skip
    assert Laplace.calibrate(sensitivity=5, step="0.1", epsilon=2) == Laplace(scale="5/2", sensitivity=5, step="0.1")
    # A vector of squared length 1.99 steps moves one coordinate by one step.
    assert DiscreteGaussian.calibrate(sensitivity2="1.99", rho=1).sigma2 == Fraction(1, 2)
    assert DiscreteGaussian.calibrate(sensitivity2=2, rho=1).sigma2 == 1


# Verified and tight.

APPROXIMATE = [
    {"epsilon": epsilon, "delta": delta}
    for epsilon, delta in itertools.product(["0.01", "0.3", "1", "7", "50"], ["1e-12", "1e-6", "0.1"])
]
OTHERS: list[dict[str, str]] = [
    *({"rho": rho} for rho in ("1e-6", "0.1", "1/2", "30")),
    *({"mu": mu} for mu in ("1e-6", "0.5", "1", "6")),
    *({"alpha": alpha, "epsilon": epsilon} for alpha in ("1.01", "2", "64") for epsilon in ("1e-6", "0.5", "20")),
]
EXTREME = [{"epsilon": "1e-6", "delta": delta} for delta in ("1e-12", "1e-6", "0.1")] + [
    {"epsilon": "0", "delta": delta} for delta in ("1e-12", "0.1", "0.9")
]


@pytest.mark.parametrize("wanted", APPROXIMATE + OTHERS, ids=str)
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_what_is_returned_meets_what_was_asked(kind: Any, wanted: dict[str, str]) -> None:
    if kind is DiscreteGaussian and "mu" in wanted:
        return
    assert met(kind.calibrate(**wanted).loss, **wanted)


@pytest.mark.parametrize("wanted", EXTREME, ids=str)
@pytest.mark.parametrize("kind", [Laplace, Gaussian, DiscreteLaplace, RandomizedResponse], ids=lambda k: k.__name__)
def test_extremes_are_met(kind: Any, wanted: dict[str, str]) -> None:
    assert met(kind.calibrate(**wanted).loss, **wanted)


@pytest.mark.parametrize("wanted", [EXTREME[0], EXTREME[4]], ids=str)
def test_extremes_of_the_discrete_gaussian_are_met_where_no_sum_is_kept(wanted: dict[str, str]) -> None:
    found = DiscreteGaussian.calibrate(**wanted)
    assert met(found.loss, **wanted)
    # Bounded, not summed: more noise than the Gaussian, at most twice as much.
    assert 1 <= noise(found) / noise(Gaussian.calibrate(**wanted)) < 2


@pytest.mark.parametrize("epsilon", ["1e-6", "0.01", "1", "50"])
@pytest.mark.parametrize("kind", PURE, ids=lambda kind: kind.__name__)
def test_pure_is_met_at_both_ends(kind: Any, epsilon: str) -> None:
    loss = kind.calibrate(epsilon=epsilon).loss
    limit = Fraction(epsilon)
    with precision(256):
        assert loss.total_pure() == limit or loss.total_pure() < ball(limit)
    assert loss.pure_bounds()[0] >= float(limit) * (1 - 1e-5)


@pytest.mark.parametrize("wanted", APPROXIMATE[::2] + OTHERS[:2] + OTHERS[4:6] + EXTREME[::2], ids=str)
@pytest.mark.parametrize("kind", [Laplace, Gaussian, DiscreteLaplace], ids=lambda kind: kind.__name__)
def test_one_unit_of_the_last_digit_less_is_not_enough(kind: Any, wanted: dict[str, str]) -> None:
    found = kind.calibrate(**wanted)
    if kind is Gaussian and "delta" not in wanted:
        assert max(found.loss.zcdp(), found.loss.gdp()) > 0  # closed, not searched
        return
    assert noise(found).denominator % 3 != 0, "a decimal"
    less = one_digit_less(noise(found))
    assert not met(kind(**{"sigma" if kind is Gaussian else "scale": less}).loss, **wanted)


@pytest.mark.parametrize(
    "wanted", [{"epsilon": "1"}, {"epsilon": "1e-6"}, {"epsilon": "50"}, *APPROXIMATE[::3]], ids=str
)
def test_randomized_response_is_as_truthful_as_it_may_be(wanted: dict[str, str]) -> None:
    p = RandomizedResponse.calibrate(**wanted).probability
    gap = min(p - Fraction(1, 2), 1 - p)
    digit = Fraction(10) ** (math.floor(math.log10(gap)) - DIGITS + 1)
    assert Fraction(1, 2) < p < 1
    assert (p / digit).denominator == 1
    assert not met(RandomizedResponse(probability=p + digit).loss, **wanted)


def test_randomized_response_known_values() -> None:
    assert RandomizedResponse.calibrate(epsilon=1).probability == Fraction("0.731058")
    # The chapter's p = e^ε/(1 + e^ε), rounded down.
    for epsilon in (0.1, 0.5, 2.0, 5.0):
        p = RandomizedResponse.calibrate(epsilon=epsilon).probability
        assert 0 <= math.exp(epsilon) / (1 + math.exp(epsilon)) - float(p) < 1.1e-6


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_more_privacy_needs_no_less_noise(kind: Any) -> None:
    by_epsilon = [noise(kind.calibrate(epsilon=e, delta="1e-6")) for e in ("0.05", "0.5", "1", "2", "8", "30")]
    by_delta = [noise(kind.calibrate(epsilon=1, delta=d)) for d in ("1e-12", "1e-9", "1e-6", "1e-3", "0.1")]
    by_rho = [noise_squared(kind.calibrate(rho=r)) for r in ("0.001", "0.1", "1", "10")]
    by_order = [noise_squared(kind.calibrate(alpha=a, epsilon="0.5")) for a in ("32", "8", "2", "1.1")]
    for amounts in (by_epsilon, by_delta, by_rho, by_order):
        assert amounts == sorted(amounts, reverse=True)


def noise_squared(mechanism: Any) -> Fraction:
    return mechanism.sigma2 if hasattr(mechanism, "sigma2") else noise(mechanism) ** 2


def test_the_discrete_gaussian_is_verified_but_not_the_smallest() -> None:
    """At ε = 1 its δ rises with σ from 0.71 to 0.75, so that a smaller σ may do where a larger one does not."""
    deltas = [DiscreteGaussian(sigma=sigma).loss.delta_bounds(1) for sigma in ("0.71", "0.75")]
    assert deltas[0][1] < deltas[1][0]
    found = DiscreteGaussian.calibrate(epsilon=1, delta="0.191")
    assert found.loss.delta(1) <= 0.191
    assert noise(found) > Fraction("0.71")
    assert DiscreteGaussian(sigma="0.71").loss.delta(1) <= 0.191


@given(st.fractions("1/20", 20, max_denominator=50), st.sampled_from(["1e-10", "1e-5", "1/50"]))
def test_round_trip_through_epsilon(epsilon: Fraction, delta: str) -> None:
    """ε(δ) of what was calibrated is at most ε, and within the last digit of it."""
    for kind in (Laplace, Gaussian):
        reached = kind.calibrate(epsilon=epsilon, delta=delta).loss.epsilon(delta)
        assert reached <= float(epsilon) * (1 + 1e-9)
        # One unit in the sixth digit of σ moves ε by about 1e-5·(ε + μ²/2) at most, and μ²/2 ≤ ε for small δ.
        assert reached >= float(epsilon) * (1 - 1e-4) - 1e-6


@given(st.fractions("1/20", 10, max_denominator=50))
def test_round_trip_through_the_parameter(amount: Fraction) -> None:
    for kind in EVERY:
        assert kind.calibrate(rho=amount).loss.zcdp() == pytest.approx(float(amount), rel=1e-4)
    for kind in (Laplace, Gaussian, DiscreteLaplace, RandomizedResponse):
        assert kind.calibrate(mu=amount).loss.gdp() == pytest.approx(float(amount), rel=1e-4)


# On small worlds: the guarantee holds for the enumerated mechanism.


@pytest.mark.parametrize("kind", ADDITIVE, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "wanted", [{"epsilon": "1/2", "delta": "1/100"}, {"rho": "1/3"}, {"epsilon": "2", "alpha": "5"}]
)
def test_the_finite_model_meets_the_goal(kind: Any, wanted: dict[str, str]) -> None:
    world = kind.calibrate(**wanted).finite([0, 1], reach=25)
    p, q = world.law(0), world.law(1)
    if "rho" in wanted:
        kinds: tuple[standard.Standard, str] = standard.ZCDP(), wanted["rho"]
    elif "alpha" in wanted:
        kinds = standard.Renyi(wanted["alpha"]), wanted["epsilon"]  # type: ignore[arg-type]
    else:
        kinds = standard.Approximate(wanted["delta"]), wanted["epsilon"]  # type: ignore[arg-type]
    assert float(kinds[0].least(p, q).lower.lower()) <= float(Fraction(kinds[1])) + 1e-9


@pytest.mark.parametrize("wanted", [{"epsilon": "1"}, {"epsilon": "1/2", "delta": "1/50"}, {"rho": "1/3"}, {"mu": "1"}])
def test_the_table_of_randomized_response_meets_the_goal(wanted: dict[str, str]) -> None:
    world = RandomizedResponse.calibrate(**wanted).finite()
    kinds: dict[frozenset[str], Callable[[], standard.Standard]] = {
        frozenset({"epsilon"}): standard.Pure,
        frozenset({"epsilon", "delta"}): lambda: standard.Approximate(wanted["delta"]),  # type: ignore[arg-type]
        frozenset({"rho"}): standard.ZCDP,
        frozenset({"mu"}): standard.GaussianDP,
    }
    limit = next(value for name, value in wanted.items() if name != "delta")
    found = kinds[frozenset(wanted)]().least(world.law(0), world.law(1))
    with precision(128):
        assert found.upper <= ball(Fraction(limit)) * (1 + ball(Fraction(1, 10**9)))


# What cannot be met, and what cannot be read.


@pytest.mark.parametrize("kind", [Gaussian, DiscreteGaussian])
@pytest.mark.parametrize("delta", [None, 0, "0", 0.0])
def test_gaussian_noise_is_never_pure(kind: Any, delta: object) -> None:
    with pytest.raises(PrivacyError, match="no amount of this noise") as caught:
        kind.calibrate(epsilon=1, delta=delta)
    assert "delta > 0" in caught.value.hint
    assert caught.value.where == kind.__name__


def test_the_discrete_gaussian_is_never_gaussian() -> None:
    with pytest.raises(PrivacyError, match="no amount of this noise meets μ = 1") as caught:
        DiscreteGaussian.calibrate(mu=1)
    assert "rho" in caught.value.hint


@pytest.mark.parametrize("wanted", [{"epsilon": 0}, {"epsilon": 0, "delta": 0}, {"rho": 0}, {"mu": 0},
                                    {"alpha": 2, "epsilon": 0}], ids=str)  # fmt: skip
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_nothing_may_leak_at_zero(kind: Any, wanted: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match="must be greater than 0") as caught:
        kind.calibrate(**wanted)
    assert "no noise is enough" in caught.value.hint


BAD_NUMBERS = ["nan", float("inf"), float("-inf"), "x", True, [1], -1]


@pytest.mark.parametrize("value", BAD_NUMBERS, ids=repr)
@pytest.mark.parametrize("name", ["epsilon", "delta", "rho", "mu", "alpha"])
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_bad_goals(kind: Any, name: str, value: object) -> None:
    beside = {"delta": {"epsilon": 1}, "alpha": {"epsilon": 1}}.get(name, {})
    with pytest.raises(ParameterError) as caught:
        kind.calibrate(**beside, **{name: value})
    assert caught.value.where == name


@pytest.mark.parametrize(
    "given_",
    [
        {},
        {"delta": "1e-6"},
        {"alpha": 2},
        {"rho": 1, "mu": 1},
        {"rho": 1, "delta": "1e-6"},
        {"mu": 1, "delta": "1e-6"},
        {"epsilon": 1, "rho": 1},
        {"epsilon": 1, "mu": 1},
        {"alpha": 2, "epsilon": 1, "delta": "1e-6"},
        {"alpha": 2, "rho": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_exactly_one_guarantee(kind: Any, given_: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match="state one guarantee") as caught:
        kind.calibrate(**given_)
    assert caught.value.got == (", ".join(name for name in ("epsilon", "delta", "rho", "mu", "alpha") if name in given_)
                                or "none")  # fmt: skip


@pytest.mark.parametrize("delta", [1, 2, "1.5"])
def test_delta_is_below_one(delta: object) -> None:
    with pytest.raises(ParameterError):
        Gaussian.calibrate(epsilon=1, delta=delta)


@pytest.mark.parametrize("alpha", [1, "0.5", 0])
def test_orders_are_above_one(alpha: object) -> None:
    with pytest.raises(ParameterError, match="greater than 1"):
        Laplace.calibrate(alpha=alpha, epsilon=1)


@pytest.mark.parametrize("value", [0, *BAD_NUMBERS], ids=repr)
@pytest.mark.parametrize("name", ["sensitivity", "step"])
@pytest.mark.parametrize("kind", ADDITIVE, ids=lambda kind: kind.__name__)
def test_bad_sensitivities_and_steps(kind: Any, name: str, value: object) -> None:
    for call in (
        lambda given_: kind.calibrate(epsilon=1, delta="1e-3", **given_),
        lambda given_: kind.for_error(error=5, beta="0.05", **given_),
    ):
        with pytest.raises(ParameterError) as caught:
            call({name: value})
        assert caught.value.where == name


def test_the_lattice_is_checked_before_anything_is_searched() -> None:
    with pytest.raises(ParameterError, match="whole number of steps"):
        DiscreteLaplace.calibrate(sensitivity="1/2", epsilon=1)
    with pytest.raises(ParameterError, match="at least one step"):
        DiscreteGaussian.calibrate(sensitivity="1/2", rho=1)
    with pytest.raises(ParameterError, match="exactly one of sensitivity"):
        Gaussian.calibrate(sensitivity=1, sensitivity2=1, rho=1)
    with pytest.raises(ParameterError, match="must be 1 or None"):
        DiscreteGaussian.calibrate(coordinates=2, rho=1)


def test_parameters_have_names() -> None:
    for kind in EVERY:
        with pytest.raises(TypeError):
            kind.calibrate(1)
        with pytest.raises(TypeError):
            kind.for_error(1, "0.05")


# Verification raises.


def test_a_mechanism_that_does_not_meet_its_goal_is_not_returned() -> None:
    aim = goal(epsilon=1)
    assert verified(Laplace(scale=1), aim) == Laplace(scale=1)
    with pytest.raises(VerificationError, match="does not meet ε = 1 at δ = 0"):
        verified(Laplace(scale="0.999999"), aim)


def test_a_search_that_goes_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = calibration._edge
    monkeypatch.setattr(calibration, "_edge", lambda *given_: right(*given_) - given_[3])
    for kind in (Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian, RandomizedResponse):
        with pytest.raises(VerificationError):
            kind.calibrate(epsilon=1, delta="1e-3")
        with pytest.raises(VerificationError):
            kind.for_error(error="0.1", beta="0.05", **({} if kind is RandomizedResponse else {"step": "0.001"}))


def test_a_closed_form_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_proportional", lambda *_: Laplace(scale="1/2"))
    with pytest.raises(VerificationError):
        Laplace.calibrate(epsilon=1)


def test_a_loss_outside_an_event_meets_only_goals_with_delta() -> None:
    stated = Loss.of(qx.loss.StatedLaw(epsilon=Fraction(1, 2), rho=Fraction(1, 8), delta=Fraction(1, 1000)))
    for wanted in ({"epsilon": 1}, {"rho": 1}, {"mu": 10}, {"alpha": 2, "epsilon": 1}):
        assert not goal(**wanted).met(stated)  # type: ignore[arg-type]
    assert goal(epsilon=1, delta="1/999").met(stated)
    assert not goal(epsilon=1, delta="1/1001").met(stated)


def test_a_search_that_leads_nowhere_ends() -> None:
    class Quiet:
        loss = Loss()

        def error(self, beta: object, size: object = 1) -> float:
            return 0.0 * float(str(beta)) * float(str(size))

    with pytest.raises(ParameterError, match="every noise meets"):
        calibrated(goal(epsilon=1, delta="1e-3"), lambda _: Quiet())
    loud = Laplace(scale=1)
    with pytest.raises(ParameterError, match="no noise meets"):
        calibrated(goal(epsilon=0, delta="1e-3"), lambda _: loud)


# The inverse of accuracy.


@pytest.mark.parametrize(("error", "step"), [("10", "1"), ("3.7", "1"), ("0.3", "0.1"), ("0.4", "1"), ("1000000", "1")])
@pytest.mark.parametrize(("beta", "size"), [("0.05", 1), ("0.05", 40), ("1e-9", 1000), ("0.9", 2)])
@pytest.mark.parametrize("kind", ADDITIVE, ids=lambda kind: kind.__name__)
def test_the_most_noise_that_is_accurate_enough(kind: Any, error: str, step: str, beta: str, size: int) -> None:
    found = kind.for_error(error=error, beta=beta, size=size, step=step, sensitivity=1)
    whole = Fraction(error) // Fraction(step) * Fraction(step)
    assert Fraction(found.error(beta, size)) <= whole * (1 + Fraction(1, 2**50))
    last = noise(found) - one_digit_less(noise(found))
    more = kind(**{"sigma" if "Gaussian" in kind.__name__ else "scale": noise(found) + last}, step=step)
    assert Fraction(more.error(beta, size)) > whole


@pytest.mark.parametrize(("error", "size"), [("0.1", 1000), ("0.01", 10), ("1e-9", 3), ("1000", 10**6), ("0.5", 1)])
def test_the_least_truth_that_is_accurate_enough(error: str, size: int) -> None:
    found = RandomizedResponse.for_error(error=error, beta="0.05", size=size)
    assert Fraction(found.error("0.05", size)) <= Fraction(error)
    p = found.probability
    digit = Fraction(10) ** (math.floor(math.log10(min(p - Fraction(1, 2), 1 - p))) - DIGITS + 1)
    assert Fraction(RandomizedResponse(probability=p - digit).error("0.05", size)) > Fraction(error)


@pytest.mark.parametrize("options", [3, 10, 1000])
@pytest.mark.parametrize(
    "wanted", [{"epsilon": "1e-6"}, {"epsilon": "1"}, {"epsilon": "50"}, *APPROXIMATE[4::5]], ids=str
)
def test_several_options(options: int, wanted: dict[str, str]) -> None:
    found = RandomizedResponse.calibrate(options=options, **wanted)
    p, fair = found.probability, Fraction(1, options)
    digit = Fraction(10) ** (math.floor(math.log10(min(p - fair, 1 - p))) - DIGITS + 1)
    assert found.options == options
    assert goal(**wanted).met(found.loss)  # type: ignore[arg-type]
    assert not goal(**wanted).met(RandomizedResponse(probability=p + digit, options=options).loss)  # type: ignore[arg-type]
    accurate = RandomizedResponse.for_error(error="0.1", beta="0.05", size=500, options=options)
    assert Fraction(accurate.error("0.05", 500)) <= Fraction("0.1")
    assert accurate.options == options
    assert fair < accurate.probability < 1


@pytest.mark.parametrize("options", [0, 1, "2.5", None, "x", -3])
def test_bad_numbers_of_options(options: object) -> None:
    with pytest.raises(ParameterError):
        RandomizedResponse.calibrate(options=options, epsilon=1)
    with pytest.raises(ParameterError):
        RandomizedResponse.for_error(options=options, error="0.1", beta="0.05")


def test_the_intensity_that_reaches_an_error_can_be_read_from_the_loss() -> None:
    wide, narrow = (Laplace.for_error(error=e, beta="0.05", size=8).loss.pure() for e in (100, 10))
    assert narrow == pytest.approx(10 * wide, rel=0.06)
    # Theorem 1.10 solved for ε: ln(d/β)/error; the exact law needs a little less.
    assert 0.9 * math.log(8 / 0.05) / 100 < wide < math.log(8 / 0.05) / 100


@pytest.mark.parametrize("kind", ADDITIVE, ids=lambda kind: kind.__name__)
def test_round_trip_through_accuracy(kind: Any) -> None:
    for noise_ in ("0.7", "3", "25"):
        original = kind(**{"sigma" if "Gaussian" in kind.__name__ else "scale": noise_})
        again = kind.for_error(error=original.error("0.05", 5), beta="0.05", size=5)
        assert noise(again) >= Fraction(noise_)
        assert again.error("0.05", 5) == original.error("0.05", 5)


@pytest.mark.parametrize("value", [0, *BAD_NUMBERS], ids=repr)
@pytest.mark.parametrize("name", ["error", "beta", "size"])
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_bad_accuracies(kind: Any, name: str, value: object) -> None:
    if name == "size" and value is True:
        return
    with pytest.raises(ParameterError) as caught:
        kind.for_error(**{"error": "0.5", "beta": "0.05", "size": 2, name: value})
    assert caught.value.where == name


@pytest.mark.parametrize("beta", [1, "1.5"])
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_risks_are_below_one(kind: Any, beta: object) -> None:
    with pytest.raises(ParameterError) as caught:
        kind.for_error(error="0.5", beta=beta)
    assert caught.value.where == "beta"


# The chapter's theorems beside the exact quantiles.


@pytest.mark.parametrize("scale", ["0.5", "2", "20"])
@pytest.mark.parametrize("size", [1, 2, 10, 1000])
@pytest.mark.parametrize("beta", ["0.5", "0.05", "1e-6"])
def test_theorem_1_10_bounds_the_exact_quantile(scale: str, size: int, beta: str) -> None:
    theorem = float(Fraction(scale)) * math.log(size / float(beta))
    exact = {kind: kind(scale=scale).error(beta, size) for kind in (Laplace, DiscreteLaplace)}
    # Rounding moves an answer by at most half a step, and a quantile on the lattice is a whole number of steps.
    assert exact[Laplace] <= theorem + 1
    # P(|K| > m) = 2q^{m+1}/(1 + q) ≤ 2e^{−(m+1)/scale}: the union bound loses at most scale·ln 2 more.
    assert exact[DiscreteLaplace] <= theorem + float(Fraction(scale)) * math.log(2) + 1
    if size == 1 and float(Fraction(scale)) >= 2:
        assert exact[Laplace] == pytest.approx(theorem, abs=1)


@pytest.mark.parametrize("p", ["0.51", "0.6", "3/4", "0.99"])
@pytest.mark.parametrize("n", [1, 30, 10_000])
@pytest.mark.parametrize("beta", ["0.5", "0.05", "1e-6"])
def test_lemma_1_18_bounds_the_interval(p: str, n: int, beta: str) -> None:
    mechanism = RandomizedResponse(probability=p)
    lemma = math.sqrt(1 / float(beta)) / (2 * (2 * float(Fraction(p)) - 1) * math.sqrt(n))
    assert mechanism.error(beta, n) <= lemma * (1 + 1e-12)


@pytest.mark.parametrize(("p", "n", "ones"), [("0.6", 12, 5), ("3/4", 20, 0), ("0.9", 15, 15)])
@pytest.mark.parametrize("beta", ["0.3", "0.05"])
def test_the_interval_of_lemma_1_18_covers_by_exact_count(p: str, n: int, ones: int, beta: str) -> None:
    """The law of the number of ones among the responses, summed exactly over where the estimate falls."""
    mechanism, truth = RandomizedResponse(probability=p), Fraction(ones, n)
    q = mechanism.probability
    heads = [
        sum(
            math.comb(ones, i) * q**i * (1 - q) ** (ones - i)
            * math.comb(n - ones, k - i) * (1 - q) ** (k - i) * q ** (n - ones - k + i)
            for i in range(max(0, k - n + ones), min(ones, k) + 1)
        )
        for k in range(n + 1)
    ]  # fmt: skip
    assert sum(heads) == 1
    assert sum(mechanism.unbias(Fraction(k, n)) * mass for k, mass in enumerate(heads)) == truth
    half = Fraction(mechanism.error(beta, n))
    covered = sum(mass for k, mass in enumerate(heads) if abs(mechanism.unbias(Fraction(k, n)) - truth) <= half)
    assert covered >= 1 - Fraction(beta)


def test_every_mechanism_can_be_calibrated() -> None:
    assert {Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian} <= {*ADDITIVE}
    # What ranks, ladders and trees cost is divided by a question among their parts, of which they are made.
    for kind in {*kinds().values()} - {QuantileChoice, QuantileCuts, QuantileFlip, LadderChoice, LadderSum, CountTree}:
        assert hasattr(kind, "calibrate"), kind
        assert hasattr(kind, "for_error"), kind


@given(st.fractions("1/20", 20, max_denominator=50))
def test_choices_sessions_and_keys_come_within_the_last_digit(amount: Fraction) -> None:
    """Never above what was asked, and within the last of six digits of it."""
    near = {"rho": (1 - 1e-4, 1 + 1e-15), "mu": (1 - 1e-4, 1 + 1e-15)}
    for make in (Exponential.calibrate, PermuteAndFlip.calibrate, partial(SparseVector.calibrate, threshold=0)):
        for name, (least, most) in near.items():
            loss = make(**{name: amount}).loss
            reached = loss.zcdp() if name == "rho" else loss.gdp()
            assert float(amount) * least <= reached <= float(amount) * most
        assert make(epsilon=amount).loss.total_pure() == amount
    kept = PartitionSelection.calibrate(rho=amount, delta="1e-9").loss.total_zcdp()[1]
    assert amount * Fraction(9999, 10000) <= kept <= amount
