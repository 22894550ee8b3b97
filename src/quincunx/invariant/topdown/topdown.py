"""TopDown: tables of a whole hierarchy that keep invariants, with a guarantee and with intervals.

Measure once, keep what was measured, then compute: everything after the ledger's copy of the noisy answers is
post-processing of them, of the invariants and of public files (`topdown.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import numpy as np

from quincunx.errors import ParameterError
from quincunx.invariant.topdown import bounds as bound_files
from quincunx.invariant.topdown import budget
from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.blocks import least_squares
from quincunx.invariant.topdown.budget import Invariant, Line
from quincunx.invariant.topdown.declared import check_word, columns_of, key_of
from quincunx.invariant.topdown.estimate import Coordinates, Estimate, Known, downward, upward
from quincunx.invariant.topdown.fit import Pull
from quincunx.invariant.topdown.geography import Geography, read_geography
from quincunx.invariant.topdown.keep import Measured, keep
from quincunx.invariant.topdown.limits import Limit, branching, carried, crossing
from quincunx.invariant.topdown.measure import evidence, margins
from quincunx.invariant.topdown.outputs import named
from quincunx.invariant.topdown.people import check_columns
from quincunx.invariant.topdown.plan import read_plan
from quincunx.invariant.topdown.rounding import Ways
from quincunx.invariant.topdown.schema import TOTAL, Floats, Integers, Schema
from quincunx.invariant.topdown.solve import Solved, solve
from quincunx.invariant.topdown.together import MOST, Atoms, check_possible
from quincunx.ledger import Ledger
from quincunx.numbers import positive, probability
from quincunx.spec import ZCDP, Everything, Hamming, Invariants, NormalisedRenyi, Replace, Specification, Tables

# Numbers of one level: below what the ledger keeps in one answer.
_MOST: Final = 1 << 26
_MODES: Final = ("subtree", "level")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release: whole tables of every level, and the least-squares estimates with their variances.

    solved: tables and how they were found. measured: what they were made from. estimates: for each level, what is
    known of its places.
    """

    topdown: TopDown = field(repr=False)
    measured: Measured
    solved: Solved = field(repr=False)
    estimates: tuple[Known, ...] = field(repr=False)

    @property
    def tables(self) -> tuple[Integers, ...]:
        """The whole tables of every level, root first: (places, cells)."""
        return self.solved.tables

    def estimate(self, level: str, query: str) -> Estimate:
        """Least-squares estimates of a query at a level, with variances: arrays (places, cells of the query)."""
        return self.estimates[self.topdown.geography.level(level)].of(self.topdown.schema.query(query))


class TopDown:
    """A hierarchical release, planned: geography, attributes, shares, invariants. Planning reads no person's row.

    dataset, version, ledger: as in Session; ":memory:" forgets. source: a CSV or Parquet file of people, or an array
    of counts (leaves in the geography's order, cells). geography, levels: the public file and how its levels are read.
    attributes, recodes, zeros: as in Schema. shares: level → {"share": …, query: …}, exact, adding up to 1. rho: what
    the release spends; intensity: what the dataset may spend in all (rho, where left out). unit: Replace. key is the
    unit's; counts: a column of counts instead. invariants: (level, query) pairs. bounds: see `bounds.Bound`. facts:
    further published facts, name → text, that belong to the scope; columns: further columns of the domain, for several
    releases of one dataset. freed: "given" or "dropped". estimate: "subtree" or "level".
    spine: "given" or "optimised". passes: "one", or "total first" for level estimates. records: "people", or
    "households" (with their key, household) under a unit of one person. confidence: of the intervals. outputs: names
    of files, by what they hold. universe: where a release has several tables, the name of this one, with which the
    names of its facts begin. Every argument is checked before anything is spent.
    """

    __slots__ = (
        "basis",
        "bounds",
        "budget",
        "confidence",
        "counts",
        "dataset",
        "digests",
        "estimate",
        "geography",
        "invariants",
        "key",
        "ledger",
        "limits",
        "outputs",
        "passes",
        "public",
        "records",
        "schema",
        "source",
        "specification",
        "spine",
        "universe",
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
        columns: Sequence[str] = (),
        freed: str = "given",
        estimate: str = "subtree",
        spine: str = "given",
        passes: str = "one",
        records: str = "people",
        household: str | None = None,
        confidence: object = Fraction(9, 10),
        outputs: Mapping[str, str] | None = None,
        universe: str = "",
    ) -> None:
        check_word(estimate, _MODES, "estimate")
        check_word(spine, ("given", "optimised"), "spine")
        check_word(passes, ("one", "total first"), "passes")
        if passes != "one" and estimate != "level":
            hint = 'Take estimate = "level"; whole subtrees are estimated in one pass.'
            raise ParameterError(
                "passes belong to the published algorithm", where="passes", got=repr(passes), hint=hint
            )
        check_word(records, ("people", "households"), "records")
        self.confidence = probability(confidence, "confidence")
        if not 0 < self.confidence < 1:
            raise ParameterError("must be between 0 and 1, both excluded", where="confidence", got=str(confidence)[:40])
        self.outputs, self.universe = named(outputs or {}), universe
        self.dataset, self.version, self.ledger = dataset, version, ledger
        self.estimate, self.spine, self.passes, self.records = estimate, spine, passes, records
        self.bounds = tuple(bounds)
        self.schema = Schema(attributes=attributes, recodes=recodes, zeros=zeros)
        if isinstance(geography, Geography):
            self.geography = geography
        else:
            self.geography = read_geography(Path(geography), levels or {})
        self.basis = Basis.of(self.schema)
        self.key, self.counts = (
            key_of(unit, counts, records, household, [self.geography.column, *self.schema.names]),
            counts,
        )
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
            size = self.geography.nodes(level) * sum(line.query.cells for line in self.lines(level))
            if size > _MOST:
                what = f"level {self.geography.names[level]} would be measured by more than {_MOST:,} numbers"
                raise ParameterError(what, where="shares", got=f"{size:,}", hint="Measure fewer queries there.")
        files = [bound_files.read(bound, self.schema, self.geography) for bound in bounds]
        self.limits, self.digests = tuple(each.limit for each in files), tuple(each.digest for each in files)
        exact = {self._name(each): self._words(each) for each in self.invariants}
        exact |= {self._prefix + bound_files.name(each): bound_files.words(each) for each in self._confidential()}
        clash = [name for name in facts or {} if name in exact and exact[name] != (facts or {})[name]]
        if clash:
            raise ParameterError("a fact has the name of an invariant", where="facts", got=repr(clash[0]))
        scope = {**(facts or {}), **exact}
        self.specification = Specification(
            domain=Tables(columns=columns_of(self.geography, self.schema, unit, self.key, columns)),
            scope=Invariants(scope) if scope else Everything(),
            unit=unit,
            standard=ZCDP(),
            intensity=spend if intensity is None else intensity,
        )
        if not budget.determined(self.schema, 0, self.schema.query(TOTAL), self.invariants):
            budget.check_rows(self.budget, self.geography, first=estimate == "level")
        self._check_crossing()
        if not self.invariants:
            self.check_limits(())
        self.public = self._identity()
        check_columns(self.source, self.schema, self.geography, [n for n in (self.key, counts) if n is not None])

    @staticmethod
    def open(plan: str | Path) -> TopDown:
        """The release that a plan file describes. Every error says file and line."""
        found = read_plan(plan)
        if found.two:
            hint = "Open it with Pair.open, or on the command line."
            raise ParameterError("this plan has two tables", where=found.file, got="[topdown.households]", hint=hint)
        return found.built(TopDown)

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
        return found | {self._prefix + bound_files.name(each): "∞" for each in self._confidential()}

    def measure(self) -> Measured:
        """The noisy answers and the invariants: from the ledger, or drawn now, once, and kept there first."""
        if not isinstance(self.ledger, Ledger):
            with Ledger.open(self.ledger) as ledger:
                return keep([self], ledger)[0]
        return keep([self], self.ledger)[0]

    def run(self, *, progress: Progress | None = None, cores: int | None = None) -> Release:
        """Measure, estimate, and make whole tables. An interrupted run goes on where the ledger stands, for nothing."""
        return self.computed(self.measure(), progress=progress, cores=cores)

    def computed(
        self,
        measured: Measured,
        *,
        progress: Progress | None = None,
        cores: int | None = None,
        more: Sequence[Limit] = (),
        ways: Ways | None = None,
        pulls: Sequence[Sequence[Pull]] = (),
    ) -> Release:
        """Tables and estimates from measurements: post-processing, which costs nothing however often it runs. more:
        further limits. ways: weighted sums that the first level keeps. pulls: by level, weighted sums that are known
        with noise."""
        geography = self.geography
        own = [self._evidence(level, measured) for level in range(geography.depth)]
        best = upward(own, geography)
        targets = best
        totals: dict[int, Floats] = {}
        if self.estimate == "level":
            targets = own
            if self.passes == "total first":
                targets, totals = self._after_totals(own, measured)
            if self.spine == "optimised":
                targets = upward(targets, geography, only_children=True)
        limits = carried(self.schema, geography, [*self.exact_limits(measured.facts), *self.limits, *more])
        terms = zip_longest(pulls, margins(self.basis, geography, measured.answers), fillvalue=())
        pulled = [[*one, *other] for one, other in terms]
        solved = solve(
            self.basis,
            geography,
            targets,
            limits,
            totals=totals,
            ways=ways,
            pulls=pulled,
            progress=progress,
            cores=cores,
        )
        return Release(topdown=self, measured=measured, solved=solved, estimates=tuple(self._known(measured, best)))

    def best(self, measured: Measured) -> Sequence[Known]:
        """The least-squares estimates of every level from all measurements."""
        own = [self._evidence(level, measured) for level in range(self.geography.depth)]
        return self._known(measured, upward(own, self.geography))

    def _known(self, measured: Measured, subtrees: Sequence[Estimate]) -> Sequence[Known]:
        used = [line.query for line, _ in measured.answers] + [fact.query for fact, _ in measured.facts]
        if any(self.basis.weights(query) is None for query in used):
            return least_squares(self.basis, self.geography, measured.answers, measured.facts)
        return [Coordinates(basis=self.basis, estimate=each) for each in downward(subtrees, self.geography)]

    def _evidence(self, level: int, measured: Measured, without: str | None = None) -> Estimate:
        answers = [each for each in measured.answers if each[0].level == level and each[0].query.name != without]
        return evidence(self.basis, self.geography, level, answers, measured.facts)

    def _after_totals(self, own: list[Estimate], measured: Measured) -> tuple[list[Estimate], dict[int, Floats]]:
        """For the levels between the first and the last that measure totals: those, to be fitted first, and the
        evidence of everything else."""
        noisy = {
            line.level: answers.astype(np.float64) for line, answers in measured.answers if line.query.name == TOTAL
        }
        between = range(1, self.geography.depth - 1)
        totals = {level: noisy[level] for level in between if level in noisy}
        return [
            self._evidence(each, measured, TOTAL) if each in totals else own[each] for each in range(len(own))
        ], totals

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

    def lines(self, level: int) -> list[Line]:
        """What is measured at a level."""
        return [line for line in self.budget if line.level == level and line.sigma2 is not None]

    def cost(self, level: int) -> Fraction:
        """What the measurements of a level cost."""
        return sum((line.rho for line in self.lines(level)), Fraction(0))

    def _invariant(self, level: str, query: str) -> Invariant:
        return Invariant(level=self.geography.level(level, "invariants"), query=self.schema.query(query, "invariants"))

    @property
    def _prefix(self) -> str:
        return f"{self.universe}: " if self.universe else ""

    def _confidential(self) -> list[bound_files.Bound]:
        """The bounds that were read from the confidential file."""
        return [each for each in self.bounds if each.provenance == "invariant"]

    def _name(self, invariant: Invariant) -> str:
        return f"{self._prefix}{invariant.query.name} by {self.geography.names[invariant.level]}"

    def _words(self, invariant: Invariant) -> str:
        by = [part for part in invariant.query.parts if part is not None]
        more = f" by {' and '.join(by)}" if by else ""
        return f"number of {self.records} in each {self.geography.names[invariant.level]}{more}"

    def check_limits(self, facts: Sequence[tuple[Invariant, Integers]]) -> list[list[Limit]]:
        """The limits of every level, from invariants and files of bounds. Raises where no table can keep them; where
        that does not show from sums, by looking for one."""
        limits = carried(self.schema, self.geography, [*self.exact_limits(facts), *self.limits])
        if any(branching(self.schema, each) for each in limits[1:]):
            check_possible(self.schema, self.geography, limits)
        return limits

    def _check_crossing(self) -> None:
        """Invariants that cross need whole subtrees searched, which has a limit."""
        known = [*self.exact_limits(None), *self.limits]
        pair = crossing(self.schema, known)
        atoms = Atoms.made(
            self.schema, [[each for each in known if each.level == level] for level in range(self.geography.depth)]
        )
        size = self.geography.nodes(atoms.last) * atoms.count
        if pair is not None and size > MOST:
            what = f"{pair[0].name} and {pair[1].name} cross: tables that keep both are sought in one program"
            hint = f"That does up to {MOST:,} numbers. Take queries of which one is a margin of the other."
            raise ParameterError(what, where="invariants", got=f"{size:,}", hint=hint)

    def exact_limits(self, facts: Sequence[tuple[Invariant, Integers]] | None) -> list[Limit]:
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
