"""What every mechanism answers of itself: its tag, its parameters as JSON, its words, what it leaks.

A tag and the names of parameters stand in ledgers and are typed into commands: a class may be renamed, they may not,
and what changes its meaning gets a new tag. Every note holds a stored form, and a test reads it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quincunx.errors import ParameterError
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.loss import Loss
from quincunx.mechanisms.trial import Trial

Parameter: TypeAlias = "Fraction | int | Mechanism | tuple[Fraction, ...] | None"
World: TypeAlias = tuple[FiniteMechanism, list[tuple[Hashable, Hashable]]]


class Mechanism(ABC):
    """A frozen value that draws private answers. Subclasses are dataclasses whose fields fix the law, and nothing else.

    tag: its name, for ever. room: under what reports list it. directions: which way parameters move the loss, +1 where
    more leaks more. term: the law in words where `quincunx account` takes it as a term, or nothing. accuracy: what an
    error of {half} for {count} answers means; nothing where answers are numbers beside the truth.
    """

    __slots__ = ()
    tag: ClassVar[str]
    room: ClassVar[str]
    directions: ClassVar[Mapping[str, int]] = {}
    term: ClassVar[str] = ""
    accuracy: ClassVar[str] = ""

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """What one answer leaks at input distance 1."""

    @abstractmethod
    def sample(self, values: ArrayLike, /) -> Any:
        """The private answer, drawn."""

    @abstractmethod
    def words(self, unit: Fraction = Fraction(1)) -> str:
        """The mechanism and its size in words; one lattice unit is `unit` in the data's unit."""

    @classmethod
    @abstractmethod
    def examples(cls) -> Sequence[Mechanism]:
        """Some of its kind with parameters at the edges, that whose world is smallest first: for conformance tests."""

    @abstractmethod
    def world(self, k: int = 1) -> World:
        """A small finite world of it, and pairs of inputs that are k steps apart there."""

    @classmethod
    @abstractmethod
    def trials(cls) -> Iterator[Trial]:
        """Where it is at its worst: what the self-audit tries."""

    def each(self, exact: NDArray[Any]) -> NDArray[np.int64]:
        """One answer for each place of the first axis of `exact`, each drawn by itself: what a release stores."""
        what = "gives no answer for each of several groups"
        raise ParameterError(what, where=type(self).__name__, got=f"an array of shape {exact.shape}")

    def beyond(self, limit: int, risk: Fraction) -> float | None:
        """Its error at `risk`, in lattice units, if that is beyond `limit`; None for answers that are no numbers."""
        del limit, risk
        return None

    @property
    def variance(self) -> float:
        """The variance of its noise, in the data's unit, squared; NaN where answers are no numbers beside the truth."""
        return math.nan

    def parameters(self) -> dict[str, Parameter]:
        """What fixes its law, by name, in the order of the constructor."""
        return {field.name: getattr(self, field.name) for field in fields(cast(Any, self))}

    def to_json(self) -> dict[str, object]:
        """The mechanism as a JSON value that `from_json` reads, for ever: {"law": tag, name: parameter, …}."""
        given = {name: value for name, value in self.parameters().items() if value is not None}
        return {"law": self.tag} | {name: _written(value) for name, value in given.items()}


def _written(value: Parameter) -> object:
    if isinstance(value, Mechanism):
        return value.to_json()
    if isinstance(value, tuple):
        return [str(each) for each in value]
    return str(value) if isinstance(value, Fraction) else value
