"""`quincunx error`: how wrong a mechanism's answers are."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from quincunx.cli.family import Family, called, counted, families, family_class, parameters, taken
from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.numbers import above, percent


@reports_errors
def error(
    family: Family,
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
    made = family_class(family, families(lambda kind: kind, [*noise, "threshold"]))
    # The error depends neither on the sensitivity, of which one step suits every lattice, nor on the threshold.
    neutral = {"sensitivity": step or 1, "threshold": 0}
    fixed = {name: neutral[name] for name in neutral if name in taken(made, made)}
    mechanism = called(made, made, noise, **fixed)
    name = counted(mechanism)
    over = {"size": size, "candidates": candidates, "queries": queries}
    half = called(made, mechanism.error, over, beta=beta)
    count, variance = over[name] or "1", mechanism.variance
    if as_json:
        hidden = ("sensitivity", "sensitivity2", *neutral)
        shown = {each: text for each, text in parameters(mechanism).items() if each not in hidden}
        answer = {"mechanism": family, "parameters": shown, "beta": beta, name: count, "error": half}
        print_json(answer if math.isnan(variance) else answer | {"variance": variance})
        return
    confidence = percent(1 - rational(beta, "beta"))
    typer.echo(f"error: {above(half)}")
    if not math.isnan(variance):
        typer.echo(f"variance: {variance:.6g}")
    answers = "one answer is" if count == "1" else "all of {count} answers are"
    plain = answers + " within {half} of the truth"
    what = (mechanism.accuracy or plain).format(count=count, half=above(half))
    typer.echo(f"With probability at least {confidence}, {what}.")
