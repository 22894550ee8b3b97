"""The statements of Spark, as text; neither Spark nor pyspark is needed.

`python -m tests.table.engines.spark.golden` writes the fixture again, after it was looked at line by line.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from quincunx.spec.unit import AddRemove
from quincunx.table.engines import evaluate
from quincunx.table.engines.spark import SparkEngine
from quincunx.table.engines.spark.origin import Found
from quincunx.table.rules import plan
from quincunx.table.schema import Schema
from quincunx.table.sql import read
from tests.table import worlds
from tests.table.engines import golden
from tests.table.engines.postgres.golden import FIELDS, table

FILE: Final = golden.HOME / "spark.sql"
OPERANDS: Final = {
    "p": ("BIGINT", "integer"), "i": ("BIGINT", "integer"), "j": ("INTEGER", "integer"),
    "w": ("DECIMAL(38,0)", "integer"), "d": ("DOUBLE", "decimal"), "e": ("DECIMAL(9,2)", "decimal"),
    "s": ("VARCHAR", "text"), "b": ("BOOLEAN", "boolean"), "t": ("TIMESTAMP", "timestamp"),
}  # fmt: skip
STORED: Final = (
    ("TINYINT", "integer"), ("DECIMAL(38,0)", "integer"), ("DECIMAL(9,2)", "integer"), ("DOUBLE", "integer"),
    ("VARCHAR", "integer"), ("FLOAT", "decimal"), ("DECIMAL(38,2)", "decimal"), ("VARCHAR", "decimal"),
    ("DECIMAL(9,2)", "text"), ("DATE", "date"), ("TIMESTAMP", "date"), ("VARCHAR", "date"), ("DATE", "timestamp"),
    ("TIMESTAMP WITH TIME ZONE", "timestamp"), ("BOOLEAN", "boolean"), ("BIGINT", "boolean"),
)  # fmt: skip


class _Nobody:
    """A session that was never started."""

    conf: ClassVar[dict[str, str]] = {"spark.master": "local"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A private table that nobody has looked at."""

    origin: Found
    public: bool = False


def held(fields: Mapping[str, str]) -> Held:
    return Held(origin=Found(root=_Nobody(), fields=tuple(fields.items()), once=True))


@functools.cache
def statements() -> dict[str, str]:
    """A title for each statement, and the statement."""
    found: dict[str, str] = {}
    _, declared = worlds.world([], AddRemove(key="person"), golden.LIMITS)
    with SparkEngine({"t": held(FIELDS)}, declared) as engine:
        for text, norm in itertools.product((*worlds.QUESTIONS, *worlds.UNKNOWN), golden.NORMS):
            found[f"{text}, norm {norm}"] = engine.sql(worlds.planned(text, declared, norm))
        for title, text in golden.RELATIONS.items():
            found[title] = engine.sql(worlds.planned(text, declared, 1))
    return {**found, **_scans(), **_operators()}


def _asked(fields: Mapping[str, tuple[str, str]], questions: Mapping[str, str]) -> dict[str, str]:
    described = table({name: kind for name, (_, kind) in fields.items()}, {"rows": 1}, {})
    declared = Schema(tables={"t": described}, unit=AddRemove(key="p"))
    with SparkEngine({"t": held({name: kind for name, (kind, _) in fields.items()})}, declared) as engine:
        return {
            title: engine.sql(plan(read(text, declared, evaluate), declared, 1)) for title, text in questions.items()
        }


def _scans() -> dict[str, str]:
    fields = {"p": ("BIGINT", "integer"), **{f"c{i}": each for i, each in enumerate(STORED)}}
    counted = ", ".join(f"COUNT(c{i}) AS n{i}" for i in range(len(STORED)))
    return _asked(fields, {"every type": f"SELECT {counted} FROM t"})


def _operators() -> dict[str, str]:
    return _asked(OPERANDS, {each: f"SELECT COUNT(*) AS n FROM t WHERE {each}" for each in golden.OPERATORS})


# What is kept in full, to be read.
FULL: Final = (
    f"{worlds.QUESTIONS[3]}, norm 1",
    f"{worlds.QUESTIONS[3]}, norm 2",
    f"{worlds.UNKNOWN[1]}, norm 1",
    "roll-up with every fold",
    "every type",
)


def text() -> str:
    """All statements with their titles: some in full, of the others a digest."""
    shown = {
        title: sql if title in FULL else f"sha256 {hashlib.sha256(sql.encode()).hexdigest()}"
        for title, sql in statements().items()
    }
    return "\n".join(f"-- {title}\n{sql}\n" for title, sql in shown.items())


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
