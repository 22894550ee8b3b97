"""Relations that compare rows, in SQL, one file for each; a further one is entered here."""

from quincunx.table.engines.relations import pairing, rollup, semijoin, sets, window
from quincunx.table.engines.rows import WRITERS, rows
from quincunx.table.relations import Join, Lookup, RollUp, SemiJoin, Sets, Window

__all__ = ["rows"]

WRITERS.update(
    {
        Join: pairing.join,
        Lookup: pairing.lookup,
        RollUp: rollup.written,
        SemiJoin: semijoin.written,
        Sets: sets.written,
        Window: window.written,
    }
)
