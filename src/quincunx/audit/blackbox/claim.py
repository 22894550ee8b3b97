"""What is said of a mechanism at two neighbouring inputs, and when two certain probabilities contradict it.

An event S that has probability at least p under one input and at most q under the other, q < p, is a two-point world:
every standard of the library says what the smallest intensity of that world is. A claim below it is refuted. See
challenge.md.
"""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from quincunx.audit.blackbox.outputs import Floats
from quincunx.audit.blackbox.score import scores
from quincunx.errors import ParameterError, kind_of
from quincunx.loss import Loss
from quincunx.numbers import Ball, Exact, Log, Number, ball, float_above, float_below, float_near, precision, stated
from quincunx.spec import KL, TV, ZCDP, Approximate, GaussianDP, Pure, Renyi, Specification, Standard
from quincunx.spec import intensity as intensities

_PRECISION: Final = 256
_WHERE: Final = "claim"
_HINT: Final = 'Write "epsilon=1", "epsilon=1, delta=1e-6", "rho=0.5", "rho=0.5, delta=1e-9" or "mu=1".'
_GREEK: Final = {"ε": "epsilon", "δ": "delta", "ρ": "rho", "μ": "mu", "µ": "mu", "α": "alpha"}
# The names that are typed → the standard; the first name is the intensity.
_FORMS: Final[dict[tuple[str, ...], Callable[..., Standard]]] = {
    ("epsilon",): Pure,
    ("epsilon", "delta"): Approximate,
    ("epsilon", "alpha"): Renyi,
    ("rho",): ZCDP,
    ("rho", "delta"): ZCDP,
    ("mu",): GaussianDP,
    ("kl",): KL,
    ("tv",): TV,
}
# How many points of δ(ε) are asked of a whole loss, beside its trade-off function.
_LINES: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A claim held against an event of probability at least p and at most q.

    bound: what the claim's parameter certainly reaches. stated: what the claim says it is at most. tightness: the first
    as a part of the second. contradicted: whether the claim is false if the two probabilities are right.
    """

    bound: float
    stated: float
    tightness: float
    contradicted: bool


class Claim(ABC):
    """A guarantee that is to be tested. Make one with `parse`, `of`, `of_loss` or `of_specification`."""

    __slots__ = ()

    @property
    @abstractmethod
    def text(self) -> str:
        """The claim with its symbols: "ε = 1, δ = 1/1000000"."""

    @property
    @abstractmethod
    def parameter(self) -> str:
        """What `bound` and `stated` measure: "ε", "ρ", "μ", …, or "power"."""

    @abstractmethod
    def weigh(self, p_low: float, q_high: float) -> Weighed:
        """The claim against an event with P(S) ≥ p_low and P'(S) ≤ q_high. Certified: see challenge.md."""

    @abstractmethod
    def scores(self, p: Floats, q: Floats) -> Floats:
        """How promising such events are, 0 < q < p < 1; for choosing events alone, in floating point."""

    def __str__(self) -> str:
        return self.text

    @staticmethod
    def parse(text: object) -> Claim:
        """The claim that a person types: "epsilon=1", "epsilon=ln(3)", "rho=0.5, delta=1e-9", "mu=1"."""
        if not isinstance(text, str):
            raise ParameterError("expected a text", where=_WHERE, got=kind_of(text), hint=_HINT)
        given = _pairs(text)
        for names, standard in _FORMS.items():
            if given.keys() == set(names):
                values = {name: intensities.number(value, name) for name, value in given.items()}
                return Claim.of(standard(*(values[name] for name in names[1:])), values[names[0]])
        raise ParameterError("these parameters do not state a guarantee together", where=_WHERE, got=text, hint=_HINT)

    @staticmethod
    def of(standard: Standard, intensity: Number | Log) -> Claim:
        """A standard at an intensity, in its own parameter."""
        given: object = standard
        if not isinstance(given, Standard):
            hint = "Take one from quincunx.spec.standard."
            raise ParameterError("expected a standard", where=_WHERE, got=kind_of(given), hint=hint)
        number = intensities.number(intensity)
        standard.check(number)
        return StandardClaim(standard=standard, intensity=number)

    @staticmethod
    def of_loss(loss: Loss) -> Claim:
        """A whole loss: its trade-off function, which is every (ε, δ) that it states."""
        given: object = loss
        if not isinstance(given, Loss):
            raise ParameterError("expected a Loss", where=_WHERE, got=kind_of(given))
        return LossClaim(loss=loss, lines=_lines(loss))

    @staticmethod
    def of_specification(specification: Specification, universe: str | None = None) -> Claim:
        """The standard and intensity of a specification, for two inputs at distance 1 in one of its universes."""
        if specification.unit.directed:
            hint = "State it with a unit that is symmetric."
            got = type(specification.unit).__name__
            raise ParameterError("a claim about two inputs has both directions", where=_WHERE, got=got, hint=hint)
        stated = dict(specification.by_universe)
        if universe is None and len(set(stated.values())) == 1:
            return Claim.of(specification.standard, next(iter(stated.values())))
        if universe is None or universe not in stated:
            hint = "Name one of: " + ", ".join(sorted(stated)[:10]) + "."
            got = "none" if universe is None else repr(universe)
            raise ParameterError("say in which universe the two inputs lie", where="universe", got=got, hint=hint)
        return Claim.of(specification.standard, stated[universe])

    @staticmethod
    def read(claim: Claim | Loss | Specification | str) -> Claim:
        """Any of the forms above: a Claim, a text, a Loss or a Specification."""
        readers: tuple[tuple[type, Callable[..., Claim]], ...] = (
            (Claim, lambda given: given),
            (Loss, Claim.of_loss),
            (Specification, Claim.of_specification),
        )
        return next((reader for kind, reader in readers if isinstance(claim, kind)), Claim.parse)(claim)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardClaim(Claim):
    """`standard` holds at `intensity`, in the standard's own parameter."""

    standard: Standard
    intensity: Exact

    @property
    def text(self) -> str:
        """The claim with its symbols."""
        return stated(self.standard.symbol, self.intensity) + self.standard.parameter_text

    @property
    def parameter(self) -> str:
        """The standard's symbol."""
        return self.standard.symbol

    def weigh(self, p_low: float, q_high: float) -> Weighed:
        """The smallest intensity of the two-point world against the stated one."""
        with precision(_PRECISION):
            found, stated = least(self.standard, p_low, q_high), ball(self.intensity)
            bound = max(0.0, float_below(found))
            share = bound / float_near(stated) if stated > 0 else (math.inf if bound > 0 else 1.0)
            return Weighed(bound=bound, stated=float_above(stated), tightness=share, contradicted=bool(found > stated))

    def scores(self, p: Floats, q: Floats) -> Floats:
        """About the intensities of the two-point worlds."""
        return scores(self.standard, p, q)


def least(standard: Standard, p_low: float, q_high: float) -> Ball:
    """A ball whose every number is at most the intensity of any two laws with P(S) ≥ p_low and P'(S) ≤ q_high."""
    if not q_high < p_low:
        return Ball(0)
    p, q = Fraction(p_low), Fraction(q_high)
    return standard.least_of_event(p, q)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossClaim(Claim):
    """All that `loss` states. `lines`: some (ε, δ) that it states, exactly."""

    loss: Loss
    lines: tuple[tuple[Fraction, Fraction], ...]

    @property
    def text(self) -> str:
        """The laws of the loss."""
        laws = " + ".join(f"{count} × {law!r}" if count > 1 else repr(law) for law, count in self.loss.terms)
        return f"the trade-off function of {laws or 'nothing'}"

    @property
    def parameter(self) -> str:
        """The power of a test whose false-alarm rate is at most q."""
        return "power"

    def weigh(self, p_low: float, q_high: float) -> Weighed:
        """The power p_low against the largest that the loss allows at the false-alarm rate q_high."""
        if not q_high < p_low:
            # Guessing reaches this much: it says nothing.
            return Weighed(bound=0.0, stated=1.0, tightness=0.0, contradicted=False)
        stated = self._allowed(q_high)
        share = (p_low - q_high) / (stated - q_high) if stated > q_high else math.inf
        return Weighed(bound=p_low, stated=stated, tightness=share, contradicted=p_low > stated)

    def _allowed(self, level: float) -> float:
        """The largest power at `level`, not rounded down: by the trade-off function and by each line of δ(ε)."""
        tried = [float_above(1 - Fraction(self.loss.tradeoff(Fraction(level))))]
        with precision(_PRECISION):
            for epsilon, delta in self.lines:
                growth, q, d = ball(epsilon).exp(), ball(level), ball(delta)
                tried += [float_above(growth * q + d), float_above(1 - (1 - d - q) / growth)]
        return min(tried)

    def scores(self, p: Floats, q: Floats) -> Floats:
        """The advantage p − q as a part of what the lines allow at q."""
        epsilon, delta = (np.array(each, dtype=np.float64)[:, None] for each in zip(*self.lines, strict=True))
        roof = np.minimum(np.exp(epsilon) * q + delta, 1 - np.exp(-epsilon) * (1 - delta - q)).min(axis=0)
        return np.asarray((p - q) / np.maximum(np.minimum(roof, 1.0) - q, 1e-300))


def _lines(loss: Loss) -> tuple[tuple[Fraction, Fraction], ...]:
    beyond = loss.stated_delta()
    # Where nothing is stated with δ₀ alone, a little more than δ₀ ends the curve.
    deltas = [beyond, *(beyond + (1 - beyond) / 10**digits for digits in (9, 6, 3))]
    top = Fraction(next((each for each in map(loss.epsilon, deltas) if math.isfinite(each)), 10.0))
    epsilons = [top * i / _LINES for i in range(_LINES + 1)]
    return tuple((epsilon, Fraction(min(1.0, loss.delta(epsilon)))) for epsilon in epsilons)


def _pairs(text: str) -> dict[str, str]:
    known = sorted({name for names in _FORMS for name in names})
    found: dict[str, str] = {}
    for part in text.split(","):
        typed, equals, value = (each.strip() for each in part.partition("="))
        name = _GREEK.get(typed, typed.lower())
        if not equals or not typed or not value:
            raise ParameterError("a claim is a parameter, = and a number", where=_WHERE, got=repr(part), hint=_HINT)
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"Did you mean {near[0]}? {_HINT}" if near else _HINT
            raise ParameterError("unknown parameter", where=_WHERE, got=repr(typed), hint=hint)
        if name in found:
            raise ParameterError(f"{name} is stated twice", where=_WHERE, got=text, hint=_HINT)
        found[name] = value
    return found
