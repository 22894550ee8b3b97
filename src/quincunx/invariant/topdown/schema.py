"""The table of one place: attributes, recodes, marginal queries, and cells that cannot be occupied."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import ParameterError, kind_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TOTAL: Final = "total"
DETAILED: Final = "detailed"
_MOST_CELLS: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Recode:
    """A coarser attribute. attribute: the one it is made of. groups: for each of its values the values put together."""

    attribute: str
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A marginal table. parts: for each attribute None (summed over), the attribute's own name, or a recode of it."""

    name: str
    parts: tuple[str | None, ...]
    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Schema:
    """Attributes with their values, in order; recodes by name; zeros: which cells are structural zeros.

    A cell is one value of every attribute; cells are numbered with the last attribute fastest. zeros: rules, each a
    mapping from attributes to the values (one text or a list) that never occur together.
    """

    attributes: tuple[tuple[str, tuple[str, ...]], ...]
    recodes: tuple[tuple[str, Recode], ...]
    zeros: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...]
    empty: NDArray[np.bool_] = field(compare=False, repr=False)

    def __init__(
        self,
        *,
        attributes: Mapping[str, Sequence[object]],
        recodes: Mapping[str, Mapping[str, Any]] | None = None,
        zeros: Sequence[Mapping[str, object]] = (),
    ) -> None:
        read = tuple((_name(name), _values(name, values)) for name, values in attributes.items())
        if not read:
            raise ParameterError("a table needs an attribute", where="attributes", hint='Write { race = ["a", "b"] }.')
        object.__setattr__(self, "attributes", read)
        if math.prod(self.sizes) > _MOST_CELLS:
            got = f"{math.prod(self.sizes):,} cells"
            raise ParameterError(f"a table has at most {_MOST_CELLS:,} cells", where="attributes", got=got)
        object.__setattr__(
            self, "recodes", tuple((name, self._recode(name, each)) for name, each in (recodes or {}).items())
        )
        rules = tuple(self._rule(number, rule) for number, rule in enumerate(zeros, start=1))
        object.__setattr__(self, "zeros", rules)
        empty = np.zeros(self.sizes, dtype=np.bool_)
        for rule in rules:
            chosen = dict(rule)
            index = [
                [values.index(value) for value in chosen[name]] if name in chosen else list(range(len(values)))
                for name, values in read
            ]
            empty[np.ix_(*index)] = True
        if empty.all():
            raise ParameterError("the rules leave no cell", where="zeros", hint="Some cell must be possible.")
        object.__setattr__(self, "empty", empty.reshape(-1))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each attribute."""
        return tuple(len(values) for _, values in self.attributes)

    @property
    def cells(self) -> int:
        """The number of cells."""
        return math.prod(self.sizes)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return tuple(name for name, _ in self.attributes)

    def query(self, name: str, where: str = "query") -> Query:
        """The query of a name: total, detailed, an attribute, a recode, or several joined by *."""
        if name == TOTAL:
            chosen: list[str] = []
        elif name == DETAILED:
            chosen = list(self.names)
        else:
            chosen = [part.strip() for part in name.split("*")]
        known, parts = dict(self.recodes), dict.fromkeys(self.names)
        made: dict[str, str | None] = dict(parts)
        for part in chosen:
            owner = known[part].attribute if part in known else part
            if owner not in made:
                hint = f"Known: {', '.join((TOTAL, DETAILED, *self.names, *known))}, and several joined by *."
                raise ParameterError("unknown query", where=where, got=repr(name), hint=hint)
            if made[owner] is not None:
                raise ParameterError(f"names {owner!r} twice", where=where, got=repr(name))
            made[owner] = part
        shape = tuple(
            1 if part is None else len(known[part].groups) if part in known else len(dict(self.attributes)[part])
            for part in made.values()
        )
        return Query(name=name, parts=tuple(made.values()), shape=shape)

    def matrix(self, axis: int, part: str | None) -> Floats:
        """The 0–1 matrix of one axis of a query: values of the part by values of the attribute."""
        name, values = self.attributes[axis]
        if part is None:
            return np.ones((1, len(values)))
        if part == name:
            return np.eye(len(values))
        groups = dict(self.recodes)[part].groups
        return np.array([[float(value in group) for value in values] for group in groups])

    def answers(self, query: Query, tables: NDArray[Any]) -> NDArray[Any]:
        """The query of every table: (places, cells) to (places, cells of the query)."""
        found = tables.reshape(-1, *self.sizes)
        for axis, (part, name) in enumerate(zip(query.parts, self.names, strict=True)):
            if part is None:
                found = found.sum(axis=axis + 1, keepdims=True)
            elif part != name:
                matrix = self.matrix(axis, part).astype(tables.dtype)
                found = np.moveaxis(np.tensordot(found, matrix, axes=(axis + 1, 1)), -1, axis + 1)
        return found.reshape(len(tables), query.cells)

    def groups(self, query: Query) -> Integers:
        """For each cell the number of the query's cell that counts it."""
        index = np.zeros(self.sizes, dtype=np.int64)
        for axis, part in enumerate(query.parts):
            place = self.matrix(axis, part).argmax(axis=0)
            index = index * query.shape[axis] + place.reshape([-1 if i == axis else 1 for i in range(len(self.sizes))])
        return index.reshape(-1)

    def determines(self, finer: Query, coarser: Query) -> bool:
        """Whether the answer to `finer` fixes the answer to `coarser`."""
        return all(
            part is None or part == own or own == name
            for part, own, name in zip(coarser.parts, finer.parts, self.names, strict=True)
        )

    def labels(self, query: Query) -> list[str]:
        """The names of the query's cells: "race=white, votingage=1"; the total's is empty."""
        lists: list[list[str]] = []
        known = dict(self.recodes)
        for part in query.parts:
            if part is not None:
                groups = [" or ".join(group) for group in known[part].groups] if part in known else None
                lists.append([f"{part}={value}" for value in groups or dict(self.attributes)[part]])
        found = [""]
        for values in lists:
            found = [f"{label}, {value}" if label else value for label in found for value in values]
        return found

    def to_dict(self) -> dict[str, object]:
        """The schema as JSON values: part of what identifies a release."""
        return {
            "attributes": [[name, list(values)] for name, values in self.attributes],
            "recodes": [[name, each.attribute, [list(group) for group in each.groups]] for name, each in self.recodes],
            "zeros": [[[name, list(values)] for name, values in rule] for rule in self.zeros],
        }

    def _recode(self, name: str, given: Mapping[str, Any]) -> Recode:
        where = f"recodes.{name}"
        attribute, groups = given.get("attribute"), given.get("groups")
        known = dict(self.attributes)
        if (
            name in known
            or name in (TOTAL, DETAILED)
            or "*" in name
            or attribute not in known
            or set(given) - {"attribute", "groups"}
        ):
            hint = 'Write { attribute = "gq", groups = [["household"], ["nursing", "college"]] } under a new name.'
            raise ParameterError("cannot read this recode", where=where, got=repr(attribute), hint=hint)
        if not isinstance(groups, list | tuple) or not all(isinstance(group, list | tuple) for group in groups):
            raise ParameterError("groups are lists of values", where=where, got=kind_of(groups))
        read = tuple(tuple(str(value) for value in group) for group in groups)
        if sorted(value for group in read for value in group) != sorted(known[attribute]) or not all(read):
            hint = f"Every value of {attribute} stands in exactly one group."
            raise ParameterError("the groups do not divide the attribute's values", where=where, hint=hint)
        return Recode(attribute=attribute, groups=read)

    def _rule(self, number: int, rule: Mapping[str, object]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        known, found = dict(self.attributes), []
        for name, value in rule.items():
            values = tuple(str(each) for each in value) if isinstance(value, list | tuple) else (str(value),)
            if name not in known or not values or not set(values) <= set(known[name]):
                hint = 'Write { votingage = "0", gq = ["nursing"] }: values that never occur together.'
                got = f"{name} = {list(values)}"
                raise ParameterError("unknown attribute or value", where=f"zeros[{number}]", got=got, hint=hint)
            found.append((name, values))
        if not found:
            raise ParameterError("a rule names an attribute", where=f"zeros[{number}]", got="an empty rule")
        return tuple(found)


def _name(name: object) -> str:
    if not isinstance(name, str) or not name or name in (TOTAL, DETAILED) or "*" in name:
        hint = "total and detailed are queries, and * joins attributes."
        raise ParameterError("this cannot be an attribute's name", where="attributes", got=repr(name)[:60], hint=hint)
    return name


def _values(name: str, values: Sequence[object]) -> tuple[str, ...]:
    given: object = values
    if not isinstance(given, list | tuple) or not given:
        hint = 'List its values: ["a", "b"].'
        raise ParameterError("an attribute needs values", where=f"attributes.{name}", got=kind_of(given), hint=hint)
    found = tuple(str(value) for value in given)
    if len(set(found)) < len(found):
        raise ParameterError("a value is listed twice", where=f"attributes.{name}", hint="List each once.")
    return found
