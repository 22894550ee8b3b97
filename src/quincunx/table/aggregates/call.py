"""How an aggregate meets SQL: the call as it stands in a question, and the forms in which questions are generated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from sqlglot import exp

from quincunx.errors import QueryError, RefusalError
from quincunx.spec import AddRemove, Replace
from quincunx.table.expression import Expression


class Call(Protocol):
    """A call of an aggregate while it is read. Errors that it makes show their place in the question."""

    @property
    def node(self) -> exp.Expr:
        """The call, as the parser gives it, without its FILTER."""
        ...

    @property
    def where(self) -> Expression | None:
        """The condition of FILTER."""
        ...

    @property
    def unit(self) -> AddRemove | Replace:
        """The unit of protection."""
        ...

    def row(self, node: exp.Expr) -> Expression:
        """An expression of one row."""
        ...

    def test(self, node: exp.Expr) -> Expression:
        """A condition on one row."""
        ...

    def is_key(self, expression: Expression) -> bool:
        """Whether it is the column from which the unit's key is read, under whatever name."""
        ...

    def written(self, node: exp.Expr) -> str:
        """The node as it was asked, for hints."""
        ...

    def refusal(self, node: exp.Expr, what: str, *, hint: str) -> RefusalError:
        """A refusal for privacy's sake, at a node."""
        ...

    def mistake(self, node: exp.Expr, what: str, *, got: str, hint: str) -> QueryError:
        """A mistake in the question, at a node."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One way to ask for an aggregate. name: as reports call it. written: SQL, {} in the place of the argument.

    needs: what the argument is; "bounded": a number with proved bounds, "key": the column that says whose a row is.
    depth: how deep generated arguments are. often: how much more often it is generated than others.
    """

    name: str
    written: str
    needs: Literal["nothing", "number", "bounded", "key"]
    depth: int = 2
    often: int = 1
