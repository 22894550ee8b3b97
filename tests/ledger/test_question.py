"""The identity of a question: what changes it, what does not."""

import pickle
from fractions import Fraction

import pytest

import quincunx as qx
from quincunx.errors import DataError, ParameterError, SpecificationError
from quincunx.ledger import Question
from tests.ledger.worlds import question, specification


def test_equal_questions_have_one_key_however_they_are_written() -> None:
    first = question({"sql": "SELECT 1", "bounds": [0, Fraction(1, 2)]}, "0.1")
    second = question({"bounds": (0, Fraction(2, 4)), "sql": "SELECT 1"}, Fraction(1, 10))
    assert first.key == second.key
    assert first == second
    assert len(first.key) == 64


def test_a_raised_total_does_not_make_old_answers_dear() -> None:
    assert question("x").key == question("x", specification=specification(2)).key


@pytest.mark.parametrize(
    "changes",
    [
        {"dataset": "visits-2025"},
        {"version": "2"},
        {"cost": "1/11"},
        {"delta": "1e-9"},
        {"specification": specification(standard=qx.standard.Pure())},
        {"specification": specification(unit=qx.unit.Replace(key="person_id"))},
        {"specification": specification(standard=qx.standard.ZCDP())},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_whatever_could_change_the_answers_law_changes_the_key(changes: dict[str, object]) -> None:
    assert question("x", **changes).key != question("x").key


@pytest.mark.parametrize("other", ["y", "x ", ["x"], None, {"x": None}, "X", 1, True])
def test_what_is_asked_changes_the_key(other: object) -> None:
    assert question(other).key != question("x").key


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"dataset": ""}, ParameterError),
        ({"version": 1}, ParameterError),
        ({"cost": -1}, ParameterError),
        ({"cost": "nan"}, ParameterError),
        ({"delta": 1}, ParameterError),
        ({"specification": None}, SpecificationError),
    ],
)
def test_bad_parts_are_refused(changes: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        question("x", **changes)


@pytest.mark.parametrize("asked", [{}, None, "SELECT 1", {"a": 0.5}, {1: 2}])
def test_what_is_asked_is_a_mapping_with_a_canonical_form(asked: object) -> None:
    with pytest.raises(DataError):
        Question(dataset="visits", version="1", specification=specification(), cost=1, asked=asked)  # type: ignore[arg-type]


def test_a_cost_of_zero_is_a_question_too() -> None:
    assert question("invariants", 0).cost == 0


def test_it_is_a_value() -> None:
    made = question({"sql": "SELECT 1"})
    assert pickle.loads(pickle.dumps(made)) == made
    assert pickle.loads(pickle.dumps(made)).key == made.key
    assert repr(made).startswith("Question(dataset='visits', version='1', specification=Specification(")
    assert repr(made).endswith("asked={'plan': {'sql': 'SELECT 1'}})")
    with pytest.raises(AttributeError):
        made.cost = 0  # type: ignore[misc,assignment]
