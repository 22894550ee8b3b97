"""Those over the limit, found first and written down: few of them are sent to every worker. A choice of speed.

How many there are decides how they are joined, and nothing else: neither way can fail where the other does not, because
a set that is too large to be sent is not sent.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from quincunx.table.engines.spark.dialect import SPARK, joined

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A person with a weight takes below a hundred bytes.
MOST: Final = 1_000_000
# Who has too many rows or groups, and who of them is over the limit, with a weight.
_PEOPLE: Final = ("over", "heavy")


def staged(session: SparkSession, tree: exp.Select, folder: Path) -> exp.Select:
    """The statement with views in place of the relations of people over the limit."""
    left = tree.copy()
    for name in [each.alias for each in left.ctes if each.alias.startswith(_PEOPLE)]:
        place = (folder / name).as_uri()
        session.sql(SPARK.written(_upto(left, name))).write.parquet(place)
        found = session.read.parquet(place)
        found.createOrReplaceTempView(name)
        for each in left.ctes:
            if each.alias == name:
                each.pop()
        if found.count() <= MOST:
            for select in list(left.find_all(exp.Select)):
                if name in joined(select):
                    select.hint(f"BROADCAST({name})", dialect=SPARK.name, copy=False)
    return left


def _upto(tree: exp.Select, name: str) -> exp.Select:
    """All rows of one relation, with those that stand before it."""
    found = exp.select("*").from_(name)
    for each in tree.ctes:
        found = found.with_(each.alias, as_=each.this.copy(), copy=False)
        if each.alias == name:
            break
    return found
