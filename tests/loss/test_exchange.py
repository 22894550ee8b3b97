"""Losses as JSON: round trip, and texts stored long ago are read as they were meant."""

import json
from fractions import Fraction

import pytest

from quincunx.errors import DataError, ParameterError
from quincunx.loss import (
    BoundedRangeLaw,
    DiscreteGaussianLaw,
    GaussianLaw,
    LaplaceLaw,
    LatticeLaw,
    Loss,
    RangesLaw,
    StatedLaw,
    SubsampledLaw,
)
from quincunx.loss.exchange import KINDS
from quincunx.mechanisms import RandomizedResponse
from quincunx.numbers import Log
from quincunx.spec.unit import AddRemove

GAUSS = GaussianLaw(mu2=Fraction(1, 2500))
EXAMPLES = [
    Loss(),
    100 * Loss.of(GAUSS),
    Loss.of(LaplaceLaw(epsilon=Fraction(1, 3))) + 2 * Loss.of(LatticeLaw(unit=Log(3), steps=2)),
    Loss.of(LatticeLaw(unit=Fraction(1, 20), steps=1)),
    Loss.of(DiscreteGaussianLaw(sigma2=Fraction(9, 4), shift=2)),
    Loss.of(StatedLaw(epsilon=None, rho=Fraction(1, 7), delta=Fraction(1, 10**6))),
    Loss.of(SubsampledLaw(base=GAUSS, rate=Fraction(1, 100), replacing=True)),
    RandomizedResponse(probability="3/5").loss,
    Loss.of(BoundedRangeLaw(eta=Fraction(1, 2))),
    Loss.of(RangesLaw(square=Fraction(1, 2))),
    Loss.parallel([Loss.of(GAUSS), Loss.of(LaplaceLaw(epsilon=Fraction(1)))], unit=AddRemove()),
]


@pytest.mark.parametrize("loss", EXAMPLES, ids=repr)
def test_round_trip(loss: Loss) -> None:
    assert Loss.from_json(loss.to_json()) == loss


STORED = {
    '{"version": "quincunx/loss/1", "terms": [{"law": "gaussian", "mu2": "1/2500", "count": 100}]}': EXAMPLES[1],
    '{"version": "quincunx/loss/1", "terms": [{"law": "laplace", "epsilon": "1/3", "count": 1}, '
    '{"law": "lattice", "unit": "ln(3)", "steps": 2, "count": 2}]}': EXAMPLES[2],
    '{"version": "quincunx/loss/1", "terms": [{"law": "stated", "epsilon": null, "rho": "1/7", "delta": "1/1000000", '
    '"count": 1}]}': EXAMPLES[5],
    '{"version": "quincunx/loss/1", "terms": [{"law": "subsampled", "base": {"law": "gaussian", "mu2": "1/2500"}, '
    '"rate": "1/100", "replacing": true, "count": 1}]}': EXAMPLES[6],
}


@pytest.mark.parametrize("text", STORED, ids=lambda text: text[44:70])
def test_stored_losses_are_readable_for_ever(text: str) -> None:
    assert Loss.from_json(text) == STORED[text]


BAD = [
    "",
    "[]",
    "null",
    '{"version": "quincunx/loss/2", "terms": []}',
    '{"version": "quincunx/loss/1", "terms": {}}',
    '{"version": "quincunx/loss/1", "terms": [1]}',
    '{"version": "quincunx/loss/1", "terms": [], "more": 1}',
    '{"version": "quincunx/loss/1", "terms": [{"law": "cauchy", "count": 1}]}',
    '{"version": "quincunx/loss/1", "terms": [{"law": "gaussian", "count": 1}]}',
    '{"version": "quincunx/loss/1", "terms": [{"law": "gaussian", "mu2": "1", "mu": "1", "count": 1}]}',
    '{"version": "quincunx/loss/1", "terms": [{"law": "gaussian", "mu2": "one", "count": 1}]}',
    '{"version": "quincunx/loss/1", "terms": [{"law": "gaussian", "mu2": "1", "count": 0}]}',
]


@pytest.mark.parametrize("text", BAD)
def test_what_is_unknown_is_refused(text: str) -> None:
    with pytest.raises((DataError, ParameterError)):
        Loss.from_json(text)


def test_names_of_laws_are_kept() -> None:
    # Never removed, never redefined: this list only grows.
    kept = {"gaussian", "laplace", "lattice", "discrete-gaussian", "response", "bounded-range", "stated", "subsampled"}
    assert kept | {"largest"} <= set(KINDS)
    assert json.loads(Loss().to_json())["version"] == "quincunx/loss/1"
