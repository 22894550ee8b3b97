"""Intensities that differ from pair to pair: by person, or by record and dataset (`varying.md`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from quincunx.errors import SpecificationError
from quincunx.numbers import Exact, amount, number
from quincunx.spec import label
from quincunx.spec.domain import Domain, Finite
from quincunx.spec.order import at_most
from quincunx.spec.people import People

if TYPE_CHECKING:
    from quincunx.spec.scope import Scope
    from quincunx.spec.unit_base import Unit

Values: TypeAlias = "Mapping[Any, object] | Iterable[tuple[Any, object]]"
_SHOWN = 5


class Varying(ABC):
    """One intensity for each of some names; a pair of datasets has the smallest of those that it concerns."""

    __slots__ = ()
    kind: ClassVar[str]
    values: tuple[tuple[Hashable, Exact], ...]

    @abstractmethod
    def concerned(self, x: Hashable, x_prime: Hashable, unit: Unit, domain: Domain) -> list[Hashable]:
        """The names that the change from x to x' concerns."""

    @abstractmethod
    def named(self, name: Hashable) -> str:
        """A name in words: "person ann"."""

    @abstractmethod
    def check(self, unit: Unit, scope: Scope, domain: Domain) -> None:
        """Raise SpecificationError unless every protected pair has a number, where pairs can be listed."""

    def __iter__(self) -> Iterator[Exact]:
        return (value for _, value in self.values)

    @property
    def names(self) -> frozenset[Hashable]:
        """The names that have an entry."""
        return frozenset(name for name, _ in self.values)

    def at(self, x: Hashable, x_prime: Hashable, unit: Unit, domain: Domain) -> Exact:
        """The intensity of a pair: the smallest of the numbers of all that the change concerns."""
        stated, names = dict(self.values), self.concerned(x, x_prime, unit, domain)
        if not names or any(name not in stated for name in names):
            what, where = "a protected pair concerns somebody without an intensity", type(self).__name__
            raise SpecificationError(what, where=where, hint="State one number for each.")
        return smallest([stated[name] for name in names])

    def labelled(self) -> tuple[tuple[str, Exact], ...]:
        """(name in words, number)."""
        return tuple((self.named(name), value) for name, value in self.values)

    def _check_listed(self, unit: Unit, scope: Scope, domain: Domain) -> None:
        where, known = type(self).__name__, self.names
        if not unit.computed:
            return
        missing: dict[str, None] = {}
        for _, datasets in scope.universes(domain):
            for x, y, _ in unit.protected_pairs(datasets, domain):
                # Each that a pair concerns has a promise of its own, so that each must have a number.
                gaps = [name for name in self.concerned(x, y, unit, domain) if name not in known]
                missing.update(dict.fromkeys(self.named(name) for name in gaps))
        if missing:
            some = ", ".join(list(missing)[:_SHOWN])
            got = f"{len(missing)} missing ({some}{' and others' if len(missing) > _SHOWN else ''})"
            raise SpecificationError("an intensity is missing", where=where, got=got, hint="State one for each.")

    def to_json(self) -> dict[str, object]:
        """`per`, and pairs of name and number."""
        return {"per": self.kind, "values": [[label.to_json(name), str(value)] for name, value in self.values]}


def smallest(values: list[Exact]) -> Exact:
    """The smallest of some exact numbers."""
    best = values[0]
    for value in values[1:]:
        best = value if at_most(value, best) else best
    return best


def _read(values: Values, where: str) -> tuple[tuple[Hashable, Exact], ...]:
    items = list(values.items() if isinstance(values, Mapping) else values)
    names = [label.check(name, where) for name, _ in items]
    if not items or len(set(names)) < len(names):
        hint = "State at least one number, and one for each name."
        raise SpecificationError("cannot read the intensities", where=where, got=f"{len(items)} entries", hint=hint)
    return tuple(
        sorted(((n, number(v, where)) for n, (_, v) in zip(names, items, strict=True)), key=lambda i: label.order(i[0]))
    )


@dataclass(frozen=True, slots=True)
class PerPerson(Varying):
    """One intensity for each person: between two datasets the smallest number of the people whose records differ.

    values: person → number. A person is a value of the unit's key, or a position (from 0) in vectors of records. It is
    personalised privacy (Jorgensen, Yu and Cormode 2015).
    """

    kind: ClassVar[str] = "person"
    values: tuple[tuple[Hashable, Exact], ...]

    def __init__(self, values: Values) -> None:
        object.__setattr__(self, "values", _read(values, "PerPerson"))

    def concerned(self, x: Hashable, x_prime: Hashable, unit: Unit, domain: Domain) -> list[Hashable]:
        key = unit.key if isinstance(unit, People) else None
        if key is not None:
            one, two = _owned(x, key, domain), _owned(x_prime, key, domain)
            return [person for person in {**one, **two} if one.get(person) != two.get(person)]
        vectors = isinstance(x, tuple) and isinstance(x_prime, tuple) and len(x) == len(x_prime)
        if not domain.ordered or not vectors:
            hint = "Use a unit with a key, or vectors of one length, in which a person is a position."
            raise SpecificationError("people cannot be told apart", where="PerPerson", hint=hint)
        return [i for i, (a, b) in enumerate(zip(x, x_prime, strict=True)) if a != b]  # type: ignore[call-overload]

    def named(self, name: Hashable) -> str:
        return f"person {name}"

    def check(self, unit: Unit, scope: Scope, domain: Domain) -> None:
        if scope.enumerable(domain):
            self._check_listed(unit, scope, domain)
        elif getattr(unit, "key", None) is None:
            hint = "Use a unit with a key: AddRemove(key=…)."
            raise SpecificationError("people cannot be told apart", where="PerPerson", hint=hint)


def _owned(dataset: Hashable, key: str, domain: Domain) -> dict[Hashable, Counter[Hashable]]:
    place = domain.column(key)
    found: dict[Hashable, Counter[Hashable]] = {}
    for row, count in domain.records(dataset).items():
        found.setdefault(row[place[0]], Counter())[row] = count  # type: ignore[index]
    return found


@dataclass(frozen=True, slots=True)
class PerRecord(Varying):
    """One intensity for each record in each dataset: between two datasets the smallest number of the records that one
    has and the other has not, each in the dataset that has it.

    values: (record, dataset) → number, on a finite world. It is tailored privacy (Lui and Pass 2015).
    """

    kind: ClassVar[str] = "record"
    values: tuple[tuple[Hashable, Exact], ...]

    def __init__(self, values: Values) -> None:
        found = _read(values, "PerRecord")
        if any(not isinstance(name, tuple) or len(name) != 2 for name, _ in found):
            hint = "Write (record, dataset) → number."
            raise SpecificationError("expected pairs of record and dataset", where="PerRecord", hint=hint)
        object.__setattr__(self, "values", found)

    def concerned(self, x: Hashable, x_prime: Hashable, unit: Unit, domain: Domain) -> list[Hashable]:  # noqa: ARG002
        if domain.ordered and isinstance(x, tuple) and isinstance(x_prime, tuple) and len(x) == len(x_prime):
            moved = [(a, b) for a, b in zip(x, x_prime, strict=True) if a != b]
            sides = [([a for a, _ in moved], x), ([b for _, b in moved], x_prime)]
        else:
            one, two = domain.records(x), domain.records(x_prime)
            sides = [(list(one - two), x), (list(two - one), x_prime)]  # type: ignore[list-item]
        # An empty place in a vector is no record.
        return [(record, dataset) for records, dataset in sides for record in records if record is not None]

    def named(self, name: Hashable) -> str:
        return f"record {name[0]!r} of {name[1]!r}"  # type: ignore[index]

    def check(self, unit: Unit, scope: Scope, domain: Domain) -> None:
        if not isinstance(domain, Finite) or not scope.enumerable(domain):
            hint = "Records of datasets are listed on a Finite domain only; use PerPerson with a key."
            raise SpecificationError("the datasets cannot be listed", where="PerRecord", hint=hint)
        strangers = [name for name in self.names if name[1] not in domain]  # type: ignore[index]
        if strangers:
            what = f"{len(strangers)} entries are about datasets outside the domain"
            raise SpecificationError(what, where="PerRecord", hint="Take datasets of the domain as they are stored.")
        self._check_listed(unit, scope, domain)


def rows(values: Varying, symbol: str) -> str:
    """The numbers in words: "ε = 1 for person 0; ε = 2 for person 1"."""
    return "; ".join(f"{symbol} = {amount(value)} for {name}" for name, value in values.labelled())
