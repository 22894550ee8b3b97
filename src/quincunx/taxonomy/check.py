"""A world against all definitions: which it satisfies, with which parameters, shown by which witness."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from quincunx.errors import QuincunxError, SpecificationError
from quincunx.taxonomy.answer import Answer
from quincunx.taxonomy.reading import nearest
from quincunx.taxonomy.registry import Entry, entries, names
from quincunx.taxonomy.world import World

QUESTIONS: Final = {
    "": "The original",
    "Q": "Q, how the loss is quantified across outputs",
    "N": "N, which properties are protected",
    "V": "V, whether the loss varies across inputs",
    "B": "B, what the attacker knows beforehand",
    "F": "F, in which terms the gain is described",
    "R": "R, what the gain is relative to",
    "C": "C, how much the attacker can compute",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One definition on one world. status: "answered"; "unsaid" (the world lacks a part); "undecided" (no finite world
    decides it); "refused" (this world is not of its kind, or too large). reason: why, unless answered."""

    entry: Entry
    status: str
    answer: Answer | None = None
    reason: str = ""
    seconds: float = 0.0

    def to_json(self) -> dict[str, object]:
        """For programs."""
        data: dict[str, object] = {
            "definition": self.entry.short,
            "name": self.entry.name,
            "dimensions": list(self.entry.letters),
            "status": self.status,
        }
        if self.answer is not None:
            data["answer"] = self.answer.to_json()
        return {**data, **({"reason": self.reason} if self.reason else {})}


def chosen(only: Sequence[str]) -> list[Entry]:
    """The definitions with these abbreviations, or of these dimensions (one letter each); all, if none is named."""
    if not only:
        return list(entries())
    found: list[Entry] = []
    for word in only:
        exact = [entry for entry in entries() if entry.short == word]
        alike = exact or [entry for entry in entries() if entry.short.lower() == word.lower()]
        letter = [entry for entry in entries() if word.upper() in entry.letters] if len(word) == 1 else []
        if not alike and not letter:
            hint = f"{nearest(word, names())} Or one of the letters Q, N, V, B, F, R, C."
            raise SpecificationError("unknown definition", where="--only", got=repr(word)[:40], hint=hint)
        found += alike or letter
    return [entry for entry in entries() if entry in found]


def check(
    world: World, only: Sequence[str] = (), progress: Callable[[int, int, str], None] | None = None
) -> list[Finding]:
    """Every chosen definition on the world, in the order of the survey. progress(done, all, name) before each."""
    asked = chosen(only)
    found = []
    for i, entry in enumerate(asked):
        if progress is not None:
            progress(i, len(asked), entry.short)
        start = time.process_time()
        status, answer, reason = _one(entry, world)
        seconds = time.process_time() - start
        found.append(Finding(entry=entry, status=status, answer=answer, reason=reason, seconds=seconds))
    return found


def _one(entry: Entry, world: World) -> tuple[str, Answer | None, str]:
    definition = entry.definition
    if definition.undecided:
        return "undecided", None, definition.undecided
    missing = [part for part in definition.needs if getattr(world, part) is None]
    if missing:
        return "unsaid", None, f"the world does not say: {', '.join(missing)}"
    try:
        return "answered", definition.tightest(world), ""
    except QuincunxError as error:
        return "refused", None, str(error)
