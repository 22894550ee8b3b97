"""`quincunx convert`."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["convert", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_the_command() -> None:
    code, out, err = run("--epsilon", "1", "--delta", "1e-6", "--to", "zcdp")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].endswith("with ρ = 0.0243559.")
    code, out, _ = run("--rho", "0.5", "--delta", "1e-6", "--to", "approximate", "--json")
    assert (code, json.loads(out)["to"]) == (0, {"kind": "approximate", "delta": "1/1000000"})
    assert float(Fraction(json.loads(out)["follows"])) == pytest.approx(5.2215344, abs=1e-6)
    code, out, _ = run("--epsilon", "1", "--delta", "1e-6", "--alpha", "32", "--to", "renyi", "--json")
    assert json.loads(out)["standard"]["kind"] == "approximate"
    assert Fraction(json.loads(out)["enough"]) > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--to", "zcdp"), "exactly one of epsilon, rho and mu"),
        (("--rho", "1", "--mu", "1", "--to", "zcdp"), "--rho and --mu"),
        (("--rho", "1", "--to", "kl"), "unknown standard"),
        (("--rho", "1", "--to", "approximate"), "approximate privacy needs --delta"),
        (("--rho", "1", "--to", "renyi"), "renyi privacy needs --alpha"),
        (("--mu", "1", "--alpha", "3", "--to", "zcdp"), "gaussian privacy has no --alpha"),
        (("--epsilon", "-1", "--to", "zcdp"), "greater than 0"),
        (("--epsilon", "x", "--to", "zcdp"), "epsilon"),
        (("--epsilon", "1", "--delta", "2", "--to", "zcdp"), "delta"),
        (("--epsilon", "1", "--alpha", "1", "--to", "zcdp"), "the order must be greater than 1"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], words: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err
