"""Generated relations over relations are local and right, and none fails for a reason of our own."""

from __future__ import annotations

import random
import time

import pytest

from quincunx.errors import QueryError, RefusalError
from quincunx.table.engines import evaluate
from quincunx.table.rules import plan
from quincunx.table.sql import read
from tests.table.relations.locality import NUMBERS, UNITS, Numbers, Shape, Unit, declared, worlds
from tests.table.relations.nested import Nested

WORDS = ("LEFT JOIN", "FULL JOIN", "EXISTS", " IN (", "GROUP BY", "UNION ALL", "EXCEPT", "QUALIFY", "WITH", "LAG")


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("unit", UNITS)
def test_relations_of_relations_are_local_and_right(unit: Unit, numbers: Numbers, ci: bool, full: bool) -> None:
    """Whatever is refused is so with its place underlined: names of our own have no place in a question."""
    count, compared = 300 if full else 25 if ci else 6, 0
    for number in range(count):
        chance = random.Random(f"nested {unit} {numbers} {number}")
        sql = Nested(chance, unit, numbers).relation(chance.choice((0, 1, 1, 2, 2, 3))).sql
        try:
            found = Shape(sql=sql, unit=unit, numbers=numbers).findings(list(worlds(6, numbers, str(number))))
        except RefusalError:
            continue
        except QueryError as error:
            # The kit asks for all columns as keys, which are too many after joins of joins.
            if error.where != "limits.groups":
                raise
            continue
        assert not found, (sql, found[0])
        compared += 1
    assert compared > 0.9 * count


def test_the_time_of_planning_grows_with_the_number_of_relations() -> None:
    """At every level whose rows they are is asked several times: worked out anew, this would take hours."""
    sql = "SELECT k, COUNT(*) AS n FROM A GROUP BY k"
    for i in range(12):
        joined = f"({sql}) a{i} JOIN (SELECT k FROM B) b{i} ON a{i}.k = b{i}.k"
        sql = f"SELECT a{i}.k, COUNT(*) AS n FROM {joined} GROUP BY a{i}.k"
    chain = " ".join(f"FULL JOIN A a{i} USING (k)" for i in range(1, 20))
    asked = [sql, f"SELECT k FROM A a0 {chain}", f"SELECT k, COUNT(*) AS n FROM A a0 {chain} GROUP BY k"]
    started, (_, known) = time.process_time(), declared("person", "whole")
    for each in asked:
        plan(read(f"SELECT COUNT(*) AS m FROM ({each})", known, evaluate), known, 1)
    assert time.process_time() - started < 20


def test_a_name_that_doubles_what_it_stands_for_is_counted() -> None:
    _, known = declared("person", "whole")

    def asked(times: int) -> str:
        doubled = (f"c{i + 1} AS (SELECT a.k FROM c{i} a JOIN c{i} b ON a.k = b.k)" for i in range(times))
        return f"WITH c0 AS (SELECT k FROM A), {', '.join(doubled)} SELECT COUNT(*) AS n FROM c{times}"

    assert len(read(asked(6), known, evaluate).rows.tables) == 64
    for times in (7, 40):
        with pytest.raises(RefusalError, match="reads tables at most 64 times"):
            read(asked(times), known, evaluate)


def test_they_use_every_construct() -> None:
    made = [Nested(random.Random(i), "person", "whole").relation(2).sql for i in range(200)]
    for word in WORDS:
        assert sum(word in each for each in made) > 3, word
