"""Units and standards answer for themselves: nothing outside `spec` asks which they are, save where this file says why.

Asking means `isinstance`, `issubclass`, a comparison of `type(…)`, a `case` or a table by class, with one of their
classes or an alias of them; found in the syntax tree, so that a new place turns this test red. Mechanisms and laws are
held to the same by test_ladders.py.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from quincunx.spec import standard, unit

ROOT = Path(__file__).parent.parent / "src" / "quincunx"
CLASSES = {
    name
    for module, base in ((unit, unit.Unit), (standard, standard.Standard))
    for name, each in vars(module).items()
    if isinstance(each, type) and issubclass(each, base)
}

# file → how many places, and why each may ask
ALLOWED = {
    "audit/blackbox/claim.py": (1, "reads what a caller gives: is it a standard at all"),
    "loss/filter.py": (1, "reads what a caller gives, to tell a standard without a budget from a loss"),
    "invariant/topdown/declared.py": (1, "reads what a caller gives: one person replaced, and no subclass of that"),
}


def test_nothing_asks_which_unit_or_standard_it_is() -> None:
    trees = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in rooms()}
    found = Counter(file for file, _ in asked(trees))
    lines = [f"{file}:{line}" for file, line in asked(trees)]
    assert found == {file: count for file, (count, _) in ALLOWED.items()}, lines


def test_each_way_of_asking_is_found() -> None:
    ways = {
        "plain": "from quincunx.spec.unit import Replace\nisinstance(x, Replace)",
        "door": "from quincunx.spec import ZCDP as Other\nisinstance(x, (int, Other))",
        "module": "from quincunx.spec import standard\nisinstance(x, int | standard.Pure)",
        "top": "import quincunx as qx\nissubclass(x, qx.unit.AddRemove)",
        "type": "from quincunx.spec.unit import Replace\ntype(x) is not Replace",
        "case": "from quincunx.spec.unit import Replace\nmatch x:\n    case Replace(key=None):\n        pass",
        "table": "from quincunx.spec.unit import Replace\nwords = {Replace: 1}",
        "alias": "from quincunx.spec.unit import Replace\nPeople: T = Replace | None\nisinstance(x, People)",
        "again": "from quincunx.alias import People\nisinstance(x, People)",
    }
    trees = {f"{name}.py": ast.parse(text) for name, text in ways.items()}
    assert {file for file, _ in asked(trees)} == set(trees)
    other = "from quincunx.taxonomy import Approximate\nisinstance(x, Approximate)\nisinstance(x, str)"
    assert not list(asked({"other.py": ast.parse(other)}))


def rooms() -> Iterator[Path]:
    return (path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] != "spec")


def asked(trees: dict[str, ast.Module]) -> Iterator[tuple[str, int]]:
    """Each place that asks: its file and line."""
    known = aliases(trees)
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if any(names(part, known[file]) for part in kinds(node)):
                yield file, node.lineno  # type: ignore[attr-defined]


def kinds(node: ast.AST) -> list[ast.expr]:
    """The classes with which something is compared, where a node asks for a class."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
        return [node.args[1]] if node.func.id in ("isinstance", "issubclass") else []
    if isinstance(node, ast.Compare) and any(_is_type(each) for each in (node.left, *node.comparators)):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Dict):
        return [each for each in node.keys if each is not None]
    return [node.cls] if isinstance(node, ast.MatchClass) else []


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"


def names(node: ast.AST, known: set[str]) -> bool:
    """Whether an expression names one of the classes: by a name of the file, or through a module of them."""
    return any(
        (isinstance(each, ast.Name) and each.id in known)
        or (isinstance(each, ast.Attribute) and each.attr in CLASSES and _module(each.value) in ("unit", "standard"))
        for each in ast.walk(node)
    )


def _module(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def aliases(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """For each file the names that stand for one of the classes: imported from `spec`, or an alias of one."""
    known: dict[str, set[str]] = {file: set() for file in trees}
    changed = True
    while changed:
        changed = False
        for file, tree in trees.items():
            before = len(known[file])
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom):
                    theirs = _exported(node.module or "", known)
                    known[file] |= {each.asname or each.name for each in node.names if each.name in theirs}
            for node in tree.body:
                target = node.target if isinstance(node, ast.AnnAssign) else None
                target = node.targets[0] if isinstance(node, ast.Assign) else target
                value = getattr(node, "value", None)
                if isinstance(target, ast.Name) and isinstance(value, ast.Name | ast.BinOp | ast.Tuple):
                    known[file] |= {target.id} if names(value, known[file]) else set()
            changed |= len(known[file]) > before
    return known


def _exported(module: str, known: dict[str, set[str]]) -> set[str]:
    if module.startswith("quincunx.spec"):
        return CLASSES | {"Additive", "Budgeted"}
    stem = module.removeprefix("quincunx.").replace(".", "/")
    return known.get(f"{stem}.py", set()) | known.get(f"{stem}/__init__.py", set())
