"""Q on average over outputs: divergences between the two laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from quincunx.numbers import positive_integer
from quincunx.spec import CapacityBounded, PowerDivergence, Standard
from quincunx.spec import standard as standards
from quincunx.taxonomy.choice import tex
from quincunx.taxonomy.quantification.measure import Quantification
from quincunx.taxonomy.world import World


@dataclass(frozen=True, slots=True)
class KullbackLeibler(Quantification):
    """The mean of the loss."""

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return standards.KL()

    def phrase(self) -> str:
        return "on average over outputs"

    def formula(self) -> str:
        return r"D_{\mathrm{KL}}(P\,\|\,Q) \le \varepsilon"


@dataclass(frozen=True, slots=True)
class TotalVariation(Quantification):
    """The largest difference of probabilities."""

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return standards.TV()

    def phrase(self) -> str:
        return "up to a difference of probabilities"

    def formula(self) -> str:
        return r"|P(S) - Q(S)| \le \varepsilon\ \ \forall S"


@dataclass(frozen=True, slots=True)
class Renyi(Quantification):
    """The Rényi divergence of one order α > 1."""

    alpha: Fraction = Fraction(2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", standards.Renyi(self.alpha).alpha)

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return standards.Renyi(self.alpha)

    def phrase(self) -> str:
        return f"in the moment of order {self.alpha} of the loss"

    def formula(self) -> str:
        return rf"D_{{{tex(self.alpha)}}}(P\,\|\,Q) \le \varepsilon"


@dataclass(frozen=True, slots=True)
class Divergence(Quantification):
    """An f-divergence Σ Q·f(P/Q) by name. f: as in `standard.Divergence`."""

    f: str = "chi-squared"

    def __post_init__(self) -> None:
        standards.Divergence(self.f)

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return standards.Divergence(self.f)

    def phrase(self) -> str:
        return f"in the {self.f} divergence"

    def formula(self) -> str:
        return rf"\sum Q\,f(\tfrac{{P}}{{Q}}) \le \varepsilon,\ f = \text{{{self.f}}}"


@dataclass(frozen=True, slots=True)
class Power(Quantification):
    """(Σ Q·|P/Q − 1|^k)^{1/k}."""

    k: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", positive_integer(self.k, "k"))

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return PowerDivergence(self.k)

    def phrase(self) -> str:
        return f"in the {self.k}-th mean of the relative change"

    def formula(self) -> str:
        return rf"\sum Q\,|\tfrac{{P}}{{Q}} - 1|^{{{self.k}}} \le \varepsilon^{{{self.k}}}"


@dataclass(frozen=True, slots=True)
class Capacity(Quantification):
    """An f-divergence seen through the world's functions."""

    f: str = "chi-squared"
    needs: ClassVar[tuple[str, ...]] = ("functions",)

    def standard(self, world: World) -> Standard:
        found = world.needed("functions", "a capacity-bounded adversary")
        table: Sequence[dict[str, Fraction]] = found  # type: ignore[assignment]
        return CapacityBounded(self.f, tuple(tuple(h[o] for o in world.outputs) for h in table))

    def phrase(self) -> str:
        return f"in the {self.f} divergence, seen through few functions"

    def formula(self) -> str:
        return r"\sup_{h \in H} \mathbb{E}_P h - \mathbb{E}_Q f^*(h) \le \varepsilon"
