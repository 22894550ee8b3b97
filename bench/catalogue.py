"""What it costs to find one's way in the taxonomy, after import: list, convert, compare, draw, and the pages.

    python bench/catalogue.py           a table; the exit code is the number of targets missed
    python bench/catalogue.py --json    the same for machines

`bench/taxonomy.py` prints these too. Targets: `list` in under 0.3 seconds, every `convert` in under 0.5.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from fractions import Fraction

from quincunx.errors import QuincunxError
from quincunx.taxonomy import compare, convert, definitions, graph
from quincunx.taxonomy.relations import language

TARGETS = {"list": 0.3, "convert, the slowest": 0.5}
STATED: dict[str, object] = {
    "delta": "1e-6", "outside": "1e-6", "alpha": 8, "xi": 0, "omega": 16, "f": "chi-squared", "k": 2, "size": 2,
    "gamma": "1/100", "rate": "1/10", "radius": 1, "known": 1,
}  # fmt: skip


def timed(work: Callable[[], object]) -> float:
    """Processor seconds."""
    start = time.process_time()
    work()
    return time.process_time() - start


def conversions() -> tuple[float, int, str]:
    """The slowest of all conversions between two definitions with numbers, how many there are, and which it is."""
    worst, count, which = 0.0, 0, ""
    shorts = [row.short for row in definitions() if language(row.short).measures]
    for source in shorts:
        for target in shorts:
            one, other = language(source), language(target)
            given = {name: Fraction(1, 2) for name in one.measures}
            given |= {name: STATED[name] for name in (*one.settings, *other.settings)}  # type: ignore[misc]
            start = time.process_time()
            try:
                convert(source, target, **given)
            except QuincunxError:
                continue
            spent = time.process_time() - start
            count += 1
            if spent > worst:
                worst, which = spent, f"{source} → {target}"
    return worst, count, which


def finding() -> dict[str, float]:
    """What each step costs, in processor seconds."""
    found = {"list": timed(lambda: [row.to_json() for row in definitions()])}
    worst, count, which = conversions()
    return {
        **found,
        "convert, the slowest": worst,
        "compare ADP DP": timed(lambda: compare("ADP", "DP")),
        "graph of all": timed(graph),
        f"({count} conversions; the slowest is {which})": 0.0,
    }


def missed(found: dict[str, float]) -> int:
    """How many targets were missed."""
    return sum(found[name] > limit for name, limit in TARGETS.items())


def shown(found: dict[str, float]) -> list[str]:
    """In lines for people."""
    return [
        f"{name:<28} {seconds:>7.3f}{f'   target < {TARGETS[name]:g}' if name in TARGETS else ''}" if seconds else name
        for name, seconds in found.items()
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON value")
    found = finding()
    if parser.parse_args().json:
        print(json.dumps({"seconds": found, "targets_missed": missed(found)}, ensure_ascii=False, indent=2))
    else:
        print("\n".join(shown(found)))
    return missed(found)


if __name__ == "__main__":
    sys.exit(main())
