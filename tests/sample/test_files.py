"""The sample's files: readable, explained, never overwritten; a plan for a file of one's own reads no value."""

import gzip
import tomllib
from pathlib import Path

import duckdb
import pytest

from quincunx.errors import DataError, InputError
from quincunx.release.plan_file import read_plan
from quincunx.sample import proposal, write_plan_for, write_sample
from quincunx.sample.files import plan_for
from quincunx.table.table import Table


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sample") / "new" / "folder"
    files = write_sample(place, 500)
    assert {file.name for file in files} == {
        "persons.parquet",
        "visits.parquet",
        "households.parquet",
        "encounters.parquet",
        "treatments.parquet",
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
    assert set(plan.tables) == {"visits", "persons", "regions", "households", "encounters", "treatments"}
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
    assert '# "list" is of type' in text


def test_a_plan_for_a_csv_file(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("\ufeffid,naïve name,age\n1,canary,3\n", encoding="utf-8")
    (written,) = write_plan_for(tmp_path / "mine", file)
    columns = tomllib.loads(written.read_text())["tables"]["people"]["columns"]
    assert columns == {"id": {"type": "text"}, "naïve name": {"type": "text"}, "age": {"type": "integer"}}
    assert "canary" not in written.read_text()


def test_a_plan_says_how_the_first_line_of_a_csv_file_looks(tmp_path: Path) -> None:
    for i, (codec, separator) in enumerate([("cp1252", ";"), ("utf-16", "\t"), ("utf-8", "|"), ("utf-8", ",")]):
        file = tmp_path / f"x{i}.csv.gz"
        text = f"patient_id{separator}größe\n1{separator}canary\n"
        file = file if codec == "utf-8" else file.with_suffix("")
        file.write_bytes(gzip.compress(text.encode(codec)) if file.suffix == ".gz" else text.encode(codec))
        (written,) = write_plan_for(tmp_path / f"mine{i}", file)
        table = tomllib.loads(written.read_text(encoding="utf-8"))["tables"][f"x{i}"]
        given = {name: table[name] for name in ("encoding", "separator") if name in table}
        # What is proposed opens the file.
        assert [name for name, _ in Table(written.parent / table["source"], **given).origin.fields] == list(
            table["columns"]
        )
        assert list(table["columns"]) == ["patient_id", "größe"]
        assert given.get("separator", ",") == separator
        assert "canary" not in written.read_text(encoding="utf-8")


def test_a_plan_for_a_folder_of_files(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "all" / "year=2024"
    place.mkdir(parents=True)
    (place / "x.parquet").write_bytes((folder / "visits.parquet").read_bytes())
    for source in (tmp_path / "all", tmp_path / "all" / "*" / "*.parquet"):
        (paths, asked) = plan_for(tmp_path / f"mine{len(str(source))}", source)
        table = next(iter(tomllib.loads(paths[0].read_text())["tables"].values()))
        assert table["columns"]["year"] == {"type": "integer"}
        assert (asked.owners, asked.proposed) == (("person_id",), ("year",))
        assert asked.bounds == ("age", "cost", "year")


NAMES = {
    "date_of_birth": "date", "birthDate": "date", "admitted_at": "timestamp", "is_smoker": "boolean", "Age": "integer",
    "birth year": "integer", "household-income": "decimal", "zip_code": "text", "patientId": "text",
    "year_count": "integer", "region": None, "is": None, "hat": None, "format": None, "": None,
    "größe": None, "average": None,
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_types_are_proposed_by_whole_words(name: str) -> None:
    assert proposal.expected(name) == NAMES[name]


def test_owners_sound_like_people() -> None:
    names = ("person_id", "PatientKey", "household", "user agent", "id", "personal")
    assert [name for name in names if proposal.owner(name)] == ["person_id", "PatientKey", "household"]


def test_what_is_asked_is_said_in_lines_that_stay_short() -> None:
    many = tuple(f"c{i}" for i in range(10_000))
    lines = proposal.Asked(owners=("person",), bounds=many, keys=(), proposed=many).lines()
    assert max(map(len, lines)) < 120
    assert any("9,994 more" in line for line in lines)


@pytest.mark.parametrize("name", ["missing.parquet", "data.xlsx", "folder"])
def test_files_that_are_no_tables(tmp_path: Path, name: str) -> None:
    (tmp_path / "data.xlsx").write_text("x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match=r"no such file|not a workbook|no Parquet file"):
        write_plan_for(tmp_path / "mine", tmp_path / name)
    assert not (tmp_path / "mine").exists()


def test_files_with_broken_metadata(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"not parquet, canary7261")
    (tmp_path / "bad.csv").write_text("")
    for name in ("bad.parquet", "bad.csv"):
        with pytest.raises(DataError) as error:
            write_plan_for(tmp_path / "mine", tmp_path / name)
        assert "canary" not in str(error.value)
