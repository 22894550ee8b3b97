"""What every test may use: a repeatable stream named after the test, and the option `--full`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from quincunx.noise.testing import KeyedBits, key_of, keyed

# A test that can flake is a defect: no clock, no memory of earlier runs, the same examples every time.
settings.register_profile("house", derandomize=True, deadline=None, database=None)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="larger counts in statistical and enumeration tests")


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether larger counts were asked for."""
    return bool(request.config.getoption("--full"))


@pytest.fixture
def stream(request: pytest.FixtureRequest) -> Iterator[KeyedBits]:
    """Everything drawn in the test comes from this stream, whose key is derived from the test's full name."""
    with keyed(key_of(request.node.nodeid)) as bits:
        yield bits
