"""Quantiles within a group in SQL: values in order have places, and one of them is taken, or two neighbours.

Engines have aggregates for it, each with its own arithmetic: ranks in doubles that miss by one, an interpolation that
is rounded once or twice, and on Spark a list that has to fit into memory. Places are whole numbers and are sorted, so
that all give the same value, of a group of any size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.typed_sql import Piece, binary, call, cast, choose, column, double, whole
from quincunx.table.relations import Fold

QUANTILES: Final = ("between", "rank")


def in_order(
    d: Dialect, relation: exp.Expression, values: Mapping[int, exp.Expression], group: Sequence[exp.Expression]
) -> exp.Expression:
    """The rows with values q0 …, their places p0 … in their group, NULL last, and how many are not NULL, n0 …"""
    name = relation.alias_or_name
    valued = exp.select("*", *(exp.alias_(value.copy(), f"q{i}") for i, value in values.items())).from_(relation)
    placed = exp.select("*").from_(valued.subquery(name))
    for i in values:
        value, within = column(f"q{i}", name), [each.copy() for each in group]
        order = exp.Order(expressions=[d.ordered(value)])
        place = exp.Window(this=call("ROW_NUMBER"), partition_by=within, order=order)
        many = exp.Window(this=exp.Count(this=value.copy()), partition_by=[each.copy() for each in group])
        placed = placed.select(exp.alias_(place, f"p{i}"), exp.alias_(many, f"n{i}"))
    return placed.subquery(name)


def quantile(d: Dialect, fold: Fold, number: int, name: str) -> Piece:
    """The quantile of the values q of a group, as an aggregate over the rows of `in_order`; NULL of none."""
    many, level = column(f"n{number}", name), Fraction(1, 2) if fold.level is None else fold.level
    if fold.kind == "rank":
        # ⌈N·level⌉, and the first of all at level 0.
        rank = _divided(d, binary(exp.Add, _times(many, level.numerator), whole(level.denominator - 1)), level)
        return Piece(sql=_at(number, name, call("GREATEST", rank, whole(1))), type="BIGINT")
    # (N − 1)·level counts from 0; what is left of it is how far the quantile lies between two neighbours.
    reached = _times(binary(exp.Sub, many, whole(1)), level.numerator)
    first = binary(exp.Add, _divided(d, reached, level), whole(1))
    low = cast(_at(number, name, first), "DOUBLE")
    if level.denominator == 1:
        return Piece(sql=low, type="DOUBLE")
    second = call("LEAST", binary(exp.Add, first.copy(), whole(1)), many.copy())
    high = cast(_at(number, name, second), "DOUBLE")
    rest = cast(exp.Max(this=binary(exp.Mod, reached.copy(), whole(level.denominator))), "DOUBLE")
    part = d.arithmetic(exp.Div, rest, double(Fraction(level.denominator)))
    between = d.arithmetic(exp.Mul, d.arithmetic(exp.Sub, high, low.copy()), part)
    return Piece(sql=d.arithmetic(exp.Add, low, between), type="DOUBLE")


def _at(number: int, name: str, place: exp.Expression) -> exp.Expression:
    here = exp.EQ(this=column(f"p{number}", name), expression=place)
    return exp.Max(this=choose([(here, column(f"q{number}", name))], exp.null()))


def _times(x: exp.Expression, factor: int) -> exp.Expression:
    return binary(exp.Mul, x.copy(), whole(factor))


def _divided(d: Dialect, x: exp.Expression, level: Fraction) -> exp.Expression:
    return d.quotient(Piece(sql=x.copy(), type="BIGINT"), Piece(sql=whole(level.denominator), type="BIGINT"))
