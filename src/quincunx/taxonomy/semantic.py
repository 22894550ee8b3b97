"""Semantic privacy: two posteriors, with and without one person's record, for every prior (semantic.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, TypeAlias, cast

import numpy as np

from quincunx.numbers import Ball, ball, precision
from quincunx.spec import Pure
from quincunx.taxonomy.answer import Answer, Witness
from quincunx.taxonomy.case import Case, Law, worst
from quincunx.taxonomy.formalism import Formalism
from quincunx.taxonomy.neighbourhood import Neighbourhood
from quincunx.taxonomy.quantification import Quantification
from quincunx.taxonomy.value import ZERO, Value
from quincunx.taxonomy.world import World

# a ratio (None: infinite), the dataset and the one without the record
Row: TypeAlias = tuple[Fraction | None, str, str]
MOST_OUTPUTS: Final = 12
_NEAR: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Semantic(Formalism):
    """The largest difference between beliefs after seeing the output with and without one record, for any prior."""

    posterior: ClassVar[bool] = True

    def answer(
        self, quantification: Quantification, neighbourhood: Neighbourhood, world: World, laws: Mapping[str, Law]
    ) -> Answer:
        del quantification, neighbourhood
        pairs = {i: _removals(world, i) for i in world.protected}
        count = sum(map(len, pairs.values()))
        if not count:
            return Answer(shape="number", symbol="ε", values={"ε": ZERO}, note="no dataset is another without a record")
        outputs = len(world.outputs)
        if outputs > MOST_OUTPUTS:
            return self._enclosed(world, pairs, laws)
        events = np.array([[bool(s >> o & 1) for o in range(outputs)] for s in range(1, 1 << outputs)])
        best, witness = Fraction(1), None
        for i, found in pairs.items():
            if not found:
                continue
            for s in _promising(events, found, laws):
                spread, ends = _spread(events[s], found, laws)
                if spread is None or spread > best:
                    event = tuple(o for o, inside in zip(world.outputs, events[s], strict=True) if inside)
                    witness = _spoken(i, event, ends)
                    if spread is None:
                        return Answer(
                            shape="number",
                            symbol="ε",
                            values={"ε": Value.of(Fraction(1))},
                            witness=witness,
                            compared=count,
                        )
                    best = spread
        return Answer(shape="number", symbol="ε", values={"ε": _distance(best)}, witness=witness, compared=count)

    def _enclosed(self, world: World, pairs: Mapping[int, list[tuple[str, str]]], laws: Mapping[str, Law]) -> Answer:
        """From single outputs below, from tanh(ε/2) above."""
        ends = [pair for found in pairs.values() for pair in found if pair[0] != pair[1]]
        cases = [
            Case(p=laws[a], q=laws[b], first=f"dataset {a}", second=f"dataset {b}")
            for x, y in ends
            for a, b in ((x, y), (y, x))
        ]
        pure, _, _ = worst(Pure(), cases)
        low = Fraction(1)
        for found in pairs.values():
            for o in range(len(world.outputs)):
                spread, _ends = _spread(np.arange(len(world.outputs)) == o, found, laws) if found else (low, None)
                low = max(low, spread) if spread is not None else low
        with precision(256):
            top = (Ball(pure.bounds[1]) / 2).tanh().upper() if not pure.infinite else Ball(1)
            value = Value(bounds=(_distance(low).bounds[0], min(1.0, Value.between(top, top).bounds[1])))
        note = f"enclosed: exact up to {MOST_OUTPUTS} outputs"
        return Answer(shape="number", symbol="ε", values={"ε": value}, compared=len(cases), note=note)

    def phrase(self) -> str:
        return "draw other conclusions, whatever they believed before, from data with than without"

    def formula(self) -> str:
        return (
            r"|\mathbb{P}[D \in X \mid \mathcal{M}(D) \in S] - \mathbb{P}[D \in X \mid \mathcal{M}(D_{-i}) \in S]| "
            r"\le \varepsilon\ \ \forall \theta, X, S"
        )


def _removals(world: World, i: int) -> list[tuple[str, str]]:
    """(D, D without record i), where the world has both; D itself where the record is absent."""
    found = ((x, world.changed(x, i, None)) for x in world.datasets)
    return [(x, y) for x, y in found if y is not None]


def _promising(events: np.ndarray, pairs: list[tuple[str, str]], laws: Mapping[str, Law]) -> list[int]:
    """The events whose spread is within 1e-9 of the largest; those with a probability of 0 always."""
    p = np.array([[float(a) for a in laws[x]] for x, _ in pairs]) @ events.T
    q = np.array([[float(a) for a in laws[y]] for _, y in pairs]) @ events.T
    with np.errstate(all="ignore"):
        r = np.where(q > 0, p / np.where(q > 0, q, 1.0), np.nan)
        special = ((p == 0) | (q == 0)).any(axis=0)
        spread = np.nanmax(r, axis=0, initial=0.0) / np.maximum(np.nanmin(r, axis=0, initial=np.inf), 1e-300)
    usual = np.where(special, 0.0, spread)
    return [int(s) for s in np.flatnonzero(special | (usual >= usual.max() * (1 - _NEAR)))]


def _spread(
    inside: np.ndarray, pairs: list[tuple[str, str]], laws: Mapping[str, Law]
) -> tuple[Fraction | None, object]:
    """Largest over smallest P_D(S)/P_{D−i}(S), over datasets for which either is possible; None is infinite.

    A prior may hold no two datasets of which one cannot give S at all under one of the two hypotheses and the other
    neither: with one ratio 0 or infinite beside any other, a belief can go from 0 to 1.
    """
    picked = np.flatnonzero(inside)
    ratios: list[tuple[Fraction | None, str, str]] = []
    for x, y in pairs:
        a = sum((laws[x][o] for o in picked), Fraction(0))
        b = sum((laws[y][o] for o in picked), Fraction(0))
        if a or b:
            ratios.append((a / b if b else None, x, y))
    kinds = {("inf" if r is None else "zero" if r == 0 else "some") for r, _, _ in ratios}
    if not ratios or kinds in ({"inf"}, {"zero"}):
        return Fraction(1), None
    # Both posteriors must exist: some dataset gives S with the record, and some gives it without.
    if len(kinds) > 1:
        ends = sorted(ratios, key=lambda row: (row[0] is None, row[0] or 0))
        return None, (ends[0], ends[-1])
    finite = sorted(((r, x, y) for r, x, y in ratios if r is not None), key=lambda row: row[0])
    return finite[-1][0] / finite[0][0], (finite[0], finite[-1])


def _distance(spread: Fraction) -> Value:
    """(√s − 1)/(√s + 1), s the spread."""
    if spread == 1:
        return ZERO
    with precision(256):
        root = ball(spread).sqrt()
        value = (root - 1) / (root + 1)
        return Value.between(value.lower(), value.upper())


def _spoken(i: int, event: tuple[str, ...], ends: object) -> Witness:
    low, high = cast("tuple[Row, Row]", ends)
    shown = ", ".join(event)
    words = (
        f"on seeing {{{shown}}}, datasets {low[1]} and {high[1]} trade places: without record {i} they give it with "
        f"relative probabilities that differ by the factor {_factor(low[0], high[0])}"
    )
    return Witness(first=low[1], second=high[1], event=event, probability=(Fraction(0), Fraction(0)), words=words)


def _factor(low: Fraction | None, high: Fraction | None) -> str:
    return "∞" if high is None or not low else str(high / low)
