"""From a use case to definitions: four questions, each of which chooses along some dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from quincunx.errors import SpecificationError
from quincunx.taxonomy import catalogue
from quincunx.taxonomy.catalogue.read import data
from quincunx.taxonomy.definition import DIMENSIONS, Definition
from quincunx.taxonomy.reading import nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One answer to a question. definition: what it chooses; empty where ε-DP has it. costs: what it takes here."""

    answer: str
    says: str
    definition: str
    costs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """asks: in words. options: what may be answered; the first is the default."""

    name: str
    asks: str
    options: tuple[Option, ...]

    def option(self, answer: str) -> Option:
        """The option of an answer."""
        found = next((each for each in self.options if each.answer == answer), None)
        if found is None:
            known = [each.answer for each in self.options]
            raise SpecificationError(
                "unknown answer", where=self.name, got=repr(answer)[:40], hint=nearest(answer, known)
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """What fits a use case. chosen: question → option. shorts: the definitions to read. composed: the seven choices
    together, where they fit; misfit: why they do not."""

    chosen: Mapping[str, Option]
    shorts: tuple[str, ...]
    composed: Definition | None
    misfit: str = ""

    def to_json(self) -> dict[str, object]:
        """For programs."""
        reasons = [
            {"question": name, "answer": o.answer, "says": o.says, "definition": o.definition, "costs": o.costs}
            for name, o in self.chosen.items()
        ]
        composed = self.composed
        return {
            "definitions": list(self.shorts),
            "reasons": reasons,
            "sentence": composed.sentence() if composed else "",
            "statement": composed.latex() if composed else "",
            "misfit": self.misfit,
        }


@cache
def questions() -> tuple[Question, ...]:
    """The four questions."""
    return tuple(
        Question(name=each["name"], asks=each["asks"], options=tuple(Option(**option) for option in each["answers"]))
        for each in data("choices")["question"]
    )


@cache
def examples() -> Sequence[Mapping[str, Any]]:
    """The survey's own examples: answers, and the definitions that they must lead to."""
    return tuple(data("choices")["example"])


def choose(**answers: str) -> Recommendation:
    """The definitions for sensitive=…, attacker=…, exact=…, often=…; what is left out has its first answer."""
    known = [question.name for question in questions()]
    extra = next((name for name in answers if name not in known), None)
    if extra is not None:
        raise SpecificationError("unknown question", where="choose", got=repr(extra)[:40], hint=nearest(extra, known))
    chosen = {q.name: q.option(answers.get(q.name, q.options[0].answer)) for q in questions()}
    shorts = tuple(option.definition for option in chosen.values() if option.definition) or ("DP",)
    composed, misfit = _composed(shorts)
    return Recommendation(chosen=chosen, shorts=shorts, composed=composed, misfit=misfit)


def _composed(shorts: Sequence[str]) -> tuple[Definition | None, str]:
    """One definition with the choices of all, unless two choose along one dimension or do not fit."""
    choices: dict[str, Any] = {}
    owner: dict[str, str] = {}
    for short in shorts:
        definition = catalogue.get(short).definition
        for name in DIMENSIONS:
            choice = getattr(definition, name)
            if choice.default or choices.get(name) == choice:
                continue
            if name in choices:
                return None, f"{owner[name]} and {short} choose differently along one dimension ({name}): state both"
            choices[name], owner[name] = choice, short
    try:
        return Definition(**choices), ""
    except SpecificationError as error:
        return None, f"they do not fit into one definition ({error.what}): state both"
