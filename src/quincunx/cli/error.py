"""`quincunx error`: how wrong a mechanism's answers are."""

from __future__ import annotations

import inspect
from typing import Annotated, Final

import typer

from quincunx.cli.family import FamilyName, called, counted, mechanism_class, parameters
from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.numbers import above, percent

_CHOSEN: Final = "the chosen one of {count} candidates scores within {half} of the best"
# What is said of families whose answers are not numbers with noise.
_WORDS: Final = {
    FamilyName.RANDOMIZED_RESPONSE: "the share of an answer estimated from {count} respondents is within {half} of the "
    "truth",
    FamilyName.EXPONENTIAL: _CHOSEN,
    FamilyName.PERMUTE_AND_FLIP: _CHOSEN,
    FamilyName.SPARSE_VECTOR: "of {count} values each one called above is at least the threshold less {half}, each one "
    "called below at most the threshold plus {half}",
    FamilyName.PARTITION_SELECTION: "{count} keys with at least {half} people each are all kept",
}


@reports_errors
def error(
    family: Annotated[FamilyName, typer.Argument(help="The mechanism.")],
    scale: Annotated[str | None, typer.Option(help="Scale of the Laplace laws and of a choice, as typed.")] = None,
    sigma: Annotated[str | None, typer.Option(help="σ of the Gaussian laws, exact as typed.")] = None,
    sigma2: Annotated[str | None, typer.Option(help="σ² of the Gaussian laws, instead of σ.")] = None,
    probability: Annotated[str | None, typer.Option(help="Randomized response: the probability of the truth.")] = None,
    options: Annotated[str | None, typer.Option(help="Randomized response: how many answers. Default 2.")] = None,
    threshold_scale: Annotated[str | None, typer.Option(help="Sparse vector: scale of the threshold's noise.")] = None,
    query_scale: Annotated[str | None, typer.Option(help="Sparse vector: scale of each value's noise.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Partition selection: ε.")] = None,
    delta: Annotated[str | None, typer.Option(help="Partition selection: δ.")] = None,
    step: Annotated[str | None, typer.Option(help="The lattice's spacing. Default 1.")] = None,
    beta: Annotated[str, typer.Option(help="The probability of missing the error.")] = "0.05",
    size: Annotated[str | None, typer.Option(help="How many answers, respondents or keys at once. Default 1.")] = None,
    candidates: Annotated[str | None, typer.Option(help="For a choice: how many candidates.")] = None,
    queries: Annotated[str | None, typer.Option(help="Sparse vector: how many values.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say how far answers are from the truth: the error that holds with probability 1 − beta, and the variance.

    The truth is that of the values that go into the mechanism: sampling error and clipping are not included.
    """
    from quincunx.numbers import rational

    noise = {
        "scale": scale,
        "sigma": sigma,
        "sigma2": sigma2,
        "probability": probability,
        "options": options,
        "threshold_scale": threshold_scale,
        "query_scale": query_scale,
        "epsilon": epsilon,
        "delta": delta,
        "step": step,
    }
    made = mechanism_class(family)
    # The error depends neither on the sensitivity, of which one step suits every lattice, nor on the threshold.
    neutral = {"sensitivity": step or 1, "threshold": 0}
    taken = inspect.signature(made).parameters
    mechanism = called(made, family, noise, **{name: neutral[name] for name in neutral if name in taken})
    name = counted(mechanism)
    over = {"size": size, "candidates": candidates, "queries": queries}
    half = called(mechanism.error, family, over, beta=beta)
    count, variance = over[name] or "1", getattr(mechanism, "variance", None)
    if as_json:
        hidden = ("sensitivity", "sensitivity2", *neutral)
        shown = {each: text for each, text in parameters(mechanism).items() if each not in hidden}
        answer = {"mechanism": family.value, "parameters": shown, "beta": beta, name: count, "error": half}
        print_json(answer if variance is None else answer | {"variance": variance})
        return
    confidence = percent(1 - rational(beta, "beta"))
    typer.echo(f"error: {above(half)}")
    if variance is not None:
        typer.echo(f"variance: {variance:.6g}")
    answers = "one answer is" if count == "1" else "all of {count} answers are"
    plain = answers + " within {half} of the truth"
    what = _WORDS.get(family, plain).format(count=count, half=above(half))
    typer.echo(f"With probability at least {confidence}, {what}.")
