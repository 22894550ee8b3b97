"""What the bounded statistic may lack, in sentences that follow from the plan alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, time

from quincunx.numbers import amount
from quincunx.table.expression import Expression
from quincunx.table.plan import CHOSEN
from quincunx.table.rules.draft import Draft
from quincunx.table.schema import ColumnSchema, Limits


def bias(draft: Draft) -> Draft:
    """The same draft with its biases named, each once."""
    sentences = (*draft.biases, *_weights(draft), *_clips(draft), *_steps(draft), *_keys(draft))
    return replace(draft, biases=tuple(dict.fromkeys(sentences)))


def _weights(draft: Draft) -> Iterator[str]:
    unit, limits = draft.schema.unit, draft.limits
    who = "People" if unit.per is None else f"Person-{unit.per.period}s"
    if draft.query.climbed is not None:
        yield f"{CHOSEN[draft.query.climbed]} was chosen privately: {limits.rows}."
    elif draft.query.limits is not None:
        yield f"Limits of this question alone: {', '.join(_stated(draft.query.limits))}."
    for relation in draft.query.rows.walk():
        yield from relation.lacks(who)
    if any(measure.vector.kind != "people" and measure.vector.bits for measure in draft.measures):
        most = _stated(limits)
        if draft.query.climbed == "length":
            most = ["that", *_stated(replace(limits, rows=None))]
        yield f"{who} with more than {' or '.join(most)} may be weighted down."
    if any(measure.vector.kind == "people" and measure.vector.bits for measure in draft.measures):
        yield f"{who} in more than {draft.groups} groups are weighted down."
    if unit.key is not None:
        where = unit.key if unit.per is None else f"{unit.key} or {unit.per.column}"
        yield f"Rows without {where} are left out."


def _stated(limits: Limits) -> list[str]:
    words = {"rows": "rows", "groups": "groups", "per_group": "rows in one group"}
    return [f"{most} {words[name]}" for name, most in limits.stated.items() if most is not None]


def _clips(draft: Draft) -> Iterator[str]:
    for declared in _columns(draft):
        if declared.bounds is not None:
            low, high = declared.bounds
            yield f"Values of {declared.name} outside {amount(low)} to {amount(high)} are moved to the nearer bound."
        if declared.span is not None:
            first, last = _days(*declared.span)
            yield f"Values of {declared.name} before {first} or after {last} are moved to the nearer bound."
    for table in draft.tables:
        for column in table.required:
            yield f"Rows without {column.name} are left out."


def _steps(draft: Draft) -> Iterator[str]:
    for measure in draft.measures:
        argument = measure.argument
        if argument is None or measure.counts:
            continue
        if argument.type == "decimal" or measure.step > (argument.step or 1):
            what = "summed" if measure.grid is None else "ranked"
            yield f"Values that are {what} are rounded to multiples of {amount(measure.step)}."


def _keys(draft: Draft) -> Iterator[str]:
    for key in draft.query.keys:
        if key.values is not None and not key.complete:
            yield f"Rows whose {key.name} is not among its public keys are left out."
    if draft.selection is not None:
        yield "Groups with few people are left out."
        if draft.schema.unit.key is not None:
            yield f"People in more than {draft.selection.groups} groups help to select only {draft.selection.groups}."


def _columns(draft: Draft) -> list[ColumnSchema]:
    """The columns that the question reads, in their table's order."""
    query = draft.query
    roots: list[Expression | None] = [key.expression for key in query.keys]
    roots += [part for each in query.aggregates for part in each.expressions]
    roots += [part for each in query.rows.walk() for part in each.expressions]
    used = {query.rows.declared(column) for root in roots if root for column in root.columns()}
    return [column for table in draft.tables for column in table.columns if column in used]


def _days(first: date, last: date) -> tuple[str, str]:
    """Both ends as they would be typed: as days where they hold whole days."""
    if isinstance(first, datetime) and isinstance(last, datetime):
        if (first.time(), last.time()) == (time.min, time.max):
            return first.date().isoformat(), last.date().isoformat()
        return first.isoformat(sep=" "), last.isoformat(sep=" ")
    return first.isoformat(), last.isoformat()
