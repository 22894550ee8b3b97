"""A number that a person types means the decimal they typed, and what is no number is refused with a sentence."""

from __future__ import annotations

import contextlib
import copy
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import InputError, ParameterError, kind_of
from quincunx.numbers import Log, delta_parameter, non_negative, positive, positive_integer, probability, rational

TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (0.1, TENTH),
        (np.float64(0.1), TENTH),
        (np.float32(0.1), TENTH),
        (np.float16(0.1), TENTH),
        (np.longdouble("0.1"), TENTH),
        ("0.1", TENTH),
        (" 0.1 ", TENTH),
        ("1/10", TENTH),
        ("1e-1", TENTH),
        (Decimal("0.1"), TENTH),
        (Decimal("0.1000"), TENTH),
        (TENTH, TENTH),
        (np.str_("0.1"), TENTH),
        (3, Fraction(3)),
        (np.int8(-3), Fraction(-3)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (10**400, Fraction(10**400)),
        (-0.0, Fraction(0)),
        (5e-324, Fraction(5, 10**324)),
        (1.7976931348623157e308, Fraction(17976931348623157 * 10**292)),
        (1e22, Fraction(10**22)),
        ("-7/3", Fraction(-7, 3)),
        ("1e4000", Fraction(10**4000)),
        ("1e-4000", Fraction(1, 10**4000)),
    ],
    ids=lambda v: type(v).__name__,
)
def test_a_typed_number_is_the_decimal_that_was_typed(typed: object, meant: Fraction) -> None:
    assert rational(typed, "x") == meant


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_its_own_shortest_decimal(value: float) -> None:
    exact = rational(value, "x")
    assert exact == Fraction(repr(value))
    assert float(exact) == value


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_float32_is_read_as_float32_prints_it(value: float) -> None:
    single = np.float32(value)
    assert np.float32(float(rational(single, "x"))) == single
    assert rational(single, "x") == Fraction(str(single))


@given(st.fractions())
def test_fractions_pass_unchanged(value: Fraction) -> None:
    assert rational(value, "x") == value
    assert rational(str(value), "x") == value


NOT_NUMBERS = [True, False, np.True_, None, 1j, b"1", [1], (1,), {}, object(), np.array(1.0), np.array([1.0]), "".join]


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda v: type(v).__name__)
def test_other_types_are_refused_by_type_and_not_by_value(value: object) -> None:
    with pytest.raises(ParameterError) as refusal:
        rational(value, "epsilon")
    assert refusal.value.where == "epsilon"
    assert refusal.value.got == kind_of(value)
    assert refusal.value.hint
    assert refusal.value.what in str(refusal.value)


NOT_FINITE = [float("nan"), float("inf"), float("-inf"), np.float32("nan"), np.float64("inf"), Decimal("NaN")]
NOT_FINITE += [Decimal("sNaN"), Decimal("-Infinity"), "nan", "inf", "-Infinity", "", " ", "abc", "1/2/3", "1 2", "0x10"]
NOT_FINITE += ["1/2.5", "--1", "1e", "e5", "½"]


@pytest.mark.parametrize("value", NOT_FINITE, ids=repr)
def test_what_is_not_a_finite_number_is_refused_with_a_hint(value: object) -> None:
    with pytest.raises(ParameterError, match="finite") as refusal:
        rational(value, "sigma")
    assert refusal.value.where == "sigma"
    assert refusal.value.got
    assert refusal.value.hint
    assert refusal.value.__cause__ is None


def test_a_denominator_of_zero_is_refused() -> None:
    with pytest.raises(ParameterError, match="denominator 0") as refusal:
        rational("1/0", "p")
    assert refusal.value.got == "1/0"
    assert refusal.value.where == "p"


HUGE = ["1e10001", "1e-10001", "1E+999999999999", "1e-9999999", Decimal("1e20000"), Decimal("1e-20000"), "1" * 20_001]


@pytest.mark.parametrize("value", HUGE, ids=lambda v: str(v)[:20])
def test_a_few_characters_cannot_make_a_number_of_a_million_digits(value: object) -> None:
    with pytest.raises(ParameterError, match="too long") as refusal:
        rational(value, "x")
    assert len(refusal.value.got) <= 40


@pytest.mark.parametrize("text", ["1e1_000_000", "1e-1_000_000", "1e+20_000", "1e10_001 "])
def test_underscores_do_not_hide_a_huge_exponent(text: str) -> None:
    with pytest.raises(ParameterError, match="too long"):
        rational(text, "x")


@pytest.mark.parametrize("digits", [4_301, 5_000, 19_999])
def test_a_long_decimal_is_called_too_long_and_not_infinite(digits: int) -> None:
    # Python refuses to parse integers above 4,300 digits; that is not "infinite or undefined".
    with pytest.raises(ParameterError, match="too long"):
        rational("1" * digits, "x")


@pytest.mark.parametrize("reader", [positive, non_negative, probability, delta_parameter, positive_integer])
@pytest.mark.parametrize("value", ["-1e5000", -(10**5000), Fraction(-1, 10**5000), -1, "-1/3", -0.5], ids=range(6))
def test_every_reader_refuses_negatives_of_any_length_in_the_house_way(reader: object, value: object) -> None:
    with pytest.raises(InputError) as refusal:
        reader(value, "x")  # type: ignore[operator]
    assert refusal.value.where == "x"
    assert 0 < len(refusal.value.got) <= 60


@pytest.mark.parametrize(
    ("reader", "good", "bad"),
    [
        (positive, ["1e-300", 5, 0.5], [0, "0", -0.0, -1, "-1e-300"]),
        (non_negative, [0, -0.0, "1e-300", 7], [-1, "-1e-300"]),
        (probability, [0, 1, 0.5, "1/3", 1.0], [-1, "1.0000000000000000000001", 2]),
        (delta_parameter, [0, "1e-9", 0.999], [1, 1.0, -1, "-1e-9", 2]),
        (positive_integer, [1, 2.0, "3", np.int64(4), "1e3", Fraction(8, 2)], [0, -1, 1.5, "1/2", Fraction(3, 2)]),
    ],
)
def test_ranges_hold_at_their_ends(reader: object, good: list[object], bad: list[object]) -> None:
    for value in good:
        assert reader(value, "x") == rational(value, "x")  # type: ignore[operator]
    for value in bad:
        with pytest.raises(ParameterError) as refusal:
            reader(value, "x")  # type: ignore[operator]
        assert refusal.value.where == "x"
        assert refusal.value.got


def test_positive_integer_is_a_python_int() -> None:
    assert type(positive_integer(np.int64(4), "n")) is int


def test_errors_are_value_errors_and_survive_pickling() -> None:
    with pytest.raises(ValueError, match="greater than 0") as refusal:
        positive(-1, "scale")
    again = pickle.loads(pickle.dumps(refusal.value))
    assert (type(again), str(again), again.where, again.got) == (ParameterError, str(refusal.value), "scale", "-1")


def test_log_is_an_exact_value() -> None:
    assert Log(3) == Log("3") == Log(3.0) == Log(Fraction(6, 2))
    assert Log(3) != Log(2)
    assert hash(Log(3)) == hash(Log("3"))
    assert repr(Log("1/3")) == "Log('1/3')"
    assert eval(repr(Log("1/3"))) == Log("1/3")
    assert str(Log(3)) == "ln(3)"
    assert Log(3) != Fraction(3)
    assert pickle.loads(pickle.dumps(Log(3))) == copy.copy(Log(3)) == Log(3)
    with pytest.raises(AttributeError):
        Log(3).of = Fraction(2)  # type: ignore[misc]


@pytest.mark.parametrize("value", [0, -1, "nan", None, True, "", Log(3)])
def test_log_refuses_what_has_no_logarithm(value: object) -> None:
    with pytest.raises(ParameterError) as refusal:
        Log(value)
    assert refusal.value.where == "Log"


@pytest.mark.parametrize("value", [10**4000, Fraction(1, 10**4000), 10**5000, "1e4000", "1e9999"], ids=range(5))
def test_a_log_that_is_accepted_can_be_shown(value: object) -> None:
    # Python prints integers of up to 4,300 digits: what is longer is refused here and not at the first message.
    shown = ""
    with contextlib.suppress(ParameterError):
        shown = repr(Log(value)) + str(Log(value))
    assert (shown == "") == (value in (10**5000, "1e9999"))
