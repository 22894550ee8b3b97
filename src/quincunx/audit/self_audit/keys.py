"""Unknown keys in the catalogue: which keys are shown, when one person may be all that is behind one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.audit.self_audit.entry import Draw, Entry, in_bulk
from quincunx.loss import Loss
from quincunx.mechanisms import PartitionSelection, ThresholdSelection

ROOM: Final = "unknown keys"


def entries() -> Iterator[Entry]:
    """The optimal rule and the threshold, each where δ is at work and where ε is."""
    optimal = PartitionSelection(epsilon=1, delta="0.01")
    draw = in_bulk(optimal)
    # (ε, δ) as a whole curve, so that the bound is of δ where δ is at work.
    claim = optimal.loss
    alone = "nobody behind a key, or one person"
    yield _entry("PartitionSelection", "a new key", (0, 1), alone, claim, draw, tight=True)
    few = "two people behind a key, or three"
    yield _entry("PartitionSelection", "2 people and 3", (2, 3), few, claim, draw, tight=True)
    many = "five people behind a key, or six"
    yield _entry("PartitionSelection", "5 people and 6", (5, 6), many, claim, draw, tight=True)
    both = ThresholdSelection.calibrate(groups=2, delta="0.01", epsilon=1, bits=4)
    gaussian = ThresholdSelection.calibrate(groups=2, delta="0.01", rho="0.5", bits=4)
    for name, selection, limit in (
        ("Laplace", both, both.loss),
        ("Gaussian", gaussian, gaussian.loss),
    ):
        for keys in (1, 2):
            votes = (selection.votes(keys),) * keys
            new = f"keys that only one person has, {keys} of them, or nobody"
            yield _entry(
                "ThresholdSelection", f"{name}, {keys} new", ((0,) * keys, votes), new, limit, present(selection)
            )
        near = selection.threshold - selection.votes(2)
        old = "two keys near the threshold, with one person more or less"
        pair = ((near, near), (near + selection.votes(2),) * 2)
        yield _entry("ThresholdSelection", f"{name}, old keys", pair, old, limit, present(selection))


def present(selection: ThresholdSelection) -> Draw:
    """Draws of a selection in which a key without votes does not exist, and so is never shown."""

    def draw(votes: Any, size: int) -> NDArray[Any]:
        counts = np.broadcast_to(np.asarray(votes, dtype=np.int64), (size, len(votes)))
        return np.asarray(selection.sample(counts)) & (counts > 0)

    return draw


def _entry(
    kind: str, rest: str, pair: tuple[Any, Any], words: str, claim: str | Loss, draw: Draw, *, tight: bool = False
) -> Entry:
    return Entry(
        name=f"{kind}, {rest}",
        room=ROOM,
        covers=(kind,),
        pair=pair,
        words=words,
        claim=claim,
        tight=tight,
        draw=draw,
        why="" if tight else "The threshold is a whole number, so δ is not used up.",
    )
