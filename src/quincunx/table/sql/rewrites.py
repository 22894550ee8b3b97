"""What to write instead of something that is refused, in the question's own words. Every hint here is a question.

The golden file of refusals holds each with the question that it leads to, and a test asks them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import islice
from typing import Final, TypeAlias

from sqlglot import exp

Rewrite: TypeAlias = Callable[[exp.Expr], str]

# A hint repeats no more nodes than these of a question.
_LONGEST: Final = 50
_PLAIN: Final = re.compile(r"\d{1,15}(\.\d{1,9})?", re.ASCII)


def instead(node: exp.Expr) -> str:
    """The hint for a node; empty where nothing but the reason can be said."""
    for kind in type(node).__mro__:
        if kind in REWRITES and node.this is not None:
            return REWRITES[kind](node)
    return ""


def written(node: object, name: str = "x") -> str:
    """The node as it was asked; a name in its place where it is longer than a hint should be."""
    if not isinstance(node, exp.Expr) or isinstance(node, exp.Star):
        return name
    # Long chains are deep trees, on which the writer of texts would exhaust the stack.
    long = next(islice(node.walk(), _LONGEST, None), None) is not None
    return name if long else node.sql(dialect="duckdb")


def _factor(node: object, name: str = "x") -> str:
    """As it stands in a product."""
    text = written(node, name)
    return f"({text})" if isinstance(node, exp.Binary) and text != name else text


def _most(node: exp.Expr) -> str:
    return f"Write GROUP BY {written(node.this)} with COUNT(*) AS n, and ORDER BY n DESC LIMIT 1."


def _furthest(node: exp.Expr) -> str:
    level, order = ("0.01", "v") if isinstance(node, exp.ArgMin) else ("0.99", "v DESC")
    ranked = f"QUANTILE_DISC({written(node.args.get('expression'), 'y')}, {level}) AS v"
    return f"Write GROUP BY {written(node.this)} with {ranked}, and ORDER BY {order} LIMIT 1."


def _condition(node: exp.Expr) -> str:
    return f"Write COUNT(*) FILTER (WHERE {written(node.this)})."


def _grouped(node: exp.Expr) -> str:
    return f"Write GROUP BY {written(node.this)} with COUNT(*)."


def _bucket(node: exp.Expr) -> str:
    low, high, count = (node.args.get(name) for name in ("min_value", "max_value", "num_buckets"))
    numbers = [each for each in (low, high, count) if isinstance(each, exp.Literal) and _PLAIN.fullmatch(each.name)]
    if len(numbers) < 3 or not Fraction(numbers[2].name):
        return "Write FLOOR((x - low) / width) + 1."
    ends = [Fraction(each.name) for each in numbers]
    width = (ends[1] - ends[0]) / ends[2]
    shifted = _factor(node.this) if not ends[0] else f"({written(node.this)} - {numbers[0].name})"
    if width.denominator == 1:
        return f"Write FLOOR({shifted} / {width}) + 1."
    return f"Write FLOOR({shifted} * {numbers[2].name} / ({numbers[1].name} - {numbers[0].name})) + 1."


def _difference(node: exp.Expr) -> str:
    return f"Subtract parts of dates: YEAR({written(node.this)}) - YEAR({written(node.args.get('expression'), 'y')})."


def _moment(node: exp.Expr) -> str:
    x = written(node.this)
    return f"Write DATE_TRUNC('month', {x}), or a part such as YEAR({x}) or MONTH({x})."


def _cut(node: exp.Expr) -> str:
    x = written(node.this)
    return f"Write CASE WHEN {x} < 0 THEN CEIL({x}) ELSE FLOOR({x}) END."


def _sign(node: exp.Expr) -> str:
    x = written(node.this)
    return f"Write CASE WHEN {x} < 0 THEN -1 WHEN {x} > 0 THEN 1 ELSE 0 END."


def _square(node: exp.Expr) -> str:
    return f"Compare {written(node.this)} with the square, or take the root of the answer, which is free."


def _inverse(node: exp.Expr) -> str:
    return f"Compare {written(node.this)} with a number, or compute it from the answer, which is free."


REWRITES: Final[Mapping[type, Rewrite]] = {
    exp.Min: lambda node: f"Write QUANTILE_DISC({written(node.this)}, 0.01).",
    exp.Max: lambda node: f"Write QUANTILE_DISC({written(node.this)}, 0.99).",
    exp.Mode: _most,
    **dict.fromkeys((exp.ArgMin, exp.ArgMax), _furthest),
    **dict.fromkeys((exp.First, exp.Last, exp.AnyValue), _grouped),
    exp.ApproxQuantile: lambda node: (
        f"Write QUANTILE_CONT({written(node.this)}, {written(node.args.get('quantile'), '0.5')})."
    ),
    exp.ApproxDistinct: lambda node: f"Write COUNT(DISTINCT {written(node.this)}).",
    **dict.fromkeys((exp.LogicalOr, exp.LogicalAnd), _condition),
    exp.GroupConcat: _grouped,
    **dict.fromkeys((exp.IgnoreNulls, exp.RespectNulls), lambda node: instead(node.this)),
    exp.WidthBucket: _bucket,
    exp.DateDiff: _difference,
    exp.TimeToStr: _moment,
    exp.Monthname: lambda node: f"Write MONTH({written(node.this)}).",
    exp.Dayname: lambda node: f"Write DAYOFWEEK({written(node.this)}).",
    exp.Trunc: _cut,
    exp.Sign: _sign,
    exp.Sqrt: _square,
    **dict.fromkeys((exp.Ln, exp.Log, exp.Exp), _inverse),
    exp.Pow: lambda node: f"Multiply: {_factor(node.this)} * {_factor(node.this)}.",
}
