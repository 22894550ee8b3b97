"""What every standard answers, and the parts that all of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Final, Literal

from quincunx.errors import ParameterError, kind_of
from quincunx.numbers import Ball, Exact, Log, amount, delta_parameter, positive_integer, precision
from quincunx.spec.divergence import Number, checked
from quincunx.spec.implication import RULES, Intensity
from quincunx.spec.measure import EQUAL, Found, Least, worse
from quincunx.spec.wording import latex_number

_SYMBOLS: Final = {"ε": r"\varepsilon", "ρ": r"\rho", "√ρ": r"\sqrt{\rho}", "μ": r"\mu"}


class Standard(ABC):
    """What all standards answer. `intensity` is always this standard's own parameter."""

    __slots__ = ()

    kind: ClassVar[str]
    symbol: ClassVar[str]
    linear_in_distance: ClassVar[bool] = False
    # the symbol of the number that adds up when mechanisms are chosen along the way, and the power of the intensity
    # that it is; empty where none is known, for the reason below
    additive: ClassVar[str] = ""
    power: ClassVar[int] = 1
    unadded: ClassVar[str] = "no number that adds up is known for it"
    # the norm in which noise is measured out for a spend; None where questions are not priced in this standard
    norm: ClassVar[Literal[1, 2] | None] = None
    # whether Gaussian noise must be that of a rounded bell curve: the discrete law is not known in this standard
    rounded: ClassVar[bool] = False
    # whether a loss may be given a share of δ and then costs the ε of its own curve there
    shares_delta: ClassVar[bool] = False
    parameters: ClassVar[tuple[str, ...]] = ()

    def least(self, p: Sequence[Number], q: Sequence[Number]) -> Least:
        """The smallest intensity at which the unordered pair of laws satisfies the standard, with a witness."""
        p, q, exact = checked(p, q)
        if exact and p == q:
            return EQUAL
        with precision(256):
            return worse(self._found(p, q, exact), self._found(q, p, exact), self._from_key)

    @property
    def one_way(self) -> bool:
        """Whether the first law against the second has a measure of its own; units with a direction need it."""
        return True

    @property
    def delta_budget(self) -> Fraction:
        """The δ that all answers together may use."""
        return Fraction(0)

    def of_noise(self, spend: Fraction) -> Fraction:
        """What a spend is to the noise that it buys: the ε of Laplace noise in norm 1, the ρ of Gaussian in norm 2."""
        return spend

    def of_choice(self, spend: Fraction) -> Fraction:
        """What a spend is to choices of bounded range that it buys: their range η in norm 1, Σ η²/8 in norm 2."""
        return self.of_noise(spend)

    def least_of_event(self, p: Fraction, q: Fraction) -> Ball:
        """A ball below the intensity of any two laws that give one event a probability of at least p and at most q,
        where q < p."""
        return self.least([p, 1 - p], [q, 1 - q]).lower

    def ahead(self, p: Sequence[Number], q: Sequence[Number]) -> Least:
        """The smallest intensity at which the first law satisfies the standard against the second, in that direction
        only."""
        p, q, exact = checked(p, q)
        if exact and p == q:
            return EQUAL
        with precision(256):
            found = self._found(p, q, exact)
            value = None if found.key is None else self._from_key(found.key)
        return Least(lower=found.lower, upper=found.upper, exact=value, event=found.event, swapped=False)

    @abstractmethod
    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        """The smallest intensity of the first law against the second."""

    def _from_key(self, key: Fraction) -> Exact:
        return key

    def group(self, intensity: Exact, k: int) -> tuple[Standard, Exact | Ball] | None:
        """What holds at k steps when this standard holds at `intensity` for one; None where no bound is known."""
        self.check(intensity)
        count = positive_integer(k, "k")
        if count == 1:
            return self, intensity
        with precision(256):
            return self._group(intensity, count)

    def _group(self, intensity: Exact, k: int) -> tuple[Standard, Exact | Ball] | None:  # noqa: ARG002
        return None

    def implied(self, intensity: Intensity, other: Standard) -> Intensity | None:
        """An intensity of `other` that follows from this standard at `intensity`; None where none is known."""
        if self == other:
            return intensity
        rule = RULES.get((self.kind, other.kind))
        with precision(256):
            return rule(self, intensity, other) if rule else None

    def check(self, intensity: Exact) -> None:
        """Raise ParameterError unless `intensity` is an exact number of at least 0."""
        given: object = intensity
        if not isinstance(given, Fraction | Log):
            hint = 'Write Fraction("1/2") for a rational and Log(3) for ln 3.'
            raise ParameterError("expected an exact number", where=self.symbol, got=kind_of(given), hint=hint)
        if (intensity.of < 1) if isinstance(intensity, Log) else (intensity < 0):
            raise ParameterError("must be 0 or greater", where=self.symbol, got=amount(intensity))

    @abstractmethod
    def words(self, intensity: Exact) -> str:
        """The guarantee in plain English, with its symbol."""

    @abstractmethod
    def latex(self, intensity: Exact) -> str:
        """The guarantee as an inequality in LaTeX; P and P' are the laws at neighbouring datasets, S any event."""

    @property
    def parameter_text(self) -> str:
        """The standard's own parameters, to be printed after its intensity: ", δ = 1e-6"."""
        found = ((symbol, getattr(self, name, None)) for name, symbol in (("delta", "δ"), ("alpha", "α")))
        return "".join(f", {symbol} = {amount(value)}" for symbol, value in found if value)

    def _stated(self, intensity: Exact) -> str:
        return f"{_SYMBOLS.get(self.symbol, self.symbol)} = {latex_number(intensity)}"

    def to_json(self) -> dict[str, object]:
        """`kind` and the parameters, rationals as strings."""
        return {"kind": self.kind, **{name: str(getattr(self, name)) for name in self.parameters}}


class Factor(Standard):
    """A standard whose intensity is ε, with the key e^ε."""

    __slots__ = ()
    symbol: ClassVar[str] = "ε"

    def _from_key(self, key: Fraction) -> Exact:
        return Log(key) if key > 1 else Fraction(0)


class WithDelta(Standard):
    """A standard with a parameter δ, a rational in [0, 1)."""

    __slots__ = ()
    parameters: ClassVar[tuple[str, ...]] = ("delta",)
    delta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", delta_parameter(self.delta))

    @property
    def delta_budget(self) -> Fraction:
        return self.delta
