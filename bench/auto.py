"""Sums whose bounds are chosen, beside those at the best rung: errors on three tables.

    python bench/auto.py [runs]          tables of errors; the exit code is the number of targets missed
    python bench/auto.py limits [runs]   counts by group whose limits are chosen, by rows and by lengths

Tables under ../shared/data (or QUINCUNX_DATA): wages of tax units (CPS), medical spending (RAND), purchases (CDNOW).
Errors are relative to the sum of all values, weighted by the limits as all answers are, and not clipped: what a bound
cuts off counts. The best rung is the one whose root mean square error is smallest when all of the spend goes into its
noise: nobody can know it. Targets are at ε = 1, add/remove, a quarter of the share for the choice: the median error at
most 2.5 times that of the best rung, the 99th percentile at most 5 times that of the best rung.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import cast
from unittest.mock import patch

import numpy as np
import pandas as pd

import quincunx as qx
from quincunx.mechanisms import LadderSum
from quincunx.noise.testing import key_of, keyed
from quincunx.release import ladder
from quincunx.release.pricing import _noise, price
from quincunx.table.rules import climbing

DATA = Path(os.environ.get("QUINCUNX_DATA", "../shared/data"))
MEDIAN, TAIL = 2.5, 5.0


def tables() -> dict[str, tuple[pd.DataFrame, int, str]]:
    """People and their values, how many rows of one person count, and the step."""
    cps = pd.read_csv(DATA / "households" / "cps_tax_units.csv.gz", usecols=["e00200"])["e00200"]
    rand = pd.read_csv(DATA / "health" / "rand_hie.csv", usecols=["zper", "meddol"])
    cdnow = pd.read_csv(DATA / "userlog" / "cdnow.txt", sep=r"\s+", dtype={"customer_id": str})
    return {
        "CPS": (pd.DataFrame({"person": np.arange(len(cps)), "x": cps}), 1, "1"),
        "RAND": (rand.rename(columns={"zper": "person", "meddol": "x"}), 5, "0.01"),
        "CDNOW": (cdnow[["customer_id", "dollar_value"]].set_axis(["person", "x"], axis=1), 10, "0.01"),
    }


def errors(
    frame: pd.DataFrame, rows: int, step: str, standard: object, unit: object, spend: Fraction, runs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Relative errors of answers with a chosen bound, and at the best rung without a price."""
    declared = {"x": {"bounds": {"auto": {"from": 1, "to": "1e9"}}, "step": step}}
    with qx.Session(
        dataset="bench", version="1", tables={"t": qx.Table(frame, limits={"rows": rows}, columns=declared)},
        unit=unit, standard=standard, intensity=1000, ledger=":memory:",
    ) as opened:  # fmt: skip
        program = opened._dataset.program("SELECT SUM(x) AS s FROM t")
        exact = opened._connect().run(program).measures[0]
    found, units = price(program, standard, spend), [float(each.unit) for each in program.measures[0].sums]  # type: ignore[arg-type]
    mechanism, truth = cast(LadderSum, found.noise[0]), float(exact[0, -1]) * units[-1]
    answers = np.concatenate([mechanism.each(exact) for _ in range(runs)])
    chosen = np.abs([value * units[rung] - truth for rung, value in answers.tolist()]) / truth
    share = standard.of_noise(spend)  # type: ignore[attr-defined]
    whole = _noise(Fraction(1), share, norm=mechanism.norm, rounded=False)
    best = np.full(runs, np.inf)
    for rung, square in enumerate(mechanism.squares):
        noisy = whole.stretched(square).each(np.repeat(exact[:, len(units) + rung], runs))
        off = np.abs(noisy * units[rung] - truth) / truth
        best = off if rms(off) < rms(best) else best
    return chosen, best


def rms(errors: np.ndarray) -> float:
    """The root of their mean square."""
    return float(np.sqrt(np.mean(errors**2)))


def main(runs: int) -> int:
    """All of it."""
    missed, known = 0, tables()
    add, replace = qx.unit.AddRemove(key="person"), qx.unit.Replace(key="person")
    cases = [
        (qx.standard.Pure(), add, "0.1"), (qx.standard.Pure(), add, "1"), (qx.standard.Pure(), replace, "1"),
        (qx.standard.ZCDP(), add, "0.005"), (qx.standard.ZCDP(), add, "0.5"),
    ]  # fmt: skip
    for part in ("1/4", "1/8", "1/2"):
        ladder.PRICE = Fraction(part)  # type: ignore[misc]
        print(f"\n{part} of the share for the choice, {runs} runs: relative error of SUM")
        print("                               chosen bound           best rung            ratios")
        print("table   spend                  median      99 %    median      99 %    median      99 %")
        for name, (frame, rows, step) in known.items():
            for standard, unit, spend in cases if part == "1/4" else cases[1:2]:
                with keyed(key_of(f"auto {name} {part} {spend} {unit}")):
                    chosen, best = errors(frame, rows, step, standard, unit, Fraction(spend), runs)
                ours, theirs = ([float(np.quantile(each, q)) for q in (0.5, 0.99)] for each in (chosen, best))
                ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
                held = (standard, unit, spend, part) == (qx.standard.Pure(), add, "1", "1/4")
                bad = held and (ratios[0] > MEDIAN or ratios[1] > TAIL)
                missed += bad
                label = f"{name:6}  {standard.symbol} = {spend:5} {'replace' if unit is replace else 'add/remove':10}"
                print(
                    f"{label} {ours[0]:9.5f} {ours[1]:9.5f} {theirs[0]:9.5f} {theirs[1]:9.5f} "
                    f"{ratios[0]:9.2f} {ratios[1]:9.2f}{'  missed' if bad else '  held' if held else ''}",
                    flush=True,
                )
    return missed


def limits(runs: int) -> int:
    """Counts by 14 groups of generated people, with Gaussian noise: what is won by choosing lengths and not rows."""
    source = np.random.default_rng(5)
    held = np.minimum(source.geometric(1 / 24.5, 3000), 200)
    likes, people = source.dirichlet(np.full(14, 0.8), 3000), np.repeat(np.arange(3000), held)
    frame = pd.DataFrame({"person": people, "g": [source.choice(14, p=likes[person]) for person in people]})
    true = frame.groupby("g").size().to_numpy()
    declared = {"g": {"type": "integer", "keys": list(range(14))}}
    print(f"root mean square error of counts by group, {len(frame):,} rows, medians of {runs} runs; rungs chosen")
    for rho in ("0.005", "0.05", "0.5"):
        for of in ("rows", "length"):
            off, rungs = [], Counter[str]()
            for run in range(runs):
                with (
                    patch.object(climbing, "_chosen", return_value=of),
                    keyed(key_of(f"limits {run}")),
                    qx.Session(
                        dataset="bench", version="1", tables={"t": qx.Table(frame, limits="auto", columns=declared)},
                        unit=qx.unit.AddRemove(key="person"), standard=qx.standard.ZCDP(), intensity=1,
                        ledger=":memory:",
                    ) as session,
                ):  # fmt: skip
                    answer = session.sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY g", spend=rho)
                off.append(rms(np.array([dict(row)["n"] for row in answer.rows]) - true))
                rungs[answer.biases[0].rstrip(".").rpartition(" ")[2]] += 1
            print(f"ρ = {rho:6} by {of:6} {np.median(off):9.1f}  {dict(rungs.most_common())}", flush=True)
    return 0


if __name__ == "__main__":
    words = sys.argv[1:]
    part, usual = (limits, 25) if words[:1] == ["limits"] else (main, 2000)
    sys.exit(part(int(words[-1]) if words and words[-1].isdigit() else usual))
