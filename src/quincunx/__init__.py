"""Quincunx: differential privacy whose guarantee can be stated, computed, checked and audited.

The names below are loaded on first use, so that `import quincunx` stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quincunx.lazy import exports

if TYPE_CHECKING:
    from quincunx import (
        attack,
        audit,
        chart,
        errors,
        finite,
        invariant,
        ledger,
        loss,
        meaning,
        mechanisms,
        noise,
        numbers,
        taxonomy,
    )
    from quincunx.loss import Loss
    from quincunx.release import Session, combine
    from quincunx.spec import Specification, domain, intensity, scope, standard, unit
    from quincunx.table import Postgres, Spark, Table

# public name → (module, attribute or None for the module itself)
_NAMES: dict[str, tuple[str, str | None]] = {
    "Loss": ("quincunx.loss", "Loss"),
    "Postgres": ("quincunx.table", "Postgres"),
    "Session": ("quincunx.release", "Session"),
    "Spark": ("quincunx.table", "Spark"),
    "Specification": ("quincunx.spec", "Specification"),
    "Table": ("quincunx.table", "Table"),
    "attack": ("quincunx.attack", None),
    "audit": ("quincunx.audit", None),
    "chart": ("quincunx.chart", None),
    "combine": ("quincunx.release", "combine"),
    "domain": ("quincunx.spec.domain", None),
    "errors": ("quincunx.errors", None),
    "finite": ("quincunx.finite", None),
    "intensity": ("quincunx.spec.intensity", None),
    "invariant": ("quincunx.invariant", None),
    "ledger": ("quincunx.ledger", None),
    "loss": ("quincunx.loss", None),
    "meaning": ("quincunx.meaning", None),
    "mechanisms": ("quincunx.mechanisms", None),
    "noise": ("quincunx.noise", None),
    "numbers": ("quincunx.numbers", None),
    "scope": ("quincunx.spec.scope", None),
    "standard": ("quincunx.spec.standard", None),
    "taxonomy": ("quincunx.taxonomy", None),
    "unit": ("quincunx.spec.unit", None),
}

__version__ = "0.1.0"

__all__ = [
    "Loss",
    "Postgres",
    "Session",
    "Spark",
    "Specification",
    "Table",
    "attack",
    "audit",
    "chart",
    "combine",
    "domain",
    "errors",
    "finite",
    "intensity",
    "invariant",
    "ledger",
    "loss",
    "meaning",
    "mechanisms",
    "noise",
    "numbers",
    "scope",
    "standard",
    "taxonomy",
    "unit",
]

__getattr__, __dir__ = exports(__name__, _NAMES)
