"""Differencing: two averages, before and after Rick came, are Rick's salary."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.attack.staff import HIGHEST, LOWEST, RICK, RICKS_SALARY, Staff, exposed, staff
from quincunx.attack.story import Story
from quincunx.attack.words import CHAPTER, dollars, percent
from quincunx.chart import Box, Chart, boxes
from quincunx.mechanisms import DiscreteLaplace
from quincunx.numbers import amount

_DRAWS: Final = 1_000
_LEAST: Final = 5
_EPSILONS: Final = (Fraction(1, 10), Fraction(1), Fraction(10))
_QUESTION: Final = "SELECT SUM(salary) AS total FROM staff"
Dollars = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """What the attack comes to at one ε. subtracted: estimates by subtraction; best: by the posterior's median.

    shown: the two averages of one real session. off: how far a published average is off, with 95 % confidence.
    """

    epsilon: Fraction
    subtracted: Dollars
    best: Dollars
    shown: tuple[float, float]
    off: float


def story(*, series: int) -> Story:
    """The chapter's firm, an interface that refuses small groups, and both averages with noise."""
    firm = staff(series)
    before, after = (Fraction(firm.total(people), people) for people in (RICK, RICK + 1))
    ricks = solved(before, after)
    trackers = exposed(firm, _LEAST)
    tried = [_tried(firm, epsilon) for epsilon in _EPSILONS]
    large, smaller = trackers[RICK]
    middle = abs(RICKS_SALARY - (LOWEST + HIGHEST) // 2)
    return Story(
        name="differencing",
        title=f"Two exact averages give Rick's salary to the dollar: {dollars(float(ricks))}",
        published=f"The average salary of 25 employees, {dollars(float(before))}, and of 26 after Rick was hired, "
        f"{dollars(float(after))}. Also an interface that adds up salaries exactly, and refuses groups of fewer than "
        f"{_LEAST} people or all but so few.",
        known="That Rick is the 26th, and each colleague's department, sex, floor and year.",
        recovered=f"26 × {int(after):,} − 25 × {int(before):,} = {int(ricks):,}: Rick's salary. Of the interface, the "
        f"sums of “{large}” and of “{smaller}” differ by Rick alone; so {len(trackers)} of 26 salaries come out "
        "exactly.",
        columns=("the averages", "by subtraction", "best guess", "within $10,000", "an average is off by (95 %)"),
        rows=(
            ("exact", *_cells(np.array([float(ricks)])), "0"),
            (f"exact, groups of {_LEAST} and more", "$0 off", "$0 off", percent(1), "0"),
            *((f"ε = {amount(each.epsilon)} each", *_compared(each)) for each in tried),
            ("none: the middle is guessed", "", f"{dollars(middle)} off", percent(0), ""),
        ),
        figures={
            "before": float(before),
            "after": float(after),
            "recovered": float(ricks),
            "salaries from two allowed sums": len(trackers),
            **{f"median error by subtraction at ε = {amount(e.epsilon)}": _typical(e.subtracted) for e in tried},
            **{f"median error of the best guess at ε = {amount(e.epsilon)}": _typical(e.best) for e in tried},
            **{f"averages of one session at ε = {amount(e.epsilon)}": _pair(e.shown) for e in tried},
        },
        charts={"differencing": _chart(float(ricks), tried)},
        lesson="Exact answers add up: whoever may ask twice may subtract, and no least size of groups prevents it. "
        "Noise hides one salary. With 26 people it hides the average too, at a small ε: what is learnt about a group "
        "and not about its members needs a large group.",
        sources=(
            f"{CHAPTER}, section 1.2.3",
            "D. E. Denning, P. J. Denning, M. D. Schwartz, The tracker (1979)",
        ),
    )


def solved(before: Fraction, after: Fraction, people: int = RICK) -> Fraction:
    """x with (x + people·before)/(people + 1) = after."""
    return (people + 1) * after - people * before


def noise(epsilon: Fraction) -> DiscreteLaplace:
    """What a session adds to the sum: one person moves it by at most 1,000,000 dollars."""
    return DiscreteLaplace(scale=HIGHEST / epsilon, sensitivity=HIGHEST)


def best_guesses(subtracted: Dollars, scale: float) -> Dollars:
    """The medians of the attacker's belief in Rick's salary, who at first finds all from 0 to 1,000,000 equally likely.

    The difference of two Laplace variables of scale b has the density (1 + |t|/b)·e^(−|t|/b)/4b.
    """
    salaries = np.arange(LOWEST, HIGHEST + 1, 2_000, dtype=np.float64)
    away = np.abs(subtracted[:, None] - salaries[None, :]) / scale
    # The common factor e^(−smallest) is taken out, so that no row underflows.
    weights = (1 + away) * np.exp(away.min(axis=1, keepdims=True) - away)
    reached = np.cumsum(weights, axis=1) >= weights.sum(axis=1, keepdims=True) / 2
    return np.asarray(salaries[reached.argmax(axis=1)])


def asked(firm: Staff, people: int, epsilon: Fraction) -> Any:
    """A real session's answer to the sum of the first so many salaries."""
    import duckdb

    from quincunx.release import Session
    from quincunx.spec import standard, unit
    from quincunx.table import Table

    connection = duckdb.connect(":memory:")
    salaries = np.array(firm.salaries[:people], dtype=np.int64)
    connection.register("handed", {"person": np.arange(people, dtype=np.int64), "salary": salaries})
    connection.execute("CREATE TABLE staff AS SELECT * FROM handed")
    table = Table(connection.table("staff"), limits={"rows": 1}, columns={"salary": {"bounds": (LOWEST, HIGHEST)}})
    with Session(
        dataset="gluble",
        version=str(people),
        ledger=":memory:",
        tables={"staff": table},
        unit=unit.AddRemove(key="person"),
        standard=standard.Pure(),
        intensity=epsilon,
    ) as session:
        return session.sql(_QUESTION, spend=epsilon)


def _tried(firm: Staff, epsilon: Fraction) -> _Tried:
    mechanism = noise(epsilon)
    first = np.asarray(mechanism.sample(np.full(_DRAWS, firm.total(RICK), dtype=np.int64)), dtype=np.float64)
    second = np.asarray(mechanism.sample(np.full(_DRAWS, firm.total(RICK + 1), dtype=np.int64)), dtype=np.float64)
    subtracted = second - first
    return _Tried(
        epsilon=epsilon,
        subtracted=np.clip(subtracted, LOWEST, HIGHEST),
        best=best_guesses(subtracted, float(mechanism.scale)),
        shown=(asked(firm, RICK, epsilon).value / RICK, asked(firm, RICK + 1, epsilon).value / (RICK + 1)),
        off=mechanism.error("0.05") / (RICK + 1),
    )


def _typical(estimates: Dollars) -> float:
    return float(np.median(np.abs(estimates - RICKS_SALARY)))


def _cells(estimates: Dollars) -> tuple[str, str, str]:
    off = f"{dollars(_typical(estimates))} off"
    return off, off, percent(float((np.abs(estimates - RICKS_SALARY) <= 10_000).mean()))


def _compared(tried: _Tried) -> tuple[str, str, str, str]:
    subtracted, best, near = f"{dollars(_typical(tried.subtracted))} off", *_cells(tried.best)[1:]
    return subtracted, best, near, dollars(tried.off)


def _pair(shown: tuple[float, float]) -> str:
    return f"{dollars(shown[0])}, then {dollars(shown[1])}"


def _chart(ricks: float, tried: list[_Tried]) -> Chart:
    data = [Box(label="exact", values=[ricks])]
    data += [Box(label=f"ε = {amount(each.epsilon)}", values=each.subtracted.tolist()) for each in reversed(tried)]
    return boxes(
        data,
        title="Exact averages give Rick's salary; at ε = 1 their difference can be anything",
        x="how the two averages were published",
        y="Rick's salary by subtraction (dollars)",
        note=f"{_DRAWS:,} draws for each ε, moved to the nearest salary from 0 to {HIGHEST:,} dollars. Rick earns "
        f"{RICKS_SALARY:,}. Boxes hold the middle half of the draws.",
        zero=True,
    )
