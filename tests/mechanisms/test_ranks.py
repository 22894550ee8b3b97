"""How sharply ranks may be told apart, enumerated: people who come or go, are replaced, change parts and groups."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from math import sqrt

import pytest

from quincunx.errors import ParameterError
from quincunx.mechanisms.ranks import rate_of, read_level, read_levels, read_split, root_above

BUCKETS = 3
LEVELS = [Fraction(each) for each in ("1/10", "1/4", "1/2", "3/4", "9/10")]
OTHERS = list(itertools.product(range(4), repeat=BUCKETS))


def people(most: int) -> list[tuple[int, ...]]:
    """All that one unit may weigh: up to `most` in all, anywhere."""
    return [each for each in itertools.product(range(most + 1), repeat=BUCKETS) if sum(each) <= most]


def scores(weights: tuple[int, ...], level: Fraction) -> list[Fraction]:
    """Of every bucket, with its atom: how deep the rank lies in the ranks that it covers."""
    wanted = level * sum(weights)
    return [-max(sum(weights[:t]) - wanted, wanted - sum(weights[: t + 1])) for t in range(BUCKETS)]


def spread(one: list[Fraction], other: list[Fraction]) -> Fraction:
    moved = [a - b for a, b in zip(one, other, strict=True)]
    return max(moved) - min(moved)


def plus(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def largest(level: Fraction, most: int, *, moves: bool) -> Fraction:
    """The largest range of one group in which a unit comes, or is replaced."""
    units = people(most)
    pairs = itertools.combinations(units, 2) if moves else ((units[0], each) for each in units[1:])
    changed = list(pairs)
    return max(
        spread(scores(plus(rest, a), level), scores(plus(rest, b), level)) for rest in OTHERS for a, b in changed
    )


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_one_group(level: Fraction) -> None:
    """Attained: 2·max(α, 1 − α)·C where people come or go; nearly 2·C where they are replaced."""
    for most in (1, 2):
        for moves in (False, True):
            rate = rate_of(Fraction(1), most, level, norm=1, moves=moves, several=False)
            found = rate * largest(level, most, moves=moves)
            assert found <= 1
            assert found >= Fraction(1, 2)


def leaving(level: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """The ranges of two groups or parts when somebody leaves one of them and another enters the other."""
    units = [(0, 0, 0), (1, 0, 0), (0, 0, 1), (0, 1, 0)]
    ranges = {
        (rest, a, b): spread(scores(plus(rest, a), level), scores(plus(rest, b), level))
        for rest in OTHERS[::3]
        for a, b in itertools.product(units, repeat=2)
    }
    best: dict[tuple[tuple[int, ...], tuple[int, ...]], Fraction] = {}
    for (_, a, b), found in ranges.items():
        best[a, b] = max(best.get((a, b), Fraction(0)), found)
    for one, two in itertools.product(itertools.product(units, repeat=2), repeat=2):
        (a, b), (c, d) = one, two
        # Each of the two people has weight 1 in all, in one of the groups or in none.
        if sum(a) + sum(c) <= 1 and sum(b) + sum(d) <= 1:
            yield best[a, b], best[c, d]


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_several_groups(level: Fraction) -> None:
    """The claim holds with the factors of the note, and is broken by that of one group, but for the median."""
    for norm in (1, 2):
        right = rate_of(Fraction(1), 1, level, norm=norm, moves=True, several=True)
        wrong = rate_of(Fraction(1), 1, level, norm=norm, moves=True, several=False)
        worst = max((x + y if norm == 1 else x * x + y * y) for x, y in leaving(level))
        power = norm
        assert right**power * worst <= 1
        assert right**power * worst >= Fraction(1, 2)
        assert (wrong**power * worst > 1) == (level != Fraction(1, 2))


def test_in_norm_2_the_larger_side_alone_is_not_enough() -> None:
    """a = (p, q) and b = (q, p) in two groups: with √2·m in place of the root, the squares add up to more than η²."""
    level = far = Fraction(9, 10)
    # ‖(p, q)‖₂ = 1; the range in each of the two groups is 2(m·p + (1 − m)·q).
    p, q = Fraction(99, 101), Fraction(20, 101)
    squares = 2 * (2 * (far * p + (1 - far) * q)) ** 2
    assert Fraction(99, 100) < squares * rate_of(Fraction(1), 1, level, norm=2, moves=True, several=True) ** 2 <= 1
    assert squares * (1 / (2 * root_above(2 * far**2))) ** 2 > 1


def test_roots_are_not_below() -> None:
    for square in (Fraction(2), Fraction(1, 3), Fraction(4), Fraction(10**20 + 1)):
        found = root_above(square)
        assert found**2 >= square
        assert float(found) == pytest.approx(sqrt(square), rel=1e-12)


@pytest.mark.parametrize("level", [0, 1, "-0.5", "2", "x", None])
def test_levels_that_are_none(level: object) -> None:
    with pytest.raises(ParameterError):
        read_level(level)  # type: ignore[arg-type]


def test_levels_and_splits_are_read() -> None:
    assert read_levels(["0.5", "1/4", 0.5]) == (Fraction(1, 4), Fraction(1, 2))
    for wrong in ("0.5", [], None):
        with pytest.raises(ParameterError):
            read_levels(wrong)  # type: ignore[arg-type]
    assert read_split(8) == 8
    for number in (3, 2**21, 0):
        with pytest.raises(ParameterError):
            read_split(number)
