"""Chambers: the smallest sets by brute force, the bound by enumeration, and what the Markov boundary does not give."""

import itertools
import math
import pickle
import random
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import ParameterError, PrivacyError
from quincunx.finite import Mechanism
from quincunx.meaning.dependence import (
    Chamber,
    Joint,
    chamber,
    chambered,
    component,
    farthest,
    marginal,
    markov_boundary,
)
from quincunx.numbers import Log
from quincunx.spec import unit

from .dependent_worlds import (
    ODDS,
    bits,
    by_the_book,
    chain,
    factor,
    geometric,
    grid,
    mechanisms,
    parity_prior,
    responses,
    weighted,
)

FAIR = {0: "1/2", 1: "1/2"}


def law(joint: Joint, places: Sequence[int]) -> dict[tuple[Hashable, ...], Fraction]:
    found: dict[tuple[Hashable, ...], Fraction] = {}
    for x, p in joint.table().items():
        key = tuple(x[j] for j in places)
        found[key] = found.get(key, Fraction(0)) + p
    return found


def sets(joint: Joint, record: int) -> list[tuple[int, ...]]:
    others = [j for j in range(joint.records) if j != record]
    return [chosen for size in range(len(others) + 1) for chosen in itertools.combinations(others, size)]


def is_chamber(joint: Joint, record: int, others: Sequence[int]) -> bool:
    outside = [j for j in range(joint.records) if j != record and j not in others]
    mine, rest, both = law(joint, [record]), law(joint, outside), law(joint, [record, *outside])
    return all(both.get((*a, *r), Fraction(0)) == mine[a] * rest[r] for a in mine for r in rest)


def is_blanket(joint: Joint, record: int, others: Sequence[int]) -> bool:
    """π(X_i | everyone else) = π(X_i | others), value by value."""
    table = joint.table()
    for x in table:
        for a in joint.values(record):
            same = {y: p for y, p in table.items() if all(y[j] == x[j] for j in range(len(x)) if j != record)}
            near = {y: p for y, p in table.items() if all(y[j] == x[j] for j in others)}
            full = sum(p for y, p in same.items() if y[record] == a) / sum(same.values())
            part = sum(p for y, p in near.items() if y[record] == a) / sum(near.values())
            if full != part:
                return False
    return True


# The smallest sets.

THREE = [*grid(3, 1)]


def test_the_smallest_chamber_is_found() -> None:
    sizes = set()
    for joint in THREE:
        for record in range(3):
            found = chamber(joint, record)
            assert found.record == record
            assert found.others == next(s for s in sets(joint, record) if is_chamber(joint, record, s))
            sizes.add(found.size)
    assert sizes == {1, 2, 3}


def test_the_smallest_boundary_is_found() -> None:
    for joint in THREE:
        assert markov_boundary(joint, 0) == next(s for s in sets(joint, 0) if is_blanket(joint, 0, s))


@given(st.lists(st.integers(0, 2), min_size=16, max_size=16).filter(any))
def test_four_records(weights: list[int]) -> None:
    joint = weighted(weights, 4)
    assert chamber(joint, 2).others == next(s for s in sets(joint, 2) if is_chamber(joint, 2, s))
    assert markov_boundary(joint, 2) == next(s for s in sets(joint, 2) if is_blanket(joint, 2, s))


def test_values_need_not_be_bits() -> None:
    joint = Joint.independent(Joint.alike({"a": "1/2", "b": "1/3", "c": "1/6"}, 2), {None: "1/2", "x": "1/2"})
    assert [chamber(joint, i).others for i in range(3)] == [(1,), (0,), ()]


def test_independent_records_are_alone() -> None:
    joint = Joint.independent(FAIR, {0: "1/3", 1: "2/3"}, {0: "1/5", 1: "4/5"}, {0: 1})
    assert [chamber(joint, i).size for i in range(4)] == [1] * 4
    assert [markov_boundary(joint, i) for i in range(4)] == [()] * 4


def test_with_two_records_chamber_and_boundary_agree() -> None:
    for joint in grid(2, 3):
        assert all(chamber(joint, i).others == markov_boundary(joint, i) for i in range(2))


def test_parity_has_two_smallest_chambers_and_a_larger_boundary() -> None:
    joint = parity_prior()
    assert is_chamber(joint, 0, (1,))
    assert is_chamber(joint, 0, (2,))
    assert not is_chamber(joint, 0, ())
    assert chamber(joint, 0) == Chamber(record=0, others=(1,))
    assert markov_boundary(joint, 0) == (1, 2)
    # X_0 with the chamber is not independent of what is outside: independence of X_0 alone is enough.
    pair, rest, all_three = law(joint, (0, 1)), law(joint, (2,)), joint.table()
    assert any(all_three.get((*a, *r), Fraction(0)) != pair[a] * rest[r] for a in pair for r in rest)


# The bound.


def test_three_identical_records_break_the_printed_theorem() -> None:
    joint = Joint.alike({0: "99/100", 1: "1/100"}, 3)
    assert markov_boundary(joint, 0) == (1,)
    assert chamber(joint, 0).size == 3
    world = responses(3)
    moved = farthest(world, joint, record=0, by="odds")
    assert moved.spread("odds") == ODDS**3 > ODDS ** (1 + len(markov_boundary(joint, 0)))
    # Posterior over prior, as the slides bound it: three yes answers.
    after = next(p for b, p in by_the_book(world, joint, 0) if b == Fraction(1, 100) and p > b * 20)
    assert after / Fraction(1, 100) == Fraction(150, 7) > ODDS**2
    assert chambered(world, joint).holds


def test_a_chain_without_identical_records_breaks_it_too() -> None:
    joint = chain(3, Fraction(999, 1000))
    assert len(joint.cells) == 8
    assert markov_boundary(joint, 0) == (1,)
    assert chamber(joint, 0).others == (1, 2)
    assert farthest(responses(3), joint, record=0, by="odds").odds > ODDS**2  # type: ignore[operator]


def test_the_printed_bound_fails_on_the_grid_and_the_chambers_bound_never() -> None:
    printed = chambers = 0
    world = responses(3)
    for joint in THREE:
        for record in range(3):
            spread = farthest(world, joint, record=record, by="odds").spread("odds")
            assert spread is not None
            chambers += spread > ODDS ** chamber(joint, record).size
            printed += spread > ODDS ** (1 + len(markov_boundary(joint, record)))
    assert chambers == 0
    assert printed >= 3
    # With two records the printed bound holds, so three is the smallest number that breaks it.
    for joint in grid(2, 3):
        for record in range(2):
            spread = farthest(responses(2), joint, record=record, by="odds").spread("odds")
            assert spread is not None
            assert spread <= ODDS ** (1 + len(markov_boundary(joint, record)))


@pytest.mark.parametrize("name", ["responses", "count", "almost truth", "parity"])
def test_chambers_bound_every_prior_of_three_bits(name: str, full: bool) -> None:
    world = mechanisms(3)[name]
    for joint in grid(3, 2) if full else THREE:
        found = chambered(world, joint, epsilon=Log(ODDS), by="odds")
        assert found.holds, found.words()


@given(st.lists(st.integers(0, 9), min_size=8, max_size=8).filter(any), st.integers(0, 2**32))
def test_chambers_bound_every_prior_and_random_mechanisms(weights: list[int], seed: int) -> None:
    draw = random.Random(seed)
    rows = {}
    for x in bits(3):
        shares = [draw.randint(1, 6) for _ in range(3)]
        rows[x] = {o: Fraction(share, sum(shares)) for o, share in enumerate(shares)}
    joint = weighted(weights, 3)
    assert chambered(Mechanism(rows), joint, by="odds").holds
    assert chambered(Mechanism(rows), joint).holds


@pytest.mark.parametrize("people", [1, 2, 3, 4])
def test_people_who_are_alike_attain_the_bound(people: int) -> None:
    world = responses(people)
    for prior in ("1/2", "1/100", "1/1000000"):
        joint = Joint.alike({0: 1 - Fraction(prior), 1: prior}, people)
        assert farthest(world, joint, record=0, by="odds").spread("odds") == ODDS**people
        assert chamber(joint, 0).size == people
    # Posterior over prior comes as near as one likes: 27/(27·π + 1 − π).
    highest = max(after / before for before, after in by_the_book(world, joint, 0))
    assert ODDS**people * Fraction(99_990, 100_000) <= highest <= ODDS**people


def test_a_bound_that_is_not_attained() -> None:
    one_of_three = Joint({x: "1/3" for x in bits(3) if sum(x) == 1})
    assert chamber(one_of_three, 0).size == 3
    worst = max(
        factor(before, after, "odds")
        for world in mechanisms(3).values()
        for before, after in by_the_book(world, one_of_three, 0)
    )
    assert worst <= ODDS**2


def test_pairwise_independence_is_not_enough() -> None:
    joint = parity_prior()
    pairwise = {i: [j for j in range(3) if j != i and not is_chamber(joint, i, [3 - i - j])] for i in range(3)}
    assert pairwise == {0: [], 1: [], 2: []}
    assert component(pairwise, 0).size == 1
    assert farthest(responses(3), joint, record=0, by="odds").spread("odds") == 5 > ODDS


# Someone who knows some records.


def all_alike_bit() -> Joint:
    return Joint({(*x, int(len(set(x)) == 1)): "1/8" for x in bits(3)})


def test_learning_a_record_may_enlarge_the_chamber() -> None:
    joint = all_alike_bit()
    assert chamber(joint, 0).others == (3,)
    assert chamber(joint.given({3: 1}), 0).others == (1, 2)
    world = responses(4)
    assert chambered(world, joint, record=0, by="odds").size == 2
    knowing = chambered(world, joint, record=0, known=[3], by="odds")
    assert knowing.holds
    assert knowing.size == 3
    assert knowing.witness.known == ((3, 1),)
    assert knowing.witness.spread("odds") == ODDS**3
    everyone = chambered(world, joint, record=0, known=[1, 2, 3], by="odds")
    assert everyone.holds
    assert everyone.size == 1


def test_learning_a_record_may_move_a_belief_further() -> None:
    found = {
        known: farthest(responses(3), parity_prior(), record=0, known=known, by="odds").spread("odds")
        for known in ((), (2,), (1, 2))
    }
    assert found == {(): 5, (2,): 9, (1, 2): 1}


def test_known_records_on_the_grid() -> None:
    world = responses(3)
    for joint in THREE[::5]:
        for known in ([1], [2], [1, 2]):
            assert chambered(world, joint, epsilon=Log(ODDS), record=0, known=known, by="odds").holds


# Graphs.


def test_components() -> None:
    graph = {"ann": ["bob"], "bob": [], "cy": ["bob"], "dee": [], "eve": ["fay"], "fay": ["eve", "fay"]}
    assert component(graph, "ann") == Chamber(record="ann", others=("bob", "cy"))
    assert component(graph, "dee").size == 1
    assert component(graph, "fay").others == ("eve",)
    long = {i: [i + 1] for i in range(5000)} | {5000: []}
    assert component(long, 2500).size == 5001


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4), st.integers(0, 2**32))
def test_a_component_contains_the_chamber(edges: list[tuple[int, int]], seed: int) -> None:
    draw = random.Random(seed)
    factors = {edge: {pair: draw.randint(0, 3) or 1 for pair in bits(2)} for edge in edges}
    weights = [math.prod([table[x[a], x[b]] for (a, b), table in factors.items()]) for x in bits(4)]
    joint = weighted(weights, 4)
    graph = {i: [b for a, b in edges if a == i] for i in range(4)}
    for i in range(4):
        assert set(chamber(joint, i).others) <= set(component(graph, i).others)


@pytest.mark.parametrize(
    ("graph", "record", "what"),
    [
        ({}, 0, "expected {record: neighbours}"),
        ([(0, 1)], 0, "expected {record: neighbours}"),
        ({0: [1]}, 0, "a neighbour is no record"),
        ({0: "ab", "a": [], "b": []}, 0, "expected a list of neighbours"),
        ({0: 1, 1: []}, 0, "expected a list of neighbours"),
        ({0: [], 1: []}, 2, "no such record"),
    ],
    ids=str,
)
def test_what_is_no_graph_is_refused(graph: Any, record: Hashable, what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        component(graph, record)


# Steps, factors and words.


@pytest.mark.parametrize(
    ("step", "about", "steps"),
    [
        (unit.Replace(), "record", 3),
        (unit.Replace(), "presence", 3),
        (unit.Hamming(), "record", 3),
        (unit.Replace(group=2), "record", 2),
        (unit.AddRemove(), "record", 6),
        (unit.AddRemove(), "presence", 3),
        (unit.AddRemove(group=4), "record", 2),
        (unit.AddRemove(key="person"), "record", 6),
        (unit.AddRemove(key="person", per={"column": "day", "period": "day"}), "presence", 3),
    ],
    ids=str,
)
def test_steps_by_unit(step: unit.Unit, about: str, steps: int) -> None:
    family = Chamber(record="ann", others=("bob", "cy"))
    assert family.steps(unit=step, about=about) == steps
    assert family.factor(Log(3), unit=step, about=about) == 3.0**steps
    power = family.factor("0.1", unit=step, about=about)
    assert math.exp(steps / 10) <= power <= math.exp(steps / 10) * (1 + 1e-15)


def couple(cells: Sequence[str]) -> Mechanism:
    """Two people, each with one of two letters or absent; a count of each letter with e^ε = 2 per person added."""
    letters = (None, "a", "b")
    rows = {}
    for x in itertools.product(letters, repeat=2):
        counts = [geometric(x.count(letter), 2, Fraction(2)) for letter in cells]
        rows[x] = {o: math.prod([c[i] for c, i in zip(counts, o, strict=True)]) for o in bits3(len(cells))}
    return Mechanism(rows)


def bits3(cells: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(3), repeat=cells))


def test_the_couple_s_counts_cost_ln_two_for_each_person_added_or_removed() -> None:
    world = couple("ab")
    ratios = [
        max(p / q, q / p)
        for x in world.inputs
        for i, there in itertools.product(range(2), "ab")
        for p, q in zip(
            world.law((*x[:i], None, *x[i + 1 :])),  # type: ignore[index]
            world.law((*x[:i], there, *x[i + 1 :])),  # type: ignore[index]
            strict=True,
        )
    ]
    assert max(ratios) == 2


@pytest.mark.parametrize(
    ("tuples", "about", "power"),
    [
        # A couple that is there or not.
        ([("a", "a"), (None, None)], "presence", 2),
        # A couple with one letter or with the other: each is one removed and one added.
        ([("a", "a"), ("b", "b")], "record", 4),
        # There with a partner of one letter, or absent with a partner of the other.
        ([("a", "a"), (None, "b")], "record", 3),
    ],
)
def test_adding_and_removing(tuples: list[tuple[Any, Any]], about: str, power: int) -> None:
    joint = Joint(dict.fromkeys(tuples, "1/2"))
    found = chamber(joint, 0)
    assert found.size == 2
    spread = farthest(couple("ab"), joint, record=0, by="odds").spread("odds")
    assert spread == 2**power
    assert spread <= found.factor(Log(2), unit=unit.AddRemove(), about=about)
    # For one record replaced the same counts have 2ε, and the bound by replacement is the same number.
    assert spread <= found.factor(Log(4), unit=unit.Replace())


def test_factors_are_never_below_the_power() -> None:
    pair = Chamber(record=0, others=(1,))
    assert pair.factor(0, unit=unit.Replace()) == 1.0
    assert pair.factor(1, unit=unit.Replace()) >= math.e**2 * (1 - 1e-15)
    assert pair.factor(10**6, unit=unit.Replace()) == math.inf
    assert pair.factor("ln(3/2)", unit=unit.Replace()) == 2.25


def test_words() -> None:
    family = Chamber(record=0, others=(1, 2))
    said = family.words(1, unit=unit.Replace())
    assert said == (
        "This person's record is independent of everyone's outside a chamber of 3 people, this one included. Then one "
        "release at ε = 1 moves the odds of any statement about this person's record by a factor of at most e^(3ε) ≈ "
        "20.09, for someone who knows nobody's record. For someone who already knows all other records the factor is "
        "at most e^ε ≈ 2.719, however people depend on each other. Both bounds are for pure ε and one release; the "
        "first is for the prior from which this dependence was read."
    )
    assert "at most e^(3ε) = 27, for" in family.words(Log(3), unit=unit.Replace())
    assert "e^(6ε) ≈ 403.5," in family.words(1, unit=unit.AddRemove())
    present = family.words(1, unit=unit.AddRemove(), about="presence")
    assert "the odds of whether this person is in the data by a factor of at most e^(3ε) ≈ 20.09" in present
    assert "independent of all others." in Chamber(record=0, others=()).words(1, unit=unit.Replace())
    assert "at most e^(3ε), for" in family.words(1000, unit=unit.Replace())
    assert "≈ 1.001," in family.words("0.0001", unit=unit.Replace())


def test_it_is_a_value() -> None:
    family = Chamber(record="ann", others=("bob",))
    assert pickle.loads(pickle.dumps(family)) == family
    assert eval(repr(family), {"Chamber": Chamber}) == family
    with pytest.raises(AttributeError):
        family.others = ()  # type: ignore[misc]


def test_bad_input() -> None:
    family = Chamber(record=0, others=(1,))
    with pytest.raises(ParameterError, match='must be "record" or "presence"'):
        family.steps(unit=unit.Replace(), about="age")
    with pytest.raises(PrivacyError, match="a chamber counts people"):
        family.factor(1, unit=unit.Neighbours([("a", "b")]))
    for epsilon in (-1, "ln(1/2)", "nan", None, True):
        with pytest.raises(ParameterError):
            family.factor(epsilon, unit=unit.Replace())
    joint = Joint.alike(FAIR, 2)
    for record in (2, -1, "0"):
        with pytest.raises(ParameterError, match="no such record"):
            chamber(joint, record)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="no such record"):
            markov_boundary(joint, record)  # type: ignore[arg-type]


def test_a_search_that_would_not_end_is_refused() -> None:
    # Pairwise independent, so that nothing narrows the search: 30 certain records beside a parity.
    joint = Joint.independent(parity_prior(), *[{0: 1}] * 30)
    for search in (chamber, markov_boundary):
        with pytest.raises(ParameterError, match=r"too many sets to search.*component"):
            search(joint, 0)
    # Records that depend on the first one are found without a search.
    assert chamber(Joint.alike(FAIR, 40), 0).size == 40
    assert marginal(responses(2), Joint.independent(FAIR, FAIR)).holds
