"""Typing of choices, comparisons, logic and casts, and what makes their arguments alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Final

from quincunx.errors import QueryError
from quincunx.table import interval
from quincunx.table.expression import NUMBERS, Call, Expression, Literal
from quincunx.table.typing.facts import DATES, NULL, WORDS, Facts, any_nullable, bounds, require

# (from, to) of the casts that mean one thing. Decimal numbers have no text of their own: 1.5 or 1.50?
CASTS: Final = {
    ("integer", "decimal"),
    ("integer", "boolean"),
    ("integer", "text"),
    ("decimal", "integer"),
    ("boolean", "integer"),
    ("boolean", "text"),
    ("date", "timestamp"),
    ("date", "text"),
    ("timestamp", "date"),
    ("timestamp", "text"),
    *(("text", to) for to in ("integer", "decimal", "date", "timestamp", "boolean")),
}

# What to write instead of a cast that would mean several things, or none.
_BY_WAY_OF: Final = {
    ("decimal", "text"): "Make it whole first: CAST(CAST(x AS BIGINT) AS VARCHAR).",
    ("decimal", "boolean"): "Write x <> 0.",
    ("boolean", "decimal"): "Write CAST(x AS BIGINT).",
    **{(kind, to): "Take a part of it, such as YEAR(x)." for kind in DATES for to in NUMBERS},
}
_WRITTEN: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?", re.ASCII)


def unchanged(arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Arguments as they are."""
    return arguments


def alike(arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Arguments of one kind: numbers, texts, booleans, dates, or timestamps (dates beside them are cast)."""
    if any(argument.type == NULL for argument in arguments):
        hint = "NULL equals nothing, not even NULL: write IS NULL or IS NOT NULL."
        raise QueryError("NULL cannot be compared", hint=hint)
    return alike_or_null(arguments)


def alike_or_null(arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """The same, where a NULL takes the type of the others."""
    types = {argument.type for argument in arguments if argument.type != NULL}
    if types & set(DATES):
        wanted = "timestamp" if "timestamp" in types else "date"
        arguments = tuple(_dated(argument, wanted) for argument in arguments)
        types = {argument.type for argument in arguments if argument.type != NULL}
        # A written text may name a moment inside a day.
        if len(types) > 1 and types <= set(DATES):
            arguments = tuple(_dated(argument, "timestamp") for argument in arguments)
            types = {"timestamp"}
    kind = next(iter(types)) if len(types) == 1 else "decimal" if types == set(NUMBERS) else None
    if kind is None:
        if not types:
            raise QueryError("the type of NULL cannot be told here", hint="Write CAST(NULL AS …).")
        names = " and ".join(sorted(WORDS[name] for name in types))
        raise QueryError(f"{names} do not go together", hint="Write CAST(… AS …) if a conversion is meant.")
    return tuple(replace(each, type=kind) if each.type == NULL else each for each in arguments)


def alike_branches(arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """CASE: the values alike, the conditions as they are."""
    conditions, last = arguments[:-1:2], len(arguments) - 1
    values = alike_or_null(tuple(arguments[i] for i in (*range(1, last, 2), last)))
    mixed = [each for pair in zip(conditions, values, strict=False) for each in pair]
    return (*mixed, values[-1])


def comparison(arguments: Sequence[Expression]) -> Facts:
    """True, false, or NULL where an argument is NULL."""
    return Facts(type="boolean", nullable=any_nullable(arguments))


def distinction(arguments: Sequence[Expression]) -> Facts:  # noqa: ARG001 - any alike arguments will do
    """Never NULL."""
    return Facts(type="boolean", nullable=False)


def is_null(arguments: Sequence[Expression]) -> Facts:
    """Never NULL."""
    if arguments[0].type == NULL:
        raise QueryError("NULL is always NULL", hint="Name a column.")
    return Facts(type="boolean", nullable=False)


def logical(arguments: Sequence[Expression]) -> Facts:
    """AND, OR, NOT in three values."""
    require(arguments, ("boolean",), "a condition")
    return Facts(type="boolean", nullable=any_nullable(arguments))


def case(arguments: Sequence[Expression]) -> Facts:
    """CASE: the value of the first true condition."""
    last = len(arguments) - 1
    require(arguments[:-1:2], ("boolean",), "a condition")
    return _chosen([arguments[i] for i in (*range(1, last, 2), last)])


def coalesce(arguments: Sequence[Expression]) -> Facts:
    """The first argument that is not NULL; those after one that never is are not reached."""
    reached: list[Expression] = []
    for argument in arguments:
        reached.append(argument)
        if not argument.nullable:
            break
    found = _chosen(reached)
    kind = _kind(arguments)
    nullable = all(argument.nullable for argument in reached) or _unfinished(reached)
    return Facts(type=kind, nullable=nullable, low=found.low, high=found.high, step=found.step)


def nullif(arguments: Sequence[Expression]) -> Facts:
    """The first argument, or NULL where both are equal."""
    x = arguments[0]
    return Facts(type=x.type, nullable=True, low=x.low, high=x.high, step=x.step)


def least(arguments: Sequence[Expression]) -> Facts:
    """LEAST leaves NULL out: at most every argument that is never NULL, or else at most one of them."""
    found, sure = _chosen(arguments), [each.high for each in arguments if not each.nullable and each.high is not None]
    high = min(sure) if sure else found.high
    return _extreme(arguments, found.low, high, found.step)


def greatest(arguments: Sequence[Expression]) -> Facts:
    """GREATEST leaves NULL out."""
    found, sure = _chosen(arguments), [each.low for each in arguments if not each.nullable and each.low is not None]
    low = max(sure) if sure else found.low
    return _extreme(arguments, low, found.high, found.step)


def cast(argument: Expression, to: str) -> Facts:
    """CAST and TRY_CAST alike: NULL where the value has no counterpart."""
    if (argument.type, to) not in CASTS:
        hint = _BY_WAY_OF.get((argument.type, to), "")
        raise QueryError(f"{WORDS[argument.type]} cannot be cast to {WORDS[to]}", hint=hint)
    if to == "integer" and argument.type == "decimal":
        ends = interval.outward(bounds(argument), Fraction(1))
        nullable = argument.nullable or not interval.fits(ends)
        return Facts(type=to, nullable=nullable, low=ends[0], high=ends[1], step=Fraction(1))
    if to == "integer" and argument.type == "boolean":
        return Facts(type=to, nullable=argument.nullable, low=Fraction(0), high=Fraction(1), step=Fraction(1))
    if to == "decimal" and argument.type == "integer":
        return Facts(type=to, nullable=argument.nullable, low=argument.low, high=argument.high, step=argument.step)
    # A text may be no number or date, and a date may lie outside the range of timestamps.
    nullable = argument.nullable or argument.type in ("text", *DATES)
    return Facts(type=to, nullable=nullable)


def uncast(arguments: Sequence[Expression]) -> Facts:
    """A cast is made by `operators.cast`, which says to what."""
    raise QueryError("a cast needs its type", got=f"{len(arguments)} arguments")


def _kind(arguments: Sequence[Expression]) -> str:
    return "decimal" if {each.type for each in arguments} == set(NUMBERS) else arguments[0].type


def _chosen(arguments: Sequence[Expression]) -> Facts:
    real = [each for each in arguments if not (isinstance(each, Literal) and each.value is None)]
    low, high = interval.union(bounds(each) for each in real)
    step = interval.common_step(each.step for each in real)
    return Facts(type=_kind(arguments), nullable=any_nullable(arguments), low=low, high=high, step=step)


def _unfinished(arguments: Sequence[Expression]) -> bool:
    # A decimal number without bounds may be infinite, which is NULL only once it enters an aggregate.
    return any(each.type == "decimal" and not each.bounded for each in arguments)


def _extreme(arguments: Sequence[Expression], low: interval.End, high: interval.End, step: Fraction | None) -> Facts:
    if arguments[0].type == "boolean":
        raise QueryError("a condition has no order here", hint="Write AND or OR.")
    nullable = all(each.nullable for each in arguments) or _unfinished(arguments)
    return Facts(type=_kind(arguments), nullable=nullable, low=low, high=high, step=step)


def _dated(argument: Expression, wanted: str) -> Expression:
    """A written text as the date it names; a date as a timestamp where one is wanted."""
    if isinstance(argument, Literal) and isinstance(argument.value, str):
        value = read_date(argument.value, wanted)
        kind = "timestamp" if isinstance(value, datetime) else "date"
        return Literal(type=kind, value=value, nullable=False)
    if wanted == "timestamp" and argument.type == "date":
        return Call(operator="cast", arguments=(argument,), **cast(argument, "timestamp").named())
    return argument


def read_date(text: str, wanted: str) -> date | datetime:
    """A date or a moment as it is written in SQL; beside dates, a text with a time of day is a moment."""
    plain = len(text) == len("2024-02-29")
    try:
        moment = datetime.fromisoformat(text) if _WRITTEN.fullmatch(text) else None
    except ValueError:
        moment = None
    if moment is None:
        raise QueryError("this text is no date", hint="Write it as 'YYYY-MM-DD' or 'YYYY-MM-DD hh:mm:ss'.")
    return moment.date() if wanted == "date" and plain else moment
