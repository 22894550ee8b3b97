"""Sessions, answers and releases: questions in, tables with intervals out, every spend in a ledger."""

from quincunx.release.answer import Answer
from quincunx.release.batch import Check, Release
from quincunx.release.column import Column
from quincunx.release.explanation import Cost, Explanation, OutputError
from quincunx.release.limits import LimitsReport
from quincunx.release.proposal import Proposal, Proposed
from quincunx.release.session import Session
from quincunx.release.then import Basis, Derived, combine

__all__ = [
    "Answer",
    "Basis",
    "Check",
    "Column",
    "Cost",
    "Derived",
    "Explanation",
    "LimitsReport",
    "OutputError",
    "Proposal",
    "Proposed",
    "Release",
    "Session",
    "combine",
]
