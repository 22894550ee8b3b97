"""Rows of two private relations, paired within each owner. See join.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from quincunx.errors import QueryError
from quincunx.table.canonical import Json
from quincunx.table.expression import Column, Expression
from quincunx.table.operators import apply
from quincunx.table.relations.pairing import Pairing
from quincunx.table.relations.relation import Component, Owner
from quincunx.table.schema import Limits

# How many pairs of one owner's rows a join looks at where nothing is declared.
JOINED: Final = 2**20
# So many names of one column, and so many orders of columns, are known to show whose a row is: further ones only
# license nothing.
_NAMES: Final = 8
_ORDERS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Join(Pairing):
    """Pairs of rows that have the same owner, whatever the condition says. Rows of others never meet.

    joined: an owner with n rows on the left and m on the right has no row in it if n·m is larger.
    """

    tag: ClassVar[str] = "Join"

    joined: int = JOINED
    # Worked out here, once: of joins of joins it would be asked for at every level anew.
    _owner: Owner | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Pairing.__post_init__(self)
        left, right = self.left.owner, self.right.owner
        if left is None or right is None or not left.components:
            raise QueryError("a join of private rows needs an owner on both sides", where="plan")
        if [each.column.type for each in left.components] != [each.column.type for each in right.components]:
            raise QueryError("the owners of the two sides are of different types", where="plan")
        pairs = zip(left.components, right.components, strict=True)
        found = tuple(replace(one, licensed=self._licensed(one, other)) for one, other in pairs)
        object.__setattr__(self, "_owner", Owner(components=found))

    @property
    def owner(self) -> Owner | None:
        return self._owner

    def _licensed(self, one: Component, other: Component) -> frozenset[Expression]:
        """inner: what equals the owner on either side. left: on the left. full: the first of both that is there."""
        if self.kind != "full":
            return one.licensed | other.licensed if self.kind == "inner" else one.licensed
        shown: dict[Expression, list[Column]] = {}
        for own, each in self.supplied:
            shown.setdefault(self.base(each), []).append(own)
        left, right = (_first(_lifted(part.licensed, shown)) for part in (one, other))
        return frozenset(_first(apply("coalesce", *each) for x in left for y in right for each in ((x, y), (y, x))))

    @property
    def limits(self) -> Limits:
        left, right = self.left.limits, self.right.limits
        n, m = most(left), most(right)
        rows = None if n is None or m is None else min(n * m, self.joined)
        if rows is not None and n is not None and m is not None and self.kind == "full":
            rows = max(rows, n + m)
        joined = [each.joined for each in (left, right) if each.joined is not None]
        # Of both sides, and of the rows without a partner, where a side may lack one.
        one, two = _groups(left), _groups(right)
        lacking = {"inner": (0, 0), "left": (0, 1), "full": (1, 1)}[self.kind]
        groups = None if one is None or two is None else (one + lacking[0]) * (two + lacking[1])
        return Limits(rows=rows, groups=groups, joined=min(joined, default=None))

    def limits_by(self, keys: Sequence[Expression]) -> Limits:
        """Groups by columns of one side are that side's: each of its groups has its rows with all those beside them."""
        side, found = self.side(keys), self.limits
        if side is None or self.kind == "full" or (self.kind == "left" and side is self.right):
            return found
        below, other = side.limits_by(keys), most((self.right if side is self.left else self.left).limits)
        per_group = None if below.per_group is None or other is None else below.per_group * max(1, other)
        return replace(found, groups=below.groups, per_group=per_group)

    def lacks(self, who: str) -> tuple[str, ...]:
        return (f"{who} with more than {self.joined:,} pairs of rows in a join are left out of it.",)

    def _own(self) -> dict[str, Json]:
        return {"joined": self.joined}


def _first(expressions: Iterable[Expression]) -> list[Expression]:
    """The first of these, as their tables are written: one after another they would double with every join."""
    found = sorted(expressions, key=lambda each: [(one.scan, one.level, one.name) for one in each.columns()])
    return list(dict.fromkeys(found))[:_ORDERS]


def _lifted(licensed: Iterable[Expression], shown: Mapping[Expression, Sequence[Column]]) -> Iterator[Expression]:
    """The same of the columns that show it, or what it is made of, under the first of their names."""
    for each in licensed:
        yield from shown.get(each, ())[:_NAMES]
        columns = dict.fromkeys(each.columns())
        if each not in shown and all(column in shown for column in columns):
            yield each.rewrite(lambda node: shown[node][0] if isinstance(node, Column) else node)


def most(limits: Limits) -> int | None:
    """How many rows of one unit limits allow; None where they bound none."""
    found = [] if limits.rows is None else [limits.rows]
    if limits.groups is not None and limits.per_group is not None:
        found.append(limits.groups * limits.per_group)
    return min(found, default=None)


def _groups(limits: Limits) -> int | None:
    """In how many groups one unit may be: in no more than it has rows."""
    return min((each for each in (limits.groups, most(limits)) if each is not None), default=None)


def allowed(*limits: Limits) -> int:
    """The largest number of pairs that all of these allow."""
    return min((each.joined for each in limits if each.joined is not None), default=JOINED)
