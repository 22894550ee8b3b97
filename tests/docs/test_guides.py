"""The guides' shell sessions, run in order in an empty folder: every command, its output, and every file shown.

In a ```console block a line `$ command` is run and the lines below it are its output, errors last; `…` stands for any
characters, alone on a line for any lines. In a block ```console one-run every number stands for any number. A block
```toml path is written to that path.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app

ROOT = Path(__file__).parents[2]
SESSIONS = ["publish-a-table"]
_BLOCK = re.compile(r"^```(console|toml) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command with the output shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def agrees(shown: str, got: str, *, one_run: bool = False) -> bool:
    """Whether the output is as shown. Lines compare without the spaces that align them."""
    return re.fullmatch(_pattern(shown, one_run), _plain(got, one_run)) is not None


def _plain(text: str, one_run: bool) -> str:
    lines = (re.sub(r" +", " ", line).strip() for line in text.strip().splitlines())
    joined = "\n".join(lines)
    return _NUMBER.sub("0", joined) if one_run else joined


def _pattern(shown: str, one_run: bool) -> str:
    parts = [".*" if line == "…" else _line(line) for line in _plain(shown, one_run).splitlines()]
    # `…` alone may also stand for no line at all.
    return "(?s:" + "\n".join(parts).replace("\n.*", "(?:\n.*)?").replace(".*\n", "(?:.*\n)?") + ")"


def _line(line: str) -> str:
    return "[^\n]*".join(re.escape(part) for part in line.split("…"))


def run(command: str) -> str:
    """What a command of a guide prints: stdout, then stderr."""
    program, *arguments = shlex.split(command)
    if program == "cat":
        return Path(arguments[0]).read_text(encoding="utf-8")
    assert program == "quincunx", command
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "120", "NO_COLOR": "1"})
    assert result.exit_code in (0, 2, 3, 4), result.output
    return f"{result.stdout}{result.stderr}"


@pytest.mark.parametrize("guide", SESSIONS)
def test_every_command_does_what_the_guide_shows(guide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = 0
    for kind, word, body in _BLOCK.findall((ROOT / "docs" / "guides" / f"{guide}.md").read_text(encoding="utf-8")):
        if kind == "toml":
            Path(word).write_text(body, encoding="utf-8")
            continue
        for command, shown in commands(body):
            got = run(command)
            assert agrees(shown, got, one_run=word == "one-run"), f"$ {command}\n{got}\nwas shown as\n{shown}"
            ran += 1
    assert ran >= 5


def test_the_comparison_can_fail() -> None:
    assert agrees("a\n…\nb\n", "a\nx\ny\nb\n")
    assert agrees("a\n…\nb\n", "a\nb\n")
    assert agrees("n  …\n", "n 12 to 14\n")
    assert not agrees("a\n…\nb\n", "a\nx\n")
    assert not agrees("n = 12\n", "n = 13\n")
    assert agrees("n = 12,345\n", "n = 9.5\n", one_run=True)
    assert not agrees("n = 12\n", "m = 12\n", one_run=True)
    assert not agrees("a.c\n", "abc\n")


def test_commands_are_taken_apart() -> None:
    assert list(commands("$ a b\none\ntwo\n$ c\n")) == [("a b", "one\ntwo\n"), ("c", "")]


def test_every_shell_session_that_can_be_run_is_listed() -> None:
    # first-release shows two commands on files that its Python made, and runs the same two there.
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "guides").glob("*.md")}
    shown = {name for name, text in texts.items() if re.search(r"^```console.*\n\$ quincunx init", text, re.MULTILINE)}
    assert shown == set(SESSIONS)
