"""The two guides about PostgreSQL, followed word by word: their statements, their plan, their commands."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app
from tests.postgres import Server, server

pytestmark = pytest.mark.ci
GUIDES = Path(__file__).parents[2] / "docs" / "guides"
PLACE = "db.example"


def blocks(guide: str, language: str) -> list[str]:
    """The blocks of a guide in a language."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", (GUIDES / guide).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


def administered(running: Server, guide: str) -> None:
    """Carry out what the guide gives to psql."""
    words = next(each for each in blocks(guide, "sh") if "psql" in each)
    assert "pip install 'quincunx[postgres]'" in words
    script = re.search(r"psql <<'SQL'\n(.*?)^SQL$", words, re.DOTALL | re.MULTILINE)
    assert script is not None
    psql = shutil.which("psql") or str(running.binaries / "psql")
    command = [psql, "-v", "ON_ERROR_STOP=1", "-X", "-d", running.address("admin")]
    done = subprocess.run(command, input=script[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def commands(guide: str, running: Server) -> list[list[str]]:
    """The commands of Quincunx in a guide, with the server of this machine in the place of the guide's."""
    lines = [line for each in blocks(guide, "sh") for line in each.splitlines() if line.startswith("quincunx ")]
    here = [line.replace(PLACE, f"127.0.0.1:{running.port}").replace("?sslmode=verify-full", "") for line in lines]
    return [shlex.split(each)[1:] for each in here]


def run(*words: str) -> Any:
    return CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"}).invoke(app, list(words))


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_guide_of_tables_ends_with_a_release(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as running:
        administered(running, "postgres.md")
        service = blocks("postgres.md", "ini")[0].replace(PLACE, f"127.0.0.1\nport={running.port}")
        (empty / "services").write_text(service.replace("sslmode=verify-full", ""))
        monkeypatch.setenv("PGSERVICEFILE", str(empty / "services"))
        (empty / "plan.toml").write_text(blocks("postgres.md", "toml")[0])
        asked = commands("postgres.md", running)
        assert [each[0] for each in asked] == ["check", "release"]
        for words in asked:
            result = run(*words)
            assert result.exit_code == 0, result.output
        assert list((empty / "published").iterdir())
        result = run("ledger", "show", "ledger.db")
        assert "ρ 0.25 0.75 1" in " ".join(result.stdout.split())


def test_the_guide_of_ledgers_ends_with_a_ledger_that_moved(empty: Path) -> None:
    with server(durable=True) as running:
        administered(running, "team-ledger.md")
        # A file with something in it, to be moved.
        plan = blocks("postgres.md", "toml")[0].replace(
            '{ postgres = "service=clinic", table = "public.visits" }', '"v.parquet"'
        )
        duckdb.sql("SELECT 1 AS person_id, 'ward 0' AS ward, 2.5 AS cost").write_parquet(str(empty / "v.parquet"))
        (empty / "plan.toml").write_text(plan)
        released = run("release", "plan.toml", "--out", "published")
        assert released.exit_code == 0, released.output
        create, copy, verify = commands("team-ledger.md", running)
        assert [create[:2], copy[:2], verify[:2]] == [["ledger", "create"], ["ledger", "copy"], ["ledger", "verify"]]
        made = run(*create)
        assert made.exit_code == 0, made.output
        assert "for 1 teller and 1 auditor" in made.stdout
        moved = run(*copy)
        assert moved.exit_code == 0, moved.output
        head = moved.stdout.split("head ")[1].strip()
        verified = run(*verify[:-1], head)
        assert verified.exit_code == 0, verified.output
        # Both places say where the ledger is now; only the new one goes on, and nothing is paid again.
        for place in ("ledger.db", copy[-1]):
            shown = run("ledger", "show", place)
            assert shown.exit_code == 0, shown.output
            assert f"to postgresql://127.0.0.1:{running.port}/ledger" in " ".join(shown.stdout.split())
        migrated = run("ledger", "migrate", create[2])
        assert "nothing to do" in migrated.stdout, migrated.output
        again = run("release", "plan.toml", "--out", "again")
        assert again.exit_code == 0, again.output
        line = blocks("team-ledger.md", "toml")[0].replace(PLACE, f"127.0.0.1:{running.port}")
        line = line.replace("?sslmode=verify-full", "").strip()
        assert line.startswith("ledger = ")
        (empty / "plan.toml").write_text(plan.replace('ledger = "ledger.db"', line))
        there = run("release", "plan.toml", "--out", "there")
        assert there.exit_code == 0, there.output
        more = run("sql", "plan.toml", "SELECT COUNT(*) AS n FROM visits", "--spend", "1/4")
        assert more.exit_code == 0, more.output
        shown = " ".join(run("ledger", "show", copy[-1]).stdout.split())
        assert "ρ 0.5 0.5 1" in shown
