"""Limits become C: how much of one unit of protection may count, in the norm of the noise. See measure.md."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from quincunx.errors import QueryError, RefusalError
from quincunx.table.rules.draft import Draft

# Above it, C·2^bits and C²·4^bits would leave the engine's integers.
MAX_BOUND2: Final = Fraction(2**80)


def bound(draft: Draft) -> Draft:
    """C² for each kind of vector that the question uses."""
    kinds: set[str] = {term.vector for term in draft.terms}
    finders = {"rows": rows2, "people": people2, "values": rows2}
    bounds2 = {kind: finders[kind](draft) for kind in sorted(kinds)}
    for value in bounds2.values():
        if value > MAX_BOUND2:
            hint = "Lower the limits: C may be at most 2^40."
            raise QueryError("the limits are too large for exact weights", where="limits", hint=hint)
    return replace(draft, bounds2=bounds2)


def rows2(draft: Draft) -> Fraction:
    """C² for v_g = number of rows in group g.

    norm 1: C = min(rows, groups·per_group). norm 2: C = min(rows, per_group·√groups, √(rows·per_group)); the last not
    where `rows` was chosen as a length, which it is already. Each row is one unit where the unit has no key: C = 1.
    Nobody has more different values than rows: the same C for values.
    """
    if draft.schema.unit.key is None:
        return Fraction(1)
    limits, groups = draft.limits, draft.groups
    found: list[int] = []
    if limits.rows is not None:
        found.append(limits.rows**2)
    if limits.per_group is not None and groups is not None:
        found.append(limits.per_group**2 * groups ** (2 if draft.norm == 1 else 1))
    if limits.per_group is not None and limits.rows is not None and draft.norm == 2 and draft.query.climbed != "length":
        found.append(limits.rows * limits.per_group)
    if not found:
        raise RefusalError(
            f"nothing bounds how many rows of {draft.names} one person may have",
            where="limits",
            hint="Declare limits: rows, or per_group with groups (public keys count as groups); or let the question "
            'choose: limits="auto"; or ask for COUNT(DISTINCT key).',
        )
    return Fraction(min(found))


def people2(draft: Draft) -> Fraction:
    """C² for v_g = 1 where the unit is present in group g: C = groups (norm 1) or √groups (norm 2)."""
    if draft.schema.unit.key is None:
        hint = "Write COUNT(*): without a key each row is one person."
        raise QueryError("the unit of protection has no key to count", where="COUNT(DISTINCT …)", hint=hint)
    groups = draft.groups
    if groups is None:
        raise RefusalError(
            f"nothing bounds in how many groups of {draft.names} one person may be",
            where="limits",
            hint="Declare limits: groups or rows, or keys for the columns of GROUP BY.",
        )
    return Fraction(groups ** (2 if draft.norm == 1 else 1))
