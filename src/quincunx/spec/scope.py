"""The scope 𝒟: where does protection extend to? A collection of universes, each a set of datasets.

The guarantee compares two datasets only if some universe contains both. What all datasets of a universe have in
common is not protected.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias

from quincunx.errors import SpecificationError, cause, kind_of
from quincunx.spec import label
from quincunx.spec.around import OneDataset, OneInstance
from quincunx.spec.counts import Counts
from quincunx.spec.domain import Domain, Finite
from quincunx.spec.universe import Scope, Universe
from quincunx.spec.wording import listed, tex

__all__ = ["Counts", "Everything", "Invariants", "OneDataset", "OneInstance", "Scope", "Universes", "from_json"]

# how an invariant is computed on a finite world; None where only its text is known
Computed: TypeAlias = Counts | Callable[[Any], Hashable] | None
EVERYTHING: Final = "everything"


@dataclass(frozen=True, slots=True)
class Everything(Scope):
    """One universe, the whole domain: nothing about the data counts as public. Its name is "everything"."""

    kind: ClassVar[str] = "everything"

    def _universes(self, domain: Finite) -> list[Universe]:
        return [(EVERYTHING, domain.datasets)]

    def covers(self, other: Scope) -> bool:  # noqa: ARG002 - every universe is a part of the domain
        return True

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind}

    def words(self) -> str:
        return "Any dataset may be compared with any other; no fact is set aside as already published."

    def latex(self) -> str:
        return r"\{\mathcal{X}\}"


@dataclass(frozen=True, slots=True, repr=False)
class Invariants(Scope):
    """Facts that are published exactly. Two datasets share a universe when they agree on every one of them.

    `invariants`: name → a text (a description or the SQL that computes it), or `Counts` of columns, or a function of
    the dataset, or a pair (text, function). Functions are used on finite worlds only and are not stored; `Counts` are
    stored as their SQL. Name and text identify an invariant: two scopes are equal when their names and texts are. A
    function without a text is described by its module and name, so a lambda or a local function needs a text. A
    universe is named by the values of its invariants, as in "total = 3, women = 1".
    """

    kind: ClassVar[str] = "invariants"
    texts: tuple[tuple[str, str], ...]
    functions: tuple[Computed, ...] = field(compare=False)

    def __init__(self, invariants: Mapping[str, object]) -> None:
        if not isinstance(invariants, Mapping) or not invariants:
            got = "none" if isinstance(invariants, Mapping) else type(invariants).__name__
            hint = "Name at least one published fact, or use Everything()."
            raise SpecificationError("expected a mapping of invariants", where="Invariants", got=got, hint=hint)
        parts = [(name, *_text_and_function(name, value)) for name, value in invariants.items()]
        # The order of writing has no meaning, so equal collections must be equal values.
        parts.sort(key=lambda part: part[0])
        object.__setattr__(self, "texts", tuple((name, text) for name, text, _ in parts))
        object.__setattr__(self, "functions", tuple(function for _, _, function in parts))

    def __repr__(self) -> str:
        return f"Invariants({dict(self.texts)!r})"

    @classmethod
    def counts(cls, *groupings: Iterable[str]) -> Invariants:
        """The numbers of records by each of some groupings of columns, named after the columns."""
        if any(isinstance(columns, str) for columns in groupings):
            hint = 'Write each grouping as a list of columns: Invariants.counts(["county"], ["county", "age"]).'
            raise SpecificationError("expected groupings of columns", where="Invariants.counts", got="str", hint=hint)
        found = [Counts(*columns) for columns in groupings]
        return cls({each.name: each for each in found})

    def check(self, domain: Domain) -> None:
        for function in self.functions:
            if isinstance(function, Counts):
                function.check(domain)

    def enumerable(self, domain: Domain) -> bool:
        return isinstance(domain, Finite) and None not in self.functions

    def _universes(self, domain: Finite) -> list[Universe]:
        levels: dict[tuple[Hashable, ...], list[Hashable]] = {}
        for dataset in domain.datasets:
            values = tuple(self._value(i, dataset, domain) for i in range(len(self.texts)))
            levels.setdefault(values, []).append(dataset)
        named = {self._name(values): tuple(datasets) for values, datasets in levels.items()}
        if len(named) < len(levels):
            hint = "Let the invariant return numbers or texts, whose printed forms differ."
            raise SpecificationError("two universes would have the same name", where="Invariants", hint=hint)
        return list(named.items())

    def _value(self, index: int, dataset: Hashable, domain: Finite) -> Hashable:
        name, function = self.texts[index][0], self.functions[index]
        if function is None:
            hint = "JSON keeps names and texts only: build the scope again with its Python function."
            raise SpecificationError(f"invariant {name!r} has no function to compute it", where="Invariants", hint=hint)
        if isinstance(function, Counts):
            return function.of(dataset, domain)
        try:
            value = function(dataset)
            hash(value)
        except Exception as error:
            hint = "The function must accept every dataset of the domain and return a hashable value."
            got = cause(error)
            raise SpecificationError(f"invariant {name!r} failed", where="Invariants", got=got, hint=hint) from error
        return value

    def _name(self, values: tuple[Hashable, ...]) -> str:
        return ", ".join(f"{name} = {value!r}" for (name, _), value in zip(self.texts, values, strict=True))

    def covers(self, other: Scope) -> bool:
        # Fewer or coarser invariants make larger universes.
        return isinstance(other, Invariants) and not self._left_open(other)

    def _left_open(self, other: Scope) -> list[str]:
        """The names of the invariants here that the other's invariants do not determine."""
        if not isinstance(other, Invariants):
            return [name for name, _ in self.texts]
        finer = [each for each in other.functions if isinstance(each, Counts)]
        return [
            fact[0]
            for fact, function in zip(self.texts, self.functions, strict=True)
            if fact not in other.texts
            and not (isinstance(function, Counts) and any(each.determines(function) for each in finer))
        ]

    def misfit(self, other: Scope) -> str:
        names = self._left_open(other)
        return f"datasets that disagree on {listed(names)}" if names else ""

    def _joined(self, other: Scope) -> Scope:
        if not isinstance(other, Invariants):
            return super(Invariants, self)._joined(other)
        mine, theirs = self._facts(), other._facts()
        clash = sorted(name for name in mine.keys() & theirs.keys() if mine[name][0] != theirs[name][0])
        if clash:
            hint = "Give different facts different names."
            what = f"two invariants are both named {listed([repr(name) for name in clash])}"
            raise SpecificationError(what, where="join", got="different texts", hint=hint)
        # A function may be missing on one side, where the scope was read from JSON.
        known = {name: (text, function or theirs.get(name, (text, None))[1]) for name, (text, function) in mine.items()}
        return Invariants({**theirs, **known})

    def _facts(self) -> dict[str, tuple[str, Computed]]:
        pairs = zip(self.texts, self.functions, strict=True)
        return {name: (text, function) for (name, text), function in pairs}

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "invariants": dict(self.texts)}

    def words(self) -> str:
        facts = "; ".join(f"{name} ({text})" for name, text in self.texts)
        return (
            f"Some facts are published exactly: {facts}. Only datasets that agree on all of them are compared, so "
            "these facts, and whatever can be worked out from them, are outside the protection."
        )

    def unpromised(self) -> str:
        return f"protect the published facts ({listed([name for name, _ in self.texts])}) or what follows from them"

    def latex(self) -> str:
        return r"\text{level sets of } " + tex(", ".join(name for name, _ in self.texts))


def _text_and_function(name: object, value: object) -> tuple[str, Computed]:
    if not isinstance(name, str) or not name:
        raise SpecificationError("an invariant's name must be a text", where="Invariants", got=kind_of(name))
    where = f"Invariants[{name!r}]"
    pair = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
    counts = pair[1] if isinstance(pair[1], Counts) else value
    if isinstance(counts, str):
        # A text in the canonical spelling of counts is computed and ordered as such.
        counts = Counts.from_sql(counts)
    if isinstance(counts, Counts):
        return counts.sql, counts
    text, function = (None, value) if callable(value) else pair
    if text is None and callable(function):
        text = _written_name(function, where)
    if not isinstance(text, str) or not text or (function is not None and not callable(function)):
        hint = 'Write a text, a named function, or a pair such as ("number of people", len).'
        raise SpecificationError("cannot read this invariant", where=where, got=kind_of(value), hint=hint)
    return text, function


def _written_name(function: Callable[[Any], Hashable], where: str) -> str:
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "<nameless>")
    if "<" in name:
        # Two lambdas look alike in print and would compare equal while they compute different facts.
        hint = 'Say what it is: ("number of people", lambda x: len(x)).'
        raise SpecificationError("a function without a public name needs a text", where=where, hint=hint)
    return name if module in (None, "builtins") else f"{module}.{name}"


@dataclass(frozen=True, slots=True)
class Universes(Scope):
    """Universes that are listed, datasets of a finite world by name; they may overlap, and need not cover the domain.

    `universes`: name → datasets. What lies in no universe is not protected.
    """

    kind: ClassVar[str] = "universes"
    listed: tuple[Universe, ...]

    def __init__(self, universes: Mapping[str, Iterable[Hashable]]) -> None:
        if not isinstance(universes, Mapping) or not universes:
            got = "none" if isinstance(universes, Mapping) else type(universes).__name__
            raise SpecificationError("expected a mapping of universes", where="Universes", got=got)
        found = []
        for name, datasets in universes.items():
            if not isinstance(name, str) or not name:
                raise SpecificationError("a universe's name must be a text", where="Universes", got=kind_of(name))
            inside = dict.fromkeys(label.check(x, "Universes") for x in datasets)
            if not inside:
                raise SpecificationError(
                    "a universe needs at least one dataset", where="Universes", got=repr(name)[:60]
                )
            found.append((name, tuple(sorted(inside, key=label.order))))
        object.__setattr__(self, "listed", tuple(sorted(found)))

    def check(self, domain: Domain) -> None:
        if not isinstance(domain, Finite):
            hint = "Listed universes need a Finite domain; use Invariants for others."
            got = type(domain).__name__
            raise SpecificationError("does not fit the domain", where="Universes", got=got, hint=hint)
        for name, datasets in self.listed:
            for x in datasets:
                if x not in domain:
                    hint = "Take datasets of the domain."
                    raise SpecificationError(
                        f"universe {name!r} holds a stranger", where="Universes", got=repr(x)[:60], hint=hint
                    )

    def _universes(self, domain: Finite) -> list[Universe]:
        return [(name, tuple(dict.fromkeys(domain.canonical(x) for x in datasets))) for name, datasets in self.listed]

    def covers(self, other: Scope) -> bool:
        mine = [set(datasets) for _, datasets in self.listed]
        return isinstance(other, Universes) and all(
            any(set(datasets) <= universe for universe in mine) for _, datasets in other.listed
        )

    def _joined(self, other: Scope) -> Scope:
        if not isinstance(other, Universes):
            return super(Universes, self)._joined(other)
        both = {f"{a} and {b}": [x for x in one if x in two] for a, one in self.listed for b, two in other.listed}
        left = {name: datasets for name, datasets in both.items() if datasets}
        if not left:
            hint = "Nothing that one protects is protected by the other."
            raise SpecificationError("the universes have no dataset in common", where="join", hint=hint)
        return Universes(left)

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "universes": {name: [label.to_json(x) for x in xs] for name, xs in self.listed}}

    def words(self) -> str:
        names = listed([name for name, _ in self.listed])
        return f"Datasets are compared only within the same one of {len(self.listed)} listed universes: {names}."

    def unpromised(self) -> str:
        return "hide in which of the listed universes the data lie"

    def latex(self) -> str:
        return r"\{" + ", ".join(tex(name) for name, _ in self.listed) + r"\}"


def from_json(data: Mapping[str, object]) -> Scope:
    """The scope that `to_json` wrote. The schema has been checked by the caller."""
    return _READERS[str(data["kind"])](data)


_READERS: Final[dict[str, Callable[[Mapping[str, Any]], Scope]]] = {
    "everything": lambda data: Everything(),  # noqa: ARG005 - the kind says it all
    "invariants": lambda data: Invariants(data["invariants"]),
    "one-dataset": lambda data: OneDataset(label.from_json(data["dataset"], "dataset")),
    "one-instance": lambda data: OneInstance(
        label.from_json(data["dataset"], "dataset"), label.from_json(data["record"], "record")
    ),
    "universes": lambda data: Universes(
        {name: [label.from_json(x, name) for x in datasets] for name, datasets in data["universes"].items()}
    ),
}
