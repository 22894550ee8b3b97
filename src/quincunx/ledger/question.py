"""A question and its identity. Equal questions about one version have one answer, which is paid for once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from quincunx.errors import DataError, SpecificationError, kind_of
from quincunx.ledger.canonical import canonical, digest, dumped, name
from quincunx.ledger.registration import guarantee
from quincunx.numbers import Number, delta_parameter, non_negative
from quincunx.spec import Specification


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, of which data, at which price. Declared by the caller, never computed from private content.

    dataset, version: the registered name, and the curator's name for the state of the data.
    specification: the dataset's, as registered. cost: what the answer spends in the budgeted parameter (ε, ρ or μ²).
    delta: what it spends of δ. asked: everything else that fixes the answer's law, as JSON: the canonical plan,
    limits, bounds, keys, the digest of the public tables; kept as canonical text. guarantee: the specification's blocks
    but the total, as canonical JSON.
    """

    dataset: str
    version: str
    specification: Specification
    cost: Fraction
    delta: Fraction
    asked: str
    guarantee: str = field(init=False, compare=False)

    def __init__(
        self,
        *,
        dataset: str,
        version: str,
        specification: Specification,
        cost: Number,
        delta: Number = 0,
        asked: Mapping[str, object],
    ) -> None:
        given: object = specification
        if not isinstance(given, Specification):
            raise SpecificationError("expected a Specification", where="Question", got=kind_of(given))
        content: object = asked
        if not isinstance(content, Mapping) or not content:
            got = "nothing" if isinstance(content, Mapping) else type(content).__name__
            hint = 'Write what fixes the answer: {"plan": …, "limits": …, "bounds": …, "keys": …, "public": …}.'
            raise DataError("expected what is asked", where="asked", got=got, hint=hint)
        object.__setattr__(self, "dataset", name(dataset, "dataset"))
        object.__setattr__(self, "version", name(version, "version"))
        object.__setattr__(self, "specification", specification)
        object.__setattr__(self, "cost", non_negative(cost, "cost"))
        object.__setattr__(self, "delta", delta_parameter(delta))
        object.__setattr__(self, "asked", canonical(content, "asked"))
        object.__setattr__(self, "guarantee", guarantee(specification))

    def __repr__(self) -> str:
        names = ("dataset", "version", "specification", "cost", "delta")
        given = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"Question({given}, asked={json.loads(self.asked)!r})"

    @property
    def key(self) -> str:
        """SHA-256 of dataset, version, the blocks without the total, spend and what is asked: its identity."""
        return key_of(
            dataset=self.dataset,
            version=self.version,
            guarantee=self.guarantee,
            cost=str(self.cost),
            delta=str(self.delta),
            asked=json.loads(self.asked),
        )


def key_of(*, dataset: str, version: str, guarantee: str, cost: str, delta: str, asked: Any) -> str:
    """The identity from its parts. `guarantee` is canonical JSON; `cost` and `delta` are texts of rationals."""
    parts = {"dataset": dataset, "version": version, "guarantee": guarantee, "cost": cost, "delta": delta}
    return digest(dumped({**parts, "asked": asked}))
