"""No type ladders: which modules ask which mechanism or law they were given. ARCHITECTURE.md names them all."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import quincunx
import quincunx.loss
from quincunx import mechanisms
from quincunx.loss.law import Law

SOURCE = Path(quincunx.__file__).parent
ARCHITECTURE = Path(__file__).parents[1] / "ARCHITECTURE.md"
KNOWN = {
    "loss/exchange.py",
    "loss/sampling.py",
    "mechanisms/threshold_selection.py",
}


def _below(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


def _concrete() -> dict[str, str]:
    """The classes nobody should ask for, with the module that defines each."""
    for module in pkgutil.iter_modules(quincunx.loss.__path__):
        importlib.import_module(f"quincunx.loss.{module.name}")
    # The abstract ones may be asked for: they say what is answered, not who answers.
    found = [each for each in map(mechanisms.__dict__.get, mechanisms.__all__) if inspect.isclass(each)]
    concrete = [each for each in found if not inspect.isabstract(each)]
    return {each.__name__: each.__module__ for each in (*concrete, *_below(Law))}


def _asked(node: ast.AST) -> list[ast.expr]:
    """Where a class or a tag stands that is asked for: isinstance, `is`, a pattern, or a table of classes or tags."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
        return [node.args[1]]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".get"):
        return [each for each in node.args[:1] if _is_tag(each)]
    if isinstance(node, ast.Subscript):
        return [node.slice] if _is_tag(node.slice) else []
    if isinstance(node, ast.MatchClass):
        return [node.cls]
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        plain = isinstance(node.ops[0], ast.Is | ast.IsNot | ast.Eq | ast.NotEq)
        return node.comparators if plain and not any(map(_is_tag, sides)) else [each for each in sides if _is_tag(each)]
    return [each for each in (*node.keys, *node.values) if each] if isinstance(node, ast.Dict) else []


def _is_tag(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "tag" and ast.unparse(node) != "self.tag"


def _names(tree: ast.Module) -> set[str]:
    """The names that come from the mechanisms or the laws."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("quincunx.mech", "quincunx.loss")):
            found |= {alias.asname or alias.name for alias in node.names}
    return found | {f"mechanisms.{name}" for name in mechanisms.__all__}


def _ladders(tree: ast.Module, module: str) -> bool:
    classes, known = _concrete(), _names(tree)
    for place in (each for node in ast.walk(tree) for each in _asked(node)):
        if _is_tag(place):
            return True
        for name in (ast.unparse(node) for node in ast.walk(place) if isinstance(node, ast.Name | ast.Attribute)):
            kind = name.rpartition(".")[2]
            if name in known and classes.get(kind, module) != module:
                return True
    return False


def test_the_modules_that_ask_which_mechanism_or_law_are_listed() -> None:
    found = set()
    for path in SOURCE.rglob("*.py"):
        relative = path.relative_to(SOURCE)
        module = ".".join(("quincunx", *relative.with_suffix("").parts))
        if _ladders(ast.parse(path.read_text(encoding="utf-8")), module):
            found.add(relative.as_posix())
    assert found == KNOWN
    words = ARCHITECTURE.read_text(encoding="utf-8")
    assert [name for name in sorted(KNOWN) if f"`{name}`" not in words] == []


def test_the_check_sees_a_new_ladder() -> None:
    begin = "from quincunx.mechanisms import Laplace\n"
    assert _ladders(ast.parse(f"{begin}isinstance(x, int | Laplace)"), "quincunx.new")
    assert _ladders(ast.parse(f"{begin}table = {{Laplace: 1}}"), "quincunx.new")
    assert _ladders(ast.parse(f"{begin}match x:\n    case Laplace(): pass"), "quincunx.new")
    assert not _ladders(ast.parse(f"{begin}y = Laplace(scale=1)"), "quincunx.new")
    assert not _ladders(
        ast.parse("from quincunx.mechanisms import Mechanism\nisinstance(x, Mechanism)"), "quincunx.new"
    )
    for text in ("x.tag == 'laplace'", "words[x.tag]", "words.get(x.tag)", "x.tag in ('laplace', 'gaussian')"):
        assert _ladders(ast.parse(text), "quincunx.new"), text
