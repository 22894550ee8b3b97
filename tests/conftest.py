"""What every test may use: a repeatable stream named after the test, and the three sizes of a run.

Without an option a run is what a newcomer can afford. `--ci` adds what is marked `ci` and uses larger counts where a
test asks for them; `--full` uses the largest. `--report FILE` writes counts and times of the run (report.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from quincunx.noise.testing import KeyedBits, key_of, keyed
from tests.report import Report, Times

if TYPE_CHECKING:
    from tests.postgres import Server

# A test that can flake is a defect: no clock, no memory of earlier runs, the same examples every time.
settings.register_profile("house", derandomize=True, deadline=None, database=None)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ci", action="store_true", help="also what is marked `ci`, and the counts of CI")
    parser.addoption("--full", action="store_true", help="all that --ci runs, with the largest counts")
    parser.addoption("--report", metavar="FILE", help="write counts and processor times of the run as JSON")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "ci: too long for a newcomer's run; runs with --ci or --full")
    config.addinivalue_line("markers", "spark: needs Spark; one process, `-n 0 -m spark`, so that it is started once")
    if (path := config.getoption("--report")) is not None:
        config.pluginmanager.register(Times())
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(Report(Path(path).resolve()))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not (config.getoption("--ci") or config.getoption("--full")):
        longer = [item for item in items if item.get_closest_marker("ci")]
        items[:] = [item for item in items if not item.get_closest_marker("ci")]
        config.hook.pytest_deselected(items=longer)


@pytest.fixture(scope="session")
def durable() -> Iterator[Server]:
    """A PostgreSQL server of this process's own that syncs, with the roles of a ledger: owner, teller and auditor."""
    from tests.ledger.worlds import staffed
    from tests.postgres import server

    with server(durable=True) as running:
        yield staffed(running)


@pytest.fixture
def ci(request: pytest.FixtureRequest) -> bool:
    """Whether the counts of CI were asked for, or larger ones."""
    return bool(request.config.getoption("--ci") or request.config.getoption("--full"))


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether the largest counts were asked for."""
    return bool(request.config.getoption("--full"))


@pytest.fixture
def stream(request: pytest.FixtureRequest) -> Iterator[KeyedBits]:
    """Everything drawn in the test comes from this stream, whose key is derived from the test's full name."""
    with keyed(key_of(request.node.nodeid)) as bits:
        yield bits
