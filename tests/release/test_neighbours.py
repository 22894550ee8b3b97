"""Which invariants are refused, against all small datasets: those that leave nothing to compare, or name people."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import Any

import duckdb
import pandas as pd
import pytest

from quincunx.errors import PrivacyError, RefusalError
from quincunx.release.invariants import encode, program
from quincunx.release.neighbours import check
from quincunx.release.witness import witness
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.engines.duckdb import DuckDB
from quincunx.table.table import Table, schema
from tests.release.world import session

Row = tuple[str | None, int | None]
REGIONS: tuple[str | None, ...] = ("a", "c", None)
ROWS: list[Row] = list(product(REGIONS, (-1, 1, None)))
PEOPLE: list[tuple[Row, ...]] = [(row,) for row in ROWS] + list(combinations_with_replacement(ROWS, 2))

# (invariants, whether some person changes none of them)
SETS: list[tuple[list[str], bool]] = [
    (["SELECT COUNT(*) AS n FROM t"], False),
    (["SELECT COUNT(*) AS n FROM t WHERE TRUE"], False),
    (["SELECT COUNT(person_id) AS n FROM t"], False),
    (["SELECT COUNT(DISTINCT person_id) AS n FROM t"], False),
    (["SELECT COUNT(*) FILTER (WHERE x > 0) AS n FROM t"], True),
    (["SELECT COUNT(x) AS n FROM t"], True),
    (["SELECT COUNT(x) AS n, COUNT(*) FILTER (WHERE x IS NULL) AS m FROM t"], False),
    (["SELECT COUNT(*) AS n FROM t WHERE x > 0", "SELECT COUNT(*) AS n FROM t WHERE x <= 0"], True),
    (["SELECT COUNT(*) AS n FROM t WHERE x > 0", "SELECT COUNT(*) AS n FROM t WHERE x <= 0 OR x IS NULL"], False),
    # Listed keys leave out people in no listed region; unknown keys leave out nobody.
    (["SELECT region, COUNT(*) AS n FROM t GROUP BY region"], True),
    (["SELECT x, COUNT(*) AS n FROM t GROUP BY x"], False),
    (["SELECT region, COUNT(*) AS n FROM t GROUP BY region", "SELECT COUNT(*) AS n FROM t WHERE region IS NULL"], True),
    (
        [
            "SELECT region, COUNT(*) AS n FROM t GROUP BY region",
            "SELECT COUNT(*) AS n FROM t WHERE region IS NULL OR region NOT IN ('a', 'b')",
        ],
        False,
    ),
    (["SELECT SUM(x) AS s FROM t"], True),
    (["SELECT SUM(x + 2) AS s FROM t"], True),
    # No row adds 0, and two rows of one person cancel.
    (["SELECT SUM(CASE WHEN x > 0 THEN 1 ELSE -1 END) AS s FROM t"], True),
    (["SELECT SUM(CASE WHEN x > 0 THEN 1 ELSE 2 END) AS s FROM t"], False),
    (["SELECT x, SUM(CASE WHEN x > 0 THEN 1 ELSE -1 END) AS s FROM t GROUP BY x"], False),
    (["SELECT SUM(COALESCE(x, 1)) AS s FROM t", "SELECT COUNT(*) AS n FROM t WHERE COALESCE(x, 1) = 0"], True),
]


def table(people: list[tuple[Row, ...]]) -> Table:
    rows = [(number, region, x) for number, owned in enumerate(people) for region, x in owned]
    frame = pd.DataFrame(
        {
            "person_id": pd.Series([row[0] for row in rows], dtype="Int64"),
            "region": pd.Series([row[1] for row in rows], dtype="string"),
            "x": pd.Series([row[2] for row in rows], dtype="Int64"),
        }
    )
    columns = {"region": {"keys": ["a", "b"]}, "x": {"bounds": (-1, 1)}}
    return Table(frame, limits={"rows": 2}, columns=columns)


def facts(people: list[tuple[Row, ...]], texts: list[str], unit: Any) -> list[Any]:
    given = {"t": table(people)}
    described = schema(given, unit)
    engine = DuckDB(given, described)
    try:
        planned = [program(text, described) for text in texts]
        return [encode(each, engine.run(each)) for each in planned]
    finally:
        engine.close()


def all_facts(worlds: list[list[tuple[Row, ...]]], texts: list[str]) -> list[list[Any]]:
    """The facts of many small datasets, by plain DuckDB: each invariant once, grouped by the dataset as well."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE everyone (world INTEGER, person_id INTEGER, region VARCHAR, x INTEGER)")
    rows = [
        (world, number, region, x)
        for world, people in enumerate(worlds)
        for number, owned in enumerate(people)
        for region, x in owned
    ]
    connection.executemany("INSERT INTO everyone VALUES (?, ?, ?, ?)", rows)
    found: list[list[Any]] = [[] for _ in worlds]
    for number, text in enumerate(texts):
        grouped = f"{text}, world" if "GROUP BY" in text else f"{text} GROUP BY world"
        # Rows that are not in a listed group are left out.
        condition = "region IN ('a', 'b')" if "GROUP BY region" in text else "TRUE"
        connection.execute(f"CREATE OR REPLACE VIEW t AS SELECT * FROM everyone WHERE {condition}")
        for world, *values in connection.execute(grouped.replace("SELECT ", "SELECT world, ", 1)).fetchall():
            # A count of 0 is published for a listed key, and the sum of nothing is 0.
            if any(values[1 if "SELECT x," in text or "SELECT region," in text else 0 :]) or "SELECT x," in text:
                found[world].append((number, *(value or 0 for value in values)))
    connection.close()
    return [sorted(each, key=repr) for each in found]


@pytest.mark.parametrize(("texts", "neighbours"), SETS, ids=lambda each: str(each)[:60])
def test_the_decision_is_that_of_all_small_datasets(texts: list[str], neighbours: bool) -> None:
    """54 people, beside nobody and beside two others: whether one of them changes no fact."""
    unit = AddRemove(key="person_id")
    described = schema({"t": table([])}, unit)
    found = witness([program(text, described) for text in texts], described)
    assert (found is not None) == neighbours
    others: list[list[tuple[Row, ...]]] = [[], [(("a", 1),), (("c", -1), (None, None), (None, 1))]]
    worlds = [*others, *([*x, person] for x in others for person in PEOPLE)]
    exact = all_facts(worlds, texts)
    unseen = [
        world
        for number, world in enumerate(worlds[len(others) :])
        if exact[len(others) + number] == exact[number // len(PEOPLE)]
    ]
    assert bool(unseen) == neighbours
    if found is not None:
        # The witness changes nothing, by the engine itself.
        rows = tuple((row.get("region"), row.get("x")) for row in found.rows)
        assert facts([*others[1], rows], texts, unit) == facts(others[1], texts, unit)  # type: ignore[list-item]


@pytest.mark.parametrize(
    "texts", [texts for texts, neighbours in SETS if not neighbours], ids=lambda each: str(each)[:60]
)
def test_what_leaves_nothing_is_refused_and_accepted_under_replace(texts: list[str]) -> None:
    given = {"t": table([(("a", 1),)])}
    with pytest.raises(RefusalError, match="nothing to compare") as refused:
        session(tables=given, invariants=texts)
    assert "Replace" in refused.value.hint
    assert refused.value.where == "invariants"
    # Two people at once may be exchanged for each other.
    for unit in (Replace(key="person_id"), AddRemove(key="person_id", group=2)):
        with session(tables=given, unit=unit, invariants=texts) as asked:
            assert asked.invariants()
            assert not any("change no invariant" in note for note in asked.notes)


def test_who_is_still_hidden_is_said() -> None:
    text = "SELECT region, COUNT(*) AS n FROM t GROUP BY region"
    with session(tables={"t": table([])}, invariants=[text]) as asked:
        (note,) = [note for note in asked.notes if "change no invariant" in note]
    assert note.endswith("such as a person with one row in t: region NULL.")


def test_a_table_that_no_invariant_reads_leaves_its_people() -> None:
    others = Table(pd.DataFrame({"person_id": [1], "y": [2]}), limits={"rows": 1})
    with session(tables={"t": table([]), "others": others}, invariants=["SELECT COUNT(*) AS n FROM t"]) as asked:
        assert any("in others: any values" in note for note in asked.notes)
    both = ["SELECT COUNT(*) AS n FROM t", "SELECT COUNT(*) AS n FROM others"]
    with pytest.raises(RefusalError, match="nothing to compare"):
        session(tables={"t": table([]), "others": others}, invariants=both)


def test_rows_are_people_where_there_is_no_key() -> None:
    cancel = ["SELECT SUM(CASE WHEN x > 0 THEN 1 ELSE -1 END) AS s FROM t"]
    with pytest.raises(RefusalError, match="nothing to compare"):
        session(tables={"t": table([])}, unit=AddRemove(), invariants=cancel)
    session(tables={"t": table([])}, unit=AddRemove(group=2), invariants=cancel).close()


def test_a_period_is_part_of_the_owner() -> None:
    frame = pd.DataFrame({"person_id": [1], "day": pd.to_datetime(["2024-01-01"]).astype("datetime64[us]")})
    given = {"t": Table(frame, limits={"rows": 1})}
    unit = AddRemove(key="person_id", per={"column": "day", "period": "month"})
    with pytest.raises(RefusalError, match="nothing to compare"):
        # Rows without a day belong to nobody, so this counts every row there is.
        session(tables=given, unit=unit, invariants=["SELECT COUNT(*) AS n FROM t WHERE day IS NOT NULL"])
    text = "SELECT COUNT(*) AS n FROM t WHERE day >= DATE '2024-01-01'"
    with session(tables=given, unit=unit, invariants=[text]) as asked:
        assert asked.invariants()


NAMED = [
    "SELECT person_id, COUNT(*) AS n FROM t GROUP BY person_id",
    "SELECT person_id + 1 AS p, SUM(x) AS n FROM t GROUP BY person_id + 1",
    "SELECT p, COUNT(*) AS n FROM (SELECT CAST(person_id AS VARCHAR) AS p FROM t) AS s GROUP BY p",
    "SELECT COUNT(*) AS n FROM t WHERE person_id = 7",
    "SELECT COUNT(*) FILTER (WHERE PERSON_ID IN (1, 2)) AS n FROM t",
    "SELECT SUM(CASE WHEN person_id = 7 THEN x ELSE 0 END) AS n FROM t",
    "SELECT SUM(CLAMP(person_id, 0, 9)) AS n FROM t",
    "SELECT COUNT(NULLIF(person_id, 7)) AS n FROM t",
]


@pytest.mark.parametrize(
    "unit", [AddRemove(key="person_id"), Replace(key="person_id"), Replace(key="PERSON_ID")], ids=repr
)
@pytest.mark.parametrize("text", NAMED)
def test_facts_about_single_people_are_refused(text: str, unit: Any) -> None:
    with pytest.raises(PrivacyError, match="single people") as refused:
        session(tables={"t": table([])}, unit=unit, invariants=[text])
    assert refused.value.where == "invariants"


def test_columns_that_determine_the_key_in_a_public_table_are_refused() -> None:
    register = Table(pd.DataFrame({"person_id": [1, 2], "region": ["a", "b"], "x": [1, 1]}), public=True)
    crowd = Table(pd.DataFrame({"person_id": [1, 2, 3], "region": ["a", "a", "b"], "x": [1, 2, 1]}), public=True)
    by_region = ["SELECT region, COUNT(*) AS n FROM t GROUP BY region"]
    by_both = ["SELECT region, x, COUNT(*) AS n FROM t GROUP BY region, x"]
    unit = Replace(key="person_id")
    with pytest.raises(RefusalError, match="single people") as refused:
        session(tables={"t": table([]), "register": register}, unit=unit, invariants=by_region)
    assert "register" in refused.value.got
    session(tables={"t": table([]), "crowd": crowd}, unit=unit, invariants=by_region).close()
    with pytest.raises(RefusalError, match="single people"):
        session(tables={"t": table([]), "crowd": crowd}, unit=unit, invariants=by_both)


def test_nothing_is_asked_without_invariants() -> None:
    described = schema({"t": table([])}, AddRemove(key="person_id"))
    assert check({}, described, {"t": table([])}) is None
