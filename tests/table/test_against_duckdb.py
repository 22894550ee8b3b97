"""At an enormous budget, with public keys and limits that bind nobody, every accepted construct equals plain DuckDB."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import duckdb
import pytest

import quincunx as qx
from quincunx.audit.tables.questions import CONSTRUCTS, Asked, Question, accepted, questions
from quincunx.errors import QueryError, RefusalError
from quincunx.table.aggregates import AGGREGATES
from quincunx.table.aggregates.quantile import Quantile
from quincunx.table.measure import Program
from quincunx.table.rules import plan
from quincunx.table.table import schema

# Each of the two series shows every construct so often, so that together they make 200; a newcomer's run so often.
# How often every construct comes up in a series: in the largest run, in CI's and in a newcomer's.
ENOUGH, SOME, FEW, SERIES = 100, 30, 15, 2
# With it the scale of every noise is below 1/1000 of a lattice step: noise other than 0 has probability e^−1000.
SPEND = 10**18
COLUMNS: dict[str, dict[str, object]] = {
    "region": {"keys": ["a", "süd", "o'brien", "東京", None]},
    "rating": {"keys": [1, 2, 3, 4, 5, None], "bounds": (1, 5)},
    "age": {"bounds": (0, 110)},
    "score": {"bounds": (-20, 30)},
    "cost": {"bounds": (-50, 5000), "step": "0.25"},
    "smoker": {"keys": [True, False, None]},
}
TYPES = {
    "person": "BIGINT",
    "region": "VARCHAR",
    "rating": "TINYINT",
    "age": "INTEGER",
    "score": "BIGINT",
    "cost": "DOUBLE",
    "weight": "DOUBLE",
    "note": "VARCHAR",
    "born": "DATE",
    "seen": "TIMESTAMP",
    "smoker": "BOOLEAN",
}
# What the reader knows by a name that DuckDB has not.
MACROS = (
    "CREATE MACRO clamp(x, low, high) AS CASE WHEN x IS NULL THEN NULL ELSE least(greatest(x, low), high) END",
    "CREATE MACRO dow(x) AS date_part('dow', x)",
    "CREATE MACRO doy(x) AS date_part('doy', x)",
)
# What means something else here than in DuckDB (operators.md): letters of ASCII, spaces, and casts.
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
OURS = (
    f"CREATE MACRO upper(x) AS translate(x, '{_LETTERS}', '{_LETTERS.upper()}')",
    f"CREATE MACRO lower(x) AS translate(x, '{_LETTERS.upper()}', '{_LETTERS}')",
    "CREATE MACRO trim(x) AS regexp_replace(x, '^ +| +$', '', 'g')",
    "CREATE MACRO ltrim(x) AS regexp_replace(x, '^ +', '')",
    "CREATE MACRO rtrim(x) AS regexp_replace(x, ' +$', '')",
    "CREATE MACRO as_whole(x) AS CASE "
    "WHEN typeof(x) = 'DOUBLE' OR typeof(x) LIKE 'DECIMAL%' THEN CAST(floor(TRY_CAST(x AS DOUBLE) + 0.5) AS BIGINT) "
    "WHEN typeof(x) = 'VARCHAR' AND NOT regexp_full_match(CAST(x AS VARCHAR), ' *[+-]?[0-9]{1,37} *') THEN NULL "
    "ELSE TRY_CAST(x AS BIGINT) END",
    # To DuckDB 024-02-29 is a day of the year 24.
    "CREATE MACRO as_date(x) AS CASE WHEN typeof(x) = 'VARCHAR' "
    "AND NOT regexp_full_match(CAST(x AS VARCHAR), ' *[0-9]{4}-[0-9]{2}-[0-9]{2} *') THEN NULL "
    "ELSE TRY_CAST(x AS DATE) END",
)
# Which casts are ours.
CASTS = {**dict.fromkeys(("BIGINT", "INTEGER", "INT", "SMALLINT", "TINYINT"), "as_whole"), "DATE": "as_date"}


def rows(count: int) -> list[tuple[Any, ...]]:
    """Ordinary rows, all within their bounds and on their lattices; numbers with decimals are dyadic."""
    choose = random.Random("rows")

    def maybe(value: Any) -> Any:
        return None if choose.random() < 0.08 else value

    return [
        (
            choose.randrange(60),
            maybe(choose.choice(("a", "süd", "o'brien", "東京"))),
            maybe(choose.randint(1, 5)),
            maybe(choose.randint(0, 110)),
            maybe(choose.randint(-20, 30)),
            maybe(choose.randint(-200, 2000) / 4),
            maybe(choose.randint(-4000, 4000) / 16),
            maybe(choose.choice(("a", "A", "süd", " x y ", "12", "-3", "7", "2024-02-29", "", "o'brien", "true"))),
            maybe(date(1960, 1, 1) + timedelta(days=choose.randrange(24_000))),
            maybe(datetime(1965, 1, 1) + timedelta(seconds=choose.randrange(2 * 10**9))),
            maybe(choose.random() < 0.5),
        )
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(":memory:")
    connection.execute("SET TimeZone = 'UTC'")
    for macro in (*MACROS, *OURS):
        connection.execute(macro)
    connection.execute(f"CREATE TABLE t ({', '.join(f'{name} {kind}' for name, kind in TYPES.items())})")
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(TYPES))})", rows(400))
    yield connection
    connection.close()


def session(tables: dict[str, qx.Table], key: str | None = "person") -> qx.Session:
    return qx.Session(
        dataset="right",
        version="1",
        ledger=":memory:",
        tables=tables,
        unit=qx.unit.AddRemove(key=key),
        standard=qx.standard.Pure(),
        intensity=10**30,
        budgets={"smallest_spend": 1},
    )


# How many measures each of those has that is no count or sum; and what is added up.
DERIVED = {form.name: len(each.roles) for each in AGGREGATES if not each.linear for form in each.forms}
SUMS = {form.name for each in AGGREGATES if "sum" in each.kind for form in each.forms}
# What divides by a spread: where that is next to nothing, half a step moves it by any amount (test_pairs.py).
RANKS = {form.name for form in Quantile.forms}
RATIOS = {form.name for each in AGGREGATES if len(each.roles) > 4 for form in each.forms}


def meant(sql: str) -> str:
    """The same as it is meant here: 1.5 a DOUBLE, DuckDB's own being a DECIMAL, and casts ours."""
    return _casts(re.sub(r"(?<![\w.'])(\d+\.\d+)(?![\w.'])", r"CAST(\1 AS DOUBLE)", sql))


def _casts(sql: str) -> str:
    """CAST(x AS BIGINT) as as_whole(x), and so on, from the inside out."""
    for found in reversed(list(re.finditer(r"\b(TRY_)?CAST\(", sql))):
        depth, end = 1, found.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(sql[end], 0)
            end += 1
        inside = re.fullmatch(rf"(.*) AS ({'|'.join(CASTS)})", sql[found.end() : end - 1], re.DOTALL)
        if inside is not None:
            sql = f"{sql[: found.start()]}{CASTS[inside[2]]}({inside[1]}){sql[end:]}"
    return sql


def lattice_sql(question: Question, program: Program) -> str:
    """The question with every SUM taken over whole lattice steps by DuckDB itself, as whole numbers of steps."""
    outputs = [f"{written} AS {name}" for written, name in question.keys]
    for asked, statistic in zip(question.aggregates, _statistics(question, program), strict=True):
        where = f" FILTER (WHERE {asked.where})" if asked.where else ""
        if asked.kind in SUMS:
            step = program.measures[statistic].step
            scaled = f"CAST({asked.argument} AS DOUBLE) * {step.denominator}::DOUBLE / {step.numerator}::DOUBLE"
            steps = f"floor({scaled} + 0.5)"
            outputs.append(f"coalesce(sum(CAST({steps} AS HUGEINT)){where}, 0) AS {asked.name}")
            continue
        outputs.append(f"{asked.call} AS {asked.name}")
    sums = [f"({asked.call}) IS NULL" for asked in question.aggregates if asked.kind in SUMS]
    outputs += ["count(*) AS counted", f"{' OR '.join(sums) or 'FALSE'} AS unsummed"]
    return f"{question.head} SELECT {', '.join(outputs)} {question.source} {question.group}"


def _statistics(question: Question, program: Program) -> list[int]:
    """The measure of each written aggregate, through the output that has its name."""
    outputs = {output.name: output.expression for output in program.query.outputs}
    return [program.parts[outputs[asked.name].index][0] for asked in question.aggregates]  # type: ignore[attr-defined]


def between(asked: Asked, row: Any, theirs: Any) -> bool:
    """Of an even number of rows every value between the two in the middle is a median; DuckDB's is in the interval."""
    return theirs is None or bool(row[f"{asked.name}_low"] <= theirs <= row[f"{asked.name}_high"])


def same(asked: Asked, ours: Any, theirs: Any, step: Fraction) -> bool:
    """Counts and sums exactly, means to the step, and moments as far as values moved by half a step change them."""
    if asked.kind in DERIVED:
        if theirs is None or not math.isfinite(theirs) or asked.kind in RATIOS:
            return math.isfinite(ours)
        root = math.sqrt(step)
        moved = float(step) if DERIVED[asked.kind] == 2 else root * (1 + math.sqrt(abs(theirs)) + root)
        return bool(abs(ours - theirs) <= moved + 1e-9 * abs(theirs))
    if asked.kind in SUMS:
        return Fraction(ours) == int(theirs) * step
    return bool(ours == theirs)


@pytest.mark.parametrize("series", [pytest.param(i, marks=pytest.mark.ci if i else ()) for i in range(SERIES)])
def test_every_construct_equals_plain_duckdb(
    plain: duckdb.DuckDBPyConnection, series: int, ci: bool, full: bool
) -> None:
    enough = ENOUGH if full else SOME if ci else FEW
    tables = {"t": qx.Table(plain.table("t"), limits={"rows": 1000, "groups": 1000}, columns=COLUMNS)}
    declared = schema(tables, qx.unit.AddRemove(key="person"))
    seen: Counter[str] = Counter()
    failed = refused = compared = 0
    with session(tables) as ours:
        for question in questions(declared, declared.tables["t"], f"right {series}", tidy=True, most=8):
            if question.constructs and all(seen[name] >= enough for name in question.constructs):
                # All that it is made of came up often enough; what is rare decides how many are asked.
                continue
            query = accepted(question.sql, declared)
            try:
                assert query is not None
                program = plan(query, declared, 1)
            except (QueryError, RefusalError):
                refused += 1
                continue
            if program.selection is not None:
                refused += 1
                continue
            cursor = plain.cursor()
            try:
                exact = cursor.execute(meant(lattice_sql(question, program))).fetchall()
                whole = cursor.execute(meant(question.sql)).fetchall()
            except duckdb.Error:
                # Plain DuckDB raises where a value overflows or cannot be cast; ours is NULL there.
                failed += 1
                continue
            answer = ours.sql(question.sql, spend=SPEND)
            check(cursor, question, program, [dict(row) for row in answer.rows], exact, whole)
            seen.update(question.constructs)
            compared += 1
            if all(seen[name] >= enough for name in CONSTRUCTS):
                break
            assert compared < 3_000, sorted((seen[name], name) for name in CONSTRUCTS)[:10]
    print(f"\n{compared:,} questions compared, {failed:,} that plain DuckDB cannot answer, {refused:,} refused")
    print("\n".join(f"{count:6,}  {name}" for name, count in sorted(seen.items())))
    assert failed < compared / 4
    assert ENOUGH * SERIES >= 200


def check(
    plain: duckdb.DuckDBPyConnection,
    question: Question,
    program: Program,
    found: list[dict[str, Any]],
    exact: Any,
    whole: Any,
) -> None:
    width = len(question.keys)
    measures = _statistics(question, program)
    steps = [program.measures[i].step for i in measures]
    by_key = {tuple(row[:width]): row[width:] for row in exact}
    names = [name for _, name in question.keys]
    for row in found:
        key = tuple(row[name] for name in names)
        numbers = by_key.get(key)
        for i, asked in enumerate(question.aggregates):
            if numbers is None:
                assert asked.kind in DERIVED or row[asked.name] == 0, (question.sql, key)
            else:
                close = between(asked, row, numbers[i]) if asked.kind in RANKS else None
                close = same(asked, row[asked.name], numbers[i], steps[i]) if close is None else close
                assert close, (question.sql, key, asked, row, numbers)
        if question.derived:
            derived(plain, question, row, 0 if numbers is None else numbers[-2])
    shown = [tuple(row[name] for name in names) for row in found]
    # No key is −0.0 here.
    wanted = [tuple(each + 0.0 if isinstance(each, float) else each for each in row[:width]) for row in whole]
    # A sum of nothing is NULL in DuckDB and 0 here, which is another place in the order.
    compare_groups(question, shown, wanted, ordered=not any(row[-1] for row in exact))


def compare_groups(question: Question, shown: list[Any], wanted: list[Any], *, ordered: bool) -> None:
    """The groups that DuckDB shows, in its order if one was asked for; without HAVING ours has the empty ones too."""
    if "ORDER BY" in question.tail:
        means = [asked.name for asked in question.aggregates if asked.kind in DERIVED]
        if not ordered or any(f"ORDER BY {name}" in question.tail for name in means):
            # Means are rounded to the step, which may change the order of those that are nearly equal.
            assert len(shown) == len(wanted), question.sql
        else:
            assert shown == wanted, question.sql
    elif "HAVING" in question.tail:
        assert sorted(map(repr, shown)) == sorted(map(repr, wanted)), question.sql
    else:
        assert set(wanted) <= set(shown), question.sql


def derived(plain: duckdb.DuckDBPyConnection, question: Question, row: dict[str, Any], count: int) -> None:
    """Arithmetic is that of DuckDB on the numbers that are published beside it, and on the number of rows."""
    written = meant(question.derived)
    given: dict[str, Any] = {"n": count}
    for asked in sorted(question.aggregates, key=lambda asked: -len(asked.call)):
        if meant(asked.call) in written:
            value = row[asked.name]
            whole = value is None or isinstance(value, int)
            written = written.replace(meant(asked.call), f"CAST(${asked.name} AS {'HUGEINT' if whole else 'DOUBLE'})")
            given[asked.name] = value if whole else float(value)
    written = written.replace("COUNT(*)", "CAST($n AS BIGINT)")
    used = {name: value for name, value in given.items() if f"${name} " in written}
    (theirs,) = plain.execute(f"SELECT {written}", used).fetchone() or (None,)
    ours = row["derived"]
    assert (ours is None) == (theirs is None), (question.sql, row, theirs)
    if ours is not None:
        close = abs(float(ours) - float(theirs)) <= 1e-9 + 1e-9 * abs(float(theirs))
        assert close, (question.sql, row, count, written, ours, theirs)
