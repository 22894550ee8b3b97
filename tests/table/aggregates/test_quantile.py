"""Quantiles from SQL to answers: the histogram, its price, levels that share, intervals, and what is refused."""

import hashlib
import json
from collections import Counter
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import quincunx as qx
from quincunx.mechanisms import DiscreteLaplace, Histogram, QuantileChoice, QuantileCuts, QuantileFlip
from quincunx.release.identity import asked
from quincunx.release.quote import priced
from quincunx.table.aggregates import Lattice, Part
from quincunx.table.aggregates.quantile import Quantile
from quincunx.table.expression import Column

# Standard, and whether there are intervals.
GOLDEN = {
    ("ε", True): "cc7b1d8c6efb7936",
    ("ε", False): "c584f3bec3c79460",
    ("ρ", True): "fe8550bdaca7194c",
    ("ρ", False): "0c40d356c8b2523a",
}
RNG = np.random.default_rng(3)
COUNT = 900
ROWS = pd.DataFrame(
    {
        "person": RNG.integers(0, 120, COUNT),
        "g": RNG.choice(list("abcz"), COUNT),
        "x": np.where(RNG.random(COUNT) < 0.1, np.nan, RNG.integers(-5, 120, COUNT).astype(float)),
    }
)


def session(unit: Any = None, standard: Any = None, frame: pd.DataFrame = ROWS, **more: Any) -> qx.Session[Any]:
    columns = {"x": {"bounds": (0, 100), "step": 1}, "g": {"keys": ["a", "b", "c"]}}
    return qx.Session(
        dataset="d",
        version="1",
        tables={"t": qx.Table(frame, limits={"rows": 5, "groups": 3}, columns=columns)},
        unit=unit or qx.unit.AddRemove(key="person"),
        standard=standard or qx.standard.Pure(),
        intensity=1000,
        ledger=":memory:",
        **more,
    )


def brute(norm: int, grouped: bool) -> Counter[tuple[str, int]]:
    """The weights at every value, by the definitions of measure.md."""
    found: Counter[tuple[str, int]] = Counter()
    rows = ROWS[ROWS.g.isin(list("abc"))] if grouped else ROWS
    for _, own in rows.groupby("person"):
        v = own.groupby("g").size().to_numpy() if grouped else np.array([len(own)])
        weight = (5 << 20) // int(v.sum()) if norm == 1 else isqrt((25 << 40) // int((v**2).sum()))
        for row in own.itertuples():
            if not np.isnan(row.x):
                place = int(min(max(np.floor(row.x + 0.5), 0), 100))
                found[row.g if grouped else "", place] += min(weight, 1 << 20)
    return found


@pytest.mark.parametrize("snapshot", [False, True], ids=["as it is", "snapshot"])
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("grouped", [False, True], ids=["all", "by key"])
def test_the_engine_weighs_every_value(norm: Any, grouped: bool, snapshot: bool) -> None:
    asked = "SELECT g, MEDIAN(x) AS m, COUNT(*) AS n FROM t GROUP BY g" if grouped else "SELECT MEDIAN(x) AS m FROM t"
    with session(snapshot=snapshot) as opened:
        program = opened._dataset.program(asked, norm)
        result = opened._connect().run(program)
    found = Counter(
        {
            (str(key[0]) if grouped else "", place): weight
            for key, each in zip(result.keys, result.measures[0], strict=True)
            for place, weight in each.dense().items()
        }
    )
    assert found == brute(norm, grouped)


def test_unknown_keys_have_histograms_of_their_own() -> None:
    frame = pd.DataFrame(
        {"person": range(400), "g": ["many"] * 300 + ["few"] * 99 + ["one"], "x": [10] * 300 + [90] * 100}
    )
    columns = {"x": {"bounds": (0, 100)}}
    with qx.Session(
        dataset="d",
        version="1",
        tables={"t": qx.Table(frame, limits={"rows": 1, "groups": 1}, columns=columns)},
        unit=qx.unit.AddRemove(key="person"),
        standard=qx.standard.Approximate(delta="1e-6"),
        intensity=1000,
        ledger=":memory:",
    ) as opened:
        found = opened.sql("SELECT g, MEDIAN(x) AS m FROM t GROUP BY g", spend=20, delta="1e-7").frame
    assert dict(zip(found["g"], found["m"], strict=True)) == {"few": 90, "many": 10}


def test_all_levels_of_one_argument_are_one_measure() -> None:
    with session() as opened:
        program = opened._dataset.program(
            "SELECT QUANTILE_CONT(x, [0.1, 0.125]) AS q, MEDIAN(x) AS m, QUANTILE_DISC(x, 0.9), "
            "PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY x DESC) AS p, MEDIAN(x + 1) AS other FROM t"
        )
    names = [output.name for output in program.query.outputs]
    assert names == ["q_p10", "q_p12_5", "m", "quantile_disc(x, 0.9)", "p", "other"]
    grids = [measure.grid for measure in program.measures]
    assert [each.levels for each in grids if each] == [
        tuple(map(Fraction, ("1/10", "1/8", "1/2", "3/4", "9/10"))),
        (Fraction(1, 2),),
    ]
    assert program.parts == ((0,), (0,), (0,), (0,), (0,), (1,))


def test_what_may_change_is_said_to_the_mechanism() -> None:
    asked, alone = "SELECT g, MEDIAN(x) AS m FROM t GROUP BY g", "SELECT MEDIAN(x) AS m FROM t"
    for unit, group, moves in (
        (qx.unit.AddRemove(key="person"), 1, False),
        (qx.unit.Replace(key="person", group=2), 2, True),
    ):
        with session(unit) as opened:
            for text, apart in ((asked, True), (alone, False)):
                (measure,) = opened._dataset.program(text).measures
                assert measure.grid is not None
                grid = measure.grid
                assert (grid.weight, grid.moves, grid.apart) == (group * 5 << 20, moves, apart)
                assert measure.sensitivity2 == (group * 5 << 20) ** 2 * (4 if moves else 1)
                # Values of one group are not told apart by squares, so a move counts in full in norm 2 as well.
                (other,) = opened._dataset.program(text, 2).measures
                assert other.sensitivity2 == other.vector.bound2 * 4**20 * group**2 * (4 if moves else 1)


@pytest.mark.parametrize("moves", [False, True], ids=["come or go", "replaced"])
def test_noise_is_for_as_far_as_people_may_move(moves: bool) -> None:
    unit = qx.unit.Replace(key="person") if moves else qx.unit.AddRemove(key="person")
    for standard, factor in ((qx.standard.Pure(), 4), (qx.standard.ZCDP(), 2)):
        with session(unit, standard) as opened:
            for text, apart in (
                ("SELECT g, MEDIAN(x) AS m FROM t GROUP BY g", True),
                ("SELECT MEDIAN(x) AS m FROM t", False),
            ):
                found = priced(opened._dataset.program(text), standard, Fraction(1), 0).measurements[0].mechanism
                assert isinstance(found, QuantileCuts)
                assert found.bins is not None
                assert found.count is not None
                squares = [
                    getattr(each, "sensitivity2", None) or each.sensitivity**2 for each in (found.count, found.bins)
                ]
                assert squares[0] == found.weight**2 * (factor if moves and apart else 1)
                assert squares[1] == (found.weight * found.split) ** 2 * (factor if moves else 1)


def test_what_names_a_question_is_for_ever() -> None:
    """The digest of everything that a ledger's key is made of: a change would charge everybody again."""
    found = {}
    for standard in (qx.standard.Pure(), qx.standard.ZCDP()):
        with session(standard=standard) as opened:
            for interval in (True, False):
                program = opened._dataset.program("SELECT g, MEDIAN(x) AS m FROM t GROUP BY g", interval=interval)
                content = asked(priced(program, standard, Fraction(1, 2), 0), opened._dataset.schema, "")
                text = json.dumps(content, sort_keys=True).encode()
                found[standard.symbol, interval] = hashlib.sha256(text).hexdigest()[:16]
    assert found == GOLDEN


@pytest.mark.parametrize("unit", [qx.unit.AddRemove(key="person"), qx.unit.Replace(key="person")], ids=lambda u: u.kind)
@pytest.mark.parametrize("interval", [True, False])
@pytest.mark.parametrize(
    "asked", ["SELECT MEDIAN(x) AS m FROM t", "SELECT g, QUANTILE_DISC(x, [0.1, 0.5, 0.8]) AS q FROM t GROUP BY g"]
)
def test_the_price_is_what_the_certified_loss_says(asked: str, interval: bool, unit: Any) -> None:
    for standard in (qx.standard.Pure(), qx.standard.ZCDP(), qx.standard.Renyi(4)):
        with session(unit, standard) as opened:
            program = opened._dataset.program(asked, interval=interval)
            for spend in (Fraction(1, 10), Fraction(3)):
                found = priced(program, standard, spend, 0)
                assert found.spend * Fraction(999, 1000) < found.loss.spend(standard) <= found.spend
                alone = QuantileFlip if isinstance(standard, qx.standard.Pure) else QuantileChoice
                kind = alone if not interval and "0.1" not in asked else QuantileCuts
                assert type(found.measurements[0].mechanism) is kind


def test_answers_are_stored_and_asked_again_for_nothing() -> None:
    with session() as opened:
        first = opened.sql("SELECT g, QUANTILE_DISC(x, [0.5, 0.9]) AS q FROM t GROUP BY g", spend=5)
        again = opened.sql(
            "SELECT g, QUANTILE_DISC(x, 0.9) AS high, QUANTILE_DISC(x, 0.5) AS q FROM t GROUP BY g", spend=5
        )
        assert (first.spent, again.spent) == (5, 0)
        assert first.frame["q_p90"].tolist() == again.frame["high"].tolist()
        bare = opened.sql("SELECT MEDIAN(x) AS m FROM t", spend=5, interval=False)
        assert bare.frame["m_low"].isna().all()
        assert bare.spent == 5
        assert opened.sql("SELECT MEDIAN(x) AS m FROM t", spend=5).spent == 5


def test_the_expected_error_is_simulated_and_said_so() -> None:
    with session() as opened:
        one, two = (opened.explain("SELECT MEDIAN(x) AS m FROM t", spend=1) for _ in range(2))
        assert one.errors == two.errors
        assert "simulated: a group of 1,000 rows, spread evenly from 0 to 100" in str(one)
        assert opened.explain("SELECT MEDIAN(x) AS m FROM t", spend=1, interval=False).errors[0].se


def test_a_grid_that_is_too_fine_is_made_coarser_from_declarations_alone() -> None:
    columns = {"x": {"bounds": (0, 10**8), "type": "integer"}, "g": {"keys": ["a", "b", "c"]}}
    with qx.Session(
        dataset="d",
        version="1",
        tables={"t": qx.Table(ROWS, limits={"rows": 5}, columns=columns)},
        unit=qx.unit.AddRemove(key="person"),
        standard=qx.standard.Pure(),
        intensity=1,
        ledger=":memory:",
    ) as opened:
        (one,) = opened._dataset.program("SELECT MEDIAN(x) AS m FROM t").measures
        (three,) = opened._dataset.program("SELECT g, MEDIAN(x) AS m FROM t GROUP BY g").measures
        assert (one.step, three.step) == (100, 1000)
        assert "rounded to multiples of 100." in str(opened.explain("SELECT MEDIAN(x) AS m FROM t"))


def test_what_is_refused() -> None:
    with session() as opened:
        with pytest.raises(qx.errors.RefusalError, match="public grid") as caught:
            opened.sql("SELECT MEDIAN(person) AS m FROM t", spend=1)
        assert "CLAMP" in caught.value.hint
        with pytest.raises(qx.errors.RefusalError, match="between 0 and 1"):
            opened.sql("SELECT QUANTILE_CONT(x, [0.5, 1.0]) AS m FROM t", spend=1)
        with pytest.raises(qx.errors.ParameterError, match="half-widths"):
            opened.sql("SELECT MEDIAN(x) AS m FROM t", within={"m": 3})


def covered(values: list[int], level: Fraction, continuous: bool, runs: int) -> int:
    """How often the interval holds DuckDB's quantile of these values, with so little noise that shifts matter."""
    cuts = QuantileCuts(
        levels=[level], buckets=101, split=2**16, eta=40, count=DiscreteLaplace(scale=1),
        bins=DiscreteLaplace(scale=2**11, sensitivity=2**16), apart=False,
    )  # fmt: skip
    given = Histogram.of(np.bincount(values, minlength=101))
    answers = cuts.each(np.array([given] * runs, dtype=object))
    column = Column(type="integer", nullable=True, name="x", scan=0, level=0)
    lattice = Lattice(step=Fraction(1), low=0, high=100, centre=0)
    part = Part(lattice=lattice, unit=Fraction(1), noise=cuts)
    found = Quantile(argument=column, level=level, continuous=continuous).estimate([answers], [part], Fraction(1, 20))
    method = "linear" if continuous else "inverted_cdf"
    true = float(np.quantile(values, float(level), method=method))
    return int(((found.low <= true) & (true <= found.high)).sum())


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("continuous", [False, True], ids=["disc", "cont"])
@pytest.mark.parametrize("level", ["1/4", "1/2", "9/10"])
def test_intervals_cover_groups_of_two_to_eight_rows(level: str, continuous: bool, full: bool) -> None:
    """At 95 %; the bound is that of a one-sided test at 1e-6 / 60 for every group."""
    runs = 1_000 if full else 80
    least = int(stats.binom.ppf(1e-6 / 60, runs, 0.95))
    source = np.random.default_rng(11)
    for rows in (2, 3, 5, 8):
        values = sorted(source.integers(0, 101, rows).tolist()) if rows > 2 else [0, 100]
        assert covered(values, Fraction(level), continuous, runs) >= least, rows
