"""What a release charges and keeps: whole prices in fractions that a ledger adds up, and no row that ends it alone."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import HaltedError
from quincunx.invariant.topdown import TopDown, keep
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.keep import charges
from quincunx.invariant.topdown.people import counted
from quincunx.invariant.topdown.schema import Schema
from quincunx.ledger import Ledger
from quincunx.ledger.spending import exact
from tests.invariant.topdown.plans import write_plan

PLACES = Geography.of([("r", "b1"), ("r", "b2")], ["root", "block"], "place")
SCHEMA = Schema(attributes={"a": ["x", "y"]})


@given(
    costs=st.lists(
        st.fractions(min_value=Fraction(1, 1000), max_value=3, max_denominator=10**9), min_size=1, max_size=6
    ),
    total=st.fractions(min_value=1, max_value=20, max_denominator=1000),
)
def test_all_levels_together_are_charged_what_they_cost_and_hardly_more(costs: list[Fraction], total: Fraction) -> None:
    found = charges(costs, total)
    assert sum(costs) <= sum(found) < sum(costs) + Fraction(1, 10**29)
    assert all(exact(each, total) for each in found)
    assert all(abs(each - cost) < Fraction(2, 10**30) for each, cost in zip(found, costs, strict=True))


def test_prices_that_add_up_to_the_total_are_the_total() -> None:
    odd = Fraction(542, 339) ** 2
    parts = [odd * share for share in (Fraction(1440, 3995), Fraction(1000, 3995), Fraction(1555, 3995))]
    assert sum(charges(parts, odd)) == odd


def test_bytes_that_are_no_text_are_nobody_and_nothing(tmp_path: Path) -> None:
    """Put in one character's place, the two keys would be one person, whose cell two people decide."""
    lines = [b"person,place,a", b"\xff,b1,x", b"\xfe,b2,y", b"p1,b1,\xff", b"p2,b\xff,x", b"p3,b2,x"]
    flat = tmp_path / "people.csv"
    flat.write_bytes(b"\n".join(lines) + b"\n")
    columns = [list(each) for each in zip(*(line.split(b",") for line in lines[1:]), strict=True)]
    packed = tmp_path / "people.parquet"
    arrays = [pa.Array.from_buffers(pa.string(), 5, pa.array(each, pa.binary()).buffers()) for each in columns]
    pq.write_table(pa.table(dict(zip(("person", "place", "a"), arrays, strict=True))), packed)
    for file in (flat, packed):
        assert counted(file, SCHEMA, PLACES, key="person", counts=None).tolist() == [[0, 0], [1, 0]], file.name
        # Without a key every row with a place and a value is a person.
        assert counted(file, SCHEMA, PLACES, key=None, counts=None).tolist() == [[1, 0], [1, 1]], file.name


def test_numbers_and_moments_are_read_by_the_total_scan(tmp_path: Path) -> None:
    packed = tmp_path / "people.parquet"
    days = pa.Array.from_buffers(pa.timestamp("ms"), 2, [None, pa.py_buffer(np.array([0, 2**62]).tobytes())])
    pq.write_table(pa.table({"place": ["b1", "b2"], "a": days, "n": [float("nan"), 2.5]}), packed)
    schema = Schema(attributes={"a": ["1970-01-01 00:00:00", "never"]})
    assert counted(packed, schema, PLACES, key=None, counts=None).tolist() == [[1, 0], [0, 0]]
    assert counted(packed, schema, PLACES, key=None, counts="n").tolist() == [[0, 0], [0, 0]]


def test_people_who_cannot_be_read_halt_the_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = write_plan(tmp_path, ledger="ledger.db")
    with monkeypatch.context() as broken:
        broken.setattr(keep, "counted", lambda *_, **__: (_ for _ in ()).throw(OSError("canary")))
        with pytest.raises(HaltedError) as told:
            TopDown.open(plan).run()
    assert "canary" not in str(told.value)
    assert told.value.__cause__ is None
    # Also when they can be read again: what was open is withheld, until the curator gives a reason or a version.
    with pytest.raises(HaltedError):
        TopDown.open(plan).run()
    with Ledger.open(tmp_path / "ledger.db", create=False) as ledger:
        assert ledger.account("small").halted
        ledger.verify()
