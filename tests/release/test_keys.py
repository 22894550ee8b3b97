"""Keys are for ever: a key that changes charges everyone who asked the question again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from quincunx.errors import ParameterError
from quincunx.ledger import Ledger
from quincunx.table import expression, measure, plan, schema
from tests.release.questions import DERIVED, PAID, TEXTS, key, name, session, visits
from tests.release.world import NoEngine

FIXTURES = Path(__file__).parent.parent / "fixtures"
GOLDEN = json.loads((FIXTURES / "keys.json").read_text(encoding="utf-8"))
# Questions with an operator that means something new, and the keys under which they were paid before.
MEANT = {
    "people | ρ | SELECT SUM(CLAMP(cost * 1.5, 0, 75)) AS s FROM visits | None":
        "f2f3c006d6ac449f4f7b1cb638a526b1c7f6afa9f261986eb1109b8580068c8e",
    "people | ρ | SELECT COUNT(*) AS n FROM visits WHERE UPPER(town) = 'TOWN1' | None":
        "4531451750c09d4b21b1333b33b40dea80b0a3b46b530b459682961998410410",
    "rows | ε, δ | SELECT FLOOR(cost / 5) AS five, AVG(age) AS m FROM visits GROUP BY 1 | None":
        "0984e02fc30beba42f314c44f3a1c3ddeb032539d04b4005837a595512061895",
}  # fmt: skip
HEAD = "95:53dc03e7a82b98f0f160e1be8b493050"


def test_the_golden_file_is_about_these_questions() -> None:
    assert list(GOLDEN) == [name(each) for each in PAID + TEXTS + DERIVED]
    assert len(set(GOLDEN.values())) == len(GOLDEN) >= 40


@pytest.mark.parametrize("question", PAID + TEXTS, ids=name)
def test_the_key_is_the_golden_one(question: tuple[str, str, str, str | None]) -> None:
    assert key(*question, selected=True) == GOLDEN[name(question)]


@pytest.mark.parametrize("question", DERIVED, ids=name)
def test_what_means_something_new_has_a_key_of_its_own(question: tuple[str, str, str, str | None]) -> None:
    assert key(*question) == GOLDEN[name(question)]


def test_a_question_means_what_it_meant_unless_its_keys_follow_from_facts() -> None:
    """The rule changes the meaning of these alone: their keys were unknown, and are public."""
    new = {text for _, _, text, delta in PAID if (delta is not None and "GROUP BY age" in text) or "decade" in text}
    for question in PAID + TEXTS:
        if question[2] not in new:
            assert key(*question) == GOLDEN[name(question)], question
        elif question[1] == "ε, δ":
            # Now δ is for the noise.
            assert key(*question) != GOLDEN[name(question)]
        else:
            with pytest.raises(ParameterError, match="this question uses no δ"):
                key(*question)


def test_only_questions_with_an_operator_that_means_something_new_have_new_keys() -> None:
    """A product and a quotient of decimals that may be too small, and capitals of ASCII letters alone."""
    assert len(MEANT) == 3
    for question, before in MEANT.items():
        assert GOLDEN[question] != before
        assert any(word in question for word in ("cost * 1.5", "cost / 5", "UPPER"))


def test_a_ledger_written_before_there_were_tags_is_replayed_for_nothing(tmp_path: Path) -> None:
    path = shutil.copy(FIXTURES / "ledger_sessions.db", tmp_path / "ledger.db")
    for unit, standard, text, delta in PAID:
        if name((unit, standard, text, delta)) in MEANT:
            continue
        with session(unit, standard, str(path), visits().iloc[:0]) as asked:
            asked._engine = NoEngine()
            answer = asked.sql(text, spend="1/2", delta=delta)
            assert (answer.spent, answer.delta) == (0, 0), text
            for fact in asked.invariants().values():
                assert fact.columns
    with Ledger.open(path, create=False) as ledger:
        assert ledger.verify(HEAD) == ledger.head == HEAD


def test_names_of_classes_are_free() -> None:
    classes = [
        each
        for room in (expression, measure, plan, schema)
        for each in vars(room).values()
        if isinstance(each, type) and each.__module__ == room.__name__
    ]
    names = [each.__name__ for each in classes]
    try:
        for each in classes:
            each.__name__ = f"Renamed{each.__name__}"
        question = ("people", "ρ", "SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward", None)
        assert key(*question) == GOLDEN[name(question)]
    finally:
        for each, before in zip(classes, names, strict=True):
            each.__name__ = before


@pytest.mark.parametrize(
    ("same", "plain"),
    [
        ("SELECT COUNT(person_id) AS n FROM visits", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT COUNT(p) AS n FROM (SELECT person_id AS p FROM visits)", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT COUNT(*) AS n FROM visits WHERE TRUE", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT COUNT(*) FILTER (WHERE TRUE) AS n FROM visits", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT COUNT(*) AS n FROM (SELECT TRUE AS yes FROM visits) WHERE yes", "SELECT COUNT(*) AS n FROM visits"),
        (
            "SELECT SUM(age) AS s FROM (SELECT * FROM visits WHERE TRUE) WHERE age > 30",
            "SELECT SUM(age) AS s FROM visits WHERE age > 30",
        ),
    ],
)
def test_equal_questions_are_one(same: str, plain: str) -> None:
    assert key("people", "ρ", same, None) == key("people", "ρ", plain, None)


def test_the_period_is_never_null_either() -> None:
    plain = key("months", "ρ", "SELECT COUNT(*) AS n FROM visits", None)
    assert key("months", "ρ", "SELECT COUNT(day) AS n FROM visits", None) == plain
    # Of people, the day may be missing.
    assert key("people", "ρ", "SELECT COUNT(day) AS n FROM visits", None) != GOLDEN[name(PAID[0])]


def test_a_condition_that_keeps_no_row_is_another_question() -> None:
    plain = GOLDEN[name(PAID[0])]
    assert key("people", "ρ", "SELECT COUNT(*) AS n FROM visits WHERE FALSE", None) != plain
    assert key("people", "ρ", "SELECT COUNT(*) FILTER (WHERE FALSE) AS n FROM visits", None) != plain


def test_what_may_be_null_is_another_question() -> None:
    for other in ("COUNT(age)", "COUNT(*) FILTER (WHERE member)", "COUNT(person_id % 2)"):
        assert key("people", "ρ", f"SELECT {other} AS n FROM visits", None) != GOLDEN[name(PAID[0])]
