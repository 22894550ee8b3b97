"""Real data for tests: where they are, and what happens where they are missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HOME = Path(os.environ.get("QUINCUNX_DATA", Path(__file__).parents[2] / "shared" / "data"))


def required(component: str) -> bool:
    """Whether `QUINCUNX_REQUIRE` (names, separated by commas or spaces) turns a skip for this component into red."""
    return component in os.environ.get("QUINCUNX_REQUIRE", "").replace(",", " ").split()


def real_data(*parts: str) -> Path:
    """A file of the real data. Where it is missing the test is skipped by name, or fails if data are required."""
    path = HOME.joinpath(*parts)
    if not path.exists():
        missing = f"real data missing: {'/'.join(parts)} (set QUINCUNX_DATA to the folder that holds it)"
        (pytest.fail if required("data") else pytest.skip)(missing)
    return path
