"""Small worlds: products of records with any law, and random ones in which every definition has something to check."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Final

from quincunx.numbers import positive_integer, probability
from quincunx.taxonomy.world import World, build

# About the last digit of a float: ties that only exact arithmetic can tell apart.
_HAIR: Final = Fraction(1, 10**16)


def name_of(records: Sequence[str | None]) -> str:
    """The name of a dataset: its records, with – where nobody is."""
    return ",".join("–" if each is None else each for each in records)


def over(
    values: Sequence[str],
    people: int,
    law: Callable[[tuple[str | None, ...]], Mapping[str, object]],
    *,
    absent: bool = False,
    **parts: object,
) -> World:
    """All datasets of `people` records from `values` (with `absent`, also without some), with law(records) for each."""
    options: list[str | None] = [*values, *([None] if absent else [])]
    rows = list(product(options, repeat=positive_integer(people, "people")))
    data = {
        "datasets": {name_of(each): list(each) for each in rows},
        "laws": {name_of(each): dict(law(each)) for each in rows},
        **parts,
    }
    return build(data)


def randomized_response(truth: object, people: int = 1, *, absent: bool = False, **parts: object) -> World:
    """Bits that are each told truly with probability `truth`; nobody's bit is a fair coin."""
    p = probability(truth, "truth")

    def law(records: tuple[str | None, ...]) -> dict[str, object]:
        each = [{b: Fraction(1, 2) if r is None else p if b == r else 1 - p for b in "01"} for r in records]
        found: dict[str, object] = {}
        for bits in product("01", repeat=len(records)):
            chance = Fraction(1)
            for bit, row in zip(bits, each, strict=True):
                chance *= row[bit]
            found["".join(bits)] = chance
        return found

    return over("01", people, law, absent=absent, **parts)


def independent(values: Mapping[str, Fraction], people: int) -> dict[str, Fraction]:
    """The prior of independent records with one law."""
    found: dict[str, Fraction] = {}
    for each in product(values, repeat=people):
        chance = Fraction(1)
        for record in each:
            chance *= values[record]
        found[name_of(each)] = chance
    return found


def random_law(dice: random.Random, outputs: Sequence[str], *, zeros: bool = True) -> dict[str, object]:
    """A law with equal entries or entries of very different size; with `zeros`, also a certain output and zeros."""
    kind = dice.randrange(5) if zeros else dice.choice((2, 3, 4))
    if kind == 0:
        sure = dice.choice(list(outputs))
        return {o: Fraction(int(o == sure)) for o in outputs}
    choices = {1: (0, 1, 1, 2), 2: (1, 1000), 3: (1, 2, 3, 4)}.get(kind, tuple(range(1, 12)))
    weights = [dice.choice(choices) for _ in outputs]
    if not any(weights):
        weights[0] = 1
    return {o: Fraction(w, sum(weights)) for o, w in zip(outputs, weights, strict=True)}


def near_law(dice: random.Random, law: Mapping[str, object]) -> dict[str, object]:
    """The law moved by a hair (about 1e-16)."""
    found = {o: Fraction(str(p)) for o, p in law.items()}
    most = max(found, key=lambda o: found[o])
    other = dice.choice([o for o in found if o != most] or [most])
    found[most] -= _HAIR
    found[other] += _HAIR
    return dict(found)


def random_world(
    dice: random.Random,
    *,
    values: int = 2,
    people: int = 2,
    outputs: int = 3,
    absent: bool = True,
    near: bool = True,
    zeros: bool = True,
) -> World:
    """A random world with every part that a definition may need.

    With `zeros` laws have zeros and certain outputs; always exact ties (some datasets share a law) and, with `near`,
    near-ties at 1e-16; priors have full support or not, and depend across records or not.
    """
    letters, labels = [chr(97 + i) for i in range(values)], [f"o{i}" for i in range(outputs)]
    drawn: list[dict[str, object]] = []

    def law(_records: object) -> Mapping[str, object]:
        kind = dice.randrange(5) if drawn else 4
        found = dict(dice.choice(drawn)) if kind == 0 else None
        if kind == 1 and near:
            found = near_law(dice, dice.choice(drawn))
        drawn.append(found or random_law(dice, labels, zeros=zeros))
        return drawn[-1]

    world = over(letters, people, law, absent=absent)
    names = list(world.datasets)
    parts = _parts(dice, world, names, letters, zeros)
    rows: dict[str, object] = {x: dict(zip(world.outputs, row, strict=True)) for x, row in world.laws.items()}
    return build({"datasets": {x: list(r) for x, r in world.datasets.items()}, "laws": rows, **parts})


def _parts(dice: random.Random, world: World, names: list[str], letters: list[str], zeros: bool) -> dict[str, object]:
    n, outputs = world.people, world.outputs

    def prior(choices: Sequence[int]) -> dict[str, Fraction]:
        weights = [dice.choice(choices) for _ in names]
        weights[dice.randrange(len(names))] += 1
        return {x: Fraction(w, sum(weights)) for x, w in zip(names, weights, strict=True)}

    def kernel(labels: Sequence[str]) -> dict[str, dict[str, object]]:
        return {x: random_law(dice, labels, zeros=zeros) for x in names}

    full = [x for x, records in world.datasets.items() if None not in records]
    uniform = {x: Fraction(int(x in full), len(full)) for x in names}
    pairs = [[x, y] for i, x in enumerate(names) for y in names[i + 1 :]]
    chosen = dice.sample(pairs, min(len(pairs), 6))
    numbers = [Fraction(1), Fraction(2), Fraction(1, 2), Fraction(3)]
    return {
        "neighbours": chosen,
        "sensitive": [dice.choice(letters)],
        "policy": [[a, b] for a, b in pairwise(letters)] or [[letters[0], letters[0]]],
        "distance": [{"between": pair, "distance": dice.choice(numbers)} for pair in pairs],
        "levels": {str(i): dice.choice(numbers) for i in range(n)},
        "priors": {"even": uniform, "full": prior((1, 2, 3)), "some": prior((0, 0, 1, 2))},
        "pairs_of_priors": [
            {"between": ["even", "full"], "distance": dice.choice(numbers)},
            {"between": ["full", "some"], "distance": dice.choice(numbers)},
        ],
        "secrets": [[dice.sample(names, 2), dice.sample(names, 2)] for _ in range(3)],
        "aggregate": kernel(["s", "t"]),
        "coupled": {"one": {"aggregate": kernel(["s", "t"]), "private": {x: dice.choice("pq") for x in names}}},
        "leakage": {x: {o: random_law(dice, ["l", "m"], zeros=zeros) for o in outputs} for x in names},
        "background": kernel(["b", "c"]),
        "persons": [{"person": f"p{i // 2}", "element": f"e{i % 2}"} for i in range(n)],
        "sampling": dice.choice([Fraction(1, 2), Fraction(1, 10), Fraction(1)]),
        "statistic": {x: dice.randint(0, 3) for x in names},
        "possible": dice.sample(names, max(2, len(names) // 2)),
        "dependence": {str(i): [j for j in range(n) if j != i and dice.random() < 0.6] for i in range(n)},
        "adversaries": [
            {"target": t, "known": [j for j in range(n) if j != t and dice.random() < 0.5]}
            for t in dice.sample(range(n), min(2, n))
        ],
        "functions": [{o: Fraction(dice.randint(-4, 4), 4) for o in outputs} for _ in range(3)],
        "projection": {o: dice.choice("uv") for o in outputs},
        "views": {c: kernel(["0", "1"]) for c in ("c0", "c1")},
        "joint_views": {c: kernel(["0", "1", "2"]) for c in ("c0", "c1")},
        "clients": {"c0": [0], "c1": list(range(1, n))},
        "dataset": dice.choice(full),
        "position": dice.randrange(n),
    }
