"""The operators of expressions: one table from name to arguments, result type, NULL, bounds and step.

`apply` builds a typed `Call`; wrong types are a QueryError, to which the reader of SQL adds the place. What each means
is said here and in operators.md, and is the same on every engine. Every operator is total: what cannot be computed (an
overflow, a text that is no date) is NULL, so that no row can raise.

    add subtract multiply divide remainder(x, y)   numbers; divide is always decimal, x / 0 = ±∞ and 0 / 0 is NULL;
                                                   remainder: NULL for y = 0; of decimals x − y·TRUNC(x / y)
    whole_divide(x, y)                             integers, cut toward zero
    negate abs floor ceil(x)   round(x, Literal)   digits 0 to 15, halves away from zero; of an integer that integer
    least greatest(x, …)                           NULL arguments are left out
    clamp(x, Literal, Literal)                     min(max(x, low), high)
    equal not_equal less less_equal greater greater_equal(x, y)   between(x, low, high)   in(x, y, …)
    distinct not_distinct(x, y)                    IS [NOT] DISTINCT FROM: never NULL
    is_null(x)   and or(x, y, …)   not(x)
    case(condition, value, …, otherwise)           an odd number of arguments
    coalesce(x, …)   nullif(x, y)
    cast(x)                                        to the Call's own type; a decimal to the integer ⌊x + 1/2⌋, a text
                                                   by one grammar (engines/grammar.py)
    date_part(Literal, x)                          year quarter month week day dow isodow doy hour minute second
    date_trunc(Literal, x)                         year quarter month week day hour minute second; a timestamp
    upper lower length trim ltrim rtrim(x)         ASCII letters, characters, spaces (U+0020)
    left right(x, Literal)   substring(x, Literal start[, Literal length])
    join(x, y, …)                                  x || y: NULL if any is
    concat(x, …)                                   NULL arguments are left out
    replace(x, Literal, Literal)   starts_with ends_with contains(x, y)   like ilike(x, Literal)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Final, TypeAlias

from quincunx.errors import QueryError
from quincunx.table.expression import Call, Column, Expression, Literal, Value
from quincunx.table.typing import conditional, numeric, temporal, textual
from quincunx.table.typing.facts import NULL, Facts

Arguments: TypeAlias = tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator: how many arguments it takes (most = None: any number), and its typing rule.

    prepare: makes the arguments alike before typing (a date beside a timestamp is cast, a text beside a date is read).
    rule: from the arguments to the facts of the result; raises QueryError where the types do not fit.
    """

    name: str
    least: int
    most: int | None
    rule: Callable[[Arguments], Facts]
    prepare: Callable[[Arguments], Arguments] = conditional.unchanged


def _table() -> dict[str, Operator]:
    listed = [
        Operator(name="add", least=2, most=2, rule=numeric.add),
        Operator(name="subtract", least=2, most=2, rule=numeric.subtract),
        Operator(name="multiply", least=2, most=2, rule=numeric.multiply),
        Operator(name="divide", least=2, most=2, rule=numeric.divide),
        Operator(name="whole_divide", least=2, most=2, rule=numeric.whole_divide),
        Operator(name="remainder", least=2, most=2, rule=numeric.remainder),
        Operator(name="negate", least=1, most=1, rule=numeric.negate),
        Operator(name="abs", least=1, most=1, rule=numeric.absolute),
        Operator(name="floor", least=1, most=1, rule=numeric.whole),
        Operator(name="ceil", least=1, most=1, rule=numeric.whole),
        Operator(name="round", least=2, most=2, rule=numeric.rounded),
        Operator(name="least", least=1, most=None, rule=conditional.least, prepare=conditional.alike),
        Operator(name="greatest", least=1, most=None, rule=conditional.greatest, prepare=conditional.alike),
        Operator(name="clamp", least=3, most=3, rule=numeric.clamp),
        Operator(name="is_null", least=1, most=1, rule=conditional.is_null),
        Operator(name="and", least=2, most=None, rule=conditional.logical),
        Operator(name="or", least=2, most=None, rule=conditional.logical),
        Operator(name="not", least=1, most=1, rule=conditional.logical),
        Operator(name="case", least=3, most=None, rule=conditional.case, prepare=conditional.alike_branches),
        Operator(name="coalesce", least=1, most=None, rule=conditional.coalesce, prepare=conditional.alike_or_null),
        Operator(name="nullif", least=2, most=2, rule=conditional.nullif, prepare=conditional.alike),
        Operator(name="date_part", least=2, most=2, rule=temporal.part),
        Operator(name="date_trunc", least=2, most=2, rule=temporal.truncate),
        Operator(name="upper", least=1, most=1, rule=textual.text),
        Operator(name="lower", least=1, most=1, rule=textual.text),
        Operator(name="length", least=1, most=1, rule=textual.length),
        Operator(name="trim", least=1, most=1, rule=textual.text),
        Operator(name="ltrim", least=1, most=1, rule=textual.text),
        Operator(name="rtrim", least=1, most=1, rule=textual.text),
        Operator(name="left", least=2, most=2, rule=textual.cut),
        Operator(name="right", least=2, most=2, rule=textual.cut),
        Operator(name="substring", least=2, most=3, rule=textual.substring),
        Operator(name="join", least=2, most=None, rule=textual.text),
        Operator(name="concat", least=1, most=None, rule=textual.concat),
        Operator(name="replace", least=3, most=3, rule=textual.replace),
        Operator(name="starts_with", least=2, most=2, rule=textual.test),
        Operator(name="ends_with", least=2, most=2, rule=textual.test),
        Operator(name="contains", least=2, most=2, rule=textual.test),
        Operator(name="like", least=2, most=2, rule=textual.pattern),
        Operator(name="ilike", least=2, most=2, rule=textual.pattern),
    ]
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        listed.append(Operator(name=name, least=2, most=2, rule=conditional.comparison, prepare=conditional.alike))
    listed += [
        Operator(name="between", least=3, most=3, rule=conditional.comparison, prepare=conditional.alike),
        Operator(name="in", least=2, most=None, rule=conditional.comparison, prepare=conditional.alike),
        Operator(name="distinct", least=2, most=2, rule=conditional.distinction, prepare=conditional.alike),
        Operator(name="not_distinct", least=2, most=2, rule=conditional.distinction, prepare=conditional.alike),
        # Its rule is `conditional.cast`, which also needs the wanted type.
        Operator(name="cast", least=1, most=1, rule=conditional.uncast),
    ]
    return {operator.name: operator for operator in listed}


OPERATORS: Final[Mapping[str, Operator]] = _table()

_TYPES: Final[Mapping[type, str]] = {
    bool: "boolean",
    int: "integer",
    Fraction: "decimal",
    str: "text",
    date: "date",
    datetime: "timestamp",
}


def apply(name: str, *arguments: Expression) -> Expression:
    """The operator applied to arguments, typed; QueryError where their number or types do not fit."""
    operator = OPERATORS[name]
    if len(arguments) < operator.least or (operator.most is not None and len(arguments) > operator.most):
        count = str(operator.least) if operator.least == operator.most else f"at least {operator.least}"
        raise QueryError(f"{name} takes {count} arguments", got=f"{len(arguments)}")
    prepared = operator.prepare(arguments)
    return Call(operator=name, arguments=prepared, **operator.rule(prepared).named())


def cast(argument: Expression, to: str) -> Expression:
    """The argument as another type; NULL where its value has none. A cast to its own type is left out."""
    if argument.type == to:
        return argument
    if argument.type == NULL:
        return Literal(type=to, value=None)
    return Call(operator="cast", arguments=(argument,), **conditional.cast(argument, to).named())


def rebuilt(expression: Expression, change: Callable[[Column], Expression]) -> Expression:
    """The expression over changed columns, typed anew: what was proved of the old ones is not carried over."""
    if isinstance(expression, Column):
        return change(expression)
    if not isinstance(expression, Call):
        return expression
    arguments = tuple(rebuilt(each, change) for each in expression.arguments)
    if arguments == expression.arguments:
        return expression
    return (
        cast(arguments[0], expression.type) if expression.operator == "cast" else apply(expression.operator, *arguments)
    )


def literal(value: Value) -> Literal:
    """A constant, typed by its Python type; None is NULL of no type yet."""
    if value is None:
        return Literal(type=NULL, value=None)
    kind = _TYPES[type(value)]
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        return Literal(type=kind, value=value, nullable=False)
    number = Fraction(value)
    step = Fraction(1, number.denominator)
    return Literal(type=kind, value=value, nullable=False, low=number, high=number, step=step)
