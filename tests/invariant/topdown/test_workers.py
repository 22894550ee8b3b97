"""Any number of cores, threads or processes, gives the same tables to the digit; a process that ends is not missed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from quincunx.invariant.topdown import Release, TopDown, solve, workers
from quincunx.invariant.topdown.geography import Geography
from quincunx.noise.testing import key_of, keyed
from quincunx.spec.unit import Replace

PLACES = Geography.of(
    [("r", f"m{i}", f"m{i}b{j}") for i in range(12) for j in range(2 + i)], ["root", "middle", "block"], "block"
)


def planned() -> TopDown:
    shares = {name: {"share": "1/3", "total": "1/2", "detailed": "1/2"} for name in PLACES.names}
    return TopDown(
        dataset="workers",
        version="1",
        ledger=":memory:",
        source=np.random.default_rng(4).poisson(3.0, (PLACES.nodes(2), 6)),
        geography=PLACES,
        attributes={"a": ["x", "y"], "b": ["1", "2", "3"]},
        shares=shares,
        rho=1,
        unit=Replace(),
        invariants=[("root", "total"), ("middle", "total")],
    )


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Small batches, each for a process; the processes that were started."""
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def kept(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        started.append(start(*arguments, **options))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setattr(workers, "_LARGE", 0)
    monkeypatch.setattr(solve, "_BATCH", 60)
    monkeypatch.setattr(workers.subprocess, "Popen", kept)
    return started


def made(cores: int) -> Release:
    with keyed(key_of("workers")):
        return planned().run(cores=cores)


def same(one: Release, other: Release) -> bool:
    tables = zip(one.tables, other.tables, strict=True)
    return all((a == b).all() for a, b in tables) and one.solved.steps == other.solved.steps


def test_processes_threads_and_one_core_give_the_same_to_the_digit(
    apart: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = made(1)
    assert not apart
    two = made(2)
    assert 1 <= len(apart) <= 2
    assert all(each.poll() == 0 for each in apart)
    assert same(alone, two)
    monkeypatch.setattr(workers, "_LARGE", 1 << 40)
    before = len(apart)
    assert same(alone, made(3))
    assert len(apart) == before


def test_a_process_that_is_killed_is_done_without(
    apart: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, say = made(1), workers._Child._say
    said: list[int] = []

    def killed(self: workers._Child, content: bytes) -> None:
        said.append(len(said))
        if len(said) > 4:
            for each in apart:
                os.kill(each.pid, signal.SIGKILL) if each.poll() is None else None
        say(self, content)

    monkeypatch.setattr(workers._Child, "_say", killed)
    assert same(alone, made(2))
    assert any(each.returncode == -signal.SIGKILL for each in apart)


def test_where_no_process_can_be_started_this_one_does_it(
    apart: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = made(1)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert same(alone, made(2))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert same(alone, made(2))
    assert all(each.poll() is not None for each in apart)
