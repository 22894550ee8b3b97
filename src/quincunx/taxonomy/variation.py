"""V: does the loss vary across inputs? One number for all, or one for each part of them."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, cast

from quincunx.errors import SpecificationError, WorldError
from quincunx.numbers import positive_integer, probability
from quincunx.taxonomy.answer import Answer
from quincunx.taxonomy.case import Case, grouped
from quincunx.taxonomy.choice import Choice
from quincunx.taxonomy.quantification import Quantification, one_number
from quincunx.taxonomy.value import Value, above
from quincunx.taxonomy.world import World


class Variation(Choice):
    """How the measures of all cases become an answer."""

    __slots__ = ()
    letter: ClassVar[str] = "V"
    # whether it needs pairs of datasets, rather than of mixtures
    concrete: ClassVar[bool] = True

    @abstractmethod
    def answer(self, quantification: Quantification, cases: Sequence[Case], world: World) -> Answer:
        """The answer over all cases."""


@dataclass(frozen=True, slots=True)
class Uniform(Variation):
    """One number for everybody."""

    default: ClassVar[bool] = True
    concrete: ClassVar[bool] = False

    def answer(self, quantification: Quantification, cases: Sequence[Case], world: World) -> Answer:
        return quantification.answer(cases, world)

    def phrase(self) -> str:
        return "uniformly across users"

    def formula(self) -> str:
        return ""


def by_group(
    quantification: Quantification, cases: Sequence[Case], world: World, key: Callable[[Case], Hashable], shape: str
) -> Answer:
    """One number for each group of cases, with the witness of the largest."""
    standard, symbol = quantification.standard(world), quantification.symbol
    entries: dict[Hashable, Value] = {}
    witness, best = None, None
    for name, some in grouped(cases, key).items():
        found = one_number(standard, some, world, symbol)
        entries[name] = found.values[symbol]
        if best is None or above(entries[name], best):
            best, witness = entries[name], found.witness
    return Answer(shape=shape, symbol=symbol, entries=entries, witness=witness, compared=len(cases))


@dataclass(frozen=True, slots=True)
class Personalised(Variation):
    """One number for each position."""

    def answer(self, quantification: Quantification, cases: Sequence[Case], world: World) -> Answer:
        return by_group(quantification, _single(cases), world, lambda case: f"record {case.position}", "vector")

    def phrase(self) -> str:
        return "to a degree that each user chooses"

    def formula(self) -> str:
        return r"\varepsilon = \Psi(i)"


def _single(cases: Sequence[Case]) -> list[Case]:
    """The cases that differ in one record; none at all is an error."""
    found = [case for case in cases if case.position is not None]
    if not found:
        hint = "Choose a neighbourhood in which one record changes."
        raise SpecificationError("no pair differs in exactly one record", where="variation", hint=hint)
    return found


@dataclass(frozen=True, slots=True)
class Tailored(Variation):
    """One number for each record in each dataset."""

    def answer(self, quantification: Quantification, cases: Sequence[Case], world: World) -> Answer:
        return by_group(quantification, _single(cases), world, lambda case: _tailored(case, world), "matrix")

    def phrase(self) -> str:
        return "to a degree that depends on the record and the dataset"

    def formula(self) -> str:
        return r"\varepsilon = \Psi(D(i), D)"


def _larger(case: Case, world: World) -> tuple[str, int]:
    """The dataset of a pair in which the record is present (the first, if in both), and the position."""
    x, y, i = cast("str", case.x), cast("str", case.y), cast("int", case.position)
    return (x if world.datasets[x][i] is not None else y), i


def _tailored(case: Case, world: World) -> Hashable:
    x, i = _larger(case, world)
    return (f"record {i}", f"of {x}")


@dataclass(frozen=True, slots=True)
class InputDiscriminative(Variation):
    """One number for each pair of inputs."""

    def answer(self, quantification: Quantification, cases: Sequence[Case], world: World) -> Answer:
        return by_group(quantification, cases, world, lambda case: tuple(sorted((str(case.x), str(case.y)))), "matrix")

    def phrase(self) -> str:
        return "to a degree that depends on both inputs"

    def formula(self) -> str:
        return r"\varepsilon = \min(\varepsilon_{D_1}, \varepsilon_{D_2})"


@dataclass(frozen=True, slots=True)
class Outlier(Variation):
    """One number for each level of outlierness: how many records of the dataset are equal to the one that changes."""

    def answer(self, quantification: Quantification, cases: Sequence[Case], world: World) -> Answer:
        def level(case: Case) -> Hashable:
            x, i = _larger(case, world)
            return f"{Counter(world.datasets[x])[world.datasets[x][i]]} alike"

        return by_group(quantification, _single(cases), world, level, "vector")

    def phrase(self) -> str:
        return "to a degree that depends on how unusual a user is"

    def formula(self) -> str:
        return r"\varepsilon = \varepsilon(\mathrm{outlierness}(D(i), D))"


@dataclass(frozen=True, slots=True)
class Pareto(Variation):
    """Only people with few records count. most: r, the most records of a person of low frequency. share: p, the
    smallest share of the people who must be such."""

    most: int = 1
    share: Fraction = Fraction(0)
    needs: ClassVar[tuple[str, ...]] = ("persons",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "most", positive_integer(self.most, "most"))
        object.__setattr__(self, "share", probability(self.share, "share"))

    def answer(self, quantification: Quantification, cases: Sequence[Case], world: World) -> Answer:
        owners = [p for p, _ in cast("Sequence[tuple[str, str]]", world.needed("persons", "Pareto DP"))]
        low = {person for person, count in Counter(owners).items() if count <= self.most}
        if Fraction(len(low), len(set(owners))) < self.share:
            got = f"{len(low)} of {len(set(owners))}"
            raise WorldError(
                "too few people have few records", where="persons", got=got, hint="Lower share or raise most."
            )
        kept = [case for case in _single(cases) if owners[cast("int", case.position)] in low]
        return quantification.answer(kept, world)

    def phrase(self) -> str:
        return "across users with few records"

    def formula(self) -> str:
        return r"i \text{ of low frequency}"


@dataclass(frozen=True, slots=True)
class Proportional(Variation):
    """The loss may grow in proportion to the distance of the inputs; the number is per unit of distance."""

    concrete: ClassVar[bool] = False

    def answer(self, quantification: Quantification, cases: Sequence[Case], world: World) -> Answer:
        return quantification.answer(cases, world)

    def phrase(self) -> str:
        return "in proportion to how far apart the inputs are"

    def formula(self) -> str:
        return r"\varepsilon \cdot d(D_1, D_2) \text{ in place of } \varepsilon"


def levels_hold(entries: Mapping[Hashable, Value], levels: Mapping[str, Fraction]) -> bool | None:
    """Whether each entry is at most its level; a pair of inputs has the smaller of both levels."""
    found: list[bool | None] = []
    for key, value in entries.items():
        names = key if isinstance(key, tuple) else (str(key).removeprefix("record "),)
        stated = [levels[str(n)] for n in names if str(n) in levels]
        if not stated:
            got = ", ".join(map(str, names))
            raise WorldError(
                "no level is stated", where="levels", got=got, hint="State one for each entry of the answer."
            )
        found.append(value.within(min(stated)))
    return False if False in found else None if None in found else True
