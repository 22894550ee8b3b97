"""C: how much can the attacker compute? Without limit, or in polynomial time: then no finite world decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quincunx.taxonomy.choice import Choice


class Computation(Choice):
    """The attacker's power. undecided: why no finite world decides; empty where one does."""

    __slots__ = ()
    letter: ClassVar[str] = "C"
    undecided: ClassVar[str] = ""


_FAMILY = (
    "it speaks of a family of mechanisms over a security parameter and of all polynomial-time machines: "
    "no finite world has a truth value"
)


@dataclass(frozen=True, slots=True)
class Unlimited(Computation):
    """Unlimited."""

    default: ClassVar[bool] = True

    def phrase(self) -> str:
        return "unbounded computation power"

    def formula(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class PolynomialDistinguisher(Computation):
    """A polynomial-time machine tells the outputs apart (IND)."""

    undecided: ClassVar[str] = _FAMILY

    def phrase(self) -> str:
        return "polynomial computation power"

    def formula(self) -> str:
        return r"S = \{\Omega = 1\},\ \Omega \text{ polynomial},\ + \mathrm{neg}(\kappa)"


@dataclass(frozen=True, slots=True)
class LooksPrivate(Computation):
    """No polynomial-time machine tells the mechanism from one that satisfies the definition (SIM)."""

    undecided: ClassVar[str] = _FAMILY

    def phrase(self) -> str:
        return "polynomial computation power, too little to tell the mechanism from a private one,"

    def formula(self) -> str:
        return r"\exists \mathcal{M}' : \mathcal{M} \approx_\Omega \mathcal{M}' \text{ up to } \mathrm{neg}(\kappa)"


@dataclass(frozen=True, slots=True)
class PolynomialSimulator(Computation):
    """The simulator is a polynomial-time machine; with an unlimited one it is the definition without this choice."""

    undecided: ClassVar[str] = _FAMILY

    def phrase(self) -> str:
        return "polynomial computation power against a polynomial simulator"

    def formula(self) -> str:
        return r"\mathrm{Sim} \text{ polynomial}"


@dataclass(frozen=True, slots=True)
class TwoParties(Computation):
    """Two parties compute a protocol, each polynomial, with parameters of its own. linkage: the output is which records
    match, and only others are protected."""

    linkage: bool = False
    undecided: ClassVar[str] = _FAMILY + "; each party's view alone can be checked as a generic (ε, δ) definition"

    def phrase(self) -> str:
        return f"polynomial computation power as a party to {'record linkage' if self.linkage else 'a protocol'}"

    def formula(self) -> str:
        return r"\text{views of } A \text{ and } B,\ \Omega \text{ polynomial}"
