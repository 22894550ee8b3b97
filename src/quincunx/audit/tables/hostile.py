"""Hostile rows: what readers of each kind of source choke on, each in a world of its own.

Which questions fail gives a row away, so none may fail. For every kind of source and every type, one person whose value
is hostile joins a few ordinary people; every question must be answered, within the declared distance of the answer
without that person, and alike from every kind of source that can hold the value. Needs pyarrow, pandas and Polars.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb

from quincunx.audit.tables.distance import gaps
from quincunx.audit.tables.hostile_values import Hostile, columns, objects
from quincunx.errors import UnavailableError, VerificationError
from quincunx.spec import AddRemove
from quincunx.table import DuckDB, Program, Result, Table, evaluate
from quincunx.table import planned as plan
from quincunx.table import read_sql as read
from quincunx.table import schema_of as schema

# Type in questions → questions that look at the column x in different ways.
_QUESTIONS: Final[dict[str, tuple[str, ...]]] = {
    "text": (
        "SELECT COUNT(x) AS n FROM t WHERE UPPER(x) <> 'B' OR LENGTH(x) > 1",
        "SELECT COUNT(*) AS n FROM t WHERE CASE WHEN v BETWEEN 1 AND 2 THEN LOWER(x) END = 'a'",
        "SELECT COUNT(*) AS n FROM t WHERE REPLACE(TRIM(x) || 'c', 'c', 'cc') LIKE '%a_%' OR x IN ('a', 'c')",
        "SELECT LEFT(x, 3) AS k, COUNT(*) AS n FROM t GROUP BY LEFT(x, 3)",
        "SELECT x, COUNT(*) AS n FROM t GROUP BY x",
        "SELECT COUNT(*) AS n FROM t WHERE CAST(x AS DOUBLE) > 1 OR CAST(x AS TIMESTAMP) > '2024-01-01'",
    ),
    "timestamp": (
        "SELECT COUNT(x) AS n FROM t WHERE x < TIMESTAMP '2030-01-01'",
        "SELECT COUNT(*) AS n FROM t WHERE YEAR(x) = 2024 OR CAST(x AS VARCHAR) LIKE '2%'",
        "SELECT DATE_TRUNC('month', x) AS k, COUNT(*) AS n FROM t GROUP BY 1",
        "SELECT COUNT(*) AS n FROM t WHERE CASE WHEN v = 1 THEN CAST(x AS DATE) END = '2024-05-06'",
    ),
    "date": (
        "SELECT COUNT(x) AS n FROM t WHERE x < DATE '2030-01-01'",
        "SELECT COUNT(*) AS n FROM t WHERE YEAR(x) = 2024 OR CAST(x AS VARCHAR) LIKE '2%'",
        "SELECT x, COUNT(*) AS n FROM t GROUP BY x",
    ),
    "number": (
        "SELECT COUNT(x) AS n, SUM(x) AS s, AVG(x) AS m FROM t",
        "SELECT COUNT(*) AS n FROM t WHERE x * 2 + 1 > 3 OR CAST(CAST(x AS BIGINT) AS VARCHAR) LIKE '1%'",
        "SELECT x, COUNT(*) AS n FROM t GROUP BY x",
    ),
    "boolean": ("SELECT COUNT(x) AS n FROM t WHERE x", "SELECT x, COUNT(*) AS n FROM t GROUP BY x"),
}
_OWNED: Final = ("SELECT COUNT(*) AS n, COUNT(DISTINCT x) AS p FROM t", "SELECT COUNT(*) AS n FROM t WHERE v < 3")
# Relations that compare x within a person, whatever its type; each case is asked about one of them, in turn.
_RELATED: Final = (
    "SELECT COUNT(*) AS n FROM t a JOIN t b ON a.p = b.p AND a.x = b.x",
    "SELECT COUNT(*) AS n, COUNT(m) AS k FROM (SELECT p, x, MAX(v) AS m FROM t GROUP BY p, x HAVING COUNT(*) = 1)",
    "SELECT COUNT(*) AS n FROM t a WHERE x NOT IN (SELECT b.x FROM t b WHERE b.p = a.p AND b.v > 1)",
    "SELECT COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY p ORDER BY x DESC) AS r FROM t) WHERE r = 1",
    "SELECT COUNT(*) AS n FROM (SELECT p, x FROM t EXCEPT SELECT p, x FROM t WHERE v > 1)",
    "SELECT COUNT(*) AS n FROM t a LEFT JOIN u ON a.p = u.p AND u.w > 1 WHERE a.x IS NOT NULL OR u.w IS NULL",
    "SELECT COUNT(*) AS n FROM t a WHERE EXISTS (SELECT 1 FROM u WHERE u.p = a.p AND u.w <> a.v) OR x IS NULL",
)
# Of texts also what is looked up by x, and what leads to people by it.
_LOOKED_UP: Final = (
    "SELECT COUNT(*) AS n FROM t JOIN public ON t.x = public.x",
    "SELECT COUNT(*) AS n, SUM(w) AS s FROM linked",
    "SELECT COUNT(*) AS n FROM t WHERE x NOT IN (SELECT x FROM public)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hostility:
    """What was asked: (kind of source, type of the column) → questions answered. failed: what ended a question.

    unequal: values that are not the same from two kinds of source. moved: answers farther apart than declared. unheld:
    (kind, type) that the kind has no way to hold.
    """

    answered: dict[tuple[str, str], int]
    failed: tuple[str, ...]
    unequal: tuple[str, ...]
    moved: tuple[str, ...]
    unheld: tuple[tuple[str, str], ...]

    def check(self) -> None:
        """Raise VerificationError unless everything was answered, alike and within the declared distance."""
        found = [*self.failed, *self.unequal, *self.moved]
        if found or not self.answered:
            shown = "; ".join(found[:10]) or "nothing was asked"
            raise VerificationError("hostile rows show through", where="hostile", got=shown)


def hostile(every: int = 1) -> Hostility:
    """Ask all questions about every `every`th hostile value, and about one at least from every kind of source.

    Prints nothing and draws no noise.
    """
    answered: dict[tuple[str, str], int] = {}
    failed: list[str] = []
    unequal: list[str] = []
    moved: list[str] = []
    unheld: list[tuple[str, str]] = []
    tried: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate((*columns(), *objects())):
            # Its own folder for each case: files of one are not left over for the next.
            place = Path(tempfile.mkdtemp(dir=folder))
            if number % every and tried.issuperset(case.makers(place)):
                continue
            tried.update(case.makers(place))
            said: dict[str, list[Any]] = {}
            for kind, worlds in _held(case, place):
                if worlds is None:
                    unheld.append((kind, case.type))
                    continue
                results, count = _asked(case, kind, worlds, number, failed, moved)
                answered[kind, case.type] = answered.get((kind, case.type), 0) + count
                said[kind] = results
            first = next(iter(said), None)
            unequal += [
                f"{case.name}: {kind} and {first} differ" for kind in said if first and said[kind] != said[first]
            ]
    return Hostility(
        answered=answered,
        failed=tuple(failed),
        unequal=tuple(unequal),
        moved=tuple(moved),
        unheld=tuple(dict.fromkeys(unheld)),
    )


def _held(case: Hostile, folder: Path) -> Iterator[tuple[str, tuple[object, object] | None]]:
    """For each kind of source: the table with the hostile row and without it, or None where it cannot be held."""
    for kind, make in case.makers(folder).items():
        try:
            yield kind, (make(True), make(False))
        except (ValueError, TypeError, ArithmeticError, NotImplementedError, OSError, duckdb.Error):
            yield kind, None


def _asked(
    case: Hostile, kind: str, sources: Sequence[object], number: int, failed: list[str], moved: list[str]
) -> tuple[list[Any], int]:
    results: list[Any] = []
    related = [_RELATED[number % len(_RELATED)]]
    related += [_LOOKED_UP[number % len(_LOOKED_UP)]] if case.asked == "text" else []
    for key, questions in (("p", (*_QUESTIONS[case.asked], *related)), ("x", _OWNED if case.owns else ())):
        answers = [_answers(case, source, key, questions) for source in sources]
        for text, (program, with_row), (_, without) in zip(questions, *answers, strict=True):
            if with_row is None or without is None:
                failed.append(f"{kind}, {case.name}: {text}")
                continue
            moved += [f"{kind}, {case.name}: {text}" for gap in gaps(program, with_row, without) if not gap.holds]
            results.append(_plain(with_row))
    return results, len(results)


def _answers(case: Hostile, source: Any, key: str, questions: Sequence[str]) -> list[tuple[Program, Result | None]]:
    """Each question's plan with what it gives; None where it failed."""
    if not questions:
        return []
    given: dict[str, dict[str, object]] = {"p": {"type": "integer"}, "v": {"type": "integer"}, "x": dict(case.column)}
    written: dict[str, Any] = dict(case.written)
    table = Table(source, limits={"rows": 2, "groups": 2}, columns=given, **written)
    tables = {"t": table, **_beside(case)} if key == "p" else {"t": table}
    declared = schema(tables, AddRemove(key=key))
    programs = [plan(read(text, declared, evaluate), declared, 1) for text in questions]
    with DuckDB(tables, declared, threads=1) as engine:
        return [(program, _answer(engine, program)) for program in programs]


def _beside(case: Hostile) -> dict[str, Table]:
    """Ordinary tables beside the hostile one: of the same people; of texts a public one, and one that x links."""
    import pyarrow as pa

    limits = {"rows": 2, "groups": 2}
    found = {"u": Table(pa.table({"p": [1, 1, 2, 3], "w": [1, 2, 2, 3]}), limits=limits)}
    if case.asked == "text":
        found["public"] = Table(pa.table({"x": ["a", "a", "b", None]}), public=True)
        led = {"w": {"bounds": (0, 4)}}
        linked = pa.table({"x": ["a", "b", "b", "c", None], "w": [1, 2, 3, 4, 4]})
        found["linked"] = Table(linked, limits=limits, columns=led, owner={"via": "t", "on": "x"})
    return found


def _answer(engine: DuckDB, program: Program) -> Result | None:
    try:
        return engine.run(program)
    except UnavailableError:
        return None


def _plain(found: Result) -> Any:
    votes = None if found.selection is None else found.selection.tolist()
    return [found.keys, [measure.tolist() for measure in found.measures], votes]
