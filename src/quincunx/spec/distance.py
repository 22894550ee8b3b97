"""A distance that is a function of two datasets, for any standard: d_𝒟-privacy (`directed.md`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import Any, ClassVar

from quincunx.errors import ParameterError, SpecificationError, cause
from quincunx.numbers import non_negative
from quincunx.spec.domain import Domain
from quincunx.spec.unit_base import Pair, Unit, near
from quincunx.spec.wording import tex


@dataclass(frozen=True, slots=True)
class Distance(Unit):
    """d(x, x') as a function: the bound for each pair is intensity × d(x, x'), by any standard, with its δ unchanged.

    text: what the distance is, in words; it identifies the distance. function: d, of two datasets: a number > 0, or
    None (or math.inf) where they are not compared. It need not be symmetric, nor satisfy the triangle inequality, so
    the bound of a pair says nothing about others: no group map, no conversion and no path is ever used with it. It is
    used on finite worlds only and is not stored.
    """

    kind: ClassVar[str] = "distance"
    moves_between_parts: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    directed: ClassVar[bool] = True
    by_pair: ClassVar[bool] = True
    text: str
    function: Callable[[Any, Any], object] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        given: object = self.text
        if not isinstance(given, str) or not given:
            hint = 'Say what it is: Distance("kilometres between the two homes", function).'
            got = type(given).__name__
            raise SpecificationError("a distance needs a text", where="Distance", got=got, hint=hint)
        function: object = self.function
        if function is not None and not callable(function):
            got = type(function).__name__
            raise SpecificationError("expected a function of two datasets", where="Distance", got=got)

    @property
    def computed(self) -> bool:
        """Whether there is a function."""
        return self.function is not None

    def check(self, domain: Domain) -> None:
        """It fits every domain; only on finite ones is it computed."""

    def distance(self, x: Hashable, x_prime: Hashable, domain: Domain) -> Fraction | float:  # noqa: ARG002
        if x == x_prime:
            return Fraction(0)
        if self.function is None:
            hint = "JSON keeps the text only: build the unit again with its Python function."
            raise SpecificationError("the distance has no function to compute it", where="Distance", hint=hint)
        try:
            found = self.function(x, x_prime)
        except Exception as error:
            hint = "The function must accept every two datasets of the domain."
            got = cause(error)
            raise SpecificationError("the distance failed", where="Distance", got=got, hint=hint) from error
        if found is None or found == math.inf:
            return math.inf
        try:
            number = non_negative(found, "Distance")
        except ParameterError as error:
            hint = "Return a number > 0, or None where two datasets are not compared."
            got = type(found).__name__
            raise SpecificationError("the distance is no number", where="Distance", got=got, hint=hint) from error
        if not number:
            hint = "Two datasets that must look the same are one dataset; merge them."
            raise SpecificationError("different datasets are at distance 0", where="Distance", hint=hint)
        return number

    def protected_pairs(self, datasets: Sequence[Hashable], domain: Domain) -> Iterator[Pair]:
        return near(self, permutations(datasets, 2), domain)

    def times(self, k: int) -> Unit:
        hint = "Its guarantee already grows with the distance."
        raise SpecificationError("a distance has no group of steps", where="Distance", got=f"k = {k}", hint=hint)

    def words(self) -> str:
        return (
            f"Changes between any two datasets at a finite distance, which is {self.text}, each in proportion to it: "
            "the bound for a pair is the intensity times the distance."
        )

    def hidden(self) -> str:
        return "the data are these or others, in proportion to how far apart they are"

    def unpromised(self) -> str:
        return "hide equally well what is far apart"

    def latex(self) -> str:
        return (
            rf"d(x, x') < \infty,\ d = {tex(self.text)} \text{{, with }} \varepsilon \cdot d(x, x') "
            r"\text{ in place of } \varepsilon"
        )

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "text": self.text}
