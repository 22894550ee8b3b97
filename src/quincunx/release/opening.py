"""From a plan file to what a session is made of; what a table's declaration gets wrong is said with its line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quincunx.errors import QuincunxError
from quincunx.release.plan_file import PlanFile, TableEntry
from quincunx.release.toml import Node, placed
from quincunx.table import Table


def arguments(plan: PlanFile, analyst: str | None) -> dict[str, Any]:
    """The arguments of Session."""
    return {
        "dataset": plan.dataset,
        "version": plan.version,
        "ledger": plan.ledger,
        "tables": {name: _table(entry) for name, entry in plan.tables.items()},
        "unit": plan.unit,
        "standard": plan.standard,
        "intensity": plan.intensity,
        "budgets": plan.budgets,
        "confidence": plan.confidence,
        "analyst": analyst,
        "invariants": plan.invariants,
    }


def blamed(error: QuincunxError, plan: PlanFile) -> QuincunxError:
    """An error of the whole plan with the line that it is most likely about."""
    root = plan.node
    for entry in plan.tables.values():
        for name, column in entry.columns.items():
            # Keys that are another table's column: the error names that column, the mistake is here.
            keys = column.get("keys")
            if isinstance(keys, str) and error.where.startswith("Table") and _names(error, keys.rpartition(".")[2]):
                return placed(error, entry.node.child("columns").child(name).place)
    for name, entry in plan.tables.items():
        if _names(error, name):
            return placed(error, _nearest(error, entry).place)
    known = {"invariants": ("spec",), "unit": ("spec",), "standard": ("spec",), "intensity": ("spec",)}
    first = error.where.partition("(")[0].partition("[")[0].lower()
    path = (*known.get(first, ()), first)
    node: Node = root
    for part in path:
        if isinstance(node.value, Mapping) and part in node.value:
            node = node.child(part)
    return placed(error, node.place if node.path else f"{root.file}:1")


def _table(entry: TableEntry) -> Table:
    try:
        return Table(
            str(entry.source),
            limits=entry.limits,
            columns=entry.columns,
            public=entry.public,
            **entry.written,
        )
    except QuincunxError as error:
        raise placed(error, _nearest(error, entry).place) from None


def _nearest(error: QuincunxError, entry: TableEntry) -> Node:
    """The column, or the part of the table, that an error names; the table itself where it names none."""
    node = entry.node
    for name in entry.columns:
        if _names(error, name):
            return node.child("columns").child(name)
    for part in ("limits", "source", "columns", *entry.written):
        if part in node.value and part in error.where.lower():
            return node.child(part)
    if "source" in node.value and any(word in error.what for word in ("file", "read", "source")):
        return node.child("source")
    return node


def _names(error: QuincunxError, name: str) -> bool:
    words = f" {error.where} {error.what} ".replace("'", " ").replace('"', " ")
    for mark in ".,:;()[]":
        words = words.replace(mark, " ")
    return f" {name} " in words
