"""From a typed question to a program of measures: a tuple of pure rules. No private row is read.

Each rule is one file, takes a `Draft` and returns another. What they prove is in
`relations/relation.md` and `measure.md`.
"""

from quincunx.table.rules.pipeline import RULES, plan

__all__ = ["RULES", "plan"]
