"""How fast the exact samplers are, next to OpenDP's exact samplers and NumPy's inexact ones.

    python bench/noise.py            a table
    python bench/noise.py --json     the same for machines

Each peer runs in its own virtual environment and process, made on demand below `bench/.venvs`; this library runs in a
process of its own too. The processes answer in turn, repetition by repetition, so that a slow minute of the machine
falls on all of them. Best and median of the repetitions are shown; ratios are best to best.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VENVS = HERE / ".venvs"
PEERS = {"opendp": ["opendp==0.16.0"], "numpy": ["numpy>=2.0,<3"]}
NAMES = {"opendp": "OpenDP 0.16", "numpy": "NumPy"}
SCALE = 20
MANY, FEW, SINGLES = 4_000_000, 20_000, 2_000


@dataclass(frozen=True)
class Row:
    """One comparison: `ours` and `theirs` are (worker's task, draws per call)."""

    sampler: str
    ours: tuple[str, int]
    peer: str
    peer_sampler: str
    theirs: tuple[str, int]
    ratio: float | None = None
    microseconds: float | None = None


LAPLACE, GAUSSIAN = "Laplace on i64 vectors", "Gaussian on i64 vectors"
ONE_LAPLACE, ONE_GAUSSIAN = "Laplace on i64", "Gaussian on i64"
ROWS = [
    Row("discrete Laplace", ("laplace", MANY), "opendp", LAPLACE, ("laplace", FEW), ratio=200),
    Row("discrete Laplace, 20,000 a call", ("laplace", FEW), "opendp", LAPLACE, ("laplace", FEW)),
    Row("discrete Laplace", ("laplace", MANY), "numpy", "geometric − geometric", ("laplace", MANY), ratio=0.8),
    Row("discrete Gaussian", ("gaussian", MANY), "opendp", GAUSSIAN, ("gaussian", FEW), ratio=150),
    Row("discrete Gaussian, 20,000 a call", ("gaussian", FEW), "opendp", GAUSSIAN, ("gaussian", FEW)),
    Row("rounded Gaussian", ("rounded", MANY), "opendp", GAUSSIAN, ("gaussian", FEW), ratio=150),
    Row("rounded Gaussian, 20,000 a call", ("rounded", FEW), "opendp", GAUSSIAN, ("gaussian", FEW)),
    Row("rounded Gaussian", ("rounded", MANY), "numpy", "rint(normal)", ("gaussian", MANY)),
    Row("one discrete Laplace", ("one laplace", 1), "opendp", ONE_LAPLACE, ("one laplace", 1), microseconds=30),
    Row("one discrete Gaussian", ("one gaussian", 1), "opendp", ONE_GAUSSIAN, ("one gaussian", 1), microseconds=30),
    Row("one rounded Gaussian", ("one rounded", 1), "opendp", ONE_GAUSSIAN, ("one gaussian", 1), microseconds=30),
]


# --- inside a worker: one task a line, its seconds a line back


def ours() -> dict[str, Callable[[int], Any]]:
    """This library, keyed from the operating system at every call as users have it."""
    from quincunx import noise

    return {
        "laplace": lambda n: noise.discrete_laplace(SCALE, size=n),
        "gaussian": lambda n: noise.discrete_gaussian(SCALE, size=n),
        "rounded": lambda n: noise.rounded_gaussian(SCALE, size=n),
        "one laplace": lambda _: noise.discrete_laplace(SCALE),
        "one gaussian": lambda _: noise.discrete_gaussian(SCALE),
        "one rounded": lambda _: noise.rounded_gaussian(SCALE),
    }


def opendp() -> dict[str, Callable[[int], Any]]:
    """OpenDP's measurements on zeros. The call includes the transfer of the list, which its interface asks for."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    vector, atom = dp.vector_domain(dp.atom_domain(T="i64")), dp.atom_domain(T="i64")
    laplace = dp.m.make_laplace(vector, dp.l1_distance(T="i64"), scale=float(SCALE))
    gaussian = dp.m.make_gaussian(vector, dp.l2_distance(T="f64"), scale=float(SCALE))
    one_laplace = dp.m.make_laplace(atom, dp.absolute_distance(T="i64"), scale=float(SCALE))
    one_gaussian = dp.m.make_gaussian(atom, dp.absolute_distance(T="f64"), scale=float(SCALE))
    zeros = [0] * FEW
    return {
        "laplace": lambda _: laplace(zeros),
        "gaussian": lambda _: gaussian(zeros),
        "one laplace": lambda _: one_laplace(0),
        "one gaussian": lambda _: one_gaussian(0),
    }


def numpy() -> dict[str, Callable[[int], Any]]:
    """NumPy's generator, PCG64: not secret and not exact, the speed that people are used to."""
    import numpy as np

    chance, generator = -math.expm1(-1 / SCALE), np.random.default_rng()
    return {
        "laplace": lambda n: generator.geometric(chance, n) - generator.geometric(chance, n),
        "gaussian": lambda n: np.rint(generator.normal(0.0, SCALE, n)).astype(np.int64),
    }


def work(name: str) -> None:
    """Answer tasks until the input ends. A task is a JSON list: name, draws per call, calls."""
    tasks = {"quincunx": ours, "opendp": opendp, "numpy": numpy}[name]()
    for line in sys.stdin:
        task, draws, calls = json.loads(line)
        run = tasks[task]
        start = time.perf_counter()
        for _ in range(calls):
            run(draws)
        print((time.perf_counter() - start) / calls, flush=True)


# --- the conductor


class Worker:
    """A process that times tasks."""

    def __init__(self, python: str, name: str) -> None:
        command = [python, str(Path(__file__).resolve()), "--worker", name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, task: str, draws: int) -> float:
        """Seconds per call, over one call of many draws or many calls of one."""
        assigned = json.dumps([task, draws, SINGLES if draws == 1 else 1])
        print(assigned, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline() if self.process.stdout else ""
        if not answer:
            raise SystemExit(f"the worker for {assigned} ended; its message is above")
        return float(answer)

    def close(self) -> None:
        """End the process by ending its input."""
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait()


def python_of(peer: str) -> str:
    """The interpreter of the peer's environment, which is made when it is missing."""
    home = VENVS / peer
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        print(f"making {home.relative_to(HERE.parent)} with {' '.join(PEERS[peer])}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEERS[peer]], check=True, stdout=sys.stderr)
        (home / "ready").touch()
    return str(python)


def measure(repetitions: int) -> list[dict[str, Any]]:
    """Times of all rows: every repetition visits every task of every worker once."""
    workers = {"quincunx": Worker(sys.executable, "quincunx")}
    workers |= {peer: Worker(python_of(peer), peer) for peer in PEERS}
    tasks = {("quincunx", *row.ours) for row in ROWS} | {(row.peer, *row.theirs) for row in ROWS}
    # Equal tasks next to each other, so that those who are compared are timed in the same moment.
    order = sorted(tasks, key=lambda task: (task[1], task[2], task[0]))
    times: dict[tuple[str, str, int], list[float]] = {task: [] for task in order}
    for task in order:
        workers[task[0]].seconds(*task[1:])
    for repetition in range(repetitions):
        print(f"repetition {repetition + 1} of {repetitions}", file=sys.stderr)
        for task in order:
            times[task].append(workers[task[0]].seconds(*task[1:]))
    for worker in workers.values():
        worker.close()
    return [judged(row, times["quincunx", *row.ours], times[row.peer, *row.theirs]) for row in ROWS]


def judged(row: Row, mine: list[float], theirs: list[float]) -> dict[str, Any]:
    """Rates in million draws a second, or microseconds a draw where one is drawn at a time, and the verdict."""
    (_, my_draws), (_, their_draws) = row.ours, row.theirs
    result: dict[str, Any] = asdict(row) | {"ours_seconds": mine, "peer_seconds": theirs}
    for name, middle in (("best", min), ("median", statistics.median)):
        my_time, their_time = middle(mine) / my_draws, middle(theirs) / their_draws
        result |= {f"ours_{name}": 1e-6 / my_time, f"peer_{name}": 1e-6 / their_time}
        result |= {f"ours_{name}_us": 1e6 * my_time, f"peer_{name}_us": 1e6 * their_time}
        result[f"ratio_{name}"] = their_time / my_time
    verdict = "–"
    if row.ratio is not None:
        verdict = "pass" if result["ratio_best"] >= row.ratio else "miss"
    elif row.microseconds is not None:
        verdict = "pass" if result["ours_best_us"] < row.microseconds else "miss"
    return result | {"verdict": verdict}


def table(results: list[dict[str, Any]], repetitions: int) -> str:
    """Plain text, readable without colour."""
    head = ["sampler", "ours", "(median)", "peer", "theirs", "(median)", "ratio", "target", "verdict"]
    lines = [head]
    for one in results:
        single = one["ours"][1] == 1
        unit = "_us" if single else ""
        target = "–"
        if one["ratio"] is not None:
            target = f"≥ {one['ratio']:g} ×"
        elif one["microseconds"] is not None:
            target = f"< {one['microseconds']:g} µs"
        figures = [number(one[f"{who}_{kind}{unit}"]) for who in ("ours", "peer") for kind in ("best", "median")]
        figures = [f"{figure} {'µs' if single else 'M/s'}" for figure in figures]
        peer = f"{NAMES[one['peer']]} {one['peer_sampler']}"
        ratio = f"{number(one['ratio_best'])} ×"
        lines.append([one["sampler"], *figures[:2], peer, *figures[2:], ratio, target, one["verdict"]])
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    left = {0, 3, 8}
    shown = [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    shown.insert(1, "  ".join("-" * width for width in widths))
    missed = sum(one["verdict"] == "miss" for one in results)
    notes = [
        "",
        f"Scale and σ are {SCALE}. M/s is million draws a second, µs the time of one draw; best (and median) of "
        f"{repetitions} interleaved repetitions.",
        f"A call draws {MANY:,} values here and in NumPy, {FEW:,} in OpenDP, whose time includes the list in and out;"
        " rows that say so draw 20,000 here too.",
        f"One draw at a time is the mean of {SINGLES:,} calls. OpenDP is exact as we are; NumPy is neither exact nor"
        " secret.",
        f"{missed} of {sum(one['verdict'] != '–' for one in results)} targets missed.",
    ]
    return "\n".join(shown + notes)


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="speed of the exact samplers next to their peers")
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    parser.add_argument("--repetitions", type=int, default=5, help="interleaved repetitions (5)")
    parser.add_argument("--worker", choices=["quincunx", *PEERS], help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        work(chosen.worker)
        return
    results = measure(chosen.repetitions)
    print(json.dumps(results, indent=2) if chosen.json else table(results, chosen.repetitions))


if __name__ == "__main__":
    main()
