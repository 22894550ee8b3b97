"""Values on their lattice: clip(⌊x/step + 1/2⌋, low, high) − centre as a BIGINT, 0 where x is NULL.

Integers and decimals are exact. A double is taken as ⌊(x·q)/p + 1/2⌋ in double arithmetic, for step = p/q: whatever its
rounding does, it is a function of the row alone, and the clip to whole numbers comes after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from quincunx.data import decimal_parts
from quincunx.table.aggregates import MAX_STEPS, Factor
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.typed_sql import Piece, binary, both, call, cast, choose, double, text, whole
from quincunx.table.expression import Expression
from quincunx.table.measure import Ladder, Measure
from quincunx.table.operators import apply, literal


def present(d: Dialect, piece: Piece) -> exp.Expression:
    """Whether a value counts: neither NULL nor infinite."""
    if piece.type == "DOUBLE":
        return call("COALESCE", d.finite(piece.sql), exp.false())
    return exp.Paren(this=exp.Not(this=exp.Is(this=piece.sql, expression=exp.null())))


def contribution(d: Dialect, measure: Measure, argument: Piece, where: exp.Expression | None) -> exp.Expression:
    """What a row adds before it is weighted. `argument` and `where` are columns, so they may be repeated."""
    conditions = [present(d, argument)] + ([where] if where is not None else [])
    return choose([(both(conditions), _within(measure, _steps(d, measure, argument)))], whole(0))


def bucket(d: Dialect, measure: Measure, argument: Piece, where: exp.Expression | None) -> exp.Expression:
    """How many steps above the lowest the value of a row is; NULL where it has none."""
    conditions = [present(d, argument)] + ([where] if where is not None else [])
    return choose([(both(conditions), _within(measure, _steps(d, measure, argument)))], exp.null())


def stepped(d: Dialect, lattice: Factor, argument: Piece) -> exp.Expression:
    """A column on a lattice whose centre is 0, NULL where it has no value: what a snapshot keeps of it."""
    return choose([(present(d, argument), _within(lattice, _steps(d, lattice, argument)))], exp.null())


def kept(measure: Measure, steps: exp.Expression, where: exp.Expression | None) -> exp.Expression:
    """What a row adds before it is weighted, from a column that was kept on the measure's lattice."""
    moved = binary(exp.Sub, steps, whole(measure.centre)) if measure.centre else steps
    value = call("COALESCE", moved, whole(0))
    return value if where is None else choose([(where, value)], whole(0))


def within_highest(measure: Measure, argument: Expression) -> Factor:
    """The argument of a ladder, clipped to its highest rung before it is in steps: it has no bounds of its own.

    That changes no choice: rows above the highest rung lie above all rungs alike.
    """
    ends = (end * measure.step for end in (measure.low, measure.high))
    # Of whole numbers whole ones, and not nearer.
    whole_ends = argument.type == "integer"
    low, high = ((ceil(end) if end > 0 else floor(end)) if whole_ends else end for end in ends)
    return Factor.of(apply("clamp", argument, literal(low), literal(high)), replace(measure.lattice, centre=0))


def climbing(d: Dialect, clipped: Factor, given: Piece, moved: Piece) -> exp.Expression:
    """A value on the lattice of the highest rung; NULL where there was none, or an infinite one, before the clip."""
    return choose([(present(d, given), stepped(d, clipped, moved))], exp.null())


def rung_of(ladder: Ladder, steps: exp.Expression, where: exp.Expression | None) -> exp.Expression:
    """The first rung that holds the value of a row, from 0; NULL where it has none. `steps`: within the highest."""
    size = steps if ladder.rungs[-1].low >= 0 else call("GREATEST", steps, binary(exp.Sub, whole(0), steps.copy()))
    *lower, _ = ladder.rungs
    held: list[tuple[exp.Expression, exp.Expression]] = [
        (exp.LTE(this=size.copy(), expression=whole(rung.high)), whole(place)) for place, rung in enumerate(lower)
    ]
    return choose([(_counts(steps, where), choose(held, whole(len(lower))) if held else whole(0))], exp.null())


def at_rung(measure: Measure, steps: exp.Expression, where: exp.Expression | None) -> exp.Expression:
    """What a row adds before it is weighted, bounded by a rung."""
    return choose([(_counts(steps, where), _within(measure, steps.copy()))], whole(0))


def _counts(steps: exp.Expression, where: exp.Expression | None) -> exp.Expression:
    there = exp.Paren(this=exp.Not(this=exp.Is(this=steps.copy(), expression=exp.null())))
    return both([there] + ([where] if where is not None else []))


def product(d: Dialect, measure: Measure, arguments: Sequence[Piece], where: exp.Expression | None) -> exp.Expression:
    """What a row adds where factors are multiplied; `arguments` and `where` are columns.

    Planning holds the product within 2^57, and every factor is clipped, so that it fits a BIGINT.
    """
    conditions = [present(d, each) for each in dict.fromkeys(arguments)] + ([where] if where is not None else [])
    value, *others = (
        _within(factor, _steps(d, factor, each)) for factor, each in zip(measure.factors, arguments, strict=True)
    )
    for other in others:
        value = binary(exp.Mul, value, other)
    return choose([(both(conditions), _within(measure, value))], whole(0))


def placed(d: Dialect, factor: Factor, argument: Piece) -> Piece:
    """A value in steps of its lattice, NULL where it is NULL or infinite."""
    steps = _within(factor, _steps(d, factor, argument))
    return Piece(sql=choose([(present(d, argument), steps)], exp.null()), type="BIGINT")


def stepped_key(d: Dialect, argument: Expression, step: Fraction, piece: Piece) -> Piece:
    """An unknown key in whole steps, so that it has one text on every engine; NULL from ±2^62 steps on."""
    factor = Factor(argument=argument, step=step, low=-MAX_STEPS, high=MAX_STEPS, centre=0)
    steps = placed(d, factor, piece).sql
    return Piece(sql=call("NULLIF", call("NULLIF", steps, whole(-MAX_STEPS)), whole(MAX_STEPS)), type="BIGINT")


def _within(lattice: Measure | Factor, steps: exp.Expression) -> exp.Expression:
    """clip(steps, low, high) − centre."""
    clipped = call("LEAST", call("GREATEST", steps, whole(lattice.low)), whole(lattice.high))
    return binary(exp.Sub, clipped, whole(lattice.centre)) if lattice.centre else clipped


def _steps(d: Dialect, measure: Measure | Factor, argument: Piece) -> exp.Expression:
    """⌊x/step + 1/2⌋ as a BIGINT."""
    scale = decimal_parts(argument.type)
    if argument.type == "DOUBLE" or measure.argument is None:
        return _rounded(d, measure, argument.sql)
    bounds = measure.argument.low, measure.argument.high
    if None in bounds:
        return _rounded(d, measure, argument.to("DOUBLE").sql)
    places = 10 ** (scale[1] if scale else 0)
    # The unscaled whole number u = x·10^s, in steps: u·q/(p·10^s), reduced.
    ratio = 1 / (measure.step * places)
    reach = max(abs(end) for end in bounds if end is not None) * places + 1
    unscaled = _unscaled(argument, scale, reach)
    if unscaled is None:
        return _rounded(d, measure, argument.to("DOUBLE").sql)
    if ratio == 1:
        return unscaled.sql if unscaled.type == "BIGINT" else d.attempt(unscaled, "BIGINT")
    # ⌊u·a/b + 1/2⌋ = ⌊(2a·u + b)/2b⌋; the quotient is cut toward zero, so the numerator is first made positive.
    a, b = ratio.numerator, ratio.denominator
    shift = -(-(2 * a * int(reach + 1) + b) // (2 * b))
    largest = 2 * a * int(reach + 1) + b + 2 * b * shift
    kind = "BIGINT" if argument.type == "BIGINT" and largest < 2**62 else "HUGEINT"
    if largest >= 2**126:
        return _rounded(d, measure, argument.to("DOUBLE").sql)
    moved = binary(exp.Mul, cast(unscaled.sql, kind), cast(text(str(2 * a)), kind))
    moved = binary(exp.Add, moved, cast(text(str(b + 2 * b * shift)), kind))
    steps = d.quotient(
        Piece(sql=moved, type=kind, bits=largest.bit_length()), Piece(sql=cast(text(str(2 * b)), kind), type=kind)
    )
    return d.attempt(Piece(sql=binary(exp.Sub, steps, cast(text(str(shift)), kind)), type=kind), "BIGINT")


def _unscaled(argument: Piece, scale: tuple[int, int] | None, reach: Fraction) -> Piece | None:
    if scale is None:
        return argument
    places = 10 ** scale[1]
    if reach * places < 10**38:
        wide = cast(argument.sql, f"DECIMAL(38,{scale[1]})")
        factor = cast(text(str(places)), f"DECIMAL({scale[1] + 1},0)")
        return Piece(sql=cast(binary(exp.Mul, wide, factor), "HUGEINT"), type="HUGEINT")
    return None


def _rounded(d: Dialect, measure: Measure | Factor, x: exp.Expression) -> exp.Expression:
    p, q = Fraction(measure.step.numerator), Fraction(measure.step.denominator)
    scaled = d.arithmetic(exp.Div, d.arithmetic(exp.Mul, x, double(q)), double(p))
    # Clipped before it is a BIGINT, so that it fits: bounds are below 2^62 steps.
    return d.floor_within(d.arithmetic(exp.Add, scaled, double(Fraction(1, 2))), measure.low, measure.high)
