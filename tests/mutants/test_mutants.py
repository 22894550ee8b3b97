"""Each mutant breaks one line of a copy of the library; the tests it names must turn red, and are green without it."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "src" / "quincunx"
MUTANTS = tomllib.loads((Path(__file__).parent / "mutants.toml").read_text(encoding="utf-8"))["mutant"]
# pytest's own exit codes.
GREEN, RED = 0, 1


def run_tests(package: Path, mutant: dict[str, object]) -> subprocess.CompletedProcess[str]:
    """The mutant's tests against the library in `package`, stopping at the first failure."""
    tests, only = mutant["tests"], mutant.get("only")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "--no-header", "-p", "no:randomly"]
    command += [*tests, *(["-k", str(only)] if only else [])]  # type: ignore[misc]
    # The copy comes first on the path, before the installed library.
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(package.parent)}
    )


def copy_of_library(folder: Path) -> Path:
    return Path(shutil.copytree(PACKAGE, folder / "quincunx", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_mutant_is_caught(mutant: dict[str, str], tmp_path: Path) -> None:
    package = copy_of_library(tmp_path)
    target = package / mutant["file"]
    text = target.read_text(encoding="utf-8")
    assert text.count(mutant["find"]) == 1, "the mutant's line has moved: mend the mutant"
    target.write_text(text.replace(mutant["find"], mutant["replace"]), encoding="utf-8")
    result = run_tests(package, mutant)
    assert result.returncode == RED, result.stdout[-2000:] + result.stderr[-2000:]
    # Red for the right reason: an assertion or an expected error, not a library that cannot be imported.
    assert "ImportError" not in result.stdout
    assert "SyntaxError" not in result.stdout


def test_the_copy_is_what_runs(tmp_path: Path) -> None:
    package = copy_of_library(tmp_path)
    where = subprocess.run(
        [sys.executable, "-c", "import quincunx; print(quincunx.__file__)"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(package.parent)},
    ).stdout
    assert Path(where.strip()).is_relative_to(tmp_path)


def test_an_unbroken_copy_is_green(tmp_path: Path) -> None:
    """Without a mutation the same command on the same kind of copy passes: red above is the mutation's doing."""
    package = copy_of_library(tmp_path)
    result = run_tests(package, {"tests": ["tests/loss/test_stated.py", "tests/mechanisms/test_additive.py"]})
    assert result.returncode == GREEN, result.stdout[-2000:]
