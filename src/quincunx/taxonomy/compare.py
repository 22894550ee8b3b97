"""Two definitions side by side on the seven dimensions, and a world that one accepts and the other refuses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from quincunx.errors import QuincunxError
from quincunx.numbers import ball, float_above, precision
from quincunx.taxonomy import axioms, generate
from quincunx.taxonomy.answer import Answer
from quincunx.taxonomy.definition import DIMENSIONS
from quincunx.taxonomy.relations.edge import Edge
from quincunx.taxonomy.relations.graph import Implication, implies, leaving
from quincunx.taxonomy.relations.language import Language, Setting, language
from quincunx.taxonomy.relations.refuted import refutations
from quincunx.taxonomy.value import INFINITE, Value, above
from quincunx.taxonomy.world import World

# Where a definition needs a setting, worlds are compared at these.
SETTINGS: Final[dict[str, Setting]] = {
    "delta": Fraction(1, 10), "outside": Fraction(1, 10), "alpha": Fraction(2), "xi": Fraction(0), "omega": Fraction(8),
    "f": "chi-squared", "k": Fraction(2), "size": Fraction(2), "gamma": Fraction(1, 4), "rate": Fraction(1, 2),
    "radius": Fraction(1), "known": Fraction(0),
}  # fmt: skip
_TRIES: Final = 60
_BITS: Final = 128
_STEPS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """A world that `accepts` satisfies at `value` and `refuses` does not: it has `other`.

    allowed: where both are finite and `refuses` implies `accepts`, the parameter of `refuses` that would give `value`.
    A curve of errors is told by its distance from one that betrays nothing, the largest difference of an event.
    """

    accepts: str
    refuses: str
    value: Value
    other: Value
    world: World
    allowed: Value | None = None

    def __str__(self) -> str:
        size = f"a world of {len(self.world.datasets)} datasets and {len(self.world.outputs)} outputs"
        held = f"{size} has {self.value} in {self.accepts}"
        if self.allowed is None:
            return f"{held} and {self.other} in {self.refuses}"
        return f"{held}, which {self.allowed} in {self.refuses} would give, and there it has {self.other}"

    def to_json(self) -> dict[str, object]:
        """For programs."""
        import json

        return {
            "accepts": self.accepts,
            "refuses": self.refuses,
            "value": self.value.to_json(),
            "other": self.other.to_json(),
            **({} if self.allowed is None else {"allowed": self.allowed.to_json()}),
            "world": json.loads(self.world.to_json()),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """dimensions: name → what each chooses. forward, backward: what follows from what. separations: found worlds."""

    one: str
    other: str
    dimensions: dict[str, tuple[str, str]]
    forward: Implication
    backward: Implication
    separations: tuple[Separation, ...]

    def to_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "one": self.one,
            "other": self.other,
            "dimensions": {name: list(pair) for name, pair in self.dimensions.items()},
            "forward": self.forward.to_json(),
            "backward": self.backward.to_json(),
            "separations": [each.to_json() for each in self.separations],
            "settings": {n: str(v) for n, v in SETTINGS.items()},
        }


def compare(one: str, other: str) -> Comparison:
    """Two definitions by any of their names."""
    a, b = language(one), language(other)
    rows = [each.definition for each in (a, b)]
    dimensions = {name: (getattr(rows[0], name).phrase(), getattr(rows[1], name).phrase()) for name in DIMENSIONS}
    found = [_separated(a, b), _separated(b, a)] if a.short != b.short else []
    return Comparison(
        one=a.short,
        other=b.short,
        dimensions=dimensions,
        forward=implies(a.short, b.short),
        backward=implies(b.short, a.short),
        separations=tuple(each for each in found if each is not None),
    )


def _separated(one: Language, other: Language) -> Separation | None:
    """The first world on which `one` is finite and `other` infinite; failing that, one with a larger number, or with
    more of `other` than what implies this of `one`."""
    larger: Separation | None = None
    edge = next((e for e in leaving().get(other.short, ()) if e.target == one.short and not e.conditions), None)
    for world in _worlds(one.short, other.short):
        pair = _values(one, world), _values(other, world)
        if pair[0] is None or pair[1] is None or pair[0].infinite:
            continue
        found = Separation(accepts=one.short, refuses=other.short, value=pair[0], other=pair[1], world=world)
        if pair[1].infinite:
            return found
        alike = one.measures == other.measures
        if larger is None and alike and above(pair[1], pair[0]) and pair[1].bounds[0] > pair[0].bounds[1]:
            larger = found
        if larger is None and not alike and edge is not None:
            allowed = _allowed(edge, pair[0], pair[1])
            # Far enough apart that no rounding explains it.
            if allowed is not None and allowed < pair[1].bounds[0] * 0.999:
                larger = replace(found, allowed=Value(bounds=(allowed, allowed)))
    return larger


def _allowed(edge: Edge, value: Value, most: Value) -> float | None:
    """The largest parameter of the source, up to `most`, from which no more than `value` of the target follows."""
    source, target = language(edge.source), language(edge.target)
    if edge.map is None or len(source.measures) != 1 or len(target.measures) != 1:
        return None
    stated, goal = ({name: SETTINGS[name] for name in each.settings} for each in (source, target))
    low, high = Fraction(0), Fraction(most.bounds[1])
    with precision(_BITS):
        for _ in range(_STEPS):
            middle = (low + high) / 2
            found = edge.apply({**stated, source.measures[0]: middle}, goal)
            within = found is not None and float_above(ball(found[target.measures[0]])) <= value.bounds[1]
            low, high = (middle, high) if within else (low, middle)
    return float(low) or None


def _values(which: Language, world: World) -> Value | None:
    try:
        settings = {name: SETTINGS[name] for name in which.settings}
        answer = which.posed(settings).tightest(world)
        # Views of a random world are drawn one by one, and do not fit together: they separate nothing.
        curve = answer.shape == "polygon" and "views" not in which.definition.formalism.needs
        return _distance(answer) if curve else axioms.measure(answer)
    except QuincunxError:
        return None


def _distance(answer: Answer) -> Value:
    """Of a curve of errors f: the largest 1 − x − f(x); infinite where f is 0 everywhere and nothing is promised."""
    if all(miss.exact == 0 for _, miss in answer.rows):
        return INFINITE
    gaps = [1 - Fraction(x.exact) - Fraction(y.exact) for x, y in answer.rows]  # type: ignore[arg-type]
    return Value.of(max(gaps, default=Fraction(0)))


def _worlds(one: str, other: str) -> Iterator[World]:
    """Stored worlds about the two first, then random ones."""
    for found in refutations().values():
        if {found.source, found.target} & {one, other}:
            yield found.world
    dice = random.Random(f"{min(one, other)} {max(one, other)}")
    slow = {"mCoDP", "TypSt", "CWPr", "IBCWPr", "IBDDP", "AzCoDP"} & {one, other}
    for i in range(_TRIES // 6 if slow else _TRIES):
        people = 2 if i % 3 == 2 else 1
        yield generate.random_world(dice, people=people, outputs=2 + i % 2, near=False, zeros=i % 2 == 0)
