"""FROM with several tables: joins of private tables within each person, and with public tables.

A condition only licenses a join: it must say that both sides are about the same person, because that is what will be
computed. Pairs are made by hidden owners (`engines/relations/pairing.py`), so that what is read here can give a wrong
number and never another person's row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from sqlglot import exp

from quincunx.table.expression import Call, Column, Expression
from quincunx.table.operators import apply
from quincunx.table.relations import JOINED, Component, Filter, Join, Kind, Link, Lookup, Relation, allowed
from quincunx.table.sql.licence import moved
from quincunx.table.sql.names import Rows
from quincunx.table.sql.relation import Reading
from quincunx.table.sql.relations.matches import matches

_SIDES: Final = ("", "LEFT", "RIGHT", "FULL")
_KINDS: Final = ("", "INNER", "CROSS", "OUTER")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One join. item, right: what is joined. conjuncts: what must all be true of a pair. side: LEFT, RIGHT, FULL or "".

    lacking: of LEFT and RIGHT whose own conditions do not say that both sides are about one person, the columns that
    show whose a row is and are NULL where it has no partner.
    """

    node: exp.Join
    side: str
    item: Rows
    right: Relation
    conjuncts: tuple[Expression, ...]
    lacking: frozenset[Expression] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Joins:
    """How FROM is joined, while WHERE may still say that both sides of a join are about one person."""

    first: Relation
    steps: tuple[_Step, ...]


def joined(reading: Reading, nodes: Sequence[exp.Join], first: Rows) -> tuple[Rows, Joins]:
    """The rows of FROM with its joins, for the names in WHERE; `licensed` makes of them what is computed."""
    rows = first
    steps: list[_Step] = []
    for node in nodes:
        side = _side(reading, node)
        if side in ("RIGHT", "FULL") and any(_comma(each.node) for each in steps):
            hint = "Write CROSS JOIN in place of the comma."
            raise reading.text.mistake(node.this, f"a comma before {side} JOIN is read in two ways", hint=hint)
        rows, step = _next(reading, node, side, rows, reading.item(node.this, rows.known))
        steps.append(step)
    return rows, Joins(first=first.relation, steps=tuple(steps))


def settled(reading: Reading, joins: Joins, first: Rows, where: Sequence[Expression]) -> tuple[Rows, Joins] | None:
    """The same with inner joins in the place of those that keep rows without a partner, all of which WHERE drops.

    It does where it equates whose the partner is with anything: NULL equals nothing. None where there is no such join
    that needs it. See relations/join.md.
    """
    parts = {part for each in where for one in conjuncts(each) if _equality(one) for part in one.parts}
    if not any(step.lacking & parts for step in joins.steps) or any(step.side == "FULL" for step in joins.steps):
        return None
    rows = first
    steps: list[_Step] = []
    for each in joins.steps:
        rows, step = _next(reading, each.node, "" if each.lacking & parts else each.side, rows, each.item)
        steps.append(step)
    return rows, Joins(first=first.relation, steps=tuple(steps))


def licensed(reading: Reading, rows: Rows, joins: Joins, where: Sequence[Expression]) -> Rows:
    """The joined rows for which these conditions of WHERE are true; they license inner joins as ON does.

    RefusalError where a join would pair different people.
    """
    given = [part for each in where for part in conjuncts(each)]
    inner = all(step.side in ("", "LEFT") for step in joins.steps)
    # What every row of the result must satisfy: of no use below a join that keeps rows which do not.
    known = [*given, *(each for step in joins.steps if not step.side for each in step.conjuncts)] if inner else []
    relation, dropped = joins.first, set[Expression]()
    for step in joins.steps:
        relation, found = _licensed(reading, rows, relation, step, known if not step.side else ())
        dropped |= found
    times = prod(max(1, each.matches) for each in relation.walk() if isinstance(each, Lookup))
    if times > JOINED:
        what = f"one row would meet more than {JOINED:,} rows of public tables"
        hint = "Join fewer public tables, or on more columns."
        raise reading.text.refusal(joins.steps[-1].node.this, what, hint=hint)
    return replace(rows, relation=_filtered(relation, [each for each in given if each not in dropped]))


def conjuncts(condition: Expression | None) -> tuple[Expression, ...]:
    """The conditions that must all be true."""
    if condition is None:
        return ()
    if isinstance(condition, Call) and condition.operator == "and":
        return tuple(part for each in condition.arguments for part in conjuncts(each))
    return (condition,)


def _next(reading: Reading, node: exp.Join, side: str, rows: Rows, right: Rows) -> tuple[Rows, _Step]:
    for name, _ in right.tables:
        if name and rows.has(name):
            hint = "Give one of them another name: visits AS v."
            raise reading.text.mistake(node.this, "two tables in FROM have this name", got=repr(name), hint=hint)
    if reading.schema.unit.key is None:
        hint = 'Name the column that identifies a person in the unit of protection: AddRemove(key="person_id").'
        what = "each row is a person of its own here, and a join could repeat it"
        raise reading.text.refusal(node.this, what, hint=hint)
    # Names in ON are of both sides, before any of their columns may be missing.
    pairs = _pairing(reading, node, rows.relation, right.relation, "inner")
    scope = replace(rows, relation=pairs, tables=(*rows.tables, *right.tables))
    found = _conditions(reading, node, rows, right, replace(scope, given=(), outer=None))
    step = _Step(node=node, side=side, item=right, right=right.relation, conjuncts=found)
    relation = _step(reading, rows.relation, step, found)
    shown = {each: own for own, each in getattr(relation, "supplied", ())}
    if isinstance(relation, Join) and relation.kind == "left" and _missing(rows.relation, step, found):
        places = range(len(_components(relation.right)))
        own = (own for each, own in shown.items() if any(relation.right.licenses(place, each) for place in places))
        step = replace(step, lacking=frozenset(own))

    def lifted(expression: Expression) -> Expression:
        return expression.rewrite(lambda each: shown.get(each, each) if isinstance(each, Column) else each)

    merged = {name: (each, lifted(one)) for name, (each, one) in rows.merged.items()}
    for name in node.args.get("using") or ():
        one, other = (
            lifted(rows.resolve(_column(name), reading.text)),
            lifted(right.resolve(_column(name), reading.text)),
        )
        whose = {"RIGHT": other, "FULL": apply("coalesce", one, other)}.get(side, one)
        merged[name.name.lower()] = (name.name, whose)
    named = tuple((name, tuple(shown.get(each, each) for each in columns)) for name, columns in scope.tables)
    return replace(scope, relation=reading.shallow(node, relation), tables=named, merged=merged), step


def _side(reading: Reading, node: exp.Join) -> str:
    side, kind = str(node.args.get("side") or ""), str(node.args.get("kind") or "")
    if kind in ("SEMI", "ANTI"):
        hint = f"Write WHERE {'' if kind == 'SEMI' else 'NOT '}EXISTS (SELECT 1 FROM … WHERE …)."
        raise reading.text.refusal(node.this, f"{kind} JOIN is not understood", hint=hint)
    if side not in _SIDES or kind not in _KINDS or (kind == "OUTER" and not side):
        raise reading.text.refusal(node.this, "this kind of join is not understood", hint="Write JOIN … ON ….")
    if side and not node.args.get("on") and not node.args.get("using"):
        raise reading.text.mistake(node.this, f"{side} JOIN needs ON", hint="Write ON a.x = b.x.")
    return side


def _comma(node: exp.Join) -> bool:
    return not any(node.args.get(part) for part in ("on", "using", "kind", "side"))


def _column(name: exp.Identifier) -> exp.Column:
    found = exp.Column(this=name.copy())
    found.meta.update(name.meta)
    return found


def _conditions(reading: Reading, node: exp.Join, left: Rows, right: Rows, scope: Rows) -> tuple[Expression, ...]:
    on = node.args.get("on")
    if on is not None:
        return conjuncts(reading.test(on, scope, where="ON"))
    found = []
    for name in node.args.get("using") or ():
        one, other = left.resolve(_column(name), reading.text), right.resolve(_column(name), reading.text)
        if one.type != other.type:
            what = f"{name.name} is {one.type} here and {other.type} there"
            raise reading.text.mistake(name, what, hint="Declare one type for both columns.")
        found.append(reading.measured(name, apply("equal", one, other), scope))
    return tuple(found)


def _pairing(reading: Reading, node: exp.Join, left: Relation, right: Relation, kind: Kind) -> Join | Lookup:
    """A join of its kind; a public side stands on the right."""
    if left.owner is None or right.owner is None:
        rows, public = (left, right) if right.owner is None else (right, left)
        return Lookup(left=rows, right=public, kind=kind, joined=allowed(rows.limits))
    for one, other in zip(left.owner.components, right.owner.components, strict=True):
        if one.column.type != other.column.type:
            what = (
                f"{one.column.name} is {one.column.type} here and {other.column.type} there, so that people could mix"
            )
            raise reading.text.refusal(node.this, what, hint="Declare one type for both columns.")
    return Join(left=left, right=right, kind=kind, joined=allowed(left.limits, right.limits))


def _step(reading: Reading, left: Relation, step: _Step, found: Sequence[Expression]) -> Relation:
    """The join with these conditions left to be tested: an inner one below a filter."""
    if not step.side:
        return _filtered(_pairing(reading, step.node, left, step.right, "inner"), found)
    condition = None if not found else found[0] if len(found) == 1 else apply("and", *found)
    one, other = (step.right, left) if step.side == "RIGHT" else (left, step.right)
    if (one.owner is None and other.owner is not None) or (step.side == "FULL" and None in (one.owner, other.owner)):
        raise _preserved(reading, step, one if one.owner is None else other, other if one.owner is None else one)
    pairs = _pairing(reading, step.node, one, other, "full" if step.side == "FULL" else "left")
    return replace(pairs, condition=condition).with_supplied()


def _preserved(reading: Reading, step: _Step, public: Relation, private: Relation) -> Exception:
    """Rows of a public table that would show that nobody has them."""
    names = [" and ".join(table.name for table in each.tables.values()) for each in (public, private)]
    if private.owner is None:
        return reading.text.refusal(
            step.node.this, "FULL JOIN of public tables is not understood", hint="Write LEFT JOIN."
        )
    what = f"{names[0]} is public and would keep its rows even where nobody matches, which reveals that"
    hint = f"Write FROM {names[1]} JOIN {names[0]}; {names[0]} without people come from the declared keys."
    return reading.text.refusal(step.node.this, what, hint=hint)


def _filtered(relation: Relation, found: Sequence[Expression]) -> Relation:
    if not found:
        return relation
    return Filter(source=relation, condition=found[0] if len(found) == 1 else apply("and", *found))


def _licensed(
    reading: Reading, rows: Rows, left: Relation, step: _Step, known: Iterable[Expression]
) -> tuple[Relation, set[Expression]]:
    """The join, once its conditions say that both sides are about one person; what they say of that is left out."""
    equal = [each for each in dict.fromkeys((*step.conjuncts, *known)) if _equality(each)]
    if left.owner is None or step.right.owner is None:
        return _looked_up(reading, left, step, tuple(dict.fromkeys((*step.conjuncts, *known)))), set()
    missing = _missing(left, step, equal)
    if missing:
        raise _unlicensed(reading, rows, left, step, missing)
    places, right = range(len(left.owner.components)), step.right

    def one_person(each: Expression) -> bool:
        x, y = each.parts
        return any(
            (left.licenses(i, x) and right.licenses(i, y)) or (left.licenses(i, y) and right.licenses(i, x))
            for i in places
        )

    true = {each for each in equal if one_person(each)}
    return _step(reading, left, step, [each for each in step.conjuncts if each not in true]), true


def _missing(left: Relation, step: _Step, known: Iterable[Expression]) -> list[int]:
    """The components of the owner that these conditions do not equate on both sides."""
    said, right = _classes([each for each in known if _equality(each)]), step.right

    def equated(place: int) -> bool:
        return any(
            any(left.licenses(place, x) for x in one) and any(right.licenses(place, x) for x in one) for one in said
        )

    return [place for place in range(len(_components(left))) if not equated(place)]


def _components(relation: Relation) -> tuple[Component, ...]:
    return () if relation.owner is None else relation.owner.components


def _looked_up(reading: Reading, left: Relation, step: _Step, known: tuple[Expression, ...]) -> Relation:
    public = step.right if step.right.owner is None else left
    for table in public.tables.values():
        if table.content is not None and table.content.columns is None:
            hint = "Make a smaller public table of the rows that are needed."
            raise reading.text.refusal(step.node.this, f"{table.name} is too large to be looked up", hint=hint)
    found = _step(reading, left, step, step.conjuncts)
    times = matches(public, known, reading.evaluate)
    return _times(found, times)


def _times(relation: Relation, times: int) -> Relation:
    if isinstance(relation, Filter):
        return replace(relation, source=_times(relation.source, times))
    return replace(relation, matches=times) if isinstance(relation, Lookup) else relation


def _equality(each: Expression) -> bool:
    return isinstance(each, Call) and each.operator == "equal"


def _classes(equal: Sequence[Expression]) -> list[set[Expression]]:
    """Expressions that are equal by these conditions, together."""
    found: list[set[Expression]] = []
    for each in equal:
        together = set(each.parts)
        apart = [one for one in found if not one & together]
        found = [*apart, together.union(*(one for one in found if one & together))]
    return found


def _unlicensed(reading: Reading, rows: Rows, left: Relation, step: _Step, missing: list[int]) -> Exception:
    """Why this join pairs different people, and what to write."""
    node = step.node.args.get("on") or step.node.this
    unit, owner = reading.schema.unit, left.owner
    sides = [each.owner.components for each in (left, step.right) if each.owner is not None]
    why = None if owner is None else moved(side[place] for side in sides for place in missing)
    if why is not None:
        return reading.text.refusal(node, why[0], hint=why[1])
    names = [_called(rows, each) for each in (left, step.right)]
    for one, other in ((left, step.right), (step.right, left)):
        read = {table.name.lower() for table in other.tables.values()}
        for link in (each for each in one.walk() if isinstance(each, Link)):
            via = link.table.link.via if link.table.link is not None else ""
            if via.lower() in read:
                what = f"{link.table.name} leads to people through {via}; select it as declared, not by its raw key"
                same = f"{names[0]}.{unit.key} = {names[1]}.{unit.key}"
                hint = f"It has {unit.key} already: add AND {same}, or ask it alone."
                return reading.text.refusal(node, what, hint=hint)
    wanted = [unit.columns[place] for place in missing]
    add = " AND ".join(f"{names[0]}.{name} = {names[1]}.{name}" for name in wanted)
    if unit.per is not None:
        what = f"this join pairs different person-{unit.per.period}s: it does not equate {' and '.join(unit.columns)}"
        hint = (
            f"Protection is of a person-{unit.per.period}: equate {unit.key} and the {unit.per.period}. Add AND {add}."
        )
        return reading.text.refusal(node, what, hint=hint)
    what = f"this join pairs different people: the condition does not equate {unit.key} on both sides"
    hint = (
        f"Add AND {add}, or publish one table's totals from this ledger first and join that answer as a public table."
    )
    return reading.text.refusal(node, what, hint=hint)


def _called(rows: Rows, side: Relation) -> str:
    """What FROM calls the first table of a side."""
    scans = set(side.tables)
    return next((name for name, columns in rows.tables if name and scans & {each.scan for each in columns}), "t")
