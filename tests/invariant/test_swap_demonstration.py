"""The demonstration of `bench/swap_demonstration.py`: on a made-up file always, on the public files where they are."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests import benches
from tests.chart.reading import check_readable, texts
from tests.datasets import real_data

pl = pytest.importorskip("polars", reason="the demonstration needs Polars")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def public_files() -> None:
    real_data("households", "cps_tax_units.csv.gz")
    real_data("census_blocks", "rhode_island_2010.csv")


@pytest.fixture(scope="module")
def demonstration() -> ModuleType:
    return benches.bench("swap_demonstration")


def made_up(demonstration: ModuleType) -> object:
    """60 households of two sizes in three states, of which the first has all the food aid."""
    records = pl.DataFrame(
        {
            "state": [1, 2, 4] * 20,
            "size": [1, 1, 1, 2, 2, 2] * 10,
            "snap": ["yes", "no", "no"] * 20,
        }
    )
    return demonstration.Case(
        name="made up",
        records=records,
        column="state",
        match=["size"],
        rest="snap",
        place=pl.col("state"),
        rows=[1, 2],
        row_names=["AL", "AK"],
        columns={"no": "no food aid", "yes": "food aid"},
        what="households",
        table_title="T",
        error_title=lambda low, high: f"from {low:.1f} to {high:.0f}",
        note="N.",
    )


def test_the_error_is_a_mean_of_percentages(demonstration: ModuleType) -> None:
    before = {("a", "x"): 10, ("a", "y"): 20, ("b", "x"): 5}
    assert demonstration.error(before, before) == 0
    # 50 %, 25 % and 100 % off; a cell that was empty before has no percentage.
    assert demonstration.error(before, {("a", "x"): 15, ("a", "y"): 15, ("c", "x"): 9}) == pytest.approx(175 / 3)


def test_a_changed_invariant_is_noticed(demonstration: ModuleType) -> None:
    case = made_up(demonstration)
    records = case.records
    assert demonstration.exact(case, records, records.sample(fraction=1, shuffle=True, seed=1))
    moved = records.with_columns(state=pl.when(pl.int_range(pl.len()) == 0).then(2).otherwise("state"))
    assert not demonstration.exact(case, records, moved)


def test_a_made_up_file_goes_through(demonstration: ModuleType) -> None:
    case = made_up(demonstration)
    errors, after, costs = demonstration.run(case, 3)
    assert list(errors) == list(costs) == list(demonstration.RATES)
    assert all(len(found) == 3 for found in errors.values())
    assert costs[50].largest_stratum == 30
    assert sum(after.values()) == 60
    # At half of the records the first state cannot have kept all the food aid.
    assert errors[50][0] > 0
    for picture in demonstration.pictures(case, errors, after).values():
        check_readable(picture)


def test_the_runs_can_be_repeated(demonstration: ModuleType) -> None:
    case = made_up(demonstration)
    assert demonstration.run(case, 1)[0] == demonstration.run(case, 1)[0]


@pytest.mark.usefixtures("public_files")
def test_the_survey_is_read_as_described(demonstration: ModuleType) -> None:
    case = demonstration.survey()
    assert len(case.records) == 200_576
    assert case.records["state"].n_unique() == 51
    assert case.records.null_count().sum_horizontal()[0] == 0


@pytest.mark.usefixtures("public_files")
def test_rhode_island_is_rebuilt_person_by_person(demonstration: ModuleType) -> None:
    people = demonstration.rhode_island().records
    assert len(people) == 1_052_567
    assert people["county"].n_unique() == 5
    # Nobody lives in three of the 244 tracts.
    assert people.group_by(pl.col("block") // 10**4).len().height == 241


@pytest.mark.usefixtures("public_files")
@pytest.mark.parametrize("name", ["survey", "rhode_island"])
def test_the_committed_table_shows_the_public_counts(demonstration: ModuleType, name: str) -> None:
    case = getattr(demonstration, name)()
    before = demonstration.table(case, case.records)
    wanted = [f"{before.get((row, column), 0):,}" for row in case.rows for column in case.columns]
    svg = (ROOT / "docs" / "images" / f"swap_{name}_table.svg").read_text(encoding="utf-8")
    chart = type("Picture", (), {"svg": svg})()
    assert texts(chart, "number")[::2] == wanted
