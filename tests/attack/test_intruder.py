"""What is learnt about secrets: small tables by hand, and the bound that noise sets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.attack.intruder import Learnt, Release, from_classes, from_counts
from quincunx.attack.people import DIAGNOSES, SCORES, people
from quincunx.noise.testing import KeyedBits


def release(part: list[int], secret: list[int], asked: list[int] | None = None) -> Release:
    rows = list(range(len(part))) if asked is None else asked
    return Release(part=np.array(part), secret=np.array(secret), asked=np.array(rows))


def test_counts_by_part_and_secret() -> None:
    table = release([0, 0, 2], [1, 1, 0]).counts(3)
    assert table.tolist() == [[0, 2, 0], [0, 0, 0], [1, 0, 0]]


def test_one_release_by_hand() -> None:
    # Class 0 agrees on 1; class 1 has 0, 2, 2; class 2 has 0, 1, 2.
    table = release([0, 0, 1, 1, 1, 2, 2, 2], [1, 1, 0, 2, 2, 0, 1, 2])
    learnt = from_classes([table], kinds=np.arange(3))
    assert learnt.certain == 2 / 8
    assert learnt.two == 5 / 8
    # Right: both of class 0, the two 2s of class 1, and one of class 2 (ties by the whole table: 1 before 2 are equal,
    # three each, and 0 has two).
    assert learnt.right == 5 / 8


def test_two_releases_leave_what_both_have() -> None:
    first = release([0, 0, 0, 0], [650 - 590, 0, 7, 23], asked=[3])
    second = release([0, 0, 0, 0], [225, 23, 200, 137], asked=[1])
    both = from_classes([first, second], kinds=np.arange(300))
    assert both == Learnt(certain=1.0, two=1.0, right=1.0, without=both.without)
    assert from_classes([first], kinds=np.arange(300)).certain == 0


def test_without_ones_own_row_a_class_of_strangers_is_left() -> None:
    # Everybody is alone with their secret: certain with the row, and nothing without it but the commonest secret.
    table = release([0, 1, 2, 3], [0, 0, 0, 1])
    learnt = from_classes([table], kinds=np.arange(2))
    assert learnt == Learnt(certain=1.0, two=1.0, right=1.0, without=3 / 4)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=25))
def test_certain_and_one_of_two_are_what_a_plain_loop_finds(rows: list[tuple[int, int, int]]) -> None:
    # Two releases of the same people, with other classes.
    secret = [each for _, each, _ in rows]
    first, second = ([row[place] for row in rows] for place in (0, 2))
    left = []
    for person in range(len(rows)):
        possible = [
            {secret[other] for other in range(len(rows)) if part[other] == part[person]} for part in (first, second)
        ]
        left.append(len(possible[0] & possible[1]))
    both = from_classes([release(first, secret), release(second, secret)], kinds=np.arange(4))
    assert both.certain == pytest.approx(left.count(1) / len(rows))
    assert both.two == pytest.approx((left.count(1) + left.count(2)) / len(rows))
    # A second release never takes certainty away, and what is certain is guessed.
    alone = from_classes([release(first, secret)], kinds=np.arange(4))
    assert alone.certain <= both.certain <= both.right
    assert alone.two <= both.two


def test_kinds_group_secrets() -> None:
    table = release([0, 0, 0], [10, 11, 29])
    kinds = np.array([secret // 10 for secret in range(30)])
    learnt = from_classes([table], kinds=kinds)
    assert learnt.certain == 0
    assert learnt.right == pytest.approx(2 / 3)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
def test_the_guess_is_right_at_most_e_to_epsilon_times_as_often(stream: KeyedBits, epsilon: str) -> None:
    # One person in a group of their own, the hardest case; draws are independent.
    draws = 4_000
    alone = release([0], [1])
    learnt = from_counts([alone], secrets=3, epsilon=epsilon, repeats=draws)
    assert learnt.certain == learnt.two == 0
    # Each share is within 6.2 deviations of its mean but for a chance of 1e-9.
    slack = 6.2 * math.sqrt(0.25 / draws)
    assert learnt.without - slack <= 1 / 3 + slack
    assert learnt.right - slack <= math.exp(float(epsilon)) * (learnt.without + slack)
    assert learnt.right > learnt.without
    assert stream.injected


def test_without_much_noise_the_counts_decide(stream: KeyedBits) -> None:
    table = release([0] * 50 + [1] * 50, [0] * 30 + [1] * 20 + [2] * 45 + [1] * 5)
    learnt = from_counts([table], secrets=3, epsilon=20, repeats=3)
    assert learnt.right == learnt.without == 75 / 100
    assert stream.injected


def test_two_releases_count_a_person_twice(stream: KeyedBits) -> None:
    alone = release([0], [2])
    once = from_counts([alone], secrets=3, epsilon=1, repeats=2_000)
    twice = from_counts([alone, alone], secrets=3, epsilon=1, repeats=2_000)
    assert twice.right > once.right + 0.05
    assert stream.injected


def test_people_are_as_described() -> None:
    some = people(np.random.default_rng(3), 5_000)
    assert {name: values.size for name, values in some.known.items()} == dict.fromkeys(some.known, 5_000)
    assert some.known["age"].min() >= 18
    assert some.known["age"].max() <= 95
    assert set(some.known["sex"].tolist()) == {"female", "male"}
    assert set(some.diagnosis.tolist()) == set(range(len(DIAGNOSES)))
    assert SCORES[0] <= some.score.min() <= some.score.max() <= SCORES[1]
    assert some.cell.min() >= 0
    assert some.cell.max() < 96
    # A group is a function of what is known: sex, ten years of age, district.
    seen = {}
    columns = (*(some.known[name] for name in ("age", "sex", "zip code")), some.cell)
    for age, sex, code, cell in zip(*(column.tolist() for column in columns), strict=True):
        assert seen.setdefault((min((age - 18) // 10, 7), sex, code // 100), cell) == cell
    assert len(set(seen.values())) == len(seen)


def test_rows_are_the_chosen_people() -> None:
    some = people(np.random.default_rng(4), 100)
    two = some.rows(np.array([7, 3]))
    assert two.diagnosis.tolist() == some.diagnosis[[7, 3]].tolist()
    assert two.known["age"].tolist() == some.known["age"][[7, 3]].tolist()
    assert two.score.tolist() == some.score[[7, 3]].tolist()
    assert two.cell.tolist() == some.cell[[7, 3]].tolist()
