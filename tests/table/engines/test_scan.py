"""Columns as they arrive: every stored number is a value or NULL, and no row raises."""

from __future__ import annotations

import struct
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quincunx.table.table import Table

EPOCH = datetime(1970, 1, 1)
EXTREMES = (2**62, -(2**62), 2**63 - 1, -(2**63), 2**61, 10**15)
SECONDS = (-62_135_596_801, -62_135_596_800, -1, 0, 1_700_000_000, 253_402_300_799, 253_402_300_800)


def whole(kind: Any, values: list[int], code: str = "q") -> Any:
    packed = struct.pack(f"<{len(values)}{code}", *values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(packed)])


def moment(count: int, per_second: int) -> datetime | None:
    try:
        return EPOCH + timedelta(microseconds=count * 1_000_000 // per_second)
    except OverflowError:
        return None


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Paris"])
@pytest.mark.parametrize(
    ("kind", "unit", "per_second"),
    # Polars and Parquet have no seconds.
    [(kind, "ms", 1_000) for kind in ("arrow", "pandas", "polars", "parquet")]
    + [("arrow", "s", 1), ("pandas", "s", 1)],
)
def test_moments_are_those_of_the_calendar_or_null(
    unit: str, per_second: int, zone: str | None, kind: str, tmp_path: Path
) -> None:
    counts = [*(each * per_second for each in SECONDS), *EXTREMES]
    table = pa.table({"x": whole(pa.timestamp(unit, zone), counts)})
    source: Any = table
    if kind == "pandas":
        source = table.to_pandas(types_mapper=pd.ArrowDtype)
    elif kind == "polars":
        source = pl.from_arrow(table)
    elif kind == "parquet":
        source = tmp_path / "x.parquet"
        pq.write_table(table, source)
    assert Table(source, public=True).values("x") == [moment(count, per_second) for count in counts]


def test_moments_of_pandas_itself() -> None:
    for unit, per_second in (("s", 1), ("ms", 1_000)):
        # The smallest number is pandas' own missing moment.
        counts = [*(each * per_second for each in SECONDS), 2**62, -(2**62), -(2**63)]
        held = pd.DatetimeIndex(pd.Series(counts, dtype="int64").to_numpy().view(f"datetime64[{unit}]"))
        frame = pd.DataFrame({"x": held.tz_localize("UTC")})
        assert str(frame["x"].dtype) == f"datetime64[{unit}, UTC]"
        assert Table(frame, public=True).values("x") == [moment(count, per_second) for count in counts]


@pytest.mark.parametrize("days", [(-719_162, -1, 0, 19_000, 2_932_896), (-719_163, 2_932_897, 2**31 - 1, -(2**31))])
def test_days(days: tuple[int, ...]) -> None:
    inside = [date(1970, 1, 1) + timedelta(days=each) if -719_162 <= each <= 2_932_896 else None for each in days]
    assert Table(pa.table({"x": whole(pa.date32(), list(days), "i")}), public=True).values("x") == inside
    milliseconds = [each * 86_400_000 for each in days]
    assert Table(pa.table({"x": whole(pa.date64(), milliseconds)}), public=True).values("x") == inside
    assert Table(pa.table({"x": whole(pa.date64(), list(EXTREMES)[:4])}), public=True).values("x") == [None] * 4


@pytest.mark.parametrize(("width", "scale"), [(4, 1), (9, 0), (10, 2), (18, 5), (19, 2), (38, 3)])
def test_decimals_have_the_digits_of_their_type_or_are_null(width: int, scale: int) -> None:
    most = 10**width - 1
    held = [0, 1, -1, most, -most, most + 1, -most - 1, 2**63, -(2**64), 2**64 + 5, 2**127 - 1, -(2**127)]
    packed = b"".join(each.to_bytes(16, "little", signed=True) for each in held)
    chunk = pa.Array.from_buffers(pa.decimal128(width, scale), len(held), [None, pa.py_buffer(packed)])
    column = pa.chunked_array([chunk.slice(0, 5), chunk.slice(5)])
    found = Table(pa.table({"x": column}), public=True).values("x")
    assert found == [Fraction(each, 10**scale) if abs(each) <= most else None for each in held]


def test_half_floats_and_wide_decimals_are_read() -> None:
    wide = pa.array([Decimal("1.5"), None], pa.decimal256(60, 2))
    table = pa.table({"h": pa.array([0.5, None], pa.float16()), "w": wide})
    for source in (table, table.to_pandas(types_mapper=pd.ArrowDtype)):
        opened = Table(source, public=True)
        assert opened.values("h") == [Fraction(1, 2), None]
        assert opened.values("w") == [Fraction(3, 2), None]


def test_missing_values_of_objects_are_null() -> None:
    things = ["a", None, float("nan"), pd.NA, pd.NaT, Decimal("nan"), pd.Timestamp("2024-01-01"), 5]
    frame = pd.DataFrame({"x": pd.Series(things, dtype="object")})
    found = Table(frame, public=True, columns={"x": {"type": "text"}}).values("x")
    assert found == ["a", None, None, None, None, None, "2024-01-01 00:00:00", "5"]


def test_categories_keep_their_rows() -> None:
    codes = [2, -1, 0, 1, 2, 0]
    names = pd.Index(["a", "\ud800", "b"], dtype="object")
    frame = pd.DataFrame({"x": pd.Categorical.from_codes(codes, names)})
    assert Table(frame, public=True).values("x") == ["b", None, "a", None, "b", "a"]
