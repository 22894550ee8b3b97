"""What a checker answers: the smallest parameters, with a witness that a person can verify by hand."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from quincunx.numbers import Exact, text
from quincunx.taxonomy.value import Value

# number: one; several: one for each name; front: rows of which none is better; vector and matrix: one for each entry;
# polygon: the vertices of a curve; verdict: yes or no, where the parameter is itself the condition
SHAPES: Final = ("number", "several", "front", "vector", "matrix", "polygon", "verdict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Two laws and an event. first, second: what is assumed in each; event: the outputs; probability: under each."""

    first: str
    second: str
    event: tuple[Hashable, ...]
    probability: tuple[Fraction, Fraction]
    words: str = ""

    def __str__(self) -> str:
        if self.words:
            return self.words
        event = "{" + ", ".join(str(output) for output in self.event) + "}"
        p, q = (text.amount(x) for x in self.probability)
        return f"{event} has probability {p} given {self.first} and {q} given {self.second}"

    def to_json(self) -> dict[str, object]:
        """The parts as texts."""
        return {
            "first": self.first,
            "second": self.second,
            "event": [str(output) for output in self.event],
            "probability": [str(x) for x in self.probability],
            "words": str(self),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The smallest parameters at which a world satisfies a definition.

    shape: one of SHAPES. values: name → value (number: one entry, by its symbol). rows: of a front or polygon, each a
    tuple of values in the order of `names`. entries: of a vector or matrix. holds: for a verdict. witness: what shows
    that nothing smaller is enough; None where everything is equal or nothing is compared. compared: how many pairs.
    """

    shape: str
    symbol: str
    values: Mapping[str, Value] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    rows: tuple[tuple[Value, ...], ...] = ()
    entries: Mapping[Hashable, Value] = field(default_factory=dict)
    holds: bool | None = None
    witness: Witness | None = None
    compared: int = 0
    note: str = ""

    @property
    def value(self) -> Value:
        """The number, or the largest entry of a vector or matrix: what one number would have to be."""
        from quincunx.taxonomy.value import ZERO, above

        found = list(self.values.values()) if self.shape == "number" else list(self.entries.values())
        best = ZERO
        for each in found:
            best = each if above(each, best) else best
        return best

    def within(self, limit: Exact) -> bool | None:
        """Whether every value is at most `limit`; None where an enclosure leaves it open."""
        found = [each.within(limit) for each in (*self.values.values(), *self.entries.values())]
        return False if False in found else None if None in found else True

    def __str__(self) -> str:
        if self.shape == "verdict":
            return "holds" if self.holds else "fails"
        if self.shape in ("front", "polygon"):
            shown = [self.rows[i] for i in sorted({0, len(self.rows) // 2, len(self.rows) - 1})] if self.rows else []
            points = "; ".join(", ".join(v.stated(n) for n, v in zip(self.names, row, strict=True)) for row in shown)
            return f"{len(self.rows)} points: {points}"
        if self.shape in ("vector", "matrix"):
            return f"largest {self.value.stated(self.symbol)}, of {len(self.entries)}"
        return ", ".join(value.stated(name) for name, value in self.values.items())

    def to_json(self) -> dict[str, object]:
        """Everything, for programs."""
        data: dict[str, object] = {"shape": self.shape, "symbol": self.symbol, "compared": self.compared}
        if self.values:
            data["values"] = {name: value.to_json() for name, value in self.values.items()}
        if self.rows:
            data["names"], data["rows"] = list(self.names), [[v.to_json() for v in row] for row in self.rows]
        if self.entries:
            data["entries"] = [{"of": str(key), **value.to_json()} for key, value in self.entries.items()]
        if self.holds is not None:
            data["holds"] = self.holds
        if self.witness is not None:
            data["witness"] = self.witness.to_json()
        return {**data, **({"note": self.note} if self.note else {})}


def named(key: Hashable) -> str:
    """A label of an entry for people."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
