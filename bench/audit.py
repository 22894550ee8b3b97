"""How fast the black-box audit is, and how close its bounds come to the claims of tight mechanisms.

    python bench/audit.py            a table; the exit code is the number of limits missed
    python bench/audit.py --json     the same for machines
    python bench/audit.py --samples 1e6

No peer: the limits are the sampler's own speed and the claim. Each mechanism is drawn `--samples` times (10^7 unless
said otherwise) at each of two neighbours, once alone and once under audit, in turn. `overhead` is the time of the audit
as a multiple of drawing alone; `share` is the bound as a part of the claim, at confidence 1 − 1e-6 for all rows
together. Limits, for 10^7 samples: overhead at most 6, share at least 0.9.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from quincunx.audit.blackbox.challenge import challenge
from quincunx.audit.blackbox.sampler import Sampler
from quincunx.mechanisms import DiscreteLaplace, Laplace, RandomizedResponse

MANY = 10**7
CHUNK = 2**17
MOST_OVERHEAD, LEAST_SHARE = 6.0, 0.9
EPSILONS = ("0.1", "0.5", "1", "2")
MECHANISMS: dict[str, tuple[Callable[[str], Any], tuple[int, int]]] = {
    "discrete Laplace": (lambda epsilon: DiscreteLaplace(scale=1 / Fraction(epsilon)), (0, 1)),
    "rounded Laplace": (lambda epsilon: Laplace(scale=1 / Fraction(epsilon), step="1/1024"), (0, 1024)),
    "randomized response": (lambda epsilon: RandomizedResponse.calibrate(epsilon=epsilon), (0, 1)),
}


@dataclass(frozen=True)
class Row:
    """One mechanism at one ε. Seconds are wall time for both inputs; rate: samples under audit in a second."""

    mechanism: str
    epsilon: str
    samples: int
    drawing: float
    auditing: float
    rate: float
    overhead: float
    share: float
    event: str


def measured(name: str, epsilon: str, samples: int) -> Row:
    """Draw alone, then audit."""
    make, pair = MECHANISMS[name]
    mechanism = make(epsilon)

    def draw(x: int, size: int) -> np.ndarray:
        return np.asarray(mechanism.sample(np.full(size, x)))

    started = time.perf_counter()
    for x in pair:
        for start in range(0, samples, CHUNK):
            draw(x, min(CHUNK, samples - start))
    drawing = time.perf_counter() - started
    confidence = 1 - Fraction(1, 10**6) / (len(MECHANISMS) * len(EPSILONS))
    found = challenge(Sampler.many(draw), pair, f"epsilon={epsilon}", samples=samples, confidence=confidence)
    return Row(
        mechanism=name,
        epsilon=epsilon,
        samples=samples,
        drawing=drawing,
        auditing=found.seconds,
        rate=2 * samples / found.seconds,
        overhead=found.seconds / drawing,
        share=found.tightness,
        event=found.event,
    )


def missed(rows: list[Row]) -> list[str]:
    """The limits that were not kept; they are stated for 10^7 samples."""
    judged = [row for row in rows if row.samples >= MANY]
    slow = [
        f"{row.mechanism}, ε = {row.epsilon}: overhead {row.overhead:.1f}"
        for row in judged
        if row.overhead > MOST_OVERHEAD
    ]
    loose = [f"{row.mechanism}, ε = {row.epsilon}: share {row.share:.3f}" for row in judged if row.share < LEAST_SHARE]
    wrong = [f"{row.mechanism}, ε = {row.epsilon}: refuted" for row in rows if row.share > 1]
    return slow + loose + wrong


def main() -> int:
    """Measure all rows and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON value")
    parser.add_argument("--samples", type=float, default=MANY, help="outputs of each input")
    options = parser.parse_args()
    rows = [measured(name, epsilon, int(options.samples)) for name in MECHANISMS for epsilon in EPSILONS]
    short = missed(rows)
    if options.json:
        print(json.dumps({"rows": [asdict(row) for row in rows], "missed": short}, indent=2))
        return len(short)
    print(
        f"{'mechanism':<20} {'ε':>4} {'drawing':>9} {'auditing':>9} {'samples/s':>11} {'overhead':>9} "
        f"{'share':>7}  event"
    )
    for row in rows:
        seconds = f"{row.drawing:>7.2f} s {row.auditing:>7.2f} s"
        print(
            f"{row.mechanism:<20} {row.epsilon:>4} {seconds} {row.rate / 1e6:>9.1f} M {row.overhead:>9.2f} "
            f"{row.share:>7.3f}  {row.event}"
        )
    print("missed: " + ("; ".join(short) or "nothing"))
    return len(short)


if __name__ == "__main__":
    sys.exit(main())
