"""Ladders from SQL to exact integers: their rungs, their own weights, clips inside the argument alone, the budget."""

from collections import Counter
from fractions import Fraction
from math import floor, isqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest

import quincunx as qx
from quincunx.errors import DataError, QueryError, RefusalError
from quincunx.table.schema import Auto

RNG = np.random.default_rng(11)
COUNT = 700
SIZES = np.where(
    RNG.random(COUNT) < 0.1, np.nan, np.round(RNG.lognormal(2, 2, COUNT) * RNG.choice([1, 1, -1], COUNT), 1)
)
ROWS = pd.DataFrame(
    {
        "person": RNG.integers(0, 90, COUNT),
        "g": RNG.choice(list("abcz"), COUNT),
        "x": np.where(RNG.random(COUNT) < 0.03, np.inf, SIZES),
        "f": RNG.random(COUNT) < 0.7,
    }
)
LADDER = {"from": 1, "to": 50}


def session(
    frame: pd.DataFrame = ROWS, auto: Any = LADDER, unit: Any = None, limits: Any = None, **more: Any
) -> qx.Session[Any]:
    bounds = auto if isinstance(auto, str) else {"auto": auto}
    columns = {"x": {"bounds": bounds, "step": "0.1"}, "g": {"keys": ["a", "b", "c"]}}
    return qx.Session(
        dataset="d",
        version="1",
        tables={"t": qx.Table(frame, limits=limits or {"rows": 5}, columns=columns)},
        unit=unit or qx.unit.AddRemove(key="person"),
        standard=qx.standard.Pure(),
        intensity=1000,
        ledger=":memory:",
        **more,
    )


def brute(norm: int, grouped: bool, negative: bool, where: bool, centred: bool) -> dict[str, list[int]]:
    """The weight at every rung and the sum at every rung, by the definitions of measure.md."""
    rungs = [10, 20, 50, 100, 200, 500]
    found: dict[str, list[int]] = {key: [0] * 12 for key in ("abc" if grouped else " ")}
    rows = ROWS[ROWS.g.isin(list("abc"))] if grouped else ROWS
    for _, own in rows.groupby("person"):
        v = own.groupby("g").size().to_numpy() if grouped else np.array([len(own)])
        weight = (5 << 20) // int(v.sum()) if norm == 1 else isqrt((25 << 40) // int((v**2).sum()))
        values = [
            (row.g if grouped else " ", floor(min(max(row.x, -50), 50) * 10 + 0.5))
            for row in own.itertuples()
            if np.isfinite(row.x) and (row.f or not where)
        ]
        climbing = (5 << 20) // len(values) if values else 0
        for key, steps in values:
            size = abs(steps) if negative else max(steps, 0)
            found[key][next(i for i, rung in enumerate(rungs) if size <= rung)] += min(climbing, 1 << 20)
            for i, rung in enumerate(rungs):
                low = -rung if negative else 0
                value = min(max(steps, low), rung) - ((low + rung) // 2 if centred else 0)
                fraction = min(
                    max(32 - (5 * max(abs(low), rung) // (2 if centred and not negative else 1)).bit_length(), 0), 20
                )
                share = abs(value) * min(weight, 1 << 20) >> (20 - fraction)
                found[key][6 + i] += share if value > 0 else -share
    return found


@pytest.mark.parametrize(
    ("norm", "grouped", "negative", "snapshot"),
    [(1, False, False, False), (2, True, True, False), (2, True, False, True), (1, True, True, True)],
    ids=["all", "ℓ2 by key, both sides", "ℓ2 by key, snapshot", "by key, both sides, snapshot"],
)
def test_the_engine_weighs_every_rung_and_sums_at_each(
    norm: Any, grouped: bool, negative: bool, snapshot: bool
) -> None:
    group = (" g,", " GROUP BY g") if grouped else ("", "")
    for called, where, centred in (("SUM", False, False), ("SUM", True, False), ("AVG", False, True)):
        only = " FILTER (WHERE f)" if where else ""
        asked = f"SELECT{group[0]} {called}(x){only} AS s, COUNT(*) AS n FROM t{group[1]}"
        with session(auto={**LADDER, "negative": negative}, snapshot=snapshot) as opened:
            program = opened._dataset.program(asked, norm)
            result = opened._connect().run(program)
        keys = [str(key[0]) if grouped else " " for key in result.keys]
        found = dict(zip(keys, result.measures[0].tolist(), strict=True))
        assert found == brute(norm, grouped, negative, where, centred)


def everywhere(groups: int) -> pd.DataFrame:
    """One person with a high value in each of so many groups, among many with low ones."""
    one = [(0, str(g), 1000.0) for g in range(groups)]
    others = [(1 + p, str(p % groups), 1.0) for p in range(50)]
    return pd.DataFrame(one + others, columns=["person", "g", "x"])


@pytest.mark.parametrize(
    "unit", [qx.unit.AddRemove(key="person"), qx.unit.Replace(key="person")], ids=["add", "replace"]
)
def test_somebody_with_one_row_in_each_of_a_hundred_groups_weighs_no_more_than_c(unit: Any) -> None:
    """In ℓ2 the weights of the sum let them count in full everywhere: ten times C on the ladder."""
    frame, keys = everywhere(100), [str(g) for g in range(100)]
    with qx.Session(
        dataset="d",
        version="1",
        tables={"t": qx.Table(frame, limits={"rows": 10}, columns={"x": {"bounds": "auto"}, "g": {"keys": keys}})},
        unit=unit,
        standard=qx.standard.ZCDP(),
        intensity=1,
        ledger=":memory:",
    ) as opened:
        program = opened._dataset.program("SELECT g, SUM(x) AS s FROM t GROUP BY g")
        (measure,) = program.measures
        assert measure.ladder is not None
        exact = opened._connect().run(program).measures[0]
        rungs = len(measure.ladder.rungs)
        high = int(exact[:, 1:rungs].sum())
        # The sum lets them count in full: √100 = 10 = C.
        assert exact[0, rungs + 9] >= 1000 / measure.sums[9].unit
    assert 0 < high <= measure.ladder.weight == 10 << 20
    assert measure.ladder.vector.norm == 1
    assert measure.vector.norm == 2


@pytest.mark.parametrize(
    ("unit", "limits", "weight"),
    [
        (qx.unit.AddRemove(key="person"), {"rows": 7}, 7 << 20),
        (qx.unit.Replace(key="person"), {"rows": 7}, 7 << 20),
        (qx.unit.AddRemove(key="person", group=3), {"rows": 7}, 21 << 20),
        (qx.unit.AddRemove(key="person"), {"groups": 2, "per_group": 3}, 6 << 20),
        (qx.unit.AddRemove(), {}, 1),
        (qx.unit.Replace(), {}, 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("norm", [1, 2])
def test_what_those_who_change_may_weigh(unit: Any, limits: Any, weight: int, norm: Any) -> None:
    """C₁ = rows whatever the noise, times people; replace costs no more than coming and going."""
    with session(unit=unit, limits=limits or None) as opened:
        (measure,) = opened._dataset.program("SELECT g, SUM(x) AS s FROM t GROUP BY g", norm).measures
    assert measure.ladder is not None
    assert (measure.ladder.weight, measure.ladder.vector.norm) == (weight, 1)
    assert measure.ladder.vector.kind == "rows"


def test_values_are_clipped_inside_the_argument_alone() -> None:
    """Conditions and keys see them as they are, beyond every rung."""
    frame = pd.DataFrame({"person": range(40), "g": ["a"] * 40, "x": [1e6] * 10 + [3.0] * 30})
    with session(frame) as opened:
        above = opened._dataset.program("SELECT SUM(x) AS s, COUNT(*) AS n FROM t WHERE x > 60")
        exact = opened._connect().run(above)
        assert (int(exact.measures[1][0]) >> 20, exact.measures[0][0, :6].tolist()) == (10, [0, 0, 0, 0, 0, 10 << 20])
        case = opened._dataset.program("SELECT SUM(CASE WHEN x > 60 THEN 2 * x ELSE 0 END) AS s FROM t")
        exact = opened._connect().run(case)
        assert exact.measures[0][0, :6].tolist() == [30 << 20, 0, 0, 0, 0, 10 << 20]


def test_the_rungs_are_one_two_five_between_the_ends() -> None:
    assert Auto(first=Fraction(1), last=Fraction(100)).rungs == tuple(map(Fraction, (1, 2, 5, 10, 20, 50, 100)))
    assert Auto(first=Fraction(3), last=Fraction(70)).rungs == tuple(map(Fraction, (3, 5, 10, 20, 50, 70)))
    assert Auto(first=Fraction("0.04"), last=Fraction(1)).rungs == tuple(
        map(Fraction, ("0.04", "0.05", "0.1", "0.2", "0.5", "1"))
    )
    assert len(Auto(first=Fraction(1), last=Fraction(10**9)).rungs) == 28


@pytest.mark.parametrize(
    ("declared", "first", "last", "steps"),
    [
        ({"bounds": "auto", "type": "integer"}, 1, 10**9, 1),
        ({"bounds": "auto", "type": "integer", "step": 100}, 100, 10**11, 100),
        ({"bounds": "auto", "type": "decimal", "step": "0.01"}, "0.01", 10**9, "0.01"),
        ({"bounds": "auto", "type": "decimal"}, 1, 10**9, "0.001"),
        ({"bounds": {"auto": {"from": "0.5"}}, "type": "decimal"}, "0.5", 10**9, "0.0001"),
        ({"bounds": {"auto": {"to": "1e4"}}, "type": "decimal"}, 1, 10**4, "0.001"),
        ({"bounds": {"auto": {}}, "type": "decimal"}, 1, 10**9, "0.001"),
    ],
    ids=str,
)
def test_what_is_not_said_of_a_ladder_follows_from_the_step(
    declared: dict[str, Any], first: Any, last: Any, steps: Any
) -> None:
    frame = pd.DataFrame({"person": [1], "x": [1]})
    table = qx.Table(frame, limits={"rows": 1}, columns={"x": declared})
    (column,) = [each for each in table.schema("t", {}).columns if each.name == "x"]
    assert column.auto == Auto(first=Fraction(first), last=Fraction(last))
    with qx.Session(
        dataset="d", version="1", tables={"t": table}, unit=qx.unit.AddRemove(key="person"),
        standard=qx.standard.Pure(), intensity=1, ledger=":memory:",
    ) as opened:  # fmt: skip
        (measure,) = opened._dataset.program("SELECT SUM(x) AS s FROM t").measures
    assert measure.step == Fraction(steps)


@pytest.mark.parametrize(
    ("bounds", "what", "where"),
    [
        ("automatic", "expected two numbers", "columns.x.bounds"),
        ({"auto": True}, "expected a mapping", "columns.x.bounds.auto"),
        ({"automatic": {}}, "unknown entry", "columns.x.bounds"),
        ({"auto": {"form": 1}}, "unknown entry", "columns.x.bounds.auto"),
        ({"auto": {"from": 0}}, "must be", "columns.x.bounds.auto.from"),
        ({"auto": {"from": 1, "to": "x"}}, "", "columns.x.bounds.auto.to"),
        ({"auto": {"negative": 1}}, "expected true or false", "columns.x.bounds.auto.negative"),
        ({"auto": {"from": 5, "to": 5}}, "the ladder has no rungs", "columns.x.bounds.auto"),
        ({"auto": {"from": "0.01"}}, "the first rung is below one step", "columns.x.bounds.auto.from"),
        ({"auto": {"from": 1, "to": "1e30"}}, "the ladder is too long", "columns.x.bounds.auto"),
    ],
    ids=str,
)
def test_what_is_no_ladder(bounds: object, what: str, where: str) -> None:
    frame = pd.DataFrame({"person": [1], "x": [1]})
    with pytest.raises((DataError, qx.errors.ParameterError, qx.errors.InputError)) as caught:
        qx.Table(frame, columns={"x": {"bounds": bounds, "step": "0.1"}}).schema("t", {})
    assert what in caught.value.what
    assert str(caught.value.where).endswith(where.removeprefix("columns."))


def test_only_numbers_have_a_ladder() -> None:
    frame = pd.DataFrame({"person": [1], "x": ["a"]})
    with pytest.raises(DataError, match="only numbers have bounds"):
        qx.Table(frame, columns={"x": {"bounds": "auto"}}).schema("t", {})


@pytest.mark.parametrize(
    "asked",
    [
        "MEDIAN(x)",
        "VAR_POP(x)",
        "STDDEV(x + 1)",
        "CORR(x, 2 * x)",
        "COVAR_POP(2 * x, x)",
        "REGR_SLOPE(x, -x)",
        "QUANTILE_DISC(x, 0.9)",
    ],
)
def test_what_needs_declared_bounds_says_so(asked: str) -> None:
    with session() as opened, pytest.raises(RefusalError, match='declared, and not "auto"') as caught:
        opened.explain(f"SELECT {asked} AS s FROM t")
    assert "CLAMP(x, low, high)" in str(caught.value.hint)
    with session() as opened:
        opened.explain(f"SELECT {asked.replace('x', 'CLAMP(x, 0, 9)')} AS s FROM t")


def test_counts_of_such_a_column_need_no_rung() -> None:
    with session() as opened:
        program = opened._dataset.program(
            "SELECT COUNT(x) AS n, COUNT(DISTINCT x) AS d, SUM(CLAMP(x, 0, 9)) AS s FROM t"
        )
    assert all(measure.ladder is None for measure in program.measures)


def test_other_columns_without_bounds_are_still_refused() -> None:
    frame = ROWS.assign(y=1.5)
    with session(frame) as opened:
        for asked in ("SUM(x * y)", "SUM(CASE WHEN x > 1 THEN y END)", "SUM(y)"):
            with pytest.raises(RefusalError, match="needs a bounded argument"):
                opened.explain(f"SELECT {asked} AS s FROM t")


def test_the_highest_rung_must_be_possible_before_anything_is_asked() -> None:
    """k·⌈C·b⌉ ≤ 2^56 steps: decided by the plan, and not after the choice."""
    frame = pd.DataFrame({"person": [1], "x": [1]})
    declared = {"x": {"type": "integer", "bounds": {"auto": {"to": 2**50}}}}
    for rows, fits in ((64, True), (65, False)):
        with qx.Session(
            dataset="d", version="1", tables={"t": qx.Table(frame, limits={"rows": rows}, columns=declared)},
            unit=qx.unit.AddRemove(key="person"), standard=qx.standard.Pure(), intensity=1, ledger=":memory:",
        ) as opened:  # fmt: skip
            if fits:
                opened.explain("SELECT SUM(x) AS s FROM t")
                continue
            with pytest.raises(QueryError, match="too many lattice steps"):
                opened.sql("SELECT SUM(x) AS s FROM t", spend="1/2")
            assert opened.remaining == 1


def test_rolled_up_rows_have_one_row_of_each_person_on_the_ladder() -> None:
    with session() as opened:
        asked = "SELECT SUM(m) AS s FROM (SELECT person, MAX(x) AS m FROM t GROUP BY person) AS p"
        with pytest.raises(RefusalError):
            opened.explain(asked)
        first = "ROW_NUMBER() OVER (PARTITION BY person ORDER BY x, g, f) AS r"
        asked = f"SELECT SUM(x) AS s FROM (SELECT person, x, {first} FROM t) WHERE r = 1"
        (measure,) = opened._dataset.program(asked).measures
        assert measure.ladder is not None
        exact = opened._connect().run(opened._dataset.program(asked)).measures[0]
    here = Counter(ROWS[np.isfinite(ROWS.x)].person)
    assert 0 < int(exact[0, :6].sum()) >> 20 <= len(here)
