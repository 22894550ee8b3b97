"""Votes for unknown keys: each unit keeps at most `groups` of its keys, by smallest hash. See ../measure.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.typed_sql import Piece, both, call, cast, choose, column, constant, text, whole
from quincunx.table.engines.weights import roots
from quincunx.table.measure import Selection


def canonical(d: Dialect, keys: Sequence[Piece]) -> exp.Expression:
    """One text for each combination of keys, different for different ones: lengths come before texts."""
    parts = []
    for key in keys:
        shown = d.shown(key)
        size = cast(d.text("length", shown), "VARCHAR")
        some = exp.DPipe(this=exp.DPipe(this=size, expression=text(":")), expression=shown.copy())
        parts.append(choose([(exp.Is(this=key.sql.copy(), expression=exp.null()), text("n"))], some))
    return parts[0] if len(parts) == 1 else d.text("concat", *parts)


# What is used more than once is computed once.
_ONCE: Final = ("pairs", "sizes")


def relations(
    d: Dialect, selection: Selection, owners: Sequence[str], groups: Sequence[str], hashed: Sequence[Piece]
) -> list[tuple[str, exp.Select, bool]]:
    """Relations that end with `votes`: keys and s, from the relation `kept`; and whether each is materialised.

    hashed: the columns that make a key.
    """
    keys = [column(name) for name in groups]
    number = exp.Count(this=exp.Star())
    if not owners:
        # Each row is one person, with one key.
        return [("votes", exp.select(*keys, exp.alias_(number, "s")).from_("kept").group_by(*keys), False)]
    who, most = [column(name) for name in owners], whole(selection.groups)
    pairs = exp.select(*who, *keys).distinct().from_("kept")
    sizes = exp.select(*who, exp.alias_(number, "t")).from_("pairs").group_by(*who)
    # Most people keep all their keys; only those with too many are put in order.
    few = _of(owners, groups).where(exp.LTE(this=column("t", "sizes"), expression=most))
    named = _of(owners, groups).where(exp.GT(this=column("t", "sizes"), expression=most.copy()))
    named = exp.select(*who, *keys, exp.alias_(canonical(d, hashed), "c")).from_(named.subquery("many"))
    order = exp.Order(expressions=[d.ordered(d.digest(column("c"))), d.ordered(column("c"))])
    place = exp.Window(this=exp.RowNumber(), partition_by=[each.copy() for each in who], order=order)
    ranked = exp.select(*who, *keys, exp.alias_(place, "r")).from_("named")
    first = exp.select(*who, *keys).from_("ranked").where(exp.LTE(this=column("r"), expression=most.copy()))
    chosen = exp.select(*who, *keys).from_(exp.union(few, first, distinct=False).subquery("both"))
    same = both([exp.EQ(this=column(name, "chosen"), expression=column(name, "shares")) for name in owners])
    share = Piece(sql=column("w", "shares"), type="BIGINT", bits=selection.bits)
    votes = (
        exp.select(*(column(name, "chosen") for name in groups), exp.alias_(d.total(share), "s"))
        .from_("chosen")
        .join("shares", on=same)
        .group_by(*(column(name, "chosen") for name in groups))
    )
    found = [
        ("pairs", pairs),
        ("sizes", sizes),
        ("named", named),
        ("ranked", ranked),
        ("chosen", chosen),
        *_shares(d, selection, who),
        ("votes", votes),
    ]
    return [(name, relation, name in _ONCE) for name, relation in found]


def _of(owners: Sequence[str], groups: Sequence[str]) -> exp.Select:
    """Pairs of owner and key, with the owner's number of keys at hand."""
    same = both([exp.EQ(this=column(name, "pairs"), expression=column(name, "sizes")) for name in owners])
    return exp.select(*(column(name, "pairs") for name in (*owners, *groups))).from_("pairs").join("sizes", on=same)


def _shares(d: Dialect, selection: Selection, who: list[exp.Expression]) -> list[tuple[str, exp.Select]]:
    """What one vote of each owner counts, in lattice units: ⌊2^bits/t⌋ or ⌊2^bits/√t⌋ = ⌊√⌊4^bits/t⌋⌋."""
    kept = Piece(sql=call("LEAST", column("t"), whole(selection.groups)), type="BIGINT")
    if selection.norm == 1 or selection.groups == 1:
        share = d.quotient(constant(1 << selection.bits), kept)
        return [("shares", exp.select(*who, exp.alias_(share, "w")).from_("sizes"))]
    quotient = d.quotient(constant(1 << 2 * selection.bits), kept)
    squares = exp.select(*who, exp.alias_(quotient, "q")).from_("sizes")
    return [("fractions", squares), *roots(d, "fractions", "shares", who)]
