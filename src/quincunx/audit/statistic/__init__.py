"""Neighbour replay of anything callable: a statistic before noise, against its declared sensitivity."""

from quincunx.audit.statistic.replay import replay_statistic
from quincunx.audit.statistic.report import Counterexample, Kind, StatisticReplay

__all__ = ["Counterexample", "Kind", "StatisticReplay", "replay_statistic"]
