"""TopDown: tables of a whole hierarchy that keep invariants, with a guarantee and with intervals.

Measure once, keep what was measured, then compute: everything after the ledger's copy of the noisy answers is
post-processing of them, of the invariants and of public files (`topdown.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from quincunx import noise
from quincunx.errors import BudgetError, DataError, ParameterError, SpecificationError
from quincunx.invariant.topdown import bounds as bound_files
from quincunx.invariant.topdown import budget
from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.budget import Invariant, Line
from quincunx.invariant.topdown.estimate import Estimate, downward, upward
from quincunx.invariant.topdown.geography import Geography, read_geography
from quincunx.invariant.topdown.limits import Limit, carried, check_nested
from quincunx.invariant.topdown.measure import draw, evidence, levels_of, pack, unpack
from quincunx.invariant.topdown.people import check_columns, counted
from quincunx.invariant.topdown.schema import Integers, Query, Schema
from quincunx.invariant.topdown.solve import Solved, solve
from quincunx.ledger import Ledger, Question
from quincunx.numbers import positive, probability
from quincunx.spec import Specification
from quincunx.spec.domain import Tables
from quincunx.spec.scope import Everything, Invariants
from quincunx.spec.standard import ZCDP, NormalisedRenyi
from quincunx.spec.unit import Hamming, Replace

# Numbers of one level: below what the ledger keeps in one answer.
_MOST: Final = 1 << 26
_MODES: Final = ("subtree", "level")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the ledger keeps of one release. answers: noisy, in the order of the budget's lines that are measured.
    facts: the invariants, exact. head: the ledger's head. charged: what this call cost."""

    answers: tuple[tuple[Line, Integers], ...] = field(repr=False)
    facts: tuple[tuple[Invariant, Integers], ...] = field(repr=False)
    head: str
    charged: Fraction
    injected: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release: whole tables of every level, and the least-squares estimates with their variances.

    solved: tables and how they were found. measured: what they were made from. estimates: for each level, values and
    variances of its coordinates.
    """

    topdown: TopDown = field(repr=False)
    measured: Measured
    solved: Solved = field(repr=False)
    estimates: tuple[Estimate, ...] = field(repr=False)

    @property
    def tables(self) -> tuple[Integers, ...]:
        """The whole tables of every level, root first: (places, cells)."""
        return self.solved.tables

    def estimate(self, level: str, query: str) -> Estimate:
        """Least-squares estimates of a query at a level, with variances: arrays (places, cells of the query)."""
        found = self.estimates[self.topdown.geography.level(level)]
        return self.topdown.estimate_of(found, self.topdown.schema.query(query))


class TopDown:
    """A hierarchical release, planned: geography, attributes, shares, invariants. Planning reads no person's row.

    dataset, version, ledger: as in Session; ":memory:" forgets. source: a CSV or Parquet file of people, or an array
    of counts (leaves in the geography's order, cells). geography, levels: the public file and how its levels are read.
    attributes, recodes, zeros: as in Schema. shares: level → {"share": …, query: …}, exact, adding up to 1. rho: what
    the release spends; intensity: what the dataset may spend in all (rho, where left out). unit: Replace. key is the
    unit's; counts: a column of counts instead. invariants: (level, query) pairs. bounds: see `bounds.Bound`. facts:
    further published facts, name → text, that belong to the scope. freed: "given" or "dropped". estimate: "subtree" or
    "level". spine: "given" or "optimised". records: "people", or "households" (with their key, household) under a unit
    of one person. confidence: of the intervals. Every argument is checked before anything is spent.
    """

    __slots__ = (
        "basis",
        "budget",
        "confidence",
        "counts",
        "dataset",
        "estimate",
        "geography",
        "invariants",
        "key",
        "ledger",
        "limits",
        "public",
        "records",
        "schema",
        "source",
        "specification",
        "spine",
        "version",
    )

    def __init__(
        self,
        *,
        dataset: str,
        version: str,
        ledger: str | Path | Ledger,
        source: str | Path | Integers,
        geography: str | Path | Geography,
        levels: Mapping[str, Any] | None = None,
        attributes: Mapping[str, Sequence[object]],
        shares: Mapping[str, Mapping[str, Any]],
        rho: object,
        intensity: object = None,
        unit: Replace,
        counts: str | None = None,
        recodes: Mapping[str, Mapping[str, Any]] | None = None,
        zeros: Sequence[Mapping[str, object]] = (),
        invariants: Sequence[tuple[str, str]] = (),
        bounds: Sequence[bound_files.Bound] = (),
        facts: Mapping[str, str] | None = None,
        freed: str = "given",
        estimate: str = "subtree",
        spine: str = "given",
        records: str = "people",
        household: str | None = None,
        confidence: object = Fraction(9, 10),
    ) -> None:
        _word(estimate, _MODES, "estimate")
        _word(spine, ("given", "optimised"), "spine")
        _word(records, ("people", "households"), "records")
        self.confidence = probability(confidence, "confidence")
        if not 0 < self.confidence < 1:
            raise ParameterError("must be between 0 and 1, both excluded", where="confidence", got=str(confidence)[:40])
        self.dataset, self.version, self.ledger = dataset, version, ledger
        self.estimate, self.spine, self.records = estimate, spine, records
        self.schema = Schema(attributes=attributes, recodes=recodes, zeros=zeros)
        if isinstance(geography, Geography):
            self.geography = geography
        else:
            self.geography = read_geography(Path(geography), levels or {})
        self.basis = Basis.of(self.schema)
        self.key, self.counts = _key(unit, counts, records, household), counts
        self.source = source if isinstance(source, np.ndarray) else Path(source)
        self.invariants = tuple(self._invariant(level, query) for level, query in invariants)
        spend = positive(rho, "rho")
        self.budget = budget.lines(
            self.schema,
            self.geography,
            shares=shares,
            rho=spend,
            invariants=self.invariants,
            freed=freed,
            distance=budget.PEOPLE if records == "people" else budget.HOUSEHOLDS,
        )
        for level in range(self.geography.depth):
            size = self.geography.nodes(level) * sum(line.query.cells for line in self._lines(level))
            if size > _MOST:
                what = f"level {self.geography.names[level]} would be measured by more than {_MOST:,} numbers"
                raise ParameterError(what, where="shares", got=f"{size:,}", hint="Measure fewer queries there.")
        self.limits = tuple(bound_files.read(bound, self.schema, self.geography) for bound in bounds)
        named = {self._name(each): self._words(each) for each in self.invariants}
        named |= {bound_files.name(each): bound_files.words(each) for each in bounds if each.provenance == "invariant"}
        clash = [name for name in facts or {} if name in named and named[name] != (facts or {})[name]]
        if clash:
            raise ParameterError("a fact has the name of an invariant", where="facts", got=repr(clash[0]))
        scope = {**(facts or {}), **named}
        self.specification = Specification(
            domain=Tables(columns=_columns(self.geography, self.schema, unit, counts, self.key)),
            scope=Invariants(scope) if scope else Everything(),
            unit=unit,
            standard=ZCDP(),
            intensity=spend if intensity is None else intensity,
        )
        check_nested(self.schema, [*self._exact_limits(None), *self.limits])
        if not self.invariants:
            carried(self.schema, self.geography, self.limits)
        self.public = self._identity()
        check_columns(self.source, self.schema, self.geography, [n for n in (self.key, counts) if n is not None])

    @staticmethod
    def open(plan: str | Path) -> TopDown:
        """The release that a plan file describes. Every error says file and line."""
        from quincunx.invariant.topdown.plan import read_topdown

        return read_topdown(plan)

    @property
    def rho(self) -> Fraction:
        """What the release spends: the sum over all queries that the invariants do not determine, exact."""
        return sum((line.rho for line in self.budget), Fraction(0))

    @property
    def metric(self) -> Specification:
        """The same guarantee with d_Ham and D_nor: √ρ for each person of difference, also where no chain of single
        replacements stays inside the scope."""
        return Specification(
            domain=self.specification.domain,
            scope=self.specification.scope,
            unit=Hamming(key=self.specification.unit.key),  # type: ignore[attr-defined]
            standard=NormalisedRenyi(),
            intensity=NormalisedRenyi.root(self.rho),
        )

    @property
    def without(self) -> dict[str, str]:
        """What the release would cost in a scope without one of its invariants: "∞", or "0" for one that the others
        determine."""
        found = {}
        for each in self.invariants:
            others = [other for other in self.invariants if other != each]
            free = budget.determined(self.schema, each.level, each.query, others)
            found[self._name(each)] = "0" if free else "∞"
        return found

    def measure(self) -> Measured:
        """The noisy answers and the invariants: from the ledger, or drawn now, once, and kept there first."""
        if not isinstance(self.ledger, Ledger):
            with Ledger.open(self.ledger) as ledger:
                return self._measured(ledger)
        return self._measured(self.ledger)

    def run(self, *, progress: Progress | None = None, cores: int | None = None) -> Release:
        """Measure, estimate, and make whole tables. An interrupted run goes on where the ledger stands, for nothing."""
        measured = self.measure()
        return self.computed(measured, progress=progress, cores=cores)

    def computed(self, measured: Measured, *, progress: Progress | None = None, cores: int | None = None) -> Release:
        """Tables and estimates from measurements: post-processing, which costs nothing however often it runs."""
        geography = self.geography
        own = [
            evidence(
                self.basis,
                geography,
                level,
                [each for each in measured.answers if each[0].level == level],
                measured.facts,
            )
            for level in range(geography.depth)
        ]
        best = upward(own, geography)
        targets = best
        if self.estimate == "level":
            targets = upward(own, geography, only_children=True) if self.spine == "optimised" else own
        limits = carried(self.schema, geography, [*self._exact_limits(measured.facts), *self.limits])
        solved = solve(self.basis, geography, targets, limits, progress=progress, cores=cores)
        return Release(topdown=self, measured=measured, solved=solved, estimates=tuple(downward(best, geography)))

    def estimate_of(self, estimate: Estimate, query: Query) -> Estimate:
        """Values and variances of a query from those of the coordinates; unknown coordinates make it unknown."""
        known = np.isfinite(estimate.variance)
        value = self.basis.answers(query, np.where(known, estimate.value, 0.0))
        variance = self.basis.variances(query, np.where(known, estimate.variance, 0.0))
        lost = self.basis.variances(query, np.where(known, 0.0, 1.0)) > 1e-9
        # A count that is known exactly is a whole number.
        value = np.where(variance == 0, np.rint(value), value)
        return Estimate(value=np.where(lost, 0.0, value), variance=np.where(lost, np.inf, variance))

    def _measured(self, ledger: Ledger) -> Measured:
        test_key = noise.injected()
        ledger.register(dataset=self.dataset, specification=self.specification)
        leaves: list[Integers] = []

        def tables() -> list[Integers]:
            if not leaves:
                leaves.append(counted(self.source, self.schema, self.geography, key=self.key, counts=self.counts))
            return levels_of(leaves[0], self.geography)

        head = ledger.head
        facts: tuple[tuple[Invariant, Integers], ...] = ()
        if self.invariants:
            reservation = ledger.reserve(self._question(Fraction(0), "invariants"), injected=test_key)
            if reservation.stored:
                answer = ledger.reveal(reservation)
            else:
                exact = [self.schema.answers(each.query, tables()[each.level]) for each in self.invariants]
                answer = ledger.store(reservation, pack(exact, {"injected": test_key}), injected=test_key)
            facts = tuple(zip(self.invariants, unpack(answer.content)[0], strict=True))
            # What cannot be satisfied is said before anything is spent; it depends on public facts alone.
            carried(self.schema, self.geography, [*self._exact_limits(facts), *self.limits])
        levels = [level for level in range(self.geography.depth) if self._lines(level)]
        questions = {level: self._question(self._cost(level), f"level {level}") for level in levels}
        unpaid = sum((self._cost(level) for level in levels if not ledger.paid(questions[level])), Fraction(0))
        affordable = ledger.account(self.dataset).affordable()
        if unpaid > affordable:
            raise BudgetError(
                "the budget does not cover this release; nothing was spent",
                where=self.dataset,
                got=f"ρ = {float(unpaid):.6g}, with {float(affordable):.6g} left",
                hint="Lower rho in the plan; what was paid for before costs nothing.",
                symbol="ρ",
                requested=unpaid,
                affordable=affordable,
            )
        reservations = {level: ledger.reserve(questions[level], injected=test_key) for level in levels}
        answers: list[tuple[Line, Integers]] = []
        injected = False
        for level in levels:
            if reservations[level].stored:
                answer = ledger.reveal(reservations[level])
            else:
                drawn = draw(self.schema, tables()[level], self._lines(level))
                answer = ledger.store(reservations[level], pack(drawn, {"injected": test_key}), injected=test_key)
            kept, about = unpack(answer.content)
            injected, head = injected or bool(about["injected"]), answer.head
            answers += zip(self._lines(level), kept, strict=True)
        charged = sum((each.charged for each in reservations.values()), Fraction(0))
        return Measured(answers=tuple(answers), facts=facts, head=head, charged=charged, injected=injected)

    def _question(self, cost: Fraction, what: str) -> Question:
        return Question(
            dataset=self.dataset,
            version=self.version,
            specification=self.specification,
            cost=cost,
            asked={**self.public, "what": what},
        )

    def _identity(self) -> dict[str, object]:
        """Everything that fixes the law of the measurements. Nothing of it comes from people's rows."""
        lines = [[line.level, line.query.name, str(line.sigma2)] for line in self.budget if line.sigma2 is not None]
        return {
            "topdown": 1,
            "geography": self.geography.digest,
            "schema": self.schema.to_dict(),
            "lines": lines,
            "invariants": [[each.level, each.query.name] for each in self.invariants],
            "records": [self.records, self.key, self.counts],
        }

    def _lines(self, level: int) -> list[Line]:
        return [line for line in self.budget if line.level == level and line.sigma2 is not None]

    def _cost(self, level: int) -> Fraction:
        return sum((line.rho for line in self._lines(level)), Fraction(0))

    def _invariant(self, level: str, query: str) -> Invariant:
        return Invariant(level=self.geography.level(level, "invariants"), query=self.schema.query(query, "invariants"))

    def _name(self, invariant: Invariant) -> str:
        return f"{invariant.query.name} by {self.geography.names[invariant.level]}"

    def _words(self, invariant: Invariant) -> str:
        by = [part for part in invariant.query.parts if part is not None]
        more = f" by {' and '.join(by)}" if by else ""
        return f"number of {self.records} in each {self.geography.names[invariant.level]}{more}"

    def _exact_limits(self, facts: Sequence[tuple[Invariant, Integers]] | None) -> list[Limit]:
        """The invariants as limits; without their values only the queries matter."""
        pairs: list[tuple[Invariant, Any]] = (
            [(each, np.zeros((1, each.query.cells))) for each in self.invariants] if facts is None else list(facts)
        )
        return [
            Limit(
                level=each.level,
                query=each.query,
                low=np.asarray(values, dtype=np.float64),
                high=np.asarray(values, dtype=np.float64),
                firm=True,
                name=self._name(each),
            )
            for each, values in pairs
        ]


def _word(value: object, known: tuple[str, ...], where: str) -> None:
    if value not in known:
        raise ParameterError(
            "unknown word", where=where, got=repr(value)[:40], hint=f"Choose among {', '.join(known)}."
        )


def _key(unit: object, counts: str | None, records: str, household: str | None) -> str | None:
    if type(unit) is not Replace or unit.per is not None or unit.group != 1:
        hint = 'Write unit.Replace(key="person_id"): one person replaced.'
        raise SpecificationError("TopDown protects one person replaced", where="unit", got=repr(unit)[:80], hint=hint)
    if (household is not None) != (records == "households"):
        hint = 'Write records = "households" with household = "household_id".'
        raise ParameterError("households need their key", where="household", got=repr(household), hint=hint)
    if counts is not None and (unit.key is not None or household is not None):
        hint = "With counts there is no key: you vouch that one person is one count."
        raise ParameterError("a key and counts exclude each other", where="counts", got=repr(counts), hint=hint)
    return unit.key if household is None else household


def _columns(
    geography: Geography, schema: Schema, unit: Replace, counts: str | None, key: str | None
) -> dict[str, str]:
    names = [unit.key, key, geography.column, *schema.names]
    found = {name: "text" for name in names if name is not None}
    if counts is not None:
        if counts in found:
            raise DataError("the column of counts has another part already", where="counts", got=repr(counts))
        found[counts] = "integer"
    return found
