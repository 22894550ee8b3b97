"""Black-box audit: lower confidence bounds on what a mechanism leaks, from its outputs alone.

The samples of both inputs are divided. The first part says which events to look at, the second which of them promises
most, the rest, which nobody has looked at, tests it with Clopper–Pearson bounds. The bounds hold with the stated
confidence whatever the mechanism is: see challenge.md. The idea is that of Ding et al. 2018 (StatDP), Bichsel et al.
2021 (DP-Sniper) and, for single events, Gilbert and McMillan 2018.
"""

from __future__ import annotations

import math
import pickle
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from quincunx.audit.blackbox import interval
from quincunx.audit.blackbox.claim import Claim
from quincunx.audit.blackbox.events import Effort, Event, choose, counted, shortlist
from quincunx.audit.blackbox.features import partitions
from quincunx.audit.blackbox.finding import Finding, Report
from quincunx.audit.blackbox.outputs import Layout
from quincunx.audit.blackbox.sampler import Raised, Sampler, shown
from quincunx.errors import DataError, ParameterError
from quincunx.loss import Loss
from quincunx.noise.testing import key_of, keyed
from quincunx.numbers import Number, positive_integer, rational
from quincunx.spec import Specification

_FEWEST: Final = 100
# Parts of the samples that learn cells and choose an event; the first kept in memory, so never more than _MOST_LEARNED.
_LEARNING: Final = Fraction(3, 20)
_CHOOSING: Final = Fraction(3, 20)
_MOST_LEARNED: Final = 200_000
_MOST_CHOOSING: Final = 1_000_000
_CHUNK: Final = 2**17
_ONE_MINUS: Final = re.compile(r"1\s*[-−]\s*(\S+)")
# An event and a direction, twice: x over x' and x' over x. Each has a lower and an upper bound.
_EVENTS: Final = 2


def challenge(
    sampler: Sampler | Callable[[Any], Any],
    pair: Sequence[Any],
    claim: Claim | Loss | Specification | str,
    *,
    samples: Number = 100_000,
    confidence: Number = "1 - 1e-6",
    series: Number | None = None,
) -> Finding:
    """Test a claim about a mechanism at two neighbouring inputs.

    sampler: a callable from a dataset to an output, or a `Sampler`. pair: the two datasets. claim: a `Claim`, a text
    such as "epsilon=1, delta=1e-6", a Loss or a Specification. samples: outputs of each input. confidence: that a
    refutation is right and the bound holds, as typed: "1 - 1e-6", "0.95". series: None draws fresh noise; anything else
    names an injected key for mechanisms of Quincunx, so that a test can be repeated.
    """
    source, stated, (x, y) = Sampler.read(sampler), Claim.read(claim), _pair(pair)
    count, risk = _samples(samples), 1 - _confidence(confidence)
    started = time.perf_counter()
    before = _contents(x), _contents(y)
    with _stream(series):
        event, p_low, q_high, tested = _tested(source, (x, y), stated, count, risk / (2 * _EVENTS))
    _check_unchanged(source, (x, y), before)
    inputs = (shown(y), shown(x)) if event.swapped else (shown(x), shown(y))
    return Finding(
        mechanism=source.name,
        claim=stated,
        inputs=inputs,
        event=str(event),
        p_low=p_low,
        q_high=q_high,
        samples=count,
        tested=tested,
        confidence=1 - risk,
        seconds=time.perf_counter() - started,
        weighed=stated.weigh(p_low, q_high),
    )


def run(
    sampler: Sampler | Callable[[Any], Any],
    pairs: Sequence[Sequence[Any]],
    claim: Claim | Loss | Specification | str,
    *,
    samples: Number = 100_000,
    confidence: Number = "1 - 1e-6",
    series: Number | None = None,
) -> Report:
    """Test a claim at several pairs of neighbouring inputs; `confidence` is that of all findings together."""
    if not isinstance(pairs, Sequence) or isinstance(pairs, str | bytes) or not pairs:
        raise ParameterError("expected a list of pairs", where="pairs", got=shown(pairs))
    level, stated = _confidence(confidence), Claim.read(claim)
    each = 1 - (1 - level) / len(pairs)
    findings = tuple(
        challenge(
            sampler,
            pair,
            stated,
            samples=samples,
            confidence=each,
            series=None if series is None else f"{series} {i}",
        )
        for i, pair in enumerate(pairs)
    )
    return Report(findings=findings, confidence=level)


def _tested(
    source: Sampler, pair: tuple[Any, Any], claim: Claim, count: int, risk: Fraction
) -> tuple[Event, float, float, int]:
    learning = min(int(count * _LEARNING), _MOST_LEARNED)
    choosing = min(int(count * _CHOOSING), _MOST_CHOOSING)
    tested = count - learning - choosing
    # e^{−z²/2} ≥ the normal tail: z is a little more than is needed.
    z = NormalDist().inv_cdf(1 - float(risk)) if risk > Fraction(1, 10**12) else math.sqrt(-2 * math.log(float(risk)))
    effort = Effort(tested=tested, z=z)
    drawn = [source.draw(dataset, learning) for dataset in pair]
    _check_raising(source, pair, drawn)
    wheres = [f"{source.name}({shown(dataset)})" for dataset in pair]
    layout = Layout.learn(zip(drawn, wheres, strict=True))
    first, second = (layout.read(part, where) for part, where in zip(drawn, wheres, strict=True))
    tallies = shortlist(partitions(layout.names, first, second), first, second, claim, effort)
    for size in _chunks(choosing):
        a, b = (layout.read(source.draw(x, size), where) for x, where in zip(pair, wheres, strict=True))
        tallies = counted(tallies, a, b)
    events = choose(tallies, claim, effort)
    hits = [[0, 0] for _ in events]
    for size in _chunks(tested):
        for side, (dataset, where) in enumerate(zip(pair, wheres, strict=True)):
            batch = layout.read(source.draw(dataset, size), where)
            for event, counts in zip(events, hits, strict=True):
                counts[side] += event.count(batch)
    weighed = []
    for event, counts in zip(events, hits, strict=True):
        likely, other = counts[::-1] if event.swapped else counts
        p_low, q_high = interval.lower(likely, tested, risk), interval.upper(other, tested, risk)
        weighed.append((claim.weigh(p_low, q_high).tightness, event, p_low, q_high))
    _, event, p_low, q_high = max(weighed, key=lambda each: each[0])
    return event, p_low, q_high, tested


def _chunks(count: int) -> Iterator[int]:
    for start in range(0, count, _CHUNK):
        yield min(_CHUNK, count - start)


def _check_raising(source: Sampler, pair: tuple[Any, Any], drawn: Sequence[Sequence[Any]]) -> None:
    if all(isinstance(output, Raised) for part in drawn for output in part):
        raised = drawn[0][0]
        got = f"{raised.kind}: {raised.message}" if raised.message else raised.kind
        hint = "An exception counts as an output where some calls return; here none did."
        where = f"{source.name}({shown(pair[0])})"
        raise DataError("the callable raises every time, at both inputs", where=where, got=got, hint=hint)


def _contents(dataset: object) -> bytes | None:
    """What is in a dataset of lists, mappings, sets and arrays; None for anything else."""
    kept = isinstance(dataset, list | tuple | dict | set | bytearray | np.ndarray)
    try:
        return pickle.dumps(dataset) if kept else None
    except Exception:
        return None


def _check_unchanged(source: Sampler, pair: tuple[Any, Any], before: tuple[bytes | None, bytes | None]) -> None:
    for dataset, known in zip(pair, before, strict=True):
        if _contents(dataset) != known:
            what = "the callable changes its input, so that later calls see another dataset"
            hint = "Let it copy the dataset first."
            raise DataError(what, where=f"{source.name}({shown(dataset)})", hint=hint)


def _stream(series: object) -> AbstractContextManager[object]:
    return nullcontext() if series is None else keyed(key_of(f"audit {series}"))


def _pair(pair: Sequence[Any]) -> tuple[Any, Any]:
    if isinstance(pair, str | bytes) or not hasattr(pair, "__len__") or len(pair) != 2:
        hint = "Write the two neighbouring inputs: [0, 1]."
        raise ParameterError("expected a pair of inputs", where="pair", got=shown(pair), hint=hint)
    return pair[0], pair[1]


def _samples(samples: object) -> int:
    count = positive_integer(samples, "samples")
    if count < _FEWEST:
        raise ParameterError(f"must be at least {_FEWEST}", where="samples", got=str(count))
    return count


def _confidence(confidence: object) -> Fraction:
    """The number that was typed: "0.95" or "1 - 1e-6"."""
    match = _ONE_MINUS.fullmatch(confidence.strip()) if isinstance(confidence, str) else None
    level = 1 - rational(match[1], "confidence") if match else rational(confidence, "confidence")
    if not 0 < level < 1:
        hint = 'Write "1 - 1e-6" or "0.95".'
        raise ParameterError(
            "must be between 0 and 1, both excluded", where="confidence", got=str(level)[:40], hint=hint
        )
    return level
