"""Public bins: HISTOGRAM(x, [10, 20]) and the like, one call for several outputs. See bins.md."""

from __future__ import annotations

import re
from abc import ABC
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, Self

from sqlglot import exp

from quincunx.table import canonical
from quincunx.table.aggregates.aggregate import Aggregate
from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.term import Lattice, Term
from quincunx.table.canonical import Json
from quincunx.table.expression import NUMBERS, Expression, Literal
from quincunx.table.operators import apply, cast, literal
from quincunx.table.typing.facts import WORDS

# A call is as many outputs as it has edges, each with an interval.
MOST: Final = 64


class Edged(exp.Expression, exp.AggFunc):
    """A function of a value and of the edges of bins; place: of which bin it is, once it is read one by one."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True, "place": False}

    def __init__(self, **given: Any) -> None:
        # A list of constants, which is understood here alone.
        if isinstance(given.get("expression"), exp.Array):
            given["expression"] = exp.Tuple(expressions=given["expression"].expressions)
        super().__init__(**given)


PARTS: Final = frozenset(Edged.arg_types)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins(Aggregate, ABC):
    """A number about the rows up to an edge, or between two. argument: in which bin a row is, NULL where x is.

    place: of which bin it is; bin i ends with edge i, which is in it, and the last has no end.
    """

    # Generated questions have one output for each aggregate; tests replay these.
    forms: ClassVar[tuple[Form, ...]] = ()
    roles: ClassVar[tuple[str, ...]] = ("bins",)
    edged: ClassVar[type[Edged]]
    # Whether there is an output for the bin after the last edge.
    beyond: ClassVar[bool]
    bins: ClassVar[str]

    argument: Expression
    place: int

    @classmethod
    def read(cls, call: Call) -> Self | None:
        node, called = call.node, cls.names[0]
        edges, place = node.args.get("expression"), node.args.get("place")
        shown = f"{called}(x, [10, 20, 30])"
        if not isinstance(edges, exp.Tuple) or not 1 <= len(edges.expressions) <= MOST:
            got = "none" if edges is None else call.written(edges)[:40]
            hint = f"Write {shown}, with 1 to {MOST} edges, or group by the value."
            raise call.mistake(node, f"{called} needs a list of edges", got=got, hint=hint)
        if place is None:
            hint = f"Select {shown} AS h by itself, and h_to_20 wherever one of them is meant."
            raise call.refusal(node, f"{called} is several numbers", hint=hint)
        value = call.row(node.this)
        if value.type == "boolean":
            value = cast(value, "integer")
        if value.type not in (*NUMBERS, "date", "timestamp"):
            hint = "Count texts with GROUP BY."
            raise call.mistake(node.this, f"{called} needs a number or a date", got=WORDS[value.type], hint=hint)
        found = tuple(_edge(call, each, value, shown) for each in edges.expressions)
        for one, two, at in zip(found, found[1:], edges.expressions[1:], strict=False):
            if not _sortable(one) < _sortable(two):
                hint = "Write each edge once, the smallest first."
                raise call.mistake(at, "edges must rise", got=call.written(at)[:40], hint=hint)
        return cls(argument=bin_of(value, found), where=call.where, place=int(place.name))

    @classmethod
    def listed(cls, node: exp.Expr) -> list[tuple[exp.Expr, str, str]]:
        if not isinstance(node, cls.edged) or not isinstance(node.args.get("expression"), exp.Tuple):
            return []
        edges = node.args["expression"].expressions
        if not 1 <= len(edges) <= MOST:
            return []
        names = [f"to_{_named(each)}" for each in edges] + ([f"over_{_named(edges[-1])}"] if cls.beyond else [])
        found: list[tuple[exp.Expr, str, str]] = []
        for place, name in enumerate(names):
            one = node.copy()
            one.set("place", exp.Literal.number(place))
            found.append((one, cls.names[0].lower(), name))
        return found

    @property
    def count(self) -> int:
        """How many bins there are."""
        return int(self.argument.high or 0) + 1

    def terms(self) -> tuple[Term, ...]:
        lattice = Lattice(step=Fraction(1), low=0, high=self.count - 1, centre=0)
        kind: Any = self.bins
        return (
            Term(
                counts=False, argument=self.argument, where=self.where, lattice=lattice, bins=kind, called=self.names[0]
            ),
        )

    def labels(self) -> tuple[str, ...]:
        return self.roles

    def canonical(self) -> Json:
        """What names it in a ledger."""
        argument, where = canonical.part(self.argument), canonical.part(self.where)
        return canonical.node(self.tag, kind=self.kind, argument=argument, where=where, place=self.place)


@lru_cache(maxsize=64)
def bin_of(value: Expression, edges: tuple[Literal, ...]) -> Expression:
    """How many edges are below the value; NULL where it is. Halves of halves, so that a row is compared few times."""

    def among(first: int, last: int) -> Expression:
        if first == last:
            return literal(first)
        middle = (first + last) // 2
        return apply("case", apply("less_equal", value, edges[middle]), among(first, middle), among(middle + 1, last))

    found = among(0, len(edges))
    if not value.nullable:
        return found
    return apply("case", apply("is_null", value), literal(None), found)


def _edge(call: Call, node: exp.Expr, value: Expression, shown: str) -> Literal:
    written = call.row(node)
    negative = isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal)
    if negative and isinstance(found := call.row(node.this), Literal) and isinstance(found.value, int | Fraction):
        written = literal(-found.value)
    dated = value.type in ("date", "timestamp")
    if dated and isinstance(written, Literal) and written.type == "text":
        hint = "Write DATE '2024-01-31'."
        raise call.mistake(node, "an edge of dates is a date", got=call.written(node)[:40], hint=hint)
    fits = isinstance(written, Literal) and written.value is not None
    if not fits or (written.type in NUMBERS) == dated or written.type in ("text", "boolean"):
        hint = f"Write {shown}."
        raise call.mistake(node, "an edge is a constant of the value's type", got=call.written(node)[:40], hint=hint)
    return written  # type: ignore[return-value]


def _sortable(edge: Literal) -> Any:
    value = edge.value
    # A day is before its moments.
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    return value


def _named(edge: exp.Expr) -> str:
    """10 is 10, -0.5 is minus_0_5, and DATE '2024-01-31' is 2024_01_31."""
    sign = "minus_" if isinstance(edge, exp.Neg) else ""
    inner = edge.this if isinstance(edge, exp.Neg | exp.Cast) else edge
    text = inner.name if isinstance(inner, exp.Expr) else ""
    return sign + (re.sub(r"[^0-9A-Za-z]+", "_", text)[:30].strip("_") or "edge")
