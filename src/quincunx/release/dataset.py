"""A dataset as its curator declares it: tables, guarantee, budgets and exact facts. A frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, Literal

from quincunx.errors import ParameterError, SpecificationError, kind_of, under
from quincunx.ledger import Budgets, Registration
from quincunx.ledger.canonical import name
from quincunx.numbers import Log, Number, probability
from quincunx.release import guarantee, neighbours
from quincunx.release import invariants as facts
from quincunx.release.identity import public_digest
from quincunx.release.witness import Witness
from quincunx.spec import AddRemove, Budgeted, Replace, is_budgeted, of_people
from quincunx.table import Limits, Program, Schema, Table, climbing, evaluate
from quincunx.table import schema_of as schema
from quincunx.table import sql as reader

_PLANS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Everything about a dataset that is declared and not asked for. No private row is read to make one.

    version: the curator's name for the state of the data. registration: the name, the five blocks and the budgets, as
    a ledger keeps them. invariants: name → SQL; facts: name → its plan. witness: somebody whose presence the invariants
    hide; None where any two people will do. public: the digest of the public tables. confidence: of all intervals.
    """

    version: str
    tables: Mapping[str, Table] = field(repr=False)
    schema: Schema = field(repr=False)
    standard: Budgeted
    registration: Registration
    confidence: Fraction
    public: str
    invariants: Mapping[str, str]
    facts: Mapping[str, Program] = field(repr=False)
    witness: Witness | None = field(repr=False)
    # Plans of the latest questions: one is often looked at before it is asked. Planning is a function of what is here.
    _plans: dict[object, Program] = field(init=False, default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name that owns the budget."""
        return self.registration.dataset

    @property
    def kind(self) -> str:
        """The kind of the first private table's source, which answers are given back as."""
        return next(table.kind for table in self.tables.values() if not table.public)

    def limited(self, table: str, limits: Limits) -> Dataset:
        """The same dataset with other limits of one table: any bound what a person counts for, and prove nothing."""
        known = self.schema.tables
        tables = {name: replace(each, limits=limits) if each.name == table else each for name, each in known.items()}
        return replace(self, schema=Schema(tables=tables, unit=self.schema.unit))

    def program(
        self,
        text: str,
        norm: Literal[1, 2] | None = None,
        *,
        derive: bool = True,
        interval: bool = True,
        limits: Limits | None = None,
    ) -> Program:
        """The plan of a question, for the standard's own noise or for another norm.

        derive: whether keys that follow from declared facts are public, which they were not always. interval: whether
        intervals that cost something are wanted. limits: for this question instead of those that follow from its rows.
        """
        asked = (str(text), norm, derive, interval, limits)
        found = self._plans.get(asked) if isinstance(text, str) else None
        if found is None:
            query = replace(reader.read(text, self.schema, evaluate, derive=derive), limits=limits)
            if not interval:
                query = replace(query, aggregates=tuple(each.without_interval() for each in query.aggregates))
            found = climbing(query, self.schema, self.standard.norm if norm is None else norm)
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            self._plans[asked] = found
        return found


def declared(
    *,
    dataset: str,
    version: str,
    tables: Mapping[str, Table],
    unit: AddRemove | Replace,
    standard: Budgeted,
    intensity: Number | Log,
    budgets: Budgets | None,
    confidence: Number,
    invariants: facts.InvariantTexts,
) -> Dataset:
    """The dataset of what was declared, checked as far as no private row is needed; arguments as in Session."""
    with under("spec"):
        _check_blocks(unit, standard)
    with under("tables"):
        known = _tables(tables)
    found, programs = schema(known, unit), {}
    with under("spec", "invariants"):
        texts = facts.read_invariants(invariants)
        for place, (each, text) in enumerate(texts.items()):
            with under(place):
                programs[each] = facts.program(text, found)
        witness = neighbours.check(programs, found, known)
    with under("spec"):
        specification = guarantee.specification(found, standard, intensity, facts.scope(texts))
    registration = Registration(dataset=dataset, specification=specification, budgets=budgets)
    if not registration.total:
        with under("spec", "intensity"):
            hint = "It is all that may ever be spent on the dataset."
            raise ParameterError("must be greater than 0", where="intensity", got="0", hint=hint)
    with under("version"):
        name(version, "version")
    with under("confidence"):
        level = _confidence(confidence)
    return Dataset(
        version=version,
        tables=known,
        schema=found,
        standard=standard,
        registration=registration,
        confidence=level,
        public=public_digest(found),
        invariants=texts,
        facts=programs,
        witness=witness,
    )


def _confidence(given: object) -> Fraction:
    confidence = probability(given, "confidence")
    if not 0 < confidence < 1:
        raise ParameterError("must be between 0 and 1, both excluded", where="confidence", got=str(given)[:40])
    return confidence


def _tables(tables: object) -> dict[str, Table]:
    hint = 'Write {"visits": Table(frame_or_path, limits={"rows": 20})}.'
    for each, table in tables.items() if isinstance(tables, Mapping) else ():
        if not isinstance(table, Table):
            raise ParameterError("expected a Table", where=f"tables[{each!r}]", got=kind_of(table), hint=hint)
    if not isinstance(tables, Mapping):
        raise ParameterError("expected names with tables", where="tables", got=kind_of(tables), hint=hint)
    return dict(tables)


def _check_blocks(unit: object, standard: object) -> None:
    if not of_people(unit):
        hint = 'Write unit.AddRemove(key="person_id") or unit.Replace(key="person_id"); there is no default.'
        with under("unit"):
            raise SpecificationError("expected a unit of protection", where="unit", got=kind_of(unit), hint=hint)
    if not is_budgeted(standard):
        hint = 'Write standard.ZCDP(), standard.Pure() or standard.Approximate(delta="1e-9"); Renyi and GaussianDP too.'
        with under("standard"):
            what = "no budget is kept in this standard"
            raise SpecificationError(what, where="standard", got=kind_of(standard), hint=hint)
