"""Stories, each told once for all tests."""

from __future__ import annotations

from functools import cache

from quincunx.attack import Story, run


@cache
def told(name: str, series: int = 0) -> Story:
    return run(name, series=series)
