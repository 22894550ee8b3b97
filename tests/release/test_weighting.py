"""Weights: how a spend is divided among the numbers of one question, what that changes and what it does not."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import pytest

from quincunx.errors import ParameterError
from quincunx.release import Session
from quincunx.release.pricing import price
from quincunx.release.weighting import shares, weighted
from quincunx.spec import ZCDP, AddRemove, Approximate, Pure
from quincunx.table.rules import plan
from quincunx.table.schema import Limits
from quincunx.table.sql import read
from tests.release.world import session
from tests.table.aggregates.test_variance import schema

SQL = "SELECT COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m, SUM(x) / COUNT(*) AS r FROM t"
DECLARED = schema(AddRemove(key="person"), Limits(rows=2, groups=1))


def test_shares_add_up_exactly_and_follow_the_weights() -> None:
    program = plan(read(SQL, DECLARED), DECLARED, 1)
    count, total, centred, some = range(4)
    for weights in ({"n": 3}, {"n": "1/3", "r": "7/5"}, {"M": 2}, {"s": 5, "n": 5}):
        found = weighted(program, weights)
        parts, rest = shares(found, Fraction(1, 7))
        assert sum(parts) + rest == Fraction(1, 7)
    parts, _ = shares(weighted(program, {"n": 3}), Fraction(6))
    # COUNT(*) is in n and in r; the largest weight counts.
    assert parts[count] == 3 * parts[total] == 3 * parts[centred] == 3 * parts[some]
    parts, _ = shares(weighted(program, {"s": "1/2", "r": "1/2"}), Fraction(7))
    # A weight below 1 lowers what no other output needs; n needs the count.
    assert parts[total] == parts[count] / 2 == parts[centred] / 2


@pytest.mark.parametrize("standard", [Pure(), ZCDP(), ZCDP(delta="1e-6"), Approximate("1e-6")], ids=str)
@pytest.mark.parametrize("weights", [{"n": 3}, {"m": "0.01"}, {"n": 7, "m": 2}])
def test_the_certified_loss_is_the_spend(standard: Pure | ZCDP | Approximate, weights: dict[str, object]) -> None:
    """Whatever the weights are, nothing more is lost than is paid."""
    declared, norm = DECLARED, standard.norm
    sql = "SELECT x, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY x"
    known = plan(read(SQL, declared), declared, norm)
    unknown = plan(read(sql, declared, derive=False), declared, norm)
    for program, delta in ((known, 0), *(((unknown, "1e-7"),) if standard.delta_budget else ())):
        found = weighted(program, weights)  # type: ignore[arg-type]
        priced = price(found, standard, "0.3", delta)
        assert priced.loss.spend(standard) <= Fraction(3, 10)
        assert found.weights != ()
        plain = price(program, standard, "0.3", delta)
        more = {
            i for i, (one, two) in enumerate(zip(priced.noise, plain.noise, strict=True)) if one.variance < two.variance
        }
        assert more
        assert len(more) < len(plain.noise)


def test_equal_weights_name_the_question_that_has_none() -> None:
    sql = "SELECT region, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY region"
    with session() as asked:
        first = asked.sql(sql, spend="1")
        for weights in ({}, {"n": 1}, {"n": 4, "s": 4}, {"n": "2/3", "S": "2/3"}):
            assert asked.cost(sql, spend="1", weights=weights).charged == 0
            assert asked.sql(sql, spend="1", weights=weights).rows == first.rows
        assert asked.cost(sql, spend="1", weights={"n": 3}).charged == 1


def test_what_is_weighted_more_errs_less_and_explain_says_it() -> None:
    sql = "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits"
    with session() as asked:
        equal = {each.name: each.se for each in asked.error(sql, spend="1")}
        heavy = {each.name: each.se for each in asked.error(sql, spend="1", weights={"n": 3})}
        # ρ = 3/4 and 1/4 in the place of 1/2 each: σ² by 2/3 and by 2.
        assert heavy["n"] == pytest.approx(equal["n"] * (2 / 3) ** 0.5, rel=1e-6)  # type: ignore[operator]
        assert heavy["s"] == pytest.approx(equal["s"] * 2**0.5, rel=1e-6)  # type: ignore[operator]
        words = asked.explain(sql, spend="1", weights={"n": 3}).noise
        assert words[0].endswith(", for 3/4 of the spend")
        assert words[1].endswith(", for 1/4 of the spend")
        assert "of the spend" not in str(asked.explain(sql, spend="1"))
        # With half-widths the spend is found for these shares.
        wide, narrow = (asked.cost(sql, within={"n": 30}, weights=weights).spend for weights in ({"n": 1}, {"n": 9}))
        assert narrow < wide


def test_every_pair_of_weights_costs_the_same_under_a_delta() -> None:
    with session(standard=Approximate("1e-6"), intensity="10") as asked:
        sql = "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits"
        for n, s in itertools.product((1, 5), repeat=2):
            found = asked.cost(sql, spend="1", delta="1e-7", weights={"n": n, "s": s})
            assert (found.spend, found.delta <= Fraction(1, 10**7)) == (1, True)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({"q": 2}, "no such measured output"),
        ({"region": 2}, "no such measured output"),
        ({"n": 0}, "greater than 0"),
        ({"n": -1}, "greater than 0"),
        ({"n": "x"}, "n"),
    ],
)
def test_what_is_refused(weights: dict[str, object], words: str) -> None:
    with session() as asked, pytest.raises(ParameterError, match=words):
        asked.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", spend="1", weights=weights)  # type: ignore[arg-type]


def test_a_plan_states_weights(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(
        "person,cost\n" + "\n".join(f"{i},{i % 7}" for i in range(50)), encoding="utf-8"
    )
    text = """
dataset = "visits"
version = "1"
ledger = ":memory:"
[spec]
unit = { kind = "add-remove", key = "person" }
standard = { kind = "zcdp" }
intensity = "1"
[tables.visits]
source = "visits.csv"
limits = { rows = 2 }
columns = { cost = { type = "integer", bounds = [0, 10] }, person = { type = "integer" } }
[[release]]
name = "both"
sql = "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits"
spend = "0.1"
weights = { n = 3 }
"""
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")
    with Session.open(path) as asked:
        (entry,) = asked._releases
        assert entry.weights == {"n": 3}
        released = asked.release(tmp_path / "out")
        alone = asked.sql(entry.sql, spend="0.1", weights={"n": "3"})
        assert alone.spent == 0
        assert released.answers["both"].rows == alone.rows
    path.write_text(text.replace("{ n = 3 }", "{ q = 3 }"), encoding="utf-8")
    with Session.open(path) as asked, pytest.raises(ParameterError, match="no such measured output"):
        asked.release(tmp_path / "again")
