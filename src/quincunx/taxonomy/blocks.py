"""Definitions as specifications, where five blocks are enough, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from quincunx.errors import SpecificationError
from quincunx.spec import Drawn, PerPerson, PerRecord, Specification, Standard, domain, scope, unit
from quincunx.spec.intensity import StatedIntensity
from quincunx.taxonomy import background as b
from quincunx.taxonomy import formalism as f
from quincunx.taxonomy import neighbourhood as n
from quincunx.taxonomy import quantification as q
from quincunx.taxonomy import random_inputs as drawn
from quincunx.taxonomy import relativisation as r
from quincunx.taxonomy import variation as v
from quincunx.taxonomy.chosen import Chosen
from quincunx.taxonomy.computation import Unlimited
from quincunx.taxonomy.world import World


def specification(definition: Chosen, world: World, intensity: StatedIntensity) -> Specification:
    """Domain: the world's datasets. Unit: the pairs of the neighbourhood. Standard: the quantification."""
    reasons = [
        (not isinstance(definition.computation, Unlimited), "a limited attacker"),
        (not isinstance(definition.background, b.Full) or hasattr(definition.neighbourhood, "_adversaries"), "a prior"),
        (not isinstance(definition.relativisation, r.Absolute), "a relative gain"),
        (not isinstance(definition.variation, _VARIATIONS), "a loss that varies otherwise"),
        (definition.formalism.posterior or isinstance(definition.quantification, q.TradeOff), "another formalism"),
    ]
    wrong = [what for applies, what in reasons if applies]
    if wrong:
        hint = "The five blocks state a bound between laws at pairs of datasets."
        raise SpecificationError(
            "five blocks do not state this", where="specification", got=", ".join(wrong), hint=hint
        )
    measure = definition.quantification.standard(world)
    if isinstance(definition.variation, v.Personalised | v.Tailored | drawn.Random):
        return _by_records(definition, world, measure, intensity)
    return Specification(
        domain=domain.Finite(datasets=tuple(world.datasets)),
        scope=scope.Everything(),
        unit=_pairs(definition, world, measure),
        standard=measure,
        intensity=intensity,
    )


def _pairs(definition: Chosen, world: World, measure: Standard) -> unit.Unit:
    """The pairs of the neighbourhood by the names of the datasets: with their direction and distance, where it has
    them."""
    found = {(x, y): d for x, y, _, d in definition.neighbourhood.pairs(world)}
    if isinstance(definition.variation, v.Proportional):
        if measure.linear_in_distance and all(found.get((y, x)) == d for (x, y), d in found.items()):
            return unit.Metric(found)
        return unit.Distance("the distance of the world", lambda x, y: found.get((x, y)))
    if any((y, x) not in found for x, y in found):
        return unit.Directed(found)
    return unit.Neighbours(found)


def _by_records(definition: Chosen, world: World, measure: Standard, intensity: StatedIntensity) -> Specification:
    """Numbers by person, by record or for drawn pairs speak of records: datasets are the vectors themselves."""
    near = {(world.datasets[x], world.datasets[y]) for x, y, _, _ in definition.neighbourhood.pairs(world)}
    one_way = any((y, x) not in near for x, y in near)
    chosen: unit.Unit = unit.Directed(near) if one_way else unit.Neighbours(near)
    given = intensity
    if isinstance(definition.variation, drawn.Random):
        # What is drawn anew is one place of a vector, empty or not: one exchange.
        given, chosen = _drawn(definition.variation, world, intensity), unit.Replace()
    elif isinstance(intensity, Mapping):
        made = PerPerson if isinstance(definition.variation, v.Personalised) else PerRecord
        given = made(intensity)
    return Specification(
        domain=domain.Finite(datasets=tuple(world.datasets.values()), ordered=True),
        scope=scope.Everything(),
        unit=chosen,
        standard=measure,
        intensity=given,
    )


def _drawn(variation: drawn.Random, world: World, value: object) -> Drawn:
    priors = world.priors or {}
    if variation.share is None or len(priors) != 1 or world.targets is not None:
        hint = 'State share="1/100", on a world with one prior in which every record may be drawn anew.'
        got = f"{len(priors)} priors, share {variation.share}"
        raise SpecificationError("five blocks state one share and one prior", where="specification", got=got, hint=hint)
    (prior,) = priors.values()
    return Drawn(value=value, prior={world.datasets[x]: w for x, w in prior.items()}, share=variation.share)


_STANDARDS: Final[dict[str, Callable[[Any], q.Quantification]]] = {
    "pure": lambda _s: q.WorstCase(),
    "approximate": lambda s: q.Approximate(s.delta),
    "probabilistic": lambda s: q.Probabilistic(s.delta),
    "relaxed": lambda s: q.Relaxed(s.delta, s.outside),
    "kl": lambda _s: q.KullbackLeibler(),
    "tv": lambda _s: q.TotalVariation(),
    "renyi": lambda s: q.Renyi(s.alpha),
    "zcdp": lambda s: q.ZeroConcentrated(delta=s.delta),
    "concentrated": lambda s: q.ZeroConcentrated(xi=s.xi, omega=s.omega),
    "divergence": lambda s: q.Divergence(s.f),
    "power": lambda s: q.Power(s.k),
    "range-bounded": lambda _s: q.RangeBounded(),
    "gaussian": lambda _s: q.Gaussian(),
    "mean-concentrated": lambda _s: q.MeanConcentrated(),
}
_UNITS: Final[dict[str, Callable[[Any], n.Neighbourhood]]] = {
    "add-remove": lambda u: n.Unbounded() if u.group == 1 else n.Group(u.group),
    "replace": lambda u: n.Bounded() if u.group == 1 else n.Group(u.group),
    "neighbours": lambda _u: n.Listed(),
    "metric": lambda _u: n.Metric(),
    "hamming": lambda _u: n.Metric(),
    "attribute": lambda _u: n.Attribute(),
    "bit": lambda _u: n.Bit(),
    "blowfish": lambda _u: n.Blowfish(),
    "free-lunch": lambda _u: n.FreeLunch(),
    "add-remove-replace": lambda u: n.OneRecord() if u.group == 1 else n.Group(u.group),
    "element": lambda _u: n.Element(),
    "dependent": lambda u: n.Dependent(u.size),
    "one-sided": lambda _u: n.OneSided(),
    "distance": lambda _u: n.Metric(),
    "symmetric-difference": lambda _u: n.Metric(),
}
# what a loss that varies becomes: an intensity of its own
_VARIATIONS: Final = (v.Uniform, v.Proportional, v.Personalised, v.Tailored, drawn.Random)


def choices(given: Specification) -> dict[str, Any]:
    """The choices that a specification's standard, unit and scope make; domain and intensity belong to the world."""
    measure, change = _STANDARDS.get(given.standard.kind), _UNITS.get(given.unit.kind)
    if measure is None or change is None:
        got = given.standard.kind if measure is None else given.unit.kind
        hint = f"Known: {', '.join(_STANDARDS if measure is None else _UNITS)}."
        raise SpecificationError("the taxonomy has no such choice", where="Definition.of", got=got, hint=hint)
    chosen = change(given.unit)
    if isinstance(given.scope, scope.OneInstance):
        chosen = n.PerInstance()
    elif isinstance(given.scope, scope.OneDataset):
        chosen = n.Individual()
    elif not isinstance(given.scope, scope.Everything):
        hint = "List the pairs inside the universes as neighbours of a world."
        raise SpecificationError(
            "the taxonomy has no universes", where="Definition.of", got=given.scope.kind, hint=hint
        )
    if isinstance(given.intensity, Drawn):
        if given.unit != unit.Replace():
            hint = "Draws exchange one record: use unit.Replace()."
            raise SpecificationError(
                "the taxonomy has no such choice", where="Definition.of", got=given.unit.kind, hint=hint
            )
        chosen = n.OneRecord()
    quantification = measure(given.standard)
    return {
        "quantification": quantification,
        "neighbourhood": chosen,
        "variation": _variation(given.intensity, chosen),
        "formalism": f.Testing() if isinstance(quantification, q.Gaussian) else f.Likelihoods(),
    }


def _variation(intensity: object, chosen: n.Neighbourhood) -> v.Variation:
    if isinstance(intensity, PerPerson):
        return v.Personalised()
    if isinstance(intensity, PerRecord):
        return v.Tailored()
    if isinstance(intensity, Drawn):
        return drawn.Random(intensity.share)
    return v.Proportional() if isinstance(chosen, n.Metric) else v.Uniform()
