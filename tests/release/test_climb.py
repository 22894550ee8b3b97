"""Limits that are chosen: what the choice sees and costs, what is stored and shown, and what is another question."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import quincunx as qx
from quincunx.errors import DataError, ParameterError, PrivacyError, RefusalError
from quincunx.mechanisms import LadderChoice
from quincunx.release import stored
from quincunx.release.climb import PRICE
from quincunx.release.quote import Price, priced, quoted
from quincunx.spec import GaussianDP, Renyi
from quincunx.table import Program
from tests.cli.plans import run, run_json

ALARM = 1e-8
RNG = np.random.default_rng(11)
HELD = np.minimum(RNG.geometric(0.25, 600), 18)
ROWS = pd.DataFrame(
    {
        "person": np.repeat(np.arange(600), HELD),
        "g": RNG.choice(["a", "b", "c"], HELD.sum()),
        "x": RNG.integers(0, 50, HELD.sum()),
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 3, HELD.sum()), unit="D"),
    }
)
GROUPED = "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g"
COLUMNS = {"x": {"bounds": (0, 50)}, "g": {"keys": ["a", "b", "c"]}}
PEOPLE = qx.unit.AddRemove(key="person")
STANDARDS = {
    "pure": qx.standard.Pure(),
    "zCDP": qx.standard.ZCDP(),
    "Rényi": Renyi(8),
    "Gauss": GaussianDP(),
    "(ε, δ)": qx.standard.Approximate(delta="1e-6"),
}


def session(
    standard: Any = None, limits: Any = "auto", unit: Any = PEOPLE, rows: pd.DataFrame = ROWS, **more: Any
) -> qx.Session[Any]:
    return qx.Session(
        dataset="d",
        version="1",
        tables={"t": qx.Table(rows, limits=limits, columns=COLUMNS)},
        unit=unit,
        standard=standard or qx.standard.Pure(),
        intensity=1000,
        **({"ledger": ":memory:"} | more),
    )


def chosen(program: Program) -> Any:
    assert program.climb is not None
    return program.climb


@pytest.mark.parametrize("standard", STANDARDS.values(), ids=STANDARDS)
@pytest.mark.parametrize("unit", [PEOPLE, qx.unit.Replace(key="person")], ids=["+", "↔"])
def test_the_choice_costs_a_quarter_and_the_question_the_rest(standard: Any, unit: Any) -> None:
    with session(standard, unit=unit) as opened:
        found = priced(opened._dataset.program(GROUPED), standard, Fraction(1), 0)
    climb = found.climb
    assert climb is not None
    assert all(each.spend == 1 - PRICE for each in climb.rungs)
    assert all(each.loss.spend(standard) <= 1 - PRICE for each in climb.rungs)
    mechanism: Any = climb.choice.mechanism
    assert isinstance(mechanism, LadderChoice)
    assert (mechanism.weight, mechanism.steep, mechanism.rungs) == (1, 3, 13)
    assert mechanism.loss.spend(standard) <= PRICE
    # Nothing of the price is wasted, but for roots that are rounded and orders at which a range costs less.
    assert Fraction(9, 10) < found.loss.spend(standard) <= 1


def test_several_people_weigh_as_many() -> None:
    with session(unit=qx.unit.AddRemove(key="person", group=3)) as opened:
        found = priced(opened._dataset.program(GROUPED), qx.standard.Pure(), Fraction(1), 0)
    assert found.climb is not None
    mechanism: Any = found.climb.choice.mechanism
    assert mechanism.weight == 3


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("standard", STANDARDS.values(), ids=STANDARDS)
def test_answers_replays_and_what_is_shown(standard: Any) -> None:
    with session(standard) as opened:
        first = opened.sql(GROUPED, spend=20)
        (said,) = (each for each in first.biases if "chosen privately" in each)
        rows = int(said.rstrip(".").rsplit(" ", 1)[1])
        assert rows in (5, 10, 20, 50)
        most = f"{rows} rows" if standard.norm == 1 else "that"
        assert f"People with more than {most} may be weighted down." in first.biases
        again = opened.sql("SELECT g AS h, COUNT(*) AS m, SUM(x) / m AS s FROM t GROUP BY g ORDER BY m", spend=20)
        assert (first.spent, again.spent) == (20, 0)
        assert again.biases == first.biases
        assert sorted(again["m"]) == sorted(first["n"])
        # The noise is that of the rung, and not of the highest.
        stated = opened.sql(GROUPED, spend=15, limits={"rows": rows})
        assert stated.mechanisms == first.mechanisms
        assert stated.spent == 15, "a limit that is stated is another question"


def test_what_is_stored_reads_back() -> None:
    with session() as opened:
        with opened._account.looking() as look:
            quote = quoted(opened._dataset, look, GROUPED, Price(spend=5))
        content = stored.encode(quote.priced, quote.priced.ask(opened._connect().run), injected=False)
        kept = stored.decode(stored.from_bytes(stored.to_bytes(content)))
        assert kept.noisy.rows in chosen(quote.program).rungs
        assert kept.mechanisms == quote.priced.at(kept.noisy.rows).noise
        assert kept.loss == quote.priced.loss


@pytest.mark.usefixtures("stream")
def test_the_noise_of_the_rung_is_what_is_drawn() -> None:
    """300 people with 40 rows each: rungs of 50 and above, whose Laplace noise is as wide as it is told."""
    rows = pd.DataFrame({"person": np.repeat(np.arange(300), 40), "g": "a", "x": 1, "day": ROWS.day[0]})
    with session(rows=rows) as opened, opened._account.looking() as look:
        quote = quoted(opened._dataset, look, "SELECT COUNT(*) AS n FROM t", Price(spend=1))
        answers = [quote.priced.ask(opened._connect().run) for _ in range(40)]
    assert {each.rows for each in answers} <= {50, 100, 200}
    # In units of its scale, 50/0.75 rows of 2^20 each at a rung of 50, noise is on average 1.
    sizes = [abs(int(each.measures[0][0]) / 2**20 - 12_000) / (each.rows / 0.75) for each in answers]
    assert stats.gamma(40).sf(sum(sizes)) > ALARM
    assert stats.gamma(40).cdf(sum(sizes)) > ALARM


def lengths(kept: pd.DataFrame, of: str) -> np.ndarray:
    """What is counted of everybody, by a count of ours: squares where it is a length."""
    held = kept.groupby(["person", "g"]).size()
    whole = {"rows": held, "groups": held > 0, "length": held**2}[of]
    return whole.groupby("person").sum().to_numpy()


ASKED = [
    ("SELECT g, COUNT(*) AS n FROM t{} GROUP BY g", 1, "rows"),
    ("SELECT g, COUNT(*) AS n FROM t{} GROUP BY g", 2, "length"),
    ("SELECT g, COUNT(*) AS n, COUNT(DISTINCT person) AS p FROM t{} GROUP BY g", 2, "length"),
    ("SELECT COUNT(*) AS n, SUM(x) AS s FROM t{}", 2, "rows"),
    ("SELECT g, COUNT(DISTINCT person) AS n FROM t{} GROUP BY g", 1, "groups"),
    ("SELECT g, COUNT(DISTINCT person) AS n FROM t{} GROUP BY g", 2, "groups"),
]


@pytest.mark.parametrize(("sql", "norm", "of"), ASKED)
@pytest.mark.parametrize(("where", "kept"), [("", ROWS), (" WHERE x < 10", ROWS[ROWS.x < 10])], ids=["all", "some"])
def test_the_choice_counts_everybody_once(sql: str, norm: Any, of: str, where: str, kept: pd.DataFrame) -> None:
    """Against a count of ours: after WHERE, by what the noise depends on."""
    with session() as opened:
        climb = chosen(opened._dataset.program(sql.format(where), norm))
        (found,) = opened._connect().run(climb.choice).measures[0]
    assert climb.of == of
    edges = [rung**2 for rung in climb.rungs] if of == "length" else climb.rungs
    places, counts = np.unique(np.searchsorted(edges, lengths(kept, of)), return_counts=True)
    assert found.dense() == dict(zip(places.tolist(), counts.tolist(), strict=True))


VECTORS = [(1, 0, 0), (2, 0, 0), (1, 1, 1), (0, 2, 1), (3, 4, 0), (4, 4, 4), (5, 0, 1)]


@pytest.mark.parametrize(("sql", "norm", "of"), ASKED)
def test_whoever_ends_at_a_rung_is_not_weighted_down_there(sql: str, norm: Any, of: str) -> None:
    """At the rung where somebody ends all of them counts, as at the highest, and at the one below not all."""
    for held in VECTORS:
        one = pd.DataFrame({"person": 1, "g": np.repeat(["a", "b", "c"], held), "x": 1, "day": ROWS.day[0]})
        with session(rows=one) as opened:
            engine, climb = opened._connect(), chosen(opened._dataset.program(sql.format(""), norm))
            (place,) = engine.run(climb.choice).measures[0][0].dense()
            here, whole = (totals(engine.run(each), each) for each in (climb.programs[place], climb.programs[-1]))
            assert here == whole, held
            if place:
                below = climb.programs[place - 1]
                assert totals(engine.run(below), below)[0] < whole[0], held
    assert climb.of == of


def totals(exact: Any, program: Program) -> list[Fraction]:
    """Every measure over all groups, in rows or in the data's unit."""
    return [int(each.sum()) * measure.unit for each, measure in zip(exact.measures, program.measures, strict=True)]


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("of", ["rows", "groups", "length"])
def test_somebody_with_a_row_in_each_of_many_groups(of: str) -> None:
    """400 people with one row in each of 64 groups: 64 rows, 64 groups, a length of 8."""
    rows = pd.DataFrame({"person": np.repeat(np.arange(400), 64), "g": [str(g) for g in range(64)] * 400})
    keys = {"g": {"keys": [str(g) for g in range(64)]}}
    asked, norm = {
        "rows": ("COUNT(*)", qx.standard.Pure()),
        "groups": ("COUNT(DISTINCT person)", qx.standard.Pure()),
        "length": ("COUNT(*)", qx.standard.ZCDP()),
    }[of]
    with qx.Session(
        dataset="d",
        version="1",
        tables={"t": qx.Table(rows, limits="auto", columns=keys)},
        unit=PEOPLE,
        standard=norm,
        intensity=1000,
        ledger=":memory:",
    ) as opened:
        found = opened.sql(f"SELECT g, {asked} AS n FROM t GROUP BY g", spend=50)
        (said,) = (each for each in found.biases if "chosen privately" in each)
    # A rung above is chosen once in twenty times.
    assert int(said.rstrip(".").rsplit(" ", 1)[1]) in {"rows": (100, 200), "groups": (100, 200), "length": (10, 20)}[of]


@pytest.mark.parametrize("norm", [1, 2])
def test_one_person_moves_one_count_by_one(norm: Any) -> None:
    """Neighbours through the engine: somebody with one row, with thousands, with one in each group, with none left."""
    few = ROWS[ROWS.person < 40]
    many = pd.DataFrame({"person": 999, "g": ["a", "b", "c"] * 7000, "x": 1, "day": ROWS.day[0]})
    persons = [many[:1], many[:3], many, many.assign(g="elsewhere")]
    with session(rows=few) as opened:
        climb = chosen(opened._dataset.program(GROUPED, norm))
        (before,) = opened._connect().run(climb.choice).measures[0]
    for one in persons:
        with session(rows=pd.concat([few, one])) as opened:
            (after,) = opened._connect().run(climb.choice).measures[0]
        assert before.distance(after) == 1
    with session(rows=pd.concat([few, many[:50].assign(x=40)])) as opened:
        climb = chosen(opened._dataset.program("SELECT COUNT(*) AS n FROM t WHERE x < 40"))
        (gone,) = opened._connect().run(climb.choice).measures[0]
        assert sum(gone.dense().values()) == few[few.x < 40].person.nunique()


def test_what_one_person_may_move_is_that_of_the_rung() -> None:
    with session(qx.standard.ZCDP()) as opened:
        climb = chosen(opened._dataset.program(GROUPED))
    assert climb.rungs == (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
    assert [each.measures[0].vector.bound2 for each in climb.programs] == [rung**2 for rung in climb.rungs]


def test_where_limits_do_not_matter_nothing_is_chosen() -> None:
    rolled = "SELECT AVG(CLAMP(k, 0, 20)) AS m FROM (SELECT person, COUNT(*) AS k FROM t GROUP BY person) AS q"
    with session() as opened:
        for text in ("SELECT COUNT(DISTINCT person) AS n FROM t", rolled):
            assert opened._dataset.program(text).climb is None
        assert opened._dataset.program(GROUPED, limits=qx.table.Table(ROWS, limits={"rows": 3}).limits).climb is None
    with session(unit=qx.unit.AddRemove()) as opened:
        assert opened._dataset.program(GROUPED).climb is None


def test_people_in_groups_and_one_question_alone() -> None:
    with session() as opened:
        climb = chosen(opened._dataset.program("SELECT g, COUNT(DISTINCT person) AS n FROM t GROUP BY g"))
        assert [each.measures[0].vector.bound2 for each in climb.programs][:3] == [1, 4, 9]
    with session(limits={"rows": 3}) as opened:
        assert opened._dataset.program(GROUPED).climb is None
        found = opened.sql(GROUPED, spend=5, limits="auto")
        assert any("chosen privately" in each for each in found.biases)
        short = opened.explain(GROUPED, spend=5, limits={"rows": {"auto": {"to": 30}}})  # type: ignore[dict-item]
        assert short.measures[0].startswith("how many rows of one person may count, one of 6 rungs from 1 to 30")
        assert short.errors[0].half_width is None


def test_other_limits_beside_a_length() -> None:
    """A length is not shortened by the rows in one group, but by what they come to in so many groups."""
    with session(limits={"rows": "auto", "per_group": 3}) as opened:
        climb = chosen(opened._dataset.program(GROUPED, 2))
        assert [each.measures[0].vector.bound2 for each in climb.programs[:4]] == [1, 4, 25, 27]
        climb = chosen(opened._dataset.program(GROUPED, 1))
        assert [each.measures[0].vector.bound2 for each in climb.programs[:4]] == [1, 4, 25, 81]


@pytest.mark.parametrize("name", ["groups", "per_group", "joined"])
def test_what_is_chosen_has_one_name(name: str) -> None:
    with pytest.raises(DataError, match="a number is stated of it") as caught:
        qx.Table(ROWS, limits={name: "auto"})  # type: ignore[dict-item]
    assert 'limits = "auto"' in str(caught.value)


def test_units_with_periods_links_and_joins() -> None:
    unit = qx.unit.AddRemove(key="person", per=qx.unit.Per(column="day", period="day"))
    with session(unit=unit) as opened:
        climb = chosen(opened._dataset.program("SELECT COUNT(*) AS n FROM t"))
        (found,) = opened._connect().run(climb.choice).measures[0]
        held = ROWS.groupby(["person", "day"]).size()
        assert sum(found.dense().values()) == len(held)
        assert opened.sql("SELECT COUNT(*) AS n FROM t", spend=5).spent == 5
    with session() as opened:
        joined = "SELECT COUNT(*) AS n FROM t AS a JOIN t AS b ON a.person = b.person AND a.x < b.x"
        climb = chosen(opened._dataset.program(joined))
        (found,) = opened._connect().run(climb.choice).measures[0]
        pairs = ROWS.merge(ROWS, on="person").query("x_x < x_y")
        assert sum(found.dense().values()) == pairs.person.nunique()


def test_other_ladders_are_other_questions() -> None:
    with session() as one, session(limits={"rows": {"auto": {"to": 5000}}}) as two:
        keys = []
        for opened in (one, two):
            with opened._account.looking() as look:
                keys.append(quoted(opened._dataset, look, GROUPED, Price(spend=5)).question.key)
                for limits in ({"rows": 10_000}, {"rows": 5000}):
                    own = qx.table.Table(ROWS, limits=limits).limits
                    keys.append(quoted(opened._dataset, look, GROUPED, Price(spend=5, limits=own)).question.key)
                asked = quoted(opened._dataset, look, GROUPED, Price(spend=5)).question.asked
                # How it is chosen is part of what is asked, and not only the noise at the highest rung.
                climb = json.loads(json.loads(asked)["climb"])
                assert climb["rungs"][:4] == [1, 2, 5, 10]
                assert "RollUp" in str(climb["rows"])
                assert climb["noise"][0] == "ladder-choice"
        assert len(set(keys)) == 4, "two ladders, and two limits that are the same in both sessions"


def test_what_cannot_be_asked_of_them() -> None:
    with session() as opened:
        with pytest.raises(ParameterError, match='limits are "auto"'):
            opened.sql(GROUPED, within={"n": 25})
        with pytest.raises(ParameterError, match="limits that are stated"):
            opened.limits("t", spend=1)
        with pytest.raises(ParameterError, match="what the limits lose was not measured"):
            opened.sql(GROUPED, spend=1, about="truth")
        assert opened.spent == 0
    with session(qx.standard.Approximate(delta="1e-6")) as opened, pytest.raises(ParameterError, match="uses no δ"):
        opened.sql(GROUPED, spend=1, delta="1e-7")
    short = {"rows": {"auto": {"to": 1}}}
    for wrong in ("automatic", {"rows": "much"}, {"rows": {"auto": 5}}, short, {"groups": "auto"}):
        with pytest.raises((DataError, ParameterError)):
            qx.Table(ROWS, limits=wrong)  # type: ignore[arg-type]
    with session(limits={"groups": 3}) as opened, pytest.raises(RefusalError, match="nothing bounds"):
        opened.sql(GROUPED, spend=1)


def test_every_rung_is_tried_before_it_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Program] = []
    with session() as opened:
        engine = opened._connect()
        monkeypatch.setattr(type(engine), "rehearse", lambda _, program: tried.append(program))
        opened.sql(GROUPED, spend=5)
        climb = chosen(opened._dataset.program(GROUPED))
    assert tried == [climb.choice, *climb.programs]


PLAN = """
dataset = "d"
version = "1"
ledger = "ledger.db"

[spec]
unit = { kind = "add-remove", key = "person" }
standard = { kind = "pure" }
intensity = 100

[tables.t]
source = "t.parquet"
limits = "auto"

[tables.t.columns]
g = { keys = ["a", "b", "c"] }
x = { bounds = [0, 50] }

[[release]]
name = "by_group"
sql = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
spend = 5

[[release]]
name = "few"
sql = "SELECT COUNT(*) AS n FROM t"
spend = 5
limits = { rows = 2 }
"""


def test_plans_and_commands(tmp_path: Path) -> None:
    ROWS.to_parquet(tmp_path / "t.parquet")
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(PLAN, encoding="utf-8")
    assert "one of 13 rungs from 1 to 10,000" in run_json("check", str(plan))["releases"]["by_group"]["measures"][0]
    code, _, err = run("release", str(plan), "--out", str(out))
    assert code == 0, err
    first = (out / "by_group.csv").read_text(encoding="utf-8")
    run("release", str(plan), "--out", str(out))
    assert (out / "by_group.csv").read_text(encoding="utf-8") == first
    with qx.Session.open(plan) as opened:
        assert opened.spent == 10
    found = run_json("sql", str(plan), "SELECT COUNT(*) AS n FROM t", "--spend", "5", "--limits", "rows=auto")
    again = run_json("sql", str(plan), "SELECT COUNT(*) AS n FROM t", "--spend", "5", "--limits", "auto")
    assert (again["rows"], again["spent"]) == (found["rows"], "0")
    assert "chosen privately" in str(found)
    plan.write_text(PLAN.replace('limits = "auto"', "limits = { rows = { auto = { to = 30 } } }"), encoding="utf-8")
    assert "one of 6 rungs from 1 to 30" in run_json("check", str(plan))["releases"]["by_group"]["measures"][0]
    plan.write_text(PLAN.replace('limits = "auto"', 'limits = { groups = "auto" }'), encoding="utf-8")
    assert run("check", str(plan))[0] != 0


def test_a_batch_that_is_charged_as_one_chooses_none(tmp_path: Path) -> None:
    ROWS.to_parquet(tmp_path / "t.parquet")
    plan = tmp_path / "plan.toml"
    text = PLAN.replace('standard = { kind = "pure" }', 'standard = { kind = "approximate", delta = "1e-6" }')
    plan.write_text(text.replace("limits = { rows = 2 }", 'limits = { rows = 2 }\ndelta = "1e-7"'), encoding="utf-8")
    with qx.Session.open(plan) as opened, pytest.raises(PrivacyError, match="chooses no limits"):
        opened.check()
