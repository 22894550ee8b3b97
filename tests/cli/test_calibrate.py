"""`quincunx calibrate`."""

import json
from fractions import Fraction
from typing import Any

import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app
from quincunx.mechanisms import kinds

PURE = (
    "laplace",
    "discrete-laplace",
    "randomized-response",
    "exponential",
    "permute-and-flip",
    "sparse-vector",
)
GAUSSIAN = ("gaussian", "discrete-gaussian")
FAMILIES = [*PURE, *GAUSSIAN, "partition-selection"]
# What a family cannot do without, whatever is asked of it.
NEEDED = {"sparse-vector": ("--threshold", "10")}
# What its error is counted over.
COUNTED = {
    "exponential": "--candidates",
    "permute-and-flip": "--candidates",
    "sparse-vector": "--queries",
}


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["calibrate", *arguments])
    return result.exit_code, result.stdout, result.stderr


def found(*arguments: str) -> dict[str, Any]:
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    answer: dict[str, Any] = json.loads(out)
    return answer


def test_the_example_of_the_documentation() -> None:
    code, out, err = run("gaussian", "--sensitivity", "1", "--epsilon", "1", "--delta", "1e-6")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "sigma: 4.22468",
        "sensitivity: 1",
        "sigma2: 17.8479211024",
        "step: 1",
        "Certainly delta ≤ 9.99995e-7.",
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_meets_epsilon_with_delta(family: str) -> None:
    answer = found(family, "--epsilon", "1", "--delta", "1/1000", *NEEDED.get(family, ()))
    assert answer["mechanism"] == family
    assert answer["asked"] == {"epsilon": "1", "delta": "1/1000"}
    assert answer["reached"]["delta"] <= 1e-3 * (1 + 1e-15)
    # Only a rule that is optimal for (ε, δ) reaches both.
    assert answer["exact"] is (family == "partition-selection")


@pytest.mark.parametrize("family", [each for each in FAMILIES if each != "partition-selection"])
@pytest.mark.parametrize(("option", "value"), [("rho", "1/3"), ("mu", "0.7"), ("alpha", "4")])
def test_every_family_meets_the_other_standards(family: str, option: str, value: str) -> None:
    if family == "discrete-gaussian" and option == "mu":
        code, _, err = run(family, "--mu", value)
        assert code == 4
        assert "no amount of this noise" in err
        return
    extra = ("--epsilon", "0.5") if option == "alpha" else ()
    answer = found(family, f"--{option}", value, *extra, *NEEDED.get(family, ()))
    reached = answer["reached"]["epsilon" if option == "alpha" else option]
    assert reached <= float(Fraction("0.5" if option == "alpha" else value)) * (1 + 1e-15)


@pytest.mark.parametrize("family", PURE)
def test_pure_is_met(family: str) -> None:
    answer = found(family, "--epsilon", "0.3", *NEEDED.get(family, ()))
    assert answer["reached"]["epsilon"] <= 0.3 * (1 + 1e-15)
    assert answer["exact"] is (family != "randomized-response")


def test_equality_is_said() -> None:
    assert run("laplace", "--epsilon", "0.3")[1].splitlines()[-1] == "Meets what was asked with equality."
    assert run("gaussian", "--rho", "1/3", "--sensitivity2", "2")[1].splitlines()[:2] == [
        "sigma2: 3",
        "sensitivity2: 2",
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_an_accuracy_instead_of_a_guarantee(family: str) -> None:
    whole = family == "partition-selection"
    plain = whole or family == "randomized-response"
    shape = ("--delta", "1e-6") if whole else () if plain else ("--step", "0.1", "--sensitivity", "1")
    wanted, count = "30" if whole else "0.5", COUNTED.get(family, "--size")
    answer = found(family, "--error", wanted, "--beta", "0.05", count, "40", *shape, *NEEDED.get(family, ()))
    assert answer["reached"]["error"] <= float(wanted)
    assert ("epsilon" in answer["reached"]) is (family in PURE or whole)
    assert ("delta" in answer["reached"]) is whole
    assert answer["reached"]["rho"] > 0


def test_the_parameters_rebuild_the_mechanism() -> None:
    answer = found("discrete-gaussian", "--epsilon", "1", "--delta", "1e-6", "--sensitivity", "3", "--coordinates", "1")
    given = answer["parameters"]
    assert given["coordinates"] == "1"
    again = kinds()["discrete-gaussian"](sigma=given["sigma"], sensitivity=3, coordinates=1)
    assert again.loss.delta(1) == answer["reached"]["delta"]
    assert found("randomized-response", "--epsilon", "1", "--options", "5")["parameters"]["options"] == "5"


def test_partition_selection_meets_rho_outside_delta() -> None:
    answer = found("partition-selection", "--rho", "1/8", "--delta", "1e-5")
    assert answer["parameters"] == {"epsilon": "0.505268", "delta": "1e-5"}
    assert answer["reached"]["rho"] <= 0.125
    assert answer["reached"]["delta"] == pytest.approx(1e-5, rel=1e-15)
    assert answer["exact"] is False
    _, out, _ = run("partition-selection", "--rho", "1/8", "--delta", "1e-5")
    assert out.splitlines()[-1] == "Certainly rho ≤ 0.125, delta ≤ 1e-5."


def test_shapes_of_choices_and_of_sparse_vector_are_kept() -> None:
    chosen = found("exponential", "--epsilon", "1", "--monotone", "--sensitivity", "2")["parameters"]
    assert chosen == {"scale": "2", "sensitivity": "2", "step": "1", "monotone": "true"}
    assert "monotone" not in found("exponential", "--epsilon", "1")["parameters"]
    session = found("sparse-vector", "--threshold", "-10", "--aboves", "4", "--epsilon", "1")["parameters"]
    assert session == {
        "threshold": "-10",
        "threshold_scale": "5",
        "query_scale": "10",
        "aboves": "4",
        "sensitivity": "1",
        "step": "1",
    }
    equal = found("sparse-vector", "--threshold", "0", "--ratio", "1", "--epsilon", "1")["parameters"]
    assert equal["threshold_scale"] == equal["query_scale"] == "3"


@pytest.mark.parametrize("family", GAUSSIAN)
def test_what_cannot_be_met_is_refused_for_privacy(family: str) -> None:
    code, out, err = run(family, "--epsilon", "1")
    assert (code, out) == (4, "")
    assert "hint: Give delta > 0" in err


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("cauchy", "--epsilon", "1"),
        ("laplace",),
        ("laplace", "--delta", "1e-6"),
        ("laplace", "--epsilon", "0"),
        ("laplace", "--epsilon", "-1"),
        ("laplace", "--epsilon", "x"),
        ("laplace", "--epsilon", "nan"),
        ("laplace", "--epsilon", "1", "--delta", "2"),
        ("laplace", "--epsilon", "1", "--rho", "1"),
        ("laplace", "--alpha", "1", "--epsilon", "1"),
        ("laplace", "--epsilon", "1", "--sensitivity2", "2"),
        ("laplace", "--epsilon", "1", "--coordinates", "1"),
        ("laplace", "--epsilon", "1", "--options", "3"),
        ("laplace", "--epsilon", "1", "--sensitivity", "0"),
        ("laplace", "--error", "3"),
        ("laplace", "--beta", "0.05"),
        ("laplace", "--error", "3", "--beta", "0.05", "--epsilon", "1"),
        ("laplace", "--error", "0", "--beta", "0.05"),
        ("laplace", "--error", "3", "--beta", "1"),
        ("laplace", "--error", "3", "--beta", "0.05", "--size", "0"),
        ("gaussian", "--rho", "1", "--sensitivity", "1", "--sensitivity2", "1"),
        ("discrete-gaussian", "--rho", "1", "--coordinates", "2"),
        ("discrete-laplace", "--epsilon", "1", "--step", "2"),
        ("randomized-response", "--epsilon", "1", "--step", "2"),
        ("randomized-response", "--epsilon", "1", "--options", "1"),
        ("laplace", "--epsilon", "1", "--monotone"),
        ("laplace", "--epsilon", "1", "--threshold", "1"),
        ("laplace", "--error", "3", "--beta", "0.05", "--candidates", "3"),
        ("laplace", "--error", "3", "--beta", "0.05", "--delta", "1e-6"),
        ("exponential", "--epsilon", "1", "--candidates", "3"),
        ("exponential", "--error", "3", "--beta", "0.05"),
        ("exponential", "--error", "3", "--beta", "0.05", "--size", "3"),
        ("exponential", "--error", "3", "--beta", "0.05", "--candidates", "1"),
        ("permute-and-flip", "--rho", "0"),
        ("sparse-vector", "--epsilon", "1"),
        ("sparse-vector", "--epsilon", "1", "--threshold", "1/2"),
        ("sparse-vector", "--epsilon", "1", "--threshold", "0", "--aboves", "0"),
        ("sparse-vector", "--epsilon", "1", "--threshold", "0", "--ratio", "0"),
        ("sparse-vector", "--error", "30", "--beta", "0.05", "--threshold", "0"),
        ("partition-selection", "--epsilon", "1"),
        ("partition-selection", "--delta", "1e-6"),
        ("partition-selection", "--epsilon", "1", "--delta", "0"),
        ("partition-selection", "--epsilon", "1", "--rho", "1", "--delta", "1e-6"),
        ("partition-selection", "--mu", "1", "--delta", "1e-6"),
        ("partition-selection", "--error", "10", "--beta", "0.05"),
        ("partition-selection", "--error", "1", "--beta", "0.05", "--delta", "1e-6"),
    ],
)
def test_bad_usage_is_exit_code_two(arguments: tuple[str, ...]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err != ""


def test_options_that_do_not_fit_are_named() -> None:
    _, _, err = run("laplace", "--epsilon", "1", "--coordinates", "1")
    assert "error: --coordinates: laplace has no such parameter here" in err
    assert "hint: It takes --sensitivity, --step, --epsilon" in err
