"""`quincunx noise`: exact draws of one law."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer

from quincunx.cli.output import AsJson, print_json, reports_errors


class LawName(StrEnum):
    """The laws that can be drawn from."""

    GEOMETRIC = "geometric"
    DISCRETE_LAPLACE = "discrete-laplace"
    ROUNDED_LAPLACE = "rounded-laplace"
    DISCRETE_GAUSSIAN = "discrete-gaussian"
    ROUNDED_GAUSSIAN = "rounded-gaussian"


@reports_errors
def noise(
    law: Annotated[LawName, typer.Argument(help="The law to draw from.")],
    scale: Annotated[str | None, typer.Option(help="Scale of the geometric and Laplace laws, exact as typed.")] = None,
    sigma: Annotated[str | None, typer.Option(help="σ of the Gaussian laws, exact as typed.")] = None,
    sigma2: Annotated[str | None, typer.Option(help="σ² of the Gaussian laws, instead of σ.")] = None,
    size: Annotated[int, typer.Option(help="How many draws.", min=0, max=10_000_000)] = 1,
    as_json: AsJson = False,
) -> None:
    """Draw exactly distributed integer noise, one draw on a line.

    Noise alone protects nobody: a release adds it to a value of known sensitivity and states its loss.
    """
    given = {
        name: value for name, value in (("scale", scale), ("sigma", sigma), ("sigma2", sigma2)) if value is not None
    }
    draws = _sampler(law, given)(size)
    if as_json:
        print_json({"law": law.value, **given, "size": size, "draws": draws.tolist()})
    elif size:
        typer.echo("\n".join(map(str, draws.tolist())))


def _sampler(law: LawName, given: dict[str, str]) -> Callable[[int], Any]:
    from quincunx import noise as exact
    from quincunx.errors import ParameterError

    function = getattr(exact, law.value.replace("-", "_"))
    wanted = {"sigma", "sigma2"} if "gaussian" in law.value else {"scale"}
    if len(given) != 1 or not given.keys() <= wanted:
        options = " or ".join(f"--{name}" for name in sorted(wanted))
        got = ", ".join(f"--{name}" for name in given) or "none"
        raise ParameterError(f"{law.value} takes {options}, once", where="noise", got=got)
    return lambda size: function(**given, size=size)
