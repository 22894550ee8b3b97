"""The black-box auditor refutes what is broken, in every kind of output, and says clearly what it cannot audit."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import quincunx as qx
from quincunx import noise
from quincunx.audit.blackbox.challenge import challenge, run
from quincunx.audit.blackbox.claim import Claim
from quincunx.audit.blackbox.sampler import Sampler
from quincunx.errors import DataError, ParameterError
from quincunx.mechanisms import (
    DiscreteLaplace,
    Gaussian,
    Laplace,
    RandomizedResponse,
)
from quincunx.noise.testing import KeyedBits, key_of, keyed
from quincunx.spec.standard import Pure
from tests.audit.blackbox.samplers import bulk


@pytest.mark.parametrize("attempt", range(20))
def test_too_little_noise_is_refuted_every_time(attempt: int) -> None:
    # Scale 0.8 where ε = 1 asks for 1.
    weak = bulk(Laplace(scale="0.8", step="1/1024"))
    found = challenge(weak, (0, 1024), "epsilon=1", series=f"too little {attempt}")
    assert found.verdict == "refuted"
    assert 1 < found.bound < 1.25
    if attempt % 5 == 0:
        honest = bulk(Laplace(scale=1, step="1/1024"))
        assert challenge(honest, (0, 1024), "epsilon=1", series=f"honest {attempt}").verdict == "not refuted"


def textbook(seed: int) -> Sampler:
    """Laplace noise by the inverse distribution function, in floating point."""
    generator = np.random.default_rng(seed)

    def draw(x: float, size: int) -> np.ndarray:
        u = generator.random(size) - 0.5
        return x - np.sign(u) * np.log(1 - 2 * np.abs(u))

    return Sampler.many(draw, "textbook Laplace")


def test_textbook_floating_point_noise_is_refuted_and_ours_is_not(stream: KeyedBits) -> None:
    found = challenge(textbook(1), (0.0, 1.0), "epsilon=1")
    assert found.verdict == "refuted"
    assert found.bound > 5
    assert "lowest set bit" in found.event or "trailing zero bits" in found.event
    ours = Laplace(scale=1, step=Fraction(1, 2**20))
    as_floats = Sampler.many(lambda x, size: ours.sample(np.full(size, x * 2**20)) / 2**20, "rounded Laplace")
    kept = challenge(as_floats, (0, 1), "epsilon=1")
    assert kept.verdict == "not refuted"
    assert kept.bound > 0.9
    assert stream.injected


def test_each_standard_is_tested_and_broken(stream: KeyedBits) -> None:
    sampler, pair = bulk(Gaussian(sigma=1, step="1/64")), (0, 64)
    exact = Gaussian(sigma=1).loss
    cases: list[tuple[Any, Any, float]] = [
        ("mu=1", "mu=0.9", 0.9),
        ("rho=0.5", "rho=0.25", 0.5),
        ("rho=0.5, delta=1e-3", "rho=0.25, delta=1e-3", 0.5),
        (f"epsilon=1, delta={exact.delta(1)}", f"epsilon=0.8, delta={exact.delta(1)}", 0.8),
        ("kl=0.5", "kl=0.2", 0.5),
        (f"tv={exact.tv()}", "tv=0.33", 0.9),
        ("epsilon=1, alpha=2", "epsilon=0.5, alpha=2", 0.5),
        (exact, Gaussian(sigma="1.2").loss, 0.9),
    ]
    for right, wrong, share in cases:
        held, broken = (challenge(sampler, pair, claim, samples=100_000) for claim in (right, wrong))
        assert held.verdict == "not refuted", right
        assert share < held.tightness <= 1, right
        assert broken.verdict == "refuted", wrong
    assert stream.injected


def test_several_answers_together_are_heard_together(stream: KeyedBits) -> None:
    two = bulk(DiscreteLaplace(scale=1))
    pair = ([0, 0, 5], [1, 1, 5])
    found = challenge(two, pair, "epsilon=2")
    assert found.verdict == "not refuted"
    assert found.tightness > 0.9
    assert challenge(two, pair, "epsilon=1.5").verdict == "refuted"
    assert stream.injected


def seeded(function: Callable[[Any, np.random.Generator], Any]) -> Callable[[Any], Any]:
    generator = np.random.default_rng(5)
    return lambda x: function(x, generator)


def raising(x: int, rng: np.random.Generator) -> float:
    if x == 1 and rng.random() < 0.5:
        raise ValueError("a value that only one neighbour has")
    return float(rng.integers(3))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (raising, "raises ValueError"),
        (lambda x, rng: None if x and rng.random() < 0.5 else 1.0, "the output is None"),
        (lambda x, rng: float("nan") if x and rng.random() < 0.5 else 1.0, "not a number"),
        (lambda x, rng: float("inf") if x and rng.random() < 0.5 else 1.0, "output"),
        (lambda x, rng: "ab"[int(x and rng.random() < 0.5)], "the output is"),
        (lambda x, rng: {"a": 1, "b": 2} if x and rng.random() < 0.5 else {"a": 1}, "the output is"),
        (lambda x, rng: {"a": rng.normal(), **({"b": rng.normal()} if x else {})}, "output"),
        (lambda x, rng: [rng.normal()] * (3 if x and rng.random() < 0.5 else 2), "output"),
        (lambda x, rng: (rng.normal(), rng.normal(), x + 0.01 * rng.normal()), "output[2]"),
        (lambda x, rng: np.array([[rng.normal(), rng.normal() + 4 * x]]), "output[0, 1]"),
        (lambda x, rng: {"a"} if x and rng.random() < 0.5 else {"a", "b"}, "the output is"),
        (lambda x, rng: rng.integers(100) * 4 + 2 * (x and rng.random() < 0.9), "output"),
    ],
)
def test_leaks_of_every_kind_of_output_are_found(
    function: Callable[[Any, np.random.Generator], Any], words: str
) -> None:
    found = challenge(seeded(function), (0, 1), "epsilon=1", samples=3000)
    assert found.verdict == "refuted"
    assert words in found.event, found.event
    same = challenge(seeded(function), (1, 1), "epsilon=0.5", samples=3000)
    assert same.verdict == "not refuted"


def test_a_callable_that_always_raises_is_an_error_with_its_input() -> None:
    def broken(_: object) -> None:
        raise TypeError("expected a list")

    with pytest.raises(DataError) as caught:
        challenge(broken, ([1], [2]), "epsilon=1", samples=100)
    assert caught.value.what == "the callable raises every time, at both inputs"
    assert caught.value.where.endswith("broken([1])")
    assert caught.value.got == "TypeError: expected a list"
    with pytest.raises(DataError, match="got AssertionError"):
        challenge(seeded(lambda _, __: (_ for _ in ()).throw(AssertionError())), (0, 1), "epsilon=1", samples=100)


def test_a_callable_that_always_raises_at_one_input_is_refuted() -> None:
    found = challenge(seeded(lambda x, _: 1 // x), (0, 1), "epsilon=3", samples=3000)
    assert found.verdict == "refuted"
    assert "ZeroDivisionError" in found.event or "number" in found.event


@pytest.mark.parametrize(
    "function",
    [
        lambda _, rng: tuple([0.0] * int(rng.integers(3, 5))),
        lambda x, _: np.zeros(3 + x),
        lambda x, _: 1.0 if x else (1.0,),
    ],
)
def test_a_change_of_shape_is_an_error_with_its_input(function: Callable[[Any, np.random.Generator], Any]) -> None:
    with pytest.raises(DataError) as caught:
        challenge(Sampler.one(seeded(function), "mine"), (0, 1), "epsilon=1", samples=100)
    assert caught.value.what == "the outputs change their shape"
    assert caught.value.where in ("mine(0)", "mine(1)")


def test_a_shape_that_changes_late_is_an_error_too() -> None:
    calls = iter(range(10**6))
    with pytest.raises(DataError, match="the outputs change their shape"):
        challenge(lambda _: (0.0,) * (3 if next(calls) < 150 else 4), (0, 1), "epsilon=1", samples=100)


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1]), ({"a": 1}, {}), (np.zeros(3), np.zeros(3)), (([1], 2), ([3], 2))])
def test_a_callable_that_changes_its_input_is_an_error(x: Any, y: Any) -> None:
    def spoil(dataset: Any) -> float:
        part = dataset[0] if isinstance(dataset, tuple) else dataset
        if isinstance(part, np.ndarray):
            part += 1
        elif isinstance(part, dict):
            part[len(part)] = 0
        else:
            part.append(0)
        return float(len(part))

    with pytest.raises(DataError, match="the callable changes its input"):
        challenge(spoil, (x, y), "epsilon=9", samples=100)


def test_inputs_that_cannot_be_stored_are_left_alone() -> None:
    held = [lambda: 0]
    assert challenge(len, (held, [*held]), "epsilon=1", samples=100).verdict == "not refuted"


def test_large_counts_are_drawn_in_chunks() -> None:
    sizes: list[int] = []

    def draw(_: int, size: int) -> np.ndarray:
        sizes.append(size)
        return np.arange(size) % 2

    found = challenge(Sampler.many(draw), (0, 1), "epsilon=1", samples=1_500_000)
    assert sum(sizes) == 3_000_000
    assert max(sizes) == 200_000
    assert found.tested == 1_500_000 - 200_000 - 225_000
    assert found.bound == 0


def test_several_pairs_share_the_risk() -> None:
    sampler = bulk(DiscreteLaplace(scale=1))
    report = run(sampler, [(0, 1), [1, 2], (0, 3)], "epsilon=1", samples=5000, confidence="0.97", series=1)
    assert [finding.verdict for finding in report.findings] == ["not refuted", "not refuted", "refuted"]
    assert report.verdict == "refuted"
    assert report.worst is report.findings[2]
    assert all(finding.confidence == Fraction(99, 100) for finding in report.findings)
    assert report.confidence == Fraction(97, 100)
    again = run(sampler, [(0, 1), [1, 2], (0, 3)], "epsilon=1", samples=5000, confidence="0.97", series=1)
    assert [f.bound for f in again.findings] == [f.bound for f in report.findings]
    assert len({finding.p_low for finding in report.findings}) == 3


def test_a_series_repeats_and_none_does_not_inject() -> None:
    sampler = bulk(DiscreteLaplace(scale=1))
    bounds = [challenge(sampler, (0, 1), "epsilon=1", samples=2000, series=each).p_low for each in (1, 1, 2)]
    assert bounds[0] == bounds[1] != bounds[2]
    seen: list[bool] = []

    def watching(_: int, size: int) -> np.ndarray:
        seen.append(noise.injected())
        return np.zeros(size)

    challenge(Sampler.many(watching), (0, 1), "epsilon=1", samples=100)
    assert not any(seen)
    challenge(Sampler.many(watching), (0, 1), "epsilon=1", samples=100, series=0)
    assert seen[-1]
    with keyed(key_of("outside")):
        challenge(Sampler.many(watching), (0, 1), "epsilon=1", samples=100)
    assert seen[-1]


def test_a_loss_a_specification_and_a_text_are_claims(stream: KeyedBits) -> None:
    mechanism = RandomizedResponse(probability="3/4")
    specification = qx.Specification(
        domain=qx.domain.Finite.vectors([0, 1], 1),
        scope=qx.scope.Everything(),
        unit=qx.unit.Replace(),
        standard=Pure(),
        intensity="ln(3)",
    )
    for claim in (mechanism.loss, specification, "epsilon=ln(3)", Claim.parse("epsilon=ln(3)")):
        found = challenge(bulk(mechanism), (0, 1), claim, samples=20_000)
        assert found.verdict == "not refuted"
        assert found.tightness > 0.85
    assert stream.injected


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"pair": (0, 1, 2)}, "expected a pair of inputs"),
        ({"pair": "ab"}, "expected a pair of inputs"),
        ({"pair": 1}, "expected a pair of inputs"),
        ({"samples": 99}, "must be at least 100"),
        ({"samples": 1.5}, "must be a whole number"),
        ({"samples": 0}, "must be a whole number, 1 or greater"),
        ({"confidence": 1}, "must be between 0 and 1"),
        ({"confidence": "1 - 0"}, "must be between 0 and 1"),
        ({"confidence": "1 - 2"}, "must be between 0 and 1"),
        ({"confidence": "high"}, "expected a finite number"),
        ({"confidence": "2 - 1e-6"}, "expected a finite number"),
        ({"claim": "epsilon"}, "a claim is a parameter"),
        ({"sampler": 1}, "expected a callable"),
    ],
)
def test_bad_input(changes: dict[str, Any], what: str) -> None:
    given: dict[str, Any] = {"sampler": abs, "pair": (0, 1), "claim": "epsilon=1", "samples": 100, **changes}
    with pytest.raises(ParameterError, match=what):
        challenge(given.pop("sampler"), given.pop("pair"), given.pop("claim"), **given)


@pytest.mark.parametrize("pairs", [[], "[[0, 1]]", 1, {}])
def test_bad_pairs(pairs: Any) -> None:
    with pytest.raises(ParameterError, match="expected a list of pairs"):
        run(abs, pairs, "epsilon=1")


@pytest.mark.parametrize("typed", ["1 - 1e-6", "1-1e-6", "1 − 1e-6", "0.999999", Fraction(999999, 10**6)])
def test_confidence_as_typed(typed: object) -> None:
    found = challenge(lambda _: 0, (0, 1), "epsilon=1", samples=100, confidence=typed)
    assert found.confidence == 1 - Fraction(1, 10**6)
    assert found.bound == 0
    assert found.verdict == "not refuted"


def test_extreme_confidence(stream: KeyedBits) -> None:
    sampler = bulk(RandomizedResponse(probability="3/4"))
    bounds = [
        challenge(sampler, (0, 1), "epsilon=ln(3)", samples=20_000, confidence=typed).bound
        for typed in ("0.5", "1 - 1e-6", "1 - 1e-40")
    ]
    assert math.log(3) > bounds[0] > bounds[1] > bounds[2] > 0.5
    assert stream.injected
