"""The stores that a ledger may be kept in: a test that uses `each_store` is run in every one of them."""

from __future__ import annotations

import pytest

from tests.ledger import worlds


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.ci)])
def each_store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the store in which `worlds.empty` makes ledgers."""
    if request.param == "postgres":
        monkeypatch.setattr(worlds, "SERVER", request.getfixturevalue("durable"))
    return str(request.param)
