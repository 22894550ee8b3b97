"""`quincunx error`: how wrong a mechanism's answers are."""

from __future__ import annotations

from typing import Annotated

import typer

from quincunx.cli.family import FamilyName, called, exact_text, mechanism_class, parameters
from quincunx.cli.output import AsJson, print_json, reports_errors, shown_above


@reports_errors
def error(
    family: Annotated[FamilyName, typer.Argument(help="The mechanism.")],
    scale: Annotated[str | None, typer.Option(help="Scale of the Laplace laws, exact as typed.")] = None,
    sigma: Annotated[str | None, typer.Option(help="σ of the Gaussian laws, exact as typed.")] = None,
    sigma2: Annotated[str | None, typer.Option(help="σ² of the Gaussian laws, instead of σ.")] = None,
    probability: Annotated[str | None, typer.Option(help="Randomized response: the probability of the truth.")] = None,
    options: Annotated[str | None, typer.Option(help="Randomized response: how many answers. Default 2.")] = None,
    step: Annotated[str | None, typer.Option(help="The lattice's spacing. Default 1.")] = None,
    beta: Annotated[str, typer.Option(help="The probability of missing the half-width.")] = "0.05",
    size: Annotated[str, typer.Option(help="How many answers, or respondents, at once.")] = "1",
    as_json: AsJson = False,
) -> None:
    """Say how far answers are from the truth: the half-width that holds with probability 1 − beta, and the variance.

    The truth is that of the values that go into the mechanism: sampling error and clipping are not included.
    """
    from quincunx.numbers import rational

    noise = {"scale": scale, "sigma": sigma, "sigma2": sigma2, "probability": probability, "options": options}
    # The error does not depend on the sensitivity; one step is a sensitivity that every lattice accepts.
    fixed = {} if step is None else {"sensitivity": step}
    mechanism = called(mechanism_class(family), family, noise | {"step": step}, **fixed)
    half = mechanism.error(beta, size)
    if as_json:
        noise_found = {name: text for name, text in parameters(mechanism).items() if not name.startswith("sensitivity")}
        print_json(
            {
                "mechanism": family.value,
                "parameters": noise_found,
                "beta": beta,
                "size": size,
                "error": half,
                "variance": mechanism.variance,
            }
        )
        return
    confidence = exact_text(100 * (1 - rational(beta, "beta")))
    what = _words(family, size)
    typer.echo(f"error: {shown_above(half)}")
    typer.echo(f"variance: {mechanism.variance:.6g}")
    typer.echo(f"With probability at least {confidence} %, {what} within {shown_above(half)} of the truth.")


def _words(family: FamilyName, size: str) -> str:
    if family is FamilyName.RANDOMIZED_RESPONSE:
        return f"the share of an answer estimated from {size} respondents is"
    return "one answer is" if size == "1" else f"all of {size} answers are"
