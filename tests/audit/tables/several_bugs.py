"""Bugs of relations, each seeded into its writer by one patch: what would mix people, days or shares of rows.

Worlds stay apart in all of them, so that what replay finds is a person who moves others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlglot import exp

from quincunx.table.engines import rows
from quincunx.table.engines.relations import pairing, semijoin, window
from quincunx.table.engines.typed_sql import Piece, column
from quincunx.table.relations import Link, RollUp
from tests.audit.tables.bugs import Patch, wrapped

Owners = Mapping[str, Piece]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """name: its class. sql, unit: where it shows. giants: how many pairs have somebody with a thousand rows."""

    name: str
    patch: Patch
    sql: str
    unit: str = "add-remove person"
    norm: int = 1
    pairs: int = 40
    giants: int = 0


def nobody(owners: Owners) -> Owners:
    """Only the world: everybody in it is one."""
    return {name: piece for name, piece in owners.items() if name == rows.WORLD}


def dayless(owners: Owners) -> Owners:
    return {name: piece for name, piece in owners.items() if name != "o1"}


def compared(module: Any, kept: Callable[[Owners], Owners]) -> Patch:
    """Rows that meet by a part of the owner."""
    return wrapped(module, "same_owner", lambda original, one, other: original(kept(one), kept(other)))


def listed(kept: Callable[[Owners], Owners]) -> Patch:
    """IN among everybody's values."""

    def around(original: Any, d: Any, relation: Any, below: Any, other: Any) -> Any:
        return original(d, relation, replace(below, owners=kept(below.owners)), other)

    return wrapped(semijoin, "_answer", around)


def partitioned(kept: Callable[[Owners], Owners]) -> Patch:
    def around(original: Any, d: Any, relation: Any, windowed: Any, layers: Any, called: Any) -> Any:
        # What the question itself partitions by is the owner, and goes too.
        below, made = layers
        return original(d, relation, windowed, (replace(below, owners=kept(below.owners)), made), called)

    return wrapped(window, "_over", around)


def capped(monkeypatch: pytest.MonkeyPatch) -> None:
    """One cap for everybody together: a person with many rows switches off the pairs of all."""
    crowded, without = pairing.crowded, pairing.without

    def many(d: Any, left: Any, right: Any, relation: Any, joined: int) -> Any:
        sides = (replace(each, owners=nobody(each.owners)) for each in (left, right))
        return crowded(d, *sides, relation, joined)

    def left(d: Any, side: Any, name: str) -> Any:
        return without(d, replace(side, owners=nobody(side.owners)), name)

    monkeypatch.setattr(pairing, "crowded", many)
    monkeypatch.setattr(pairing, "without", left)


def led(change: Callable[[exp.Select], exp.Select]) -> Patch:
    """Other pairs of a value and an owner behind a link."""
    write = rows.WRITERS[Link]

    def changed(d: Any, link: Any, sources: Any) -> Any:
        found = write(d, link, sources)
        known = next(each for each in found.relation.find_all(exp.Subquery) if each.alias == "known")
        known.set("this", change(known.this))
        return found

    return lambda monkeypatch: monkeypatch.setitem(rows.WRITERS, Link, changed)


def one_owner(known: exp.Select) -> exp.Select:
    found = exp.select(exp.alias_(exp.Max(this=column("o0")), "o0"), column(rows.WORLD), column("l"))
    return found.from_(known.subquery("k")).group_by(column(rows.WORLD), column("l"))


def unambiguous(known: exp.Select) -> exp.Select:
    return one_owner(known).having(exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1)))


def link_without_day(monkeypatch: pytest.MonkeyPatch) -> None:
    write = rows.WRITERS[Link]

    def changed(d: Any, link: Any, sources: Any) -> Any:
        found = write(d, link, sources)
        return replace(found, owners=dayless(found.owners))

    monkeypatch.setitem(rows.WRITERS, Link, changed)


def rolled(*names: str) -> Patch:
    """Groups of everybody with these parts of the owner left out of GROUP BY; somebody's stand for all."""
    write = rows.WRITERS[RollUp]

    def changed(d: Any, relation: Any, sources: Any) -> Any:
        found = write(d, relation, sources)
        select = found.relation.this
        kept = {each.alias: each.this for each in select.expressions}
        gone = [kept[name] for name in names]
        select.args["group"].set("expressions", [e for e in select.args["group"].expressions if e not in gone])
        for each in select.expressions:
            if each.alias in names:
                each.set("this", exp.Max(this=each.this.copy()))
        return found

    return lambda monkeypatch: monkeypatch.setitem(rows.WRITERS, RollUp, changed)


BILLED = "SELECT amount // 10 * 10 AS k, COUNT(*) AS n FROM bills GROUP BY 1"
ROLLED = "SELECT {by}, age, COUNT(*) AS many FROM visits GROUP BY ALL"
WEEK = "person, DATE_TRUNC('week', day) AS week"
DAY = "replace person-day"
SAME = "a.person = b.person"
SAME_DAY = f"{SAME} AND a.day = b.day"
COUNTED = "SELECT COUNT(*) AS n, SUM(age) AS s FROM"
JOINED = f"{COUNTED} visits a JOIN encounters b ON {SAME}"
ITSELF = f"SELECT COUNT(*) AS n, SUM(a.age) AS s FROM visits a JOIN visits b ON {SAME}"


def having(test: str, same: str) -> str:
    return f"{COUNTED} visits a WHERE {test} (SELECT 1 FROM encounters b WHERE {same} AND b.encounter < 0)"


def among(test: str) -> str:
    return f"{COUNTED} visits a WHERE a.person {test} (SELECT b.person FROM encounters b WHERE b.encounter < 0)"


def over(call: str, test: str, by: str = "person") -> str:
    made = f"SELECT *, {call} OVER (PARTITION BY {by} ORDER BY age) AS made FROM visits"
    return f"{COUNTED} ({made}) AS q WHERE {test}"


BUGS: tuple[Bug, ...] = (
    Bug(name="a join of everybody with everybody", sql=JOINED, patch=compared(pairing, nobody)),
    Bug(name="a join of everybody, replaced", sql=JOINED, unit="replace person", patch=compared(pairing, nobody)),
    Bug(name="a join of everybody, in ℓ2", sql=JOINED, norm=2, patch=compared(pairing, nobody)),
    Bug(
        name="a left join of everybody",
        sql=f"{COUNTED} visits a LEFT JOIN encounters b ON {SAME} AND b.ward = 'a' WHERE b.ward IS NULL",
        patch=compared(pairing, nobody),
    ),
    Bug(
        name="a join of days",
        sql=f"{COUNTED} visits a JOIN encounters b ON {SAME_DAY}",
        unit=DAY,
        pairs=80,
        patch=compared(pairing, dayless),
    ),
    Bug(name="a join of a table with all of itself", sql=ITSELF, patch=compared(pairing, nobody)),
    Bug(name="a cap on the pairs of all people together", sql=ITSELF, giants=12, pairs=24, patch=capped),
    Bug(name="EXISTS of anybody", sql=having("EXISTS", SAME), patch=listed(nobody)),
    Bug(name="NOT EXISTS of anybody", sql=having("NOT EXISTS", SAME), patch=listed(nobody)),
    Bug(
        name="EXISTS on any day",
        sql=having("EXISTS", SAME_DAY),
        unit=DAY,
        pairs=120,
        patch=listed(dayless),
    ),
    Bug(
        name="EXISTS of anybody, compared with the row",
        sql=f"{COUNTED} visits a WHERE EXISTS (SELECT 1 FROM encounters b WHERE {SAME} AND b.encounter < a.age - 200)",
        patch=compared(semijoin, nobody),
    ),
    Bug(name="IN the keys of anybody", sql=among("IN"), patch=listed(nobody)),
    Bug(name="NOT IN the keys of anybody", sql=among("NOT IN"), patch=listed(nobody)),
    Bug(name="rows numbered across people", sql=over("ROW_NUMBER()", "made % 2 = 1"), patch=partitioned(nobody)),
    Bug(name="ranks across people", sql=over("RANK()", "made > 3"), patch=partitioned(nobody)),
    Bug(name="a count over everybody", sql=over("COUNT(age)", "made > 9"), patch=partitioned(nobody)),
    Bug(name="a value of somebody else", sql=over("LAG(age)", "made < 55"), patch=partitioned(nobody)),
    Bug(
        name="every other row of everybody",
        sql=f"{COUNTED} (FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY person ORDER BY age) % 2 = 1) AS q",
        patch=partitioned(nobody),
    ),
    Bug(
        name="rows numbered across days",
        sql=over("ROW_NUMBER()", "made % 2 = 1", "person, day"),
        unit=DAY,
        pairs=120,
        patch=partitioned(dayless),
    ),
    Bug(name="a linked row given to one of its owners", sql=BILLED, pairs=200, patch=led(one_owner)),
    Bug(name="linked rows of two people dropped", sql=BILLED, pairs=200, patch=led(unambiguous)),
    Bug(
        name="a link without its day",
        sql=BILLED,
        unit="add-remove person-week",
        pairs=120,
        patch=link_without_day,
    ),
    Bug(
        name="a roll-up of everybody",
        sql=f"SELECT COUNT(*) AS n FROM ({ROLLED.format(by='person')}) WHERE many % 2 = 1",
        patch=rolled("o0"),
    ),
    Bug(
        name="HAVING of everybody",
        sql="SELECT COUNT(*) AS n FROM (SELECT person, age FROM visits GROUP BY 1, 2 HAVING COUNT(*) % 2 = 1)",
        patch=rolled("o0"),
    ),
    Bug(
        name="different values of everybody",
        sql="SELECT COUNT(*) AS n FROM (SELECT DISTINCT person, age FROM visits)",
        pairs=120,
        patch=rolled("o0"),
    ),
    Bug(
        name="a roll-up of all weeks",
        sql=f"SELECT age // 10 * 10 AS k, COUNT(*) AS n FROM ({ROLLED.format(by=WEEK)}) WHERE many % 2 = 1 GROUP BY 1",
        unit="add-remove person-week",
        pairs=200,
        patch=rolled("o1"),
    ),
)
