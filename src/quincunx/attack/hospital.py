"""The hospital's table as counts, exactly or through a session, and what it tells about one patient's diagnosis."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.attack.town import DIAGNOSES, TODAY, ZIPS, Town, general_shares

SEXES: Final = ("F", "M")
YEARS: Final = tuple(range(TODAY.year - 101, TODAY.year))
_QUESTION: Final = "SELECT zip, sex, year, diagnosis, COUNT(*) AS n FROM patients GROUP BY zip, sex, year, diagnosis"
# How much the attacker believes a cell against what is general at that age; the last is that alone.
_TRUST: Final = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 1e12)
Counts = NDArray[np.float64]


def codes(people: Town, who: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(zip, sex, year, diagnosis) of the chosen people as places in the table of counts, one row for each."""
    keys = (tuple(ZIPS), SEXES, YEARS, tuple(DIAGNOSES))
    columns = (people.zip, people.sex, people.year, people.diagnosis)
    places = [{key: i for i, key in enumerate(known)} for known in keys]
    return np.array(
        [[place[value] for value in column[who].tolist()] for place, column in zip(places, columns, strict=True)]
    ).T


def exact_counts(places: NDArray[np.int64]) -> Counts:
    """The number of patients by zip code, sex, year of birth and diagnosis."""
    counts = np.zeros((len(ZIPS), len(SEXES), len(YEARS), len(DIAGNOSES)))
    np.add.at(counts, tuple(places.T), 1)
    return counts


def released_counts(people: Town, epsilons: tuple[Fraction, ...]) -> Iterator[Counts]:
    """The same table from real sessions, one at each ε (pure, add/remove, ledger in memory)."""
    import duckdb

    from quincunx.release import Session
    from quincunx.spec import standard, unit
    from quincunx.table import Table

    who = people.patient
    connection = duckdb.connect(":memory:")
    handed: dict[str, Any] = {
        "person": np.flatnonzero(who),
        "zip": people.zip[who],
        "sex": people.sex[who],
        "year": people.year[who],
        "diagnosis": people.diagnosis[who],
    }
    connection.register("handed", handed)
    connection.execute("CREATE TABLE patients AS SELECT * FROM handed")
    keys: dict[str, list[Any]] = {
        "zip": list(ZIPS),
        "sex": list(SEXES),
        "year": list(YEARS),
        "diagnosis": list(DIAGNOSES),
    }
    columns = {name: {"keys": values} for name, values in keys.items()}
    order = {key: i for i, key in enumerate(product(*keys.values()))}
    shape = tuple(len(values) for values in keys.values())
    for epsilon in epsilons:
        with Session(
            dataset="hospital",
            version="1",
            ledger=":memory:",
            tables={"patients": Table(connection.table("patients"), limits={"rows": 1}, columns=columns)},
            unit=unit.AddRemove(key="person"),
            standard=standard.Pure(),
            intensity=epsilon,
        ) as session:
            answer = session.sql(_QUESTION, spend=epsilon)
        counts = np.zeros(len(order))
        for *key, n in zip(*(answer[name] for name in (*keys, "n")), strict=True):
            counts[order[tuple(key)]] = n
        yield counts.reshape(shape)


def guessed(counts: Counts, places: NDArray[np.int64]) -> tuple[float, float]:
    """How often the best guess is right: with the people's own records in the table, and had each stayed away.

    The attacker knows zip code, sex and year of birth, and how diagnoses go with age in general. The guess is the
    diagnosis with the largest n + t·s, n its count in the cell and s its share at that age. Of all t the one that
    serves the attacker best is taken.
    """
    zips, sexes, years, truth = places.T
    cell = counts[zips, sexes, years]
    shares = general_shares(TODAY.year - np.array(YEARS, dtype=np.float64)[years])
    own = np.zeros_like(cell)
    own[np.arange(len(truth)), truth] = 1

    def right(trust: float, seen: Counts) -> float:
        return float(((seen + trust * shares).argmax(axis=1) == truth).mean())

    return max((right(trust, cell), right(trust, cell - own)) for trust in _TRUST)


def by_age(years: NDArray[np.int64]) -> NDArray[Any]:
    """The diagnosis that is commonest in general at the age of those born in these years."""
    chosen = general_shares((TODAY.year - years).astype(np.float64)).argmax(axis=1)
    return np.asarray(np.array(list(DIAGNOSES), dtype=object)[chosen])
