"""The three axioms, tested on worlds: processing an output, choosing a mechanism by chance, using two.

A definition at fixed settings keeps post-processing if no function of the output raises its smallest parameter, and
convexity if no mixture does. It composes if the parameters of two mechanisms bound that of both. Proofs: axioms.md.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final

from quincunx.errors import SpecificationError
from quincunx.taxonomy.answer import Answer
from quincunx.taxonomy.case import Law
from quincunx.taxonomy.definition import Definition
from quincunx.taxonomy.quantification import Predicate
from quincunx.taxonomy.reading import nearest
from quincunx.taxonomy.relations.language import Setting, language
from quincunx.taxonomy.value import INFINITE, ZERO, Value, above
from quincunx.taxonomy.world import World, build


def processed(world: World, kernel: Mapping[str, Mapping[str, Fraction]]) -> World:
    """The world whose output o becomes o' with probability kernel[o][o']; outputs left out stay as they are.

    Outputs of the world keep their place, so that functions and projections of them keep their meaning.
    """
    new = dict.fromkeys([*world.outputs, *(o for row in kernel.values() for o in row)])
    moves = {o: kernel.get(o, {o: Fraction(1)}) for o in world.outputs}
    laws: dict[str, Law] = {}
    for name, law in world.laws.items():
        found = dict.fromkeys(new, Fraction(0))
        for output, chance in zip(world.outputs, law, strict=True):
            for other, share in moves[output].items():
                found[other] += chance * share
        laws[name] = tuple(found.values())
    return dataclasses.replace(world, outputs=tuple(new), laws=laws)


def mixed(one: World, other: World, weight: Fraction) -> World:
    """The first mechanism with probability `weight`, else the second; everything but laws is the first's."""
    outputs = tuple(dict.fromkeys((*one.outputs, *other.outputs)))
    laws = {}
    for name in one.laws:
        first, second = (dict(zip(w.outputs, w.laws[name], strict=True)) for w in (one, other))
        laws[name] = tuple(
            weight * first.get(o, Fraction(0)) + (1 - weight) * second.get(o, Fraction(0)) for o in outputs
        )
    return dataclasses.replace(one, outputs=outputs, laws=laws)


def composed(one: World, other: World) -> World:
    """Both mechanisms, each with its own coins; everything but laws is the first's."""
    outputs = tuple(f"{a}|{b}" for a in one.outputs for b in other.outputs)
    laws = {name: tuple(p * q for p in one.laws[name] for q in other.laws[name]) for name in one.laws}
    return dataclasses.replace(one, outputs=outputs, laws=laws)


def measure(answer: Answer, symbol: str = "") -> Value:
    """One number of an answer: the value, the largest entry, or for a verdict 0 or infinity."""
    if answer.shape == "verdict":
        return ZERO if answer.holds else INFINITE
    if answer.shape == "several":
        return answer.values[symbol or answer.symbol]
    if answer.shape in ("front", "polygon"):
        hint = "State δ, γ or the like, so that one number is left."
        raise SpecificationError("the answer is no single number", where="axioms", got=answer.shape, hint=hint)
    return answer.value


def equal_or_disjoint(p: Law, q: Law) -> bool:
    """A predicate that keeps no axiom: two laws are equal, or have no output in common."""
    return p == q or not any(a and b for a, b in zip(p, q, strict=True))


_PREDICATES: Final[Mapping[str, Callable[[Any, Any], bool]]] = {"equal or disjoint": equal_or_disjoint}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A stored refutation. kind: an axiom, or "implication". words: what happens, for people.

    worlds: one or two mechanisms on the same data. For an implication `source` and `target` are definitions, `claimed`
    is the printed map at the source's value.
    """

    key: str
    kind: str
    definition: str
    settings: Mapping[str, Setting]
    worlds: tuple[World, ...]
    words: str
    symbol: str = ""
    predicate: str = ""
    weight: Fraction = Fraction(1, 2)
    kernel: Mapping[str, Mapping[str, Fraction]] = dataclasses.field(default_factory=dict)

    def posed(self) -> Definition:
        """The definition at its settings."""
        found = language(self.definition).posed(self.settings)
        if self.predicate:
            return found.with_(quantification=Predicate(_PREDICATES[self.predicate]))
        return found

    def after(self) -> World:
        """The world that breaks the axiom."""
        if self.kind == "post_processing":
            return processed(self.worlds[0], self.kernel)
        one, other = self.worlds
        return mixed(one, other, self.weight) if self.kind == "convexity" else composed(one, other)

    def replay(self) -> Replayed:
        """Check everything again."""
        before = tuple(measure(self.posed().tightest(world), self.symbol) for world in self.worlds)
        after = measure(self.posed().tightest(self.after()), self.symbol)
        if self.kind == "composition":
            broken = not any(v.infinite for v in before) and (
                after.infinite or after.bounds[0] > sum(v.bounds[1] for v in before) * (1 + 1e-12)
            )
        else:
            broken = all(above(after, value) and after.bounds[0] > value.bounds[1] for value in before)
        return Replayed(before=before, after=after, broken=broken)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a counterexample gave: the parameters before, and after."""

    before: tuple[Value, ...]
    after: Value
    broken: bool


@cache
def counterexamples() -> Mapping[str, Counterexample]:
    """All stored refutations of axioms, by "definition/axiom"."""
    text = (Path(__file__).parent / "catalogue" / "counterexamples.json").read_text(encoding="utf-8")
    return {key: _read(key, data) for key, data in json.loads(text).items()}


def _read(key: str, data: Mapping[str, Any]) -> Counterexample:
    definition, _, kind = key.partition("/")
    numbers = {n: v if n == "f" else Fraction(v) for n, v in data.get("settings", {}).items()}
    kernel = {o: {b: Fraction(x) for b, x in row.items()} for o, row in data.get("kernel", {}).items()}
    shared = data.get("world", {})
    return Counterexample(
        key=key,
        kind=kind,
        definition=definition,
        settings=numbers,
        worlds=tuple(build({**shared, "laws": laws}) for laws in data["laws"]),
        words=data["words"],
        symbol=data.get("symbol", ""),
        predicate=data.get("predicate", ""),
        weight=Fraction(data.get("weight", "1/2")),
        kernel=kernel,
    )


def counterexample(name: str, axiom: str) -> Counterexample:
    """The stored refutation of an axiom for a definition."""
    key = f"{language(name).short}/{axiom}"
    found = counterexamples().get(key)
    if found is None:
        hint = nearest(key, counterexamples())
        raise SpecificationError("no counterexample is stored", where="axioms", got=repr(key)[:60], hint=hint)
    return found


def search(
    definition: Definition, axiom: str, worlds: Sequence[World], kernels: Sequence[Mapping[str, Mapping[str, Fraction]]]
) -> tuple[World, ...] | None:
    """The first of some worlds that break post-processing or convexity; None where none does."""
    values = [measure(definition.tightest(world)) for world in worlds]
    for i, world in enumerate(worlds):
        if values[i].infinite:
            continue
        if axiom == "post_processing":
            for kernel in kernels:
                if measure(definition.tightest(processed(world, kernel))).bounds[0] > values[i].bounds[1] * (1 + 1e-12):
                    return (world, processed(world, kernel))
        elif i and not values[i - 1].infinite:
            mixture = mixed(worlds[i - 1], world, Fraction(1, 2))
            most = max(values[i].bounds[1], values[i - 1].bounds[1])
            if measure(definition.tightest(mixture)).bounds[0] > most * (1 + 1e-12):
                return (worlds[i - 1], world, mixture)
    return None
