"""The mechanisms that commands can name, and which of their parameters were given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import StrEnum
from fractions import Fraction
from math import isqrt
from typing import Any, Final

from quincunx.errors import ParameterError
from quincunx.numbers import exact_text

# In the order in which they are printed.
_SHOWN: Final = (
    "scale",
    "sigma2",
    "probability",
    "options",
    "epsilon",
    "delta",
    "threshold",
    "threshold_scale",
    "query_scale",
    "aboves",
    "sensitivity",
    "sensitivity2",
    "step",
    "coordinates",
)


class FamilyName(StrEnum):
    """The mechanisms that can be calibrated."""

    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"
    DISCRETE_LAPLACE = "discrete-laplace"
    DISCRETE_GAUSSIAN = "discrete-gaussian"
    RANDOMIZED_RESPONSE = "randomized-response"
    EXPONENTIAL = "exponential"
    PERMUTE_AND_FLIP = "permute-and-flip"
    SPARSE_VECTOR = "sparse-vector"
    PARTITION_SELECTION = "partition-selection"


def mechanism_class(family: FamilyName) -> Any:
    """The class in `quincunx.mechanisms`."""
    from quincunx import mechanisms

    return getattr(mechanisms, "".join(part.capitalize() for part in family.value.split("-")))


def called(function: Callable[..., Any], family: FamilyName, given: Mapping[str, object], **fixed: object) -> Any:
    """`function` of the options that were given, and of `fixed`; options that it does not take are refused by name."""
    wanted = {name: value for name, value in given.items() if value is not None}
    allowed = inspect.signature(function).parameters
    for name in wanted:
        if name not in allowed:
            options = ", ".join(_option(each) for each in allowed if each in given)
            what = f"{family.value} has no such parameter here"
            raise ParameterError(what, where=_option(name), hint=f"It takes {options}.")
    for name, parameter in allowed.items():
        if parameter.default is inspect.Parameter.empty and name not in wanted and name not in fixed:
            raise ParameterError("is missing", where=_option(name), hint=f"{family.value} needs it.")
    return function(**wanted, **fixed)


def counted(mechanism: Any) -> str:
    """What its error is counted over: size, candidates or queries."""
    return list(inspect.signature(mechanism.error).parameters)[1]


def parameters(mechanism: Any) -> dict[str, str]:
    """Its noise in numbers: sigma (where it is rational) beside sigma², everything else as it is stored."""
    found = {name: value for name in _SHOWN if (value := getattr(mechanism, name, None)) is not None}
    roots = {name[:-1]: root for name in ("sigma2", "sensitivity2") if (root := _root(found.get(name))) is not None}
    shown = {name: exact_text(Fraction(value)) for name, value in {**roots, **found}.items()}
    if getattr(mechanism, "monotone", False):
        shown["monotone"] = "true"
    # A square says nothing more where its root is shown, except that σ² is what is stored.
    return {name: text for name, text in shown.items() if not (name == "sensitivity2" and "sensitivity" in shown)}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _root(square: Fraction | None) -> Fraction | None:
    if square is None:
        return None
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return root if root * root == square else None
