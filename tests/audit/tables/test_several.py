"""Replay of several tables at once: links and what relations read besides, under every unit that has people."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from quincunx.audit.tables.questions import accepted, questions
from quincunx.audit.tables.relations import RELATIONS, Ground
from quincunx.audit.tables.several import Together
from quincunx.audit.tables.values import STORAGE
from quincunx.table.relations import Relation
from tests.audit.tables.several import KEYED, TABLES, replayed, schema

LINKED = (
    "SELECT COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS m FROM bills",
    "SELECT bill, COUNT(*) AS n FROM bills GROUP BY bill",
    "SELECT COUNT(*) AS n, SUM(price) AS s FROM posts WHERE price > 1",
    "SELECT note, COUNT(*) AS n FROM posts GROUP BY note",
)
PEOPLE = "SELECT COUNT(DISTINCT person) AS p, COUNT(DISTINCT person) FILTER (WHERE amount > 3) AS q FROM bills"
QUICK = ("add-remove person", "replace person x 3", "replace person-day")


@pytest.mark.parametrize("unit", [pytest.param(each, marks=() if each in QUICK else pytest.mark.ci) for each in KEYED])
def test_neighbours_of_linked_tables_are_as_close_as_declared(unit: str, full: bool) -> None:
    asked = [*LINKED, *([PEOPLE] if "person-" not in unit else [])]
    found = replayed(unit, asked, pairs=200 if full else 24, giants=1, series=f"linked {unit}").check()
    assert found.refused == 0
    assert found.cases == 2 * len(asked) * (200 if full else 24)
    # The worlds are hard: rows of a person come near to what they may move.
    assert max(cell.largest for cell in found.cells if cell.aggregate == "COUNT(*)") > 0.9


@pytest.mark.parametrize("unit", ["add-remove person", "replace person-day"])
def test_both_ways_give_the_same_numbers(unit: str) -> None:
    reports = [
        replayed(unit, LINKED[::3], norms=(2,), pairs=5, giants=0, series="same", batched=batched)
        for batched in (True, False)
    ]
    assert reports[0] == reports[1]
    assert reports[0].cases > 0


def test_worlds_have_shared_rows_absent_people_and_links_to_two() -> None:
    """What the proof is about must be in the worlds, or they would show nothing."""
    declared = schema("replace person")
    names = ("encounters", "visits", "bills", "posts")
    storage = {name: {each.name.lower(): STORAGE[each.type] for each in TABLES[name].columns} for name in names}
    pairs = Together(schema=declared, storage=storage, source=random.Random("worlds")).pairs(60)
    seen = dict.fromkeys(("shared", "own", "absent", "two owners", "unlinked"), 0)
    for pair in pairs:
        for side in (0, 1):
            links = pair.rows("encounters")[side]
            people = {row[2]: {each[0] for each in links if each[2] == row[2] and each[0]} for row in links if row[2]}
            changed = (pair.before, pair.after)[side]
            own = [row for piece in changed if piece.table == "bills" for row in piece.rows]
            owners = {piece.owner[0] for piece in changed}
            # Rows that come and go with a person lead to nobody else, before and after.
            assert all(people.get(row[0], set()) <= owners for row in own)
            seen["own"] += any(people.get(row[0]) for row in own)
            bills = [row for piece in pair.common if piece.table == "bills" for row in piece.rows]
            seen["shared"] += any(people.get(row[0]) for row in bills)
            seen["two owners"] += any(len(people.get(row[0], ())) > 1 for row in bills)
            seen["unlinked"] += any(row[0] not in people for row in bills)
            visits, encounters = ({r[0] for r in pair.rows(name)[side]} - {None} for name in ("visits", "encounters"))
            seen["absent"] += bool(visits - encounters) and bool(encounters - visits)
    assert all(count > 3 for count in seen.values()), seen


# Constructs: each by itself, over tables with keys and with links.

TABLES_OF_QUESTIONS = ("visits", "bills")
SWIFT = ("add-remove person", "replace person-day")


def asked(construct: str, unit: str, count: int) -> list[str]:
    """Questions about what a construct makes of tables: counts, sums and groups of its rows."""
    declared, found = schema(unit), []
    for number, table in itertools.product(range(count), TABLES_OF_QUESTIONS):
        chance = random.Random(f"{construct} {number} {table}")
        below = RELATIONS[construct](Ground(schema=declared, table=declared.tables[table], source=chance))
        if below is None:
            continue
        numbers = [each.name for each in below.columns if each.bounds is not None]
        keys = [each.name for each in below.columns if each.keys is not None]
        parts = ["COUNT(*) AS n", *(f"SUM({each}) AS s{i}" for i, each in enumerate(numbers[:1]))]
        group = keys[0] if keys and number % 2 else ""
        selected = ", ".join([*([group] if group else []), *parts])
        found.append(f"SELECT {selected} FROM ({below.sql}) AS q{f' GROUP BY {group}' if group else ''}")
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("construct", RELATIONS)
def test_neighbours_of_a_construct_are_as_close_as_declared(construct: str, ci: bool, full: bool) -> None:
    compared = 0
    for place, unit in enumerate(KEYED if full else SWIFT if ci else SWIFT[:1]):
        texts = asked(construct, unit, 4 if full else 2 if ci else 1)
        pairs, norms = (30, (1, 2)) if full else (10, (1, 2)) if ci else (8, (1 + len(construct) % 2,))
        series = f"{construct} {unit}"
        found = replayed(unit, texts, norms=norms, pairs=pairs, giants=int(full or not place), series=series, shrunk=0)
        assert found.holds, found.violations[0]
        assert found.refused == 0, texts
        compared += found.cases
    assert compared >= (200 if full else 8)


def test_every_relation_is_in_a_construct() -> None:
    """A relation that no generated question can reach would be replayed by nobody."""
    declared, found = schema("add-remove person"), set[str]()
    for construct in RELATIONS:
        for text in asked(construct, "add-remove person", 2):
            query = accepted(text, declared)
            assert query is not None, text
            found.update(each.tag for each in query.rows.walk())
    ours = [node for node in every(Relation) if node.__module__.startswith("quincunx.")]
    assert {each.tag for each in ours if not each.__abstractmethods__} <= found


def every(kind: type[Relation]) -> set[type[Relation]]:
    return {kind, *(each for child in kind.__subclasses__() for each in every(child))}


def test_generated_questions_use_every_construct() -> None:
    declared, used = schema("add-remove person"), Counter[str]()
    for made in itertools.islice(questions(declared, declared.tables["visits"], 1, relations=RELATIONS), 120):
        used.update(made.constructs & RELATIONS.keys())
    assert used.keys() == RELATIONS.keys()
    found = replayed("replace person", None, norms=(2,), pairs=3, giants=0, count=6, series="grown")
    assert found.check().cases
