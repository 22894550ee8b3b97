"""The picture of randomized response: every cell may lie, and the picture is still seen."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from quincunx.attack.portrait import portrait
from quincunx.attack.story import Story
from quincunx.attack.words import CHAPTER, percent
from quincunx.chart import Chart, Line, Panel, lines, mosaic
from quincunx.mechanisms import RandomizedResponse

_LN3: Final = "ε = ln 3"
# How far a neighbourhood reaches: two cells to each side, so 5 × 5 cells.
_REACH: Final = 2
_REGION: Final = 8
Cells = NDArray[np.int64]
Shades = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """One randomized picture, and what can be said from it.

    own: the share of cells whose answer is the truth. around: the share guessed right from the 24 cells around, without
    the cell's own answer. ink: the unbiased estimate of all inked cells. region: the root mean square error of the
    estimated share of ink in regions of 8 × 8 cells.
    """

    label: str
    mechanism: RandomizedResponse
    cells: Cells
    own: float
    around: float
    ink: Fraction
    region: float


def story(*, series: int) -> Story:
    """Flip every cell of the portrait with probability 1/4, and with others."""
    # The picture is always the same; the series changes the coins, by the key they are drawn from.
    del series
    truth = portrait()
    told = [_told(label, mechanism, truth) for label, mechanism in _mechanisms()]
    chapter = next(each for each in told if each.label == _LN3)
    yes, no, heard = int(truth.sum()), int((1 - truth).sum()), int(chapter.cells.sum())
    expected = expected_yes(chapter.mechanism, yes, no)
    return Story(
        name="picture",
        title=f"Every fourth cell lies, and {percent(chapter.around)} of the cells follow from those around them",
        published=f"A picture of {truth.size:,} cells, ink or paper, after every cell lied with probability 1/4, each "
        "by coins of its own (randomized response, ε = ln 3).",
        known="How the coins fall on average, and nothing about the picture.",
        recovered="Of one cell, what it said is right with probability 3/4 "
        f"({percent(chapter.own, 1)} of the cells here). Of the whole, {heard:,} cells said ink where ¾·{yes:,} + "
        f"¼·{no:,} = {float(expected):,.0f} were expected; corrected, that is {float(chapter.ink):,.0f} inked cells, "
        f"and there are {yes:,}.",
        columns=(
            "published",
            "lies",
            "a cell, by its own answer",
            "a cell, by those around",
            "inked cells",
            "8 × 8 cells",
        ),
        rows=(
            ("the picture itself", "none", "100 % right", "", f"{yes:,}", "exact"),
            *((f"each cell at {each.label}", *_row(each)) for each in told),
        ),
        figures={
            "cells": truth.size,
            "inked": yes,
            "expected yes": str(expected),
            "observed yes": heard,
            "estimated inked": float(chapter.ink),
            "posterior of one cell": str(posterior(chapter.mechanism)),
            "right by own answer": chapter.own,
            "right by cells around": chapter.around,
        },
        charts={"picture": _mosaic(truth, told, chapter), "picture_rows": _rows(truth, chapter)},
        lesson="The answer of one cell can be denied, and what many cells have in common cannot be hidden by that: the "
        "cells around tell what this one would have said. Differential privacy protects what a person adds, not what "
        "others already tell about them.",
        sources=(
            "S. L. Warner, Randomized response, Journal of the American Statistical Association 60 (1965)",
            f"{CHAPTER}, Figure 1.4, after Ú. Erlingsson",
        ),
    )


def expected_yes(mechanism: RandomizedResponse, yes: int, no: int) -> Fraction:
    """E[Yes] exactly, from the mechanism's finite table: p·yes + (1 − p)·no; with p = 3/4, ¾·yes + ¼·no."""
    return _chance(mechanism, 1, 1) * yes + _chance(mechanism, 0, 1) * no


def posterior(mechanism: RandomizedResponse) -> Fraction:
    """The probability that a cell says the truth, for who thought ink and paper equally likely."""
    true, false = _chance(mechanism, 1, 1), _chance(mechanism, 0, 1)
    return true / (true + false)


def inked(mechanism: RandomizedResponse, answers: Cells) -> Fraction:
    """The unbiased count of ones: Σ(M(X_i) + p − 1)/(2p − 1), the correction once for each respondent (Lemma 1.18)."""
    p = mechanism.probability
    return sum((int(each) + p - 1 for each in answers.ravel()), start=Fraction(0)) / (2 * p - 1)


def around(mechanism: RandomizedResponse, answers: Cells, *, own: bool) -> Shades:
    """For every cell the unbiased share of ink in the 5 × 5 cells around it, with or without its own answer.

    At the edges the window is what lies on the picture.
    """
    size = 2 * _REACH + 1
    padded = np.pad(np.stack([answers, np.ones_like(answers)]), ((0, 0), (_REACH, _REACH), (_REACH, _REACH)))
    total, count = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(1, 2)).sum(axis=(3, 4))
    if not own:
        total, count = total - answers, count - 1
    p = float(mechanism.probability)
    return np.asarray((total / count + p - 1) / (2 * p - 1))


def _chance(mechanism: RandomizedResponse, x: int, output: int) -> Fraction:
    # The table of randomized response holds rationals only.
    return cast("Fraction", mechanism.finite().probability(x, output))


def _mechanisms() -> list[tuple[str, RandomizedResponse]]:
    # Probabilities for the typed ε are rounded down to rationals, certified.
    typed = [(f"ε = {epsilon}", RandomizedResponse.calibrate(epsilon=epsilon)) for epsilon in ("0.1", "0.5", "2")]
    return [*typed[:2], (_LN3, RandomizedResponse(probability="3/4")), *typed[2:]]


def _told(label: str, mechanism: RandomizedResponse, truth: Cells) -> _Told:
    cells = np.asarray(mechanism.sample(truth))
    guessed = around(mechanism, cells, own=False) >= 0.5
    wrong = [
        float(inked(mechanism, cells[place]) - int(truth[place].sum())) / _REGION**2 for place in _regions(truth.shape)
    ]
    return _Told(
        label=label,
        mechanism=mechanism,
        cells=cells,
        own=float((cells == truth).mean()),
        around=float((guessed == truth).mean()),
        ink=inked(mechanism, cells),
        region=float(np.sqrt(np.mean(np.square(wrong)))),
    )


def _regions(shape: tuple[int, ...]) -> list[tuple[slice, slice]]:
    tops, lefts = range(0, shape[0], _REGION), range(0, shape[1], _REGION)
    return [(slice(top, top + _REGION), slice(left, left + _REGION)) for top in tops for left in lefts]


def _row(told: _Told) -> tuple[str, ...]:
    lies = 1 - told.mechanism.probability
    return (
        percent(float(lies), 1),
        f"{percent(told.own, 1)} right",
        f"{percent(told.around, 1)} right",
        f"{float(told.ink):,.0f}",
        f"± {percent(told.region)}",
    )


def _mosaic(truth: Cells, told: list[_Told], chapter: _Told) -> Chart:
    seen = np.clip(around(chapter.mechanism, chapter.cells, own=True), 0, 1)
    shown = {each.label: Panel(label=f"{each.label}: {_lies(each)} lie", cells=each.cells.tolist()) for each in told}
    panels = [
        Panel(label="the truth", cells=truth.tolist()),
        shown["ε = 2"],
        shown[_LN3],
        Panel(label=f"{_LN3}: 5 × 5 means", cells=seen.tolist()),
        shown["ε = 0.5"],
        shown["ε = 0.1"],
    ]
    title = "One cell in four lies: each can deny its answer, and the sitter is still seen"
    note = "Every cell was randomized once for each panel, with coins of its own. Dark is ink."
    return mosaic(panels, title=title, note=note)


def _lies(told: _Told) -> str:
    return f"{percent(float(1 - told.mechanism.probability))} of cells"


def _rows(truth: Cells, chapter: _Told) -> Chart:
    estimates = [(i + 1, float(inked(chapter.mechanism, row))) for i, row in enumerate(chapter.cells)]
    return lines(
        [
            Line(label="the truth", points=[(i + 1, int(row.sum())) for i, row in enumerate(truth)]),
            Line(label=f"estimated from the answers, {_LN3}", points=estimates),
        ],
        title="Row by row, the corrected count of ink follows the truth",
        x="row of the picture, from the top",
        y="inked cells in the row, of 64",
        note="The estimate adds (answer + p − 1)/(2p − 1) over the row's 64 cells, with p = 3/4. Its standard error is "
        "6.9 cells whatever the truth is, so it may leave the range from 0 to 64.",
    )
