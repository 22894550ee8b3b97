"""N: which change is protected? Ordered pairs of datasets, and the secrets that an uncertain attacker asks about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import ClassVar, TypeAlias, cast

from quincunx.errors import SpecificationError
from quincunx.numbers import positive, positive_integer
from quincunx.taxonomy.case import Case, Law
from quincunx.taxonomy.choice import Choice
from quincunx.taxonomy.world import Record, World

# two datasets, the position in which they differ (None: several), how far apart they count as
Pair: TypeAlias = tuple[str, str, int | None, Fraction]
# what is assumed in each, the datasets that fit, the position
Secret: TypeAlias = tuple[str, frozenset[str], str, frozenset[str], int | None]
_ONE = Fraction(1)


class Neighbourhood(Choice):
    """Pairs of datasets that must look alike."""

    __slots__ = ()
    letter: ClassVar[str] = "N"

    def pairs(self, world: World) -> Iterator[Pair]:
        """The ordered pairs."""
        raise NotImplementedError

    def cases(self, world: World, laws: Mapping[str, Law]) -> list[Case]:
        """The laws of each pair."""
        return [
            Case(p=laws[x], q=laws[y], first=f"dataset {x}", second=f"dataset {y}", x=x, y=y, position=i, distance=d)
            for x, y, i, d in self.pairs(world)
        ]

    def secrets(self, world: World) -> list[Secret]:
        """Pairs of predicates for an attacker who does not know the rest of the data."""
        del world
        hint = "Choose Bounded, Unbounded, FreeLunch, Listed or Secrets for an attacker with a prior."
        what = f"the neighbourhood {self.name!r} names no secrets about uncertain data"
        raise SpecificationError(what, where="neighbourhood", hint=hint)

    def formula(self) -> str:
        return rf"\forall (D_1, D_2): \text{{{self.phrase()}}}"


def differing(world: World, allowed: Callable[[Record | None, Record | None], bool]) -> Iterator[Pair]:
    """Pairs that differ in one protected position, where `allowed(before, after)`."""
    values = [{records[i] for records in world.datasets.values()} for i in range(world.people)]
    for x, records in world.datasets.items():
        for i in world.protected:
            for record in sorted(values[i], key=lambda r: (r is None, str(r))):
                if record != records[i] and allowed(records[i], record):
                    y = world.changed(x, i, record)
                    if y is not None:
                        yield x, y, i, _ONE


def record_secrets(world: World, allowed: Callable[[Record | None, Record | None], bool]) -> list[Secret]:
    """D(i) = t against D(i) = t', for every protected position."""
    found: list[Secret] = []
    for i in world.protected:
        groups: dict[Record | None, set[str]] = {}
        for x, records in world.datasets.items():
            groups.setdefault(records[i], set()).add(x)
        for t, u in permutations(sorted(groups, key=lambda r: (r is None, str(r))), 2):
            if allowed(t, u):
                found.append((said(i, t), frozenset(groups[t]), said(i, u), frozenset(groups[u]), i))
    return found


def said(position: int, record: Record | None) -> str:
    """A fact about one record, for people."""
    text = ", ".join(record) if isinstance(record, tuple) else record
    return f"record {position} absent" if record is None else f"record {position} = {text}"


class _OneRecord(Neighbourhood):
    __slots__ = ()

    def allowed(self, before: Record | None, after: Record | None) -> bool:
        raise NotImplementedError

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


def _by_difference(world: World, allowed: Callable[[tuple[int, ...]], bool]) -> Iterator[Pair]:
    for x, y in permutations(world.datasets, 2):
        places = differences(world, x, y)
        if allowed(places):
            yield x, y, places[0] if len(places) == 1 else None, _ONE


def differences(world: World, x: str, y: str) -> tuple[int, ...]:
    """The positions in which two datasets differ."""
    pairs = zip(world.datasets[x], world.datasets[y], strict=True)
    return tuple(i for i, (a, b) in enumerate(pairs) if a != b)


@dataclass(frozen=True, slots=True)
class Client(Neighbourhood):
    """All records of one person change, appear or disappear."""

    needs: ClassVar[tuple[str, ...]] = ("persons",)

    def pairs(self, world: World) -> Iterator[Pair]:
        owners = cast("Sequence[tuple[str, str]]", world.needed("persons", "client-level protection"))
        return _by_difference(world, lambda places: len({owners[i][0] for i in places}) == 1)

    def phrase(self) -> str:
        return "anything about all the records of a person"


@dataclass(frozen=True, slots=True)
class Element(Neighbourhood):
    """All records of one element of one person change, appear or disappear."""

    needs: ClassVar[tuple[str, ...]] = ("persons",)

    def pairs(self, world: World) -> Iterator[Pair]:
        owners = cast("Sequence[tuple[str, str]]", world.needed("persons", "element-level protection"))
        return _by_difference(world, lambda places: len({owners[i] for i in places}) == 1)

    def phrase(self) -> str:
        return "anything about one element of a person"


@dataclass(frozen=True, slots=True)
class Group(Neighbourhood):
    """At most c records differ. size: c."""

    size: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", positive_integer(self.size, "size"))

    def pairs(self, world: World) -> Iterator[Pair]:
        return _by_difference(world, lambda places: len(places) <= self.size)

    def phrase(self) -> str:
        return f"anything about a group of {self.size}"


@dataclass(frozen=True, slots=True)
class Dependent(Neighbourhood):
    """One record is replaced, and with it at most c − 1 others that depend on it. size: c."""

    size: int = 2
    needs: ClassVar[tuple[str, ...]] = ("dependence",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", positive_integer(self.size, "size"))

    def pairs(self, world: World) -> Iterator[Pair]:
        follows = cast("Mapping[int, frozenset[int]]", world.needed("dependence", "dependent protection"))
        for x, y, place, distance in _by_difference(world, lambda places: len(places) <= self.size):
            places = differences(world, x, y)
            both = all(world.datasets[z][i] is not None for z in (x, y) for i in places)
            if both and any(set(places) - {i} <= follows.get(i, frozenset()) for i in places):
                yield x, y, place, distance

    def phrase(self) -> str:
        return f"the value of an individual's record and of up to {self.size - 1} that depend on it"


@dataclass(frozen=True, slots=True)
class FreeLunch(Neighbourhood):
    """Any two datasets."""

    def pairs(self, world: World) -> Iterator[Pair]:
        return _by_difference(world, bool)

    def secrets(self, world: World) -> list[Secret]:
        return [
            (f"dataset {x}", frozenset({x}), f"dataset {y}", frozenset({y}), None) for x, y, _, _ in self.pairs(world)
        ]

    def phrase(self) -> str:
        return "anything at all about the data"


@dataclass(frozen=True, slots=True)
class Individual(Neighbourhood):
    """One dataset and those that differ from it in one record."""

    needs: ClassVar[tuple[str, ...]] = ("dataset",)

    def pairs(self, world: World) -> Iterator[Pair]:
        centre = world.needed("dataset", "individual protection")
        return (pair for pair in OneRecord().pairs(world) if centre in pair[:2])

    def phrase(self) -> str:
        return "anything about an individual of one dataset"


@dataclass(frozen=True, slots=True)
class PerInstance(Neighbourhood):
    """One dataset and the one without one of its records."""

    needs: ClassVar[tuple[str, ...]] = ("dataset", "position")

    def pairs(self, world: World) -> Iterator[Pair]:
        centre, place = world.needed("dataset", "per-instance protection"), world.needed("position", "it")
        found = Unbounded().pairs(world)
        return (pair for pair in found if centre in pair[:2] and pair[2] == place)

    def phrase(self) -> str:
        return "the presence of one individual in one dataset"


@dataclass(frozen=True, slots=True)
class Listed(Neighbourhood):
    """The pairs of datasets that the world lists, in both directions."""

    needs: ClassVar[tuple[str, ...]] = ("neighbours",)

    def pairs(self, world: World) -> Iterator[Pair]:
        found = cast("Sequence[tuple[str, str]]", world.needed("neighbours", "a generic relation"))
        for x, y in dict.fromkeys([*found, *((y, x) for x, y in found)]):
            places = differences(world, x, y)
            yield x, y, places[0] if len(places) == 1 else None, _ONE

    def secrets(self, world: World) -> list[Secret]:
        return [
            (f"dataset {x}", frozenset({x}), f"dataset {y}", frozenset({y}), None) for x, y, _, _ in self.pairs(world)
        ]

    def phrase(self) -> str:
        return "anything in a stated relation"


@dataclass(frozen=True, slots=True)
class Constrained(Neighbourhood):
    """Datasets within a distance. radius: Δ. common: only possible datasets that share a record (distributional)."""

    radius: Fraction = Fraction(1)
    common: bool = False
    needs: ClassVar[tuple[str, ...]] = ("distance",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive(self.radius, "radius"))

    def pairs(self, world: World) -> Iterator[Pair]:
        far = cast("Mapping[tuple[str, str], Fraction]", world.needed("distance", "a constrained definition"))
        allowed = world.needed("possible", "distributional privacy") if self.common else None
        for x, y, place, _ in _by_difference(world, bool):
            if (x, y) not in far or far[x, y] > self.radius:
                continue
            if allowed is not None:
                shared = set(world.datasets[x]) & set(world.datasets[y]) - {None}
                if not {x, y} <= cast("frozenset[str]", allowed) or not shared:
                    continue
            yield x, y, place, _ONE

    def phrase(self) -> str:
        rest = " among possible datasets with a record in common" if self.common else ""
        return f"anything within a distance of {self.radius}{rest}"


@dataclass(frozen=True, slots=True)
class SensitivityInduced(Neighbourhood):
    """Datasets whose statistic differs by at most its sensitivity, the most that one record changes it."""

    needs: ClassVar[tuple[str, ...]] = ("statistic",)

    def pairs(self, world: World) -> Iterator[Pair]:
        f = cast("Mapping[str, Fraction]", world.needed("statistic", "a sensitivity-induced relation"))
        reach = max((abs(f[x] - f[y]) for x, y, _, _ in OneRecord().pairs(world)), default=Fraction(0))
        return (pair for pair in _by_difference(world, bool) if abs(f[pair[0]] - f[pair[1]]) <= reach)

    def phrase(self) -> str:
        return "anything that moves a statistic by no more than one record can"


@dataclass(frozen=True, slots=True)
class Induced(Neighbourhood):
    """Possible datasets with no possible dataset between them: no proper part of the changes leads to one."""

    needs: ClassVar[tuple[str, ...]] = ("possible",)

    def pairs(self, world: World) -> Iterator[Pair]:
        allowed = sorted(cast("frozenset[str]", world.needed("possible", "induced neighbours")))
        moves = {(x, y): self._moves(world, x, y) for x in allowed for y in allowed if x != y}
        for (x, y), change in moves.items():
            if not any(moves[x, z] < change for z in allowed if z not in (x, y)):
                yield x, y, next(iter(change))[0] if len(change) == 1 else None, _ONE

    def _moves(self, world: World, x: str, y: str) -> frozenset[tuple[int, Record | None]]:
        return frozenset((i, world.datasets[y][i]) for i in differences(world, x, y))

    def phrase(self) -> str:
        return "the smallest changes that public constraints allow"


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


@dataclass(frozen=True, slots=True)
class Metric(Neighbourhood):
    """All pairs at a finite distance, each with its distance."""

    needs: ClassVar[tuple[str, ...]] = ("distance",)

    def pairs(self, world: World) -> Iterator[Pair]:
        far = cast("Mapping[tuple[str, str], Fraction]", world.needed("distance", "a metric definition"))
        for x, y, place, _ in _by_difference(world, bool):
            if (x, y) in far:
                yield x, y, place, far[x, y]

    def phrase(self) -> str:
        return "anything about the data, in proportion to a distance"


@dataclass(frozen=True, slots=True)
class Secrets(Neighbourhood):
    """The pairs of predicates that the world lists; an attacker needs a prior."""

    needs: ClassVar[tuple[str, ...]] = ("secrets",)

    def pairs(self, world: World) -> Iterator[Pair]:
        del world
        hint = "Choose background=Noiseless()."
        raise SpecificationError("predicates compare laws only under a prior", where="neighbourhood", hint=hint)

    def secrets(self, world: World) -> list[Secret]:
        found = cast("Iterable[tuple[frozenset[str], frozenset[str]]]", world.needed("secrets", "pufferfish privacy"))
        both = [pair for a, b in found for pair in ((a, b), (b, a))]
        return [(f"one of {_few(a)}", a, f"one of {_few(b)}", b, None) for a, b in both]

    def phrase(self) -> str:
        return "stated secrets"


def _few(names: frozenset[str]) -> str:
    some = sorted(names)
    return ", ".join(some[:3]) + (f" and {len(some) - 3} more" if len(some) > 3 else "")


@dataclass(frozen=True, slots=True)
class Distributions(Neighbourhood):
    """The pairs of priors that the world lists, with their distances where `metric`."""

    metric: bool = False
    needs: ClassVar[tuple[str, ...]] = ("priors", "pairs_of_priors")

    def pairs(self, world: World) -> Iterator[Pair]:
        del world
        hint = "Choose background=Noiseless()."
        raise SpecificationError("priors are compared only by an uncertain attacker", where="neighbourhood", hint=hint)

    def phrase(self) -> str:
        rest = ", in proportion to a distance" if self.metric else ""
        return f"from which of two distributions the data come{rest}"


@dataclass(frozen=True, slots=True)
class PrivateValue(Neighbourhood):
    """The private function of each pair (agg, priv) of the world; for coupled worlds."""

    needs: ClassVar[tuple[str, ...]] = ("coupled",)

    def pairs(self, world: World) -> Iterator[Pair]:
        del world
        hint = "Choose relativisation=CoupledWorlds()."
        raise SpecificationError("private values are compared by a simulator", where="neighbourhood", hint=hint)

    def phrase(self) -> str:
        return "stated private values"
