"""One implication: from a definition at some parameters to another at others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from quincunx.numbers import Ball
from quincunx.taxonomy.relations.language import Given, Number, language

# (what the source is at, what the target's settings are) → the target's measures; None where nothing follows
Map: TypeAlias = Callable[[Given, Given], "Number | Mapping[str, Number] | None"]

CONDITIONS: Final = {
    "absence": "the dataset without the record is possible too",
    "product": "every combination of records is a possible dataset",
    "public size": "nobody is ever absent: the number of records is public",
    "unit distance": "the distance is 1 between neighbours and infinite otherwise",
    "hamming": "the distance is the number of records that differ, and nobody is ever absent",
    "independent": "records are independent under every prior",
    "supported": "every prior gives every dataset a positive probability",
    "positive": "every output that is possible for one dataset is possible for all",
    "two values": "the priors are all those on two datasets that differ in one record's value, no record occurs twice",
    "presence": "the priors are all those on two datasets that differ in one record's presence, no record occurs twice",
    "values are secrets": "the secrets are all pairs of values of all records",
    "no leak": "nothing leaks beforehand",
    "constant leak": "the leak is constant",
    "independent leak": "the leak is independent of the output, given the data",
    "all sensitive": "every record is sensitive",
    "complete policy": "the policy has an edge between any two records, and every dataset is possible",
    "all neighbours": "the listed pairs are all pairs that differ in one record",
    "within": "the listed pairs are those within the distance",
    "one prior": "the prior is one of the family",
    "others": "a simulator may see all other records",
    "constant": "the function that both parties learn is constant",
    "linkage": "the function that both parties learn is which records match",
    "feasible": "the simulator runs in polynomial time",
    "nothing known": "the adversaries are all targets with nothing known",
}
# Where nobody is ever absent, definitions that compare data with and without a record say nothing.
_PRESENT: Final = frozenset({"public size", "hamming"})
_ABSENT: Final = frozenset({"uBoDP", "AsDP", "PerDP", "TaiDP", "OutPr", "SemPr", "SamDP", "PIDP"})
# Conditions that no one set of priors, distance, data or function satisfies together.
_CLASHES: Final = tuple(
    map(
        frozenset,
        (
            ("two values", "presence"), ("two values", "supported"), ("presence", "supported"),
            ("unit distance", "hamming"), ("public size", "absence"), ("public size", "presence"),
            ("hamming", "absence"), ("hamming", "presence"), ("constant", "linkage"),
        ),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """source at parameters implies target at map(parameters).

    words: the map in symbols. basis: "definition" (part of the pairs, priors, orders or events), "proof" (a section of
    relations.md) or "paper". origin: which section or paper. conditions: keys of CONDITIONS that must hold. untested:
    why no finite world tests it, else empty. map: None where the parameter is a curve or a function.
    """

    source: str
    target: str
    words: str
    basis: str
    origin: str
    map: Map | None
    conditions: tuple[str, ...] = ()
    untested: str = ""

    @property
    def name(self) -> str:
        """source → target, with its conditions."""
        return f"{self.source} → {self.target}" + (f" if {', '.join(self.conditions)}" if self.conditions else "")

    def continues(self, path: tuple[Edge, ...]) -> bool:
        """Whether the edge may follow a path: conditions must not clash, and nothing that assumes everybody present
        leads to what needs absence."""
        assumed = {each for edge in (*path, self) for each in edge.conditions}
        if any(clash <= assumed for clash in _CLASHES):
            return False
        return self.target not in _ABSENT or not _PRESENT & assumed

    def apply(self, given: Given, settings: Given) -> dict[str, Number] | None:
        """The target's measures at `settings`; None where nothing finite follows."""
        if self.map is None:
            return None
        found = self.map(given, settings)
        if found is None:
            return None
        measures = language(self.target).measures
        values = dict(found) if isinstance(found, Mapping) else {measures[0]: found}
        return None if any(isinstance(v, Ball) and not v.is_finite() for v in values.values()) else values

    def to_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "source": self.source,
            "target": self.target,
            "map": self.words,
            "basis": self.basis,
            "origin": self.origin,
            "conditions": [CONDITIONS[each] for each in self.conditions],
            "untested": self.untested,
        }
