"""The data files, read once: rows in the order of the survey's table, names, homonyms, papers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from quincunx.errors import SpecificationError
from quincunx.taxonomy.catalogue.row import AXIOMS, Axiom, Homonym, Name, Parameter, Row
from quincunx.taxonomy.reading import nearest
from quincunx.taxonomy.registry import entries

FILES: Final = (
    "original",
    "quantification",
    "neighbourhood",
    "variation",
    "background",
    "formalism",
    "relativisation",
    "computation",
)


def data(name: str) -> Mapping[str, Any]:
    """One data file."""
    with Path(__file__).with_name(f"{name}.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def definitions() -> tuple[Row, ...]:
    """All 89, in the order of the survey's table."""
    written = {each["short"]: each for file in FILES for each in data(file)["definition"]}
    rows = []
    for entry in entries():
        each = written[entry.short]
        rows.append(
            Row(
                entry=entry,
                printed_as=tuple(each["printed_as"]),
                also=tuple(each["also"]),
                section=each["section"],
                number=each.get("number"),
                references=tuple(each["references"]),
                follows=each["follows"],
                intuition=each["intuition"],
                use=each["use"],
                gives=each["gives"],
                checkable=each["checkable"],
                why=each["why"],
                relations=tuple(each["relations"]),
                parameters=tuple(Parameter(**parameter) for parameter in each["parameters"]),
                axioms={axiom: Axiom(**each[axiom]) for axiom in AXIOMS},
            )
        )
    return tuple(rows)


@cache
def names() -> tuple[Name, ...]:
    """The names of the survey's text that have no row."""
    return tuple(Name(**{**each, "references": tuple(each["references"])}) for each in data("names")["name"])


@cache
def homonyms() -> tuple[Homonym, ...]:
    """Names that mean several things."""
    found = data("homonyms")["homonym"]
    return tuple(Homonym(name=each["name"], members=tuple(each["members"]), what=each["what"]) for each in found)


@cache
def papers() -> Mapping[str, str]:
    """Key of a paper → authors, title, year."""
    return {str(key): str(text) for key, text in data("papers").items()}


@cache
def _called() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Name → abbreviation, exactly and in lower case; what several rows share leads nowhere."""
    exact: dict[str, str | None] = {}
    for row in definitions():
        for name in (row.name, *row.printed_as, *row.also):
            exact[name] = row.short if exact.get(name, row.short) == row.short else None
    for each in names():
        if each.same:
            exact.setdefault(each.name, each.same)
    exact.update({row.short: row.short for row in definitions()})
    lower: dict[str, str | None] = {}
    for name, short in exact.items():
        lower[name.lower()] = short if lower.get(name.lower(), short) == short else None
    return {k: v for k, v in exact.items() if v}, {k: v for k, v in lower.items() if v}


def named(name: str) -> str:
    """The abbreviation of a definition by any of its names, in any case where that is no other's."""
    exact, lower = _called()
    found = exact.get(name) or lower.get(str(name).lower())
    if found is None:
        meant = [each for each in homonyms() if each.name.lower() == str(name).lower()]
        known = [row.short for row in definitions()]
        hint = (
            f"It may be {', '.join(meant[0].members)}."
            if meant
            else nearest(str(name), {**exact, **dict.fromkeys(known)})
        )
        raise SpecificationError("unknown definition", where="taxonomy", got=repr(name)[:40], hint=hint)
    return found


def get(name: str) -> Row:
    """One definition by its abbreviation or any other name: get("zCDP")."""
    short = named(name)
    return next(row for row in definitions() if row.short == short)


def search(words: str) -> Sequence[Row | Name]:
    """Rows and names in which every word occurs, the ones with the words in their names first."""
    wanted = words.lower().split()
    if not wanted:
        raise SpecificationError("nothing to search for", where="search", hint="Give a word, such as location.")

    def found(text: str) -> bool:
        return all(word in text.lower() for word in wanted)

    ranked: list[tuple[int, int, Row | Name]] = []
    for place, row in enumerate(definitions()):
        title = " ".join((row.short, row.name, *row.printed_as, *row.also))
        body = " ".join((title, row.intuition, row.use, row.gives, *row.references))
        if found(body):
            ranked.append((0 if found(title) else 1, place, row))
    for place, each in enumerate(names()):
        if found(f"{each.name} {each.what} {' '.join(each.references)}"):
            ranked.append((0 if found(each.name) else 2, 1000 + place, each))
    return [each for _, _, each in sorted(ranked, key=lambda item: item[:2])]
