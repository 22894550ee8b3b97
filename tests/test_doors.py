"""How rooms import each other: no module that stands on itself, and other rooms through their doors.

A door is a room's `__init__`: its `__all__` is what users see, and what it imports besides is there for other rooms.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}

# Hidden cycles that are left, and why.
CYCLES: list[list[str]] = []


def imported(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    """Every import of the library from itself: at the top, for types alone, and inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "quincunx":
            yield node


def edges(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """For each module those on which it stands, whenever they are imported."""
    found: dict[str, set[str]] = {name: set() for name in trees}
    for name, tree in trees.items():
        for node in imported(tree):
            for each in node.names:
                target = f"{node.module}.{each.name}"
                while target and target not in trees:
                    target = target.rpartition(".")[0]
                if target != name:
                    found[name].add(target)
    return found


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules of which each stands on all the others."""
    reached = {name: _reached(graph, name) for name in graph}
    groups = {frozenset({name, *(each for each in reached[name] if name in reached[each])}) for name in graph}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    left = [start]
    while left:
        for each in graph.get(left.pop(), ()):
            if each not in found:
                found.add(each)
                left.append(each)
    return found


def test_no_module_stands_on_itself() -> None:
    assert cycles(edges(TREES)) == CYCLES


def test_cycles_are_seen_where_they_hide() -> None:
    hidden = {
        "quincunx.a": "from quincunx.b import x",
        "quincunx.b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from quincunx.c import y",
        "quincunx.c": "def f():\n    from quincunx import a",
        "quincunx.d": "from quincunx.a import x",
    }
    trees = {name: ast.parse(text) for name, text in hidden.items()}
    assert cycles(edges(trees)) == [["quincunx.a", "quincunx.b", "quincunx.c"]]


def test_doors_hold_what_users_see_and_what_other_rooms_take() -> None:
    taken: dict[str, set[str]] = {}
    for name, tree in TREES.items():
        for node in imported(tree):
            if _room(node.module or "") != _room(name):
                taken.setdefault(_room(node.module or ""), set()).update(each.name for each in node.names)
    for door in (name for name in TREES if name.count(".") == 1 and MODULES[name].name == "__init__.py"):
        held = {each.asname or each.name for node in imported(TREES[door]) for each in node.names} - {"exports"}
        shown = set(getattr(importlib.import_module(door), "__all__", held))
        assert held - shown <= taken.get(door, set()), f"{door} holds what no other room takes"


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def past_doors(trees: dict[str, ast.Module]) -> list[str]:
    """Imports of another room that do not enter by its door."""
    return [
        f"{name} takes {node.module}"
        for name, tree in trees.items()
        for node in imported(tree)
        if (node.module or "").count(".") > 1 and _room(node.module or "") != _room(name)
    ]


def test_few_imports_go_past_a_door() -> None:
    found = past_doors(TREES)
    # What is left: the rereading of plans and files by rooms that are not below each other, and one command.
    assert len(found) <= 60, found


def test_imports_past_a_door_are_seen() -> None:
    trees = {
        "quincunx.a.b": ast.parse("from quincunx.a.c import x\nfrom quincunx.d import y\nimport math"),
        "quincunx.a.c": ast.parse("def f():\n    from quincunx.d.e import z"),
    }
    assert past_doors(trees) == ["quincunx.a.c takes quincunx.d.e"]
