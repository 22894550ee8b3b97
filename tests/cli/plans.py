"""Running commands on a small plan, as a person would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from quincunx.cli.app import app
from tests.release.world import PLAN, write_plan

COUNT = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"


def made(folder: Path, text: str = PLAN) -> str:
    """A plan with its tables; its path."""
    return str(write_plan(folder, text))


def run(*words: str, **options: Any) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"}).invoke(app, list(words), **options)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def run_json(*words: str) -> Any:
    """The JSON that a command prints."""
    code, out, err = run(*words, "--json")
    assert code == 0, err
    return json.loads(out)
