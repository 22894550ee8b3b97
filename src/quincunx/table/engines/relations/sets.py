"""UNION ALL, INTERSECT and EXCEPT in SQL: rows are compared with their hidden owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emission import emit
from quincunx.table.engines.keys import normal, zeroless
from quincunx.table.engines.rows import Rows, Sources, layered, rows, select, table_name
from quincunx.table.engines.typed_sql import Piece, column, common
from quincunx.table.relations import Sets

_KINDS: Final[Mapping[str, tuple[type[exp.SetOperation], bool]]] = {
    "union_all": (exp.Union, False),
    "intersect": (exp.Intersect, True),
    "intersect_all": (exp.Intersect, False),
    "except": (exp.Except, True),
    "except_all": (exp.Except, False),
}


def written(d: Dialect, relation: Sets, sources: Sources) -> Rows:
    """Both sides with owners and columns in the same order and the same types."""
    name = table_name(relation)
    layers = [
        layered(d, rows(d, each, sources), chosen, f"l{place}{name}")
        for place, (each, chosen) in enumerate(zip(relation.inputs, (relation.left, relation.right), strict=True))
    ]
    below = [side for side, _ in layers]
    parts = [
        [zeroless(emit(d, each, side.columns, made)) for each in chosen]
        for (side, made), chosen in zip(layers, (relation.left, relation.right), strict=True)
    ]
    types = [common([one.type, two.type]) for one, two in zip(*parts, strict=True)]
    owners = {name: common([normal(d, side.owners[name]).type for side in below]) for name in below[0].owners}
    sides = []
    for side, part in zip(below, parts, strict=True):
        held = {name: normal(d, piece).to(owners[name]) for name, piece in side.owners.items()}
        chosen = [piece.to(kind) for piece, kind in zip(part, types, strict=True)]
        sides.append(
            select(d, Rows(relation=side.relation, columns={}, owners=held, conditions=side.conditions), chosen)
        )
    kind, distinct = _KINDS[relation.way]
    both = kind(this=sides[0], expression=sides[1], distinct=distinct)
    slots = [each.slot for each in relation.columns]
    return Rows(
        relation=exp.Subquery(this=both, alias=exp.TableAlias(this=exp.to_identifier(name))),
        columns={slot: Piece(sql=column(f"c{i}", name), type=types[i]) for i, slot in enumerate(slots)},
        owners={each: Piece(sql=column(each, name), type=kind_) for each, kind_ in owners.items()},
        conditions=(),
        before=(*below[0].before, *below[1].before),
    )
