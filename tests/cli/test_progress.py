"""Long work says its stage and its time on a terminal, never a number of rows, and leaves nothing behind."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from quincunx.cli import progress
from quincunx.release import Session
from quincunx.sample import write_sample
from tests.invariant.topdown.plans import write_plan


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(text: str) -> str:
    """What is left on the line: what stands after the last erasure."""
    return text.rpartition("\x1b[2K")[2]


def test_the_line_appears_after_two_seconds_and_goes() -> None:
    now, stream = [0.0], Terminal()
    line = progress.Line(stream, "opening the tables", lambda: now[0])
    for now[0] in (0.5, 1.9):
        line.tick()
    line.clear()
    assert stream.getvalue() == ""
    now[0] = 2.0
    line.tick()
    assert shown(stream.getvalue()) == "opening the tables … 2 s"
    line.stage("answering by_region, 1 of 3")
    now[0] = 125.7
    line.tick()
    assert shown(stream.getvalue()) == "answering by_region, 1 of 3 … 2 min 05 s"
    line.clear()
    assert shown(stream.getvalue()) == ""


def test_a_long_stage_stays_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "get_terminal_size", lambda: os.terminal_size((40, 20)))
    stream = Terminal()
    clock = iter([0.0, 9.0])
    progress.Line(stream, "x" * 300, lambda: next(clock)).tick()
    assert len(shown(stream.getvalue())) == 39


@pytest.mark.parametrize("case", ["no terminal", "quiet", "dumb"])
def test_elsewhere_nothing_is_said(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO() if case == "no terminal" else Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setenv("TERM", "dumb" if case == "dumb" else "xterm")
    before = threading.active_count()
    with progress.working("stage", quiet=case == "quiet") as stage:
        stage("next")
        assert threading.active_count() == before
    assert stream.getvalue() == ""


def test_it_ends_with_the_work_also_where_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "_EVERY", 0.001)
    written = threading.Event()
    write = stream.write
    monkeypatch.setattr(stream, "write", lambda text: (write(text), written.set())[0])

    def broken() -> None:
        with progress.working("stage"):
            assert written.wait(60)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        broken()
    assert "stage … 0 s" in stream.getvalue()
    assert shown(stream.getvalue()) == ""


def test_stages_of_a_release_depend_on_the_plan_alone(tmp_path: Path) -> None:
    told: list[list[str]] = []
    for people in (200, 900):
        write_sample(tmp_path / str(people), people)
        with Session.open(tmp_path / str(people) / "plan.toml") as session:
            told.append([])
            session.release(tmp_path / str(people) / "published", progress=told[-1].append)
    assert told[0] == told[1]
    assert told[0][1] == "answering visits_by_region, 1 of 3"
    assert told[0][-1] == "writing the tables"


@pytest.mark.parametrize("command", ["check", "compare", "topdown"])
def test_on_a_terminal_a_command_shows_it_and_prints_after_it(command: str, tmp_path: Path) -> None:
    """The real thing in a pseudo-terminal, with the two seconds taken away."""
    arguments, stages, last = COMMANDS[command](tmp_path)
    code = (
        "from quincunx.cli import main, progress; progress.AFTER = 0.0; progress._EVERY = 0.001; import sys; "
        f"sys.argv = {['quincunx', *arguments]!r}; main()"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 65_536):
                seen += part
        except OSError:
            # Linux says so when the other side is closed.
            pass
        assert process.stdout is not None
        assert last in process.stdout.read().decode()
    os.close(ours)
    text = seen.decode()
    assert re.search(rf"({stages}) … \d+ s", text)
    assert shown(text) == ""


def _check(folder: Path) -> tuple[list[str], str, str]:
    write_sample(folder / "sample", 300)
    plan = str(folder / "sample" / "plan.toml")
    return ["check", plan], "opening the tables|planning every release", "No private row was read."


def _compare(folder: Path) -> tuple[list[str], str, str]:
    (folder / "rows.csv").write_text("county,tenure,persons\n" + "a,own,1\nb,rent,1\na,rent,2\nb,own,2\n" * 5)
    wanted = ["--rates", "1/2", "--rhos", "1", "--runs", "2"]
    return ["census", "compare", str(folder / "rows.csv"), *wanted], "swapping at 50 %|TopDown at ρ = 1", "median error"


def _topdown(folder: Path) -> tuple[list[str], str, str]:
    arguments = ["topdown", str(write_plan(folder, ledger="ledger.db")), "--out", str(folder / "out")]
    return arguments, r"counting and measuring|block, \d+ of \d+|writing the files", "ledger head"


COMMANDS = {"check": _check, "compare": _compare, "topdown": _topdown}
