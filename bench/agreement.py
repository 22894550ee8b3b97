"""Whether our certified bounds and the peers' figures agree: ε on a grid of mechanisms, counts and δ.

    python bench/agreement.py                  a table of every case, and a summary
    python bench/agreement.py --case poisson   only the cases whose name contains the word
    python bench/agreement.py --write          the same, with the peers' figures into tests/fixtures/agreement.json
    python bench/agreement.py --fixture        judge the stored figures again, without the peers

Each peer runs in its own virtual environment and process, made on demand below `bench/.venvs`. A verdict is one of

    overlap    their bounds meet ours, to a thousandth
    looser     their upper bound lies above ours, and nothing contradicts it
    wrong      their upper bound lies below our lower bound, or their lower bound above our upper: one of us errs

Whatever is wrong must be explained in CAUSES, which says who errs and why; the script ends with exit code 6 otherwise.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VENVS = HERE / ".venvs"
FIXTURE = HERE.parent / "tests" / "fixtures" / "agreement.json"
PEERS = {
    "dp-accounting": ["dp-accounting==0.6.0"],
    "prv-accountant": ["prv-accountant==0.2.0"],
    # It hands SciPy the range of δ as bounds on e^ε, which later versions obey: there its Fourier way ends at ε ≤ 0.
    "autodp": ["autodp==0.2.3.1", "scipy==1.9.3", "numpy==1.24.4"],
}
COUNTS = (1, 10, 100, 1000, 10_000)
DELTAS = ("1e-5", "1e-6", "1e-9")
# Relative width within which an upper bound counts as equal to ours.
NEAR = 1e-3

# What is composed `count` times. Scales, σ and probabilities are the decimals written here, at sensitivity 1.
Term = tuple[str, dict[str, str]]
CASES: dict[str, list[Term]] = {
    "laplace, scale 20": [("laplace", {"scale": "20"})],
    "discrete laplace, scale 20": [("discrete_laplace", {"scale": "20"})],
    "discrete laplace, scale 40, two steps": [("discrete_laplace", {"scale": "40", "sensitivity": "2"})],
    "gaussian, σ = 50": [("gaussian", {"sigma": "50"})],
    "discrete gaussian, σ = 10": [("discrete_gaussian", {"sigma": "10"})],
    "poisson q = 0.01, gaussian σ = 1": [("poisson", {"sigma": "1", "rate": "0.01"})],
    "without replacement q = 0.01, gaussian σ = 2": [("without_replacement", {"sigma": "2", "rate": "0.01"})],
    "randomized response, p = 0.51": [("response", {"probability": "0.51", "options": "2"})],
    "randomized response, p = 0.21 of 5": [("response", {"probability": "0.21", "options": "5"})],
    "laplace 20 with gaussian 50": [("laplace", {"scale": "20"}), ("gaussian", {"sigma": "50"})],
    "discrete laplace 20 with gaussian 50": [("discrete_laplace", {"scale": "20"}), ("gaussian", {"sigma": "50"})],
    "poisson 0.01 gaussian 1 with gaussian 50": [
        ("poisson", {"sigma": "1", "rate": "0.01"}),
        ("gaussian", {"sigma": "50"}),
    ],
}
# A way of a peer, words in the case's name, the smallest count, the largest relative gap, and why it is wrong there.
CAUSES: list[tuple[str, str, int, float, str]] = [
    (
        "dp-accounting events",
        "randomized response",
        10,
        math.inf,
        "its accountant loses the count of a repeated RandomizedResponseDpEvent: n uses are charged as one",
    ),
    *(
        (
            f"dp-accounting {way}",
            "discrete laplace",
            1,
            1e-5,
            "its bounds leave out the rounding of its own Fourier transforms, which is all that is left of its error "
            "where the losses, multiples of 1/20, lie on its grid",
        )
        for way in ("distributions", "events")
    ),
    (
        "autodp Fourier",
        "gaussian, σ = 50",
        1,
        0.03,
        "its search for ε ends at a tolerance of one per cent in e^ε, on either side",
    ),
    *(
        (
            "autodp Fourier",
            words,
            1,
            math.inf,
            "it integrates a characteristic function with a fixed number of nodes and no bound on the error: for laws "
            "with atoms, and for many uses, its δ is off by up to 0.4 and may come out negative",
        )
        for words in ("laplace", "randomized response")
    ),
]
# A lower bound, None where the peer gives none, and an upper bound.
Answer = tuple[float | None, float]


def loss_of(terms: Iterable[Term], count: int) -> Any:
    """Our loss of `count` uses of every term."""
    from quincunx import mechanisms, unit
    from quincunx.loss import Loss

    def sampled(scheme: str, neighbours: Any) -> Callable[..., Any]:
        return lambda *, sigma, rate: mechanisms.Gaussian(sigma=sigma).loss.subsample(
            rate, scheme=scheme, unit=neighbours
        )

    made: dict[str, Callable[..., Any]] = {
        "laplace": lambda **given: mechanisms.Laplace(**given).loss,
        "discrete_laplace": lambda **given: mechanisms.DiscreteLaplace(**given).loss,
        "gaussian": lambda **given: mechanisms.Gaussian(**given).loss,
        "discrete_gaussian": lambda **given: mechanisms.DiscreteGaussian(**given).loss,
        "response": lambda **given: mechanisms.RandomizedResponse(**given).loss,
        "poisson": sampled("poisson", unit.AddRemove()),
        "without_replacement": sampled("without-replacement", unit.Replace()),
    }
    return count * Loss.compose(made[kind](**given) for kind, given in terms)


def ours(case: str, count: int, delta: str) -> tuple[float, float]:
    """Our certified bounds on ε."""
    low, high = loss_of(CASES[case], count).epsilon_bounds(delta)
    return low, high


def verdict(mine: tuple[float, float], theirs: Answer) -> str:
    """overlap, looser or wrong: see the top of this file."""
    low, high = theirs
    if high < mine[0] or (low is not None and low > mine[1]):
        return "wrong"
    return "looser" if high > mine[1] + NEAR * max(mine[1], 1e-3) else "overlap"


def cause(way: str, case: str, count: int, gap: float) -> str | None:
    """Why this way of a peer is wrong in this case by so much, where it is known."""
    known = (
        why
        for name, words, least, most, why in CAUSES
        if name == way and words in case and count >= least and gap <= most
    )
    return next(known, None)


def gap_of(mine: tuple[float, float], theirs: Answer) -> float:
    """How far the two miss each other, relative to ours."""
    low, high = theirs
    return max(mine[0] - high, 0.0 if low is None else low - mine[1], 0.0) / mine[1]


def python_of(peer: str) -> str:
    """The interpreter of the peer's environment, which is made where it is missing."""
    folder = VENVS / peer
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS[peer]], check=True)
    return str(python)


def figures(word: str) -> dict[str, dict[str, Any]]:
    """What every way of every peer says: case, count and δ → way → bounds, or why there are none."""
    processes = [
        subprocess.Popen(
            [python_of(peer), "-W", "ignore", str(HERE / "agreement_peers.py"), peer],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for peer in PEERS
    ]
    found: dict[str, dict[str, Any]] = {}
    for case, count, delta in grid(word):
        answers: dict[str, Any] = {}
        for process in processes:
            if process.stdin is None or process.stdout is None:
                raise RuntimeError("a worker has no pipes")
            process.stdin.write(json.dumps([CASES[case], count, delta]) + "\n")
            process.stdin.flush()
        for process in processes:
            answers |= json.loads(process.stdout.readline())  # type: ignore[union-attr]
        found[key(case, count, delta)] = answers
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for process in processes:
        process.communicate()
    return found


def grid(word: str = "") -> list[tuple[str, int, str]]:
    """Every case whose name contains `word`, count and δ."""
    return [(case, count, delta) for case in CASES if word in case for count in COUNTS for delta in DELTAS]


def key(case: str, count: int, delta: str) -> str:
    """How a case is named in the fixture."""
    return f"{count} × {case} at δ = {delta}"


def report(stored: Mapping[str, Mapping[str, Any]], word: str) -> int:
    """Print every case and the summary; the exit code."""
    tally: Counter[tuple[str, str]] = Counter()
    explained: Counter[str] = Counter()
    unexplained = []
    for case, count, delta in grid(word):
        mine = ours(case, count, delta)
        print(f"{key(case, count, delta)}: ours {mine[0]:.6g} to {mine[1]:.6g}")
        for way, answer in stored[key(case, count, delta)].items():
            if isinstance(answer, str):
                tally[way, "none"] += 1
                continue
            low, high = answer
            found = verdict(mine, (low, high))
            tally[way, found] += 1
            why = cause(way, case, count, gap_of(mine, (low, high))) if found == "wrong" else None
            print(f"    {way:<28} {'' if low is None else f'{low:.6g} to '}{high:.6g}  {found}")
            if why is not None:
                explained[f"{way}: {why}"] += 1
            elif found == "wrong":
                unexplained.append(f"{way}: {key(case, count, delta)}")
    print(f"\n{'':<28}{'overlap':>9}{'looser':>9}{'wrong':>9}{'none':>9}")
    for way in dict.fromkeys(way for way, _ in tally):
        print(f"{way:<28}" + "".join(f"{tally[way, each]:>9}" for each in ("overlap", "looser", "wrong", "none")))
    for why, times in explained.items():
        print(f"wrong {times} times, and why: {why}")
    for each in unexplained:
        print(f"wrong without an explanation: {each}")
    return 6 if unexplained else 0


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default="", help="only cases whose name contains this")
    parser.add_argument("--write", action="store_true", help="store the peers' figures for the tests")
    parser.add_argument("--fixture", action="store_true", help="judge the stored figures again")
    options = parser.parse_args()
    stored = json.loads(FIXTURE.read_text(encoding="utf-8"))["figures"] if options.fixture else figures(options.case)
    if options.write:
        FIXTURE.parent.mkdir(exist_ok=True)
        before = json.loads(FIXTURE.read_text(encoding="utf-8"))["figures"] if FIXTURE.exists() else {}
        known = {key(*each): (before | stored)[key(*each)] for each in grid() if key(*each) in before | stored}
        text = json.dumps({"peers": PEERS, "figures": known}, ensure_ascii=False, indent=1)
        FIXTURE.write_text(text + "\n", encoding="utf-8")
    sys.exit(report(stored, options.case))


if __name__ == "__main__":
    main()
