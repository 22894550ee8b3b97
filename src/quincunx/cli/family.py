"""The mechanisms that commands can name, and which of their parameters were given."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from quincunx.errors import ParameterError
from quincunx.numbers import exact_text

if TYPE_CHECKING:
    from quincunx.mechanisms import Mechanism


def begun(text: str) -> list[str]:
    """What a shell completes: the tags that begin like this."""
    from quincunx.mechanisms import kinds

    return [tag for tag in kinds() if tag.startswith(text)]


Family: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FAMILY",
        help="The mechanism, such as laplace or discrete-gaussian. A wrong name is answered with all that there are.",
        autocompletion=begun,
    ),
]


def families(
    function: Callable[[Any], Callable[..., Any] | None], options: Collection[str]
) -> dict[str, type[Mechanism]]:
    """The mechanisms, by tag, of which the command's options can state all that `function` of their class needs.

    Those whose class has no such function are left out.
    """
    from quincunx.mechanisms import kinds

    able = {tag: (kind, used) for tag, kind in kinds().items() if (used := function(kind)) is not None}
    return {tag: kind for tag, (kind, used) in able.items() if _needed(taken(kind, used)) <= set(options)}


def family_class(family: str, known: Mapping[str, type[Mechanism]]) -> Any:
    """The class of this tag."""
    if family not in known:
        near = difflib.get_close_matches(family, known, n=1)
        hint = (f"Did you mean {near[0]}? " if near else "") + f"Known: {', '.join(known)}."
        raise ParameterError("unknown mechanism", where="FAMILY", got=repr(family[:40]), hint=hint)
    return known[family]


def taken(kind: type[Mechanism], function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """What a function of this class takes by name; what it passes on is the constructor's, or a guarantee's."""
    from quincunx.mechanisms import goal_of as goal

    found = dict(inspect.signature(function).parameters)
    rest = next((name for name, each in found.items() if each.kind is inspect.Parameter.VAR_KEYWORD), None)
    if rest is None:
        return found
    found.pop(rest)
    if rest == "guarantee":
        return found | dict(inspect.signature(goal).parameters)
    turned = {getattr(kind, "dial", None), getattr(kind, "squared", None)}
    return {name: each for name, each in inspect.signature(kind).parameters.items() if name not in turned} | found


def called(kind: type[Mechanism], function: Callable[..., Any], given: Mapping[str, object], **fixed: object) -> Any:
    """`function` of the options that were given, and of `fixed`; options that it does not take are refused by name."""
    wanted = {name: value for name, value in given.items() if value is not None}
    allowed, family = taken(kind, function), kind.tag
    for name in wanted:
        if name not in allowed:
            options = ", ".join(_option(each) for each in allowed if each in given)
            what = f"{family} has no such parameter here"
            raise ParameterError(what, where=_option(name), hint=f"It takes {options}.")
    for name in sorted(_needed(allowed) - wanted.keys() - fixed.keys()):
        raise ParameterError("is missing", where=_option(name), hint=f"{family} needs it.")
    return function(**wanted, **fixed)


def counted(mechanism: Any) -> str:
    """What its error is counted over: size, candidates or queries."""
    return list(inspect.signature(mechanism.error).parameters)[1]


def parameters(mechanism: Mechanism) -> dict[str, str]:
    """Its noise in numbers: sigma (where it is rational) beside sigma², everything else as it is stored."""
    given = mechanism.parameters()
    found = {name: value for name, value in given.items() if isinstance(value, Fraction) or type(value) is int}
    roots = {name[:-1]: root for name in ("sigma2", "sensitivity2") if (root := _root(found.get(name))) is not None}
    shown = {name: exact_text(Fraction(value)) for name, value in {**roots, **found}.items()}
    shown |= {name: "true" for name, value in given.items() if value is True}
    # A square says nothing more where its root is shown, except that σ² is what is stored.
    return {name: text for name, text in shown.items() if not (name == "sensitivity2" and "sensitivity" in shown)}


def _needed(allowed: Mapping[str, inspect.Parameter]) -> set[str]:
    return {name for name, each in allowed.items() if each.default is inspect.Parameter.empty}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _root(square: Fraction | int | None) -> Fraction | None:
    if square is None:
        return None
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return root if root * root == square else None
