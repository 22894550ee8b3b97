"""Every hint in the golden file of refusals is a question that works: it is read, planned and asked of an engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import duckdb
import pytest

from quincunx.errors import QueryError, RefusalError
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.rules import plan
from quincunx.table.schema import Limits, Schema
from quincunx.table.sql import read
from quincunx.table.table import Table
from tests.table.sql.refusals import PATH, blocks, followed
from tests.table.sql.visits import SCHEMA, VISITS

TEXT = PATH.read_text("utf-8")
LED = followed(TEXT)
# Words of a hint that are no part of what to write.
SAID = {"SELECT", "FROM", "SQL", "NULL", "YYYY", "MM", "DD", "AS", "LIMIT", "TRY", "DISTINCT", "OUT", "GROUP"}
LEFT_OUT = re.compile(r"Leave [A-Z ]+ out")
# What a hint names by a letter, so that the words of the question are put in.
OPEN = re.compile(r"…|\b(x|y|low|high|digits|width|table\.column|name)\b")
KINDS = {
    "integer": "BIGINT", "text": "VARCHAR", "decimal": "DOUBLE", "timestamp": "TIMESTAMP", "date": "DATE",
    "boolean": "BOOLEAN",
}  # fmt: skip


def hint(question: str) -> str:
    with pytest.raises((QueryError, RefusalError)) as caught:
        read(question, SCHEMA, evaluate)
    return str(caught.value.hint)


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    connection = duckdb.connect()
    columns = ", ".join(f"{each.name} {KINDS[each.type]}" for each in VISITS.columns)
    connection.execute(f"CREATE TABLE visits ({columns})")
    connection.execute(
        "INSERT INTO visits SELECT i // 3, 'north', i, i - 9, i / 4, i, 1 + i % 5, "
        "TIMESTAMP '2024-02-29 10:00:00', DATE '1980-05-05', i % 2 = 0, '12' FROM range(60) AS r(i)"
    )
    with DuckDB({"visits": Table(connection.table("visits"))}, wider(), threads=1) as found:
        yield found
    connection.close()


def wider() -> Schema:
    """The schema of the golden file, with a limit on groups so that unknown keys can be asked for too."""
    return replace(SCHEMA, tables={**SCHEMA.tables, "visits": replace(VISITS, limits=Limits(rows=20, groups=3))})


def test_every_hint_has_a_question() -> None:
    without = [question for question, expected in blocks(TEXT) if not LED[question] and hint_in(expected)]
    assert without == []
    assert sum(map(len, LED.values())) >= 200


def hint_in(expected: str) -> bool:
    """Whether the error says more than its reason."""
    sentence = expected.split("\n")[0].partition(": ")[2]
    return bool(re.search(r"[^ ]\. [A-Z]", sentence)) and not sentence.startswith("the question does not follow")


def test_every_hint_works_as_a_question(engine: DuckDB) -> None:
    schema = wider()
    for asked in dict.fromkeys(each for led in LED.values() for each in led):
        engine.run(plan(read(asked, schema, evaluate), schema, 2))


@pytest.mark.parametrize("question", [each for each, led in LED.items() if led], ids=str)
def test_what_the_hint_says_is_in_the_question(question: str) -> None:
    told, led = hint(question), "\n".join(LED[question])
    words = set(re.findall(r"\b[A-Z][A-Z_]+\b", LEFT_OUT.sub("", told))) - SAID
    assert words <= set(re.findall(r"[A-Z_]+", led)), (told, led)
    for sentence in re.findall(
        r"(?:Write|Multiply:|parts of dates:|first:) ([^;]*[A-Z(*].*?)(?:, the |, or |\.$|;)", told
    ):
        if not OPEN.search(sentence) and "(" in sentence and "with" not in sentence and " as " not in sentence:
            assert sentence in led, (sentence, led)
