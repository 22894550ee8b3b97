"""Answers as frames: every kind holds the same values, types follow the columns, nothing else is reachable."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.data import out
from quincunx.errors import UnavailableError
from quincunx.release.column import Column
from quincunx.release.tidy import TIDY, read_tidy
from quincunx.table.aggregates import decimals, exact_decimal

COLUMNS = (
    Column(name="region", type="text", role="key", values=("a", None, "ü; DROP TABLE answer")),
    Column(name='n"x', type="integer", role="value", values=(1, -(2**63), None)),
    Column(name="c", type="decimal", scale=2, role="value", values=(Decimal("1.25"), None, Decimal("-0.01"))),
    Column(name="t", type="timestamp", role="key", values=(datetime(1960, 1, 1, 2, 3, 4, 5), None, None)),
    Column(name="d", type="date", role="key", values=(date(1, 1, 1), date(9999, 12, 31), None)),
    Column(name="b", type="boolean", role="key", values=(True, False, None)),
    Column(name="f", type="float", role="se", values=(0.1, None, -0.0)),
)
ROWS = [tuple(column.values[i] for column in COLUMNS) for i in range(3)]


def test_a_relation_holds_every_value_in_order() -> None:
    assert out.relation(COLUMNS).fetchall() == ROWS
    assert [str(kind) for kind in out.relation(COLUMNS).types] == [
        "VARCHAR",
        "BIGINT",
        "DECIMAL(38,2)",
        "TIMESTAMP",
        "DATE",
        "BOOLEAN",
        "DOUBLE",
    ]


def test_polars_pandas_and_arrow_agree() -> None:
    assert out.to_polars(COLUMNS).rows() == ROWS
    assert out.to_polars(COLUMNS).schema['n"x'] == pl.Int64
    arrow = out.to_arrow(COLUMNS)
    assert [tuple(row.values()) for row in arrow.to_pylist()] == ROWS
    shown = out.to_pandas(COLUMNS)
    assert list(shown.columns) == [column.name for column in COLUMNS]
    assert shown['n"x'].dtype == "Int64"
    assert shown['n"x'].isna().tolist() == [False, False, True]
    assert shown["f"].dtype == "float64"
    assert shown["t"][0] == pd.Timestamp(1960, 1, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("source", "kind"),
    [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("polars-lazy", pl.LazyFrame), ("arrow", pa.Table)],
)
def test_the_frame_is_like_the_source(source: str, kind: type) -> None:
    assert isinstance(out.like(source, COLUMNS), kind)


@pytest.mark.parametrize("source", ["duckdb", "parquet", "csv"])
def test_files_and_relations_give_relations(source: str) -> None:
    assert out.like(source, COLUMNS).fetchall() == ROWS


def test_no_rows_keep_their_types() -> None:
    empty = [column.picked([]) for column in COLUMNS]
    assert out.relation(empty).fetchall() == []
    assert out.to_polars(empty).height == 0
    assert len(out.to_pandas(empty)) == 0
    assert out.to_arrow(empty).num_rows == 0


def test_numbers_beyond_64_bits_stay_exact() -> None:
    wide = (Column(name="n", type="integer", role="value", values=(2**70, None)),)
    assert out.relation(wide).fetchall() == [(2**70,), (None,)]
    assert out.to_polars(wide)["n"].to_list() == [2**70, None]
    assert out.to_pandas(wide)["n"][0] == 2**70


def test_a_relation_can_reach_nothing_else(tmp_path: Any) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n", encoding="utf-8")
    import duckdb

    relation = out.relation(COLUMNS)
    with pytest.raises(duckdb.Error):
        relation.query("answer", f"SELECT * FROM read_csv('{secret}')").fetchall()


def test_a_missing_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(out, "import_module", missing)
    with pytest.raises(UnavailableError, match="pandas is not installed"):
        out.to_pandas(COLUMNS)


# Decimals.


@given(st.integers(-(10**30), 10**30), st.integers(0, 18))
def test_decimals_keep_every_digit(units: int, scale: int) -> None:
    number = Fraction(units, 10**scale)
    assert Fraction(exact_decimal(number, scale)) == number
    assert -exact_decimal(number, scale).as_tuple().exponent == scale  # type: ignore[operator]


@pytest.mark.parametrize(("step", "digits"), [("1", 0), ("0.01", 2), ("1/8", 3), ("1/3", None), ("5", 0), ("2.5", 1)])
def test_how_many_digits_a_step_needs(step: str, digits: int | None) -> None:
    assert decimals(Fraction(step)) == digits


def test_tidy_names_are_read_once_and_in_order() -> None:
    assert read_tidy(["integer", "non-negative", "integer"]) == ("non-negative", "integer")
    assert read_tidy("integer") == ("integer",)
    assert read_tidy(()) == ()
    assert set(TIDY) == {"non-negative", "integer"}
    with pytest.raises(ValueError, match="Did you mean non-negative"):
        read_tidy(["nonnegative"])
    with pytest.raises(ValueError, match="Known"):
        read_tidy(["zzz"])
