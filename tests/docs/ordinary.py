"""The page "forty ordinary questions": what people ask of tables, each answered, or with what to write instead.

`python tests/docs/ordinary.py` writes it. Every question is asked of the sample (test_ordinary.py), and what is refused
is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "forty-questions.md"
_BEFORE: Final = "LAG(visited_at) OVER (PARTITION BY person_id ORDER BY visited_at)"
_FIRST: Final = "ROW_NUMBER() OVER (PARTITION BY person_id ORDER BY visited_at)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordinary:
    """One kind of question. sql: what to write. then: free SQL over the answer. delta: where keys are unknown.

    refused: how one might write it, and what is refused in it; words: what is to be said.
    """

    kind: str
    sql: str
    then: str = ""
    delta: str = ""
    refused: str = ""
    words: str = ""


QUESTIONS: Final = (
    Ordinary(kind="How many rows are there?", sql="SELECT COUNT(*) AS n FROM visits"),
    Ordinary(kind="How many in each group?", sql="SELECT region, COUNT(*) AS n FROM visits GROUP BY region"),
    Ordinary(
        kind="How many in each group whose names nobody may list?",
        sql="SELECT department, COUNT(*) AS n FROM visits GROUP BY department",
        delta="1e-10",
        words="A department is shown where enough people were there, which costs a δ.",
    ),
    Ordinary(
        kind="How many people, rather than rows?",
        sql="SELECT region, COUNT(DISTINCT person_id) AS people FROM visits GROUP BY region",
    ),
    Ordinary(kind="How much in all?", sql="SELECT region, SUM(cost) AS cost FROM visits GROUP BY region"),
    Ordinary(kind="What is the mean?", sql="SELECT region, AVG(cost) AS mean_cost FROM visits GROUP BY region"),
    Ordinary(kind="What is the median?", sql="SELECT region, MEDIAN(age) AS age FROM visits GROUP BY region"),
    Ordinary(
        kind="What are the quartiles, or the 90th percentile?",
        sql="SELECT QUANTILE_CONT(cost, [0.25, 0.5, 0.75, 0.9]) AS cost FROM visits",
        words="All levels of one argument are drawn from one charge.",
    ),
    Ordinary(
        kind="What is the smallest, the largest?",
        sql="SELECT QUANTILE_DISC(age, 0.01) AS youngest, QUANTILE_DISC(age, 0.99) AS oldest FROM persons",
        refused="SELECT MAX(age) AS oldest FROM persons",
        words="The largest value is that of one person; a high quantile is that of many.",
    ),
    Ordinary(
        kind="How much do values differ?",
        sql="SELECT sex, STDDEV(age) AS deviation, VARIANCE(age) AS variance FROM persons GROUP BY sex",
    ),
    Ordinary(
        kind="Which share of the total has each group?",
        sql="SELECT region, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS percent FROM visits GROUP BY region",
    ),
    Ordinary(
        kind="Which percentage of a group meets a condition?",
        sql="SELECT sex, 100.0 * COUNT(*) FILTER (WHERE age >= 65) / COUNT(*) AS percent FROM persons GROUP BY sex",
    ),
    Ordinary(
        kind="How do groups rank?",
        sql="SELECT region, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM visits GROUP BY region",
    ),
    Ordinary(
        kind="Which are the top three?",
        sql="SELECT county, COUNT(*) AS n FROM persons GROUP BY county ORDER BY n DESC LIMIT 3",
        words="A note says where neighbours overlap, so that their order is not known.",
    ),
    Ordinary(
        kind="How many times as many as in another group?",
        sql="SELECT sex, COUNT(*) AS n FROM persons GROUP BY sex",
        then="SELECT MAX(n) FILTER (WHERE sex = 'female') / MAX(n) FILTER (WHERE sex = 'male') AS ratio FROM answer",
        words="What follows from published numbers is free.",
    ),
    Ordinary(
        kind="How far apart are two groups?",
        sql="SELECT region, AVG(cost) AS m FROM visits GROUP BY region",
        then="SELECT a.region, b.region AS other, a.m - b.m AS apart FROM answer a JOIN answer b ON a.region < b.region",
    ),
    Ordinary(
        kind="Is it so by the truth, or by the noise?",
        sql="SELECT region, COUNT(*) AS n FROM visits GROUP BY region",
        then="SELECT a.region, b.region AS other, a.n_low > b.n_high AS surely FROM answer a "
        "JOIN answer b ON a.region <> b.region",
    ),
    Ordinary(
        kind="How did it change from period to period?",
        sql="SELECT EXTRACT(MONTH FROM visited_at) AS month, COUNT(*) AS n, "
        "COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY EXTRACT(MONTH FROM visited_at)) AS more "
        "FROM visits GROUP BY EXTRACT(MONTH FROM visited_at)",
        words="The months of a year are public keys, because there are no others.",
    ),
    Ordinary(
        kind="What has it come to so far?",
        sql="SELECT EXTRACT(MONTH FROM visited_at) AS month, "
        "SUM(COUNT(*)) OVER (ORDER BY EXTRACT(MONTH FROM visited_at)) AS so_far "
        "FROM visits GROUP BY EXTRACT(MONTH FROM visited_at)",
    ),
    Ordinary(
        kind="What does a public table say of each row?",
        sql="SELECT r.hospitals, COUNT(*) AS n FROM visits v JOIN regions r ON v.region = r.region "
        "WHERE r.hospitals BETWEEN 1 AND 4 GROUP BY r.hospitals",
    ),
    Ordinary(
        kind="How many for each of something public (a rate)?",
        sql="SELECT region, COUNT(*) AS n FROM visits GROUP BY region",
        then="SELECT region, n / 12.0 AS each_month FROM answer",
    ),
    Ordinary(
        kind="What do two private tables say together?",
        sql="SELECT p.sex, AVG(v.cost) AS cost FROM visits v JOIN persons p ON v.person_id = p.person_id "
        "GROUP BY p.sex",
    ),
    Ordinary(
        kind="Who meets whom?",
        sql="SELECT COUNT(*) AS n FROM encounters a JOIN encounters b "
        "ON a.person_id = b.person_id AND a.encounter_id < b.encounter_id",
        refused="SELECT COUNT(*) AS n FROM encounters a JOIN encounters b ON a.encounter_id = b.encounter_id",
        words="A join that pairs different people is refused; pairs of rows of one person are counted.",
    ),
    Ordinary(
        kind="How many rows does a person have?",
        sql="SELECT AVG(k) AS visits FROM (SELECT person_id, COUNT(*) AS k FROM visits GROUP BY person_id) AS people",
    ),
    Ordinary(
        kind="How are they distributed over people?",
        sql="SELECT CLAMP(k, 1, 6) AS visits, COUNT(*) AS people FROM "
        "(SELECT person_id, COUNT(*) AS k FROM visits GROUP BY person_id) AS q GROUP BY CLAMP(k, 1, 6)",
        words="The last group holds those with six and more.",
    ),
    Ordinary(
        kind="What does one person cost in all?",
        sql="SELECT MEDIAN(CLAMP(paid, 0, 20000)) AS paid FROM "
        "(SELECT person_id, SUM(cost) AS paid FROM visits GROUP BY person_id) AS q",
    ),
    Ordinary(
        kind="How many have at least one?",
        sql="SELECT sex, COUNT(*) AS people FROM persons p "
        "WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person_id = p.person_id AND v.cost > 1000) GROUP BY sex",
    ),
    Ordinary(
        kind="How many have none?",
        sql="SELECT COUNT(*) AS people FROM persons p "
        "WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.person_id = p.person_id)",
    ),
    Ordinary(
        kind="How many are above the average?",
        sql="SELECT COUNT(*) AS above FROM visits WHERE cost > 250",
        refused="SELECT COUNT(*) AS above FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
        words="The average is a question of its own: ask for it, and write the answer.",
    ),
    Ordinary(
        kind="A histogram, please",
        sql="SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) AS n FROM persons GROUP BY FLOOR(age / 10) * 10",
        words="The bounds of the column make the decades public.",
    ),
    Ordinary(
        kind="In buckets of my own?",
        sql="SELECT CASE WHEN age < 18 THEN 'young' WHEN age < 65 THEN 'adult' ELSE 'old' END AS stage, "
        "COUNT(*) AS n FROM persons "
        "GROUP BY CASE WHEN age < 18 THEN 'young' WHEN age < 65 THEN 'adult' ELSE 'old' END",
    ),
    Ordinary(
        kind="Two keys at once?",
        sql="SELECT county, sex, COUNT(*) AS n FROM persons GROUP BY county, sex",
    ),
    Ordinary(
        kind="A cross table with totals?",
        sql="SELECT county, sex, COUNT(*) AS n FROM persons GROUP BY county, sex",
        then="SELECT county, sex, SUM(n) AS n FROM answer GROUP BY ROLLUP (county, sex) ORDER BY ALL",
        words="Totals of published numbers add up, and cost nothing.",
    ),
    Ordinary(
        kind="A weighted mean?",
        sql="SELECT SUM(age * cost) / SUM(cost) AS age FROM visits",
    ),
    Ordinary(
        kind="Do two numbers go together?",
        sql="SELECT CORR(cost, age) AS r, COVAR_POP(cost, age) AS covariance FROM visits",
    ),
    Ordinary(
        kind="How much more with each year (a regression)?",
        sql="SELECT REGR_SLOPE(cost, age) AS slope, REGR_INTERCEPT(cost, age) AS at_0, REGR_R2(cost, age) AS r2 "
        "FROM visits",
    ),
    Ordinary(
        kind="How many different values?",
        sql="SELECT region, COUNT(DISTINCT department) AS departments FROM visits GROUP BY region",
    ),
    Ordinary(
        kind="What came first, what last, for each person?",
        sql=f"SELECT region, COUNT(*) AS firsts FROM (SELECT * FROM visits QUALIFY {_FIRST} = 1) AS q GROUP BY region",
        refused="SELECT region, COUNT(*) AS firsts FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER "
        "(ORDER BY visited_at) = 1) AS q GROUP BY region",
        words="Rows are numbered within a person.",
    ),
    Ordinary(
        kind="How long until they came again?",
        sql="SELECT AVG(CLAMP(EXTRACT(MONTH FROM visited_at) - EXTRACT(MONTH FROM before), 0, 11)) AS months FROM "
        f"(SELECT visited_at, {_BEFORE} AS before FROM visits) AS q WHERE before IS NOT NULL",
        refused="SELECT AVG(DATE_DIFF('day', before, visited_at)) AS days FROM "
        f"(SELECT visited_at, {_BEFORE} AS before FROM visits) AS q WHERE before IS NOT NULL",
        words="Parts of dates are numbers with known bounds; differences of dates are not on the list yet.",
    ),
    Ordinary(
        kind="Only groups that are large?",
        sql="SELECT county, COUNT(*) AS n FROM persons GROUP BY county HAVING COUNT(*) > 100",
        words="HAVING looks at noisy numbers, and is free.",
    ),
    Ordinary(
        kind="Show me some rows",
        sql="SELECT region, department, COUNT(*) AS n FROM visits GROUP BY region, department",
        delta="1e-10",
        refused="SELECT * FROM visits LIMIT 5",
        words="Rows are people's; counts by as many columns as matter are what can be shown.",
    ),
    Ordinary(
        kind="What is the most common value?",
        sql="SELECT department, COUNT(*) AS n FROM visits GROUP BY department ORDER BY n DESC LIMIT 1",
        delta="1e-10",
        refused="SELECT MODE(department) AS most FROM visits",
    ),
)
_HEAD: Final = (
    "# {count} kinds of ordinary questions\n\n"
    "What people ask of tables, over those of `quincunx init`: each is answered, or refused with what to write instead. "
    "Every question on this page is asked when the documentation is tested, and every refusal is seen. "
    '`quincunx explain PLAN "SELECT …" --spend 0.01` says beforehand how far each answer would be off; what stands '
    "after *then* is free SQL over the answer ([how](release.md#free-sql-above-the-noise)). "
    "All constructs one by one: [what you can ask](what-you-can-ask.md).\n"
)


def page() -> str:
    """The page."""
    parts = [_HEAD.format(count=_counted())]
    for number, each in enumerate(QUESTIONS, 1):
        parts.append(f"\n## {number}. {each.kind}\n")
        if each.refused:
            parts.append(f"\nRefused:\n\n```sql\n{each.refused}\n```\n\nInstead:\n")
        parts.append(f"\n```sql\n{each.sql}\n```\n")
        if each.then:
            parts.append(f"\nthen\n\n```sql\n{each.then}\n```\n")
        if each.words:
            parts.append(f"\n{each.words}\n")
    return "".join(parts)


def _counted() -> str:
    tens = {40: "Forty", 50: "Fifty"}
    whole, rest = len(QUESTIONS) // 10 * 10, len(QUESTIONS) % 10
    digits = ("", "-one", "-two", "-three", "-four", "-five", "-six", "-seven", "-eight", "-nine")
    return tens[whole] + digits[rest]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
