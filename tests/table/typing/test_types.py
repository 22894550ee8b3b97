"""Which types go together: every operator on every combination of types, accepted ones listed by rule."""

from __future__ import annotations

import itertools
from datetime import date, datetime

import pytest

from quincunx.errors import QueryError
from quincunx.table.expression import Column, Expression, Literal
from quincunx.table.operators import apply, cast, literal
from quincunx.table.typing.conditional import CASTS
from quincunx.table.typing.facts import NULL, WORDS

TYPES = ("integer", "decimal", "text", "date", "timestamp", "boolean")
KIND = {"integer": "number", "decimal": "number", "date": "time", "timestamp": "time"}


def column(kind: str) -> Column:
    return Column(name="x", type=kind)


def result(name: str, *arguments: Expression) -> str | None:
    """The result's type, or None where the types do not fit."""
    try:
        return apply(name, *arguments).type
    except QueryError:
        return None


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "whole_divide", "remainder"])
def test_arithmetic_takes_numbers(name: str) -> None:
    for x, y in itertools.product(TYPES, TYPES):
        wanted = None
        if {x, y} <= {"integer", "decimal"}:
            wanted = "decimal" if "decimal" in (x, y) or name == "divide" else "integer"
            wanted = None if name == "whole_divide" and wanted == "decimal" else wanted
        assert result(name, column(x), column(y)) == wanted, (x, y)


@pytest.mark.parametrize("name", ["negate", "abs", "floor", "ceil"])
def test_functions_of_a_number_keep_its_type(name: str) -> None:
    assert [result(name, column(x)) for x in TYPES] == ["integer", "decimal", None, None, None, None]


@pytest.mark.parametrize(
    "name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "distinct", "not_distinct", "in"]
)
def test_comparisons_take_what_is_alike(name: str) -> None:
    for x, y in itertools.product(TYPES, TYPES):
        alike = KIND.get(x, x) == KIND.get(y, y)
        assert result(name, column(x), column(y)) == ("boolean" if alike else None), (x, y)


@pytest.mark.parametrize("name", ["coalesce", "least", "greatest", "case"])
def test_choices_take_what_is_alike(name: str) -> None:
    before = (column("boolean"),) if name == "case" else ()
    for x, y in itertools.product(TYPES, TYPES):
        wanted = None
        if x == y:
            wanted = x
        elif KIND.get(x, x) == KIND.get(y, y):
            wanted = {"number": "decimal", "time": "timestamp"}[KIND[x]]
        if wanted == "boolean" and name in ("least", "greatest"):
            wanted = None
        assert result(name, *before, column(x), column(y)) == wanted, (x, y)


def test_a_date_beside_a_timestamp_is_cast() -> None:
    found = apply("equal", column("date"), column("timestamp"))
    assert found.parts[0] == cast(column("date"), "timestamp")
    assert found.parts[1] == column("timestamp")


@pytest.mark.parametrize("kind", TYPES)
def test_null_takes_the_type_of_its_neighbours(kind: str) -> None:
    found = apply("coalesce", literal(None), column(kind))
    assert found.type == kind
    assert found.parts[0] == Literal(type=kind, value=None)
    assert cast(literal(None), kind) == Literal(type=kind, value=None)
    for name in ("equal", "in", "nullif", "least"):
        assert result(name, column(kind), literal(None)) is None
    assert result("coalesce", literal(None), literal(None)) is None
    assert result("is_null", literal(None)) is None
    assert result("is_null", column(kind)) == "boolean"


@pytest.mark.parametrize("name", ["and", "or", "not"])
def test_logic_takes_conditions(name: str) -> None:
    for kind in TYPES:
        arguments = [column(kind)] if name == "not" else [column(kind), column("boolean")]
        assert result(name, *arguments) == ("boolean" if kind == "boolean" else None)


@pytest.mark.parametrize("name", ["upper", "lower", "trim", "ltrim", "rtrim", "concat"])
def test_text_functions_take_texts(name: str) -> None:
    assert [result(name, column(kind)) for kind in TYPES] == [None, None, "text", None, None, None]


@pytest.mark.parametrize("name", ["join", "starts_with", "ends_with", "contains"])
def test_two_texts(name: str) -> None:
    for x, y in itertools.product(TYPES, TYPES):
        wanted = ("text" if name == "join" else "boolean") if x == y == "text" else None
        assert result(name, column(x), column(y)) == wanted


@pytest.mark.parametrize("kind", TYPES)
def test_date_functions_take_dates(kind: str) -> None:
    dated = kind in ("date", "timestamp")
    assert result("date_part", literal("month"), column(kind)) == ("integer" if dated else None)
    assert result("date_trunc", literal("month"), column(kind)) == ("timestamp" if dated else None)
    assert result("date_part", literal("hour"), column(kind)) == ("integer" if kind == "timestamp" else None)
    assert result("date_part", literal("century"), column(kind)) is None
    assert result("date_trunc", literal("decade"), column(kind)) is None
    assert result("date_part", column("text"), column(kind)) is None


def test_casts_are_those_of_the_list() -> None:
    for x, to in itertools.product(TYPES, TYPES):
        if x == to:
            assert cast(column(x), to) == column(x)
        elif (x, to) in CASTS:
            assert cast(column(x), to).type == to
        else:
            with pytest.raises(QueryError, match="cannot be cast"):
                cast(column(x), to)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("left", (literal(-1),)),
        ("left", (column("integer"),)),
        ("right", (literal(10**7),)),
        ("right", (literal("1"),)),
        ("substring", (literal(0), literal(1))),
        ("substring", (literal(1), literal(-1))),
        ("substring", (literal(1), column("integer"))),
        ("replace", (literal(""), literal("x"))),
        ("replace", (column("text"), literal("x"))),
        ("replace", (literal("x"), column("text"))),
        ("replace", (literal(1), literal("x"))),
        ("like", (column("text"),)),
        ("like", (literal("%" * 5),)),
        ("ilike", (literal("x" * 1_001),)),
        ("like", (literal(1),)),
    ],
)
def test_what_must_be_a_small_constant(name: str, arguments: tuple[Expression, ...]) -> None:
    assert result(name, column("text"), *arguments) is None


@pytest.mark.parametrize("digits", [literal(-1), literal(16), literal("1"), column("integer"), literal(True)])
def test_digits_are_a_small_constant(digits: Expression) -> None:
    assert result("round", column("decimal"), digits) is None


@pytest.mark.parametrize("ends", [(2, 1), ("a", "b"), (True, False)])
def test_bounds_of_clamp(ends: tuple[object, object]) -> None:
    assert result("clamp", column("decimal"), *(literal(end) for end in ends)) is None  # type: ignore[arg-type]


def test_dates_that_were_written_as_texts() -> None:
    found = apply("less", column("date"), literal("2024-02-29"))
    assert found.parts[1] == literal(date(2024, 2, 29))
    found = apply("less", column("timestamp"), literal("2024-02-29T10:30"))
    assert found.parts[1] == literal(datetime(2024, 2, 29, 10, 30))
    for text in (
        "2024-02-30",
        "20240229",
        "2024-W09-4",
        "yesterday",
        "2024-02-29 10:30+01:00",
        "٢٠٢٤-٠٢-٢٩",
        "infinity",
    ):
        assert result("less", column("date"), literal(text)) is None, text


def test_every_type_has_a_name_for_sentences() -> None:
    assert set(WORDS) == {*TYPES, NULL}
