"""How PostgreSQL writes what engines write differently. Meaning: ../dialect.md. Why no row raises: dialect.md."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.table.engines import doubles
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.postgres import scan
from quincunx.table.engines.postgres.casting import attempted, divided, like, rounded, unnested
from quincunx.table.engines.typed_sql import Piece, binary, both, call, cast, column, double, whole
from quincunx.table.schema import ColumnSchema

# Functions whose argument at this place is a number of rows, for which PostgreSQL has one type.
_COUNTS: Final = {"LAG": 1, "LEAD": 1, "NTH_VALUE": 1, "NTILE": 0}


class PostgresDialect(Dialect):
    """PostgreSQL 14 and later with the settings of connection.py."""

    name = "postgres"
    reads_again = True

    def written(self, tree: exp.Expression, *, pretty: bool = False) -> str:
        """The text of a statement. Parameters are numbered in the order of their names."""
        own = tree.copy()
        nodes = list(own.walk())
        names = sorted({node.name for node in nodes if isinstance(node, exp.Placeholder)})
        for node in nodes:
            if isinstance(node, exp.Placeholder):
                node.replace(exp.Parameter(this=exp.Literal.number(names.index(node.name) + 1)))
            elif isinstance(node, exp.DataType) and node.this == exp.DataType.Type.INT128:
                node.replace(exp.DataType.build("NUMERIC", dialect=self.name))
            elif isinstance(node, exp.Anonymous):
                _counted(node)
            elif _is_text(node):
                _collate(node)
        # Some of our names are words of the language, so all are quoted.
        return own.sql(dialect=self.name, pretty=pretty, identify=True)

    # Rows.

    def value(self, declared: ColumnSchema, storage: str) -> Piece:
        return scan.value(self, declared, storage)

    def keys(self, name: str, places: str, kind: str) -> exp.Select:
        given = ((name, kind), (places, "BIGINT"))
        # All parameters are texts: a list of small numbers would get a type of its own, and nothing would be hashed.
        lists = [cast(cast(exp.Placeholder(this=each), "VARCHAR[]"), f"{kind}[]") for each, kind in given]
        return exp.select(column("v"), column("i")).from_(unnested(lists, ("v", "i"), "given"))

    def same(self, x: exp.Expression, y: exp.Expression, *, nulls: bool) -> exp.Expression:
        # Arrays are equal where both hold NULL, and are hashed; IS NOT DISTINCT FROM would compare every pair.
        return exp.EQ(this=_array(x), expression=_array(y)) if nulls else exp.EQ(this=x, expression=y)

    def semi(self, select: exp.Select, other: str, names: Sequence[str]) -> exp.Select:
        return select.where(self._partner(select, other, names, nulls=False))

    def anti(self, select: exp.Select, other: str, names: Sequence[str]) -> exp.Select:
        return select.where(exp.Not(this=self._partner(select, other, names, nulls=True)))

    def _partner(self, select: exp.Select, other: str, names: Sequence[str], *, nulls: bool) -> exp.Expression:
        rows = select.args["from_"].this.name
        on = [self.same(column(name, rows), column(name, other), nulls=nulls) for name in names]
        return exp.Exists(this=exp.select(whole(1)).from_(other).where(both(on)))

    def materialised(self, once: bool | None) -> bool | None:
        # Unmarked, a relation that is named twice is worked out once all the same.
        return once

    def fenced(self, select: exp.Select) -> exp.Select:
        # The planner writes columns of a subquery out wherever they are named, but not behind this.
        return select.offset(0)

    def ordered(self, x: exp.Expression) -> exp.Ordered:
        # Every text has the collation "C"; NULL comes last.
        return exp.Ordered(this=x)

    # Whole numbers.

    def total(self, x: Piece) -> exp.Expression:
        # A sum of BIGINT is a NUMERIC, which has no end.
        return exp.Sum(this=x.sql)

    def quotient(self, x: Piece, y: Piece) -> exp.Expression:
        if x.type == y.type == "BIGINT":
            # Cast once more: beside a NUMERIC this would be a fraction.
            return _divided(cast(x.sql, "BIGINT"), cast(y.sql, "BIGINT"))
        return call("DIV", x.to("HUGEINT").sql, y.to("HUGEINT").sql)

    def guarded(self, operation: exp.Expression) -> exp.Expression:
        # NUMERIC grows without end.
        return operation

    def root(self, q: exp.Expression) -> exp.Expression:
        return cast(call("FLOOR", call("SQRT", cast(q, "DOUBLE"))), "BIGINT")

    # Doubles.

    def arithmetic(self, kind: type[exp.Binary], x: exp.Expression, y: exp.Expression) -> exp.Expression:
        if kind is not exp.Div:
            return binary(kind, x, y)
        return divided(x, y)

    def rounding(self, operator: str, x: exp.Expression, places: Sequence[int]) -> exp.Expression:
        return rounded(x, places[0] if places else 0) if operator == "round" else call(operator.upper(), x)

    def finite(self, x: exp.Expression) -> exp.Expression:
        return doubles.finite(x)

    def floor_within(self, x: exp.Expression, low: int, high: int) -> exp.Expression:
        ends = (double(Fraction(low)), double(Fraction(high)))
        return cast(call("LEAST", call("GREATEST", call("FLOOR", x), ends[0]), ends[1]), "BIGINT")

    # Other values.

    def matches(self, x: exp.Expression, pattern: str) -> exp.Expression:
        return like(x, pattern)

    def attempt(self, x: Piece, kind: str) -> exp.Expression:
        return attempted(x, kind)

    def text(self, operator: str, *arguments: exp.Expression) -> exp.Expression:
        match operator:
            case "like":
                matched = exp.Like(this=arguments[0], expression=arguments[1])
                # Without an escape a backslash is an ordinary character.
                return exp.Paren(this=exp.Escape(this=matched, expression=exp.Literal.string("")))
            case "ends_with":
                end = call("RIGHT", arguments[0], call("LENGTH", arguments[1].copy()))
                return binary(exp.EQ, end, arguments[1])
            case "contains":
                return binary(exp.GT, call("STRPOS", *arguments), exp.Literal.number(0))
            case "length":
                return cast(call("LENGTH", *arguments), "BIGINT")
            case _:
                return call("BTRIM" if operator == "trim" else operator.upper(), *arguments)

    def part(self, name: exp.Expression, x: exp.Expression) -> exp.Expression:
        return cast(call("FLOOR", call("DATE_PART", name, x)), "BIGINT")

    def trunc(self, name: exp.Expression, x: exp.Expression) -> exp.Expression:
        return call("DATE_TRUNC", name, x)

    def shown(self, x: Piece) -> exp.Expression:
        return cast(x.sql, "VARCHAR")

    def bucket(self, owner: Sequence[exp.Expression]) -> exp.Expression:
        # By the hash of the type itself: equal numbers may have different texts.
        hashed = [call("HASH_ARRAY_EXTENDED", _array(each), exp.Literal.number(0)) for each in owner]
        joined = hashed[0]
        for each in hashed[1:]:
            joined = exp.Paren(this=exp.BitwiseXor(this=joined, expression=each))
        return exp.Paren(this=exp.BitwiseAnd(this=joined, expression=exp.Literal.number(2**14 - 1)))

    def digest(self, x: exp.Expression) -> exp.Expression:
        return call("MD5", x)


def _array(x: exp.Expression) -> exp.Expression:
    return exp.Array(expressions=[x])


def _divided(x: exp.Expression, y: exp.Expression) -> exp.Expression:
    return exp.Paren(this=exp.Div(this=x, expression=y, typed=True, safe=False))


def _is_text(node: exp.Expr) -> bool:
    """Whether this is a text by itself: a constant that no cast reads, or what is cast to a text."""
    if isinstance(node, exp.Cast):
        return bool(node.to.is_type(exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR))
    return isinstance(node, exp.Literal) and node.is_string and not isinstance(node.parent, exp.Cast | exp.Escape)


def _collate(node: exp.Expr) -> None:
    """The collation "C", so that nothing depends on the database's own."""
    within = exp.Paren(this=exp.Collate(this=exp.null(), expression=exp.column("C", quoted=True)))
    node.replace(within)
    within.this.set("this", node if isinstance(node, exp.Cast) else exp.Cast(this=node, to=exp.DataType.build("TEXT")))


def _counted(node: exp.Anonymous) -> None:
    place = _COUNTS.get(node.name.upper())
    if place is not None and len(node.expressions) > place:
        given = node.expressions[place]
        node.expressions[place].replace(cast(given.copy(), "INTEGER"))


POSTGRES: Final = PostgresDialect()
