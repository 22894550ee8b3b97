"""`quincunx account`."""

import json
import math
from typing import Any

import pytest
from typer.testing import CliRunner

import quincunx as qx
from quincunx.cli.app import app

EXAMPLE = "10000*gaussian(sigma=50) + poisson(gaussian(sigma=1), q=0.01)*100 + laplace(scale=20)"


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["account", *arguments])
    return result.exit_code, result.stdout, result.stderr


def bounds(expression: str, *rest: str) -> dict[str, Any]:
    code, out, err = run(expression, *rest, "--json")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)["bounds"]
    return found


@pytest.mark.parametrize(
    ("expression", "known"),
    [
        ("10000*gaussian(sigma=50)", 10.99715121422065),
        ("10000*gaussian(sigma=500)", 0.83411754862405),
        ("1000*laplace(scale=20)", 8.2044),
        ("1000*discrete_laplace(scale=20)", 8.2836),
    ],
)
def test_known_figures_at_one_in_a_million(expression: str, known: float) -> None:
    found = bounds(expression, "--delta", "1e-6")["epsilon"]
    assert found["lower"] - 1e-3 <= known <= found["upper"] + 1e-3
    assert found["lower"] <= found["upper"] <= found["lower"] * (1 + 1e-3)


def test_every_standard_agrees_with_the_library() -> None:
    found = bounds("3*laplace(scale=2) + randomized_response(probability=3/4)", "--delta", "1e-3", "--epsilon", "1/2")
    loss = 3 * qx.mechanisms.Laplace(scale=2).loss + qx.mechanisms.RandomizedResponse(probability="3/4").loss
    expected = {
        "epsilon": loss.epsilon_bounds("1e-3"),
        "delta": loss.delta_bounds("1/2"),
        "pure": loss.pure_bounds(),
        "zcdp": loss.zcdp_bounds(),
        "renyi_2": loss.renyi_bounds(2),
        "renyi_8": loss.renyi_bounds(8),
        "renyi_32": loss.renyi_bounds(32),
        "gdp": loss.gdp_bounds(),
        "tv": loss.tv_bounds(),
    }
    assert {key: (row["lower"], row["upper"]) for key, row in found.items()} == expected


def test_what_is_not_finite_is_null_in_json_and_infinite_in_words() -> None:
    assert bounds("gaussian(sigma=2)", "--delta", "1e-6")["pure"]["upper"] is None
    code, out, _ = run("gaussian(sigma=2)", "--delta", "1e-6")
    assert code == 0
    assert next(line for line in out.splitlines() if line.startswith("pure")).split()[-1] == "∞"


def test_bounds_are_printed_outwards() -> None:
    _, out, _ = run("10000*gaussian(sigma=50)", "--delta", "1e-6")
    line = next(line for line in out.splitlines() if line.startswith("approximate, δ = 1e-6"))
    lower, upper = (float(text) for text in line.split()[-2:])
    assert lower <= 10.99715121422065 <= upper
    assert (lower, upper) == (10.9971, 10.9972)


def test_the_example_of_the_documentation() -> None:
    code, out, err = run(EXAMPLE, "--delta", "1e-6", "--epsilon", "12")
    assert (code, err) == (0, "")
    assert "approximate, ε = 12" in out
    assert "one person added or removed" in " ".join(out.split())
    assert bounds(EXAMPLE, "--delta", "1e-6")["epsilon"]["upper"] == pytest.approx(11.0309, abs=1e-3)


def test_laws_and_neighbours_are_named() -> None:
    said = {
        expression: " ".join(run(expression, "--delta", "1e-3")[1].split())
        for expression in (
            "gaussian(sigma=9)",
            "discrete_gaussian(sigma=9)",
            "poisson(gaussian(sigma=9), q=0.1)",
            "without_replacement(gaussian(sigma=9), q=0.1)",
        )
    }
    plain, discrete, poisson, without = said.values()
    assert "continuous Gaussian noise, also rounded" in plain
    assert "a law of its own" in discrete
    assert "move by at most each term's sensitivity" in plain
    assert "one person added or removed" in poisson
    assert "one person replaced by another" in without
    # At the same σ the discrete law leaks more.
    assert (
        bounds("discrete_gaussian(sigma=2)", "--delta", "1e-6")["epsilon"]["lower"]
        > (bounds("gaussian(sigma=2)", "--delta", "1e-6")["epsilon"]["upper"])
    )


def test_the_terms_are_listed() -> None:
    code, out, err = run("--list")
    assert (code, err) == (0, "")
    listed = json.loads(run("--list", "--json")[1])
    assert [entry["term"] for entry in listed] == [
        "discrete_gaussian", "discrete_laplace", "gaussian", "laplace", "randomized_response", "poisson",
        "without_replacement",
    ]  # fmt: skip
    for entry in listed:
        assert entry["form"] in out
        assert entry["law"] in out


def test_wrong_places_are_underlined() -> None:
    code, out, err = run("3*laplace(scale=2) + gausian(sigma=50)", "--delta", "1e-6")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        "  3*laplace(scale=2) + gausian(sigma=50)",
        "                       ^^^^^^^",
        "error: expression, characters 22 to 28: unknown term; got 'gausian'",
        "hint: Did you mean gaussian? quincunx account --list names the terms.",
    ]


def test_errors_are_json_for_programs() -> None:
    code, out, err = run("laplace(scale=0)", "--delta", "1e-6", "--json")
    assert (code, out) == (2, "")
    assert json.loads(err) == {
        "error": "ExpressionError",
        "what": "must be greater than 0",
        "where": "expression, characters 9 to 15, scale",
        "got": "0",
    }


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("laplace(scale=1)",),
        ("--delta", "1e-6"),
        ("laplace(scale=1)", "--delta", "1"),
        ("laplace(scale=1)", "--delta", "-1"),
        ("laplace(scale=1)", "--delta", "nan"),
        ("laplace(scale=1)", "--delta", "x"),
        ("laplace(scale=1)", "--delta", "0", "--epsilon", "-1"),
        ("", "--delta", "1e-6"),
    ],
)
def test_bad_usage_is_exit_code_two(arguments: tuple[str, ...]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err != ""


def test_different_neighbours_are_refused_for_privacy() -> None:
    code, _, err = run(
        "poisson(gaussian(sigma=1), q=0.1) + without_replacement(gaussian(sigma=1), q=0.1)", "--delta", "1e-6"
    )
    assert code == 4
    assert "different neighbours" in err


def test_many_different_mechanisms() -> None:
    text = " + ".join(f"gaussian(sigma={20 + i / 10:g})" for i in range(500))
    assert math.isfinite(bounds(text, "--delta", "1e-6")["epsilon"]["upper"])
