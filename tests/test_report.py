"""The report that a run writes about itself: counts that add up, and times where time was used."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.report import part

ROOT = Path(__file__).parents[1]
SAMPLE = """
import subprocess, sys, time
import pytest

BUSY = "import time\\nend = time.process_time() + 0.3\\nwhile time.process_time() < end: pass"

def test_busy():
    exec(BUSY)

def test_busy_child():
    subprocess.run([sys.executable, "-c", BUSY], check=True)

def test_sleeping():
    time.sleep(0.3)

def test_wrong():
    raise AssertionError

@pytest.mark.skip(reason="to be counted")
def test_skipped():
    pass

@pytest.mark.ci
def test_long():
    pass

@pytest.fixture
def broken():
    raise ValueError

def test_without_its_fixture(broken):
    pass
"""


def run(folder: Path, *options: str) -> dict[str, object]:
    (folder / "room").mkdir()
    (folder / "room" / "test_sample.py").write_text(SAMPLE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", *options]
    done = subprocess.run([*command, "--report", "report.json", "room"], cwd=folder, env={"PYTHONPATH": str(ROOT)})
    assert done.returncode == 1
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def test_counts_and_processor_time(tmp_path: Path) -> None:
    found = run(tmp_path, "-n", "2", "--ci")
    assert found["tests"] == {"passed": 4, "failed": 2, "skipped": 1}
    assert found["failed"] == ["room/test_sample.py::test_without_its_fixture", "room/test_sample.py::test_wrong"]
    assert found["command"].endswith("-n 2 --ci --report report.json room")
    assert found["parts"].keys() == {"room/test_sample.py"}
    # Processor time is what the operating system counts: no load on the machine makes it less.
    times = {name.partition("::")[2]: seconds for name, seconds in found["longest"].items()}
    assert times["test_busy"] >= 0.3
    assert times["test_busy_child"] >= 0.3
    assert times["test_sleeping"] < 0.3
    assert found["processor_seconds"] >= 1


def test_a_newcomers_run_leaves_out_what_is_marked(tmp_path: Path) -> None:
    assert run(tmp_path, "-n", "0")["tests"] == {"passed": 3, "failed": 2, "skipped": 1}


def test_parts() -> None:
    assert part("tests/loss/test_grid.py::test_x[a/b]") == "tests/loss"
    assert part("tests/audit/tables/test_hostile.py::test_x") == "tests/audit"
    assert part("docs/reference/loss.md::loss.md") == "docs"
    assert part("README.md::README.md") == "README.md"


def test_the_last_full_run_is_kept_and_nothing_failed_in_it() -> None:
    """Of a commit without changes beside it, and of the whole suite."""
    kept = json.loads((ROOT / "docs" / "figures" / "tests-full.json").read_text(encoding="utf-8"))
    assert kept["command"] == "python -m pytest --full -m not spark --report docs/figures/tests-full.json"
    assert re.fullmatch("[0-9a-f]{7,40}", kept["commit"])
    assert kept["failed"] == []
    assert kept["tests"].keys() <= {"passed", "skipped"}
    assert kept["tests"]["passed"] >= 24_000
    assert kept["tests"].get("skipped", 0) <= 1
