"""Generated relations over relations are local and right, and none fails for a reason of our own."""

from __future__ import annotations

import random

import pytest

from quincunx.errors import QueryError, RefusalError
from tests.table.relations.locality import NUMBERS, UNITS, Numbers, Shape, Unit, worlds
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


def test_they_use_every_construct() -> None:
    made = [Nested(random.Random(i), "person", "whole").relation(2).sql for i in range(200)]
    for word in WORDS:
        assert sum(word in each for each in made) > 3, word
