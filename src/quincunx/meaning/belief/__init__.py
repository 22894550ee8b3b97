"""How far a belief about a person can move: as a probability, as odds, for several people, and in words."""

from quincunx.meaning.belief.groups import Group, groups, vacuous_from
from quincunx.meaning.belief.odds import Odds, odds, relative_risk
from quincunx.meaning.belief.posterior import Posterior, describe, posterior_bounds, sentence

__all__ = [
    "Group",
    "Odds",
    "Posterior",
    "describe",
    "groups",
    "odds",
    "posterior_bounds",
    "relative_risk",
    "sentence",
    "vacuous_from",
]
