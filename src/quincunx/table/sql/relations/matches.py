"""How many rows of a public relation one row meets at most: counted in its content, which is public."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import prod

from quincunx.table.expression import Call, Expression, Value
from quincunx.table.relations import Filter, Relation, Scan
from quincunx.table.sql.keys import Evaluate


def matches(public: Relation, known: Sequence[Expression], evaluate: Evaluate | None) -> int:
    """The largest number of rows of `public` that these conditions let one row meet; at most all of them.

    It chooses limits and proves nothing: where it is too small, units count for less than they could, and where it is
    too large, the noise is larger than it need be.
    """
    relation = public.fused()
    below = relation.source if isinstance(relation, Filter) else relation
    if evaluate is None or not isinstance(below, Scan) or below.table.content is None:
        return prod(0 if each.content is None else each.content.rows for each in relation.tables.values())
    own = [public.base(each) for each in known if _within(each, public)]
    tests = [*own, *([relation.condition] if isinstance(relation, Filter) else [])]
    keys = [public.base(each) for each in _keys(known, public)]
    rows = list(_evaluated([*tests, *keys], below, evaluate))
    met = [row[len(tests) :] for row in rows if all(value is True for value in row[: len(tests)])]
    return max(Counter(row for row in met if None not in row).values(), default=0)


def _within(expression: Expression, public: Relation) -> bool:
    """Whether it is about the public row alone."""
    columns = list(expression.columns())
    return bool(columns) and all(column.scan in public.tables for column in columns)


def _keys(known: Iterable[Expression], public: Relation) -> Iterator[Expression]:
    """What of the public row must equal something that its partner fixes."""
    for each in known:
        if isinstance(each, Call) and each.operator == "equal":
            for one, other in (each.arguments, each.arguments[::-1]):
                if _within(one, public) and not any(column.scan in public.tables for column in other.columns()):
                    yield one


def _evaluated(expressions: Sequence[Expression], scan: Scan, evaluate: Evaluate) -> Iterator[tuple[Value, ...]]:
    content = scan.table.content
    columns = {column.slot: column for each in expressions for column in each.columns()}
    values = {} if content is None else {slot: content.values(one.name, one.type) for slot, one in columns.items()}
    known = {slot: each for slot, each in values.items() if each is not None}
    if content is None or len(known) < len(columns) or not expressions:
        yield from ((),) * (0 if content is None else content.rows)
        return
    yield from zip(*evaluate(expressions, known), strict=True)
