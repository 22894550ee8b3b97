"""Worlds on which an implication is tested: random ones that satisfy its conditions."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations, product

from quincunx.numbers import Ball, Log, float_above
from quincunx.taxonomy import Answer, Value, World, generate
from quincunx.taxonomy.relations.edge import Edge
from quincunx.taxonomy.relations.language import Number, Setting, language

F = Fraction
SYMBOLS = {"mu": "μ", "tau": "τ", "eta": "η"}
CHOICES: Mapping[str, tuple[Setting, ...]] = {
    "delta": (F(0), F(1, 10), F(1, 4)),
    "outside": (F(0), F(1, 4)),
    "alpha": (F(3, 2), F(2), F(3)),
    "xi": (F(0), F(1, 10), F(3)),
    "omega": (F(2), F(4)),
    "f": ("chi-squared", "kl", "total-variation"),
    "k": (F(1), F(2), F(3)),
    "size": (F(1), F(2)),
    "gamma": (F(0), F(1, 4)),
    "rate": (F(1, 2), F(1, 10)),
    "radius": (F(1), F(2)),
    "known": (F(0), F(1)),
}


def settings(short: str, dice: random.Random) -> dict[str, Setting]:
    return {name: dice.choice(CHOICES[name]) for name in language(short).settings}


def worlds(edge: Edge, count: int) -> Iterator[World]:
    """Random worlds for an edge, with and without zeros and absent records as far as its conditions allow."""
    dice = random.Random(f"worlds of {edge.name}")
    for i in range(count):
        present = {"public size", "hamming"} & set(edge.conditions)
        absent = not present and (bool(edge.conditions) or i % 3 != 2 or needs_absence(edge))
        people = 2 if i % 4 == 1 or "size" in language(edge.target).settings else 1
        if {"two values", "presence"} & set(edge.conditions):
            people = 1  # with more, a record may occur twice
        zeros = i % 2 == 0 and "positive" not in edge.conditions
        outputs = dice.choice((2, 3))
        if "mCoDP" in (edge.source, edge.target):  # its branch and bound takes a tenth of a second for each pair
            people, absent, outputs = 1, False, 2
        world = generate.random_world(
            dice, values=2, people=people, outputs=outputs, absent=absent, near=i % 5 == 4, zeros=zeros
        )
        for condition in edge.conditions:
            world = fitted(world, condition, dice, supported="supported" in edge.conditions)
        yield world


def needs_absence(edge: Edge) -> bool:
    return {edge.source, edge.target} & {"uBoDP", "AsDP", "PerDP", "TaiDP", "OutPr", "SemPr", "SamDP", "PIDP"} != set()


def differing(world: World, x: str, y: str) -> int:
    return sum(a != b for a, b in zip(world.datasets[x], world.datasets[y], strict=True))


def fitted(world: World, condition: str, dice: random.Random, *, supported: bool) -> World:
    """The world with the part that a condition speaks of made to satisfy it."""
    names, one = list(world.datasets), F(1)
    values = list(dict.fromkeys(r for records in world.datasets.values() for r in records))
    pairs = list(combinations(names, 2))
    near = [(x, y) for x, y in pairs if differing(world, x, y) == 1]
    part: dict[str, object] = {}
    if condition == "unit distance":
        both = {pair: one for x, y in near for pair in ((x, y), (y, x))}
        part = {"distance": both, "pairs_of_priors": dict.fromkeys(world.pairs_of_priors or {}, one)}
    elif condition == "hamming":
        part = {"distance": {p: F(differing(world, *p)) for x, y in pairs for p in ((x, y), (y, x))}}
    elif condition in ("independent", "supported"):
        part = {"priors": {f"p{i}": independent(world, values, dice, supported) for i in range(2)}}
        if condition == "supported" and world.people == 1:
            part = {"priors": {f"p{i}": independent(world, values, dice, True) for i in range(2)}}
    elif condition in ("two values", "presence"):
        absent = {n: world.datasets[n].count(None) for n in names}
        fit = [(x, y) for x, y in near if (absent[x] == absent[y]) == (condition == "two values")]
        share = dice.choice((F(1, 2), F(1, 10), F(99, 100)))
        part = {
            "priors": {
                f"{x} or {y}": {n: share * (n == x) + (1 - share) * (n == y) for n in names}
                for x, y in dice.sample(fit, min(3, len(fit)))
            }
        }
    elif condition == "values are secrets":
        groups = [
            (
                frozenset(n for n in names if world.datasets[n][i] == a),
                frozenset(n for n in names if world.datasets[n][i] == b),
            )
            for i in range(world.people)
            for a, b in combinations([v for v in values if v is not None], 2)
        ]
        part = {"secrets": groups}
    elif condition == "no leak":
        part = {"background": {x: {"nothing": one} for x in names}}
    elif condition == "constant leak":
        part = {"leakage": {x: {o: {"nothing": one} for o in world.outputs} for x in names}}
    elif condition == "independent leak":
        leaks = {x: generate.random_law(dice, ["l", "m"]) for x in names}
        part = {"leakage": {x: dict.fromkeys(world.outputs, leaks[x]) for x in names}}
    elif condition == "all sensitive":
        part = {"sensitive": frozenset(v for v in values if v is not None)}
    elif condition == "complete policy":
        present = [v for v in values if v is not None]
        part = {"policy": list(combinations(present, 2)), "possible": None}
    elif condition == "all neighbours":
        part = {"neighbours": near}
    elif condition == "within":
        part = {"neighbours": [p for p in pairs if (world.distance or {}).get(p, F(99)) <= 1]}
    elif condition == "nothing known":
        part = {"adversaries": [(t, frozenset()) for t in range(world.people)]}
    return dataclasses.replace(world, **part) if part else world  # type: ignore[arg-type]


def independent(world: World, values: list[object], dice: random.Random, supported: bool) -> dict[str, Fraction]:
    """A prior under which positions are independent; every value possible where `supported`."""
    weights = []
    for _ in range(world.people):
        row = [dice.choice((1, 2, 5) if supported else (0, 1, 1, 3)) for _ in values]
        row[0] += not any(row)
        weights.append({v: F(w, sum(row)) for v, w in zip(values, row, strict=True)})
    found: dict[str, Fraction] = {}
    for records in product(values, repeat=world.people):
        name = world.name(tuple(records))  # type: ignore[arg-type]
        assert name is not None
        chance = F(1)
        for record, row in zip(records, weights, strict=True):
            chance *= row[record]
        found[name] = chance
    return found


def measured(answer: Answer, measures: tuple[str, ...]) -> dict[str, Value]:
    """The measures of a language in an answer."""
    if answer.shape == "several":
        return {name: answer.values[SYMBOLS[name]] for name in measures}
    assert answer.shape in ("number", "vector", "matrix"), answer.shape
    return {measures[0]: answer.value}


def limit(number: Number) -> Fraction | Log:
    """A number from above, to compare a value with."""
    return F(float_above(number)) if isinstance(number, Ball) else number


def tight(short: str, stated: Mapping[str, Setting], world: World) -> dict[str, Value]:
    return measured(language(short).posed(stated).tightest(world), language(short).measures)


def compared_on(edge: Edge, world: World, dice: random.Random) -> tuple[int, str]:
    """How many maps were compared on this world, and the first violation in words."""
    stated = settings(edge.source, dice)
    if "within" in edge.conditions:
        stated = {name: F(1) for name in stated}
    truth = tight(edge.source, stated, world)
    if any(value.infinite or value.bounds[1] == float("inf") for value in truth.values()):
        return 0, ""
    given = {**{n: v.exact if v.exact is not None else F(v.bounds[1]) for n, v in truth.items()}, **stated}
    compared = 0
    options = [CHOICES[name] for name in language(edge.target).settings]
    for chosen in dice.sample(list(product(*options)), k=math.prod(map(len, options))):
        goal = dict(zip(language(edge.target).settings, chosen, strict=True))
        if "within" in edge.conditions and "radius" in goal:
            goal["radius"] = F(1)
        found = edge.apply(given, goal)
        if found is None:
            continue
        compared += 1
        for name, value in tight(edge.target, goal, world).items():
            if value.within(limit(found[name])) is False:
                return (
                    compared,
                    f"{edge.name}: {given} → {name} = {found[name]} at {goal}, but {value}\n{world.to_json()}",
                )
        if compared == 2:
            break
    return compared, ""
