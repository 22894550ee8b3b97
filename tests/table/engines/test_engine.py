"""Engines are found by name, and a table is bound by the engine that reads its source."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd
import pytest
from sqlglot import exp

from quincunx.errors import DataError
from quincunx.spec import AddRemove
from quincunx.table import Table
from quincunx.table.engines import ENGINES, DuckDB, engine, open_engine
from quincunx.table.table import schema


class Elsewhere:
    """A source that no library of this machine knows."""


@dataclass(frozen=True)
class Far:
    """Rows that are not here."""

    engine: ClassVar[str] = "far"
    kind: str = "far"
    fields: tuple[tuple[str, str], ...] = (("p", "int8"), ("age", "int4"))
    once: bool = False

    def named(self, _name: str) -> Far:
        return self

    def needed(self, names: Sequence[str]) -> list[str]:
        return list(names)

    def relation(self, _names: Sequence[str]) -> exp.Expression:
        return exp.to_table("far")


class FarEngine:
    """An engine of another kind, which binds and reads public rows; what else it can do is asked nowhere here."""

    kind = "far"

    def __init__(self, tables: Mapping[str, Any], schema: Any, *, snapshot: bool | None = False) -> None:
        self.tables, self.schema, self.snapshot = tables, schema, snapshot

    @staticmethod
    def bind(_source: object, _notation: object, _columns: object) -> tuple[Far, dict[str, str]]:
        return Far(), {"shape": "is of type polygon, which questions cannot use"}

    @staticmethod
    def public_rows(_origin: object, columns: Sequence[Any], *, texts: bool) -> list[tuple[Any, ...]]:
        return [tuple("1" if texts else 1 for _ in columns)]


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "ENGINES", {**ENGINES, "far": (__name__, "FarEngine")})
    monkeypatch.setitem(engine.ELSEWHERE, ("tests", "Elsewhere"), "far")


DECLARED: dict[str, Any] = {"p": {"type": "integer"}, "age": {"type": "integer", "bounds": (0, 110)}}


@pytest.mark.usefixtures("far")
def test_a_source_elsewhere_is_bound_by_its_own_engine() -> None:
    table = Table(Elsewhere(), limits={"rows": 1}, columns=DECLARED)
    assert table.kind == "far"
    assert table.notes == ("Column shape is of type polygon, which questions cannot use.",)
    declared = schema({"t": table}, AddRemove(key="p"))
    opened = open_engine({"t": table}, declared, snapshot=True)
    assert isinstance(opened, FarEngine)
    assert (opened.tables, opened.snapshot) == ({"t": table}, True)


@pytest.mark.usefixtures("far")
def test_a_public_table_is_read_by_its_own_engine() -> None:
    table = Table(Elsewhere(), columns=DECLARED, public=True)
    assert table.values("age") == [1]
    assert len(table.digest()) == 64


@pytest.mark.usefixtures("far")
def test_private_tables_of_two_engines_are_refused() -> None:
    here = Table(pd.DataFrame({"p": [1], "age": [2]}), limits={"rows": 1})
    there = Table(Elsewhere(), limits={"rows": 1}, columns=DECLARED)
    tables = {"a": here, "b": there}
    declared = schema(tables, AddRemove(key="p"))
    with pytest.raises(DataError, match="different engines"):
        open_engine(tables, declared)


@pytest.mark.usefixtures("far")
def test_duckdb_does_not_take_private_rows_elsewhere() -> None:
    """When it is opened: on rows it would fail, and that halts the dataset."""
    here = Table(pd.DataFrame({"p": [1], "age": [2]}), limits={"rows": 1})
    tables = {"t": here, "elsewhere": Table(Elsewhere(), limits={"rows": 1}, columns=DECLARED)}
    with pytest.raises(DataError, match="not on this machine"):
        DuckDB(tables, schema(tables, AddRemove(key="p")))
    tables = {"t": here, "elsewhere": Table(Elsewhere(), columns=DECLARED, public=True)}
    DuckDB(tables, schema(tables, AddRemove(key="p"))).close()


def test_every_engine_in_the_table_of_names_can_be_loaded_and_knows_its_name() -> None:
    for kind in ENGINES:
        assert engine.engine_named(kind).kind == kind


def test_a_table_elsewhere_loads_no_duckdb() -> None:
    # pandas and DuckDB are loaded by this file itself, so a source without either is made in the other process.
    code = """
        import sys, types
        from quincunx.table import Table
        from quincunx.table.engines import engine

        class Elsewhere: pass

        class Far:
            engine, kind, fields, once = "far", "far", (("p", "int8"),), False

        class FarEngine:
            kind = "far"
            bind = staticmethod(lambda source, notation, columns: (Far(), {}))

        made = types.ModuleType("far")
        made.FarEngine = FarEngine
        sys.modules["far"] = made
        engine.ENGINES = {"far": ("far", "FarEngine")}
        engine.ELSEWHERE[("__main__", "Elsewhere")] = "far"
        table = Table(Elsewhere(), limits={"rows": 1}, columns={"p": {"type": "integer"}})
        print(table.kind, "duckdb" in sys.modules)
        """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["far", "False"]
