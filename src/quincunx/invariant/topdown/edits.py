"""What holds between the tables of people and of households: as many people as the sizes of households say (`pair.md`).

With H_s households of size s, W = Σ s·H_s counts a size such as 7+ by its least. People in households are at least W,
and exactly W where no size is open; householders, where the table of people knows them, are as many as occupied units.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import ParameterError
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.limits import Limit, carried
from quincunx.invariant.topdown.rounding import Ways, Weighed
from quincunx.invariant.topdown.schema import TOTAL, Floats, Integers, Query, Schema

_SIZE: Final = re.compile(r"(\d{1,4})(\+?)")
_VACANT: Final = "vacant"
Rule = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """size: the households' attribute of sizes, with values such as vacant, 1, …, 6, 7+. people: attribute → values of
    those who live in households (everybody, where left out). householders: likewise of those who head one; None where
    the table of people does not tell."""

    size: str
    people: Rule = field(default_factory=dict)
    householders: Rule | None = None


def recodes(edits: Edits, attributes: Mapping[str, Sequence[object]]) -> dict[str, dict[str, Any]]:
    """The recodes that the table of people needs, so that a query counts those in households, and householders."""
    found = {}
    for name, rule in (("in households", edits.people), ("householders", edits.householders or {})):
        for attribute, chosen in rule.items():
            known = [str(value) for value in attributes.get(attribute, ())]
            given = [str(value) for value in chosen]
            if not given or not set(given) <= set(known):
                hint = 'Write { gq = ["household"] }: an attribute of people, and its values.'
                got = f"{attribute} = {given}"[:80]
                raise ParameterError("unknown attribute or value", where="edits", got=got, hint=hint)
            rest = [value for value in known if value not in given]
            groups = [given, rest] if rest else [given]
            found[f"{name} by {attribute}"] = {"attribute": attribute, "groups": groups}
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """sizes: of each cell of the table of households. open: cells of an open size. occupied: cells with somebody."""

    sizes: Floats
    open: NDArray[np.bool_]

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """Cells of households with somebody in them."""
        return np.asarray(self.sizes > 0)


def sizes_of(edits: Edits, households: Schema) -> Sizes:
    """What the values of the attribute of sizes say, for every cell."""
    if edits.size not in households.names:
        hint = f"Known: {', '.join(households.names)}."
        raise ParameterError("unknown attribute of households", where="edits.size", got=repr(edits.size), hint=hint)
    axis = households.names.index(edits.size)
    read = []
    for value in households.attributes[axis][1]:
        match = _SIZE.fullmatch("0" if value == _VACANT else value)
        if match is None or (match[2] and not int(match[1])):
            hint = "Write vacant, 1, 2, … and 7+ for the last."
            raise ParameterError("this is no size of a household", where="edits.size", got=repr(value)[:40], hint=hint)
        read.append((float(match[1]), bool(match[2])))
    place = np.unravel_index(np.arange(households.cells), households.sizes)[axis]
    return Sizes(sizes=np.array([size for size, _ in read])[place], open=np.array([each for _, each in read])[place])


def queries_of(edits: Edits, people: Schema) -> tuple[Query, Query | None]:
    """The queries whose first cell counts those in households, and householders."""

    def counting(name: str, rule: Rule) -> Query:
        return people.query("*".join(f"{name} by {attribute}" for attribute in rule) or TOTAL, "edits")

    inside = counting("in households", edits.people)
    if edits.householders is None:
        return inside, None
    heads = counting("householders", edits.householders)
    members, first = people.groups(inside)[~people.empty], people.groups(heads)[~people.empty]
    if ((first == 0) & (members != 0)).any() or not (first == 0).any():
        hint = "Every cell of householders must be one of people in households."
        raise ParameterError("householders live in households", where="edits.householders", hint=hint)
    return inside, heads


def people_limits(edits: Edits, people: Schema, households: Schema, leaves: Integers, level: int) -> list[Limit]:
    """What whole tables of households, those of the leaves, say about people there."""
    found, sizes = [], sizes_of(edits, households)
    least = leaves @ sizes.sizes
    most = np.where(leaves[:, sizes.open].sum(axis=1) > 0, np.inf, least)
    inside, heads = queries_of(edits, people)
    found.append(_first_cell(inside, level, least, most, "edit: people in households"))
    if heads is not None:
        occupied = leaves[:, sizes.occupied].sum(axis=1).astype(np.float64)
        found.append(_first_cell(heads, level, occupied, occupied, "edit: householders"))
    return found


def household_ways(
    edits: Edits, people: Schema, households: Schema, geography: Geography, limits: Sequence[Limit]
) -> Ways:
    """What the invariants of people demand of households at the first level: with [B, A] the least and the most people
    in households, W ≤ A, and W ≥ B or a household of open size; and so for householders."""
    inside, heads = queries_of(edits, people)
    roots, sizes = geography.nodes(0), sizes_of(edits, households)
    nothing, everything = np.zeros(roots), np.full(roots, np.inf)
    vacuous = [_first_cell(inside, 0, nothing, everything, "edit: people in households")]
    if heads is not None:
        vacuous.append(_first_cell(heads, 0, nothing, everything, "edit: householders"))
    firm = [limit for limit in limits if limit.firm]
    merged = {limit.query.name: limit for limit in carried(people, geography, [*firm, *vacuous])[0]}
    low, high = merged[inside.name].low[:, 0], merged[inside.name].high[:, 0]

    common = [Weighed(weights=sizes.sizes, low=nothing, high=high)]
    if heads is not None:
        limit = merged[heads.name]
        occupied = sizes.occupied.astype(np.float64)
        common.append(Weighed(weights=occupied, low=limit.low[:, 0], high=limit.high[:, 0]))
    exact = (*common, Weighed(weights=sizes.sizes, low=low, high=high))
    either: tuple[tuple[Weighed, ...], ...] = (exact,)
    if sizes.open.any() and (low > 0).any():
        # A household of open size.
        somebody = Weighed(weights=sizes.open.astype(np.float64), low=np.ones(roots), high=everything)
        either = (exact, (*common, somebody))
    return Ways(common=tuple(common), either=either)


def _first_cell(query: Query, level: int, low: Floats, high: Floats, name: str) -> Limit:
    """A limit on the first cell of a query alone."""
    least, most = np.zeros((len(low), query.cells)), np.full((len(low), query.cells), np.inf)
    least[:, 0], most[:, 0] = low, high
    return Limit(level=level, query=query, low=least, high=most, firm=True, name=name)
