"""What a guarantee means for one person: how far a belief about them can move, and what the best attack can do."""

from quincunx.meaning.chambers import Chamber, chamber, component, markov_boundary
from quincunx.meaning.dependence import chambered, conditional, farthest, marginal
from quincunx.meaning.dependence_charts import copying_chart, correlation_chart, family_chart
from quincunx.meaning.explain import Meaning, explain
from quincunx.meaning.figure import figure
from quincunx.meaning.groups import Group, groups, vacuous_from
from quincunx.meaning.joint import Joint
from quincunx.meaning.judgement import Judgement, Moved
from quincunx.meaning.odds import Odds, odds, relative_risk
from quincunx.meaning.posterior import Posterior, describe, posterior_bounds, sentence
from quincunx.meaning.respondents import Respondents
from quincunx.meaning.shapes import Adversarial, APosterioriNoiseless, Differential, PositiveMembership, Shape
from quincunx.meaning.testing import Attack, best_attack, error_curve

__all__ = [
    "APosterioriNoiseless",
    "Adversarial",
    "Attack",
    "Chamber",
    "Differential",
    "Group",
    "Joint",
    "Judgement",
    "Meaning",
    "Moved",
    "Odds",
    "PositiveMembership",
    "Posterior",
    "Respondents",
    "Shape",
    "best_attack",
    "chamber",
    "chambered",
    "component",
    "conditional",
    "copying_chart",
    "correlation_chart",
    "describe",
    "error_curve",
    "explain",
    "family_chart",
    "farthest",
    "figure",
    "groups",
    "marginal",
    "markov_boundary",
    "odds",
    "posterior_bounds",
    "relative_risk",
    "sentence",
    "vacuous_from",
]
