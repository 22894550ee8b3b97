"""Losses as JSON that stays readable for ever.

{"version": "quincunx/loss/1", "terms": [{"law": "gaussian", "mu2": "1/2500", "count": 100}, …]}. Names of laws and of
their parameters are never removed and never change their meaning; what is unknown is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, Final, TypeAlias, TypeVar, cast

from quincunx.errors import DataError, ParameterError, kind_of
from quincunx.loss.bounded_range import BoundedRangeLaw
from quincunx.loss.discrete_gaussian import DiscreteGaussianLaw
from quincunx.loss.gaussian import GaussianLaw
from quincunx.loss.laplace import LaplaceLaw
from quincunx.loss.lattice import LatticeLaw
from quincunx.loss.law import Composition, Law
from quincunx.loss.ranges import RangesLaw
from quincunx.loss.response import ResponseLaw
from quincunx.loss.stated import Largest, StatedLaw
from quincunx.loss.subsampled import SubsampledLaw
from quincunx.numbers import Log, number, positive_integer

VERSION: Final = "quincunx/loss/1"
KINDS: Final[Mapping[str, type[Law]]] = {
    "gaussian": GaussianLaw,
    "laplace": LaplaceLaw,
    "lattice": LatticeLaw,
    "discrete-gaussian": DiscreteGaussianLaw,
    "response": ResponseLaw,
    "bounded-range": BoundedRangeLaw,
    "ranges": RangesLaw,
    "stated": StatedLaw,
    "subsampled": SubsampledLaw,
    "largest": Largest,
}
_NAMES: Final = {law: name for name, law in KINDS.items()}
_Made = TypeVar("_Made", bound=Composition)
_Kind: TypeAlias = Callable[[tuple[tuple[Law, int], ...]], _Made]


def to_json(loss: Composition) -> str:
    """The loss as JSON text."""
    return json.dumps({"version": VERSION, "terms": _terms(loss)}, ensure_ascii=False)


def from_json(text: object, kind: _Kind[_Made]) -> _Made:
    """The loss that `to_json` wrote."""
    try:
        data = json.loads(text) if isinstance(text, str) else None
    except json.JSONDecodeError as error:
        raise DataError("not JSON", where=f"line {error.lineno}", got=error.msg) from None
    if not isinstance(data, dict) or set(data) != {"version", "terms"} or data["version"] != VERSION:
        got = str(data.get("version"))[:40] if isinstance(data, dict) else type(data).__name__
        raise DataError(f"expected a loss of version {VERSION}", where="JSON", got=got)
    return _loss(data["terms"], kind)


def _terms(loss: Composition) -> list[dict[str, object]]:
    return [{**_law(law), "count": count} for law, count in loss.terms]


def _law(law: Law) -> dict[str, object]:
    values = {field.name: _value(getattr(law, field.name)) for field in fields(cast(Any, law))}
    return {"law": _NAMES[type(law)], **values}


def _value(value: object) -> object:
    if isinstance(value, Fraction | Log):
        return str(value)
    if isinstance(value, Law):
        return _law(value)
    if isinstance(value, tuple):
        return [_terms(loss) for loss in value]
    return value


def _loss(terms: object, kind: _Kind[_Made]) -> _Made:
    if not isinstance(terms, list):
        raise DataError("terms must be a list", where="JSON", got=kind_of(terms))
    found = []
    for term in terms:
        if not isinstance(term, dict) or "count" not in term:
            raise DataError("a term has a law and a count", where="JSON", got=kind_of(term))
        count = positive_integer(term["count"], "count")
        found.append((_read({name: value for name, value in term.items() if name != "count"}, kind), count))
    return kind(tuple(found))


def _read(data: Mapping[str, object], kind: _Kind[_Made]) -> Law:
    law = KINDS.get(str(data.get("law")))
    if law is None:
        hint = f"Known: {', '.join(KINDS)}."
        raise DataError("unknown law", where="JSON", got=str(data.get("law"))[:40], hint=hint)
    names = {field.name for field in fields(cast(Any, law))}
    if set(data) - {"law"} != names:
        got = ", ".join(sorted(set(data) - {"law"}))[:80]
        raise DataError(f"a {data['law']} law has {', '.join(sorted(names))}", where="JSON", got=got)
    values = {name: _parsed(name, data[name], kind) for name in names}
    if law is Largest:
        return Largest(cast(Any, values["alternatives"]))
    return cast(Law, cast(Any, law)(**values))


def _parsed(name: str, value: object, kind: _Kind[_Made]) -> object:
    if isinstance(value, dict):
        return _read(value, kind)
    if isinstance(value, list):
        return tuple(_loss(terms, kind) for terms in value)
    if isinstance(value, str):
        try:
            return number(value, name)
        except ParameterError as error:
            raise DataError(error.what, where=name, got=error.got) from None
    return value
