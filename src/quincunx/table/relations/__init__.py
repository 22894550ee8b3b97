"""The rows of a question: nodes that keep whose a row is."""

from quincunx.table.relations.filter import Filter, is_true
from quincunx.table.relations.project import Project
from quincunx.table.relations.relation import Component, Owner, Relation
from quincunx.table.relations.scan import Scan
from quincunx.table.relations.size import DEPTH, LEVELS, WEIGHT, Size

__all__ = [
    "DEPTH",
    "LEVELS",
    "WEIGHT",
    "Component",
    "Filter",
    "Owner",
    "Project",
    "Relation",
    "Scan",
    "Size",
    "is_true",
]
