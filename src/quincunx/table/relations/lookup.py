"""Rows with the rows of a public relation that belong to them. See lookup.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from quincunx.errors import QueryError
from quincunx.table.canonical import Json
from quincunx.table.expression import Expression
from quincunx.table.relations.join import JOINED
from quincunx.table.relations.pairing import Pairing
from quincunx.table.relations.relation import Owner
from quincunx.table.schema import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup(Pairing):
    """Each row of `left` with rows of `right`, which are public: a constant. The owner is that of the left row.

    matches: how many rows of the public side one row meets at most, counted in its content. It chooses limits, and
    proves nothing. joined: where a row may meet several, an owner with n rows has no row in it if n·matches is larger.
    """

    tag: ClassVar[str] = "Lookup"

    matches: int = 1
    joined: int = JOINED

    def __post_init__(self) -> None:
        Pairing.__post_init__(self)
        if self.right.owner is not None or self.kind == "full":
            raise QueryError("only public rows are looked up, and none is kept without a partner", where="plan")

    @property
    def owner(self) -> Owner | None:
        return self.left.owner

    @property
    def most(self) -> int | None:
        """How many rows an owner may have on the left; None where no row is met by several, so that all are kept."""
        return self.joined // self.matches if self.matches > 1 and self.owner is not None else None

    @property
    def limits(self) -> Limits:
        left, times = self.left.limits, max(1, self.matches)
        return Limits(
            rows=None if left.rows is None else left.rows * times,
            groups=None if left.groups is None else left.groups * times,
            per_group=None if left.per_group is None else left.per_group * times,
            joined=left.joined,
        )

    def limits_by(self, keys: Sequence[Expression]) -> Limits:
        """Groups by columns of the private side are that side's."""
        if self.side(keys) is not self.left:
            return self.limits
        below = self.left.limits_by(keys)
        per_group = None if below.per_group is None else below.per_group * max(1, self.matches)
        return replace(self.limits, groups=below.groups, per_group=per_group)

    def lacks(self, who: str) -> tuple[str, ...]:
        if self.most is None:
            return ()
        return (f"{who} with more than {self.most:,} rows before a join with public rows are left out of it.",)

    def _own(self) -> dict[str, Json]:
        return {} if self.most is None else {"joined": self.joined}
