"""VARIANCE, STDDEV and their kinds: neighbours enumerated and replayed, coverage, what is shared and refused."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from quincunx.errors import ParameterError, QueryError, RefusalError
from quincunx.mechanisms.additive import LIMIT
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.aggregates import Lattice, Part
from quincunx.table.aggregates.variance import Variance
from quincunx.table.expression import Column
from quincunx.table.measure import Program
from quincunx.table.rules import plan
from quincunx.table.schema import ColumnSchema, Limits, Schema, TableSchema
from quincunx.table.sql import read
from tests.audit.tables.scenes import scene
from tests.release.world import gaussian, laplace, session
from tests.table import reference, worlds
from tests.table.aggregates.noises import count_bound

NAMES = ("VARIANCE", "VAR_SAMP", "VAR_POP", "STDDEV", "STDDEV_SAMP", "STDDEV_POP")
RISK = Fraction(1, 20)


def schema(unit: AddRemove | Replace, limits: Limits, high: int = 3) -> Schema:
    columns = (
        ColumnSchema(name="person", type="integer"),
        ColumnSchema(name="region", type="text", keys=("a", "b")),
        ColumnSchema(name="x", type="integer", bounds=(Fraction(0), Fraction(high))),
        ColumnSchema(name="free", type="decimal"),
        ColumnSchema(name="note", type="text"),
        ColumnSchema(name="flag", type="boolean"),
    )
    return Schema(tables={"t": TableSchema(name="t", columns=columns, limits=limits)}, unit=unit)


def planned(sql: str, declared: Schema, norm: int = 1) -> Program:
    return plan(read(sql, declared), declared, norm)  # type: ignore[arg-type]


# Neighbours.


def contributions(program: Program, declared: Schema, most: int) -> list[dict[Any, list[int]]]:
    """What one person adds to every measure, for every way to have up to `most` rows."""
    kinds = [
        {"person": 1, "region": region, "x": x, "free": None, "note": None, "flag": None}
        for region in ("a", "b")
        for x in (None, 0, 1, 3)
    ]
    worlds_of = [rows for count in range(most + 1) for rows in itertools.combinations_with_replacement(kinds, count)]
    return [reference.run(program, declared, list(rows))[0] for rows in worlds_of]


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("limits", [Limits(rows=1), Limits(rows=2), Limits(rows=3, groups=1)], ids=str)
@pytest.mark.parametrize(
    "sql", ["SELECT VARIANCE(x) AS v FROM t", "SELECT region, STDDEV(x) AS v FROM t GROUP BY region"]
)
def test_every_neighbour_of_a_small_world_is_within_the_declared_distance(sql: str, limits: Limits, norm: int) -> None:
    """Measures add up over people, so that what one person adds, or two exchange, is all that neighbours differ by."""
    removed = schema(AddRemove(key="person"), limits)
    plain, replaced = planned(sql, removed, norm), planned(sql, schema(Replace(key="person"), limits), norm)
    found = contributions(plain, removed, 3)
    assert len(found) > 100
    for index, (one, two) in enumerate(zip(plain.measures, replaced.measures, strict=True)):
        vectors = np.array([[numbers[index] for numbers in each.values()] for each in found], dtype=object)
        apart = vectors[:, None, :] - vectors[None, :, :]
        alone, moved = (
            abs(each).sum(axis=-1) ** 2 if norm == 1 else (each**2).sum(axis=-1) for each in (vectors, apart)
        )
        assert alone.max() <= one.sensitivity2
        assert moved.max() <= two.sensitivity2
        # The declaration is not much too large: a person comes within a tenth of it.
        assert alone.max() >= Fraction(81, 100) * one.sensitivity2


@pytest.mark.parametrize("unit", ["add-remove person", "replace person x 3", "add-remove row"])
def test_replay_finds_nothing(unit: str) -> None:
    each = scene(unit, "rows + groups")
    texts = [
        "SELECT VARIANCE(age) AS v, STDDEV(cost) AS s, AVG(age) AS m FROM visits",
        "SELECT region, VAR_POP(cost) FILTER (WHERE age > 30) AS v, STDDEV_POP(age) AS s FROM visits GROUP BY region",
    ]
    report = each.replay(texts, pairs=24, giants=1, series=f"variance {unit}").check()
    assert report.cases == 24 * len(texts) * 2
    (cell,) = {cell.aggregate for cell in report.cells} & {"squares"}
    assert max(each.largest for each in report.cells if each.aggregate == cell) > 0.3


@pytest.mark.parametrize("norm", [1, 2])
def test_the_engine_equals_the_definition(norm: int) -> None:
    data = worlds.rows(random.Random("variance"), people=8, most=40)
    engine, declared = worlds.world(data, AddRemove(key="person"), {"rows": 3, "groups": 2})
    for sql in (
        "SELECT region, VARIANCE(age) AS v, AVG(age) AS m FROM t GROUP BY region",
        "SELECT region, STDDEV(cost) AS v, VAR_POP(price) FILTER (WHERE flag) AS w FROM t GROUP BY region",
    ):
        program = worlds.planned(sql, declared, norm)
        assert worlds.by_key(engine.run(program)) == reference.run(program, declared, data)[0]


# Intervals. Values from 0 to 100 in whole steps: t = x − 50, squares from 0 to 2,500.

LATTICES = (
    Lattice(step=Fraction(1), low=0, high=2500, centre=1250),
    Lattice(step=Fraction(1), low=0, high=100, centre=50),
    Lattice(step=Fraction(1), low=1, high=1, centre=0),
)
X = Column(name="x", type="integer", nullable=False, low=Fraction(0), high=Fraction(100), step=Fraction(1))
NOISES: dict[str, tuple[Any, ...]] = {
    "Laplace": (laplace(2500), laplace(100), laplace(2)),
    "Gaussian": (gaussian(3750), gaussian(150), gaussian(3)),
    "narrow Gaussian": (gaussian("0.6"), gaussian("0.4"), gaussian("0.3")),
    "little Laplace": (laplace("0.3"), laplace("0.2"), laplace("0.1")),
}
DATA = {
    "one value": [99] * 300,
    "both ends": [0, 100] * 60,
    "a few": [3, 5, 90],
    "spread": list(range(101)) * 5,
    "narrow and far from the middle": [90, 91, 92] * 400,
    "one row": [17],
    "nothing": [],
}


def parts_of(noises: tuple[Any, ...]) -> list[Part]:
    return [Part(lattice=each, unit=Fraction(1), noise=n) for each, n in zip(LATTICES, noises, strict=True)]


def exact(data: list[int]) -> tuple[int, int, int]:
    t = [x - 50 for x in data]
    return sum(v * v - 1250 for v in t), sum(t), len(t)


def drawn(data: list[int], noises: tuple[Any, ...], draws: int) -> list[Any]:
    return [noise.sample(np.full(draws, total)) for noise, total in zip(noises, exact(data), strict=True)]


def truth(data: list[int], *, sample: bool, root: bool) -> float:
    """The statistic that is covered: below two rows, any number within the bounds would do."""
    found = float(np.var(data)) if data else 0.0
    found *= len(data) / (len(data) - 1) if sample and len(data) > 1 else 1
    return float(np.sqrt(found)) if root else found


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("sample", [False, True], ids=["pop", "samp"])
@pytest.mark.parametrize(
    "noise", [pytest.param(each, marks=pytest.mark.ci if "little" in each else ()) for each in NOISES]
)
@pytest.mark.parametrize("data", DATA)
def test_intervals_cover(data: str, noise: str, sample: bool, full: bool) -> None:
    """At least 95 %, false-alarm rate 1e-9; a root's interval is the root of the interval."""
    draws = 20_000 if full else 600
    numbers, parts = drawn(DATA[data], NOISES[noise], draws), parts_of(NOISES[noise])
    found = Variance(argument=X, root=False, sample=sample).estimate(numbers, parts, RISK)
    wanted = truth(DATA[data], sample=sample, root=False)
    assert np.mean((found.low <= wanted) & (wanted <= found.high)) >= count_bound(0.95, draws)
    assert (found.low >= 0).all()
    assert (found.high <= 2500 * (2 if sample else 1)).all()
    assert ((found.low <= found.near) & (found.near <= found.high)).all()
    root = Variance(argument=X, root=True, sample=sample).estimate(numbers, parts, RISK)
    for one, two in ((root.low, found.low), (root.near, found.near), (root.high, found.high)):
        assert np.allclose(one**2, two, rtol=1e-9, atol=1e-9)
    assert (root.low**2 <= found.low).all()


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("sizes", [(400, 700, 1), (400, 7, 20), (20_000, 7, 1)], ids=["sum", "count", "squares"])
@pytest.mark.parametrize("make", [laplace, gaussian])
def test_intervals_cover_whichever_noise_is_the_largest(make: Any, sizes: tuple[int, ...]) -> None:
    """Far from the middle each of the three noises can be what matters. 600 draws, false-alarm rate 1e-9."""
    noises = tuple(make(size) for size in sizes)
    data = DATA["narrow and far from the middle"]
    found = Variance(argument=X, root=False, sample=True).estimate(drawn(data, noises, 600), parts_of(noises), RISK)
    wanted = truth(data, sample=True, root=False)
    assert np.mean((found.low <= wanted) & (wanted <= found.high)) >= count_bound(0.95, 600)
    assert np.mean(found.high < 2500) > 0.9


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("noise", ["Laplace", "Gaussian"])
def test_intervals_are_not_much_wider_than_the_error(noise: str) -> None:
    """Half-widths beside the root of the mean squared error; 1.96 would be the least for one number."""
    data = list(range(101)) * 40
    numbers = drawn(data, NOISES[noise], 2_000)
    found = Variance(argument=X, root=False, sample=False).estimate(numbers, parts_of(NOISES[noise]), RISK)
    error = float(np.sqrt(np.mean((found.near - truth(data, sample=False, root=False)) ** 2)))
    half = float(np.median(found.high - found.low)) / 2
    assert 1.9 * error <= half <= 2.6 * error
    spread = sum(
        np.asarray(slope) ** 2 * each.variance for slope, each in zip(found.slopes, NOISES[noise], strict=True)
    )
    assert np.sqrt(np.median(spread)) == pytest.approx(error, rel=0.15)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("sample", [False, True])
def test_too_few_rows_or_clamped_numbers_leave_everything_possible(noise: str, sample: bool) -> None:
    most = 2500.0 * (2 if sample else 1)
    numbers = [np.array([5, 5, LIMIT, 5, 5]), np.array([3, 3, 3, -LIMIT, 3]), np.array([0, -7, 10**9, 10**9, LIMIT])]
    for root in (False, True):
        found = Variance(argument=X, root=root, sample=sample).estimate(numbers, parts_of(NOISES[noise]), RISK)
        assert found.low.tolist() == [0.0] * 5
        assert np.allclose(found.high, np.sqrt(most) if root else most)
        assert all(np.isnan(slope).all() for slope in found.slopes)
        assert np.isfinite(found.near).all()


def test_bounds_hold_for_every_small_dataset() -> None:
    for root, sample in itertools.product((False, True), repeat=2):
        low, high = Variance(argument=X, root=root, sample=sample).bounds(LATTICES)
        assert low == 0
        assert high is not None
        for count in range(1, 5):
            for data in itertools.combinations_with_replacement((0, 1, 50, 100), count):
                assert truth(list(data), sample=sample, root=root) <= high


# How it is asked.


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_read(name: str) -> None:
    declared = schema(AddRemove(key="person"), Limits(rows=2))
    query = read(f"SELECT {name}(x) FROM t", declared)
    (found,) = query.aggregates
    assert isinstance(found, Variance)
    assert (found.root, found.sample) == (name.startswith("STD"), not name.endswith("POP"))
    assert query.outputs[0].name == f"{name.lower()}(x)"
    assert [part.counts for part in found.terms()] == [False, False, True]


@pytest.mark.parametrize(
    ("sql", "error", "words"),
    [
        ("SELECT VARIANCE(DISTINCT x) FROM t", RefusalError, "Leave DISTINCT out of VARIANCE"),
        ("SELECT STDDEV(note) FROM t", QueryError, "STDDEV needs a number"),
        ("SELECT VAR_POP(free) FROM t", RefusalError, r"Write VAR_POP\(CLAMP\(x, low, high\)\)"),
        ("SELECT STDDEV_POP(CLAMP(x, 2, 2)) FROM t", QueryError, "every value of the argument of STDDEV_POP"),
        ("SELECT COUNT(*) FROM t WHERE VARIANCE(x) > 1", RefusalError, "cannot stand in WHERE"),
    ],
)
def test_what_is_refused(sql: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        planned(sql, schema(AddRemove(key="person"), Limits(rows=2)))


def test_a_condition_has_the_variance_of_its_share() -> None:
    program = planned("SELECT VAR_POP(flag) AS v FROM t", schema(AddRemove(key="person"), Limits(rows=2)))
    assert program.measures[0].high == 1
    assert program.query.aggregates[0].bounds(program.lattices(0)) == (0, Fraction(1, 4))


def test_mean_variance_and_deviation_share_their_measures() -> None:
    declared = schema(AddRemove(key="person"), Limits(rows=2))
    program = planned("SELECT AVG(x) AS a, VARIANCE(x) AS v, STDDEV_POP(x) AS s, COUNT(x) AS n FROM t", declared)
    assert program.parts == ((0, 1), (2, 0, 1), (2, 0, 1), (1,))


def test_wide_bounds_are_taken_in_coarser_steps_and_that_is_said() -> None:
    declared = schema(AddRemove(key="person"), Limits(rows=100), high=10**12)
    program = planned("SELECT VARIANCE(x) AS v FROM t", declared)
    squares, total, _ = (program.measures[part] for part in program.parts[0])
    assert total.step == 10**6
    assert squares.step == 10**12
    assert "Values that are summed are rounded to multiples of 1000000." in program.biases
    # The mean keeps its own steps, and then both are measured.
    assert len(planned("SELECT VARIANCE(x) AS v, AVG(x) AS a FROM t", declared).measures) == 4


def test_a_deviation_is_free_once_the_variance_was_asked() -> None:
    with session() as asked:
        first = asked.sql("SELECT region, VARIANCE(age) AS v FROM visits GROUP BY region", spend="10")
        assert asked.cost("SELECT region, STDDEV_POP(age) AS s FROM visits GROUP BY region", spend="10").charged == 0
        again = asked.sql("SELECT region, STDDEV(age) AS s FROM visits GROUP BY region", spend="10")
        for one, two in zip(first.rows, again.rows, strict=True):
            assert dict(two)["s"] ** 2 == pytest.approx(dict(one)["v"])
        explained = asked.explain("SELECT STDDEV(age) AS s FROM visits", spend="10")
        assert "the sum of squares from -1512 to 1513, 1512 subtracted" in str(explained)
        assert "whose standard deviation is about" in explained.errors[0].assumed
        with pytest.raises(ParameterError, match="counts and sums") as refused:
            asked.sql("SELECT VARIANCE(age) AS v FROM visits", within={"v": 3})
        assert "The error of a variance depends" in refused.value.hint


def test_variances_of_two_columns_are_two_questions() -> None:
    """With equal bounds their squares differ by the factors alone."""
    declared = schema(AddRemove(key="person"), Limits(rows=2))
    squares = [
        planned(f"SELECT VARIANCE({text}) AS v FROM t", declared).measures[0]
        for text in ("x", "3 - x", "CLAMP(free, 0, 3)")
    ]
    assert len({str(each.canonical()) for each in squares}) == 3


def test_an_invariant_is_no_variance() -> None:
    with pytest.raises(QueryError, match="an invariant is made of counts and sums; got VARIANCE"):
        session(invariants=["SELECT STDDEV(age) FROM visits"])
