"""The published figures of the 2020 redistricting file, from its configuration."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from quincunx.mechanisms import DiscreteGaussian
from quincunx.noise.testing import key_of, keyed
from quincunx.numbers import float_above
from quincunx.spec.standard import ZCDP, Approximate
from tests.invariant.topdown.redistricting import RHO, planned


def mean_absolute(sigma2: Fraction) -> float:
    """E|N| of a discrete Gaussian, summed."""
    reach = math.ceil(40 * math.sqrt(sigma2)) + 2
    weights = [math.exp(-k * k / (2 * float(sigma2))) for k in range(reach)]
    return 2 * sum(k * w for k, w in enumerate(weights)) / (2 * sum(weights) - 1)


def test_rho_and_epsilon() -> None:
    assert planned().rho == RHO == Fraction(293764, 114921)
    epsilon = ZCDP().implied(RHO, Approximate(Fraction(1, 10**10)))
    assert f"{float_above(epsilon):.2f}" == "17.14"


def test_the_noise_of_totals() -> None:
    plan = planned()
    found = [f"{mean_absolute(line.sigma2):.4g}" for line in plan.budget if line.query.name == "total"]
    print("mean absolute noise of total, state to block:", *found)
    assert [f"{float(each):.3f}" for each in found[:4]] == ["0.814", "1.699", "1.945", "1.359"]
    assert f"{float(found[4]):.1f}" == "71.2"


def test_the_noise_that_is_drawn_is_the_noise_that_is_stated() -> None:
    """2,000 draws of each total: the mean of |N| is within six standard errors (false alarm below 1e-8)."""
    plan = planned()
    for line in plan.budget:
        if line.query.name == "total":
            with keyed(key_of(f"noise {line.level}")):
                drawn = np.abs(DiscreteGaussian(sigma2=line.sigma2).sample(np.zeros(2000, dtype=np.int64)))
            expected = mean_absolute(line.sigma2)
            spread = math.sqrt(DiscreteGaussian(sigma2=line.sigma2).variance - expected**2)
            assert abs(drawn.mean() - expected) < 6 * spread / math.sqrt(2000)


def test_a_recode_with_unequal_groups_is_measured_and_said() -> None:
    from quincunx.invariant.topdown.write import budget_rows

    rows = {(row["level"], row["query"]): row["note"] for row in budget_rows(planned())}
    assert rows["block", "hhinst"] == "measured"
    assert rows["block", "hhgq"] == "measured"


@pytest.mark.ci
@pytest.mark.usefixtures("stream")
def test_it_runs_on_its_own_schema() -> None:
    from quincunx.invariant.topdown.geography import Geography

    paths = [
        ("us", "s", "c", f"t{i}", f"t{i}g{j}", f"t{i}g{j}b{k}") for i in range(2) for j in range(2) for k in range(3)
    ]
    places = Geography.of(paths, ["us", "state", "county", "tract", "group", "block"], "geocode")
    truth = np.random.default_rng(7).poisson(0.05, (12, 2016)).astype(np.int64)
    plan = planned(places, truth, invariants=[("state", "total")])
    truth[:, plan.schema.empty] = 0
    release = plan.run()
    assert release.tables[1].sum() == truth.sum()
    assert (release.tables[-1][:, plan.schema.empty] == 0).all()
    assert release.solved.fractional == 0
