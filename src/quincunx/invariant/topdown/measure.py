"""Noisy answers: drawn once, packed into bytes for the ledger, and turned into evidence (`measure.md`)."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.errors import DataError, cause
from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.budget import Invariant, Line
from quincunx.invariant.topdown.estimate import Estimate
from quincunx.invariant.topdown.fit import Margin
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.schema import Integers, Schema
from quincunx.mechanisms import DiscreteGaussian

FORMAT: Final = "quincunx/topdown/1"
# Sums of counts and noise stay far inside int64 and inside what float64 holds exactly.
_BOUND: Final = 1 << 52


def levels_of(leaves: Integers, geography: Geography) -> list[Integers]:
    """The tables of every level, root first, from those of the leaves."""
    found = [leaves]
    for level in range(geography.depth - 1, 0, -1):
        found.append(np.add.reduceat(found[-1], geography.starts[level], axis=0))
    return found[::-1]


def draw(schema: Schema, tables: Integers, lines: Sequence[Line]) -> list[Integers]:
    """One noisy answer for each line: the query of every place of the level, plus discrete Gaussian noise."""
    found = []
    for line in lines:
        exact = schema.answers(line.query, tables)
        drawn = noise.discrete_gaussian(sigma2=line.sigma2, size=exact.shape)
        found.append(np.clip(exact + np.clip(drawn, -_BOUND, _BOUND), -_BOUND, _BOUND))
    return found


def pack(arrays: Sequence[Integers], about: Mapping[str, Any]) -> bytes:
    """Arrays of whole numbers as bytes, each in the narrowest type that holds it."""
    heads, bodies = [], []
    for array in arrays:
        low, high = int(array.min(initial=0)), int(array.max(initial=0))
        kind = next(k for k in ("<i1", "<i2", "<i4", "<i8") if np.iinfo(k).min <= low and high <= np.iinfo(k).max)
        heads.append([list(array.shape), kind])
        bodies.append(np.ascontiguousarray(array, dtype=kind).tobytes())
    head = json.dumps({"format": FORMAT, "arrays": heads, **about}, sort_keys=True).encode()
    return zlib.compress(len(head).to_bytes(8, "little") + head + b"".join(bodies), 1)


def unpack(content: bytes) -> tuple[list[Integers], dict[str, Any]]:
    """What `pack` made. Anything else is refused."""
    try:
        plain = zlib.decompress(content)
        size = int.from_bytes(plain[:8], "little")
        head = json.loads(plain[8 : 8 + size])
        if head["format"] != FORMAT:
            raise ValueError
        found, at = [], 8 + size
        for shape, kind in head["arrays"]:
            count = int(np.prod(shape))
            found.append(np.frombuffer(plain, dtype=kind, count=count, offset=at).reshape(shape).astype(np.int64))
            at += count * np.dtype(kind).itemsize
        if at != len(plain):
            raise ValueError
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        hint = "A newer version wrote it, or the file was changed: `quincunx ledger verify` says which."
        where = "ledger"
        raise DataError("cannot read stored measurements", where=where, got=cause(error), hint=hint) from None
    return found, head


def evidence(
    basis: Basis,
    geography: Geography,
    level: int,
    measured: Sequence[tuple[Line, Integers]],
    facts: Sequence[tuple[Invariant, Integers]],
) -> Estimate:
    """What the measurements of one level say about its tables, and what its invariants fix."""
    places, size = geography.nodes(level), basis.schema.cells
    weight, pull = np.zeros(size), np.zeros((places, size))
    for line, answers in measured:
        diagonal = basis.weights(line.query)
        if diagonal is not None and line.sigma2 is not None:
            variance = variance_of(line)
            weight += diagonal / variance
            pull += basis.back(line.query, answers) / variance
    known = weight > 0
    value = pull / np.where(known, weight, 1.0)
    variance_row = np.where(known, 1 / np.where(known, weight, 1.0), np.inf)
    variances: NDArray[np.float64] = np.broadcast_to(variance_row, (places, size)).copy()
    for fact, exact in facts:
        diagonal = basis.weights(fact.query)
        if fact.level == level and diagonal is not None:
            fixed = diagonal > 0
            value[:, fixed] = (basis.back(fact.query, exact) / np.where(fixed, diagonal, 1.0))[:, fixed]
            variances[:, fixed] = 0.0
    return Estimate(value=value, variance=variances)


def margins(basis: Basis, geography: Geography, measured: Sequence[tuple[Line, Integers]]) -> list[list[Margin]]:
    """By level, what was measured and is not diagonal in the basis: recodes with groups of different sizes."""
    found: list[list[Margin]] = [[] for _ in range(geography.depth)]
    for line, answers in measured:
        if basis.weights(line.query) is None:
            groups, value = basis.schema.groups(line.query), answers.astype(np.float64)
            found[line.level].append(Margin(groups=groups, value=value, variance=variance_of(line)))
    return found


def variance_of(line: Line) -> float:
    """The variance of the noise of a line, that of the discrete law: a little below σ² where σ² is small."""
    return DiscreteGaussian(sigma2=line.sigma2).variance
