"""Every core for the batches of a level: threads where the work is small, processes of their own where it is large.

A batch is a function of its task (`batch.py`), so the result does not depend on who does it. Processes are started
anew, not forked, read no main module and are told everything through a pipe; one that ends is done without: its batch
is solved here. They end when the pipe does, also if this process is killed.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Final, Self

from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.batch import Part, Task, solved
from quincunx.invariant.topdown.rounding import Solver

# Numbers of all leaves from which a process pays for its start.
_LARGE: Final = 1 << 20
# The doors of the rooms are left closed: what they export takes longer to import than a batch to solve.
_START: Final = """
import json, sys, types
sys.path[:], doors = json.loads(sys.stdin.buffer.readline())
for name, path in doors.items():
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = path
from quincunx.invariant.topdown.workers import serve
serve()
"""
_DOORS: Final = ("quincunx.invariant", "quincunx.invariant.topdown")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Workers:
    """numbers: how many the leaves have in all. count: how many batches at once; every core where left out."""

    def __init__(self, basis: Basis, *, numbers: int, count: int | None = None) -> None:
        self._basis, self._count = basis, count or cores()
        self._apart = self._count > 1 and numbers >= _LARGE
        self._local = threading.local()
        self._children: list[_Child] = []
        self._pool = ThreadPoolExecutor(max_workers=self._count) if self._count > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        for child in self._children:
            child.close()

    def map(self, tasks: Iterable[Task]) -> Iterator[Part]:
        """What the tasks give, in their order."""
        return map(self.own, tasks) if self._pool is None else self._pool.map(self._done, tasks)

    def own(self, task: Task) -> Part:
        """What a task gives, in this thread."""
        if not hasattr(self._local, "solver"):
            self._local.solver = Solver()
        return solved(self._basis, self._local.solver, task)

    def _done(self, task: Task) -> Part:
        if self._apart and not hasattr(self._local, "child"):
            self._local.child = _Child(self._basis)
            self._children.append(self._local.child)
        part = self._local.child.ask(task) if self._apart else None
        return self.own(task) if part is None else part


class _Child:
    """A process that solves batches. Once it failed it is not asked again."""

    def __init__(self, basis: Basis) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        # One thread for each: the cores are shared out already.
        alone = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **alone},
            )
            doors = {name: list(sys.modules[name].__path__) for name in _DOORS}
            where = json.dumps([[path for path in sys.path if path], doors])
            self._say(where.encode() + b"\n" + pickle.dumps(basis))
        except OSError:
            self.close()

    def ask(self, task: Task) -> Part | None:
        """What the task gives; None where the process is gone."""
        if self._process is None or self._process.stdout is None:
            return None
        try:
            self._say(pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL))
            found = pickle.load(self._process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self.close()
            return None
        return found if isinstance(found, Part) else None

    def close(self) -> None:
        """End the process, by ending its pipe; by force where that does not do."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                pass
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _say(self, content: bytes) -> None:
        if self._process is None or self._process.stdin is None:
            raise OSError
        self._process.stdin.write(content)
        self._process.stdin.flush()


def serve() -> None:
    """Solve what comes until nothing does. Only answers go to standard output, whatever libraries print."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    tasks, solver = sys.stdin.buffer, Solver()
    basis = pickle.load(tasks)
    while True:
        try:
            task = pickle.load(tasks)
        except EOFError:
            return
        pickle.dump(solved(basis, solver, task), answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()
