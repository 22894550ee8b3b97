"""The taxonomy of differential privacies, executable: seven dimensions as values, and checkers on finite worlds."""

from quincunx.taxonomy import (
    adversary,
    background,
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
from quincunx.taxonomy.definition import DIMENSIONS, Definition, Judged
from quincunx.taxonomy.registry import Entry, entries, named
from quincunx.taxonomy.value import Value
from quincunx.taxonomy.world import World

__all__ = [
    "DIMENSIONS",
    "Answer",
    "Definition",
    "Entry",
    "Judged",
    "Value",
    "Witness",
    "World",
    "adversary",
    "background",
    "computation",
    "entries",
    "formalism",
    "generate",
    "named",
    "neighbourhood",
    "quantification",
    "random_inputs",
    "relativisation",
    "semantic",
    "variation",
]
