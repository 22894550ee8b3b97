"""Which sampling goes with which unit, and what is known of the sampled loss."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, Protocol

from quincunx.errors import ParameterError, PrivacyError
from quincunx.loss.curve import families, total_pure
from quincunx.loss.gaussian import GaussianLaw
from quincunx.loss.law import Composition, Law, as_ball
from quincunx.loss.stated import StatedLaw
from quincunx.loss.subsampled import SubsampledLaw
from quincunx.numbers import Number, ball, float_above, positive, precision

# scheme → the kind of the unit for which amplification is proved
SCHEMES: Final = {"poisson": "add-remove", "without-replacement": "replace"}


class Unit(Protocol):
    """The part of a protection unit that sampling and parallel composition ask for."""

    @property
    def kind(self) -> str:
        """ "add-remove", "replace" or another, for which no amplification is known."""
        ...

    @property
    def moves_between_parts(self) -> bool:
        """Whether one step can take a person from one part of a partition to another."""
        ...

    @property
    def one_person(self) -> bool:
        """Whether one step touches one person only."""
        ...


def subsampled(loss: Composition, rate: Number, scheme: str, unit: Unit) -> Law | None:
    """The law of the amplified loss, see `Loss.subsample`; None where everybody is in the sample."""
    share = positive(rate, "rate")
    if share > 1:
        raise ParameterError("must be at most 1", where="rate", got=str(share)[:40])
    if scheme not in SCHEMES:
        hint = f"Write one of {', '.join(SCHEMES)}."
        raise ParameterError("unknown sampling scheme", where="scheme", got=repr(scheme)[:40], hint=hint)
    if SCHEMES[scheme] != unit.kind or getattr(unit, "group", 1) != 1:
        hint = "Poisson sampling goes with add/remove, sampling without replacement with replace, one person each."
        got = f"{scheme} with {type(unit).__name__}"
        raise PrivacyError("no amplification is known for this pair", where="subsample", got=got, hint=hint)
    if loss.stated_delta():
        hint = "Sample the exact mechanisms, and add the others."
        raise PrivacyError("a loss with a stated δ is not amplified", where="subsample", hint=hint)
    if share == 1 or not loss.terms:
        return None
    groups = families(loss.terms)
    if len(groups) == 1 and isinstance(groups[0][0][0], GaussianLaw):
        base = groups[0][0][0].merged(groups[0])[0][0]
        if isinstance(base, GaussianLaw):
            return SubsampledLaw(base=base, rate=share, replacing=scheme == "without-replacement")
    return _by_parameters(loss, share)


def _by_parameters(loss: Composition, share: Fraction) -> StatedLaw:
    # ln(1 + r(e^ε − 1)) for every ε-DP mechanism and both schemes (Balle, Barthe and Gaboardi 2018).
    with precision(256):
        epsilon = as_ball(total_pure(loss.terms))
        if not epsilon.is_finite():
            hint = "Gaussian noise alone is amplified exactly; pure mechanisms by their ε."
            raise PrivacyError("no amplification is known for this mixture", where="subsample", hint=hint)
        amplified = (ball(share) * epsilon.expm1()).log1p()
        rho = amplified * (amplified / 2).tanh()
        return StatedLaw(epsilon=Fraction(float_above(amplified)), rho=Fraction(float_above(rho)))
