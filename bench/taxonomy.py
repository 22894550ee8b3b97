"""What it costs to ask a world all definitions of the taxonomy.

    python bench/taxonomy.py            a table; the exit code is the number of targets missed
    python bench/taxonomy.py --json     the same for machines

Worlds are random, of bits (or of people who are there or not, where presence is what a definition protects) and 2^n
datasets with as many outputs, with every part that a definition may need. Targets:
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
from quincunx.taxonomy import entries, generate
from quincunx.taxonomy.check import check

PEOPLE = (2, 3, 4, 5, 6)
PRESENCE = ("uBoDP", "AsDP", "PIDP", "PerDP", "TaiDP", "OutPr", "SamDP", "SemPr")
TARGETS = {8: 2.0, 64: 30.0}
FILTER_TARGET = 10.0


def measured(people: int) -> dict[str, object]:
    """All definitions on one world, in processor seconds."""
    size = 2**people
    dice = random.Random(5)
    bits = generate.random_world(dice, people=people, outputs=size, absent=False, near=False, zeros=False)
    # Definitions about presence are asked on as many datasets of people who are there or not.
    there = generate.random_world(dice, values=1, people=people, outputs=size, absent=True, near=False, zeros=False)
    others = [entry.short for entry in entries() if entry.short not in PRESENCE]
    start = time.process_time()
    found = check(bits, others) + check(there, PRESENCE)
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


def _print_costs(rows: list[dict[str, object]]) -> None:
    """What each definition costs at every size, the dearest first, and by how much the last doubling raised it."""
    costs: list[dict[str, float]] = [row["costs"] for row in rows]  # type: ignore[misc]
    sizes = "".join(f"{row['datasets']:>9}" for row in rows)
    print(f"\nProcessor seconds by definition and number of datasets:\n{'':<14}{sizes}   growth")
    for name in sorted({name for each in costs for name in each}, key=lambda name: -costs[-1].get(name, 0.0)):
        cells = "".join(f"{each[name]:>9.3f}" if name in each else f"{'–':>9}" for each in costs)
        before = costs[-2].get(name, 0.0) if len(costs) > 1 else 0.0
        # Below a millisecond the clock decides, not the definition.
        grown = f"   × {costs[-1][name] / before:.1f}" if before > 1e-3 and name in costs[-1] else ""
        print(f"{name:<14}{cells}{grown}")


def _print_limits(rows: list[dict[str, object]]) -> None:
    """The definitions that the largest world was too large for, with the size up to which they were decided."""
    refused: dict[str, str] = rows[-1]["not_answered"]  # type: ignore[assignment]
    print("\nNot answered on the largest:" if refused else "\nAll that are decidable were answered on the largest.")
    for name, reason in refused.items():
        decided = [row["datasets"] for row in rows if name in row["costs"]]  # type: ignore[operator]
        print(f"  {name}, decided here up to {decided[-1] if decided else 'none'}: {reason}")


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
    print("datasets × outputs   answered   processor seconds   growth   target")
    before = 0.0
    for row in rows:
        size, seconds = int(str(row["datasets"])), float(str(row["seconds"]))
        target = f"< {TARGETS[size]:g}" if size in TARGETS else ""
        grown = f"× {seconds / before:.1f}" if before else ""
        print(f"{size:>8} × {size:<8}   {row['answered']:>8}   {seconds:>17.2f}   {grown:>6}   {target}")
        before = seconds
    _print_costs(rows)
    _print_limits(rows)
    spent = sum(filters.values())
    print(f"\nSpecification.tightest, eight standards on 64 × 64: {spent:.2f} s (target < {FILTER_TARGET:g})")
    for name, seconds in filters.items():
        print(f"  {name:<14} {seconds:>7.2f}")
    print("\nFinding one's way, in seconds after import:")
    print("\n".join(f"  {line}" for line in catalogue.shown(ways)))
    return total


if __name__ == "__main__":
    sys.exit(main())
