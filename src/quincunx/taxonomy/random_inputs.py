"""V, randomised: the inputs are drawn, and the loss is a quantile or an average over them (random_inputs.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations, product
from typing import ClassVar, cast

from quincunx.errors import SpecificationError, WorldError
from quincunx.numbers import Ball, probability
from quincunx.spec import Found
from quincunx.taxonomy.adversary import priors_of
from quincunx.taxonomy.answer import Answer
from quincunx.taxonomy.case import Case, Law, measured, times
from quincunx.taxonomy.dataset import Record
from quincunx.taxonomy.quantification import Approximate, Probabilistic, Quantification, labels_of
from quincunx.taxonomy.value import INFINITE, ZERO, Value, above, sorted_values
from quincunx.taxonomy.variation import Variation
from quincunx.taxonomy.world import World


def redrawn(world: World, weights: Mapping[str, Fraction]) -> Iterator[tuple[str, str, int, Fraction]]:
    """(D₁, D₂, i, probability): D₁ from the prior, i uniform, D₂ from the prior given all but record i of D₁.

    For independent records this is Definition 23: one element is drawn anew from π.
    """
    places = list(world.protected)
    for i in places:
        groups: dict[tuple[object, ...], list[str]] = {}
        for x, records in world.datasets.items():
            if weights.get(x):
                groups.setdefault((*records[:i], *records[i + 1 :]), []).append(x)
        for names in groups.values():
            total = sum((weights[x] for x in names), Fraction(0))
            for x, y in product(names, repeat=2):
                yield x, y, i, weights[x] * weights[y] / total / len(places)


def _case(laws: Mapping[str, Law], x: str, y: str, i: int | None, weight: Fraction) -> Case:
    return Case(p=laws[x], q=laws[y], first=f"dataset {x}", second=f"dataset {y}", x=x, y=y, position=i, weight=weight)


class _Drawn(Variation):
    __slots__ = ()
    needs: ClassVar[tuple[str, ...]] = ("priors",)

    def weighed(self, world: World) -> Iterator[tuple[str, list[Case]]]:
        """For each prior, the unordered draws as cases with weights."""
        for name, weights in priors_of(world, "randomly drawn data").items():
            yield name, [_case(world.laws, x, y, i, w) for x, y, i, w in redrawn(world, weights)]


def quantile(measures: Sequence[tuple[Value, Fraction]]) -> list[tuple[Fraction, Value]]:
    """(γ, ε) at every step: the smallest ε that all but a share γ of the draws satisfy."""
    order = sorted_values([value for value, _ in measures])
    mass: dict[Value, Fraction] = {}
    for value, weight in measures:
        mass[value] = mass.get(value, Fraction(0)) + weight
    rows, left = [], Fraction(0)
    for value in reversed(list(dict.fromkeys(order))):
        rows.append((left, value))
        left += mass[value]
    return rows


@dataclass(frozen=True, slots=True)
class Random(_Drawn):
    """All but a share γ of the drawn neighbours: one record is drawn anew, or, with a free-lunch neighbourhood, both
    datasets are n different records each (distributional privacy). share: γ, or None for the whole front."""

    share: Fraction | None = None

    def __post_init__(self) -> None:
        if self.share is not None:
            object.__setattr__(self, "share", probability(self.share, "share"))

    def independent(self, world: World) -> Iterator[tuple[str, list[Case]]]:
        """For each prior, two datasets drawn independently."""
        for name, weights in priors_of(world, "randomly drawn data").items():
            drawn = without_replacement(world, weights)
            yield (
                name,
                [_case(world.laws, x, y, None, a * b) for (x, a), (y, b) in product(drawn.items(), repeat=2)],
            )

    def answer(self, quantification: Quantification, cases: Sequence[Case], world: World) -> Answer:
        del cases
        return self.over(quantification, self.weighed(world), world)

    def over(self, quantification: Quantification, draws: Iterator[tuple[str, list[Case]]], world: World) -> Answer:
        """The quantiles over stated draws."""
        standard, symbol = quantification.standard(world), quantification.symbol
        rows: dict[Fraction, Value] = {}
        steps: list[list[tuple[Fraction, Value]]] = []
        worst, count, known = None, 0, {}
        for _, drawn in draws:
            found = []
            for case in drawn:
                key = tuple(sorted((cast("str", case.x), cast("str", case.y))))
                if key not in known:
                    both = [measured(standard, c) for c in (case, replace(case, p=case.q, q=case.p))]
                    known[key] = max_of(both)
                    if worst is None or above(known[key][0], worst[0]):
                        worst = (known[key][0], case, known[key][1])
                found.append((known[key][0], case.weight))
            steps.append(quantile(found))
            count += len(found)
        for gamma in sorted({g for step in steps for g, _ in step}):
            rows[gamma] = at_share(steps, gamma)
        kept = [(g, v) for i, (g, v) in enumerate(rows.items()) if i == 0 or above(list(rows.values())[i - 1], v)]
        witness = None
        if worst is not None and worst[2] and above(worst[0], ZERO):
            witness = worst[1].witness(worst[2], tuple(labels_of(worst[1], world)))
        if self.share is not None:
            value = at_share(steps, self.share)
            return Answer(shape="number", symbol=symbol, values={symbol: value}, witness=witness, compared=count)
        return Answer(
            shape="front", symbol=symbol, names=("γ", symbol), witness=witness, compared=count,
            rows=tuple((Value.of(g), v) for g, v in kept),
        )  # fmt: skip

    def phrase(self) -> str:
        return "for all but a small share of randomly drawn inputs"

    def formula(self) -> str:
        return r"\text{with probability } \ge 1 - \gamma \text{ over } (D_1, D_2)"


def max_of(both: list[tuple[Value, Found]]) -> tuple[Value, tuple[int, ...]]:
    """The larger of two directions; the event only where it belongs to the first."""
    (a, one), (b, _) = both
    return (b, ()) if above(b, a) else (a, one.event)


def at_share(steps: Sequence[Sequence[tuple[Fraction, Value]]], gamma: Fraction) -> Value:
    """The smallest ε at a share, for the worst prior: the value of the last step that starts at or before it."""
    best = ZERO
    for step in steps:
        here = [v for g, v in step if g <= gamma]
        # After the last step nothing is left over: a share of 1 excuses everything.
        value = ZERO if gamma >= 1 else here[-1] if here else ZERO
        best = value if above(value, best) else best
    return best


def without_replacement(world: World, weights: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """The law of n different records drawn one after the other from the prior's law of one record.

    The law π of a record is the prior's law of the first record (for a prior of independent records it is all of them).
    """
    pi: dict[Record, Fraction] = {}
    for x, w in weights.items():
        first = world.datasets[x][0]
        if w and first is not None:
            pi[first] = pi.get(first, Fraction(0)) + w
    total = sum(pi.values(), Fraction(0))
    found: dict[str, Fraction] = {}
    if len(pi) < world.people:
        return found
    for order in permutations(sorted(pi, key=str), world.people):
        chance, left = Fraction(1), total
        for record in order:
            chance *= pi[record] / left
            left -= pi[record]
        name = world.name(order)
        if name is None:
            hint = "Distributional privacy draws any n different records: list every such dataset."
            raise WorldError("the world has no such dataset", where="datasets", got=str(order)[:60], hint=hint)
        found[name] = found.get(name, Fraction(0)) + chance
    return found


@dataclass(frozen=True, slots=True)
class Average(_Drawn):
    """The mean of the measure over drawn neighbours (on-average KL)."""

    def answer(self, quantification: Quantification, cases: Sequence[Case], world: World) -> Answer:
        del cases
        standard, symbol = quantification.standard(world), quantification.symbol
        best, count, witness = ZERO, 0, None
        for _, drawn in self.weighed(world):
            found = [(measured(standard, case), case) for case in drawn]
            count += len(found)
            value = _mean([(value, case.weight) for (value, _), case in found])
            if above(value, best):
                top = found[0]
                for each in found:
                    top = each if above(each[0][0], top[0][0]) else top
                best = value
                if top[0][1].event:
                    witness = top[1].witness(top[0][1].event, tuple(labels_of(top[1], world)))
        return Answer(shape="number", symbol=symbol, values={symbol: best}, witness=witness, compared=count)

    def phrase(self) -> str:
        return "on average over randomly drawn inputs"

    def formula(self) -> str:
        return r"\mathbb{E}_{(D_1, D_2)}"


def _mean(values: Sequence[tuple[Value, Fraction]]) -> Value:
    from quincunx.numbers import ball, precision

    if any(value.infinite and weight for value, weight in values):
        return INFINITE
    with precision(256):
        low, high = Ball(0), Ball(0)
        for value, weight in values:
            if value.exact is not None:
                low, high = low + ball(value.exact) * ball(weight), high + ball(value.exact) * ball(weight)
            else:
                low, high = low + Ball(value.bounds[0]) * ball(weight), high + Ball(value.bounds[1]) * ball(weight)
        return Value.between(low, high)


@dataclass(frozen=True, slots=True)
class OtherRecord(_Drawn):
    """For every dataset and position, over a record drawn in its place: the average hockey stick, or the tail of the
    loss (weak Bayesian and Bayesian DP of Triastcyn and Faltings). The front is in (ε, δ)."""

    def answer(self, quantification: Quantification, cases: Sequence[Case], world: World) -> Answer:
        del cases
        if not isinstance(quantification, Approximate | Probabilistic):
            hint = "Choose Approximate (weak Bayesian) or Probabilistic (Bayesian)."
            raise SpecificationError(
                "averages over another record are stated with ε and δ", where="variation", hint=hint
            )
        joint = [
            case for weights in priors_of(world, "a drawn record").values() for case in self._joint(world, weights)
        ]
        return quantification.answer(joint, world)

    def _joint(self, world: World, weights: Mapping[str, Fraction]) -> Iterator[Case]:
        """For each D and i, the law of (drawn record, output) with the output of D, against that of the changed D.

        Σ_t π(t)·δ(M(D), M(D with t)) is the hockey stick of these two joint laws, and likewise for the tail.
        """
        groups: dict[tuple[str, int], list[tuple[str, Fraction]]] = {}
        for x, y, i, w in redrawn(world, weights):
            groups.setdefault((x, i), []).append((y, w))
        for (x, i), others in groups.items():
            total = sum((w for _, w in others), Fraction(0))
            p = tuple(a for _, w in others for a in times(w / total, world.laws[x]))
            q = tuple(a for y, w in others for a in times(w / total, world.laws[y]))
            texts = f"dataset {x}", f"dataset {x} with record {i} drawn anew"
            labels = tuple(f"{o} beside {y}" for y, _ in others for o in world.outputs)
            yield Case(p=p, q=q, first=texts[0], second=texts[1], x=x, position=i, labels=labels)
            yield Case(p=q, q=p, first=texts[1], second=texts[0], x=x, position=i, labels=labels)

    def phrase(self) -> str:
        return "for every input, against a randomly drawn record"

    def formula(self) -> str:
        return r"\forall D, i,\ t \sim \pi"
