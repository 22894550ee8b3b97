"""No row makes a question fail, whatever it holds and wherever it is kept."""

from __future__ import annotations

from importlib import import_module
from itertools import islice

import pytest

from quincunx.audit.tables import hostile_values
from quincunx.audit.tables.hostile import Hostility, hostile
from quincunx.data import RAW_TEXT
from quincunx.errors import VerificationError
from quincunx.table.engines.duckdb import scan

# The module: the package holds the function under its name.
asking = import_module("quincunx.audit.tables.hostile")
KINDS = {
    "arrow", "arrow-reader", "pandas", "polars", "polars-lazy", "duckdb", "parquet", "parquet-folder", "parquet-hive",
    "csv", "csv-semicolon", "csv-gzip", "csv-latin-1", "csv-utf-16", "csv-numerals",
}  # fmt: skip


def report(found: Hostility) -> None:
    kinds = sorted({kind for kind, _ in found.answered})
    for kind in kinds:
        types = {each: count for (where, each), count in found.answered.items() if where == kind}
        print(f"{kind}: {sum(types.values()):,} questions about {len(types)} types")
    print(f"{sum(found.answered.values()):,} questions answered, {len(found.failed)} failed")


def test_hostile_rows_show_through_nothing() -> None:
    found = hostile(every=61)
    report(found)
    found.check()
    assert {kind for kind, _ in found.answered} == KINDS
    assert sum(found.answered.values()) >= 90


@pytest.mark.ci
def test_many_hostile_rows_show_through_nothing(full: bool) -> None:
    found = hostile(every=1 if full else 3)
    report(found)
    found.check()
    assert {kind for kind, _ in found.answered} == KINDS
    assert sum(found.answered.values()) >= (3_000 if full else 1_000)


def test_the_check_finds_a_scan_that_is_not_total(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: texts as they arrive."""
    total = scan.arrived
    monkeypatch.setattr(scan, "arrived", lambda s, kind: (s, "VARCHAR") if kind == RAW_TEXT else total(s, kind))
    monkeypatch.setattr(asking, "columns", lambda: islice(hostile_values.columns(), 3))
    monkeypatch.setattr(asking, "objects", tuple)
    with pytest.raises(VerificationError, match="hostile rows show through"):
        hostile().check()


def test_a_report_without_questions_is_refused() -> None:
    with pytest.raises(VerificationError, match="nothing was asked"):
        Hostility(answered={}, failed=(), unequal=(), moved=(), unheld=()).check()
