"""Real tables: at an enormous budget and limits that bind nobody, answers equal plain DuckDB's."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import pytest

import quincunx as qx
from tests.datasets import real_data

# The scale of the noise is then far below one lattice step.
SPEND = 10**24


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """A file as a table: how plain DuckDB reads it, what is declared, and questions with their keys.

    A question's numbers are compared by the suffix of their name: n and s exactly, m to the step. off: names of sums
    whose values lie off the lattice → the column and the step, summed over whole steps by DuckDB.
    """

    file: str
    read: str
    key: str | None
    limits: dict[str, int]
    columns: dict[str, dict[str, object]]
    questions: tuple[tuple[str, tuple[str, ...]], ...]
    off: dict[str, tuple[str, str]]
    people: int


def years(first: int, last: int) -> list[int]:
    return list(range(first, last + 1))


REAL = {
    "cdnow": Real(
        file="userlog/cdnow.txt",
        read="SELECT CAST(p[1] AS BIGINT) AS customer, strptime(p[2], '%Y%m%d')::DATE AS day, "
        "CAST(p[3] AS INTEGER) AS cds, CAST(p[4] AS DECIMAL(10,2)) AS dollars FROM (SELECT "
        "string_split_regex(trim(line), '\\s+') AS p FROM read_csv('{path}', columns={{'line': 'VARCHAR'}}, "
        "header=true, delim='\\1', quote='', escape='', auto_detect=false) WHERE trim(line) <> '')",
        key="customer",
        limits={"rows": 300},
        columns={"cds": {"bounds": (0, 200)}, "dollars": {"bounds": (0, 2000), "step": "0.01"}},
        questions=(
            ("SELECT COUNT(*) AS n, SUM(cds) AS s, SUM(dollars) AS dollars_s, AVG(dollars) AS m FROM t", ()),
            ("SELECT COUNT(DISTINCT customer) AS n FROM t", ()),
            ("SELECT COUNT(*) FILTER (WHERE cds > 3) AS n, AVG(cds) AS m FROM t WHERE YEAR(day) = 1997", ()),
            ("SELECT dollars > 20 AS big, COUNT(*) AS n, SUM(dollars) AS s FROM t GROUP BY dollars > 20", ("big",)),
            ("SELECT CASE WHEN MONTH(day) < 4 THEN 'first' WHEN MONTH(day) < 7 THEN 'second' ELSE 'later' END AS part, "
             "COUNT(*) AS n, AVG(dollars) AS m FROM t GROUP BY part", ("part",)),
            ("SELECT many > 2 AS often, COUNT(*) AS n, SUM(many) AS s FROM (SELECT customer, COUNT(*) AS many FROM t "
             "GROUP BY customer) GROUP BY many > 2", ("often",)),
            ("SELECT COUNT(*) AS n, SUM(a.cds) AS s FROM t a JOIN t b USING (customer) WHERE a.day < b.day", ()),
            ("SELECT COUNT(*) AS n, SUM(cds) AS s FROM t a WHERE NOT EXISTS (SELECT 1 FROM t b WHERE "
             "b.customer = a.customer AND b.dollars > a.dollars)", ()),
            ("SELECT COUNT(*) AS n, SUM(first) AS s FROM (SELECT customer, MIN(cds) OVER (PARTITION BY customer) AS "
             "first, RANK() OVER (PARTITION BY customer ORDER BY day) AS r FROM t) WHERE r = 2", ()),
            ("SELECT COUNT(*) AS n FROM (SELECT customer, day FROM t WHERE cds > 2 EXCEPT SELECT customer, day FROM t "
             "WHERE dollars < 30)", ()),
        ),
        off={},
        people=23_570,
    ),
    "rand": Real(
        file="health/rand_hie.csv",
        read="SELECT * FROM read_csv('{path}', sample_size=-1)",
        key="zper",
        limits={"rows": 10},
        columns={
            "site": {"keys": [1, 2, 3, 4, 5, 6]},
            "year": {"keys": years(1, 5)},
            "plan": {"bounds": (0, 24)},
            "mdvis": {"bounds": (0, 100)},
            "meddol": {"bounds": (0, 50000), "step": "0.01"},
            "xage": {"bounds": (0, 70), "step": "0.1"},
        },
        questions=(
            ("SELECT site, COUNT(*) AS n, SUM(mdvis) AS s, AVG(mdvis) AS m FROM t GROUP BY site", ("site",)),
            ("SELECT site, year, COUNT(*) AS n, AVG(xage) AS m FROM t GROUP BY site, year", ("site", "year")),
            ("SELECT year, COUNT(DISTINCT zper) AS n FROM t GROUP BY year", ("year",)),
            ("SELECT site, SUM(meddol) AS dollars_s FROM t WHERE mdvis > 0 GROUP BY site", ("site",)),
            ("SELECT COUNT(*) AS n, COUNT(ghindx) AS known_n FROM t WHERE female = 1 AND plan BETWEEN 1 AND 11", ()),
            ("SELECT a.site, COUNT(*) AS n, SUM(b.mdvis) AS s FROM t a LEFT JOIN t b ON a.zper = b.zper AND "
             "b.year = a.year + 1 GROUP BY a.site", ("site",)),
            ("SELECT years, COUNT(*) AS n, SUM(CLAMP(most, 0, 100)) AS s FROM (SELECT zper, CLAMP(COUNT(*), 1, 5) AS "
             "years, MAX(mdvis) AS most FROM t GROUP BY zper) GROUP BY years", ("years",)),
            ("SELECT site, COUNT(*) AS n FROM (SELECT DISTINCT ON (zper) site, mdvis FROM t ORDER BY year DESC) "
             "WHERE mdvis > 3 GROUP BY site", ("site",)),
            ("SELECT site, COUNT(*) AS n FROM t WHERE zper IN (SELECT zper FROM t WHERE mdvis > 20) GROUP BY site",
             ("site",)),
            ("SELECT COUNT(*) AS n, SUM(more) AS s FROM (SELECT mdvis - LAG(mdvis, 1, 0) OVER (PARTITION BY zper ORDER "
             "BY year) AS more FROM t)", ()),
        ),
        off={"dollars_s": ("meddol", "0.01")},
        people=5_912,
    ),
    "cps": Real(
        file="households/cps_tax_units.csv.gz",
        read="SELECT *, CAST(FLPDYR * 1000000 + h_seq AS BIGINT) AS household FROM read_csv('{path}', sample_size=-1)",
        key="household",
        limits={"rows": 40},
        columns={
            "fips": {"keys": years(1, 56)},
            "mars": {"keys": [1, 2, 3, 4]},
            "xtot": {"bounds": (0, 20)},
            "age_head": {"bounds": (0, 90)},
            "e00200": {"bounds": (0, 10**8)},
            "nu18": {"bounds": (0, 20)},
        },
        questions=(
            ("SELECT fips, COUNT(*) AS n, SUM(XTOT) AS s FROM t GROUP BY fips", ("fips",)),
            ("SELECT MARS, COUNT(*) AS n, AVG(age_head) AS m, SUM(e00200) AS s FROM t GROUP BY MARS", ("MARS",)),
            ("SELECT fips, COUNT(DISTINCT household) AS n FROM t GROUP BY fips", ("fips",)),
            ("SELECT SUM(CASE WHEN nu18 > 0 THEN 1 ELSE 0 END) AS s, COUNT(*) FILTER (WHERE nu18 > 0) AS n FROM t", ()),
            ("SELECT fips, COUNT(*) AS n, SUM(people) AS s FROM (SELECT household, fips, CLAMP(SUM(XTOT), 0, 40) AS "
             "people FROM t GROUP BY household, fips) GROUP BY fips", ("fips",)),
            ("SELECT COUNT(*) AS n FROM t a WHERE e00200 = (SELECT MAX(b.e00200) FROM t b WHERE "
             "b.household = a.household)", ()),
        ),
        off={},
        people=0,
    ),
    "adult": Real(
        file="persons/adult.data",
        read="SELECT trim(column03) AS education, trim(column09) AS sex, trim(column01) AS work, "
        "CAST(column00 AS INTEGER) AS age, CAST(column12 AS INTEGER) AS hours, CAST(column10 AS BIGINT) AS gain, "
        "trim(column14) = '>50K' AS rich FROM read_csv('{path}', skip=1, header=false, all_varchar=true, "
        "null_padding=true) WHERE column14 IS NOT NULL",
        key=None,
        limits={},
        columns={
            "sex": {"keys": ["Female", "Male"]},
            "rich": {"keys": [True, False]},
            "age": {"bounds": (17, 90)},
            "hours": {"bounds": (1, 99)},
            "gain": {"bounds": (0, 99999)},
        },
        questions=(
            ("SELECT sex, rich, COUNT(*) AS n, AVG(age) AS m, SUM(gain) AS s FROM t GROUP BY 1, 2", ("sex", "rich")),
            ("SELECT COUNT(*) AS n FROM t WHERE education ILIKE '%school%' OR education IN ('HS-grad', '11th')", ()),
            ("SELECT sex, SUM(CLAMP(hours // 10, 0, 9)) AS s FROM t WHERE work <> '?' GROUP BY sex", ("sex",)),
        ),
        off={},
        people=0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_real_tables_equal_plain_duckdb(name: str) -> None:
    real = REAL[name]
    path = real_data(real.file)
    plain = duckdb.connect(":memory:")
    plain.execute(
        "CREATE MACRO clamp(x, low, high) AS CASE WHEN x IS NULL THEN NULL ELSE least(greatest(x, low), high) END"
    )
    plain.execute(f"CREATE TABLE t AS {real.read.format(path=path)}")
    if real.people:
        assert plain.execute(f"SELECT COUNT(DISTINCT {real.key}) FROM t").fetchall() == [(real.people,)]
    table = qx.Table(plain.table("t"), limits=real.limits, columns=real.columns)
    with qx.Session(
        dataset=name,
        version="1",
        ledger=":memory:",
        tables={"t": table},
        unit=qx.unit.AddRemove(key=real.key),
        standard=qx.standard.Pure(),
        intensity=10**30,
        budgets={"smallest_spend": 1},
    ) as session:
        for sql, keys in real.questions:
            compared = compare(real, plain, session, sql, keys)
            print(f"{name}: {compared} numbers equal  {sql}")
    plain.close()


def compare(real: Real, plain: duckdb.DuckDBPyConnection, session: qx.Session, sql: str, keys: tuple[str, ...]) -> int:
    asked = sql
    for output, (column, step) in real.off.items():
        asked = asked.replace(
            f"SUM({column}) AS {output}",
            f"SUM(CAST(FLOOR({column} * {1 / Fraction(step)}::DOUBLE + 0.5) AS BIGINT)) AS {output}",
        )
    cursor = plain.cursor().execute(asked)
    names = [each[0] for each in cursor.description]
    theirs = {
        tuple(row[names.index(key)] for key in keys): dict(zip(names, row, strict=True)) for row in cursor.fetchall()
    }
    count = 0
    for row in session.sql(sql, spend=SPEND).rows:
        wanted: dict[str, Any] = theirs.pop(tuple(row[key] for key in keys), {})
        for output in [each for each in names if each not in keys]:
            number = wanted.get(output)
            if output == "m" or output.endswith("_m"):
                assert number is None or abs(row[output] - float(number)) <= 0.01, (sql, output)
            elif output in real.off:
                assert Decimal(row[output]) == Decimal(number or 0) * Decimal(real.off[output][1]), (sql, output)
            else:
                assert row[output] == (number or 0), (sql, output)
            count += 1
    assert not theirs, sql
    return count
