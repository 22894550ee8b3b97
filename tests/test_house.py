"""The house rules that a machine can check: style, types, the import contract, the size of rooms."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "--no-cache", "src", "tests", "bench"),
        ("ruff", "format", "--no-cache", "--check", "src", "tests", "bench"),
        ("mypy", "--no-incremental"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_tool_is_content(command: tuple[str, ...]) -> None:
    result = run(*command)
    assert result.returncode == 0, result.stdout + result.stderr


def test_import_contract_is_kept() -> None:
    # import-linter has no module to run with -m; its console script calls this function.
    code = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "2 kept, 0 broken" in result.stdout


def test_rooms_are_small() -> None:
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert max(lengths.values()) <= 600, lengths
    assert not {"utils.py", "helpers.py", "common.py", "misc.py"} & lengths.keys()


def test_no_guard_is_an_assert() -> None:
    # `python -O` removes assert statements; a privacy check must raise.
    guards = [path.name for path in SOURCES if re.search(r"^\s*assert\b", path.read_text(encoding="utf-8"), re.M)]
    assert guards == []


def test_trusted_core_has_at_least_as_many_test_lines_as_source_lines() -> None:
    for room in ("numbers", "noise", "spec", "loss", "mechanisms", "finite"):
        source = _lines(ROOT / "src" / "quincunx" / room)
        tests = _lines(ROOT / "tests" / room)
        # Samplers are also tested by their laws, losses by enumeration.
        elsewhere = {"noise": "statistical", "loss": "laws"}.get(room)
        tests += _lines(ROOT / "tests" / elsewhere) if elsewhere else 0
        assert tests >= source, (room, tests, source)


def _lines(folder: Path) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py"))
