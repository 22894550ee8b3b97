"""Subsampling: closed single use, grids that enclose the truth, both directions, schemes and refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

import quincunx as qx
from quincunx.errors import ParameterError, PrivacyError
from quincunx.finite import Mechanism, mixture
from quincunx.loss import GaussianLaw, LaplaceLaw, LatticeLaw, Loss, StatedLaw, SubsampledLaw
from quincunx.loss.grid import Grid
from quincunx.loss.law import View
from quincunx.numbers import Log
from quincunx.spec.standard import Approximate, Pure
from quincunx.spec.unit import AddRemove, Replace

GAUSS = Loss.of(GaussianLaw(mu2=Fraction(1)))
RATES = ["0.01", "0.2", "0.7"]


def poisson(loss: Loss, rate: object) -> Loss:
    return loss.subsample(rate, scheme="poisson", unit=AddRemove())


def chosen(loss: Loss, rate: object) -> Loss:
    return loss.subsample(rate, scheme="without-replacement", unit=Replace())


def direct(mu: float, rate: float, epsilon: float, removed: bool) -> float:
    """∫ (P − e^ε Q)⁺ for the sampled pair, by quadrature over the output."""

    def mixed(x: float) -> float:
        return (1 - rate) * stats.norm.pdf(x) + rate * stats.norm.pdf(x - mu)

    def excess(x: float) -> float:
        p, q = (mixed(x), stats.norm.pdf(x)) if removed else (stats.norm.pdf(x), mixed(x))
        return max(0.0, float(p - math.exp(epsilon) * q))

    return float(integrate.quad(excess, -12, 14 + mu, points=np.linspace(-8, 10, 60), limit=500)[0])


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.8])
def test_one_use_is_the_larger_direction(rate: str, mu: float, epsilon: float) -> None:
    loss = poisson(Loss.of(GaussianLaw(mu2=Fraction(mu) ** 2)), rate)
    truth = max(direct(mu, float(rate), epsilon, removed) for removed in (True, False))
    # Quadrature over kinks: 1e-8.
    assert loss.delta(Fraction(epsilon)) == pytest.approx(truth, abs=2e-7)


@pytest.mark.parametrize("replacing", [False, True])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("rate", RATES)
def test_grids_enclose_the_law(replacing: bool, backwards: bool, rate: str) -> None:
    """At every ε the dominating grid's δ is at least the true one and the dominated grid's at most it."""
    law = SubsampledLaw(base=GaussianLaw(mu2=Fraction(1)), rate=Fraction(rate), replacing=replacing)
    above, below = (law.grid(View(backwards, side, 2.0**-9)) for side in (False, True))
    assert above.mass.sum() + above.infinite >= 1
    assert below.mass.sum() <= 1
    for epsilon in (0.0, 0.003, 0.05, 0.4, 1.1):
        upper, lower = (hockey_stick(grid, epsilon) for grid in (above, below))
        removed = replacing or not backwards
        truth = direct(1.0, float(rate), epsilon, removed)
        # Quadrature is good to 1e-8 or so.
        assert lower <= truth + 2e-7
        assert truth <= upper + 2e-7
        assert upper - lower <= 1e-4


def hockey_stick(grid: Grid, epsilon: float) -> float:
    return float(np.sum(grid.mass * np.maximum(0.0, -np.expm1(epsilon - grid.losses)))) + grid.infinite


def test_the_known_figure() -> None:
    """10,000 uses of σ = 1 at rate 0.01, δ = 1e-6: ε = 6.9074, the worse direction."""
    low, high = (10_000 * poisson(GAUSS, "0.01")).epsilon_bounds(delta=1e-6)
    assert low <= 6.9074 <= high
    assert abs(high - 6.9074) < 2e-3
    assert high - low < 1e-3 * high


def test_few_uses_against_convolution() -> None:
    """Three uses, composed by brute-force convolution of a fine histogram of the loss, both directions."""
    rate, epsilon, uses = 0.3, 0.9, 3
    x = np.linspace(-9, 10, 400_001)
    best = 0.0
    for removed in (True, False):
        q = stats.norm.pdf(x)
        p = (1 - rate) * q + rate * stats.norm.pdf(x - 1)
        first, second = (p, q) if removed else (q, p)
        mesh = 2.0**-10
        place = np.floor(np.log(first / second) / mesh).astype(int)
        one = np.bincount(place - place.min(), weights=first * (x[1] - x[0]))
        total, offset = one, place.min()
        for _ in range(uses - 1):
            total, offset = np.convolve(total, one), offset + place.min()
        losses = (offset + np.arange(len(total))) * mesh
        best = max(best, float(np.sum(total * np.maximum(0.0, -np.expm1(epsilon - losses)))))
    low, high = (uses * poisson(GAUSS, Fraction(rate))).delta_bounds(Fraction(epsilon))
    # Losses were rounded down by at most one mesh each: the histogram's δ is low by at most three.
    assert low <= best + 3 * 2.0**-10
    assert best <= high + 1e-6
    assert high - low < 1e-4


def test_sampling_everyone_changes_nothing() -> None:
    for rate in (1, "1.0"):
        assert poisson(GAUSS, rate) == GAUSS
        assert chosen(GAUSS, rate) == GAUSS
    assert poisson(Loss(), "0.1") == Loss()


def test_smaller_rates_leak_less() -> None:
    answers = [(50 * poisson(GAUSS, rate)).epsilon(1e-6) for rate in ("0.01", "0.05", "0.2", "0.8")]
    assert answers == sorted(answers)
    assert answers[-1] <= (50 * GAUSS).epsilon(1e-6)


def test_mechanisms_on_one_sample_compose_before_it() -> None:
    together = poisson(GAUSS + GAUSS, "0.1")
    assert together == poisson(Loss.of(GaussianLaw(mu2=Fraction(2))), "0.1")


def test_mixtures_with_other_laws_are_enclosed() -> None:
    sampled = 100 * poisson(GAUSS, "0.01")
    for other in (LaplaceLaw(epsilon=Fraction(1, 20)), LatticeLaw(unit=Log(2), steps=1), GaussianLaw(mu2=Fraction(1))):
        low, high = (sampled + Loss.of(other)).epsilon_bounds(1e-6)
        assert max(sampled.epsilon_bounds(1e-6)[0], Loss.of(other).epsilon_bounds(1e-6)[0]) <= high
        assert low <= high
        assert high <= sampled.epsilon(1e-6) + max(Loss.of(other).epsilon(5e-7), Loss.of(other).epsilon(1e-6)) + 0.05


@pytest.mark.parametrize("rate", ["1/10", "1/3", "3/4"])
def test_pure_amplification_is_never_below_enumeration(rate: str) -> None:
    """Randomized response on a Poisson sample of at most one person: absent, sampled or not, enumerated exactly."""
    share = Fraction(rate)
    present = Mechanism({"in": {"yes": "3/4", "no": "1/4"}})
    absent = Mechanism({"in": {"yes": "1/4", "no": "3/4"}})
    sampled = mixture([share, 1 - share], [present, absent])
    loss = poisson(Loss.of(LatticeLaw(unit=Log(3), steps=1)), rate)
    for standard, claim in ((Pure(), loss.pure()), (Approximate("0.01"), loss.epsilon("0.01"))):
        laws = (sampled.law("in"), absent.law("in"))
        assert float(standard.least(*laws).lower.mid()) <= claim * (1 + 1e-12)
    # ln(1 + r(e^ε − 1)) is attained.
    assert loss.pure() == pytest.approx(math.log(1 + float(share) * 2), rel=1e-12)


def test_without_replacement_is_symmetric() -> None:
    law = SubsampledLaw(base=GaussianLaw(mu2=Fraction(1)), rate=Fraction(1, 10), replacing=True)
    grids = [law.grid(View(backwards, False, 2.0**-9)) for backwards in (False, True)]
    assert np.array_equal(grids[0].mass, grids[1].mass)
    assert chosen(GAUSS, "0.1").delta("0.2") == pytest.approx(direct(1.0, 0.1, 0.2, True), abs=2e-7)


def test_answers_in_other_standards() -> None:
    loss = 10 * poisson(GAUSS, "0.1")
    assert loss.pure() == math.inf
    assert loss.gdp() == pytest.approx(math.sqrt(10))
    assert loss.group(2).zcdp() == 20.0
    low, high = loss.zcdp_bounds()
    # ρ is the base's whatever the rate: D_α/α approaches it.
    assert high == 5.0
    assert low == loss.kl_bounds()[0]
    assert loss.renyi(4000) / 4000 > 4.9
    assert loss.renyi(4) < 0.6 < 10 * GAUSS.renyi(4)


@pytest.mark.parametrize(
    ("scheme", "unit"), [("poisson", Replace()), ("without-replacement", AddRemove()), ("poisson", AddRemove(group=2))]
)
def test_other_pairs_are_refused(scheme: str, unit: object) -> None:
    with pytest.raises(PrivacyError, match="no amplification"):
        GAUSS.subsample("0.1", scheme=scheme, unit=unit)  # type: ignore[arg-type]


def test_what_cannot_be_amplified_is_refused() -> None:
    with pytest.raises(PrivacyError, match="mixture"):
        poisson(GAUSS + Loss.of(LaplaceLaw(epsilon=Fraction(1))), "0.1")
    with pytest.raises(PrivacyError, match="stated δ"):
        poisson(Loss.of(StatedLaw(epsilon=Fraction(1), rho=Fraction(1), delta=Fraction(1, 100))), "0.1")
    with pytest.raises(ParameterError, match="scheme"):
        GAUSS.subsample("0.1", scheme="bernoulli", unit=AddRemove())


@pytest.mark.parametrize("rate", [0, -1, "1.01", 2, "nan", None, True])
def test_bad_rates(rate: object) -> None:
    with pytest.raises(ParameterError, match="rate"):
        poisson(GAUSS, rate)


def test_the_public_way() -> None:
    loss = qx.mechanisms.Gaussian(sigma=1).loss.subsample(0.01, scheme="poisson", unit=qx.unit.AddRemove())
    assert loss.epsilon(1e-6) < 0.37


@pytest.mark.parametrize(("rate", "mu2"), [("0.5", "1"), ("0.001", "4"), ("0.1", "1/100"), ("1e-5", "1")])
@pytest.mark.parametrize("count", [2, 10, 1000])
def test_any_rate_and_count_has_close_bounds(rate: str, mu2: str, count: int) -> None:
    base = Loss.of(GaussianLaw(mu2=Fraction(mu2)))
    low, high = (count * poisson(base, rate)).epsilon_bounds("1e-5")
    assert low <= high <= (count * base).epsilon("1e-5") * (1 + 1e-9)
    assert high - low <= 1e-3 * high


def test_a_thousand_uses_lie_on_a_grid() -> None:
    """The view of a composition with sampled laws is never taken for that of closed ones."""
    curve = (1000 * poisson(GAUSS, "0.01")).curve()
    assert all(view.mesh > 0 for view in curve._views)
    assert all(type(each).__name__ == "GridInversion" for each in curve._above)
