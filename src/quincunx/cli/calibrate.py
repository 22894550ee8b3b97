"""`quincunx calibrate`: the noise that meets a guarantee, or an accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from quincunx.cli.family import Family, called, counted, families, family_class, parameters, taken
from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.errors import ParameterError
from quincunx.numbers import above

_GOALS: Final = ("epsilon", "delta", "rho", "mu", "alpha")


@reports_errors
def calibrate(
    family: Family,
    epsilon: Annotated[str | None, typer.Option(help="ε to meet: pure alone, or with --delta or --alpha.")] = None,
    delta: Annotated[str | None, typer.Option(help="δ to meet at --epsilon.")] = None,
    rho: Annotated[str | None, typer.Option(help="ρ of zero-concentrated privacy to meet.")] = None,
    mu: Annotated[str | None, typer.Option(help="μ of Gaussian privacy to meet.")] = None,
    alpha: Annotated[
        str | None, typer.Option(help="The order α > 1 at which the Rényi divergence is --epsilon.")
    ] = None,
    error: Annotated[str | None, typer.Option(help="Instead of a guarantee: the half-width to reach.")] = None,
    beta: Annotated[str | None, typer.Option(help="With --error: the probability of missing it.")] = None,
    size: Annotated[str | None, typer.Option(help="With --error: how many answers, or respondents, at once.")] = None,
    sensitivity: Annotated[
        str | None, typer.Option(help="The distance between neighbours, ℓ1 or ℓ2. Default 1.")
    ] = None,
    sensitivity2: Annotated[str | None, typer.Option(help="Its square, for Gaussian noise.")] = None,
    step: Annotated[str | None, typer.Option(help="The lattice's spacing. Default 1.")] = None,
    coordinates: Annotated[
        int | None, typer.Option(help="1 where one coordinate moves: discrete Gaussian only.")
    ] = None,
    options: Annotated[str | None, typer.Option(help="How many answers randomized response has. Default 2.")] = None,
    monotone: Annotated[
        bool, typer.Option("--monotone", help="One person moves all scores, or values, the same way.")
    ] = False,
    candidates: Annotated[str | None, typer.Option(help="With --error, for a choice: how many candidates.")] = None,
    threshold: Annotated[str | None, typer.Option(help="Sparse vector: the public threshold.")] = None,
    aboves: Annotated[str | None, typer.Option(help="Sparse vector: how many answers above. Default 1.")] = None,
    ratio: Annotated[
        str | None, typer.Option(help="Sparse vector: the values' scale over the threshold's. Default: the best.")
    ] = None,
    queries: Annotated[str | None, typer.Option(help="With --error, for sparse vector: how many values.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find the noise that meets one guarantee, or the most noise that reaches an accuracy. What is printed is verified.

    Neighbours are two datasets between which the true answer moves by at most the sensitivity.
    """
    shape: dict[str, object] = {
        "sensitivity": sensitivity,
        "sensitivity2": sensitivity2,
        "step": step,
        "coordinates": coordinates,
        "options": options,
        "monotone": monotone or None,
        "threshold": threshold,
        "aboves": aboves,
        "ratio": ratio,
    }
    goals: dict[str, str | None] = dict(zip(_GOALS, (epsilon, delta, rho, mu, alpha), strict=True))
    accuracy: dict[str, str | None] = {
        "error": error,
        "beta": beta,
        "size": size,
        "candidates": candidates,
        "queries": queries,
    }
    asked = {name: value for name, value in {**goals, **accuracy}.items() if value is not None}
    made = family_class(family, families(lambda kind: getattr(kind, "calibrate", None), [*shape, *goals]))
    # Partition selection has a δ whatever is asked of it: there it is a parameter, not a goal.
    if "delta" in taken(made, made.for_error):
        accuracy["delta"] = delta
    if not (accuracy.keys() - {"delta"}) & asked.keys():
        mechanism = called(made, made.calibrate, goals | shape)
        reached, exact = _guarantee(mechanism, asked)
    elif (goals.keys() - accuracy.keys()) & asked.keys():
        hint = "Ask for a guarantee, or for an accuracy; read the other from what is found."
        raise ParameterError("two things are asked at once", where="calibrate", got=", ".join(asked), hint=hint)
    else:
        mechanism = called(made, made.for_error, accuracy | shape)
        reached, exact = _accuracy(mechanism, asked), False
    found = parameters(mechanism)
    if as_json:
        print_json({"mechanism": family, "asked": asked, "parameters": found, "reached": reached, "exact": exact})
        return
    for name, text in found.items():
        typer.echo(f"{name}: {text}")
    if exact:
        typer.echo("Meets what was asked with equality.")
    else:
        typer.echo("Certainly " + ", ".join(f"{name} ≤ {above(value)}" for name, value in reached.items()) + ".")


def _guarantee(mechanism: Any, asked: Mapping[str, str]) -> tuple[dict[str, float], bool]:
    """What is certainly reached in the parameter that was asked for, and whether it is exactly that."""
    from quincunx.mechanisms import goal_of as goal
    from quincunx.mechanisms import goal_outside
    from quincunx.numbers import float_above, positive, rational

    loss = mechanism.loss
    outside = loss.stated_delta()
    given = {name: value for name, value in asked.items() if not (outside and name == "delta")}
    aim = goal_outside(outside, **given) if outside else goal(**given)
    exact = aim.parameter(loss) == aim.limit
    if outside and "rho" in asked:
        return {"rho": float_above(loss.total_zcdp()[1]), "delta": float_above(outside)}, exact
    if "rho" in asked:
        return {"rho": loss.zcdp()}, exact
    if "mu" in asked:
        return {"mu": loss.gdp()}, exact
    if "alpha" in asked:
        return {"epsilon": loss.renyi(positive(asked["alpha"], "alpha"))}, exact
    if rational(asked.get("delta", 0), "delta") == 0:
        return {"epsilon": loss.pure()}, exact
    return {"delta": loss.delta(asked["epsilon"])}, exact


def _accuracy(mechanism: Any, asked: Mapping[str, str]) -> dict[str, float]:
    """The error, and the intensities that it needs."""
    from quincunx.numbers import float_above, precision

    loss = mechanism.loss
    with precision(256):
        needed = {
            "error": mechanism.error(asked["beta"], asked.get(counted(mechanism), 1)),
            "epsilon": float_above(loss.total_pure()),
            "rho": float_above(loss.total_zcdp()[1]),
            "delta": float_above(loss.stated_delta()),
        }
    # Gaussian noise is never pure, and most mechanisms need no δ.
    return {name: value for name, value in needed.items() if math.isfinite(value) and (value or name != "delta")}
