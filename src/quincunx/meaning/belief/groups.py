"""What a guarantee means for several people together, and for how many it means nothing. Proofs: posterior.md.

The statement is about k people at once, all unknown to its holder, who knows everyone else: a household's illness, a
club's votes. Guarantees for one person grow with k by the group map of the loss or of the standard.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from quincunx.errors import ParameterError, PrivacyError
from quincunx.loss import Loss
from quincunx.meaning.belief.odds import ratios
from quincunx.meaning.belief.posterior import enclosed
from quincunx.meaning.given import guarantee_of
from quincunx.meaning.guarantee import Guarantee
from quincunx.meaning.testing import attack_on
from quincunx.numbers import float_above, float_below, positive_integer, probability
from quincunx.spec import Specification

SIZES: Final = (1, 2, 5, 10)
_MOST: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What a guarantee says about `people` people together. Bounds are certified; each is trivial where none is proved.

    low, high: the belief afterwards. factor: the largest factor on its odds, `inf` where there is none. advantage,
    power: of the best test, at the false alarms asked for. why: the reason where no bound is proved; empty otherwise.
    outside: the probability with which low, high and factor may fail, as in `Posterior`.
    """

    people: int
    low: float
    high: float
    factor: float
    advantage: float
    power: float
    why: str = ""
    outside: Fraction = Fraction(0)


def groups(
    prior: object,
    guarantee: Specification | Loss,
    *,
    sizes: Iterable[object] = SIZES,
    unit: object = None,
    about: str = "record",
    outside: object = None,
    false_alarms: object = "0.05",
) -> tuple[Group, ...]:
    """The bounds for groups of each of `sizes` people; other parameters as for `posterior_bounds`.

    A group for which nothing is proved (the standard has no group map, or too much δ) has the trivial bounds and says
    why; nothing is left out.
    """
    return groups_of(prior, guarantee_of(guarantee, unit), sizes, about, outside, false_alarms)


def groups_of(
    prior: object, guarantee: Guarantee, sizes: Iterable[object], about: object, outside: object, false_alarms: object
) -> tuple[Group, ...]:
    """`groups` of a guarantee that was read already."""
    counts = [positive_integer(size, "sizes") for size in sizes]
    if not counts:
        raise ParameterError("expected at least one size", where="sizes", hint="Write sizes=[1, 2, 5, 10].")
    return tuple(_group(prior, guarantee, count, about, outside, false_alarms) for count in counts)


def vacuous_from(
    prior: object,
    guarantee: Specification | Loss,
    *,
    certainty: object = "0.95",
    unit: object = None,
    about: str = "record",
    outside: object = None,
) -> int | None:
    """The smallest number of people for whom a belief of `prior` may become `certainty` or more, or nothing is proved.

    None where it stays below for a million people. From there on the guarantee promises little about what is believed
    of all of them together; about each one of them it says what it said.
    """
    sure, belief = probability(certainty, "certainty"), probability(prior, "prior")
    if not belief < sure < 1:
        hint = "Ask when it becomes as good as certain: certainty above the prior and below 1."
        raise ParameterError(
            "must be greater than the prior and less than 1", where="certainty", got=str(sure)[:40], hint=hint
        )
    read = guarantee_of(guarantee, unit)

    def reached(people: int) -> bool:
        try:
            return enclosed(belief, read, about, people, outside)[3] >= sure
        except PrivacyError:
            # For one person the reason is worth telling; for more it is where the guarantee ends.
            if people == 1:
                raise
            return True

    low, high = 0, 1
    while not reached(high):
        low, high = high, 2 * high
        if high > _MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _group(
    prior: object, guarantee: Guarantee, people: int, about: object, outside: object, false_alarms: object
) -> Group:
    try:
        _, risk, low, high = enclosed(prior, guarantee, about, people, outside)
        factor = ratios(prior, guarantee, about, people, outside).factor
        test = attack_on(guarantee, false_alarms, about, people)
    except PrivacyError as refused:
        if people == 1:
            raise
        known = Fraction(probability(prior, "prior"))
        # A belief that is certain either way stays so, whatever is published.
        ends = (float(known), float(known)) if known in (0, 1) else (0.0, 1.0)
        return Group(
            people=people, low=ends[0], high=ends[1], factor=float("inf"), advantage=1.0, power=1.0, why=refused.what
        )
    return Group(
        people=people,
        low=float_below(low),
        high=float_above(high),
        factor=factor,
        advantage=test.advantage,
        power=test.power,
        outside=risk,
    )
