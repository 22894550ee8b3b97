"""People who depend on each other: two respondents, information chambers, and the statements that ε implies or not."""

from quincunx.meaning.dependence.chambers import Chamber, chamber, component, markov_boundary
from quincunx.meaning.dependence.charts import copying_chart, correlation_chart, family_chart
from quincunx.meaning.dependence.joint import Joint
from quincunx.meaning.dependence.judgement import Judgement, Moved
from quincunx.meaning.dependence.respondents import Respondents
from quincunx.meaning.dependence.statements import chambered, conditional, farthest, marginal

__all__ = [
    "Chamber",
    "Joint",
    "Judgement",
    "Moved",
    "Respondents",
    "chamber",
    "chambered",
    "component",
    "conditional",
    "copying_chart",
    "correlation_chart",
    "family_chart",
    "farthest",
    "marginal",
    "markov_boundary",
]
