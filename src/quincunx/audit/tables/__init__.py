"""Neighbour replay of tables: questions through the engine, against the sensitivity that their plans declare."""

from quincunx.audit.gap import Gap
from quincunx.audit.tables.replay import replay
from quincunx.audit.tables.report import Cell, Replay, Violation
from quincunx.audit.tables.world import Pair, Piece

__all__ = ["Cell", "Gap", "Pair", "Piece", "Replay", "Violation", "replay"]
