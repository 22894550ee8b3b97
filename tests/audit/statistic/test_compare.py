"""Two results side by side: distances exactly, and everything that is seen without measuring."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.audit.statistic.compare import Difference, Keys, Norm, compare, norm2
from quincunx.audit.statistic.output import call, foreign
from quincunx.errors import DataError

TENTH = Fraction(*(0.1).as_integer_ratio())


def found(a: Any, b: Any, *, norm: Norm = "l1", allowed: object = 10**400, keys: Keys = "fixed") -> Difference:
    outputs = [call(lambda _world, value=value: value, None) for value in (a, b)]
    return compare(*outputs, norm=norm, allowed2=Fraction(allowed) ** 2, keys=keys)  # type: ignore[arg-type]


def distance2(a: Any, b: Any, norm: Norm = "l1", keys: Keys = "fixed") -> Fraction:
    difference = found(a, b, norm=norm, keys=keys)
    assert difference.part == "", difference
    assert difference.gap is not None
    return difference.gap.distance2


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        (3, 5, 2),
        (0.1, 0.0, TENTH),
        (1e300, -1e300, 2 * Fraction(*(1e300).as_integer_ratio())),
        (Fraction(1, 3), Fraction(1, 2), Fraction(1, 6)),
        (Decimal("0.1"), Decimal("0.3"), Fraction(1, 5)),
        (True, False, 1),
        (np.int64(2**62), np.int64(-(2**62)), 2**63),
        (np.uint8(3), np.uint8(255), 252),
        (np.float32(0.1), np.float32(0), Fraction(*np.float32(0.1).as_integer_ratio())),
        (np.longdouble(1), np.longdouble(3), 2),
        (np.bool_(True), np.bool_(False), 1),
        ([1, 2], [3, 5], 5),
        ((1.5,), (1.0,), Fraction(1, 2)),
        ({"a": 1, "b": 2}, {"a": 3, "b": 2}, 2),
        (np.array([[1, 2], [3, 4]]), np.array([[0, 2], [3, 7]]), 4),
        (np.array(3), np.array(5), 2),
        (np.array([2**70, 1], dtype=object), np.array([0, 1], dtype=object), 2**70),
        ({"a": [1, 2], "b": np.array([3.0])}, {"a": [1, 4], "b": np.array([1.0])}, 4),
        ([], [], 0),
    ],
    ids=repr,
)
def test_distances_are_exact(a: Any, b: Any, distance: Any) -> None:
    assert distance2(a, b) == Fraction(distance) ** 2
    assert distance2(b, a) == Fraction(distance) ** 2
    assert distance2(a, a) == 0


@given(st.lists(st.fractions(), min_size=1, max_size=6))
def test_norms(moved: list[Fraction]) -> None:
    moved = [abs(each) for each in moved]
    one, two, most = (norm2(norm, moved) for norm in ("l1", "l2", "linf"))
    assert one == sum(moved) ** 2
    assert two == sum(each**2 for each in moved)
    assert most == max(moved) ** 2
    assert most <= two <= one <= len(moved) * two


def test_norms_of_nothing() -> None:
    assert [norm2(norm, []) for norm in ("l1", "l2", "linf")] == [0, 0, 0]


def test_large_arrays_are_compared_where_they_differ() -> None:
    a = np.zeros(200_000, dtype=np.int64)
    b = a.copy()
    b[[3, 199_999]] = (2**62, -5)
    assert distance2(a, b) == (2**62 + 5) ** 2
    assert distance2(a, b, "linf") == 2**124
    assert distance2({"a": np.array([3, 4])}, {}, "l2", keys="free") == 25
    assert distance2({}, {"a": np.array([3.5])}, keys="free") == Fraction(49, 4)


def test_the_place_of_an_undefined_number_is_named() -> None:
    wrong = found({"a": np.array([[1.0, 2.0], [3.0, np.inf]])}, {"a": np.zeros((2, 2))})
    assert (wrong.part, wrong.words) == ("undefined", "inf at ('a', 1, 1)")
    assert found([1.0, math.nan], [1.0, 2.0]).words == "nan at 1"
    assert found(math.nan, 1.0).words == "nan"


def test_order_of_float_sums_is_a_distance() -> None:
    """0.1 + 0.2 + 0.3 has two sums; as rationals they differ by an ulp."""
    first, second = (0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3)
    assert distance2(first, second) == Fraction(2) ** -106
    assert found(first, second, allowed=0).part == "distance"


@pytest.mark.parametrize(
    ("a", "b", "part"),
    [
        (0, 0.0, "type"),
        (1, Fraction(1), "type"),
        (1, np.int64(1), "type"),
        ([1], (1,), "type"),
        ([1], 1, "type"),
        ({"a": 1}, [1], "type"),
        ({"a": 1}, Counter({"a": 1}), "type"),
        ([1, 2.0], [1, 2], "type"),
        (None, 1, "type"),
        ("x", 1, "type"),
        (np.zeros(2), np.zeros(2, dtype=np.float32), "type"),
        (np.ma.array([1.0], mask=[False]), np.array([1.0]), "type"),
        ([1], [1, 2], "length"),
        (np.zeros((2, 3)), np.zeros((3, 2)), "length"),
        (np.zeros((1, 3)), np.zeros(3), "length"),
        ({"a": [1]}, {"a": []}, "length"),
        ({"a": 1}, {"a": 1, "b": 0}, "keys"),
        ({"a": 1, "b": 1}, {"b": 1, "a": 1}, "order"),
        (math.nan, 1.0, "undefined"),
        (math.nan, math.nan, "undefined"),
        (1.0, math.inf, "undefined"),
        (-math.inf, -math.inf, "undefined"),
        (None, None, "undefined"),
        (Decimal("NaN"), Decimal(1), "undefined"),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), "undefined"),
        (np.ma.array([1.0], mask=[True]), np.ma.array([1.0], mask=[False]), "undefined"),
        ({"a": math.nan}, {"a": 1.0}, "undefined"),
    ],
    ids=repr,
)
def test_what_is_seen_without_measuring(a: Any, b: Any, part: str) -> None:
    assert found(a, b).part == part
    assert found(b, a).part == part
    assert found(a, b).words


@pytest.mark.parametrize(
    ("a", "b", "fixed", "ordered", "free"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, "", "", ""),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "order", "order", ""),
        ({"a": 1, "b": 2}, {"a": 1}, "keys", "", ""),
        ({"a": 1, "b": 2, "c": 3}, {"c": 3, "a": 1}, "keys", "order", ""),
        ({}, {"a": 2}, "keys", "", ""),
    ],
)
def test_keys(a: dict[str, int], b: dict[str, int], fixed: str, ordered: str, free: str) -> None:
    assert [found(a, b, keys=keys).part for keys in ("fixed", "ordered", "free")] == [fixed, ordered, free]


def test_a_missing_key_counts_as_zero() -> None:
    assert distance2({"a": 1, "b": 2}, {"b": 5}, keys="ordered") == 16
    assert distance2({"a": 1, "b": 2}, {"c": -4}, "l2", keys="free") == 1 + 4 + 16
    assert distance2({"a": 1}, {}, "linf", keys="free") == 1


def raising(error: type[Exception]) -> Any:
    def statistic(_world: Any) -> int:
        raise error("secret")

    return call(statistic, None)


def warning(category: type[Warning], value: int = 1) -> Any:
    def statistic(_world: Any) -> int:
        warnings.warn("text", category, stacklevel=1)
        return value

    return call(statistic, None)


def test_exceptions_and_warnings_are_seen() -> None:
    plain = call(lambda _world: 1, None)
    options: dict[str, Any] = {"norm": "l1", "allowed2": Fraction(9), "keys": "fixed"}
    one = compare(raising(ValueError), plain, **options)
    assert (one.part, one.words) == ("exception", "ValueError and none")
    assert compare(raising(ValueError), raising(KeyError), **options).part == "exception"
    assert compare(raising(ValueError), raising(ValueError), **options) == Difference(part="")
    other = compare(warning(RuntimeWarning), plain, **options)
    assert (other.part, other.words) == ("warning", "RuntimeWarning and none")
    assert compare(warning(UserWarning), warning(UserWarning, 3), **options).gap is not None
    assert compare(warning(UserWarning), warning(RuntimeWarning), **options).part == "warning"


def test_a_warning_is_seen_every_time() -> None:
    assert [warning(DeprecationWarning).warned for _ in range(3)] == [("DeprecationWarning",)] * 3


def test_what_stops_a_run_is_not_swallowed() -> None:
    def statistic(_world: Any) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(statistic, None)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("text", "no number as a whole; got str for \\[1\\]"),
        (1j, "no number as a whole; got complex"),
        ([1, b"x"], "no number at \\(1,\\); got bytes"),
        ({"a": {1, 2}}, "no number at \\('a',\\); got set"),
        (np.array(["a"]), "got array of str"),
        (np.array([1j]), "got array of complex128"),
        (np.array([object()]), "got object"),
    ],
)
def test_what_is_no_number_is_refused_with_the_world(value: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        raise foreign(call(lambda _world: value, None), [1])


def test_long_results_are_cut() -> None:
    assert len(call(lambda _world: list(range(5_000)), None).shown) < 500
    assert raising(ValueError).shown == "raises ValueError"
    assert call(lambda _world: math.nan, None).shown == 'float("nan")'
