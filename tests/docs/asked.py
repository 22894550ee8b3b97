"""The page "what you can ask", made of what is registered: every construct of rows and every aggregate, with examples.

`python tests/docs/asked.py` writes it. Every example is asked of the sample (test_what_you_can_ask.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from quincunx.audit.tables.relations import RELATIONS
from quincunx.table import AGGREGATES

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "what-you-can-ask.md"
_SAME: Final = "v.person_id = p.person_id"
_EVER: Final = "SELECT e.person_id FROM encounters e WHERE e.role = 'patient'"
# Construct → what it asks, and an example over the tables of the sample.
EXAMPLES: Final[Mapping[str, tuple[str, str]]] = {
    "JOIN": (
        "rows of two tables, of one person",
        f"SELECT p.sex, COUNT(*) AS n FROM visits v JOIN persons p ON {_SAME} GROUP BY p.sex",
    ),
    "LEFT JOIN": (
        "all rows of the first, with those of the same person in the second where there are any",
        "SELECT COUNT(e.encounter_id) AS n, COUNT(*) AS m FROM persons p LEFT JOIN encounters e "
        "ON p.person_id = e.person_id",
    ),
    "RIGHT JOIN": (
        "all rows of the second",
        f"SELECT COUNT(*) AS n FROM visits v RIGHT JOIN persons p ON {_SAME}",
    ),
    "FULL JOIN": (
        "all rows of both",
        "SELECT COUNT(*) AS n FROM visits v FULL JOIN encounters e ON v.person_id = e.person_id",
    ),
    "JOIN itself": (
        "pairs of rows of one person",
        "SELECT COUNT(*) AS n FROM encounters a JOIN encounters b "
        "ON a.person_id = b.person_id AND a.encounter_id < b.encounter_id",
    ),
    "JOIN public": (
        "what a public table says of a row",
        "SELECT COUNT(*) AS n FROM visits v JOIN regions r ON v.region = r.region WHERE r.hospitals > 2",
    ),
    "LEFT JOIN public": (
        "the same, and rows of which it says nothing",
        "SELECT COUNT(*) AS n, COUNT(r.hospitals) AS m FROM visits v LEFT JOIN regions r ON v.region = r.region",
    ),
    "CROSS JOIN public": (
        "every row with every row of a public table",
        "SELECT r.region, COUNT(*) AS n FROM persons p CROSS JOIN regions r WHERE r.hospitals > 2 GROUP BY r.region",
    ),
    "EXISTS": (
        "people who have a row somewhere",
        "SELECT COUNT(*) AS n FROM persons p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person_id = p.person_id)",
    ),
    "NOT EXISTS": (
        "people who have none",
        "SELECT COUNT(*) AS n FROM persons p WHERE NOT EXISTS "
        "(SELECT 1 FROM visits v WHERE v.person_id = p.person_id AND v.department = 'surgery')",
    ),
    "IN a subquery": ("the same by their key", f"SELECT COUNT(*) AS n FROM persons WHERE person_id IN ({_EVER})"),
    "NOT IN a subquery": (
        "and those who are not in it",
        f"SELECT COUNT(*) AS n FROM persons WHERE person_id NOT IN ({_EVER})",
    ),
    "ROW_NUMBER": (
        "the place of a row among the person's",
        "SELECT AVG(cost) AS m FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY person_id ORDER BY visited_at) AS i "
        "FROM visits) AS q WHERE i = 2",
    ),
    "RANK": (
        "its rank",
        "SELECT COUNT(*) AS n FROM (SELECT *, RANK() OVER (PARTITION BY person_id ORDER BY cost DESC) AS i "
        "FROM visits) AS q WHERE i <= 3",
    ),
    "COUNT of a window": (
        "what all rows of the person come to so far",
        "SELECT COUNT(*) AS n FROM (SELECT *, COUNT(cost) OVER (PARTITION BY person_id ORDER BY visited_at) AS paid "
        "FROM visits) AS q WHERE paid = 1",
    ),
    "a subquery that gives a value": (
        "a value of all rows that the person has in another table",
        "SELECT COUNT(*) AS n FROM (SELECT p.age, (SELECT COUNT(*) FROM visits v WHERE v.person_id = p.person_id) AS k "
        "FROM persons p) AS q WHERE k = 0",
    ),
    "EXISTS that compares": (
        "rows before which, or after which, the person has others",
        "SELECT COUNT(*) AS n FROM visits a WHERE NOT EXISTS "
        "(SELECT 1 FROM visits b WHERE a.person_id = b.person_id AND b.visited_at < a.visited_at)",
    ),
    "DISTINCT ON": (
        "the first row of each person",
        "SELECT AVG(cost) AS m FROM (SELECT DISTINCT ON (person_id) * FROM visits ORDER BY visited_at) AS q",
    ),
    "LAG": (
        "the row before",
        "SELECT COUNT(*) AS n FROM (SELECT *, LAG(department) OVER (PARTITION BY person_id ORDER BY visited_at) AS old "
        "FROM visits) AS q WHERE old = department",
    ),
    "QUALIFY": (
        "some rows of each person",
        "SELECT region, COUNT(*) AS n FROM (SELECT * FROM visits "
        "QUALIFY ROW_NUMBER() OVER (PARTITION BY person_id ORDER BY visited_at) = 1) AS q GROUP BY region",
    ),
    "GROUP BY below": (
        "one row for each person",
        "SELECT COUNT(*) AS n FROM (SELECT person_id, COUNT(*) AS k FROM visits GROUP BY person_id) AS q WHERE k > 2",
    ),
    "DISTINCT": (
        "different values of each person",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT person_id, department FROM visits) AS q",
    ),
    "UNION ALL": (
        "rows of two tables, one after the other",
        "SELECT COUNT(*) AS n FROM (SELECT person_id FROM visits UNION ALL SELECT person_id FROM encounters) AS q",
    ),
    "UNION": (
        "different rows of both",
        "SELECT COUNT(*) AS n FROM (SELECT person_id FROM visits UNION SELECT person_id FROM encounters) AS q",
    ),
    "INTERSECT": (
        "rows in both",
        "SELECT COUNT(*) AS n FROM (SELECT person_id FROM visits INTERSECT SELECT person_id FROM encounters) AS q",
    ),
    "EXCEPT": (
        "rows of the first that are not in the second",
        "SELECT COUNT(*) AS n FROM (SELECT person_id FROM persons EXCEPT SELECT person_id FROM visits) AS q",
    ),
}
LINKED: Final = "SELECT COUNT(*) AS n, AVG(minutes) AS m, COUNT(DISTINCT person_id) AS p FROM treatments"
_ARGUMENTS: Final = {"number": "age", "bounded": "age", "key": "person_id", "nothing": ""}
_HEAD: Final = (
    "# What you can ask\n\n"
    "Every construct below an aggregate, and every aggregate, each with a question over the tables of `quincunx init`. "
    "The page is made of what is registered, and every question on it is asked when the documentation is tested. What "
    "each means exactly, and what is refused: [SQL](sql.md). How to begin: "
    "[questions over several tables](../guides/several-tables.md).\n\n"
    "## Rows\n\n"
    "Whatever compares rows stays within one person: what is emitted compares the hidden owner.\n"
)


def rows() -> Iterator[tuple[str, str, str]]:
    """Constructs that make rows: name, what it asks, and a question."""
    for name in RELATIONS:
        yield (name, *EXAMPLES[name])
    yield "a linked table", "rows that lead to people through another table", LINKED


def aggregates() -> Iterator[tuple[str, str]]:
    """Ways to ask for an aggregate, each with a question."""
    for each in AGGREGATES:
        for form in each.forms:
            called = form.written.format(*[_ARGUMENTS[form.needs]] * 4)
            yield form.name, f"SELECT {called} AS x FROM persons"
        if not each.forms:
            yield f"{each.names[0]}(x, edges)", f"SELECT {each.names[0]}(age, [20, 40, 60]) AS x FROM persons"


def page() -> str:
    """The page."""
    parts = [_HEAD]
    parts += [f"\n### {name}\n\n{what[0].upper()}{what[1:]}.\n\n```sql\n{sql}\n```\n" for name, what, sql in rows()]
    parts.append("\n## Aggregates\n\n| aggregate | a question |\n|---|---|\n")
    parts += [f"| `{name}` | `{sql}` |\n" for name, sql in aggregates()]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
