"""Membership: the published means of many traits tell whether a person was in the group (Homer et al. 2008).

The attacker knows the person's traits x and the population's frequencies p, and computes ⟨x − p, mean − p⟩: people of
the group pull the means towards themselves. See membership.md for the bound that noise sets on every such test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.attack.story import Story
from quincunx.attack.words import percent
from quincunx.chart import Axis, Chart, Line, lines
from quincunx.loss import Loss
from quincunx.mechanisms import DiscreteLaplace, Gaussian
from quincunx.numbers import amount, float_above

__all__ = ["Trials", "story", "trials"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Noise = Callable[[Ints], Ints]
DELTA: Final = Fraction(1, 10**6)
_EPSILONS: Final = (Fraction(1, 10), Fraction(1), Fraction(10))
_GROUP, _GROUPS = 100, 200
_TRAITS: Final = (10, 30, 100, 300, 1_000)
_SHOWN: Final = 1_000
_ALARMS: Final = (0.01, 0.05)
_DRAWN: Final = (0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trials:
    """The statistic of many people: `members` of the group, and `others` of the same population outside."""

    members: Floats
    others: Floats

    def power(self, false_alarms: float) -> float:
        """The share of members found when at most this share of others is named falsely."""
        ordered = np.sort(self.others)[::-1]
        allowed = int(false_alarms * ordered.size)
        return float((self.members > ordered[allowed]).mean()) if allowed < ordered.size else 1.0


def trials(
    draw: np.random.Generator, *, traits: int, group: int, groups: int, releases: Sequence[Noise | None]
) -> list[Trials]:
    """Draw groups of people with independent yes-or-no traits, publish their means, and test everybody.

    releases: ways to release the sums of traits, from exact to noisy; None for exact. One `Trials` for each of them,
    of the same people: all members of every group, and as many from outside.
    """
    frequency = draw.uniform(0.05, 0.95, traits)
    found = np.empty((groups, 2 * group, len(releases)))
    for number in range(groups):
        people = draw.random((2 * group, traits)) < frequency
        sums = people[:group].sum(axis=0)
        means = [(sums if noise is None else noise(sums)) / group - frequency for noise in releases]
        found[number] = (people - frequency) @ np.transpose(means)
    return [
        Trials(members=found[:, :group, at].ravel(), others=found[:, group:, at].ravel()) for at in range(len(releases))
    ]


def gaussian(traits: int, epsilon: Fraction) -> Gaussian:
    """Rounded Gaussian noise for (ε, 10^-6) when one person is replaced: sums of d traits move by at most √d in ℓ2."""
    return Gaussian.calibrate(sensitivity2=traits, epsilon=epsilon, delta=DELTA)


def laplace(traits: int, epsilon: Fraction) -> DiscreteLaplace:
    """Discrete Laplace noise for pure ε when one person is replaced: sums of d traits move by at most d in ℓ1."""
    return DiscreteLaplace.calibrate(sensitivity=traits, epsilon=epsilon)


def limit(loss: Loss, false_alarms: float) -> float:
    """The largest share of members that any test can find at this share of false alarms: 1 − f(α), rounded up."""
    return float_above(1 - Fraction(loss.tradeoff(false_alarms)))


def story(*, series: int) -> Story:
    """Groups of 100 people; exact means against noisy ones, for more and more traits."""
    draw = np.random.default_rng((11, series))
    exact: dict[int, Trials] = {}
    noisy: dict[Fraction, dict[int, Trials]] = {epsilon: {} for epsilon in _EPSILONS}
    pure: dict[Fraction, Trials] = {}
    for traits in _TRAITS:
        families = (gaussian, laplace) if traits == _SHOWN else (gaussian,)
        noises = [family(traits, epsilon).sample for family in families for epsilon in _EPSILONS]
        exact[traits], *rest = trials(draw, traits=traits, group=_GROUP, groups=_GROUPS, releases=[None, *noises])
        for epsilon, found in zip(_EPSILONS, rest, strict=False):
            noisy[epsilon][traits] = found
        # After the Gaussians come the Laplace ones, if there are any.
        pure = dict(zip(_EPSILONS, rest[len(_EPSILONS) :], strict=False))
    losses = {e: gaussian(_SHOWN, e).loss for e in _EPSILONS}
    pure_losses = {e: laplace(_SHOWN, e).loss for e in _EPSILONS}
    few, many = exact[_TRAITS[0]].power(0.05), exact[_SHOWN].power(0.05)
    return Story(
        name="membership",
        title=f"The means of {_SHOWN:,} traits betray {percent(many)} of a group's members; noise at ε = 1 hides them",
        published=f"The share of yes among {_GROUP} people for each of {_TRAITS[0]} to {_TRAITS[-1]:,} yes-or-no "
        "traits, as for the genetic variants of people with a disease.",
        known="A person's own traits, and how frequent every trait is in the whole population.",
        recovered=f"Whether the person was in the group. With 5 % false alarms {percent(few)} of members are found "
        f"from {_TRAITS[0]} traits, {percent(exact[100].power(0.05))} from 100 and {percent(many)} from {_SHOWN:,}; "
        f"with 1 % false alarms, {percent(exact[_SHOWN].power(0.01))} from {_SHOWN:,}.",
        columns=("means of 1,000 traits", "found at 1 %", "at most", "found at 5 %", "at most"),
        rows=(
            ("exact", *_cells(exact[_SHOWN], None)),
            *((f"Gaussian, ε = {amount(e)}, δ = 10^-6", *_cells(noisy[e][_SHOWN], losses[e])) for e in _EPSILONS),
            *((f"Laplace, ε = {amount(e)}", *_cells(pure[e], pure_losses[e])) for e in _EPSILONS),
        ),
        figures={
            **{f"found at 5 %, exact, {traits} traits": found.power(0.05) for traits, found in exact.items()},
            **{f"found at 1 %, exact, {traits} traits": found.power(0.01) for traits, found in exact.items()},
            **{
                f"found at {percent(a)}, ε = {amount(e)}, {traits} traits": found.power(a)
                for a in _ALARMS
                for e in _EPSILONS
                for traits, found in noisy[e].items()
            },
            **{f"limit at {percent(a)}, ε = {amount(e)}": limit(losses[e], a) for a in _ALARMS for e in _EPSILONS},
            **{f"found at 5 %, pure ε = {amount(e)}": pure[e].power(0.05) for e in _EPSILONS},
            "members tested": _GROUP * _GROUPS,
        },
        charts={
            "membership": _roc(exact[_SHOWN], noisy, losses),
            "membership_traits": _growth(exact, noisy),
        },
        lesson="Each mean says almost nothing, and a thousand say who was there. Noise that is calibrated to all of "
        "them together bounds every test by one curve, whatever the attacker knows and however many traits there are.",
        sources=(
            "N. Homer et al., Resolving individuals contributing trace amounts of DNA to highly complex mixtures using "
            "high-density SNP genotyping microarrays, PLoS Genetics 4 (2008)",
            "C. Dwork, A. Smith, T. Steinke, J. Ullman, S. Vadhan, Robust traceability from trace amounts, FOCS 2015",
            "J. Dong, A. Roth, W. J. Su, Gaussian differential privacy, J. Royal Statistical Society B 84 (2022)",
        ),
    )


def _cells(found: Trials, loss: Loss | None) -> tuple[str, ...]:
    cells = []
    for alarms in _ALARMS:
        cells += [percent(found.power(alarms), 1), "100 %" if loss is None else percent(limit(loss, alarms), 1)]
    return tuple(cells)


def _roc(exact: Trials, noisy: dict[Fraction, dict[int, Trials]], losses: dict[Fraction, Loss]) -> Chart:
    drawn = [_line("exact means", exact.power)]
    for epsilon in (Fraction(10), Fraction(1)):
        drawn.append(_line(f"ε = {amount(epsilon)}: no test does better", partial(limit, losses[epsilon]), marks=False))
        drawn.append(_line(f"ε = {amount(epsilon)}: this attack", noisy[epsilon][_SHOWN].power))
    drawn.append(_line("chance", float, marks=False))
    return lines(
        drawn,
        title="Exact means of 1,000 traits tell who was in the group; noise keeps every test under a curve",
        x="people from outside named falsely (%)",
        y="members found (%)",
        note=f"{_GROUPS} groups of {_GROUP}; Gaussian noise calibrated to ε at δ = 10^-6 when one person is replaced.",
    )


def _line(label: str, found: Callable[[float], float], *, marks: bool = True) -> Line:
    return Line(label=label, points=[(100 * at, 100 * found(at)) for at in _DRAWN], marks=marks)


def _growth(exact: dict[int, Trials], noisy: dict[Fraction, dict[int, Trials]]) -> Chart:
    drawn = [Line(label="exact means", points=[(d, 100 * found.power(0.05)) for d, found in exact.items()])]
    for epsilon in reversed(_EPSILONS):
        points = [(d, 100 * found.power(0.05)) for d, found in noisy[epsilon].items()]
        drawn.append(Line(label=f"ε = {amount(epsilon)}", points=points))
    return lines(
        drawn,
        title="More traits find more members in exact means, hardly more in noisy ones",
        x=Axis(title="published traits", scale="log", ticks={d: f"{d:,}" for d in _TRAITS}),
        y="members found at 5 % false alarms (%)",
        note=f"{_GROUPS} groups of {_GROUP}; Gaussian noise for all traits together, δ = 10^-6.",
    )
