"""Audit: what is declared, checked against what is computed.

The names below are loaded on first use: the pytest plugin in this room must not load an engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quincunx.lazy import exports

if TYPE_CHECKING:
    from quincunx.audit import adapters, self_audit, spaces
    from quincunx.audit.blackbox.challenge import challenge, run
    from quincunx.audit.blackbox.claim import Claim
    from quincunx.audit.blackbox.finding import Finding, Report
    from quincunx.audit.blackbox.sampler import Sampler
    from quincunx.audit.gap import Gap
    from quincunx.audit.statistic import Counterexample, Kind, StatisticReplay, replay_statistic
    from quincunx.audit.tables import Cell, Pair, Piece, Replay, Violation
    from quincunx.audit.tables.hostile import Hostility, hostile
    from quincunx.audit.tables.replay import replay

# public name → (module, attribute or None for the module itself)
_NAMES: dict[str, tuple[str, str | None]] = {
    "Cell": ("quincunx.audit.tables", "Cell"),
    "Claim": ("quincunx.audit.blackbox.claim", "Claim"),
    "Counterexample": ("quincunx.audit.statistic", "Counterexample"),
    "Finding": ("quincunx.audit.blackbox.finding", "Finding"),
    "Gap": ("quincunx.audit.gap", "Gap"),
    "Hostility": ("quincunx.audit.tables.hostile", "Hostility"),
    "Kind": ("quincunx.audit.statistic", "Kind"),
    "Pair": ("quincunx.audit.tables", "Pair"),
    "Piece": ("quincunx.audit.tables", "Piece"),
    "Replay": ("quincunx.audit.tables", "Replay"),
    "Report": ("quincunx.audit.blackbox.finding", "Report"),
    "Sampler": ("quincunx.audit.blackbox.sampler", "Sampler"),
    "StatisticReplay": ("quincunx.audit.statistic", "StatisticReplay"),
    "Violation": ("quincunx.audit.tables", "Violation"),
    "adapters": ("quincunx.audit.adapters", None),
    "challenge": ("quincunx.audit.blackbox.challenge", "challenge"),
    "hostile": ("quincunx.audit.tables.hostile", "hostile"),
    "replay": ("quincunx.audit.tables.replay", "replay"),
    "replay_statistic": ("quincunx.audit.statistic", "replay_statistic"),
    "run": ("quincunx.audit.blackbox.challenge", "run"),
    "self_audit": ("quincunx.audit.self_audit", None),
    "spaces": ("quincunx.audit.spaces", None),
}

__all__ = [
    "Cell",
    "Claim",
    "Counterexample",
    "Finding",
    "Gap",
    "Hostility",
    "Kind",
    "Pair",
    "Piece",
    "Replay",
    "Report",
    "Sampler",
    "StatisticReplay",
    "Violation",
    "adapters",
    "challenge",
    "hostile",
    "replay",
    "replay_statistic",
    "run",
    "self_audit",
    "spaces",
]

__getattr__, __dir__ = exports(__name__, _NAMES)
