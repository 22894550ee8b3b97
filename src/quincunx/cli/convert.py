"""`quincunx convert`: a guarantee in the terms of another standard, in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.errors import ParameterError

if TYPE_CHECKING:
    from quincunx.numbers import Exact
    from quincunx.spec import Standard


@reports_errors
def convert(
    to: Annotated[str, typer.Option(help="The other standard: pure, approximate, zcdp, renyi or gaussian.")],
    epsilon: Annotated[
        str | None, typer.Option(help="ε of pure, approximate or Rényi privacy, exact as typed.")
    ] = None,
    rho: Annotated[str | None, typer.Option(help="ρ of zero-concentrated privacy.")] = None,
    mu: Annotated[str | None, typer.Option(help="μ of Gaussian privacy.")] = None,
    delta: Annotated[
        str | None, typer.Option(help="δ of (ε, δ): of the guarantee, or of the other standard if that is approximate.")
    ] = None,
    alpha: Annotated[
        str | None, typer.Option(help="The order of Rényi privacy: the guarantee's, or the other's if that is renyi.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say which ρ is your ε, or the other way round: what follows from a guarantee, and what would be enough for it.

    Both numbers are certified: what follows is rounded up, what is enough is rounded down.
    """
    from quincunx.spec import convert as converted

    given = {name: text for name, text in (("epsilon", epsilon), ("rho", rho), ("mu", mu)) if text is not None}
    if len(given) != 1:
        got = " and ".join(f"--{name}" for name in given) or "none"
        hint = "Write --epsilon 1 --delta 1e-6, --rho 0.5 or --mu 1."
        raise ParameterError(
            "exactly one of epsilon, rho and mu states a guarantee", where="convert", got=got, hint=hint
        )
    (name,) = given
    standard, other = _standards(name, to, {"delta": delta, "alpha": alpha})
    found = converted(standard, _intensity(given[name], name), other)
    if not as_json:
        typer.echo("\n".join(found.lines))
        return
    print_json(
        {
            "standard": standard.to_json(),
            "intensity": given[name],
            "to": other.to_json(),
            "follows": None if found.follows is None else str(found.follows),
            "enough": None if found.enough is None else str(found.enough),
        }
    )


def _intensity(text: str, name: str) -> Exact:
    from quincunx.numbers import positive

    return positive(text, name)


def _standards(name: str, to: str, given: dict[str, str | None]) -> tuple[Standard, Standard]:
    """The standard of the guarantee and the other one. δ and α are the other's where it has such a parameter."""
    from quincunx.spec import STANDARDS, is_budgeted

    known = [kind for kind, each in STANDARDS.items() if each.norm is not None]
    if to not in known:
        hint = f"Known: {', '.join(known)}."
        raise ParameterError("unknown standard", where="--to", got=repr(to)[:40], hint=hint)
    rest = {key: text for key, text in given.items() if text is not None}
    theirs = {key: rest.pop(key) for key in STANDARDS[to].parameters if key in rest and _theirs(name, to, key)}
    kinds = {"rho": "zcdp", "mu": "gaussian"}
    kind = kinds.get(name) or ("renyi" if "alpha" in rest else "approximate" if "delta" in rest else "pure")
    made = []
    for each, parameters in ((kind, rest), (to, theirs)):
        missing = [key for key in STANDARDS[each].parameters if key not in parameters and each != "zcdp"]
        unknown = [key for key in parameters if key not in STANDARDS[each].parameters]
        if missing or unknown:
            what = f"{each} privacy needs --{missing[0]}" if missing else f"{each} privacy has no --{unknown[0]}"
            raise ParameterError(what, where="convert", hint=f"Known parameters: {', '.join(given)}.")
        made.append(STANDARDS[each](**parameters))
    if not all(map(is_budgeted, made)):
        raise ParameterError("no budget is kept in this standard", where="convert", got=to)
    return made[0], made[1]


def _theirs(name: str, to: str, key: str) -> bool:
    """Whether a parameter is the other standard's. A δ beside ε is the guarantee's own, unless ε, δ is asked for."""
    return not (key == "delta" and to == "zcdp" and name == "epsilon")
