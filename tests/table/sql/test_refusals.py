"""Refusals: the golden file is what a person sees, and no reason in the code is missing from it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import quincunx.table.aggregates
import quincunx.table.sql
import quincunx.table.typing
from quincunx.errors import QueryError, RefusalError
from quincunx.spec.unit import AddRemove
from quincunx.table import operators
from quincunx.table.sql import functions, read, reasons
from tests.table.sql.refusals import PATH, blocks, refusal
from tests.table.sql.visits import SCHEMA, schema

GOLDEN = blocks(PATH.read_text("utf-8"))

# Reasons that need another unit, a very large question or a deep stack; each has its own test.
ELSEWHERE = {
    "several tables have a column of this name",
    "each row is one person here, so that no rows belong together",
    "one person is many units of protection here",
    "* combines rows, and no column says whose they are",
    "* mixes *s: protection is of a person-*",
    "both arguments of * are the same",
    "a question is a text",
    "a question has at most * characters",
    "a question has at most * words and signs",
    "a question is nested at most * deep",
    "an expression is at most * operators deep",
    "at most * subqueries may follow one another",
    "a question reads tables at most * times",
    "with its subqueries written out, the question is too large",
    "the question is nested too deeply",
    "the question contains a character that is no text",
    "the question is empty",
    "the question does not follow the grammar of SQL",
    "there are more than * groups",
    "a cast needs its type",
    "* is too large to be looked up",
}


@pytest.mark.parametrize(("question", "expected"), GOLDEN, ids=[question for question, _ in GOLDEN])
def test_the_refusal_reads_as_written_down(question: str, expected: str) -> None:
    assert refusal(question) == expected


def test_there_are_many_refusals_and_each_shows_its_place_and_a_reason() -> None:
    assert len(GOLDEN) >= 60
    assert len({question for question, _ in GOLDEN}) == len(GOLDEN)
    placed = [expected for _, expected in GOLDEN if "^" in expected]
    assert len(placed) >= len(GOLDEN) - 1
    refused = [expected for _, expected in GOLDEN if expected.startswith("RefusalError")]
    assert len(refused) >= 60
    # What to write instead follows the reason.
    for expected in refused:
        assert re.match(r"RefusalError: [^\n]+\. [A-Z*][^\n]+[.?]\n", expected), expected


def sentences() -> Iterator[str]:
    """Every reason that the code can give, a variable part written as *."""
    files = [Path(operators.__file__)]
    for package in (quincunx.table.sql, quincunx.table.typing):
        files += Path(str(package.__file__)).parent.rglob("*.py")
    # Where terms are placed on their lattice, a plan is refused, not a reading.
    files += (file for file in Path(str(quincunx.table.aggregates.__file__)).parent.glob("*.py") if file.stem != "term")
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and _called(node) in {"refusal", "mistake", "refusal_at", *_ERRORS}:
                yield from (found for each in node.args if (found := _sentence(each)))
    for _, (what, _hint) in reasons.NODES:
        yield what
    for what, _hint in (*reasons.PARTS.values(), *reasons.NAMES.values()):
        yield what


_ERRORS = {"QueryError", "RefusalError"}


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _sentence(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)
    return ""


def test_every_reason_in_the_code_is_in_the_golden_file() -> None:
    seen = "\n".join(expected for _, expected in GOLDEN)
    found = set(sentences())
    assert len(found) > 60
    missing = {
        sentence
        for sentence in found - ELSEWHERE
        if not re.search(re.escape(sentence).replace(r"\*", r"[^\n]+"), seen)
        and not re.search(re.escape(sentence), seen)
    }
    assert missing == set()
    assert found >= ELSEWHERE


class TestOtherUnits:
    def test_where_each_row_is_a_person_a_column_of_keys_holds_values(self) -> None:
        (found,) = read("SELECT COUNT(DISTINCT person_id) FROM visits", schema(AddRemove())).aggregates
        assert found.kind == "distinct"

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY RANK() OVER (PARTITION BY person_id ORDER BY age) = 1)",
            "SELECT COUNT(*) FROM visits WHERE person_id IN (SELECT person_id FROM visits)",
        ],
    )
    def test_where_each_row_is_a_person_no_rows_belong_together(self, sql: str) -> None:
        with pytest.raises(RefusalError, match="no rows belong together"):
            read(sql, schema(AddRemove()))

    @pytest.mark.parametrize(
        ("sql", "hint"),
        [
            (
                "SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY RANK() OVER (PARTITION BY person_id) = 1)",
                "PARTITION BY DATE_TRUNC('day', visited_at)",
            ),
            (
                "SELECT COUNT(*) FROM visits AS v WHERE EXISTS (SELECT 1 FROM visits AS s WHERE s.age > v.age)",
                "s.person_id = v.person_id AND DATE_TRUNC('day', s.visited_at) = DATE_TRUNC('day', v.visited_at)",
            ),
        ],
    )
    def test_with_a_person_period_both_are_asked_for(self, sql: str, hint: str) -> None:
        unit = AddRemove(key="person_id", per={"column": "visited_at", "period": "day"})
        with pytest.raises(RefusalError) as caught:
            read(sql, schema(unit))
        assert hint in caught.value.hint

    def test_with_a_person_period_people_are_not_units(self) -> None:
        unit = AddRemove(key="person_id", per={"column": "visited_at", "period": "day"})
        with pytest.raises(RefusalError, match="many units of protection") as caught:
            read("SELECT COUNT(DISTINCT person_id) FROM visits", schema(unit))
        assert "day" in caught.value.hint


def test_a_refusal_knows_its_exit_code_and_its_place() -> None:
    sql = "SELECT MIN(age) FROM visits"
    with pytest.raises(RefusalError) as caught:
        read(sql, SCHEMA)
    error = caught.value
    assert error.exit_code == 4
    assert (error.sql, sql[error.start : error.end]) == (sql, "MIN(age)")
    with pytest.raises(QueryError) as mistaken:
        read("SELECT AVG(aeg) FROM visits", SCHEMA)
    assert mistaken.value.exit_code == 2


def test_suggestions_come_from_the_schema_in_its_own_spelling() -> None:
    with pytest.raises(QueryError, match="Did you mean visited_at"):
        read("SELECT COUNT(VISITED_ON) FROM visits", SCHEMA)


def test_the_file_is_written_again_from_its_questions(tmp_path: Path) -> None:
    from tests.table.sql import refusals

    led = {"SELECT COUNT(*) FROM visits": ["SELECT SUM(age) FROM visits"]}
    text = refusals.written(["SELECT MIN(age)\nFROM visits", "SELECT COUNT(*) FROM visits"], led)
    assert blocks(text)[0][0] == "SELECT MIN(age)\nFROM visits"
    assert blocks(text)[1] == ("SELECT COUNT(*) FROM visits", "accepted")
    assert refusals.followed(text)["SELECT COUNT(*) FROM visits"] == ["SELECT SUM(age) FROM visits"]
    (tmp_path / "x").write_text(text)


def test_every_refusal_of_the_lists_is_on_the_reference_page() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "sql.md").read_text("utf-8")
    listed = {what for _, (what, _hint) in reasons.NODES}
    listed |= {what for what, _hint in (*reasons.PARTS.values(), *reasons.NAMES.values())}
    assert {what for what in listed if f"| {what} |" not in page} == set()


def test_every_function_is_on_the_reference_page() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "sql.md").read_text("utf-8")
    names = {name.upper() for name in functions.NAMED}
    for node in (*functions.ARGUMENTS, *functions.PARTS):
        names |= set(node.sql_names())
    documented = set(re.findall(r"[A-Z][A-Z_]+", page))
    unread = {name for name in names - documented if _accepted(name)}
    assert unread == set()


def _accepted(name: str) -> bool:
    """Whether some use of the function is read."""
    for arguments in ("age", "note", "born", "visited_at", "note, 'a'", "age, 1", "note, 1", "note, 'a', 'b'"):
        try:
            read(f"SELECT COUNT(*) FROM visits WHERE {name}({arguments}) IS NULL", SCHEMA)
        except (QueryError, RefusalError):
            continue
        return True
    return False
