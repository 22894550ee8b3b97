"""The conditional statement always holds, the marginal one where records are independent: enumerated."""

import itertools
import pickle
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import MatrixError, ParameterError, PrivacyError
from quincunx.finite import Mechanism
from quincunx.meaning.dependence import Joint, Judgement, Moved, chamber, chambered, conditional, farthest, marginal
from quincunx.mechanisms import DiscreteLaplace
from quincunx.numbers import Log
from quincunx.spec import Specification, domain, scope, standard, unit

from ..spec.small_worlds import blended, random_mechanism
from .dependent_worlds import (
    ODDS,
    bits,
    by_the_book,
    factor,
    grid,
    mechanisms,
    noisy_count,
    parity_prior,
    responses,
    weighted,
)

NAMES = ["responses", "count", "almost truth", "parity"]
TWO, THREE = [*grid(2, 3)], [*grid(3, 1)]
ALIKE = Joint.alike({0: "99/100", 1: "1/100"}, 2)


def test_the_grids_are_large() -> None:
    assert len(TWO) > 200
    assert len(THREE) == 255
    assert {len(joint.cells) for joint in THREE} == set(range(1, 9))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("records", [2, 3])
def test_each_mechanism_has_the_epsilon_that_is_said(name: str, records: int) -> None:
    """The default ε against the specification's own enumeration."""
    world = mechanisms(records)[name]
    spec = Specification(
        domain=domain.Finite.vectors((0, 1), records),
        scope=scope.Everything(),
        unit=unit.Replace(),
        standard=standard.Pure(),
        intensity=1,
    )
    assert spec.tightest(world).exact == Log(ODDS)
    everything = weighted([1] * 2**records, records)
    assert conditional(world, everything).epsilon == Log(ODDS)


@pytest.mark.parametrize("by", ["ratio", "odds"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_computed_is_what_the_book_says(name: str, by: str) -> None:
    for records, joints, cases in ((2, TWO[::7], [(), (1,)]), (3, THREE[::17], [(), (2,), (1, 2)])):
        world = mechanisms(records)[name]
        for joint, known in itertools.product(joints, cases):
            moved = farthest(world, joint, record=0, known=known, by=by)
            beliefs = by_the_book(world, joint, 0, known)
            assert (moved.prior, moved.posterior) in beliefs
            assert moved.spread(by) == max(factor(before, after, by) for before, after in beliefs)
            assert tuple(j for j, _ in moved.known) == known


@pytest.mark.parametrize("by", ["ratio", "odds"])
@pytest.mark.parametrize("name", NAMES)
def test_the_conditional_statement_always_holds(name: str, by: str, full: bool) -> None:
    for records, joints in ((2, TWO), (3, grid(3, 2) if full else THREE)):
        world = mechanisms(records)[name]
        for joint in joints:
            found = conditional(world, joint, epsilon=Log(ODDS), by=by)
            assert found.holds, found.words()
            assert found.size == 1


@pytest.mark.parametrize("records", [2, 3])
def test_the_marginal_statement_fails_exactly_under_dependence(records: int) -> None:
    """Randomized response: the odds of a record move by more than e^ε exactly when it depends on the others."""
    world, held, failed = responses(records), 0, 0
    for joint in TWO if records == 2 else THREE:
        for record in range(records):
            found = marginal(world, joint, epsilon=Log(ODDS), record=record, by="odds")
            assert found.holds == (chamber(joint, record).size == 1)
            held, failed = held + found.holds, failed + (not found.holds)
    assert min(held, failed) > 20


@pytest.mark.parametrize("name", NAMES)
def test_the_marginal_statement_holds_under_independence(name: str) -> None:
    for joint in THREE:
        if all(chamber(joint, record).size == 1 for record in range(3)):
            assert marginal(mechanisms(3)[name], joint, epsilon=Log(ODDS), by="odds").holds


def test_the_odds_are_the_stricter_measure() -> None:
    breaks = {"ratio": 0, "odds": 0}
    for joint in TWO:
        found = {by: marginal(responses(2), joint, epsilon=Log(ODDS), by=by) for by in breaks}
        assert found["ratio"].holds or not found["odds"].holds
        for by, verdict in found.items():
            breaks[by] += not verdict.holds
    assert 0 < breaks["ratio"] < breaks["odds"]


@given(
    st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any),
    st.integers(0, 2**32),
    st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1, 3)]),
)
def test_random_mechanisms(weights: list[int], seed: int, share: Fraction) -> None:
    world = blended(random_mechanism(random.Random(seed), bits(2), 3), share)
    joint = weighted(weights, 2)
    possible = list(itertools.product(*(joint.values(i) for i in range(2))))
    supports = {tuple(p > 0 for p in world.law(x)) for x in possible}
    if len(supports) > 1:
        with pytest.raises(PrivacyError, match="no finite ε"):
            conditional(world, joint)
        return
    assert conditional(world, joint, by="odds").holds
    assert chambered(world, joint, by="odds").holds
    assert marginal(world, joint, by="odds").holds or any(chamber(joint, i).size == 2 for i in range(2))


@pytest.mark.parametrize("name", NAMES)
def test_who_keeps_the_conditional_statement_for_every_prior_is_private(name: str) -> None:
    """Claim less than ε and a prior on two neighbours breaks it, however little less."""
    world = mechanisms(2)[name]
    broken = 0
    for x, y in itertools.combinations(bits(2), 2):
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1:
            for rare, usual in ((x, y), (y, x)):
                joint = Joint({rare: Fraction(1, 10**6), usual: 1 - Fraction(1, 10**6)})
                assert conditional(world, joint, epsilon=Log(ODDS)).holds
                broken += not conditional(world, joint, epsilon=Log(ODDS * Fraction(9999, 10000))).holds
    assert broken


def test_the_counterexample_of_two() -> None:
    found = marginal(responses(2), ALIKE, by="ratio", record=0)
    assert not found.holds
    assert found.epsilon == Log(3)
    assert found.witness == Moved(
        record=0, value=1, output=(0, 0), known=(), prior=Fraction(1, 100), posterior=Fraction(1, 892)
    )
    assert found.words() == (
        "For someone who knows none of the other records, one output can move a belief about one record by more than a "
        "factor of e^ε, ε = ln(3). For example: the output (0, 0) moves the belief that record 0 is 1 from 0.01 to "
        "1/892."
    )
    assert conditional(responses(2), ALIKE)
    counted = chambered(responses(2), ALIKE).words()
    assert counted.startswith("For someone who counts 2 records together, one output cannot move a belief")
    assert "by more than a factor of e^(2ε), ε = ln(3). The farthest: the output (0, 0) moves" in counted


def test_words_of_what_is_known() -> None:
    found = conditional(responses(2), weighted([1, 1, 1, 1], 2), by="odds", record=1)
    assert "someone who knows all other records, one output cannot move the odds of a belief" in found.words()
    assert "knowing that record 0 is 0, the output (0, 0) moves the belief that record 1 is 0" in str(found.witness)


def test_verdicts_are_exact_at_the_bound() -> None:
    """e^{2ε} is reached: with ε one part in a billion smaller it is broken, also where ε is no logarithm."""
    joint = Joint.alike({0: "1/2", 1: "1/2"}, 2)
    assert chambered(responses(2), joint, epsilon=Log(3), by="odds").holds
    assert not chambered(responses(2), joint, epsilon=Log(Fraction(2_999_999_999, 10**9)), by="odds").holds
    assert chambered(responses(2), joint, epsilon="1.0986122887", by="odds").holds
    assert not chambered(responses(2), joint, epsilon="1.0986122886", by="odds").holds


def test_certainty_is_beyond_every_bound() -> None:
    reveal = Mechanism({(a,): {a: 1} for a in (0, 1)})
    joint = Joint({(0,): "1/2", (1,): "1/2"})
    for by in ("ratio", "odds"):
        found = marginal(reveal, joint, epsilon=100, by=by)
        assert not found.holds
        assert found.witness.spread(by) is None
    moved = Moved(record=0, value=1, output="o", known=(), prior=Fraction(1, 2), posterior=Fraction(1))
    assert (moved.ratio, moved.odds, moved.spread("odds"), moved.spread("ratio")) == (2, None, None, 2)
    with pytest.raises(PrivacyError, match="no finite ε"):
        marginal(reveal, joint)


def test_impossible_outputs_and_sure_records() -> None:
    world = Mechanism({(0,): {"a": 1}, (1,): {"a": "1/2", "b": "1/2"}})
    sure = farthest(world, Joint({(0,): 1}), record=0)
    assert (sure.prior, sure.posterior, sure.ratio, sure.odds) == (1, 1, 1, 1)


def test_datasets_of_prior_probability_zero_count_for_epsilon() -> None:
    """Without the tuples between, identical records would look like one record of any ε."""
    assert marginal(noisy_count(2), ALIKE).epsilon == Log(3)
    partial = Mechanism({x: noisy_count(2).row(x) for x in ((0, 0), (1, 1))})
    with pytest.raises(MatrixError, match="unknown input"):
        marginal(partial, ALIKE)
    assert not marginal(partial, ALIKE, epsilon=Log(3), by="odds").holds


def test_it_is_a_value() -> None:
    found = marginal(responses(2), ALIKE)
    assert not found
    assert isinstance(found, Judgement)
    assert pickle.loads(pickle.dumps(found)) == found
    names = {"Judgement": Judgement, "Moved": Moved, "Fraction": Fraction, "Log": Log}
    assert eval(repr(found), names) == found


def test_bad_input() -> None:
    world = responses(2)
    for asked in (conditional, marginal, chambered):
        with pytest.raises(ParameterError, match="no such record"):
            asked(world, ALIKE, record=2)
        with pytest.raises(ParameterError, match='must be "ratio" or "odds"'):
            asked(world, ALIKE, by="likelihood")
        with pytest.raises(ParameterError, match="0 or greater"):
            asked(world, ALIKE, epsilon=-1)
        with pytest.raises(MatrixError, match="does not know a dataset of the prior"):
            asked(world, Joint.alike({0: "1/2", 2: "1/2"}, 2))
        with pytest.raises(MatrixError, match="does not know a dataset of the prior"):
            asked(world, parity_prior())
    with pytest.raises(ParameterError, match="cannot be known"):
        farthest(world, ALIKE, record=0, known=[0])
    with pytest.raises(ParameterError, match="no such record"):
        farthest(world, ALIKE, record=0, known=[7])
    with pytest.raises(ParameterError, match="cannot be known"):
        chambered(world, ALIKE, known=[1])
    balls = DiscreteLaplace(scale=1).finite(range(2), reach=3).on(lambda x: x[0], [(0,), (1,)])  # type: ignore[index]
    with pytest.raises(MatrixError, match="only exact worlds"):
        marginal(balls, Joint({(0,): "1/2", (1,): "1/2"}))
    wide = Joint({tuple([i] * 5): Fraction(1, 10) for i in range(10)})
    row = {"a": 1}
    with pytest.raises(ParameterError, match="too many datasets to compare"):
        marginal(Mechanism({x: row for x, _ in wide.cells}), wide)
