"""How Spark writes what engines write differently. Meaning: ../dialect.md. Why no row raises: dialect.md."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.table.engines import doubles
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.spark import scan
from quincunx.table.engines.spark.casting import attempted, divided, rounded, within
from quincunx.table.engines.spark.whole import guarded, quotient, total
from quincunx.table.engines.typed_sql import Piece, binary, both, call, cast, choose, column, double, text, whole
from quincunx.table.schema import ColumnSchema

# Functions whose argument at this place is a number of rows, for which Spark has one type.
_COUNTS: Final = {"LAG": 1, "LEAD": 1, "NTH_VALUE": 1, "NTILE": 0}
_NAMES: Final = {"starts_with": "STARTSWITH", "ends_with": "ENDSWITH", "contains": "CONTAINS"}


class SparkDialect(Dialect):
    """Spark 4 with the settings of session.py."""

    name = "spark"
    weighs_all = True

    def written(self, tree: exp.Expression, *, pretty: bool = False) -> str:
        """The text of a statement. What public keys are matched by is sent to every worker."""
        own = tree.copy()
        for node in list(own.walk()):
            if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.INT128:
                node.replace(exp.DataType.build("DECIMAL(38,0)", dialect=self.name))
            elif isinstance(node, exp.Anonymous):
                _counted(node)
        for select in list(own.find_all(exp.Select)):
            sent = [name for name in joined(select) if name.startswith("key")]
            if sent:
                select.hint(f"BROADCAST({', '.join(sent)})", dialect=self.name, copy=False)
        # Some of our names are words of the language, so all are quoted.
        return own.sql(dialect=self.name, pretty=pretty, identify=True)

    # Rows.

    def value(self, declared: ColumnSchema, storage: str) -> Piece:
        return scan.value(self, declared, storage)

    def keys(self, name: str, places: str, kind: str) -> exp.Select:  # noqa: ARG002
        # A small view that the engine makes: parameters cannot be lists with NULL.
        return exp.select(exp.alias_(cast(column("v"), kind), "v"), column("i")).from_(name)

    def same(self, x: exp.Expression, y: exp.Expression, *, nulls: bool) -> exp.Expression:
        return exp.NullSafeEQ(this=x, expression=y) if nulls else exp.EQ(this=x, expression=y)

    def semi(self, select: exp.Select, other: str, names: Sequence[str]) -> exp.Select:
        return select.join(other, join_type="left semi", on=self._partner(select, other, names, nulls=False))

    def anti(self, select: exp.Select, other: str, names: Sequence[str]) -> exp.Select:
        return select.join(other, join_type="left anti", on=self._partner(select, other, names, nulls=True))

    def _partner(self, select: exp.Select, other: str, names: Sequence[str], *, nulls: bool) -> exp.Expression:
        rows = select.args["from_"].this.name
        return both([self.same(column(name, rows), column(name, other), nulls=nulls) for name in names])

    def among(self, tested: Sequence[exp.Expression], listed: exp.Select, sure: int) -> exp.Expression:
        # IN is false where it is not true wherever it stands outside of WHERE, so both halves are asked for.
        pairs = list(zip(tested, listed.selects, strict=True))
        equal = [exp.EQ(this=x.copy(), expression=y.copy()) for x, y in pairs]
        found = _exists(listed, equal)
        if sure == len(pairs):
            return found
        open_ = [
            exp.Paren(this=exp.Or(this=exp.Or(this=same.copy(), expression=_null(x)), expression=_null(y)))
            for same, (x, y) in zip(equal[sure:], pairs[sure:], strict=True)
        ]
        maybe = _exists(listed, [*equal[:sure], *open_])
        return choose([(found, exp.true()), (maybe, cast(exp.null(), "BOOLEAN"))], exp.false())

    def materialised(self, once: bool | None) -> bool | None:  # noqa: ARG002
        # Relations are written out wherever they are named: the engine keeps rows that may change (engine.py).
        return None

    def ordered(self, x: exp.Expression) -> exp.Ordered:
        return exp.Ordered(this=x, nulls_first=False)

    # Whole numbers.

    def total(self, x: Piece) -> exp.Expression:
        return total(x)

    def quotient(self, x: Piece, y: Piece) -> exp.Expression:
        return quotient(x, y)

    def guarded(self, operation: exp.Expression) -> exp.Expression:
        return guarded(operation)

    def root(self, q: exp.Expression) -> exp.Expression:
        return call("FLOOR", call("SQRT", cast(q, "DOUBLE")))

    def part_of(self, values: Sequence[exp.Expression], number: int) -> exp.Expression:
        return exp.Paren(this=exp.BitwiseAnd(this=call("XXHASH64", *values), expression=whole(number - 1)))

    # Doubles.

    def arithmetic(self, kind: type[exp.Binary], x: exp.Expression, y: exp.Expression) -> exp.Expression:
        return divided(x, y) if kind is exp.Div else binary(kind, x, y)

    def rounding(self, operator: str, x: exp.Expression, places: Sequence[int]) -> exp.Expression:
        return rounded(operator, x, places[0] if places else 0)

    def finite(self, x: exp.Expression) -> exp.Expression:
        return doubles.finite(x)

    def floor_within(self, x: exp.Expression, low: int, high: int) -> exp.Expression:
        # Clipped first: FLOOR is a BIGINT. The ends are whole, so that it is the same.
        return call("FLOOR", within(x, double(Fraction(low)), double(Fraction(high))))

    # Other values.

    def matches(self, x: exp.Expression, pattern: str) -> exp.Expression:
        # \z is the end of the text; $ would also stand before its last line break.
        return exp.Paren(this=exp.RegexpLike(this=x, expression=text(rf"\A(?:{pattern})\z")))

    def attempt(self, x: Piece, kind: str) -> exp.Expression:
        return attempted(x, kind)

    def text(self, operator: str, *arguments: exp.Expression) -> exp.Expression:
        match operator:
            case "like":
                # A backslash escapes, and a stray one raises: two are one.
                pattern = text(arguments[1].name.replace("\\", "\\\\"))
                return binary(exp.Like, arguments[0], pattern)
            case "length":
                return cast(call("CHAR_LENGTH", *arguments), "BIGINT")
            case "concat":
                # CONCAT is NULL where one is.
                return call("CONCAT_WS", text(""), *arguments)
            case _:
                return call(_NAMES.get(operator, operator.upper()), *arguments)

    def part(self, name: exp.Expression, x: exp.Expression) -> exp.Expression:
        if name.name == "dow":
            return cast(binary(exp.Sub, call("DAYOFWEEK", x), exp.Literal.number(1)), "BIGINT")
        if name.name == "isodow":
            return cast(binary(exp.Add, call("WEEKDAY", x), exp.Literal.number(1)), "BIGINT")
        named = {"week": "WEEKOFYEAR", "doy": "DAYOFYEAR"}.get(name.name, name.name.upper())
        return cast(call(named, x), "BIGINT")

    def trunc(self, name: exp.Expression, x: exp.Expression) -> exp.Expression:
        # It gives a moment of the session's zone, which is UTC.
        return cast(call("DATE_TRUNC", name, x), "TIMESTAMP")

    def shown(self, x: Piece) -> exp.Expression:
        return cast(x.sql, "VARCHAR")

    def bucket(self, owner: Sequence[exp.Expression]) -> exp.Expression:
        hashed = call("XXHASH64", *owner)
        return exp.Paren(this=exp.BitwiseAnd(this=hashed, expression=exp.Literal.number(2**14 - 1)))

    def digest(self, x: exp.Expression) -> exp.Expression:
        return call("MD5", x)


def joined(select: exp.Select) -> list[str]:
    """The relations that a SELECT joins, by their names."""
    joins = select.args.get("joins") or ()
    return [each.this.alias_or_name for each in joins if isinstance(each.this, exp.Table)]


def _exists(listed: exp.Select, conditions: Sequence[exp.Expression]) -> exp.Expression:
    return exp.Exists(this=listed.copy().select(whole(1), append=False).where(both(conditions)))


def _null(x: exp.Expr) -> exp.Expression:
    return exp.Paren(this=exp.Is(this=x.copy(), expression=exp.null()))


def _counted(node: exp.Anonymous) -> None:
    place = _COUNTS.get(node.name.upper())
    if place is not None and len(node.expressions) > place:
        given = node.expressions[place]
        node.expressions[place].replace(cast(given.copy(), "INTEGER"))


SPARK: Final = SparkDialect()
