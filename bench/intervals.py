"""How often intervals hold the truth and how wide they are: variances, covariances, slopes; counts under tight limits.

    python bench/intervals.py             all of it; the exit code is the number of targets missed
    python bench/intervals.py moments     one part: moments or truth
    python bench/intervals.py --runs 500  how many draws, and a hundredth as many tables of counts

Moments: 1,200 and 4,000 rows, three kinds of columns, noise of both kinds. Targets at 95 %: coverage from 0.95 to
0.995, half-width at most 2.6 times the root of the mean squared error. A coverage misses its target where it is on the
wrong side by more than a one-sided test at 1e-6 allows. Truth: tables of 3,000 people, about 73,000 rows and 14 groups
under limits of 60 rows, 8 groups and 8 rows in a group, bias measured by group; `about="truth"` holds the true count in
at least 93 % of cells.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import quincunx as qx
from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace
from quincunx.noise.testing import key_of, keyed
from quincunx.table.aggregates import Part
from quincunx.table.aggregates.covariance import Covariance
from quincunx.table.aggregates.slope import Slope
from quincunx.table.aggregates.term import Lattice
from quincunx.table.aggregates.variance import Variance
from quincunx.table.expression import Column

RISK = Fraction(1, 20)
WIDEST, LEAST, MOST, TRUTH = 2.6, 0.95, 0.995, 0.93
BITS = 10
# Of the sum that a role stands for: bounds on its lattice, and how far one person moves it. y to 100, x to 40.
ROLES = {
    "products": (-1000, 1000, 0, 1000), "squares of y": (0, 2500, 1250, 1250), "squares of x": (0, 400, 200, 200),
    "squares": (0, 2500, 1250, 1250), "sum of y": (0, 100, 50, 50), "sum of x": (0, 40, 20, 20),
    "sum": (0, 100, 50, 50), "count": (1, 1, 0, 1),
}  # fmt: skip


def column(name: str, high: int) -> Column:
    """A whole number from 0 to `high`."""
    return Column(name=name, type="integer", nullable=False, low=Fraction(0), high=Fraction(high), step=Fraction(1))


Y, X = column("y", 100), column("x", 40)
ASKED: dict[str, Any] = {
    "variance": Variance(argument=Y, root=False, sample=True),
    "covariance": Covariance(argument=Y, other=X, sample=True),
    "slope": Slope(argument=Y, other=X),
}


def noises(kind: str, scale: int) -> Any:
    """Noise of `scale` times what one person moves."""
    if kind == "Laplace":
        return lambda size: DiscreteLaplace(scale=scale * size << BITS)
    return lambda size: DiscreteGaussian(sigma2=Fraction((scale * size << BITS) ** 2))


def points(kind: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """y and x: apart from each other, together, or far from the middle of their bounds."""
    source = np.random.default_rng(7)
    if kind == "far":
        x = source.integers(30, 41, rows)
        return np.clip(2 * x + source.integers(-15, 16, rows), 0, 100), x
    x, noise = source.integers(0, 41, rows), source.normal(0, 12, rows)
    rise = {"apart": 0.0, "together": 1.5}[kind]
    return np.clip(np.round(50 + rise * (x - 20) + noise), 0, 100).astype(np.int64), x


def sums(y: np.ndarray, x: np.ndarray) -> dict[str, int]:
    """What is measured of them, by roles."""
    t, s = y - 50, x - 20
    square, one = int((t * t - 1250).sum()), int(t.sum())
    return {
        "products": int((t * s).sum()), "squares of y": square, "squares": square, "count": len(t),
        "squares of x": int((s * s - 200).sum()), "sum of y": one, "sum": one, "sum of x": int(s.sum()),
    }  # fmt: skip


def truths(y: np.ndarray, x: np.ndarray) -> dict[str, float]:
    """The statistics themselves."""
    both = np.cov(y, x)
    return {"variance": both[0, 0], "covariance": both[0, 1], "slope": both[0, 1] / both[1, 1]}


def moments(runs: int) -> int:
    """Coverage, and half-widths beside the error."""
    print(f"moments, {runs} runs: coverage at 95 % and half-width / rmse; limits {LEAST} to {MOST}, and {WIDEST}")
    missed, slack = 0, -stats.norm.ppf(1e-6) * np.sqrt(np.array([LEAST * (1 - LEAST), MOST * (1 - MOST)]) / runs)
    for name, asked in ASKED.items():
        for kind in ("apart", "together", "far"):
            for rows in (1_200, 4_000):
                for law in ("Laplace", "Gaussian"):
                    data = points(kind, rows)
                    exact, wanted = sums(*data), truths(*data)[name]
                    make = noises(law, 3)
                    parts = [
                        Part(
                            lattice=Lattice(step=Fraction(1), low=low, high=high, centre=centre),
                            unit=Fraction(1, 1 << BITS),
                            noise=make(size),
                        )
                        for low, high, centre, size in (ROLES[role] for role in asked.roles)
                    ]
                    with keyed(key_of(f"{name} {kind} {rows} {law}")):
                        numbers = [
                            part.noise.sample(np.full(runs, exact[role] << BITS))
                            for part, role in zip(parts, asked.roles, strict=True)
                        ]
                    found = asked.estimate(numbers, parts, RISK)
                    covered = float(np.mean((found.low <= wanted) & (wanted <= found.high)))
                    error = float(np.sqrt(np.mean((found.near - wanted) ** 2)))
                    wide = float(np.median(found.high - found.low)) / 2 / error
                    held = LEAST - slack[0] <= covered <= MOST + slack[1] and wide <= WIDEST
                    missed += not held
                    told = f"{name:10} {kind:8} {rows:6,} rows {law:8} {covered:6.3f} {wide:5.2f}"
                    print(f"{told}  {'pass' if held else 'miss'}", flush=True)
    return missed


def generated(seed: int) -> pd.DataFrame:
    """3,000 people, about 73,000 rows, 14 groups; most of a person's rows in one of them."""
    chance = np.random.default_rng(seed)
    sizes = chance.lognormal(0, 1.2, 3000)
    counts = np.maximum(1, np.rint(sizes / sizes.sum() * 73_000)).astype(int)
    owners = np.repeat(np.arange(3000), counts)
    home, away = chance.integers(0, 14, 3000)[owners], chance.integers(0, 14, len(owners))
    return pd.DataFrame({"person": owners, "grp": np.where(chance.random(len(owners)) < 0.6, home, away)})


def truth(tables: int) -> int:
    """Intervals about the bounded count and about the true one."""
    print(f"\ntrue counts, {tables} tables of 14 groups, 95 %: coverage and median half-width in rows; limit {TRUTH}")
    limits, columns = {"rows": 60, "groups": 8, "per_group": 8}, {"grp": {"keys": list(range(14))}}
    question, missed = "SELECT grp, COUNT(*) AS n FROM t GROUP BY grp", 0
    for standard in (qx.standard.Pure(), qx.standard.ZCDP()):
        cells: dict[str, list[tuple[bool, float]]] = {"bounded": [], "truth": []}
        for seed in range(tables):
            frame = generated(seed)
            exact = frame.groupby("grp").size()
            with keyed(key_of(f"truth {seed} {standard.symbol}")), qx.Session(
                dataset="bench", version="1", ledger=":memory:", unit=qx.unit.AddRemove(key="person"),
                standard=standard, intensity=100, tables={"t": qx.Table(frame, limits=limits, columns=columns)},
            ) as opened:  # fmt: skip
                plain = opened.sql(question, spend=1)
                opened.limits("t", by="grp", spend=4, beyond=400)
                for about, answer in (("bounded", plain), ("truth", opened.sql(question, spend=1, about="truth"))):
                    ends = zip(answer["grp"], answer["n_low"], answer["n_high"], strict=True)
                    cells[about] += [(low <= exact[grp] <= high, (high - low) / 2) for grp, low, high in ends]
        for about, found in cells.items():
            covered, wide = np.mean([held for held, _ in found]), np.median([half for _, half in found])
            held = about == "bounded" or covered >= TRUTH
            missed += not held
            said = "" if about == "bounded" else "  pass" if held else "  miss"
            print(f"{standard.symbol} = 1, about the {about:8} {covered:6.3f} {wide:8.0f}{said}", flush=True)
    return missed


def main() -> int:
    """The parts that were asked for."""
    parser = argparse.ArgumentParser(description="Coverage and width of intervals.")
    parser.add_argument("part", nargs="?", choices=["moments", "truth"])
    parser.add_argument("--runs", type=int, default=2000)
    given = parser.parse_args()
    missed = 0
    if given.part in (None, "moments"):
        missed += moments(given.runs)
    if given.part in (None, "truth"):
        missed += truth(max(given.runs // 100, 1))
    return missed


if __name__ == "__main__":
    sys.exit(main())
