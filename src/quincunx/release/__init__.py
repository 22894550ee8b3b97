"""Sessions, answers and releases: questions in, tables with intervals out, every spend in a ledger."""

from quincunx.release.answer import Answer
from quincunx.release.batch import Check, Release
from quincunx.release.column import Column
from quincunx.release.explanation import Cost, Explanation, OutputError
from quincunx.release.session import Session

__all__ = ["Answer", "Check", "Column", "Cost", "Explanation", "OutputError", "Release", "Session"]
