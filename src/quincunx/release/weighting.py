"""How the spend of one question is divided: outputs with weights make shares of measures. See pricing.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from quincunx.errors import ParameterError
from quincunx.numbers import Number, positive
from quincunx.table import Measured, Program

_ONE = Fraction(1)


def weighted(program: Program, weights: Mapping[str, Number] | None) -> Program:
    """The program with a weight for each measure: the largest of the outputs that it is in; 1 where none is given.

    Equal weights are none, so that they name the same question as before.
    """
    if weights is None:
        return program
    given, used = _read(program, weights), _used(program)
    found = tuple(
        max((given.get(name, _ONE) for name, measures in used.items() if place in measures), default=_ONE)
        for place in range(len(program.measures))
    )
    equal = set(found) == {_ONE} or (len(set(found)) == 1 and program.selection is None)
    return program if equal else replace(program, weights=found)


def shares(program: Program, spend: Fraction) -> tuple[tuple[Fraction, ...], Fraction]:
    """What each measure gets of the spend, and the selection of unknown keys, whose weight is 1; their sum is it."""
    weights = program.weights or (_ONE,) * len(program.measures)
    whole = sum(weights, _ONE if program.selection is not None else Fraction(0))
    rest = spend / whole if program.selection is not None else Fraction(0)
    return tuple(spend * weight / whole for weight in weights), rest


def _used(program: Program) -> dict[str, set[int]]:
    """The measures that each output is made of, by its name in small letters."""
    return {
        output.name.lower(): {
            part
            for node in output.expression.walk()
            if isinstance(node, Measured)
            for part in program.parts[node.index]
        }
        for output in program.query.outputs
    }


def _read(program: Program, weights: Mapping[str, Number]) -> dict[str, Fraction]:
    used = _used(program)
    for name in weights:
        if not used.get(str(name).lower()):
            known = ", ".join(output.name for output in program.query.outputs if used[output.name.lower()])
            hint = f"Weights can be given to {known or 'nothing here'}."
            raise ParameterError("no such measured output", where="weights", got=repr(name)[:40], hint=hint)
    return {str(name).lower(): positive(weight, f"weights[{name!r}]") for name, weight in weights.items()}
