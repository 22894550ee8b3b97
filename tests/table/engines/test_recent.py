"""What engines remember of programs: the last ones, whatever the number of questions, and nothing else changes."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from quincunx.spec.unit import AddRemove
from quincunx.table.engines import recent
from quincunx.table.engines.recent import MOST, Recent
from quincunx.table.measure import Program
from tests.table import worlds


def named(number: int) -> Program:
    """Anything that is hashed by its value will do."""
    return cast(Any, number)


def test_the_last_programs_are_remembered_and_the_first_are_gone() -> None:
    found = Recent[str]()
    for i in range(MOST):
        found.keep(named(i), str(i))
    # What is asked for again stays.
    assert found.get(named(0)) == "0"
    found.keep(named(MOST), "last")
    assert (found.get(named(1)), found.get(named(0)), found.get(named(MOST))) == (None, "0", "last")
    found.keep(named(0), "anew")
    assert (len(found), found.get(named(0))) == (MOST, "anew")


def test_threads_share_it() -> None:
    found = Recent[int]()

    def ask(start: int) -> bool:
        for i in range(start, start + 3 * MOST):
            found.keep(named(i), i)
            assert found.get(named(i)) in (None, i)
        return True

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(ask, range(0, 8 * MOST, MOST)))
    assert len(found) == MOST


@pytest.mark.parametrize("snapshot", [False, True])
def test_an_engine_that_forgot_a_program_answers_as_before(monkeypatch: pytest.MonkeyPatch, snapshot: bool) -> None:
    monkeypatch.setattr(recent, "MOST", 2)
    rows = worlds.rows(random.Random("recent"), 20, 30)
    engine, declared = worlds.world(rows, AddRemove(key="person"), {"rows": 3, "groups": 2}, snapshot=snapshot)
    with engine:
        asked = [worlds.planned(text, declared, norm) for text in worlds.QUESTIONS[:4] for norm in (1, 2)]
        before = []
        for program in asked:
            engine.rehearse(program)
            before.append(engine.run(program))
        assert len(engine._rehearsed) == 2
        for program, found in zip(asked, before, strict=True):
            # Forgotten, it is written anew; rehearsed again, it is remembered.
            for again in (engine.run(program), (engine.rehearse(program), engine.run(program))[1]):
                assert again.keys == found.keys
                assert [each.tolist() for each in again.measures] == [each.tolist() for each in found.measures]
        assert len(engine._rehearsed) == 2
