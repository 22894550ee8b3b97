"""A TopDown plan as TOML. Reading it looks at the plan, the public files and the header of the data, at no row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from quincunx.errors import QuincunxError
from quincunx.invariant.topdown import sentences
from quincunx.invariant.topdown.bounds import Bound
from quincunx.invariant.topdown.edits import Edits
from quincunx.invariant.topdown.outputs import NAMES
from quincunx.ledger import Ledger
from quincunx.numbers import positive, probability
from quincunx.release.toml import Node, placed, read_toml
from quincunx.spec import Replace

T = TypeVar("T")
_TOP: Final = ("dataset", "version", "ledger", "confidence", "spec", "topdown", "output")
_SPEC: Final = ("unit", "standard", "intensity", "invariants", "facts", "columns")
_TOPDOWN: Final = (
    "source",
    "counts",
    "geography",
    "levels",
    "attributes",
    "recodes",
    "zeros",
    "rho",
    "shares",
    "freed",
    "invariants",
    "bounds",
    "estimate",
    "spine",
    "passes",
    "records",
    "household",
    "households",
    "edits",
)
_HOMES: Final = (
    "source",
    "household",
    "attributes",
    "recodes",
    "zeros",
    "share",
    "shares",
    "freed",
    "invariants",
    "bounds",
)
_BOUND: Final = ("level", "query", "file", "low", "high", "provenance", "zero_where_none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a plan says, as arguments of TopDown, or of Pair where it has two tables. parts: where each was written."""

    file: str
    two: bool
    arguments: Mapping[str, Any] = field(repr=False)
    parts: Mapping[str, Node] = field(repr=False)

    def built(self, make: Callable[..., T]) -> T:
        """What `make` makes of the arguments. Every error says file and line."""
        try:
            return make(**self.arguments)
        except QuincunxError as error:
            first = error.where.partition(".")[0].partition("[")[0].partition(",")[0].partition(":")[0]
            raise placed(error, self.parts.get(first, self.parts["topdown"]).place) from None


def read_plan(path: str | Path) -> Plan:
    """The plan in a file, of one table or of two. Every error says file and line."""
    file = Path(path)
    root = read_toml(file)
    top = _needed(root, _TOP, ("dataset", "version", "ledger", "spec", "topdown"))
    spec = _needed(top["spec"], _SPEC, ("unit", "standard", "intensity"))
    parts = _needed(top["topdown"], _TOPDOWN, ("source", "geography", "levels", "attributes", "shares"))
    standard = spec["standard"].members(("kind",))
    if "kind" not in standard or standard["kind"].text() != "zcdp":
        raise spec["standard"].wrong("TopDown is stated in zCDP", hint='Write standard = { kind = "zcdp" }.')
    here = file.absolute().parent
    ledger = top["ledger"].text()
    intensity = spec["intensity"].number(positive)
    levels = _plain(parts["levels"], dict)
    common: dict[str, Any] = {
        "dataset": top["dataset"].text(),
        "version": top["version"].text(),
        "ledger": Ledger.beside(here, ledger),
        "geography": here / parts["geography"].text(),
        "levels": levels,
        "rho": parts["rho"].number(positive) if "rho" in parts else intensity,
        "intensity": intensity,
        "unit": _unit(spec["unit"]),
    }
    if "confidence" in top:
        common["confidence"] = top["confidence"].number(probability)
    for name in ("estimate", "spine", "passes"):
        if name in parts:
            common[name] = parts[name].text()
    own = _table(parts, here, levels)
    if "invariants" in spec:
        own["invariants"] += [_invariant(each, levels) for each in spec["invariants"].elements()]
    if "output" in top:
        own["outputs"] = _names(top["output"], *(() if "households" not in parts else ("households",)))
    if ("households" in parts) != ("edits" in parts):
        hint = 'Write [topdown.households] with its source and attributes, and [topdown.edits] with size = "size".'
        raise top["topdown"].wrong("a table of households and edits go together", hint=hint)
    if "households" in parts:
        for name, place in (("facts", spec), ("columns", spec), ("records", parts), ("household", parts)):
            if name in place:
                hint = "Leave it out: with [topdown.households] it follows from the two tables."
                raise place[name].wrong(f"{name} does not go with two tables", hint=hint)
    if "households" not in parts:
        for name in ("records", "household"):
            if name in parts:
                own[name] = parts[name].text()
        for name, read in (("facts", _texts), ("columns", _list)):
            if name in spec:
                own[name] = read(spec[name])
        return Plan(file=str(path), two=False, arguments={**common, **own}, parts={**top, **parts})
    other = _needed(parts["households"], _HOMES, ("source", "household", "attributes", "share", "shares"))
    homes = _table(other, here, levels) | {"household": other["household"].text()}
    if "output" in top and "households" in top["output"].members():
        homes["outputs"] = _names(top["output"].members()["households"])
    both = {
        "people": own,
        "households": homes,
        "share": other["share"].number(probability),
        "edits": _edits(parts["edits"]),
    }
    return Plan(
        file=str(path),
        two=True,
        arguments={**common, **both},
        parts={**top, **parts, "share": other["share"]},
    )


def _table(parts: dict[str, Node], here: Path, levels: Mapping[str, Any]) -> dict[str, Any]:
    """What a table has for itself."""
    given: dict[str, Any] = {
        "source": here / parts["source"].text(),
        "attributes": _plain(parts["attributes"], dict),
        "shares": {name: _plain(level, dict) for name, level in parts["shares"].members().items()},
        "invariants": [],
    }
    for name in ("counts", "freed"):
        if name in parts:
            given[name] = parts[name].text()
    if "recodes" in parts:
        given["recodes"] = {name: _plain(each, dict) for name, each in parts["recodes"].members().items()}
    if "zeros" in parts:
        given["zeros"] = _zeros(parts["zeros"])
    if "invariants" in parts:
        given["invariants"] = [_invariant(each, levels) for each in parts["invariants"].elements()]
    if "bounds" in parts:
        given["bounds"] = [bound for each in parts["bounds"].elements() for bound in _bounds(each, here)]
    return given


def _names(node: Node, *more: str) -> dict[str, str]:
    found = node.members((*NAMES, *more))
    return {name: each.text() for name, each in found.items() if name not in more}


def _texts(node: Node) -> dict[str, str]:
    return {name: each.text() for name, each in node.members().items()}


def _list(node: Node) -> list[str]:
    return [each.text() for each in node.elements()]


def _edits(node: Node) -> Edits:
    parts = _needed(node, ("size", "people", "householders"), ("size",))
    rules = {name: _rule(parts[name]) for name in ("people", "householders") if name in parts}
    return Edits(size=parts["size"].text(), **rules)


def _rule(node: Node) -> dict[str, list[str]]:
    """A table of attributes and values, or the same as a condition."""
    found = _zero(node)
    return {
        name: [str(each) for each in value] if isinstance(value, list) else [str(value)]
        for name, value in found.items()
    }


def _needed(node: Node, known: tuple[str, ...], needed: tuple[str, ...]) -> dict[str, Node]:
    found = node.members(known)
    for name in needed:
        if name not in found:
            raise node.wrong(f"{name} is missing", hint="None of its parts has a default." if name in _SPEC else "")
    return found


def _plain(node: Node, kind: type) -> Any:
    node.expect(kind)
    return node.value


def _unit(node: Node) -> Replace:
    parts = node.members(("kind", "key"))
    if "kind" not in parts or parts["kind"].text() != "replace":
        raise node.wrong("TopDown protects one person replaced", hint='Write { kind = "replace", key = "person_id" }.')
    with node.located():
        return Replace(key=parts["key"].text() if "key" in parts else None)


def _invariant(node: Node, levels: Mapping[str, Any]) -> tuple[str, str]:
    """{ level = …, query = … }, or the same as a SELECT."""
    if isinstance(node.value, str):
        return sentences.fact(node.text(), levels, node.place)
    parts = _needed(node, ("level", "query"), ("level", "query"))
    return parts["level"].text(), parts["query"].text()


def _zero(node: Node) -> Mapping[str, Any]:
    """A table of attributes and values, or the same as a condition."""
    found: Mapping[str, Any] = (
        sentences.rule(node.text(), node.place) if isinstance(node.value, str) else _plain(node, dict)
    )
    return found


def _zeros(node: Node) -> list[Mapping[str, Any]]:
    """A list of rules, or a table { rules = […] } of them."""
    if isinstance(node.value, dict):
        node = _needed(node, ("rules",), ("rules",))["rules"]
    return [_zero(each) for each in node.elements()]


def _bounds(node: Node, here: Path) -> list[Bound]:
    """One file for both sides, or one for each."""
    parts = _needed(node, _BOUND, ("level", "query", "provenance"))
    sides = {side: parts[name] for name, side in (("file", "both"), ("low", "low"), ("high", "high")) if name in parts}
    if not sides or ("both" in sides and len(sides) > 1):
        raise node.wrong(
            "name the file of the bound", hint='Write file = "b.csv", or low = "a.csv" and high = "b.csv".'
        )
    with node.located():
        return [
            Bound(
                level=parts["level"].text(),
                query=parts["query"].text(),
                file=here / file.text(),
                provenance=parts["provenance"].text(),
                zero_where_none=parts["zero_where_none"].flag() if "zero_where_none" in parts else False,
                side=side,
            )
            for side, file in sides.items()
        ]
