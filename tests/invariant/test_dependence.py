"""Columns that give a swap away are named with their share, loudly, and can be taken along."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app
from quincunx.errors import DataError, QuincunxWarning
from quincunx.invariant import Dependence, swap
from tests.datasets import real_data
from tests.invariant.frames import KINDS, counts, frame, rows

SIZE = 600


def town(**more: list[Any]) -> dict[str, list[Any]]:
    """Blocks 0 to 29 in tracts of 3; race, age and number are drawn without a look at the place."""
    source = random.Random("town")
    block = [source.randrange(30) for _ in range(SIZE)]
    return {
        "county": [each % 2 for each in block],
        "tract": [each // 6 * 2 + each % 2 for each in block],
        "block": block,
        "race": [source.choice("xyz") for _ in range(SIZE)],
        "age": [source.randrange(90) for _ in range(SIZE)],
        "number": [source.randrange(10**9) for _ in range(SIZE)],
        **more,
    }


def swapped(data: Any, **how: Any) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")
        found = swap(data, **({"match": "county", "rate": "1/3"} | how))
    return found, [str(each.message) for each in noticed if issubclass(each.category, QuincunxWarning)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_determines_the_swapped_one_is_named(kind: str) -> None:
    found, said = swapped(frame(kind, town()), column="tract")
    (one,) = found.report.dependences
    assert (one.columns, one.swapped, one.undone) == (("block",), "tract", 1.0)
    assert any("'block' stays and determines 'tract' for 100 %" in each and "move='block'" in each for each in said)


def test_the_attack_that_is_warned_of_succeeds() -> None:
    """Whoever knows which tract a block is in restores every tract, and nobody can once the block goes along."""
    data = town()
    where = dict(zip(data["block"], data["tract"], strict=True))
    found, _ = swapped(frame("pandas", data), column="tract")
    assert found.report.moved > 100
    restored = [(*row[:2], where[row[2]], *row[3:]) for row in rows(found.frame, ["county", "race", "block", "age"])]
    truth = [(county, race, tract, age) for county, tract, _, race, age, _ in rows(frame("pandas", data))]
    assert sorted((c, r, t, a) for c, r, t, a in restored) == sorted(truth)
    along, said = swapped(frame("pandas", data), column="tract", move="block")
    assert along.report.dependences == ()
    assert not any("undoes" in each for each in said)
    again = [(c, r, where[b], a) for c, r, b, a in rows(along.frame, ["county", "race", "block", "age"])]
    assert sorted(again) != sorted(truth)


def test_what_goes_along_moves_with_the_column() -> None:
    data = frame("polars", town())
    found, _ = swapped(data, column="tract", move=["block"])
    together, _ = swapped(data, column=["tract", "block"])
    assert found.specification == together.specification
    assert found.epsilon == together.epsilon
    for columns in (["county", "tract", "block"], ["county", "race", "age", "number"]):
        assert counts(found.frame, columns) == counts(data, columns)
    assert counts(found.frame, ["block", "race"]) != counts(data, ["block", "race"])


def test_a_column_that_the_swapped_one_determines_shows_who_moved() -> None:
    found, said = swapped(frame("pandas", town()), column="block")
    (one,) = found.report.dependences
    assert one.columns == ("tract",)
    assert one.marked == 1.0
    assert one.undone < 0.2
    assert any("sees which were swapped" in each and "move='tract'" in each for each in said)


def test_two_columns_that_determine_it_together_are_named() -> None:
    data = town()
    half, rest = [each // 4 for each in data["tract"]], [each % 4 for each in data["tract"]]
    del data["block"]
    found, said = swapped(frame("pandas", data | {"half": half, "rest": rest}), column="tract", match=[])
    named = {each.columns: each.undone for each in found.report.dependences}
    assert named["half", "rest"] == 1.0
    assert any("'half' and 'rest' stay and together determine 'tract' for 100 %" in each for each in said)


def test_a_rule_for_some_records_has_its_share() -> None:
    source = random.Random("half")
    data = town()
    # For every second record a column holds the tract, and otherwise a number from a crowd.
    data["hint"] = [t if i % 2 else 1000 + source.randrange(3) for i, t in enumerate(data["tract"])]
    del data["block"]
    found, _ = swapped(frame("pandas", data), column="tract")
    (one,) = [each for each in found.report.dependences if each.columns == ("hint",)]
    assert one.undone == pytest.approx(0.5, abs=0.02)


def test_chance_is_not_reported() -> None:
    """No column knows anything: identifiers, crowds, rare values, and strata where one value is everywhere."""
    for seed in range(8):
        source = random.Random(seed)
        data = {
            "match": [source.randrange(3) for _ in range(SIZE)],
            "value": [source.choice([0] * 12 + list(range(8))) for _ in range(SIZE)],
            "race": [source.choice("xyz") for _ in range(SIZE)],
            "age": [source.randrange(90) for _ in range(SIZE)],
            "wide": [source.randrange(400) for _ in range(SIZE)],
            "number": list(range(SIZE)),
        }
        found, _ = swapped(frame("pandas", data), column="value", match="match")
        assert found.report.dependences == ()


def test_few_records_say_nothing() -> None:
    data = {name: values[:90] for name, values in town().items()}
    assert swapped(frame("pandas", data), column="tract")[0].report.dependences == ()


def test_households_are_looked_at_as_a_whole() -> None:
    data = town()
    doubled = {name: [each for value in values for each in (value, value)] for name, values in data.items()}
    doubled["home"] = [home for home in range(SIZE) for _ in range(2)]
    found, said = swapped(frame("pandas", doubled), column="tract", household="home")
    assert [(each.columns, each.undone) for each in found.report.dependences if each.columns == ("block",)] == [
        (("block",), 1.0)
    ]
    assert any("of the households that can be swapped" in each for each in said)
    # Two members of one home agree in everything: that is no rule.
    assert not any(each.columns == ("number",) for each in found.report.dependences)


def test_a_large_table_is_looked_at_in_full_once_a_rule_shows() -> None:
    source = random.Random("large")
    block = [source.randrange(600) for _ in range(30_000)]
    data = {"tract": [each // 6 for each in block], "block": block, "age": [source.randrange(90) for _ in block]}
    # A third of the rule is broken where the first look does not see it.
    data["tract"] = [source.randrange(100) if i % 3 == 1 else each for i, each in enumerate(data["tract"])]
    found, _ = swapped(frame("pandas", data), column="tract", match=[])
    assert found.report.dependences == ()


@pytest.mark.parametrize("match", [[], "county"])
def test_rare_values_of_a_large_table_are_seen(match: Any) -> None:
    """Homes of two in 600,000 records: 2 of 30 records of a first look share theirs, and those that do agree."""
    homes = np.random.default_rng(1).integers(0, 300_000, 600_000)
    data = pandas.DataFrame({"tract": homes // 60, "home": homes, "county": homes % 60 // 20, "age": homes % 89 // 80})
    found, _ = swapped(data, column="tract", match=match)
    assert {each.columns: each.undone > 0.8 for each in found.report.dependences} == {("home",): True}


def test_a_crowd_beside_rare_values_hides_no_rule() -> None:
    """In a third of the records the home is missing: a first look sees the crowd, and few others that agree."""
    source = np.random.default_rng(2)
    homes = source.integers(0, 300_000, 600_000)
    known = np.where(source.random(600_000) < 1 / 3, -1, homes)
    data = pandas.DataFrame({"tract": homes // 60, "home": known, "age": source.integers(0, 90, 600_000)})
    found, _ = swapped(data, column="tract", match=[])
    (one,) = found.report.dependences
    assert one.columns == ("home",)
    assert 0.4 < one.undone < 2 / 3


def test_rare_pairs_of_a_large_table_are_seen() -> None:
    """A street and a number make an address, of which each block has many, and few are in a first look twice."""
    source = np.random.default_rng(3)
    street, number = source.integers(0, 3_000, 600_000), source.integers(0, 60, 600_000)
    data = pandas.DataFrame({"block": street * 4 + number // 15, "street": street, "number": number})
    data["person"] = np.arange(600_000)
    found, _ = swapped(data, column="block", match=[])
    assert ("street", "number") in {each.columns for each in found.report.dependences if each.undone > 0.9}


def test_large_tables_without_rules_say_nothing() -> None:
    source = random.Random("none")
    data = {
        "county": [source.randrange(5) for _ in range(60_000)],
        "block": [source.randrange(6_000) for _ in range(60_000)],
        "race": [source.choice("xyz") for _ in range(60_000)],
        "income": [source.randrange(50_000) for _ in range(60_000)],
        "person": list(range(60_000)),
        "constant": [1] * 60_000,
    }
    found, _ = swapped(frame("pandas", data), column="block")
    assert found.report.dependences == ()


@pytest.mark.parametrize("move", ["nowhere", ["tract"], "county", 3, ["age", "age"]])
def test_what_cannot_go_along(move: Any) -> None:
    with pytest.raises(DataError):
        swap(frame("pandas", town()), column="tract", match="county", rate="1/3", move=move)


def test_the_command_line_says_it_and_takes_columns_along(tmp_path: Path) -> None:
    data, target = tmp_path / "town.csv", tmp_path / "out.csv"
    frame("pandas", town()).to_csv(data, index=False)
    command = ["swap", str(data), "--column", "tract", "--match", "county", "--rate", "1/3", "--out", str(target)]
    told = CliRunner().invoke(app, [*command, "--report"])
    assert told.exit_code == 0
    assert "warning: column 'block' stays and determines 'tract' for 100 %" in told.stderr
    assert "block beside tract: 100 % of the units can be undone" in told.stderr
    # The guarantee on standard output may be published; what the data give away may not.
    assert "undoes" not in told.stdout
    quiet = CliRunner().invoke(app, [*command, "--move", "block"])
    assert quiet.exit_code == 0
    assert "undoes" not in quiet.stderr


def test_words() -> None:
    both = Dependence(columns=("a", "b"), swapped="c", undone=0.75, marked=0.0)
    assert both.words("record").startswith(
        "columns 'a' and 'b' stay and together determine 'c' for 75 % of the records"
    )
    assert "move=['a', 'b']" in both.words("record")


def test_real_persons() -> None:
    """The finding: the area of a person stays, and determines its density, in every one of 7,634 records."""
    persons = pandas.read_csv(real_data("persons", "ma2019.csv"))
    found, said = swapped(persons, column="DENSITY", match="SEX", rate="1/2")
    (one,) = found.report.dependences
    assert (one.columns, one.undone, one.marked) == (("PUMA",), 1.0, 1.0)
    assert found.report.moved > 2500
    assert len([each for each in said if "undoes the swap" in each]) == 1
    along, said = swapped(persons, column="DENSITY", match="SEX", rate="1/2", move="PUMA")
    assert along.report.dependences == ()
    assert said == []


def test_real_blocks() -> None:
    pandas = pytest.importorskip("pandas")
    blocks = pandas.read_csv(real_data("census_blocks", "rhode_island_2010.csv"), dtype={"GEOID": "string"})
    place = blocks["GEOID"]
    data = pandas.DataFrame({"county": place.str[:5], "tract": place.str[:11], "group": place.str[:12]})
    data["people"] = blocks.select_dtypes("number").iloc[:, 0]
    found, _ = swapped(data, column="tract", rate="1/10")
    assert {each.columns: each.undone > 0.99 for each in found.report.dependences} == {("group",): True}
    assert swapped(data, column="tract", move="group", rate="1/10")[0].report.dependences == ()
