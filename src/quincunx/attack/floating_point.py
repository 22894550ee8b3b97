"""The floating-point attack on textbook Laplace noise (Mironov 2012), and on ours.

A float64 has gaps, and so has the logarithm of a uniform float: x + noise reaches some floats and not others, which
ones depends on x. Whoever sees an answer that cannot come from 1 knows that it came from 0. See floating_point.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.attack.story import Story
from quincunx.attack.words import percent
from quincunx.chart import Axis, Chart, Line, lines
from quincunx.errors import DataError, ParameterError
from quincunx.mechanisms import DiscreteLaplace, Laplace
from quincunx.numbers import amount

__all__ = ["reachable", "textbook_laplace"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
_EPSILONS: Final = tuple(map(Fraction, ("1/100", "1/10", "1", "10")))
# Trying every float takes time; points of a lattice do not.
_DRAWS, _LATTICE_DRAWS = 20_000, 250_000
# The answers of our rounded mechanism are as fine as this.
_STEP: Final = Fraction(1, 2**20)
_GRID: Final = 2.0**52
# Values are at most so many scales: beyond, rounding the sum hides so much that every float is reached.
_MOST: Final = 1000.0


def textbook_laplace(draw: np.random.Generator, scale: float, size: int) -> Floats:
    """Noise of density e^{−|z|/scale}/(2·scale) as textbooks draw it: not private on a computer.

    u uniform on multiples of 2^-53, v = u − 1/2, noise = −scale·sign(v)·ln(1 − 2|v|), in float64.
    """
    centred = draw.random(size) - 0.5
    # u = 0 has the probability 2^-53 and an infinite logarithm.
    centred = np.where(centred == -0.5, 0.0, centred)
    return _noise(np.sign(centred), 1 - 2 * np.abs(centred), scale)


def _noise(sign: Floats, inside: Floats, scale: float) -> Floats:
    # One function for the mechanism and its attacker: the same roundings, in the same order.
    return np.asarray(-scale * sign * np.log(inside))


def reachable(answers: object, *, value: float, scale: float) -> Bools:
    """Which answers textbook noise can give for a true `value`: whether some u of the grid gives exactly that float.

    The wanted noise lies between the neighbours of answer − value, so 1 − 2|v| lies near e^{−|answer − value|/scale}.
    Every grid point that can round there is tried forwards.
    """
    seen = np.array(answers, dtype=np.float64)
    if seen.ndim != 1 or not np.isfinite(seen).all():
        hint = "Give a list of finite numbers."
        raise DataError("expected finite answers", where="reachable", got=f"{seen.ndim} dimensions", hint=hint)
    if not (0 < scale < math.inf and abs(value) <= _MOST * scale):
        what, hint = f"must be a positive scale and a value within {_MOST:g} scales", "Give finite numbers."
        raise ParameterError(what, where="value and scale", got=f"{value:g} and {scale:g}", hint=hint)
    wanted = seen - value
    sign = np.where(wanted < 0, -1.0, 1.0)
    nearest = np.rint(_GRID * np.exp(-np.abs(wanted) / scale))
    # What rounding can hide, in steps of the grid, and four steps for log, exp and rint (floating_point.md).
    blur = np.spacing(np.abs(seen)) + np.spacing(np.abs(wanted))
    reach = np.ceil(blur * nearest / scale) + 4
    found = np.zeros(seen.size, dtype=np.bool_)
    for step in sorted(range(-int(reach.max(initial=0)), int(reach.max(initial=0)) + 1), key=abs):
        asked = np.flatnonzero(~found & (reach >= abs(step)))
        # 1 − 2|v| is a multiple of 2^-52 from 2^-52 to 1.
        inside = np.clip(nearest[asked] + step, 1.0, _GRID) / _GRID
        found[asked] = value + _noise(sign[asked], inside, scale) == seen[asked]
    return found


def finer_than(answers: Floats, spacing: float) -> Bools:
    """Which answers are no multiple of `spacing`, a power of two: their lowest set bit lies below it."""
    return np.asarray(answers / spacing != np.rint(answers / spacing))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """Shares of answers. certain: decided without doubt. bits: decided by the lowest bit alone. right: decided rightly,
    with the likelier value where there is doubt. wrong: decided without doubt, and wrongly."""

    certain: float
    bits: float
    right: float
    wrong: float


def _attacked(zero: Floats, one: Floats, possible: Callable[[Floats, float], Bools]) -> _Tried:
    """The same attacker for every mechanism: who can have made this answer? If both, the nearer one."""
    certain, right, wrong = 0, 0, 0
    for answers, truth in ((zero, 0), (one, 1)):
        could = [possible(answers, 0.0), possible(answers, 1.0)]
        sure = could[0] ^ could[1]
        says = np.where(sure, could[1], answers > 0.5)
        certain += int(sure.sum())
        right += int((says == truth).sum())
        wrong += int((sure & (says != truth)).sum())
    total = zero.size + one.size
    # Answers to 1 are multiples of 2^-53 where they are below 1; finer ones must be answers to 0.
    bits = int((finer_than(zero, 2.0**-53) & (np.abs(zero) < 1)).sum())
    return _Tried(certain=certain / total, bits=bits / total, right=right / total, wrong=wrong / total)


def _textbook(draw: np.random.Generator, epsilon: Fraction) -> _Tried:
    scale = float(1 / epsilon)
    zero, one = (value + textbook_laplace(draw, scale, _DRAWS) for value in (0.0, 1.0))
    return _attacked(zero, one, lambda answers, value: reachable(answers, value=value, scale=scale))


def _ours(mechanism: Laplace | DiscreteLaplace) -> _Tried:
    step, steps = float(mechanism.step), int(1 / mechanism.step)
    exact = (np.full(_LATTICE_DRAWS, value, dtype=np.int64) for value in (0, steps))
    zero, one = (np.asarray(mechanism.sample(each) * step, dtype=np.float64) for each in exact)
    # Every point of the lattice has a positive probability for every input, and nothing else is ever answered.
    return _attacked(zero, one, lambda answers, _: ~finer_than(answers, step))


def allowed(epsilon: Fraction) -> float:
    """e^ε/(1 + e^ε): how often anybody can be right about one of two equally likely values."""
    return 1 / (1 + math.exp(-float(epsilon)))


def story(*, series: int) -> Story:
    """0 or 1 is asked; textbook noise, our rounded noise and our discrete noise answer."""
    draw = np.random.default_rng((12, series))
    textbook = {epsilon: _textbook(draw, epsilon) for epsilon in _EPSILONS}
    rounded = {e: _ours(Laplace.calibrate(epsilon=e, step=_STEP)) for e in _EPSILONS}
    discrete = {e: _ours(DiscreteLaplace.calibrate(epsilon=e)) for e in _EPSILONS}
    shown = textbook[Fraction(1)]
    families = (("textbook Laplace", textbook), ("Quincunx Laplace", rounded), ("Quincunx discrete", discrete))
    return Story(
        name="floating-point",
        title=f"The last bits of textbook noise at ε = 1 give away {percent(shown.certain)} of answers with certainty",
        published="A count, 0 or 1, plus Laplace noise from the textbook formula −b·sign(v)·ln(1 − 2|v|) in float64.",
        known="The formula, ε, and that uniform floats are multiples of 2^-53.",
        recovered=f"At ε = 1, {percent(shown.certain)} of answers can come from one of the two counts only, and all of "
        f"these were told rightly; {percent(shown.bits)} by their lowest bit alone. With guesses for the rest "
        f"{percent(shown.right)} were right, where ε = 1 allows {percent(allowed(Fraction(1)))}. After three "
        f"answers to one question {percent((1 - shown.certain) ** 3, 1)} are in doubt.",
        columns=("noise", "ε", "certain", "wrong", "guess right", "ε allows"),
        rows=tuple(
            (
                name,
                amount(e),
                percent(tried[e].certain, 1),
                percent(tried[e].wrong, 1),
                percent(tried[e].right, 1),
                percent(allowed(e), 1),
            )
            for name, tried in families
            for e in _EPSILONS
        ),
        figures={
            **{f"certain, {name}, ε = {amount(e)}": tried[e].certain for name, tried in families for e in _EPSILONS},
            **{f"right, {name}, ε = {amount(e)}": tried[e].right for name, tried in families for e in _EPSILONS},
            **{f"wrong, {name}, ε = {amount(e)}": tried[e].wrong for name, tried in families for e in _EPSILONS},
            **{f"certain by the lowest bit, ε = {amount(e)}": textbook[e].bits for e in _EPSILONS},
            **{f"allowed at ε = {amount(e)}": allowed(e) for e in _EPSILONS},
            "answers, textbook": 2 * _DRAWS,
            "answers, Quincunx": 2 * _LATTICE_DRAWS,
        },
        charts={"floating_point": _chart(textbook, rounded, discrete)},
        lesson="A proof about real numbers says nothing about floats. Quincunx answers on a lattice, every point of "
        "which can come from every input, with exactly the probabilities that the proof uses.",
        sources=(
            "I. Mironov, On significance of the least significant bits for differential privacy, CCS 2012",
            "C. L. Canonne, G. Kamath, T. Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020",
        ),
    )


def _chart(
    textbook: dict[Fraction, _Tried], rounded: dict[Fraction, _Tried], discrete: dict[Fraction, _Tried]
) -> Chart:
    def line(label: str, share: Callable[[Fraction], float]) -> Line:
        return Line(label=label, points=[(float(e), 100 * share(e)) for e in _EPSILONS])

    return lines(
        [
            line("textbook: decided with certainty", lambda e: textbook[e].certain),
            line("textbook: guessed right", lambda e: textbook[e].right),
            line("Quincunx: guessed right, as ε allows", lambda e: discrete[e].right),
            line("Quincunx: decided with certainty", lambda e: max(rounded[e].certain, discrete[e].certain)),
        ],
        title="Textbook noise gives most answers away for certain, whatever ε promises; Quincunx none",
        x=Axis(title="ε", scale="log", ticks={float(e): amount(e) for e in _EPSILONS}),
        y="answers about 0 or 1 (%)",
        note=f"{2 * _DRAWS:,} answers of the textbook's and {2 * _LATTICE_DRAWS:,} of ours for each ε. Guessing "
        "without any answer is right for 50 %.",
    )
