"""Columns as codes: equal values, equal codes, for every type and kind of frame."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import DataError
from quincunx.invariant.swapping.columns import FrameTable, combined, compact, numbered
from tests.invariant.frames import KINDS, frame

COLUMNS: dict[str, list[Any]] = {
    "integer": [3, -5, 3, 10**15, 0],
    "small": [1, 2, 1, 2, 2],
    "float": [0.0, -0.0, 1.5, float("inf"), 1.5],
    "text": ["a", "b", "a", "", "ü"],
    "boolean": [True, False, True, True, False],
    "date": [dt.date(2024, 1, 1), dt.date(2024, 1, 1), dt.date(1900, 5, 5), dt.date(2024, 1, 2), dt.date(2024, 1, 1)],
    "time": [dt.datetime(2024, 1, 1, h) for h in (0, 1, 0, 23, 1)],
    "decimal": [Decimal("1.10"), Decimal("1.1"), Decimal("2"), Decimal("2.0"), Decimal("-1")],
}
TYPES = {"integer": "integer", "small": "integer", "float": "decimal", "text": "text", "boolean": "boolean"}


def table(kind: str, columns: dict[str, list[Any]]) -> FrameTable:
    return FrameTable(nw.from_native(frame(kind, columns), eager_only=True))


def same_grouping(codes: Any, values: list[Any]) -> bool:
    pairs = set(zip(codes.tolist(), values, strict=True))
    return len(pairs) == len(set(values)) == len(set(codes.tolist()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COLUMNS)
def test_equal_values_have_equal_codes(kind: str, name: str) -> None:
    found = table(kind, {name: COLUMNS[name]})
    codes = found.codes(name)
    assert codes.dtype == np.int64
    assert codes.min() >= 0
    assert codes.max() < 4 * 5
    assert same_grouping(codes, COLUMNS[name])
    assert not found.incomplete(name)
    assert same_grouping(found.codes(name, slice(3)), COLUMNS[name][:3])
    assert found.types[name] == TYPES.get(name, found.types[name])
    assert found.rows == 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", [[1, None, 2, None, 1], ["a", None, "b", None, "a"], [0.5, None, 1.0, None, 0.5]])
def test_missing_values_are_a_value_of_their_own(kind: str, values: list[Any]) -> None:
    found = table(kind, {"x": values})
    assert found.incomplete("x")
    assert same_grouping(found.codes("x"), values)


def test_what_is_not_a_number_is_missing_and_equal_to_itself() -> None:
    found = table("polars", {"x": [float("nan"), 1.0, float("nan"), 2.0]})
    assert found.incomplete("x")
    assert same_grouping(found.codes("x"), ["nan", 1.0, "nan", 2.0])


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows(kind: str) -> None:
    found = FrameTable(nw.from_native(frame(kind, {"x": [1], "y": ["a"]}), eager_only=True)[:0])
    assert found.rows == 0
    assert len(found.codes("x")) == len(found.codes("y")) == 0
    assert len(combined([found.codes("x"), found.codes("y")], 0)) == 0


def test_types_that_no_schema_describes_are_refused() -> None:
    for values in ([[1, 2]], [dt.timedelta(days=1)]):
        with pytest.raises(DataError, match="column 'x' has a type that no schema describes"):
            table("polars", {"x": values})


@pytest.mark.parametrize(
    ("kind", "dtype"), [("polars", "Categorical"), ("polars", "UInt64"), ("polars", "Int8"), ("pandas", "category")]
)
def test_other_types(kind: str, dtype: str) -> None:
    values = ["7", "100", "7"] if dtype.lower().startswith("cat") else [7, 100, 7]
    native = frame(kind, {"x": values})
    if kind == "polars":
        polars = pytest.importorskip("polars")
        native = native.with_columns(polars.col("x").cast(getattr(polars, dtype)))
    else:
        native["x"] = native["x"].astype(dtype)
    found = FrameTable(nw.from_native(native, eager_only=True))
    assert same_grouping(found.codes("x"), values)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30))
def test_compact_keeps_what_is_equal(values: list[int]) -> None:
    array = np.array(values, dtype=np.uint64)
    codes = compact(array)
    assert same_grouping(codes, values)
    assert codes.min() >= 0
    assert codes.max() < 4 * len(values)
    assert sorted(set(numbered(array).tolist())) == list(range(len(set(values))))


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.tuples(*[st.integers(0, 100)] * n), min_size=1, max_size=30)))
def test_combined_codes_are_codes_of_tuples(tuples: list[tuple[int, ...]]) -> None:
    parts = [compact(np.array(column)) for column in zip(*tuples, strict=True)]
    before = [part.copy() for part in parts]
    assert same_grouping(combined(parts, len(tuples)), tuples)
    assert all(np.array_equal(a, b) for a, b in zip(parts, before, strict=True))


def test_combined_does_not_overflow() -> None:
    far = np.array([0, 2**40, 2**40, 0])
    assert same_grouping(
        combined([far, far[::-1].copy(), far], 4), [(0, 0), (1, 1), (1, 2), (0, 3)][:0] or [0, 1, 1, 0]
    )
    assert combined([], 3).tolist() == [0, 0, 0]
