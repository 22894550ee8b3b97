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
