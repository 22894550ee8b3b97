"""One way to say an amount: what each function writes, and that nothing else writes amounts."""

import ast
import math
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quincunx
from quincunx.numbers import Log, rational
from quincunx.numbers.text import above, amount, at_least, at_most, below, exact_text, near, percent, stated

SOURCE = Path(quincunx.__file__).parent
FUNCTIONS = {"above", "amount", "at_least", "at_most", "below", "exact_text", "near", "percent", "stated"}
# A symbol of a privacy parameter, a sign of comparison, and then the amount.
SYMBOL = re.compile(r"(?:^|[^\w])(?:ε|ρ|√ρ|μ|δ|δ_?[ap]|ξ|τ|α|KL|TV)(?: at \w+ \w)? [=≤≥≈] $")

SIGN = re.compile(r" [=≤≥≈] ")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1", "1"),
        ("0", "0"),
        ("1/20", "0.05"),
        ("9/20", "0.45"),
        ("1/3", "1/3"),
        ("0.1", "0.1"),
        ("1e-10", "1e-10"),
        ("0.000025", "2.5e-5"),
        ("0.0001", "0.0001"),
        ("-1/8", "-0.125"),
        ("1000000", "1000000"),
        ("2.63", "2.63"),
        ("1/1024", "0.0009765625"),
        ("1e-31", "1e-31"),
    ],
)
def test_a_decimal_where_one_ends_else_a_fraction(value: str, text: str) -> None:
    assert exact_text(Fraction(value)) == amount(Fraction(value)) == text


@given(st.fractions())
def test_every_amount_comes_back(value: Fraction) -> None:
    assert rational(exact_text(value), "value") == value
    short = amount(value)
    assert short.startswith("about ") or Fraction(short) == value
    assert len(short) <= 26


@given(st.integers(1, 10**40), st.integers(0, 45))
def test_decimals_with_many_digits_come_back(units: int, places: int) -> None:
    value = Fraction(units, 10**places)
    assert Fraction(exact_text(value)) == value


def test_logarithms() -> None:
    assert exact_text(Log(3)) == amount(Log(3)) == "ln(3)"
    assert amount(Log("3/2")) == "ln(1.5)"
    assert stated("ε", Log(3)) == "ε = ln(3) (about 1.09861)"
    assert stated("ε", Log(Fraction(3**60, 2**60))) == "ε ≈ 24.3279"


def test_with_a_symbol() -> None:
    assert stated("ρ", Fraction(1, 20)) == "ρ = 0.05"
    assert stated("ε", Fraction(1, 3), Fraction(1, 10**9)) == "ε = 1/3, δ = 1e-9"
    assert stated("ρ", Fraction(1, 3**60)) == "ρ ≈ 2.35898e-29"
    assert amount(Fraction(1, 3**60)) == "about 2.35898e-29"
    assert percent(Fraction(19, 20)) == "95 %"
    assert percent(Fraction(999, 1000)) == "99.9 %"


@given(st.fractions(min_value=0, max_denominator=10**30))
def test_what_a_hint_gives_to_type_works(value: Fraction) -> None:
    assert Fraction(at_most(value)) <= value <= Fraction(at_least(value))
    assert Fraction(at_least(value)) - Fraction(at_most(value)) <= value / 10**5


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_a_bound_stays_on_its_side(value: float) -> None:
    high, low = Decimal(above(value)), Decimal(below(value))
    assert low <= Decimal(repr(value)) <= high
    # Six digits: at most one unit of the sixth, 1e-5 of the value, away from it.
    assert value * (1 - 1.1e-5) <= float(low)
    assert float(high) <= value * (1 + 1.1e-5)
    assert low <= Decimal(near(value)) <= high


def test_special_values() -> None:
    assert [above(value) for value in (0.0, math.inf, 0.2, 1 / 3, 1e-12, 999_999.5)] == [
        "0",
        "∞",
        "0.2",
        "0.333334",
        "1e-12",
        "1000000",
    ]
    assert [below(value) for value in (0.0, math.inf, 1 / 3, 0.2, -0.5)] == ["0", "∞", "0.333333", "0.2", "-0.5"]
    assert near(math.nan) == "undefined"
    assert near(-math.inf) == "−∞"


@pytest.mark.parametrize("value", [Fraction(2) ** 20_000, Fraction(1, 2**20_000), Fraction(7**9_000, 5**9_001)])
def test_numbers_that_python_will_not_print(value: Fraction) -> None:
    assert amount(value).startswith("about ")
    assert Fraction(at_most(value)) <= value <= Fraction(at_least(value))


def _amounts(tree: ast.Module) -> list[tuple[int, str]]:
    """What f-strings put behind a symbol and a sign, with its line."""
    found = []
    for string in (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)):
        for before, after in zip(string.values, string.values[1:], strict=False):
            if not isinstance(before, ast.Constant) or not isinstance(after, ast.FormattedValue):
                continue
            place = string.values.index(before)
            named = place > 0 and re.search("symbol|sign", ast.unparse(string.values[place - 1]).lower())
            if SYMBOL.search(str(before.value)) or (named and SIGN.fullmatch(str(before.value))):
                found.append((string.lineno, ast.unparse(after.value)))
    return found


# Texts as they were typed, orders, ∞, LaTeX, names of divergences, and √ρ of the census beside its ρ.
TYPED = {
    "attack/picture.py: epsilon",
    "cli/account.py: delta",
    "cli/account.py: epsilon",
    "cli/account.py: order",
    "cli/topdown.py: cost",
    "invariant/census.py: _root(CUMULATIVE)",
    "invariant/census.py: _root(REDISTRICTING)",
    "mechanisms/count_tree.py: epsilon",
    "mechanisms/discrete_laplace.py: epsilon",
    "mechanisms/exponential.py: epsilon",
    "mechanisms/ladder_choice.py: epsilon",
    "mechanisms/ladder_sum.py: epsilon",
    "mechanisms/laplace.py: epsilon",
    "mechanisms/permute_and_flip.py: epsilon",
    "mechanisms/quantile_choice.py: epsilon",
    "mechanisms/quantile_cuts.py: epsilon",
    "mechanisms/quantile_flip.py: epsilon",
    "mechanisms/randomized_response.py: epsilon",
    "numbers/text.py: text",
    "spec/standard_base.py: latex_number(intensity)",
    "taxonomy/relations/convert.py: value",
}


def test_amounts_are_written_by_one_module() -> None:
    seen, others, names = 0, [], set()
    for path in sorted(SOURCE.rglob("*.py")):
        for line, written in _amounts(ast.parse(path.read_text(encoding="utf-8"))):
            seen += 1
            name = f"{path.relative_to(SOURCE)}: {written}"
            names.add(name)
            if written.partition("(")[0].removeprefix("text.") not in FUNCTIONS and name not in TYPED:
                others.append(f"{path.relative_to(SOURCE)}:{line}: {written}")
    assert others == []
    assert names >= TYPED
    assert seen > 80


def test_the_check_sees_an_amount_that_is_written_otherwise() -> None:
    assert _amounts(ast.parse("f'costs ρ = {float(rho):.6g} in all'")) == [(1, "float(rho)")]
    assert _amounts(ast.parse("f'{name} = {rho}'")) == []
    assert _amounts(ast.parse("f'{self.symbol} = {rho}'")) == [(1, "rho")]
