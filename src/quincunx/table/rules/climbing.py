"""Questions whose limits are "auto": planned at every rung of a public ladder, and how one is chosen.

The choice is by counts of the owners of the question's own rows: one row for each, so that nobody is weighted. See
climbing.md.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from quincunx.errors import RefusalError
from quincunx.table.aggregates import Lattice, in_bins
from quincunx.table.expression import Column, Expression
from quincunx.table.measure import Climb, Program
from quincunx.table.plan import CHOSEN, Chosen, Query
from quincunx.table.relations import Fold, Relation, RollUp, rolled
from quincunx.table.rules.pipeline import plan
from quincunx.table.schema import Auto, Limits, Schema


def climbing(query: Query, schema: Schema, norm: Literal[1, 2]) -> Program:
    """The program of a question; where its limits are "auto" and matter, that of the highest rung, with all others."""
    ladder = rungs_of(query)
    if not ladder:
        return plan(query, schema, norm)
    of = _chosen(query, plan(_at(query, ladder[0], "rows"), schema, norm), norm)
    programs = tuple(plan(_at(query, rung, of), schema, norm) for rung in ladder)
    if all((each.measures, each.selection) == (programs[0].measures, programs[0].selection) for each in programs):
        return plan(query, schema, norm)
    climb = Climb(of=of, rungs=ladder, choice=plan(choice(query, ladder, of), schema, norm), programs=programs)
    # What is said of every rung, and what is not known yet.
    said = f"{CHOSEN[of]} is chosen privately, from {ladder[0]} to {ladder[-1]:,}."
    biases = (said, *(each for each in programs[-1].biases if each in programs[0].biases))
    return replace(programs[-1], climb=climb, biases=biases)


def _chosen(query: Query, program: Program, norm: Literal[1, 2]) -> Chosen:
    """What the noise depends on: of rows in groups their length in norm 2, and of presence the number of groups."""
    if all(measure.vector.kind == "people" for measure in program.measures):
        return "groups"
    return "length" if norm == 2 and query.keys else "rows"


def rungs_of(query: Query) -> tuple[int, ...]:
    """1, 2, 5, 10, … to the end of the longest ladder that is declared; none where rows are limited otherwise."""
    if query.allowed.rows is not None:
        return ()
    tables = [each.limits.auto for each in query.rows.tables.values() if not each.public]
    lasts = [query.limits.auto] if query.limits is not None and query.limits.auto is not None else tables
    last = max((each for each in lasts if each is not None), default=None)
    return () if last is None else rungs(last)


def rungs(last: int) -> tuple[int, ...]:
    """1, 2, 5, 10, … to `last`."""
    return tuple(map(int, Auto(first=Fraction(1), last=Fraction(last)).rungs))


def choice(query: Query, ladder: tuple[int, ...], of: Chosen) -> Query:
    """How many owners have at most so much as each rung says, and how many have more than the last."""
    source, count = query.rows.fused(), Fold(kind="count")
    whose, fold = _whose(source), count
    if of != "rows":
        # One row for each owner and group.
        keys = [query.rows.base(key.expression) for key in query.keys]
        inner = RollUp(source=source, by=(*whose, *keys), folds=(count,))
        if of == "length":
            # Beyond the last rung it is enough to know that it is beyond: squares stay small.
            lattice = Lattice(step=Fraction(1), low=0, high=ladder[-1] + 1, centre=0)
            fold = Fold(kind="squares", argument=rolled(source, count), lattice=lattice)
        source, whose = inner, _whose(inner)
    edges = [rung**2 for rung in ladder] if of == "length" else ladder
    ended = in_bins(rolled(source, fold), edges)
    return Query(rows=RollUp(source=source, by=whose, folds=(fold,)), keys=(), aggregates=(ended,), outputs=())


def _at(query: Query, rung: int, of: Chosen) -> Query:
    stated = query.limits or Limits()
    return replace(query, limits=replace(stated, rows=rung, auto=None), climbed=of)


def _whose(rows: Relation) -> tuple[Expression, ...]:
    """For each component of the owner an expression that equals it: the first by what it is called in a ledger."""
    known = {column.slot for column in rows.columns}
    found: list[Expression] = []
    for component in rows.owner.components if rows.owner is not None else ():
        usable = [each for each in component.licensed if all(column.slot in known for column in each.columns())]
        if not usable:
            hint = 'State how many rows of one person may count: limits={"rows": 20}.'
            raise RefusalError('limits = "auto" need a column that says whose a row is', where="limits", hint=hint)
        found.append(min(usable, key=_written))
    return tuple(found)


def _written(each: Expression) -> tuple[bool, str]:
    return not isinstance(each, Column), json.dumps(each.canonical(), sort_keys=True)
