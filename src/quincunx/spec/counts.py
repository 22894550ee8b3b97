"""Counts by columns: the invariant that statistical offices publish most, as a value that can be computed and ordered.

Counts by more columns determine counts by fewer, so a scope can be compared without enumeration. In JSON a grouping is
its SQL, in one canonical spelling, which is read back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from quincunx.errors import SpecificationError
from quincunx.spec import label
from quincunx.spec.domain import Domain

_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")
_NAME: Final = r'(?:[a-z_][a-z0-9_]*|"(?:[^"]|"")+")'
_LIST: Final = rf"{_NAME}(?:, {_NAME})*"
_SQL: Final = re.compile(rf"SELECT ({_LIST}), COUNT\(\*\) FROM data GROUP BY \1")


@dataclass(frozen=True, slots=True, init=False)
class Counts:
    """The number of records for every combination of values of some columns.

    `columns`: at least one column, each once. Their order has no meaning; they are stored sorted.
    """

    columns: tuple[str, ...]

    def __init__(self, *columns: str) -> None:
        names = set(columns)
        named = all(isinstance(name, str) and name for name in columns)
        if not columns or not named or len(names) < len(columns):
            hint = 'Write the columns one by one: Counts("county", "age").'
            got = "no column" if not columns else "a column twice" if named else "what is no name"
            raise SpecificationError("expected different names of columns", where="Counts", got=got, hint=hint)
        object.__setattr__(self, "columns", tuple(sorted(columns)))

    def __repr__(self) -> str:
        return f"Counts({', '.join(repr(name) for name in self.columns)})"

    @property
    def name(self) -> str:
        """What the grouping is called unless it is given a name: "age × county"."""
        return " × ".join(self.columns)

    @property
    def sql(self) -> str:
        """The query that computes the counts; it identifies the grouping in JSON."""
        names = ", ".join(name if _PLAIN.fullmatch(name) else _quoted(name) for name in self.columns)
        return f"SELECT {names}, COUNT(*) FROM data GROUP BY {names}"

    @classmethod
    def from_sql(cls, text: str) -> Counts | None:
        """The grouping whose `sql` is `text`; None for any other text."""
        match = _SQL.fullmatch(text)
        if match is None:
            return None
        names = [_unquoted(name) for name in re.findall(_NAME, match[1])]
        found = cls(*names) if len(set(names)) == len(names) else None
        # Only the canonical spelling is read: another one may mean something else.
        return found if found is not None and found.sql == text else None

    def determines(self, other: Counts) -> bool:
        """Whether counts by these columns fix the counts by the other's: whether these contain the other's."""
        return set(other.columns) <= set(self.columns)

    def check(self, domain: Domain) -> None:
        """Raise SpecificationError unless the domain has the columns."""
        for name in self.columns:
            if domain.column(name) is None:
                hint = "Declare it in the domain's columns."
                raise SpecificationError(f"the domain has no column {name!r}", where=repr(self), hint=hint)

    def of(self, dataset: Hashable, domain: Domain) -> Hashable:
        """The counts, as sorted (values, count) pairs. Rows are tuples in the order of the domain's columns."""
        self.check(domain)
        places = [found[0] for found in (domain.column(name) for name in self.columns) if found is not None]
        totals: Counter[tuple[Hashable, ...]] = Counter()
        for row, count in domain.records(dataset).items():
            values: Sequence[Hashable] = row  # type: ignore[assignment]
            totals[tuple(values[place] for place in places)] += count
        return tuple(sorted(totals.items(), key=lambda item: label.order(item[0])))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
