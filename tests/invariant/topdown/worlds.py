"""Random hierarchies with random tables, queries, shares, structural zeros, invariants and bounds."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from quincunx.invariant.topdown import Bound, TopDown
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.measure import levels_of
from quincunx.invariant.topdown.schema import Schema
from quincunx.spec.unit import Replace


def hierarchy(rng: random.Random) -> Geography:
    """Two to four levels; some nodes have one child, some have many."""
    paths = [(f"r{i}",) for i in range(rng.choice([1, 1, 1, 2]))]
    names = ["root", "region", "district", "block"][: rng.randint(2, 4)]
    for _ in range(1, len(names)):
        paths = [(*path, f"{path[-1]}.{i}") for path in paths for i in range(rng.choice([1, 1, 2, 3, 5]))]
        rng.shuffle(paths)
    return Geography.of(paths, names, "place")


def attributes(rng: random.Random) -> dict[str, list[str]]:
    sizes = [rng.randint(2, 4) for _ in range(rng.randint(1, 3))]
    return {f"a{i}": [f"v{j}" for j in range(size)] for i, size in enumerate(sizes)}


def queries(rng: random.Random, names: list[str], recodes: dict[str, Any]) -> list[str]:
    found = ["total", "detailed", *names, *recodes]
    if len(names) > 1:
        found.append("*".join(names[:2]))
    return rng.sample(found, rng.randint(1, min(4, len(found))))


def shares(rng: random.Random, geography: Geography, names: list[str], recodes: dict[str, Any]) -> dict[str, Any]:
    def parts(count: int) -> list[Fraction]:
        weights = [rng.randint(1, 9) for _ in range(count)]
        return [Fraction(weight, sum(weights)) for weight in weights]

    found = {}
    for level, share in zip(geography.names, parts(geography.depth), strict=True):
        chosen = queries(rng, names, recodes)
        if level == geography.names[-1] and "detailed" not in chosen:
            chosen.append("detailed")
        found[level] = {"share": share, **dict(zip(chosen, parts(len(chosen)), strict=True))}
    return found


def truth(rng: random.Random, geography: Geography, schema: Schema) -> np.ndarray:
    """Many empty cells, some empty leaves, a few large counts."""
    shape = (geography.nodes(geography.depth - 1), schema.cells)
    bits = np.random.default_rng(rng.randrange(2**32))
    table = bits.poisson(rng.choice([0.2, 2.0, 30.0]), shape) * (bits.random(shape) < 0.6)
    table[bits.random(shape[0]) < 0.2] = 0
    table[:, schema.empty] = 0
    return table.astype(np.int64)


def bound_file(folder: Path, geography: Geography, schema: Schema, level: str, query: str, low: Any, high: Any) -> Path:
    """A file of bounds; numbers that are not finite are left out."""
    parts = [part for part in schema.query(query).parts if part is not None]
    lines = [",".join([geography.column, *parts, "low", "high"])]
    labels = schema.labels(schema.query(query))
    for place, code in enumerate(geography.codes[geography.level(level)]):
        for cell, label in enumerate(labels):
            values = [each.partition("=")[2] for each in label.split(", ")] if label else []
            top = high[place, cell]
            lines.append(",".join([code, *values, str(int(low[place, cell])), "" if np.isinf(top) else str(int(top))]))
    file = folder / f"{level}-{query.replace('*', '-')}.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def random_world(
    seed: str, folder: Path
) -> tuple[TopDown, list[np.ndarray], list[tuple[int, Any, np.ndarray, np.ndarray]]]:
    """A plan, the true tables of its levels, and its bounds as (level, query, low, high)."""
    rng = random.Random(seed)
    geography, names = hierarchy(rng), attributes(rng)
    zeros = []
    if rng.random() < 0.5:
        rule = {name: rng.choice(values) for name, values in names.items() if rng.random() < 0.7}
        if rule and not (len(rule) == 1 and len(names[next(iter(rule))]) == 1):
            zeros.append(rule)
    recodes = {}
    name, values = next(iter(names.items()))
    if rng.random() < 0.4:
        cut = rng.randint(1, len(values) - 1)
        recodes["coarse"] = {"attribute": name, "groups": [values[:cut], values[cut:]]}
    schema = Schema(attributes=names, recodes=recodes, zeros=zeros)
    leaves = truth(rng, geography, schema)
    tables = levels_of(leaves, geography)
    chain = ["total", name] if len(names) > 1 else ["total"]
    invariants = []
    if rng.random() < 0.7:
        invariants.append((geography.names[0], "total"))
    if rng.random() < 0.4:
        invariants.append((rng.choice(geography.names), rng.choice(chain)))
    # Some cross the others: one more attribute, at any level.
    more = random.Random(f"{seed} crossing")
    if len(names) > 1 and more.random() < 0.5:
        invariants.append((more.choice(geography.names), list(names)[1]))
    invariants = list(dict.fromkeys(invariants))
    bounds, known = [], []
    if rng.random() < 0.5:
        level = rng.choice(geography.names)
        query = schema.query(rng.choice(chain))
        exact = schema.answers(query, tables[geography.level(level)]).astype(float)
        low = np.floor(exact * rng.choice([0.5, 0.9, 1.0]))
        high = np.where(np.random.default_rng(1).random(exact.shape) < 0.5, exact + rng.randint(0, 3), np.inf)
        file = bound_file(folder, geography, schema, level, query.name, low, high)
        provenance = rng.choice(["public", "invariant", "published"])
        bounds.append(Bound(level=level, query=query.name, file=file, provenance=provenance))
        known.append((geography.level(level), query, low, high))
    planned = TopDown(
        dataset="world",
        version="1",
        ledger=":memory:",
        source=leaves,
        geography=geography,
        attributes=names,
        recodes=recodes,
        zeros=zeros,
        shares=shares(rng, geography, list(names), recodes),
        rho=Fraction(rng.choice(["1/10", "1", "20"])),
        unit=Replace(),
        invariants=invariants,
        bounds=bounds,
        **rng.choice([{"estimate": "subtree"}, {"estimate": "level"}, {"estimate": "level", "passes": "total first"}]),
        spine=rng.choice(["given", "optimised"]),
        freed=rng.choice(["given", "dropped"]),
    )
    return planned, tables, known
