"""Which components of the owner a question names: what looks at several rows must name all of them."""

from __future__ import annotations

from collections.abc import Iterable

from quincunx.table.expression import Expression
from quincunx.table.relations import Component, Relation


def unlicensed(relation: Relation, expressions: Iterable[Expression]) -> list[str]:
    """The components of the owner that none of these expressions equals, as people write them."""
    components = () if relation.owner is None else relation.owner.components
    given = tuple(expressions)
    return [
        spelled(component)
        for place, component in enumerate(components)
        if not any(relation.licenses(place, each) for each in given)
    ]


def moved(components: Iterable[Component]) -> tuple[str, str] | None:
    """Why naming one of these does not help, and what does; None where it is only not named."""
    for component in components:
        if not component.licensed and component.period is None:
            name = spelled(component)
            what = f"{name} has bounds, keys or decimals, so that its values do not tell people apart"
            return what, f"Declare {name} without them."
    return None


def spelled(component: Component, table: str = "") -> str:
    """A component of the owner as a question would write it, of a table where one is named."""
    # A roll-up calls its columns after what they hold: a name, and a digest.
    name, period = component.column.name.partition(":")[0], component.period
    name = f"{table}.{name}" if table else name
    if period is None or (period, component.column.type) == ("day", "date"):
        return name
    return f"DATE_TRUNC('{period}', {name})"
