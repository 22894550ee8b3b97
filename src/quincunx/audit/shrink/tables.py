"""Violations made small: fewer people, rows and columns, a simpler question, as long as they stay violations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

import sqlglot
from sqlglot import exp

from quincunx.audit.shrink.parts import without_parts
from quincunx.audit.tables.world import Pair, Piece, Row

# Whether each candidate is still a violation of the same part.
Test: TypeAlias = Callable[[str, Sequence[Pair]], Sequence[bool]]

# By table, the places of the columns that say whose a row is.
Owned: TypeAlias = Mapping[str, Sequence[int]]

_ROUNDS: Final = 40
# Candidates of one round are asked in one engine query, up to so many rows.
_ROWS: Final = 200_000
_CLAUSES: Final = ("having", "order", "limit", "offset", "where")


def shrink(sql: str, pair: Pair, owned: Owned, test: Test) -> tuple[str, Pair]:
    """A smaller question and pair with the same violation; owned columns keep their values."""
    for _ in range(_ROUNDS):
        pair_before, sql_before = pair, sql
        pair = _smaller_pair(sql, pair, owned, test)
        sql = _simpler_sql(sql, pair, test)
        if (pair, sql) == (pair_before, sql_before):
            break
    return sql, pair


def _smaller_pair(sql: str, pair: Pair, owned: Owned, test: Test) -> Pair:
    while True:
        found = next((kept for kept in _batches(sql, fewer(pair, owned), test)), None)
        if found is None:
            return pair
        pair = found


def _batches(sql: str, candidates: Iterator[Pair], test: Test) -> Iterator[Pair]:
    """Candidates that are still violations, asked in batches."""
    batch: list[Pair] = []
    for candidate in candidates:
        batch.append(candidate)
        if len(batch) >= 32 or sum(each.size for each in batch) > _ROWS:
            yield from (each for each, bad in zip(batch, test(sql, batch), strict=True) if bad)
            batch = []
    if batch:
        yield from (each for each, bad in zip(batch, test(sql, batch), strict=True) if bad)


def fewer(pair: Pair, owned: Owned) -> Iterator[Pair]:
    """Pairs with something left out, largest parts first; all are neighbours as the pair was."""
    for common in without_parts(pair.common):
        yield replace(pair, common=common)
    first, second = _owners(pair.before), _owners(pair.after)
    if len(first) == len(second) > 1:
        for one, other in zip(first, second, strict=True):
            yield replace(pair, before=_without(pair.before, one), after=_without(pair.after, other))
    # Adding and removing only: a replaced unit needs its counterpart.
    if len(first) != len(second) and len(first) + len(second) > 1:
        for one in first:
            yield replace(pair, before=_without(pair.before, one))
        for other in second:
            yield replace(pair, after=_without(pair.after, other))
    # What a unit has in one table, where it has something in another.
    for name in ("before", "after"):
        pieces: tuple[Piece, ...] = getattr(pair, name)
        for i, piece in enumerate(pieces):
            if sum(each.owner == piece.owner for each in pieces) > 1:
                fewer_pieces: dict[str, Any] = {name: (*pieces[:i], *pieces[i + 1 :])}
                yield replace(pair, **fewer_pieces)
    for name in ("common", "before", "after"):
        pieces = getattr(pair, name)
        for i, piece in enumerate(pieces):
            for rows in without_parts(piece.rows):
                if rows:
                    changed: dict[str, Any] = {name: (*pieces[:i], replace(piece, rows=rows), *pieces[i + 1 :])}
                    yield replace(pair, **changed)
    yield from _emptier(pair, owned)


def _emptier(pair: Pair, owned: Owned) -> Iterator[Pair]:
    """The pair with one column of a table NULL everywhere."""
    pieces = (*pair.common, *pair.before, *pair.after)
    for table in dict.fromkeys(piece.table for piece in pieces):
        rows = [row for piece in pieces if piece.table == table for row in piece.rows]
        for place in range(len(rows[0]) if rows else 0):
            if place not in owned.get(table, ()) and any(row[place] is not None for row in rows):
                yield replace(
                    pair,
                    common=_blank(pair.common, table, place),
                    before=_blank(pair.before, table, place),
                    after=_blank(pair.after, table, place),
                )


def _blank(pieces: tuple[Piece, ...], table: str, place: int) -> tuple[Piece, ...]:
    def blank(row: Row) -> Row:
        return (*row[:place], None, *row[place + 1 :])

    return tuple(
        replace(piece, rows=tuple(blank(row) for row in piece.rows)) if piece.table == table else piece
        for piece in pieces
    )


def _owners(pieces: tuple[Piece, ...]) -> list[tuple[str | None, ...]]:
    return list(dict.fromkeys(piece.owner for piece in pieces))


def _without(pieces: tuple[Piece, ...], owner: tuple[str | None, ...]) -> tuple[Piece, ...]:
    return tuple(piece for piece in pieces if piece.owner != owner)


def _simpler_sql(sql: str, pair: Pair, test: Test) -> str:
    tried = {sql}
    while True:
        for candidate in _simpler(sql):
            if candidate not in tried and len(candidate) < len(sql):
                tried.add(candidate)
                if test(candidate, [pair])[0]:
                    sql = candidate
                    break
        else:
            return sql


def _simpler(sql: str) -> Iterator[str]:
    """Questions with a clause, a column or an operator less; some of them cannot be read, and are no violation."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    for name in _CLAUSES:
        if tree.args.get(name):
            copy = tree.copy()
            copy.set(name, None)
            yield _written(copy)
    for i in range(len(tree.expressions) if len(tree.expressions) > 1 else 0):
        copy = tree.copy()
        copy.expressions.pop(i)
        yield _written(copy)
    group = tree.args.get("group")
    for i in range(len(group.expressions) if group else 0):
        copy = tree.copy()
        _ungroup(copy, i)
        yield _written(copy)
    nodes = [node for node in tree.walk() if isinstance(node, exp.Condition | exp.Filter)]
    for i in range(len(nodes)):
        for child in _children(nodes[i]):
            yield _written(_replaced(tree, i, child))


def _children(node: exp.Expr) -> list[exp.Expr]:
    found = [node.this] if isinstance(node, exp.Filter) else list(node.iter_expressions())
    return [each for each in found if isinstance(each, exp.Condition | exp.Filter)]


def _ungroup(select: exp.Expr, place: int) -> None:
    keys = select.args["group"].expressions
    gone = keys.pop(place)
    select.set("expressions", [each for each in select.expressions if each.unalias() != gone])
    if not keys:
        select.set("group", None)


def _replaced(tree: exp.Expr, place: int, child: exp.Expr) -> exp.Expr:
    copy = tree.copy()
    nodes = [node for node in copy.walk() if isinstance(node, exp.Condition | exp.Filter)]
    nodes[place].replace(child.copy())
    return copy


def _written(tree: exp.Expr) -> str:
    return tree.sql(dialect="duckdb")
