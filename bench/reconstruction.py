"""Reconstruction attacks: accuracy and seconds, next to SciPy's linear programs; and the blocks of a real state.

    python bench/reconstruction.py [--json] [--most 120] [--people 200 1000]

The column: 4 questions for each person, errors of 0.1·√n, both solvers one after the other in this process on the same
answers. SciPy's `linprog` solves the program as textbooks write it, Σ slack, and is stopped after `--most` seconds;
ours solves its dual. Both end in HiGHS. The blocks: `QUINCUNX_DATA` (default ../shared/data), the 2010 counts of Rhode
Island. The census had swapped them before they were published, so they are not the confidential truth: what is pinned
below is what the tables say, and swapping had put wrong people into some of them.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from quincunx.attack.decoding import reconstruct
from quincunx.attack.fitting import reconstruct_block
from quincunx.attack.garfinkel import reconstruct_seven
from quincunx.attack.secret_column import column, rough_answers

DATA = Path(os.environ.get("QUINCUNX_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
ISLAND = DATA / "census_blocks" / "rhode_island_2010.csv"
RACES = ("white", "black", "hisp", "aian", "asian", "nhpi", "other", "two")
QUESTIONS_FOR_EACH, ROUGHNESS = 4, 0.1


def by_scipy(questions: Any, answers: Any, most: float) -> Any:
    """Bits by SciPy, or None where it was stopped."""
    from scipy import sparse
    from scipy.optimize import linprog

    count, people = questions.shape
    slack = sparse.identity(count)
    found = linprog(
        np.concatenate([np.zeros(people), np.ones(2 * count)]),
        A_eq=sparse.hstack([sparse.csr_array(questions.astype(float)), slack, -slack]),
        b_eq=answers,
        bounds=[(0, 1)] * people + [(0, None)] * (2 * count),
        method="highs",
        options={"time_limit": most},
    )
    return None if found.status == 1 else (found.x[:people] > 0.5).astype(int)


def columns(sizes: list[int], most: float) -> list[dict[str, Any]]:
    """One row for each number of people."""
    peer = importlib.util.find_spec("scipy") is not None
    rows = []
    for people in sizes:
        source = np.random.default_rng(people)
        secret = column(source, people, QUESTIONS_FOR_EACH * people)
        told = rough_answers(secret, "normal", ROUGHNESS * people**0.5, source)
        begin = time.perf_counter()
        ours = reconstruct(secret.questions, told)
        row: dict[str, Any] = {
            "people": people,
            "questions": len(told),
            "seconds": time.perf_counter() - begin,
            "recovered": float((ours == secret.bits).mean()),
        }
        if peer:
            begin = time.perf_counter()
            theirs = by_scipy(secret.questions, told, most)
            row["scipy seconds"] = time.perf_counter() - begin
            row["scipy recovered"] = None if theirs is None else float((theirs == secret.bits).mean())
            row["ratio"] = row["scipy seconds"] / row["seconds"]
        rows.append(row)
    return rows


def state() -> dict[str, Any]:
    """What tables of race and voting age say about the inhabited blocks of a real state."""
    margins = np.vstack([np.kron(np.eye(8, dtype=np.int64), np.ones(2, np.int64)), np.tile([0, 1], 8)])
    blocks = people = alone = pinned_blocks = small = pinned_small = told_race = 0
    begin = time.perf_counter()
    with ISLAND.open(encoding="utf-8", newline="") as lines:
        for record in csv.DictReader(lines):
            size = int(record["pop"])
            if size == 0:
                continue
            adults = np.array([int(record[f"vap_{race}"]) for race in RACES])
            minors = np.array([int(record[f"pop_{race}"]) for race in RACES]) - adults
            blocks, people = blocks + 1, people + size
            block = np.stack([minors, adults], axis=1).ravel()
            # The only one of their race and age group on the block.
            alone += int((block == 1).sum())
            # Whoever knows that a neighbour is an adult knows the race, where all adults are of one.
            told_race += sum(int(group.sum()) for group in (minors, adults) if (group > 0).sum() == 1)
            if size <= 30:
                small += 1
                pinned_small += reconstruct_block(margins, margins @ block).unique
            pinned_blocks += int(((minors + adults) > 0).sum()) == 1 or adults.sum() in (0, size)
    return {
        "inhabited blocks": blocks,
        "people": people,
        "share of people alone in their race and age group on the block": alone / people,
        "share of people whose race follows from block and age group": told_race / people,
        "blocks of up to 30": small,
        "share of them whose margins (race; voting age) pin the joint table": pinned_small / small,
        "share of all blocks whose margins do": pinned_blocks / blocks,
        "seconds": time.perf_counter() - begin,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--most", type=float, default=120.0, help="seconds after which SciPy is stopped")
    parser.add_argument("--people", type=int, nargs="+", default=[200, 1_000], help="sizes of the column")
    options = parser.parse_args()
    found: dict[str, Any] = {"columns": columns(options.people, options.most)}
    begin = time.perf_counter()
    seven, unique = reconstruct_seven()
    found["seven"] = {"people": list(seven), "unique": unique, "seconds": time.perf_counter() - begin}
    found["state"] = state() if ISLAND.is_file() else None
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for row in found["columns"]:
        print(f"n = {row['people']:,}, {row['questions']:,} questions, errors of 0.1·√n:")
        print(f"  quincunx  {row['seconds']:8.2f} s   {100 * row['recovered']:.1f} % recovered")
        if "ratio" in row:
            theirs = row["scipy recovered"]
            words = "stopped" if theirs is None else f"{100 * theirs:.1f} % recovered"
            print(f"  scipy     {row['scipy seconds']:8.2f} s   {words}   ({row['ratio']:.1f} times as long)")
    print(f"the seven of the literature: {' '.join(seven)}, {'the only solution' if unique else 'one of several'}, "
          f"{found['seven']['seconds']:.1f} s")  # fmt: skip
    if found["state"] is None:
        print(f"the real counts are missing: {ISLAND.name} (set QUINCUNX_DATA)")
        return
    for name, value in found["state"].items():
        print(f"  {name}: {value:,.4f}" if isinstance(value, float) else f"  {name}: {value:,}")


if __name__ == "__main__":
    main()
