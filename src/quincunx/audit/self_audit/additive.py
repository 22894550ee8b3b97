"""Additive noise in the catalogue: Laplace, discrete Laplace, Gaussian and discrete Gaussian."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from quincunx.audit.self_audit.entry import Entry, in_bulk
from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace

ROOM: Final = "additive noise"
EPSILONS: Final = ("0.1", "0.5", "1", "2")
_NEXT: Final = "values one sensitivity apart"
_BOTH: Final = "two values that move together, as far as the sensitivity allows"


def entries() -> Iterator[Entry]:
    """Every law at several strengths, steps, sensitivities and dimensions."""
    yield from _laplace()
    yield from _gaussian()


def _laplace() -> Iterator[Entry]:
    for epsilon in EPSILONS:
        scale = 1 / Fraction(epsilon)
        yield _pure("Laplace", f"ε = {epsilon}", Laplace(scale=scale), (0, 1), epsilon)
        yield _pure("DiscreteLaplace", f"ε = {epsilon}", DiscreteLaplace(scale=scale), (0, 1), epsilon)
    # A fine lattice: the law is nearly continuous. Values count steps.
    fine = Laplace(scale=1, step="0.01")
    yield _pure("Laplace", "ε = 1, fine", fine, (0, 100), "1")
    far = Laplace(scale=6, sensitivity=3, step="0.5")
    yield _pure("Laplace", "ε = 0.5, Δ = 3", far, (-2, 4), "0.5")
    three = DiscreteLaplace(scale=3, sensitivity=3)
    yield _pure("DiscreteLaplace", "ε = 1, Δ = 3", three, (5, 2), "1")
    steps = DiscreteLaplace(scale=1, sensitivity="0.5", step="0.125")
    yield _pure("DiscreteLaplace", "ε = 0.5, fine", steps, (0, 4), "0.5")
    vector = DiscreteLaplace(scale=2, sensitivity=2)
    yield _pure("DiscreteLaplace", "ε = 1, two coordinates", vector, ((0, 0), (1, 1)), "1", words=_BOTH)
    yield Entry(
        name="DiscreteLaplace, δ(ε)",
        room=ROOM,
        covers=("DiscreteLaplace",),
        pair=(0, 1),
        words=_NEXT,
        claim=DiscreteLaplace(scale=1).loss,
        tight=True,
        draw=in_bulk(DiscreteLaplace(scale=1)),
    )


def _gaussian() -> Iterator[Entry]:
    one, sharp = Gaussian(sigma=1), Gaussian(sigma=1, step="0.01")
    yield _entry("Gaussian", "μ = 1, fine", sharp, (0, 100), "mu=1", tight=True)
    yield _entry("Gaussian", "ρ = 1/2", one, (0, 1), "rho=0.5", why=_ORDER)
    yield _entry("Gaussian", "δ(ε), fine", sharp, (0, 100), sharp.loss, tight=True)
    rounded = "Rounding to whole numbers is post-processing, which hides a part of the continuous law's loss."
    yield _entry("Gaussian", "δ(ε), σ = 2", Gaussian(sigma=2), (0, 1), Gaussian(sigma=2).loss, why=rounded)
    plane = Gaussian(sigma2=2, sensitivity2=2)
    yield _entry("Gaussian", "μ = 1, two coordinates", plane, ((0, 0), (1, 1)), "mu=1", words=_BOTH, why=rounded)
    discrete = DiscreteGaussian(sigma=1)
    yield _entry("DiscreteGaussian", "ρ = 1/2", discrete, (0, 1), "rho=0.5", why=_ORDER)
    yield _entry("DiscreteGaussian", "δ(ε), σ = 1", discrete, (0, 1), discrete.loss, tight=True)
    wide = DiscreteGaussian(sigma=10, sensitivity=7, coordinates=1)
    yield _entry("DiscreteGaussian", "δ(ε), Δ = 7", wide, (0, 7), wide.loss, tight=True)
    plane2 = DiscreteGaussian(sigma2=4, sensitivity2=2)
    known = "In several coordinates it is known by ρ alone."
    yield _entry(
        "DiscreteGaussian", "ρ = 1/4, two coordinates", plane2, ((0, 0), (1, 1)), plane2.loss, words=_BOTH, why=known
    )


_ORDER: Final = "ρ is a supremum over all orders α, which one event does not reach."


def _pure(
    kind: str,
    rest: str,
    mechanism: Laplace | DiscreteLaplace,
    pair: tuple[object, object],
    epsilon: str,
    words: str = _NEXT,
) -> Entry:
    return _entry(kind, rest, mechanism, pair, f"epsilon={epsilon}", tight=True, words=words)


def _entry(
    kind: str,
    rest: str,
    mechanism: Laplace | DiscreteLaplace | Gaussian | DiscreteGaussian,
    pair: tuple[object, object],
    claim: object,
    *,
    tight: bool = False,
    words: str = _NEXT,
    why: str = "",
) -> Entry:
    return Entry(
        name=f"{kind}, {rest}",
        room=ROOM,
        covers=(kind,),
        pair=pair,
        words=words,
        claim=claim,  # type: ignore[arg-type]
        tight=tight,
        draw=in_bulk(mechanism),
        why=why,
    )
