"""Worlds with neighbours: what neighbour replay draws from."""

from quincunx.audit.spaces.finite import Finite
from quincunx.audit.spaces.histograms import Histograms
from quincunx.audit.spaces.records import Records
from quincunx.audit.spaces.space import Space
from quincunx.audit.spaces.tables import Tables
from quincunx.audit.spaces.values import OneOf, Real, Row, Values, Whole

__all__ = ["Finite", "Histograms", "OneOf", "Real", "Records", "Row", "Space", "Tables", "Values", "Whole"]
