"""What engines write each in their own way: the primitives that the one writer asks for. Their meaning: dialect.md.

Everything else that the writer uses is the same SQL on every engine: SELECT, CASE, COALESCE, NULLIF, LEAST, GREATEST,
BETWEEN, IN, comparisons, COUNT, +, − and · of whole numbers that are proved to fit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from sqlglot import exp

from quincunx.table.engines.typed_sql import Piece
from quincunx.table.schema import ColumnSchema


class Dialect(ABC):
    """One engine's way to write a statement. It has no state, and what it writes raises for no row.

    name: the language, as sqlglot prints it. types: a type of `Piece` → the engine's own, where it has another name.
    reads_again: rows of one state are read twice in less time than they are kept; a choice of speed. weighs_all: and in
    less time than that, all rows are joined to the weights of some people.
    """

    name: ClassVar[str]
    types: ClassVar[Mapping[str, str]] = {}
    reads_again: ClassVar[bool] = False
    weighs_all: ClassVar[bool] = False

    def written(self, tree: exp.Expression, *, pretty: bool = False) -> str:
        """The text of a statement."""
        if self.types:
            tree = tree.transform(self._typed)
        return tree.sql(dialect=self.name, pretty=pretty)

    def _typed(self, node: exp.Expression) -> exp.Expression:
        own = self.types.get(node.sql(dialect="duckdb")) if isinstance(node, exp.DataType) else None
        return node if own is None else exp.DataType.build(own, dialect=self.name)

    # Rows.

    @abstractmethod
    def value(self, declared: ColumnSchema, storage: str) -> Piece:
        """A column in its declared type, NULL where what is stored is no value of it; bounds are not looked at."""

    @abstractmethod
    def keys(self, name: str, places: str, kind: str) -> exp.Select:
        """Two parameters, a list of public keys of a type and their places, as the rows (v, i) of a relation."""

    @abstractmethod
    def same(self, x: exp.Expression, y: exp.Expression, *, nulls: bool) -> exp.Expression:
        """Whether two keys are one, in a form that joins fast; nulls: NULL is a key too, and equals itself."""

    @abstractmethod
    def semi(self, select: exp.Select, other: str, names: Sequence[str]) -> exp.Select:
        """The rows of `select` whose columns `names` stand in the relation `other`, each once."""

    @abstractmethod
    def anti(self, select: exp.Select, other: str, names: Sequence[str]) -> exp.Select:
        """The rows of `select` whose columns `names` do not stand in the relation `other`; NULL equals itself."""

    def among(self, tested: Sequence[exp.Expression], listed: exp.Select, sure: int) -> exp.Expression:  # noqa: ARG002
        """Whether values stand in a row of a relation, as IN says it: NULL where a NULL leaves that open.

        sure: so many of the first values are never NULL on either side.
        """
        row = tested[0] if len(tested) == 1 else exp.Tuple(expressions=list(tested))
        return exp.In(this=row, query=listed.subquery())

    @abstractmethod
    def materialised(self, once: bool | None) -> bool | None:
        """How a relation of WITH is marked. True: it must be worked out once; False: it is written out wherever it is
        named; None, as an argument: as the engine likes, and as a result: not at all.
        """

    def fenced(self, select: exp.Select) -> exp.Select:
        """A relation whose columns are worked out once for each row, and not written out wherever they are named."""
        return select

    @abstractmethod
    def ordered(self, x: exp.Expression) -> exp.Ordered:
        """A key to sort by: texts by their bytes, NULL last."""

    # Whole numbers.

    @abstractmethod
    def total(self, x: Piece) -> exp.Expression:
        """The exact sum of whole numbers, as wide as it comes; NULL over no rows."""

    @abstractmethod
    def quotient(self, x: Piece, y: Piece) -> exp.Expression:
        """x / y of whole numbers, cut toward zero; y is never 0, or it is NULL."""

    @abstractmethod
    def guarded(self, operation: exp.Expression) -> exp.Expression:
        """An operation on wide whole numbers; where its value is too large for the type, NULL. See `whole_range`."""

    @abstractmethod
    def root(self, q: exp.Expression) -> exp.Expression:
        """⌊√q⌋ of a whole number below 2^52, or one beside it."""

    def part_of(self, values: Sequence[exp.Expression], number: int) -> exp.Expression | None:  # noqa: ARG002
        """A BIGINT below a power of two, the same for the same values, and never NULL; None: not worth its time."""
        return None

    # Doubles.

    @abstractmethod
    def arithmetic(self, kind: type[exp.Binary], x: exp.Expression, y: exp.Expression) -> exp.Expression:
        """x + y, x − y, x · y or x / y of doubles of the language's range, as IEEE 754 says, and no error.

        Infinite or NaN where that is the value. Zero has no sign: x / 0 is infinite with the sign of x, and 0 / 0 is
        NaN or NULL. Operands are 0, from 2^−500 to 2^500 in size, or infinite, so that nothing finite overflows.
        """

    @abstractmethod
    def rounding(self, operator: str, x: exp.Expression, places: Sequence[int]) -> exp.Expression:
        """floor, ceil, trunc or round of a double of the range, as a double; the infinite stays as it is.

        round: t = x·10^places in doubles, to the nearest whole number, halves away from zero; then t / 10^places.
        """

    @abstractmethod
    def finite(self, x: exp.Expression) -> exp.Expression:
        """Whether a double is neither infinite nor NaN; NULL of NULL."""

    @abstractmethod
    def floor_within(self, x: exp.Expression, low: int, high: int) -> exp.Expression:
        """⌊x⌋ of a double that is no NaN, moved between two whole numbers within ±2^62, as a BIGINT."""

    # Other values.

    @abstractmethod
    def matches(self, x: exp.Expression, pattern: str) -> exp.Expression:
        """Whether a whole text is of a pattern; NULL of NULL.

        Patterns are ASCII and use [ ], ( ), |, ?, *, {m,n} and an escaped point alone, which mean one thing everywhere.
        """

    @abstractmethod
    def attempt(self, x: Piece, kind: str) -> exp.Expression:
        """x as a value of another type, NULL where it is none.

        A text was matched by the grammar of the type (grammar.py), so that it has a value; a double is a whole number
        that the type holds, and is converted exactly. Both stand in a CASE that has tested it.
        """

    @abstractmethod
    def text(self, operator: str, *arguments: exp.Expression) -> exp.Expression:
        """A function of text, by its name in `operators`; upper, lower and ilike are written with TRANSLATE instead."""

    @abstractmethod
    def part(self, name: exp.Expression, x: exp.Expression) -> exp.Expression:
        """A part of a date or a moment, as a BIGINT; `name` is a constant."""

    @abstractmethod
    def trunc(self, name: exp.Expression, x: exp.Expression) -> exp.Expression:
        """The moment at which a moment's year, month, … began; `name` is a constant."""

    @abstractmethod
    def shown(self, x: Piece) -> exp.Expression:
        """One text for each value of a key, different for different ones."""

    @abstractmethod
    def bucket(self, owner: Sequence[exp.Expression]) -> exp.Expression:
        """A whole number below 2^14, the same for the same values of a type, none of them NULL."""

    @abstractmethod
    def digest(self, x: exp.Expression) -> exp.Expression:
        """MD5 of a text's UTF-8 bytes, as 32 small hexadecimal digits."""
