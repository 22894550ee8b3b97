"""Mechanisms by their tags: which there are, and how one is read back from JSON. What is unknown is refused."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from inspect import isabstract, isclass
from typing import Any, cast

from quincunx.errors import DataError, ParameterError, kind_of
from quincunx.mechanisms.mechanism import Mechanism


def kinds() -> dict[str, type[Mechanism]]:
    """Every mechanism that this room exports, by its tag: to export one is to register it."""
    room = sys.modules[__package__]
    listed = [getattr(room, name) for name in room.__all__]
    found = [each for each in listed if isclass(each) and issubclass(each, Mechanism) and not isabstract(each)]
    return {kind.tag: kind for kind in found}


def from_json(data: object) -> Mechanism:
    """The mechanism that `Mechanism.to_json` wrote."""
    if not isinstance(data, Mapping):
        raise DataError("a mechanism is an object with a law and its parameters", where="JSON", got=kind_of(data))
    law = data.get("law")
    kind = kinds().get(law) if isinstance(law, str) else None
    if kind is None:
        raise DataError("unknown mechanism", where="JSON", got=str(law)[:40], hint="Update Quincunx.")
    given = {name: from_json(value) if isinstance(value, Mapping) else value for name, value in data.items()}
    given.pop("law")
    # Fields alone: what a constructor takes besides them, such as a root, is no stored form.
    names = [field.name for field in fields(cast(Any, kind))]
    if not given.keys() <= set(names):
        got = ", ".join(sorted(map(str, given)))[:80]
        raise DataError(f"a {law} mechanism has {', '.join(names)}", where="JSON", got=got)
    try:
        return kind(**given)
    except ParameterError as error:
        raise DataError(error.what, where=error.where, got=error.got, hint=error.hint) from None
    except TypeError:
        got = ", ".join(sorted(given))[:80] or "nothing"
        raise DataError(f"a {law} mechanism has {', '.join(names)}", where="JSON", got=got) from None
