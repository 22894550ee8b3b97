"""`quincunx error`."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app
from quincunx.cli.family import begun
from quincunx.mechanisms import Exponential, PartitionSelection, PermuteAndFlip, SparseVector, kinds

NOISE = {
    "laplace": ("scale", "2"),
    "gaussian": ("sigma", "2"),
    "discrete-laplace": ("scale", "1/3"),
    "discrete-gaussian": ("sigma2", "7"),
    "randomized-response": ("probability", "3/4"),
}
# Choices, sessions and keys: their options, what their error is counted over, and the mechanism.
OTHERS: dict[str, tuple[tuple[str, ...], str, Any]] = {
    "exponential": (("--scale", "2"), "candidates", Exponential(scale=2)),
    "permute-and-flip": (("--scale", "1/3"), "candidates", PermuteAndFlip(scale="1/3")),
    "sparse-vector": (
        ("--threshold-scale", "2", "--query-scale", "8"),
        "queries",
        SparseVector(threshold=5, threshold_scale=2, query_scale=8, aboves=3),
    ),
    "partition-selection": (
        ("--epsilon", "1", "--delta", "1e-5"),
        "size",
        PartitionSelection(epsilon=1, delta="1e-5"),
    ),
}


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["error", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_the_example_of_the_documentation() -> None:
    code, out, err = run("laplace", "--scale", "2", "--beta", "0.05", "--size", "3")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "error: 8",
        "variance: 8.08153",
        "With probability at least 95 %, all of 3 answers are within 8 of the truth.",
    ]


def test_every_mechanism_can_be_named_but_those_of_more_than_numbers() -> None:
    """Its first example, typed, has the error that the library says."""
    said = json.loads(run("cauchy", "--json")[2])
    assert (said["what"], said["got"]) == ("unknown mechanism", "'cauchy'")
    named = said["hint"].removeprefix("Known: ").removesuffix(".").split(", ")
    # Some are made of another's noise, some of a grid of values.
    ranks = {"quantile-choice", "quantile-cuts", "quantile-flip"}
    assert kinds().keys() - {*named} == {"threshold-selection", "ladder-choice", "ladder-sum", "count-tree", *ranks}
    for tag in named:
        mechanism: Any = kinds()[tag].examples()[0]
        # What the error does not depend on is not an option.
        given = {name: str(value) for name, value in mechanism.parameters().items() if value is not None}
        asked = given.keys() - {"sensitivity", "sensitivity2", "threshold", "aboves", "monotone", "coordinates"}
        options = [part for name in sorted(asked) for part in (f"--{name.replace('_', '-')}", given[name])]
        count = {"exponential": "candidates", "permute-and-flip": "candidates", "sparse-vector": "queries"}
        code, out, err = run(tag, *options, f"--{count.get(tag, 'size')}", "40", "--json")
        assert (code, err, json.loads(out)["error"]) == (0, "", mechanism.error("0.05", 40)), tag


def test_wrong_names_are_answered_and_begun_ones_completed() -> None:
    code, out, err = run("laplas")
    assert (code, out) == (2, "")
    assert "Did you mean laplace? Known: discrete-gaussian, " in err
    assert begun("disc") == ["discrete-gaussian", "discrete-laplace"]


@pytest.mark.parametrize("family", list(OTHERS))
@pytest.mark.parametrize("count", ["1", "40"])
def test_choices_sessions_and_keys_agree_with_the_library(family: str, count: str) -> None:
    options, name, mechanism = OTHERS[family]
    code, out, err = run(family, *options, f"--{name}", count, "--beta", "0.01", "--json")
    answer = json.loads(out)
    assert (code, err) == (0, "")
    assert answer["error"] == mechanism.error("0.01", count)
    assert (answer["mechanism"], answer["beta"], answer[name]) == (family, "0.01", count)
    assert "variance" not in answer
    assert not {"sensitivity", "threshold"} & answer["parameters"].keys()
    words = run(family, *options, f"--{name}", count)[1].splitlines()
    assert len(words) == 2
    assert words[0].startswith("error: ")
    assert words[1].startswith("With probability at least 95 %, ")


@pytest.mark.parametrize("size", ["1", "40"])
@pytest.mark.parametrize("family", list(NOISE))
def test_it_agrees_with_the_library(family: str, size: str) -> None:
    name, value = NOISE[family]
    code, out, err = run(family, f"--{name}", value, "--beta", "0.01", "--size", size, "--json")
    mechanism = kinds()[family](**{name: value})
    answer = json.loads(out)
    assert (code, err) == (0, "")
    assert answer["error"] == mechanism.error("0.01", size)
    assert answer["variance"] == mechanism.variance
    assert (answer["mechanism"], answer["beta"], answer["size"]) == (family, "0.01", size)
    assert not any(key.startswith("sensitivity") for key in answer["parameters"])


@pytest.mark.parametrize("family", [each for each in NOISE if each != "randomized-response"])
def test_steps_of_any_length(family: str) -> None:
    name, value = NOISE[family]
    for step in ("0.1", "3", "7/2"):
        code, out, _ = run(family, f"--{name}", value, "--step", step, "--json")
        assert code == 0
        assert json.loads(out)["parameters"]["step"] == step.replace("7/2", "3.5")


def test_words_fit_the_question() -> None:
    assert "one answer is within 6 of" in run("laplace", "--scale", "2")[1]
    assert (
        "estimated from 10 respondents is within"
        in run("randomized-response", "--probability", "0.9", "--size", "10")[1]
    )
    chosen = run("exponential", "--scale", "2", "--candidates", "10")[1]
    assert "the chosen one of 10 candidates scores within 10 of the best." in chosen
    kept = run("partition-selection", "--epsilon", "1", "--delta", "1e-5", "--size", "3")[1]
    assert "3 keys with at least 15 people each are all kept." in kept
    assert "at least 99.9 %" in run("laplace", "--scale", "2", "--beta", "1/1000")[1]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("laplace",),
        ("laplace", "--sigma", "2"),
        ("laplace", "--scale", "0"),
        ("laplace", "--scale", "x"),
        ("laplace", "--scale", "2", "--beta", "0"),
        ("laplace", "--scale", "2", "--beta", "1"),
        ("laplace", "--scale", "2", "--size", "0"),
        ("laplace", "--scale", "2", "--size", "1.5"),
        ("laplace", "--scale", "2", "--step", "0"),
        ("gaussian", "--sigma", "2", "--sigma2", "4"),
        ("gaussian",),
        ("randomized-response",),
        ("randomized-response", "--probability", "1/2"),
        ("randomized-response", "--probability", "1"),
        ("randomized-response", "--probability", "3/4", "--step", "2"),
        ("cauchy", "--scale", "2"),
        ("laplace", "--scale", "2", "--candidates", "3"),
        ("laplace", "--scale", "2", "--epsilon", "1"),
        ("exponential", "--scale", "2"),
        ("exponential", "--scale", "2", "--size", "3"),
        ("exponential", "--candidates", "3"),
        ("permute-and-flip", "--scale", "2", "--candidates", "0"),
        ("sparse-vector", "--threshold-scale", "2", "--queries", "3"),
        ("sparse-vector", "--threshold-scale", "2", "--query-scale", "0", "--queries", "3"),
        ("sparse-vector", "--threshold-scale", "2", "--query-scale", "2"),
        ("partition-selection", "--epsilon", "1"),
        ("partition-selection", "--epsilon", "1", "--delta", "0"),
    ],
)
def test_bad_usage_is_exit_code_two(arguments: tuple[str, ...]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err != ""
