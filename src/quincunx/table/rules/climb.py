"""What needs declared bounds is refused where a column has a ladder instead: only sums and means choose a rung."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from quincunx.errors import RefusalError
from quincunx.table.aggregates import Aggregate
from quincunx.table.expression import NUMBERS, Expression
from quincunx.table.rules.draft import Draft
from quincunx.table.rules.ladder import ladder_of


def climb(draft: Draft) -> Draft:
    """The same draft."""
    for aggregate in draft.query.aggregates:
        if aggregate.climbs or all(form.needs != "bounded" for form in aggregate.forms):
            continue
        if any(ladder_of(draft, part) is not None for part in _loose(aggregate)):
            name = aggregate.forms[0].name
            hint = f"Ask for SUM or AVG, or write CLAMP(x, low, high) in the place of x in {name}."
            raise RefusalError(f'{name} needs bounds that are declared, and not "auto"', where="bounds", hint=hint)
    return draft


def _loose(aggregate: Aggregate) -> Iterator[Expression]:
    """Arguments without proved bounds."""
    for each in fields(aggregate):
        part = getattr(aggregate, each.name)
        if each.name != "where" and isinstance(part, Expression) and part.type in NUMBERS and not part.bounded:
            yield part
