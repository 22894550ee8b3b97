"""What every scope answers: a collection of universes, each a set of datasets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import ClassVar, TypeAlias

from quincunx.errors import SpecificationError
from quincunx.spec.domain import Domain, Finite

Universe: TypeAlias = tuple[str, tuple[Hashable, ...]]


class Scope(ABC):
    """A collection of universes. Universes are named by texts, for reports and for intensities per universe."""

    __slots__ = ()
    kind: ClassVar[str]

    def check(self, domain: Domain) -> None:  # noqa: B027 - most scopes fit every domain
        """Raise SpecificationError if the scope does not fit the domain."""

    def enumerable(self, domain: Domain) -> bool:
        """Whether `universes` can list the universes on this domain."""
        return isinstance(domain, Finite)

    def universes(self, domain: Domain) -> list[Universe]:
        """(name, datasets) of every universe; finite domains only."""
        if not isinstance(domain, Finite):
            hint = "Universes can be listed on a Finite domain only; describe the scope in words instead."
            got = type(domain).__name__
            raise SpecificationError("the universes of this domain cannot be listed", where="scope", got=got, hint=hint)
        return self._universes(domain)

    @abstractmethod
    def _universes(self, domain: Finite) -> list[Universe]:
        """(name, datasets) of every universe."""

    def covers(self, other: Scope) -> bool:
        """Whether every universe of `other` certainly lies inside a universe of this scope, on any domain."""
        return self == other

    def misfit(self, other: Scope) -> str:
        """Which pairs of datasets `other` compares and this scope does not, as the end of "it compares …"; empty where
        `covers` is true."""
        return "" if self.covers(other) else "datasets that are not compared here"

    def join(self, other: Scope) -> Scope:
        """The scope in which a guarantee stated here and one stated in `other` both hold: every universe of it lies in
        a universe of each. Raises SpecificationError where none can be written down."""
        if self.covers(other):
            return other
        return self if other.covers(self) else self._joined(other)

    def _joined(self, other: Scope) -> Scope:
        hint = "State both guarantees in scopes of invariants, or one of them for everything."
        got = f"{type(self).__name__} and {type(other).__name__}"
        raise SpecificationError("no scope is known in which both hold", where="join", got=got, hint=hint)

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """The block in JSON."""

    @abstractmethod
    def words(self) -> str:
        """The block in plain English."""

    def unpromised(self) -> str:
        """What this scope leaves unprotected, as the end of "it does not …"; empty if nothing."""
        return ""

    @abstractmethod
    def latex(self) -> str:
        """The block in LaTeX."""
