"""Mechanisms as JSON: golden forms stay readable for ever, examples come back, what is unknown is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from quincunx import mechanisms
from quincunx.errors import DataError
from quincunx.mechanisms import Mechanism, from_json, kinds

from .grid import ALL

# One of each as the first version wrote it. A tag or a name here is never changed and never means anything else.
GOLDEN = {
    "DiscreteGaussian": (
        '{"law":"discrete-gaussian","sigma2":"9/4","sensitivity2":"2","step":"1/2","coordinates":1}',
        "discrete Gaussian noise, σ = 1.5",
    ),
    "DiscreteLaplace": (
        '{"law":"discrete-laplace","scale":"1/3","sensitivity":"2","step":"1"}',
        "discrete Laplace noise, scale = 0.3333",
    ),
    "Exponential": (
        '{"law":"exponential","scale":"2","sensitivity":"1","monotone":false,"step":"1"}',
        "a choice by the exponential mechanism, scale = 2",
    ),
    "Gaussian": ('{"law":"gaussian","sigma2":"2","sensitivity2":"1","step":"1"}', "rounded Gaussian noise, σ = 1.414"),
    "Laplace": ('{"law":"laplace","scale":"5","sensitivity":"1","step":"1"}', "rounded Laplace noise, scale = 5"),
    "PartitionSelection": (
        '{"law":"partition-selection","epsilon":"1","delta":"1/100000"}',
        "keys selected by the optimal rule, ε = 1, δ = 1e-5",
    ),
    "PermuteAndFlip": (
        '{"law":"permute-and-flip","scale":"2","sensitivity":"3","monotone":true,"step":"1/2"}',
        "a choice by permute-and-flip, scale = 2",
    ),
    "RandomizedResponse": (
        '{"law":"randomized-response","probability":"3/4","options":3}',
        "randomized response, true with probability 0.75 among 3 options",
    ),
    "SparseVector": (
        '{"law":"sparse-vector","threshold":"0","threshold_scale":"1","query_scale":"3","aboves":2,"sensitivity":"1",'
        '"monotone":false,"step":"1"}',
        "sparse vector, 2 above, threshold scale = 1, query scale = 3",
    ),
    "ThresholdSelection": (
        '{"law":"threshold-selection","noise":{"law":"discrete-laplace","scale":"8","sensitivity":"4","step":"1"},'
        '"groups":3,"people":1,"bits":2,"delta":"1/1000"}',
        "keys of at least 60 noisy votes; discrete Laplace noise, scale = 8",
    ),
}


def text(mechanism: Mechanism) -> str:
    return json.dumps(mechanism.to_json(), separators=(",", ":"))


@pytest.mark.parametrize("name", GOLDEN)
def test_the_first_form_stays_readable_and_is_written_again(name: str) -> None:
    written, words = GOLDEN[name]
    found = from_json(json.loads(written))
    assert type(found) is getattr(mechanisms, name)
    assert (text(found), found.words()) == (written, words)


def test_no_tag_is_used_twice_and_each_is_the_name_in_older_keys() -> None:
    """Ledgers from before tags say DiscreteLaplace where the tag says discrete-laplace."""
    known = {kind.__name__: tag for tag, kind in kinds().items()}
    classes = [getattr(mechanisms, name) for name in mechanisms.__all__ if name in GOLDEN]
    assert known.keys() == {each.__name__ for each in classes} == GOLDEN.keys()
    for name, tag in known.items():
        assert "".join(word.capitalize() for word in tag.split("-")) == name
        assert json.loads(GOLDEN[name][0])["law"] == tag


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_every_mechanism_comes_back_from_its_bytes(mechanism: Mechanism) -> None:
    assert from_json(json.loads(text(mechanism))) == mechanism
    assert mechanism.words()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "an object with a law"),
        ([], "an object with a law"),
        ("laplace", "an object with a law"),
        ({}, "unknown mechanism"),
        ({"law": "cauchy"}, "unknown mechanism; got cauchy"),
        ({"law": "Laplace", "scale": "1"}, "unknown mechanism"),
        ({"law": ["laplace"]}, "unknown mechanism"),
        ({"law": "laplace"}, "a laplace mechanism has scale, sensitivity, step; got nothing"),
        ({"law": "laplace", "scale": "1", "colour": "red"}, "a laplace mechanism has scale"),
        # A root is what people type; what is stored is the square.
        ({"law": "gaussian", "sigma": "1"}, "a gaussian mechanism has sigma2"),
        ({"law": "laplace", "scale": "0"}, "scale: must be"),
        ({"law": "laplace", "scale": "-1"}, "scale: must be"),
        ({"law": "laplace", "scale": "nan"}, "scale"),
        ({"law": "laplace", "scale": [1]}, "scale"),
        ({"law": "laplace", "scale": None}, "scale"),
        ({"law": "exponential", "scale": "1", "monotone": "yes"}, "monotone: must be True or False"),
        ({"law": "threshold-selection", "noise": {"law": "cauchy"}}, "unknown mechanism; got cauchy"),
        (
            {"law": "threshold-selection", "noise": {"law": "laplace", "scale": "1"}, "groups": 1, "delta": "1/9"},
            "expected discrete noise",
        ),
        ({"law": "threshold-selection", "noise": "loud", "groups": 1, "delta": "1/9"}, "expected discrete noise"),
        ({"law": "laplace", "scale": {"law": "laplace", "scale": "1"}}, "scale"),
        ({"law": "randomized-response", "probability": "1"}, "probability: must be between"),
    ],
)
def test_what_is_unknown_is_refused(data: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        from_json(data)
