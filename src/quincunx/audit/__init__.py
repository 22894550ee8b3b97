"""Self-audit: what is declared, checked against what is computed."""

from quincunx.audit.distance import Gap
from quincunx.audit.replay import replay
from quincunx.audit.report import Cell, Replay, Violation
from quincunx.audit.world import Pair, Piece

__all__ = ["Cell", "Gap", "Pair", "Piece", "Replay", "Violation", "replay"]
