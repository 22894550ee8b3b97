"""What every aggregate answers about itself: how it is read, measured, published and described.

Nothing outside this folder asks which aggregate it was given. A new one is a file, a note, a test, and its name in
`__init__.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import ClassVar, Self

from sqlglot import exp

from quincunx.table import canonical
from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.estimate import Estimate, Expected, Numbers, Part
from quincunx.table.aggregates.term import Lattice, Term
from quincunx.table.canonical import Json
from quincunx.table.expression import Expression
from quincunx.table.interval import Bounds
from quincunx.table.typing.facts import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate(ABC):
    """One statistic for each group, to be noised. where: the condition of FILTER.

    kind: names it in ledgers, for ever. noun: what it is called in a sentence. nodes: what the parser makes of its
    calls, with the parts that are understood; names: as people write it; synonyms: names that the parser does not know,
    and what they stand for. forms: how generated questions ask for it. roles: what each of its measures is to it, empty
    for one that is the statistic itself. linear: whether it is such a one, published as it was measured. counts:
    whether its argument, if there is one, matters only by being NULL or not. climbs: whether its bound may be a rung
    that is chosen when it is asked.
    """

    tag: ClassVar[str] = "Aggregate"
    kind: ClassVar[str]
    noun: ClassVar[str]
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]]
    names: ClassVar[tuple[str, ...]]
    synonyms: ClassVar[Mapping[str, type[exp.Expr]]] = {}
    forms: ClassVar[tuple[Form, ...]]
    roles: ClassVar[tuple[str, ...]] = ("",)
    linear: ClassVar[bool] = False
    counts: ClassVar[bool] = False
    climbs: ClassVar[bool] = False

    argument: Expression | None = None
    where: Expression | None = None

    @classmethod
    @abstractmethod
    def read(cls, call: Call) -> Self | None:
        """The aggregate that a call of one of its nodes asks for; None where the call means another one."""

    @classmethod
    def title(cls, node: exp.Expr, words: str) -> str:  # noqa: ARG003 - some are named by what they count
        """The name of an output that was given none, as DuckDB names it; words: as it was written."""
        function, _, rest = words.partition("(")
        return f"{function.strip().lower()}({rest}"

    @classmethod
    def listed(cls, node: exp.Expr) -> list[tuple[exp.Expr, str, str]]:  # noqa: ARG003 - few are
        """The calls for which one with a list stands, each with its function and what tells it apart; else nothing."""
        return []

    @abstractmethod
    def result(self) -> Facts:
        """Type and step of what is published; noise has no bounds, and what is published is never NULL."""

    def without_interval(self) -> Self:
        """The same without an interval, where that costs something; most intervals follow from the noise alone."""
        return self

    @abstractmethod
    def terms(self) -> tuple[Term, ...]:
        """What is measured, in the order of `roles`."""

    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """What a report of measures calls each of them, in the order of `roles`."""

    @abstractmethod
    def bounds(self, lattices: Sequence[Lattice]) -> Bounds:
        """Proved bounds of the bounded statistic, before noise."""

    @abstractmethod
    def estimate(self, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Estimate:
        """What is published, with an interval that covers the bounded statistic but for `risk`, group by group."""

    @abstractmethod
    def expected(self, parts: Sequence[Part], risk: Fraction, rows: int) -> Expected:
        """How far it will be off; where that depends on the data, in a group of so many rows, and that is said."""

    def over(self, other: Aggregate) -> Bounds:  # noqa: ARG002 - most know nothing
        """Proved bounds of the bounded statistic divided by another, where that is not 0."""
        return None, None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Everything that is computed from a row: arguments, and the condition of FILTER."""
        found = (getattr(self, each.name) for each in fields(self))
        return tuple(each for each in found if isinstance(each, Expression))

    def rewrite(self, change: Callable[[Expression], Expression]) -> Self:
        """The same aggregate with `change` applied to each of its expressions."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(self, **{name: change(each) for name, each in found.items() if isinstance(each, Expression)})

    def canonical(self) -> Json:
        """What names it in a ledger."""
        argument, where = canonical.part(self.argument), canonical.part(self.where)
        return canonical.node(self.tag, kind=self.kind, argument=argument, where=where)
