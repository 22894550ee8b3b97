"""A crowd whose engine fails on one row: what everybody sees, and whether the one that failed can be told from it.

    python -m tests.ledger.halt_storm FOLDER PROCESSES QUESTIONS FAILING [--control]

Every process asks QUESTIONS of its own, one after another. Half-way all of them have a question open at once; then the
engine of process FAILING fails on the row, and the others are done when the failure is recorded. What each is told is
written to its own log, with the traceback. With --control `store` does not look for a halt. The report is one JSON
object on standard output: what each process was told about its open question, and what the ledger says.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from quincunx.errors import HaltedError
from quincunx.ledger import Ledger
from quincunx.ledger.halting import Halts
from tests.ledger.worlds import question, specification

COST = "1/1000"


def wait(seen: Any) -> None:
    for _ in range(60_000):
        if seen():
            return
        time.sleep(0.001)
    raise TimeoutError


def work(path: str, folder: Path, process: int, processes: int, questions: int, failing: int) -> None:
    """Ask, pay, compute, store; one line for each question."""
    ledger, dice, spec = Ledger.open(path, wait=120), random.Random(process), specification()
    lines = []
    for number in range(questions):
        asked = question(f"{process} asks {number}", COST, specification=spec)
        told = ""
        try:
            reservation = ledger.reserve(asked)
            content: bytes | None = f"answer {number}".encode()
            time.sleep(dice.uniform(0, 0.002))
            if number == questions // 2:
                (folder / f"open-{process}").touch()
                wait(lambda: len(list(folder.glob("open-*"))) == processes)
                if process == failing:
                    content = None
                else:
                    wait(lambda: ledger.account("visits").halts)
            ledger.store(reservation, content)
            told = "answered"
        except HaltedError as error:
            # Names of files and lines are part of what is seen; numbers of processes are the crowd's own.
            told = re.sub(r"0x[0-9a-f]+", "", "".join(traceback.format_exception(error)))
        lines.append(told)
    (folder / f"{process}.log").write_text(json.dumps(lines))


def storm(
    folder: Path, processes: int, questions: int, failing: int, *, control: bool, ledger: str | None
) -> dict[str, object]:
    if control:
        Halts.refusal = lambda *_: None  # type: ignore[method-assign]
    path = ledger or str(folder / "ledger.db")
    with Ledger.open(path) as opened:
        opened.register(dataset="visits", specification=specification())
    children = []
    for process in range(processes):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                work(path, folder, process, processes, questions, failing)
                code = 0
            finally:
                os._exit(code)
        children.append(pid)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    logs = [json.loads((folder / f"{process}.log").read_text()) for process in range(processes)]
    with Ledger.open(path) as opened:
        account, records = opened.account("visits"), opened.records()
        halts = [record.seq for record in records if record.kind == "halted"]
        after = [record.kind for record in records if halts and record.seq > halts[0]]
        try:
            verified = opened.verify()
        except Exception as error:
            verified = f"failed: {error}"
    return {
        "codes": codes,
        "open": [log[questions // 2] for log in logs],
        "earlier": sum(told == "answered" for log in logs for told in log[: questions // 2]),
        "later": sorted({told for log in logs for told in log[questions // 2 + 1 :]}),
        "halts": len(halts),
        "records after the halt": after,
        "withheld": sum(halt.withheld for halt in account.halts),
        "spent": str(account.total.spent),
        "verified": verified,
    }


if __name__ == "__main__":
    place, *counts = [word for word in sys.argv[1:] if not word.startswith("--")]
    named = next((word.partition("=")[2] for word in sys.argv if word.startswith("--ledger=")), None)
    print(json.dumps(storm(Path(place), *map(int, counts), control="--control" in sys.argv, ledger=named)))
