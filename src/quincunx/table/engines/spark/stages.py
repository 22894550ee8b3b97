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
    few: dict[str, bool] = {}
    for relation in [each for each in left.ctes if each.alias.startswith(_PEOPLE)]:
        name, above = relation.alias, _alone(relation.this)
        if above in few:
            # A row for each of those that were counted, at most: it stays where it is.
            few[name] = few[above]
        else:
            place = (folder / name).as_uri()
            session.sql(SPARK.written(_upto(left, name))).write.parquet(place)
            found = session.read.parquet(place)
            found.createOrReplaceTempView(name)
            relation.pop()
            few[name] = found.count() <= MOST
        for select in list(left.find_all(exp.Select)) if few[name] else ():
            if name in joined(select):
                select.hint(f"BROADCAST({name})", dialect=SPARK.name, copy=False)
    return left


def _alone(select: exp.Expression) -> str:
    """The one relation from which a SELECT takes rows, by its name; "" where there may be several."""
    of = select.args.get("from_")
    several = any(select.args.get(each) for each in ("joins", "laterals"))
    return of.this.name if of is not None and isinstance(of.this, exp.Table) and not several else ""


def _upto(tree: exp.Select, name: str) -> exp.Select:
    """All rows of one relation, with those that stand before it."""
    found = exp.select("*").from_(name)
    for each in tree.ctes:
        found = found.with_(each.alias, as_=each.this.copy(), copy=False)
        if each.alias == name:
            break
    return found
