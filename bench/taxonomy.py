"""What it costs to ask a world all definitions of the taxonomy.

    python bench/taxonomy.py            a table; the exit code is the number of targets missed
    python bench/taxonomy.py --json     the same for machines

Worlds are random, of bits and 2^n datasets with as many outputs, with every part that a definition may need. Targets:
8 × 8 in under 2 seconds, 64 × 64 in under 30 (polynomial definitions; the others are listed with the size up to which
they are decided), and the filter of `Specification.tightest`: eight standards on 64 × 64 in under 10 seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from itertools import combinations

import catalogue
import quincunx as qx
from quincunx.taxonomy import generate
from quincunx.taxonomy.check import check

PEOPLE = (2, 3, 4, 5, 6)
TARGETS = {8: 2.0, 64: 30.0}
FILTER_TARGET = 10.0


def measured(people: int) -> dict[str, object]:
    """All definitions on one world, in processor seconds."""
    size = 2**people
    world = generate.random_world(random.Random(5), people=people, outputs=size, absent=False, near=False, zeros=False)
    start = time.process_time()
    found = check(world)
    total = time.process_time() - start
    return {
        "datasets": size,
        "outputs": size,
        "seconds": total,
        "answered": sum(finding.status == "answered" for finding in found),
        "costs": {finding.entry.short: finding.seconds for finding in found if finding.status == "answered"},
        "not_answered": {finding.entry.short: finding.reason for finding in found if finding.status == "refused"},
    }


def filtered() -> dict[str, float]:
    """Eight standards on all pairs of a random 64 × 64 mechanism."""
    dice = random.Random(1)
    weights = {str(i): [dice.randint(1, 40) for _ in range(64)] for i in range(64)}
    table = {x: {str(j): f"{w}/{sum(row)}" for j, w in enumerate(row)} for x, row in weights.items()}
    mechanism, s = qx.finite.Mechanism(table), qx.standard
    found = {}
    measures = [s.Pure(), s.Approximate("1/100"), s.TV(), s.KL(), s.Renyi(2), s.GaussianDP(), s.ZCDP()]
    for measure in [*measures, s.Divergence("chi-squared")]:
        spec = qx.Specification(
            domain=qx.domain.Finite(datasets=tuple(table)),
            scope=qx.scope.Everything(),
            unit=qx.unit.Neighbours(list(combinations(table, 2))),
            standard=measure,
            intensity=1,
        )
        start = time.process_time()
        spec.tightest(mechanism)
        found[measure.kind] = time.process_time() - start
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON value")
    parser.add_argument("--people", type=int, nargs="*", default=PEOPLE, help="sizes: 2^n datasets and outputs")
    chosen = parser.parse_args()
    rows = [measured(people) for people in chosen.people]
    filters = filtered()
    ways = catalogue.finding()
    missed = [r for r in rows if float(str(r["seconds"])) > TARGETS.get(int(str(r["datasets"])), float("inf"))]
    total = len(missed) + (sum(filters.values()) > FILTER_TARGET) + catalogue.missed(ways)
    if chosen.json:
        print(
            json.dumps(
                {"worlds": rows, "filter": filters, "catalogue": ways, "targets_missed": total},
                ensure_ascii=False,
                indent=2,
            )
        )
        return total
    print("datasets × outputs   answered   processor seconds   target")
    for row in rows:
        size = int(str(row["datasets"]))
        target = f"< {TARGETS[size]:g}" if size in TARGETS else ""
        print(f"{size:>8} × {size:<8}   {row['answered']:>8}   {row['seconds']:>17.2f}   {target}")
    largest = rows[-1]
    costs: dict[str, float] = largest["costs"]  # type: ignore[assignment]
    print(f"\nThe dearest on {largest['datasets']} × {largest['outputs']}, in seconds:")
    for name, seconds in sorted(costs.items(), key=lambda item: -item[1])[:15]:
        before = dict(rows[-2]["costs"]) if len(rows) > 1 else {}  # type: ignore[call-overload]
        grown = f"   × {seconds / before[name]:.1f} from half the size" if before.get(name) else ""
        print(f"  {name:<14} {seconds:>7.2f}{grown}")
    print("\nNot answered on it:")
    for name, reason in largest["not_answered"].items():  # type: ignore[attr-defined]
        print(f"  {name}: {reason}")
    spent = sum(filters.values())
    print(f"\nSpecification.tightest, eight standards on 64 × 64: {spent:.2f} s (target < {FILTER_TARGET:g})")
    for name, seconds in filters.items():
        print(f"  {name:<14} {seconds:>7.2f}")
    print("\nFinding one's way, in seconds after import:")
    print("\n".join(f"  {line}" for line in catalogue.shown(ways)))
    return total


if __name__ == "__main__":
    sys.exit(main())
