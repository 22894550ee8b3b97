"""Bounds that are chosen: what they cost, what is stored and shown, and what is the same when it is asked again."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import quincunx as qx
from quincunx.errors import ParameterError
from quincunx.mechanisms import DiscreteLaplace, LadderSum
from quincunx.release import stored
from quincunx.release.ladder import PRICE, laddered
from quincunx.release.publish import _published
from quincunx.release.quote import Price, priced, quoted
from quincunx.release.rung import settled
from quincunx.release.stored import Stored
from quincunx.spec import GaussianDP, Renyi
from tests.cli.plans import run, run_json

RNG = np.random.default_rng(5)
ROWS = pd.DataFrame(
    {
        "person": np.arange(3000) % 1500,
        "g": RNG.choice(["a", "b"], 3000),
        "x": np.round(RNG.exponential(30, 3000), 2),
    }
)
GROUPED = "SELECT g, SUM(x) AS s FROM t GROUP BY g"
TOTAL = "SELECT SUM(x) AS s, AVG(x) AS m FROM t"


def session(standard: Any = None, auto: Any = None, unit: Any = None, **more: Any) -> qx.Session[Any]:
    bounds = "auto" if auto is None else {"auto": auto}
    columns = {"x": {"bounds": bounds, "step": "0.01"}, "g": {"keys": ["a", "b"]}}
    return qx.Session(
        dataset="d",
        version="1",
        tables={"t": qx.Table(ROWS, limits={"rows": 2, "groups": 2}, columns=columns)},
        unit=unit or qx.unit.AddRemove(key="person"),
        standard=standard or qx.standard.Pure(),
        intensity=1000,
        **({"ledger": ":memory:"} | more),
    )


STANDARDS = {
    "pure": qx.standard.Pure(),
    "zCDP": qx.standard.ZCDP(),
    "Rényi": Renyi(8),
    "Gauss": GaussianDP(),
    "(ε, δ)": qx.standard.Approximate(delta="1e-6"),
}


@pytest.mark.parametrize("standard", STANDARDS.values(), ids=STANDARDS)
@pytest.mark.parametrize("unit", [qx.unit.AddRemove(key="person"), qx.unit.Replace(key="person")], ids=["+", "↔"])
def test_the_choice_costs_a_quarter_and_the_noise_the_rest(standard: Any, unit: Any) -> None:
    with session(standard, unit=unit) as opened:
        program = opened._dataset.program(GROUPED)
        found = priced(program, standard, Fraction(1), 0)
    (drawn,) = found.measurements
    mechanism: Any = drawn.mechanism
    assert isinstance(mechanism, LadderSum)
    share, chosen = standard.of_noise(Fraction(1)), standard.of_choice(Fraction(1))
    if mechanism.noise.norm == 1:
        choice, noise = mechanism.eta, 1 / mechanism.noise.spread
    else:
        choice, noise = mechanism.eta**2 / 8, 1 / (2 * mechanism.noise.spread)
    assert 0 <= chosen * PRICE - choice < Fraction(1, 2**60)
    assert noise == share * (1 - PRICE)
    spent = found.loss.spend(standard)
    # At one order, and by the bell curve, a choice of bounded range costs less than its ρ says.
    loose = isinstance(standard, Renyi | GaussianDP)
    assert (Fraction(19, 20) if loose else Fraction(1) - Fraction(1, 2**50)) < spent <= 1
    assert mechanism.weight == 2 << 20
    assert mechanism.steep == 3


@pytest.mark.usefixtures("stream")
def test_a_budget_in_gaussian_privacy_chooses_bounds() -> None:
    with session(GaussianDP()) as opened:
        found = opened.sql(GROUPED, spend=4)
        assert (opened.spent, opened.sql(GROUPED, spend=4).rows) == (4, found.rows)
        assert any("the bound that was chosen is" in each for each in found.biases)
        assert all("rounded Gaussian noise" in each for each in found.mechanisms)


def test_a_sum_that_no_row_can_move_has_the_noise_of_one_unit() -> None:
    with session() as opened:
        (measure,) = opened._dataset.program(GROUPED).measures
    assert measure.ladder is not None
    found = laddered(measure, measure.ladder, Fraction(1), lambda _, share: DiscreteLaplace(scale=1 / share))
    assert min(found.squares) >= 1


def rung(answer: Any) -> str:
    (column,) = [each for each in answer.columns if each.name == "s"]
    return str(column.about)


def test_the_rung_is_stored_shown_and_the_same_when_asked_again(tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger.db")
    with session(ledger=ledger) as opened:
        first = opened.sql(GROUPED, spend=2)
        again = opened.sql(GROUPED, spend=2)
    with session(ledger=ledger) as opened:
        later = opened.sql(GROUPED, spend=2)
    assert again.spent == later.spent == 0
    assert [each.values for each in first.columns] == [each.values for each in later.columns]
    about = rung(first)
    assert about.startswith("sum within 0 to ")
    bound = about.rpartition(" ")[2]
    assert any(f"s: the bound that was chosen is {bound}" in line for line in first.told())
    assert rung(again) == rung(later) == about
    assert json.loads(first.to_json())["biases"] == json.loads(later.to_json())["biases"]


@pytest.mark.usefixtures("stream")
def test_intervals_cover_the_sum_bounded_by_the_rung() -> None:
    """150 draws of two groups at 90 %: fewer than 236 of 300 covered has a probability below 1e-8."""
    covered, bounds = 0, set()
    with session() as opened:
        program = opened._dataset.program(GROUPED)
        exact, found = opened._connect().run(program), priced(program, qx.standard.Pure(), Fraction(1, 10), 0)
    for _ in range(150):
        kept = Stored(noisy=found.draw(exact), mechanisms=found.noise, loss=found.loss, injected=True)
        known, numbers = settled(program, kept)
        (measure,) = known.measures
        bounds.add(bound := float(measure.high * measure.step))
        truth = ROWS.x.clip(0, bound).groupby(ROWS.g).sum()
        estimate = _published(known, numbers, 0, Fraction(1, 10))
        covered += int(sum((estimate.low <= truth) & (truth <= estimate.high)))
    assert covered >= 236
    # It was not one rung all the time.
    assert len(bounds) > 1


@pytest.mark.usefixtures("stream")
def test_means_and_what_is_made_of_them() -> None:
    with session() as opened:
        answer = opened.sql("SELECT AVG(x) AS m, SUM(x) / COUNT(x) AS r, SUM(x) AS s FROM t", spend=40)
    (mean,) = [each for each in answer.columns if each.name == "m"]
    assert mean.about.startswith("mean within 0 to ")
    assert float(mean.values[0]) == pytest.approx(ROWS.x.mean(), rel=0.1)
    assert float(answer.frame["r"].iloc[0]) == pytest.approx(ROWS.x.mean(), rel=0.1)
    derived = answer.then("SELECT 2 * s AS twice FROM answer")
    assert float(derived.frame["twice"].iloc[0]) == pytest.approx(2 * ROWS.x.sum(), rel=0.1)


@pytest.mark.usefixtures("stream")
def test_unknown_keys_choose_among_the_rows_that_are_shown() -> None:
    frame = pd.DataFrame({"person": range(2001), "g": ["many"] * 2000 + ["one"], "x": [30.0] * 2000 + [1e8]})
    with qx.Session(
        dataset="d", version="1",
        tables={"t": qx.Table(frame, limits={"rows": 1, "groups": 1}, columns={"x": {"bounds": "auto"}})},
        unit=qx.unit.AddRemove(key="person"), standard=qx.standard.Approximate(delta="1e-6"), intensity=1000,
        ledger=":memory:",
    ) as opened:  # fmt: skip
        answer = opened.sql("SELECT g, SUM(x) AS s FROM t GROUP BY g", spend=20, delta="1e-7")
        nothing = opened.sql("SELECT g, SUM(x) AS s FROM t WHERE x > 50 GROUP BY g", spend=20, delta="1e-7")
    assert answer.frame["g"].tolist() == ["many"]
    # Had the one row far away been counted, the bound would be a million times as high.
    assert float(rung(answer).rpartition(" ")[2]) <= 1000
    assert len(nothing) == 0
    assert not any("the bound that was chosen" in line for line in nothing.told())


def test_the_plan_says_the_ladder_and_its_price() -> None:
    with session() as opened:
        words = str(opened.explain(TOTAL, spend=1))
        errors = opened.error(TOTAL, spend=1)
    assert "one of 34 rungs from 0.01 to 1000000000, chosen for 1/4 of its share" in words
    assert "C₁ = 2 of one person" in words
    assert "a rung by the exponential mechanism" in words
    assert [each.half_width for each in errors] == [None, None]
    assert "in proportion to the bound" in errors[0].assumed


def test_half_widths_cannot_be_asked_of_what_is_not_bounded_yet() -> None:
    for within in ({"s": 10}, {"m": 1}, {"r": 1}):
        with session() as opened, pytest.raises(ParameterError, match='bounds are "auto"'):
            opened.sql(TOTAL.replace(" FROM", ", SUM(x) / COUNT(*) AS r FROM"), within=within, assume={"rows": 1000})


def test_another_ladder_is_another_question() -> None:
    keys = set()
    for auto in (None, {"to": 1000}, {"from": 1, "to": 1000}, {"to": 1000, "negative": True}):
        with session(auto=auto) as opened, opened._account.looking() as look:
            keys.add(quoted(opened._dataset, look, GROUPED, Price(spend=1)).question.key)
    assert len(keys) == 4


def test_a_stored_form_is_the_rung_and_the_noisy_number(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Stored] = []
    decode = stored.decode
    monkeypatch.setattr(stored, "decode", lambda data: kept.append(decode(data)) or kept[-1])
    with session() as opened:
        opened.sql(GROUPED, spend=5)
    (numbers,) = kept[0].noisy.measures
    assert numbers.shape == (2, 2)
    assert numbers[0, 0] == numbers[1, 0]
    assert isinstance(kept[0].mechanisms[0], LadderSum)


PLAN = """
dataset = "d"
version = "1"
ledger = "ledger.db"

[spec]
unit = { kind = "add-remove", key = "person" }
standard = { kind = "pure" }
intensity = 10

[tables.t]
source = "t.csv"
limits = { rows = 2 }

[tables.t.columns]
person = { type = "integer" }
g = { keys = ["a", "b"] }
x = { type = "decimal", bounds = { auto = { from = 1, to = 1e6 } } }

[[release]]
name = "sums"
sql = "SELECT g, SUM(x) AS s FROM t GROUP BY g"
spend = 1
"""


def test_plans_and_commands(tmp_path: Path) -> None:
    ROWS.to_csv(tmp_path / "t.csv", index=False)
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    code, out, err = run("explain", str(plan), GROUPED, "--spend", "1")
    assert (code, err) == (0, "")
    assert "19 rungs from 1 to 1000000" in " ".join(out.split())
    said = run_json("sql", str(plan), GROUPED, "--spend", "1")
    assert any("the bound that was chosen is" in each for each in said["biases"])
    code, _, err = run("release", str(plan), "--out", str(tmp_path / "published"))
    assert code == 0, err
    assert "the bound that was chosen is" in "".join(each.read_text("utf-8") for each in tmp_path.rglob("*.json"))
    plan.write_text(PLAN.replace("from = 1,", "from = 7e6,"), encoding="utf-8")
    code, _, err = run("explain", str(plan), GROUPED, "--spend", "1")
    assert code != 0
    assert "the ladder has no rungs" in err
    assert "plan.toml" in err
