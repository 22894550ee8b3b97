"""What docs/promise.md says is *not* promised, shown: each of these is a fact about this release, not a goal."""

from __future__ import annotations

import inspect

import numpy as np

from quincunx import noise
from quincunx.mechanisms import DiscreteLaplace, Laplace
from quincunx.noise.testing import key_of, keyed


def test_the_work_of_a_draw_depends_on_its_bits() -> None:
    # Two calls with the same parameters take different numbers of exact decisions.
    counts = set()
    for name in ("first", "second", "third"):
        with keyed(key_of(name)) as stream:
            noise.discrete_laplace(10**12, size=2000)
        counts.add(stream.fallbacks)
    assert len(counts) > 1


def test_the_true_values_stay_in_memory() -> None:
    values = np.array([3, 4, 5])
    Laplace(scale=2).sample(values)
    assert values.tolist() == [3, 4, 5]


def test_whoever_runs_the_program_sees_the_true_values() -> None:
    # The mechanism is a function of the true value, in the same process, and its noise is the difference.
    with keyed(key_of("operator")):
        noisy = DiscreteLaplace(scale=2).sample([100, 200])
    with keyed(key_of("operator")):
        zero = DiscreteLaplace(scale=2).sample([0, 0])
    assert (noisy - zero).tolist() == [100, 200]


def test_the_mechanism_believes_the_stated_sensitivity() -> None:
    # Nothing but the parameter enters the loss: the library has not seen the query.
    assert Laplace(scale=2, sensitivity=1).loss.pure() == 0.5
    assert "values" not in inspect.signature(Laplace).parameters


def test_nothing_counts_what_was_spent() -> None:
    mechanism = Laplace(scale=2)
    before = mechanism.loss
    for _ in range(10):
        mechanism.sample([1])
    assert mechanism.loss == before
    assert (10 * before).pure() == 5.0
