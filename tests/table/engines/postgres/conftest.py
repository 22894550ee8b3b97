"""One server for all tests of the engine in a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres import Server, server
from tests.table.engines.postgres.places import staffed


@pytest.fixture(scope="session")
def reading() -> Iterator[Server]:
    """A server with the roles reader, owner and writer. It does not sync: nothing on it must last."""
    with server() as running:
        yield staffed(running)
