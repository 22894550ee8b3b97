"""How often simulated intervals of SQL above the noise hold the truth, by kind of output.

Tables of 14 groups whose true counts are known, noise of the stored law, and the statement worked out as `answer.then`
does it. Prints the share of intervals that hold the true value, and their mean width in standard errors of the output.

    python bench/then.py [tables]    the exit code is the number of kinds below 0.93
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np

from quincunx.mechanisms import Additive, DiscreteGaussian, DiscreteLaplace
from quincunx.release.column import Column
from quincunx.release.derive import derived_columns
from quincunx.release.drawn import Drawn, Motion

GROUPS, SCALE, BITS = 14, 10, 20
LEAST = 0.93
KINDS = {
    "share of the total": "n / SUM(n) OVER ()",
    "share of the largest": "n / MAX(n) OVER ()",
    "ratio to the group before": "n / LAG(n) OVER (ORDER BY g)",
    "rank": "RANK() OVER (ORDER BY n DESC)",
    "square root": "SQRT(n)",
    "total (exact)": "SUM(n) OVER ()",
    "change (exact)": "n - LAG(n) OVER (ORDER BY g)",
}
# How far apart the groups are: (smallest, largest) true counts.
WORLDS = {"far apart": (200, 5000), "close": (300, 340), "small": (60, 150)}


def noises() -> dict[str, Additive]:
    """Laplace noise of scale 10 and Gaussian noise of the same variance."""
    unit = 2**BITS
    return {
        "Laplace": DiscreteLaplace(scale=SCALE * unit, sensitivity=1),
        "Gaussian": DiscreteGaussian(sigma2=Fraction(2 * SCALE**2) * unit**2, sensitivity2=Fraction(1)),
    }


def table(noisy: np.ndarray, noise: Additive, name: str) -> tuple[Column, ...]:
    """A published table of counts."""
    ones, unit = (1.0,) * GROUPS, 2.0**-BITS
    motion = Motion(number=0, noise=noise, unit=unit, slopes=ones)
    half = noise.error(Fraction(1, 20)) * unit
    low, high = (tuple((noisy + side * half).tolist()) for side in (-1, 1))
    drawn = Drawn(
        origin=name,
        groups=tuple(range(GROUPS)),
        centres=tuple(noisy.tolist()),
        motions=(motion,),
        linear=True,
        low=low,
        high=high,
    )
    counts = tuple(int(value) for value in np.rint(noisy))
    return (
        Column(name="g", type="integer", role="key", values=tuple(range(GROUPS))),
        Column(name="n", type="integer", role="value", values=counts, drawn=drawn),
    )


def truths(exact: np.ndarray) -> dict[str, np.ndarray]:
    """The true value of each kind in each group."""
    before = np.concatenate([[np.nan], exact[:-1]])
    return {
        "share of the total": exact / exact.sum(),
        "share of the largest": exact / exact.max(),
        "ratio to the group before": exact / before,
        "rank": 1 + (exact[None, :] > exact[:, None]).sum(axis=1),
        "square root": np.sqrt(exact),
        "total (exact)": np.full(GROUPS, exact.sum()),
        "change (exact)": exact - before,
    }


def coverage(world: tuple[int, int], noise: Additive, tables: int, seed: int) -> dict[str, tuple[float, float]]:
    """For each kind, the share of intervals that hold the truth, and their mean width over the output's error."""
    chance = np.random.default_rng(seed)
    chosen = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(KINDS.values()))
    held: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    wide: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for run in range(tables):
        exact = np.rint(np.exp(chance.uniform(*np.log(world), GROUPS)))
        spread = float(noise.spread)
        drawn = chance.laplace(scale=spread, size=GROUPS) if noise.norm == 1 else chance.normal(0, spread**0.5, GROUPS)
        published = table(exact + np.rint(drawn) * 2.0**-BITS, noise, f"{seed}/{run}")
        sql = f"SELECT g, {chosen} FROM answer ORDER BY g"
        columns = derived_columns({"answer": published}, sql, Fraction(19, 20))
        found = {column.name: column.values for column in columns}
        for i, (kind, truth) in enumerate(truths(exact).items()):
            for value, low, high, se in zip(
                truth, *(found[f"c{i}_{end}"] for end in ("low", "high", "se")), strict=True
            ):
                if low is not None and np.isfinite(value):
                    held[kind].append(low - 1e-9 <= value <= high + 1e-9)
                    wide[kind].append((high - low) / se if se else 0.0)
    return {kind: (float(np.mean(held[kind])), float(np.mean(wide[kind]))) for kind in KINDS}


def main(tables: int) -> int:
    """Print the figures."""
    missed = 0
    print(
        f"share of 95 % intervals that hold the truth, and width in standard errors; {tables} tables of {GROUPS} groups"
    )
    for name, world in WORLDS.items():
        for law, noise in noises().items():
            print(f"counts {name} ({world[0]} to {world[1]}), {law} noise")
            for kind, (share, width) in coverage(world, noise, tables, 7).items():
                # Totals are one number in all groups, so that few tables say little of them; they are exact.
                held = share >= LEAST or kind.endswith("(exact)")
                missed += not held
                print(f"  {kind:28} {share:.3f}  {width:.1f}{'' if held else '  missed'}")
    return missed


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 150))
