"""Pictures of one explanation: beliefs, errors of tests, ε as a scale, and groups."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, Protocol

from quincunx.chart import Axis, Bar, Chart, Line, bars, lines
from quincunx.meaning.belief.groups import Group
from quincunx.meaning.belief.posterior import Posterior, chance, moved, percent
from quincunx.meaning.guarantee import PRECISION, Guarantee, for_people
from quincunx.meaning.testing import Attack, drawn_misses
from quincunx.numbers import amount, ball, float_above, precision

# In per cent, closer where curves bend.
_GRID: Final = (0.0, 0.5, *(float(i) for i in range(1, 100)), 99.5, 100.0)
_EPSILONS: Final = ("0.1", "0.2", "0.5", "1", "2", "5", "10")
_PRIORS: Final = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))


class Explained(Protocol):
    """What the pictures show of an explanation."""

    @property
    def stated(self) -> str:
        """The guarantee at one step, with its symbol."""
        ...

    @property
    def about(self) -> str:
        """What the belief is about."""
        ...

    @property
    def people(self) -> int:
        """How many people it is about."""
        ...

    @property
    def prior(self) -> Fraction:
        """The belief before."""
        ...

    @property
    def posterior(self) -> Posterior:
        """The belief after."""
        ...

    @property
    def attack(self) -> Attack:
        """The best attack."""
        ...

    @property
    def groups(self) -> tuple[Group, ...]:
        """The same for other numbers of people."""
        ...


def pictures(meaning: Explained, guarantee: Guarantee) -> dict[str, Chart]:
    """The four pictures, by the stem of their file."""
    grown = for_people(guarantee, meaning.about, meaning.people)
    return {
        "belief": _belief(meaning, grown),
        "errors": _errors(meaning, grown),
        "epsilons": epsilons(meaning.prior),
        "groups": _groups(meaning),
    }


def epsilons(prior: Fraction, *, values: Sequence[str] = _EPSILONS) -> Chart:
    """How far a belief can rise at each ε of a pure guarantee, for this prior and a few others."""
    priors = sorted({*_PRIORS, prior} - {Fraction(0), Fraction(1)})[-5:]
    middle = prior if 0 < prior < 1 else Fraction(1, 10)
    places = [float(Fraction(values[0])) * (100 ** (i / 40)) for i in range(41)]
    with precision(PRECISION):
        series = [
            Line(
                label=f"believed before: {chance(each)}",
                points=[(e, 100 * float_above(moved(each, ball(Fraction(e)).exp())[1])) for e in places],
                marks=False,
            )
            for each in priors
        ]
        ends = [percent(moved(middle, ball(Fraction(e)).exp())[1], up=True) for e in ("1", "10")]
    return lines(
        series,
        title=f"At ε = 1 a belief of {chance(middle)} may become {ends[0]}, at ε = 10 it may become {ends[1]}",
        x=Axis(title="ε between the datasets held possible", scale="log", ticks={float(v): v for v in values}),
        y="believed after the release, at most (%)",
        note="Pure guarantees. Under add/remove a statement about a record lies two steps apart, so that ε counts "
        "twice; for k people it counts k times.",
    )


def _belief(meaning: Explained, grown: Guarantee) -> Chart:
    grid = sorted({Fraction(str(x)) / 100 for x in _GRID} | {meaning.prior})
    with precision(PRECISION):
        growth, left = grown.growth(meaning.posterior.outside or None)
        band = [(each, *moved(each, growth)) for each in grid]
    low, high = (Fraction(end) for end in (meaning.posterior.low, meaning.posterior.high))
    ends = f"{percent(low, up=False)} to {percent(high, up=True)}"
    except_ = f" Except with probability {amount(left)} over the noise." if left else ""
    at = 100 * float(meaning.prior)
    return lines(
        [
            Line(label="at most", points=[(100 * float(x), 100 * float(top)) for x, _, top in band], marks=False),
            Line(
                label="at least", points=[(100 * float(x), 100 * float(bottom)) for x, bottom, _ in band], marks=False
            ),
            Line(label="nothing learned", points=[(0, 0), (100, 100)], marks=False),
            Line(
                label=f"{chance(meaning.prior)} becomes {ends}", points=[(at, 100 * float(end)) for end in (low, high)]
            ),
        ],
        title=f"With {meaning.stated}, a belief of {chance(meaning.prior)} about {_who(meaning.people)} ends between "
        f"{percent(low, up=False)} and {percent(high, up=True)}",
        x="believed before the release (%)",
        y="believed after the release (%)",
        note=f"Believed by someone who knows everyone else's records.{except_}",
    )


def _errors(meaning: Explained, grown: Guarantee) -> Chart:
    attack = meaning.attack
    rates = sorted({Fraction(str(x)) / 100 for x in _GRID} | {attack.false_alarms})
    with precision(PRECISION):
        misses = drawn_misses(grown, rates)
    at, power = 100 * float(attack.false_alarms), percent(Fraction(attack.power), up=True)
    blind, rate = 100 - at, chance(attack.false_alarms)
    return lines(
        [
            Line(
                label="best attack",
                points=[(100 * float(a), 100 * b) for a, b in zip(rates, misses, strict=True)],
                marks=False,
            ),
            Line(label="blind guessing", points=[(0, 100), (100, 0)], marks=False),
            Line(label=f"at {rate}: {power} detected", points=[(at, 100 * attack.misses), (at, blind)]),
        ],
        title=f"With {rate} false alarms, the best attack on a release of {meaning.stated} detects at most {power}",
        x="false alarms (%)",
        y="misses (%)",
        note=f"Between two datasets that differ in {_who(meaning.people)}. No test lies below the curve; its largest "
        f"distance from blind guessing, the advantage, is {percent(Fraction(attack.advantage), up=True)}.",
    )


def _groups(meaning: Explained) -> Chart:
    rate = chance(meaning.attack.false_alarms)
    first, last = meaning.groups[0], meaning.groups[-1]
    belief, power = (
        f"belief of {chance(meaning.prior)} becomes at most",
        f"best attack detects at most ({rate} false alarms)",
    )
    data = []
    for each in meaning.groups:
        label = _who(each.people)
        told = percent(Fraction(each.high), up=True) + (", no bound" if each.why else "")
        data.append(Bar(label=label, value=100 * each.high, series=belief, text=told))
        data.append(Bar(label=label, value=100 * each.power, series=power, text=percent(Fraction(each.power), up=True)))
    top = [percent(Fraction(each.high), up=True) for each in (first, last)]
    risk = max(each.outside for each in meaning.groups)
    except_ = f" Beliefs: except with probability {amount(risk)} over the noise." if risk else ""
    return bars(
        data,
        title=f"A belief of {chance(meaning.prior)} may reach {top[0]} about {_who(first.people)} and {top[1]} about "
        f"{_who(last.people)} together",
        x="probability (%)",
        note=f"{meaning.stated} for one step. The people are unknown to the holder of the belief, who knows all "
        f"others.{except_}",
    )


def _who(people: int) -> str:
    return "one person" if people == 1 else f"{people:,} people"
