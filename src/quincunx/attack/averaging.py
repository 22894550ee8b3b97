"""Averaging: the same question again and again, with and without a ledger."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.attack.story import Story
from quincunx.attack.words import percent
from quincunx.chart import Axis, Chart, Line, lines
from quincunx.errors import BudgetError
from quincunx.mechanisms import DiscreteLaplace

if TYPE_CHECKING:
    from quincunx.release import Session

_PEOPLE: Final = 2_000
_EACH, _TOTAL = Fraction(1, 10), Fraction(1)
_RUNS: Final = 400
_ASKED: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
_REPEATS: Final = 100
_QUESTION: Final = "SELECT COUNT(*) AS n FROM patients WHERE flu"
# Other words for the same statistic: read, they are the same question.
_SAME: Final = (
    "select count(*) as m from patients where flu",
    "SELECT COUNT(*) AS n FROM patients AS p WHERE p.flu",
    "SELECT COUNT(*) * 1 AS n FROM patients WHERE flu",
    "WITH ill AS (SELECT * FROM patients WHERE flu) SELECT COUNT(*) AS n FROM ill",
)
Errors = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a session with a ledger did. repeats: the answers to the same question. same: to the same in other words.

    others: the answers to other questions with the same true answer, each paid for until the budget refused. refusal:
    the sentence of the refusal. spent: the budget that is gone at the end. again: the first question once more.
    """

    repeats: tuple[int, ...]
    same: tuple[int, ...]
    others: tuple[int, ...]
    refusal: str
    spent: Fraction
    again: int


def story(*, series: int) -> Story:
    """Ask how many have the flu, ten thousand times."""
    ill = _ill(series)
    truth = len(ill)
    means = running_means(_RUNS, _ASKED)
    exact = (np.rint(means) == 0).mean(axis=0)
    enough = next((k for k, share in zip(_ASKED, exact, strict=True) if share >= 0.95), _ASKED[-1])
    kept = with_ledger(ill)
    paid = np.mean([kept.repeats[0], *kept.others])
    admitted = 1 + len(kept.others)
    root = np.sqrt((means**2).mean(axis=0))
    at = dict(zip(_ASKED, root, strict=True))
    return Story(
        name="averaging",
        title=f"Asked {enough:,} times, fresh noise averages out to the exact count; with a ledger it is never fresh",
        published=f"How many of {_PEOPLE:,} patients have the flu, with noise at ε = 0.1, to anyone who asks, as often "
        "as they ask.",
        known="The noise has the mean 0.",
        recovered=f"The mean of k answers errs by 1/√k of one: {at[1]:.1f} people at k = 1, {at[100]:.2f} at k = 100, "
        f"{at[10_000]:.3f} at k = 10,000. Rounded, it is exactly right in {percent(float(exact[-1]), 1)} of "
        f"{_RUNS} runs at k = 10,000, where ε = 0.1 has become ε = 1,000.",
        columns=("who asks whom", "ε in the end", "answers", "the mean is off by"),
        rows=(
            ("no ledger, once", "0.1", "1", f"{at[1]:.1f} people"),
            ("no ledger, 100 times", "10", "100 different draws", f"{at[100]:.2f} people"),
            ("no ledger, 10,000 times", "1,000", "10,000 different draws", f"{at[10_000]:.3f} people"),
            (f"ledger, {_REPEATS} times", "0.1", f"{_REPEATS} times {kept.repeats[0]:,}", f"{at[1]:.1f} people"),
            (f"ledger, {len(kept.same)} other wordings", "0.1", f"{len(kept.same)} times {kept.same[0]:,}", "the same"),
            (
                "ledger, other questions, same truth",
                f"{float(kept.spent):g}",
                f"{admitted} answers, then refused",
                f"{at[10]:.1f} people",
            ),
        ),
        figures={
            "truth": truth,
            "repeats until 95 % of runs are exact": enough,
            "share of runs exact at 10,000": float(exact[-1]),
            "error at 1": float(at[1]),
            "error at 10,000": float(at[10_000]),
            "different answers with a ledger": len({*kept.repeats, *kept.same, kept.again}),
            "admitted": admitted,
            "spent": str(kept.spent),
            "mean of the paid answers": float(paid),
            "refusal": kept.refusal,
        },
        charts={"averaging": _chart(at)},
        lesson="Every fresh draw tells a little more. A ledger draws once for each question, shows what it stored to "
        "whoever asks again, charges whatever is not provably the same question, and refuses when the total is spent: "
        "then all answers together tell no more than the total ε.",
        sources=("D. E. Denning, Secure statistical databases with random sample queries (1980)",),
    )


def running_means(runs: int, asked: tuple[int, ...]) -> Errors:
    """The error of the mean of k fresh answers, for each run (rows) and each k of `asked` (columns)."""
    draws = np.asarray(DiscreteLaplace(scale=1 / _EACH).sample(np.zeros((runs, max(asked)), dtype=np.int64)))
    totals = np.cumsum(draws, axis=1)[:, np.array(asked) - 1]
    return np.asarray(totals / np.array(asked))


def with_ledger(ill: frozenset[int]) -> Kept:
    """The same through a real session: budget ε = 1, every question at ε = 0.1."""
    with _session(ill) as session:
        repeats = tuple(int(session.sql(_QUESTION, spend=_EACH).value) for _ in range(_REPEATS))
        same = tuple(int(session.sql(text, spend=_EACH).value) for text in _SAME)
        others, refusal = [], ""
        # Conditions that everyone fulfils: the true answer stays, but no machine can know that of all questions.
        for low in range(_PEOPLE):
            try:
                others.append(int(session.sql(f"{_QUESTION} AND age >= -{low}", spend=_EACH).value))
            except BudgetError as error:
                refusal = str(error)
                break
        again = int(session.sql(_QUESTION, spend=_EACH).value)
        return Kept(repeats=repeats, same=same, others=tuple(others), refusal=refusal, spent=session.spent, again=again)


def _ill(series: int) -> frozenset[int]:
    draw = random.Random(f"flu {series}")
    return frozenset(draw.sample(range(_PEOPLE), draw.randint(300, 500)))


def _session(ill: frozenset[int]) -> Session:
    import duckdb

    from quincunx.release import Session
    from quincunx.spec import standard, unit
    from quincunx.table import Table

    people = np.arange(_PEOPLE, dtype=np.int64)
    flu = np.array([person in ill for person in people.tolist()])
    connection = duckdb.connect(":memory:")
    connection.register("handed", {"person": people, "age": people % 90, "flu": flu})
    connection.execute("CREATE TABLE patients AS SELECT * FROM handed")
    return Session(
        dataset="clinic",
        version="1",
        ledger=":memory:",
        tables={"patients": Table(connection.table("patients"), limits={"rows": 1})},
        unit=unit.AddRemove(key="person"),
        standard=standard.Pure(),
        intensity=_TOTAL,
    )


def _chart(at: dict[int, float]) -> Chart:
    most = int(_TOTAL / _EACH)
    return lines(
        [
            Line(label="no ledger: fresh noise every time", points=list(at.items())),
            Line(label="ledger, the same question", points=[(k, at[1]) for k in at]),
            Line(label="ledger, other questions until ε = 1 is spent", points=[(k, at[min(k, most)]) for k in at]),
            Line(
                label="half a person: rounding gives the exact count", points=[(1, 0.5), (_ASKED[-1], 0.5)], marks=False
            ),
        ],
        title="Without a ledger the noise averages out; with one it cannot",
        x=Axis(title="how often it is asked, each time at ε = 0.1", scale="log"),
        y=Axis(title="error of the mean of the answers (people, root mean square)", scale="log"),
        note=f"Over {_RUNS} runs. The same question gets its stored answer at no cost; after {most} questions with the "
        "same true answer the budget of ε = 1 refuses.",
    )
