"""The graph of implications: all edges, and whether one definition implies another."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from quincunx.taxonomy.relations import beliefs, losses, neighbours
from quincunx.taxonomy.relations.edge import CONDITIONS, Edge
from quincunx.taxonomy.relations.language import language


@dataclass(frozen=True, slots=True, kw_only=True)
class Implication:
    """Whether one definition at some parameters implies another at some.

    status: "yes"; "if" (under the conditions); "no" (a stored counterexample refutes it for all parameters);
    "unknown". path: the edges. refutation: the key of the counterexample.
    """

    source: str
    target: str
    status: str
    path: tuple[Edge, ...] = ()
    conditions: tuple[str, ...] = ()
    refutation: str = ""

    def __bool__(self) -> bool:
        return self.status == "yes"

    def __str__(self) -> str:
        if self.path:
            way = " → ".join((self.source, *(edge.target for edge in self.path)))
            under = "".join(f"; if {CONDITIONS[each]}" for each in self.conditions)
            return f"{'yes' if self else 'yes, under conditions'}: {way}{under}"
        if self.source == self.target:
            return "yes: it is the same"
        return f"no: {self.refutation}" if self.status == "no" else "no way is known"

    def to_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "source": self.source,
            "target": self.target,
            "status": self.status,
            "path": [edge.to_json() for edge in self.path],
            "conditions": [CONDITIONS[each] for each in self.conditions],
            "refutation": self.refutation,
        }


@cache
def edges() -> tuple[Edge, ...]:
    """Every implication, in the order of the survey's sections."""
    return (*losses.EDGES, *neighbours.EDGES, *beliefs.EDGES)


@cache
def leaving() -> Mapping[str, Sequence[Edge]]:
    """Definition → the edges that begin there."""
    found: dict[str, list[Edge]] = {}
    for edge in edges():
        found.setdefault(edge.source, []).append(edge)
    return found


def implies(source: str, target: str) -> Implication:
    """Whether a definition implies another, at parameters that `convert` computes; the fewest steps, and if possible
    none with conditions."""
    from quincunx.taxonomy.relations.refuted import refutation

    one, other = language(source).short, language(target).short
    if one == other:
        return Implication(source=one, target=other, status="yes")
    for conditional in (False, True):
        path = _shortest(one, other, conditional)
        if path:
            conditions = tuple(dict.fromkeys(each for edge in path for each in edge.conditions))
            status = "if" if conditions else "yes"
            return Implication(source=one, target=other, status=status, path=path, conditions=conditions)
    against = refutation(one, other)
    return Implication(source=one, target=other, status="no" if against else "unknown", refutation=against)


def _shortest(source: str, target: str, conditional: bool) -> tuple[Edge, ...]:
    reached: dict[str, tuple[Edge, ...]] = {source: ()}
    waiting = deque([source])
    while waiting:
        here = waiting.popleft()
        for edge in leaving().get(here, ()):
            if edge.target in reached or (edge.conditions and not conditional) or not always(edge):
                continue
            if not edge.continues(reached[here]):
                continue
            reached[edge.target] = (*reached[here], edge)
            if edge.target == target:
                return reached[edge.target]
            waiting.append(edge.target)
    return ()


def always(edge: Edge) -> bool:
    """Whether the edge says something at all parameters, not at special ones alone."""
    return (edge.source, edge.target) not in _SPECIAL


# ADP implies pure DP for δ = 0 alone, and so on: special cases of an extension, not implications between notions.
_SPECIAL = frozenset(
    {
        ("ADP", "DP"), ("zCoDP", "DP"), ("APKDP", "NPr"), ("RanDP", "BoDP"), ("DnPr", "DDnPr"), ("DnPr", "EDnPr"),
        ("DivDP", "RenyiDP"), ("DivDP", "KLPr"), ("DivDP", "TVPr"), ("TVPr", "DivDP"), ("KLPr", "DivDP"),
        ("TVPr", "ADP"), ("RenyiDP", "DivDP"), ("kDivDP", "RenyiDP"), ("RenyiDP", "kDivDP"),
    }
)  # fmt: skip
