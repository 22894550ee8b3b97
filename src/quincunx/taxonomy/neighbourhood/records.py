"""N of one record: changed, added or removed, in part or in one direction."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from quincunx.taxonomy.dataset import Record
from quincunx.taxonomy.neighbourhood.relation import (
    Neighbourhood,
    Pair,
    Secret,
    differing,
    record_secrets,
)
from quincunx.taxonomy.world import World


class _OneRecord(Neighbourhood):
    __slots__ = ()

    @abstractmethod
    def allowed(self, before: Record | None, after: Record | None) -> bool:
        """Whether one record may change into the other."""

    def pairs(self, world: World) -> Iterator[Pair]:
        return differing(world, self.allowed)

    def secrets(self, world: World) -> list[Secret]:
        return record_secrets(world, self.allowed)


@dataclass(frozen=True, slots=True)
class OneRecord(_OneRecord):
    """One record is changed, added or removed: bounded and unbounded at once, the survey's own."""

    default: ClassVar[bool] = True

    def allowed(self, before: Record | None, after: Record | None) -> bool:  # noqa: ARG002
        return True

    def secrets(self, world: World) -> list[Secret]:
        # The survey quantifies over values t, t' of a record; absence is not a value.
        return record_secrets(world, lambda a, b: a is not None and b is not None)

    def phrase(self) -> str:
        return "anything about an individual"


@dataclass(frozen=True, slots=True)
class Bounded(_OneRecord):
    """One record is replaced by another."""

    def allowed(self, before: Record | None, after: Record | None) -> bool:
        return before is not None and after is not None

    def phrase(self) -> str:
        return "the value of an individual's record"


@dataclass(frozen=True, slots=True)
class Unbounded(_OneRecord):
    """One record is added or removed."""

    def allowed(self, before: Record | None, after: Record | None) -> bool:
        return (before is None) != (after is None)

    def phrase(self) -> str:
        return "the presence of an individual"


@dataclass(frozen=True, slots=True)
class Attribute(_OneRecord):
    """One attribute of one record is changed; records are lists of attributes."""

    def allowed(self, before: Record | None, after: Record | None) -> bool:
        both = isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after)
        return both and sum(a != b for a, b in zip(before, after, strict=True)) == 1  # type: ignore[arg-type]

    def phrase(self) -> str:
        return "one attribute of an individual"


@dataclass(frozen=True, slots=True)
class Bit(_OneRecord):
    """One bit of one attribute of one record is changed; attributes are texts of 0 and 1."""

    def allowed(self, before: Record | None, after: Record | None) -> bool:
        if before is None or after is None:
            return False
        one, two = (r if isinstance(r, tuple) else (r,) for r in (before, after))
        if [len(a) for a in one] != [len(b) for b in two]:
            return False
        a, b = "".join(one), "".join(two)
        return set(a + b) <= set("01") and sum(c != d for c, d in zip(a, b, strict=True)) == 1

    def phrase(self) -> str:
        return "one bit of an individual's record"


@dataclass(frozen=True, slots=True)
class OneSided(Neighbourhood):
    """A sensitive record is replaced by any other; only in that direction."""

    needs: ClassVar[tuple[str, ...]] = ("sensitive",)

    def pairs(self, world: World) -> Iterator[Pair]:
        marked = cast("frozenset[Record]", world.needed("sensitive", "a one-sided definition"))
        return differing(world, lambda a, b: a in marked and b is not None)

    def secrets(self, world: World) -> list[Secret]:
        marked = cast("frozenset[Record]", world.needed("sensitive", "a one-sided definition"))
        return record_secrets(world, lambda a, b: a in marked and b is not None)

    def phrase(self) -> str:
        return "that a sensitive record was there rather than another"


@dataclass(frozen=True, slots=True)
class Asymmetric(Neighbourhood):
    """A sensitive record is removed; only in that direction."""

    needs: ClassVar[tuple[str, ...]] = ("sensitive",)

    def pairs(self, world: World) -> Iterator[Pair]:
        marked = cast("frozenset[Record]", world.needed("sensitive", "an asymmetric definition"))
        return differing(world, lambda a, b: a in marked and b is None)

    def phrase(self) -> str:
        return "the presence of a sensitive record"


@dataclass(frozen=True, slots=True)
class Blowfish(Neighbourhood):
    """Possible datasets (all, where the world lists none) that differ in one record along an edge of the policy."""

    needs: ClassVar[tuple[str, ...]] = ("policy",)

    def _joined(self, world: World) -> set[tuple[Record, Record]]:
        edges = cast("Sequence[tuple[Record, Record]]", world.needed("policy", "blowfish privacy"))
        return {*edges, *((b, a) for a, b in edges)}

    def pairs(self, world: World) -> Iterator[Pair]:
        edges, allowed = self._joined(world), world.possible or frozenset(world.datasets)
        return (pair for pair in differing(world, lambda a, b: (a, b) in edges) if {*pair[:2]} <= allowed)

    def secrets(self, world: World) -> list[Secret]:
        edges = self._joined(world)
        return record_secrets(world, lambda a, b: (a, b) in edges)

    def phrase(self) -> str:
        return "which of two values that a policy joins an individual has"
