"""The black-box bounds are valid at the stated confidence, and close to the claims of tight mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from quincunx.audit.blackbox.challenge import challenge
from quincunx.audit.blackbox.claim import Claim
from quincunx.audit.blackbox.sampler import Sampler
from quincunx.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    PermuteAndFlip,
    RandomizedResponse,
)
from quincunx.noise.testing import KeyedBits
from tests.audit.blackbox.samplers import bulk, flipped, selected, tight

EPSILONS = ["0.1", "0.5", "1", "2"]


def test_the_models_in_bulk_are_the_mechanisms(stream: KeyedBits) -> None:
    for make, exact in ((flipped, PermuteAndFlip), (selected, Exponential)):
        mechanism = exact.calibrate(epsilon=1)
        law = mechanism.finite(((0, 0), (1, -1)))
        for scores in ((0, 0), (1, -1)):
            hits = int(np.count_nonzero(make("1").draw(scores, 20_000) == 1))
            p = float(law.probability(scores, 1))
            assert 5e-10 < binom.cdf(hits, 20_000, p) < 1 - 5e-10
    assert stream.injected


# 10^7 samples reach 90 % of every claim, with family-wise confidence 1 − 1e-6 over these 24; 2·10^5 reach these shares.
SMALL = {"0.1": 0.4, "0.5": 0.85, "1": 0.92, "2": 0.95}
# Where the events are rarer, or the pair's own ε is half as large, less is reached.
HALF = {"with four options": {"0.1": 0.3}, "exponential, of this pair": {"0.1": 0.0, "0.5": 0.9, "1": 0.95}}


@pytest.mark.parametrize("name", list(tight("1")))
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_bound_is_close_to_the_claim_of_tight_mechanisms(
    epsilon: str, name: str, full: bool, stream: KeyedBits
) -> None:
    sampler, pair, claim = tight(epsilon)[name]
    samples = 10**7 if full else 2 * 10**5
    bar = 0.9 if full else SMALL[epsilon] * HALF.get(name, {}).get(epsilon, 1.0)
    found = challenge(sampler, pair, claim, samples=samples, confidence=1 - Fraction(1, 24 * 10**6))
    assert found.verdict == "not refuted"
    assert found.tightness >= bar, f"{found.tightness:.3f} of {claim}: {found.event}"
    assert stream.injected


def too_often(count: int, runs: int, risk: float) -> bool:
    """Whether `count` false alarms in `runs` are more than the risk explains, at false-alarm rate 1e-9."""
    return bool(binom.sf(count - 1, runs, risk) < 1e-9)


TIGHT_RUNS: dict[str, tuple[Callable[[], Sampler], Any, Any]] = {
    "randomized response": (lambda: bulk(RandomizedResponse(probability="3/4")), (0, 1), "epsilon=ln(3)"),
    "discrete Laplace": (lambda: bulk(DiscreteLaplace(scale=2)), (0, 1), "epsilon=1/2"),
    "nothing": (lambda: bulk(DiscreteLaplace(scale=2)), (0, 0), "epsilon=0"),
    "four coins": (
        lambda: bulk(RandomizedResponse(probability="3/5")),
        ([0] * 4, [1] * 4),
        4 * RandomizedResponse(probability="3/5").loss,
    ),
    "Gaussian": (lambda: bulk(Gaussian(sigma=1, step="1/8")), (0, 8), "mu=1"),
    "discrete Gaussian": (lambda: bulk(DiscreteGaussian(sigma=1)), (0, 1), DiscreteGaussian(sigma=1).loss),
}


# The trade-off function of the discrete Gaussian is the longest to ask.
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.ci if each == "discrete Gaussian" else ()) for each in TIGHT_RUNS]
)
def test_true_claims_are_refuted_no_more_often_than_stated(name: str, full: bool) -> None:
    make, pair, claim = TIGHT_RUNS[name]
    # A whole loss is asked for its trade-off function each time, which takes longer.
    few, many = (60, 2000) if isinstance(claim, str) else (25, 200)
    runs, risk = (many if full else few), Fraction(1, 5)
    sampler, stated = make(), Claim.read(claim)
    alarms = sum(
        challenge(sampler, pair, stated, samples=400, confidence=1 - risk, series=f"{name} {i}").refuted
        for i in range(runs)
    )
    assert not too_often(alarms, runs, float(risk)), f"{alarms} of {runs}"


def test_both_probabilities_are_bounded_as_often_as_stated(full: bool) -> None:
    """Sharper than counting refutations, which need both bounds to fail: the truth about the event is known here."""
    runs, risk = (3000 if full else 150), Fraction(1, 5)
    sampler, failed = bulk(RandomizedResponse(probability="3/4")), 0
    for i in range(runs):
        found = challenge(sampler, (0, 1), "epsilon=ln(3)", samples=300, confidence=1 - risk, series=f"bounds {i}")
        answer = {"output ≤ 0": "0", "output = 1": "1", "output > 0": "1"}[found.event]
        # The event is the answer that the likelier input tells truthfully.
        assert answer == found.inputs[0]
        failed += found.p_low > 0.75 or found.q_high < 0.25
    assert not too_often(failed, runs, float(risk)), f"{failed} of {runs}"
    # Not far from the risk either: bounds that always hold would be too wide to be of use.
    assert failed >= runs * risk / 20


def test_without_the_split_the_same_test_would_raise_false_alarms() -> None:
    """A control: testing on the samples that chose the event refutes true claims, so the test above can fail."""
    from quincunx.audit.blackbox import interval
    from quincunx.audit.blackbox.events import Effort, choose, counted, shortlist
    from quincunx.audit.blackbox.features import partitions
    from quincunx.audit.blackbox.outputs import Layout

    claim, alarms, runs, risk = Claim.parse("epsilon=0"), 0, 60, Fraction(1, 5)
    rng = np.random.default_rng(1)
    for _ in range(runs):
        outputs = [rng.integers(0, 400, 500), rng.integers(0, 400, 500)]
        layout = Layout.learn([(each, "") for each in outputs])
        a, b = (layout.read(each, "") for each in outputs)
        effort = Effort(tested=500, z=1.0)
        tallies = counted(shortlist(partitions(layout.names, a, b), a, b, claim, effort), a, b)
        event = choose(tallies, claim, effort)[0]
        bounds = interval.lower(event.count(a), 500, risk / 4), interval.upper(event.count(b), 500, risk / 4)
        alarms += claim.weigh(*bounds).contradicted
    assert too_often(alarms, runs, float(risk))
