"""Deep or long questions are refused before they are parsed, and what is refused later needs no recursion."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import pytest
import sqlglot

from quincunx.errors import QueryError, RefusalError
from quincunx.table.sql import read, reader
from quincunx.table.sql.limits import LENGTH, NESTING, TOKENS, split
from tests.table.sql.visits import SCHEMA


def outcome(sql: str) -> str:
    try:
        read(sql, SCHEMA)
    except (QueryError, RefusalError) as error:
        return str(error)
    return "accepted"


def counted(expression: str) -> str:
    return f"SELECT COUNT(*) FROM visits WHERE {expression}"


# Ways to lead a recursive parser down; n is how far.
DEEP: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: counted("(" * n + "true" + ")" * n),
    "open brackets": lambda n: counted("(" * n),
    "not": lambda n: counted("NOT " * n + "true"),
    "not after equals": lambda n: counted("smoker = NOT " * n + "true"),
    "minus": lambda n: counted("- " * n + "1 = 1"),
    "plus and minus": lambda n: counted("+ - " * n + "1 = 1"),
    "tilde": lambda n: counted("~ " * n + "1 = 1"),
    "case": lambda n: counted("CASE WHEN true THEN " * n + "true" + " END" * n),
    "functions": lambda n: counted("ABS(" * n + "age" + ")" * n + " = 1"),
    "casts": lambda n: counted("CAST(" * n + "age" + " AS BIGINT)" * n + " = 1"),
    "subqueries": lambda n: "SELECT COUNT(*) FROM " + "(SELECT * FROM " * n + "visits" + ")" * n,
    "with": lambda n: "WITH a AS (" * n + "SELECT 1" + ") SELECT 1" * n,
    "lists": lambda n: counted("[" * n + "1" + "]" * n + " = 1"),
    "structs": lambda n: counted("{'a': " * n + "1" + "}" * n + " = 1"),
}


@pytest.mark.parametrize("shape", DEEP)
@pytest.mark.parametrize("depth", [NESTING + 2, 500])
def test_deep_questions_are_refused_before_parsing(shape: str, depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_args: object, **_rest: object) -> None:
        raise AssertionError("the parser was called")

    monkeypatch.setattr(sqlglot, "parse", unreachable)
    monkeypatch.setattr(reader, "_parse", unreachable)
    with pytest.raises(RefusalError, match=r"nested at most|at most .* (characters|words)"):
        read(DEEP[shape](depth), SCHEMA)


@pytest.mark.parametrize("shape", DEEP)
def test_what_is_not_too_deep_never_overflows_the_stack(shape: str) -> None:
    for depth in range(1, NESTING + 1):
        assert "nested too deeply" not in outcome(DEEP[shape](depth))


def test_ordinary_nesting_is_accepted() -> None:
    read(counted("(" * (NESTING - 1) + "true" + ")" * (NESTING - 1)), SCHEMA)
    read(counted(" AND ".join(["age IS NOT NULL", "age NOT IN (1)", "NOT smoker", "-age < +1 - -1"] * 20)), SCHEMA)


# Chains make the tree deep without any nesting.
CHAINS: dict[str, Callable[[int], str]] = {
    "sum": lambda n: counted(" + ".join(["age"] * n) + " = 1"),
    "casts": lambda n: counted("age" + "::BIGINT" * n + " = 1"),
    "powers": lambda n: counted(" ** ".join(["age"] * n) + " = 1"),
    "is null": lambda n: counted("age" + " IS NULL" * n),
    "comparisons": lambda n: counted(" = ".join(["age"] * n)),
    "unions": lambda n: " UNION ".join(["SELECT 1"] * n),
    "select star": lambda n: "SELECT COUNT(*) FROM visits WHERE " + "DISTINCT " * n + "age = 1",
    "intervals": lambda n: counted("INTERVAL " * n + "1 = 1"),
    "explain": lambda n: "EXPLAIN " * n + "SELECT 1",
    "from": lambda n: "FROM " * n + "visits",
    "select": lambda n: "SELECT " * n + "1",
}


@pytest.mark.parametrize("shape", CHAINS)
@pytest.mark.parametrize("length", [100, 900, 5000])
def test_long_chains_are_refused_in_a_sentence(shape: str, length: int) -> None:
    started = time.perf_counter()
    with pytest.raises((QueryError, RefusalError)) as caught:
        read(CHAINS[shape](length), SCHEMA)
    assert "nested too deeply" not in caught.value.what or shape in ("intervals", "select", "from")
    # No bound on time is claimed here beyond the absence of a hang.
    assert time.perf_counter() - started < 20


def test_long_conjunctions_are_one_level() -> None:
    for word in ("AND", "OR"):
        read(counted(f" {word} ".join(["smoker"] * 1_500)), SCHEMA)
    read(counted(" || ".join(["note"] * 1_500) + " = 'x'"), SCHEMA)


def test_long_lists_are_flat() -> None:
    numbers = ", ".join(map(str, range(1_500)))
    read(counted(f"age IN ({numbers})"), SCHEMA)


def test_the_length_is_limited() -> None:
    with pytest.raises(RefusalError, match=f"at most {LENGTH:,} characters; got {LENGTH + 1:,}"):
        read("SELECT COUNT(*) FROM visits".ljust(LENGTH + 1), SCHEMA)
    read("SELECT COUNT(*) FROM visits".ljust(LENGTH), SCHEMA)


def test_the_number_of_words_is_limited() -> None:
    with pytest.raises(RefusalError, match=f"at most {TOKENS:,} words"):
        read(counted("age IN (" + ",".join(["1"] * TOKENS) + ")"), SCHEMA)


@pytest.mark.parametrize("sql", ["", "   ", "-- nothing", "/* nothing */", ";"])
def test_an_empty_question_is_a_mistake(sql: str) -> None:
    with pytest.raises((QueryError, RefusalError), match=r"empty|one SELECT"):
        read(sql, SCHEMA)


@pytest.mark.parametrize("sql", ["SELECT '\x00'", "SELECT '\ud800'"])
def test_what_is_no_text_is_a_mistake(sql: str) -> None:
    with pytest.raises(QueryError, match="no text"):
        read(sql, SCHEMA)


@pytest.mark.parametrize("sql", [None, b"SELECT 1", 5])
def test_a_question_is_a_text(sql: object) -> None:
    with pytest.raises(QueryError, match="a question is a text"):
        read(sql, SCHEMA)  # type: ignore[arg-type]


@pytest.mark.parametrize("sql", ["SELECT 'a", 'SELECT "a', "SELECT $$a", "SELECT /* a"])
def test_what_is_not_closed_is_a_mistake(sql: str) -> None:
    with pytest.raises(QueryError):
        read(sql, SCHEMA)


def test_comments_and_a_last_semicolon_are_fine() -> None:
    read("-- how many?\nSELECT /* all */ COUNT(*) FROM visits;;", SCHEMA)


def test_a_caller_deep_in_its_stack_gets_a_sentence() -> None:
    def deeper(n: int) -> None:
        if n:
            deeper(n - 1)
        else:
            read(DEEP["functions"](NESTING), SCHEMA)

    frame, used = sys._getframe(), 0
    while frame is not None:
        frame, used = frame.f_back, used + 1
    with pytest.raises(RefusalError, match="nested too deeply"):
        deeper(sys.getrecursionlimit() - used - 60)


def test_tokens_keep_their_places() -> None:
    text = split("SELECT COUNT(*) FROM visits")
    assert [text.sql[token.start : token.end + 1] for token in text.tokens][:3] == ["SELECT", "COUNT", "("]
