"""`quincunx audit run`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from quincunx.cli.audit import app as audit
from quincunx.noise.testing import KeyedBits

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
app.add_typer(audit, name="audit")

MODULE = '''
"""Mechanisms for the tests of the command line."""

import numpy as np

from quincunx.mechanisms import DiscreteLaplace

generator = np.random.default_rng(1)
number = 3


def noisy(x):
    return int(DiscreteLaplace(scale=1).sample(x))


def weak(x, size):
    return DiscreteLaplace(scale="0.5").sample(np.full(size, x))


def honest(x, size):
    return DiscreteLaplace(scale=1).sample(np.full(size, x))


def total(people):
    return sum(people) + generator.integers(3)


def always(x):
    raise TypeError("this never works")


def once(x):
    if x:
        raise KeyError("key")
    return 0


def shapes(x):
    return (0,) * int(generator.integers(3, 5))


class Box:
    @staticmethod
    def inside(x):
        return generator.integers(2)
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: KeyedBits) -> Iterator[Path]:
    """A folder with a module of its own, forgotten afterwards; what its mechanisms draw can be repeated."""
    assert stream.injected
    (tmp_path / "audited.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken_module.py").write_text("1 / 0\n", encoding="utf-8")
    (tmp_path / "needy_module.py").write_text("import a_module_that_is_not_there\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", str(tmp_path))])
    yield tmp_path
    for name in ("audited", "broken_module", "needy_module"):
        sys.modules.pop(name, None)


def run(
    target: str, *arguments: str, claim: str = "epsilon=1", neighbours: str = "[0, 1]", samples: str = "3000"
) -> Result:
    options = ["--claim", claim, "--neighbours", neighbours, "--samples", samples, *arguments]
    return CliRunner().invoke(app, ["audit", "run", target, *options], env={"COLUMNS": "80", "NO_COLOR": "1"})


@pytest.mark.usefixtures("folder")
def test_a_claim_that_holds() -> None:
    result = run("audited:noisy")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "claim: ε = 1"
    assert lines[1] == "verdict: not refuted"
    assert lines[2].startswith("bound: ε ≥ 0.")
    assert lines[2].endswith("% of the claim")
    assert lines[3].startswith("event: output")
    assert "probability at least" in lines[4]
    assert "probability at most" in lines[5]
    assert lines[6].startswith("samples: 3,000 of each input, 2,100 of them for the test; 1 pair;")
    assert lines[7] == "confidence: 1 − 1e-6"
    assert "not proved" in result.stderr
    assert "prove" not in result.stdout
    assert max(len(line) for line in lines) <= 80


@pytest.mark.usefixtures("folder")
def test_a_claim_that_is_refuted() -> None:
    result = run("audited:weak", "--many", samples="1e5")
    assert result.exit_code == 6
    assert "verdict: refuted" in result.stdout
    assert result.stderr == ""
    same = run("audited:honest", "--many", samples="1e5")
    assert same.exit_code == 0


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("target", "code"), [("audited:weak", 6), ("audited:honest", 0)])
def test_json(target: str, code: int) -> None:
    result = run(target, "--many", "--json", "--confidence", "1 - 1e-9", samples="50000")
    assert result.exit_code == code
    data = json.loads(result.stdout)
    assert data["verdict"] == ("refuted" if code else "not refuted")
    assert data["confidence"] == "999999999/1000000000"
    (finding,) = data["findings"]
    assert (finding["mechanism"], finding["claim"], finding["samples"]) == (target, "ε = 1", 50_000)
    assert (finding["bound"] > 1) == bool(code)
    assert result.stderr == ""


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("target", ["audited.py:noisy", "./audited.py:noisy", "audited:Box.inside", "math:floor"])
def test_ways_to_name_a_callable(target: str) -> None:
    assert run(target, claim="epsilon=9", samples="200").exit_code == 0


def test_a_file_of_pairs(folder: Path) -> None:
    (folder / "pairs.json").write_text("[[[1, 1], [1]], [[], [1]]]", encoding="utf-8")
    result = run("audited:total", neighbours="pairs.json", claim="epsilon=1")
    assert result.exit_code == 6
    assert "2 pairs" in result.stdout
    data = json.loads(run("audited:total", "--json", neighbours="pairs.json").stdout)
    assert len(data["findings"]) == 2
    assert {data["findings"][0]["likelier"], data["findings"][0]["other"]} == {"[1, 1]", "[1]"}


@pytest.mark.usefixtures("folder")
def test_an_exception_at_one_input_refutes() -> None:
    result = run("audited:once")
    assert result.exit_code == 6
    assert "KeyError" in result.stdout


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("target", "changes", "said"),
    [
        ("audited", {}, "MODULE:CALLABLE: expected a module and a callable; got 'audited'"),
        (":noisy", {}, "expected a module and a callable"),
        ("audited:", {}, "expected a module and a callable"),
        ("no_such_module:f", {}, "there is no such module; got 'no_such_module'"),
        ("audited.deeper:f", {}, "no such module"),
        ("needy_module:f", {}, "the module needs a_module_that_is_not_there, which is missing"),
        ("broken_module:f", {}, "the module raised while it was imported; got ZeroDivisionError"),
        ("audited:nosy", {}, "there is no such callable; got 'nosy'"),
        ("audited:nosy", {}, "Did you mean noisy?"),
        ("audited:zzz", {}, "audited has no such name."),
        ("audited:number", {}, "this is not callable; got int"),
        ("audited:always", {}, "audited:always(0): the callable raises every time, at both inputs; got TypeError"),
        ("audited:shapes", {}, "the outputs change their shape; got"),
        ("audited:noisy", {"claim": "epsilon"}, "claim: a claim is a parameter, = and a number; got 'epsilon'"),
        ("audited:noisy", {"claim": "sigma=1"}, "unknown parameter; got 'sigma'"),
        ("audited:noisy", {"neighbours": "[0, 1, 2]"}, "--neighbours: expected a pair of inputs; got 3 inputs"),
        ("audited:noisy", {"neighbours": "[0, 1"}, "--neighbours: this is not JSON; got Expecting"),
        (
            "audited:noisy",
            {"neighbours": "nowhere.json"},
            "the file of pairs cannot be read; got no such file or folder",
        ),
        ("audited:noisy", {"neighbours": "audited.py"}, "audited.py: this is not JSON"),
        ("audited:noisy", {"samples": "ten"}, "samples: expected a finite number"),
        ("audited:noisy", {"samples": "10"}, "samples: must be at least 100"),
        ("audited:weak", {}, "the callable raises every time"),
    ],
)
def test_bad_input(target: str, changes: dict[str, str], said: str) -> None:
    result = run(target, **{"samples": "200", **changes})
    assert result.exit_code == 2, result.output
    assert said in result.stderr.replace("\n", " ")
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "there is no pair"),
        ("{}", "expected a pair of inputs"),
        ("[[0, 1], [0]]", "pairs.json, pair 2: expected a pair of inputs; got 1 inputs"),
        ("[0, 1]", "pairs.json, pair 1: expected a pair of inputs; got int"),
    ],
)
def test_bad_files_of_pairs(folder: Path, text: str, said: str) -> None:
    (folder / "pairs.json").write_text(text, encoding="utf-8")
    result = run("audited:noisy", neighbours="pairs.json", samples="200")
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.usefixtures("folder")
def test_errors_in_json() -> None:
    result = run("audited:always", "--json", samples="200")
    assert result.exit_code == 2
    data = json.loads(result.stderr)
    assert data["error"] == "DataError"
    assert data["where"] == "audited:always(0)"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("level", ["1", "0", "high", "1 - 2"])
def test_bad_confidence(level: str) -> None:
    result = run("audited:noisy", "--confidence", level, samples="200")
    assert result.exit_code == 2
    assert "confidence" in result.stderr


def test_a_module_on_the_path_is_not_hidden_by_the_folder(folder: Path) -> None:
    assert run("audited:noisy", samples="200").exit_code == 0
    assert sys.path[0] == str(folder)
    run("audited:noisy", samples="200")
    assert sys.path.count(str(folder)) == 1
