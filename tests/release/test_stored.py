"""Stored answers come back exactly; what is unknown is refused."""

from __future__ import annotations

import json
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import DataError
from quincunx.loss import Loss
from quincunx.mechanisms import DiscreteGaussian, Gaussian, Laplace
from quincunx.release.measurement import Measurement
from quincunx.release.pricing import Noisy, Priced
from quincunx.release.stored import FORMAT, decode, encode, from_bytes, to_bytes
from quincunx.spec.standard import ZCDP
from tests.release.world import gaussian, laplace, session

# One answer as the first version stored it: it must stay readable for ever.
FIRST = (
    '{"format":"quincunx/answer/1","injected":false,"loss":{"version":"quincunx/loss/1","terms":[{"law":"lattice",'
    '"unit":"1/3","steps":1,"count":1}]},"noise":[{"law":"discrete-laplace","scale":"3","sensitivity":"1","step":"1"}'
    ',{"law":"discrete-gaussian","sigma2":"9/4","sensitivity2":"1","step":"1","coordinates":1}],"keys":[["north",null,'
    'true,-3,{"decimal":"1/10"},{"date":"1960-02-29"},{"timestamp":"2024-01-01T01:02:03.000004"}]],'
    '"measures":[[4611686018427387903],[-12]]}'
)


def values() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**100), 2**100),
        st.fractions(),
        st.text(),
        st.dates(),
        st.datetimes(),
    )


@given(st.lists(st.tuples(values(), values()), max_size=4), st.booleans())
def test_what_is_stored_comes_back(keys: list[tuple[Any, Any]], injected: bool) -> None:
    noise = (laplace("1/7"), gaussian(2), Gaussian(sigma=3), Laplace(scale=5))
    numbers = tuple(np.arange(len(keys), dtype=np.int64) * 2**60 - i for i in range(4))
    priced = Priced(
        program=None,  # type: ignore[arg-type]
        standard=ZCDP(),
        spend=Fraction(1),
        delta=Fraction(0),
        measurements=tuple(Measurement(measure=None, mechanism=each) for each in noise),  # type: ignore[arg-type]
        selection=None,
    )
    loss = Loss.compose(each.loss for each in noise)
    data = encode(priced, Noisy(keys=tuple(keys), measures=numbers), injected=injected)
    found = decode(from_bytes(to_bytes(data)))
    assert found.noisy.keys == tuple(keys)
    assert [type(value) for key in found.noisy.keys for value in key] == [type(value) for key in keys for value in key]
    assert all((a == b).all() for a, b in zip(found.noisy.measures, numbers, strict=True))
    assert found.mechanisms == noise
    assert found.loss == loss
    assert found.injected is injected


def test_the_first_version_stays_readable() -> None:
    found = decode(from_bytes(FIRST.encode()))
    assert found.noisy.keys == (
        ("north", None, True, -3, Fraction(1, 10), date(1960, 2, 29), datetime(2024, 1, 1, 1, 2, 3, 4)),
    )
    assert [numbers.tolist() for numbers in found.noisy.measures] == [[2**62 - 1], [-12]]
    assert found.mechanisms[0] == laplace(3)
    assert found.mechanisms[1] == DiscreteGaussian(sigma2="9/4", coordinates=1)
    # Written again, it is the same text.
    assert [each.to_json() for each in found.mechanisms] == json.loads(FIRST)["noise"]
    assert FORMAT == "quincunx/answer/1"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "quincunx/answer/9"}, "format"),
        ({"noise": [{"law": "cauchy"}]}, "unknown mechanism"),
        ({"noise": [{"law": "laplace", "scale": "3", "colour": "red"}]}, "has scale, sensitivity, step"),
        ({"noise": ["laplace"]}, "an object with a law"),
        ({"keys": [[{"colour": "red"}]]}, "unknown kind of key"),
        ({"keys": [[{"date": "2024-01-01", "decimal": "1"}]]}, "unknown kind of key"),
        ({"loss": {"version": "x", "terms": []}}, "version"),
    ],
)
def test_what_is_unknown_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        decode(json.loads(FIRST) | change)


def test_bytes_that_are_no_answer_are_refused() -> None:
    with pytest.raises(DataError, match="cannot be read"):
        from_bytes(b"[1]")


def test_a_session_stores_integers_and_nothing_exact() -> None:
    asked = session()
    answer = asked.sql("SELECT COUNT(*) AS n FROM visits", spend=1)
    ledger = asked._account.register()
    (record,) = [each for each in ledger.records() if each.kind == "answer"]
    assert record.body["dataset"] == "visits"
    assert answer.loss.zcdp() <= 1
