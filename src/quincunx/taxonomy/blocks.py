"""Definitions as specifications, where five blocks are enough, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from quincunx.errors import SpecificationError
from quincunx.spec import Specification, domain, scope, unit
from quincunx.taxonomy import background as b
from quincunx.taxonomy import formalism as f
from quincunx.taxonomy import neighbourhood as n
from quincunx.taxonomy import quantification as q
from quincunx.taxonomy import relativisation as r
from quincunx.taxonomy import variation as v
from quincunx.taxonomy.computation import Unlimited
from quincunx.taxonomy.definition import Definition
from quincunx.taxonomy.world import World


def specification(definition: Definition, world: World, intensity: object) -> Specification:
    """Domain: the world's datasets. Unit: the pairs of the neighbourhood. Standard: the quantification."""
    reasons = [
        (not isinstance(definition.computation, Unlimited), "a limited attacker"),
        (not isinstance(definition.background, b.Full) or hasattr(definition.neighbourhood, "_adversaries"), "a prior"),
        (not isinstance(definition.relativisation, r.Absolute), "a relative gain"),
        (not isinstance(definition.variation, v.Uniform | v.Proportional), "a loss that varies"),
        (definition.formalism.posterior or isinstance(definition.quantification, q.TradeOff), "another formalism"),
        (isinstance(definition.neighbourhood, n.OneSided | n.Asymmetric), "one direction only"),
    ]
    wrong = [what for applies, what in reasons if applies]
    if wrong:
        hint = "The five blocks state a symmetric bound between laws at pairs of datasets."
        raise SpecificationError(
            "five blocks do not state this", where="specification", got=", ".join(wrong), hint=hint
        )
    pairs = {tuple(sorted((x, y))): d for x, y, _, d in definition.neighbourhood.pairs(world)}
    if isinstance(definition.variation, v.Proportional):
        chosen: unit.Unit = unit.Metric(pairs)
    else:
        chosen = unit.Neighbours(list(pairs))
    measure = definition.quantification.standard(world)
    return Specification(
        domain=domain.Finite(datasets=tuple(world.datasets)),
        scope=scope.Everything(),
        unit=chosen,
        standard=measure,
        intensity=intensity,
    )


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
}


def definition(given: Specification) -> Definition:
    """The choices that a specification's standard, unit and scope make; domain and intensity belong to the world."""
    measure, change = _STANDARDS.get(given.standard.kind), _UNITS.get(given.unit.kind)
    if measure is None or change is None:
        got = given.standard.kind if measure is None else given.unit.kind
        hint = f"Known: {', '.join(_STANDARDS if measure is None else _UNITS)}."
        raise SpecificationError("the taxonomy has no such choice", where="Definition.of", got=got, hint=hint)
    chosen = change(given.unit)
    if isinstance(given.scope, scope.OneDataset):
        chosen = n.Individual()
    elif not isinstance(given.scope, scope.Everything):
        hint = "List the pairs inside the universes as neighbours of a world."
        raise SpecificationError(
            "the taxonomy has no universes", where="Definition.of", got=given.scope.kind, hint=hint
        )
    quantification = measure(given.standard)
    return Definition(
        quantification=quantification,
        neighbourhood=chosen,
        variation=v.Proportional() if isinstance(chosen, n.Metric) else v.Uniform(),
        formalism=f.Testing() if isinstance(quantification, q.Gaussian) else f.Likelihoods(),
    )
