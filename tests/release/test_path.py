"""Errors carry the path into the plan file: the line is looked up by it, and not guessed from words."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from quincunx.errors import DataError, ParameterError, QuincunxError, under
from quincunx.release import Session
from quincunx.release.toml import Node
from quincunx.spec.standard import KL
from quincunx.spec.unit import AddRemove
from quincunx.table.table import Table
from tests.release.world import PLAN, session, tables, visits, write_plan

# (what is written, what is written instead, what is on the line that is blamed, the path, part of the message)
MISTAKES = [
    ('key = "person_id"', 'key = "nobody"', "unit ", ("spec", "unit"), "nobody"),
    ('intensity  = "100"', 'intensity = "0"', "intensity = ", ("spec", "intensity"), "greater than 0"),
    ('dataset    = "visits-2024"', 'dataset = "visits "', "dataset", ("dataset",), "cannot be a name"),
    ('version    = "1"', 'version = " "', "version", ("version",), "cannot be a name"),
    (
        'source = "visits.parquet"',
        'source = "none.parquet"',
        "none.parquet",
        ("tables", "visits", "source"),
        "no such file",
    ),
    ("age    = { bounds", "edge   = { bounds", "edge ", ("tables", "visits", "columns", "edge"), "no column 'edge'"),
    (
        "invariants = []",
        'invariants = ["SELECT AVG(age) AS a FROM visits"]',
        "invariants",
        ("spec", "invariants", 0),
        "AVG",
    ),
]


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), start=1) if part in line)


@pytest.mark.parametrize(
    ("before", "after", "line", "path", "message"), MISTAKES, ids=[each[1][:30] for each in MISTAKES]
)
def test_the_line_of_a_mistake_is_looked_up(
    tmp_path: Path, before: str, after: str, line: str, path: tuple[str | int, ...], message: str
) -> None:
    text = PLAN.replace(before, after, 1)
    assert text != PLAN
    with pytest.raises(QuincunxError) as caught:
        Session.open(write_plan(tmp_path, text))
    assert caught.value.path == path
    assert f"plan.toml:{line_of(text, line)}: " in caught.value.where
    assert message in str(caught.value)


def test_words_decide_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that says nothing of the place is placed all the same."""

    def silent(*_: object, **__: object) -> None:
        raise DataError("no")

    monkeypatch.setattr("quincunx.table.table._keys", silent)
    with pytest.raises(DataError) as caught:
        Session.open(write_plan(tmp_path))
    assert caught.value.path[:3] == ("tables", "visits", "columns")
    assert ": tables.visits.columns" in caught.value.where


def test_an_error_without_a_path_is_of_the_first_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object, **__: object) -> None:
        raise ParameterError("no")

    monkeypatch.setattr("quincunx.release.session.declared", silent)
    with pytest.raises(ParameterError) as caught:
        Session.open(write_plan(tmp_path))
    assert caught.value.where.endswith("plan.toml:1")


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"unit": 3}, ("spec", "unit")),
        ({"unit": AddRemove(key="nobody")}, ("spec", "unit")),
        ({"standard": KL()}, ("spec", "standard")),
        ({"intensity": 0}, ("spec", "intensity")),
        ({"intensity": "0.0"}, ("spec", "intensity")),
        ({"version": ""}, ("version",)),
        ({"version": 1}, ("version",)),
        ({"dataset": ""}, ("dataset",)),
        ({"confidence": 1}, ("confidence",)),
        ({"confidence": "high"}, ("confidence",)),
        ({"tables": 3}, ("tables",)),
        ({"tables": {"visits": 3}}, ("tables",)),
        ({"budgets": {"plans": 3}}, ("budgets",)),
        ({"budgets": {"analysts": {"alice": "much"}}}, ("budgets",)),
        ({"invariants": 3}, ("spec", "invariants")),
        ({"invariants": ["SELECT COUNT(*) AS n FROM visits WHERE age > 90", "SELECT"]}, ("spec", "invariants", 1)),
        ({"ledger": None}, ("ledger",)),
    ],
    ids=str,
)
def test_a_session_refuses_at_once_and_says_where(change: dict[str, Any], path: tuple[str | int, ...]) -> None:
    with pytest.raises(QuincunxError) as caught:
        session(**change)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"limits": {"rows": 0}}, ("limits",)),
        ({"limits": {"row": 1}}, ("limits",)),
        ({"limits": {"rows": 1}, "public": True}, ("limits",)),
        ({"columns": {"age": {"bounds": (2, 1)}}}, ("columns", "age")),
        ({"columns": {"nothing": {}}}, ("columns", "nothing")),
        ({"columns": {"age": {}, "AGE": {}}}, ("columns",)),
        ({"encoding": "klingon"}, ("encoding",)),
        ({"separator": "x"}, ("separator",)),
        ({"decimal": ",", "thousands": ","}, ("thousands",)),
        ({"separator": ";"}, ("source",)),
    ],
    ids=str,
)
def test_a_table_says_which_part(change: Mapping[str, Any], path: tuple[str, ...]) -> None:
    with pytest.raises(QuincunxError) as caught:
        Table(visits(), **change)
    assert caught.value.path == path


def test_the_keys_of_a_column_are_blamed_where_they_are_declared() -> None:
    wrong = tables() | {"visits": Table(visits(), limits={"rows": 10}, columns={"region": {"keys": "regions.nothing"}})}
    with pytest.raises(DataError) as caught:
        session(tables=wrong)
    assert caught.value.path == ("tables", "visits", "columns", "region", "keys")


def test_paths_are_nested_and_travel() -> None:
    with pytest.raises(ParameterError) as caught, under("tables", "visits"), under("columns"):
        raise ParameterError("no", where="here")
    assert caught.value.path == ("tables", "visits", "columns")
    assert str(caught.value) == "here: no"
    assert pickle.loads(pickle.dumps(caught.value)).path == caught.value.path
    assert ParameterError("no").path == ()


def test_the_nearest_value_is_found() -> None:
    value = {"tables": {"Visits": {"source": "a", "columns": {"age": {}}}}, "release": [{"name": "n"}]}
    root = Node(file="plan.toml", index={(): 1}, path=(), value=value)
    assert root.at(("tables", "visits", "columns", "AGE", "bounds")).path == ("tables", "Visits", "columns", "age")
    assert root.at(("tables", "Visits", "source", "x")).path == ("tables", "Visits", "source")
    assert root.at(("release", 0, "name")).path == ("release", 0, "name")
    for nowhere in (("release", 1), ("release", "name"), ("nothing",), (), (3,)):
        assert root.at(nowhere).path in (("release",), ())
