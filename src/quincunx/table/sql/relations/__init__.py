"""What the rows of a question are written as, one file for each construct; a further one is entered here."""

from typing import Final

from sqlglot import exp

from quincunx.table.sql.relation import Constructs
from quincunx.table.sql.relations import rollup, scalar, select, semijoin, sets, window
from quincunx.table.sql.relations.select import source

__all__ = ["CONSTRUCTS", "source"]

CONSTRUCTS: Final = Constructs(
    queries={exp.Select: select.read, **dict.fromkeys(sets.NODES, sets.read)},
    clauses={"group": rollup.group, "having": rollup.having, "qualify": window.qualify, "distinct": window.first},
    finishes={"distinct": rollup.distinct},
    extensions={
        exp.Window: window.read,
        exp.Exists: semijoin.exists,
        exp.In: semijoin.among,
        exp.Subquery: scalar.read,
    },
)
