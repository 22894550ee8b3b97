"""Unknown keys get a vote: each unit's different keys, at most `groups` of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from quincunx.errors import QueryError, RefusalError
from quincunx.table.measure import Selection
from quincunx.table.rules.draft import Draft

# Votes are whole multiples of 2^−20 of a person.
BITS: Final = 20
# More kept keys than this would make a vote round to almost nothing.
MAX_GROUPS: Final = 2**14


def select(draft: Draft) -> Draft:
    """The selection of a question with unknown keys; nothing for public ones."""
    if draft.query.known_keys:
        return draft
    unit = draft.schema.unit
    groups = 1 if unit.key is None else draft.limits.groups
    if groups is None:
        names = ", ".join(key.name for key in draft.query.keys if key.values is None)
        raise RefusalError(
            "the keys of GROUP BY are not public, and nothing bounds how many one person may create",
            where=names,
            hint="Declare keys or bounds for these columns, or limits: groups.",
        )
    for key in draft.query.keys:
        if key.nameless:
            raise RefusalError(
                "a key that is a decimal number needs a step, so that it has one name",
                where=key.name,
                hint="Round it, as in GROUP BY FLOOR(x) or GROUP BY ROUND(x, 2), or declare the column's step.",
            )
    if groups > MAX_GROUPS:
        hint = f"Declare at most {MAX_GROUPS}, or public keys."
        raise QueryError("too many groups for unknown keys", where="limits.groups", got=str(groups), hint=hint)
    selection = Selection(
        norm=draft.norm,
        groups=groups,
        bits=0 if groups == 1 else BITS,
        people=unit.group,
        sensitivity2=Fraction(unit.reach2(draft.norm, signed=False)),
    )
    return replace(draft, selection=selection)
