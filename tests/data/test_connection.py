"""Connections: what they can reach, what is fixed, and that TRY means TRY."""

from pathlib import Path

import duckdb
import pytest

from quincunx.data import connect

REPEATED = "SELECT TRY(a * a), TRY(a * a + 1) FROM (VALUES (4611686018427387904::BIGINT), (2)) AS t(a)"


def test_a_repeated_part_stays_inside_its_try() -> None:
    """As it comes, DuckDB computes a * a once, outside of both TRYs, and one large value ends the question."""
    with duckdb.connect(":memory:") as plain, pytest.raises(duckdb.Error):
        plain.execute(REPEATED).fetchall()
    with connect() as ours:
        assert ours.execute(REPEATED).fetchall() == [(None, None), (4, 5)]


def test_only_declared_files_can_be_read(tmp_path: Path) -> None:
    declared, other = tmp_path / "declared.csv", tmp_path / "other.csv"
    for file in (declared, other):
        file.write_text("a\n1\n")
    with connect([str(declared)]) as ours:
        assert ours.execute(f"SELECT * FROM read_csv('{declared}')").fetchall() == [(1,)]
        for sql in (
            f"SELECT * FROM read_csv('{other}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            f"ATTACH '{tmp_path / 'x.db'}'",
            "INSTALL httpfs",
            "SELECT * FROM glob('/*')",
        ):
            with pytest.raises(duckdb.Error):
                ours.execute(sql).fetchall()
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("setting", ["TimeZone = 'Asia/Tokyo'", "threads = 1", "enable_external_access = true"])
def test_settings_are_locked(setting: str) -> None:
    with connect() as ours, pytest.raises(duckdb.Error):
        ours.execute(f"SET {setting}")


def test_python_variables_are_not_tables() -> None:
    hidden = {"a": [1]}
    with connect() as ours, pytest.raises(duckdb.Error):
        ours.execute("SELECT * FROM hidden").fetchall()
    assert hidden


def test_meaning_is_fixed() -> None:
    with connect(threads=1) as ours:
        assert ours.execute("SELECT 7 / 2, 1::DOUBLE / 0, current_setting('TimeZone')").fetchall() == [
            (3.5, float("inf"), "UTC")
        ]
