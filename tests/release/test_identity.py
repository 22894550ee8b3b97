"""Which questions are one question. Nothing private decides it."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from quincunx.release import Session
from quincunx.release.identity import public_digest
from quincunx.spec.unit import AddRemove
from quincunx.table.canonical import value
from quincunx.table.table import Table, schema
from tests.release.world import REGIONS, quote_of, session, tables, visits

QUESTION = "SELECT region, COUNT(*) AS n FROM visits WHERE age > 30 GROUP BY region"


def key(asked: Session, text: str = QUESTION, **price: Any) -> str:
    return quote_of(asked, text, spend=price.get("spend", 1), delta=price.get("delta")).question.key


@pytest.mark.parametrize(
    "text",
    [
        "select REGION, count(*) as n from VISITS where AGE > 30 group by REGION",
        "SELECT region, COUNT(*) AS other FROM visits WHERE age > 30 GROUP BY 1 ORDER BY 2 LIMIT 1",
        "SELECT COUNT(*) AS n FROM visits AS v WHERE v.age > 30 GROUP BY region HAVING COUNT(*) > 3",
        "SELECT COUNT(*) * 2 AS n FROM visits WHERE (age > 30) GROUP BY region",
        "WITH t AS (SELECT * FROM visits) SELECT region, COUNT(*) AS n FROM t WHERE age > 30 GROUP BY region",
        "SELECT region, COUNT(*) AS n FROM (SELECT region, age AS a FROM visits) WHERE a > 30 GROUP BY region",
    ],
)
def test_spelling_and_post_processing_make_no_difference(text: str) -> None:
    with session() as asked:
        assert key(asked, text) == key(asked)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT region, COUNT(*) AS n FROM visits WHERE age > 31 GROUP BY region",
        "SELECT region, COUNT(*) AS n FROM visits WHERE age >= 30 GROUP BY region",
        "SELECT region, COUNT(age) AS n FROM visits WHERE age > 30 GROUP BY region",
        "SELECT region, COUNT(*) FILTER (WHERE cost > 1) AS n FROM visits WHERE age > 30 GROUP BY region",
        "SELECT COUNT(*) AS n FROM visits WHERE age > 30",
        "SELECT region, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE age > 30 GROUP BY region",
        "SELECT region, COUNT(DISTINCT person_id) AS n FROM visits WHERE age > 30 GROUP BY region",
    ],
)
def test_another_statistic_is_another_question(text: str) -> None:
    with session() as asked:
        assert key(asked, text) != key(asked)


def changed(**columns: Any) -> dict[str, Table]:
    given: dict[str, Any] = {
        "region": {"keys": list(REGIONS)},
        "age": {"bounds": (0, 110)},
        "cost": {"bounds": (0, 100), "step": "0.01"},
    }
    return {"visits": Table(visits(), limits={"rows": 10, "groups": 3}, columns=given | columns)}


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": "others"},
        {"version": "2"},
        {"tables": tables(rows=11, groups=3)},
        {"tables": changed(age={"bounds": (0, 111)})},
        {"tables": changed(age={"bounds": (0, 110), "step": 2})},
        {"tables": changed(cost={"bounds": (0, 100), "step": "0.1"})},
        {"tables": changed(region={"keys": ["north", "south"]})},
        {"tables": changed(region={"keys": list(reversed(REGIONS))})},
        {"tables": changed(note={"null": False})},
        {"tables": changed(day={"bounds": ("2024-01-01", "2024-06-01")})},
        {"unit": AddRemove(key="person_id", group=2)},
    ],
    ids=str,
)
def test_every_part_of_the_declaration_counts(change: dict[str, Any]) -> None:
    with session(tables=changed()) as one, session(**({"tables": changed()} | change)) as other:
        assert key(one) != key(other)


def test_how_texts_are_read_counts_for_questions_that_read_them() -> None:
    shorter = changed(region={"keys": list(REGIONS), "length": 100})
    plain = "SELECT COUNT(*) AS n FROM visits WHERE age > 30"
    with session(tables=changed()) as one, session(tables=shorter) as other:
        assert key(one) != key(other)
        assert key(one, plain) == key(other, plain)


def test_spend_and_delta_count() -> None:
    with session() as asked:
        assert key(asked, spend=1) == key(asked, spend="1.0") != key(asked, spend=2)
        towns = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
        assert key(asked, towns, delta="1e-7") != key(asked, towns, delta="2e-7")


def test_the_public_tables_count() -> None:
    other = pd.DataFrame({"region": pd.Series([*REGIONS, "beyond"], dtype="string")})
    with session() as one, session(tables=tables() | {"regions": Table(other, public=True)}) as two:
        assert key(one) != key(two)
    unused = {"unused": Table(other, public=True)}
    assert digest(tables()) == digest(tables()) != digest(tables() | unused)
    # Names without case, contents whatever holds them, and no private table.
    public, private = Table(other, public=True), Table(other)
    assert digest({"a": public, "t": private}) == digest({"A": public, "other": private})


def digest(given: dict[str, Table]) -> str:
    return public_digest(schema(given, AddRemove(key=None)))


def test_the_data_do_not_count() -> None:
    """A digest of the data would tell whether anyone changed, and a budget that followed it would begin anew."""
    other = visits().iloc[:50]
    columns: dict[str, Any] = {
        "region": {"keys": "regions.region"},
        "age": {"bounds": (0, 110)},
        "cost": {"bounds": (0, 100), "step": "0.01"},
    }
    fewer = tables() | {"visits": Table(other, limits={"rows": 10, "groups": 3}, columns=columns)}
    with session() as one, session(tables=fewer) as two:
        assert key(one) == key(two)


def test_confidence_analyst_and_total_do_not_count() -> None:
    with session() as one, session(confidence="0.5", analyst="alice", intensity="200") as two:
        assert key(one) == key(two)


def test_numbers_and_their_texts_are_told_apart() -> None:
    different = [Fraction(1, 2), "1/2", 1, "1", True, None, date(2024, 1, 1), datetime(2024, 1, 1), "2024-01-01"]
    texts = [repr(value(each)) for each in different]
    assert len(set(texts)) == len(texts)
