"""Half-widths that find the spend: for every aggregate, where the error depends on the data for an assumed group."""

from __future__ import annotations

from fractions import Fraction

import pytest

from quincunx.errors import ParameterError
from tests.release.world import session

SQL = (
    "SELECT COUNT(*) AS n, AVG(age) AS m, VARIANCE(age) AS v, STDDEV(age) AS d, COVAR_POP(age, cost) AS c, "
    "REGR_SLOPE(cost, age) AS b, CORR(cost, age) AS r, COUNT(DISTINCT age) AS k FROM visits"
)
# Output and a half-width that takes more than nothing.
WIDTHS = {"n": 9, "m": 2, "v": 60, "d": 2, "c": 70, "b": "0.2", "r": "0.2", "k": 5}


@pytest.mark.parametrize("name", WIDTHS)
def test_the_spend_reaches_the_half_width_and_a_smaller_one_does_not(name: str) -> None:
    width, assume = {name: WIDTHS[name]}, {"rows": 2000}
    with session(intensity=10**3) as asked:
        spend = asked.cost(SQL, within=width, assume=assume).spend
        for paid, reached in ((spend, True), (spend * Fraction(97, 100), False)):
            errors = {each.name: each for each in asked.error(SQL, spend=paid, group_size=2000)}
            half = errors[name].half_width
            assert half is not None
            assert (half <= float(Fraction(str(WIDTHS[name])))) == reached
        # What is assumed decides for all but counts and sums.
        more = asked.cost(SQL, within=width, assume={"rows": 8000}).spend
        assert (more == spend) == (name in ("n", "k"))


def test_what_is_refused() -> None:
    with session() as asked:
        with pytest.raises(ParameterError, match="counts and sums") as caught:
            asked.cost(SQL, within={"m": 1})
        assert "assume rows = 1000" in caught.value.hint
        for assume in ({}, {"people": 3}, {"rows": 3, "groups": 1}):
            with pytest.raises(ParameterError, match="what is assumed are rows"):
                asked.cost(SQL, within={"m": 1}, assume=assume)
        for rows in (0, -3, "1/2", "many"):
            with pytest.raises(ParameterError, match="rows"):
                asked.cost(SQL, within={"m": 1}, assume={"rows": rows})


ARITHMETIC = (
    "SELECT region, COUNT(*) AS n, 100.0 * COUNT(*) FILTER (WHERE age > 40) / COUNT(*) AS p, "
    "SUM(cost) / COUNT(*) AS each, MEDIAN(age) AS m FROM visits GROUP BY region"
)


def test_the_error_of_arithmetic_is_simulated_and_said_so() -> None:
    """Beside what answers then show: half-widths of the enclosure, at the assumed size of the group."""
    with session(intensity=10**3) as asked:
        found = {each.name: each for each in asked.error(ARITHMETIC, spend=20, group_size=3000)}
        again = {each.name: each for each in asked.error(ARITHMETIC, spend=20, group_size=3000)}
        more = {each.name: each for each in asked.error(ARITHMETIC, spend=20, group_size=12000)}
        assert found == again
        for name in ("p", "each"):
            one, other = found[name], more[name]
            assert "simulated: a group of 3,000 rows in the middle of their bounds" in one.assumed
            assert one.half_width is not None
            assert other.half_width is not None
            assert one.se is not None
            # Four times the rows, a quarter of the error; a half-width is at least 1.9 standard errors.
            assert 3 < one.half_width / other.half_width < 5
            assert one.half_width > 1.5 * one.se > 0
        # Of a quotient near 1 of two counts with noises of one size: 100·√2 of a count's half-width over the rows.
        assert found["n"].half_width is not None
        assert found["p"].half_width == pytest.approx(100 * 2**0.5 * found["n"].half_width / 3000, rel=0.05)


def test_windows_and_functions_are_worked_out_above_made_up_groups() -> None:
    text = "SELECT region, COUNT(*) / SUM(COUNT(*)) OVER () AS share, LN(COUNT(*)) AS l FROM visits GROUP BY region"
    with session(intensity=10**3) as asked:
        share, log = asked.error(text, spend=20, group_size=2000)
        assert "simulated: 4 groups of 2,000 rows" in share.assumed
        assert share.half_width is not None
        assert log.half_width is not None
        count = asked.error("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", spend=20)[0].half_width
        assert count is not None
        # ∂(n/Σ)/∂n = 3/4 of 1/Σ, and the others add a quarter of theirs: √(9 + 3)/16 of a count's error, over 2,000.
        assert share.half_width == pytest.approx(count * 12**0.5 / 4 / 8000, rel=0.3)
        assert log.half_width == pytest.approx(count / 2000, rel=0.3)


@pytest.mark.parametrize(("name", "width"), [("p", 5), ("m", 8)])
def test_half_widths_of_arithmetic_and_quantiles_find_the_spend(name: str, width: int) -> None:
    assume = {"rows": 2000}
    with session(intensity=10**4) as asked:
        spend = asked.cost(ARITHMETIC, within={name: width}, assume=assume).spend
        found = {each.name: each for each in asked.error(ARITHMETIC, spend=spend, group_size=2000)}
        assert found[name].half_width is not None
        assert found[name].half_width <= width
        less = {each.name: each for each in asked.error(ARITHMETIC, spend=spend / 4, group_size=2000)}
        assert (less[name].half_width or 0) > width
        with pytest.raises(ParameterError, match="counts and sums"):
            asked.cost(ARITHMETIC, within={name: width})


def test_a_half_width_as_wide_as_the_bounds_is_no_question() -> None:
    with session() as asked, pytest.raises(ParameterError, match="every spend reaches"):
        asked.cost("SELECT AVG(age) AS m FROM visits", within={"m": 200}, assume={"rows": 100})
