"""How DuckDB writes what engines write differently. Its meaning: ../dialect.md."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.duckdb import scan
from quincunx.table.engines.typed_sql import Piece, binary, both, call, cast, column, double, text, try_cast
from quincunx.table.schema import ColumnSchema

_TRIMS: Final = ("trim", "ltrim", "rtrim")


class DuckDBDialect(Dialect):
    """DuckDB 2.0 with the settings of connection.py."""

    name = "duckdb"

    def value(self, declared: ColumnSchema, storage: str) -> Piece:
        return scan.value(self, declared, storage)

    def keys(self, name: str, places: str, kind: str) -> exp.Select:
        listed = ((name, kind, "v"), (places, "BIGINT", "i"))
        return exp.select(
            *(
                exp.alias_(call("UNNEST", cast(exp.Placeholder(this=each), f"{type_}[]")), alias)
                for each, type_, alias in listed
            )
        )

    def same(self, x: exp.Expression, y: exp.Expression, *, nulls: bool) -> exp.Expression:
        return exp.NullSafeEQ(this=x, expression=y) if nulls else exp.EQ(this=x, expression=y)

    def semi(self, select: exp.Select, other: str, names: Sequence[str]) -> exp.Select:
        using: list[int | str | exp.Expr] = [exp.to_identifier(name, quoted=True) for name in names]
        return select.join(other, join_type="semi", using=using)

    def anti(self, select: exp.Select, other: str, names: Sequence[str]) -> exp.Select:
        rows = select.args["from_"].this.name
        on = [self.same(column(name, rows), column(name, other), nulls=True) for name in names]
        return select.join(other, join_type="anti", on=both(on))

    def materialised(self, once: bool | None) -> bool | None:
        return bool(once)

    def ordered(self, x: exp.Expression) -> exp.Ordered:
        # Ascending, bytewise and NULL last by the settings of every connection.
        return exp.Ordered(this=x)

    def total(self, x: Piece) -> exp.Expression:
        # A sum of BIGINT is a HUGEINT, which 2^64 rows do not fill.
        return exp.Sum(this=x.sql)

    def quotient(self, x: Piece, y: Piece) -> exp.Expression:
        return binary(exp.IntDiv, x.sql, y.sql)

    def guarded(self, operation: exp.Expression) -> exp.Expression:
        return call("TRY", operation)

    def root(self, q: exp.Expression) -> exp.Expression:
        return cast(call("FLOOR", call("SQRT", cast(q, "DOUBLE"))), "BIGINT")

    def arithmetic(self, kind: type[exp.Binary], x: exp.Expression, y: exp.Expression) -> exp.Expression:
        # With ieee_floating_point_ops a division by 0 is infinite or NaN; adding zero turns −0.0 into 0.0.
        constant = isinstance(y, exp.Cast) and isinstance(y.this, exp.Literal)
        return binary(kind, x, binary(exp.Add, y, double(Fraction(0))) if kind is exp.Div and not constant else y)

    def rounding(self, operator: str, x: exp.Expression, places: Sequence[int]) -> exp.Expression:
        return call(operator.upper(), x, *(exp.Literal.number(each) for each in places))

    def finite(self, x: exp.Expression) -> exp.Expression:
        return call("ISFINITE", x)

    def floor_within(self, x: exp.Expression, low: int, high: int) -> exp.Expression:
        ends = (double(Fraction(low)), double(Fraction(high)))
        return cast(call("LEAST", call("GREATEST", call("FLOOR", x), ends[0]), ends[1]), "BIGINT")

    def matches(self, x: exp.Expression, pattern: str) -> exp.Expression:
        return call("REGEXP_FULL_MATCH", x, text(pattern))

    def attempt(self, x: Piece, kind: str) -> exp.Expression:
        return try_cast(x.sql, kind)

    def text(self, operator: str, *arguments: exp.Expression) -> exp.Expression:
        if operator == "like":
            return binary(exp.Like, *arguments)
        # Without a second argument, TRIM takes every space of Unicode away.
        return call(operator.upper(), *arguments, *([text(" ")] if operator in _TRIMS else []))

    def part(self, name: exp.Expression, x: exp.Expression) -> exp.Expression:
        return call("DATE_PART", name, x)

    def trunc(self, name: exp.Expression, x: exp.Expression) -> exp.Expression:
        return call("DATE_TRUNC", name, x)

    def shown(self, x: Piece) -> exp.Expression:
        return cast(x.sql, "VARCHAR")

    def bucket(self, owner: Sequence[exp.Expression]) -> exp.Expression:
        return exp.Paren(this=exp.BitwiseAnd(this=call("HASH", *owner), expression=exp.Literal.number(2**14 - 1)))

    def digest(self, x: exp.Expression) -> exp.Expression:
        return call("MD5", x)


DUCKDB: Final = DuckDBDialect()
