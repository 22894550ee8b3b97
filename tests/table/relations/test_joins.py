"""Joins: who meets whom, who is left out before anybody does, and that DuckDB gives the same numbers."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import quincunx as qx
from quincunx.data import frame_name
from quincunx.errors import QueryError, RefusalError
from quincunx.release.identity import public_digest
from quincunx.spec import AddRemove
from quincunx.table import Table
from quincunx.table.aggregates import Count
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.plan import Query
from quincunx.table.relations import Join, Kind, Lookup, Scan
from quincunx.table.rules import plan
from quincunx.table.schema import Limits, Schema
from quincunx.table.sql import read
from quincunx.table.table import schema
from tests.table.relations.locality import declared

PERSON = AddRemove(key="k")


def frame(rows: Sequence[tuple[Any, ...]], **kinds: pa.DataType) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    return pa.table({name: pa.array(values, kind) for (name, kind), values in zip(kinds.items(), columns, strict=True)})


def numbers(rows: Sequence[tuple[Any, ...]], name: str = "x") -> pa.Table:
    return frame(rows, **{"k": pa.int64(), name: pa.int64()})


def counted(tables: Mapping[str, Table], question: str | Query, unit: AddRemove = PERSON) -> list[int]:
    """The exact measures of a question without groups, in whole units."""
    declared = schema(tables, unit)
    query = read(question, declared, evaluate) if isinstance(question, str) else question
    program = plan(query, declared, 1)
    with DuckDB(tables, declared, threads=1) as engine:
        engine.rehearse(program)
        found = engine.run(program).measures
    return [int(each[0]) >> measure.fraction for each, measure in zip(found, program.measures, strict=True)]


class TestOwners:
    def test_a_clipped_key_licenses_no_join(self) -> None:
        clipped = {"k": {"bounds": (0, 1000)}}
        tables = {
            "a": Table(numbers([(1001, 1)]), limits={"rows": 1}, columns=clipped),
            "b": Table(numbers([(1002, 1)]), limits={"rows": 1}, columns=clipped),
        }
        with pytest.raises(RefusalError, match="k has bounds, keys or decimals") as refused:
            read("SELECT COUNT(*) FROM a JOIN b ON a.k = b.k", schema(tables, PERSON), evaluate)
        assert refused.value.excerpt

    @pytest.mark.parametrize("kind", ["inner", "left", "full"])
    def test_people_who_look_alike_do_not_meet(self, kind: Kind) -> None:
        """Were it licensed, the number would be wrong and nobody would meet another: hidden owners are compared."""
        clipped = {"k": {"bounds": (0, 1000)}}
        rows = {"a": [(1001, 1), (1003, 1)], "b": [(1002, 1), (1003, 1)]}
        tables = {name: Table(numbers(each), limits={"rows": 1}, columns=clipped) for name, each in rows.items()}
        declared = schema(tables, PERSON)
        left, right = (Scan(table=declared.tables[name], unit=PERSON, number=i) for i, name in enumerate("ab"))
        pairs = Join(left=left, right=right, kind=kind).with_supplied()
        query = Query(rows=pairs, keys=(), aggregates=(Count(),), outputs=())
        assert counted(tables, query) == [{"inner": 1, "left": 2, "full": 3}[kind]]

    def test_owners_that_differ_in_case_are_two_whatever_a_source_collates(self) -> None:
        connection = duckdb.connect()
        connection.execute("CREATE TABLE a (k VARCHAR COLLATE NOCASE, x BIGINT)")
        connection.execute("INSERT INTO a VALUES ('Ann', 1), ('ann', 2)")
        tables = {"a": Table(connection.table("a"), limits={"rows": 2})}
        assert counted(tables, "SELECT COUNT(*) FROM a AS l JOIN a AS r ON l.k = r.k") == [2]
        assert connection.execute("SELECT COUNT(*) FROM a AS l JOIN a AS r ON l.k = r.k").fetchall() == [(4,)]
        connection.close()

    def test_keys_of_two_types_are_refused(self) -> None:
        texts = frame([("1", 1), ("01", 2)], k=pa.string(), x=pa.int64())
        tables = {"a": Table(numbers([(1, 1)]), limits={"rows": 1}), "b": Table(texts, limits={"rows": 1})}
        for text in ("a.k = CAST(b.k AS BIGINT)", "a.x = b.x", "TRUE"):
            with pytest.raises(RefusalError, match="k is integer here and text there"):
                read(f"SELECT COUNT(*) FROM a JOIN b ON {text}", schema(tables, PERSON), evaluate)

    def test_columns_of_two_types_are_not_compared(self) -> None:
        public = Table(frame([("x",)], x=pa.string()), public=True)
        tables = {"a": Table(numbers([(1, 1)]), limits={"rows": 1}), "p": public}
        for on in ("ON a.x = p.x", "USING (x)"):
            with pytest.raises(QueryError):
                read(f"SELECT COUNT(*) FROM a JOIN p {on}", schema(tables, PERSON), evaluate)

    def test_without_a_key_nothing_is_joined(self) -> None:
        """One row would count fifty times with noise for one."""
        public = Table(frame([(1,)] * 50, z=pa.int64()), public=True)
        tables = {"a": Table(numbers([(1, 1)])), "p": public}
        declared = schema(tables, AddRemove())
        for question in ("FROM a CROSS JOIN p", "FROM a JOIN p ON a.x = p.z", "FROM a l JOIN a r ON l.k = r.k"):
            with pytest.raises(RefusalError, match="each row is a person of its own"):
                read(f"SELECT COUNT(*) {question}", declared, evaluate)
        left, right = (Scan(table=declared.tables[name], unit=AddRemove(), number=i) for i, name in enumerate("ap"))
        query = Query(rows=Lookup(left=left, right=right), keys=(), aggregates=(Count(),), outputs=())
        with pytest.raises(RefusalError, match="no column says whose"):
            plan(query, declared, 1)


class TestCap:
    @pytest.mark.parametrize("most", [10, 20, 30])
    @pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    def test_who_has_too_many_pairs_is_left_out_with_every_row(self, join: str, most: int) -> None:
        """1 has 2·2 pairs, 2 has 3·2, 3 and 4 are on one side only."""
        left = [(1, 0), (1, 1), *((2, x) for x in range(3)), (3, 0), (3, 1)]
        right = [(1, 0), (1, 1), (2, 0), (2, 1), (4, 0), (4, 1), (4, 2)]
        limits = {"rows": 20, "joined": 4}
        tables = {
            "a": Table(numbers(left), limits=limits),
            "b": Table(numbers(right, "y"), limits={"rows": most, "joined": 9}),
        }
        found = counted(tables, f"SELECT COUNT(*) FROM a {join} b ON a.k = b.k AND a.x = b.y")
        assert found == [{"JOIN": 2, "LEFT JOIN": 4, "RIGHT JOIN": 5, "FULL JOIN": 7}[join]]

    def test_the_cap_is_a_limit_of_the_plan_and_is_said(self) -> None:
        tables = {"a": Table(numbers([(1, 1)]), limits={"rows": 5, "joined": 7})}
        declared = schema(tables, PERSON)
        text = "SELECT COUNT(*) FROM a l JOIN a r ON l.k = r.k"
        program = plan(read(text, declared, evaluate), declared, 1)
        assert program.query.rows.limits.rows == 7
        assert "People with more than 7 pairs of rows in a join are left out of it." in program.biases
        plain = schema({"a": Table(numbers([(1, 1)]), limits={"rows": 5})}, PERSON)
        other = plan(read(text, plain, evaluate), plain, 1)
        assert other.query.rows.limits.rows == 25
        assert "1,048,576 pairs" in " ".join(other.biases)
        assert other.query.rows.canonical() != program.query.rows.canonical()

    def test_six_thousand_rows_of_one_person_make_no_thirty_six_million(self) -> None:
        """Counted before any pair is made: the same outcome with and without that person."""
        others = [(k, x) for k in range(1, 40) for x in range(3)]
        text = "SELECT COUNT(*), SUM(l.x) FROM a l JOIN a r ON l.k = r.k"
        columns = {"x": {"bounds": (0, 9)}}
        found = [
            counted({"a": Table(numbers(rows), limits={"rows": 3}, columns=columns)}, text)
            for rows in (others, [*others, *((0, 1) for _ in range(6_000))])
        ]
        assert found[0] == found[1] == [39 * 9, 39 * 9]

    @pytest.mark.parametrize("join", ["a CROSS JOIN p", "a JOIN p ON a.x < p.z", "a LEFT JOIN p ON a.x < p.z", "p, a"])
    def test_who_would_meet_too_many_public_rows_is_left_out(self, join: str) -> None:
        """One row meets at most 3 public ones, and 6 pairs are allowed: 2 rows are kept, 3 are too many, for all."""
        public = Table(frame([(1,), (2,), (3,)], z=pa.int64()), public=True)
        for people, left in (([1, 2, 2, 3, 3, 3], 3), ([1, 2, 2], 3), ([3] * 7, 0)):
            rows = numbers([(who, 0) for who in people])
            tables = {"a": Table(rows, limits={"rows": 9, "joined": 6}), "p": public}
            assert counted(tables, f"SELECT COUNT(*) FROM {join}") == [3 * left]

    def test_where_a_row_meets_one_public_row_nobody_is_left_out(self) -> None:
        public = Table(frame([(1,), (2,), (3,)], z=pa.int64()), public=True)
        plans = []
        for joined in (6, 60):
            tables = {"a": Table(numbers([(1, 1)] * 7), limits={"rows": 9, "joined": joined}), "p": public}
            declared = schema(tables, PERSON)
            texts = [f"SELECT COUNT(*) FROM a {join}" for join in ("JOIN p ON a.x = p.z", "CROSS JOIN p")]
            plans.append([plan(read(text, declared, evaluate), declared, 1) for text in texts])
            assert counted(tables, texts[0]) == [7]
        (one, few), (same, more) = plans
        assert one.query.rows.canonical() == same.query.rows.canonical()
        assert not any("public rows are left out" in each for each in one.biases)
        # The cap is part of the question where it may bind, and is said.
        assert few.query.rows.canonical() != more.query.rows.canonical()
        assert "with more than 20 rows before a join with public rows are left out" in " ".join(more.biases)

    def test_thousands_of_rows_beside_thousands_of_public_ones_are_not_made(self) -> None:
        others = [(k, 1) for k in range(1, 40)]
        public = Table(frame([(i,) for i in range(2_000)], z=pa.int64()), public=True)
        found = [
            counted({"a": Table(numbers(rows), limits={"rows": 1}), "p": public}, "SELECT COUNT(*) FROM a CROSS JOIN p")
            for rows in (others, [*others, *((0, 1) for _ in range(3_000))])
        ]
        assert found[0] == found[1] == [39 * 2_000]


class TestReading:
    def test_a_table_that_is_named_twice_is_read_once(self) -> None:
        tables = {"a": Table(numbers([(1, 1), (1, 2)]), limits={"rows": 2})}
        declared = schema(tables, PERSON)
        text = "SELECT COUNT(*) FROM a l JOIN a r ON l.k = r.k JOIN a s ON s.k = l.k"
        with DuckDB(tables, declared, threads=1) as engine:
            sql = engine.sql(plan(read(text, declared, evaluate), declared, 1))
        named = sqlglot.parse_one(sql, dialect="duckdb")
        assert [each.name for each in named.find_all(exp.Table)].count("t_0") == 3
        assert [each.name for each in named.find_all(exp.Table)].count(frame_name(0)) == 1
        (kept,) = (each for each in named.find_all(exp.CTE) if each.alias == "t_0")
        assert kept.args["materialized"]

    def test_a_public_table_is_what_it_was_when_the_dataset_was_opened(self, tmp_path: Any) -> None:
        path = tmp_path / "p.csv"
        path.write_text("z\n1\n1\n")
        tables = {
            "a": Table(numbers([(1, 1)]), limits={"rows": 1}),
            "p": Table(path, public=True, columns={"z": {"type": "integer"}}),
        }
        declared = schema(tables, PERSON)
        program = plan(read("SELECT COUNT(*) FROM a JOIN p ON a.x = p.z", declared, evaluate), declared, 1)
        assert program.query.rows.limits.rows == 2
        path.write_text("z\n1\n1\n1\n1\n1\n")
        with DuckDB(tables, declared, threads=1) as engine:
            engine.rehearse(program)
            assert int(engine.run(program).measures[0][0]) >> program.measures[0].fraction == 2
        assert public_digest(declared) != public_digest(schema(tables, PERSON))

    def test_a_sample_is_no_public_relation(self) -> None:
        tables = {
            "a": Table(numbers([(1, 1)]), limits={"rows": 1}),
            "p": Table(frame([(1,)], z=pa.int64()), public=True),
        }
        for inner in ("SELECT z FROM p USING SAMPLE 5", "SELECT z FROM p LIMIT 5", "SELECT RANDOM() AS z FROM p"):
            with pytest.raises((RefusalError, QueryError)):
                read(f"SELECT COUNT(*) FROM a JOIN ({inner}) s ON TRUE", schema(tables, PERSON), evaluate)

    def test_a_public_table_that_is_too_large_is_not_looked_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("quincunx.table.table._KEPT", 3)
        tables = {
            "a": Table(numbers([(1, 1)]), limits={"rows": 1}),
            "p": Table(frame([(1,)] * 4, z=pa.int64()), public=True),
        }
        with pytest.raises(RefusalError, match="p is too large to be looked up"):
            read("SELECT COUNT(*) FROM a JOIN p ON a.x = p.z", schema(tables, PERSON), evaluate)

    def test_public_types_come_back_as_they_are(self) -> None:
        """Wide whole numbers, decimals, moments and odd texts are kept as texts and read as themselves."""
        values: dict[str, Any] = {
            "i": pa.array([2**62, -5, None], pa.int64()),
            "d": pa.array([0.1, -0.0, float("nan")], pa.float64()),
            "s": pa.array(["a'b", "\u00e9\U0001f600", ""], pa.string()),
            "t": pa.array([0, 1_700_000_000_123_456, None], pa.timestamp("us")),
            "b": pa.array([True, None, False], pa.bool_()),
        }
        public = Table(pa.table(values), public=True)
        declared = schema({"a": Table(numbers([(1, 1)]), limits={"rows": 1}), "p": public}, PERSON)
        content = declared.tables["p"].content
        assert content is not None
        for name in values:
            kept = content.values(name, declared.tables["p"].column(name).type)  # type: ignore[union-attr]
            assert kept is None or kept == public.values(name), name
        assert content.values("i", "integer") == [2**62, -5, None]


class TestLookups:
    @pytest.mark.parametrize(
        ("text", "rows"),
        [
            ("a JOIN p ON a.x = p.z", 6),
            ("a, p WHERE a.x = p.z", 6),
            ("a JOIN p ON a.x = p.z AND p.y = 0", 2),
            ("a JOIN p ON a.x = p.z WHERE p.y = 0", 2),
            ("a LEFT JOIN p ON a.x = p.z AND p.y = 0", 2),
            ("a JOIN (SELECT z FROM p WHERE y > 0) s ON s.z = a.x", 4),
            ("a JOIN p ON a.x = p.z AND a.k = p.y", 2),
            ("a CROSS JOIN p", 10),
            ("a JOIN p ON a.x < p.z", 10),
            ("a LEFT JOIN p ON a.x = p.z AND p.y > 5", 2),
        ],
    )
    def test_limits_count_the_largest_number_of_matches(self, text: str, rows: int) -> None:
        """One row of a meets at most 3 of the 5 rows of p by z, 1 of y = 0, none of y > 5."""
        public = frame([(1, 0), (1, 1), (1, 2), (2, 0), (None, 0)], z=pa.int64(), y=pa.int64())
        tables = {"a": Table(numbers([(1, 1)]), limits={"rows": 2}), "p": Table(public, public=True)}
        declared = schema(tables, PERSON)
        assert (
            plan(read(f"SELECT COUNT(*) FROM {text}", declared, evaluate), declared, 1).query.rows.limits.rows == rows
        )

    @pytest.mark.parametrize(
        ("text", "limits"),
        [
            # Everybody has one row of b: groups and rows are those of a.
            ("a.x FROM a JOIN b USING (k)", Limits(rows=20, groups=5, per_group=4)),
            ("a.x + 1 FROM a LEFT JOIN b USING (k) WHERE a.x > 0", Limits(rows=20, groups=5, per_group=4)),
            ("x FROM (SELECT a.x, b.y FROM a JOIN b USING (k)) AS s", Limits(rows=20, groups=5, per_group=4)),
            # By b alone one group, with as many rows as a has; missing ones are a group more.
            ("b.y FROM a JOIN b USING (k)", Limits(rows=20, groups=1, per_group=20)),
            ("b.y FROM a LEFT JOIN b USING (k)", Limits(rows=20, groups=10)),
            ("a.x, b.y FROM a JOIN b USING (k)", Limits(rows=20, groups=5)),
            ("a.x FROM a FULL JOIN b USING (k)", Limits(rows=21, groups=12)),
            ("l.x FROM a AS l JOIN a AS r USING (k)", Limits(rows=400, groups=5, per_group=80)),
            # One row meets three public ones, in the same group of a.
            ("a.x FROM a CROSS JOIN p", Limits(rows=60, groups=5, per_group=12)),
            ("p.z FROM a CROSS JOIN p", Limits(rows=60, groups=15, per_group=12)),
            ("a.x FROM a", Limits(rows=20, groups=5, per_group=4)),
        ],
    )
    def test_groups_by_columns_of_one_side_are_those_of_that_side(self, text: str, limits: Limits) -> None:
        tables = {
            "a": Table(numbers([(1, 1)]), limits={"rows": 20, "groups": 5, "per_group": 4}),
            "b": Table(numbers([(1, 1)], "y"), limits={"rows": 1, "per_group": 1, "groups": 1}),
            "p": Table(frame([(1,), (2,), (3,)], z=pa.int64()), public=True),
        }
        declared = schema(tables, PERSON)
        query = read(f"SELECT {text.replace(' FROM', ' AS g, COUNT(*) FROM', 1)} GROUP BY ALL", declared, evaluate)
        assert query.allowed == limits

    def test_public_columns_are_public_keys(self) -> None:
        public = frame([(1, "one"), (2, "two"), (3, None)], z=pa.int64(), name=pa.string())
        tables = {"a": Table(numbers([(1, 1)]), limits={"rows": 2}), "p": Table(public, public=True)}
        declared = schema(tables, PERSON)
        for join, values in (("JOIN", ("one", "two", None)), ("LEFT JOIN", ("one", "two", None))):
            query = read(f"SELECT name, COUNT(*) FROM a {join} p ON a.x = p.z GROUP BY name", declared, evaluate)
            assert query.keys[0].values == values

    @pytest.mark.parametrize(
        ("text", "values", "rows"),
        [
            ("b.g FROM a JOIN b USING (k)", ("u", "v"), [1, 0]),
            ("b.g FROM a LEFT JOIN b USING (k)", ("u", "v", None), [1, 0, 3]),
            ("b.g FROM b RIGHT JOIN a USING (k)", ("u", "v", None), [1, 0, 3]),
            ("b.g FROM a FULL JOIN b ON a.k = b.k AND a.x > 9", ("u", "v", None), [1, 0, 4]),
            ("a.g FROM a LEFT JOIN b USING (k)", ("u", "v"), [2, 1]),
            ("UPPER(b.g) FROM a LEFT JOIN b USING (k)", ("U", "V", None), [1, 0, 3]),
            ("COALESCE(b.g, 'none') FROM a LEFT JOIN b USING (k)", ("u", "v", "none"), [1, 0, 3]),
            ("g FROM (SELECT k, LAG(g) OVER (PARTITION BY k ORDER BY x) AS g FROM a)", ("u", "v", None), [0, 1, 3]),
            ("g FROM (SELECT k, MIN(g) OVER (PARTITION BY k) AS g FROM a)", ("u", "v", None), [3, 0, 0]),
        ],
    )
    def test_a_missing_row_shows_null_which_is_a_key(self, text: str, values: tuple[Any, ...], rows: list[int]) -> None:
        """NULL that the question makes is a group of its own, though nobody declared it: DuckDB shows it too."""
        kinds = {"k": pa.int64(), "x": pa.int64(), "g": pa.string()}
        worlds = {
            "a": frame([(1, 1, "u"), (2, 2, "v"), (2, 4, "u"), (3, 3, "other")], **kinds),
            "b": frame([(1, 1, "u"), (4, 1, "other")], **kinds),
        }
        listed = {"g": {"keys": ["u", "v"]}}
        tables = {name: Table(each, limits={"rows": 3}, columns=listed) for name, each in worlds.items()}
        declared, asked = (
            schema(tables, PERSON),
            f"SELECT {text.replace(' FROM', ' AS g, COUNT(*) FROM', 1)} GROUP BY ALL",
        )
        query = read(asked, declared, evaluate)
        assert query.keys[0].values == values
        program = plan(query, declared, 1)
        with DuckDB(tables, declared, threads=1) as engine:
            engine.rehearse(program)
            found = engine.run(program)
        assert [int(each) >> program.measures[0].fraction for each in found.measures[0]] == rows
        with duckdb.connect(":memory:") as plain:
            for name, each in worlds.items():
                plain.register(name, each)
            wanted = dict(plain.execute(asked).fetchall())
        assert [wanted.get(value, 0) for value in values] == rows

    def test_no_row_becomes_more_than_a_million(self) -> None:
        public = Table(frame([(i,) for i in range(1_100)], z=pa.int64()), public=True)
        tables = {"a": Table(numbers([(1, 1)]), limits={"rows": 2}), "p": public}
        with pytest.raises(RefusalError, match="one row would meet more than 1,048,576 rows"):
            read("SELECT COUNT(*) FROM a CROSS JOIN p CROSS JOIN p AS q", schema(tables, PERSON), evaluate)


class TestOneQuestion:
    def test_spellings_of_one_join_are_one_question(self) -> None:
        declared = _declared()
        written = [
            "a JOIN b ON a.k = b.k WHERE a.x > 0",
            "a JOIN b ON b.k = a.k AND a.x > 0",
            "a JOIN b USING (k) WHERE a.x > 0",
            "a, b WHERE a.k = b.k AND a.x > 0",
            "a CROSS JOIN b WHERE a.x > 0 AND b.k = a.k",
            "(SELECT * FROM a) AS a JOIN (SELECT k AS k FROM b) AS b ON a.k = b.k WHERE a.x > 0",
        ]
        texts = [f"SELECT COUNT(*) FROM {each}" for each in written]
        plans = [plan(read(text, declared, evaluate), declared, 1) for text in texts]
        assert len({str(each.query.rows.canonical()) for each in plans}) == 1

    @pytest.mark.parametrize("side", ["LEFT", "RIGHT"])
    def test_rows_that_where_drops_were_never_kept(self, side: str) -> None:
        """WHERE equates whose the partner is, which is NULL where there is none."""
        _, known = declared("person", "whole")
        texts = (f"SELECT COUNT(*) FROM A a {each} JOIN B b ON a.g = b.g WHERE b.k = a.k" for each in ("", side))
        inner, outer = (read(each, known, evaluate).rows for each in texts)
        assert inner == outer

    @pytest.mark.parametrize(
        "text",
        [
            "LEFT JOIN B b ON a.g = b.g WHERE COALESCE(b.k, a.k) = a.k",
            "LEFT JOIN B b ON a.g = b.g WHERE NOT a.k <> b.k",
            "LEFT JOIN B b ON a.g = b.g WHERE a.k IS NOT DISTINCT FROM b.k",
            "LEFT JOIN B b ON a.g = b.g WHERE b.k = 1",
            "LEFT JOIN B b ON a.x = b.k WHERE a.x = a.k",
            # Were this an inner join, it would be licensed, and rows without a partner would be lost.
            "LEFT JOIN B b ON a.x = b.k WHERE a.x = a.k AND (b.k IS NULL OR b.k > 0)",
            "FULL JOIN B b ON a.g = b.g WHERE a.k = b.k",
            "LEFT JOIN B b ON a.g = b.g FULL JOIN E e ON e.k = a.k WHERE a.k = b.k",
        ],
    )
    def test_rows_that_where_may_keep_are_kept_or_refused(self, text: str) -> None:
        with pytest.raises(RefusalError, match="pairs different people"):
            read(f"SELECT COUNT(*) FROM A a {text}", declared("person", "whole")[1], evaluate)

    def test_what_is_not_used_is_not_read_and_names_nothing(self) -> None:
        declared = _declared()
        few, many = (
            plan(read(f"SELECT COUNT(b.y) FROM a LEFT JOIN {b} ON a.k = b.k", declared, evaluate), declared, 1)
            for b in ("b", "(SELECT * FROM b) AS b")
        )
        assert {column.name for each in few.query.rows.expressions for column in each.columns()} == {"y"}
        assert few.biases == many.biases

    def test_two_readings_of_a_table_are_told_apart(self) -> None:
        declared = _declared()
        one, other = (
            plan(read(f"SELECT COUNT(*) FROM a l {join} a r ON l.k = r.k AND l.x < 3", declared, evaluate), declared, 1)
            for join in ("LEFT JOIN", "RIGHT JOIN")
        )
        assert one.query.rows.canonical() != other.query.rows.canonical()


def _declared() -> Schema:
    tables = {
        "a": Table(numbers([(1, 1)]), limits={"rows": 2}),
        "b": Table(frame([(1, 1, "g")], k=pa.int64(), y=pa.int64(), g=pa.string()), limits={"rows": 2}),
    }
    return schema(tables, PERSON)


FROM = [
    "v JOIN p ON v.k = p.k",
    "v LEFT JOIN p USING (k)",
    "p RIGHT JOIN v ON v.k = p.k AND p.born > 5",
    "v FULL JOIN p ON v.k = p.k AND v.x > p.born",
    "v, p WHERE v.k = p.k AND v.x <= p.born",
    "v JOIN v AS w ON v.k = w.k AND v.x < w.x JOIN p ON p.k = w.k",
    "v JOIN r ON v.g = r.g JOIN p ON p.k = v.k",
    "v LEFT JOIN r ON v.g = r.g AND r.z > 1 LEFT JOIN p ON p.k = v.k",
    "v CROSS JOIN r JOIN p USING (k)",
    "(SELECT k, x + 1 AS x, g FROM v WHERE x > 1) AS v LEFT JOIN (SELECT k, born // 2 AS born FROM p) AS p USING (k)",
]
MEASURES = ["COUNT(*)", "SUM(v.x)", "COUNT(p.born)", "SUM(COALESCE(p.born, 0))", "COUNT(v.x) FILTER (WHERE p.born > 3)"]
GROUPS = ["", "v.g", "p.born > 4", "v.x // 3", "v.g, p.born > 4"]


def test_numbers_are_those_of_duckdb_at_an_enormous_budget(ci: bool, full: bool) -> None:
    """Nobody is over a limit and the noise is far below one half, with probability 1 − 10^−1000 each."""
    chance = random.Random(13)
    visits = pd.DataFrame(
        [(chance.randrange(30), chance.randrange(9), chance.choice("abc")) for _ in range(120)], columns=["k", "x", "g"]
    ).astype({"g": "string"})
    persons = pd.DataFrame({"k": range(5, 40), "born": [chance.randrange(9) for _ in range(35)]})
    regions = pd.DataFrame({"g": ["a", "a", "b", "d"], "z": [1, 2, 3, 4]}).astype({"g": "string"})
    columns = {"x": {"bounds": (0, 9)}, "g": {"keys": ["a", "b", "c"]}}
    session = qx.Session(
        dataset="d", version="1", ledger=":memory:", unit=AddRemove(key="k"), standard=qx.standard.Pure(),
        intensity=10**12,
        tables={
            "v": Table(visits, limits={"rows": 20}, columns=columns),
            "p": Table(persons, limits={"rows": 1}, columns={"born": {"bounds": (0, 9)}}),
            "r": Table(regions, public=True),
        },
    )  # fmt: skip
    plain = duckdb.connect()
    for name, given in (("v", visits), ("p", persons), ("r", regions)):
        plain.register(name, given)
    asked = list(itertools.product(FROM, GROUPS, MEASURES))
    chance.shuffle(asked)
    rows = 0
    for place, (source, by, measure) in enumerate(asked if full else asked[: 60 if ci else 12]):
        keys = [f"{each} AS g{i}" for i, each in enumerate(by.split(", "))] if by else []
        text = f"SELECT {', '.join([*keys, f'{measure} AS n'])} FROM {source}" + (f" GROUP BY {by}" if by else "")
        answer = session.sql(text, spend=10**9 + place)
        found = Counter({tuple(row[f"g{i}"] for i in range(len(keys))): round(row["n"]) for row in answer.rows})
        names = [f"g{i}" for i in range(len(keys))]
        expected = {tuple(row[: len(names)]): int(row[-1] or 0) for row in plain.execute(text).fetchall()}
        # Groups of public keys that nobody has are 0.
        assert {key: n for key, n in found.items() if n} == {key: n for key, n in expected.items() if n}, text
        rows += len(expected)
    assert rows > 10
    session.close()
    plain.close()
