"""How an event is chosen: the hull loses nothing, orders are right, and what is chosen is the best there is."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.audit.blackbox.cells import Bins
from quincunx.audit.blackbox.claim import Claim
from quincunx.audit.blackbox.events import Effort, Event, Tally, _roof, choose, counted, shortlist
from quincunx.audit.blackbox.features import partitions
from quincunx.audit.blackbox.outputs import Batch, Layout
from quincunx.mechanisms import Gaussian

CLAIMS = ["epsilon=1", "epsilon=1, delta=0.01", "rho=0.5", "mu=1", "tv=0.5", "kl=1", "epsilon=1, alpha=2"]
EFFORT = Effort(tested=10_000, z=4.0)


def column(batch: Batch) -> np.ndarray:
    return batch.rows[:, 0]


def tally(first: list[int], second: list[int], order: list[int] | None = None) -> Tally:
    cells = Bins("output", column, np.arange(len(first) - 2, dtype=float), True)
    places = np.arange(len(first)) if order is None else np.array(order)
    return Tally(cells=cells, ratio_order=places, first=np.array(first), second=np.array(second))


@pytest.mark.parametrize("typed", [*CLAIMS, None])
@given(st.lists(st.tuples(st.floats(1e-6, 0.999), st.floats(1e-6, 0.999)), min_size=1, max_size=40))
@settings(max_examples=30)
def test_the_hull_holds_the_best_point(typed: str | None, points: list[tuple[float, float]]) -> None:
    claim = Claim.of_loss(Gaussian(sigma=1).loss) if typed is None else Claim.parse(typed)
    low, high = (np.array(each) for each in zip(*points, strict=True))
    above = np.flatnonzero(low > high)
    hull = _roof(low, high)
    assert bool(hull) == bool(len(above))
    if hull:
        best, kept = claim.scores(low[above], high[above]).max(), claim.scores(low[hull], high[hull]).max()
        assert kept >= best * (1 - 1e-9) - 1e-12


def test_the_hull_of_a_staircase() -> None:
    low = np.array([0.1, 0.5, 0.5, 0.9, 0.2])
    high = np.array([0.05, 0.2, 0.3, 0.6, 0.4])
    assert _roof(low, high) == [1, 3]
    assert _roof(np.array([0.1]), np.array([0.2])) == []


def test_the_likelier_side_is_named() -> None:
    counts = tally([900, 100, 0, 0], [100, 900, 0, 0], order=[0, 1])
    here, there = choose([counts], Claim.parse("tv=0.5"), EFFORT)
    assert str(here) == "output ≤ 0"
    assert not here.swapped
    assert here.mask.tolist() == [True, False, False, False]
    assert there.swapped
    assert there.mask[1]
    assert not there.mask[0]
    batch = Batch(np.array([[0.0], [0.0], [1.0], [np.nan]]))
    assert (here.count(batch), there.count(batch)) == (2, 1)


def test_a_union_in_order_of_likelihood_ratio() -> None:
    # Cells 0 and 2 speak for the first input; no threshold joins them without cell 1.
    first, second = [400, 10, 400, 190, 0], [100, 400, 100, 400, 0]
    joined = tally(first, second, order=[0, 2, 3, 1])
    event = choose([joined], Claim.parse("tv=0.5"), EFFORT)[0]
    assert event.mask.tolist() == [True, False, True, False, False]
    assert str(event) == "output ≤ 0 or output = 2"


def test_a_plainer_way_wins_where_little_is_lost() -> None:
    plain, other = tally([5000, 5000, 0], [2500, 7500, 0]), tally([5002, 4998, 0], [2500, 7500, 0])
    assert choose([plain, other], Claim.parse("epsilon=1"), EFFORT)[0].cells is plain.cells
    better = tally([6000, 4000, 0], [2500, 7500, 0])
    assert choose([plain, better], Claim.parse("epsilon=1"), EFFORT)[0].cells is better.cells


def test_rare_events_are_not_trusted() -> None:
    # Three against none among a thousand is an infinite ratio and no evidence.
    rare = tally([3, 597, 400, 0], [0, 400, 600, 0], order=[0, 1, 2])
    event = choose([rare], Claim.parse("epsilon=1"), Effort(tested=10_000, z=5.0))[0]
    assert event.mask.tolist() != [True, False, False, False]


def test_where_nothing_promises_a_bound_less_care_is_taken() -> None:
    close = tally([280, 720, 0], [240, 760, 0], order=[0, 1])
    event = choose([close], Claim.parse("epsilon=1"), Effort(tested=2000, z=5.0))[0]
    assert str(event) == "output ≤ 0"


def test_nothing_to_choose_from() -> None:
    same = tally([500, 500, 0], [500, 500, 0])
    for event in choose([same], Claim.parse("epsilon=1"), EFFORT):
        assert isinstance(event, Event)
        assert not event.mask.any()
        assert str(event) == "nothing"


def test_two_looks_count_different_samples() -> None:
    rng = np.random.default_rng(3)
    first, second = (Batch(rng.integers(0, 4, (500, 1)) + shift * 1.0) for shift in (0, 1))
    layout = Layout(names=("output",), shape=())
    claim = Claim.parse("epsilon=1")
    tallies = shortlist(partitions(layout.names, first, second), first, second, claim, EFFORT)
    assert all(each.first.sum() == each.second.sum() == 0 for each in tallies)
    tallies = counted(counted(tallies, first, second), first, second)
    assert all(each.first.sum() == each.second.sum() == 1000 for each in tallies)
    # Cells that were empty are in no order of ratios.
    assert all(len(each.ratio_order) <= 5 for each in tallies)


def test_only_the_most_promising_ways_go_on() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2000, 20)), rng.normal(size=(2000, 20))
    second[:, 11] += 2
    layout = Layout.learn([(first, "x"), (second, "y")])
    a, b = (layout.read(each, "x") for each in (first, second))
    ways = partitions(layout.names, a, b)
    kept = shortlist(ways, a, b, Claim.parse("epsilon=1"), EFFORT)
    assert len(kept) <= 12 < len(ways)
    assert any("output[11]" in getattr(each.cells, "name", "") for each in kept)


@given(st.lists(st.integers(0, 300), min_size=3, max_size=6), st.lists(st.integers(0, 300), min_size=3, max_size=6))
@settings(max_examples=60)
def test_what_is_chosen_beats_every_threshold(first: list[int], second: list[int]) -> None:
    size = min(len(first), len(second))
    a, b = first[:size], second[:size]
    a[0] += 1
    b[-2] += 1
    claim, total_a, total_b = Claim.parse("tv=0.5"), sum(a), sum(b)
    here = choose([tally(a, b)], claim, Effort(tested=10**9, z=1e-6))[0]
    # With next to no uncertainty of the test, the estimate's own two standard errors remain: compare like with like.
    best = max((_apart(a, b, range(i)) for i in range(size + 1)), default=0.0)
    chosen = _apart(a, b, np.flatnonzero(here.mask).tolist())
    slack = 2 * sum(2 * math.sqrt(0.25 / total) + 4 / total for total in (total_a, total_b))
    assert chosen >= best - slack


def _apart(a: list[int], b: list[int], places: object) -> float:
    kept = list(places)  # type: ignore[call-overload]
    return float(Fraction(sum(a[i] for i in kept), sum(a)) - Fraction(sum(b[i] for i in kept), sum(b)))
