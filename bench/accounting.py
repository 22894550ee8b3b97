"""How fast and how tight the accounting is, next to dp-accounting and prv-accountant.

    python bench/accounting.py            a table
    python bench/accounting.py --json     the same for machines

Each peer runs in its own virtual environment and process, made on demand below `bench/.venvs`. Repetitions are
interleaved; the best of three is shown. ε at δ = 1e-6: ours as certified bounds, theirs as the number they report.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VENVS = HERE / ".venvs"
PEERS = {"dp-accounting": ["dp-accounting==0.6.0"], "prv-accountant": ["prv-accountant==0.2.0"]}
DELTA = 1e-6
REPEATS = 3
CASES = {
    "1,000 different (500 Laplace, 500 Gaussian)": ("different", 1000),
    "100 different": ("different", 100),
    "10 different": ("different", 10),
    "10,000 × Gaussian σ = 50": ("gaussian", 10_000),
    "1,000 × Laplace scale 20": ("laplace", 1000),
    "1,000 × randomized response, ε = 1/20": ("response", 1000),
    "10,000 × Poisson q = 0.01, Gaussian σ = 1": ("poisson", 10_000),
    "100,000 × Poisson q = 0.01, Gaussian σ = 1": ("poisson", 100_000),
    "20 random mixtures, closed laws (widest)": ("mixtures", 20),
    "20 random mixtures, with sampled (widest)": ("sampled", 20),
}
# The target: at most this share of dp-accounting's time.
SHARES = {"1,000 different (500 Laplace, 500 Gaussian)": 0.2, "10,000 × Poisson q = 0.01, Gaussian σ = 1": 1.0}
Answer = tuple[float, float]


def ours() -> dict[str, Callable[[int], Answer]]:
    """Certified lower and upper bound."""
    from fractions import Fraction

    from quincunx import unit
    from quincunx.loss import (
        DiscreteGaussianLaw,
        GaussianLaw,
        LaplaceLaw,
        LatticeLaw,
        Law,
        Loss,
        ResponseLaw,
        SubsampledLaw,
        grid_moments,
        subsampled_cells,
    )
    from quincunx.numbers import Log

    def different(n: int) -> Answer:
        laplaces = (Loss.of(LaplaceLaw(epsilon=Fraction(1, 20 + k))) for k in range(n // 2))
        gaussians = (Loss.of(GaussianLaw(mu2=Fraction(1, (50 + k) ** 2))) for k in range(n // 2))
        return Loss.compose([*laplaces, *gaussians]).epsilon_bounds(DELTA)

    def poisson(n: int) -> Answer:
        # Every repetition builds its grids anew, as a first question does.
        for cached in (subsampled_cells.grid, subsampled_cells.cells, grid_moments.real_moments):
            cached.cache_clear()
        one = Loss.of(GaussianLaw(mu2=Fraction(1))).subsample("0.01", scheme="poisson", unit=unit.AddRemove())
        return (n * one).epsilon_bounds(DELTA)

    def law(draw: random.Random) -> Law:
        kinds: list[Callable[[], Law]] = [
            lambda: GaussianLaw(mu2=Fraction(1, draw.choice([1, 4, 25, 100, 400, 2500]))),
            lambda: LaplaceLaw(epsilon=Fraction(draw.randint(1, 40), draw.choice([10, 20, 37, 100]))),
            lambda: LatticeLaw(unit=Fraction(10, draw.randint(5, 400)), steps=draw.choice([1, 1, 1, 2, 3, 7])),
            lambda: LatticeLaw(unit=Log(Fraction(draw.randint(11, 60), 10)), steps=1),
            lambda: ResponseLaw(high=Fraction(draw.randint(51, 90), 100), low=Fraction(1, draw.randint(30, 99))),
            lambda: DiscreteGaussianLaw(sigma2=Fraction(draw.randint(1, 400), draw.choice([1, 4])), shift=1),
        ]
        return draw.choice(kinds)()

    def mixtures(n: int, sampled: bool) -> Answer:
        """The bounds of the widest of n mixtures, relative to ε, at δ = 1e-3, 1e-6 and 1e-9."""
        found: list[Answer] = []
        for seed in range(n):
            draw = random.Random(seed)
            terms = [
                (law(draw), draw.choice([1, 1, 2, 3, 5, 10, 30, 100])) for _ in range(draw.choice([2, 2, 3, 4, 6]))
            ]
            if sampled:
                rate, count = Fraction(1, draw.choice([3, 10, 30, 100])), draw.choice([1, 3, 10, 100, 1000])
                terms.append((SubsampledLaw(base=GaussianLaw(mu2=Fraction(1)), rate=rate, replacing=False), count))
            found += [Loss(tuple(terms)).epsilon_bounds(delta) for delta in (1e-3, 1e-6, 1e-9)]
        return max(found, key=lambda pair: 1 - pair[0] / pair[1])

    return {
        "mixtures": lambda n: mixtures(n, False),
        "sampled": lambda n: mixtures(n, True),
        "different": different,
        "gaussian": lambda n: (n * Loss.of(GaussianLaw(mu2=Fraction(1, 2500)))).epsilon_bounds(DELTA),
        "laplace": lambda n: (n * Loss.of(LaplaceLaw(epsilon=Fraction(1, 20)))).epsilon_bounds(DELTA),
        "response": lambda n: (n * Loss.of(LatticeLaw(unit=Fraction(1, 20), steps=1))).epsilon_bounds(DELTA),
        "poisson": poisson,
    }


def dp_accounting() -> dict[str, Callable[[int], Answer]]:
    """One number: dp-accounting's pessimistic estimate at its default discretisation."""
    import dp_accounting as dpa
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.pld import privacy_loss_distribution as pld

    def spent(event: Any) -> Answer:
        value = PLDAccountant().compose(event).get_epsilon(DELTA)
        return math.nan, float(value)

    def different(n: int) -> Answer:
        events = [dpa.LaplaceDpEvent(20 + k) for k in range(n // 2)]
        events += [dpa.GaussianDpEvent(50 + k) for k in range(n // 2)]
        return spent(dpa.ComposedDpEvent(events))

    def response(n: int) -> Answer:
        one = pld.from_randomized_response(2 * (1 / (1 + math.exp(1 / 20))), 2)
        return math.nan, float(one.self_compose(n).get_epsilon_for_delta(DELTA))

    sampled = dpa.PoissonSampledDpEvent(0.01, dpa.GaussianDpEvent(1.0))
    return {
        "different": different,
        "gaussian": lambda n: spent(dpa.SelfComposedDpEvent(dpa.GaussianDpEvent(50), n)),
        "laplace": lambda n: spent(dpa.SelfComposedDpEvent(dpa.LaplaceDpEvent(20), n)),
        "response": response,
        "poisson": lambda n: spent(dpa.SelfComposedDpEvent(sampled, n)),
    }


def prv_accountant() -> dict[str, Callable[[int], Answer]]:
    """Lower and upper bound of the PRV accountant at ε error 0.01 and δ error 1e-9."""
    from prv_accountant import PRVAccountant
    from prv_accountant.privacy_random_variables import (
        GaussianMechanism,
        LaplaceMechanism,
        PoissonSubsampledGaussianMechanism,
    )

    def spent(mechanisms: list[Any], counts: list[int]) -> Answer:
        accountant = PRVAccountant(
            prvs=mechanisms, max_self_compositions=counts, eps_error=0.01, delta_error=DELTA / 1000
        )
        low, _, high = accountant.compute_epsilon(delta=DELTA, num_self_compositions=counts)
        return float(low), float(high)

    def different(n: int) -> Answer:
        if n > 100:
            raise ValueError("takes many minutes")
        laplaces = [LaplaceMechanism(mu=1 / (20 + k)) for k in range(n // 2)]
        gaussians = [GaussianMechanism(noise_multiplier=50 + k) for k in range(n // 2)]
        return spent(laplaces + gaussians, [1] * (2 * (n // 2)))

    return {
        "different": different,
        "gaussian": lambda n: spent([GaussianMechanism(noise_multiplier=50)], [n]),
        "laplace": lambda n: spent([LaplaceMechanism(mu=1 / 20)], [n]),
        "poisson": lambda n: spent(
            [PoissonSubsampledGaussianMechanism(sampling_probability=0.01, noise_multiplier=1.0)], [n]
        ),
    }


WORKERS = {"ours": ours, "dp-accounting": dp_accounting, "prv-accountant": prv_accountant}


def work(name: str) -> None:
    """Answer tasks from standard input, one JSON line each."""
    tasks = WORKERS[name]()
    for line in sys.stdin:
        task, count = json.loads(line)
        try:
            start = time.perf_counter()
            low, high = tasks[task](count)
            answer: dict[str, object] = {"seconds": time.perf_counter() - start, "low": low, "high": high}
        except Exception as error:  # a peer may not support a case: say so, go on
            answer = {"error": f"{type(error).__name__}: {error}"[:120]}
        print(json.dumps(answer), flush=True)


def python_of(peer: str) -> str:
    """The interpreter of the peer's environment, which is made where it is missing."""
    folder = VENVS / peer
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS[peer]], check=True)
    return str(python)


def ask(process: subprocess.Popen[str], task: tuple[str, int]) -> dict[str, Any]:
    """One task to one worker."""
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("a worker has no pipes")
    process.stdin.write(json.dumps(task) + "\n")
    process.stdin.flush()
    return dict(json.loads(process.stdout.readline()))


def measure() -> list[dict[str, Any]]:
    """Every case with every worker, interleaved."""
    pythons = {"ours": sys.executable, **{peer: python_of(peer) for peer in PEERS}}
    processes = {
        name: subprocess.Popen(
            [python, __file__, "--worker", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name, python in pythons.items()
    }
    results = []
    for case, task in CASES.items():
        answers: dict[str, list[dict[str, Any]]] = {name: [] for name in processes}
        for _ in range(REPEATS):
            for name, process in processes.items():
                answers[name].append(ask(process, task))
        best = {name: min(found, key=lambda a: a.get("seconds", math.inf)) for name, found in answers.items()}
        results.append({"case": case, **best})
    for process in processes.values():
        if process.stdin is not None:
            process.stdin.close()
        process.wait()
    return results


def shown(answer: dict[str, Any]) -> str:
    """ε and milliseconds, or why there is none."""
    if "error" in answer:
        return "not supported"
    low = "" if math.isnan(answer["low"]) else f"{answer['low']:.4f}–"
    return f"{low}{answer['high']:.4f} in {1e3 * answer['seconds']:,.1f} ms"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON value")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return
    results = measure()
    if options.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{'case':<46}{'ours (certified bounds)':<34}{'dp-accounting':<26}{'prv-accountant':<34}{'time':>8}  verdict")
    for row in results:
        theirs = row["dp-accounting"].get("seconds")
        ratio = row["ours"]["seconds"] / theirs if theirs else None
        share = SHARES.get(row["case"])
        verdict = "–" if share is None else "pass" if ratio is not None and ratio <= share else "miss"
        cells = [shown(row[name]) for name in ("ours", "dp-accounting", "prv-accountant")]
        time = "–" if ratio is None else f"{ratio:.3f}×"
        print(f"{row['case']:<46}{cells[0]:<34}{cells[1]:<26}{cells[2]:<34}{time:>8}  {verdict}")


if __name__ == "__main__":
    main()
