"""The taxonomy of differential privacies, executable: seven dimensions as values, and checkers on finite worlds."""

from quincunx.taxonomy import (
    adversary,
    axioms,
    background,
    catalogue,
    computation,
    formalism,
    generate,
    neighbourhood,
    quantification,
    random_inputs,
    relativisation,
    semantic,
    variation,
)
from quincunx.taxonomy.answer import Answer, Witness
from quincunx.taxonomy.catalogue import Name, Row, definitions, get, homonyms, names, papers, search
from quincunx.taxonomy.check import QUESTIONS, Finding
from quincunx.taxonomy.choose import Recommendation, choose, questions
from quincunx.taxonomy.compare import Comparison, compare
from quincunx.taxonomy.definition import DIMENSIONS, Definition, Judged
from quincunx.taxonomy.pages import example
from quincunx.taxonomy.pages import pages as written_pages
from quincunx.taxonomy.picture import graph
from quincunx.taxonomy.registry import Entry, entries, named
from quincunx.taxonomy.relations import CONDITIONS, Conversion, Edge, Implication, convert, edges, implies
from quincunx.taxonomy.value import Value
from quincunx.taxonomy.world import World

__all__ = [
    "DIMENSIONS",
    "Answer",
    "Comparison",
    "Conversion",
    "Definition",
    "Edge",
    "Entry",
    "Implication",
    "Judged",
    "Recommendation",
    "Row",
    "Value",
    "Witness",
    "World",
    "adversary",
    "axioms",
    "background",
    "catalogue",
    "choose",
    "compare",
    "computation",
    "convert",
    "definitions",
    "edges",
    "entries",
    "example",
    "formalism",
    "generate",
    "get",
    "graph",
    "implies",
    "named",
    "neighbourhood",
    "quantification",
    "random_inputs",
    "relativisation",
    "semantic",
    "variation",
]
