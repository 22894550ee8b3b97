"""What a run writes about itself with `--report FILE`: size, commit, counts, and times for each part, as JSON.

Times of tests are processor time, of a test and of the processes that it waited for: other work on the machine does
not change them. `wall_seconds` is by the clock.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

# The tests that are named with their times.
LONGEST = 20


def part(nodeid: str) -> str:
    """The room that a test belongs to: `tests/loss`, `docs`, or the file where it lies in no room."""
    path = nodeid.partition("::")[0].split("/")
    return path[0] if path[0] == "docs" else "/".join(path[:2])


def _processor() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Times:
    """Adds to each report of a phase the processor time since the last; in the process that runs the test."""

    def __init__(self) -> None:
        self.last = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self.last = _processor()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = _processor()
        report.user_properties.append(("processor", now - self.last))
        self.last = now
        return report


class Report:
    """Collects what the tests report and writes the file when the run ends; in the process that was started."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.begun = time.monotonic()
        self.outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.seconds: Counter[str] = Counter()
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += dict(report.user_properties).get("processor", 0.0)
        if report.failed:
            self.failed.add(report.nodeid)
            self.outcomes[part(report.nodeid)]["failed"] += 1
        elif report.skipped or report.when == "call":
            self.outcomes[part(report.nodeid)][report.outcome] += 1

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        parts = defaultdict(float)
        for nodeid, seconds in self.seconds.items():
            parts[part(nodeid)] += seconds
        written = {
            "command": " ".join(["python", "-m", "pytest", *session.config.invocation_params.args]),
            "commit": _commit(),
            "python": ".".join(str(each) for each in sys.version_info[:3]),
            "processors": os.cpu_count(),
            "wall_seconds": round(time.monotonic() - self.begun),
            "processor_seconds": round(sum(parts.values())),
            "tests": dict(sum(self.outcomes.values(), Counter())),
            "failed": sorted(self.failed),
            "parts": {
                name: {**self.outcomes[name], "processor_seconds": round(parts[name], 1)} for name in sorted(parts)
            },
            "longest": {name: round(seconds, 1) for name, seconds in self.seconds.most_common(LONGEST)},
        }
        self.path.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _commit() -> str:
    """The commit that was run, with a plus sign where files differ from it."""
    try:
        found = subprocess.run(["git", "describe", "--always", "--dirty=+"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()
