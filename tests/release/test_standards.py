"""Budgets in every standard in which questions are priced: what is drawn, what is charged, what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from quincunx.errors import BudgetError, ParameterError, PrivacyError, SpecificationError
from quincunx.mechanisms import DiscreteGaussian, Gaussian
from quincunx.release import Session
from quincunx.release.plan_file import read_plan
from quincunx.release.pricing import price
from quincunx.release.quantiles import CUTS
from quincunx.spec import KL, ZCDP, AddRemove, GaussianDP, Renyi, Replace
from quincunx.table.rules import plan
from quincunx.table.schema import Limits
from quincunx.table.sql import read
from tests.release.world import session
from tests.table.aggregates.test_variance import schema

SQL = "SELECT region, COUNT(*) AS n, AVG(age) AS m FROM visits GROUP BY region"
DECLARED = schema(AddRemove(key="person"), Limits(rows=2, groups=2))


@pytest.mark.parametrize("standard", [Renyi(2), Renyi("3/2"), Renyi(64), GaussianDP()], ids=str)
@pytest.mark.parametrize("sql", ["SELECT COUNT(*) AS n FROM t", "SELECT region, AVG(x) AS m FROM t GROUP BY region"])
def test_the_certified_loss_is_the_spend(standard: Renyi | GaussianDP, sql: str) -> None:
    """Nothing more is lost than is paid, and nothing is left over: the noise is not larger than it must be."""
    program = plan(read(sql, DECLARED), DECLARED, standard.norm)
    found = price(program, standard, "0.3")
    assert found.loss.spend(standard) == Fraction(3, 10)


def test_the_noise_is_that_of_the_same_rho() -> None:
    program = plan(read("SELECT COUNT(*) AS n FROM t", DECLARED), DECLARED, 2)
    (zcdp,) = price(program, ZCDP(), "0.1").noise
    (order,) = price(program, Renyi(4), "0.4").noise
    (bell,) = price(program, GaussianDP(), "0.2").noise
    assert isinstance(zcdp, DiscreteGaussian)
    assert order == zcdp
    # The discrete law is in no Gaussian privacy, the rounded bell curve is.
    assert isinstance(bell, Gaussian)
    assert bell.sigma2 == zcdp.sigma2


@pytest.mark.parametrize(
    ("standard", "intensity", "symbol", "total"),
    [(Renyi(8), "2", "ε", Fraction(2)), (GaussianDP(), "1.5", "μ²", Fraction(9, 4))],
    ids=["Renyi", "GaussianDP"],
)
def test_a_session_keeps_its_budget(standard: Any, intensity: str, symbol: str, total: Fraction) -> None:
    with session(standard=standard, intensity=intensity) as asked:
        assert asked.remaining == total
        answer = asked.sql(SQL, spend="0.5")
        assert all(row["n_low"] <= row["n"] <= row["n_high"] for row in map(dict, answer.rows))
        assert asked.spent == Fraction(1, 2)
        assert asked.sql(SQL, spend="0.5").rows == answer.rows
        assert asked.spent == Fraction(1, 2)
        found = asked.cost("SELECT COUNT(*) AS n FROM visits", within={"n": 40})
        assert found.symbol == symbol
        assert found.spend > 0
        with pytest.raises(BudgetError):
            asked.sql("SELECT COUNT(*) AS n FROM visits", spend=total)
        # Unknown keys need a δ, which these standards have not.
        with pytest.raises(PrivacyError, match="a δ that the standard does not have"):
            asked.sql("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", spend="0.1", delta="1e-9")


QUANTILES = "SELECT region, QUANTILE_DISC(x, [0.25, 0.5, 0.9]) AS q, COUNT(*) AS n FROM t GROUP BY region"


@pytest.mark.parametrize("unit", [AddRemove(key="person"), Replace(key="person"), AddRemove(key="person", group=3)])
@pytest.mark.parametrize("standard", [ZCDP(), Renyi(8), GaussianDP()], ids=str)
@pytest.mark.parametrize("interval", [True, False])
def test_quantiles_cost_what_they_are_charged(unit: Any, standard: Any, interval: bool) -> None:
    """In Gaussian privacy a range costs π/2 times what the same ρ of noise does, and no less."""
    declared = schema(unit, Limits(rows=2, groups=2))
    query = read(QUANTILES, declared)
    aggregates = tuple(each if interval else each.without_interval() for each in query.aggregates)
    found = price(plan(replace(query, aggregates=aggregates), declared, standard.norm), standard, "0.3")
    assert Fraction(999_999, 1_000_000) * Fraction(3, 10) < found.loss.spend(standard) <= Fraction(3, 10)
    cuts: Any = found.noise[0]
    whole = Fraction(3, 20) * (CUTS if interval else 1)
    # 8·ρ of all depths; 355/113 stands for π.
    wanted = 8 * (whole * Fraction(113, 355) if isinstance(standard, GaussianDP) else standard.of_noise(whole))
    assert abs(cuts.eta**2 * cuts.depth - wanted) < Fraction(1, 2**50)


@pytest.mark.usefixtures("stream")
def test_quantiles_in_gaussian_privacy_are_answered() -> None:
    with session(standard=GaussianDP(), intensity="10") as asked:
        found = asked.sql("SELECT region, MEDIAN(age) AS m FROM visits GROUP BY region", spend=20)
        assert all(row["m_low"] <= row["m"] <= row["m_high"] for row in map(dict, found.rows))
        alone = asked.sql("SELECT MEDIAN(age) AS m FROM visits", spend=20, interval=False)
        assert "one bucket by the exponential mechanism" in alone.mechanisms[0]
        assert asked.spent == 40


def test_other_standards_are_refused() -> None:
    with pytest.raises(SpecificationError, match="no budget is kept in this standard"):
        session(standard=KL(), intensity="1")


PLAN = """dataset = "visits"
version = "1"
ledger = ":memory:"
[spec]
unit = { kind = "add-remove", key = "person" }
standard = STANDARD
intensity = "1"
[tables.visits]
source = "visits.csv"
limits = { rows = 2 }
columns = { person = { type = "integer" } }
"""


@pytest.mark.parametrize(
    ("written", "standard"),
    [('{ kind = "renyi", alpha = 4 }', Renyi(4)), ('{ kind = "gaussian" }', GaussianDP())],
    ids=["renyi", "gaussian"],
)
def test_a_plan_names_them(written: str, standard: Any, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("person\n1\n2\n", encoding="utf-8")
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.replace("STANDARD", written), encoding="utf-8")
    assert read_plan(path).standard == standard
    with Session.open(path) as asked:
        assert asked.sql("SELECT COUNT(*) AS n FROM visits", spend="0.5").spent == Fraction(1, 2)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('{ kind = "renyi" }', "alpha is missing"),
        ('{ kind = "renyi", alpha = 1 }', "the order must be greater than 1"),
        ('{ kind = "gaussian", delta = "1e-9" }', "Gaussian privacy has no δ"),
        ('{ kind = "zcdp", alpha = 2 }', "zcdp has no α"),
        ('{ kind = "kl" }', "unknown standard"),
        ('{ kind = "concentrated" }', "unknown standard"),
    ],
)
def test_what_a_plan_may_not_say(written: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.replace("STANDARD", written), encoding="utf-8")
    with pytest.raises((ParameterError, SpecificationError), match=words):
        read_plan(path)
