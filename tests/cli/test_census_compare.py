"""`quincunx census compare`: swapping and TopDown on one table."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app
from quincunx.cli.census_compare import pictures
from quincunx.errors import DataError, ParameterError
from quincunx.invariant.comparison import compare, percentage_error, write_dwellings
from quincunx.noise.testing import key_of, keyed
from tests.chart.reading import check_readable


@pytest.fixture(scope="module")
def dwellings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dwellings(tmp_path_factory.mktemp("world") / "dwellings.csv", 4_000)


def test_the_error_is_a_mean_of_percentages() -> None:
    before, after = np.array([[10, 0], [20, 5]]), np.array([[15, 3], [15, 0]])
    assert percentage_error(before, before) == 0
    assert percentage_error(before, after) == pytest.approx((50 + 25 + 100) / 3)


def test_both_methods_keep_what_they_keep(dwellings: Path) -> None:
    with keyed(key_of("compare")):
        found = compare(dwellings, place="county", rest="tenure", match=["persons"], rates=["1/2"], rhos=["1"], runs=3)
    assert found.values == ("owned", "rented")
    assert found.before.sum() == 4_000
    swapped, released = found.methods
    # Swapping keeps dwellings by county and by tenure, TopDown the total.
    assert (swapped.table.sum(axis=1) == found.before.sum(axis=1)).all()
    assert (swapped.table.sum(axis=0) == found.before.sum(axis=0)).all()
    assert released.table.sum() == 4_000
    assert released.table.min() >= 0
    assert len(swapped.errors) == len(released.errors) == 3
    # Half of the records selected, against σ of about one record: not close.
    assert np.abs(swapped.table - found.before).sum() > 3 * np.abs(released.table - found.before).sum()


def test_more_budget_errs_less(dwellings: Path) -> None:
    with keyed(key_of("compare budgets")):
        found = compare(
            dwellings, place="county", rest="tenure", match=["persons"], rates=[], rhos=["1/1000", "1/10", 10], runs=4
        )
    medians = [method.median for method in found.methods]
    assert medians == sorted(medians, reverse=True)


def test_pictures_can_be_read(dwellings: Path) -> None:
    with keyed(key_of("compare pictures")):
        found = compare(dwellings, place="county", rest="tenure", match=["persons"], runs=2)
    for chart in pictures(found, "county", "tenure").values():
        check_readable(chart)


def test_the_command(dwellings: Path, tmp_path: Path) -> None:
    arguments = ["census", "compare", str(dwellings), "--runs", "2", "--rates", "1/10,1/2", "--rhos", "1"]
    shown = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path)], env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert shown.exit_code == 0, shown.output
    assert "Suffolk" in shown.stdout
    assert "not on one scale" in shown.stdout
    lines = (tmp_path / "comparison.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 3 * 2
    told = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert [method["setting"] for method in told["methods"]] == ["10 %", "50 %", "ρ = 1"]


def test_numbers_stay_with_their_units(dwellings: Path) -> None:
    """In the pictures no line begins with % or =, and the table fits a narrow window with every name whole."""
    with keyed(key_of("compare units")):
        found = compare(dwellings, place="county", rest="tenure", match=["persons"], runs=1)
    for chart in pictures(found, "county", "tenure").values():
        lines = re.findall(r">([^<]+)</t", chart.svg)
        assert len(lines) > 20
        assert not [line for line in lines if line.strip().startswith(("%", "="))]
    arguments = ["census", "compare", str(dwellings), "--runs", "1", "--rates", "1/2", "--rhos", "2.56"]
    shown = CliRunner().invoke(app, arguments, env={"COLUMNS": "60", "NO_COLOR": "1"}).stdout
    assert "Barnstable" in shown
    assert "…" not in shown
    assert "1 run at each setting" in " ".join(shown.split())


def test_bad_input(dwellings: Path) -> None:
    with pytest.raises(DataError, match="no column 'town'"):
        compare(dwellings, place="town", rest="tenure", match=["persons"])
    with pytest.raises(ParameterError, match="two parts"):
        compare(dwellings, place="county", rest="county", match=["persons"])
    with pytest.raises(ParameterError):
        compare(dwellings, place="county", rest="tenure", match=["persons"], runs=0)
    run = CliRunner().invoke(app, ["census", "compare", "missing.csv"])
    assert run.exit_code == 2
    for empty in ("--rates", "--rhos"):
        run = CliRunner().invoke(app, ["census", "compare", str(dwellings), empty, " , "])
        assert run.exit_code == 2
        assert "needs a swap rate" in run.output


def test_of_many_values_the_most_frequent_are_shown_and_it_is_said(tmp_path: Path) -> None:
    lines = [f"p{i % 20:02d},{i % 2},v{(i * i) % 7}" for i in range(400)]
    (tmp_path / "many.csv").write_text("\n".join(["place,match,value", *lines]) + "\n", encoding="utf-8")
    with keyed(key_of("many values")):
        found = compare(tmp_path / "many.csv", place="place", rest="value", match=["match"], runs=1)
    assert len(found.values) == 4
    table = pictures(found, "place", "value")["comparison_table.svg"]
    check_readable(table)
    assert "Shown are the 14 largest of 20 places and the 3 most frequent of 4 values." in " ".join(
        re.sub("<[^>]+>", " ", table.svg).split()
    )
