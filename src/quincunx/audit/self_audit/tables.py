"""Questions in the catalogue: planned, priced and computed as a session does it, then noised many times over.

The engine computes the exact integers of each dataset once. Copies of them go through the noise and the selection of
keys together: every copy gets its own draws, as if the question had been asked of that many datasets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.audit.self_audit.entry import Entry
from quincunx.mechanisms import Draw, stated
from quincunx.numbers import Number
from quincunx.release.pricing import Priced, price
from quincunx.spec import ZCDP, AddRemove, Approximate, Budgeted, Pure, Replace
from quincunx.table import DuckDB, Result, Table, evaluate
from quincunx.table import planned as plan
from quincunx.table import schema_of as schema
from quincunx.table import sql as reader

ROOM: Final = "tables"
# person, region, amount
Row: TypeAlias = tuple[int, str, int]
_COLUMNS: Final[Mapping[str, Mapping[str, object]]] = {
    "region": {"keys": ["a", "b"]},
    "amount": {"bounds": (-5, 10)},
}
_OTHERS: Final[tuple[Row, ...]] = ((1, "a", 3), (2, "b", 0), (3, "b", -5))
_LOW: Final = "Keys are selected by whole votes, and the share of ε that the selection has is not used up."


def entries() -> Iterator[Entry]:
    """Every aggregate, public and unknown keys, both units, pure and zero-concentrated."""
    person, other = AddRemove(key="person"), Replace(key="person")
    two, one = {"rows": 2}, {"rows": 1}
    twice = ((9, "a", 10), (9, "a", 10))
    counted = "COUNT(*) AS n"
    yield _entry("a count", f"SELECT {counted} FROM t", Pure(), person, two, (_OTHERS, (*_OTHERS, *twice)))
    yield _entry("a sum", "SELECT SUM(amount) AS s FROM t", Pure(), person, two, (_OTHERS, (*_OTHERS, *twice)))
    # Two measures: the centred sum and the number of rows.
    mean = "SELECT AVG(amount) AS m FROM t"
    yield _entry("a mean", mean, Pure(), person, one, (_OTHERS, (*_OTHERS, (9, "a", 10))))
    people = "SELECT COUNT(DISTINCT person) AS p FROM t"
    yield _entry("a number of people", people, Pure(), person, one, (_OTHERS, (*_OTHERS, (9, "a", 10))))
    grouped = f"SELECT region, {counted} FROM t GROUP BY region"
    moved = ((*_OTHERS, (9, "a", 10)), (*_OTHERS, (9, "b", 10)))
    yield _entry("counts, replace", grouped, Pure(), other, one, moved)
    yield _entry("a mean, zCDP", mean, ZCDP(), person, one, (_OTHERS, (*_OTHERS, (9, "a", 10))))
    yield _entry("counts, replace, zCDP", grouped, ZCDP(), other, one, moved)
    unknown = "SELECT amount, COUNT(*) AS n FROM t GROUP BY amount"
    alone = (_OTHERS, (*_OTHERS, (9, "a", 10)))
    limits = {"rows": 1, "groups": 1}
    shown: tuple[int, ...] = (10,)
    delta = Approximate(Fraction("0.01"))
    yield _entry("unknown keys, one each", unknown, delta, person, limits, alone, shown=shown, delta="0.01")
    several = (_OTHERS, (*_OTHERS, (9, "a", 10), (9, "a", 7)))
    limits = {"rows": 2, "groups": 2}
    yield _entry("unknown keys, two each", unknown, delta, person, limits, several, shown=(7, 10), delta="0.01")
    # Enough people behind two keys to be shown about half of the time.
    crowd = tuple((20 + i, "a", amount) for amount in (4, 5) for i in range(amount - 4, 20, 2))
    both = (crowd, (*crowd, (9, "a", 4), (9, "a", 5)))
    yield _entry("unknown keys, old ones", unknown, delta, person, limits, both, shown=(4, 5), delta="0.01")


def _entry(
    rest: str,
    text: str,
    standard: Budgeted,
    unit: AddRemove | Replace,
    limits: Mapping[str, object],
    pair: tuple[tuple[Row, ...], tuple[Row, ...]],
    *,
    shown: tuple[int, ...] | None = None,
    delta: str = "0",
) -> Entry:
    concentrated, keys = standard.symbol == "ρ", shown is not None
    parameter = "rho" if concentrated else "epsilon"
    what = "a person with another region" if unit.keeps_number else "a person with all their rows, or without"
    why = _LOW if keys else "ρ is a supremum over all orders α, which one event does not reach." if concentrated else ""
    return Entry(
        name=f"table, {rest}",
        room=ROOM,
        pair=pair,
        words=what,
        # (ε, δ) as a whole curve, so that the bound is of δ where δ is at work.
        stated=partial(stated, Fraction(1), Fraction(delta)) if keys else f"{parameter}=1",
        tight=not why,
        draw=asked(text, standard, unit, limits, shown=shown, delta=delta),
        why=why,
    )


def asked(
    text: str,
    standard: Budgeted,
    unit: AddRemove | Replace,
    limits: Mapping[str, object],
    *,
    spend: Number = 1,
    shown: tuple[int, ...] | None = None,
    delta: Number = "0",
) -> Draw:
    """The noisy integers of a question about table t, one line for each copy of the dataset, in the order of the keys.

    shown: where keys are unknown, the keys whose fate is looked at; each then has a column that says whether it was
    shown, before its numbers, which are 0 if it was not.
    """

    @cache
    def computed(rows: tuple[Row, ...]) -> tuple[Priced, Result]:
        # With bounds the amounts would be public keys.
        columns = {name: each for name, each in _COLUMNS.items() if shown is None or name != "amount"}
        table = Table(relation(rows), limits=limits, columns=columns)
        declared = schema({"t": table}, unit)
        program = plan(reader.read(text, declared, evaluate), declared, standard.norm)
        priced = price(program, standard, spend, Fraction(str(delta)))
        with DuckDB({"t": table}, declared) as engine:
            return priced, engine.run(program)

    def draw(rows: tuple[Row, ...], size: int) -> NDArray[Any]:
        priced, exact = computed(rows)
        groups = len(exact.keys)
        # Exact results, many times over: what an engine would give for that many groups.
        copies = Result(
            keys=[(place,) for place in range(size * groups)],
            measures=tuple(np.tile(numbers, size) for numbers in exact.measures),
            selection=None if exact.selection is None else np.tile(exact.selection, size),
        )
        noisy = priced.draw(copies)
        if shown is None:
            return np.concatenate([numbers.reshape(size, groups) for numbers in noisy.measures], axis=1)
        kept = np.array([key[0] for key in noisy.keys], dtype=np.int64)
        places = [key[0] for key in exact.keys]
        return _fates(
            kept, noisy.measures, size, groups, [places.index(key) if key in places else None for key in shown]
        )

    return draw


def _fates(
    kept: NDArray[np.int64],
    measures: Sequence[NDArray[np.int64]],
    size: int,
    groups: int,
    columns: Sequence[int | None],
) -> NDArray[np.int64]:
    whole = np.zeros((size * groups, 1 + len(measures)), dtype=np.int64)
    if kept.size:
        whole[kept] = np.stack([np.ones_like(kept), *measures], axis=1)
    lines = whole.reshape(size, groups, 1 + len(measures))
    absent = np.zeros((size, 1 + len(measures)), dtype=np.int64)
    return np.concatenate([absent if place is None else lines[:, place] for place in columns], axis=1)


def relation(rows: Sequence[Row]) -> Any:
    """The rows as a DuckDB relation, which needs no other library."""
    import duckdb

    values = ", ".join(f"({person}, '{region}', {amount})" for person, region, amount in rows)
    return duckdb.connect().sql(f"SELECT * FROM (VALUES {values}) AS t(person, region, amount)")
