"""R: what is the gain of knowledge compared with? With nothing, with a leak, or with what a simulator can do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Final, cast

from quincunx.errors import SpecificationError, WorldError
from quincunx.numbers import Log
from quincunx.taxonomy.adversary import priors_of
from quincunx.taxonomy.answer import Answer, Witness
from quincunx.taxonomy.case import Case, Law, mixture
from quincunx.taxonomy.choice import Choice
from quincunx.taxonomy.dataset import Coupling, Kernel
from quincunx.taxonomy.simulated import Comparison, inferred, simulated
from quincunx.taxonomy.value import INFINITE, ZERO, Value, above, joined
from quincunx.taxonomy.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What other dimensions ask of a simulator: δ, the share γ that may fail, beliefs instead of laws, and whether the
    private value is one record."""

    delta: Fraction = Fraction(0)
    share: Fraction = Fraction(0)
    inference: bool = False
    others: bool = True


class Relativisation(Choice):
    """What counts as a gain. simulates: whether there is a simulator to find."""

    __slots__ = ()
    letter: ClassVar[str] = "R"
    simulates: ClassVar[bool] = False

    def laws(self, world: World) -> Mapping[str, Law]:
        """The laws that are compared."""
        return world.laws

    def split(self, cases: Sequence[Case], world: World) -> Sequence[Case]:
        """The cases that come from one pair of datasets."""
        del world
        return cases

    def answer(self, world: World, asked: Asked) -> Answer:
        """The smallest parameters, where there is a simulator."""
        del world, asked
        raise SpecificationError(f"{self.name} has no simulator", where="relativisation")


@dataclass(frozen=True, slots=True)
class Absolute(Relativisation):
    """Any gain counts."""

    default: ClassVar[bool] = True

    def phrase(self) -> str:
        return "unable"

    def formula(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Subspace(Relativisation):
    """Only a projection of the output is protected."""

    needs: ClassVar[tuple[str, ...]] = ("projection",)

    def laws(self, world: World) -> Mapping[str, Law]:
        image = cast("Mapping[str, str]", world.needed("projection", "subspace DP"))
        labels = tuple(dict.fromkeys(image[o] for o in world.outputs))
        found = {}
        for x, law in world.laws.items():
            mass = dict.fromkeys(labels, Fraction(0))
            for o, p in zip(world.outputs, law, strict=True):
                mass[image[o]] += p
            found[x] = tuple(mass[label] for label in labels)
        return found

    def split(self, cases: Sequence[Case], world: World) -> Sequence[Case]:
        image = cast("Mapping[str, str]", world.needed("projection", "subspace DP"))
        labels = tuple(dict.fromkeys(image[o] for o in world.outputs))
        return [replace(case, labels=labels) for case in cases]

    def phrase(self) -> str:
        return "unable, from the protected part of the output,"

    def formula(self) -> str:
        return r"\mathcal{M} \text{ replaced by } \mathcal{P}_{\mathcal{V}} \circ \mathcal{M}"


@dataclass(frozen=True, slots=True)
class BoundedLeakage(Relativisation):
    """A leak that shares the mechanism's coins: laws are conditioned on what leaked, where both may leak it."""

    needs: ClassVar[tuple[str, ...]] = ("leakage",)

    def split(self, cases: Sequence[Case], world: World) -> Sequence[Case]:
        leaks = cast("Mapping[str, Kernel]", world.needed("leakage", "bounded leakage"))
        labels = tuple(dict.fromkeys(b for rows in leaks.values() for law in rows.values() for b in law))
        known = {(x, b): _conditioned(world, x, leaks[x], b) for x in world.datasets for b in labels}
        found = []
        for case in cases:
            if case.x is None or case.y is None:
                raise SpecificationError("a leak needs pairs of datasets", where="relativisation")
            for b in labels:
                p, q = known[case.x, b], known[case.y, b]
                if p is not None and q is not None:
                    first, second = (f"{text}, {b} leaked" for text in (case.first, case.second))
                    found.append(replace(case, p=p, q=q, first=first, second=second))
        return found

    def phrase(self) -> str:
        return "unable, beyond what a side channel leaks,"

    def formula(self) -> str:
        return r"P, Q \text{ given } O_P \text{ for all } O_P \text{ possible under both}"


def _conditioned(world: World, x: str, rows: Kernel, label: str) -> Law | None:
    joint = [p * rows[o].get(label, Fraction(0)) for o, p in zip(world.outputs, world.laws[x], strict=True)]
    total = sum(joint, Fraction(0))
    return tuple(p / total for p in joint) if total else None


def removed(world: World) -> Iterator[tuple[str, int, tuple[object, ...]]]:
    """(D, i, D without record i) for every dataset and every record that is present."""
    for x, records in world.datasets.items():
        for i in world.protected:
            if records[i] is not None:
                yield x, i, (*records[:i], None, *records[i + 1 :])


@dataclass(frozen=True, slots=True)
class ZeroKnowledge(Relativisation):
    """A simulator sees an aggregate of the data without one record. aggregate: "others" (all other records),
    "nothing", or "world" (the world's kernel)."""

    aggregate: str = "others"
    simulates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.aggregate not in ("others", "nothing", "world"):
            from quincunx.taxonomy.reading import nearest

            hint = nearest(str(self.aggregate), ("others", "nothing", "world"))
            raise SpecificationError("unknown aggregate", where="aggregate", got=repr(self.aggregate)[:40], hint=hint)

    def answer(self, world: World, asked: Asked) -> Answer:
        del asked
        comparisons = list(self._comparisons(world))
        if not comparisons:
            return Answer(shape="number", symbol="ε", values={"ε": ZERO}, note="no dataset has a record to leave out")
        return compared(comparisons, world)

    def _comparisons(self, world: World) -> Iterator[Comparison]:
        for x, i, rest in removed(world):
            if self.aggregate == "world":
                kernel = cast("Kernel", world.needed("aggregate", "zero-knowledge privacy"))
                name = world.name(rest)  # type: ignore[arg-type]
                if name is None:
                    hint = "List the datasets with a record absent, or use aggregate='others'."
                    got = f"{x} without record {i}"
                    raise WorldError("the world has no such dataset", where="datasets", got=got, hint=hint)
                weights = dict(kernel[name])
            else:
                weights = {str(rest) if self.aggregate == "others" else "": Fraction(1)}
            yield Comparison(law=world.laws[x], weights=weights, said=f"dataset {x} without record {i}")

    def phrase(self) -> str:
        what = {"others": "the other records", "nothing": "nothing", "world": "an aggregate of the other records"}
        return f"unable, better than a simulator that sees {what[self.aggregate]},"

    def formula(self) -> str:
        return r"\exists \mathrm{Sim}: \mathcal{M}(D) \approx_{\varepsilon} \mathrm{Sim}(\mathrm{agg}(D_{-i}))"


def compared(comparisons: Sequence[Comparison], world: World) -> Answer:
    """The smallest ε: in closed form where every aggregate is certain, by a linear program otherwise."""
    if all(len([w for w in c.weights.values() if w]) == 1 for c in comparisons):
        return _closed(comparisons, world)
    return simulated(comparisons, world)


def _closed(comparisons: Sequence[Comparison], world: World) -> Answer:
    groups: dict[str, list[Comparison]] = {}
    for each in comparisons:
        groups.setdefault(next(label for label, w in each.weights.items() if w), []).append(each)
    best, witness = ZERO, None
    for label, some in groups.items():
        value, words = centre([c.law for c in some], [c.said for c in some], world)
        if above(value, best):
            best = value
            witness = Witness(first=label, second="", event=(), probability=(Fraction(0), Fraction(0)), words=words)
    return Answer(shape="number", symbol="ε", values={"ε": best}, witness=witness, compared=len(comparisons))


def centre(laws: Sequence[Law], names: Sequence[str], world: World) -> tuple[Value, str]:
    """The smallest ε with one law s such that hi/e^ε ≤ s ≤ e^ε·lo: the largest of ½ ln(hi/lo), ln Σhi and −ln Σlo."""
    size = len(laws[0])
    hi, lo = [max(law[o] for law in laws) for o in range(size)], [min(law[o] for law in laws) for o in range(size)]
    label = [world.outputs[o] if o < len(world.outputs) else str(o) for o in range(size)]
    apart = next((o for o in range(size) if hi[o] and not lo[o]), None)
    if apart is not None:
        some = names[next(i for i, law in enumerate(laws) if not law[apart])]
        other = names[next(i for i, law in enumerate(laws) if law[apart])]
        return (
            INFINITE,
            f"{label[apart]} is possible for {other} and impossible for {some}, which look the same to the simulator",
        )
    worst = max((o for o in range(size) if lo[o]), key=lambda o: hi[o] / lo[o])
    square, high, low = hi[worst] / lo[worst], sum(hi, Fraction(0)), 1 / sum(lo, Fraction(0))
    linear = max(high, low)
    if square >= linear * linear:
        words = f"{label[worst]} has probabilities {lo[worst]} and {hi[worst]} for datasets that look the same to it"
        root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
        exact = root * root == square
        return (Value.log(root) if exact else Value.of(Log(square)).over(Fraction(2))), words
    words = (
        f"the largest probabilities of all outputs sum to {high}" if high >= low else f"the smallest sum to {1 / low}"
    ) + ", over datasets that look the same to the simulator"
    return Value.log(linear), words


@dataclass(frozen=True, slots=True)
class CoupledWorlds(Relativisation):
    """A simulator sees agg(D); its output must look alike given priv(D), under each prior.

    With the neighbourhood PrivateValue the pairs (agg, priv) are the world's; otherwise priv is one record and agg all
    the others. With the formalism APosteriori the beliefs about priv(D) are compared, not the laws of the output.
    """

    simulates: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("priors",)

    def couplings(self, world: World, *, others: bool) -> list[tuple[str, Coupling]]:
        """The pairs (agg, priv), by name."""
        if not others:
            return list(cast("Mapping[str, Coupling]", world.needed("coupled", "coupled-worlds privacy")).items())
        found = []
        for i in world.protected:
            rest = {x: {str((*r[:i], "·", *r[i + 1 :])): Fraction(1)} for x, r in world.datasets.items()}
            private = {x: str(r[i]) for x, r in world.datasets.items()}
            found.append((f"record {i}", Coupling(aggregate=rest, private=private)))
        return found

    def answer(self, world: World, asked: Asked) -> Answer:
        pairs = self.couplings(world, others=asked.others)
        if asked.inference:
            return inferred(pairs, world)
        comparisons = []
        for prior, weights in priors_of(world, "coupled-worlds privacy").items():
            for name, pair in pairs:
                for value in sorted(set(pair.private.values())):
                    kept = [x for x in world.datasets if pair.private[x] == value and weights.get(x)]
                    total = sum((weights[x] for x in kept), Fraction(0))
                    if not total:
                        continue
                    law = mixture([world.laws[x] for x in kept], [weights[x] for x in kept])
                    seen: dict[str, Fraction] = {}
                    for x in kept:
                        for label, w in pair.aggregate[x].items():
                            seen[label] = seen.get(label, Fraction(0)) + weights[x] * w / total
                    comparisons.append(Comparison(law=law, weights=seen, said=f"{name} = {value} under {prior}"))
        return compared(comparisons, world)

    def phrase(self) -> str:
        return "unable, better than a simulator that sees what is public,"

    def formula(self) -> str:
        return (
            r"\exists \mathrm{Sim}: \mathcal{M}(D)_{|\mathrm{priv}(D) = p} \approx_{\varepsilon} "
            r"\mathrm{Sim}(\mathrm{agg}(D))_{|\mathrm{priv}(D) = p}"
        )


@dataclass(frozen=True, slots=True)
class Typical(Relativisation):
    """A simulator knows the prior alone. A share γ of the datasets may fail (variation Random), and δ (Approximate)."""

    simulates: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("priors",)

    def answer(self, world: World, asked: Asked) -> Answer:
        found, witness, count = [], None, 0
        for prior, weights in priors_of(world, "typical stability").items():
            kept = [x for x in world.datasets if weights.get(x)]
            count += len(kept)
            options: list[Answer] = []
            limit: Fraction | None = None
            for names in typical_sets(kept, weights, asked.share):
                options.append(self._stable(names, prior, world, asked.delta, limit))
                # A set that is certainly worse than the best so far need not be solved.
                top = options[-1].value.bounds[1]
                if top < _LARGE:
                    here = Fraction(math.exp(top)) * (1 + Fraction(1, 10**12))
                    limit = here if limit is None else min(limit, here)
            found.append(smallest([option.value for option in options]))
            if not any(above(found[-1], value) or found[-1] == value for value in found[:-1]):
                witness = next((o.witness for o in options if o.witness is not None), None)
        best = 0
        for i, value in enumerate(found):
            best = i if above(value, found[best]) else best
        value = joined(found, best)
        return Answer(shape="number", symbol="ε", values={"ε": value}, witness=witness, compared=count)

    def _stable(
        self, names: Sequence[str], prior: str, world: World, delta: Fraction, limit: Fraction | None
    ) -> Answer:
        comparisons = [Comparison(law=world.laws[x], weights={prior: Fraction(1)}, said=f"dataset {x}") for x in names]
        return simulated(comparisons, world, delta, limit) if delta else compared(comparisons, world)

    def phrase(self) -> str:
        return "unable, on typical data, better than a simulator that sees the prior alone,"

    def formula(self) -> str:
        return (
            r"\exists \mathrm{Sim}: \mathbb{P}_{D \sim \theta}"
            r"[\mathcal{M}(D) \approx_{\varepsilon, \delta} \mathrm{Sim}(\theta)] \ge 1 - \gamma"
        )


MOST_SETS: Final = 5_000
# Factors beyond e^300 are no limit to compare with in floats.
_LARGE: Final = 300.0


def smallest(values: Sequence[Value]) -> Value:
    """The smallest of some values: exactly where one is known to be, between the smallest ends otherwise."""
    if not values:
        return ZERO
    best = values[0]
    for value in values[1:]:
        best = value if above(best, value) else best
    low, high = min(v.bounds[0] for v in values), min(v.bounds[1] for v in values)
    return best if best.exact is not None and best.bounds[0] <= low else Value(bounds=(low, high))


def typical_sets(names: Sequence[str], weights: Mapping[str, Fraction], share: Fraction) -> Iterator[list[str]]:
    """What is left when a largest possible set of datasets of mass at most γ is given up."""
    light = [x for x in names if weights[x] <= share]
    feasible: list[tuple[Fraction, frozenset[str]]] = [(Fraction(0), frozenset())]
    for x in light:
        feasible += [(mass + weights[x], gone | {x}) for mass, gone in feasible if mass + weights[x] <= share]
        if len(feasible) > MOST_SETS:
            hint = "State a smaller γ, or a prior on fewer datasets."
            got = f"{len(light)} light datasets"
            raise WorldError("too many sets of datasets could be given up", where="priors", got=got, hint=hint)
    for mass, gone in feasible:
        left = [x for x in names if x not in gone]
        # Giving up more never hurts, so only sets that cannot grow are tried.
        if left and not any(mass + weights[x] <= share for x in light if x not in gone):
            yield left
