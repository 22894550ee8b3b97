"""Scopes around one dataset: against every other, or with and without one of its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from quincunx.errors import SpecificationError
from quincunx.spec import label
from quincunx.spec.domain import Domain, Finite
from quincunx.spec.universe import Scope, Universe
from quincunx.spec.wording import tex


@dataclass(frozen=True, slots=True)
class OneDataset(Scope):
    """Protection around one dataset x*: the universes are {x*, x'} for every x' of the domain, each named by the
    printed form of x'.

    `dataset`: x*. On a Finite domain it is one of the datasets. On other domains it is a text that names the dataset
    ("census 2020 as collected"), because a specification is printed and stored and must not contain the data.
    """

    kind: ClassVar[str] = "one-dataset"
    dataset: Hashable

    def __post_init__(self) -> None:
        label.check(self.dataset, "OneDataset")

    def check(self, domain: Domain) -> None:
        if isinstance(domain, Finite):
            if self.dataset not in domain:
                hint = "Take one of the datasets of the domain."
                raise SpecificationError("its dataset is not in the domain", where="OneDataset", hint=hint)
        elif not isinstance(self.dataset, str):
            hint = "Name the dataset by a text; a specification is public and must not contain the data."
            got = type(self.dataset).__name__
            raise SpecificationError("expected the name of a dataset", where="OneDataset", got=got, hint=hint)

    def _universes(self, domain: Finite) -> list[Universe]:
        self.check(domain)
        centre = domain.canonical(self.dataset)
        return [(repr(x), (centre,) if x == centre else (centre, x)) for x in domain.datasets]

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "dataset": label.to_json(self.dataset)}

    def words(self) -> str:
        return (
            f"The protection is stated for one dataset, {self._shown()}: it is compared with each other dataset, but "
            "no two others are compared. Had the data been different, nothing would be promised."
        )

    def unpromised(self) -> str:
        return "cover any data but that one dataset"

    def latex(self) -> str:
        return rf"\{{\{{x^*, x'\}} : x' \in \mathcal{{X}}\}},\ x^* = {tex(self._shown())}"

    def covers(self, other: Scope) -> bool:
        # What is around one record of the dataset is around the dataset.
        return self == other or (isinstance(other, OneInstance) and other.dataset == self.dataset)

    def _shown(self) -> str:
        return _shown(self.dataset)


@dataclass(frozen=True, slots=True)
class OneInstance(OneDataset):
    """Protection of one record in one dataset x*: the universes are {x*, x'} for every x' of the domain that x* becomes
    when one copy of the record is added or removed, each named by the printed form of x'.

    `dataset`: x*, as for OneDataset. `record`: the record; on domains that are not Finite a text that names it. It is
    per-instance privacy (Wang 2019). An empty place in a vector is written None: a record is removed by emptying its
    place, or by leaving it out, where the domain has such a dataset.
    """

    kind: ClassVar[str] = "one-instance"
    record: Hashable

    def __post_init__(self) -> None:
        label.check(self.dataset, "OneInstance")
        if self.record is None:
            raise SpecificationError("None marks an empty place and is no record", where="OneInstance")
        label.check(self.record, "OneInstance")

    def check(self, domain: Domain) -> None:
        super(OneInstance, self).check(domain)
        if isinstance(domain, Finite):
            if not isinstance(domain.canonical(self.dataset), tuple):
                hint = "Write the dataset as a tuple of records."
                raise SpecificationError("needs a dataset that lists its records", where="OneInstance", hint=hint)
            if len(self._universes(domain)) == 1:
                hint = "The domain must hold the dataset without the record, or with one more of it."
                raise SpecificationError("no dataset differs by this record", where="OneInstance", hint=hint)
        elif not isinstance(self.record, str):
            hint = "Name the record by a text; a specification is public and must not contain the data."
            got = type(self.record).__name__
            raise SpecificationError("expected the name of a record", where="OneInstance", got=got, hint=hint)

    def _universes(self, domain: Finite) -> list[Universe]:
        centre = domain.canonical(self.dataset)
        near = [x for x in domain.datasets if x == centre or self._changed(centre, x, domain)]
        return [(repr(x), (centre,) if x == centre else (centre, x)) for x in near]

    def _changed(self, centre: Hashable, x: Hashable, domain: Finite) -> bool:
        if not isinstance(centre, tuple) or not isinstance(x, tuple):
            return False
        if len(centre) == len(x):
            moved = [set(pair) for pair in zip(centre, x, strict=True) if pair[0] != pair[1]]
            if domain.ordered:
                return moved == [{self.record, None}]
            one, two = Counter(centre), Counter(x)
            return sorted(((one - two) + (two - one)).items(), key=label.order) == sorted(
                [(self.record, 1), (None, 1)], key=label.order
            )
        short, long = sorted((centre, x), key=len)
        if len(long) - len(short) != 1:
            return False
        if not domain.ordered:
            return Counter(long) - Counter(short) == Counter([self.record])
        return any(r == self.record and long[:i] + long[i + 1 :] == short for i, r in enumerate(long))

    def covers(self, other: Scope) -> bool:
        return self == other

    def to_json(self) -> dict[str, object]:
        return {
            "kind": self.kind, "dataset": label.to_json(self.dataset), "record": label.to_json(self.record),
        }  # fmt: skip

    def words(self) -> str:
        return (
            f"The protection is stated for one record, {_shown(self.record)}, of one dataset, {self._shown()}: the "
            "dataset is compared with what it is with the record removed or once more added, and nothing else is "
            "compared."
        )

    def unpromised(self) -> str:
        return "cover any other record, or any data but that one dataset"

    def latex(self) -> str:
        return rf"\{{\{{x^*, x^* \pm t\}}\}},\ x^* = {tex(self._shown())},\ t = {tex(_shown(self.record))}"


def _shown(name: Hashable) -> str:
    return f"“{name}”" if isinstance(name, str) else repr(name)
