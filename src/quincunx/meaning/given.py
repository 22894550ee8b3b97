"""From what a caller gives to a guarantee: a specification, or a loss with its unit."""

from __future__ import annotations

from typing import Final

from quincunx.errors import ParameterError
from quincunx.loss import Loss
from quincunx.meaning.guarantee import Guarantee, Unit
from quincunx.meaning.of_loss import Leaking
from quincunx.meaning.of_specification import Promised
from quincunx.spec import AddRemove, Replace, Specification, of_people

UNITS: Final[dict[str, Unit]] = {"add-remove": AddRemove(), "replace": Replace()}


def guarantee_of(subject: object, unit: object = None) -> Guarantee:
    """The guarantee that `subject` states: a Specification, which has its unit, or a Loss at one step of `unit`."""
    if isinstance(subject, Specification):
        if unit is not None:
            hint = "Leave unit out; it belongs to a Loss, which has none."
            raise ParameterError("a specification states its own unit", where="unit", got=_kind(unit), hint=hint)
        return Promised(subject)
    if not isinstance(subject, Loss):
        hint = "Give a quincunx.Specification, or a quincunx.Loss with its unit."
        raise ParameterError("expected a guarantee", where="guarantee", got=_kind(subject), hint=hint)
    return Leaking(subject, read_unit(unit))


def read_unit(unit: object) -> Unit:
    """The unit that is meant: "replace", "add-remove", or one of quincunx.unit that speaks of people."""
    if of_people(unit):
        return unit
    if isinstance(unit, str) and unit in UNITS:
        return UNITS[unit]
    hint = 'Say what one step is: unit="replace", unit="add-remove", or a unit of people from quincunx.unit.'
    what = "a loss says nothing about its unit" if unit is None else "unknown unit"
    raise ParameterError(what, where="unit", got="" if unit is None else repr(unit)[:40], hint=hint)


def _kind(value: object) -> str:
    return type(value).__name__
