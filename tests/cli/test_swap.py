"""`quincunx swap`."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from pathlib import Path

import duckdb
import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from quincunx.cli.swap import swap
from quincunx.invariant import swap_epsilon
from quincunx.spec import Specification
from quincunx.spec.scope import Invariants
from tests.datasets import real_data

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
app.command("swap")(swap)
HEADER = ["home", "county", "votingage", "race", "block"]
ROWS = [[f"{i:03d}", "007" if i % 2 else "009", str(i % 3 // 2), "ab"[i % 5 // 3], f"{i % 4:04d}"] for i in range(60)]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments])


def town(folder: Path, rows: list[list[str]] | None = None, name: str = "town.csv") -> Path:
    path = folder / name
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADER, *(ROWS if rows is None else rows)])
    return path


def asked(source: Path, out: Path, **changes: str | None) -> list[object]:
    options = {"column": "block", "match": "county,votingage", "rate": "0.5", **changes}
    given = [part for name, value in options.items() if value is not None for part in (f"--{name}", value)]
    return [source, *given, "--out", out]


def read(path: Path) -> list[dict[str, object]]:
    relation = duckdb.sql(
        f"SELECT * FROM '{path}'"
        if path.suffix == ".parquet"
        else f"SELECT * FROM read_csv('{path}', all_varchar=true)"
    )
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def counted(rows: list[dict[str, object]], columns: list[str]) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row[name] for name in columns) for row in rows)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["derangement", "uniform"])
def test_the_published_tables_are_exact(tmp_path: Path, ending: str, kind: str) -> None:
    source, out = town(tmp_path), tmp_path / f"swapped.{ending}"
    result = run(*asked(source, out, kind=kind), "--json")
    assert result.exit_code == 0, result.output
    before, after = read(source), read(out)
    assert list(after[0]) == HEADER
    for columns in (["county", "votingage", "race", "home"], ["county", "votingage", "block"]):
        assert counted(after, columns) == counted(before, columns)
    # Texts stay as they were: no 007 becomes 7.
    assert {row["county"] for row in after} == {"007", "009"}
    assert sorted(os.listdir(tmp_path)) == sorted(["town.csv", out.name])


def test_it_prints_the_guarantee(tmp_path: Path) -> None:
    result = run(*asked(town(tmp_path), tmp_path / "swapped.parquet", rate="0.05"))
    assert result.exit_code == 0
    sizes = Counter((row[1], row[2]) for row in ROWS)
    expected = swap_epsilon(rate="0.05", largest_stratum=max(sizes.values()))
    assert "What is compared (scope). Some facts are published exactly" in result.stdout
    assert "Elsewhere nothing is promised" in result.stdout
    assert "two records at once" in result.stdout
    assert "e^(2ε)" in result.stdout
    assert f"has {max(sizes.values())} records" in result.stdout
    assert f"ε ≤ {expected.exact:.4f}"[:9] in result.stdout
    assert "Swapped data:" in result.stderr
    assert "curator" not in result.stdout + result.stderr


def test_json_is_one_value(tmp_path: Path) -> None:
    out = tmp_path / "swapped.csv"
    answer = json.loads(run(*asked(town(tmp_path), out, rate="0.05"), "--json").stdout)
    spec = Specification.from_json(json.dumps(answer["specification"]))
    assert spec.scope == Invariants.counts(["county", "votingage", "race", "home"], ["county", "votingage", "block"])
    expected = swap_epsilon(rate="0.05", largest_stratum=answer["epsilon"]["largest_stratum"])
    assert answer["epsilon"]["exact"] == expected.exact
    assert answer["epsilon"]["theorem"] == expected.theorem
    assert answer["epsilon"]["stated"] == str(expected.intensity)
    assert answer["epsilon"]["kind"] == "derangement"
    assert "e^(2ε)" in answer["smallest_change"]
    assert answer["out"] == str(out)
    assert answer["injected"] is False


def test_households(tmp_path: Path) -> None:
    rows = [[f"{i // 2}", "1", "1", "ab"[i % 3 // 2], f"{i // 2 % 5}"] for i in range(40)]
    out = tmp_path / "swapped.csv"
    result = run(*asked(town(tmp_path, rows), out, household="home"))
    assert result.exit_code == 0, result.output
    assert "two households at once" in result.stdout
    after = read(out)
    assert list(after[0]) == HEADER[1:]
    assert counted(after, ["block"]) == Counter((row[4],) for row in rows)


def test_several_columns_and_types_of_parquet(tmp_path: Path) -> None:
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    duckdb.sql(
        f"COPY (SELECT i % 2 = 0 AS side, DATE '2024-01-01' + CAST(i % 7 AS INTEGER) AS day, "
        f"i::DECIMAL(30, 2) / 3 AS amount, "
        f"CASE WHEN i % 4 > 0 THEN 'b' || i % 5 END AS block, i % 5 AS tract, i::HUGEINT * 10::HUGEINT ** 20 AS big, "
        f"i::DOUBLE AS x FROM range(40) r(i)) TO '{source}' (FORMAT parquet)"
    )
    result = run(source, "--column", "block, tract", "--match", "side", "--rate", "0.9", "--out", out, "--report")
    assert result.exit_code == 0, result.output
    before, after = read(source), read(out)
    assert (
        duckdb.sql(f"DESCRIBE SELECT * FROM '{out}'").fetchall()
        == duckdb.sql(f"DESCRIBE SELECT * FROM '{source}'").fetchall()
    )
    assert counted(after, ["side", "day", "amount", "big", "x"]) == counted(
        before, ["side", "day", "amount", "big", "x"]
    )
    assert counted(after, ["side", "block", "tract"]) == counted(before, ["side", "block", "tract"])
    assert "For the curator's eyes only" in result.stderr
    assert "day × block × tract" in result.stderr
    assert "curator" not in result.stdout


def test_compressed_input(tmp_path: Path) -> None:
    import gzip

    source = tmp_path / "town.csv.gz"
    source.write_bytes(gzip.compress(town(tmp_path).read_bytes()))
    assert run(*asked(source, tmp_path / "out.csv")).exit_code == 0


def test_an_identifier_is_noticed(tmp_path: Path) -> None:
    rows = [[str(i), *ROWS[i % 60][1:]] for i in range(120)]
    result = run(*asked(town(tmp_path, rows), tmp_path / "out.csv"))
    assert result.exit_code == 0
    assert "warning: column 'home' has a different value in every row" in result.stderr


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"column": "street"}, "no column 'street'"),
        ({"match": "county,street"}, "no column 'street'"),
        ({"column": "county"}, "named twice"),
        ({"column": ","}, "at least one column"),
        ({"household": "street"}, "no column 'street'"),
        ({"household": "race"}, "members of a household differ"),
        ({"rate": "0"}, "greater than 0"),
        ({"rate": "1"}, "less than 1"),
        ({"rate": "half"}, "expected a finite number"),
        ({"kind": "sideways"}, "unknown kind of swapping"),
        ({"rate": None}, "rate"),
        ({"column": None}, "column"),
    ],
)
def test_bad_usage_writes_nothing(tmp_path: Path, changes: dict[str, str | None], message: str) -> None:
    result = run(*asked(town(tmp_path), tmp_path / "out.csv", **changes))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert os.listdir(tmp_path) == ["town.csv"]


def test_missing_values_in_keys(tmp_path: Path) -> None:
    rows = [["", *row[1:]] if i == 3 else row for i, row in enumerate(ROWS)]
    rows[5] = [rows[5][0], "", *rows[5][2:]]
    result = run(*asked(town(tmp_path, rows), tmp_path / "out.csv"))
    assert result.exit_code == 2
    assert "column 'county' has missing values" in result.stderr
    assert os.listdir(tmp_path) == ["town.csv"]


@pytest.mark.parametrize("name", ["town.txt", "town", "town.csv.gz"])
def test_unknown_endings(tmp_path: Path, name: str) -> None:
    assert run(*asked(town(tmp_path), tmp_path / name)).exit_code == 2
    assert os.listdir(tmp_path) == ["town.csv"]
    if not name.endswith(".gz"):
        assert "must end in .csv or .parquet" in run(*asked(tmp_path / name, tmp_path / "out.csv")).stderr


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    missing = run(*asked(tmp_path / "nowhere.csv", tmp_path / "out.csv"))
    assert missing.exit_code == 2
    assert "cannot be read" in missing.stderr
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"secret value, not parquet")
    result = run(*asked(broken, tmp_path / "out.csv"))
    assert result.exit_code == 2
    assert "secret" not in result.stderr
    source = town(tmp_path)
    assert "folder does not exist" in run(*asked(source, tmp_path / "no" / "out.csv")).stderr
    same = run(*asked(source, source))
    assert same.exit_code == 2
    assert "would replace the file that is read" in same.stderr
    assert len(read(source)) == 60
    target = tmp_path / "out.csv"
    target.mkdir()
    blocked = run(*asked(source, target))
    assert blocked.exit_code == 2
    assert "cannot be written" in blocked.stderr
    assert not [name for name in os.listdir(tmp_path) if "partial" in name]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = town(tmp_path), tmp_path / "out.csv"
    out.write_text("as it was")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("quincunx.invariant.swapping.file.os.replace", fail)
    result = run(*asked(source, out))
    assert result.exit_code == 2
    assert out.read_text() == "as it was"
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "town.csv"]


def test_reserved_names(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("rowid,a,b\n1,2,3\n")
    result = run(source, "--column", "b", "--match", "a", "--rate", "1/2", "--out", tmp_path / "out.csv")
    assert result.exit_code == 2
    assert "reserved name 'rowid'" in result.stderr


def test_types_without_a_word(tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    duckdb.sql(f"COPY (SELECT [1, 2] AS a, 1 AS b) TO '{source}' (FORMAT parquet)")
    result = run(source, "--column", "b", "--match", "", "--rate", "1/2", "--out", tmp_path / "out.csv")
    assert result.exit_code == 2
    assert "a type that no schema describes" in result.stderr


def test_odd_names_of_columns(tmp_path: Path) -> None:
    source, out = tmp_path / "it's.csv", tmp_path / "o'ut.csv"
    source.write_text('"a ""b""",SELECT,ü\n1,x,2\n1,y,3\n1,z,4\n')
    result = run(source, "--column", "ü", "--match", 'a "b"', "--rate", "1/2", "--out", out)
    assert result.exit_code == 0, result.output
    assert sorted(out.read_text(encoding="utf-8").splitlines()[1:]) != []


def test_rhode_island(tmp_path: Path) -> None:
    """People of two counties, made from the block counts: blocks swapped within county and voting age."""
    counts = real_data("census_blocks", "rhode_island_2010.csv")
    source, out = tmp_path / "people.parquet", tmp_path / "swapped.parquet"
    duckdb.sql(
        f"COPY (WITH cells AS (SELECT GEOID AS block, GEOID // 10000000000 AS county, unnest(["
        f"{{'votingage': true, 'white': true, 'n': vap_white}}, "
        f"{{'votingage': true, 'white': false, 'n': vap - vap_white}}, "
        f"{{'votingage': false, 'white': true, 'n': pop_white - vap_white}},"
        f"{{'votingage': false, 'white': false, 'n': pop - vap - pop_white + vap_white}}]) AS c FROM '{counts}'), "
        f"people AS (SELECT county, block, c.votingage AS votingage, c.white AS white, unnest(range(c.n)) AS k "
        f"FROM cells WHERE county IN (44001, 44005)) SELECT county, votingage, white, block FROM people) "
        f"TO '{source}' (FORMAT parquet)"
    )
    answer = json.loads(run(*asked(source, out), "--json").stdout)
    sizes = duckdb.sql(f"SELECT COUNT(*) FROM '{source}' GROUP BY county, votingage").fetchall()
    assert answer["epsilon"]["largest_stratum"] == max(size for (size,) in sizes)
    for columns in ("county, votingage, white", "county, votingage, block"):
        tables = [
            duckdb.sql(f"SELECT {columns}, COUNT(*) FROM '{path}' GROUP BY ALL ORDER BY ALL").fetchall()
            for path in (source, out)
        ]
        assert tables[0] == tables[1]
    moved = [
        duckdb.sql(f"SELECT white, block, COUNT(*) FROM '{path}' GROUP BY ALL ORDER BY ALL").fetchall()
        for path in (source, out)
    ]
    assert moved[0] != moved[1]
