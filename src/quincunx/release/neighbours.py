"""Which invariants are refused: those about single people, and those that leave nothing to compare. See invariants.md.

Under add/remove, two datasets that differ by one person agree on counts and sums exactly where that person adds nothing
to any of them. So a set of invariants leaves neighbours if and only if such a person is possible, and it is accepted
only with one in hand (witness.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quincunx.errors import RefusalError
from quincunx.release.witness import Witness, columns_of, expressions_of, witness
from quincunx.table import Column, Program, Query, Schema, Table, TableSchema, Value


def check(programs: Mapping[str, Program], schema: Schema, tables: Mapping[str, Table]) -> Witness | None:
    """Refuse invariants that are about single people, or that leave nothing to compare. Under add/remove, a witness."""
    for name, program in programs.items():
        _check_key(name, program.query, schema, tables)
    # Two changes at once may exchange a person for another who adds as much, so they always leave neighbours.
    if not programs or schema.unit.keeps_number or schema.unit.group > 1:
        return None
    found = witness(list(programs.values()), schema)
    if found is None:
        what = (
            "these invariants leave nothing to compare: nobody is found who is added or removed without changing them"
        )
        hint = (
            'Protect by replace, unit.Replace(key="…"), where the number of people is public; or leave out the counts '
            "that include everybody."
        )
        raise RefusalError(what, where="invariants", got=", ".join(programs), hint=hint)
    return found


def _check_key(name: str, query: Query, schema: Schema, tables: Mapping[str, Table]) -> None:
    """Refuse an invariant that reads who a row belongs to, other than to count people or their rows."""
    key = schema.unit.key
    if key is None:
        return
    read = [root for root in expressions_of(query) if key.lower() in columns_of(root)]
    allowed = [each.argument for each in query.aggregates if each.counts and isinstance(each.argument, Column)]
    hint = f"Group by what many people share; count people with COUNT(DISTINCT {key})."
    if any(root not in allowed for root in read):
        what = f"an invariant that reads {key} is an exact fact about single people"
        raise RefusalError(what, where="invariants", got=name, hint=hint)
    grouped = sorted(set().union(*(columns_of(query.rows.base(each.expression)) for each in query.keys)))
    for public, table in tables.items():
        if table.public and _determined(key, grouped, table, schema.table(public)):
            what = f"an invariant by {', '.join(grouped)} is an exact fact about single people"
            got = f"{name}: in {public} {'it determines' if len(grouped) == 1 else 'they determine'} {key}"
            raise RefusalError(what, where="invariants", got=got, hint=hint)


def _determined(key: str, grouped: Sequence[str], table: Table, schema: TableSchema | None) -> bool:
    """Whether, in a public table that holds the key, the columns that are grouped by determine it."""
    if (
        schema is None
        or not grouped
        or schema.column(key) is None
        or any(schema.column(each) is None for each in grouped)
    ):
        return False
    owners: dict[tuple[Value, ...], Value] = {}
    for owner, *values in zip(table.values(key), *(table.values(each) for each in grouped), strict=True):
        if owner is not None and owners.setdefault(tuple(values), owner) != owner:
            return False
    return bool(owners)
