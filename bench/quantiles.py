"""Nine deciles from one charge beside nine separate ones, coverage of their intervals, and one median beside peers.

Three tables under ../shared/data (or QUINCUNX_DATA): wages of tax units (CPS), medical spending (RAND), purchases
(CDNOW). Errors are of ranks: how far the rank that is asked for lies from those that the answer covers, divided by C.

    python bench/quantiles.py [runs] [medians]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd

from quincunx.mechanisms import Histogram, QuantileFlip, Ranks
from quincunx.noise.testing import key_of, keyed
from quincunx.release.pricing import _mechanism
from quincunx.table import Grid, Measure, Part
from quincunx.table.aggregates.quantile import Quantile
from quincunx.table.expression import Column
from quincunx.table.measure import Vector

DATA = Path(os.environ.get("QUINCUNX_DATA", "../shared/data"))
NINE = tuple(Fraction(n, 10) for n in range(1, 10))
COLUMN = Column(type="integer", nullable=True, name="x", scan=0, level=0)


class Table:
    """Weights at every value, by the ℓ1 weights of a limit of C rows; values are in steps from 0."""

    def __init__(self, people: np.ndarray, values: np.ndarray, bound: int, buckets: int) -> None:
        self.bound, self.buckets = bound, buckets
        self.values = np.clip(np.floor(values + 0.5), 0, buckets - 1).astype(np.int64)
        _, own, counts = np.unique(people, return_inverse=True, return_counts=True)
        weights = np.minimum(1 << 20, (bound << 20) // counts)[own]
        dense = np.zeros(buckets, dtype=np.int64)
        np.add.at(dense, self.values, weights)
        self.given = Histogram.of(dense)
        self.below = np.concatenate(([0], np.cumsum(dense))) / 2**20
        # For peers: one value for each person, their largest.
        self.largest = pd.Series(self.values).groupby(own).max().to_numpy()

    def error(self, buckets: np.ndarray, level: Fraction) -> np.ndarray:
        """How far the rank lies from those that buckets cover, divided by C."""
        rank = float(level) * self.below[-1]
        return np.maximum(np.maximum(self.below[buckets] - rank, rank - self.below[buckets + 1]), 0) / self.bound

    def mechanism(
        self, levels: tuple[Fraction, ...], share: Fraction, *, norm: int, interval: bool, moves: bool
    ) -> tuple[Ranks, Part]:
        """What a release would draw by, without groups."""
        vector = Vector(kind="rows", norm=norm, bound2=Fraction(self.bound**2), bits=20)  # type: ignore[arg-type]
        grid = Grid(levels=levels, interval=interval, weight=self.bound << 20, moves=moves, apart=False)
        measure = Measure(
            vector=vector, argument=COLUMN, where=None, counts=False, step=Fraction(1), low=0, high=self.buckets - 1,
            centre=0, fraction=20, sensitivity2=Fraction(1), grid=grid,
        )  # fmt: skip
        found = cast(Ranks, _mechanism(measure, share))
        return found, Part(lattice=measure.lattice, unit=measure.unit, noise=found)


def tables() -> dict[str, Table]:
    """The three of them."""
    cps = pd.read_csv(DATA / "households" / "cps_tax_units.csv.gz", usecols=["e00200"])["e00200"].to_numpy()
    rand = pd.read_csv(DATA / "health" / "rand_hie.csv", usecols=["zper", "meddol"])
    cdnow = pd.read_csv(DATA / "userlog" / "cdnow.txt", sep=r"\s+", dtype={"customer_id": str})
    return {
        "CPS": Table(np.arange(len(cps)), cps / 100, 1, 5_001),
        "RAND": Table(rand["zper"].to_numpy(), rand["meddol"].to_numpy(), 5, 20_001),
        "CDNOW": Table(cdnow["customer_id"].to_numpy(), cdnow["dollar_value"].to_numpy() * 10, 10, 10_001),
    }


def errors(
    table: Table, levels: tuple[Fraction, ...], share: Fraction, runs: int, **how: bool | int
) -> tuple[float, float]:
    """The mean error of all levels, and the smallest coverage among them, or NaN."""
    drawn, part = table.mechanism(levels, share, **how)  # type: ignore[arg-type]
    answers = drawn.each(np.array([table.given] * runs, dtype=object))
    found, coverage = [], [1.0]
    for level in levels:
        found.append(table.error(drawn.at(answers, level), level).mean())
        if how["interval"]:
            ends = Quantile(argument=COLUMN, level=level, continuous=False).estimate([answers], [part], Fraction(1, 20))
            low, high = (each.astype(np.int64) for each in (ends.low, ends.high))
            rank = float(level) * table.below[-1]
            coverage.append(float(((table.below[low] <= rank) & (rank <= table.below[high + 1])).mean()))
    return float(np.mean(found)), min(coverage) if how["interval"] else float("nan")


def nine(runs: int) -> None:
    """One charge against nine, in every standard and unit."""
    print("error of nine deciles, in units of C: one charge, nine charges, ratio; smallest coverage of a level")
    for name, table in tables().items():
        for norm, shares in ((1, ("1/10", "1")), (2, ("1/200", "1/2"))):
            for share in map(Fraction, shares):
                for interval in (False, True):
                    for moves in (False, True):
                        how: dict[str, bool | int] = {"norm": norm, "interval": interval, "moves": moves}
                        one, coverage = errors(table, NINE, share, runs, **how)
                        apart = [errors(table, (level,), share / 9, runs, **how)[0] for level in NINE]
                        ratio = one / np.mean(apart) if np.mean(apart) else float("nan")
                        label = f"{name:6} {'ε' if norm == 1 else 'ρ'} = {float(share):5g} "
                        label += f"{'with' if interval else 'no  '} intervals {'replace   ' if moves else 'add/remove'}"
                        print(f"{label} {one:9.2f} {np.mean(apart):9.2f} {ratio:6.2f} {coverage:6.3f}", flush=True)


def medians(runs: int) -> None:
    """One median without interval beside opendp and diffprivlib, one value for each person, pure."""
    print("mean rank error of one median without interval; diffprivlib states replace with a known size")
    for name, full in tables().items():
        table = Table(np.arange(len(full.largest)), full.largest, 1, full.buckets)
        for epsilon in ("0.1", "1"):
            flip = QuantileFlip(level="1/2", buckets=table.buckets, epsilon=epsilon, weight=2**20, apart=False)
            ours = flip.each(np.array([table.given] * runs, dtype=object))[:, 0]
            shown = [f"{table.error(ours, Fraction(1, 2)).mean():.2f}"]
            for peer in (_opendp, _diffprivlib):
                drawn = peer(table, float(epsilon))
                shown.append(
                    "-"
                    if drawn is None
                    else f"{table.error(np.array([drawn() for _ in range(runs)]), Fraction(1, 2)).mean():.2f}"
                )
            print(f"{name:6} ε = {epsilon:4} ours {shown[0]}, opendp {shown[1]}, diffprivlib {shown[2]}", flush=True)


def _opendp(table: Table, epsilon: float) -> Callable[[], int] | None:
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    score = space >> dp.t.then_quantile_score_candidates(list(range(table.buckets)), 0.5)
    meas = dp.binary_search_chain(
        lambda scale: score >> dp.m.then_noisy_max(dp.max_divergence(), scale, negate=True), d_in=1, d_out=epsilon
    )
    data = table.largest.tolist()
    return lambda: int(meas(data))


def _diffprivlib(table: Table, epsilon: float) -> Callable[[], int] | None:
    try:
        from diffprivlib.tools import median
    except ImportError:
        return None
    top = table.buckets - 1
    data = table.largest
    return lambda: int(np.clip(np.floor(median(data, epsilon=epsilon, bounds=(0, top)) + 0.5), 0, top))


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    # Nobody is protected by these draws: the key makes a run repeatable.
    with keyed(key_of("bench quantiles")):
        nine(given[0] if given else 200)
        if len(given) != 1:
            medians(given[1] if given else 2_000)
