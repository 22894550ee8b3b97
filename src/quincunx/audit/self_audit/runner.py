"""Running the catalogue: each entry by itself, in one process or several, at one confidence for all together."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
from typing import Any, Final, TypeAlias

from quincunx.audit.blackbox.challenge import challenge
from quincunx.audit.blackbox.sampler import Sampler
from quincunx.audit.self_audit import catalogue
from quincunx.audit.self_audit.entry import DEFAULT, Entry
from quincunx.audit.self_audit.neighbour_replays import replays
from quincunx.audit.self_audit.outcome import Outcome, Replayed, SelfReport
from quincunx.errors import ParameterError
from quincunx.loss import Loss
from quincunx.noise.testing import key_of, keyed
from quincunx.numbers import Number, near, positive_integer

# The probability, at most, that any true claim of the catalogue is refuted.
RISK: Final = Fraction(1, 10**6)
_SYMBOLS: Final = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "mu": "μ"}
# claim, control or replay; the name; draws on each side; the risk of this claim; the series of an injected key or None
Task: TypeAlias = tuple[str, str, int, Fraction, str | None]


def run(
    *,
    samples: Number = DEFAULT,
    only: str = "",
    series: Number | None = None,
    processes: int = 1,
    progress: Callable[[int, int, str], None] | None = None,
) -> SelfReport:
    """Try every claim of the catalogue, every control and every replay.

    samples: draws on each side; entries that are drawn one at a time get their share. only: names that contain this
    text, in any case; the confidence stays that of the whole catalogue. series: None draws as releases do; anything
    else injects a key of this name, for tests. processes: how many work at once. progress: called with how many are
    done, of how many, and the name of the last.
    """
    count = positive_integer(samples, "samples")
    tasks = _tasks(count, only, None if series is None else str(series))
    started, made = time.perf_counter(), datetime.now(UTC).isoformat(timespec="seconds")
    found: dict[tuple[str, str], Outcome | Replayed] = {}
    for done, (task, result) in enumerate(_results(tasks, processes), start=1):
        found[task[0], task[1]] = result
        if progress is not None:
            progress(done, len(tasks), task[1])
    kinds: dict[str, list[Any]] = {"claim": [], "control": [], "replay": []}
    for kind, name, *_ in tasks:
        kinds[kind].append(found[kind, name])
    return SelfReport(
        claims=tuple(kinds["claim"]),
        controls=tuple(kinds["control"]),
        replays=tuple(kinds["replay"]),
        samples=count,
        risk=RISK,
        tried=len(catalogue.claims()),
        seconds=time.perf_counter() - started,
        keyed=series is not None,
        made=made,
        version=version("quincunx"),
    )


def _tasks(samples: int, only: str, series: str | None) -> list[Task]:
    """What is to be done, in the order of the report."""
    each = RISK / len(catalogue.claims())
    names = {"claim": catalogue.claims(), "control": catalogue.controls(), "replay": replays()}
    tasks = [
        (kind, name, samples, each, series)
        for kind, listed in names.items()
        for name in listed
        if only.casefold() in name.casefold()
    ]
    if not tasks:
        hint = "Run without --only to see all names."
        raise ParameterError("nothing in the catalogue has this in its name", where="only", got=repr(only), hint=hint)
    return tasks


def _results(tasks: Sequence[Task], processes: int) -> Iterator[tuple[Task, Outcome | Replayed]]:
    if processes <= 1 or len(tasks) == 1:
        yield from ((task, work(task)) for task in tasks)
        return
    # A fresh interpreter for each process: a forked one would hold the engine's threads and locks.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        waiting = {pool.submit(work, task): task for task in sorted(tasks, key=_weight, reverse=True)}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def _weight(task: Task) -> float:
    """The slowest first, so that no process is left alone with it: replays, then what is drawn one at a time."""
    kind, name, *_ = task
    entry = {"claim": catalogue.claims(), "control": catalogue.controls()}.get(kind, {}).get(name)
    return 1.5 if entry is None else float(1 + entry.share) if entry.share < 1 else 0.5


def work(task: Task) -> Outcome | Replayed:
    """One task, by its name: what a process is asked to do."""
    kind, name, samples, risk, series = task
    if kind == "replay":
        return replays()[name].run(samples, series)
    entry = (catalogue.claims() if kind == "claim" else catalogue.controls())[name]
    return tried(entry, samples=samples, risk=risk, series=series)


def tried(entry: Entry, *, samples: int, risk: Fraction, series: str | None = None) -> Outcome:
    """One entry against its claim, wrongly refuted with probability at most `risk`."""
    started, claim = time.perf_counter(), entry.claim
    with _stream(entry.name, series):
        found = challenge(
            Sampler.many(entry.draw, entry.name),
            entry.pair,
            claim,
            samples=entry.samples(samples),
            confidence=1 - risk,
        )
    return Outcome(
        name=entry.name,
        room=entry.room,
        words=entry.words,
        claim=stated(claim),
        parameter=found.claim.parameter,
        bound=found.bound,
        tightness=found.tightness,
        tight=entry.tight,
        event=found.event,
        p_low=found.p_low,
        q_high=found.q_high,
        samples=found.samples,
        seconds=time.perf_counter() - started,
        verdict=found.verdict,
        why=entry.why,
    )


def stated(claim: str | Loss) -> str:
    """The claim with its symbols, numbers to six digits."""
    if isinstance(claim, Loss):
        return "all of δ(ε)"
    parts = (part.partition("=") for part in claim.split(", "))
    return ", ".join(f"{_SYMBOLS[name]} = {near(Fraction(value))}" for name, _, value in parts)


def _stream(name: str, series: str | None) -> AbstractContextManager[object]:
    return nullcontext() if series is None else keyed(key_of(f"self audit {series}: {name}"))
