"""Reconstruction: a thousand rough answers about two hundred people, and the secret bit of nearly every one of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from quincunx.attack.decoding import reconstruct
from quincunx.attack.secret_column import (
    EPSILONS,
    KINDS,
    PEOPLE,
    QUESTIONS,
    ROUGHNESS,
    Column,
    by_epsilon,
    by_roughness,
    ceiling,
    column,
    private_noise,
)
from quincunx.attack.story import Story
from quincunx.attack.words import percent
from quincunx.chart import Axis, Chart, Line, lines
from quincunx.errors import BudgetError
from quincunx.numbers import amount
from quincunx.spec import standard, unit

if TYPE_CHECKING:
    from quincunx.release import Session

# The story itself is told by `quincunx.attack.run`.
__all__ = ["reconstruct"]

_TOTAL, _EACH = Fraction(1, 2), Fraction(1, 100)
_RUNS: Final = 5
_WORDS: Final = {
    "normal": "normal noise, rounded to people",
    "bounded": "noise within fixed bounds",
    "rounded": "the truth, rounded to a multiple",
}
_SOURCES: Final = (
    "I. Dinur, K. Nissim, Revealing information while preserving privacy (PODS 2003), doi:10.1145/773153.773173",
    "C. Dwork, F. McSherry, K. Talwar, The price of privacy and the limits of LP decoding (STOC 2007), "
    "doi:10.1145/1250790.1250804",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """What a session did with the questions. answers: to the first ones. refusal: the sentence at the next.

    spent: what is gone then. recovered: the share of bits that the linear program finds from the answers.
    """

    answers: tuple[int, ...]
    refusal: str
    spent: Fraction
    recovered: float


def story(*, series: int) -> Story:
    """Ask how many of a random half have it, a thousand times, and solve for each person."""
    source = np.random.default_rng((series, 2003))
    rough, private = by_roughness(source, 1), by_epsilon(source, EPSILONS, _RUNS)
    stopped = with_ledger(column(source))
    root = PEOPLE**0.5
    tenth, half = ROUGHNESS.index(0.1), EPSILONS.index(_TOTAL)
    laplace, gaussian = private_noise(column(source), _TOTAL)
    found, left = rough["normal"][tenth], private["gaussian"][half]
    rows = [
        (f"{_WORDS[kind]}, error {0.1 * root:.1f} people", "none", percent(rough[kind][tenth], 1)) for kind in KINDS
    ]
    for place, epsilon in enumerate(EPSILONS):
        for name, words in (("laplace", "Laplace noise"), ("gaussian", "normal noise, δ = 10⁻⁶")):
            rows.append((f"Quincunx, {words}", f"ε = {amount(epsilon)}", percent(private[name][place], 1)))
    rows.append(
        (f"Quincunx, a session: {len(stopped.answers)} answers, then refused", "ε = 0.5", percent(stopped.recovered, 1))
    )
    return Story(
        name="reconstruction",
        title=f"{QUESTIONS:,} rough answers give back {percent(found)} of a secret column; under ε = 0.5 they give "
        f"{percent(left)}, and a coin 50 %",
        published=f"Answers to {QUESTIONS:,} questions of the kind “how many of these people have it?” about {PEOPLE} "
        f"people, each question about a random half of them, each answer off by about {0.1 * root:.1f} people.",
        known="Who was asked about in each question; nothing about anyone's secret.",
        recovered=f"A linear program finds the column that is closest to all answers: {percent(found, 1)} of the bits "
        f"are right at errors of 0.1·√n = {0.1 * root:.1f} people, {percent(rough['normal'][-1], 1)} at 2·√n = "
        f"{2 * root:.0f}. Under ε = 0.5 for all questions together, normal noise has a standard deviation of "
        f"{float(gaussian.variance) ** 0.5:.0f} people (Laplace: {float(laplace.variance) ** 0.5:,.0f}), and "
        f"{percent(left, 1)} ({percent(private['laplace'][half], 1)}) are right.",
        columns=("how the answers were made", "guarantee", "bits recovered"),
        rows=tuple(rows),
        figures={
            "people": PEOPLE,
            "questions": QUESTIONS,
            **{f"{kind} noise of 0.1·√n": rough[kind][tenth] for kind in KINDS},
            **{f"laplace, ε = {amount(e)}": private["laplace"][i] for i, e in enumerate(EPSILONS)},
            **{f"gaussian, ε = {amount(e)}": private["gaussian"][i] for i, e in enumerate(EPSILONS)},
            "no attack exceeds on average at ε = 0.5": ceiling(_TOTAL),
            "standard deviation, laplace, ε = 0.5": laplace.variance**0.5,
            "standard deviation, gaussian, ε = 0.5": gaussian.variance**0.5,
            "answered by the session": len(stopped.answers),
            "spent by the session": str(stopped.spent),
            "recovered from the session": stopped.recovered,
            "refusal": stopped.refusal,
        },
        charts={"reconstruction_noise": _by_noise(rough), "reconstruction_epsilon": _by_epsilon(private)},
        lesson="Answers that are too accurate, to too many questions, give everything away, however the errors are "
        "made: only errors that grow with the number of questions protect. A budget for all questions together makes "
        "them grow, and refuses when it is spent.",
        sources=_SOURCES,
    )


def with_ledger(secret: Column) -> Stopped:
    """The same questions to a real session: budget ε = 0.5, every question at ε = 0.01."""
    answers: list[int] = []
    refusal = ""
    with _session(secret) as session:
        for question in secret.questions:
            about = ", ".join(str(person) for person in np.flatnonzero(question))
            try:
                found = session.sql(f"SELECT SUM(secret) AS n FROM people WHERE person IN ({about})", spend=_EACH)
            except BudgetError as error:
                refusal = str(error)
                break
            answers.append(int(found.value))
        spent = session.spent
    asked = Column(bits=secret.bits, questions=secret.questions[: len(answers)])
    return Stopped(answers=tuple(answers), refusal=refusal, spent=spent, recovered=asked.recovered(answers))


def _session(secret: Column) -> Session:
    # An engine is loaded for this part of the story alone.
    import duckdb

    from quincunx.release import Session
    from quincunx.table import Table

    connection = duckdb.connect(":memory:")
    connection.register("handed", {"person": np.arange(secret.bits.size), "secret": secret.bits})
    connection.execute("CREATE TABLE people AS SELECT * FROM handed")
    columns = {"secret": {"bounds": (0, 1)}}
    return Session(
        dataset="column",
        version="1",
        ledger=":memory:",
        tables={"people": Table(connection.table("people"), limits={"rows": 1}, columns=columns)},
        unit=unit.Replace(key="person"),
        standard=standard.Pure(),
        intensity=_TOTAL,
    )


def _by_noise(rough: dict[str, list[float]]) -> Chart:
    return lines(
        [
            *(
                Line(label=_WORDS[kind], points=[(x, 100 * y) for x, y in zip(ROUGHNESS, rough[kind], strict=True)])
                for kind in KINDS
            ),
            Line(label="a coin", points=[(ROUGHNESS[0], 50), (ROUGHNESS[-1], 50)], marks=False),
        ],
        title="Errors well below √n protect nobody, whatever their kind",
        x=Axis(
            title="size of the errors: their standard deviation, as a share of √n",
            scale="log",
            ticks={share: f"{share:g}" for share in ROUGHNESS},
        ),
        y=Axis(title="people whose secret bit is recovered (%)", ticks={y: str(y) for y in range(40, 101, 10)}),
        note=f"n = {PEOPLE} people, √n = {PEOPLE**0.5:.1f}; {QUESTIONS:,} questions about random halves, a linear "
        "program, one run for each point. Rounding is to a multiple of √12 times the size shown.",
    )


def _points(shares: list[float]) -> list[tuple[float, float]]:
    return [(float(epsilon), 100 * share) for epsilon, share in zip(EPSILONS, shares, strict=True)]


def _by_epsilon(private: dict[str, list[float]]) -> Chart:
    xs = [float(epsilon) for epsilon in EPSILONS]
    fine = [10 ** (-1 + 3 * place / 60) for place in range(61)]
    bound = [(x, 100 * ceiling(Fraction(x).limit_denominator(10**6))) for x in fine]
    return lines(
        [
            Line(label="normal noise, δ = 10⁻⁶", points=_points(private["gaussian"])),
            Line(label="Laplace noise", points=_points(private["laplace"])),
            Line(label="no attack is above this on average", points=bound, marks=False),
            Line(label="a coin", points=[(xs[0], 50), (xs[-1], 50)], marks=False),
        ],
        title="Under ε = 0.5 for all questions together, the attack does hardly better than a coin",
        x=Axis(title="ε for all questions together", scale="log", ticks={x: f"{x:g}" for x in xs}),
        y=Axis(title="people whose secret bit is recovered (%)", ticks={y: str(y) for y in range(40, 101, 10)}),
        note=f"n = {PEOPLE} people, {QUESTIONS:,} questions, a linear program, {_RUNS} runs for each point. The bound "
        "is e^ε/(1 + e^ε), for an attacker who knows everyone else's bit; with δ it is higher by less than δ.",
    )
