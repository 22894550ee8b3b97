"""The page of ordinary questions is what is listed, every question on it is answered, and every refusal is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import quincunx as qx
from quincunx.sample import write_sample
from tests.docs.ordinary import PAGE, QUESTIONS, Ordinary, page


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[qx.Session]:
    folder: Path = tmp_path_factory.mktemp("ordinary") / "sample"
    write_sample(folder, 200)
    with qx.Session.open(folder / "plan.toml") as opened:
        yield opened


def test_the_page_is_what_is_listed() -> None:
    assert len(QUESTIONS) >= 40
    assert len({each.kind for each in QUESTIONS}) == len(QUESTIONS)
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda each: each.kind[:40])
def test_a_question_is_answered(session: qx.Session, asked: Ordinary) -> None:
    answer = session.sql(asked.sql, spend="1/1000", delta=asked.delta or None)
    assert answer.outputs
    if asked.then:
        above = answer.then(asked.then)
        assert above.columns
        assert len(above.rows) > 0
    if asked.refused:
        with pytest.raises(qx.errors.RefusalError) as caught:
            session.sql(asked.refused, spend="1/1000")
        assert caught.value.hint
