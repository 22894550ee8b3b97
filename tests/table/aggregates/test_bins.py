"""HISTOGRAM, CDF and CDF_COUNT: neighbours enumerated and replayed, least squares, coverage, how they are asked."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import isqrt
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import quincunx as qx
from quincunx.errors import QueryError, RefusalError
from quincunx.mechanisms import LIMIT, CountTree, Histogram, levels_of
from quincunx.spec import AddRemove, Replace
from quincunx.table.aggregates import Part, cdf, tree
from quincunx.table.aggregates.cdf import Cdf
from quincunx.table.aggregates.cdf_count import CdfCount
from quincunx.table.aggregates.histogram import Histogram as Bin
from quincunx.table.aggregates.term import Lattice
from quincunx.table.expression import Column
from quincunx.table.rules.scale import BRANCHING
from quincunx.table.schema import ColumnSchema, Limits, Schema, TableSchema
from tests.audit.tables.scenes import scene
from tests.release.world import gaussian, laplace
from tests.table.aggregates.noises import count_bound
from tests.table.aggregates.test_variance import planned

RISK = Fraction(1, 20)
ROWS = pd.DataFrame(
    {
        "person": [i % 60 for i in range(300)],
        "g": ["a" if i % 3 else "b" for i in range(300)],
        "x": [None if i % 11 == 0 else float(i % 37) for i in range(300)],
        "day": [pd.Timestamp("2024-01-01") + pd.Timedelta(days=i % 50) for i in range(300)],
    }
)


def session(unit: Any = None, standard: Any = None, rows: int = 5, **more: Any) -> qx.Session[Any]:
    columns = {"x": {"bounds": (0, 100), "step": 1}, "g": {"keys": ["a", "b"]}}
    return qx.Session(
        dataset="d",
        version="1",
        tables={"t": qx.Table(ROWS, limits={"rows": rows}, columns=columns)},
        unit=unit or qx.unit.AddRemove(key="person"),
        standard=standard or qx.standard.Pure(),
        intensity=more.pop("intensity", 1000),
        ledger=":memory:",
        **more,
    )


def schema(unit: AddRemove | Replace, rows: int) -> Schema:
    columns = (
        ColumnSchema(name="person", type="integer"),
        ColumnSchema(name="g", type="text", keys=("a", "b")),
        ColumnSchema(name="x", type="integer", bounds=(Fraction(0), Fraction(9))),
    )
    return Schema(tables={"t": TableSchema(name="t", columns=columns, limits=Limits(rows=rows))}, unit=unit)


# Neighbours.


def contributed(rows: tuple[tuple[str, int], ...], norm: int, most: int, made: CountTree) -> Any:
    """All counts of both groups that one person's rows (group, bin) come to, by measure.md."""
    v = np.array([sum(g == key for g, _ in rows) for key in "ab"], dtype=object)
    unit = 2**20
    size = int(v.sum()) if norm == 1 else 0
    square = int((v**2).sum())
    weight = unit if not rows else most * unit // size if norm == 1 else isqrt(most**2 * unit**2 // square)
    weight = min(weight, unit)
    found: list[int] = []
    for key in "ab":
        held = [weight * sum(each == (key, place) for each in rows) for place in range(made.bins)]
        found += made.counts(Histogram.of(np.array(held, dtype=np.int64)))
    return np.array(found, dtype=object)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("call", ["HISTOGRAM(x, [2])", "CDF(x, [2, 4])", "CDF_COUNT(x, [1, 2, 3, 4])"])
def test_every_neighbour_of_a_small_world_is_within_the_declared_distance(
    call: str, most: int, norm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trees of one to three levels, in two groups; people with up to three rows anywhere, come, gone or replaced."""
    monkeypatch.setitem(BRANCHING, norm, 2)  # type: ignore[arg-type]
    sql = f"SELECT g, {call} AS h FROM t GROUP BY g"
    (one,) = planned(sql, schema(AddRemove(key="person"), most), norm).measures
    (two,) = planned(sql, schema(Replace(key="person"), most), norm).measures
    assert one.grid is not None
    bins = one.high + 1
    branching = bins if call.startswith("HIST") else 2
    assert (one.grid.branching, one.grid.levels) == (branching, ())
    made = CountTree(bins=bins, branching=branching, noise=laplace(1))
    places = [(key, place) for key in "ab" for place in range(bins)]
    mine = [rows for count in range(4) for rows in itertools.combinations_with_replacement(places, count)]
    vectors = np.array([contributed(rows, norm, most, made) for rows in mine], dtype=object)
    apart = vectors[:, None, :] - vectors[None, :, :]
    alone, moved = (abs(each).sum(axis=-1) ** 2 if norm == 1 else (each**2).sum(axis=-1) for each in (vectors, apart))
    assert alone.max() <= one.sensitivity2
    assert moved.max() <= two.sensitivity2
    assert alone.max() >= Fraction(99, 100) * one.sensitivity2
    assert moved.max() >= Fraction(99, 100) * two.sensitivity2


@pytest.mark.parametrize("unit", ["add-remove person", "replace person x 3", "add-remove row"])
def test_replay_finds_nothing(unit: str) -> None:
    each = scene(unit, "rows + groups")
    edges = ", ".join(str(edge) for edge in range(5, 105, 5))
    texts = [
        f"SELECT CDF(age, [{edges}]) AS c, HISTOGRAM(cost, [-10, 0.5, 20]) AS h FROM visits",
        "SELECT region, HISTOGRAM(age, [20, 40, 60, 80]) FILTER (WHERE cost > 0) AS h FROM visits GROUP BY region",
        "SELECT region, CDF_COUNT(seen, [DATE '2024-03-01', DATE '2024-04-01']) AS c FROM visits GROUP BY region",
    ]
    report = each.replay(texts, pairs=20, giants=1, series=f"bins {unit}").check()
    assert report.cases == 20 * len(texts) * 2
    assert max(cell.largest for cell in report.cells if cell.aggregate == "bins") > 0.2


@pytest.mark.parametrize("moves", [False, True], ids=["come or go", "replaced"])
@pytest.mark.parametrize("standard", [qx.standard.Pure(), qx.standard.ZCDP()], ids=["ε", "ρ"])
def test_noise_is_for_all_levels_and_moves(standard: Any, moves: bool) -> None:
    unit = qx.unit.Replace(key="person") if moves else qx.unit.AddRemove(key="person")
    edges = ", ".join(map(str, range(1, 33)))
    with session(unit, standard) as opened:
        quote = opened.explain(f"SELECT CDF(x, [{edges}]) AS c, COUNT(*) AS n FROM t", spend=2)
    noise = next(each for each in quote.noise if "levels" in each)
    levels = len(levels_of(33, 16 if standard == qx.standard.Pure() else 4))
    if standard == qx.standard.Pure():
        # One of two shares of ε = 2; C = 5, on each of two levels, twice where people move.
        assert noise.endswith(f"scale = {5 * levels * (2 if moves else 1)}")
    else:
        sigma = 5 * np.sqrt(levels * (2 if moves else 1) / 2)
        assert noise.endswith(f"σ = {sigma:.4g}")


def test_unweighted_rows_have_noise_in_finer_parts() -> None:
    """Rows that are people of their own are unweighted: noise is drawn in parts of 1/1024, and for a whole row."""
    with session(qx.unit.AddRemove()) as opened:
        quote = opened.explain("SELECT HISTOGRAM(x, [5]) AS h FROM t", spend=1)
        answer = opened.sql("SELECT HISTOGRAM(x, [5]) AS h FROM t", spend=1)
    assert quote.noise[0].endswith("scale = 1")
    row = dict(answer.rows[0])
    assert row["h_to_5_se"] == pytest.approx(np.sqrt(2), rel=1e-3)
    assert row["h_to_5_high"] - row["h_to_5_low"] == pytest.approx(2 * np.log(20), rel=0.01)


# Numbers.


@pytest.mark.parametrize("norm", [1, 2])
def test_the_engine_counts_by_the_definition(norm: Any) -> None:
    """Weights of everybody over the limit, NULL nowhere, an edge in the bin that it ends."""
    with session(rows=3) as opened:
        program = opened._dataset.program("SELECT g, HISTOGRAM(x, [0, 9.5, 20]) AS h FROM t GROUP BY g", norm)
        result = opened._connect().run(program)
    wanted: dict[tuple[str, int], int] = {}
    for _, own in ROWS.groupby("person"):
        v = own.groupby("g").size().to_numpy()
        weight = (3 << 20) // int(v.sum()) if norm == 1 else isqrt((9 << 40) // int((v**2).sum()))
        for row in own.itertuples():
            if not np.isnan(row.x):
                place = int(np.searchsorted([0, 9.5, 20], row.x, side="left"))
                wanted[row.g, place] = wanted.get((row.g, place), 0) + min(weight, 1 << 20)
    found = {
        (key[0], place): weight
        for key, each in zip(result.keys, result.measures[0], strict=True)
        for place, weight in each.dense().items()
    }
    assert found == wanted


def test_without_noise_the_numbers_are_those_of_duckdb() -> None:
    sql = "SELECT HISTOGRAM(x, [5, 9.5, 20]) AS h FROM t"
    dated = "SELECT HISTOGRAM(day, [DATE '2024-01-10', DATE '2024-02-01']) AS h FROM t"
    with session(rows=100, intensity=10**30, budgets={"smallest_spend": 1}) as asked:
        found = dict(asked.sql(sql, spend=10**20).rows[0])
        days = dict(asked.sql(dated, spend=10**20).rows[0])
        up = dict(asked.sql("SELECT CDF(x, [5, 9.5]) AS c, CDF_COUNT(x, [5, 9.5]) AS k FROM t", spend=10**20).rows[0])
        many = ", ".join(map(str, range(20)))
        long = dict(
            asked.sql(f"SELECT CDF(x, [{many}]) AS c, CDF_COUNT(x, [{many}]) AS k FROM t", spend=10**20).rows[0]
        )
    ((theirs,),) = duckdb.sql(sql.replace("FROM t", "FROM ROWS")).fetchall()
    assert [found[f"h_{name}"] for name in ("to_5", "to_9_5", "to_20", "over_20")] == list(theirs.values())
    ((theirs,),) = duckdb.sql(
        dated.replace("HISTOGRAM(day", "HISTOGRAM(day::DATE").replace("FROM t", "FROM ROWS")
    ).fetchall()
    assert [days[f"h_{name}"] for name in ("to_2024_01_10", "to_2024_02_01", "over_2024_02_01")] == list(
        theirs.values()
    )
    values = ROWS.x.dropna().to_numpy()
    assert up["k_to_9_5"] == (values <= 9.5).sum()
    assert up["c_to_5"] == pytest.approx((values <= 5).mean())
    for edge in range(20):
        assert long[f"k_to_{edge}"] == (values <= edge).sum()
        assert long[f"c_to_{edge}"] == pytest.approx((values <= edge).mean())


@pytest.mark.parametrize(("bins", "branching"), [(1, 2), (4, 4), (3, 2), (7, 2), (9, 4), (21, 4), (33, 16)])
def test_two_passes_are_least_squares(bins: int, branching: int) -> None:
    """Against (AᵀA)⁻¹Aᵀ, and a variance below that of adding up bins."""
    shape = tree.squares(bins, branching)
    rows, start = [np.eye(bins)], 0
    for size in levels_of(bins, branching)[1:]:
        below = rows[-1]
        rows.append(np.array([below[at : at + branching].sum(axis=0) for at in range(0, len(below), branching)]))
        start += size
    a = np.vstack(rows)
    wanted = np.linalg.pinv(a)
    found = np.array(tree.coefficients(bins, branching), dtype=np.float64)
    assert np.allclose(found, wanted, atol=1e-12)
    exact = np.array(tree.coefficients(bins, branching), dtype=object) @ a.astype(int).astype(object)
    assert (exact == np.eye(bins, dtype=int)).all()
    up = tree.up_to(bins, branching)
    assert np.allclose(up, np.cumsum(found, axis=0), atol=1e-12)
    assert ((up**2).sum(axis=1) <= np.arange(1, bins + 1) + 1e-9).all()
    assert sum(shape.levels) == len(shape.children)


# Intervals.

NOISES = {
    "Laplace": laplace(40),
    "little Laplace": laplace("0.3"),
    "Gaussian": gaussian(40),
    "narrow Gaussian": gaussian("0.4"),
}


def of(kind: Any, place: int, bins: int) -> Any:
    argument = Column(name="bin", type="integer", nullable=False, low=Fraction(0), high=Fraction(bins - 1))
    return kind(argument=argument, place=place)


def part(bins: int, branching: int, noise: Any, split: int = 4) -> Part:
    lattice = Lattice(step=Fraction(1), low=0, high=bins - 1, centre=0)
    made = CountTree(bins=bins, branching=branching, split=split, noise=noise)
    return Part(lattice=lattice, unit=Fraction(1, 2), noise=made)


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize(
    "noise", [pytest.param(each, marks=pytest.mark.ci if each[0] in "ln" else ()) for each in NOISES]
)
@pytest.mark.parametrize(("bins", "branching"), [(4, 4), (21, 4), (33, 16)])
def test_intervals_cover(bins: int, branching: int, noise: str, full: bool) -> None:
    """Each bin and edge at 95 %, false-alarm rate 1e-9; where there is noise enough not much more often."""
    draws = 20_000 if full else 1_000
    weights = (np.arange(bins) * 7919 % 101) * 4 + 60
    given = part(bins, branching, NOISES[noise])
    numbers = [given.noise.sample(np.broadcast_to(weights, (draws, bins)))]
    below = np.cumsum(weights) / 2
    smooth = "little" not in noise and "narrow" not in noise
    for place in sorted({0, bins // 3, bins - 2}):
        wanted = {Bin: weights[place] / 2, CdfCount: below[place], Cdf: below[place] / below[-1]}
        for kind, true in wanted.items():
            found = of(kind, place, bins).estimate(numbers, [given], RISK)
            held = np.mean((found.low <= true) & (true <= found.high))
            assert held >= count_bound(0.95, draws), (kind, place)
            assert ((found.low <= found.near) & (found.near <= found.high)).all()
            if smooth:
                error = np.sqrt(np.mean((found.near - true) ** 2))
                assert np.median(found.se) == pytest.approx(error, rel=0.15), (kind, place)
                assert np.median(found.high - found.low) / 2 <= 2.5 * error, (kind, place)
                assert held <= 0.99, (kind, place)


def test_the_error_of_a_share_is_below_the_line_between_two() -> None:
    for noise in (laplace(40), gaussian(40)):
        for bins, branching, place in ((4, 4, 0), (21, 4, 8), (33, 16, 31)):
            allowed = cdf._allowed(bins, branching, place, noise, RISK)
            for share in (Fraction(1, 8), Fraction(1, 3), Fraction(7, 10), Fraction(19, 20)):
                between = tree.norm_of(cdf._mixed(bins, branching, place, share), noise, RISK)
                assert between <= np.interp(float(share), [float(each) for each in cdf._SHARES], allowed) * (1 + 1e-4)
            grown = max(abs(b - a) for a, b in itertools.pairwise(allowed)) * 4
            assert grown <= cdf._reach(bins, branching, noise, RISK) * (1 + 1e-4)


def test_nobody_and_clamped_counts_leave_everything_possible() -> None:
    given = part(4, 4, laplace(40))
    numbers = [np.array([[0, 0, 0, 0], [-5, 3, 0, 9], [LIMIT, 9, 10**6, 10**6]])]
    share = of(Cdf, 1, 4).estimate(numbers, [given], RISK)
    assert (share.low.tolist(), share.high.tolist()) == ([0.0] * 3, [1.0] * 3)
    assert share.se is not None
    assert np.isnan(share.se).all()
    for kind in (Bin, CdfCount):
        count = of(kind, 1, 4).estimate(numbers, [given], RISK)
        assert count.low[2] == -np.inf
        assert count.high[2] == np.inf
        assert np.isfinite(count.low[:2]).all()
    assert of(Cdf, 1, 4).bounds([]) == (0, 1)
    assert of(Bin, 1, 4).bounds([]) == of(CdfCount, 1, 4).bounds([]) == (0, None)


def test_errors_are_told_before_and_after() -> None:
    with session() as opened:
        sql = "SELECT HISTOGRAM(x, [5, 20]) AS h, CDF(x, [5, 20]) AS c FROM t"
        told = str(opened.explain(sql, spend=1))
        row = dict(opened.sql(sql, spend=1).rows[0])
    assert "error of c_to_5: ±" in told
    assert "the share 1/3 lies there" in told or "the share 0.333333 lies there" in told
    for name in ("h_to_5", "h_to_20", "h_over_20", "c_to_5", "c_to_20"):
        assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]
        assert row[f"{name}_se"] > 0


# How they are asked.


def test_bins_and_edges_of_one_argument_are_one_measure() -> None:
    edges = ", ".join(map(str, range(20)))
    with session() as opened:
        program = opened._dataset.program(
            f"SELECT HISTOGRAM(x, [{edges}]) AS h, CDF(x, [{edges}]) AS c, CDF_COUNT(x, [{edges}]) AS k, "
            "HISTOGRAM(x, [1]) AS other, HISTOGRAM(x, [1]) FILTER (WHERE x > 0) AS some FROM t"
        )
        alone = opened._dataset.program(f"SELECT HISTOGRAM(x, [{edges}]) AS h FROM t")
    assert [measure.grid.branching for measure in program.measures if measure.grid] == [16, 2, 2]
    assert set(program.parts[:61]) == {(0,)}
    assert [measure.grid.branching for measure in alone.measures if measure.grid] == [21]
    names = [output.name for output in program.query.outputs]
    assert names[:2] == ["h_to_0", "h_to_1"]
    assert names[20:22] == ["h_over_19", "c_to_0"]
    assert names[-4:] == ["other_to_1", "other_over_1", "some_to_1", "some_over_1"]


def test_edges_are_named_as_they_are_written() -> None:
    with session() as opened:
        program = opened._dataset.program(
            "SELECT HISTOGRAM(x, [-2.50, 3]), CDF(day, [DATE '2024-01-31', TIMESTAMP '2024-02-01 12:00:00']) AS d, "
            "CDF_COUNT(x > 3, [0]) AS b FROM t"
        )
    assert [output.name for output in program.query.outputs] == [
        "histogram_to_minus_2_50", "histogram_to_3", "histogram_over_3",
        "d_to_2024_01_31", "d_to_2024_02_01_12_00_00", "b_to_0",
    ]  # fmt: skip


def test_bins_take_part_in_arithmetic_having_and_order() -> None:
    with session(intensity=10**30, budgets={"smallest_spend": 1}, rows=100) as opened:
        sql = (
            "SELECT g, HISTOGRAM(x, [5, 20]) AS h, 100 * h_to_5 / COUNT(x) AS share FROM t GROUP BY g "
            "HAVING COUNT(*) > 150 ORDER BY h_to_5"
        )
        (row,) = (dict(each) for each in opened.sql(sql, spend=10**20).rows)
    own = ROWS[ROWS.g == "a"].x.dropna()
    assert row["share"] == pytest.approx(100 * (own <= 5).mean())
    assert row["share_low"] <= row["share"] <= row["share_high"]


@pytest.mark.parametrize(
    ("call", "what", "hint"),
    [
        ("HISTOGRAM(x)", "HISTOGRAM needs a list of edges", "HISTOGRAM(x, [10, 20, 30])"),
        ("CDF(x, 10)", "CDF needs a list of edges", "CDF(x, [10, 20, 30])"),
        ("CDF(x, [])", "CDF needs a list of edges", "1 to 64 edges"),
        (f"CDF(x, [{', '.join(map(str, range(65)))}])", "CDF needs a list of edges", "1 to 64 edges"),
        ("HISTOGRAM(x, [20, 10])", "edges must rise", "the smallest first"),
        ("HISTOGRAM(x, [10, 10])", "edges must rise", "each edge once"),
        ("HISTOGRAM(g, ['a', 'b'])", "HISTOGRAM needs a number or a date", "GROUP BY"),
        ("HISTOGRAM(x, ['a'])", "an edge is a constant of the value's type", "HISTOGRAM(x, [10, 20, 30])"),
        ("HISTOGRAM(x, [x])", "an edge is a constant of the value's type", "HISTOGRAM(x, [10, 20, 30])"),
        ("CDF(x, [DATE '2024-01-01'])", "an edge is a constant of the value's type", "CDF(x, [10, 20, 30])"),
        ("HISTOGRAM(day, [3])", "an edge is a constant of the value's type", "HISTOGRAM(x, [10, 20, 30])"),
        ("HISTOGRAM(day, ['2024-01-01'])", "an edge of dates is a date", "DATE '2024-01-31'"),
    ],
)  # fmt: skip
def test_what_is_refused(call: str, what: str, hint: str) -> None:
    with session() as opened, pytest.raises((QueryError, RefusalError)) as caught:
        opened.explain(f"SELECT {call} AS h FROM t", spend=1)
    assert caught.value.what == what
    assert hint in (caught.value.hint or "")


def test_a_list_stands_alone() -> None:
    with session() as opened, pytest.raises(RefusalError, match="HISTOGRAM is several numbers") as caught:
        opened.explain("SELECT HISTOGRAM(x, [10]) + 1 AS h FROM t", spend=1)
    assert "h_to_20 wherever one of them is meant" in (caught.value.hint or "")


def test_too_many_groups_are_refused_from_declarations_alone() -> None:
    keys = list(range(20_000))
    columns = {"x": {"bounds": (0, 100)}, "g": {"keys": keys}}
    frame = pd.DataFrame({"person": [1], "g": [1], "x": [1]})
    with qx.Session(
        dataset="d", version="1", ledger=":memory:", intensity=10, standard=qx.standard.Pure(),
        unit=AddRemove(key="person"), tables={"t": qx.Table(frame, limits={"rows": 1}, columns=columns)},
    ) as opened:  # fmt: skip
        edges = ", ".join(map(str, range(64)))
        with pytest.raises(RefusalError, match="too many groups"):
            opened.explain(f"SELECT g, HISTOGRAM(x, [{edges}]) AS h FROM t GROUP BY g", spend=1)


@pytest.mark.parametrize("standard", [qx.standard.GaussianDP(), qx.standard.Approximate(delta="1e-6")], ids=str)
def test_other_standards_answer_too(standard: Any) -> None:
    with session(standard=standard) as opened:
        row = dict(opened.sql("SELECT HISTOGRAM(x, [10]) AS h, CDF(x, [10]) AS c FROM t", spend=1).rows[0])
    assert row["h_to_10_low"] <= row["h_to_10"] <= row["h_to_10_high"]
    assert 0 <= row["c_to_10_low"] <= row["c_to_10_high"] <= 1
