"""Mutated questions: no crash, no hang, no foreign text in an error, and nothing accepted that is not on the list.

What is accepted is parsed again and walked with a list of its own, written without looking at the product's.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Iterator

import pytest
import sqlglot
from sqlglot import exp

from quincunx.errors import QueryError, RefusalError
from quincunx.table.expression import Above, Call, Column, Expression, GroupKey, Literal, Measured
from quincunx.table.operators import OPERATORS
from quincunx.table.plan import Query
from quincunx.table.relations import (
    Filter,
    Link,
    Lookup,
    Pairing,
    Project,
    Relation,
    RollUp,
    Scan,
    SemiJoin,
    Sets,
    Window,
)
from quincunx.table.schema import Limits, Schema, TableSchema
from quincunx.table.schema import Link as Leads
from quincunx.table.sql import read
from tests.table.sql import test_reader, test_scalar
from tests.table.sql.refusals import PATH, blocks
from tests.table.sql.visits import REGIONS, SCHEMA, VISITS, column

# Rows that lead to people through their visits.
FILMS = TableSchema(
    name="films",
    columns=(column("note", "text"), column("size", "integer", (0, 9))),
    limits=Limits(rows=20),
    link=Leads(via="visits", on="note"),
)
GROWN = Schema(tables={**SCHEMA.tables, "films": FILMS}, unit=SCHEMA.unit)
JOINED = [
    "JOIN visits AS b ON a.person_id = b.person_id AND a.age < b.age",
    "LEFT JOIN visits AS b ON a.person_id = b.person_id AND a.region = b.region WHERE a.score > 3",
    "LEFT JOIN visits AS b ON a.region = b.region WHERE a.person_id = b.person_id",
    "FULL JOIN visits AS b USING (person_id)",
    ", visits AS b WHERE a.person_id = b.person_id",
    "JOIN regions AS b USING (region)",
    "LEFT JOIN regions AS b ON a.region = b.region",
    "CROSS JOIN regions AS b",
]
# What looks at several rows of one person.
TOGETHER = [
    "SELECT AVG(age) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY person_id ORDER BY age) = 1)",
    "SELECT COUNT(*) FROM (SELECT RANK() OVER w AS r FROM visits WINDOW w AS (PARTITION BY person_id)) WHERE r = 2",
    "SELECT SUM(a) FROM (SELECT LAG(age, 1, 0) OVER (PARTITION BY person_id ORDER BY born DESC) AS a FROM visits) AS v",
    "SELECT COUNT(*) FROM (SELECT COUNT(age) OVER (PARTITION BY person_id ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) "
    "AS n FROM visits) WHERE n > 1",
    "SELECT COUNT(*) FROM visits AS v WHERE EXISTS (SELECT 1 FROM visits AS s WHERE s.person_id = v.person_id AND "
    "s.age > v.age)",
    "SELECT COUNT(*) FROM visits WHERE person_id NOT IN (SELECT person_id FROM visits WHERE smoker) OR age < 3",
    "SELECT COUNT(*) FROM visits WHERE (person_id, age) IN (SELECT person_id, score FROM visits)",
    "SELECT COUNT(*) FROM visits WHERE region IN (SELECT region FROM regions)",
    "SELECT COUNT(*) FROM visits AS v WHERE age < (SELECT MAX(s.age) FROM visits AS s WHERE s.person_id = v.person_id)",
    "SELECT COUNT(*) FROM (SELECT DISTINCT ON (person_id) age FROM visits ORDER BY born) AS v WHERE age > 3",
    "SELECT n > 3 AS many, COUNT(*) FROM (SELECT person_id, COUNT(*) AS n, MAX(age) AS a FROM visits GROUP BY 1 "
    "HAVING MIN(score) < 4) GROUP BY 1",
    "SELECT SUM(n) FROM (SELECT person_id, region, COUNT(DISTINCT age) AS n FROM visits GROUP BY person_id, region)",
    "SELECT COUNT(*) FROM (SELECT COUNT_IF(smoker) FILTER (WHERE age > 3) AS n FROM visits GROUP BY person_id) "
    "WHERE n > 1",
    "SELECT COUNT(*) FROM (SELECT DISTINCT person_id, age FROM visits WHERE smoker) AS v",
    "SELECT AVG(CLAMP(x, 0, 9)) FROM (SELECT person_id, age AS x FROM visits UNION ALL SELECT person_id, score FROM "
    "visits WHERE age > 4)",
    "SELECT COUNT(*) FROM (SELECT person_id, age FROM visits EXCEPT SELECT person_id, score FROM visits)",
    "SELECT COUNT(*) FROM (SELECT person_id, age FROM visits INTERSECT ALL (SELECT person_id, score FROM visits))",
    "WITH v AS (SELECT person_id, AVG(age) AS a FROM visits GROUP BY person_id), w AS (SELECT person_id FROM v WHERE "
    "a > 20) SELECT COUNT(*) FROM w JOIN visits USING (person_id)",
    "SELECT COUNT(*), SUM(size) FROM films WHERE size > 2",
    "SELECT COUNT(*) FROM films AS f JOIN visits AS v ON f.person_id = v.person_id WHERE f.size < v.age",
    "SELECT COUNT(*) FROM (SELECT person_id, MAX(size) AS m FROM films GROUP BY person_id) AS f WHERE m > 2",
    "SELECT COUNT(*) FROM visits AS v WHERE NOT EXISTS (SELECT 1 FROM films AS f WHERE f.person_id = v.person_id)",
]
CORPUS = [
    *TOGETHER,
    *test_reader.READ,
    *(f"SELECT COUNT(*) FROM visits WHERE ({sql}) IS NOT NULL" for sql in test_scalar.READ),
    *(f"SELECT {sql} AS k, COUNT(*) AS n, SUM(age) FROM visits GROUP BY k" for sql in test_scalar.READ),
    *(question for question, _ in blocks(PATH.read_text("utf-8"))),
    *(f"SELECT b.region, COUNT(*) AS n FROM visits AS a {join} GROUP BY b.region" for join in JOINED),
]
_WORDS = re.compile(r"'[^']*'|\"[^\"]*\"|\w+|<=|>=|<>|!=|\|\||::|//|\s+|.", re.DOTALL)
POOL = [
    *sorted({word for sql in CORPUS for word in _WORDS.findall(sql) if word.strip()}),
    *"(),;.*-+'\"[]{}?$:#@\\\x07\u202eé😀",
    *("OVER", "LATERAL", "UNNEST", "PIVOT", "EXCEPT", "UNION", "ALL", "ANY", "SOME", "RETURNING", "INTO", "RECURSIVE"),
    *("pg_sleep(1)", "read_text('x')", "glob('*')", "current_setting('x')", "nextval('s')", "1e999", "0x10", ".5."),
]

# An independent list: what may occur in an accepted question.
_LISTED = (
    "Select From Join Table TableAlias Identifier Column Star Alias Where Group Having Order Ordered Limit Offset "
    "Union Intersect Except Min Max LogicalAnd LogicalOr Median PercentileCont PercentileDisc Quantile "
    "Variance VariancePop CountIf "
    "With CTE Subquery Paren Literal Null Boolean Var Count Sum Avg Distinct Filter Add Sub Mul Div IntDiv Mod "
    "Neg Abs Floor Ceil Round Least Greatest And Or Not EQ NEQ LT LTE GT GTE Is NullSafeEQ NullSafeNEQ Between "
    "In Like ILike Case If Coalesce Nullif Cast TryCast DataType Extract TimestampTrunc DateTrunc Year Quarter "
    "Month Week WeekOfYear Day DayOfMonth DayOfWeek DayOfWeekIso DayOfYear Hour Minute Second Upper Lower "
    "Length Trim Left Right Substring Concat DPipe Replace StartsWith EndsWith Contains Anonymous "
    "Window WindowSpec Qualify Exists Tuple RowNumber Rank DenseRank PercentRank CumeDist Ntile Lag Lead FirstValue "
    "LastValue NthValue Min Max LogicalAnd LogicalOr "
    "Stddev StddevSamp StddevPop CovarPop CovarSamp Corr RegrSlope RegrIntercept RegrR2 RegrCount RegrAvgx RegrAvgy "
    "WithinGroup Array "
)
NODES = set(_LISTED.split())
# Aggregates that only stand below the noise.
BELOW = (exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr)
# Above the aggregates alone: they are worked out from published numbers.
ABOVE = {"Sqrt", "Cbrt", "Ln", "Log", "Exp", "Pow", "Sign", "Window", "WindowSpec", "Qualify"}
ANONYMOUS = {
    *("clamp", "date_part", "datepart", "doy", "weekday", "dow", "prefix", "suffix"),
    *("cdf", "cdf_count", "histogram"),
}
# Words of parsers, engines and interpreters.
FOREIGN = re.compile(
    r"sqlglot|duckdb|Traceback|Expect|Unexpected|Line \d|Col:|Binder|Catalog|Parser Error|Conversion Error|\x1b|"
    r"object at 0x|TokenType|<class|NoneType|list index|not supported",
)


def kind_of(word: str) -> str:
    """A column, another word, a number, a text, an operator or another sign."""
    if word[0] in "'\"":
        return "text"
    if word[0].isdigit():
        return "number"
    if not (word[0].isalpha() or word[0] == "_"):
        return "operator" if word[0] in "+-*/%=<>!|" else "sign"
    return "column" if VISITS.column(word) else "word"


ALIKE = {kind: [word for word in POOL if kind_of(word) == kind] for kind in map(kind_of, POOL)}
# Whole expressions that may stand where a column stands.
INSIDE = [f"({sql})" for sql in test_scalar.READ]


def mutated(draw: random.Random) -> str:
    """A question of the corpus with a few changes: mostly a word for one of its kind, sometimes anything anywhere."""
    words = _WORDS.findall(draw.choice(CORPUS))
    for _ in range(draw.choice([1, 1, 1, 1, 2, 2, 3, 5])):
        solid = [place for place, word in enumerate(words) if word.strip()]
        place = draw.choice(solid) if solid else 0
        change = draw.random()
        if change < 0.4:
            alike = [at for at in solid if kind_of(words[at]) not in ("word", "sign")] or solid or [0]
            place = draw.choice(alike)
            words[place : place + 1] = [draw.choice(ALIKE[kind_of(words[place])] if solid else POOL)]
        elif change < 0.5 and solid:
            words[place] = draw.choice(ALIKE[kind_of(words[place])])
        elif change < 0.65 and solid:
            columns = [at for at in solid if kind_of(words[at]) == "column"]
            words[draw.choice(columns or solid)] = draw.choice(INSIDE)
        elif change < 0.72 and solid:
            words[place] = draw.choice(POOL)
        elif change < 0.78:
            words.insert(place, f" {draw.choice(POOL)} ")
        elif change < 0.84 and solid:
            del words[place]
        elif change < 0.88:
            words[place:place] = words[place : place + draw.randint(1, 6)]
        elif change < 0.92:
            other = _WORDS.findall(draw.choice(CORPUS))
            start = draw.randrange(len(other))
            words[place:place] = [" ", *other[start : start + draw.randint(1, 12)], " "]
        elif change < 0.96 and solid:
            other_place = draw.choice(solid)
            words[place], words[other_place] = words[other_place], words[place]
        else:
            text = "".join(words)
            at = draw.randrange(len(text) + 1)
            character = chr(draw.choice([draw.randrange(32, 127), draw.randrange(1, 0x3000)]))
            words = _WORDS.findall(text[:at] + character + text[at:])
    return "".join(words)


def outcome(sql: str) -> tuple[str, Query | None]:
    """accepted, refused, mistaken or unparsed; anything else is a crash, which pytest shows."""
    try:
        return "accepted", read(sql, GROWN)
    except (QueryError, RefusalError) as error:
        if FOREIGN.search(str(error).replace(error.excerpt, "")):
            raise AssertionError(f"foreign text for {sql!r}: {error}") from error
        if error.sql and not 0 <= error.start <= error.end <= len(sql):
            raise AssertionError(f"the place is outside of {sql!r}") from error
        if re.search(r"grammar of SQL|divided into words|nested at most|is one SELECT|is empty", error.what):
            return "unparsed", None
        return ("refused" if isinstance(error, RefusalError) else "mistaken"), None


def complaint(sql: str) -> str:
    """What an accepted question contains that it must not; empty where nothing."""
    trees = [tree for tree in sqlglot.parse(sql, dialect="duckdb") if tree is not None]
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        return "not one SELECT"
    top = trees[0]
    for node in top.walk():
        name = type(node).__name__
        if name in ABOVE and not node.find_ancestor(exp.Count, exp.Sum, exp.Avg, exp.Where, exp.Group, exp.Subquery):
            continue
        if name not in NODES:
            return name
        if isinstance(node, exp.Anonymous) and node.name.lower() not in ANONYMOUS:
            return node.name
        if isinstance(node, exp.Select):
            bad = {key for key, value in node.args.items() if value} - {
                *("expressions", "from_", "joins", "where", "with_"),
                *(("order", "limit", "offset") if node is top else ("distinct", "qualify", "windows")),
                *("group", "having", *(("order",) if _first_only(node) else ())),
            }
            if bad:
                return f"SELECT with {bad}"
            above = (exp.Subquery, exp.CTE, exp.Exists, exp.SetOperation)
            if node is not top and not isinstance(node.parent, above):
                return "a subquery outside of FROM"
        within = exp.From | exp.Join | exp.Subquery | exp.CTE | exp.In
        if isinstance(node, exp.Subquery) and not isinstance(node.parent, within) and _everybody(node):
            return "a subquery about everybody"
        tested = isinstance(node, exp.Exists) or (isinstance(node, exp.In) and node.args.get("query"))
        if tested and _everybody(node):
            return "a subquery about everybody"
        if isinstance(node, exp.Window) and node.find_ancestor(exp.Select) is top:
            return "a window over groups"
        if isinstance(node, exp.Array) and not _constants(node):
            return "a list that is no levels or edges"
        if isinstance(node, exp.Tuple) and not isinstance(node.parent, exp.In | exp.Distinct):
            return "a tuple"
        windowed = node.find_ancestor(exp.Window) is not None
        if isinstance(node, exp.AggFunc) and not windowed:
            select, around = node.find_ancestor(exp.Select), node.find_ancestor(exp.AggFunc, exp.Where)
            if around is not None and around.find_ancestor(exp.Select) is select:
                return "an aggregate in the wrong place"
            holder = None if select is None else select.parent
            single = isinstance(holder, exp.Subquery) and not isinstance(holder.parent, within)
            if select is not top and select is not None and not select.args.get("group") and not single:
                return "a total of everybody in a subquery"
            if isinstance(node, BELOW) and select is top:
                return "an aggregate of single rows"
        grouped = isinstance(node, exp.Group) and node.parent is not top
        distinct = isinstance(node, exp.Distinct) and not node.expressions
        named = "person_id" in sql.lower() or (distinct and _starred(node.parent))
        if (grouped or distinct) and not named:
            return "rows of several people as one"
        if isinstance(node, exp.Table) and node.args.get("db"):
            return "a qualified table"
        if isinstance(node, exp.Join) and (node.args.get("method") or node.args.get("kind") in ("SEMI", "ANTI")):
            return "a join that is not listed"
    return ""


def _first_only(select: exp.Select) -> bool:
    distinct = select.args.get("distinct")
    return distinct is not None and distinct.args.get("on") is not None


def _starred(query: exp.Expr | None) -> bool:
    """Whether `*` stands for the key too: it takes all of a private table, or of a subquery that does so itself."""
    if isinstance(query, exp.SetOperation):
        return _starred(query.this) and _starred(query.expression)
    if not isinstance(query, exp.Select):
        return False
    taken = {each.text("table").lower() for each in query.expressions if each.is_star}
    below = [query.args["from_"].this, *(each.this for each in query.args.get("joins") or ())]
    return any(_private_star(each) for each in below if {"", each.alias_or_name.lower()} & taken)


def _private_star(source: exp.Expr) -> bool:
    """Whether all columns of what stands in FROM show the key."""
    if isinstance(source, exp.Subquery):
        return _starred(source.this)
    name = source.name.lower()
    inside = set(map(id, _above(source)))
    defined = [
        each for each in source.root().find_all(exp.CTE) if each.alias.lower() == name and id(each) not in inside
    ]
    return all(_starred(each.this) for each in defined) if defined else name in ("visits", "films")


def _above(node: exp.Expr | None) -> Iterator[exp.Expr]:
    while node is not None:
        yield node
        node = node.parent


def _constants(node: exp.Array) -> bool:
    """Whether a list is of constants and stands where levels or edges do."""
    holder = node.parent
    bins = isinstance(holder, exp.Anonymous) and holder.name.lower() in ("cdf", "cdf_count", "histogram")
    levels = isinstance(holder, exp.PercentileCont | exp.PercentileDisc | exp.Quantile)
    return (bins or levels) and node.find(exp.Column, exp.Subquery, exp.AggFunc) is None


def _everybody(node: exp.Expr) -> bool:
    """Whether a subquery reads a private table and does not name the key."""
    private = any(each.name.lower() in ("visits", "films") for each in node.find_all(exp.Table))
    return private and not any(each.name.lower() == "person_id" for each in node.find_all(exp.Column))


def relations(rows: Relation) -> list[Expression]:
    """All expressions of a plan's rows; only nodes that are known here may be there, on the declared tables."""
    if isinstance(rows, Scan):
        assert rows.table in (VISITS, REGIONS)
        return []
    if isinstance(rows, Link):
        assert (rows.table, rows.through.tables) == (FILMS, {rows.number + 1: VISITS})
        return []
    if isinstance(rows, Filter):
        return [*relations(rows.source), rows.condition]
    if isinstance(rows, Sets):
        # What is compared shows whose it is, on both sides in one place.
        assert rows.way == "union_all" or rows.places(0)
        return [*relations(rows.first), *relations(rows.second), *rows.expressions]
    if isinstance(rows, RollUp):
        # What is rolled up is one person's.
        assert rows.owner is None or any(whose(rows.source, key) for key in rows.by)
        return [*relations(rows.source), *rows.expressions]
    if isinstance(rows, Pairing):
        # Whoever is paired has an owner on both sides, or meets what is public and keeps the owner.
        assert rows.left.owner is not None or rows.right.owner is None
        assert (rows.right.owner is None) == isinstance(rows, Lookup)
        return [*relations(rows.left), *relations(rows.right), *rows.expressions]
    if isinstance(rows, SemiJoin):
        return [*relations(rows.source), *relations(rows.other), *rows.expressions]
    if isinstance(rows, Window):
        for _, each in rows.functions:
            keys = [rows.source.base(part) for part in each.partition]
            assert rows.owner is None or any(isinstance(key, Column) and key.name == "person_id" for key in keys)
        return [*relations(rows.source), *rows.expressions]
    assert isinstance(rows, Project)
    return [*relations(rows.source), *(each for _, each in rows.chosen)]


def whose(rows: Relation, key: Expression) -> bool:
    """Whether a column is the person's, on both sides where rows of two relations are one."""
    for each in rows.traced(key).columns():
        sets = next((below for below in rows.walk() if isinstance(below, Sets) and each.slot in below.made), None)
        if sets is None and (each.name, each.level) == ("person_id", 0):
            return True
        if sets is not None:
            one, two = sets.made[each.slot]
            return whose(sets.first, one) and whose(sets.second, two)
    return False


def check_plan(found: Query) -> None:
    """Rows know columns only, published expressions know published values and keys only; everything is typed."""
    assert found.aggregates
    inner = relations(found.rows) + [key.expression for key in found.keys]
    inner += [part for each in found.aggregates for part in (each.argument, each.where) if part is not None]
    outer = [output.expression for output in found.outputs] + [each.expression for each in found.order]
    outer += [found.having] if found.having is not None else []
    for expressions, leaves in ((inner, (Column, Literal)), (outer, (Measured, GroupKey, Literal, Above))):
        for expression in expressions:
            for part in expression.walk():
                assert part.type in ("integer", "decimal", "text", "date", "timestamp", "boolean")
                assert isinstance(part, (Call, *leaves))
                assert not isinstance(part, Call) or part.operator in OPERATORS
                assert not isinstance(part, Measured) or part.index < len(found.aggregates)
                assert not isinstance(part, GroupKey) or part.index < len(found.keys)


@pytest.mark.parametrize("part", range(4))
def test_mutated_questions(part: int, ci: bool, full: bool) -> None:
    """20,000 strings in four parts, which can run side by side; 100,000 in CI, and in each part of a full run."""
    draw = random.Random(4 + part)
    tally: Counter[str] = Counter()
    total = 100_000 if full else 25_000 if ci else 5_000
    slowest, started = 0.0, time.perf_counter()
    for _ in range(total):
        sql = mutated(draw)
        before = time.perf_counter()
        kind, found = outcome(sql)
        slowest = max(slowest, time.perf_counter() - before)
        tally[kind] += 1
        if found is not None:
            assert complaint(sql) == "", sql
            check_plan(found)
    parsed = total - tally["unparsed"]
    print(
        f"{total:,} strings in {time.perf_counter() - started:.0f} s: {parsed / total:.0%} parsed, "
        f"{tally['accepted'] / total:.0%} accepted, {tally['refused'] / total:.0%} refused, "
        f"{tally['mistaken'] / total:.0%} mistaken; slowest {slowest * 1000:.0f} ms"
    )
    assert parsed >= 0.2 * total
    assert tally["accepted"] >= 0.05 * total
    # A hang would be minutes; a busy machine may well take a second.
    assert slowest < 30


def test_noise_is_not_understood() -> None:
    draw = random.Random(5)
    for _ in range(500):
        sql = "".join(chr(draw.choice([draw.randrange(1, 128), draw.randrange(1, 0xD800)])) for _ in range(40))
        assert outcome(sql)[0] != "accepted"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MIN(age) FROM visits",
        "SELECT COUNT(*) FROM visits NATURAL JOIN regions",
        "SELECT COUNT(*) FROM visits WHERE age IN (SELECT age FROM visits)",
        "SELECT SUM(AVG(age)) FROM visits",
        "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM visits AS s WHERE s.age = visits.age)",
        "SELECT COUNT(*) FROM visits WHERE age < (SELECT MAX(age) FROM visits)",
        "SELECT COUNT(*) FROM (SELECT MAX(age) AS a FROM visits) AS v",
        "SELECT frobnicate(age) FROM visits",
        "SELECT COUNT(*) FROM (SELECT age FROM visits LIMIT 3) AS s",
        "SELECT COUNT(*) FROM (SELECT DISTINCT * FROM (SELECT age FROM visits) AS t) AS s",
        "SELECT COUNT(*) FROM (SELECT DISTINCT r.* FROM visits AS v JOIN regions AS r USING (region)) AS s",
        "WITH v AS (SELECT age FROM visits) SELECT COUNT(*) FROM (SELECT DISTINCT * FROM v) AS s",
        "SELECT COUNT(*) FROM (SELECT DISTINCT * FROM (SELECT * FROM visits UNION ALL SELECT age FROM visits))",
        "SELECT COUNT(*) FROM other.visits",
        "SELECT 1; SELECT 2",
    ],
)
def test_the_independent_walker_complains(sql: str) -> None:
    assert complaint(sql) != ""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM (SELECT DISTINCT * FROM visits) AS s",
        "SELECT COUNT(*) FROM (SELECT DISTINCT * FROM films) AS s",
        "SELECT COUNT(*) FROM (SELECT DISTINCT T.* FROM (SELECT * FROM visits) AS t) AS s",
        "WITH v AS (SELECT * FROM visits) SELECT COUNT(*) FROM (SELECT DISTINCT * FROM v) AS s",
        "SELECT COUNT(*) FROM (SELECT DISTINCT * FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits)) AS s",
    ],
)
def test_a_star_shows_the_key(sql: str) -> None:
    kind, found = outcome(sql)
    assert (kind, complaint(sql)) == ("accepted", "")
    assert found is not None
    check_plan(found)
