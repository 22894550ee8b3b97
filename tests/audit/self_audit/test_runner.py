"""Running the self-audit: nothing true is refuted, everything broken is, and a run can be repeated."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from quincunx import noise
from quincunx.audit import self_audit
from quincunx.audit.self_audit import runner
from quincunx.errors import ParameterError, VerificationError
from quincunx.invariant.swapping import rearrange
from quincunx.mechanisms import (
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Laplace,
    PartitionSelection,
    PermuteAndFlip,
    RandomizedResponse,
    SparseVectorSession,
    ThresholdSelection,
)
from quincunx.release import pricing

FEW = 4_000


def test_no_claim_of_the_catalogue_is_refuted(full: bool) -> None:
    """All claims with an injected key: the false-alarm rate of all together is 1e-6."""
    refuted = []
    for name, entry in self_audit.claims().items():
        # What is drawn one at a time is drawn less; with a million the exponential mechanism, whose worst event is
        # rare, is bounded by 0.89 of its claim.
        samples = 2 * 10**6 if full else FEW if entry.share == 1 else FEW // 4
        found = runner.tried(entry, samples=samples, risk=Fraction(1, 10**8), series="suite")
        assert found.samples == entry.samples(samples)
        assert 0 <= found.q_high <= 1
        if found.refuted:
            refuted.append(name)
        if full and entry.tight and entry.share == 1 and entry.claim in ("epsilon=1", "epsilon=2"):
            assert found.tightness >= 0.9, name
    assert refuted == []


@pytest.mark.parametrize("name", self_audit.controls())
def test_every_control_is_refuted(name: str) -> None:
    found = runner.work(("control", name, 40_000, Fraction(1, 10**8), "controls"))
    assert found.refuted, found


@pytest.mark.parametrize("name", [name for name, each in self_audit.replays().items() if "tables" not in name])
def test_replays_come_close_and_no_farther(name: str) -> None:
    each = self_audit.replays()[name]
    found = each.run(1, "suite")
    assert found.refuted == each.control, found.shown
    assert found.cases > 50
    assert (found.largest > 1) if each.control else (0.9 <= found.largest <= 1)
    assert bool(found.shown) == each.control


def test_a_replay_of_tables_comes_close_and_no_farther() -> None:
    found = self_audit.replays()["replay of tables, replace a row"].run(1, "suite")
    assert (found.refuted, found.verdict) == (False, "not refuted")
    assert found.cases >= 30
    assert 0.9 <= found.largest <= 1


@pytest.mark.parametrize(
    "unit", ["add or remove a person", pytest.param("replace a person's day", marks=pytest.mark.ci)]
)
def test_a_replay_of_several_tables_reaches_every_construct(unit: str) -> None:
    found = self_audit.replays()[f"replay of several tables, {unit}"].run(1, "suite")
    assert (found.refuted, found.verdict) == (False, "not refuted")
    # Four pairs, two norms, and a question at least for each of nearly all constructs.
    assert found.cases >= 4 * 2 * 20
    assert 0.9 <= found.largest <= 1


def test_a_replay_that_compares_nothing_is_an_error() -> None:
    empty = self_audit.Replaying(name="n", words="w", function=lambda *_: (0, 0.0, 0, ""))
    with pytest.raises(VerificationError, match="n: nothing was compared"):
        empty.run(1, None)


# A mutation of any mechanism makes its entry red.

Patch = Callable[[pytest.MonkeyPatch], None]


def scaled(function: Callable[..., Any], by: str) -> Callable[..., Any]:
    return lambda scale, size=None: function(scale * Fraction(by), size)


def less_laplace(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(noise, "rounded_laplace", scaled(noise.rounded_laplace, "0.8"))


def less_discrete(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(noise, "discrete_laplace", scaled(noise.discrete_laplace, "0.8"))


def less_gaussian(patch: pytest.MonkeyPatch) -> None:
    drawn = Gaussian._draw
    patch.setattr(Gaussian, "_draw", lambda self, count: drawn(self, count) * 4 // 5)


def less_discrete_gaussian(patch: pytest.MonkeyPatch) -> None:
    drawn = DiscreteGaussian._draw
    patch.setattr(DiscreteGaussian, "_draw", lambda self, count: drawn(self, count) // 2 * 2)


def honest(patch: pytest.MonkeyPatch) -> None:
    told = RandomizedResponse.sample
    again: Any = lambda self, values: np.where(noise.bernoulli("0.1", len(values)), values, told(self, values))  # noqa: E731
    patch.setattr(RandomizedResponse, "sample", again)


def always_best(patch: pytest.MonkeyPatch) -> None:
    picks: Any = lambda _, scores, count: noise.choice([3 * score for score in scores], size=count)  # noqa: E731
    patch.setattr(PermuteAndFlip, "_picks", picks)


def sharper(patch: pytest.MonkeyPatch) -> None:
    picks: Any = lambda _, scores, count: noise.choice([4 * scores[0], 0], size=count)  # noqa: E731
    patch.setattr(Exponential, "_picks", picks)


def no_noise(patch: pytest.MonkeyPatch) -> None:
    def ask(self: SparseVectorSession, value: int) -> bool:
        above = value >= self.mechanism.threshold
        self._above += above
        return above

    patch.setattr(SparseVectorSession, "ask", ask)


def eager(patch: pytest.MonkeyPatch) -> None:
    chance = PartitionSelection._chance
    patch.setattr(PartitionSelection, "_chance", lambda self, count: chance(self, 2 * count))


def strict(patch: pytest.MonkeyPatch) -> None:
    kept: Any = lambda self, counts: self.noise.sample(counts) >= self.threshold - 2 * (1 << self.bits)  # noqa: E731
    patch.setattr(ThresholdSelection, "sample", kept)


def one_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rearrange, "_again_where_one", lambda *_: None)
    # A record that was selected alone stays where it is.
    patch.setattr(rearrange, "_deranged", lambda *_: None)


def one_measure_free(patch: pytest.MonkeyPatch) -> None:
    drawn = pricing.Priced.draw

    def draw(self: pricing.Priced, exact: Any) -> Any:
        noisy = drawn(self, exact)
        return pricing.Noisy(keys=noisy.keys, measures=(noisy.measures[0], *exact.measures[1:]))

    patch.setattr(pricing.Priced, "draw", draw)


@pytest.mark.parametrize(
    ("name", "mutation"),
    [
        ("Laplace, ε = 1", less_laplace),
        ("DiscreteLaplace, ε = 1", less_discrete),
        ("Gaussian, μ = 1, fine", less_gaussian),
        ("DiscreteGaussian, δ(ε), σ = 1", less_discrete_gaussian),
        ("RandomizedResponse, ε = 1, 2 options", honest),
        ("PermuteAndFlip, ε = 1", always_best),
        ("Exponential, ε = 1", sharper),
        ("SparseVector, a session", no_noise),
        ("PartitionSelection, 2 people and 3", eager),
        ("ThresholdSelection, Laplace, 1 new", strict),
        ("swapping, derangement, 3 of 4 moved", one_alone),
        ("table, a mean", one_measure_free),
        ("composition, parallel, replace", less_discrete),
    ],
)
def test_a_mutated_mechanism_is_refuted(monkeypatch: pytest.MonkeyPatch, name: str, mutation: Patch) -> None:
    entry = self_audit.claims()[name]
    before = runner.tried(entry, samples=30_000, risk=Fraction(1, 10**8), series="mutated")
    assert not before.refuted
    mutation(monkeypatch)
    after = runner.tried(entry, samples=30_000, risk=Fraction(1, 10**8), series="mutated")
    assert after.refuted, after


# The run as a whole.


def test_a_run_has_everything_and_can_be_repeated() -> None:
    told: list[tuple[int, int, str]] = []
    first = self_audit.run(samples=5_000, only="parallel", series=1, progress=lambda *each: told.append(each))
    second = self_audit.run(samples=5_000, only="PARALLEL", series=1)
    other = self_audit.run(samples=5_000, only="parallel", series=2)
    assert [each.name for each in first.claims] == [
        "composition, parallel, replace",
        "composition, parallel, add or remove",
    ]
    assert [(each.bound, each.event) for each in first.claims] == [(each.bound, each.event) for each in second.claims]
    assert [each.bound for each in first.claims] != [each.bound for each in other.claims]
    assert told == [(i + 1, 2, each.name) for i, each in enumerate(first.claims)]
    assert (first.keyed, first.samples, first.risk, first.controls, first.replays) == (
        True,
        5_000,
        runner.RISK,
        (),
        (),
    )


def test_the_confidence_is_that_of_the_whole_catalogue_whatever_is_run() -> None:
    tasks = runner._tasks(1_000, "parallel", None)
    assert {task[3] for task in tasks} == {runner.RISK / len(self_audit.claims())}
    assert Fraction(1, 10**6) == runner.RISK


def test_two_processes_find_the_same() -> None:
    one, two = (
        self_audit.run(samples=5_000, only="a group of", series="same", processes=processes) for processes in (1, 2)
    )
    assert [(each.name, each.bound, each.event) for each in one.claims] == [
        (each.name, each.bound, each.event) for each in two.claims
    ]
    assert len(one.claims) == 2


def test_the_slowest_tasks_start_first() -> None:
    tasks = runner._tasks(1_000, "", None)
    ordered = sorted(tasks, key=runner._weight, reverse=True)
    assert ordered[0][0] == "replay"
    assert ordered[-1][1] in self_audit.claims() or ordered[-1][1] in self_audit.controls()
    assert len(tasks) == len(self_audit.claims()) + len(self_audit.controls()) + len(self_audit.replays())


def test_fresh_noise_is_drawn_without_a_series() -> None:
    report = self_audit.run(samples=2_000, only="two answers, pure")
    assert not report.keyed
    assert not report.refuted


@pytest.mark.parametrize("samples", [0, -1, "many", None, 2.5])
def test_bad_samples_are_refused(samples: object) -> None:
    with pytest.raises(ParameterError, match="samples"):
        self_audit.run(samples=samples)


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(ParameterError, match="must be at least 100"):
        self_audit.run(samples=5, only="a group of 2")


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ParameterError, match="nothing in the catalogue has this in its name; got 'no such thing'"):
        self_audit.run(only="no such thing")


def test_a_mechanism_that_raises_is_an_error_with_its_name() -> None:
    from tests.audit.self_audit.test_catalogue import entry

    def broken(*_: object) -> Any:
        raise ZeroDivisionError("gone")

    with pytest.raises(Exception, match="the vectorised callable raised; got ZeroDivisionError: gone"):
        runner.tried(entry(draw=broken), samples=1_000, risk=Fraction(1, 100))


def test_claims_are_stated_with_symbols() -> None:
    assert runner.stated("epsilon=0.5, delta=1e-6") == "ε = 0.5, δ = 1e-6"
    assert runner.stated("rho=1.23456789") == "ρ = 1.23457"
    assert runner.stated(Laplace(scale=1).loss) == "all of δ(ε)"
