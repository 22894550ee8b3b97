"""Speed and memory of swapping: 10 million records against the limits, and next to a plain shuffle within groups.

    python bench/swap.py [--json] [--repetitions 3] [--kinds polars pandas pyarrow]

Every measurement is a process of its own, interleaved, so that peak memory is that of one swap with its data. The peers
do less: they shuffle one column within groups, with ordinary random numbers, no selection, no derangement, no shuffled
rows and no guarantee.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np

MOST_SECONDS, MOST_GIGABYTES = 5.0, 2.0
# Twice the time per record: sorting costs n·ln n (11.7 for 10 times as many), and memory beyond the cache is slower.
# The growth of the peers is printed beside ours.
MOST_GROWTH = 20.0
SIZES = (1_000_000, 10_000_000)
RATES = ("0.05", "0.5")
KINDS = ("polars", "pandas", "pyarrow")
PEERS = ("numpy shuffle", "pandas shuffle")


def records(count: int) -> dict[str, Any]:
    """A population of 200 counties with 20,000 blocks, voting age, race and income."""
    source = np.random.default_rng(1)
    return {
        "county": source.integers(0, 200, count, dtype=np.int32),
        "votingage": source.random(count) < 0.77,
        "race": source.integers(0, 8, count, dtype=np.int8),
        "income": source.integers(0, 200_000, count, dtype=np.int32),
        "block": source.integers(0, 20_000, count, dtype=np.int32),
    }


def frame(kind: str, columns: dict[str, Any]) -> Any:
    """The columns as a frame of the kind."""
    if kind == "polars":
        import polars

        return polars.DataFrame(columns)
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(columns)
    import pyarrow

    return pyarrow.table(columns)


def work(task: str, count: int, rate: str) -> dict[str, float]:
    """One measurement in this process: seconds on the clock and of the processor, peak memory in gigabytes."""
    columns = records(count)
    if task == "numpy shuffle":
        run = numpy_shuffle
    elif task == "pandas shuffle":
        columns, run = frame("pandas", columns), pandas_shuffle
    else:
        from quincunx.invariant import swap

        columns = frame(task, columns)
        # Loads the libraries, which are not what is measured.
        swap(frame(task, records(1_000)), column="block", match=["county", "votingage"], rate=rate)

        def run(data: Any) -> Any:
            return swap(data, column="block", match=["county", "votingage"], rate=rate)

    clock, processor = time.perf_counter(), time.process_time()
    result = run(columns)
    seconds, used = time.perf_counter() - clock, time.process_time() - processor
    del result
    # Linux counts in kilobytes.
    return {
        "seconds": seconds,
        "processor": used,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def numpy_shuffle(columns: dict[str, Any]) -> Any:
    """The block of each record, shuffled within county and voting age: two sorts."""
    groups = columns["county"].astype(np.int64) * 2 + columns["votingage"]
    plain = np.argsort(groups, kind="stable")
    mixed = np.lexsort((np.random.default_rng().random(len(groups)), groups))
    out = columns["block"].copy()
    out[plain] = columns["block"][mixed]
    return out


def pandas_shuffle(table: Any) -> Any:
    """The same with groupby and transform."""
    source = np.random.default_rng()
    return table.groupby(["county", "votingage"])["block"].transform(
        lambda values: source.permutation(values.to_numpy())
    )


def measured(task: str, count: int, rate: str) -> dict[str, float]:
    """`work` in a new process."""
    command = [sys.executable, __file__, "--worker", task, str(count), rate]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def measure(kinds: list[str], repetitions: int) -> list[dict[str, Any]]:
    """All rows; every repetition visits every task once."""
    peers = [peer for peer in PEERS if "numpy" in peer or importlib.util.find_spec("pandas")]
    tasks = [(kind, count, rate) for count in SIZES for rate in RATES for kind in kinds]
    tasks += [(peer, count, "–") for count in SIZES for peer in peers]
    found: dict[tuple[str, int, str], list[dict[str, float]]] = {task: [] for task in tasks}
    for repetition in range(repetitions):
        print(f"repetition {repetition + 1} of {repetitions}", file=sys.stderr)
        for task in tasks:
            found[task].append(measured(*task))
    return [judged(task, runs, found) for task, runs in found.items()]


def judged(task: tuple[str, int, str], runs: list[dict[str, float]], found: dict[Any, Any]) -> dict[str, Any]:
    """Best and median of the runs, growth from the smaller size, ratios to the peers, and the verdicts."""
    kind, count, rate = task
    best = {name: min(run[name] for run in runs) for name in runs[0]}
    result: dict[str, Any] = {"task": kind, "records": count, "rate": rate, **best}
    result["median_seconds"] = statistics.median(run["seconds"] for run in runs)
    smaller = found[kind, SIZES[0], rate]
    result["growth"] = best["processor"] / min(run["processor"] for run in smaller)
    for peer in PEERS:
        if (peer, count, "–") in found:
            result[f"{peer} ratio"] = best["seconds"] / min(run["seconds"] for run in found[peer, count, "–"])
    if kind in KINDS and count == SIZES[-1]:
        checks = {
            "seconds": best["seconds"] <= MOST_SECONDS,
            "memory": best["gigabytes"] <= MOST_GIGABYTES,
            "linear": result["growth"] <= MOST_GROWTH,
        }
        result["missed"] = [name for name, kept in checks.items() if not kept]
    return result


def table(results: list[dict[str, Any]], repetitions: int) -> str:
    """Plain text, readable without colour."""
    head = [
        "task",
        "records",
        "rate",
        "seconds",
        "(median)",
        "processor",
        "memory",
        "growth",
        "÷ NumPy",
        "÷ pandas",
        "verdict",
    ]
    lines = [head]
    for one in results:
        ratios = [
            f"{one[name]:.2f} ×" if name in one else "–" for name in ("numpy shuffle ratio", "pandas shuffle ratio")
        ]
        verdict = "–" if "missed" not in one else "pass" if not one["missed"] else f"miss: {', '.join(one['missed'])}"
        figures = [f"{one[name]:.2f} s" for name in ("seconds", "median_seconds", "processor")]
        growth = f"{one['growth']:.1f} ×" if one["records"] != SIZES[0] else "–"
        memory = f"{one['gigabytes']:.2f} GB"
        lines.append([one["task"], f"{one['records']:,}", one["rate"], *figures, memory, growth, *ratios, verdict])
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    left = {0, 10}
    shown = [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    shown.insert(1, "  ".join("-" * width for width in widths))
    missed = sum(bool(one.get("missed")) for one in results)
    notes = [
        "",
        f"Limits at {SIZES[-1]:,} records: {MOST_SECONDS:g} s on the clock, {MOST_GIGABYTES:g} GB at the peak with the "
        f"data, and {MOST_GROWTH:g} times the processor time of {SIZES[0]:,}.",
        "On a busy machine the clock also measures what else runs; processor seconds are this process's own.",
        f"Best (and median) of {repetitions} interleaved runs, each in a process of its own. Five columns, 400 strata.",
        "The peers shuffle one column within groups: no selection, no derangement, no shuffled rows, no secure bits.",
        f"{missed} of {sum('missed' in one for one in results)} rows miss a limit.",
    ]
    return "\n".join(shown + notes)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="speed and memory of swapping")
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    parser.add_argument("--repetitions", type=int, default=3, help="interleaved repetitions (3)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="kinds of frame (all)")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        task, count, rate = chosen.worker
        print(json.dumps(work(task, int(count), rate)))
        return
    results = measure(chosen.kinds, chosen.repetitions)
    print(json.dumps(results, indent=2) if chosen.json else table(results, chosen.repetitions))


if __name__ == "__main__":
    main()
