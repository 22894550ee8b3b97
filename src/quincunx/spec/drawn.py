"""Random differential privacy: an intensity for all but a share of the pairs that nature draws (`varying.md`)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from quincunx.errors import SpecificationError, kind_of
from quincunx.numbers import Exact, amount, number, probability
from quincunx.spec import label
from quincunx.spec.domain import Domain, Finite

if TYPE_CHECKING:
    from quincunx.spec.unit_base import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The intensity holds for all but a share γ of the drawn pairs; for the others nothing is promised.

    value: the number. prior: π, dataset → probability, on vectors of records of one length. share: γ in [0, 1). A pair
    is drawn so: the first dataset from π, a position at random, and the record at it anew, from π given all the others
    (Hall, Rinaldo and Wasserman 2011). It is weaker than the same number for every pair.
    """

    value: Exact
    prior: tuple[tuple[Hashable, Fraction], ...]
    share: Fraction

    def __init__(self, *, value: object, prior: Mapping[Any, object], share: object) -> None:
        given: object = prior
        if not isinstance(given, Mapping):
            hint = "Write dataset → probability."
            raise SpecificationError("expected a prior", where="Drawn", got=kind_of(given), hint=hint)
        weights = {label.check(x, "prior"): probability(w, "prior") for x, w in prior.items()}
        total = sum(weights.values(), Fraction(0))
        if total != 1:
            raise SpecificationError("the prior does not sum to 1", where="prior", got=str(total)[:40])
        part = probability(share, "share")
        if part == 1:
            raise SpecificationError("a share of 1 promises nothing", where="share", got="1")
        object.__setattr__(self, "value", number(value))
        kept = sorted(((x, w) for x, w in weights.items() if w), key=lambda item: label.order(item[0]))
        object.__setattr__(self, "prior", tuple(kept))
        object.__setattr__(self, "share", part)

    def check(self, domain: Domain, unit: Unit) -> None:
        """Raise SpecificationError unless the datasets are vectors of one length, and the prior is about them."""
        vectors = isinstance(domain, Finite) and domain.ordered and all(isinstance(x, tuple) for x in domain.datasets)
        if not vectors or len({len(x) for x in domain.datasets}) != 1:  # type: ignore[attr-defined]
            hint = "Use domain.Finite.vectors, in which each position is a record that can be drawn anew."
            got = type(domain).__name__
            raise SpecificationError("needs vectors of one length", where="Drawn", got=got, hint=hint)
        if any(x not in domain for x, _ in self.prior):  # type: ignore[operator]
            raise SpecificationError("the prior is about datasets outside the domain", where="Drawn")
        if unit.is_metric:
            hint = "Use a unit of single steps."
            raise SpecificationError("drawn pairs have no distances", where="Drawn", got=type(unit).__name__, hint=hint)

    def pairs(self) -> dict[tuple[Hashable, Hashable], Fraction]:
        """The probability of each ordered pair of different datasets."""
        found: dict[tuple[Hashable, Hashable], Fraction] = {}
        for x, y, weight in self._draws():
            if x != y:
                found[x, y] = found.get((x, y), Fraction(0)) + weight
        return found

    def _draws(self) -> Iterator[tuple[Hashable, Hashable, Fraction]]:
        size = len(self.prior[0][0])  # type: ignore[arg-type]
        for i in range(size):
            groups: dict[Hashable, list[tuple[Hashable, Fraction]]] = {}
            for x, w in self.prior:
                groups.setdefault((*x[:i], *x[i + 1 :]), []).append((x, w))  # type: ignore[index]
            for alike in groups.values():
                total = sum((w for _, w in alike), Fraction(0))
                for x, w in alike:
                    for y, v in alike:
                        yield x, y, w * v / total / size

    def to_json(self) -> dict[str, object]:
        """The number, the share, and the prior as pairs of dataset and probability."""
        prior = [[label.to_json(x), str(w)] for x, w in self.prior]
        return {"value": str(self.value), "share": str(self.share), "prior": prior}

    def words(self, stated: str) -> str:
        """The intensity in words."""
        return (
            f"{stated}, for all but a share of {amount(self.share)} of the changes that a stated law of the data "
            "draws; for that share nothing is promised."
        )
