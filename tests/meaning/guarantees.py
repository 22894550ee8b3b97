"""A specification for tests of what a guarantee means: pure, replace, everything, with any block changed."""

from __future__ import annotations

from typing import Any

from quincunx.spec import Specification, domain, scope, standard, unit


def spec(**blocks: Any) -> Specification:
    """ε = 1 under replace, unless blocks are given."""
    given_ = {
        "domain": domain.Histogram(cells=2),
        "scope": scope.Everything(),
        "unit": unit.Replace(),
        "standard": standard.Pure(),
        "intensity": 1,
    }
    return Specification(**{**given_, **blocks})
