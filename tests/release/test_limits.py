"""The limits report: right on a world that is known, private on neighbours, and the truth inside its intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import quincunx as qx
from quincunx.errors import BudgetError, ParameterError
from quincunx.numbers import stated
from quincunx.release.limits import KINDS, chosen_columns, count_text, ladder, questions
from quincunx.table import Limits
from tests.release import world

GROUPS = 5


def people(seed: int, count: int, heavy: int) -> pd.DataFrame:
    """Rows of people in five public groups and one that is not; the last has very many."""
    chance = np.random.default_rng(seed)
    sizes = np.append(chance.integers(1, 9, count - 1), heavy)
    owners = np.repeat(np.arange(count), sizes)
    return pd.DataFrame({"person_id": owners, "grp": chance.integers(0, GROUPS + 1, len(owners))})


def session(frame: pd.DataFrame, standard: Any, **limits: int) -> qx.Session:
    declared = {"grp": {"keys": list(range(GROUPS))}}
    return qx.Session(
        dataset="d", version="1", ledger=":memory:", unit=qx.unit.AddRemove(key="person_id"), standard=standard,
        intensity=10**6, tables={"visits": qx.Table(frame, limits=limits, columns=declared)},
    )  # fmt: skip


@pytest.mark.parametrize("standard", [qx.standard.Pure(), qx.standard.ZCDP()], ids=["pure", "zcdp"])
def test_it_says_what_is_so(standard: Any) -> None:
    """At a spend that leaves almost no noise, against pandas."""
    frame = people(3, 60, 40)
    with session(frame, standard, rows=6, groups=3, per_group=4) as given:
        report = given.limits("visits", by=["grp"], spend=400_000, beyond=100)
        kept = frame[frame.grp < GROUPS]
        counts = kept.groupby("person_id").size()
        for kind, series in {
            "rows": counts,
            "groups": kept.groupby("person_id").grp.nunique(),
            "per_group": kept.groupby(["person_id", "grp"]).size().groupby("person_id").max(),
        }.items():
            rungs = [0, *ladder(Limits(rows=6, groups=3, per_group=4), kind)]
            expected = dict(pd.cut(series, [*rungs, math.inf], labels=[*rungs[1:], 0]).value_counts())
            found = dict(zip(report.people[kind]["rung"], report.people[kind]["people"], strict=True))
            assert found == {rung: expected[rung] for rung in found}, kind
        assert report.over("rows", 6) == pytest.approx((counts > 6).mean(), abs=1e-3)
        cells = kept.groupby(["person_id", "grp"]).size().unstack(fill_value=0)
        vector = given._dataset.program("SELECT COUNT(*) AS n FROM visits GROUP BY grp").measures[0].vector
        norms = cells.sum(axis=1) if vector.norm == 1 else (cells**2).sum(axis=1) ** 0.5
        weights = np.minimum(1, math.sqrt(vector.bound2) / norms)
        lost = ((1 - weights).to_numpy()[:, None] * cells.to_numpy()).sum(axis=0)
        # Six standard errors of the noise, whose false-alarm rate is below 1e-7, and the steps of the root.
        near = 6 * report.lost["lost_se"][0] + 0.05
        assert [float(each) for each in report.lost["lost"]] == pytest.approx(lost.tolist(), abs=near)


@pytest.mark.parametrize("standard", [qx.standard.Pure(), qx.standard.ZCDP()], ids=["pure", "zcdp"])
@pytest.mark.parametrize("heavy", [1, 30, 1000])
def test_neighbours(standard: Any, heavy: int) -> None:
    """Exact numbers before noise, with and without each of some people: never farther apart than is paid for."""
    frame = people(heavy, 9, heavy)
    limits = {"rows": 5, "groups": 2, "per_group": 3}
    gone = [frame, *(frame[frame.person_id != person] for person in (0, 3, 8))]
    found = []
    for each in gone:
        with session(each, standard, **limits) as given:
            dataset = given._dataset
            table = dataset.schema.tables["visits"]
            by = chosen_columns(table, None)
            counted = dataset.program(count_text(table, by))
            asked = questions(table, "person_id", by, counted, 20)
            programs = [dataset.limited("visits", one.limits).program(one.sql) for one in asked]
            found.append([(p.measures[0], given._connect().run(p).measures[0]) for p in programs])
    assert len(found[0]) == 4
    attained = 0.0
    for other in found[1:]:
        for (measure, one), (_, two) in zip(found[0], other, strict=True):
            moved = np.abs(one.astype(float) - two.astype(float))
            distance = moved.sum() if measure.vector.norm == 1 else math.sqrt((moved**2).sum())
            assert distance <= math.sqrt(measure.sensitivity2) * (1 + 1e-12)
            attained = max(attained, distance / math.sqrt(measure.sensitivity2))
    assert attained == 1.0, "a histogram moves by exactly one person"


def test_a_person_costs_one_in_each_histogram() -> None:
    for unit, cost2 in ((qx.unit.AddRemove(key="person_id"), 1), (qx.unit.Replace(key="person_id"), 2)):
        with world.session(unit=unit) as given:
            dataset = given._dataset
            table = dataset.schema.tables["visits"]
            by = chosen_columns(table, "region")
            for one in questions(table, "person_id", by, dataset.program(count_text(table, by)), 40)[:3]:
                (measure,) = dataset.limited("visits", one.limits).program(one.sql).measures
                assert measure.sensitivity2 / 4**measure.fraction == cost2


def test_it_is_stored_and_paid_once() -> None:
    with world.session() as given:
        first = given.limits("visits", by="region", spend=4)
        assert first.spent == given.spent == 4
        again = given.limits("visits", by="region", spend=4)
        assert (again.spent, given.spent) == (0, 4)
        assert again.lost["lost"] == first.lost["lost"]
        assert stated("ρ", first.spent) in str(first)
        assert set(first.to_dict()) >= {"people", "lost", "recommended", "costs"}
        assert first.chart().svg.startswith("<svg")
        assert set(first.recommended) == set(KINDS)


def test_all_of_it_or_nothing() -> None:
    with world.session(intensity=10) as given:
        with pytest.raises(BudgetError, match="does not cover the report"):
            given.limits("visits", by="region", spend=11)
        assert given.spent == 0


def test_bias_beside_the_count() -> None:
    with world.session() as given:
        plain = given.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", spend=1)
        with pytest.raises(ParameterError, match="not measured"):
            given.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", spend=1, about="truth")
        with pytest.raises(ParameterError, match="one of two"):
            given.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", spend=1, about="x")  # type: ignore[arg-type]
        report = given.limits("visits", by="region", spend=4)
        beside = given.sql("SELECT COUNT(*) AS n, region FROM visits GROUP BY region ORDER BY n", spend=1)
        lost = dict(zip(report.lost["region"], report.lost["lost"], strict=True))
        assert beside["n_bias"] == tuple(-float(lost[region]) for region in beside["region"])
        ends = (beside[f"n_bias{end}"] for end in ("_low", "", "_high"))
        assert all(low <= bias <= high for low, bias, high in zip(*ends, strict=True))
        truth = given.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", spend=1, about="truth")
        assert truth["n"] == plain["n"]
        assert "95 %, bounded count" in str(plain).splitlines()[0]
        assert "95 %, true count" in str(truth).splitlines()[0]
        assert all(t <= b for t, b in zip(truth["n_low"], plain["n_low"], strict=True))
        assert all(t >= b for t, b in zip(truth["n_high"], plain["n_high"], strict=True))
        for sql in (
            "SELECT region, COUNT(*) AS n FROM visits WHERE age > 3 GROUP BY region",
            "SELECT COUNT(*) AS n FROM visits",
            "SELECT region, SUM(age) AS n FROM visits GROUP BY region",
            "SELECT town, COUNT(*) AS n FROM visits GROUP BY town",
        ):
            with pytest.raises(ParameterError, match="not measured"):
                given.sql(sql, spend=1, delta="1e-7" if "town" in sql else None, about="truth")


def generated(seed: int) -> pd.DataFrame:
    """3,000 people, about 73,000 rows, 14 groups; most of a person's rows in one of them."""
    chance = np.random.default_rng(seed)
    sizes = chance.lognormal(0, 1.2, 3000)
    counts = np.maximum(1, np.rint(sizes / sizes.sum() * 73_000)).astype(int)
    owners = np.repeat(np.arange(3000), counts)
    home, away = chance.integers(0, 14, 3000)[owners], chance.integers(0, 14, len(owners))
    return pd.DataFrame({"person_id": owners, "grp": np.where(chance.random(len(owners)) < 0.6, home, away)})


@pytest.mark.usefixtures("stream")
def test_the_truth_is_inside(full: bool) -> None:
    """Limits rows 60, groups 8, per_group 8: intervals about the bounded count hold the true one almost never, those
    about the truth in at least 93 % of cells. Injected keys, so that there is no false alarm; 20 tables in full."""
    held, before = [], []
    limits, columns = {"rows": 60, "groups": 8, "per_group": 8}, {"grp": {"keys": list(range(14))}}
    for seed in range(20 if full else 1):
        frame = generated(seed)
        exact = frame.groupby("grp").size()
        for standard in (qx.standard.Pure(), qx.standard.ZCDP()):
            with qx.Session(
                dataset="d", version="1", ledger=":memory:", unit=qx.unit.AddRemove(key="person_id"),
                standard=standard, intensity=100, tables={"visits": qx.Table(frame, limits=limits, columns=columns)},
            ) as given:  # fmt: skip
                sql = "SELECT grp, COUNT(*) AS n FROM visits GROUP BY grp"
                plain = given.sql(sql, spend=1)
                given.limits("visits", by="grp", spend=4, beyond=400)
                truth = given.sql(sql, spend=1, about="truth")
                for into, answer in ((before, plain), (held, truth)):
                    into += [row["n_low"] <= exact[row["grp"]] <= row["n_high"] for row in answer]
    assert np.mean(before) < 0.1
    assert np.mean(held) >= 0.93


@pytest.mark.parametrize(
    ("changes", "arguments", "said"),
    [
        ({}, {"table": "regions"}, "private table"),
        ({}, {"table": "nothing"}, "private table"),
        ({}, {"by": "cost"}, "public keys"),
        ({}, {"by": 3}, "public keys"),
        ({}, {"beyond": 0}, "whole number"),
        ({}, {"spend": "0"}, "greater than 0"),
        ({"unit": qx.unit.AddRemove()}, {}, "about people"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], arguments: dict[str, Any], said: str) -> None:
    with world.session(**changes) as given:
        with pytest.raises(ParameterError, match=said):
            given.limits(**{"table": "visits", "spend": 1, **arguments})
        assert given.spent == 0
