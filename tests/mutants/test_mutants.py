"""Each mutant breaks one line of a copy of the library; the tests it names must turn red, and are green without it."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.spark import available

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "src" / "quincunx"
MUTANTS = tomllib.loads((Path(__file__).parent / "mutants.toml").read_text(encoding="utf-8"))["mutant"]
# A newcomer's run breaks every so many; CI breaks them all.
SHARE = 12
# pytest's own exit codes.
GREEN, RED = 0, 1
Forkserver = subprocess.Popen[str]


@pytest.fixture(scope="module")
def forkserver() -> Iterator[Forkserver]:
    """The process that forks a run of tests for each copy: forkserver.py."""
    command = [sys.executable, str(Path(__file__).parent / "forkserver.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.communicate()


def run_tests(
    forkserver: Forkserver, package: Path, tests: list[str], only: str | None = None, *, ci: bool = False
) -> tuple[int, str]:
    """The exit code and the words of these tests against the library in `package`, stopping at the first failure.

    ci: with those that are marked so.
    """
    output = package.parent / "output.txt"
    arguments = [
        "-x",
        "-q",
        "-p",
        "no:xdist",
        "-p",
        "no:xdist.looponfail",
        "-o",
        "addopts=-p no:cacheprovider",
        "--no-header",
        *tests,
    ]
    arguments += [*(["-k", only] if only else []), *(["--ci"] if ci else [])]
    task = {"path": str(package.parent), "output": str(output), "arguments": arguments}
    assert forkserver.stdin is not None
    assert forkserver.stdout is not None
    forkserver.stdin.write(json.dumps(task) + "\n")
    forkserver.stdin.flush()
    return int(forkserver.stdout.readline()), output.read_text(encoding="utf-8")


def copy_of_library(folder: Path, other: str = "__init__.py", text: str | None = None) -> Path:
    """The library with another text in one file. Folders in which nothing is other are links, and so are files.

    What Python compiled of the library before is used, but not in the folders above the file: what is compiled of
    another text must not come to lie among it.
    """
    package = folder / "quincunx"
    for above in reversed(Path(other).parents):
        (package / above).mkdir(parents=True)
        for each in (PACKAGE / above).iterdir():
            if each.name != "__pycache__" and not Path(other).is_relative_to(above / each.name):
                (package / above / each.name).symlink_to(each)
    kept = (PACKAGE / other).read_text(encoding="utf-8")
    (package / other).write_text(kept if text is None else text, encoding="utf-8")
    return package


def test_every_mutant_finds_its_line() -> None:
    for mutant in MUTANTS:
        text = (PACKAGE / mutant["file"]).read_text(encoding="utf-8")
        assert text.count(mutant["find"]) == 1, f"{mutant['name']}: the mutant's line has moved: mend the mutant"
        assert mutant["find"] != mutant["replace"]
        assert all((ROOT / test.partition("::")[0]).exists() for test in mutant["tests"]), mutant["name"]


def marks(place: int, mutant: dict[str, str]) -> list[pytest.MarkDecorator]:
    later = [pytest.mark.ci] if place % SHARE or "ci" in mutant else []
    return [*later, *([pytest.mark.spark] if "spark" in mutant else [])]


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(each, marks=marks(i, each)) for i, each in enumerate(MUTANTS)],
    ids=lambda mutant: mutant["name"],
)
def test_mutant_is_caught(mutant: dict[str, str], tmp_path: Path, forkserver: Forkserver) -> None:
    if "spark" in mutant:
        available()
    text = (PACKAGE / mutant["file"]).read_text(encoding="utf-8")
    assert text.count(mutant["find"]) == 1, "the mutant's line has moved: mend the mutant"
    package = copy_of_library(tmp_path, mutant["file"], text.replace(mutant["find"], mutant["replace"]))
    code, words = run_tests(forkserver, package, list(mutant["tests"]), mutant.get("only"), ci="ci" in mutant)
    assert code == RED, words[-2000:]
    # Red for the right reason: an assertion or an expected error, not a library that cannot be imported.
    assert "ImportError" not in words
    assert "SyntaxError" not in words


def test_the_copy_is_what_runs(tmp_path: Path, forkserver: Forkserver) -> None:
    """A test that runs there, and what it starts itself, see the copy and not the library of this process."""
    package = copy_of_library(tmp_path)
    (tmp_path / "test_where.py").write_text(
        "import subprocess, sys\n"
        "import quincunx\n"
        "def test_where():\n"
        "    code = [sys.executable, '-c', 'import quincunx; print(quincunx.__file__)']\n"
        "    started = subprocess.run(code, capture_output=True, text=True, check=True).stdout.strip()\n"
        f"    assert quincunx.__file__ == started == {str(package / '__init__.py')!r}\n"
    )
    code, words = run_tests(forkserver, package, [str(tmp_path / "test_where.py")])
    assert code == GREEN, words[-2000:]


def test_an_unbroken_copy_is_green(tmp_path: Path, forkserver: Forkserver) -> None:
    """Without a mutation the same command on the same kind of copy passes: red above is the mutation's doing."""
    package = copy_of_library(tmp_path)
    code, words = run_tests(forkserver, package, ["tests/loss/test_stated.py", "tests/mechanisms/test_additive.py"])
    assert code == GREEN, words[-2000:]


def test_every_run_loads_the_library_anew(tmp_path: Path, forkserver: Forkserver) -> None:
    """A broken copy does not linger: the same tests are red with it and green after it."""
    text = (PACKAGE / "loss" / "stated.py").read_text(encoding="utf-8")
    other = text.replace("rho=self.rho * k * k", "rho=self.rho * k")
    assert other != text
    broken = copy_of_library(tmp_path / "broken", "loss/stated.py", other)
    whole = copy_of_library(tmp_path / "whole")
    assert (PACKAGE / "loss" / "stated.py").read_text(encoding="utf-8") == text
    codes = [run_tests(forkserver, package, ["tests/loss/test_stated.py"])[0] for package in (broken, whole)]
    assert codes == [RED, GREEN]
