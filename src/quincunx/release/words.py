"""The plan in words: which noise falls on what, and what counts of each person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import isqrt

from quincunx.mechanisms import Mechanism
from quincunx.numbers import amount
from quincunx.release.climb import PRICE as CLIMB_PRICE
from quincunx.release.ladder import PRICE
from quincunx.release.pricing import Priced
from quincunx.table import CHOSEN, Call, Climb, Column, Expression, Ladder, Measure, Measured, Program
from quincunx.table.operators import apply, cast


def noises(program: Program, mechanisms: Sequence[Mechanism]) -> tuple[str, ...]:
    """One sentence for each measure: its mechanism, and the outputs that it is in."""
    return tuple(
        f"{shown(program, index)}: {mechanism.words(program.measures[index].unit)}"
        for index, mechanism in enumerate(mechanisms)
    )


def measure_words(measure: Measure) -> str:
    """What a measure counts or adds up, and how much of it one person may be."""
    if measure.grid is not None and measure.grid.branching:
        what, unit = f"the number of rows in each of {measure.high - measure.low + 1} bins", "rows"
    elif measure.grid is not None:
        first, last = (amount(end * measure.step) for end in (measure.low, measure.high))
        levels = ", ".join(amount(level) for level in measure.grid.levels)
        values = f"{measure.high - measure.low + 1:,} values from {first} to {last}"
        what, unit = f"the ranks {levels} among {values}", "rows"
    elif measure.ladder is not None:
        what, unit = _ladder_words(measure, measure.ladder), "rows"
    elif measure.vector.kind == "people":
        what, unit = "the number of people", "groups"
    elif measure.vector.kind == "values":
        what, unit = "the number of different values", "values"
    elif measure.counts or measure.low == measure.high == 1:
        what, unit = f"the number of rows{' with a value' if measure.argument or measure.factors else ''}", "rows"
    else:
        low, high = ((end - measure.centre) * measure.step for end in (measure.low, measure.high))
        about = f", {amount(measure.centre * measure.step)} subtracted" if measure.centre else ""
        what, unit = f"the sum of {measure.of} from {amount(low)} to {amount(high)}{about}", "rows"
    if measure.where is not None:
        what += ", where FILTER is true"
    norm = {1: "ℓ1", 2: "ℓ2"}[measure.vector.norm]
    return f"{what}; one person counts for at most C = {root_text(measure.vector.bound2)} {unit} ({norm})"


def _ladder_words(measure: Measure, ladder: Ladder) -> str:
    first, last = (amount(rung.high * measure.step) for rung in (ladder.rungs[0], ladder.rungs[-1]))
    sides = "on both sides of 0, " if measure.low < 0 else ""
    most = root_text(ladder.vector.bound2)
    return (
        f"the sum of {measure.of} bounded by one of {len(ladder.rungs)} rungs from {first} to {last}, {sides}"
        f"chosen for {PRICE} of its share by the rows above each, C₁ = {most} of one person"
    )


def climb_words(climb: Climb) -> str:
    """How limits are chosen, and for what."""
    first, last, what = climb.rungs[0], climb.rungs[-1], CHOSEN[climb.of]
    return (
        f"{what[0].lower()}{what[1:]}, one of {len(climb.rungs)} rungs from {first} to {last:,}, chosen for "
        f"{CLIMB_PRICE} of the spend by how many people have more"
    )


def selection_words(priced: Priced) -> str:
    """How unknown keys are selected; empty where all are public."""
    selection = priced.program.selection
    if selection is None:
        return ""
    most = "one group" if selection.groups == 1 else f"{selection.groups} groups"
    return f"groups are shown where enough people are in them; a person votes for at most {most}"


def sharing_words(program: Program) -> tuple[str, ...]:
    """Which counts would be one, and leave more of the spend to each number, if columns were declared not NULL."""
    counts = [measure for measure in program.measures if measure.counts and measure.vector.kind == "rows"]
    found: dict[str, None] = {}
    for measure in counts:
        alike = [each for each in counts if each is not measure and each.where == measure.where]
        if measure.argument is None or not alike or surely(measure.argument).nullable:
            continue
        names = dict.fromkeys(part.name for part in measure.argument.walk() if isinstance(part, Column))
        missing = " and ".join(names)
        found[f"Fewer numbers would be measured if {missing} were declared not NULL (null = false)."] = None
    return tuple(found)


def surely(expression: Expression) -> Expression:
    """The expression as it would be typed if none of its columns could be NULL."""

    def typed(node: Expression) -> Expression:
        if isinstance(node, Column):
            return replace(node, nullable=False)
        if not isinstance(node, Call):
            return node
        return cast(node.arguments[0], node.type) if node.operator == "cast" else apply(node.operator, *node.arguments)

    return expression.rewrite(typed)


def root_text(square: Fraction) -> str:
    """√square, exact where it is rational."""
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return amount(Fraction(top, bottom))
    return f"√({square})" if square.denominator > 1 else f"√{square}"


def shown(program: Program, measure: int) -> str:
    """The outputs in which a measure is, and as which part of an aggregate; or where else it is used."""
    parts: dict[int, str] = {}
    for index, (aggregate, used) in enumerate(zip(program.query.aggregates, program.parts, strict=True)):
        for role in (role for role, part in zip(aggregate.roles, used, strict=True) if part == measure):
            parts[index] = f" ({role})" if role else ""
    names = [
        output.name + parts[node.index]
        for output in program.query.outputs
        for node in output.expression.walk()
        if isinstance(node, Measured) and node.index in parts
    ]
    return ", ".join(dict.fromkeys(names)) if names else "HAVING or ORDER BY"
