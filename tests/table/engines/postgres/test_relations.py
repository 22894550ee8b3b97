"""Everything that pairs rows, in PostgreSQL: every accepted shape of relations gives DuckDB's keys and integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest

from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.engines.engine import Engine, Result
from quincunx.table.engines.postgres import PostgresEngine
from quincunx.table.rules import plan
from quincunx.table.schema import Schema
from quincunx.table.sql import read
from quincunx.table.table import Table, schema
from tests.postgres import Server
from tests.table.engines.postgres.places import framed
from tests.table.relations import locality
from tests.table.relations.locality import LINKED, NUMBERS, PUBLIC, UNITS, Numbers, Unit, World
from tests.table.relations.test_shapes import SHAPES

pytestmark = pytest.mark.ci


def frames(world: World, numbers: Numbers) -> dict[str, pa.Table]:
    """The rows of a world with their types."""
    found = {}
    for name in (*locality.PRIVATE, *LINKED, *PUBLIC):
        kinds = locality._kinds(name, numbers)
        rows: Sequence[Any] = locality._stored(name, world)[1]
        given = [dict(zip(kinds, row, strict=True)) for row in rows]
        found[name] = pa.Table.from_pylist(given, schema=pa.schema(list(kinds.items())))
    return found


def tables(sources: Mapping[str, Any], numbers: Numbers) -> dict[str, Table]:
    """The same declarations over these sources."""
    facts: dict[str, Any] = {} if numbers == "whole" else {"bounds": (-8, 8), "step": "0.5"}
    found = {}
    for name, source in sources.items():
        columns = {each: facts for each in locality._columns(name) if each not in locality._TYPES and facts}
        owner = {"via": LINKED[name][1], "on": LINKED[name][2]} if name in LINKED else None
        limits = {"rows": 9, "groups": 9}
        found[name] = (
            Table(source, public=True) if name in PUBLIC else Table(source, limits=limits, columns=columns, owner=owner)
        )
    return found


@contextmanager
def both(server: Server, world: World, unit: Unit, numbers: Numbers) -> Iterator[tuple[Engine, Engine, Schema]]:
    """DuckDB and PostgreSQL over the same rows."""
    given = frames(world, numbers)
    here = tables(given, numbers)
    there = tables({name: each if name in PUBLIC else framed(server, each) for name, each in given.items()}, numbers)
    declared = schema(here, UNITS[unit])
    with DuckDB(here, declared, threads=1) as duck, PostgresEngine(there, schema(there, UNITS[unit])) as postgres:
        yield duck, postgres, declared


def counted(result: Result) -> Counter[Any]:
    """Keys with their integers; doubles that two engines work out differ in their last digits."""
    keys = (tuple(locality._about(float(each) if _number(each) else each) for each in key) for key in result.keys)
    return Counter(zip(keys, (int(each) for each in result.measures[0]), strict=True))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) or hasattr(value, "denominator")


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("unit", UNITS)
def test_every_accepted_shape_has_the_same_rows(reading: Server, unit: Unit, numbers: Numbers, full: bool) -> None:
    shapes = [
        each
        for each in SHAPES["accepted"]
        if each.get("unit", "person") == unit and numbers in each.get("numbers", NUMBERS)
    ]
    assert len(shapes) >= 10
    failed, rows = [], 0
    for world in locality.worlds(6 if full else 1, numbers, f"postgres {unit}"):
        with both(reading, world, unit, numbers) as (duck, postgres, declared):
            for each in shapes:
                query = locality.as_they_are(read(locality.question(each["sql"]), declared, evaluate))
                program = plan(query, declared, 1)
                if numbers == "whole":
                    postgres.rehearse(program)
                wanted, found = counted(duck.run(program)), counted(postgres.run(program))
                rows += len(wanted)
                failed += [(each["name"], wanted - found, found - wanted)] if wanted != found else []
    assert failed == []
    assert rows > len(shapes)
