"""What a guarantee means for one person: how far a belief about them can move, and what the best attack can do.

The questions that are asked first stand here; `belief`, `testing`, `shapes` and `dependence` hold the rest.
"""

from quincunx.meaning import belief, dependence, shapes, testing
from quincunx.meaning.belief import describe, groups, odds, posterior_bounds
from quincunx.meaning.belief.odds import times
from quincunx.meaning.belief.posterior import chance, percent
from quincunx.meaning.explain import Meaning, explain
from quincunx.meaning.testing import best_attack

__all__ = [
    "Meaning",
    "belief",
    "best_attack",
    "dependence",
    "describe",
    "explain",
    "groups",
    "odds",
    "posterior_bounds",
    "shapes",
    "testing",
]
