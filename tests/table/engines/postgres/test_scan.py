"""Columns of every type, declared as every type, with the largest and oddest values that the database can hold."""

from __future__ import annotations

from typing import Any

import pytest

from quincunx.errors import DataError
from quincunx.spec.unit import AddRemove
from quincunx.table.engines import evaluate
from quincunx.table.engines.engine import open_engine
from quincunx.table.rules import plan
from quincunx.table.sql import read as read_sql
from quincunx.table.table import Table, schema
from tests.postgres import Server
from tests.table.engines.postgres.places import filled, read

pytestmark = pytest.mark.ci
UNIT = AddRemove(key="person")
# The longest number that the database holds: rounded up it has no room.
LONGEST = "9" * 131_072 + ".999"
DAYS = ("infinity", "-infinity", "4713-01-01 BC", "0001-12-31 BC", "0001-01-01", "9999-12-31", "10000-01-01")
# Type of a column → values; NULL is added to each.
STORED: dict[str, tuple[str, ...]] = {
    "smallint": ("0", "-32768", "32767"),
    "integer": ("0", "-2147483648", "2147483647"),
    "bigint": ("0", "-9223372036854775808", "9223372036854775807"),
    "real": ("0", "-0", "nan", "inf", "-inf", "3.4e38", "1e-45"),
    "double precision": ("0", "-0", "nan", "inf", "-inf", "1.7976931348623157e308", "5e-324", "-2.5", "9.3e18", "1e38"),
    "numeric": ("0", "NaN", "Infinity", "-Infinity", LONGEST, f"-{LONGEST}", "1e-16000", str(2**126), f"{2**126}.5"),
    "numeric(38,0)": ("0", "NaN", "9" * 38, "-" + "9" * 38),
    "numeric(38,38)": ("0", "NaN", "0." + "9" * 38, "-0." + "9" * 38),
    "numeric(5,5)": ("0", "NaN", "0.99999"),
    "numeric(1000,500)": ("0", "NaN", "9" * 500 + "." + "9" * 500),
    "numeric(3,-2)": ("0", "99900"),
    "text": (
        "", "x", " 1 ", "1e150", "9" * 37, "2024-02-29", "true", "x" * 70_000, " " * 70_000 + "1", "\x01", "1\n",
        "\ufeff1", "1\u00a0", "-0", "+.5", "5.", "0001-01-01 00:00:00.000001", "9999-12-31T23:59:59.999999",
    ),
    "char(20)": ("", "1", "  1"),
    "char(100000)": ("", "1"),
    "name": ("", "1", "2024-01-01"),
    "uuid": ("ffffffff-ffff-ffff-ffff-ffffffffffff",),
    "boolean": ("t", "f"),
    "date": (*DAYS, "5874897-12-31"),
    "timestamp": (*DAYS, "294276-12-31 23:59:59.999999"),
    "timestamptz": (*DAYS, "294276-12-31 23:59:59.999999+00", "10000-01-01 00:00+14", "0001-01-01 00:00+15:59"),
}  # fmt: skip
DECLARED: tuple[dict[str, Any], ...] = (
    *({"type": kind} for kind in ("text", "integer", "decimal", "date", "timestamp", "boolean")),
    {"type": "integer", "bounds": (-5, 5)},
    {"type": "decimal", "bounds": (-5, 5), "step": "0.01"},
)


@pytest.mark.parametrize("stored", STORED)
def test_no_value_of_any_type_makes_a_question_fail(reading: Server, stored: str) -> None:
    values = (*STORED[stored], None)
    table = read(reading, filled(reading, {"person": "bigint", "c": stored}, enumerate(values)))
    asked = 0
    for given in DECLARED:
        for unit in (UNIT, AddRemove(key="c")):
            try:
                tables = {"t": Table(table, limits={"rows": 2, "groups": 2}, columns={"c": given})}
            except DataError as error:
                # A number without a width needs a step.
                assert "numeric without a width" in str(error)  # noqa: PT017
                continue
            declared = schema(tables, unit)
            keyed = "c, " if given["type"] not in ("decimal",) and unit is UNIT else ""
            text = f"SELECT {keyed}COUNT(c) AS n, COUNT(DISTINCT c) AS d FROM t" + (" GROUP BY c" if keyed else "")
            program = plan(read_sql(text, declared, evaluate), declared, 2)
            with open_engine(tables, declared) as engine:
                if unit is UNIT:
                    # What the statement is, is found before anything is paid; what rows do, after it.
                    engine.rehearse(program)
                found = engine.run(program)
            assert all(int(each) >= 0 for measure in found.measures for each in measure), given
            asked += 1
    assert asked >= 6


@pytest.mark.parametrize(
    ("given", "counted", "more"),
    [
        # What is too large for an integer is none, or is moved into the bounds; what is no number is none.
        ({"type": "integer"}, 3, "c = 0"),
        ({"type": "integer", "bounds": (-9, 9)}, 6, "c = 9"),
        # With decimal places it must have at most 38 digits.
        ({"step": "0.01", "bounds": (-9, 9)}, 2, "c = 0"),
    ],
)
def test_the_longest_number_is_none_or_is_moved(reading: Server, given: Any, counted: int, more: str) -> None:
    table = filled(reading, {"person": "bigint", "c": "numeric"}, enumerate(STORED["numeric"]))
    tables = {"t": Table(read(reading, table), limits={"rows": 1}, columns={"c": given})}
    declared = schema(tables, UNIT)
    asked = f"SELECT COUNT(c) AS n, COUNT(*) FILTER (WHERE {more}) AS m, COUNT(*) AS all_rows FROM t"
    program = plan(read_sql(asked, declared, evaluate), declared, 1)
    with open_engine(tables, declared) as engine:
        counts = [int(each[0]) for each in engine.run(program).measures]
    unit = counts[2] // len(STORED["numeric"])
    assert counts[0] == counted * unit
    assert counts[1] >= unit


def test_a_text_of_hundreds_of_megabytes_is_none(reading: Server) -> None:
    """A regular expression would ask for more memory than the database gives."""
    table = filled(reading, {"person": "bigint", "c": "text"}, [(1, "7")])
    reading.run(f"INSERT INTO {table} VALUES (2, repeat('7', 300000000))")
    for kind in ("integer", "decimal", "date", "timestamp", "boolean", "text"):
        tables = {"t": Table(read(reading, table), limits={"rows": 1}, columns={"c": {"type": kind}})}
        declared = schema(tables, UNIT)
        program = plan(read_sql("SELECT COUNT(c) AS n, COUNT(*) AS m FROM t", declared, evaluate), declared, 1)
        with open_engine(tables, declared) as engine:
            counts = [int(each[0]) for each in engine.run(program).measures]
        unit = counts[1] // 2
        assert counts[0] == (unit if kind in ("integer", "decimal", "text") else 0)
