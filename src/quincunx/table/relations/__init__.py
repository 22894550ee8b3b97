"""The rows of a question: nodes that keep whose a row is."""

from quincunx.table.relations.filter import Filter, is_true
from quincunx.table.relations.fold import LARGEST, Fold, Folded
from quincunx.table.relations.join import JOINED, Join, allowed
from quincunx.table.relations.link import Link, reading
from quincunx.table.relations.lookup import Lookup
from quincunx.table.relations.pairing import Kind, Pairing
from quincunx.table.relations.project import Project
from quincunx.table.relations.relation import Component, Owner, Relation
from quincunx.table.relations.rollup import RollUp, rolled
from quincunx.table.relations.scan import Scan
from quincunx.table.relations.semijoin import SemiJoin
from quincunx.table.relations.sets import Sets, Way
from quincunx.table.relations.size import DEPTH, LEVELS, READINGS, WEIGHT, Size
from quincunx.table.relations.window import End, Frame, Sorting, Window, Windowed

__all__ = [
    "DEPTH",
    "JOINED",
    "LARGEST",
    "LEVELS",
    "READINGS",
    "WEIGHT",
    "Component",
    "End",
    "Filter",
    "Fold",
    "Folded",
    "Frame",
    "Join",
    "Kind",
    "Link",
    "Lookup",
    "Owner",
    "Pairing",
    "Project",
    "Relation",
    "RollUp",
    "Scan",
    "SemiJoin",
    "Sets",
    "Size",
    "Sorting",
    "Way",
    "Window",
    "Windowed",
    "allowed",
    "is_true",
    "reading",
    "rolled",
]
