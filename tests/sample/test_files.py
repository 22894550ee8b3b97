"""The sample's files: readable, explained, never overwritten; a plan for a file of one's own reads no value."""

import tomllib
from pathlib import Path

import duckdb
import pytest

from quincunx.errors import DataError, InputError
from quincunx.release.plan_file import read_plan
from quincunx.sample import write_plan_for, write_sample


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sample") / "new" / "folder"
    files = write_sample(place, 500)
    assert {file.name for file in files} == {
        "persons.parquet",
        "visits.parquet",
        "regions.csv",
        "plan.toml",
        "README.md",
    }
    assert all(file.is_file() for file in files)
    return place


def test_types_are_those_of_a_real_table(folder: Path) -> None:
    described = duckdb.sql(f"DESCRIBE SELECT * FROM '{folder / 'visits.parquet'}'").fetchall()
    types = {row[0]: row[1] for row in described}
    assert types == {
        "person_id": "BIGINT",
        "visited_at": "TIMESTAMP",
        "region": "VARCHAR",
        "department": "VARCHAR",
        "age": "BIGINT",
        "cost": "DECIMAL(9,2)",
    }
    assert duckdb.sql(f"SELECT COUNT(*) FROM '{folder / 'persons.parquet'}'").fetchall() == [(500,)]
    assert (folder / "regions.csv").read_text().splitlines()[0] == "region,hospitals"


def test_the_plan_is_read(folder: Path) -> None:
    plan = read_plan(folder / "plan.toml")
    assert [entry.name for entry in plan.releases] == ["visits_by_region", "cost_by_department", "people_by_county"]
    assert set(plan.tables) == {"visits", "persons", "regions"}
    assert all(table.source.is_file() for table in plan.tables.values())


def test_every_setting_of_the_plan_is_explained(folder: Path) -> None:
    lines = (folder / "plan.toml").read_text().splitlines()
    assert sum("#" in line for line in lines) >= 15


def test_nothing_is_overwritten(folder: Path) -> None:
    before = {file: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(InputError, match="not empty"):
        write_sample(folder, 500)
    with pytest.raises(InputError, match="not empty"):
        write_plan_for(folder, folder / "visits.parquet")
    with pytest.raises(InputError, match="not empty"):
        write_sample(folder / "plan.toml")
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


def test_a_folder_that_cannot_be_made(folder: Path) -> None:
    with pytest.raises(InputError, match="cannot make the folder"):
        write_sample(folder / "plan.toml" / "below", 500)


def test_a_plan_for_a_parquet_file(folder: Path, tmp_path: Path) -> None:
    (written,) = write_plan_for(tmp_path / "mine", folder / "visits.parquet")
    plan = tomllib.loads(written.read_text())
    assert plan["dataset"] == "visits"
    assert {name: column["type"] for name, column in plan["tables"]["visits"]["columns"].items()} == {
        "person_id": "integer",
        "visited_at": "timestamp",
        "region": "text",
        "department": "text",
        "age": "integer",
        "cost": "decimal",
    }
    assert (written.parent / plan["tables"]["visits"]["source"]).resolve() == (folder / "visits.parquet").resolve()
    # What only the curator knows is blank, and a plan with blanks is refused.
    assert plan["spec"]["unit"]["key"] == "" == plan["spec"]["intensity"]
    with pytest.raises(InputError, match=r"plan\.toml:"):
        read_plan(written)


def test_no_value_of_the_file_is_in_the_plan(tmp_path: Path) -> None:
    file = tmp_path / "2024 data.parquet"
    duckdb.sql('SELECT \'canary7261\' AS "a ""name", [1] AS list, 7261 AS n, 1.5::DECIMAL(4,1) AS d').write_parquet(
        str(file)
    )
    (written,) = write_plan_for(tmp_path / "mine", file)
    text = written.read_text()
    assert "7261" not in text
    columns = tomllib.loads(text)["tables"]["t_2024_data"]["columns"]
    assert set(columns) == {'a "name', "n", "d"}
    assert '# "list" has a type' in text


def test_a_plan_for_a_csv_file(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("\ufeffid,naïve name,age\n1,canary,3\n", encoding="utf-8")
    (written,) = write_plan_for(tmp_path / "mine", file)
    columns = tomllib.loads(written.read_text())["tables"]["people"]["columns"]
    assert columns == {"id": {"type": "text"}, "naïve name": {"type": "text"}, "age": {"type": "text"}}
    assert "canary" not in written.read_text()


@pytest.mark.parametrize("name", ["missing.parquet", "data.xlsx", "folder"])
def test_files_that_are_no_tables(tmp_path: Path, name: str) -> None:
    (tmp_path / "data.xlsx").write_text("x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="cannot read a table's columns"):
        write_plan_for(tmp_path / "mine", tmp_path / name)
    assert not (tmp_path / "mine").exists()


def test_files_with_broken_metadata(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"not parquet, canary7261")
    (tmp_path / "bad.csv").write_text("")
    for name in ("bad.parquet", "bad.csv"):
        with pytest.raises(DataError) as error:
            write_plan_for(tmp_path / "mine", tmp_path / name)
        assert "canary" not in str(error.value)
