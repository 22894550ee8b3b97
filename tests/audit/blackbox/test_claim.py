"""Claims: how they are typed, and that an event contradicts a claim exactly where the claim is false."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import quincunx as qx
from quincunx.audit.blackbox.claim import Claim, LossClaim, StandardClaim, Weighed, least
from quincunx.errors import ParameterError
from quincunx.mechanisms import DiscreteLaplace, Gaussian, Laplace, RandomizedResponse
from quincunx.numbers import Log
from quincunx.spec.standard import KL, TV, ZCDP, Approximate, Divergence, GaussianDP, Pure, Renyi, Tradeoff

STANDARDS = [
    Pure(),
    Approximate(Fraction(1, 20)),
    ZCDP(),
    ZCDP(Fraction(1, 20)),
    Renyi(Fraction(2)),
    GaussianDP(),
    KL(),
    TV(),
    Divergence("chi-squared"),
    Tradeoff(((0, "3/4"), ("1/4", "1/4"), (1, 0))),
]


@pytest.mark.parametrize(
    ("typed", "standard", "intensity", "text"),
    [
        ("epsilon=1", Pure(), Fraction(1), "ε = 1"),
        (" epsilon = 0.1 ", Pure(), Fraction(1, 10), "ε = 0.1"),
        ("ε=ln(3)", Pure(), Log(3), "ε = ln(3) (about 1.09861)"),
        ("EPSILON=1/3", Pure(), Fraction(1, 3), "ε = 1/3"),
        ("epsilon=1, delta=1e-6", Approximate(Fraction(1, 10**6)), Fraction(1), "ε = 1, δ = 1e-6"),
        ("δ=0.01,ε=2", Approximate(Fraction(1, 100)), Fraction(2), "ε = 2, δ = 0.01"),
        ("rho=0.5", ZCDP(), Fraction(1, 2), "ρ = 0.5"),
        ("rho=0.5, delta=1e-9", ZCDP(Fraction(1, 10**9)), Fraction(1, 2), "ρ = 0.5, δ = 1e-9"),
        ("mu=1", GaussianDP(), Fraction(1), "μ = 1"),
        ("µ=1", GaussianDP(), Fraction(1), "μ = 1"),
        ("epsilon=0.3, alpha=2", Renyi(Fraction(2)), Fraction(3, 10), "ε = 0.3, α = 2"),
        ("tv=0.25", TV(), Fraction(1, 4), "TV = 0.25"),
        ("kl=1", KL(), Fraction(1), "KL = 1"),
    ],
)
def test_what_is_typed(typed: str, standard: object, intensity: object, text: str) -> None:
    claim = Claim.parse(typed)
    assert isinstance(claim, StandardClaim)
    assert (claim.standard, claim.intensity) == (standard, intensity)
    assert claim.text == str(claim) == text
    assert claim.parameter == claim.standard.symbol


@pytest.mark.parametrize(
    ("typed", "what", "got"),
    [
        ("", "a claim is a parameter, = and a number", "''"),
        ("epsilon", "a claim is a parameter, = and a number", "'epsilon'"),
        ("epsilon=", "a claim is a parameter, = and a number", "'epsilon='"),
        ("=1", "a claim is a parameter, = and a number", "'=1'"),
        ("epsilon=1,", "a claim is a parameter, = and a number", "''"),
        ("epsilon=1 delta=2", "expected a finite number", "'1 delta=2'"),
        ("epsilom=1", "unknown parameter", "'epsilom'"),
        ("sigma=1", "unknown parameter", "'sigma'"),
        ("epsilon=1, epsilon=2", "epsilon is stated twice", "epsilon=1, epsilon=2"),
        ("delta=1e-6", "these parameters do not state a guarantee together", "delta=1e-6"),
        ("mu=1, delta=1e-6", "these parameters do not state a guarantee together", "mu=1, delta=1e-6"),
        ("epsilon=one", "expected a finite number", "'one'"),
        ("epsilon=inf", "expected a finite number", "'inf'"),
        ("epsilon=-1", "must be 0 or greater", "-1"),
        ("epsilon=1, delta=1", "must be at least 0 and below 1", "1"),
        ("epsilon=ln(1/2)", "must be 0 or greater", "ln(0.5)"),
        ("tv=2", "must be at most 1", "2"),
        ("epsilon=1, alpha=1", "the order must be greater than 1", "1"),
        (1, "expected a text", "int"),
        (None, "expected a text", "nothing"),
    ],
)
def test_what_does_not_parse_says_why(typed: object, what: str, got: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Claim.parse(typed)
    assert (caught.value.what, caught.value.got) == (what, got)


def test_a_near_miss_is_suggested() -> None:
    with pytest.raises(ParameterError, match="Did you mean epsilon"):
        Claim.parse("epsilom=1")
    with pytest.raises(ParameterError) as caught:
        Claim.parse("banana=1")
    assert caught.value.hint.startswith('Write "epsilon=1"')


def test_the_other_ways_to_state_a_claim() -> None:
    loss = Gaussian(sigma=1).loss
    specification = qx.Specification(
        domain=qx.domain.Finite.vectors([0, 1], 1),
        scope=qx.scope.Everything(),
        unit=qx.unit.Replace(),
        standard=Pure(),
        intensity="ln(3)",
    )
    assert Claim.of_specification(specification) == Claim.parse("epsilon=ln(3)") == Claim.of(Pure(), Log(3))
    assert Claim.read(specification) == Claim.read("epsilon=ln(3)")
    made = Claim.read(loss)
    assert isinstance(made, LossClaim)
    assert made == Claim.of_loss(loss)
    assert made.text == "the trade-off function of GaussianLaw(mu2=Fraction(1, 1))"
    assert made.parameter == "power"
    assert Claim.read(made) is made
    assert "2 × " in Claim.of_loss(2 * loss).text


def test_a_universe_is_named_where_intensities_differ() -> None:
    ones = qx.scope.Invariants({"ones": ("number of ones", sum)})
    domain = qx.domain.Finite.vectors([0, 1], 2)
    names = [name for name, _ in ones.universes(domain)]
    specification = qx.Specification(
        domain=domain,
        scope=ones,
        unit=qx.unit.Replace(group=2),
        standard=Pure(),
        intensity={name: i + 1 for i, name in enumerate(names)},
    )
    assert Claim.of_specification(specification, names[1]) == Claim.parse("epsilon=2")
    for universe in (None, "nowhere"):
        with pytest.raises(ParameterError, match="in which universe"):
            Claim.of_specification(specification, universe)


@pytest.mark.parametrize(("make", "what"), [(Claim.of_loss, "a Loss"), (lambda x: Claim.of(x, 1), "a standard")])
def test_other_objects_are_no_claims(make: object, what: str) -> None:
    with pytest.raises(ParameterError, match=f"expected {what}"):
        make("epsilon")  # type: ignore[operator]


GRID = [Fraction(i, 16) for i in range(17)]


@pytest.mark.parametrize("epsilon", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10)])
def test_epsilon_against_its_definition(epsilon: float, delta: Fraction) -> None:
    claim = Claim.parse(f"epsilon={epsilon}, delta={delta}")
    seen = 0
    for p in GRID:
        for q in GRID:
            weighed = claim.weigh(float(p), float(q))
            growth = math.exp(epsilon)
            broken = q < p and max(float(p - delta) - growth * float(q), float(1 - q - delta) - growth * float(1 - p))
            if abs(broken) < 1e-12:
                continue
            seen += broken > 0
            assert weighed.contradicted == (broken > 0), (p, q)
            assert weighed.contradicted == (weighed.bound > weighed.stated), (p, q)
    assert seen > 10


@pytest.mark.parametrize("mu", ["0.5", "1"])
def test_mu_against_its_definition(mu: str) -> None:
    claim = Claim.parse(f"mu={mu}")
    for p in GRID[1:-1]:
        for q in GRID[1:-1]:
            apart = norm.ppf(float(p)) - norm.ppf(float(q))
            weighed = claim.weigh(float(p), float(q))
            assert weighed.contradicted == (apart > float(mu)), (p, q)
            assert weighed.bound == pytest.approx(max(apart, 0.0), abs=1e-12)


def test_rho_against_a_dense_grid_of_orders() -> None:
    orders = 1 + np.geomspace(1e-6, 1e4, 4000)

    def largest(p: float, q: float) -> float:
        ways = ((p, q), (q, p))
        logs = (
            np.logaddexp(
                orders * np.log(a) + (1 - orders) * np.log(b), orders * np.log1p(-a) + (1 - orders) * np.log1p(-b)
            )
            for a, b in ways
        )
        return float(max(np.max(log / (orders - 1) / orders) for log in logs))

    for p, q in ((0.5, 0.25), (0.9, 0.1), (0.01, 0.001), (0.999, 0.9)):
        bound = Claim.parse("rho=1").weigh(p, q).bound
        assert bound == pytest.approx(largest(p, q), rel=1e-5)


def laws(values: list[int]) -> list[Fraction]:
    return [Fraction(value, sum(values)) for value in values]


def events(size: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(size), k) for k in range(size + 1)))


weights = st.lists(st.integers(0, 6), min_size=3, max_size=4).filter(lambda values: sum(values) > 0)


@pytest.mark.parametrize("standard", STANDARDS, ids=lambda each: f"{each.kind}{getattr(each, 'delta', '')}")
@given(data=st.data())
@settings(max_examples=15)
def test_no_event_of_a_small_world_contradicts_its_own_intensity(standard: object, data: st.DataObject) -> None:
    first = laws(data.draw(weights))
    second = laws(data.draw(weights.filter(lambda values: len(values) == len(first))))
    whole = standard.least(first, second)  # type: ignore[attr-defined]
    for event in events(len(first)):
        p, q = (sum((law[i] for i in event), Fraction(0)) for law in (first, second))
        # Outward, as the interval does.
        low, high = math.nextafter(float(p), 0), math.nextafter(float(q), 1)
        found = least(standard, max(low, 0.0), min(high, 1.0))  # type: ignore[arg-type]
        assert not found > whole.upper


@given(
    st.floats(0.01, 0.99),
    st.floats(0.01, 0.99),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from(STANDARDS),
)
def test_less_certain_probabilities_say_less(p: float, q: float, s: float, t: float, standard: object) -> None:
    p, q = max(p, q), min(p, q)
    middle = (p + q) / 2
    inner_p, inner_q = p - s * (p - middle), q + t * (middle - q)
    assert not least(standard, inner_p, inner_q) > least(standard, p, q) + 1e-9  # type: ignore[arg-type]


def test_an_event_of_a_mixture_does_not_contradict_approximate_zcdp() -> None:
    delta = Fraction(1, 10)
    inner_p, inner_q = laws([5, 2, 1]), laws([3, 3, 2])
    rho = ZCDP().least(inner_p, inner_q).upper
    bad_p, bad_q = laws([1, 0, 0]), laws([0, 0, 1])
    first = [(1 - delta) * a + delta * b for a, b in zip(inner_p, bad_p, strict=True)]
    second = [(1 - delta) * a + delta * b for a, b in zip(inner_q, bad_q, strict=True)]
    bounds = []
    for event in events(3):
        for here, there in ((first, second), (second, first)):
            p, q = (sum((law[i] for i in event), Fraction(0)) for law in (here, there))
            found = least(ZCDP(delta), float(p), float(q))
            assert not found > rho
            bounds.append(float(found))
    # Without the δ the same events are farther apart than the inner laws: the δ is used.
    assert max(float(least(ZCDP(), 0.66, 0.33)), 0.0) > float(rho) > max(bounds) > 0


@pytest.mark.parametrize("mechanism", [Gaussian(sigma=1), Laplace(scale=1)])
def test_a_loss_is_contradicted_beyond_its_tradeoff_function_alone(mechanism: Gaussian | Laplace) -> None:
    claim = Claim.of_loss(mechanism.loss)
    for level in ("0.001", "0.05", "0.4", "0.9"):
        q = float(level)
        allowed = 1 - mechanism.loss.tradeoff(q)
        inside, outside = claim.weigh(allowed - 1e-6, q), claim.weigh(allowed + 1e-6, q)
        assert not inside.contradicted
        assert outside.contradicted
        assert inside.tightness == pytest.approx(1, abs=1e-2)
        assert inside.bound < inside.stated < outside.bound
        guess = claim.weigh(q, q)
        assert guess == Weighed(bound=0.0, stated=1.0, tightness=0.0, contradicted=False)


@pytest.mark.parametrize(
    "loss",
    [
        Gaussian(sigma=1).loss,
        Laplace(scale=1).loss,
        DiscreteLaplace(scale=2).loss,
        RandomizedResponse(probability="3/4").loss,
        qx.mechanisms.PartitionSelection(epsilon=1, delta="1e-3").loss,
        Gaussian(sigma=1).loss.subsample("0.1", scheme="poisson", unit=qx.unit.AddRemove()),
    ],
)
def test_the_lines_that_choose_events_stay_above_the_curve(loss: qx.Loss) -> None:
    claim = Claim.of_loss(loss)
    assert isinstance(claim, LossClaim)
    q = np.array([0.001, 0.1, 0.5, 0.9])
    stated = np.array([claim.weigh(1.0, float(each)).stated for each in q])
    scores = claim.scores(stated, q)
    # At the curve itself the advantage is what the lines allow, or a little less between two of them.
    assert np.all(scores <= 1 + 1e-9)
    assert np.all(scores > 0.9)
    for at, roof in zip(q.tolist(), stated.tolist(), strict=True):
        assert roof <= 1 - loss.tradeoff(at) + 1e-12
        assert all(loss.delta(epsilon) <= float(delta) for epsilon, delta in claim.lines[::6])


def test_a_stated_loss_is_held_to_its_own_epsilon_and_delta() -> None:
    loss = qx.mechanisms.PartitionSelection(epsilon=1, delta="1e-3").loss
    claim = Claim.of_loss(loss)
    for q in (0.0, 0.01, 0.2):
        allowed = math.e * q + 1e-3
        assert claim.weigh(allowed + 1e-6, q).contradicted
        assert not claim.weigh(allowed - 1e-6, q).contradicted


def test_a_loss_of_nothing() -> None:
    claim = Claim.of_loss(qx.Loss())
    assert claim.text == "the trade-off function of nothing"
    assert claim.weigh(0.6, 0.5).contradicted
    assert not claim.weigh(0.5, 0.5).contradicted


def test_a_claim_of_nothing() -> None:
    assert Claim.parse("epsilon=0").weigh(0.5, 0.5) == Weighed(bound=0.0, stated=0.0, tightness=1.0, contradicted=False)
    broken = Claim.parse("epsilon=0").weigh(0.6, 0.5)
    assert broken.contradicted
    assert broken.tightness == math.inf
    assert Claim.parse("epsilon=1").weigh(0.4, 0.5).tightness == 0


def test_a_claim_that_holds_with_equality_is_not_contradicted() -> None:
    assert not Claim.parse("epsilon=ln(3)").weigh(0.75, 0.25).contradicted
    assert Claim.parse("epsilon=ln(3)").weigh(math.nextafter(0.75, 1), 0.25).contradicted
    assert not Claim.parse("tv=0.5").weigh(0.75, 0.25).contradicted
