"""A space: worlds, and which of them are neighbours. What neighbour replay draws from."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable
from copy import deepcopy
from fractions import Fraction
from types import UnionType
from typing import Any, Generic, TypeVar

from quincunx.audit.spaces.literal import literal
from quincunx.errors import ParameterError, kind_of

W = TypeVar("W")


class Space(ABC, Generic[W]):
    """Worlds of type W with neighbours. Three methods make one: `draw`, `neighbour` and `smaller`.

    Worlds are generated and public. They come from a `random.Random`, which is no noise and protects nobody.
    """

    __slots__ = ()

    @abstractmethod
    def draw(self, source: random.Random) -> W:
        """A world; hard ones (empty, enormous, equal records, extreme values) as often as ordinary ones."""

    @abstractmethod
    def neighbour(self, world: W, source: random.Random) -> W:
        """A world at distance 1 from this one."""

    def smaller(self, before: W, after: W) -> Iterable[tuple[W, W]]:  # noqa: ARG002 - nothing is smaller by default
        """Pairs of neighbours that are smaller or simpler than this pair, the largest steps first.

        Following it must end: no pair may be reached again from one of its own smaller pairs.
        """
        return ()

    def given(self, world: W) -> Any:
        """What the statistic is called with: a fresh object, so that a statistic may change what it is given."""
        return deepcopy(world)

    def kind(self, before: W, after: W) -> str:  # noqa: ARG002 - one kind by default
        """What sort of pair this is, for the report."""
        return "pair"

    def same(self, before: W, after: W) -> bool:
        """Whether the two worlds are one: such a pair compares a world with itself and counts for nothing."""
        return literal(self.given(before)) == literal(self.given(after))

    def listed(self) -> Iterable[tuple[W, W, Fraction]] | None:
        """Every pair of neighbours with its distance, where there are few enough to try them all; None otherwise."""
        return None

    def words(self) -> str:
        """The space in a few words, for the report."""
        return type(self).__name__


def expect(value: object, kind: type | UnionType, *, where: str, hint: str) -> None:
    """A ParameterError where a value is not of the kind that is written in the signature."""
    if not isinstance(value, kind):
        raise ParameterError("a parameter is of a wrong kind", where=where, got=kind_of(value), hint=hint)
