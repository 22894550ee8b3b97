"""N: which change is protected?"""

from quincunx.taxonomy.neighbourhood.datasets import (
    Constrained,
    FreeLunch,
    Individual,
    Induced,
    Listed,
    Metric,
    PerInstance,
    SensitivityInduced,
)
from quincunx.taxonomy.neighbourhood.people import Client, Dependent, Element, Group
from quincunx.taxonomy.neighbourhood.records import (
    Asymmetric,
    Attribute,
    Bit,
    Blowfish,
    Bounded,
    OneRecord,
    OneSided,
    Unbounded,
)
from quincunx.taxonomy.neighbourhood.relation import (
    Neighbourhood,
    Pair,
    Secret,
    differences,
    differing,
    record_secrets,
    said,
)
from quincunx.taxonomy.neighbourhood.secrets import Distributions, PrivateValue, Secrets

__all__ = [
    "Asymmetric",
    "Attribute",
    "Bit",
    "Blowfish",
    "Bounded",
    "Client",
    "Constrained",
    "Dependent",
    "Distributions",
    "Element",
    "FreeLunch",
    "Group",
    "Individual",
    "Induced",
    "Listed",
    "Metric",
    "Neighbourhood",
    "OneRecord",
    "OneSided",
    "Pair",
    "PerInstance",
    "PrivateValue",
    "Secret",
    "Secrets",
    "SensitivityInduced",
    "Unbounded",
    "differences",
    "differing",
    "record_secrets",
    "said",
]
