"""A dataset as its curator declares it: tables, guarantee, budgets and exact facts. A frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from quincunx.errors import ParameterError, SpecificationError, kind_of
from quincunx.ledger import Registration
from quincunx.ledger.canonical import name
from quincunx.numbers import probability
from quincunx.release import guarantee, neighbours
from quincunx.release import invariants as facts
from quincunx.release.identity import public_digest
from quincunx.release.pricing import Budgeted
from quincunx.release.witness import Witness
from quincunx.spec import AddRemove, Replace, is_budgeted, of_people
from quincunx.table import Program, Schema, Table, evaluate
from quincunx.table import planned as plan
from quincunx.table import schema_of as schema
from quincunx.table import sql as reader


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

    @property
    def name(self) -> str:
        """The name that owns the budget."""
        return self.registration.dataset

    @property
    def kind(self) -> str:
        """The kind of the first private table's source, which answers are given back as."""
        return next(table.kind for table in self.tables.values() if not table.public)

    def program(self, text: str, norm: Literal[1, 2] | None = None, *, derive: bool = True) -> Program:
        """The plan of a question, for the standard's own noise or for another norm.

        derive: whether keys that follow from declared facts are public, which they were not always.
        """
        query = reader.read(text, self.schema, evaluate, derive=derive)
        return plan(query, self.schema, self.standard.norm if norm is None else norm)


def declared(
    *,
    dataset: str,
    version: str,
    tables: Mapping[str, Table],
    unit: AddRemove | Replace,
    standard: Budgeted,
    intensity: object,
    budgets: Mapping[str, object] | None,
    confidence: object,
    invariants: object,
) -> Dataset:
    """The dataset of what was declared, checked as far as no private row is needed; arguments as in Session."""
    _check_blocks(unit, standard)
    known = _tables(tables)
    found, texts = schema(known, unit), facts.read_invariants(invariants)
    programs = {each: facts.program(text, found) for each, text in texts.items()}
    registration = Registration(
        dataset=dataset,
        specification=guarantee.specification(found, standard, intensity, facts.scope(texts)),
        budgets=budgets,
    )
    if not registration.total:
        hint = "It is all that may ever be spent on the dataset."
        raise ParameterError("must be greater than 0", where="intensity", got="0", hint=hint)
    return Dataset(
        version=name(version, "version"),
        tables=known,
        schema=found,
        standard=standard,
        registration=registration,
        confidence=_confidence(confidence),
        public=public_digest(known),
        invariants=texts,
        facts=programs,
        witness=neighbours.check(programs, found, known),
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
        raise SpecificationError("expected a unit of protection", where="unit", got=kind_of(unit), hint=hint)
    if not is_budgeted(standard):
        hint = 'Write standard.ZCDP(), standard.Pure() or standard.Approximate(delta="1e-9").'
        raise SpecificationError(
            "no budget is kept in this standard", where="standard", got=kind_of(standard), hint=hint
        )
