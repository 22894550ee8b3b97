"""What a new mechanism costs: a toy that nobody knows, exported and described, and everything takes it up by itself.

ARCHITECTURE.md lists the five files; here the class and its export stand for the first and the fourth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

from quincunx import mechanisms, noise
from quincunx.audit import self_audit
from quincunx.audit.self_audit import catalogue, runner
from quincunx.cli import expression
from quincunx.cli.app import app
from quincunx.errors import DataError
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.loss import LatticeLaw, Loss
from quincunx.mechanisms import Mechanism, RandomizedResponse, from_json, kinds
from quincunx.mechanisms.additive import lattice_values
from quincunx.mechanisms.mechanism import World
from quincunx.mechanisms.trial import Trial
from quincunx.numbers import Log, positive_integer

from . import test_conformance as conformance


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Toy(Mechanism):
    """One bit, told truly by `heads` of `heads` + 1 sides of a die, and turned by the last."""

    heads: int
    tag: ClassVar[str] = "toy"
    room: ClassVar[str] = "choices"
    term: ClassVar[str] = "one bit, turned by one side of a die with heads + 1 sides"
    accuracy: ClassVar[str] = "{count} bits are wrong by at most {half}"

    def __init__(self, *, heads: object) -> None:
        object.__setattr__(self, "heads", positive_integer(heads, "heads"))

    @property
    def loss(self) -> Loss:
        return Loss.of(LatticeLaw(unit=Log(Fraction(self.heads)), steps=1))

    def sample(self, values: object) -> Any:
        exact, _ = lattice_values(values, "Toy")
        told = np.asarray(noise.bernoulli(Fraction(self.heads, self.heads + 1), exact.size)).reshape(exact.shape)
        return np.where(told, exact != 0, exact == 0).astype(np.int64)

    def words(self, unit: Fraction = Fraction(1)) -> str:
        return f"a bit and a die of {self.heads + 1} sides, {unit} each"

    def finite(self) -> FiniteMechanism:
        true = Fraction(self.heads, self.heads + 1)
        return FiniteMechanism({x: {y: true if x == y else 1 - true for y in (0, 1)} for x in (0, 1)})

    @classmethod
    def examples(cls) -> Sequence[Toy]:
        return (cls(heads=3), cls(heads=2), cls(heads=10**6))

    def world(self, k: int = 1) -> World:
        return self.finite().power(k), [(0, 1), (1, 0)]

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        yield Trial(name="three heads", make=lambda: cls(heads=3), pair=(0, 1), words="the other bit", tight=True)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Toy]]:
    """The export, which is all that registers it."""
    monkeypatch.setattr(mechanisms, "Toy", Toy, raising=False)
    monkeypatch.setattr(mechanisms, "__all__", [*mechanisms.__all__, "Toy"])
    caches: list[Any] = [catalogue.claims, expression.terms]
    for each in caches:
        each.cache_clear()
    yield Toy
    for each in caches:
        each.cache_clear()


def test_it_is_known_by_its_tag_and_comes_back_from_json(toy: type[Toy]) -> None:
    assert kinds()["toy"] is toy
    for each in toy.examples():
        assert from_json(json.loads(json.dumps(each.to_json()))) == each


def test_the_conformance_suite_runs_over_it(toy: type[Toy]) -> None:
    for each in toy.examples():
        conformance.test_frozen_equal_and_rebuilt_by_repr(each)
        conformance.test_loss_obeys_the_algebra(each)
        conformance.test_the_loss_is_rebuilt_from_json_and_from_its_repr(each)
        conformance.test_a_sample_of_everyone_is_the_identity(each)
        for delta in ("0", "0.02"):
            conformance.test_the_loss_is_never_below_enumeration(each, delta)
        conformance.test_the_group_map_is_never_below_enumeration(each, 2)
    conformance.test_two_uses_are_never_below_enumeration(toy.examples()[0])


def test_the_self_audit_tries_it(toy: type[Toy], monkeypatch: pytest.MonkeyPatch) -> None:
    before = self_audit.claims()
    report = self_audit.run(samples=20_000, only="toy", series="adding")
    ((found,),) = [report.claims]
    assert (found.name, found.refuted, found.tight) == ("Toy, three heads", False, True)
    assert found.tightness > 0.9
    assert report.tried == len(before) == 1 + sum("Toy" not in name for name in before)

    def truthful(self: Toy, values: Any) -> Any:
        del self
        return np.where(np.asarray(noise.bernoulli("0.9", len(values))), values, 1 - values)

    monkeypatch.setattr(toy, "sample", truthful)
    broken = runner.tried(before["Toy, three heads"], samples=20_000, risk=Fraction(1, 10**8), series="adding")
    assert broken.refuted


def test_commands_name_it(toy: type[Toy]) -> None:
    assert toy.term in CliRunner().invoke(app, ["account", "--list"]).stdout
    answer = CliRunner().invoke(app, ["account", "2*toy(heads=3)", "--delta", "1e-6", "--json"])
    assert json.loads(answer.stdout)["bounds"]["pure"]["upper"] == pytest.approx(2 * np.log(3), rel=1e-12)
    assert RandomizedResponse(probability="3/4").loss == toy(heads=3).loss


def test_only_what_is_asked_for_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """`audit self --only` knows all names, and calibrates nothing but what it tries."""

    def refused(*_: object, **__: object) -> Any:
        raise AssertionError("made without being asked for")

    catalogue.claims.cache_clear()
    monkeypatch.setattr(RandomizedResponse, "calibrate", refused)
    monkeypatch.setattr(Loss, "subsample", refused)
    monkeypatch.setattr(Loss, "delta", refused)
    report = self_audit.run(samples=2_000, only="Laplace, ε = 0.5, Δ = 3", series="adding")
    assert [each.name for each in report.claims] == ["Laplace, ε = 0.5, Δ = 3"]
    with pytest.raises(DataError, match="made without being asked for"):
        self_audit.run(samples=2_000, only="RandomizedResponse, ε = 1, 2", series="adding")
    catalogue.claims.cache_clear()
