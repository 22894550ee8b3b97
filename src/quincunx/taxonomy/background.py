"""B: what does the attacker know beforehand? Everything, or a prior over datasets, perhaps with a leak."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar, cast

from quincunx.errors import WorldError
from quincunx.numbers import probability
from quincunx.taxonomy.adversary import priors_of
from quincunx.taxonomy.case import Case, Law, mixture, times
from quincunx.taxonomy.choice import Choice
from quincunx.taxonomy.dataset import Kernel
from quincunx.taxonomy.neighbourhood import Distributions, Neighbourhood, said
from quincunx.taxonomy.world import World


class Background(Choice):
    """The pairs of laws between which the attacker must choose."""

    __slots__ = ()
    letter: ClassVar[str] = "B"
    # whether the attacker has a prior
    uncertain: ClassVar[bool] = True

    @abstractmethod
    def cases(self, world: World, neighbourhood: Neighbourhood, laws: Mapping[str, Law]) -> list[Case]:
        """The pairs that follow from a neighbourhood."""


@dataclass(frozen=True, slots=True)
class Full(Background):
    """The attacker knows everything but the secret."""

    default: ClassVar[bool] = True
    uncertain: ClassVar[bool] = False

    def cases(self, world: World, neighbourhood: Neighbourhood, laws: Mapping[str, Law]) -> list[Case]:
        return neighbourhood.cases(world, laws)

    def phrase(self) -> str:
        return "perfect background knowledge"

    def formula(self) -> str:
        return r"P = \mathcal{M}(D_1),\ Q = \mathcal{M}(D_2)"


@dataclass(frozen=True, slots=True)
class Noiseless(Background):
    """The data come from a prior of a family, conditioned on the secret: the associative view."""

    needs: ClassVar[tuple[str, ...]] = ("priors",)

    def cases(self, world: World, neighbourhood: Neighbourhood, laws: Mapping[str, Law]) -> list[Case]:
        priors = priors_of(world, "an attacker with a prior")
        if isinstance(neighbourhood, Distributions):
            return list(_between_priors(world, neighbourhood, laws))
        secrets = neighbourhood.secrets(world)
        found = []
        for prior, weights in priors.items():
            known: dict[frozenset[str], Law | None] = {}
            for first, a, second, b, position in secrets:
                p, q = (known.setdefault(x, _given(x, weights, laws)) if x not in known else known[x] for x in (a, b))
                if p is not None and q is not None:
                    first_, second_ = f"{first} under {prior}", f"{second} under {prior}"
                    found.append(Case(p=p, q=q, first=first_, second=second_, position=position))
        return found

    def phrase(self) -> str:
        return "only a prior over the data"

    def formula(self) -> str:
        return (
            r"P = \mathcal{M}(D)_{|D \sim \theta, \phi_1},\ Q = \mathcal{M}(D)_{|D \sim \theta, \phi_2}"
            r"\ \ \forall \theta \in \Theta"
        )


def _given(names: frozenset[str], weights: Mapping[str, Fraction], laws: Mapping[str, Law]) -> Law | None:
    kept = [x for x in sorted(names) if weights.get(x)]
    return mixture([laws[x] for x in kept], [weights[x] for x in kept]) if kept else None


def _between_priors(world: World, chosen: Distributions, laws: Mapping[str, Law]) -> Iterator[Case]:
    priors = priors_of(world, "distributions")
    pairs = cast("Mapping[tuple[str, str], Fraction]", world.needed("pairs_of_priors", "distribution privacy"))
    made = {name: _given(frozenset(w), w, laws) for name, w in priors.items()}
    for (a, b), distance in pairs.items():
        for x, y in ((a, b), (b, a)):
            p, q = made[x], made[y]
            if p is not None and q is not None:
                d = distance if chosen.metric else Fraction(1)
                yield Case(p=p, q=q, first=f"prior {x}", second=f"prior {y}", distance=d)


@dataclass(frozen=True, slots=True)
class Causal(Background):
    """The data come from a prior given one record's value; that record is changed afterwards: the causal view."""

    needs: ClassVar[tuple[str, ...]] = ("priors",)

    def cases(self, world: World, neighbourhood: Neighbourhood, laws: Mapping[str, Law]) -> list[Case]:
        found = []
        for prior, weights in priors_of(world, "an attacker with a prior").items():
            for first, a, second, b, position in neighbourhood.secrets(world):
                kept = [x for x in sorted(a) if weights.get(x)]
                if position is None or not kept:
                    continue
                record = world.datasets[min(b)][position]
                moved = [_moved(world, x, position, record) for x in kept]
                p, q = (mixture([laws[x] for x in xs], [weights[x] for x in kept]) for xs in (kept, moved))
                said_ = f"{first} changed to {second} under {prior}"
                found += [
                    Case(p=p, q=q, first=f"{first} under {prior}", second=said_, position=position),
                    Case(p=q, q=p, first=said_, second=f"{first} under {prior}", position=position),
                ]
        return found

    def phrase(self) -> str:
        return "only a prior over the data, of which one record is changed afterwards,"

    def formula(self) -> str:
        return (
            r"P = \mathcal{M}(D)_{|D \sim \theta, D(i)=t},\ Q = \mathcal{M}(D_{i \to t'})_{|D \sim \theta, D(i)=t}"
            r"\ \ \forall \theta \in \Theta, i, t, t'"
        )


def _moved(world: World, x: str, position: int, record: object) -> str:
    y = world.changed(x, position, record)  # type: ignore[arg-type]
    if y is None:
        got = f"{x} with {said(position, record)}"  # type: ignore[arg-type]
        hint = "A causal definition changes one record of any possible dataset: list them all."
        raise WorldError("the world has no such dataset", where="datasets", got=got, hint=hint)
    return y


@dataclass(frozen=True, slots=True)
class Sampled(Background):
    """Each record is kept with a probability before the mechanism runs. rate: β; None: as the world says."""

    rate: Fraction | None = None
    needs: ClassVar[tuple[str, ...]] = ("sampling",)
    uncertain: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.rate is not None:
            object.__setattr__(self, "rate", probability(self.rate, "rate"))

    def cases(self, world: World, neighbourhood: Neighbourhood, laws: Mapping[str, Law]) -> list[Case]:
        rate = self.rate if self.rate is not None else cast("Fraction", world.needed("sampling", "sampling"))
        return neighbourhood.cases(world, {x: self._sampled(world, x, rate, laws) for x in world.datasets})

    def _sampled(self, world: World, x: str, rate: Fraction, laws: Mapping[str, Law]) -> Law:
        records = world.datasets[x]
        options = [[(r, rate), (None, 1 - rate)] if r is not None else [(None, Fraction(1))] for r in records]
        parts, weights = [], []
        for chosen in product(*options):
            weight = Fraction(1)
            for _, w in chosen:
                weight *= w
            if not weight:
                continue
            name = world.name(tuple(r for r, _ in chosen))
            if name is None:
                hint = "Sampling leaves records out: list every dataset with records absent."
                raise WorldError("the world has no such dataset", where="datasets", got=f"a sample of {x}", hint=hint)
            parts.append(laws[name])
            weights.append(weight)
        return mixture(parts, weights)

    def phrase(self) -> str:
        return "no knowledge of who was sampled"

    def formula(self) -> str:
        return r"P = \mathcal{M}(\mathrm{sample}_\beta(D_1)),\ Q = \mathcal{M}(\mathrm{sample}_\beta(D_2))"


@dataclass(frozen=True, slots=True)
class PartialKnowledge(Background):
    """A prior, and something about the data that leaks beforehand. active: the attacker may choose what leaks."""

    active: bool = True
    needs: ClassVar[tuple[str, ...]] = ("priors", "background")

    def cases(self, world: World, neighbourhood: Neighbourhood, laws: Mapping[str, Law]) -> list[Case]:
        kernel = cast("Kernel", world.needed("background", "partial knowledge"))
        labels = tuple(dict.fromkeys(b for law in kernel.values() for b in law))
        found = []
        for prior, weights in priors_of(world, "partial knowledge").items():
            for first, a, second, b, position in neighbourhood.secrets(world):
                one, two = (_leaked(x, weights, kernel, labels, laws) for x in (a, b))
                if not one or not two:
                    continue
                said_ = [f"{text} under {prior}" for text in (first, second)]
                if self.active:
                    both = [label for label in labels if label in one and label in two]
                    found += [
                        Case(
                            p=one[label][1], q=two[label][1], position=position,
                            first=f"{said_[0]}, {label} leaked", second=f"{said_[1]}, {label} leaked",
                        )
                        for label in both
                    ]  # fmt: skip
                    continue
                # Definition 29 sets the loss to 0 where the leak alone decides, so that part is compared with itself.
                p = tuple(x for c in labels if c in one for x in times(*one[c]))
                q = tuple(x for c in labels if c in one for x in times(one[c][0], (two if c in two else one)[c][1]))
                names = tuple(f"{o} and {c} leaked" for c in labels if c in one for o in world.outputs)
                said_[0] += ", with what leaked"
                found.append(Case(p=p, q=q, first=said_[0], second=said_[1], position=position, labels=names))
        return found

    def phrase(self) -> str:
        return f"a prior over the data and a leak that they {'choose' if self.active else 'do not choose'}"

    def formula(self) -> str:
        base = (
            r"P = \mathcal{M}(D)_{|(D, B) \sim \theta, D(i)=t, B = \hat B},\ "
            r"Q = \mathcal{M}(D)_{|(D, B) \sim \theta, D(i)=t', B = \hat B}"
        )
        return base + (r"\ \ \forall \hat B" if self.active else r",\ \hat B \sim \theta_{|D(i)=t}")


def _leaked(
    names: frozenset[str],
    weights: Mapping[str, Fraction],
    kernel: Kernel,
    labels: tuple[str, ...],
    laws: Mapping[str, Law],
) -> dict[str, tuple[Fraction, Law]]:
    """label → its probability given the secret, and the law of the output given both."""
    kept = [x for x in sorted(names) if weights.get(x)]
    total = sum((weights[x] for x in kept), Fraction(0))
    found = {}
    for label in labels:
        chances = [weights[x] * kernel[x].get(label, Fraction(0)) for x in kept]
        mass = sum(chances, Fraction(0))
        if mass:
            found[label] = (mass / total, mixture([laws[x] for x in kept], chances))
    return found
