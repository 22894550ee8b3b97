"""The fixture: a right statistic passes, a wrong one fails with the smallest pair, and the summary counts both."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "replay-your-statistic.md"
# By module, not by entry point: the tests also run where the package is not installed.
LOAD = ("-p", "no:quincunx", "-p", "quincunx.audit.pytest_plugin", "-p", "no:cacheprovider")
HEAD = """
import pytest
from quincunx.audit.spaces import Records, Whole
from quincunx.spec.unit import AddRemove

PEOPLE = Records(Whole(0, 10), unit=AddRemove())

def total(ages):
    return sum(ages)
"""


def run(pytester: pytest.Pytester, tests: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(HEAD + tests)
    return pytester.runpytest(*LOAD, *options)


def test_a_right_statistic_passes_and_is_counted(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_total(neighbour_replay):
    report = neighbour_replay(total, space=PEOPLE, norm="l1", sensitivity=10, cases=40, reach=1)
    assert (report.cases, report.largest) == (40, 1.0)

def test_twice(neighbour_replay):
    neighbour_replay(len, space=PEOPLE, norm="l1", sensitivity=1, cases=10)
    neighbour_replay(len, space=PEOPLE, norm="l2", sensitivity=1, cases=10)

def test_without():
    pass
""",
    )
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        ["*neighbour replay*", "3 statistics, 60 pairs, 0 violations; farthest 1.000000 of what is declared"]
    )


def test_a_wrong_statistic_fails_with_the_smallest_pair(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_total(neighbour_replay):
    neighbour_replay(total, space=PEOPLE, norm="l1", sensitivity=9)
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*of 300 neighbouring pairs broke the declared sensitivity",
            "total: distance: 10 apart in ℓ1, declared 9",
            "    before = [[]*[]]",
            "    after = [[]*[]]",
            "1 statistic, 300 pairs, * violations; farthest 1.111111 of what is declared",
        ]
    )
    # One record in one world, none in the other, and nothing of the plugin's own frames.
    text = result.stdout.str()
    worlds = {re.search(rf"    {name} = (.*)", text)[1] for name in ("before", "after")}  # type: ignore[index]
    assert worlds == {"[]", "[10]"}
    assert "pytest_plugin.py" not in text


def test_worlds_that_are_too_easy_fail(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_total(neighbour_replay):
    neighbour_replay(total, space=PEOPLE, norm="l1", sensitivity=100, reach=0.9)
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no pair came farther than 0.100000 of what is declared*"])


def test_a_bad_parameter_is_an_error_of_the_test(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_total(neighbour_replay):
    neighbour_replay(total, space=PEOPLE, norm="l3", sensitivity=1)
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*ParameterError: replay_statistic: unknown norm; got 'l3'*"])


def test_the_pairs_follow_from_the_name_of_the_test(pytester: pytest.Pytester) -> None:
    """Two tests with different names see different worlds, and a second run the same ones."""
    tests = """
import pathlib

def worlds(name, neighbour_replay):
    seen = []
    neighbour_replay(lambda ages: seen.append(tuple(ages)) or 0, space=PEOPLE, norm="l1", sensitivity=0, cases=9)
    with pathlib.Path(name).open("a") as file:
        print(seen, file=file)

def test_a(neighbour_replay):
    worlds("a.txt", neighbour_replay)

def test_b(neighbour_replay):
    worlds("b.txt", neighbour_replay)
"""
    for _ in range(2):
        run(pytester, tests).assert_outcomes(passed=2)
    a, b = ((pytester.path / f"{name}.txt").read_text().splitlines() for name in "ab")
    assert a[0] == a[1] != b[0] == b[1]


def test_without_a_replay_the_summary_says_nothing(pytester: pytest.Pytester) -> None:
    result = run(pytester, "def test_nothing():\n    pass\n")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*neighbour replay*")


def test_counts_come_back_from_other_processes(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    tests = """
@pytest.mark.parametrize("i", range(3))
def test_total(neighbour_replay, i):
    neighbour_replay(total, space=PEOPLE, norm="l1", sensitivity=10, cases=10)
"""
    pytester.makepyfile(HEAD + tests)
    result = pytester.runpytest_subprocess(*LOAD, "-n", "1")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["3 statistics, 30 pairs, 0 violations*"])


def test_the_example_of_the_guide_runs(pytester: pytest.Pytester) -> None:
    found = re.search(r"```text\n(# test_.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    pytester.makepyfile(found[1])
    result = pytester.runpytest(*LOAD)
    result.assert_outcomes(passed=1, failed=1)


def test_the_plugin_is_light() -> None:
    """Nothing but pytest and the two packages on the way to it."""
    code = (
        "import sys, pytest; before = set(sys.modules); import quincunx.audit.pytest_plugin; "
        "print('\\n'.join(sorted(name for name in set(sys.modules) - before)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in out if name.split(".")[0] not in sys.stdlib_module_names} == {
        "quincunx",
        "quincunx.audit",
        "quincunx.audit.pytest_plugin",
        "quincunx.lazy",
    }
