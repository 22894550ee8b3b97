"""A relation in SQL: what stands in FROM, its columns, its hidden owner, and what is true of its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlglot import exp

from quincunx.errors import QueryError
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emission import emit
from quincunx.table.engines.keys import normal
from quincunx.table.engines.lattice import present
from quincunx.table.engines.typed_sql import Piece, text
from quincunx.table.expression import Slot
from quincunx.table.relations import Filter, Owner, Relation, Scan


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the rows of one scan come from: a relation of SQL, its columns by name and as they are read.

    unclipped: the same columns before bounds move values, by names in lower case; owners are made of them. once: the
    relation may change while it is read (a file), so it must be read exactly once. required: what every row has, or it
    is no row of the table.
    """

    relation: exp.Expression
    names: tuple[str, ...]
    columns: Mapping[str, Piece]
    unclipped: Mapping[str, Piece]
    once: bool = False
    required: tuple[Piece, ...] = ()


# The sources of a program, by the numbers of its scans.
Sources = Mapping[int, Source]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A relation in SQL. owners: the hidden columns that say whose a row is, by their names in the statement."""

    relation: exp.Expression
    columns: Mapping[Slot, Piece]
    owners: Mapping[str, Piece]
    conditions: tuple[exp.Expression, ...]


def rows(d: Dialect, relation: Relation, sources: Sources) -> Rows:
    """The relation over these sources."""
    write = WRITERS.get(type(relation))
    if write is None:
        raise QueryError("the engine runs planned questions on its own tables", where="engine")
    return write(d, relation, sources)


def _scan(d: Dialect, scan: Scan, sources: Sources) -> Rows:
    source = sources[scan.number]
    columns = {Slot(name, scan.number): source.columns[name.lower()] for name in source.names}
    owners = {} if scan.owner is None else hidden(d, scan.owner, source)
    conditions = [_owned(d, piece) for piece in owners.values()]
    conditions += [present(d, piece) for piece in source.required]
    return Rows(relation=source.relation, columns=columns, owners=owners, conditions=tuple(conditions))


def hidden(d: Dialect, owner: Owner, source: Source) -> dict[str, Piece]:
    """The owner of each row, read before anything moves its columns' values."""
    found = {}
    for place, component in enumerate(owner.components):
        piece = source.unclipped[component.column.name.lower()]
        if component.period is not None:
            moment = piece.to("TIMESTAMP").sql
            piece = Piece(sql=d.trunc(text(component.period), moment), type="TIMESTAMP")
        found[f"o{place}"] = piece
    return found


def _owned(d: Dialect, piece: Piece) -> exp.Expression:
    # The same expression as the owner itself: a key that is no value belongs to nobody and must not be kept.
    owner = exp.Paren(this=normal(d, piece).sql)
    return exp.Paren(this=exp.Not(this=exp.Is(this=owner, expression=exp.null())))


def _filter(d: Dialect, relation: Filter, sources: Sources) -> Rows:
    below = rows(d, relation.source, sources)
    return replace(below, conditions=(emit(d, relation.condition, below.columns).sql, *below.conditions))


WRITERS: Final[Mapping[type[Relation], Callable[[Dialect, Any, Sources], Rows]]] = {Scan: _scan, Filter: _filter}
