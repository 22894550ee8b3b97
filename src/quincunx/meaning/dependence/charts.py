"""Pictures of dependence: two correlated answers, families that count as one, and people who copy each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Final

from quincunx.chart import Axis, Chart, Line, lines
from quincunx.errors import ParameterError
from quincunx.meaning.dependence.chambers import Chamber
from quincunx.meaning.dependence.joint import Joint
from quincunx.meaning.dependence.respondents import Respondents
from quincunx.numbers import amount, float_near, positive, positive_integer, probability
from quincunx.spec import Replace

_POINTS: Final = 40
# 2^12 tuples for each point of a line are still quick; e^20 is far beyond what anyone would call private.
_MOST_PEOPLE: Final = 12
_MOST_EPSILON: Final = 20


def correlation_chart(epsilons: Iterable[object] = ("0.5", 1, 2)) -> Chart:
    """LR(1, 1) of two fair bits against their correlation: e^ε exactly at 0, e^{2ε} at 1."""
    read = _epsilons(epsilons)
    series = []
    for epsilon in read:
        p = _truthful(epsilon)
        points = []
        for step in range(-_POINTS, _POINTS + 1):
            correlation = Fraction(step, _POINTS)
            asked = Respondents(prior=_correlated(correlation), probability=p)
            points.append((float(correlation), float_near(asked.together)))
        series.append(Line(label=f"ε = {amount(epsilon)}", points=points, marks=False))
    return lines(
        series,
        title="Two yes answers say more about one person than e^ε allows exactly when the two people are positively "
        "correlated",
        x="correlation of the two people's truths (−1 opposite, 0 independent, 1 alike)",
        y=Axis(
            title="times as likely if the first person is a yes (likelihood ratio)", scale="log", ticks=_powers(read)
        ),
        note="Both answer yes by randomized response; each truth is yes or no with equal chances. At correlation 0 "
        "every curve crosses its own e^ε; alike people reach e^(2ε).",
    )


def family_chart(sizes: Sequence[object] = (1, 2, 3, 5), prior: object = "0.1", most: object = 2) -> Chart:
    """The largest belief after one release against ε, for chambers of several sizes; replace, up to ε = `most`."""
    before, end, families = _prior(prior), _epsilon(most, "most"), _people(sizes, "sizes")
    series = []
    for size in families:
        family = Chamber(record=0, others=tuple(range(1, size)))
        points = []
        for step in range(_POINTS + 1):
            epsilon = end * step / _POINTS
            odds = family.factor(epsilon, unit=Replace()) * float(before / (1 - before))
            points.append((float(epsilon), 100 * odds / (1 + odds)))
        label = "independent of all others" if size == 1 else f"{size} alike: e^({size}ε)"
        series.append(Line(label=label, points=points, marks=False))
    return lines(
        series,
        title=f"A belief of {float(100 * before):g} % about one of a family whose members are alike grows as if "
        "ε were multiplied by their number",
        x="ε of one release, for one person replaced",
        y="largest belief afterwards (%)",
        note="For someone who knows nobody's record and holds the members of the family to be alike. Someone who "
        "already knows the others is limited by the lowest curve, whatever the family.",
    )


def copying_chart(sizes: Sequence[object] = (2, 3, 5), epsilon: object = 1) -> Chart:
    """ln LR/ε of n equal answers against the chance that a person copies the one before: it approaches n."""
    families, number = _people(sizes, "sizes"), _epsilon(epsilon, "epsilon")
    odds = _odds(number)
    series = []
    for size in families:
        points = []
        for step in range(_POINTS + 1):
            copy = Fraction(1, 2) + Fraction(step, 2 * _POINTS)
            ratio = _all_yes(_chain(size, copy), odds)
            points.append((100 * float(copy), math.log(float_near(ratio)) / float(number)))
        series.append(Line(label=f"a chain of {size} people", points=points, marks=False))
    series.append(Line(label="what the Markov boundary would allow", points=[(50, 2), (100, 2)], marks=False))
    return lines(
        series,
        title="The more surely people copy each other, the more people's ε one of them is exposed to",
        x="chance that each person's truth equals the one before (%)",
        y="people's worth of ε: ln(likelihood ratio)/ε for the first person when all answer yes",
        note=f"Randomized response at ε = {amount(number)}. At 50 % everyone is independent: 1. At 100 % all are "
        "alike: the size of the chain, which is the bound by chambers. The Markov boundary of the first person is the "
        "second alone and would allow no more than 2.",
    )


def _correlated(correlation: Fraction) -> dict[tuple[int, int], Fraction]:
    # Two fair bits: Cov = θ_11 − 1/4 and both variances are 1/4, so θ_11 = (1 + correlation)/4.
    same, other = (1 + correlation) / 4, (1 - correlation) / 4
    return {(1, 1): same, (0, 0): same, (1, 0): other, (0, 1): other}


def _chain(people: int, copy: Fraction) -> Joint:
    weights = {}
    for x in product((0, 1), repeat=people):
        weights[x] = Fraction(1, 2) * math.prod(
            (copy if a == b else 1 - copy for a, b in pairwise(x)), start=Fraction(1)
        )
    return Joint(weights)


def _all_yes(joint: Joint, odds: Fraction) -> Fraction:
    """P(all answer yes | X_0 = 1)/P(all answer yes | X_0 = 0): a dataset with k ones has weight odds^k."""
    sums = {0: Fraction(0), 1: Fraction(0)}
    for x, weight in joint.cells:
        sums[int(x[0] == 1)] += weight * odds ** sum(value == 1 for value in x)
    law = joint.law(0)
    return sums[1] / sums[0] * law[0] / law[1]


def _powers(epsilons: Sequence[Fraction]) -> dict[float, str]:
    """Ticks at 1, e^ε and e^{2ε} of each, so that the grid shows where the curves must cross and end."""
    wanted = sorted({Fraction(0), *epsilons, *(2 * each for each in epsilons)})
    named = {float_near(_odds(each)): f"e^{float(each):g} ≈ {float_near(_odds(each)):.3g}" for each in wanted if each}
    return {1.0: "1", **named}


def _odds(epsilon: Fraction) -> Fraction:
    # A picture: e^ε to the precision of a float.
    return Fraction(math.exp(epsilon))


def _truthful(epsilon: Fraction) -> Fraction:
    return _odds(epsilon) / (1 + _odds(epsilon))


def _epsilon(value: object, where: str) -> Fraction:
    epsilon = positive(value, where)
    if epsilon > _MOST_EPSILON:
        raise ParameterError(f"must be at most {_MOST_EPSILON} to be drawn", where=where, got=str(epsilon)[:40])
    return epsilon


def _epsilons(values: Iterable[object]) -> list[Fraction]:
    read = [_epsilon(value, "epsilons") for value in values]
    if len(set(read)) < len(read) or not read:
        raise ParameterError("expected different values, at least one", where="epsilons", got=f"{len(read)} values")
    return read


def _people(values: Sequence[object], where: str) -> list[int]:
    read = [positive_integer(value, where) for value in values]
    if len(set(read)) < len(read) or not read or max(read) > _MOST_PEOPLE:
        hint = f"Name different numbers of people, at most {_MOST_PEOPLE}."
        raise ParameterError("cannot draw these families", where=where, got=f"{len(read)} sizes", hint=hint)
    return read


def _prior(value: object) -> Fraction:
    prior = probability(value, "prior")
    if prior in (0, 1):
        raise ParameterError("must be between 0 and 1, both excluded", where="prior", got=str(prior))
    return prior
