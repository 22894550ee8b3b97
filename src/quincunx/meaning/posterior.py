"""How far one release can move a belief about one person, in numbers and in one sentence. Proofs: posterior.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from quincunx.errors import ParameterError, PrivacyError
from quincunx.loss.law import as_ball
from quincunx.numbers import Ball, Exact, ball, exact_fraction, float_above, float_below, precision, probability
from quincunx.spec import Specification
from quincunx.spec.implication import exponential
from quincunx.spec.standard import Approximate, Pure, Standard
from quincunx.spec.unit import AddRemove, Replace
from quincunx.spec.wording import shown
from quincunx.spec.words import listed

# How many times smaller than `outside` the δ may be at which the other standards are converted.
_SHARES: Final = (3, 4, 6, 10, 20, 50, 100, 1_000)
_PRECISION: Final = 256
ABOUT: Final = ("record", "presence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """Where a belief held with probability `prior` must lie after one release.

    low, high: certified bounds, rounded outwards. outside: the probability, over the noise of the release and whatever
    the data are, that the belief leaves them all the same; 0 where it never does.
    """

    prior: Fraction
    low: float
    high: float
    outside: Fraction


def posterior_bounds(
    prior: object, specification: Specification, *, about: str = "record", outside: object = None
) -> Posterior:
    """How far a belief of probability `prior` about one person can move through one release under `specification`.

    The belief is held by someone who knows everyone else's records. about: "record", any statement about the person
    (under add/remove it costs two steps: one record out, another in), or "presence", whether a person whose record is
    known is in the data. outside: the probability, 0 < outside < 1, with which the bounds may fail; needed where the
    standard is not pure, because then no bounds hold always.
    """
    belief, risk, low, high = _exact(prior, specification, about, outside)
    return Posterior(prior=belief, low=float_below(low), high=float_above(high), outside=risk)


def sentence(prior: object, specification: Specification, *, about: str = "record", outside: object = None) -> str:
    """`posterior_bounds` in words, with the conditions under which it holds."""
    belief, risk, low, high = _exact(prior, specification, about, outside)
    always = f"except with probability at most {shown(risk)} over its noise" if risk else "whatever the release says"
    many = "the largest intensity stated, " if specification.varies else ""
    return (
        f"Someone who already knows {_known(specification, about)}, and who believed "
        f"{_held(specification, about, belief)}, believes it after the release with a probability between "
        f"{_percent(low, up=False)} and {_percent(high, up=True)}, {always}. This is one release at "
        f"{many}{_largest_stated(specification)}; further releases about the same people move the belief further. "
        "Whoever does not know the others may learn more about a person, from what is true of people in general."
    )


def describe(
    specification: Specification, *, prior: object = "1/10", about: str = "record", outside: object = None
) -> str:
    """`specification.describe()`, and below it `sentence`, or why no bound on a belief is proved for it.

    Where the standard is not pure, give `outside`: without it no bounds hold always, and the last paragraph says so.
    """
    try:
        meaning = sentence(prior, specification, about=about, outside=outside)
    except PrivacyError as refused:
        meaning = f"No bound on a belief about one person is stated here: {refused.what}."
    return f"{specification.describe()}\n\nWhat it means for one person. {meaning}"


def _exact(
    prior: object, specification: Specification, about: str, outside: object
) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """The prior, the probability outside, and rationals that enclose the belief afterwards."""
    belief = probability(prior, "prior")
    risk = None if outside is None else _risk(outside)
    grown = _stepped(specification, about)
    standard, intensity = grown.standard, grown.largest
    with precision(_PRECISION):
        pure = standard.implied(intensity, Pure())
        if pure is not None:
            return belief, Fraction(0), *_moved(belief, exponential(pure))
        if risk is None:
            hint = 'Say with which probability they may fail: outside="0.001".'
            what = f"no bounds hold always under {type(standard).__name__}"
            raise PrivacyError(what, where="posterior_bounds", got=grown.stated[0][1], hint=hint)
        return belief, risk, *_moved(belief, _growth(standard, intensity, risk))


def _known(specification: Specification, about: str) -> str:
    per = getattr(specification.unit, "per", None)
    facts = ["everyone else's records" if per is None else f"everything but one person's rows of one {per.period}"]
    if about == "presence":
        facts.append("what this person's would be" if per is None else "what those would be")
    if specification.scope.kind != "everything":
        facts.append("the facts that are published exactly")
    return listed(facts)


def _held(specification: Specification, about: str, prior: Fraction) -> str:
    whole = getattr(specification.unit, "per", None) is None
    if about == "record":
        return f"something about {'this person' if whole else 'those rows'} with probability {_chance(prior)}"
    return f"with probability {_chance(prior)} that {'this person is' if whole else 'those rows are'} in the data"


def _stepped(specification: Specification, about: str) -> Specification:
    """The specification for as many steps as lie between two datasets that the holder of the belief holds possible."""
    if about not in ABOUT:
        raise ParameterError('must be "record" or "presence"', where="about", got=repr(about)[:40])
    if specification.scope.kind not in ("everything", "invariants"):
        hint = "State the guarantee for every dataset: scope.Everything() or scope.Invariants(…)."
        what = "the guarantee must hold between all datasets that someone may hold possible"
        raise PrivacyError(what, where="scope", got=type(specification.scope).__name__, hint=hint)
    unit = specification.unit
    if not isinstance(unit, AddRemove | Replace):
        hint = "State it for people: unit.Replace() or unit.AddRemove()."
        got = type(unit).__name__
        raise PrivacyError("a belief about one person needs a unit of people", where="unit", got=got, hint=hint)
    one = AddRemove if about == "presence" and isinstance(unit, AddRemove) else Replace
    steps = unit.steps_to(one(key=unit.key, per=unit.per))
    # Both units have the same key and period, so the number of steps is known: 1, or 2 for add/remove of one.
    return specification.group(steps or 2)


def _growth(standard: Standard, intensity: Exact, risk: Fraction) -> Ball:
    """The smallest factor found by which the odds move, outside an event of probability `risk`.

    Where (ε, δ) holds, the odds move by at most e^ε·risk/(risk − 2δ): any δ below risk/2 will do.
    """
    deltas = {risk / share for share in _SHARES}
    own = getattr(standard, "delta", Fraction(0))
    if 0 < own < risk / 2:
        deltas.add(own)
    best: Ball | None = None
    for delta in sorted(deltas):
        epsilon = standard.implied(intensity, Approximate(delta))
        if epsilon is None:
            continue
        factor = as_ball(exponential(epsilon)) * ball(risk / (risk - 2 * delta))
        if factor.is_finite() and (best is None or factor.upper() < best.upper()):
            best = factor
    if best is None:
        hint = "Allow more than twice δ outside, or state the guarantee as pure, approximate, zCDP, Rényi or Gaussian."
        what = f"no bound on a belief follows from {type(standard).__name__}"
        raise PrivacyError(what, where="posterior_bounds", got=f"outside = {shown(risk)}", hint=hint)
    return best


def _moved(prior: Fraction, growth: Fraction | Ball) -> tuple[Fraction, Fraction]:
    # Odds π/(1 − π) move by a factor from 1/g to g: π/(π + (1 − π)g) and π/(π + (1 − π)/g).
    if prior in (0, 1):
        return prior, prior
    odds = (1 - prior) / prior
    if isinstance(growth, Fraction):
        return 1 / (1 + odds * growth), 1 / (1 + odds / growth)
    low, high = 1 / (1 + ball(odds) * growth), 1 / (1 + ball(odds) / growth)
    return max(Fraction(0), exact_fraction(low.lower())), min(Fraction(1), exact_fraction(high.upper()))


def _risk(outside: object) -> Fraction:
    risk = probability(outside, "outside")
    if not 0 < risk < 1:
        raise ParameterError("must be between 0 and 1, both excluded", where="outside", got=str(risk))
    return risk


def _percent(value: Fraction, *, up: bool) -> str:
    """A percentage rounded outwards: one decimal, or two digits of what is left to 0 or to 100."""
    exact = 100 * value
    left = min(exact, 100 - exact)
    decimals = 1 if left >= 1 or left == 0 else 1 - math.floor(math.log10(left))
    scaled = exact * 10**decimals
    return f"{_decimal(math.ceil(scaled) if up else math.floor(scaled), decimals)} %"


def _chance(prior: Fraction) -> str:
    millionths = 100 * prior * 10**6
    return f"{_decimal(millionths.numerator, 6)} %" if millionths.denominator == 1 else shown(prior)


def _decimal(scaled: int, decimals: int) -> str:
    whole, rest = divmod(scaled, 10**decimals)
    digits = f"{rest:0{decimals}d}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)


def _largest_stated(specification: Specification) -> str:
    pairs = zip(specification.by_universe, specification.stated, strict=True)
    return next(text for (_, value), (_, text) in pairs if value == specification.largest)
