"""What makes two questions one: everything that fixes the law of the noisy integers, and nothing that does not.

Spelling, names of outputs, HAVING, ORDER BY, LIMIT, confidence and tidying come after the noise, so they are left out:
a question that differs only in them is answered from the ledger for nothing. Nothing here is computed from private
content; see identity.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from fractions import Fraction
from typing import Any, Final

from quincunx.release.pricing import Priced
from quincunx.release.stored import law_name
from quincunx.table.measure import Program
from quincunx.table.schema import Schema, TableSchema
from quincunx.table.source import Table

# Raised when planning or drawing changes its meaning, so that an old answer is never taken for a new question.
PLANNER: Final = 1


def asked(priced: Priced, schema: Schema, public: str) -> dict[str, object]:
    """The question for the ledger's key. public: the digest of the public tables."""
    program = priced.program
    query = program.query
    table = _table(program, schema)
    plan = {
        "planner": PLANNER,
        "rows": canonical(query.rows),
        "keys": [canonical(key.expression) for key in query.keys],
        "measures": canonical(program.measures),
        "selection": canonical(program.selection),
    }
    return {
        "plan": json.dumps(plan, sort_keys=True, separators=(",", ":")),
        "table": table.name,
        "limits": _text(canonical(table.limits)),
        "bounds": _text({column.name: canonical(column.bounds) for column in table.columns}),
        "types": _text({column.name: [column.type, canonical(column.step)] for column in table.columns}),
        "keys": _text([canonical(key.values) for key in query.keys]),
        "public": public,
        "noise": _text([[law_name(noise), canonical(noise)] for noise in priced.noise]),
        "selection": _text(canonical(priced.selection)),
    }


def public_digest(tables: Mapping[str, Table]) -> str:
    """SHA-256 of the public tables: names and contents."""
    digests = {name.lower(): table.digest() for name, table in tables.items() if table.public}
    return hashlib.sha256(_text(digests).encode("utf-8")).hexdigest()


def canonical(value: Any) -> Any:
    """A value of the plan as JSON: dataclasses by their class and fields, numbers with decimals and dates marked."""
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, {field.name: canonical(getattr(value, field.name)) for field in fields(value)}]
    if isinstance(value, Fraction):
        return {"number": str(value)}
    if isinstance(value, date):
        return {type(value).__name__: value.isoformat()}
    if isinstance(value, tuple | list):
        return [canonical(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): canonical(item) for key, item in value.items()}
    return value.value if isinstance(value, Enum) else value


def canonical_text(value: Any) -> str:
    """`canonical` as text."""
    return _text(canonical(value))


def _text(value: object) -> str:
    # One text for each part: a ledger limits how deep a question may be nested.
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _table(program: Program, schema: Schema) -> TableSchema:
    relation = program.query.rows
    while not hasattr(relation, "table"):
        relation = relation.source
    return next(table for table in schema.tables.values() if table.name.lower() == relation.table.lower())
