"""COVAR_*, CORR and REGR_*: neighbours enumerated and replayed, coverage and width, what is shared and refused."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import quincunx as qx
from quincunx.errors import QueryError, RefusalError
from quincunx.mechanisms import LIMIT
from quincunx.spec import AddRemove, Replace
from quincunx.table.aggregates import Lattice, Part
from quincunx.table.aggregates.correlation import Correlation
from quincunx.table.aggregates.covariance import Covariance
from quincunx.table.aggregates.intercept import Intercept
from quincunx.table.aggregates.pair import Pair
from quincunx.table.aggregates.slope import Slope
from quincunx.table.expression import Column
from quincunx.table.schema import ColumnSchema, Limits, Schema, TableSchema
from tests.audit.tables.scenes import scene
from tests.release.world import gaussian, laplace, session
from tests.table import reference, worlds
from tests.table.aggregates.noises import count_bound
from tests.table.aggregates.test_variance import planned

RISK = Fraction(1, 20)
NAMES = ("COVAR_POP", "COVAR_SAMP", "CORR", "REGR_R2", "REGR_SLOPE", "REGR_INTERCEPT")


def schema(unit: AddRemove | Replace, limits: Limits, nullable: bool = True) -> Schema:
    columns = (
        ColumnSchema(name="person", type="integer"),
        ColumnSchema(name="region", type="text", keys=("a", "b")),
        ColumnSchema(name="x", type="integer", bounds=(Fraction(0), Fraction(3)), nullable=nullable),
        ColumnSchema(name="y", type="integer", bounds=(Fraction(-2), Fraction(2)), nullable=nullable),
        ColumnSchema(name="note", type="text"),
    )
    return Schema(tables={"t": TableSchema(name="t", columns=columns, limits=limits)}, unit=unit)


# Neighbours.


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("limits", [Limits(rows=1), Limits(rows=2)], ids=str)
@pytest.mark.parametrize(
    "sql", ["SELECT CORR(y, x) AS r FROM t", "SELECT region, CORR(y, x) AS r FROM t GROUP BY region"]
)
def test_every_neighbour_of_a_small_world_is_within_the_declared_distance(sql: str, limits: Limits, norm: int) -> None:
    """CORR has all the measures; they add up over people, so that one person alone shows what neighbours differ by."""
    kinds = [
        {"person": 1, "region": region, "x": x, "y": y, "note": None}
        for region in ("a", "b")
        for x, y in ((None, 2), (0, None), (0, -2), (0, 2), (3, 2), (1, 0))
    ]
    removed = schema(AddRemove(key="person"), limits)
    plain, replaced = planned(sql, removed, norm), planned(sql, schema(Replace(key="person"), limits), norm)
    mine = [rows for count in range(3) for rows in itertools.combinations_with_replacement(kinds, count)]
    found = [reference.run(plain, removed, list(rows))[0] for rows in mine]
    assert len(plain.measures) == 6
    for index, (one, two) in enumerate(zip(plain.measures, replaced.measures, strict=True)):
        vectors = np.array([[numbers[index] for numbers in each.values()] for each in found], dtype=object)
        apart = vectors[:, None, :] - vectors[None, :, :]
        alone, moved = (
            abs(each).sum(axis=-1) ** 2 if norm == 1 else (each**2).sum(axis=-1) for each in (vectors, apart)
        )
        assert alone.max() <= one.sensitivity2
        assert moved.max() <= two.sensitivity2
        assert alone.max() >= Fraction(8, 10) * one.sensitivity2, index


@pytest.mark.parametrize("unit", ["add-remove person", "replace person x 3", "add-remove row"])
def test_replay_finds_nothing(unit: str) -> None:
    each = scene(unit, "rows + groups")
    texts = [
        "SELECT CORR(cost, age) AS r, REGR_SLOPE(age, cost) AS b, REGR_COUNT(age, cost) AS n FROM visits",
        "SELECT region, COVAR_POP(age, cost) FILTER (WHERE age > 30) AS c FROM visits GROUP BY region",
    ]
    report = each.replay(texts, pairs=24, giants=1, series=f"pairs {unit}").check()
    assert report.cases == 24 * len(texts) * 2
    assert max(cell.largest for cell in report.cells if cell.aggregate == "products") > 0.2


@pytest.mark.parametrize("norm", [1, 2])
def test_the_engine_equals_the_definition(norm: int) -> None:
    data = worlds.rows(random.Random("pairs"), people=8, most=40)
    engine, declared = worlds.world(data, AddRemove(key="person"), {"rows": 3, "groups": 2})
    for sql in (
        "SELECT region, CORR(age, cost) AS r, REGR_AVGX(age, cost) AS m FROM t GROUP BY region",
        "SELECT COVAR_SAMP(cost, price) FILTER (WHERE flag) AS c, REGR_INTERCEPT(age, price) AS a FROM t",
    ):
        program = worlds.planned(sql, declared, norm)
        assert worlds.by_key(engine.run(program)) == reference.run(program, declared, data)[0]


def test_without_noise_the_numbers_are_those_of_duckdb() -> None:
    """Rows with NULL in one column, in both, in none; at a spend at which the noise is nothing."""
    source = random.Random("duckdb")
    rows = [
        (i % 50, source.choice((None, *range(0, 100, 3))), source.choice((None, *(x / 4 for x in range(80)))))
        for i in range(400)
    ]
    frame = pd.DataFrame(rows, columns=["person", "y", "x"]).astype({"y": "Int64"})
    columns = {"y": {"bounds": (0, 110)}, "x": {"bounds": (0, 25), "step": "0.25"}}
    names = (*NAMES, "REGR_AVGX", "REGR_AVGY", "REGR_COUNT")
    sql = "SELECT " + ", ".join(f"{name}(y, x) AS n{i}" for i, name in enumerate(names)) + " FROM t"
    with qx.Session(
        dataset="pairs",
        version="1",
        ledger=":memory:",
        tables={"t": qx.Table(frame, limits={"rows": 100}, columns=columns)},
        unit=AddRemove(key="person"),
        standard=qx.standard.Pure(),
        intensity=10**30,
        budgets={"smallest_spend": 1},
    ) as asked:
        found = dict(asked.sql(sql, spend=10**20).rows[0])
    (wanted,) = duckdb.sql(sql.replace("FROM t", "FROM frame")).fetchall()
    for i, each in enumerate(wanted):
        assert found[f"n{i}"] == pytest.approx(each, rel=1e-9), names[i]


# Intervals. y from 0 to 100 and x from 0 to 40, in whole steps.


def _lattice(low: int, high: int, centre: int) -> Lattice:
    return Lattice(step=Fraction(1), low=low, high=high, centre=centre)


def _column(name: str, high: int) -> Column:
    return Column(name=name, type="integer", nullable=False, low=Fraction(0), high=Fraction(high), step=Fraction(1))


Y, X = _column("y", 100), _column("x", 40)
LATTICES = {
    "products": _lattice(-1000, 1000, 0),
    "squares of y": _lattice(0, 2500, 1250),
    "squares of x": _lattice(0, 400, 200),
    "sum of y": _lattice(0, 100, 50),
    "sum of x": _lattice(0, 40, 20),
    "count": _lattice(1, 1, 0),
}
# How far one person moves each, for noises of one size.
SIZES = {"products": 1000, "squares of y": 1250, "squares of x": 200, "sum of y": 50, "sum of x": 20, "count": 1}
NOISES: dict[str, Any] = {
    "Laplace": lambda size: laplace(3 * size),
    "Gaussian": lambda size: gaussian(3 * size),
    "narrow Gaussian": lambda size: gaussian(Fraction(size, 3000)),
    "little Laplace": lambda size: laplace(Fraction(size, 4000)),
}
PAIRS: dict[str, Pair] = {
    "COVAR_POP": Covariance(argument=Y, other=X, sample=False),
    "COVAR_SAMP": Covariance(argument=Y, other=X, sample=True),
    "CORR": Correlation(argument=Y, other=X, squared=False),
    "REGR_R2": Correlation(argument=Y, other=X, squared=True),
    "REGR_SLOPE": Slope(argument=Y, other=X),
    "REGR_INTERCEPT": Intercept(argument=Y, other=X),
}


def points(kind: str) -> tuple[Any, Any]:
    """y and x."""
    source = np.random.default_rng(7)
    if kind == "far":
        x = source.integers(33, 41, 1500)
        return np.clip(2 * x + source.integers(-5, 6, 1500), 0, 100), x
    count = {"few": 9, "one": 1}.get(kind, 1200)
    x = source.integers(0, 41, count)
    rise = {"flat": 0.0, "steep": 2.3, "falling": -1.0}.get(kind, 1.0)
    x = np.full(count, 7) if kind == "constant" else x
    noise = source.normal(0, 12, count)
    return np.clip(np.round(50 + rise * (x - 20) + noise), 0, 100).astype(np.int64), x


def exact(y: Any, x: Any) -> dict[str, int]:
    t, s = y - 50, x - 20
    sums = (t * s).sum(), (t * t - 1250).sum(), (s * s - 200).sum(), t.sum(), s.sum(), len(t)
    return dict(zip(LATTICES, map(int, sums), strict=True))


def truth(y: Any, x: Any) -> dict[str, float | None]:
    """The statistics; None where any number will do."""
    if len(x) < 2 or np.ptp(x) == 0:
        varies = None
        pop = 0.0
        return dict.fromkeys(PAIRS, varies) | {"COVAR_POP": pop}
    both, r = np.cov(y, x), np.corrcoef(y, x)[0, 1]
    slope, intercept = np.polyfit(x, y, 1)
    pop = both[0, 1] * (len(x) - 1) / len(x)
    return dict(zip(PAIRS, (pop, both[0, 1], r, r * r, slope, intercept), strict=True))


def estimated(pair: Pair, data: tuple[Any, Any], make: Any, draws: int) -> tuple[Any, list[Part]]:
    sums = exact(*data)
    parts = [Part(lattice=LATTICES[each], unit=Fraction(1), noise=make(SIZES[each])) for each in pair.roles]
    numbers = [part.noise.sample(np.full(draws, sums[each])) for part, each in zip(parts, pair.roles, strict=True)]
    return pair.estimate(numbers, parts, RISK), parts


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(
    "noise", [pytest.param(each, marks=pytest.mark.ci if "a" in each[:3] or "n" in each[:1] else ()) for each in NOISES]
)
@pytest.mark.parametrize("kind", ["flat", "steep", "falling", "far", "few", "one", "constant"])
def test_intervals_cover(kind: str, noise: str, name: str, full: bool) -> None:
    """At least 95 %, false-alarm rate 1e-9."""
    draws = 20_000 if full else 400
    data = points(kind)
    wanted = truth(*data)[name]
    found, _ = estimated(PAIRS[name], data, NOISES[noise], draws)
    low, high = (float(end) for end in PAIRS[name].bounds([LATTICES[each] for each in PAIRS[name].roles]))  # type: ignore[arg-type]
    assert ((found.low <= found.near) & (found.near <= found.high)).all()
    assert (found.low >= low * (1 + 1e-9)).all()
    assert (found.high <= high * (1 + 1e-9)).all()
    if wanted is not None:
        assert np.mean((found.low <= wanted) & (wanted <= found.high)) >= count_bound(0.95, draws)


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("name", ["COVAR_POP", "REGR_SLOPE"])
@pytest.mark.parametrize("role", ["products", "squares of x", "sum of y", "sum of x", "count"])
@pytest.mark.parametrize("make", [laplace, gaussian])
def test_intervals_cover_whichever_noise_is_the_largest(make: Any, role: str, name: str) -> None:
    """Far from the middle each noise can be what matters. 600 draws, false-alarm rate 1e-9."""
    pair, data = PAIRS[name], points("far")
    large = {"products": 2000, "squares of x": 600, "sum of y": 100, "sum of x": 15, "count": 1}
    if role not in pair.roles:
        role = "products"
    sums = exact(*data)
    noises = {each: make(large[each] if each == role else Fraction(SIZES[each], 50)) for each in pair.roles}
    parts = [Part(lattice=LATTICES[each], unit=Fraction(1), noise=noises[each]) for each in pair.roles]
    numbers = [noises[each].sample(np.full(600, sums[each])) for each in pair.roles]
    found, wanted = pair.estimate(numbers, parts, RISK), truth(*data)[name]
    assert wanted is not None
    assert np.mean((found.low <= wanted) & (wanted <= found.high)) >= count_bound(0.95, 600)
    low, _ = pair.bounds([LATTICES[each] for each in pair.roles])
    assert low is not None
    assert np.mean(found.low > float(low)) > 0.9


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("noise", ["Laplace", "Gaussian"])
@pytest.mark.parametrize(
    ("name", "most"), [("COVAR_POP", 2.6), ("REGR_SLOPE", 2.6), ("CORR", 4.2), ("REGR_INTERCEPT", 4.7)]
)
def test_intervals_are_not_much_wider_than_the_error(name: str, most: float, noise: str, full: bool) -> None:
    """Half-widths beside the root of the mean squared error; 1.96 would be the least for one number."""
    data = points("flat")
    found, parts = estimated(PAIRS[name], data, NOISES[noise], 20_000 if full else 1_000)
    wanted = truth(*data)[name]
    assert wanted is not None
    error = float(np.sqrt(np.mean((found.near - wanted) ** 2)))
    half = float(np.median(found.high - found.low)) / 2
    print(f"{name}, {noise}: {half / error:.2f}, {np.mean((found.low <= wanted) & (wanted <= found.high)):.3f}")
    assert 1.8 * error <= half <= most * error
    slopes = zip(found.slopes, parts, strict=True)
    spread = sum(np.asarray(slope) ** 2 * part.noise.variance for slope, part in slopes)
    assert np.sqrt(np.median(spread)) == pytest.approx(error, rel=0.15)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", PAIRS)
def test_too_few_rows_or_clamped_numbers_leave_everything_possible(name: str, noise: str) -> None:
    pair = PAIRS[name]
    parts = [Part(lattice=LATTICES[each], unit=Fraction(1), noise=NOISES[noise](SIZES[each])) for each in pair.roles]
    cases = [dict.fromkeys(pair.roles, 5) | {"count": count} for count in (0, -7)]
    # Of a square or a sum that was clamped, CORR still knows its other parts.
    cases += [
        dict.fromkeys(pair.roles, 5) | {"count": 10**9} | {role: LIMIT}
        for role in pair.roles
        if role[0] != "s" or not isinstance(pair, Correlation)
    ]
    numbers = [np.array([case[role] for case in cases]) for role in pair.roles]
    found = pair.estimate(numbers, parts, RISK)
    low, high = (float(end) for end in pair.bounds([part.lattice for part in parts]))  # type: ignore[arg-type]
    assert np.allclose(found.low, low)
    assert np.allclose(found.high, high)
    assert np.isfinite(found.near).all()
    assert all(np.isnan(slope[:2]).all() for slope in found.slopes)


# How it is asked.


def test_what_cannot_be_null_is_shared_with_means_and_variances() -> None:
    declared = schema(AddRemove(key="person"), Limits(rows=2), nullable=False)
    program = planned("SELECT AVG(x) AS m, VARIANCE(y) AS v, CORR(y, x) AS r, COUNT(*) AS n FROM t", declared)
    assert len(program.measures) == 6
    both = planned("SELECT REGR_SLOPE(y, x) AS b, REGR_INTERCEPT(y, x) AS a, COVAR_POP(y, x) AS c FROM t", declared)
    assert len(both.measures) == 5
    # Where one of them may be NULL, its rows are others than those of the mean.
    nullable = schema(AddRemove(key="person"), Limits(rows=2))
    assert len(planned("SELECT AVG(x) AS m, COVAR_POP(y, x) AS c FROM t", nullable).measures) == 6


@pytest.mark.parametrize(
    ("sql", "error", "words"),
    [
        ("SELECT COVAR_POP(x, x) FROM t", QueryError, "both arguments of COVAR_POP are the same"),
        ("SELECT CORR(a, b) FROM (SELECT x AS a, x AS b FROM t) AS s", QueryError, "both arguments of CORR"),
        # Two calls that are equal, and not one.
        ("SELECT COVAR_POP(x + 1, x + 1) FROM t", QueryError, "both arguments of COVAR_POP are the same"),
        ("SELECT REGR_SLOPE(x, x) FROM t", QueryError, "both arguments of REGR_SLOPE are the same"),
        ("SELECT CORR(x, note) FROM t", QueryError, "CORR needs a number"),
        ("SELECT REGR_AVGX(x, note) FROM t", QueryError, "REGR_AVGX needs a number"),
        ("SELECT COVAR_SAMP(CAST(note AS DOUBLE), x) FROM t", RefusalError, "COVAR_SAMP needs a bounded argument"),
    ],
)
def test_what_is_refused(sql: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        planned(sql, schema(AddRemove(key="person"), Limits(rows=2)))


def test_pairs_of_other_columns_and_other_functions_are_other_questions() -> None:
    declared = schema(AddRemove(key="person"), Limits(rows=2))
    texts = [f"{name}(y, x)" for name in NAMES] + ["COVAR_POP(x, y)", "COVAR_POP(-y, x)"]
    found = [planned(f"SELECT {text} AS v FROM t", declared) for text in texts]
    assert len({str(each.query.aggregates[0].canonical()) for each in found}) == len(texts)
    products = {str(each.measures[0].canonical()) for each in found}
    assert len(products) == 3


def test_a_session_answers_and_an_intercept_is_free_after_the_slope() -> None:
    with session() as asked:
        answer = asked.sql("SELECT region, REGR_SLOPE(cost, age) AS b FROM visits GROUP BY region", spend="10")
        assert all(row["b_low"] <= row["b"] <= row["b_high"] for row in map(dict, answer.rows))
        sql = "SELECT region, REGR_INTERCEPT(cost, age) AS a, COUNT(*) AS n FROM visits GROUP BY region"
        assert asked.cost(sql.replace(", COUNT(*) AS n", ""), spend="10").charged == 0
        explained = asked.explain("SELECT COVAR_POP(cost, age) AS c FROM visits", spend="10")
        assert "the sum of products from" in str(explained)
        assert "whose covariance is about 0" in explained.errors[0].assumed
