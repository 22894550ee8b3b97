"""What makes two questions one: everything that fixes the law of the noisy integers, and nothing that does not.

Spelling, names of outputs, HAVING, ORDER BY, LIMIT, confidence and tidying come after the noise, so they are left out:
a question that differs only in them is answered from the ledger for nothing. Nothing here is computed from private
content; see identity.md.
"""

from __future__ import annotations

import hashlib
import json
from typing import Final

from quincunx.mechanisms import Mechanism, Parameter
from quincunx.release.pricing import Climbing, Priced
from quincunx.table import ColumnSchema, Program, Schema, columns_read
from quincunx.table.canonical import Json, node, part, value
from quincunx.table.canonical import number as rational

# Raised when planning or drawing changes its meaning, so that an old answer is never taken for a new question.
PLANNER: Final = 1


def asked(priced: Priced, schema: Schema, public: str) -> dict[str, object]:
    """The question for the ledger's key. public: the digest of the public tables."""
    program = priced.program
    query = program.query
    plan: Json = {
        "planner": PLANNER,
        "rows": query.rows.canonical(),
        "keys": [key.expression.canonical() for key in query.keys],
        "measures": [measure.canonical() for measure in program.measures],
        "selection": part(program.selection),
    }
    first, *further = (_scanned(number, program, schema) for number in sorted(query.rows.tables))
    return {
        **first,
        **({"scans": _text(further)} if further else {}),
        **({} if priced.climb is None else {"climb": _text(_climbed(program, priced.climb))}),
        "plan": _text(plan),
        "limits": _text(query.allowed.canonical()),
        "keys": _text([None if key.values is None else [value(each) for each in key.values] for key in query.keys]),
        "public": public,
        "noise": _text([[each.mechanism.tag, _mechanism(each.mechanism)] for each in priced.measurements]),
        "selection": _text(None if priced.selection is None else _mechanism(priced.selection.mechanism)),
    }


def fact(program: Program, schema: Schema, public: str) -> dict[str, object]:
    """An exact fact for the ledger's key: what is computed, on which declarations. Nothing comes from the data."""
    written: Json = [program.query.canonical(), [measure.canonical() for measure in program.measures]]
    first, *further = (_read(number, program, schema) for number in sorted(program.query.rows.tables))
    found: dict[str, object] = {"invariant": _text(written), "public": public, **first}
    return found | ({"scans": _text(further)} if further else {})


def _scanned(number: int, program: Program, schema: Schema) -> dict[str, Json]:
    """What one scan reads, and what is declared of all columns of its table."""
    table = program.query.rows.tables[number]
    return {
        **_read(number, program, schema),
        "table": table.name,
        "bounds": _text({column.name: _ends(column) for column in table.columns}),
        "types": _text({column.name: [column.type, rational(column.step)] for column in table.columns}),
    }


def _read(number: int, program: Program, schema: Schema) -> dict[str, Json]:
    """How the columns are scanned whose scan has a tag of its own; nothing for the others, whose keys are older.

    text/2: a text that is not of the table's encoding, or longer than declared, is NULL. present/1: a row without a
    value in one of these columns is dropped. span/1: dates and moments are moved between these. marks/1: the separator,
    the decimal mark and the mark between thousands that are declared of a CSV file.
    """
    table = program.query.rows.tables[number]
    used = {slot.name.lower() for slot in columns_read(program) if (slot.scan, slot.level) == (number, 0)}
    used |= {name.lower() for name in schema.unit.columns}
    texts = [column for column in table.columns if column.type == "text" and column.name.lower() in used]
    tags: Json = {column.name: ["text/2", column.length, table.encoding] for column in texts}
    found: dict[str, Json] = {"read": _text(tags)} if texts else {}
    if table.required:
        found["present"] = _text(["present/1", [column.name for column in table.required]])
    if table.marks is not None:
        found["marks"] = _text(["marks/1", *table.marks])
    spans: Json = {c.name: ["span/1", _ends(c)] for c in table.columns if c.span is not None and c.name.lower() in used}
    return found | ({"spans": _text(spans)} if spans else {})


def public_digest(schema: Schema) -> str:
    """SHA-256 of the public tables: names and contents, as questions see them."""
    contents = {table.name.lower(): table.content for table in schema.tables.values()}
    digests: dict[str, Json] = {name: each.digest for name, each in contents.items() if each is not None}
    return hashlib.sha256(_text(digests).encode("utf-8")).hexdigest()


def _climbed(program: Program, climb: Climbing) -> Json:
    """How limits are chosen: the rungs, what is counted for it, and by what. The rest is that of the highest rung."""
    counted = None if program.climb is None else program.climb.choice
    return {
        "rungs": list(climb.rows),
        "rows": None if counted is None else counted.query.rows.canonical(),
        "measure": climb.choice.measure.canonical(),
        "noise": [climb.choice.mechanism.tag, _mechanism(climb.choice.mechanism)],
    }


def _mechanism(mechanism: Mechanism) -> Json:
    # Keys are older than tags: "discrete-laplace" stands in them as DiscreteLaplace.
    name = "".join(word.capitalize() for word in mechanism.tag.split("-"))
    given = mechanism.parameters().items()
    return node(name, **{key: _parameter(each) for key, each in given})


def _parameter(given: Parameter) -> Json:
    if isinstance(given, tuple):
        return [rational(each) for each in given]
    return _mechanism(given) if isinstance(given, Mechanism) else value(given)


def _ends(column: ColumnSchema) -> Json:
    if column.span is not None:
        return [value(end) for end in column.span]
    return None if column.bounds is None else [rational(end) for end in column.bounds]


def _text(written: Json) -> str:
    # One text for each part: a ledger limits how deep a question may be nested.
    return json.dumps(written, sort_keys=True, separators=(",", ":"))
