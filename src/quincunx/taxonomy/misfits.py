"""Which choices do not fit together, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from quincunx.taxonomy import adversary as a
from quincunx.taxonomy import background as b
from quincunx.taxonomy import formalism as f
from quincunx.taxonomy import neighbourhood as n
from quincunx.taxonomy import quantification as q
from quincunx.taxonomy import random_inputs as drawn
from quincunx.taxonomy import relativisation as r
from quincunx.taxonomy import variation as v
from quincunx.taxonomy.chosen import Chosen
from quincunx.taxonomy.semantic import Semantic

_RANDOM: Final = (drawn.Random, drawn.Average, drawn.OtherRecord)
_BY_DATASET: Final = (v.Tailored, v.InputDiscriminative, v.Outlier)
_BELIEFS: Final = (f.APosteriori, f.Membership, f.Adversarial)
_ONE_RECORD: Final = (n.OneRecord, n.Bounded, n.Unbounded)


def _beliefs(d: Chosen) -> bool:
    return isinstance(d.formalism, _BELIEFS) and not isinstance(d.background, b.Noiseless)


def _other_facts(d: Chosen) -> bool:
    allowed = (n.OneRecord, n.Bounded, n.FreeLunch) if isinstance(d.formalism, f.APosteriori) else (n.OneRecord,)
    coupled = isinstance(d.relativisation, r.CoupledWorlds)
    return isinstance(d.formalism, _BELIEFS) and not coupled and not isinstance(d.neighbourhood, allowed)


def _quantified_beliefs(d: Chosen) -> bool:
    if isinstance(d.formalism, f.Adversarial):
        return not isinstance(d.quantification, q.WorstCase | q.Approximate)
    coupled = isinstance(d.relativisation, r.CoupledWorlds) and isinstance(d.quantification, q.Approximate)
    if coupled:
        return d.quantification.delta not in (None, 0)  # type: ignore[attr-defined]
    return isinstance(d.formalism, f.APosteriori | f.Membership | Semantic) and not isinstance(
        d.quantification, q.WorstCase
    )


def _simulated_measure(d: Chosen) -> bool:
    if not d.relativisation.simulates or isinstance(d.formalism, f.APosteriori):
        return False
    allowed = (q.WorstCase, q.Approximate) if isinstance(d.relativisation, r.Typical) else (q.WorstCase,)
    return not isinstance(d.quantification, allowed)


def _simulated_variation(d: Chosen) -> bool:
    allowed = (v.Uniform, drawn.Random) if isinstance(d.relativisation, r.Typical) else (v.Uniform,)
    return d.relativisation.simulates and not isinstance(d.variation, allowed)


def _simulated_background(d: Chosen) -> bool:
    if isinstance(d.relativisation, r.CoupledWorlds):
        return not isinstance(d.background, b.Noiseless)
    return d.relativisation.simulates and not isinstance(d.background, b.Full)


def _predicates(d: Chosen) -> bool:
    return isinstance(d.neighbourhood, n.Secrets) and not isinstance(d.background, b.Noiseless | b.PartialKnowledge)


def _without_secrets(d: Chosen) -> bool:
    none = type(d.neighbourhood).secrets is n.Neighbourhood.secrets
    other = isinstance(d.neighbourhood, n.Distributions | n.PrivateValue)
    return d.background.uncertain and not d.formalism.posterior and none and not other


def _causal(d: Chosen) -> bool:
    return isinstance(d.background, b.Causal) and isinstance(d.neighbourhood, n.FreeLunch | n.Listed | n.Secrets)


def _drawn_pairs(d: Chosen) -> bool:
    allowed = (*_ONE_RECORD, n.FreeLunch) if isinstance(d.variation, drawn.Random) else _ONE_RECORD
    return isinstance(d.variation, _RANDOM) and not isinstance(d.neighbourhood, allowed)


def _other_record(d: Chosen) -> bool:
    return isinstance(d.variation, drawn.OtherRecord) and not isinstance(
        d.quantification, q.Approximate | q.Probabilistic
    )


def _distances(d: Chosen) -> bool:
    chosen = d.neighbourhood
    far = isinstance(chosen, n.Metric) or (isinstance(chosen, n.Distributions) and chosen.metric)
    return isinstance(d.variation, v.Proportional) != far


def _mixtures(d: Chosen) -> bool:
    mixed = d.background.uncertain or isinstance(d.neighbourhood, a._Adversary)
    return isinstance(d.variation, _BY_DATASET) and mixed


def _leaks(d: Chosen) -> bool:
    mixed = not isinstance(d.background, b.Full) or isinstance(d.neighbourhood, a._Adversary)
    other = isinstance(d.variation, _RANDOM) or d.formalism.posterior
    return isinstance(d.relativisation, r.BoundedLeakage) and (mixed or other)


def _projected(d: Chosen) -> bool:
    whole = isinstance(d.variation, _RANDOM) or isinstance(d.formalism, f.Federated | Semantic)
    return isinstance(d.relativisation, r.Subspace) and whole


# (does it apply?, what is wrong, what to do)
_RULES: Final[list[tuple[Callable[[Chosen], bool], str, str]]] = [
    (_beliefs, "beliefs before and after need a prior", "Choose background=Noiseless()."),
    (_other_facts, "these beliefs are about one record", "Keep the default, or FreeLunch with APosteriori."),
    (_quantified_beliefs, "these beliefs are bounded for every output", "Keep quantification=WorstCase()."),
    (
        lambda d: d.formalism.posterior and not isinstance(d.variation, v.Uniform),
        "beliefs are bounded alike for everybody",
        "Keep variation=Uniform().",
    ),
    (
        lambda d: isinstance(d.formalism, Semantic | f.Federated) and not isinstance(d.background, b.Full),
        "this formalism quantifies over every prior, or over none",
        "Keep background=Full().",
    ),
    (
        lambda d: isinstance(d.formalism, Semantic) and not isinstance(d.neighbourhood, n.OneRecord),
        "semantic privacy compares data with and without one record",
        "Keep the default neighbourhood.",
    ),
    (
        lambda d: isinstance(d.quantification, q.TradeOff) and not isinstance(d.formalism, f.Testing | f.Federated),
        "a curve of errors is a statement about tests",
        "Choose formalism=Testing().",
    ),
    (
        lambda d: (
            isinstance(d.quantification, q.Capacity)
            and (isinstance(d.formalism, f.Federated) or isinstance(d.relativisation, r.Subspace))
        ),
        "the capacity is that of functions of the output itself",
        "Keep formalism and relativisation, or choose another quantification.",
    ),
    (
        lambda d: isinstance(d.quantification, q.TradeOff) and not isinstance(d.variation, v.Uniform),
        "a curve of errors is stated once for all",
        "Keep variation=Uniform().",
    ),
    (
        lambda d: (
            isinstance(d.formalism, f.Testing)
            and not isinstance(d.quantification, q.TradeOff | q.Gaussian | q.WorstCase | q.Approximate)
        ),
        "tests are quantified by their errors",
        "Choose TradeOff, Gaussian, Approximate or WorstCase.",
    ),
    (
        lambda d: isinstance(d.quantification, q.Region | q.Predicate) and not isinstance(d.variation, v.Uniform),
        "a condition on two laws has no size that could vary",
        "Keep variation=Uniform().",
    ),
    (
        lambda d: isinstance(d.quantification, q.Capacity) and isinstance(d.relativisation, r.Subspace),
        "the functions are of the whole output",
        "State functions of the projection in a world of its own.",
    ),
    (
        lambda d: (
            isinstance(d.quantification, q.ZeroConcentrated)
            and bool(d.quantification.delta)
            and isinstance(d.neighbourhood, n.OneSided | n.Asymmetric)
        ),
        "approximate concentration splits both laws at once, and has no direction",
        "Choose a symmetric neighbourhood.",
    ),
    (_simulated_measure, "a simulator is compared output by output", "Keep quantification=WorstCase()."),
    (_simulated_variation, "one simulator serves everybody", "Keep variation=Uniform()."),
    (
        _simulated_background,
        "this simulator's world has another background",
        "Coupled worlds need Noiseless(); zero knowledge and typical stability Full().",
    ),
    (
        lambda d: (
            isinstance(d.neighbourhood, n.PrivateValue) != isinstance(d.relativisation, r.CoupledWorlds)
            and isinstance(d.neighbourhood, n.PrivateValue)
        ),
        "private values are for coupled worlds",
        "Choose relativisation=CoupledWorlds().",
    ),
    (
        lambda d: d.relativisation.simulates and not isinstance(d.neighbourhood, n.OneRecord | n.PrivateValue),
        "a simulator leaves out one record, or a private value",
        "Keep the default neighbourhood, or PrivateValue with coupled worlds.",
    ),
    (
        lambda d: (
            d.relativisation.simulates
            and not isinstance(d.formalism, f.Likelihoods)
            and not (isinstance(d.relativisation, r.CoupledWorlds) and isinstance(d.formalism, f.APosteriori))
        ),
        "a simulator's laws are compared as likelihoods",
        "Keep formalism=Likelihoods(); coupled worlds also take APosteriori().",
    ),
    (
        lambda d: isinstance(d.neighbourhood, a._Adversary) and not isinstance(d.background, b.Full),
        "this adversary brings a prior already",
        "Keep background=Full().",
    ),
    (
        _predicates,
        "predicates compare laws only under a prior",
        "Choose background=Noiseless().",
    ),
    (
        lambda d: isinstance(d.neighbourhood, n.Distributions) and not isinstance(d.background, b.Noiseless),
        "distributions are compared by an uncertain attacker",
        "Choose background=Noiseless().",
    ),
    (
        _without_secrets,
        "this neighbourhood names no secrets about uncertain data",
        "Choose Bounded, Unbounded, OneSided, Blowfish, FreeLunch, Listed, Secrets or Distributions.",
    ),
    (
        _causal,
        "the causal view changes one record after the data are drawn",
        "Choose a neighbourhood of one record.",
    ),
    (
        lambda d: isinstance(d.variation, _RANDOM) and not isinstance(d.background, b.Full),
        "random inputs have a prior of their own",
        "Keep background=Full().",
    ),
    (
        _drawn_pairs,
        "random inputs are neighbours in one record",
        "Keep the default neighbourhood; Random also takes FreeLunch.",
    ),
    (
        _other_record,
        "averages over another record are stated with ε and δ",
        "Choose Approximate (weak Bayesian) or Probabilistic (Bayesian).",
    ),
    (
        _distances,
        "a distance and a loss in proportion to it belong together",
        "Choose Metric (or Distributions(metric=True)) with Proportional.",
    ),
    (
        _mixtures,
        "one number for each dataset needs datasets, not mixtures",
        "Keep background=Full().",
    ),
    (
        lambda d: (
            isinstance(d.variation, v.Personalised | v.Tailored | v.Outlier | v.Pareto)
            and isinstance(d.neighbourhood, n.FreeLunch | n.Metric | n.Secrets | n.Distributions)
        ),
        "one number for each record needs pairs that differ in one record",
        "Choose a neighbourhood of one record.",
    ),
    (
        _leaks,
        "a leak beside the output is given for each dataset",
        "Keep background=Full() and a neighbourhood of datasets.",
    ),
    (
        _projected,
        "this choice looks at the whole output",
        "Keep relativisation=Absolute().",
    ),
]


def reason(definition: Chosen) -> tuple[str, str] | None:
    """What is wrong with a combination, and what to do; None where the choices fit."""
    return next(((what, hint) for applies, what, hint in _RULES if applies(definition)), None)
