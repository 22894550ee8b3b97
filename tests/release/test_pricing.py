"""Pricing: shares add up exactly, noise fits its share, δ is stated where it is used, draws show only kept keys."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from quincunx.errors import ParameterError, PrivacyError, VerificationError
from quincunx.loss import Loss
from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, PartitionSelection, ThresholdSelection
from quincunx.noise.testing import KeyedBits
from quincunx.release import pricing
from quincunx.release.pricing import Budgeted, price, price_batch, spend_for
from quincunx.spec.standard import ZCDP, Approximate, Pure
from quincunx.spec.unit import AddRemove
from quincunx.table.aggregates.count import Count
from quincunx.table.aggregates.mean import Mean
from quincunx.table.expression import Column, Value
from quincunx.table.measure import Measure, Program, Selection, Vector
from quincunx.table.plan import Query
from quincunx.table.relations import Scan
from quincunx.table.schema import TableSchema

VISITS = Scan(table=TableSchema(name="visits", columns=()), unit=AddRemove())
QUERY = Query(rows=VISITS, keys=(), aggregates=(Count(),), outputs=())
AGE = Column(name="age", type="integer", low=Fraction(0), high=Fraction(110), step=Fraction(1))


def measure(norm: int, sensitivity2: object, *, fraction: int = 10) -> Measure:
    vector = Vector(kind="rows", norm=norm, bound2=Fraction(400), bits=fraction)  # type: ignore[arg-type]
    return Measure(
        vector=vector,
        argument=None,
        where=None,
        counts=True,
        step=Fraction(1),
        low=1,
        high=1,
        centre=0,
        fraction=fraction,
        sensitivity2=Fraction(str(sensitivity2)) * 4**fraction,
    )


def program(norm: int, *sensitivities: object, selection: Selection | None = None, mean: bool = False) -> Program:
    measures = tuple(measure(norm, sensitivity) for sensitivity in sensitivities)
    aggregates = (Mean(argument=AGE),) if mean else (Count(),) * len(measures)
    return Program(
        query=replace(QUERY, aggregates=aggregates),
        measures=measures,
        parts=((1, 0),) if mean else tuple((i,) for i in range(len(measures))),
        selection=selection,
        biases=(),
    )


def votes(norm: int, groups: int, *, people: int = 1, squared: int = 1, bits: int | None = None) -> Selection:
    width = (0 if groups == 1 else 10) if bits is None else bits
    return Selection(  # type: ignore[call-arg]
        norm=norm,  # type: ignore[arg-type]
        groups=groups,
        bits=width,
        people=people,
        sensitivity2=Fraction(squared * people**2),
    )


@dataclass
class Counted:
    keys: list[tuple[Value, ...]]
    measures: tuple[NDArray[np.int64], ...]
    selection: NDArray[np.int64] | None = None


@pytest.mark.parametrize("standard", [Pure(), Approximate("1e-6")])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_laplace_shares_add_up_exactly(standard: Budgeted, count: int) -> None:
    priced = price(program(1, *[400] * count), standard, "0.1")
    assert all(isinstance(noise, DiscreteLaplace) for noise in priced.noise)
    assert priced.loss.spend(standard) == Fraction(1, 10) == priced.spend
    assert {noise.scale for noise in priced.noise} == {Fraction(20 * 1024 * 10 * count)}  # type: ignore[attr-defined]
    assert priced.delta == 0


@pytest.mark.parametrize("squared", ["400", "800", "2/3", "0.3"])
def test_gaussian_shares_add_up_exactly(squared: str) -> None:
    priced = price(program(2, squared, squared, 9), ZCDP(), "1/3")
    assert all(isinstance(noise, DiscreteGaussian) for noise in priced.noise)
    assert priced.loss.spend(ZCDP()) == Fraction(1, 3)
    for noise, drawn in zip(priced.noise, priced.program.measures, strict=True):
        assert isinstance(noise, DiscreteGaussian)
        assert noise.sensitivity2 / (2 * noise.sigma2) == Fraction(1, 9)
        assert noise.sensitivity2 == drawn.sensitivity2


def test_a_distance_between_integers_is_whole() -> None:
    """Under ℓ1 a proved distance of 3.7 lattice units is 3."""
    one = program(1, 1)
    odd = Program(
        query=QUERY,
        measures=(measure(1, Fraction(1369, 100), fraction=0),),
        parts=one.parts,
        selection=None,
        biases=(),
    )
    (noise,) = price(odd, Pure(), 1).noise
    assert isinstance(noise, DiscreteLaplace)
    assert noise.sensitivity == 3


def test_a_measure_that_cannot_move_is_noised_all_the_same() -> None:
    still = program(2, 0)
    (noise,) = price(still, ZCDP(), "1/2").noise
    assert isinstance(noise, DiscreteGaussian)
    assert noise.sigma2 == 1
    (noise,) = price(program(1, 0), Pure(), "1/2").noise
    assert isinstance(noise, DiscreteLaplace)
    assert noise.scale == 2


@pytest.mark.parametrize("standard", [Approximate("1e-6"), ZCDP(delta="1e-6")])
@pytest.mark.parametrize(
    ("groups", "people", "moves"), [(1, 1, 1), (1, 1, 4), (5, 1, 1), (5, 1, 2), (5, 3, 1), (1, 3, 1)]
)
def test_selection_has_one_share_and_its_delta(standard: Budgeted, groups: int, people: int, moves: int) -> None:
    norm = 2 if isinstance(standard, ZCDP) else 1
    squared = {1: 1, 2: 2 if norm == 2 else 4, 4: 4}[moves]
    selection = votes(norm, groups, people=people, squared=squared)
    priced = price(program(norm, 400, 900, selection=selection), standard, "0.3", "1e-8")
    loss = priced.loss
    assert Fraction(3, 10) * (1 - Fraction(1, 10**6)) <= loss.spend(standard) <= Fraction(3, 10)
    assert loss.stated_delta() == priced.delta == Fraction(1, 10**8)
    wanted = PartitionSelection if (groups, people) == (1, 1) else ThresholdSelection
    assert priced.selection is not None
    rule = priced.selection.mechanism
    assert isinstance(rule, wanted)
    if isinstance(rule, PartitionSelection):
        # A person who moves changes two keys: both the price and δ are halved.
        assert rule.delta == Fraction(1, 10**8) / (2 if squared > 1 else 1)
        assert priced.selection.uses == (2 if squared > 1 else 1)
    else:
        assert priced.selection.uses == 1
        covered = rule.noise
        distance2 = covered.sensitivity**2 if isinstance(covered, DiscreteLaplace) else covered.sensitivity2
        assert distance2 == squared * people**2 * 4**selection.bits


def test_delta_is_stated_exactly_where_it_is_used() -> None:
    unknown = program(2, 400, selection=votes(2, 4))
    with pytest.raises(PrivacyError, match="needs a δ") as refusal:
        price(unknown, ZCDP(), "0.1")
    assert "List the public keys" in refusal.value.hint
    with pytest.raises(PrivacyError, match="needs a δ"):
        price(program(1, 400, selection=votes(1, 4)), Pure(), "0.1", "1e-9")
    with pytest.raises(ParameterError, match="must state its δ"):
        price(unknown, ZCDP(delta="1e-6"), "0.1")
    with pytest.raises(ParameterError, match="uses no δ"):
        price(program(2, 400), ZCDP(delta="1e-6"), "0.1", "1e-9")


@pytest.mark.parametrize("spend", [0, -1, "a lot", math.inf, math.nan, None])
def test_bad_spends(spend: object) -> None:
    with pytest.raises(ParameterError):
        price(program(1, 1), Pure(), spend)


def test_a_loss_above_its_spend_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pricing, "_noise", lambda *_, **__: DiscreteLaplace(scale=1, sensitivity=2))
    with pytest.raises(VerificationError):
        price(program(1, 4), Pure(), 1)


def test_draw_keeps_every_public_key_in_order(stream: KeyedBits) -> None:
    priced = price(program(1, 1, 4), Pure(), 100)
    keys: list[tuple[Value, ...]] = [("south",), ("north",), (None,)]
    noisy = priced.draw(Counted(keys=keys, measures=(np.array([5, 0, 7]) * 1024, np.array([1, 2, 3]) * 1024)))
    assert noisy.keys == tuple(keys)
    assert [numbers.shape for numbers in noisy.measures] == [(3,), (3,)]
    assert np.abs(noisy.measures[0] - np.array([5, 0, 7]) * 1024).max() < 2000
    assert stream.injected


def test_draw_shows_selected_keys_alone_and_sorted(stream: KeyedBits) -> None:
    priced = price(program(2, 1, selection=votes(2, 4)), ZCDP(delta="1e-6"), 10, "1e-9")
    keys: list[tuple[Value, ...]] = [("z", 1), (None, 2), ("b", None), ("b", 3), ("alone", 1)]
    counts = np.array([900, 800, 700, 600, 1]) * 1024
    noisy = priced.draw(Counted(keys=keys, measures=(counts.copy(),), selection=counts))
    assert noisy.keys == (("b", 3), ("b", None), ("z", 1), (None, 2))
    assert np.abs(noisy.measures[0] - np.array([600, 700, 900, 800]) * 1024).max() < 20_000
    assert stream.injected


def test_draw_of_nothing() -> None:
    priced = price(program(2, 1, selection=votes(2, 4)), ZCDP(delta="1e-6"), 10, "1e-9")
    nothing = np.zeros(0, dtype=np.int64)
    noisy = priced.draw(Counted(keys=[], measures=(nothing,), selection=nothing))
    assert noisy.keys == ()
    assert noisy.measures[0].size == 0


@pytest.mark.parametrize("standard", [Pure(), ZCDP()])
@pytest.mark.parametrize("width", ["25", "0.5", "4000"])
def test_spend_for_reaches_the_half_width_and_no_more(standard: Budgeted, width: str) -> None:
    norm = 2 if isinstance(standard, ZCDP) else 1
    asked = program(norm, 400, 900)
    spend = spend_for(asked, standard, {0: width}, "0.95")
    error = Fraction(price(asked, standard, spend).noise[0].error("0.05")) / 1024
    assert error <= Fraction(width)
    less = spend * Fraction(998, 1000)
    assert Fraction(price(asked, standard, less).noise[0].error("0.05")) / 1024 > Fraction(width) * Fraction(99, 100)
    assert len(str(spend.numerator).rstrip("0")) <= 5 or spend.denominator > 1
    both = spend_for(asked, standard, {0: width, 1: width}, "0.95")
    assert both > spend


def test_half_widths_of_means_are_refused() -> None:
    with pytest.raises(ParameterError, match="counts and sums"):
        spend_for(program(2, 400, 900, mean=True), ZCDP(), {0: 1}, "0.95")
    with pytest.raises(ParameterError):
        spend_for(program(2, 400), ZCDP(), {0: 0}, "0.95")


def test_a_batch_is_certified_as_a_whole() -> None:
    """Forty counts in one batch: the curve allows much less noise than adding up."""
    epsilon, delta = Fraction(1), Fraction(1, 10**6)
    plans = [[program(1, 1), program(2, 1)] for _ in range(40)]
    batch = price_batch(plans, [Fraction(1)] * 40, epsilon, delta)
    total = Loss.compose(priced.loss for priced in batch)
    assert 0.97 <= total.epsilon(delta) <= 1
    assert {type(noise) for priced in batch for noise in priced.noise} == {Gaussian}
    alone = price(program(1, 1), Pure(), Fraction(1, 40))
    assert batch[0].noise[0].variance < alone.noise[0].variance / 4


def test_a_batch_of_one_takes_laplace_noise() -> None:
    (priced,) = price_batch([[program(1, 1), program(2, 1)]], [Fraction(1)], Fraction(2), Fraction(1, 10**9))
    assert isinstance(priced.noise[0], DiscreteLaplace)
    assert priced.loss.epsilon("1e-9") <= 2


def test_weights_of_a_batch_are_proportions_of_accuracy() -> None:
    plans = [[program(1, 1), program(2, 1)], [program(1, 1), program(2, 1)]]
    one, two = price_batch(plans, [Fraction(1), Fraction(3)], Fraction(1), Fraction(1, 10**6))
    ratio = math.sqrt(one.noise[0].variance / two.noise[0].variance)
    assert ratio == pytest.approx(3, rel=1e-3)


def test_a_batch_with_unknown_keys_pays_for_them() -> None:
    plans = [[program(1, 1, selection=votes(1, 3)), program(2, 1, selection=votes(2, 3))], [program(1, 4)]]
    batch = price_batch(plans, [Fraction(1), Fraction(1)], Fraction(1), Fraction(1, 10**6))
    total = Loss.compose(priced.loss for priced in batch)
    assert total.stated_delta() == Fraction(1, 2 * 10**6)
    assert total.epsilon("1e-6") <= 1
    with pytest.raises(PrivacyError):
        price_batch(plans, [Fraction(1), Fraction(1)], Fraction(1), Fraction(0))


class TestOneQuestionUnderDelta:
    """δ that is stated for public keys: used if it lowers the error, charged if it is used."""

    # Coarse, so that curves are short.
    ACROSS = tuple(
        replace(program(norm, squared), measures=(measure(norm, squared, fraction=2),))
        for norm, squared in ((1, 3600), (2, 60))
    )

    def test_gaussian_noise_where_people_are_in_many_groups(self) -> None:
        one, other = self.ACROSS
        priced = price(one, Approximate("1e-6"), 1, "1e-7", other)
        assert isinstance(priced.noise[0], Gaussian)
        assert (priced.spend, priced.delta, priced.program) == (1, Fraction(1, 10**7), other)
        assert priced.noise[0].variance < price(one, Approximate("1e-6"), 1).noise[0].variance / 4

    @pytest.mark.parametrize(("epsilon", "delta"), [("1/10", "1e-9"), (1, "1e-6"), (4, "1e-3")])
    def test_the_curve_of_the_whole_question_holds_and_is_used_up(self, epsilon: object, delta: str) -> None:
        one, other = program(1, 3600, 400), program(2, 60, 20)
        priced = price(one, Approximate("1e-2"), epsilon, delta, other)
        reached = priced.loss.delta(Fraction(str(epsilon)))
        # Nine bisections: the noise is within half a percent of the best, which is a few percent of δ.
        assert 0.5 * float(delta) < reached <= Fraction(delta)

    def test_delta_that_buys_nothing_is_not_used(self) -> None:
        one, other = program(1, 1), program(2, 1)
        priced = price(one, Approximate("1e-6"), 1, "1e-9", other)
        assert priced == price(one, Approximate("1e-6"), 1)
        assert priced.delta == 0
        assert isinstance(priced.noise[0], DiscreteLaplace)

    def test_a_curve_above_its_delta_is_not_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        one, other = self.ACROSS
        whole = price_batch
        monkeypatch.setattr(
            pricing, "price_batch", lambda plans, weights, epsilon, delta: whole(plans, weights, 2 * epsilon, delta)
        )
        with pytest.raises(VerificationError):
            price(one, Approximate("1e-6"), 1, "1e-7", other)

    def test_without_another_plan_delta_is_refused_as_ever(self) -> None:
        for standard in (Pure(), ZCDP(delta="1e-6"), Approximate("1e-6")):
            with pytest.raises(ParameterError, match="this question uses no δ"):
                price(program(1, 1), standard, 1, "1e-9")

    def test_half_widths_are_reached_by_the_noise_that_is_drawn(self) -> None:
        one, other = self.ACROSS
        spend = spend_for(one, Approximate("1e-6"), {0: 100}, "0.95", "1e-7", other)
        noise = price(one, Approximate("1e-6"), spend, "1e-7", other)
        assert noise.noise[0].error(Fraction(1, 20)) * other.measures[0].unit <= 100
        assert spend < spend_for(one, Approximate("1e-6"), {0: 100}, "0.95")
