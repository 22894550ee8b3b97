"""Whole sessions in the catalogue: SQL in, published numbers out, a ledger in between.

A question about ten thousand regions of three or four people each gives ten thousand independent published numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.audit.self_audit.entry import Entry
from quincunx.loss import Loss
from quincunx.mechanisms import Draw, stated
from quincunx.release import Session
from quincunx.spec import ZCDP, AddRemove, Approximate, Budgeted, Pure
from quincunx.table import Table

ROOM: Final = "sessions"
_COPIES: Final = 10_000
_SLOW: Final = "Each session plans, pays, computes, stores and publishes: fewer draws."
_ROUNDED: Final = f"Published numbers are rounded, which hides a part of the noise's lattice. {_SLOW}"


def entries() -> Iterator[Entry]:
    """Counts and sums under pure privacy, a mean under zCDP, and keys that nobody listed."""
    totals = "SELECT region, COUNT(*) AS n, SUM(amount) AS s FROM t GROUP BY region"
    mean = "SELECT region, AVG(amount) AS m FROM t GROUP BY region"
    count = "SELECT region, COUNT(*) AS n FROM t GROUP BY region"
    people = "regions of three people, or of four"
    new = "regions of nobody, or of one person"
    yield _entry("a count and a sum", (3, 4), people, "epsilon=1", published(totals, Pure(), ("n", "s")))
    yield _entry("a mean, zCDP", (3, 4), people, "rho=1", published(mean, ZCDP(), ("m",)))
    limited = Approximate(Fraction("0.01"))
    draw = published(count, limited, ("n",), delta="0.01")
    yield _entry("unknown regions", (0, 1), new, partial(stated, Fraction(1), Fraction("0.01")), draw)


def _entry(rest: str, pair: tuple[int, int], words: str, claim: str | Callable[[], Loss], draw: Draw) -> Entry:
    return Entry(
        name=f"Session.sql, {rest}",
        room=ROOM,
        pair=pair,
        words=words,
        stated=claim,
        tight=False,
        draw=draw,
        share=Fraction(1, 10),
        why=_ROUNDED,
    )


def published(text: str, standard: Budgeted, outputs: tuple[str, ...], *, delta: str | None = None) -> Draw:
    """The published numbers of a question, one line for each region; with `delta` the regions are unknown, and a first
    column says whether the region was shown."""

    def draw(people: int, size: int) -> NDArray[Any]:
        parts = [_session(people, min(_COPIES, size - start)) for start in range(0, size, _COPIES)]
        return np.concatenate(parts)

    def _session(people: int, copies: int) -> NDArray[Any]:
        columns: dict[str, Mapping[str, object]] = {"amount": {"bounds": (0, 10)}}
        if delta is None:
            columns["region"] = {"keys": list(range(copies))}
        limits = {"rows": 1} if delta is None else {"rows": 1, "groups": 1}
        with Session(
            dataset="audit",
            version="1",
            ledger=":memory:",
            tables={"t": Table(relation(people, copies), limits=limits, columns=columns)},
            unit=AddRemove(key="person"),
            standard=standard,
            intensity=1,
        ) as session:
            answer = session.sql(text, spend=1, delta=delta)
            found = np.array([answer[name] for name in outputs], dtype=np.float64).T
            if delta is None:
                return found
            lines = np.zeros((copies, 1 + len(outputs)))
            lines[np.array(answer["region"], dtype=np.int64)] = np.concatenate(
                [np.ones((len(found), 1)), found], axis=1
            )
            return lines

    return draw


def relation(people: int, copies: int) -> Any:
    """`copies` regions of `people` people each, of whom the last has the largest amount."""
    import duckdb

    amounts = "CASE WHEN j = 3 THEN 10 ELSE j END"
    return duckdb.connect().sql(
        f"SELECT i * 8 + j AS person, i AS region, {amounts} AS amount FROM range({copies}) a(i), range({people}) b(j)"
    )
