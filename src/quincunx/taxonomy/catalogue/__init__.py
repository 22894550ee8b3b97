"""The catalogue: what is known of the 89 definitions, as reviewed data."""

from quincunx.taxonomy.catalogue.read import definitions, get, homonyms, named, names, papers, search
from quincunx.taxonomy.catalogue.row import Axiom, Homonym, Name, Parameter, Row

__all__ = [
    "Axiom",
    "Homonym",
    "Name",
    "Parameter",
    "Row",
    "definitions",
    "get",
    "homonyms",
    "named",
    "names",
    "papers",
    "search",
]
