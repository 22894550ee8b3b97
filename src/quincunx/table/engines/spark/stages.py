"""Those over the limit, found first and written down: few of them are sent to every worker. A choice of speed.

How many there are decides how they are joined, and how many rows there are, whether the rows of a person are brought
together before they are counted; nothing else. Neither way can fail where the other does not, because a set that is too
large to be sent is not sent. See spark.md.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from quincunx.table.engines.spark.cluster import room
from quincunx.table.engines.spark.dialect import SPARK, joined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# So many bytes are sent to every worker at most: a million people with a weight, who take below a hundred each, and
# fewer where they are named by long texts.
MOST: Final = 100_000_000
_PERSON: Final = 100
# Who has too many rows or groups, and who of them is over the limit, with a weight.
_COUNTED, _WEIGHED = "over", "heavy"
# What is taken for the rows of a person and the bytes of a row, where nobody has counted.
_ROWS, _BYTES = 16, 16
# Rows that are counted together, where those of a person are; and up to how many parts Spark shuffles without sorting.
_PART, _UNSORTED = 2**20, 200
# Whole numbers are counted in arrays of at most 2^20 different ones; others as Spark always does.
_ARRAYS: Final = {
    "spark.sql.codegen.aggregate.map.vectorized.enable": "true",
    "spark.sql.codegen.aggregate.map.twolevel.partialOnly": "false",
}
# What groups besides GROUP BY.
_GROUPING: Final = (exp.Distinct, exp.SetOperation, exp.Window)
_CAPACITY: Final = "spark.sql.codegen.aggregate.fastHashMap.capacityBit"
_MOST_BITS, _FEWEST_BITS = 20, 10


class Stages:
    """What is sent to answer a question, each statement written once: which one follows depends on how many are found.

    few: of the relations that were found first, in order, whether there were few in each.
    """

    def __init__(self, tree: exp.Select) -> None:
        self._tree = tree.copy()
        order = self._tree.args.get("order")
        if order is not None and [each.this.name for each in order.expressions] == ["g"]:
            # Public groups are put in their places by number, so that Spark need not sort them.
            self._tree.set("order", None)
        self._known: dict[tuple[bool, ...], Relation | str] = {}

    @cached_property
    def alone(self) -> str:
        """The one statement that answers it from a small table."""
        return SPARK.written(self._tree)

    def after(self, few: tuple[bool, ...]) -> Relation | str:
        """The relation that is found next, or the statement that answers the question."""
        if few not in self._known:
            steps = _steps(self._tree.copy())
            try:
                name, select = next(steps)
                for each in few:
                    name, select = steps.send(each)
                self._known[few] = Relation(name=name, select=select, sql=SPARK.written(select))
            except StopIteration as end:
                self._known[few] = SPARK.written(end.value)
        return self._known[few]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """People over the limit, who are found first: a statement as a tree and as text."""

    name: str
    select: exp.Select
    sql: str


def staged(session: SparkSession, stages: Stages, folder: Path, sizes: Mapping[str, int]) -> str:
    """The statement that answers a question, about views of those over the limit. sizes: bytes of tables, by view."""
    rows = cache(lambda: sum(session.table(name).count() for name in sizes))
    # Some clusters have it chosen for them, and say "auto".
    said = session.conf.get("spark.sql.shuffle.partitions") or ""
    parts = partial(_parts, sum(sizes.values()), rows, max(_UNSORTED, int(said) if said.isdecimal() else 0))
    few: tuple[bool, ...] = ()
    while isinstance(next_ := stages.after(few), Relation):
        few = (*few, _sent(_written(session, next_, folder, parts)) <= MOST)
    return next_


def understood(session: SparkSession, stages: Stages) -> None:
    """Let Spark analyse all that `staged` could send, and raise where it is not understood; nothing is run."""
    for each in (True, False):
        few: tuple[bool, ...] = ()
        while isinstance(next_ := stages.after(few), Relation):
            if next_.name.startswith(_COUNTED):
                session.sql(SPARK.written(gathered(next_.select, next_.name, 2))).createOrReplaceTempView(next_.name)
            session.sql(next_.sql).createOrReplaceTempView(next_.name)
            few = (*few, each)
        session.sql(next_)


def _steps(left: exp.Select) -> Generator[tuple[str, exp.Select], bool, exp.Select]:
    """The relations that are found first, each with its name, told whether there are few; then what is left."""
    few: dict[str, bool] = {}
    for relation in [each for each in left.ctes if each.alias.startswith((_COUNTED, _WEIGHED))]:
        name = relation.alias
        above = next((each for each in _below(left, name) if each in few), None)
        if above is not None and few[above]:
            # A row for each of those who were counted, at most: it stays where it is.
            few[name] = True
        else:
            few[name] = yield name, _upto(left, name)
            relation.pop()
        for select in list(left.find_all(exp.Select)) if few[name] else ():
            if name in joined(select):
                select.hint(f"BROADCAST({name})", dialect=SPARK.name, copy=False)
    return left


def _written(session: SparkSession, relation: Relation, folder: Path, parts: Callable[[int], int]) -> DataFrame:
    """A relation, written down: a view of its name."""
    name, frame = relation.name, session.sql(relation.sql)
    bits = _arrays(session, relation.select, frame)
    many = parts(0 if bits is None else 1 << bits) if name.startswith(_COUNTED) else 1
    if many > 1:
        frame = session.sql(SPARK.written(gathered(relation.select, name, many)))
    place = (folder / name).as_uri()
    with _counting(session, bits):
        frame.write.parquet(place)
    found = session.read.schema(frame.schema).parquet(place)
    found.createOrReplaceTempView(name)
    return found


def _sent(frame: DataFrame) -> int:
    """The bytes that the rows of a frame take, or more, where they are sent."""
    texts = [f"OCTET_LENGTH({name})" for name, kind in frame.dtypes if kind == "string"]
    bytes_ = " + ".join([str(_PERSON), *texts])
    return int(frame.selectExpr(f"COALESCE(SUM(CAST({bytes_} AS BIGINT)), 0)").collect()[0][0])


def _parts(size: int, rows: Callable[[], int], most: int, held: int) -> int:
    """Into how many parts rows are brought together by person before they are counted; 1: they are not.

    What tasks count of the same people must be added up in the end. Where arrays hold all people, that is little; where
    they do not, it is nearly as much as the rows. size: bytes of all tables. held: how many people the arrays hold.
    """
    if size <= held * _ROWS * _BYTES or rows() <= held * _ROWS:
        return 1
    return min(most, -(-rows() // _PART))


def gathered(select: exp.Select, name: str, parts: int) -> exp.Select:
    """The same rows of a relation that groups by person, and perhaps is made of one that does: each person's together.

    They are brought together below the lowest of these, so that none of them has to do it again.
    """
    found = select.copy()
    made = {each.alias: each.this for each in found.ctes}
    lowest = made[name]
    while not lowest.args.get("group"):
        # Who is over the limit is chosen among those who were counted.
        lowest = made[lowest.args["from_"].this.name]
    people = [each.name for each in lowest.args["group"].expressions]
    while _groups(below := made.get(lowest.args["from_"].this.name), people):
        lowest = below
    rows, how = lowest.args["from_"].this, f"REPARTITION({parts}, {', '.join(people)})"
    rows.replace(exp.select("*").from_(rows.copy()).hint(how, dialect=SPARK.name).subquery(rows.name))
    return found


def _groups(relation: exp.Expression | None, people: Sequence[str]) -> bool:
    """Whether a relation groups rows by person, and perhaps by more."""
    if not isinstance(relation, exp.Select) or not any(relation.args.get(each) for each in ("group", "distinct")):
        return False
    return {each.name for each in relation.selects if isinstance(each, exp.Column)}.issuperset(people)


def _arrays(session: SparkSession, select: exp.Select, frame: DataFrame) -> int | None:
    """How many people, as a power of two, are counted in arrays: whole numbers only, and where nothing else is grouped.

    Texts would fill the arrays by their lengths: those of people, or of what they have.
    """
    alone = len(list(select.find_all(exp.Group))) == 1 and not any(select.find_all(*_GROUPING))
    whole = all(kind == "bigint" for _, kind in frame.dtypes)
    people = select.find(exp.Group)
    return capacity(room(session.conf.get), len(people.expressions)) if people and alone and whole else None


@contextmanager
def _counting(session: SparkSession, bits: int | None) -> Iterator[None]:
    """In the block up to 2^bits people are counted in arrays; None: as Spark always does."""
    wanted = {} if bits is None else {**_ARRAYS, _CAPACITY: str(bits)}
    before = {name: session.conf.get(name) for name in wanted}
    try:
        for name, value in wanted.items():
            session.conf.set(name, value)
        yield
    finally:
        for name, kept in before.items():
            session.conf.set(name, kept or "")


def capacity(heap: int, owners: int) -> int:
    """How many different people, as a power of two, a task's arrays hold: they take at most an eighth of its heap."""
    # Nine bytes for each column that says who it is and for what is counted, and two places of four.
    each = 9 * (owners + 1) + 8
    return max(_FEWEST_BITS, min(_MOST_BITS, (heap // 8 // each).bit_length() - 1))


def _below(tree: exp.Select, name: str) -> Iterator[str]:
    """The relations from which one is made, down to the rows or to a union, by their names."""
    made = {each.alias: each.this for each in tree.ctes}
    while isinstance(select := made.get(name), exp.Select):
        of = select.args.get("from_")
        if of is None or not isinstance(of.this, exp.Table):
            return
        yield from joined(select)
        name = of.this.name
        yield name


def _upto(tree: exp.Select, name: str) -> exp.Select:
    """All rows of one relation, with those that stand before it."""
    found = exp.select("*").from_(name)
    for each in tree.ctes:
        found = found.with_(each.alias, as_=each.this.copy(), copy=False)
        if each.alias == name:
            break
    return found
