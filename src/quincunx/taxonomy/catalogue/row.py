"""What the catalogue holds of one definition, and of a name that the survey only mentions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from quincunx.taxonomy.definition import Definition
from quincunx.taxonomy.registry import Entry

AXIOMS: Final = ("post_processing", "convexity", "composition")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """symbol: as it is printed. typed: as Python and the command line spell it. range: what it may be."""

    symbol: str
    typed: str
    range: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Axiom:
    """Whether a definition keeps one axiom.

    printed: "yes", "no" or "?" in the survey's table, with its footnote. settled: "yes", "no" or "unknown" here.
    basis: "proof" (a section of axioms.md), "counterexample" (one that is stored and replayed), "paper", "survey"
    (one of its propositions) or "open"; source: which.
    """

    printed: str
    settled: str
    basis: str
    source: str
    footnote: int | None = None

    @property
    def differs(self) -> bool:
        """Whether we say something else than the table prints."""
        return self.settled != self.printed.replace("?", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Row:
    """One of the 89. entry: its place in the registry, with our seven choices.

    printed_as: other abbreviations in the survey. also: other names by which `get` finds it. section, number: where
    the survey introduces it, and its Definition if it has one. references: keys of papers. follows: the paper that our
    formal statement follows, where the survey's own is words only or was completed. relations: as printed. gives: what
    of Quincunx gives it. checkable: "yes", "enclosed", "holds only", "with views" or "no"; why: unless "yes".
    """

    entry: Entry
    printed_as: tuple[str, ...]
    also: tuple[str, ...]
    section: str
    number: int | None
    references: tuple[str, ...]
    follows: str
    intuition: str
    use: str
    gives: str
    checkable: str
    why: str
    relations: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    axioms: Mapping[str, Axiom]

    @property
    def short(self) -> str:
        """The abbreviation, made unique."""
        return self.entry.short

    @property
    def name(self) -> str:
        """The full name."""
        return self.entry.name

    @property
    def letters(self) -> str:
        """The dimensions that the survey's table prints."""
        return self.entry.letters

    @property
    def definition(self) -> Definition:
        """Our seven choices; numbers in them are examples."""
        return self.entry.definition

    def __repr__(self) -> str:
        return f"<{self.short}, {self.name}: {self.intuition}>"

    def to_json(self) -> dict[str, object]:
        """Everything, for programs."""
        return {
            "short": self.short,
            "name": self.name,
            "printed_as": list(self.printed_as),
            "also": list(self.also),
            "dimensions": list(self.letters),
            "section": self.section,
            "definition": self.number,
            "references": list(self.references),
            "follows": self.follows,
            "intuition": self.intuition,
            "use": self.use,
            "gives": self.gives,
            "checkable": self.checkable,
            "why": self.why,
            "relations_as_printed": list(self.relations),
            "parameters": [asdict(each) for each in self.parameters],
            "axioms": {name: {**asdict(axiom), "differs": axiom.differs} for name, axiom in self.axioms.items()},
            "sentence": self.definition.sentence(),
            "statement": self.definition.latex(),
            "note": self.entry.note,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A name of the survey's text that has no row. same: the row of which it is another name; near: the row whose idea
    it varies; kind: "out of scope" or "another model" where the survey says so."""

    name: str
    section: str
    references: tuple[str, ...]
    what: str
    same: str = ""
    near: str = ""
    kind: str = ""

    def to_json(self) -> dict[str, object]:
        """For programs."""
        return {**asdict(self), "references": list(self.references)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Homonym:
    """One name of several definitions. members: abbreviations, or names without a row."""

    name: str
    members: tuple[str, ...]
    what: str
