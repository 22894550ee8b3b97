"""`quincunx noise`."""

import json

import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app
from quincunx.noise.testing import KeyedBits

LAWS = {
    "geometric": "--scale",
    "discrete-laplace": "--scale",
    "rounded-laplace": "--scale",
    "discrete-gaussian": "--sigma",
    "rounded-gaussian": "--sigma2",
}


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["noise", *arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(("law", "option"), LAWS.items())
def test_one_draw_on_a_line(law: str, option: str) -> None:
    code, out, err = run(law, option, "5/2", "--size", "20")
    assert (code, err) == (0, "")
    assert len([int(line) for line in out.splitlines()]) == 20


@pytest.mark.parametrize(("law", "option"), LAWS.items())
def test_json_repeats_what_was_asked(law: str, option: str) -> None:
    code, out, _ = run(law, option, "0.5", "--size", "3", "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["law"] == law
    assert answer[option.strip("-")] == "0.5"
    assert len(answer["draws"]) == answer["size"] == 3


def test_the_same_key_gives_the_same_draws(stream: KeyedBits) -> None:
    first = run("discrete-laplace", "--scale", "3", "--size", "5")
    assert first != run("discrete-laplace", "--scale", "3", "--size", "5")
    assert stream.injected


def test_no_draws_are_no_lines() -> None:
    assert run("geometric", "--scale", "1", "--size", "0") == (0, "", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("discrete-laplace",),
        ("discrete-laplace", "--sigma", "1"),
        ("discrete-laplace", "--scale", "1", "--sigma", "1"),
        ("rounded-gaussian", "--sigma", "1", "--sigma2", "1"),
        ("discrete-laplace", "--scale", "0"),
        ("discrete-laplace", "--scale", "-1"),
        ("discrete-laplace", "--scale", "nan"),
        ("discrete-laplace", "--scale", "inf"),
        ("discrete-laplace", "--scale", "one"),
        ("discrete-laplace", "--scale", "1", "--size", "-1"),
        ("cauchy", "--scale", "1"),
    ],
)
def test_bad_usage_is_exit_code_two_and_draws_nothing(arguments: tuple[str, ...]) -> None:
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert err != ""


def test_errors_are_json_for_programs() -> None:
    code, out, err = run("discrete-laplace", "--scale", "0", "--json")
    assert (code, out) == (2, "")
    assert json.loads(err) == {
        "error": "ParameterError",
        "what": "must be greater than 0",
        "where": "scale",
        "got": "0",
    }
