"""How far what is published can move a belief about people, in numbers and in one sentence. Proofs: posterior.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from quincunx.errors import ParameterError, PrivacyError
from quincunx.loss import Loss
from quincunx.meaning.given import guarantee_of
from quincunx.meaning.guarantee import PRECISION, Guarantee, for_people
from quincunx.numbers import (
    Ball,
    amount,
    ball,
    exact_fraction,
    float_above,
    float_below,
    positive_integer,
    precision,
    probability,
)
from quincunx.spec import Specification, listed

_LEAST: Final = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """Where a belief held with probability `prior` must lie after what is published.

    low, high: certified bounds, rounded outwards. outside: the probability, over the noise and whatever the data are,
    that the belief leaves them all the same; 0 where it never does.
    """

    prior: Fraction
    low: float
    high: float
    outside: Fraction


def posterior_bounds(
    prior: object,
    guarantee: Specification | Loss,
    *,
    unit: object = None,
    about: str = "record",
    people: object = 1,
    outside: object = None,
) -> Posterior:
    """How far a belief of probability `prior` about one person can move under `guarantee`.

    guarantee: a Specification, for one release under it; or a Loss, for all that it counts, at one step of `unit`
    ("replace", "add-remove" or a unit of people). The belief is held by someone who knows everyone else's records.
    about: "record", any statement about the person's record (under add/remove it costs two steps, one record out and
    another in, and covers whether there is one), or "presence", whether a person whose record is known is in the data
    (under replace: and not another in their place, since replacing hides no number of people). people: how many people
    the statement is about, all of them unknown. outside: the probability, 0 < outside < 1, with which the bounds may
    fail; needed where the guarantee is not pure, because then no bounds hold always.
    """
    belief, risk, low, high = enclosed(prior, guarantee_of(guarantee, unit), about, people, outside)
    return Posterior(prior=belief, low=float_below(low), high=float_above(high), outside=risk)


def sentence(
    prior: object,
    guarantee: Specification | Loss,
    *,
    unit: object = None,
    about: str = "record",
    people: object = 1,
    outside: object = None,
) -> str:
    """`posterior_bounds` in words, with the conditions under which it holds."""
    read, count = guarantee_of(guarantee, unit), positive_integer(people, "people")
    belief, risk, low, high = enclosed(prior, read, about, count, outside)
    always = f"except with probability at most {amount(risk)} over its noise" if risk else "whatever the release says"
    return (
        f"Someone who already knows {known(read, about, count)}, and who believed "
        f"{_held(read, about, count, belief)}, believes it after the release with a probability between "
        f"{percent(low, up=False)} and {percent(high, up=True)}, {always}. This is {read.counted}; further "
        f"releases about the same people move the belief further. Whoever does not know the others may learn more "
        f"about {'a person' if count == 1 else 'them'}, from what is true of people in general."
    )


def describe(
    guarantee: Specification | Loss,
    *,
    prior: object = "1/10",
    unit: object = None,
    about: str = "record",
    people: object = 1,
    outside: object = None,
) -> str:
    """What is stated, in words, and below it `sentence`, or why no bound on a belief is proved for it.

    Where the guarantee is not pure, give `outside`: without it no bounds hold always, and the last paragraph says so.
    """
    read = guarantee_of(guarantee, unit)
    if isinstance(guarantee, Loss):
        what = f"How much may leak (loss). {read.stated}, for one step: {read.unit.words()}"
    else:
        what = guarantee.describe()
    try:
        meaning = sentence(prior, guarantee, unit=unit, about=about, people=people, outside=outside)
    except PrivacyError as refused:
        meaning = f"No bound on a belief about one person is stated here: {refused.what}."
    return f"{what}\n\nWhat it means for one person. {meaning}"


def enclosed(
    prior: object, guarantee: Guarantee, about: object, people: object, outside: object
) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """The prior, the probability outside, and rationals that enclose the belief afterwards."""
    belief = probability(prior, "prior")
    risk = None if outside is None else read_risk(outside)
    grown = for_people(guarantee, about, people)
    with precision(PRECISION):
        factor, left = grown.growth(risk)
        return belief, left, *moved(belief, factor)


def known(guarantee: Guarantee, about: str, people: int) -> str:
    """What the holder of the belief knows already."""
    per = guarantee.unit.per
    several = people != 1
    rest = "the records of all but these people" if several else "everyone else's records"
    piece = f"these {people} people's rows" if several else "one person's rows"
    facts = [rest if per is None else f"everything but {piece} of one {per.period}"]
    if about == "presence":
        facts.append(
            ("what theirs would be" if several else "what this person's would be") if per is None else
            "what those would be"
        )  # fmt: skip
    if guarantee.public:
        facts.append("the facts that are published exactly")
    return listed(facts)


def _held(guarantee: Guarantee, about: str, people: int, prior: Fraction) -> str:
    whole, several = guarantee.unit.per is None, people != 1
    who = (f"these {people} people" if several else "this person") if whole else "those rows"
    # Replacing does not hide how many people there are: the record is in the data, or another one in its place.
    replaced = guarantee.unit.keeps_number
    if about == "record":
        record = ("'s record" if not several else "'s records") if replaced and whole else ""
        return f"something about {who}{record} with probability {chance(prior)}"
    many = several or not whole
    instead = f" and not {'others' if many else 'another'} in their place" if replaced else ""
    return f"with probability {chance(prior)} that {who} {'are' if many else 'is'} in the data{instead}"


def moved(prior: Fraction, growth: Fraction | Ball) -> tuple[Fraction, Fraction]:
    """The belief after odds π/(1 − π) moved by a factor from 1/g to g: π/(π + (1 − π)g) and π/(π + (1 − π)/g)."""
    if prior in (0, 1):
        return prior, prior
    odds = (1 - prior) / prior
    if isinstance(growth, Fraction):
        return 1 / (1 + odds * growth), 1 / (1 + odds / growth)
    if not growth.is_finite():
        # A growth that overflows bounds nothing.
        return Fraction(0), Fraction(1)
    low, high = 1 / (1 + ball(odds) * growth), 1 / (1 + ball(odds) / growth)
    return max(Fraction(0), exact_fraction(low.lower())), min(Fraction(1), exact_fraction(high.upper()))


def read_risk(outside: object) -> Fraction:
    """A probability strictly between 0 and 1."""
    risk = probability(outside, "outside")
    if not 0 < risk < 1:
        raise ParameterError("must be between 0 and 1, both excluded", where="outside", got=str(risk))
    return risk


def percent(value: Fraction, *, up: bool) -> str:
    """A percentage rounded outwards: one decimal, or two digits of what is left to 0 or to 100."""
    exact = 100 * value
    left = min(exact, 100 - exact)
    # What is smaller than a float of percent is rounded outwards at the last digit that is shown.
    near = max(left, _LEAST)
    decimals = 1 if left >= 1 or left == 0 else 1 - math.floor(math.log10(near))
    scaled = exact * 10**decimals
    return f"{_decimal(math.ceil(scaled) if up else math.floor(scaled), decimals)} %"


def chance(prior: Fraction) -> str:
    """A probability as it was given: a percentage where that is short, else the fraction."""
    millionths = 100 * prior * 10**6
    return f"{_decimal(millionths.numerator, 6)} %" if millionths.denominator == 1 else amount(prior)


def _decimal(scaled: int, decimals: int) -> str:
    whole, rest = divmod(scaled, 10**decimals)
    digits = f"{rest:0{decimals}d}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
