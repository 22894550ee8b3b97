"""The catalogue of the self-audit: nothing public is left out, and tight pairs attain their claim."""

from __future__ import annotations

import inspect
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from quincunx import mechanisms
from quincunx.audit import self_audit
from quincunx.audit.blackbox.claim import Claim
from quincunx.audit.self_audit import catalogue, statistics
from quincunx.audit.self_audit.entry import FEWEST, QUICK, Entry
from quincunx.audit.self_audit.outcome import GOAL
from quincunx.audit.self_audit.swaps import Copies, swapped
from quincunx.errors import ParameterError
from quincunx.invariant.swapping.epsilon import Kind, SwapEpsilon, weight
from quincunx.mechanisms import sensitivity
from quincunx.mechanisms.trial import STRENGTHS, in_bulk, one_at_a_time
from quincunx.noise.testing import KeyedBits
from quincunx.spec.standard import Approximate, Pure

CLAIMS = self_audit.claims()


def test_every_public_mechanism_is_in_the_catalogue() -> None:
    """A new mechanism that nobody audits makes this red."""
    public = {name: getattr(mechanisms, name) for name in mechanisms.__all__}
    named = {name for name, each in public.items() if inspect.isclass(each) and not inspect.isabstract(each)}
    covered = {name for entry in CLAIMS.values() for name in entry.covers}
    assert covered == named


def test_every_statistic_with_a_sensitivity_is_replayed() -> None:
    named = {name for name in sensitivity.__all__ if name not in ("Clip", "Statistic")}
    assert {each.name.partition(",")[0] for each in statistics.declared()} == named
    assert {f"replay of sensitivity, {each.name}" for each in statistics.declared()} <= self_audit.replays().keys()


def test_every_room_and_every_control_is_there() -> None:
    rooms = {entry.room for entry in CLAIMS.values()}
    assert rooms == {
        "additive noise",
        "choices",
        "unknown keys",
        "composition and sampling",
        "swapping",
        "tables",
        "sessions",
    }
    assert {
        "1.25 times too little noise",
        "floating-point Laplace",
        "off-by-one threshold",
        "forgotten repetition",
    } <= self_audit.controls().keys()
    assert sum(replay.control for replay in self_audit.replays().values()) >= 1


@pytest.mark.parametrize("name", [*CLAIMS, *self_audit.controls()])
def test_claims_parse_and_untight_ones_say_why(name: str) -> None:
    entry = {**CLAIMS, **self_audit.controls()}[name]
    assert entry.name == name
    assert entry.words
    assert entry.pair[0] != entry.pair[1]
    if isinstance(entry.claim, str):
        Claim.parse(entry.claim)
    if not entry.tight and entry.room != "controls":
        assert entry.why
    if entry.share < 1:
        assert "fewer draws" in entry.why


@pytest.mark.parametrize("epsilon", STRENGTHS)
def test_pure_mechanisms_are_tried_at_every_strength(epsilon: str) -> None:
    for kind in ("Laplace", "DiscreteLaplace", "RandomizedResponse", "PermuteAndFlip", "Exponential"):
        found = [entry for entry in CLAIMS.values() if kind in entry.covers and f"epsilon={epsilon}" == entry.claim]
        assert found, kind


def worst(finite: Any, pair: tuple[Any, Any], standard: Any = None) -> float:
    """The smallest intensity of two rows of a finite mechanism."""
    first, second = (finite.law(x) for x in pair)
    standard = Pure() if standard is None else standard
    return max(float(standard.least(a, b).lower) for a, b in ((first, second), (second, first)))


@pytest.mark.parametrize("epsilon", STRENGTHS)
def test_tight_pairs_attain_their_claim(epsilon: str) -> None:
    """By enumeration: what the pair of an entry marked tight attains is what is claimed, or 94 % of it and more."""
    e = Fraction(epsilon)
    laws: dict[str, tuple[Any, Any, float]] = {
        f"Laplace, ε = {epsilon}": (mechanisms.Laplace(scale=1 / e).finite([0, 1]), (0, 1), 1),
        f"DiscreteLaplace, ε = {epsilon}": (mechanisms.DiscreteLaplace(scale=1 / e).finite([0, 1]), (0, 1), 1),
        f"RandomizedResponse, ε = {epsilon}, 3 options": (
            mechanisms.RandomizedResponse.calibrate(epsilon=e, options=3).finite(),
            (0, 2),
            1,
        ),
        f"PermuteAndFlip, ε = {epsilon}": (
            mechanisms.PermuteAndFlip(scale=2 / e).finite([(0, 0), (1, -1)]),
            ((0, 0), (1, -1)),
            1,
        ),
    }
    if e >= 1:
        pair = CLAIMS[f"Exponential, ε = {epsilon}"].pair
        laws[f"Exponential, ε = {epsilon}"] = mechanisms.Exponential(scale=2 / e).finite(list(pair)), pair, 0.94
    for name, (finite, pair, share) in laws.items():
        assert CLAIMS[name].tight
        assert CLAIMS[name].pair == pair
        assert share * float(e) * (1 - 1e-4) <= worst(finite, pair) <= float(e) * (1 + 1e-12), name


def test_a_pair_that_is_not_tight_attains_less() -> None:
    pair = CLAIMS["SparseVector, a list of values"].pair
    sparse = mechanisms.SparseVector(threshold=1, threshold_scale=2, query_scale=4)
    assert 0.7 < worst(sparse.finite(list(pair)), pair) < 1


def test_partition_selection_is_tight_at_its_delta() -> None:
    finite = mechanisms.PartitionSelection(epsilon=1, delta="0.01").finite([2, 3])
    assert worst(finite, (2, 3), Approximate(Fraction(1, 100))) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("name", [name for name in CLAIMS if name.startswith("swapping")])
def test_swapping_claims_are_their_distance_times_epsilon(name: str) -> None:
    """The weights of permutations, enumerated, against the claim of the pair; equal where the pair is tight."""
    from itertools import permutations
    from math import log

    entry = CLAIMS[name]
    kind = Kind.UNIFORM if "uniform" in name else Kind.DERANGEMENT
    rate = Fraction(entry.words.rpartition("rate ")[2])
    size, (first, second) = len(entry.pair[0]), entry.pair

    def chance(before: tuple[int, ...], after: tuple[int, ...]) -> Fraction:
        return weight(rate, size, sum(a != b for a, b in zip(before, after, strict=True)), kind)

    outputs = list(permutations(first))
    most = max(abs(log(chance(first, out) / chance(second, out))) for out in outputs)
    distance = sum(a != b for a, b in zip(first, second, strict=True))
    epsilon = SwapEpsilon(rate=rate, largest_stratum=size, kind=kind)
    claimed = float(str(entry.claim).removeprefix("epsilon="))
    assert claimed == distance * epsilon.exact
    assert most <= claimed * (1 + 1e-12)
    assert (most >= claimed * (1 - 1e-9)) == entry.tight


def test_swapped_copies_keep_their_values(stream: KeyedBits) -> None:
    drawn = swapped(Kind.UNIFORM, "0.5")((2, 0, 1), 500)
    places = 3 ** np.arange(3)
    held = drawn[:, None] // places % 3
    assert (np.sort(held, axis=1) == [0, 1, 2]).all()
    assert len(np.unique(drawn)) == 6
    assert stream.injected
    table = Copies(np.array([[1, 0], [0, 1]]))
    assert table.codes("copy").tolist() == [0, 0, 1, 1]
    assert table.codes("place", slice(3)).tolist() == [0, 1, 0]
    assert (table.rows, table.incomplete("copy")) == (4, False)


def entry(**changes: Any) -> Entry:
    given: dict[str, Any] = {
        "name": "n",
        "room": "r",
        "pair": (0, 1),
        "words": "w",
        "stated": "epsilon=1",
        "tight": True,
        "draw": in_bulk(mechanisms.DiscreteLaplace(scale=1)),
    }
    return Entry(**(given | changes))


def test_shares_are_parts_of_the_draws() -> None:
    assert entry().samples(10) == 10
    assert entry(share=Fraction(1, 4)).samples(10**6) == 250_000
    assert entry(share=Fraction(1, 4)).samples(QUICK) == FEWEST
    assert entry(share=Fraction(1, 10**6)).samples(10**7) == FEWEST
    assert entry(share=Fraction(1, 4)).samples(100) == 100
    for share in (Fraction(0), Fraction(-1), Fraction(3, 2)):
        with pytest.raises(ParameterError, match="share: must be above 0 and at most 1"):
            entry(share=share)


def test_two_entries_of_one_name_are_refused() -> None:
    with pytest.raises(ParameterError, match="one name"):
        catalogue._named([entry(), entry()])
    assert list(catalogue._named([entry(), entry(name="m")])) == ["n", "m"]


def test_draws_have_one_output_for_each_copy(stream: KeyedBits) -> None:
    bulk = in_bulk(mechanisms.DiscreteLaplace(scale=1))
    assert bulk(7, 5).shape == (5,)
    assert bulk((1, 2), 5).shape == (5, 2)
    assert one_at_a_time(lambda x: x + 1)(3, 4).tolist() == [4, 4, 4, 4]
    assert stream.injected


def test_the_goal_is_nine_tenths() -> None:
    assert Fraction(9, 10) == GOAL
