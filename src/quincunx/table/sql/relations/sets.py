"""UNION, INTERSECT and EXCEPT below the outermost SELECT."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from quincunx.table.relations import RollUp, Sets, Way, rolled
from quincunx.table.sql.names import Rows
from quincunx.table.sql.relation import Reading, Tables
from quincunx.table.sql.relations.rollup import check_owner
from quincunx.table.typing.facts import WORDS

_WAYS: Final[dict[tuple[type[exp.SetOperation], bool], Way]] = {
    (exp.Union, True): "union_all",
    (exp.Union, False): "union_all",
    (exp.Intersect, True): "intersect",
    (exp.Intersect, False): "intersect_all",
    (exp.Except, True): "except",
    (exp.Except, False): "except_all",
}
NODES: Final = (exp.Union, exp.Intersect, exp.Except)
_REFUSED: Final = ("order", "limit", "offset")


def read(reading: Reading, node: exp.SetOperation, tables: Tables, outer: Rows | None) -> Rows:
    """The rows of both sides as one relation; names are those of the first."""
    text, called = reading.text, type(node).__name__.upper()
    for name in _REFUSED:
        if node.args.get(name):
            hint = "Leave it out; only the outermost SELECT may sort and limit."
            what = f"{name.upper()} after {called} chooses by comparing people"
            raise text.refusal(node.args[name], what, hint=hint)
    tables = reading.with_(node, tables)
    _call(node.expression)
    first, second = (reading.subquery(each, tables, outer) for each in (node.this, node.expression))
    left, right = first.columns, second.columns
    if len(left) != len(right):
        hint = "Select as many columns on both sides."
        got = f"{len(left)} and {len(right)}"
        raise text.mistake(
            node.expression, f"the sides of {called} have different numbers of columns", got=got, hint=hint
        )
    for one, two in zip(left, right, strict=True):
        if one.type != two.type:
            hint = "Write CAST(… AS …) on one side."
            got = f"{WORDS[one.type]} and {WORDS[two.type]}"
            raise text.mistake(
                node.expression, f"the sides of {called} have different types in {one.name}", got=got, hint=hint
            )
    for side, rows in ((node.this, first), (node.expression, second)):
        _check_people(reading, side, rows, called)
    _check_types(reading, node, first, second)
    way = _WAYS[type(node), bool(node.args.get("distinct"))]
    named = called if node.args.get("distinct") else f"{called} ALL"
    compares = way != "union_all" or bool(node.args.get("distinct"))
    if compares:
        _check_places(reading, node, first, second, named)
    relation = Sets(way=way, first=first.relation, second=second.relation, left=left, right=right)
    shown = relation.columns
    if way == "union_all" and compares:
        merged = RollUp(source=relation, by=shown)
        found = Rows.called("", reading.shallow(node, merged))
        return reading.project(
            node, found, [(one.name, rolled(relation, each)) for one, each in zip(left, shown, strict=True)]
        )
    found = Rows.called("", reading.shallow(node, relation))
    return reading.project(node, found, [(one.name, each) for one, each in zip(left, shown, strict=True)])


def _call(query: exp.Expr) -> None:
    """Name the columns of the second side that have no names: the first side's are those that count."""
    if isinstance(query, exp.Subquery | exp.SetOperation):
        _call(query.this)
    if isinstance(query, exp.Select):
        for place, each in enumerate(query.expressions):
            if not each.alias and not isinstance(each, exp.Column | exp.Star):
                query.expressions[place].replace(exp.alias_(each.copy(), f"column {place}", quoted=True))


def _check_people(reading: Reading, node: exp.Expr, rows: Rows, called: str) -> None:
    owner = rows.relation.owner
    if owner is None:
        hint = "Leave the public rows out; groups without people come from declared keys."
        what = f"this side of {called} is public: its rows are nobody's"
        raise reading.text.refusal(node, what, hint=hint)
    if not owner.components:
        hint = "Name the column that identifies a person in the unit of protection."
        raise reading.text.refusal(node, f"{called} combines rows, and no column says whose they are", hint=hint)


def _check_types(reading: Reading, node: exp.SetOperation, first: Rows, second: Rows) -> None:
    """Refuse where who is one depends on the side."""
    owners = (first.relation.owner, second.relation.owner)
    one, two = ([each.column.type for each in owner.components if each.period is None] for owner in owners if owner)
    if one != two:
        key, words = reading.schema.unit.key, (WORDS[one[0]], WORDS[two[0]])
        what = f"{key} is {words[0]} here and {words[1]} there; '1' and '01' would become one person"
        raise reading.text.refusal(node.expression, what, hint="Declare one type.")


def _check_places(reading: Reading, node: exp.SetOperation, first: Rows, second: Rows, called: str) -> None:
    """Refuse where both sides do not show whose a row is in the same place."""
    ways = ("on both sides", "or ask about each side by itself.")
    for side, rows in ((node.this, first), (node.expression, second)):
        check_owner(reading, side, rows.relation, rows.columns, called, ways)
    pairs = list(zip(first.columns, second.columns, strict=True))
    components = () if first.relation.owner is None else first.relation.owner.components
    for place in range(len(components)):
        if not any(first.relation.licenses(place, a) and second.relation.licenses(place, b) for a, b in pairs):
            hint = f"Select {reading.schema.unit.key} in the same place on both sides."
            raise reading.text.refusal(
                node.expression, f"the sides of {called} say in different places whose a row is", hint=hint
            )
