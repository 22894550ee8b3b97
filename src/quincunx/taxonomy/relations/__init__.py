"""What follows from what: implications with maps of parameters, and the best way from one language to another."""

from quincunx.taxonomy.relations.convert import Conversion, convert
from quincunx.taxonomy.relations.edge import CONDITIONS, Edge
from quincunx.taxonomy.relations.graph import Implication, edges, implies
from quincunx.taxonomy.relations.language import Language, language

__all__ = ["CONDITIONS", "Conversion", "Edge", "Implication", "Language", "convert", "edges", "implies", "language"]
