"""The domain 𝒳: who is eligible for protection? The set of datasets that could have been.

`Tables` and `Histogram` are too large to list; `Finite` is a list, and the guarantee can be checked on it by
enumeration. A row is a tuple of values in the declared order of the columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product
from math import comb
from typing import ClassVar, Final

from quincunx.errors import SpecificationError, kind_of
from quincunx.numbers import positive_integer
from quincunx.spec import label
from quincunx.spec.wording import listed, tex

TYPES: Final = ("integer", "decimal", "text", "date", "timestamp", "boolean")
MAX_DATASETS: Final = 20_000


class Domain(ABC):
    """A set of datasets."""

    __slots__ = ()
    kind: ClassVar[str]

    @property
    def ordered(self) -> bool:
        """Whether the position of a record in a dataset matters."""
        return False

    @abstractmethod
    def column(self, name: str) -> tuple[int, str | None] | None:
        """Position and type of a column (type None where it is not declared), or None if there is no such column."""

    @abstractmethod
    def records(self, dataset: Hashable) -> Counter[Hashable]:
        """How often each record occurs in the dataset."""

    def covers(self, other: Domain) -> bool:
        """Whether every dataset of `other` is a dataset of this domain, with the same meaning."""
        return self == other

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """The block in JSON."""

    @abstractmethod
    def words(self) -> str:
        """The block in plain English."""

    @abstractmethod
    def latex(self) -> str:
        """The block in LaTeX."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables(Domain):
    """All tables with the declared columns, of any number of rows; the order of rows has no meaning.

    `columns`: name → type, one of integer, decimal, text, date, timestamp, boolean. Of several tables, columns that are
    not the person's are named table.column. `links`: (table, via, on): whose the rows of a table are, where another
    says it: a row belongs to everybody to whom a row of `via` with the same value of `on` belongs.
    """

    kind: ClassVar[str] = "tables"
    columns: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str, str], ...]

    def __init__(
        self,
        *,
        columns: Mapping[str, str] | Iterable[tuple[str, str]],
        links: Iterable[tuple[str, str, str]] = (),
    ) -> None:
        pairs = tuple(columns.items() if isinstance(columns, Mapping) else (tuple(pair) for pair in columns))
        _check_names([pair[0] for pair in pairs], "Tables(columns)")
        for name, kind in pairs:
            if kind not in TYPES:
                hint = f"Choose among {', '.join(TYPES)}."
                got = repr(kind)
                raise SpecificationError(f"column {name!r} has an unknown type", where="Tables", got=got, hint=hint)
        led = tuple((str(table), str(via), str(on)) for table, via, on in links)
        known = {name.lower() for name, _ in pairs}
        for table, via, on in led:
            # The column of `via` may be one of the person's.
            if f"{table}.{on}".lower() not in known or not known & {f"{via}.{on}".lower(), on.lower()}:
                hint = 'Write ("bills", "encounters", "encounter_id"): two tables, and a column of both.'
                raise SpecificationError("a link leads nowhere", where="Tables(links)", got=table, hint=hint)
        object.__setattr__(self, "columns", pairs)
        object.__setattr__(self, "links", led)

    def column(self, name: str) -> tuple[int, str | None] | None:
        return next(((i, kind) for i, (column, kind) in enumerate(self.columns) if column == name), None)

    def records(self, dataset: Hashable) -> Counter[Hashable]:
        return Counter(_rows(dataset, len(self.columns)))

    def covers(self, other: Domain) -> bool:
        same = isinstance(other, Tables) and dict(self.columns) == dict(other.columns)
        return same and isinstance(other, Tables) and set(self.links) == set(other.links)

    def to_json(self) -> dict[str, object]:
        links = [{"table": table, "via": via, "on": on} for table, via, on in self.links]
        columns = [{"name": name, "type": kind} for name, kind in self.columns]
        return {"kind": self.kind, "columns": columns, **({"links": links} if links else {})}

    def words(self) -> str:
        columns = listed([f"{name} ({kind})" for name, kind in self.columns])
        noun = "column" if len(self.columns) == 1 else "columns"
        first = f"Everyone who is, or could have been, in a table with the {noun} {columns}."
        if not any("." in name for name, _ in self.columns):
            return first
        together = "A name before a dot is that of a table; one person is all their rows in all tables together."
        return " ".join((first, together, *(self._linked(*link) for link in self.links)))

    @staticmethod
    def _linked(table: str, via: str, on: str) -> str:
        return (
            f"A row of {table} belongs to everybody to whom a row of {via} with the same {on} belongs. Who leaves "
            f"takes along their rows of {via} and those rows of {table} that lead to nobody else; a row that others "
            "share stays with them, and what it says about the one who left is not protected."
        )

    def latex(self) -> str:
        return tex("tables with the columns " + ", ".join(name for name, _ in self.columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Domain):
    """All histograms over fixed cells. A dataset is the tuple of counts, one whole number ≥ 0 per cell; each
    person is counted in exactly one cell.

    `cells`: the labels of the cells, or how many there are.
    """

    kind: ClassVar[str] = "histogram"
    cells: tuple[Hashable, ...] | int

    def __init__(self, *, cells: Iterable[Hashable] | int) -> None:
        if isinstance(cells, Iterable) and not isinstance(cells, str):
            names = tuple(label.check(cell, "Histogram(cells)") for cell in cells)
            if not names or len(set(names)) < len(names):
                raise SpecificationError(
                    "the cells must be different labels, at least one", where="Histogram", got=f"{len(names)} labels"
                )
            object.__setattr__(self, "cells", names)
        else:
            object.__setattr__(self, "cells", positive_integer(cells, "Histogram(cells)"))

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.cells if isinstance(self.cells, int) else len(self.cells)

    def column(self, name: str) -> tuple[int, str | None] | None:  # noqa: ARG002 - a histogram has cells, no columns
        return None

    def records(self, dataset: Hashable) -> Counter[Hashable]:
        counts = dataset if isinstance(dataset, tuple) else ()
        whole = all(isinstance(count, int) and count >= 0 for count in counts)
        if len(counts) != self.size or not whole:
            hint = "Write the counts, whole numbers from 0, in the order of the cells."
            got = f"{type(dataset).__name__} of length {len(counts)}"
            raise SpecificationError(f"expected a tuple of {self.size} counts", where="Histogram", got=got, hint=hint)
        return Counter({cell: count for cell, count in enumerate(counts) if count})

    def to_json(self) -> dict[str, object]:
        cells = self.cells if isinstance(self.cells, int) else [label.to_json(cell) for cell in self.cells]
        return {"kind": self.kind, "cells": cells}

    def words(self) -> str:
        noun = "cell" if self.size == 1 else "cells"
        names = "" if isinstance(self.cells, int) else f" {listed([str(cell) for cell in self.cells])}"
        return f"Everyone who is, or could have been, counted in a table of counts with the {self.size} {noun}{names}."

    def latex(self) -> str:
        return rf"\mathbb{{N}}^{{{self.size}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finite(Domain):
    """A world small enough to list.

    `datasets`: the datasets. Each is a label, or a tuple of records. Unordered (the default): a tuple of records
    is a multiset and is stored sorted. `ordered`: a tuple of records is a vector, and positions matter.
    `columns`: names of the fields when every record is a tuple of that many values; a unit with a key needs them.
    """

    kind: ClassVar[str] = "finite"
    datasets: tuple[Hashable, ...]
    ordered: bool = False
    columns: tuple[str, ...] | None = None
    _members: frozenset[Hashable] = field(init=False, repr=False, compare=False)

    def __init__(
        self, *, datasets: Iterable[Hashable], ordered: bool = False, columns: Iterable[str] | None = None
    ) -> None:
        object.__setattr__(self, "ordered", bool(ordered))
        object.__setattr__(self, "columns", None if columns is None else tuple(columns))
        if self.columns is not None:
            _check_names(self.columns, "Finite(columns)")
        listed = tuple(self.canonical(label.check(dataset, "Finite(datasets)")) for dataset in datasets)
        members = frozenset(listed)
        if not listed:
            raise SpecificationError("a world needs at least one dataset", where="Finite", got="none")
        if len(listed) > MAX_DATASETS:
            raise _too_many(len(listed))
        if len(members) < len(listed):
            hint = "Without ordered=True, tuples that differ only in the order of records are one dataset."
            raise SpecificationError("the same dataset is listed twice", where="Finite", hint=hint)
        if self.columns is not None:
            for dataset in listed:
                _rows(dataset, len(self.columns))
        object.__setattr__(self, "datasets", listed)
        object.__setattr__(self, "_members", members)

    @classmethod
    def multisets(
        cls, universe: Iterable[Hashable], sizes: int | Iterable[int], *, columns: Iterable[str] | None = None
    ) -> Finite:
        """All multisets of records from `universe` whose number of records is in `sizes`."""
        records = tuple(universe)
        wanted = (sizes,) if isinstance(sizes, int) else tuple(sizes)
        if any(size < 0 for size in wanted):
            raise SpecificationError("a dataset cannot have fewer than 0 records", where="Finite.multisets")
        total = sum(comb(len(records) + size - 1, size) if records else size == 0 for size in wanted)
        if total > MAX_DATASETS:
            raise _too_many(total)
        listed = (tuple(chosen) for size in wanted for chosen in combinations_with_replacement(records, size))
        return cls(datasets=listed, columns=columns)

    @classmethod
    def vectors(cls, universe: Iterable[Hashable], n: int, *, columns: Iterable[str] | None = None) -> Finite:
        """𝒰^n: all vectors of exactly n records from `universe`. No two of them differ by adding a record."""
        records = tuple(universe)
        length = positive_integer(n, "Finite.vectors(n)")
        # Above 64 the power alone would be an enormous integer; two records make it too many already.
        total = len(records) ** min(length, 64)
        if total > MAX_DATASETS:
            raise _too_many(total)
        return cls(datasets=product(records, repeat=length), ordered=True, columns=columns)

    def canonical(self, dataset: Hashable) -> Hashable:
        """The dataset as it is stored: a multiset of records is sorted."""
        if self.ordered or not isinstance(dataset, tuple):
            return dataset
        return tuple(sorted(dataset, key=label.order))

    def __contains__(self, dataset: Hashable) -> bool:
        return self.canonical(dataset) in self._members

    def column(self, name: str) -> tuple[int, str | None] | None:
        columns = self.columns or ()
        return (columns.index(name), None) if name in columns else None

    def records(self, dataset: Hashable) -> Counter[Hashable]:
        return Counter(_rows(dataset, None))

    def covers(self, other: Domain) -> bool:
        return (
            isinstance(other, Finite)
            and (self.ordered, self.columns) == (other.ordered, other.columns)
            and other._members <= self._members
        )

    def to_json(self) -> dict[str, object]:
        data: dict[str, object] = {"kind": self.kind, "datasets": [label.to_json(x) for x in self.datasets]}
        data["ordered"] = self.ordered
        if self.columns is not None:
            data["columns"] = list(self.columns)
        return data

    def words(self) -> str:
        count = len(self.datasets)
        world = f"a small world of {count} possible dataset{'' if count == 1 else 's'}, all of them listed"
        order = ", in which each record has its fixed place" if self.ordered else ""
        return f"Everyone in {world}{order}, so that the guarantee can be checked case by case."

    def latex(self) -> str:
        return tex(f"a list of {len(self.datasets)} datasets")


def _check_names(names: Iterable[object], where: str) -> None:
    seen: set[object] = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise SpecificationError("a column's name must be a text", where=where, got=kind_of(name))
        if name in seen:
            raise SpecificationError(f"column {name!r} is declared twice", where=where)
        seen.add(name)
    if not seen:
        raise SpecificationError("at least one column must be declared", where=where, got="none")


def _rows(dataset: Hashable, width: int | None) -> tuple[Hashable, ...]:
    if not isinstance(dataset, tuple):
        hint = "Write the dataset as a tuple of records, or use unit.Neighbours or unit.Metric, which need labels only."
        raise SpecificationError("this dataset is a label without records", got=kind_of(dataset), hint=hint)
    for row in dataset:
        if width is not None and (not isinstance(row, tuple) or len(row) != width):
            got = f"{len(row)} values" if isinstance(row, tuple) else type(row).__name__
            hint = "Give each record one value per column, in the declared order."
            raise SpecificationError(f"a record must be a tuple of {width} values", got=got, hint=hint)
    return dataset


def _too_many(count: int) -> SpecificationError:
    hint = "Take a smaller universe or fewer records; a proof by enumeration needs only the smallest worlds."
    return SpecificationError(
        f"a finite world has at most {MAX_DATASETS:,} datasets", where="Finite", got=f"{count:,}", hint=hint
    )


def from_json(data: Mapping[str, object]) -> Domain:
    """The domain that `to_json` wrote. The schema has been checked by the caller."""
    content = {key: value for key, value in data.items() if key != "kind"}
    return _READERS[str(data["kind"])](content)


def _read_tables(data: Mapping[str, object]) -> Domain:
    columns: list[dict[str, str]] = data["columns"]  # type: ignore[assignment]
    links: list[dict[str, str]] = data.get("links", [])  # type: ignore[assignment]
    return Tables(
        columns=[(column["name"], column["type"]) for column in columns],
        links=[(link["table"], link["via"], link["on"]) for link in links],
    )


def _read_histogram(data: Mapping[str, object]) -> Domain:
    cells: int | list[object] = data["cells"]  # type: ignore[assignment]
    return Histogram(cells=cells if isinstance(cells, int) else [label.from_json(cell, "cells") for cell in cells])


def _read_finite(data: Mapping[str, object]) -> Domain:
    datasets: list[object] = data["datasets"]  # type: ignore[assignment]
    columns: list[str] | None = data.get("columns")  # type: ignore[assignment]
    ordered = bool(data.get("ordered", False))
    return Finite(datasets=[label.from_json(x, "datasets") for x in datasets], ordered=ordered, columns=columns)


_READERS: Final = {"tables": _read_tables, "histogram": _read_histogram, "finite": _read_finite}
