"""A caller as the type checker sees it: never run. Lines that must be errors carry a `type: ignore` with their code.

mypy reads this file with the sources (pyproject.toml) and reports every ignore that silences nothing, so a line that
ceases to be an error is an error, like a good line that becomes one.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, assert_type

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

import quincunx as qx
from quincunx import meaning, mechanisms, noise
from quincunx.ledger import Ledger, Question
from quincunx.loss import Filter, Loss
from quincunx.release import Answer, Session


def declared(frame: pl.DataFrame) -> Session[pl.DataFrame]:
    table = qx.Table(frame, limits={"rows": 20}, columns={"age": {"bounds": (0, 110), "step": "0.5"}})
    session = Session(
        dataset="visits",
        version="1",
        ledger=":memory:",
        tables={"visits": table},
        unit=qx.unit.AddRemove(key="person_id", group=2),
        standard=qx.standard.Approximate(delta="1e-9"),
        intensity="1/2",
        budgets={"plan": "1/4", "analysts": {"alice": 0.1}},
        invariants=["SELECT COUNT(*) AS n FROM visits", {"name": "n", "sql": "SELECT 1"}],
    )
    assert_type(qx.Table("visits.csv", separator=";"), qx.Table[duckdb.DuckDBPyRelation])
    assert_type(qx.Table(frame.lazy()), qx.Table[pl.DataFrame])
    assert_type(qx.Table("regions.csv", public=True), qx.Table[Any])
    qx.Table(object())  # type: ignore[call-overload]
    Session(dataset="visits")  # type: ignore[call-arg]
    qx.standard.ZCDP(delta=object())  # type: ignore[arg-type]
    qx.standard.Renyi(alpha=None)  # type: ignore[arg-type]
    return session


def answered(session: Session[pl.DataFrame]) -> None:
    """An answer comes in the kind of frame that the table came in; without a kind it may be any."""
    assert_type(session.sql("SELECT 1", spend=1).frame, pl.DataFrame)
    assert_type(session.invariants()["n"].frame, pl.DataFrame)
    assert_type(Session.open("plan.toml").sql("SELECT 1", spend=1).frame, duckdb.DuckDBPyRelation)
    session.sql("SELECT 1", spend=1).frame.df()  # type: ignore[attr-defined]


def asked(session: Session) -> None:
    for spend in (1, 0.05, "1/20", Fraction(1, 20), Decimal("0.05"), np.float64(0.05), np.int64(1)):
        assert_type(session.sql("SELECT 1", spend=spend, delta="1e-9"), Answer)
    session.explain("SELECT 1", within={"n": 25}, group_size=10)
    assert_type(session.remaining, Fraction)
    session.sql("SELECT 1", spend=object())  # type: ignore[arg-type]
    session.sql("SELECT 1", spend=[1])  # type: ignore[arg-type]
    session.sql(b"SELECT 1", spend=1)  # type: ignore[arg-type]
    session.cost("SELECT 1", within={"n": None})  # type: ignore[dict-item]
    session.error("SELECT 1", delta=object())  # type: ignore[arg-type]


def drawn() -> None:
    law = mechanisms.Laplace(scale=20, sensitivity="1/2")
    assert_type(law.sample(3), int)
    assert_type(law.sample([3, 4]), NDArray[np.int64])
    assert_type(law.sample(np.array([3, 4])), NDArray[np.int64])
    assert_type(mechanisms.PartitionSelection(epsilon=1, delta="1e-9").sample(12), bool)
    assert_type(noise.discrete_laplace(2), int)
    assert_type(noise.discrete_gaussian(sigma2=2, size=(2, 3)), NDArray[np.int64])
    assert_type(noise.bernoulli("1/3", 5), NDArray[np.bool_])
    mechanisms.Gaussian(sigma=object())  # type: ignore[arg-type]
    mechanisms.Laplace.calibrate(epsilon={})  # type: ignore[arg-type]
    law.sample(object())  # type: ignore[call-overload]
    noise.geometric(scale=None)  # type: ignore[call-overload]


def accounted(loss: Loss, ledger: Ledger, specification: qx.Specification) -> None:
    loss.epsilon_bounds(1e-6)
    loss.epsilon(object())  # type: ignore[arg-type]
    Filter(qx.standard.ZCDP(), "1/2").admit(loss, delta="1e-9")
    meaning.posterior_bounds("1/2", specification)
    meaning.posterior_bounds(object(), specification)  # type: ignore[arg-type]
    asked = Question(dataset="visits", version="1", specification=specification, cost="1/20", asked={"sql": "SELECT 1"})
    assert_type(ledger.reserve(asked).charged, Fraction)
    ledger.add("visits", cost=object(), note="by hand")  # type: ignore[arg-type]
    ledger.reserve("SELECT 1")  # type: ignore[arg-type]
