"""Mechanisms of other libraries: that each adapter draws from them, and what the auditor finds there."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

from quincunx.audit.adapters import diffprivlib, function, opendp, opendp_claim
from quincunx.audit.blackbox.challenge import challenge
from quincunx.audit.blackbox.claim import Claim
from quincunx.errors import ParameterError

# A record whose x is 0 or 100, beside one that is fixed; the targets are 0.
NEIGHBOURS = tuple((np.array([[1.0], [x]]), np.array([0.0, 0.0])) for x in (0.0, 100.0))


def test_any_function() -> None:
    assert function(abs).draw(-1, 2) == [1, 1]
    assert function(lambda x, size: [x] * size, many=True, name="mine").draw(1, 2) == [1, 1]
    assert function(lambda x, size: [x] * size, many=True, name="mine").name == "mine"


def test_no_peer_is_imported() -> None:
    peers = "('opendp', 'diffprivlib', 'sklearn')"
    code = f"import sys, quincunx.audit.adapters; print([name for name in {peers} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_measurement_of_opendp_holds_its_own_claim() -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    laplace = dp.m.make_laplace(*space, scale=1.0)
    claim = opendp_claim(laplace, 1)
    assert claim == Claim.parse("epsilon=1")
    found = challenge(opendp(laplace), (0, 1), claim, samples=3000)
    assert found.verdict == "not refuted"
    assert found.bound > 0.5
    gaussian = dp.m.make_gaussian(*space, scale=1.0)
    assert opendp_claim(gaussian, 1) == Claim.parse("rho=0.5")
    approximate = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian), 1e-6)
    assert opendp_claim(approximate, 1).text.endswith("δ = 1e-6")


def test_a_measurement_of_opendp_at_twice_its_distance_is_refuted() -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    laplace = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0)
    assert challenge(opendp(laplace), (0, 2), opendp_claim(laplace, 1), samples=3000).verdict == "refuted"


def test_linear_regression_of_diffprivlib_is_refuted() -> None:
    """The sensitivity of Σx² is computed from the lower bound twice: 0 for bounds (0, 100), and no noise is added."""
    from diffprivlib.models import LinearRegression

    state = np.random.RandomState(1)

    def model() -> LinearRegression:
        bounds = {"bounds_X": (0, 100), "bounds_y": (0, 1)}
        return LinearRegression(epsilon=1, **bounds, fit_intercept=False, random_state=state)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = challenge(diffprivlib(model, ["coef_"]), NEIGHBOURS, "epsilon=1", samples=600)
    assert found.verdict == "refuted"
    assert found.bound > 2
    assert "coef_[0]" in found.event


def test_a_mechanism_of_diffprivlib() -> None:
    from diffprivlib.mechanisms import Geometric, Laplace

    geometric = challenge(
        diffprivlib(Geometric(epsilon=1, sensitivity=1, random_state=1)), (0, 1), "epsilon=1", samples=20_000
    )
    assert geometric.mechanism == "diffprivlib Geometric"
    assert geometric.verdict == "not refuted"
    assert geometric.bound > 0.8
    # Its noise is added in floating point: outputs near 0 are finer numbers from 0 than from 1.
    laplace = challenge(
        diffprivlib(Laplace(epsilon=1, sensitivity=1, random_state=1)), (0.0, 1.0), "epsilon=1", samples=5000
    )
    assert laplace.verdict == "refuted"
    assert "lowest set bit" in laplace.event or "trailing zero bits" in laplace.event


class Fitted:
    """A model of two attributes, one of them a matrix."""

    def fit(self, data: object, target: object = None) -> Fitted:
        self.coef_ = np.array([[1.0, 2.0]])
        self.intercept_ = 3.0
        self.seen = (data, target)
        return self


def test_fitted_attributes_by_name() -> None:
    sampler = diffprivlib(Fitted)
    assert sampler.draw(([1], [2]), 1) == [{"coef_[0, 0]": 1.0, "coef_[0, 1]": 2.0, "intercept_": 3.0}]
    assert diffprivlib(Fitted, ["intercept_", "missing_"], name="mine").draw([1, 2, 3], 1) == [{"intercept_": 3.0}]
    assert diffprivlib(Fitted, name="mine").name == "mine"
    assert sampler.name == "diffprivlib model"


@pytest.mark.parametrize(
    ("make", "given", "what"),
    [
        (opendp, 1, "expected a measurement of OpenDP"),
        (opendp, abs, "expected a measurement of OpenDP"),
        (lambda x: opendp_claim(x, 1), 1, "expected a measurement of OpenDP"),
        (diffprivlib, Fitted(), "expected a mechanism or a function that makes a model"),
        (diffprivlib, 1, "expected a mechanism or a function that makes a model"),
        (function, 1, "expected a callable"),
    ],
)
def test_other_objects_are_refused(make: object, given: object, what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        make(given)  # type: ignore[operator]


def test_a_measure_that_is_not_known_is_refused() -> None:
    class Measurement:
        output_measure = "RenyiDivergence"

        def invoke(self, x: object) -> object:
            return x

    with pytest.raises(ParameterError, match="no claim is known for this measure; got RenyiDivergence"):
        opendp_claim(Measurement(), 1)
