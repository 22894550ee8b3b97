"""What every unit answers: which change of a dataset is protected, and how others compute with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import ClassVar, TypeAlias

from quincunx.errors import SpecificationError
from quincunx.spec.domain import Domain

# two datasets and their distance
Pair: TypeAlias = tuple[Hashable, Hashable, Fraction]


class Unit(ABC):
    """A premetric on datasets. `moves_between_parts`: whether one step can take a person from one part of a
    partition of the records to another, which decides how parallel composition is charged."""

    __slots__ = ()
    kind: ClassVar[str]
    moves_between_parts: ClassVar[bool]
    is_metric: ClassVar[bool] = False
    # the distance from x to x' need not be that from x' to x: only the law at x is bounded by the law at x'
    directed: ClassVar[bool] = False
    # the bound of a pair is its own: nothing follows from it along a path, so any standard may be stated
    by_pair: ClassVar[bool] = False
    # one step touches the records of one person, so at most two parts of a partition of the people see it
    one_person: ClassVar[bool] = False
    # every step leaves as many people as there were, so that their number is public
    keeps_number: ClassVar[bool] = False

    @property
    def computed(self) -> bool:
        """Whether distances can be computed; not where a function was lost on the way through JSON."""
        return True

    @abstractmethod
    def check(self, domain: Domain) -> None:
        """Raise SpecificationError if the unit does not fit the domain."""

    @abstractmethod
    def distance(self, x: Hashable, x_prime: Hashable, domain: Domain) -> Fraction | float:
        """d_𝒳(x, x'): 0, 1 or inf (metrics: any non-negative rational or inf)."""

    @abstractmethod
    def protected_pairs(self, datasets: Sequence[Hashable], domain: Domain) -> Iterator[Pair]:
        """Every unordered pair of different datasets at finite distance, with the distance; every ordered pair where
        the unit is directed."""

    @abstractmethod
    def times(self, k: int) -> Unit:
        """The unit whose distance 1 is at most k steps of this one."""

    def steps_to(self, other: Unit) -> int | None:
        """How many steps of this unit always reach one step of `other`, through any datasets; None if not known."""
        return 1 if self == other else None

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """The block in JSON."""

    @abstractmethod
    def words(self) -> str:
        """The block in plain English."""

    @abstractmethod
    def hidden(self) -> str:
        """What cannot be told from the release, as the end of "one cannot tell whether …"."""

    @abstractmethod
    def unpromised(self) -> str:
        """What this unit leaves less protected, as the end of "it does not …"."""

    def latex(self) -> str:
        """The condition on x and x' under which the standard's inequality holds, in LaTeX."""
        return r"d_{\mathcal{X}}(x, x') = 1"


def near(unit: Unit, pairs: Iterable[tuple[Hashable, Hashable]], domain: Domain) -> Iterator[Pair]:
    """Those of some pairs of different datasets that are at a finite distance, with it."""
    for x, x_prime in pairs:
        distance = unit.distance(x, x_prime, domain)
        if isinstance(distance, Fraction) and distance > 0:
            yield x, x_prime, distance


def no_group(unit: Unit, k: int) -> SpecificationError:
    """What a unit says whose steps do not add up to a larger unit."""
    hint = "State the pairs that you need with unit.Neighbours."
    where = type(unit).__name__
    return SpecificationError("several changes of this kind have no unit", where=where, got=f"k = {k}", hint=hint)
