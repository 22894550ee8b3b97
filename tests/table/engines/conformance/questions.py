"""Questions for every engine: each aggregate over each kind of key, each operator, and everything that pairs rows."""

from __future__ import annotations

import itertools
from typing import Final

# Keys: none, public texts, conditions and numbers, and unknown ones of every type.
KEYS: Final = {
    "": "",
    "public text": "region",
    "public condition": "flag",
    "two public keys": "region, flag",
    "derived": "age // 10",
    "a case": "CASE WHEN raw > 1 THEN 'much' WHEN raw <= 1 THEN 'little' END",
    "unknown integer": "wide",
    "unknown text": "code",
    "unknown padded text": "pad",
    "unknown date": "day",
    "unknown month": "DATE_TRUNC('month', moment)",
    "unknown moment": "moment",
    "unknown step": "FLOOR(raw)",
    "unknown tenth": "ROUND(raw, 1)",
    "unknown decimal column": "price",
    "unknown year and region": "YEAR(day), region",
    "unknown letters": "UPPER(code)",
}
AGGREGATES: Final = (
    "COUNT(*)",
    "COUNT(raw), COUNT(code), COUNT(*) FILTER (WHERE raw > 0)",
    "COUNT(DISTINCT person), COUNT(DISTINCT person) FILTER (WHERE flag)",
    "COUNT(DISTINCT cost), COUNT(DISTINCT code), COUNT(DISTINCT day)",
    "SUM(age), SUM(cost), SUM(price), SUM(big)",
    "SUM(CLAMP(raw * 0.1, 0, 10)), SUM(CLAMP(1 / raw, 0, 10)), SUM(CLAMP(raw, -5, 5)) FILTER (WHERE flag)",
    "AVG(cost), AVG(price), AVG(CLAMP(raw / 3, 0, 10))",
    "VAR_SAMP(age), STDDEV(cost)",
    "MEDIAN(age), QUANTILE_CONT(cost, 0.25)",
    "QUANTILE_DISC(age, 0.9)",
    "COVAR_POP(age, CLAMP(cost, 0, 9)), REGR_SLOPE(CLAMP(cost, 0, 9), age)",
    "CORR(age, CLAMP(wide, 0, 9))",
)
# Every operator of the language at least once, over every type, which a test holds.
CONDITIONS: Final = (
    "wide + 1 > 2", "wide - age > 0", "wide * wide > 9", "wide * wide * wide < 0", "raw / 3 > 1.5", "1 / raw > 0",
    "raw / (raw - raw) > 0", "wide // 7 > 0", "wide // age > 0", "wide % 7 > 2", "wide % age = 0", "raw % 2.5 > 1",
    "cost % raw > 0", "-wide < 0", "-raw < 0", "ABS(wide) > 1", "ABS(raw) > 1", "FLOOR(raw) > 1", "CEIL(raw) > 1",
    "ROUND(raw, 2) > 1", "ROUND(raw, 0) = 3", "ROUND(wide, 0) > 1", "CLAMP(raw, 0, 9) > 1", "CLAMP(wide, 0, 9) > 1",
    "big + wide > 0", "big // 3 > 0", "price > 0.5", "price + wide > 0.25", "price * 3 > raw", "wide = 3", "wide <> 3",
    "raw <= 2.5", "raw >= 2.5", "raw > 0", "raw = 0", "raw < wide", "wide IS DISTINCT FROM 3",
    "wide IS NOT DISTINCT FROM age", "wide BETWEEN 1 AND 3", "raw BETWEEN 0 AND wide", "wide IN (1, 2, 3)",
    "code IN ('a', 'A', '')", "code IS NULL", "flag AND wide < 3", "flag OR wide < 3", "NOT flag",
    "CASE WHEN flag THEN wide ELSE 0 END > 1", "CASE WHEN flag THEN raw ELSE wide END > 1", "COALESCE(wide, 0) > 1",
    "COALESCE(raw, 1) >= 1", "NULLIF(wide, 3) > 1", "NULLIF(raw, 0) > 1", "LEAST(wide, age) > 1",
    "GREATEST(raw, 1.5) > 1.5", "LEAST(raw, wide) < 0", "CAST(code AS INTEGER) > 1", "CAST(raw AS INTEGER) > 1",
    "CAST(raw AS INTEGER) % 2 = 0", "CAST(price AS INTEGER) = 0", "CAST(code AS DOUBLE) > 1",
    "CAST(code AS DOUBLE) * raw > 1", "CAST(code AS DATE) > DATE '2020-01-01'", "CAST(code AS DATE) IS NULL",
    "CAST(code AS TIMESTAMP) > TIMESTAMP '2020-01-01 12:00:00'", "CAST(code AS BOOLEAN)", "CAST(wide AS VARCHAR) = '3'",
    "CAST(wide AS BOOLEAN)", "CAST(flag AS INTEGER) = 1", "CAST(flag AS VARCHAR) = 'true'",
    "CAST(moment AS VARCHAR) LIKE '%.%'", "CAST(day AS VARCHAR) < '2000'", "CAST(moment AS DATE) = day",
    "CAST(wide AS DOUBLE) = raw", "UPPER(code) = 'A'", "LOWER(code) = 'ab '", "UPPER(code) = code", "LENGTH(code) > 2",
    "LENGTH(code) = 1", "TRIM(code) = 'b'", "LENGTH(TRIM(code)) < LENGTH(code)", "LTRIM(code) = 'b'",
    "RTRIM(code) = 'aB'", "LEFT(code, 2) = 'ab'", "RIGHT(code, 2) = '\\b'", "RIGHT(code, 0) = ''",
    "SUBSTRING(code, 2, 3) = '\\b'", "SUBSTRING(code, 2) = 'b'", "code || 'x' = 'ax'", "CONCAT(code, 'x') = 'x'",
    "CONCAT(code, pad) = 'ab'", "REPLACE(code, 'a', 'b') = 'b'", "STARTS_WITH(code, 'a')", "ENDS_WITH(code, 'b')",
    "ENDS_WITH(code, '')", "CONTAINS(code, '\\')", "CONTAINS(code, pad)", "code LIKE 'a%'", "code LIKE 'a\\b'",
    "code LIKE '%\\%'", "code LIKE '1_%'", "code ILIKE 'a_'", "code ILIKE 'É'", "pad = 'ab'", "LENGTH(pad) = 2",
    "code < 'b'", "code > 'z'", "EXTRACT(YEAR FROM moment) > 2000", "DATE_PART('dow', moment) = 0",
    "DATE_PART('isodow', day) = 7", "DATE_PART('week', day) >= 52", "DATE_PART('doy', day) > 60",
    "DATE_PART('quarter', day) = 1", "DATE_PART('month', moment) = 2", "DATE_PART('day', day) = 31",
    "DATE_PART('hour', moment) > 11", "DATE_PART('minute', moment) > 30", "DATE_PART('second', moment) = 59",
    "DATE_TRUNC('month', moment) = TIMESTAMP '2024-02-01 00:00:00'", "DATE_TRUNC('week', day) < day",
    "DATE_TRUNC('second', moment) < moment", "day > moment", "day = DATE '2024-02-29'",
    "raw * raw * raw * raw > 1", "(raw + 1) * (raw - 1) / (raw * raw) < 1", "raw * cost / (cost - raw) > 0",
)  # fmt: skip
# What stands in FROM.
ROWS: Final = (
    "visits JOIN persons USING (person)",
    "visits LEFT JOIN persons ON visits.person = persons.person AND visits.raw > persons.weight",
    "visits AS a FULL JOIN visits AS b ON a.person = b.person AND a.age < b.age",
    "visits LEFT JOIN regions USING (region)",
    "visits JOIN persons USING (person) JOIN regions ON regions.level = visits.age",
    "visits JOIN persons ON visits.person = persons.person AND visits.code = persons.town",
    "visits WHERE region IN (SELECT region FROM regions WHERE level > 1)",
    "visits AS v WHERE EXISTS (SELECT 1 FROM visits AS s WHERE s.person = v.person AND s.raw < v.raw)",
    "visits AS v WHERE NOT EXISTS (SELECT 1 FROM persons AS s WHERE s.person = v.person AND s.since < v.day)",
    "visits WHERE (person, age) NOT IN (SELECT person, CAST(weight AS INTEGER) FROM persons)",
    "visits AS v WHERE age > (SELECT COUNT(*) FROM persons AS p WHERE p.person = v.person)",
    "visits AS v WHERE age > (SELECT r.level FROM regions AS r WHERE r.region = v.region)",
    "(SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY person ORDER BY raw DESC, code) = 1) AS v",
    "(SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY person ORDER BY code) <= 2) AS v",
    "(SELECT * FROM visits QUALIFY RANK() OVER (PARTITION BY person ORDER BY cost NULLS FIRST) = 1) AS v",
    "(SELECT * FROM visits QUALIFY DENSE_RANK() OVER (PARTITION BY person ORDER BY day DESC) < 3) AS v",
    "(SELECT * FROM visits QUALIFY PERCENT_RANK() OVER (PARTITION BY person ORDER BY wide) < 0.5) AS v",
    "(SELECT * FROM visits QUALIFY NTILE(3) OVER (PARTITION BY person ORDER BY moment) = 2) AS v",
    "(SELECT * FROM visits QUALIFY LAG(raw) OVER (PARTITION BY person ORDER BY raw, code) < raw) AS v",
    "(SELECT * FROM visits QUALIFY LEAD(code, 2, 'x') OVER (PARTITION BY person ORDER BY code) = 'x') AS v",
    "(SELECT * FROM visits QUALIFY SUM(cost) OVER (PARTITION BY person ORDER BY day "
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) > 10) AS v",
    "(SELECT * FROM visits QUALIFY FIRST_VALUE(raw) OVER (PARTITION BY person ORDER BY code) = raw) AS v",
    "(SELECT person, region FROM visits UNION SELECT person, town FROM persons) AS u",
    "(SELECT person, region FROM visits UNION ALL SELECT person, town FROM persons) AS u",
    "(SELECT person, raw FROM visits EXCEPT SELECT person, raw * 2 FROM visits) AS u",
    "(SELECT person, raw FROM visits INTERSECT SELECT person, weight FROM persons) AS u",
    "(SELECT DISTINCT person, code FROM visits) AS u",
)
ROLLED: Final = (
    "AVG(n)", "SUM(n)", "COUNT(a)", "COUNT(b)", "COUNT(c)", "COUNT(d)", "COUNT(e)", "SUM(CLAMP(a, 0, 50))",
    "SUM(CLAMP(m, 0, 50))", "COUNT(*) FILTER (WHERE c > 1)", "COUNT(*) FILTER (WHERE e)", "AVG(CLAMP(f, 0, 9))",
)  # fmt: skip
_ROLLED: Final = (
    "(SELECT person, COUNT(*) AS n, AVG(cost) AS a, COUNT(DISTINCT raw) FILTER (WHERE flag) AS b, VAR_SAMP(age) AS c, "
    "MEDIAN(cost) AS m, QUANTILE_DISC(age, 0.2) AS d, BOOL_OR(flag) AND MIN(day) < MAX(day) AS e, MAX(raw) AS f "
    "FROM visits GROUP BY person) AS p"
)
# Levels that are no double, of groups with a rest of the key.
_RANKED: Final = (
    "(SELECT person, region, QUANTILE_DISC(CLAMP(raw, -50, 50), 0.07) AS a, QUANTILE_CONT(age, 0.3) AS b, "
    "QUANTILE_CONT(cost, 0.35) FILTER (WHERE flag) AS c FROM visits GROUP BY person, region) AS p"
)


def questions() -> list[str]:
    """All of them, in order and different."""
    found = []
    for aggregates, key in itertools.product(AGGREGATES, KEYS.values()):
        grouped = f" GROUP BY {', '.join(str(i + 1) for i in range(_count(key)))}" if key else ""
        columns = ", ".join([*([key] if key else []), aggregates])
        found.append(f"SELECT {columns} FROM visits{grouped}")
    found += [f"SELECT COUNT(*) AS n FROM visits WHERE {each}" for each in CONDITIONS]
    found += [f"SELECT COUNT(*) AS n FROM {each}" for each in ROWS]
    found += [f"SELECT {each} AS x FROM {_ROLLED}" for each in ROLLED]
    found += [f"SELECT SUM(CLAMP({each}, -50, 50)) AS x FROM {_RANKED}" for each in "abc"]
    return list(dict.fromkeys(found))


def _count(key: str) -> int:
    """How many keys are written, whose functions have commas too."""
    depth, commas = 0, 0
    for each in key:
        depth += (each == "(") - (each == ")")
        commas += each == "," and not depth
    return commas + 1
