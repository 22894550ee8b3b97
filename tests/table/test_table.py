"""Sources of every kind say the same; types come from metadata; bad declarations are refused in words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import quincunx.errors as errors
from quincunx.data import frames, origin
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.rules import plan
from quincunx.table.sql import read
from quincunx.table.table import Table, schema
from tests.absent import run_without
from tests.table import reference, worlds

DATA = {
    "person": [1, 1, 2, 3, 3, 3, None],
    "region": ["north", "süd", "north", None, "it's", "north", "süd"],
    "age": [30, 30, 200, -4, 51, None, 7],
    "cost": [0.1, None, 12.25, 3.0, 7.05, 1e9, 2.0],
    "day": [date(1969, 12, 31), date(2024, 2, 29), None, date(2024, 3, 1), date(1900, 1, 1), date(2024, 2, 1), None],
    "flag": [True, False, None, True, True, False, True],
}
TYPES = {
    "person": pa.int64(),
    "region": pa.string(),
    "age": pa.int64(),
    "cost": pa.float64(),
    "day": pa.date32(),
    "flag": pa.bool_(),
}
COLUMNS: dict[str, dict[str, object]] = {
    "person": {"type": "integer"},
    "region": {"type": "text", "keys": ["north", "süd", "it's"]},
    "age": {"type": "integer", "bounds": (0, 110)},
    "cost": {"type": "decimal", "bounds": [0, "10.5"], "step": "0.05"},
    "day": {"type": "date"},
    "flag": {"type": "boolean"},
}
QUESTION = (
    "SELECT region, COUNT(*) AS n, SUM(age) AS a, SUM(cost) AS c, COUNT(DISTINCT person) AS p, "
    "COUNT(*) FILTER (WHERE flag AND day > '1950-01-01') AS f FROM t GROUP BY region"
)


def arrow() -> pa.Table:
    return pa.table({name: pa.array(values, type=TYPES[name]) for name, values in DATA.items()})


def _csv(path: Path) -> Path:
    target = path / "t.csv"
    lines = [",".join(DATA)]
    for row in zip(*DATA.values(), strict=True):
        texts = ["" if value is None else str(value) for value in row]
        lines.append(",".join(f'"{text}"' if text and i % 2 else text for i, text in enumerate(texts)))
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return target


def _parquet(path: Path) -> Path:
    target = path / "o'dd name.parquet"
    pq.write_table(arrow(), target)
    return target


def _objects(_: Path) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(values, dtype="object") for name, values in DATA.items()})


MAKERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "pandas": ("pandas", lambda _: pd.DataFrame(DATA).astype({"region": "category"})),
    "pandas of nullable types": ("pandas", lambda _: arrow().to_pandas(types_mapper=pd.ArrowDtype)),
    "pandas of objects": ("pandas", _objects),
    "polars": ("polars", lambda _: pl.from_arrow(arrow())),
    "polars categories": ("polars", lambda _: pl.DataFrame(pl.from_arrow(arrow())).cast({"region": pl.Categorical})),
    "polars, lazy": ("polars-lazy", lambda _: pl.DataFrame(pl.from_arrow(arrow())).lazy()),
    "arrow": ("arrow", lambda _: arrow()),
    "arrow, in chunks": ("arrow", lambda _: pa.concat_tables([arrow().slice(0, 3), arrow().slice(3)])),
    "duckdb": ("duckdb", lambda _: duckdb.connect().from_arrow(arrow())),
    "parquet": ("parquet", _parquet),
    "parquet as text": ("parquet", lambda path: str(_parquet(path))),
    "csv": ("csv", _csv),
}


@pytest.mark.parametrize("name", MAKERS)
def test_all_kinds_of_source_give_the_same_numbers(name: str, tmp_path: Path) -> None:
    kind, make = MAKERS[name]
    table = Table(make(tmp_path), limits={"rows": 2}, columns=COLUMNS)
    assert table.kind == kind
    declared = schema({"t": table}, AddRemove(key="person"))
    program = plan(read(QUESTION, declared, evaluate), declared, 2)
    with DuckDB({"t": table}, declared) as engine:
        found = [engine.run(program) for _ in range(2)]
    rows = [dict(zip(DATA, row, strict=True)) for row in zip(*DATA.values(), strict=True)]
    wanted, _ = reference.run(program, declared, rows)
    # Twice: a stream that is used up would be seen in the second answer.
    for result in found:
        assert worlds.by_key(result) == wanted
    assert all(any(numbers) for numbers in wanted.values())


def test_types_come_from_metadata() -> None:
    frame = pd.DataFrame(
        {
            "small": np.array([1], dtype=np.int8),
            "unsigned": np.array([2**64 - 1], dtype=np.uint64),
            "single": np.array([0.5], dtype=np.float32),
            "when": pd.to_datetime(["2024-01-01 12:00"]),
            "zoned": pd.to_datetime(["2024-01-01 12:00"]).tz_localize("Europe/Paris"),
            "word": pd.Series(["1"], dtype="str"),
            "kind": pd.Series(["a"], dtype="category"),
            "thing": pd.Series([{}], dtype="object"),
            "length": pd.to_timedelta(["1D"]),
        }
    )
    table = Table(frame)
    found = {column.name: column.type for column in table.schema("t", {}).columns}
    assert found == {
        "small": "integer", "unsigned": "integer", "single": "decimal", "when": "timestamp", "zoned": "timestamp",
        "word": "text", "kind": "text", "thing": "text",
    }  # fmt: skip
    assert table.notes == ("Column length is of type INTERVAL, which questions cannot use.",)
    narrow = Table(pa.table({"n": pa.array([1], pa.decimal128(4, 1))}), columns={"n": {"bounds": ("0.01", "0.09")}})
    with pytest.raises(errors.DataError, match="no value of the column lies between"):
        narrow.schema("t", {})
    nested = Table(pa.table({"x": [[1]], "y": [{"a": 1}], "z": [b"a"], "n": pa.array([1], pa.decimal128(20, 2))}))
    assert [column.type for column in nested.schema("t", {}).columns] == ["decimal"]
    assert len(nested.notes) == 3


def test_objects_are_text_and_keys_need_no_type() -> None:
    """In pandas 2 every text is an object; nothing is looked at to see whether it is one."""
    frame = pd.DataFrame({"p": [1, 2, 3], "s": pd.Series(["a", None, 7], dtype="object")})
    table = Table(frame, limits={"rows": 1}, columns={"s": {"keys": ["a", "7"]}})
    assert table.notes == ()
    declared = schema({"t": table}, AddRemove(key="p"))
    program = plan(read("SELECT s, COUNT(*) AS n FROM t GROUP BY s", declared, evaluate), declared, 2)
    with DuckDB({"t": table}, declared) as engine:
        assert engine.run(program).measures[0].tolist() == [2**20, 2**20]


def test_a_declared_column_that_is_there_and_hidden_is_not_called_missing() -> None:
    frame = pa.table({"p": [1], "tags": [["a"]], "region": ["north"]})
    with pytest.raises(errors.DataError, match=r"column 'Tags' is of type VARCHAR\[\], which questions cannot use"):
        Table(frame, columns={"Tags": {"keys": ["a"]}})
    with pytest.raises(errors.DataError, match=r"no column 'regoin'.*Did you mean 'region'"):
        Table(frame, columns={"regoin": {"keys": ["a"]}})
    wide = pa.table({f"c{i}": [1] for i in range(100)})
    with pytest.raises(errors.DataError, match=r"c39 and 60 more\.$"):
        Table(wide, columns={"zzz": {}})


def test_a_column_that_is_replaced_later_is_still_the_old_one() -> None:
    frame = pd.DataFrame({"x": [1, 2], "s": ["a", "b"]})
    table = Table(frame, public=True)
    frame["x"] = [3.5, 4.5]
    frame["s"] = frame["s"].astype("category")
    assert (table.values("x"), table.values("s")) == ([1, 2], ["a", "b"])


def test_ten_thousand_columns_are_opened_by_their_types() -> None:
    """One column of each type is described to the engine, and only what a question reads is made up for it."""
    frame = pd.DataFrame({f"c{i}": np.arange(2, dtype=[np.int64, np.float64, np.int8][i % 3]) for i in range(10_000)})
    described: list[int] = []

    def counted(*arguments: Any, given: Any) -> Any:
        described.append(given.shape[1])
        return origin.described(*arguments, given=given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "described", counted)
        table = Table(frame, limits={"rows": 1}, columns={"c3": {"bounds": (0, 9)}})
    assert described == [3]
    declared = schema({"t": table}, AddRemove(key="c0"))
    program = plan(read("SELECT SUM(c3) AS s FROM t WHERE c5 < 7", declared, evaluate), declared, 2)
    with DuckDB({"t": table}, declared) as engine:
        engine.rehearse(program)
        made = engine._stage.connection.execute("DESCRIBE some0").fetchall()
        assert [row[0] for row in made] == ["c0", "c3", "c5"]
        assert engine.run(program).measures[0].tolist() == [2**20]


def test_csv_is_text_unless_declared(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('\ufeffa,B c,d\n1,"x,\n""y",2024-01-01\n2\nbad"quote,1,2,3,4\n007,,\n', encoding="utf-8")
    table = Table(path, public=True, columns={"a": {"type": "integer"}})
    assert [(column.name, column.type) for column in table.schema("t", {}).columns] == [
        ("a", "integer"),
        ("B c", "text"),
        ("d", "text"),
    ]
    assert table.values("a")[:2] == [1, 2]
    assert table.values("b C")[0] == 'x,\n"y'
    assert table.values("a")[-1] == 7


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_values_that_do_not_fit_their_type_are_null(kind: str, tmp_path: Path) -> None:
    lines = [
        "i,d,t,m,b",
        "x,nan,2024-02-30,never,maybe",
        "1e3,inf,infinity,9999-12-31,yes",
        "99999999999999999999,1e999,2024-02-29,12:00,t",
    ]
    path = tmp_path / f"x.{kind}"
    if kind == "csv":
        path.write_text("\n".join(lines), encoding="utf-8")
    frame = pa.table({line[0]: pa.array(line[1:]) for line in zip(*(each.split(",") for each in lines), strict=True)})
    if kind == "parquet":
        pq.write_table(frame, path)
    kinds = {"i": "integer", "d": "decimal", "t": "date", "m": "timestamp", "b": "boolean"}
    source: Any = frame if kind == "arrow" else path
    table = Table(source, public=True, columns={name: {"type": each} for name, each in kinds.items()})
    assert table.values("i") == [None, 1000, 99999999999999999999]
    assert table.values("d") == [None, None, None]
    assert table.values("t") == [None, None, date(2024, 2, 29)]
    assert table.values("m") == [None, datetime(9999, 12, 31), None]
    assert table.values("b")[0] is None


def test_keys_may_come_from_a_public_table() -> None:
    public = Table(pd.DataFrame({"region": ["b", "a", None, "b"], "n": [1.5, 2.5, 0.1, 1.5]}), public=True)
    private = Table(
        pd.DataFrame({"p": [1], "r": ["a"], "x": [1.5]}),
        columns={"r": {"keys": "Regions.region"}, "x": {"keys": "regions.n"}},
    )
    declared = schema({"t": private, "regions": public}, AddRemove(key="p"))
    assert declared.tables["t"].column("R").keys == ("b", "a")  # type: ignore[union-attr]
    assert declared.tables["t"].column("x").keys == (Fraction(3, 2), Fraction(5, 2), Fraction(1, 10))  # type: ignore[union-attr]


def test_keys_mean_what_was_typed() -> None:
    frame = pd.DataFrame({"p": [1], "i": [1], "d": [0.5], "s": ["a"], "b": [True], "t": [1], "m": [1]})
    given: dict[str, dict[str, object]] = {
        "i": {"keys": [1, Decimal(2), None]},
        "d": {"keys": [0.1, "1/3", 2]},
        "b": {"keys": [True, False]},
        "t": {"type": "date", "keys": ["2024-02-29", date(1969, 12, 31)]},
        "m": {"type": "timestamp", "keys": ["2024-02-29 10:00", date(1969, 12, 31)]},
    }
    columns = {column.name: column.keys for column in Table(frame, columns=given).schema("t", {}).columns}
    assert columns["i"] == (1, 2, None)
    assert columns["d"] == (Fraction(1, 10), Fraction(1, 3), Fraction(2))
    assert columns["t"] == (date(2024, 2, 29), date(1969, 12, 31))
    assert columns["m"] == (datetime(2024, 2, 29, 10), datetime(1969, 12, 31))


FRAME = pd.DataFrame({"p": [1], "x": [1], "s": ["a"], "d": [0.5]})
BAD: list[tuple[dict[str, Any], str]] = [
    ({"columns": {"y": {}}}, "no column 'y'"),
    ({"columns": {"x": {}, "X": {}}}, "two columns are called 'X'"),
    ({"columns": {"x": {"bound": (0, 1)}}}, "Did you mean 'bounds'"),
    ({"columns": {"x": {"bounds": (1, 0)}}}, "the bounds are reversed"),
    ({"columns": {"x": {"bounds": 3}}}, "expected two numbers"),
    ({"columns": {"x": {"bounds": (0, float("nan"))}}}, "expected a finite number"),
    ({"columns": {"x": {"step": 0}}}, "must be greater than 0"),
    ({"columns": {"x": {"type": "int"}}}, "unknown type"),
    ({"columns": {"x": {"keys": {1, 2}}}}, "a set has no order"),
    ({"columns": {"x": {"keys": 5}}}, "expected a list of keys"),
    ({"columns": {"x": 5}}, "expected a mapping"),
    ({"columns": 5}, "expected a mapping"),
    ({"columns": {5: {}}}, "name must be a text"),
    ({"limits": 5}, "expected a mapping"),
    ({"limits": {"rows": 0}}, "must be a whole number, 1 or greater"),
    ({"limits": {"row": 1}}, "Did you mean 'rows'"),
    ({"limits": {"rows": 1}, "public": True}, "a public table has no limits"),
]
LATER: list[tuple[dict[str, Any], str]] = [
    ({"s": {"bounds": (0, 1)}}, "only numbers have bounds"),
    ({"s": {"step": 1}}, "only numbers have step"),
    ({"x": {"bounds": ("0.2", "0.8")}}, "no whole number lies between"),
    ({"x": {"keys": []}}, "the list of keys is empty"),
    ({"x": {"keys": [1, 1]}}, "a key is listed twice"),
    ({"x": {"keys": ["a"]}}, "a key has the wrong type"),
    ({"x": {"keys": [1.5]}}, "a key has the wrong type"),
    ({"x": {"type": "boolean", "keys": [1]}}, "a key has the wrong type"),
    ({"x": {"type": "date", "keys": ["2024-01-01 10:00"]}}, "a key has the wrong type"),
    ({"x": {"type": "timestamp", "keys": ["2024-01-01 10:00+01:00"]}}, "a key has the wrong type"),
    ({"s": {"keys": [1]}}, "a key has the wrong type"),
    ({"s": {"keys": "elsewhere.s"}}, "no public column"),
    ({"s": {"keys": "t.s"}}, "no public column"),
    ({"s": {"keys": "regions.zz"}}, "no public column"),
]


@pytest.mark.parametrize(("given", "message"), BAD, ids=str)
def test_bad_declarations_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.InputError, match=message):
        Table(FRAME, **given)


@pytest.mark.parametrize(("columns", "message"), LATER, ids=str)
def test_declarations_that_do_not_fit_the_data_are_refused(columns: dict[str, Any], message: str) -> None:
    tables = {"t": Table(FRAME, columns=columns), "regions": Table(FRAME, public=True)}
    with pytest.raises(errors.InputError, match=message):
        schema(tables, AddRemove(key="p"))


def test_bad_sources_are_refused(tmp_path: Path) -> None:
    doubled = pd.DataFrame([[1, 2]], columns=["a", "A"])
    text = tmp_path / "x.txt"
    text.write_text("a")
    broken = tmp_path / "x.parquet"
    broken.write_text("not parquet")
    empty = tmp_path / "x.csv"
    empty.write_text("")
    star = tmp_path / "x*.csv"
    star.write_text("a\n1\n")
    cases: list[tuple[object, str]] = [
        (doubled, "two columns are called 'A'"),
        (pd.DataFrame([[1]], columns=[0]), "name must be a text"),
        (pd.Series([1]), "expected a DataFrame"),
        (pl.Series([1]), "expected a DataFrame or a LazyFrame"),
        (arrow().schema, "expected an Arrow table"),
        (duckdb.connect(), "expected a DuckDB relation"),
        ({"a": [1]}, "cannot read a table from this"),
        (text, "expected a .parquet or .csv file"),
        (tmp_path / "none.csv", "there is no such file"),
        (broken, "not readable as parquet"),
        (empty, "the first line must hold"),
        (star, r"the path holds one of"),
    ]
    for source, message in cases:
        with pytest.raises(errors.DataError, match=message):
            Table(source)


def test_the_unit_must_be_in_every_private_table() -> None:
    private, public = Table(FRAME), Table(FRAME, public=True)
    with pytest.raises(errors.SpecificationError, match="'t' has no column 'person' to protect"):
        schema({"t": private}, AddRemove(key="person"))
    with pytest.raises(errors.SpecificationError, match="has no calendar"):
        schema({"t": private}, Replace(key="p", per={"column": "x", "period": "day"}))
    with pytest.raises(errors.DataError, match="no table is private"):
        schema({"t": public}, AddRemove(key="person"))
    with pytest.raises(errors.DataError, match="two columns are called"):
        schema({"t": private, "T": private}, AddRemove(key="p"))
    assert schema({"t": private, "u": public}, AddRemove()).table("T") is not None


def test_only_public_tables_have_values_and_a_digest() -> None:
    private, public = Table(FRAME), Table(FRAME, public=True)
    for ask in (private.digest, lambda: private.values("x"), lambda: public.values("zz")):
        with pytest.raises(errors.DataError, match="public"):
            ask()
    other = Table(pd.DataFrame({"p": [1], "x": [2], "s": ["a"], "d": [0.5]}), public=True)
    same = Table(pa.table({"p": [1], "x": [1], "s": ["a"], "d": [0.5]}), public=True)
    assert public.digest() == same.digest() != other.digest()
    assert "0.5" not in repr(private)


def test_a_frame_needs_no_pyarrow() -> None:
    code = """
        import pandas as pd, polars as pl, duckdb
        from quincunx.table.table import Table, schema
        from quincunx.table.engines import DuckDB, evaluate
        from quincunx.table.sql import read
        from quincunx.table.rules import plan
        from quincunx.spec.unit import AddRemove
        data = {"p": [1, 1, 2], "s": ["a", "b", None]}
        for source in (pd.DataFrame(data), pl.DataFrame(data), pl.DataFrame(data).lazy(),
                       duckdb.connect().sql("SELECT * FROM (VALUES (1, 'a'), (1, 'b'), (2, NULL)) AS t(p, s)")):
            table = Table(source, limits={"rows": 5})
            declared = schema({"t": table}, AddRemove(key="p"))
            program = plan(read("SELECT COUNT(s) AS n FROM t", declared, evaluate), declared, 1)
            with DuckDB({"t": table}, declared) as engine:
                assert engine.run(program).measures[0].tolist() == [2 * 2**20]
        print("done")
    """
    assert run_without(("pyarrow",), code).strip() == "done"


def dated(bounds: Any, kind: str = "date", **more: Any) -> Any:
    frame = pd.DataFrame({"p": [1], "d": pd.Series(["2024-01-01"], dtype="datetime64[us]")})
    table = Table(frame, columns={"d": {"type": kind, "bounds": bounds, **more}})
    return schema({"t": table}, AddRemove(key="p")).tables["t"].column("d")


def test_dates_have_bounds() -> None:
    assert dated(("2024-01-01", "2024-02-29")).span == (date(2024, 1, 1), date(2024, 2, 29))
    assert dated((date(2024, 1, 1), date(2024, 1, 1))).span == (date(2024, 1, 1), date(2024, 1, 1))
    # A last day without a time of day is in it to its end.
    ends = (datetime(2024, 1, 1), datetime(2024, 2, 29, 23, 59, 59, 999999))
    assert dated(("2024-01-01", "2024-02-29"), "timestamp").span == ends
    assert dated((date(2024, 1, 1), date(2024, 2, 29)), "timestamp").span == ends
    moments = (datetime(2024, 1, 1, 8), datetime(2024, 2, 29))
    assert dated(("2024-01-01 08:00:00", "2024-02-29 00:00:00"), "timestamp").span == moments


@pytest.mark.parametrize(
    ("bounds", "kind", "words"),
    [
        (("2024-02-29", "2024-01-01"), "date", "reversed"),
        (("2024-02-30", "2024-03-01"), "date", "a bound is no date"),
        (("2024-01-01 10:00", "2024-03-01"), "date", "a bound is no date"),
        ((0, "2024-03-01"), "timestamp", "a bound is no timestamp"),
        (("2024-01-01",), "date", "expected two"),
        ((0, 5), "date", "the bounds of dates are dates"),
        (("2024-01-01", "2024-03-01"), "integer", "only dates have dates as bounds"),
        ((0, 5), "text", "only numbers have bounds"),
    ],
)
def test_bounds_that_are_no_dates(bounds: Any, kind: str, words: str) -> None:
    with pytest.raises(errors.DataError, match=words) as caught:
        dated(bounds, kind)
    assert caught.value.hint


def test_a_column_is_declared_not_null() -> None:
    assert dated(None).nullable
    assert not dated(None, null=False).nullable
    with pytest.raises(errors.DataError, match="expected true or false"):
        dated(None, null="no")
