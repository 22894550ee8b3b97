"""Replay of every aggregate: each of its measures comes near what is declared of it, and seeded bugs are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from quincunx.table import AGGREGATES
from quincunx.table.rules import pipeline
from tests.audit.tables.bugs import Patch
from tests.audit.tables.scenes import scene

# Bounds on both sides of 0, so that squares reach both of their ends, and a factor that is always at its end, so that
# products with age do. Their own sums then reach one end alone.
TURNED = "CASE WHEN FALSE THEN -age ELSE age END"
ALWAYS = "CASE WHEN age IS NULL THEN 0 ELSE 1 END"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question about an aggregate. measure: the one of its measures that is its own, in which bugs are seeded.

    far: how near a pair must come to what is declared, for each of its measures.
    """

    sql: str
    measure: int = 0
    far: float = 0.7


ASKED = {
    "Count": Asked(sql="SELECT region, COUNT(*) AS n, COUNT(cost) AS c FROM visits GROUP BY region"),
    "Sum": Asked(sql="SELECT region, SUM(cost) AS s FROM visits GROUP BY region"),
    "Mean": Asked(sql="SELECT AVG(age) AS m FROM visits"),
    "People": Asked(sql="SELECT region, COUNT(DISTINCT person) AS p FROM visits GROUP BY region"),
    "Distinct": Asked(sql="SELECT region, COUNT(DISTINCT age) AS d FROM visits GROUP BY region"),
    "Variance": Asked(sql=f"SELECT VAR_POP({TURNED}) AS v FROM visits", far=0.4),
    "Covariance": Asked(sql=f"SELECT COVAR_POP(age, {ALWAYS}) AS v FROM visits", far=0.4),
    "Correlation": Asked(sql=f"SELECT CORR(age, {ALWAYS}) AS r FROM visits", far=0.4),
    "Slope": Asked(sql=f"SELECT REGR_SLOPE(age, {ALWAYS}) AS b FROM visits", far=0.4),
    "Intercept": Asked(sql=f"SELECT REGR_INTERCEPT(age, {ALWAYS}) AS a FROM visits", far=0.4),
    "Quantile": Asked(sql="SELECT region, QUANTILE_DISC(age, [0.1, 0.5]) AS q FROM visits GROUP BY region"),
    "Histogram": Asked(sql="SELECT region, HISTOGRAM(age, [20, 60, 90]) AS h FROM visits GROUP BY region"),
    "Cdf": Asked(sql="SELECT region, CDF(age, [10, 20, 30, 40, 50, 60]) AS c FROM visits GROUP BY region"),
    "CdfCount": Asked(sql="SELECT CDF_COUNT(age, [10, 20, 30, 40, 50, 60]) AS c FROM visits"),
}


def test_every_aggregate_is_here() -> None:
    assert set(ASKED) == {each.__name__ for each in AGGREGATES}


@pytest.mark.parametrize("name", ASKED)
def test_every_measure_comes_near_what_is_declared(name: str) -> None:
    asked = ASKED[name]
    found = scene("replace person", "rows").replay(asked.sql, pairs=40, giants=1, series=name, shrunk=0)
    assert found.check().holds
    assert found.refused == 0
    far = {cell.aggregate: cell.largest for cell in found.cells}
    print({each: round(largest, 3) for each, largest in far.items()})
    assert min(far.values()) > asked.far


def changed(change: Callable[[Any], Any], place: int = 0) -> Patch:
    """The plan with one of its measures changed: what is declared, and not what the engine computes."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        rules = tuple(_changing(rule, change, place) if rule.__name__ == "scale" else rule for rule in pipeline.RULES)
        monkeypatch.setattr(pipeline, "RULES", rules)

    return patch


def _changing(rule: Any, change: Callable[[Any], Any], place: int) -> Any:
    def around(draft: Any) -> Any:
        found = rule(draft)
        measures = list(found.measures)
        measures[place] = change(measures[place])
        return replace(found, measures=tuple(measures))

    return around


def halved(measure: Any) -> Any:
    """Noise for half of the distance."""
    return replace(measure, sensitivity2=measure.sensitivity2 / 4)


def _grid(**changes: Any) -> Callable[[Any], Any]:
    return lambda measure: replace(measure, grid=replace(measure.grid, **changes))


def _lighter(measure: Any) -> Any:
    return _grid(weight=measure.grid.weight // 2)(measure)


BUGS: dict[str, tuple[str, Patch, str, int]] = {
    **{
        f"{name}, noise for half of the distance in ℓ{norm}": (
            name,
            changed(halved, asked.measure),
            "replace person",
            norm,
        )
        for name, asked in ASKED.items()
        for norm in (1, 2)
    },
    "ranks of people who are replaced as if they came": ("Quantile", changed(_grid(moves=False)), "replace person", 1),
    "ranks of people who weigh half": ("Quantile", changed(_lighter), "add-remove person", 2),
    "ranks of several groups as of one": ("Quantile", changed(_grid(apart=False)), "add-remove person", 1),
}


@pytest.mark.parametrize("name", BUGS)
def test_a_seeded_bug_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    which, patch, unit, norm = BUGS[name]
    patch(monkeypatch)
    at = scene(unit, "rows")
    found = at.replay(ASKED[which].sql, norms=(norm,), pairs=40, giants=1, series=which, shrunk=0)
    assert not found.holds
    assert any(violation.part.startswith("measure") for violation in found.violations)
