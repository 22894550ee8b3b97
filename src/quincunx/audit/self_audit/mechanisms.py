"""Mechanisms in the catalogue: every one that the library exports, where it says itself that it is at its worst."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from numpy.typing import NDArray

from quincunx.audit.self_audit.entry import Entry
from quincunx.loss import Loss
from quincunx.mechanisms import Mechanism, Trial, in_bulk, kinds


def entries() -> Iterator[Entry]:
    """The trials of every mechanism, room by room."""
    listed = list(kinds().values())
    for room in dict.fromkeys(kind.room for kind in listed):
        for kind in (each for each in listed if each.room == room):
            yield from (_entry(kind, trial) for trial in kind.trials())


def _entry(kind: type[Mechanism], trial: Trial) -> Entry:
    made = cache(trial.make)

    def loss() -> Loss:
        found: Loss = made().loss
        return found

    def draw(given: Any, size: int) -> NDArray[Any]:
        return (trial.draw or in_bulk)(made())(given, size)

    return Entry(
        name=f"{kind.__name__}, {trial.name}",
        room=kind.room,
        covers=(kind.__name__, *trial.also),
        pair=trial.pair,
        words=trial.words,
        stated=trial.claim or loss,
        tight=trial.tight,
        draw=draw,
        share=trial.share,
        why=trial.why,
    )
