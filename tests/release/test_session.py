"""Sessions: the order of a question, what is free, what is refused, and that nothing exact gets out."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pytest

from quincunx import spec
from quincunx.errors import (
    BudgetError,
    HaltedError,
    ParameterError,
    PrivacyError,
    QueryError,
    RefusalError,
    RegistrationError,
    SpecificationError,
)
from quincunx.ledger import Ledger
from quincunx.release import Answer, Session, dataset
from quincunx.spec.standard import TV, ZCDP, Approximate, Pure
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table import Limits
from quincunx.table import sql as reader
from quincunx.table.table import Table
from tests.release.world import CANARY, NoEngine, session, tables, visits

BY_REGION = "SELECT region, COUNT(*) AS n, AVG(age) AS mean_age, SUM(cost) AS total FROM visits GROUP BY region"
COUNT = "SELECT COUNT(*) AS n FROM visits"


def planning() -> Session:
    """A session whose engine must not be asked."""
    asked = session()
    asked._engine = NoEngine()
    return asked


def test_an_answer_has_companions_and_says_what_it_cost() -> None:
    with session() as asked:
        answer = asked.sql(BY_REGION, spend="0.5")
        names = [f"{name}{end}" for name in ("n", "mean_age", "total") for end in ("", "_low", "_high", "_se")]
        assert [column.name for column in answer.columns] == ["region", *names]
        assert answer.keys == ("region",)
        assert answer.outputs == ("n", "mean_age", "total")
        assert answer["region"] == ("north", "south", "east", "west")
        assert [type(answer[name][0]) for name in ("n", "mean_age", "total")] == [int, float, Decimal]
        assert (answer.spent, answer.delta, answer.remaining) == (Fraction(1, 2), 0, Fraction(199, 2))
        assert asked.spent == Fraction(1, 2)
        assert asked.remaining == Fraction(199, 2)
        assert answer.loss.spend(ZCDP()) <= Fraction(1, 2)
        assert answer.specification == asked.specification
        assert any("in memory" in note for note in answer.notes)
        assert not any("injected" in note for note in answer.notes)
        for row in answer:
            assert row["n_low"] <= row["n"] <= row["n_high"]
            assert row["mean_age_low"] <= row["mean_age"] <= row["mean_age_high"]


def test_at_an_enormous_budget_the_bounded_statistics_are_exact() -> None:
    frame = visits()
    frame = frame[frame.person_id != 0]
    with session(
        intensity="1e30", tables=tables() | {"visits": Table(frame, limits={"rows": 3}, columns=COLUMNS)}
    ) as s:
        answer = s.sql(BY_REGION, spend="1e25")
    truth = frame.groupby("region").agg(n=("age", "size"), mean_age=("age", "mean"), total=("cost", "sum"))
    for row in answer.rows[:3]:
        exact = truth.loc[row["region"]]
        assert row["n"] == exact.n
        assert row["mean_age"] == pytest.approx(exact.mean_age, abs=1e-6)
        assert row["total"] == Decimal(str(exact.total)).quantize(Decimal("0.01"))
    assert answer["n"][3] == 0


COLUMNS: dict[str, Any] = {
    "region": {"keys": ["north", "south", "east", "west"]},
    "age": {"bounds": (0, 110)},
    "cost": {"bounds": (0, 100), "step": "0.01"},
}


def test_the_same_question_is_answered_from_the_ledger_for_nothing() -> None:
    with session() as asked:
        first = asked.sql(BY_REGION, spend="0.5")
        again = asked.sql(BY_REGION.lower().replace("group by region", "GROUP   BY 1 -- a comment"), spend="0.5")
        assert again.rows == first.rows
        assert again.columns == first.columns
        assert (again.spent, again.remaining, again.head) == (0, first.remaining, first.head)
        assert "Cost 0: this is the stored answer of record 3." in again.notes
        other = asked.sql(BY_REGION, spend="0.25")
        assert other.spent == Fraction(1, 4)
        assert other.rows != first.rows


def test_a_question_is_planned_once_and_forgotten_with_others(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[str] = []

    def reading(text: Any, *given: Any, **more: Any) -> Any:
        planned.append(text)
        return reader.read(text, *given, **more)

    monkeypatch.setattr(dataset, "reader", SimpleNamespace(read=reading))
    with session(intensity=100) as asked:
        asked.cost(BY_REGION, spend=1)
        asked.explain(BY_REGION, spend=1)
        first = asked.sql(BY_REGION, spend=1)
        assert planned == [BY_REGION]
        # Other limits, of the question or of the table, are another plan.
        assert str(asked.explain(BY_REGION, limits={"rows": 3})) != str(asked.explain(BY_REGION))
        limited = asked._dataset.limited("visits", Limits(rows=2))
        assert limited.program(BY_REGION).query.allowed.rows == 2
        assert len(planned) == 3
        for place in range(70):
            asked.cost(f"SELECT COUNT(*) AS n FROM visits WHERE age > {place}", spend=1)
        assert len(asked._dataset._plans) <= 64
        assert asked.sql(BY_REGION, spend=1).rows == first.rows
        for wrong in (["SELECT 1"], {}, b"SELECT 1", None, 7):
            with pytest.raises(QueryError, match="a question is a text"):
                asked.sql(wrong, spend=1)  # type: ignore[arg-type]


def test_post_processing_is_free() -> None:
    """Names, order, HAVING, LIMIT, arithmetic and tidying come after the noise."""
    with session() as asked:
        first = asked.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", spend=1)
        numbers = dict(zip(first["region"], first["n"], strict=True))
        renamed = asked.sql("SELECT COUNT(*) AS visits, region AS place FROM visits GROUP BY region", spend=1)
        ordered = asked.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region ORDER BY n DESC LIMIT 2", spend=1)
        having = asked.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region HAVING COUNT(*) > 30", spend=1)
        double = asked.sql("SELECT region, 2 * COUNT(*) + 1 AS n FROM visits GROUP BY region", spend=1)
        tidied = asked.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", spend=1, tidy=["non-negative"])
        for answer in (renamed, ordered, having, double, tidied):
            assert answer.spent == 0
        assert renamed["visits"] == first["n"]
        assert list(ordered["n"]) == sorted(first["n"], reverse=True)[:2]
        assert dict(zip(having["region"], having["n"], strict=True)) == {k: n for k, n in numbers.items() if n > 30}
        assert [2 * n + 1 for n in first["n"]] == list(double["n"])
        assert list(tidied["n"]) == [max(0, n) for n in first["n"]]
        assert asked.spent == 1


def test_an_answer_is_what_the_ledger_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process stored first: its answer is shown, not our draw."""
    with session() as asked:
        ledger = asked._account.register()
        stored: list[bytes] = []
        whole = type(ledger).store

        def store(self: Ledger, reservation: Any, content: bytes, *, injected: bool = False) -> Any:
            data = json.loads(content)
            data["measures"] = [[7 * 2**20] for _ in data["measures"]]
            stored.append(json.dumps(data).encode())
            whole(self, reservation, stored[0], injected=injected)
            return whole(self, reservation, content, injected=injected)

        monkeypatch.setattr(Ledger, "store", store)
        assert asked.sql(COUNT, spend=1).value == 7


def test_planning_reads_no_private_row() -> None:
    with planning() as asked:
        assert "No private row was read." in str(asked.explain(BY_REGION, spend=1))
        assert asked.explain(BY_REGION).cost is None
        assert asked.cost(BY_REGION, spend=1).charged == 1
        assert [error.name for error in asked.error(BY_REGION, spend=1)] == ["n", "mean_age", "total"]
        assert asked.check().covered
        assert (asked.spent, asked.remaining) == (0, 100)
        engine = asked._connect()
        assert isinstance(engine, NoEngine)
        assert engine.asked == 0
        # The engine would have been noticed.
        with pytest.raises(HaltedError):
            asked.sql(COUNT, spend=1)
        assert engine.asked == 1


def test_a_refusal_before_the_ledger_costs_nothing() -> None:
    with planning() as asked:
        for wrong, kind in (
            ("SELECT MAX(age) FROM visits", RefusalError),
            ("SELECT COUNT(*) AS n FROM nobody", QueryError),
            ("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", ParameterError),
        ):
            with pytest.raises(kind):
                asked.sql(wrong, spend=1)
        with pytest.raises(BudgetError) as caught:
            asked.sql(COUNT, spend=101)
        assert (caught.value.requested, caught.value.remaining, caught.value.affordable) == (101, 100, 100)
        assert asked.spent == 0


def test_half_widths_find_the_spend() -> None:
    with session() as asked:
        (error,) = asked.error(COUNT, within={"n": 20})
        assert error.half_width is not None
        assert error.half_width <= 20
        cost = asked.cost(COUNT, within={"N": 20})
        answer = asked.sql(COUNT, within={"n": 20})
        assert answer.spent == cost.spend
        assert answer["n_high"][0] - answer["n_low"][0] <= 40 + 1e-9
        for wrong in ({"mean": 3}, {}, {"n": 0}):
            with pytest.raises(ParameterError):
                asked.cost(COUNT, within=wrong)
        with pytest.raises(ParameterError, match="counts and sums"):
            asked.cost("SELECT 2 * COUNT(*) AS n FROM visits", within={"n": 3})
        with pytest.raises(ParameterError, match="counts and sums"):
            asked.cost("SELECT AVG(age) AS n FROM visits", within={"n": 3})


@pytest.mark.parametrize("asked", [{}, {"spend": 1, "within": {"n": 3}}])
def test_a_question_says_what_it_spends_once(asked: dict[str, Any]) -> None:
    with planning() as one, pytest.raises(ParameterError, match="what it spends"):
        one.sql(COUNT, **asked)


@pytest.mark.parametrize("spend", [0, -1, "nan", "x", True])
def test_a_spend_is_a_positive_number(spend: object) -> None:
    with planning() as one, pytest.raises(ParameterError):
        one.sql(COUNT, spend=spend)


def test_unknown_keys_need_a_delta_and_are_selected() -> None:
    question = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
    with session() as asked:
        answer = asked.sql(question, spend=20, delta="1e-7")
        assert answer.delta == Fraction(1, 10**7)
        assert answer.remaining_delta == Fraction(9, 10**7)
        assert list(answer["town"]) == sorted(answer["town"])
        assert set(answer["town"]) <= {f"town{i}" for i in range(5)}
        with pytest.raises(ParameterError, match="state its δ"):
            asked.sql(question, spend=20)
        with pytest.raises(ParameterError, match="uses no δ"):
            asked.sql(COUNT, spend=1, delta="1e-7")
    with session(standard=Pure()) as asked, pytest.raises(PrivacyError, match="unknown"):
        asked.sql(question, spend=1, delta="1e-7")


@pytest.mark.parametrize(
    ("standard", "law"),
    [
        (Pure(), "discrete Laplace"),
        (Approximate(Fraction(1, 10**6)), "discrete Laplace"),
        (ZCDP(), "discrete Gaussian"),
    ],
)
def test_the_noise_follows_the_standard(standard: Any, law: str) -> None:
    with session(standard=standard) as asked:
        answer = asked.sql(COUNT, spend=1)
        assert answer.mechanisms[0].startswith(f"n: {law} noise")
        assert answer.symbol == ("ρ" if isinstance(standard, ZCDP) else "ε")


@pytest.mark.parametrize(
    "unit",
    [
        AddRemove(key="person_id"),
        Replace(key="person_id"),
        AddRemove(key="PERSON_ID"),
        AddRemove(),
        AddRemove(key="person_id", group=3),
        AddRemove(key="person_id", per={"column": "day", "period": "month"}),
    ],
)
def test_units_of_protection(unit: Any) -> None:
    with session(unit=unit) as asked:
        assert asked.specification.unit == unit
        answer = asked.sql(COUNT, spend=1)
        assert f"protects: {unit.words()[:40]}" in str(answer)


def test_the_domain_of_several_private_tables_shares_the_person() -> None:
    people = pd.DataFrame({"person_id": [1, 2], "born": [1960, 1970]})
    both = tables() | {"people": Table(people, limits={"rows": 1}, columns={"born": {"bounds": (1900, 2030)}})}
    with session(tables=both) as asked:
        columns = dict(asked.specification.domain.to_json()["columns"][i].values() for i in range(3))  # type: ignore[index]
        assert list(columns) == ["person_id", "visits.region", "visits.age"]
        assert "people.born" in asked.specification.domain.words()
        assert asked.sql("SELECT AVG(born) AS b FROM people", spend=1).outputs == ("b",)
    texts = both | {"people": Table(people.astype({"person_id": "string"}), limits={"rows": 1})}
    with pytest.raises(SpecificationError, match="different types"):
        session(tables=texts)


@pytest.mark.usefixtures("stream")
def test_injected_keys_are_stamped_and_refused_by_a_file(tmp_path: Path) -> None:
    with session() as asked:
        answer = asked.sql(COUNT, spend=1)
        assert answer.notes[0] == "not private: injected key"
        assert "not private: injected key" in str(answer)
    with session(ledger=tmp_path / "ledger.db") as asked:
        with pytest.raises(PrivacyError, match="injected key"):
            asked.sql(COUNT, spend=1)
        assert asked.spent == 0


def test_a_ledger_is_made_by_the_first_question_and_not_by_a_look(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    with session(ledger=file) as asked:
        assert (asked.remaining, asked.spent) == (100, 0)
        asked.explain(COUNT, spend=1)
        assert not file.exists()
        asked.sql(COUNT, spend=1)
        assert file.exists()
    with session(ledger=str(file)) as asked:
        assert asked.spent == 1
        assert asked.cost(COUNT, spend=1).charged == 0
        assert asked.sql(COUNT, spend=1).spent == 0
        assert not any("in memory" in note for note in asked.notes)
    with session(ledger=file, version="2") as asked:
        assert asked.cost(COUNT, spend=1).charged == 1
        assert asked.spent == 1


def test_a_plan_that_differs_from_the_registered_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    with session(ledger=file) as asked:
        asked.sql(COUNT, spend=1)
    for change in ({"intensity": "200"}, {"unit": Replace(key="person_id")}, {"standard": ZCDP()}):
        with session(ledger=file, **change) as asked:
            with pytest.raises(RegistrationError, match="differs"):
                asked.sql(COUNT, spend=1)
            with pytest.raises(RegistrationError):
                _ = asked.remaining


def test_budgets_of_plan_and_analyst(tmp_path: Path) -> None:
    given: dict[str, Any] = {"ledger": tmp_path / "l.db", "budgets": {"plan": 5, "analysts": {"alice": 2, "bob": 4}}}
    with session(**given, analyst="alice") as alice:
        assert alice.remaining == 2
        alice.sql(COUNT, spend=2)
        with pytest.raises(BudgetError) as caught:
            alice.sql(BY_REGION, spend=1)
        assert caught.value.budget == "analyst"
        assert alice.remaining == 0
    with session(**given, analyst="bob") as bob:
        # What alice paid for costs the dataset nothing more, but bob is charged.
        answer = bob.sql(COUNT, spend=2)
        assert (answer.spent, bob.spent, bob.remaining) == (0, 2, 2)
        assert "bob is charged ρ = 2, the dataset nothing." in answer.notes
    with session(**given, analyst="carol") as carol, pytest.raises(BudgetError):
        carol.sql(COUNT, spend=2)
    with session(**given) as nobody, pytest.raises(PrivacyError, match="says who asks"):
        nobody.sql(COUNT, spend=2)
    with session(**given, analyst="curator") as curator:
        assert curator.remaining == 3
        with pytest.raises(BudgetError) as caught:
            curator.sql(COUNT, spend=4)
        assert caught.value.budget == "plan"


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"invariants": ["total"]}, RefusalError, "one SELECT"),
        ({"ledger": None}, ParameterError, "a ledger is needed"),
        ({"unit": None}, SpecificationError, "unit of protection"),
        ({"standard": TV()}, SpecificationError, "no budget is kept"),
        ({"standard": "zcdp"}, SpecificationError, "no budget is kept"),
        ({"confidence": 1}, ParameterError, "between 0 and 1"),
        ({"confidence": "95"}, ParameterError, "probability"),
        ({"dataset": ""}, ParameterError, "name"),
        ({"intensity": "-1"}, ValueError, "0 or greater"),
        ({"tables": {"visits": visits()}}, ParameterError, "tables"),
        ({"tables": 3}, ParameterError, "tables"),
        ({"budgets": {"plans": 3}}, ParameterError, "budgets"),
        ({"unit": AddRemove(key="nobody")}, SpecificationError, "nobody"),
    ],
)
def test_bad_arguments(change: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        session(**change)


def test_confidence_is_post_processing() -> None:
    with session(confidence="0.5") as asked:
        narrow = asked.sql(COUNT, spend=1)
        asked._dataset = replace(asked._dataset, confidence=Fraction(999, 1000))
        wide = asked.sql(COUNT, spend=1)
        assert wide.spent == 0
        assert wide.value == narrow.value
        assert wide["n_low"][0] < narrow["n_low"][0] <= narrow["n_high"][0] < wide["n_high"][0]


def test_the_frame_is_of_the_kind_of_the_first_private_table() -> None:
    with session() as asked:
        assert isinstance(asked.sql(BY_REGION, spend=1).frame, pd.DataFrame)
    polars = {"visits": Table(pl.from_pandas(visits()), limits={"rows": 10}, columns=COLUMNS)}
    with session(tables=polars) as asked:
        answer = asked.sql(BY_REGION, spend=1)
        assert isinstance(answer.frame, pl.DataFrame)
        assert pl.DataFrame(answer).rows() == answer.to_polars().rows()


def test_no_value_of_the_data_is_ever_shown() -> None:
    with session() as asked, warnings.catch_warnings(record=True) as caught:
        shown = [str(asked.sql(BY_REGION, spend=1)), str(asked.explain(BY_REGION, spend=1)), repr(asked)]
        shown += [str(warning.message) for warning in caught]
        for wrong in (
            "SELECT note, COUNT(*) AS n FROM visits GROUP BY note",
            "SELECT SUM(CAST(note AS INT)) FROM visits",
        ):
            with pytest.raises((PrivacyError, ValueError)) as error:
                asked.sql(wrong, spend=1)
            shown.append(str(error.value))
    assert not any(CANARY in text for text in shown)


def test_typed_keys_are_published_as_they_are() -> None:
    frame = visits()
    days = [date(2024, 1, 5), date(2024, 1, 6)]
    columns: dict[str, Any] = {"day": {"type": "date", "keys": days}, "age": {"bounds": (0, 110), "keys": [20, 21]}}
    with session(tables={"visits": Table(frame, limits={"rows": 10, "groups": 4}, columns=columns)}) as asked:
        answer = asked.sql(
            "SELECT day, age, age > 20 AS old, COUNT(*) AS n FROM visits GROUP BY day, age, old", spend=1
        )
        assert answer.keys == ("day", "age", "old")
        assert set(answer["day"]) == set(days)
        assert {type(value) for value in answer["old"]} <= {bool, type(None)}
        assert answer.to_dict()["rows"][0]["day"] == "2024-01-05"


def test_sessions_are_printed_without_their_data() -> None:
    with session() as asked:
        assert repr(asked) == "<Session: visits, version 1, ρ = 100, δ = 1e-6>"
        assert asked.dataset == "visits"
        assert isinstance(asked.specification, spec.Specification)
        assert isinstance(asked.sql(COUNT, spend=1), Answer)


def test_the_first_question_in_a_ledger_is_said_aloud(tmp_path: Path) -> None:
    question = "SELECT COUNT(*) AS n FROM visits"
    said = "The first question about visits in this ledger, which now gives it ρ = 100, δ = 1e-6 in all."
    with session(ledger=tmp_path / "ledger.db") as first:
        assert said not in first.notes
        assert said in first.sql(question, spend="1/100").notes
        # It belongs to that question only, not to the session.
        assert said not in first.sql(question, spend="1/100").notes
        assert said not in first.sql(question, spend="1/200").notes
        assert said not in first.notes
    with session(ledger=tmp_path / "ledger.db") as later:
        assert said not in later.sql(question, spend="1/50").notes
    with session(ledger=tmp_path / "leger.db") as mistyped:
        assert said in mistyped.sql(question, spend="1/50").notes


class TestDeltaOfPublicKeys:
    QUESTION = "SELECT region, COUNT(DISTINCT person_id) AS n FROM visits GROUP BY region"
    MANY = "SELECT age, COUNT(*) AS n FROM visits GROUP BY age"

    def test_it_is_charged_where_it_lowers_the_error(self) -> None:
        limits = tables(rows=40, per_group=1)
        with session(tables=limits, standard=Approximate(delta="1e-5"), intensity=10) as asked:
            plain = asked.error(self.MANY, spend=1)[0].se
            (error,) = asked.error(self.MANY, spend=1, delta="1e-6")
            assert error.se is not None
            assert plain is not None
            assert error.se < plain / 1.5
            answer = asked.sql(self.MANY, spend=1, delta="1e-6")
            assert (answer.spent, answer.delta) == (1, Fraction(1, 10**6))
            assert answer.remaining_delta == Fraction(9, 10**6)
            assert "Gaussian" in answer.mechanisms[0]
            assert float(answer.loss.delta(1)) <= 1e-6
            assert asked.sql(self.MANY, spend=1, delta="1e-6").spent == 0

    def test_it_is_not_charged_where_it_does_not(self) -> None:
        with session(standard=Approximate(delta="1e-5"), intensity=10) as asked:
            answer = asked.sql(self.QUESTION, spend=1, delta="1e-6")
            assert (answer.spent, answer.delta) == (1, 0)
            assert "No δ was used: it would not lower the error." in answer.notes
            # It is the question without δ, which was paid for.
            assert asked.sql(self.QUESTION, spend=1).spent == 0


class TestNotNull:
    def test_count_and_mean_share_where_the_column_is_declared_not_null(self) -> None:
        question = "SELECT COUNT(*) AS n, AVG(age) AS m FROM visits"
        frame = visits()
        declared = {"age": {"bounds": (0, 110), "null": False}}
        with session() as apart:
            explained = apart.explain(question)
            assert len(explained.measures) == 3
            assert explained.sharing == (
                "Fewer numbers would be measured if age were declared not NULL (null = false).",
            )
            assert explained.sharing[0] in str(explained)
        given = {"visits": Table(frame, limits={"rows": 10}, columns=declared)}
        with session(tables=given) as together:
            explained = together.explain(question)
            assert len(explained.measures) == 2
            assert explained.sharing == ()
            assert "Rows without age are left out." in explained.biases

    def test_a_row_without_the_value_is_counted_nowhere(self) -> None:
        frame = visits().astype({"age": "Int64"})
        frame.loc[frame.index[:60], "age"] = None
        exact = {}
        for null in (True, False):
            given = {"visits": Table(frame, limits={"rows": 40}, columns={"age": {"bounds": (0, 110), "null": null}})}
            with session(tables=given) as asked:
                programs = [
                    asked._dataset.program(f"SELECT {each} AS n FROM visits") for each in ("COUNT(*)", "COUNT(day)")
                ]
                exact[null] = [int(asked._connect().run(each).measures[0][0]) >> 20 for each in programs]
        assert exact == {True: [217, 217], False: [157, 157]}

    def test_expressions_of_it_share_too(self) -> None:
        question = "SELECT COUNT(*) AS n, AVG(age * age) - AVG(age) * AVG(age) AS v FROM visits"
        with session() as asked:
            assert len(asked.explain(question).measures) == 5
            assert len(asked.explain(question).sharing) == 1


def test_whole_numbers_with_unknown_keys_are_told_how_to_have_public_ones() -> None:
    """And what is told works: visits for each person, and how they are distributed."""
    of = "FROM (SELECT person_id, COUNT(*) AS visits FROM visits GROUP BY person_id) AS each GROUP BY"
    with session(standard=ZCDP()) as asked:
        with pytest.raises(PrivacyError, match=r"CLAMP\(visits, 0, 20\)"):
            asked.sql(f"SELECT visits, COUNT(*) AS n {of} visits", spend="1/10")
        told = asked.sql(f"SELECT CLAMP(visits, 0, 20) AS v, COUNT(*) AS n {of} CLAMP(visits, 0, 20)", spend="1/10")
    assert [*told.columns[0].values] == [*range(21)]
