"""Mechanisms as JSON: golden forms stay readable for ever, examples come back, what is unknown is refused."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest

from quincunx import mechanisms
from quincunx.errors import DataError
from quincunx.mechanisms import Mechanism, from_json, kinds

from .grid import ALL

# What each note says of the stored form. A tag or a name there is never changed and never means anything else.
FORM = re.compile(r'\*\*Stored\*\* as `(\{.*\})`, in words "(.*)": for ever\.')
# Tags in ledgers before notes kept the forms.
OLDEST = {
    "discrete-gaussian", "discrete-laplace", "exponential", "gaussian", "laplace", "partition-selection",
    "permute-and-flip", "randomized-response", "sparse-vector", "threshold-selection",
}  # fmt: skip


def text(mechanism: Mechanism) -> str:
    return json.dumps(mechanism.to_json(), separators=(",", ":"))


@pytest.mark.parametrize("kind", kinds().values(), ids=lambda kind: kind.tag)
def test_the_form_of_the_note_stays_readable_and_is_written_again(kind: type[Mechanism]) -> None:
    note = Path(inspect.getfile(kind)).with_suffix(".md").read_text(encoding="utf-8")
    ((written, words),) = FORM.findall(note)
    found = from_json(json.loads(written))
    assert type(found) is kind
    assert (text(found), found.words()) == (written, words)


def test_no_tag_is_used_twice_and_each_is_the_name_in_older_keys() -> None:
    """Ledgers from before tags say DiscreteLaplace where the tag says discrete-laplace."""
    classes = [getattr(mechanisms, name) for name in mechanisms.__all__]
    known = [each for each in classes if inspect.isclass(each) and hasattr(each, "tag")]
    assert len({each.tag for each in known}) == len(known) == len(kinds())
    assert kinds().keys() >= OLDEST
    for kind in known:
        assert "".join(word.capitalize() for word in kind.tag.split("-")) == kind.__name__


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
