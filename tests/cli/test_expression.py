"""The little language of `quincunx account`."""

import pickle
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.cli.expression import ExpressionError, read, terms
from quincunx.errors import ParameterError, PrivacyError, QuincunxError
from quincunx.loss import Loss
from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, RandomizedResponse
from quincunx.spec.unit import AddRemove, Replace

SAME = {
    "laplace(scale=2)": Laplace(scale=2).loss,
    " laplace ( scale = 2 ) ": Laplace(scale=2).loss,
    "laplace(scale=1/3, sensitivity=.5)": Laplace(scale="1/3", sensitivity="0.5").loss,
    "laplace(scale=2,)": Laplace(scale=2).loss,
    "gaussian(sigma=1e1)": Gaussian(sigma=10).loss,
    "gaussian(sigma2=2., sensitivity2=3)": Gaussian(sigma2=2, sensitivity2=3).loss,
    "discrete_laplace(scale=2, sensitivity=3)": DiscreteLaplace(scale=2, sensitivity=3).loss,
    "discrete-laplace(scale=2, sensitivity=0.2, step=0.1)": DiscreteLaplace(
        scale=2, sensitivity="0.2", step="0.1"
    ).loss,
    "discrete_gaussian(sigma=3, sensitivity=2, coordinates=1)": DiscreteGaussian(
        sigma=3, sensitivity=2, coordinates=1
    ).loss,
    "randomized_response(probability=3/4)": RandomizedResponse(probability="3/4").loss,
    "3*laplace(scale=2)": 3 * Laplace(scale=2).loss,
    "laplace(scale=2)*3": 3 * Laplace(scale=2).loss,
    "2*laplace(scale=2)*3": 6 * Laplace(scale=2).loss,
    "2*3*laplace(scale=2)": 6 * Laplace(scale=2).loss,
    "007*laplace(scale=2)": 7 * Laplace(scale=2).loss,
    "2*(laplace(scale=2) + 3*gaussian(sigma=4))": 2 * Laplace(scale=2).loss + 6 * Gaussian(sigma=4).loss,
    "((laplace(scale=2)))": Laplace(scale=2).loss,
    "laplace(scale=2)+laplace(scale=2)": 2 * Laplace(scale=2).loss,
    "poisson(gaussian(sigma=1), q=0.01)": Gaussian(sigma=1).loss.subsample("0.01", scheme="poisson", unit=AddRemove()),
    "without-replacement(2*gaussian(sigma=1), q=1/10)": (2 * Gaussian(sigma=1).loss).subsample(
        "0.1", scheme="without-replacement", unit=Replace()
    ),
    "5*poisson(laplace(scale=1) + laplace(scale=2), q=0.5)": 5
    * (Laplace(scale=1).loss + Laplace(scale=2).loss).subsample("0.5", scheme="poisson", unit=AddRemove()),
}


@pytest.mark.parametrize(("text", "loss"), SAME.items(), ids=SAME)
def test_what_is_read_is_what_the_library_says(text: str, loss: Loss) -> None:
    assert read(text).loss == loss


def test_the_kinds_and_the_neighbours_are_noted() -> None:
    plain = read("laplace(scale=1) + 2*laplace(scale=3) + gaussian(sigma=1)")
    assert (plain.kinds, plain.units) == (frozenset({"laplace", "gaussian"}), frozenset())
    sampled = read("poisson(gaussian(sigma=1), q=0.1) + laplace(scale=1)")
    assert sampled.kinds == {"gaussian", "laplace", "poisson"}
    assert sampled.units == {"AddRemove"}


# text, what is underlined, a part of the message
WRONG = [
    ("", " ", "ends too early"),
    ("   ", " ", "ends too early"),
    ("3", "3", "a count stands alone"),
    ("3*4", "3*4", "a count stands alone"),
    ("3*", " ", "ends too early"),
    ("*laplace(scale=1)", "*", "did not expect"),
    ("laplace(scale=1) +", " ", "ends too early"),
    ("laplace", " ", "ends too early"),
    ("laplace scale=1", "scale", "did not expect"),
    ("laplace(scale=1", " ", "ends too early"),
    ("laplace(scale=1))", ")", "did not expect"),
    ("laplace(scale=)", ")", "did not expect"),
    ("laplace(scale 1)", "1", "did not expect"),
    ("laplace(1)", "1", "did not expect"),
    ("laplace()", "laplace()", "a parameter is missing"),
    ("laplace(sensitivity=2)", "laplace(sensitivity=2)", "a parameter is missing"),
    ("laplace(scale=1, scale=2)", "scale", "is given twice"),
    ("laplace(sigma=1)", "sigma", "no such parameter"),
    ("laplace(scale=1, epsilon=2)", "epsilon", "no such parameter"),
    ("laplace(scale=0)", "scale=0", "must be greater than 0"),
    ("laplace(scale=-1)", "-", "did not expect"),
    ("laplace(scale=1/0)", "scale=1/0", "denominator 0"),
    ("laplace(scale=1e99999)", "scale=1e99999", "too long to be meant"),
    ("laplace(scale=one)", "one", "did not expect"),
    ("gaussian()", "gaussian()", "exactly one of sigma"),
    ("gaussian(sigma=1, sigma2=1)", "sigma=1", "exactly one of sigma"),
    ("discrete_laplace(scale=1, sensitivity=1/2)", "sensitivity=1/2", "whole number of steps"),
    ("discrete_gaussian(sigma=1, coordinates=2)", "coordinates=2", "must be 1 or None"),
    ("randomized_response(probability=1)", "probability=1", "both excluded"),
    ("randomized_response()", "randomized_response()", "a parameter is missing"),
    ("cauchy(scale=1)", "cauchy", "unknown term"),
    ("lapalce(scale=1)", "lapalce", "Did you mean laplace"),
    ("0*laplace(scale=1)", "0", "1 or greater"),
    ("1.5*laplace(scale=1)", "1.5", "a count is a whole number"),
    ("1e3*laplace(scale=1)", "1e3", "a count is a whole number"),
    ("1/2*laplace(scale=1)", "1/2", "a count is a whole number"),
    ("9999999999999999999*laplace(scale=1)", "9999999999999999999", "At most 18 digits"),
    ("laplace(scale=1)*gaussian(sigma=1)", "laplace(scale=1)*gaussian(sigma=1)", "not by a term"),
    ("laplace(scale=1) gaussian(sigma=1)", "gaussian", "did not expect"),
    ("laplace(scale=1) - gaussian(sigma=1)", "-", "did not expect"),
    ("laplace(scale=1); import", ";", "did not expect"),
    ("läplace(scale=1)", "l", "unknown term"),
    ("poisson(q=0.1)", "q", "unknown term"),
    ("poisson(gaussian(sigma=1))", ")", "did not expect"),
    ("poisson(gaussian(sigma=1),)", "poisson(gaussian(sigma=1),)", "q is missing"),
    ("poisson(gaussian(sigma=1), p=0.1)", "p", "no such parameter"),
    ("poisson(gaussian(sigma=1), q=0)", "q=0", "must be greater than 0"),
    ("poisson(gaussian(sigma=1), q=1.1)", "q=1.1", "must be at most 1"),
    ("(" * 50 + "laplace(scale=1)" + ")" * 50, "(", "nested too deeply"),
    ("poisson(" * 50 + "laplace(scale=1)" + ", q=1)" * 50, "(", "nested too deeply"),
    ("1*" * 10_001 + "laplace(scale=1)", "1", "too long"),
]


@pytest.mark.parametrize(("text", "marked", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_wrong_text_is_refused_at_its_place(text: str, marked: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        read(text)
    error = caught.value
    assert message in str(error)
    assert (text + " ")[error.start : error.end].strip() in {marked.strip(), f"{marked})"}
    assert error.where.startswith("expression")
    assert error.exit_code == 2
    shown, marks = error.underlined().split("\n")
    assert marks.strip("^ ") == ""
    assert max(len(shown), len(marks)) <= 110


def test_the_underline_stays_in_sight_of_a_long_line() -> None:
    text = " + ".join(["laplace(scale=1)"] * 100) + " + gausian(sigma=1) + " + " + ".join(["laplace(scale=1)"] * 100)
    with pytest.raises(ExpressionError) as caught:
        read(text)
    shown, marks = caught.value.underlined().split("\n")
    assert shown[marks.index("^") : marks.rindex("^") + 1] == "gausian"
    assert len(shown) <= 110


def test_errors_travel_with_their_place() -> None:
    with pytest.raises(ExpressionError) as caught:
        read("gausian(sigma=1)")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.text, again.start, again.end, str(again)) == ("gausian(sigma=1)", 0, 7, str(caught.value))


@pytest.mark.parametrize(
    "text",
    [
        "poisson(gaussian(sigma=1), q=0.1) + without_replacement(gaussian(sigma=1), q=0.1)",
        "poisson(gaussian(sigma=1) + laplace(scale=1), q=0.1)",
        "poisson(discrete_gaussian(sigma=1), q=0.1)",
    ],
)
def test_what_has_no_theorem_is_refused_for_privacy(text: str) -> None:
    with pytest.raises(PrivacyError):
        read(text)


ALPHABET = "+*(),=.1205e/- \t" + "".join(sorted({letter for name in terms() for letter in name}))
PIECES = [
    *terms(),
    "poisson",
    "without_replacement",
    "scale",
    "sigma",
    "q",
    "probability",
    *"+*(),=",
    "1",
    "0.5",
    "1/3",
    " ",
]


@given(st.text(ALPHABET, max_size=60) | st.text(string.printable, max_size=60))
def test_letters_are_read_or_refused(text: str) -> None:
    _read_or_refused(text)


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_pieces_are_read_or_refused(pieces: list[str]) -> None:
    _read_or_refused("".join(pieces))


def _read_or_refused(text: str) -> None:
    refused: QuincunxError | None = None
    try:
        assert isinstance(read(text).loss, Loss)
    except QuincunxError as error:
        refused = error
    assert refused is None or isinstance(refused, ParameterError | PrivacyError)
    if isinstance(refused, ExpressionError):
        assert 0 <= refused.start < refused.end <= len(text) + 1
        assert refused.underlined()
