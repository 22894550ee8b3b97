"""Neighbour replay: generated neighbours, exact measures, declared sensitivities. See replay.md."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from quincunx.audit.gap import Gap
from quincunx.audit.shrink.tables import shrink
from quincunx.audit.tables.distance import choice, gaps
from quincunx.audit.tables.neighbours import Maker
from quincunx.audit.tables.questions import accepted, questions
from quincunx.audit.tables.relations import RELATIONS
from quincunx.audit.tables.report import (
    CHOICE,
    EMPTY,
    Cell,
    Replay,
    Violation,
    key_words,
    labels,
    limit_words,
    merged,
    unit_words,
)
from quincunx.audit.tables.several import Together
from quincunx.audit.tables.values import STORAGE
from quincunx.audit.tables.world import Pair
from quincunx.audit.tables.worlds import Storage, World, Worlds, alone
from quincunx.errors import DataError, ParameterError, QueryError, RefusalError, UnavailableError
from quincunx.numbers import Number, positive_integer
from quincunx.table import Program, Query, Result, Schema, TableSchema, climbing


def replay(
    schema: Schema,
    sql: str | Sequence[str] | None = None,
    *,
    norms: Sequence[Literal[1, 2]] = (1, 2),
    pairs: int = 16,
    giants: int = 1,
    count: int = 20,
    series: Number = 0,
    storage: Mapping[str, Mapping[str, str]] | None = None,
    batched: bool = True,
    shrunk: int = 1,
) -> Replay:
    """Compare neighbouring worlds before noise with the distance that the plan declares. Reads no data.

    sql: questions, or None for `count` generated ones. norms: of the noise, 1 and 2. pairs: of neighbouring worlds for
    each table, or for the tables of a question together; in the first `giants` of them one person has very many rows.
    series: which worlds and questions; equal series give equal reports. storage: table → column → its type in the
    source (DECIMAL(12,3), VARCHAR, …), where it is not the usual one. batched: all worlds in one engine query; False
    asks the engine for one world at a time, as a session does. shrunk: how many violations of each question are made
    small, the smallest first.
    """
    asked = [sql] if isinstance(sql, str) else sql
    _check(schema, norms, pairs, storage or {})
    kinds = {table.name: _kinds(table, (storage or {}).get(table.name, {})) for table in _private(schema)}
    if asked is None:
        made = [questions(schema, schema.tables[name], series, relations=RELATIONS) for name in kinds]
        asked = [each.sql for endless in made for each in itertools.islice(endless, count)]
    found: list[Replay] = []
    for names, texts in _cast(schema, kinds, asked).items():
        chosen = {name: kinds[name] for name in names}
        source = random.Random(f"worlds {series}")
        if len(names) == 1:
            table = schema.tables[names[0]]
            maker: Maker | Together = Maker(table=table, unit=schema.unit, storage=dict(kinds[names[0]]), source=source)
        else:
            maker = Together(schema=schema, storage=chosen, source=source)
        scene = _Scene(schema, chosen, maker.pairs(pairs, giants=giants), batched, shrunk)
        try:
            found += [scene.ask(text, norm) for text in texts for norm in norms]
        finally:
            scene.close()
    return sum(found, EMPTY)


def _kinds(table: TableSchema, given: Mapping[str, str]) -> dict[str, str]:
    """The type of every column in the source, by its name in lower case."""
    known = {name.lower(): kind for name, kind in given.items()}
    return {each.name.lower(): known.get(each.name.lower(), STORAGE[each.type]) for each in table.columns}


def _cast(schema: Schema, known: Iterable[str], texts: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
    """The questions by the private tables that they read; those that nobody can read stay with the first table."""
    found: dict[tuple[str, ...], list[str]] = {}
    for text in texts:
        query = accepted(text, schema)
        read = {table.name for table in query.rows.tables.values()} if query is not None else set()
        names = tuple(name for name in known if name in read) or tuple(known)[:1]
        found.setdefault(names, []).append(text)
    return found


def _check(schema: Schema, norms: Sequence[int], pairs: int, storage: Mapping[str, Mapping[str, str]]) -> None:
    """A parameter that would quietly compare less than was asked for is refused."""
    positive_integer(pairs, "replay(pairs)")
    if not norms or not set(norms) <= {1, 2}:
        raise ParameterError("norms are 1 and 2", where="replay", got=repr(tuple(norms))[:40])
    for name, columns in storage.items():
        table = schema.tables.get(name)
        for column in columns if table is not None else (None,):
            if table is None or table.column(str(column)) is None:
                got = name if table is None else f"{name}.{column}"
                raise ParameterError("no such table or column", where="replay(storage)", got=got)


def _private(schema: Schema) -> list[TableSchema]:
    found = [table for table in schema.tables.values() if not table.public]
    if not found:
        raise DataError("no table is private", where="replay", hint="Replay asks questions about private tables.")
    return found


class _Scene:
    """The private tables that questions read, with pairs of worlds."""

    def __init__(self, schema: Schema, storage: Storage, pairs: Sequence[Pair], batched: bool, shrunk: int = 0) -> None:
        self.schema, self.storage = schema, storage
        self.pairs, self.batched, self.shrunk = pairs, batched, shrunk
        self._worlds = self._gather(pairs) if batched else None

    def close(self) -> None:
        if self._worlds is not None:
            self._worlds.close()

    def ask(self, sql: str, norm: Literal[1, 2]) -> Replay:
        """One question on all pairs."""
        program = self.program(sql, norm)
        if program is None:
            return replace(EMPTY, refused=1)
        broken: list[tuple[Pair, Gap | None]] = []
        unit, limits, keys = unit_words(self.schema), limit_words(program), key_words(program)
        largest: dict[str, float] = {}
        for pair, compared in zip(self.pairs, self.compared(program), strict=True):
            for name, gap in compared or ():
                largest[name] = max(largest.get(name, 0.0), gap.ratio)
            bad = next((gap for _, gap in compared or () if not gap.holds), None)
            if compared is None or bad is not None:
                broken.append((pair, bad))
        cells = [
            Cell(aggregate=name, unit=unit, limits=limits, keys=keys, cases=len(self.pairs), largest=ratio)
            for name, ratio in sorted(largest.items())
        ]
        broken.sort(key=lambda found: found[0].size)
        violations = tuple(
            self._violation(sql, norm, pair, gap, small=i < self.shrunk) for i, (pair, gap) in enumerate(broken)
        )
        return Replay(cases=len(self.pairs), refused=0, cells=merged(cells), violations=violations)

    def program(self, sql: str, norm: Literal[1, 2]) -> Program | None:
        """The plan of a question about these tables; None where it is refused."""
        query = accepted(sql, self.schema)
        if query is None or self._elsewhere(query):
            return None
        try:
            return climbing(query, self.schema, norm)
        except (QueryError, RefusalError):
            return None

    def _elsewhere(self, query: Query) -> bool:
        """Whether a question reads another private table: a smaller question may need fewer, not others."""
        return any(not table.public and table.name not in self.storage for table in query.rows.tables.values())

    def compared(self, program: Program) -> list[list[tuple[str, Gap]] | None]:
        """For each pair every comparison, after what it is of; None where the engine failed on one of its worlds.

        Where limits are chosen, that of the choice, and those of the question at every rung.
        """
        found: list[list[tuple[str, Gap]] | None] = [[] for _ in self.pairs]
        climb = program.climb
        asked = [(0, program)]
        if climb is not None:
            asked = [(0, climb.choice), *zip(climb.rungs, climb.programs, strict=True)]
        for rung, each in asked:
            for place, worlds in enumerate(self.exacts(each)):
                known = found[place]
                if worlds is None or known is None:
                    found[place] = None
                elif climb is not None and each is climb.choice:
                    known.append((CHOICE, choice(each, *worlds)))
                else:
                    named = itertools.chain(labels(each), itertools.repeat("votes"))
                    known += zip(named, gaps(each, *worlds, f" at rung {rung}" if rung else ""), strict=False)
        return found

    def exacts(self, program: Program) -> list[tuple[Result, Result] | None]:
        """What both worlds of each pair give; None where the engine failed on one of them."""
        if self._worlds is not None:
            try:
                return _paired(self._worlds.run(program))
            except UnavailableError:
                # One world at a time, to find the one on which the engine fails.
                return [self._plain(program, pair) for pair in self.pairs]
        return [self._plain(program, pair) for pair in self.pairs]

    def _plain(self, program: Program, pair: Pair) -> tuple[Result, Result] | None:
        try:
            first, second = (alone(self.schema, self.storage, world, program) for world in self._both(pair))
        except UnavailableError:
            return None
        return first, second

    def _gather(self, pairs: Sequence[Pair]) -> Worlds:
        return Worlds(self.schema, self.storage, [world for pair in pairs for world in self._both(pair)])

    def _both(self, pair: Pair) -> list[World]:
        rows = {name: pair.rows(name) for name in self.storage}
        return [{name: both[side] for name, both in rows.items()} for side in (0, 1)]

    def _violation(self, sql: str, norm: Literal[1, 2], pair: Pair, gap: Gap | None, *, small: bool) -> Violation:
        part = "engine" if gap is None else gap.part
        if small:
            sql, pair, gap = self._shrunk(sql, norm, pair, gap)
        return Violation(
            sql=sql,
            norm=norm,
            unit=unit_words(self.schema),
            limits="" if (program := self.program(sql, norm)) is None else limit_words(program),
            part=part if gap is None else gap.part,
            gap=gap,
            columns={name: tuple(each.name for each in self.schema.tables[name].columns) for name in self.storage},
            pair=pair,
        )

    def _shrunk(self, sql: str, norm: Literal[1, 2], pair: Pair, gap: Gap | None) -> tuple[str, Pair, Gap | None]:
        kind = None if gap is None else _kind(gap)

        def worst(text: str, pairs: Sequence[Pair]) -> list[Gap | Literal[False] | None]:
            """For each pair the violation of the same kind, None for an engine that fails, False where it holds."""
            program = self.program(text, norm)
            if program is None:
                return [False] * len(pairs)
            scene = _Scene(self.schema, self.storage, pairs, self.batched)
            try:
                return [_worst(compared, kind) for compared in scene.compared(program)]
            finally:
                scene.close()

        def test(text: str, pairs: Sequence[Pair]) -> list[bool]:
            return [each is not False and (each is None) == (gap is None) for each in worst(text, pairs)]

        sql, pair = shrink(sql, pair, {name: owning(self.schema, name) for name in self.storage}, test)
        last = worst(sql, [pair])[0]
        return sql, pair, gap if last is False or last is None else last


def owning(schema: Schema, table: str) -> tuple[int, ...]:
    """The places of the columns that say whose a row is, in its own table or through another."""
    links = [each.link.on for each in schema.tables.values() if each.link is not None]
    names = {name.lower() for name in (*schema.unit.columns, *links)}
    return tuple(i for i, column in enumerate(schema.tables[table].columns) if column.name.lower() in names)


def _paired(exacts: Sequence[Result]) -> list[tuple[Result, Result] | None]:
    return [(exacts[i], exacts[i + 1]) for i in range(0, len(exacts), 2)]


def _kind(gap: Gap) -> str:
    """Of a measure, of the choice of limits, or of votes and their keys."""
    return next((kind for kind in ("measure", "choice") if gap.part.startswith(kind)), "votes")


def _worst(compared: list[tuple[str, Gap]] | None, kind: str | None) -> Gap | Literal[False] | None:
    if compared is None:
        return None
    return next((gap for _, gap in compared if not gap.holds and kind in (None, _kind(gap))), False)
