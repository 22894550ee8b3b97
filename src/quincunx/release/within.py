"""Accuracy first: from half-widths of named outputs to the smallest spend that reaches them. No private row is read."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from quincunx.errors import ParameterError
from quincunx.numbers import Number, positive, positive_integer
from quincunx.release.expected import climbs, expected
from quincunx.release.pricing import price, smallest, spend_for
from quincunx.spec import Budgeted
from quincunx.table import Measured, Output, Program


def spend_within(
    program: Program,
    standard: Budgeted,
    within: Mapping[str, Number],
    confidence: Fraction,
    delta: Number = 0,
    other: Program | None = None,
    assume: Mapping[str, Number] | None = None,
) -> Fraction:
    """The smallest spend, to 4 digits, at which the outputs named in `within` have these half-widths.

    assume: {"rows": 1000}, the size of the group for which that holds, for all but counts and sums. Arithmetic on
    aggregates and what stands above them is simulated on such groups, as is the error that is shown for it.
    """
    wanted, rows = named(program, within), assumed_rows(assume)
    if program.climb is not None:
        hint = "Errors depend on the limit that will be chosen: give a spend, or state limits."
        raise ParameterError('limits are "auto"', where="within", got=", ".join(within)[:40], hint=hint)
    for output, _ in wanted:
        if climbs(program, output):
            hint = "Its error depends on the bound that will be chosen: give a spend, or declare bounds."
            raise ParameterError('bounds are "auto"', where="within", got=repr(output.name)[:40], hint=hint)
    direct = {each.expression.index: width for each, width in wanted if isinstance(each.expression, Measured)}
    if len(direct) == len(wanted):
        return spend_for(program, standard, direct, confidence, delta, other, rows)
    if rows is None:
        name = next(each.name for each, _ in wanted if not isinstance(each.expression, Measured))
        hint = f"The error of {name} depends on the group's size: give a spend, or assume rows = 1000."
        raise ParameterError("half-widths can be asked of counts and sums", where="within", got=repr(name), hint=hint)
    widths, outputs = [float(positive(width, "within")) for _, width in wanted], [each for each, _ in wanted]

    def enough(spend: Fraction) -> bool:
        found = expected(price(program, standard, spend, delta, other), outputs, 1 - confidence, rows)
        return all(one.half_width <= width for one, width in zip(found, widths, strict=True))

    return smallest(enough)


def named(program: Program, within: Mapping[str, Number]) -> list[tuple[Output, Number]]:
    """The outputs that half-widths are asked of."""
    outputs = {each.name.lower(): each for each in _measured(program)}
    found: list[tuple[Output, Number]] = []
    for name, width in within.items():
        output = outputs.get(str(name).lower())
        if output is None:
            hint = f"Half-widths can be asked of {', '.join(each.name for each in outputs.values()) or 'nothing here'}."
            raise ParameterError("no such measured output", where="within", got=repr(name)[:40], hint=hint)
        found.append((output, width))
    if not found:
        raise ParameterError("names no output", where="within", hint='Write within={"n": 25}.')
    return found


def measured_outputs(program: Program) -> list[str]:
    """The names of the outputs that half-widths can be asked of."""
    return [each.name for each in _measured(program)]


def _measured(program: Program) -> list[Output]:
    """The outputs that depend on noise."""
    return [
        output
        for output in program.query.outputs
        if any(isinstance(node, Measured) for node in output.expression.walk())
    ]


def assumed_rows(assume: Mapping[str, Number] | None) -> int | None:
    """How many rows a group is assumed to have; None where nothing is."""
    if assume is None:
        return None
    if set(assume) != {"rows"}:
        got = ", ".join(map(repr, assume))[:40] or "nothing"
        raise ParameterError("what is assumed are rows", where="assume", got=got, hint='Write assume={"rows": 1000}.')
    return positive_integer(assume["rows"], "assume['rows']")
