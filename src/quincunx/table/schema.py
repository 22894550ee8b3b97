"""What the curator declares about tables. Nothing here is read from private values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import ClassVar, Final

from quincunx.spec import AddRemove, Replace
from quincunx.table import canonical
from quincunx.table.canonical import Json
from quincunx.table.content import Content
from quincunx.table.expression import Value

# How many bytes of UTF-8 a text may have where nothing is declared, and what may be declared at most.
LENGTH: Final = 65_536
MAX_LENGTH: Final = 131_072


@dataclass(frozen=True, slots=True, kw_only=True)
class Auto:
    """A public ladder on which each sum of a column looks for its bound: from `first` > 0 to `last`, in its unit.

    negative: values are bounded on both sides of 0, by the same rung; otherwise what lies below 0 counts as 0.
    """

    first: Fraction
    last: Fraction
    negative: bool = False

    @property
    def rungs(self) -> tuple[Fraction, ...]:
        """1, 2 and 5 times the powers of ten between both ends, and the ends."""
        power, found = Fraction(1), {self.first, self.last}
        while power > self.first:
            power /= 10
        while power <= self.last:
            found |= {each for each in (power, 2 * power, 5 * power) if self.first < each < self.last}
            power *= 10
        return tuple(sorted(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSchema:
    """One column as it is seen by questions.

    type: integer, decimal, text, date, timestamp or boolean. bounds: values are clipped to [low, high] where they are
    read. span: the same for dates and timestamps, the first and the last. step: the lattice on which the column's sums
    are taken, in the column's unit. keys: the public values, the only ones that GROUP BY publishes; None: unknown.
    length: of texts, in bytes of UTF-8; a longer one is NULL. nullable: False where a row without a value is no row of
    the table: it is dropped where it is read, and counted nowhere. auto: instead of bounds, the ladder of its sums;
    values are not moved where they are read.
    """

    name: str
    type: str
    bounds: tuple[Fraction, Fraction] | None = None
    step: Fraction | None = None
    keys: tuple[Value, ...] | None = None
    length: int = LENGTH
    span: tuple[date, date] | None = None
    nullable: bool = True
    auto: Auto | None = None

    def or_missing(self) -> ColumnSchema:
        """The same where the row that shows it may be missing: NULL then, which is one of its keys, declared or not."""
        keys = None if self.keys is None else tuple(dict.fromkeys((*self.keys, None)))
        return replace(self, nullable=True, keys=keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of one unit of protection may count, in each question.

    rows: of its rows; groups: of its different groups; per_group: of its rows in one group. None: no limit of this
    kind. They bound by weighting, so no row is cut. joined: how many pairs of its rows a join may look at; who has more
    is left out of the join, before any pair is made. auto: instead of rows, each question chooses how many count, from
    1 to so many.
    """

    tag: ClassVar[str] = "Limits"

    rows: int | None = None
    groups: int | None = None
    per_group: int | None = None
    joined: int | None = None
    auto: int | None = None

    def instead(self, stated: Limits) -> Limits:
        """These, with those that are stated in their place."""
        found = replace(self, **{name: most for name, most in stated.stated.items() if most is not None})
        if stated.auto is not None:
            return replace(found, rows=None, auto=stated.auto)
        return found if stated.rows is None else replace(found, auto=None)

    @property
    def stated(self) -> dict[str, int | None]:
        """How much may count, by kind."""
        return {"rows": self.rows, "groups": self.groups, "per_group": self.per_group}

    def canonical(self) -> Json:
        """What names it in a ledger."""
        # Keys are older than joins.
        further: dict[str, Json] = {} if self.joined is None else {"joined": self.joined}
        further |= {} if self.auto is None else {"auto": self.auto}
        return canonical.node(self.tag, rows=self.rows, groups=self.groups, per_group=self.per_group, **further)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Whose the rows of a table are, where another table says it: those to whom the rows of `via` belong that have the
    same value of `on`. Several people may be linked to one row, and one person may be linked to it several times.
    """

    via: str
    on: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSchema:
    """One table: private ones have limits and the unit's key, or a link to it; public ones are anyone's to read.

    encoding: of a CSV file that is not UTF-8. marks: of a CSV file, the declared separator, decimal mark and mark
    between thousands; None where none was declared. content: of a public table, its rows.
    """

    name: str
    columns: tuple[ColumnSchema, ...]
    limits: Limits = Limits()
    public: bool = False
    encoding: str | None = None
    marks: tuple[str | None, str | None, str | None] | None = None
    link: Link | None = None
    content: Content | None = None

    @property
    def required(self) -> tuple[ColumnSchema, ...]:
        """The columns that are declared not NULL."""
        return tuple(column for column in self.columns if not column.nullable)

    def column(self, name: str) -> ColumnSchema | None:
        """The column of this name; names are compared without case, as SQL does."""
        return next((column for column in self.columns if column.name.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """All tables of a dataset, and the unit of protection."""

    tables: Mapping[str, TableSchema]
    unit: AddRemove | Replace

    def table(self, name: str) -> TableSchema | None:
        """The table of this name, compared without case."""
        return next((table for table in self.tables.values() if table.name.lower() == name.lower()), None)
