"""The command line itself: its version, other ways to start it, and completion."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quincunx import __version__
from quincunx.cli.app import app

# The scripts stand beside the interpreter.
SCRIPTS = Path(sys.executable).parent


def output(*command: str, **environment: str) -> str:
    found = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_the_version_is_one_line() -> None:
    found = CliRunner().invoke(app, ["--version"])
    assert (found.exit_code, found.stdout) == (0, f"quincunx {__version__}\n")


def test_the_module_is_the_command() -> None:
    assert output(sys.executable, "-m", "quincunx", "--version") == f"quincunx {__version__}\n"


@pytest.mark.parametrize("name", ["quincunx", "qx"])
def test_both_names_complete(name: str) -> None:
    # The shell is named, not found among the processes above: a run in the background has none.
    script = output(str(SCRIPTS / name), "--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    asked = f"_{name.upper()}_COMPLETE"
    assert f"{asked}=complete_bash" in script
    words = {"COMP_WORDS": f"{name} ledger ver", "COMP_CWORD": "2", asked: "complete_bash"}
    assert output(str(SCRIPTS / name), **words).split() == ["verify"]
