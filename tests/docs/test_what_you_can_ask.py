"""The page "what you can ask" is what is registered, and every question on it is answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import quincunx as qx
from quincunx.sample import write_sample
from tests.docs.asked import EXAMPLES, PAGE, RELATIONS, aggregates, page, rows


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[qx.Session]:
    folder: Path = tmp_path_factory.mktemp("asked") / "sample"
    write_sample(folder, 200)
    with qx.Session.open(folder / "plan.toml") as opened:
        yield opened


def test_the_page_is_made_of_what_is_registered() -> None:
    assert EXAMPLES.keys() >= RELATIONS.keys()
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize(("name", "sql"), [(name, sql) for name, _, sql in rows()], ids=lambda each: each[:30])
def test_a_construct_is_answered(session: qx.Session, name: str, sql: str) -> None:
    assert session.sql(sql, spend="1/1000").frame is not None, name


def test_every_aggregate_is_planned(session: qx.Session) -> None:
    for name, sql in aggregates():
        assert session.explain(sql) is not None, name
