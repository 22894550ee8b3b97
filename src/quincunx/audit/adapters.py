"""Mechanisms of other libraries as samplers. Nothing is imported: each adapter asks for what it needs by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from quincunx.audit.blackbox.claim import Claim
from quincunx.audit.blackbox.sampler import Sampler
from quincunx.errors import ParameterError, kind_of

# What OpenDP calls a measure → how its distances are typed as a claim.
_MEASURES: Final = {
    "MaxDivergence": ("epsilon",),
    "Approximate(MaxDivergence)": ("epsilon", "delta"),
    "ZeroConcentratedDivergence": ("rho",),
    "Approximate(ZeroConcentratedDivergence)": ("rho", "delta"),
}


def function(function: Callable[..., Any], *, many: bool = False, name: str = "") -> Sampler:
    """Any function from a dataset to an output; with `many`, from (dataset, size) to `size` outputs."""
    return Sampler.many(function, name) if many else Sampler.one(function, name)


def opendp(measurement: Any) -> Sampler:
    """A measurement of OpenDP: each output is one call of `measurement.invoke(dataset)`."""
    invoke = getattr(measurement, "invoke", None)
    if not callable(invoke):
        hint = "Pass a Measurement, such as dp.m.make_laplace(…)."
        got = type(measurement).__name__
        raise ParameterError("expected a measurement of OpenDP", where="measurement", got=got, hint=hint)
    return Sampler.one(invoke, "opendp measurement")


def opendp_claim(measurement: Any, distance: object) -> Claim:
    """What a measurement of OpenDP claims for inputs at `distance`: its own map, exact as it prints it."""
    opendp(measurement)
    measure = str(measurement.output_measure).replace(" ", "")
    names = _MEASURES.get(measure)
    if names is None:
        hint = f"Known: {', '.join(_MEASURES)}."
        raise ParameterError("no claim is known for this measure", where="measurement", got=measure, hint=hint)
    found = measurement.map(distance)
    values = found if isinstance(found, tuple) else (found,)
    return Claim.parse(", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True)))


def diffprivlib(mechanism: Any, attributes: Sequence[str] = ("coef_", "intercept_"), name: str = "") -> Sampler:
    """A mechanism of diffprivlib, or a function without arguments that makes a new model.

    A mechanism is asked `randomise(dataset)`. A model is made anew for each output and fitted: `fit(*dataset)` where
    the dataset is a tuple or list of two, data and target, else `fit(dataset)`; the output is a mapping with the
    fitted `attributes` that the model has.
    """
    randomise = getattr(mechanism, "randomise", None)
    if callable(randomise):
        return Sampler.one(randomise, name or f"diffprivlib {type(mechanism).__name__}")
    if not callable(mechanism):
        what = "expected a mechanism or a function that makes a model"
        hint = "Pass a mechanism, or lambda: LinearRegression(epsilon=1, …), which makes a new model for each output."
        raise ParameterError(what, where="diffprivlib", got=kind_of(mechanism), hint=hint)

    def fitted(dataset: Any) -> dict[str, float]:
        parts = dataset if isinstance(dataset, tuple | list) and len(dataset) == 2 else (dataset,)
        model = mechanism().fit(*parts)
        return {
            f"{attribute}{place}": value
            for attribute in attributes
            if hasattr(model, attribute)
            for place, value in _flat(getattr(model, attribute))
        }

    return Sampler.one(fitted, name or "diffprivlib model")


def _flat(value: Any) -> list[tuple[str, float]]:
    array = np.asarray(value, dtype=np.float64)
    if not array.ndim:
        return [("", float(array))]
    return [(f"[{', '.join(map(str, place))}]", float(array[place])) for place in np.ndindex(array.shape)]
