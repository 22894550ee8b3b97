"""What one small question costs in time, by its stages: planning, a first answer, its trial on made-up rows, a replay.

    python bench/question.py            a table
    python bench/question.py --json     the same for machines
    python bench/question.py --rounds N how often each stage is run (default 20)

A session with a ledger on disk asks "how many visits in each region" of 600 rows; every round asks a new question, so
that nothing is remembered from the round before but what a session remembers. Processor time is that of this process,
threads of the engine included; wall time adds the syncs of the disk. Medians after one warm round. Limits, by
processor time: planning 5 ms, a first answer without its trial 20 ms, a replay 5 ms.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from quincunx import Session, Table, standard, unit

REGIONS = ("north", "south", "east", "west")
LIMITS = {"planning": 5.0, "first answer without its trial": 20.0, "replay": 5.0}
Times = dict[str, list[tuple[float, float]]]


def visits() -> pd.DataFrame:
    """600 rows of 60 people."""
    people = [row % 60 for row in range(600)]
    rows = {
        "person_id": people,
        "age": [20 + each for each in people],
        "region": [REGIONS[each % 4] for each in people],
    }
    return pd.DataFrame(rows)


def timed(times: Times, stage: str, work: Callable[[], object]) -> None:
    """Add (processor, wall) seconds of the work to its stage."""
    processor, wall = time.process_time(), time.perf_counter()
    work()
    times.setdefault(stage, []).append((time.process_time() - processor, time.perf_counter() - wall))


def measured(folder: Path, rounds: int) -> Times:
    """All stages, round by round."""
    times: Times = {}
    table = Table(visits(), limits={"rows": 20}, columns={"age": {"bounds": (0, 110)}, "region": {"keys": REGIONS}})
    with Session(
        dataset="visits",
        version="1",
        ledger=folder / "ledger.db",
        tables={"visits": table},
        unit=unit.AddRemove(key="person_id"),
        standard=standard.ZCDP(),
        intensity=1000,
    ) as session:
        for number in range(rounds + 1):
            found: Times = {}
            text = f"SELECT region, COUNT(*) AS n FROM visits WHERE age > {number} GROUP BY region"
            timed(found, "planning", lambda text=text: session.error(text, spend="1/10"))
            program = session._dataset.program(text)
            timed(found, "trial on made-up rows", lambda program=program: session._connect().rehearse(program))
            # Spelled otherwise it is the same question, and is planned anew.
            timed(found, "first answer without its trial", lambda text=text: session.sql(f"{text} ", spend="1/10"))
            timed(found, "replay", lambda text=text: session.sql(text, spend="1/10"))
            timed(found, "frame", lambda text=text: session.sql(text, spend="1/10").frame)
            for stage, each in found.items() if number else ():
                times.setdefault(stage, []).extend(each)
    return times


def main() -> None:
    """Measure and print; nothing fails on a slow machine, the table says what is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        times = measured(Path(folder), given.rounds)
    rows = []
    for stage, pairs in times.items():
        processor, wall = (1000 * statistics.median(each) for each in zip(*pairs, strict=True))
        rows.append({"stage": stage, "processor_ms": processor, "wall_ms": wall, "limit_ms": LIMITS.get(stage)})
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'stage':<34}{'processor':>12}{'wall':>12}{'limit':>10}")
    for row in rows:
        limit = "" if row["limit_ms"] is None else f"{row['limit_ms']:.0f} ms"
        print(f"{row['stage']:<34}{row['processor_ms']:>9.1f} ms{row['wall_ms']:>9.1f} ms{limit:>10}")


if __name__ == "__main__":
    main()
