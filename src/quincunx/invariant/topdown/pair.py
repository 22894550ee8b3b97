"""People and households in one release: two tables of one dataset, one budget, and what holds between them (`pair.md`).

Both are measured before either is solved. Households come first, under what the invariants of people demand of them;
people follow under the sizes of the households.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from quincunx.errors import DataError, ParameterError, UnavailableError
from quincunx.invariant.topdown.edits import (
    Edits,
    household_ways,
    people_limits,
    queries_of,
    recodes,
    sizes_of,
)
from quincunx.invariant.topdown.fit import Pull
from quincunx.invariant.topdown.geography import Geography, read_geography
from quincunx.invariant.topdown.keep import Facts, Measured, keep
from quincunx.invariant.topdown.limits import Limit, rows
from quincunx.invariant.topdown.outputs import NAMES
from quincunx.invariant.topdown.plan import read_plan
from quincunx.invariant.topdown.rounding import Solver, Ways, rounded
from quincunx.invariant.topdown.schema import DETAILED, Integers
from quincunx.invariant.topdown.topdown import Progress, Release, TopDown
from quincunx.ledger import Ledger
from quincunx.numbers import positive, probability
from quincunx.spec import Hamming, Invariants, NormalisedRenyi, Replace, Specification

# How many more people than the least a household of open size has: at most, and where nothing is known of it.
_MORE: Final = 10.0
_LITTLE: Final = 0.5
PEOPLE: Final = "people"
HOUSEHOLDS: Final = "households"
# The files of households begin with their name, and their microdata are called so.
FILES: Final = {kind: f"households_{name}" for kind, name in NAMES.items()} | {"microdata": "households.parquet"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRelease:
    """Both releases. broken: in how many leaves people do not agree with the sizes of households; 0 where the
    invariants of people leave room, as they do unless they are about people in households below the first level."""

    pair: Pair = field(repr=False)
    people: Release
    households: Release
    broken: int


class Pair:
    """A release of people and households, planned. Planning reads no row of either file.

    dataset, version, ledger, geography, levels, unit, rho, intensity, estimate, spine, confidence: as in TopDown; unit
    is of people, rho what both tables spend together. share: the households' part of it. people, households: the
    arguments that each table has for itself: source, attributes, shares, and where needed recodes, zeros, invariants,
    bounds, freed, outputs; households also household, the column of their key. edits: what holds between the tables.
    """

    __slots__ = ("edits", "households", "people")

    def __init__(
        self,
        *,
        dataset: str,
        version: str,
        ledger: str | Path | Ledger,
        geography: str | Path | Geography,
        levels: Mapping[str, Any] | None = None,
        unit: Replace,
        rho: object,
        share: object,
        people: Mapping[str, Any],
        households: Mapping[str, Any],
        edits: Edits,
        intensity: object = None,
        **more: Any,
    ) -> None:
        places = geography if isinstance(geography, Geography) else read_geography(Path(geography), levels or {})
        spend, part = positive(rho, "rho"), probability(share, "share")
        if not 0 < part < 1:
            raise ParameterError("must be between 0 and 1, both excluded", where="share", got=str(share)[:40])
        common: dict[str, Any] = {
            "dataset": dataset,
            "version": version,
            "ledger": ledger,
            "geography": places,
            "unit": unit,
            "intensity": spend if intensity is None else intensity,
            **more,
        }
        given = dict(people.get("recodes") or {})
        needed = recodes(edits, people.get("attributes") or {})
        own: dict[str, Any] = {**people, "recodes": {**given, **needed}, "rho": spend * (1 - part), "universe": PEOPLE}
        files = FILES | dict(households.get("outputs") or {})
        other: dict[str, Any] = {
            **households,
            "rho": spend * part,
            "universe": HOUSEHOLDS,
            "records": HOUSEHOLDS,
            "outputs": files,
        }
        drafts = [TopDown(**{**common, **each}) for each in (own, other)]
        # One guarantee for both: every fact of either table is in the scope, every column of either in the domain.
        facts: dict[str, str] = {}
        columns: set[str] = set()
        for draft in drafts:
            where = draft.specification.scope
            facts |= dict(where.texts) if isinstance(where, Invariants) else {}
            columns |= {draft.geography.column, *draft.schema.names, *([draft.key] if draft.key else [])}
        shared = {"facts": dict(sorted(facts.items())), "columns": sorted(columns)}
        self.people, self.households = (TopDown(**{**common, **each, **shared}) for each in (own, other))
        self.edits = edits
        both = [*self.people.outputs.values(), *self.households.outputs.values()]
        if len({name.casefold() for name in both}) < len(both):
            raise ParameterError("two outputs have one name", where="output", got=", ".join(both)[:200])
        sizes_of(edits, self.households.schema)
        queries_of(edits, self.people.schema)

    @staticmethod
    def open(plan: str | Path) -> Pair:
        """The release that a plan file with [topdown.households] describes. Every error says file and line."""
        found = read_plan(plan)
        if not found.two:
            hint = "Write [topdown.households] and [topdown.edits], or open it with TopDown.open."
            raise ParameterError("this plan has one table", where=found.file, hint=hint)
        return found.built(Pair)

    @property
    def halves(self) -> tuple[TopDown, TopDown]:
        """People and households."""
        return self.people, self.households

    @property
    def specification(self) -> Specification:
        """The guarantee as registered, for both tables."""
        return self.people.specification

    @property
    def rho(self) -> Fraction:
        """What both tables spend together."""
        return self.people.rho + self.households.rho

    @property
    def metric(self) -> Specification:
        """The same guarantee with d_Ham and D_nor, for both tables together."""
        own = self.specification
        return Specification(
            domain=own.domain,
            scope=own.scope,
            unit=Hamming(key=own.unit.key),  # type: ignore[attr-defined]
            standard=NormalisedRenyi(),
            intensity=NormalisedRenyi.root(self.rho),
        )

    @property
    def without(self) -> dict[str, str]:
        """What the release would cost in a scope without one of its invariants."""
        return {**self.people.without, **self.households.without}

    def measure(self) -> tuple[Measured, Measured]:
        """The noisy answers and invariants of households and of people: from the ledger, or drawn now, once. All of
        both are reserved before one is drawn."""
        plans = (self.households, self.people)
        if not isinstance(self.people.ledger, Ledger):
            with Ledger.open(self.people.ledger) as ledger:
                first, second = keep(plans, ledger, self._check)
        else:
            first, second = keep(plans, self.people.ledger, self._check)
        return first, second

    def run(self, *, progress: Progress | None = None, cores: int | None = None) -> PairRelease:
        """Measure both, then make whole tables of households, then of people."""
        return self.computed(*self.measure(), progress=progress, cores=cores)

    def computed(
        self, households: Measured, people: Measured, *, progress: Progress | None = None, cores: int | None = None
    ) -> PairRelease:
        """Tables and estimates of both from measurements: post-processing."""
        ways, pulls = self._ways(people.facts), self._pulls(households, people)
        homes = self.households.computed(households, progress=progress, cores=cores, ways=ways, pulls=pulls)
        leaves, last = homes.tables[-1], self.people.geography.depth - 1
        limits = people_limits(self.edits, self.people.schema, self.households.schema, leaves, last)
        tries: list[Sequence[Limit]] = [limits, [replace(each, firm=False) for each in limits], []]
        for number, more in enumerate(tries):
            try:
                made = self.people.computed(people, progress=progress, cores=cores, more=more)
                break
            except (DataError, UnavailableError):
                # Invariants of people come before what holds between the tables: it gives way, and that is told.
                if number == len(tries) - 1:
                    raise
        return PairRelease(pair=self, people=made, households=homes, broken=self.broken(made.tables[-1], leaves))

    def broken(self, people: Integers, households: Integers) -> int:
        """In how many leaves these tables do not agree."""
        schema, wrong = self.people.schema, np.zeros(len(people), dtype=np.bool_)
        for limit in people_limits(self.edits, schema, self.households.schema, households, 0):
            found = schema.answers(limit.query, people)
            wrong |= ((found < limit.low) | (found > limit.high)).any(axis=1)
        return int(wrong.sum())

    def _ways(self, facts: Facts) -> Ways:
        people = self.people
        limits = [*people.exact_limits(facts), *people.limits]
        return household_ways(self.edits, people.schema, self.households.schema, people.geography, limits)

    def _pulls(self, households: Measured, people: Measured) -> list[list[Pull]]:
        """What the measurements of people say about households: how many people live in them, and householders.

        How many live in a household of open size is read off the first level, where both are known best: the people
        that the least sizes leave over, divided among them. It varies from one to the next about as much as it is.
        """
        homes, sizes = self.households, sizes_of(self.edits, self.households.schema)
        inside, heads = queries_of(self.edits, self.people.schema)
        whole = homes.schema.query(DETAILED)
        people_best, homes_best = self.people.best(people), homes.best(households)
        first = homes_best[0].of(whole)
        number = float(first.value[:, sizes.open].sum())
        spread = float(np.sqrt(first.variance[:, sizes.open].sum()))
        left = float(people_best[0].of(inside).value[:, 0].sum() - (first.value @ sizes.sizes).sum())
        more = min(max(left / number, 0.0), _MORE) if number > 2 * spread else _LITTLE
        found = []
        for own, other in zip(people_best, homes_best, strict=True):
            known = own.of(inside)
            open_ = np.maximum(other.of(whole).value[:, sizes.open].sum(axis=1), 0.0)
            variance = known.variance[:, 0] + open_ * (1 + more) ** 2
            weights = sizes.sizes + more * sizes.open
            here = [Pull(weights=weights, value=known.value[:, 0], variance=variance)]
            if heads is not None:
                known = own.of(heads)
                occupied = sizes.occupied.astype(np.float64)
                here.append(Pull(weights=occupied, value=known.value[:, 0], variance=known.variance[:, 0]))
            found.append(here)
        return found

    def _check(self, facts: Sequence[Facts]) -> None:
        """Raise where no households go with the people that the invariants say there are."""
        homes, ways = self.households, self._ways(facts[1])
        limits = homes.check_limits(facts[0])[0]
        solver, mask = Solver(), ~homes.schema.empty
        for root, code in enumerate(homes.geography.codes[0]):
            known = rows(homes.schema, [each for each in limits if each.firm], root, root + 1)
            nothing = np.zeros((1, homes.schema.cells))
            tries = ([*known, *(each.row(root) for each in way)] for way in ways.either)
            if all(rounded(solver, nothing, None, each, mask=mask) is None for each in tries):
                what = f"no households go with the people that the invariants say there are in {code}"
                hint = "The facts of the two tables contradict each other; nothing was spent."
                raise DataError(what, where="edits", hint=hint)


def opened(plan: str | Path) -> TopDown | Pair:
    """The release that a plan file describes, of one table or of two. Every error says file and line."""
    found = read_plan(plan)
    return found.built(Pair) if found.two else found.built(TopDown)
