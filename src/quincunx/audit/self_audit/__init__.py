"""The self-audit: every mechanism and operator of Quincunx against its claim, and broken ones that must be refuted."""

from quincunx.audit.self_audit.catalogue import claims, controls
from quincunx.audit.self_audit.entry import DEFAULT, FULL, QUICK, Entry
from quincunx.audit.self_audit.neighbour_replays import Replaying, replays
from quincunx.audit.self_audit.outcome import Outcome, Replayed, SelfReport
from quincunx.audit.self_audit.page import page
from quincunx.audit.self_audit.runner import RISK, run

__all__ = [
    "DEFAULT",
    "FULL",
    "QUICK",
    "RISK",
    "Entry",
    "Outcome",
    "Replayed",
    "Replaying",
    "SelfReport",
    "claims",
    "controls",
    "page",
    "replays",
    "run",
]
