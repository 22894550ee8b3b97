"""The best guess from noisy tables: populations drawn from what an attacker must believe, one person after the other.

Beforehand everyone is of kind c with probability shares_c, independently; a noisy count with discrete Gaussian noise
has probability ∝ e^{−(told − count)²/2σ²}, whatever the count, so what the attacker believes is known up to a factor.
Gibbs sampling takes one person out and draws their kind anew, given all others. Proof that this is right: block.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from quincunx.attack.consistent import Floats, Ints, best_guess


def believed_guess(
    rows: Ints,
    told: Ints,
    *,
    variance: float,
    shares: Floats,
    start: Sequence[int],
    source: np.random.Generator,
    sweeps: int = 50,
) -> tuple[int, ...]:
    """The counts that name the most people on average, by what noisy counts leave to believe.

    variance: the parameter σ² of the noise. start: a population to begin with, of the right size. sweeps: how often
    everyone is drawn anew; the first quarter is not counted.
    """
    people = np.repeat(np.arange(len(start)), start)
    held = np.zeros((len(start), people.size + 1))
    for sweep, kinds in enumerate(_sweeps(rows, told, variance, np.log(shares), people, source, sweeps)):
        if 4 * sweep >= sweeps:
            counts = np.bincount(kinds, minlength=len(start))
            held[np.arange(len(start)), counts] += 1
    tails = np.cumsum(held[:, ::-1], axis=1)[:, ::-1][:, 1:] / held[0].sum()
    found = {kind: [each for each in tails[kind].tolist() if each > 0] for kind in np.flatnonzero(tails[:, 0]).tolist()}
    return best_guess(found, len(start))


def _sweeps(
    rows: Ints, told: Ints, variance: float, log_shares: Floats, people: Ints, source: np.random.Generator, sweeps: int
) -> Iterator[Ints]:
    """Everyone's kind, after each sweep."""
    kinds, members = people.copy(), _members(rows)
    # What is left of each noisy count after everybody's part; one more place for kinds that are in fewer tables.
    left = np.append(told - rows @ np.bincount(kinds, minlength=rows.shape[1]), 0).astype(np.float64)
    for _ in range(sweeps):
        for person in range(kinds.size):
            left[members[kinds[person]]] += 1
            # ((left)² − (left − 1)²)/2σ²: what one more person in the row adds to the logarithm.
            gain = (2 * left - 1) / (2 * variance)
            gain[-1] = 0.0
            odds = gain[members].sum(axis=1) + log_shares
            kinds[person] = np.argmax(odds + source.gumbel(size=odds.size))
            left[members[kinds[person]]] -= 1
        yield kinds


def _members(rows: Ints) -> Ints:
    """For each kind of person the rows that count it, filled up with one row more than there are."""
    most = int(rows.sum(axis=0).max())
    found = np.full((rows.shape[1], most), len(rows), dtype=np.int64)
    for kind in range(rows.shape[1]):
        own = np.flatnonzero(rows[:, kind])
        found[kind, : own.size] = own
    return found
