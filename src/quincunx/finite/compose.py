"""Mechanisms made of mechanisms. What the compositions preserve is stated and proved in compose.md."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from quincunx.errors import MatrixError, ParameterError
from quincunx.finite.exchange import Label
from quincunx.finite.mechanism import Mechanism, Row, guard, joint, merged, product
from quincunx.numbers import Number, probability


def sequential(*mechanisms: Mechanism) -> Mechanism:
    """All mechanisms on the same input, independently: x ↦ (M₁(x), …, M_n(x)). They must share their inputs."""
    if not mechanisms:
        raise MatrixError("nothing to compose", where="sequential", hint="Give at least one mechanism.")
    inputs = mechanisms[0].inputs
    for each in mechanisms[1:]:
        _same_inputs(each, inputs, "sequential")
    return _independent({x: [each.row(x) for each in mechanisms] for x in inputs}, "sequential composition")


def parallel(
    parts: Sequence[Mechanism],
    split: Callable[[Any], Sequence[Label]] = tuple,
    *,
    inputs: Iterable[Label] | None = None,
) -> Mechanism:
    """Each part sees its own share of the input: x ↦ (M₁(x₁), …, M_n(x_n)) with split(x) = (x₁, …, x_n).

    The parts' noises are independent. Nothing here says that a person's data stay in one part: `split` decides.
    inputs: the inputs x of the whole. By default all tuples of the parts' inputs.
    """
    if not parts:
        raise MatrixError("nothing to compose", where="parallel", hint="Give at least one part.")
    rows: dict[Label, list[Row]] = {}
    if inputs is None:
        guard(prod(len(part.inputs) for part in parts), "parallel composition")
        inputs = itertools.product(*(part.inputs for part in parts))
    for x in inputs:
        shares = tuple(split(x))
        if len(shares) != len(parts):
            raise MatrixError(
                "split must give one share per part", where=f"split({x!r})", got=f"{len(shares)} for {len(parts)} parts"
            )
        rows[x] = [part.row(share) for part, share in zip(parts, shares, strict=True)]
    return _independent(rows, "parallel composition")


def adaptive(first: Mechanism, then: Mapping[Label, Mechanism] | Callable[[Label], Mechanism]) -> Mechanism:
    """A second mechanism chosen by the first output: x ↦ (o₁, o₂) with o₁ = M(x) and o₂ = then(o₁)(x).

    then: a mapping or a function from the first's outputs to mechanisms that have all of the first's inputs.
    """
    chosen: dict[Label, Mechanism] = {}
    for output in first.outputs:
        following = then.get(output) if isinstance(then, Mapping) else then(output)
        if not isinstance(following, Mechanism):
            got = "nothing" if following is None else type(following).__name__
            raise MatrixError("no mechanism follows an output", where=f"then({output!r})", got=got)
        _same_inputs(following, first.inputs, f"then({output!r})")
        chosen[output] = following
    guard(sum(len(chosen[o].row(x)) for x in first.inputs for o in first.row(x)), "adaptive composition")
    return Mechanism(
        {
            x: {(o, after): product(p, r) for o, p in first.row(x).items() for after, r in chosen[o].row(x).items()}
            for x in first.inputs
        }
    )


def mixture(weights: Sequence[Number] | Mapping[Mechanism, Number], mechanisms: Sequence[Mechanism] = ()) -> Mechanism:
    """One of the mechanisms, chosen by a coin that stays hidden: x ↦ M_i(x) with probability w_i.

    weights: w₁, …, w_n, exact, summing to 1, with `mechanisms` in the same order; or {mechanism: weight}.
    """
    pairs = _weighted(weights, mechanisms)
    inputs = pairs[0][1].inputs
    for _, each in pairs[1:]:
        _same_inputs(each, inputs, "mixture")
    return Mechanism(
        {x: merged((o, product(w, p)) for w, each in pairs for o, p in each.row(x).items()) for x in inputs}
    )


def _weighted(
    weights: Sequence[object] | Mapping[Mechanism, object], mechanisms: Sequence[Mechanism]
) -> list[tuple[Fraction, Mechanism]]:
    if isinstance(weights, Mapping):
        if mechanisms:
            raise MatrixError("give a mapping, or weights and mechanisms, not both", where="mixture")
        return _weighted(list(weights.values()), list(weights.keys()))
    if not mechanisms or len(weights) != len(mechanisms):
        got = f"{len(weights)} weights for {len(mechanisms)} mechanisms"
        raise MatrixError("a mixture needs one weight per mechanism, at least one", where="mixture", got=got)
    try:
        parsed = [probability(weight, "weight") for weight in weights]
    except ParameterError as error:
        raise MatrixError(error.what, where="mixture", got=error.got, hint=error.hint) from None
    if sum(parsed) != 1:
        raise MatrixError("the weights do not sum to 1", where="mixture", got=str(sum(parsed))[:40])
    return list(zip(parsed, mechanisms, strict=True))


def _independent(rows: Mapping[Label, Sequence[Row]], what: str) -> Mechanism:
    guard(sum(prod(len(row) for row in laws) for laws in rows.values()), what)
    return Mechanism({x: joint(laws) for x, laws in rows.items()})


def _same_inputs(each: Mechanism, inputs: Sequence[Label], where: str) -> None:
    if set(each.inputs) != set(inputs):
        got = f"{len(each.inputs)} inputs against {len(inputs)}"
        raise MatrixError("the mechanisms must have the same inputs", where=where, got=got, hint="Use m.on(…) first.")
