"""Several Parquet files as one table: the numbers of one file, a list that is frozen, and no name that is shown."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

import quincunx as qx
from quincunx.data import connect
from quincunx.data.folder import literal
from quincunx.errors import DataError, UnavailableError
from quincunx.spec.unit import AddRemove
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.rules import plan
from quincunx.table.sql import read
from quincunx.table.table import Table, schema
from tests.data.test_origin import PIECES, decoded, packed
from tests.table.test_opening import reachable

CANARY = "canary-5e1c"


def numbers(table: Table, sql: str, key: str = "p") -> list[Any]:
    declared = schema({"t": table}, AddRemove(key=key))
    program = plan(read(sql, declared, evaluate), declared, 1)
    with DuckDB({"t": table}, declared) as engine:
        return [measure.tolist()[0] / 2**20 for measure in engine.run(program).measures]


def rows(path: Path, **columns: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


@pytest.fixture
def years(tmp_path: Path) -> Path:
    """Rows by year and city; with what writers leave behind."""
    folder = tmp_path / "visits"
    rows(folder / "year=2023" / "city=Ghent" / "a.parquet", p=[1, 2], x=[1, 2])
    rows(folder / "year=2024" / "city=Sint%2DNiklaas" / "a.parquet", p=[1], x=[4])
    rows(folder / "year=2024" / "city=__HIVE_DEFAULT_PARTITION__" / "b.PARQUET", p=[3, 4], x=[8, 16])
    for other in ("_SUCCESS", ".hidden.parquet", "_temporary/x.parquet", "readme.txt"):
        (folder / other).parent.mkdir(exist_ok=True)
        (folder / other).write_text("no parquet")
    return folder


SUM = (
    "SELECT SUM(x) AS s, COUNT(city) AS c, SUM(x) FILTER (WHERE year = 2024) AS y FROM t WHERE city <> 'Ghent' OR TRUE"
)
DECLARED: dict[str, Any] = {"x": {"bounds": (0, 100)}, "year": {"type": "integer"}}


@pytest.mark.parametrize("pattern", ["", "**/*.[pP]*", "*/*/*", "year=*/*/*.[pP][aA]*"])
def test_folders_and_patterns_are_one_table(years: Path, pattern: str) -> None:
    table = Table(str(years / pattern) if pattern else years, limits={"rows": 5}, columns=DECLARED)
    assert [(column.name, column.type) for column in table.schema("t", {}).columns] == [
        ("p", "integer"), ("x", "integer"), ("year", "integer"), ("city", "text"),
    ]  # fmt: skip
    assert table.kind == "parquet"
    assert numbers(table, SUM) == [31, 3, 28]


def test_values_of_folders_are_texts_that_may_be_anything(tmp_path: Path) -> None:
    texts = ["a b/c", "é=1", "100%", "it's", "a\0b", "[x]*?", "", "漢"]
    for i, text in enumerate(texts):
        rows(tmp_path / "t" / f"k={quote(text, safe='')}" / "r.parquet", n=[i])
    rows(tmp_path / "t" / "k=%FF" / "r.parquet", n=[len(texts)])
    table = Table(tmp_path / "t", public=True)
    assert dict(zip(table.values("n"), table.values("k"), strict=True)) == dict(enumerate([*texts, None]))


def test_names_of_files_are_no_patterns(tmp_path: Path) -> None:
    for i, name in enumerate(
        ["a[1].parquet", "a1.parquet", "b*.parquet", "bc.parquet", "d?.parquet", "k=[x]/1.parquet"]
    ):
        rows(tmp_path / "t" / "k=0" / name if "/" not in name else tmp_path / "t" / name, n=[i])
    assert sorted(Table(tmp_path / "t", public=True).values("n")) == [0, 1, 2, 3, 4, 5]
    assert Table(tmp_path / "t" / "k=0" / "b*.parquet", public=True).values("n") == [2]
    assert literal("a[1]*?.x") == "a[[]1][*][?].x"


def test_a_key_that_the_files_hold_is_read_from_them(tmp_path: Path) -> None:
    rows(tmp_path / "t" / "k=1" / "Year=2" / "r.parquet", year=[7], n=[1])
    assert Table(tmp_path / "t", public=True).values("year") == [7]
    assert Table(tmp_path / "t", public=True).values("k") == ["1"]
    rows(tmp_path / "u" / "k=1" / "r.parquet", file_index=[7])
    with pytest.raises(DataError, match="can be called file_index"):
        Table(tmp_path / "u")


@pytest.mark.parametrize("threads", [1, 4])
def test_both_readings_go_through_the_files_in_one_order(tmp_path: Path, threads: int) -> None:
    draw = random.Random("folder")
    wanted: dict[int, tuple[str | None, str | None]] = {}
    for place in range(12):
        count = draw.choice([0, 1, 3, 2_500]) if place else 0
        texts = [b"".join(draw.choice(PIECES) for _ in range(draw.randrange(4))) for _ in range(count)]
        table = packed(texts)
        ids = pa.array(range(len(wanted), len(wanted) + count), pa.int64())
        wanted |= {len(wanted) + i: (decoded(text), f"v{place}") for i, text in enumerate(texts)}
        path = tmp_path / "t" / f"k=v{place}" / "r.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(table.set_column(0, "id", ids), path, row_group_size=700)
    origin = Table(tmp_path / "t").origin
    connection = connect(origin.paths, threads)
    with origin.reading(connection, ["id", "s", "k"]) as relation:
        for condition in ("TRUE", "k = 'v3' OR s = 'a'"):
            sql = exp.select("id", "s", "k").from_(relation).where(condition).sql(dialect="duckdb")
            found = connection.execute(sql).fetchall()
            assert found
            assert all(wanted[i] == (text, key) for i, text, key in found)
            assert condition != "TRUE" or len(found) == len(wanted) > 2_500
    assert any(text is None for text, _ in wanted.values())


def test_moments_in_milliseconds_stand_beside_values_of_folders(tmp_path: Path) -> None:
    for day in (1, 2, 3):
        moments = pa.array([day * 86_400_000], pa.timestamp("ms"))
        rows(tmp_path / "t" / f"k={day}" / "r.parquet", p=[day], day=moments, s=[f"s{day}"])
    table = Table(tmp_path / "t", limits={"rows": 1}, columns={"k": {"type": "integer", "bounds": (0, 9)}})
    assert numbers(table, "SELECT SUM(k) AS n FROM t WHERE day > TIMESTAMP '1970-01-02 12:00:00' AND s <> ''") == [5]


def test_the_list_is_frozen_when_the_table_is_opened(years: Path) -> None:
    table = Table(years, limits={"rows": 5}, columns=DECLARED)
    rows(years / "year=2024" / "city=New" / "a.parquet", p=[9], x=[32])
    rows(years / "year=2024" / "city=Other" / "a.parquet", p=["nine"])
    assert numbers(table, SUM) == [31, 3, 28]
    next((years / "year=2023").rglob("*.parquet")).unlink()
    with pytest.raises(UnavailableError, match="could not compute the question"):
        numbers(table, SUM)


def test_the_engine_reaches_the_listed_files_alone(years: Path) -> None:
    table = Table(years)
    later = years / "year=2024" / "city=New" / "a.parquet"
    rows(later, p=[9], x=[32])
    connection = connect(table.origin.paths, folders=table.origin.folders)
    for path in (later, years / "*" / "*" / "*.parquet"):
        with pytest.raises(Exception, match=r"disabled|No files|Permission"):
            connection.execute("SELECT * FROM read_parquet(?)", [str(path)])


def test_no_name_of_a_file_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    for name in (CANARY, "plain"):
        rows(folder / f"city={name}" / f"{name}.parquet", p=[1], s=["a"])
    table = Table(folder, limits={"rows": 5}, columns={"city": {"keys": ["plain", "other"]}})
    shown = [repr(table), repr(table.origin), repr(table.notes), repr(table.origin.fields)]
    with qx.Session(
        dataset="d", version="1", ledger=":memory:", tables={"t": table}, unit=AddRemove(key="p"),
        standard=qx.standard.Pure(), intensity=1,
    ) as session:  # fmt: skip
        for sql in ("SELECT COUNT(*) AS n FROM t WHERE s <> 'b'", "SELECT city, COUNT(*) AS n FROM t GROUP BY city"):
            said = session.explain(sql, spend="1/4")
            shown += [str(said), repr(said), said.engine_sql, str(said.to_dict()), str(session.sql(sql, spend="1/4"))]
        (folder / f"city={CANARY}" / f"{CANARY}.parquet").unlink()
        with pytest.raises(Exception) as failed:  # noqa: PT011 - whatever it is, it must not tell
            session.sql("SELECT COUNT(*) AS n FROM t", spend="1/4")
        shown += [reachable(failed.value), str(session.notes)]
    assert str(folder) in shown[6]
    assert not [each for each in shown if CANARY in each]


def test_what_cannot_be_one_table_is_refused_without_a_name(tmp_path: Path) -> None:
    def refused(message: str) -> None:
        with pytest.raises(DataError, match=message) as error:
            Table(tmp_path / "t")
        assert CANARY not in reachable(error.value)
        assert str(tmp_path / "t") in str(error.value)

    (tmp_path / "t").mkdir()
    refused("there is no Parquet file")
    rows(tmp_path / "t" / "k=a" / "r.parquet", p=[1], x=[1])
    other = tmp_path / "t" / f"k={CANARY}" / "r.parquet"
    for columns in ({"p": [1], "x": [1.5]}, {"p": [1]}, {"p": [1], "x": [1], "y": [2]}):
        rows(other, **columns)
        refused("do not all hold column '[xy]' in one type")
    rows(other, x=[1], p=[1])
    assert Table(tmp_path / "t", public=True).values("x") == [1, 1]
    other.write_text(CANARY)
    refused("a file is not readable as parquet")
    other.unlink()
    rows(tmp_path / "t" / f"city={CANARY}" / "r.parquet", p=[1], x=[1])
    refused("the folders do not all have the same keys")
    for source in (tmp_path / "t" / "*.csv", tmp_path / "t" / "none*.parquet"):
        with pytest.raises(DataError, match="there is no Parquet file"):
            Table(source)
    with pytest.raises(DataError, match="only CSV files have a separator"):
        Table(tmp_path / "t", separator=";")


def test_a_folder_that_cannot_be_read_is_not_left_out_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows(tmp_path / "t" / "k=a" / "r.parquet", p=[1])
    rows(tmp_path / "t" / f"k={CANARY}" / "r.parquet", p=[1])
    listed = os.scandir

    def scandir(path: str) -> Any:
        if CANARY in path:
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(DataError, match="a folder below it cannot be read") as error:
        Table(tmp_path / "t")
    assert CANARY not in reachable(error.value)


def test_a_reader_of_batches_is_read_once_and_at_the_first_question() -> None:
    asked = []

    def batches() -> Any:
        for i in range(3):
            asked.append(i)
            yield pa.record_batch({"p": [i], "x": [i + 1]})

    kind = pa.schema([("p", pa.int64()), ("x", pa.int64())])
    reader = pa.RecordBatchReader.from_batches(kind, batches())
    table, again = (Table(reader, limits={"rows": 1}, columns=DECLARED_X) for _ in range(2))
    assert (table.kind, asked) == ("arrow", [])
    assert [numbers(each, "SELECT SUM(x) AS s FROM t") for each in (table, again, table)] == [[6], [6], [6]]
    assert asked == [0, 1, 2]
    batch = Table(pa.record_batch({"p": [1], "x": [2]}), limits={"rows": 1}, columns=DECLARED_X)
    assert numbers(batch, "SELECT SUM(x) AS s FROM t") == [2]


DECLARED_X: dict[str, Any] = {"x": {"bounds": (0, 9)}}


def test_the_rest_of_a_reader_that_failed_is_never_taken_for_the_whole() -> None:
    def batches() -> Any:
        yield pa.record_batch({"p": [1], "x": [1]})
        raise ValueError(CANARY)

    table = Table(
        pa.RecordBatchReader.from_batches(pa.schema([("p", pa.int64()), ("x", pa.int64())]), batches()),
        limits={"rows": 1},
        columns=DECLARED_X,
    )
    for _ in range(2):
        with pytest.raises(UnavailableError) as failed:
            numbers(table, "SELECT SUM(x) AS s FROM t")
        assert CANARY not in reachable(failed.value)
