"""What somebody learns about your secret who knows your other attributes, and that you are in the table.

Secrets are whole numbers from 0. Shares are of the people asked about, from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.mechanisms import DiscreteLaplace
from quincunx.numbers import Number

__all__ = ["Learnt", "Release", "from_classes", "from_counts"]

Ints = NDArray[np.int64]
Counts = NDArray[np.float64]
# As many as decide against a small group, and not against a large one.
_IMAGINARY: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """One table. part: the class or the public group of every row. secret: that of every row. asked: the rows of the
    people asked about, who come in the same order in every release that is combined."""

    part: Ints
    secret: Ints
    asked: Ints

    def counts(self, secrets: int) -> Ints:
        """How many rows of each part have each secret."""
        parts = int(self.part.max()) + 1
        flat = np.bincount(self.part * secrets + self.secret, minlength=parts * secrets)
        return flat.reshape(parts, secrets).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """Shares of people. certain: one secret is possible. two: at most two are. right: the best guess is true.
    without: it is still true when the person's own rows are left out, so it was learnt from others alone."""

    certain: float
    two: float
    right: float
    without: float


def from_classes(releases: Sequence[Release], *, kinds: Ints) -> Learnt:
    """From tables that print the secrets of every class: what all of a person's classes have in common.

    kinds: secret → what is guessed about it (itself, or its band).
    """
    secrets = kinds.size
    of_kind = np.eye(int(kinds.max()) + 1)[kinds]
    hidden = releases[0].secret[releases[0].asked]
    own = np.eye(secrets, dtype=np.int64)[hidden]
    counts = [release.counts(secrets) for release in releases]
    seen = [table[release.part[release.asked]] for table, release in zip(counts, releases, strict=True)]
    everywhere = np.sum([table.sum(axis=0) for table in counts], axis=0) @ of_kind
    share = everywhere / everywhere.sum()
    left = np.logical_and.reduce([table > 0 for table in seen]).sum(axis=1)
    # One's own row is any of the class: counts decide, and the whole table breaks ties. Of others alone they are a
    # sample of people alike, and join as many imaginary people who are like the whole table.
    right = _common(seen) @ of_kind + 1e-6 * share
    without = _common([table - own for table in seen]) @ of_kind + _IMAGINARY * share
    return Learnt(
        certain=float((left == 1).mean()),
        two=float((left <= 2).mean()),
        right=float((right.argmax(axis=1) == kinds[hidden]).mean()),
        without=float((without.argmax(axis=1) == kinds[hidden]).mean()),
    )


def _common(seen: Sequence[Ints]) -> Ints:
    """The total of counts over the secrets that every class has; where there is none, over all."""
    common = np.logical_and.reduce([counts > 0 for counts in seen])
    common |= ~common.any(axis=1, keepdims=True)
    return np.where(common, np.sum(seen, axis=0), 0)


def from_counts(releases: Sequence[Release], *, secrets: int, epsilon: Number, repeats: int) -> Learnt:
    """From counts by public group and secret with discrete Laplace noise: each release costs `epsilon` (add/remove).

    The guess is the secret with the largest estimate in the person's groups; shares are averages over `repeats` draws.
    Nothing is ever certain: every count can come from every table.
    """
    noise = DiscreteLaplace.calibrate(epsilon=epsilon)
    truth = releases[0].secret[releases[0].asked]
    own = len(releases) * np.eye(secrets)[truth]
    right = without = 0.0
    for _ in range(repeats):
        tables = [noise.sample(release.counts(secrets)) for release in releases]
        seen = np.sum([table[r.part[r.asked]] for table, r in zip(tables, releases, strict=True)], axis=0)
        everywhere = np.sum([table.sum(axis=0) for table in tables], axis=0)
        variance = noise.variance * len(releases)
        right += float((_estimate(seen, everywhere, variance).argmax(axis=1) == truth).mean())
        # The same noise on the table without the person: everything that is seen of it is a function of that table.
        without += float((_estimate(seen - own, everywhere - own, variance).argmax(axis=1) == truth).mean())
    return Learnt(certain=0.0, two=0.0, right=right / repeats, without=without / repeats)


def _estimate(seen: Counts, everywhere: Counts, variance: float) -> Counts:
    """Noisy counts of a group, drawn towards those of a group like the whole table, the more the noise outweighs it."""
    shares = np.maximum(everywhere, 1.0)
    expected = np.maximum(seen.sum(axis=1, keepdims=True), 1.0) * shares / shares.sum(axis=-1, keepdims=True)
    return np.asarray(seen + (expected - seen) * variance / (variance + expected))
