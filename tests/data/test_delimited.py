"""CSV files as people have them: read as declared, and refused by name where the first line shows something else."""

from __future__ import annotations

import gzip
import re
import sqlite3
import zipfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest

from quincunx.errors import DataError
from quincunx.release import Session
from quincunx.table.table import Table
from tests.release.world import quote_of
from tests.table.test_opening import CANARY, reachable

LINES = ["p,name,cost", '1,"a, b; c\t|",1234.5', "2,é,", "3,x"]
NAMES = ["a, b; c\t|", "é", "x"]


def written(path: Path, *, codec: str = "utf-8", separator: str = ",") -> Path:
    text = LINES[0] + "\n" + '1,"@",1234.5\n2,é,\n3,x\n'
    content = text.replace(",", separator).replace("@", NAMES[0]).encode(codec)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


CODECS = {"utf-8": "utf-8", "latin-1": "latin-1", "windows-1252": "cp1252", "utf-16": "utf-16"}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", CODECS)
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_every_way_to_write_a_file_is_read(tmp_path: Path, separator: str, encoding: str, name: str) -> None:
    path = written(tmp_path / name, codec=CODECS[encoding], separator=separator)
    given = None if separator == "," else separator
    table = Table(path, public=True, encoding=encoding, separator=given, columns={"cost": {"type": "decimal"}})
    assert table.values("name") == NAMES
    assert table.values("cost") == [Fraction("1234.5"), None, None]


def test_a_file_called_tsv_has_tabs(tmp_path: Path) -> None:
    for name in ("x.tsv", "y.tsv.gz", "Z.TSV"):
        assert Table(written(tmp_path / name, separator="\t"), public=True).values("name") == NAMES


def test_a_file_of_several_compressed_parts_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"p,s\n1,a\n") + gzip.compress(b"2,\xff\n") + gzip.compress(b"3,c\n"))
    assert Table(path, public=True).values("s") == ["a", None, "c"]


NUMBERS = {
    (".", ","): [("1,234,567.5", "1234567.5"), ("1234.5", "1234.5"), ("12,34", None), ("1,2345", None), ("1.5", "1.5")],
    (",", "."): [("1.234,5", "1234.5"), ("-1.234", "-1234"), ("1,5", "1.5"), ("1.5", None), ("1,234.5", None)],
    (",", None): [("1,5", "1.5"), ("1.5", None), ("+3,", "3"), (",5", "0.5"), ("1e3", "1000")],
    (".", "'"): [("1'000", "1000"), ("1'00", None), ("'1", None)],
    (",", "\u202f"): [("12\u202f345,5", "12345.5"), ("12 345", None), (" 7 ", "7")],
    (None, ","): [("1,000", "1000"), ("", None), ("x", None), ("inf", None), ("1,,000", None), ("٣", None)],
}


@pytest.mark.parametrize("marks", NUMBERS, ids=str)
def test_numbers_have_the_declared_marks_where_they_belong(
    tmp_path: Path, marks: tuple[str | None, str | None]
) -> None:
    """A mark in a wrong place makes no number: 1.5 is not 15."""
    path = tmp_path / "x.csv"
    path.write_text("x|t\n" + "".join(f"{text}|{text}\n" for text, _ in NUMBERS[marks]), encoding="utf-8")
    kind = {"x": {"type": "decimal"}}
    table = Table(path, public=True, separator="|", decimal=marks[0], thousands=marks[1], columns=kind)
    assert table.values("x") == [None if value is None else Fraction(value) for _, value in NUMBERS[marks]]
    # Texts stay as they are.
    assert table.values("t") == [text or None for text, _ in NUMBERS[marks]]
    whole = Table(
        path, public=True, separator="|", decimal=marks[0], thousands=marks[1], columns={"x": {"type": "integer"}}
    )
    rounded = [None if value is None or "." in value else int(value) for _, value in NUMBERS[marks]]
    assert [found for found, value in zip(whole.values("x"), rounded, strict=True) if value is not None] == [
        value for value in rounded if value is not None
    ]


def refused(message: str, source: Path, **given: Any) -> DataError:
    with pytest.raises(DataError, match=message) as error:
        Table(source, **given)
    assert CANARY not in reachable(error.value)
    return error.value


@pytest.mark.parametrize(("separator", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_another_separator_is_named_and_what_is_said_works(tmp_path: Path, separator: str, word: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(separator.join(["p", "a, b", "c"]) + f"\n1{separator}{CANARY}\n")
    error = refused(f"the first line is separated by {word}, not commas", path)
    assert f"separator={separator!r}" in error.hint
    assert [name for name, _ in Table(path, separator=separator).origin.fields] == ["p", "a, b", "c"]
    # A comma that is declared is believed.
    assert len(Table(path, separator=",").origin.fields) == 2


def test_other_encodings_and_formats_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(f"p,s\n1,{CANARY}\n".encode("utf-16"))
    assert "utf-16" in refused("begins with the mark of UTF-16", path).hint
    for beginning, message in (
        (gzip.compress(b"p\n1"), "compressed by gzip"),
        (b"PK\x03\x04..", "zip"),
        (b"PAR1", "Parquet"),
    ):
        path.write_bytes(beginning)
        assert refused(message, path).hint
    packed = tmp_path / "x.csv.gz"
    packed.write_bytes(b"p,s\n1,2\n")
    refused("the first line must hold", packed)


OTHERS = {
    "x.xlsx": "read_excel", "x.XLS": "read_excel", "x.json": "read_json", "x.ndjson": "read_ndjson",
    "x.feather": "read_ipc", "x.arrow": "read_ipc", "x.duckdb": "duckdb.connect", "x.sqlite": "read_database",
    "x.db": "read_database", "x.dta": "pandas", "x.txt": "folder of Parquet files", "x": "folder of Parquet files",
    "x.gz": "folder of Parquet files",
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_refused_with_the_way_to_open_them(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(CANARY)
    assert OTHERS[name] in refused("expected a .parquet or .csv file", tmp_path / name).hint


def test_what_is_said_of_other_files_opens_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = polars.DataFrame({"p": [1, 2], "s": ["a", "b"]})
    frame.write_json(tmp_path / "x.json")
    frame.write_ndjson(tmp_path / "x.ndjson")
    frame.write_ipc(tmp_path / "x.feather")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute("CREATE TABLE held AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(p, s)")
    with sqlite3.connect(tmp_path / "x.sqlite") as other:
        other.execute("CREATE TABLE held (p INTEGER, s TEXT)")
        other.executemany("INSERT INTO held VALUES (?, ?)", frame.rows())
    _write_workbook(tmp_path / "x.xlsx", [frame.columns, *frame.rows()])
    monkeypatch.chdir(tmp_path)
    for name in ("x.json", "x.ndjson", "x.feather", "x.duckdb", "x.sqlite", "x.xlsx"):
        hint = refused("expected a .parquet or .csv file, not", Path(name)).hint
        written = re.search(r": Table\((.*)\)\.", hint)
        assert written is not None
        blank = "held" if name == "x.sqlite" else "'held'"
        names = {"polars": polars, "duckdb": duckdb, "sqlite3": sqlite3}
        source = eval(written[1].replace("…", blank), names)
        assert Table(source, public=True).values("s") == ["a", "b"]


def _write_workbook(path: Path, rows: list[Sequence[object]]) -> None:
    """The least that is a workbook: one sheet, with its values in place."""
    cells = "".join(
        "<row>"
        + "".join(
            f'<c t="inlineStr"><is><t>{v}</t></is></c>' if isinstance(v, str) else f"<c><v>{v}</v></c>" for v in row
        )
        + "</row>"
        for row in rows
    )
    office = "http://schemas.openxmlformats.org"
    main, related = f'xmlns="{office}/spreadsheetml/2006/main"', f"{office}/officeDocument/2006/relationships"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    links = f'xmlns="{office}/package/2006/relationships"'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{office}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sheet.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships {links}><Relationship Id="a" Type="{related}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{related}"><sheets><sheet name="held" sheetId="1" r:id="a"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships {links}><Relationship Id="a" Type="{related}/worksheet" '
        'Target="sheet.xml"/></Relationships>',
        "xl/sheet.xml": f"<worksheet {main}><sheetData>{cells}</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in parts.items():
            packed.writestr(name, text)


@pytest.mark.parametrize("address", ["s3://bucket/x.parquet", "https://host.example/x.csv", "gs://b/x", "az://b/x"])
def test_addresses_are_refused_in_python_and_in_plans(tmp_path: Path, address: str) -> None:
    with pytest.raises(DataError, match="a file of this machine or a frame") as error:
        Table(address)
    assert error.value.got == address
    assert "Polars or DuckDB" in error.value.hint
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'dataset = "d"\nversion = "1"\nledger = ":memory:"\n[spec]\nunit = { kind = "add-remove" }\n'
        f'standard = {{ kind = "pure" }}\nintensity = 1\n[tables.t]\nsource = "{address}"\n'
    )
    with pytest.raises(DataError, match=r"plan.toml:9: tables.t.source: .*a file of this machine"):
        Session.open(plan)


WRITTEN = ("encoding", "separator", "decimal", "thousands")


def test_a_plan_says_how_a_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("person;cost\n1;1.234,5\n2;7\n", encoding="utf-16")
    plan = tmp_path / "plan.toml"
    text = (
        'dataset = "d"\nversion = "1"\nledger = ":memory:"\n[spec]\nunit = { kind = "add-remove", key = "person" }\n'
        'standard = { kind = "pure" }\nintensity = 1\n[tables.t]\nsource = "x.csv"\nlimits = { rows = 1 }\n'
        'encoding = "utf-16"\nseparator = ";"\ndecimal = ","\nthousands = "."\n[tables.t.columns]\n'
        'cost = { type = "decimal", bounds = [0, 10000], step = "0.5" }\n'
    )
    plan.write_text(text)
    with Session.open(plan) as session:
        asked = session._dataset.program("SELECT SUM(cost) AS s FROM t")
        found = session._connect().run(asked).measures[0].tolist()
        one = quote_of(session, "SELECT SUM(cost) AS s FROM t", spend="1/2").question
    (tmp_path / "plain.csv").write_text("person,cost\n1,1234.5\n2,7\n")
    plain = "".join(line for line in text.splitlines(True) if line.split()[0] not in WRITTEN)
    plan.write_text(plain.replace("x.csv", "plain.csv"))
    with Session.open(plan) as session:
        assert session._connect().run(asked).measures[0].tolist() == found != [0]
    plan.write_text(text.replace('thousands = "."\n', ""))
    with Session.open(plan) as session:
        other = quote_of(session, "SELECT SUM(cost) AS s FROM t", spend="1/2").question
    assert one.key != other.key
    plan.write_text(text.replace('separator = ";"', 'separator = ":"'))
    with pytest.raises(DataError, match=r"plan.toml:12: tables.t.separator: .*unknown separator"):
        Session.open(plan)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"separator": "x"}, "unknown separator"),
        ({"separator": ";;"}, "unknown separator"),
        ({"decimal": ";"}, "unknown decimal"),
        ({"thousands": "x"}, "unknown thousands"),
        ({"thousands": "."}, "thousands and decimals need different marks"),
        ({"decimal": ",", "thousands": ","}, "thousands and decimals need different marks"),
        ({"thousands": 5}, "unknown thousands"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, given: dict[str, Any], message: str) -> None:
    refused(message, written(tmp_path / "x.csv"), **given)
