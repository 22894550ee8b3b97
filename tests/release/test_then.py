"""Free SQL above the noise: what comes out, its intervals, and that nothing is charged or read."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import pytest

import quincunx as qx
from quincunx.errors import ParameterError, QueryError, QuincunxError, RefusalError
from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace
from quincunx.release.column import Column
from quincunx.release.derive import SIMULATED, derived_columns
from quincunx.release.drawn import Drawn, Motion
from quincunx.release.lineage import Kind, lineage
from quincunx.release.linear_form import Noises, half_width
from tests.release.world import session

ASKED = "SELECT region, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY region"
UNIT = 2.0**-20


def drawn(values: list[float], noise: object, origin: str = "o", number: int = 0) -> Drawn:
    ones = (1.0,) * len(values)
    motion = Motion(number=number, noise=noise, unit=UNIT, slopes=ones)  # type: ignore[arg-type]
    groups = tuple(range(len(values)))
    return Drawn(
        origin=origin, groups=groups, centres=tuple(values), motions=(motion,), linear=True, low=ones, high=ones
    )


def published(values: list[float], noise: object, origin: str = "o") -> tuple[Column, ...]:
    keys = tuple(f"g{i:02}" for i in range(len(values)))
    half = noise.error(Fraction(1, 20)) * UNIT  # type: ignore[attr-defined]
    whole = tuple(round(value) for value in values)
    return (
        Column(name="g", type="text", role="key", values=keys),
        Column(name="n", type="integer", role="value", values=whole, drawn=drawn(values, noise, origin)),
        Column(name="n_low", type="float", role="low", values=tuple(value - half for value in values)),
        Column(name="n_high", type="float", role="high", values=tuple(value + half for value in values)),
        Column(name="n_se", type="float", role="se", values=tuple(10.0 for _ in values)),
    )


LAPLACE = DiscreteLaplace(scale=10 * 2**20, sensitivity=1)
GAUSSIAN = DiscreteGaussian(sigma2=Fraction(100) * 4**20, sensitivity2=Fraction(1))


def test_it_costs_nothing_and_says_so() -> None:
    with session() as given:
        answer = given.sql(ASKED, spend="0.4")
        before = given.spent
        found = answer.then("SELECT region, n, n / SUM(n) OVER () AS share FROM answer ORDER BY n DESC LIMIT 2")
        assert given.spent == before
        assert found.keys == ("region",)
        assert found.outputs == ("n", "share")
        assert len(found) == 2
        assert found["n"] == tuple(sorted(answer["n"], reverse=True)[:2])
        row = answer["n"].index(found["n"][0])
        assert (found["n_low"][0], found["n_high"][0]) == (answer["n_low"][row], answer["n_high"][row])
        assert "cost 0" in str(found)
        assert found.to_dict()["spent"] == "0"
        assert type(found.frame) is type(answer.frame)
        again = given.sql(ASKED, spend="0.4").then("SELECT n / SUM(n) OVER () AS share, region FROM answer")
        shown = dict(zip(again["region"], again["share_low"], strict=True))
        assert all(shown[region] == low for region, low in zip(found["region"], found["share_low"], strict=True))


def test_what_is_worked_out_can_be_worked_with() -> None:
    with session() as given:
        answer = given.sql(ASKED, spend="0.4")
        twice = answer.then("SELECT region, 2 * n AS d FROM answer WHERE region <> 'west';").then(
            "SELECT SUM(d) / 2 AS total FROM answer"
        )
        once = answer.then("SELECT SUM(n) AS total FROM answer WHERE region <> 'west'")
        assert twice["total"] == tuple(float(value) for value in once["total"])
        assert twice["total_low"] == pytest.approx(once["total_low"])


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_linear_outputs_are_exact(noise: object) -> None:
    """Coefficients, centres and half-widths of totals, differences and running totals."""
    values = [100.25, 50.5, 75.0, 20.125]
    sql = "SELECT g, SUM(n) OVER () AS s, n - LAG(n) OVER (ORDER BY g) AS d, SUM(n) OVER (ORDER BY g) AS r FROM answer"
    found = {c.name: c for c in derived_columns({"answer": published(values, noise)}, sql, Fraction(19, 20))}
    law = Noises(noise=noise, unit=UNIT)  # type: ignore[arg-type]
    for count in (2, 3, 4):
        half = half_width([(1.0, law)] * count, Fraction(1, 20))
        assert found["r_low"].values[count - 1] == pytest.approx(sum(values[:count]) - half, rel=1e-6)
        assert found["r_high"].values[count - 1] == pytest.approx(sum(values[:count]) + half, rel=1e-6)
    assert found["s_low"].values == pytest.approx([found["r_low"].values[3]] * 4)
    half = half_width([(1.0, law), (-1.0, law)], Fraction(1, 20))
    assert found["d_low"].values[1] == pytest.approx(values[1] - values[0] - half, rel=1e-6)
    assert found["d_low"].values[0] is None
    assert not any(found[name].note for name in ("s", "d", "r"))
    spread = 10 * (2**0.5 if noise is LAPLACE else 1)
    assert found["s_se"].values[0] == pytest.approx(2 * spread, rel=1e-3)


@pytest.mark.parametrize("terms", [2, 3, 14, 60])
def test_half_widths_hold_and_are_narrow(terms: int) -> None:
    """Against 400,000 sums of draws: the risk is 0.05 ± 6 standard deviations (false alarm below 1e-8)."""
    chance = np.random.default_rng(5 + terms)
    scales = chance.uniform(0.2, 3, terms)
    laws = [Noises(noise=DiscreteLaplace(scale=2**20, sensitivity=1), unit=UNIT)] * terms
    q = half_width(list(zip(scales.tolist(), laws, strict=True)), Fraction(1, 20))
    draws = np.abs((chance.laplace(size=(400_000, terms)) * scales).sum(axis=1))
    assert abs((draws > q).mean() - 0.05) < 6 * (0.05 * 0.95 / 400_000) ** 0.5 + 1e-4


def test_half_widths_on_a_coarse_lattice() -> None:
    """Whole numbers with little noise: enumerated, at most the stated risk."""
    noise = DiscreteLaplace(scale=1, sensitivity=1)
    q = half_width([(1.0, Noises(noise=noise, unit=1.0))] * 3, Fraction(1, 20))
    weights = np.exp(-np.abs(np.arange(-60, 61)).astype(float))
    law = np.convolve(np.convolve(weights, weights), weights) / weights.sum() ** 3
    outside = law[np.abs(np.arange(len(law)) - len(law) // 2) > q].sum()
    assert outside <= 0.05


def test_one_noise_under_two_names_counts_once() -> None:
    """The difference of an answer with itself is certain; with another answer it is not."""
    one, other = published([100.0], LAPLACE), published([80.0], LAPLACE, origin="p")
    sql = "SELECT a.g, a.n - b.n AS d FROM a JOIN b USING (g)"
    same = {c.name: c.values[0] for c in derived_columns({"a": one, "b": one}, sql, Fraction(19, 20))}
    assert (same["d"], same["d_low"], same["d_high"]) == (0, 0.0, 0.0)
    apart = {c.name: c.values[0] for c in derived_columns({"a": one, "b": other}, sql, Fraction(19, 20))}
    assert apart["d_high"] - apart["d_low"] > 2 * LAPLACE.error(Fraction(1, 20)) * UNIT


def test_answers_together() -> None:
    with session() as given:
        a = given.sql(ASKED, spend="0.4")
        b = given.sql("SELECT region, SUM(cost) AS s FROM visits GROUP BY region", spend="0.4")
        both = qx.combine(a=a, b=b).then("SELECT a.region, s / n AS mean, n FROM a JOIN b ON a.region = b.region")
        assert both.outputs == ("mean", "n")
        assert [c.note for c in both.columns if c.name == "mean"] == [SIMULATED]
        assert both["n_low"] == a["n_low"]
        with pytest.raises(ParameterError):
            qx.combine()
        with pytest.raises(ParameterError):
            qx.combine(a=3)  # type: ignore[arg-type]
        with pytest.raises(RefusalError, match="no such published table"):
            qx.combine(a=a).then("SELECT * FROM answer")


def test_the_private_table_is_out_of_reach() -> None:
    with session() as given:
        answer = given.sql(ASKED, spend="0.4")
        for sql in ("SELECT * FROM visits", "SELECT * FROM answer JOIN visits USING (region)", "SELECT * FROM regions"):
            with pytest.raises(RefusalError, match="no such published table"):
                answer.then(sql)
        with pytest.raises(QueryError):
            answer.then("SELECT 1 / 'x' FROM answer")
        # Mistakes close nothing.
        assert given.sql(ASKED, spend="0.4").spent == 0


def test_kinds() -> None:
    """Which interval a column gets, by what it is made of."""
    known = {"answer": {"g": Kind.KEYS, "y": Kind.KEYS, "n": Kind.LINEAR, "m": Kind.OTHER, "u": Kind.UNKNOWN}}

    def kinds(chosen: str, rest: str = "", count: int = 1) -> str:
        found = lineage(f"SELECT {chosen} FROM answer {rest}", known, count)
        return " ".join(each.kind.name for each in found.columns) + ("" if found.rows == Kind.KEYS else " OTHER ROWS")

    assert kinds("g, y + 1, UPPER(g)", count=3) == "KEYS KEYS KEYS"
    assert kinds("n, -n, n + y, y * n, n / 3, n::DOUBLE, COALESCE(n, 0)", count=7) == "LINEAR " * 6 + "LINEAR"
    assert kinds("n * n, 1 / n, n / n, SQRT(n), ROUND(n), MAX(n) OVER ()", count=6) == "OTHER " * 5 + "OTHER"
    assert kinds("n + u, u, n * u, CASE WHEN u > 1 THEN 1 END", count=4) == "UNKNOWN " * 3 + "UNKNOWN"
    assert kinds("SUM(n), COUNT(*), COUNT(n), SUM(DISTINCT n), MIN(n)", count=5) == "LINEAR KEYS OTHER OTHER OTHER"
    assert kinds("SUM(n)", "WHERE y > 3") == "LINEAR"
    assert kinds("SUM(n), COUNT(*)", "WHERE n > 3", 2) == "OTHER OTHER OTHER ROWS"
    assert kinds("SUM(n) FILTER (WHERE n > 3)") == "OTHER"
    assert kinds("SUM(n) OVER (ORDER BY y), SUM(n) OVER (ORDER BY n), RANK() OVER (ORDER BY n)", count=3) == (
        "LINEAR OTHER OTHER"
    )
    assert kinds("g, n", "ORDER BY n LIMIT 2", 2) == "KEYS LINEAR OTHER ROWS"
    assert kinds("g", "GROUP BY g HAVING SUM(n) > 2") == "KEYS OTHER ROWS"
    assert kinds("CASE WHEN g = 'a' THEN n ELSE 0 END, CASE WHEN n > 1 THEN y END", count=2) == "LINEAR OTHER"
    assert kinds("n - (SELECT SUM(n) FROM answer), (SELECT MAX(n) FROM answer)", count=2) == "LINEAR OTHER"


def test_one_statement_gives_what_single_runs_give() -> None:
    """All runs in one LATERAL join, against the statement by itself over each run."""
    table = published([100.0, 52.0, 49.0, 20.0], LAPLACE)
    statements = [
        "SELECT g, n / SUM(n) OVER () AS x FROM answer",
        "WITH t AS (SELECT * FROM answer WHERE n > 30) SELECT g, n - AVG(n) OVER () AS x FROM t",
        "SELECT g, RANK() OVER (ORDER BY n DESC) AS x FROM answer ORDER BY n LIMIT 3",
        "SELECT MAX(n) - MIN(n) AS x FROM answer",
    ]
    draws = np.rint(table[1].drawn.values())  # type: ignore[union-attr]
    for sql in statements:
        found = {c.name: c for c in derived_columns({"answer": table}, sql, Fraction(19, 20))}
        keys = found["g"].values if "g" in found else ((),)
        kept: dict[object, list[float]] = {key: [] for key in keys}
        connection = duckdb.connect()
        for run in range(0, 2000, 40):
            answer = {"g": np.array(table[0].values, dtype=object), "n": draws[run].astype(np.int64)}
            connection.register("answer", answer)
            plain = sql.split(" ORDER BY n LIMIT")[0]
            for row in connection.execute(plain).fetchall():
                key = row[0] if "g" in found else ()
                if key in kept:
                    kept[key].append(float(row[-1]))
        for key, low, high in zip(keys, found["x_low"].values, found["x_high"].values, strict=True):
            inside = np.mean([low <= value <= high for value in kept[key]]) if low is not None else 1.0
            assert inside > 0.75, (sql, key)


def test_a_published_zero_below_a_quotient_costs_no_interval() -> None:
    """years / n is no number where n was published as 0; other groups keep their intervals."""
    tables = {"a": published([400.0, 0.2, 300.0], GAUSSIAN), "b": published([8000.0, 100.0, 9000.0], GAUSSIAN, "p")}
    for sql in ("SELECT g, b.n / a.n AS mean FROM a JOIN b USING (g)", "SELECT g, LN(a.n) AS mean FROM a WHERE n <> 0"):
        found = {each.name: each.values for each in derived_columns(tables, sql, Fraction(19, 20))}
        assert list(found) == ["g", "mean", "mean_low", "mean_high", "mean_se"]
        for mean, low, high in zip(found["mean"], found["mean_low"], found["mean_high"], strict=True):
            assert (mean is None) == (low is None) == (high is None)
            assert mean is None or low < mean < high
    quotients = derived_columns(tables, "SELECT g, b.n / a.n AS mean FROM a JOIN b USING (g)", Fraction(19, 20))
    assert [value is None for value in quotients[1].values] == [False, True, False]


def test_names_and_types() -> None:
    table = {"answer": published([3.0, 4.0], GAUSSIAN)}
    with pytest.raises(QueryError, match="same name"):
        derived_columns(table, "SELECT g, n AS G FROM answer", Fraction(1, 2))
    with pytest.raises(QueryError, match="cannot be shown"):
        derived_columns(table, "SELECT [n] AS x FROM answer", Fraction(1, 2))
    whole = {c.name: c.role for c in derived_columns(table, "SELECT * FROM answer", Fraction(1, 2))}
    assert whole == {"g": "key", "n": "value", "n_low": "low", "n_high": "high", "n_se": "se"}
    alone = derived_columns(table, "SELECT g, n_low AS x FROM answer", Fraction(1, 2))
    assert [(c.name, c.role) for c in alone] == [("g", "key"), ("x", "value")]
    words = {
        c.name: c.note for c in derived_columns(table, "SELECT n::VARCHAR AS t, n > 3 AS b FROM answer", Fraction(1, 2))
    }
    assert all("no interval" in note for note in words.values())
    alike = {c.name: c for c in derived_columns(table, "SELECT n * n AS x FROM answer", Fraction(1, 2))}
    assert "told apart" in alike["x"].note
    assert "x_low" not in alike


@pytest.mark.usefixtures("stream")
def test_windows_in_the_question_are_free() -> None:
    with session() as given:
        first = given.sql(ASKED, spend="0.4")
        sql = (
            "SELECT region, COUNT(*) AS n, n / SUM(COUNT(*)) OVER () AS share, RANK() OVER (ORDER BY n DESC) AS place, "
            "SQRT(COUNT(*)) AS root FROM visits GROUP BY region HAVING AVG(cost) > -1000 "
            "QUALIFY RANK() OVER (ORDER BY n DESC) <= 3 ORDER BY place LIMIT 2"
        )
        found = given.sql(sql, spend="0.4")
        assert found.spent == 0, "the same measures and the same noise are the same question"
        assert found["n"] == tuple(sorted(first["n"], reverse=True)[:2])
        assert found["share"] == tuple(n / sum(first["n"]) for n in found["n"])
        assert found["place"] == (1, 2)
        assert found["root"] == tuple(n**0.5 for n in found["n"])
        best = first["n"].index(found["n"][0])
        assert found["n_low"][0] == first["n_low"][best]
        assert found.outputs == ("n", "share", "place", "root")
        onward = found.then("SELECT region, share * 100 AS percent FROM answer")
        assert onward["percent"] == tuple(100 * share for share in found["share"])
        assert onward["percent_low"][0] < onward["percent"][0] < onward["percent_high"][0]


def test_windows_mean_what_sql_says() -> None:
    """Against DuckDB over the published table, all groups, HAVING before windows."""
    with session() as given:
        plain = given.sql("SELECT MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY m", spend="0.4")
        sql = (
            "SELECT MONTH(day) AS m, COUNT(*) AS n, n - LAG(n) OVER (ORDER BY m) AS change, "
            "SUM(n) OVER w AS running, COUNT(*) OVER () AS months FROM visits GROUP BY m HAVING n > 10 "
            "WINDOW w AS (ORDER BY m ROWS UNBOUNDED PRECEDING) ORDER BY m"
        )
        found = given.sql(sql, spend="0.4")
        published = plain.to_arrow()
        assert published.num_rows == 13
        expected = duckdb.sql(
            "SELECT m, n, n - LAG(n) OVER (ORDER BY m), SUM(n) OVER (ORDER BY m ROWS UNBOUNDED PRECEDING), "
            "COUNT(*) OVER () "
            "FROM published WHERE n > 10 ORDER BY m"
        ).fetchall()
        columns = ("m", "n", "change", "running", "months")
        assert list(zip(*(found[name] for name in columns), strict=True)) == expected


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT region, cost / SUM(COUNT(*)) OVER () AS x FROM visits GROUP BY region", "single rows"),
        ("SELECT region, SUM(COUNT(*)) OVER (ORDER BY cost) AS x FROM visits GROUP BY region", "single rows"),
        ("SELECT SUM(cost) OVER () AS x FROM visits", "rows of different people"),
        ("SELECT region, SUM(SQRT(cost)) AS x FROM visits GROUP BY region", "not on the list"),
        ("SELECT region, SQRT((SELECT 1)) AS x, COUNT(*) AS n FROM visits GROUP BY region", "needs FROM"),
        ("SELECT region, LOG(COUNT(*), region) AS x FROM visits GROUP BY region", "cannot be worked out"),
        ("SELECT region, RANK() OVER (ORDER BY region) AS r FROM visits GROUP BY region", "nothing is counted"),
        ("SELECT COUNT(*) AS n, SQRT(n) AS n_low FROM visits", "kept for intervals"),
        ("SELECT COUNT(*) AS n, SQRT(n) AS N FROM visits", "same name"),
    ],
)  # fmt: skip
def test_what_stays_refused(sql: str, said: str) -> None:
    with session() as given:
        with pytest.raises(QuincunxError, match=said):
            given.sql(sql, spend="0.4")
        assert given.spent == 0


def test_a_failure_above_the_noise_closes_nothing() -> None:
    with session() as given:
        with pytest.raises(QueryError, match="paid for and stored"):
            given.sql(
                "SELECT region, COUNT(*) AS n, NTILE(n - 9999) OVER (ORDER BY region) AS x FROM visits GROUP BY region",
                spend="0.4",
            )
        assert given.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", spend="0.4").spent == 0


def test_an_order_that_is_not_certain_is_said() -> None:
    with session() as given:
        top = given.sql(
            "SELECT region, COUNT(*) AS n FROM visits GROUP BY region ORDER BY n DESC LIMIT 2", spend="0.01"
        )
        assert any("Intervals of n overlap in rows 1 and 2" in note for note in top.notes)
        assert any("first row that is left out" in note for note in top.notes)
        sure = given.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region ORDER BY n DESC LIMIT 3", spend="50")
        assert not any("left out" in note for note in sure.notes)


@pytest.mark.parametrize("world", [(200, 5000), (300, 340)], ids=["apart", "close"])
def test_simulated_intervals_hold(world: tuple[int, int], full: bool) -> None:
    """Shares, ratios and ranks of 14 groups hold the truth in at least 93 % of cells, by kind (see bench/then.py).

    Draws and noise are seeded, so that there is no false alarm; 150 tables in full.
    """
    noise, groups, tables = GAUSSIAN, 14, 150 if full else 12
    chance, kinds = np.random.default_rng(11), ("share", "ratio", "place")
    held: dict[str, list[bool]] = {kind: [] for kind in kinds}
    sql = (
        "SELECT g, n / SUM(n) OVER () AS share, n / LAG(n) OVER (ORDER BY g) AS ratio, "
        "RANK() OVER (ORDER BY n DESC) AS place FROM answer ORDER BY g"
    )
    for run in range(tables):
        exact = np.rint(np.exp(chance.uniform(*np.log(world), groups)))
        noisy = exact + chance.normal(0, 10, groups)
        found = derived_columns({"answer": published(noisy.tolist(), noise, f"run {run}")}, sql, Fraction(19, 20))
        columns = {column.name: column.values for column in found}
        truth = {
            "share": exact / exact.sum(),
            "ratio": np.append(np.nan, exact[1:] / exact[:-1]),
            "place": 1 + (exact[None, :] > exact[:, None]).sum(axis=1),
        }
        for kind in kinds:
            cells = zip(truth[kind], columns[f"{kind}_low"], columns[f"{kind}_high"], strict=True)
            held[kind] += [low <= value <= high for value, low, high in cells if low is not None]
    shares = {kind: np.mean(each) for kind, each in held.items()}
    assert all(share >= 0.93 for share in shares.values()), shares
    assert shares["share"] < 0.999, "a share's interval is not as wide as the table"


def test_an_extreme_widens_its_own_column_and_no_other() -> None:
    """All draws count where the largest may have been picked: in its column, in those made of it, in all if below."""
    noise = DiscreteLaplace(scale=10 << 20)
    table = {"answer": published([900.0, 800.0, 700.0, 300.0], noise)}

    def wide(sql: str) -> dict[str, float]:
        found = {each.name: each.values for each in derived_columns(table, sql, Fraction(19, 20))}
        ends = ((name, name + "_low", name + "_high") for name in found if name + "_low" in found)
        return {name: float(str(found[high][0])) - float(str(found[low][0])) for name, low, high in ends}

    share = "n / SUM(n) OVER () AS share"
    alone = wide(f"SELECT g, {share} FROM answer")["share"]
    beside = wide(f"SELECT g, {share}, n / MAX(n) OVER () AS top, SQRT(n) AS max FROM answer")
    assert beside["share"] == alone
    assert beside["max"] == wide("SELECT g, SQRT(n) AS root FROM answer")["root"]
    for made in (
        "SELECT g, (n + 50) / m AS share FROM (SELECT g, n, MAX(n) OVER () AS m FROM answer)",
        "SELECT g, MAX(n) OVER () AS m, (n + 50) / m AS share FROM answer",
        f"SELECT g, {share} FROM answer WHERE n <= (SELECT MAX(n) FROM answer)",
    ):
        plain = made.replace("MAX(n) OVER ()", "FIRST_VALUE(n) OVER (ORDER BY g)").replace("MAX(n)", "1000000 + SUM(n)")
        assert wide(made)["share"] > 1.5 * wide(plain)["share"] > 0
