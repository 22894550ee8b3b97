"""Tables full of awkward values, in types that every engine has. The values depend on a seed alone."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

Row = dict[str, Any]

REGIONS: Final = ("north", "süd", "東", "o'brien", "e\u0301")
CODES: Final = (
    "", " ", "a", "A", "ab", "aB ", "  b", "ß", "İ", "ﬁ", "é", "e\u0301", "Å", "東京", "💥", "a\\b", "10%", "a_b", "%",
    "12", " +7 ", "-3", "2.5", "1e3", "1_000", "0x10", "9" * 37, "9" * 38, "1e150", "1e151", "-1e-150", "nan", "inf",
    ".5", "5.", "true", "F", "yes", "1", "0", "2024-02-29", "2023-02-29", "2000-02-30", "1900-02-29", "0001-01-01",
    "0000-01-01", "9999-12-31", "10000-01-01", "2024-02-29 23:59:59.5", "2024-02-29T10:11", "2024-02-29 24:00",
    "\u00a0x\u2003", "\tx\n", "٣", "infinity", "epoch", "now",
)  # fmt: skip
DECIMALS: Final = (
    math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -5e-324, 1e-151, 2.0**-500, 2.0**500, 2.0**501, -0.0, 0.0,
    0.1, 0.29, -2.5, 2.5, 12.345, 1e15 + 0.3, 2.0**52 + 1, 0.49999999999999994, -1e-160, 3.0,
)  # fmt: skip
INTEGERS: Final = (0, 1, -1, 2, 7, -7, 10**6, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 3)
DAYS: Final = (
    date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29), date(2023, 12, 31),
    date(2021, 1, 3), date(1900, 2, 28), date(1582, 10, 10),
)  # fmt: skip
MOMENTS: Final = (
    datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(2024, 2, 29, 12, 34, 56, 789012), datetime(2021, 1, 3, 0, 0), datetime(1970, 1, 1, 0, 0, 0, 1),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """A table. types: name → one of the words of dialect.md, or CHAR(n). columns: what is declared of them."""

    types: Mapping[str, str]
    rows: list[Row]
    columns: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    public: bool = False


VISITS: Final = {
    "person": "BIGINT", "region": "VARCHAR", "code": "VARCHAR", "pad": "CHAR(6)", "age": "BIGINT", "wide": "BIGINT",
    "big": "DECIMAL(38,0)", "cost": "DOUBLE", "raw": "DOUBLE", "price": "DECIMAL(12,3)", "day": "DATE",
    "moment": "TIMESTAMP", "flag": "BOOLEAN",
}  # fmt: skip
DECLARED: Final[Mapping[str, Mapping[str, object]]] = {
    "region": {"keys": [*REGIONS, None]},
    "age": {"bounds": (0, 110)},
    "cost": {"bounds": ("-7.77", "50.05"), "step": "0.1"},
    "price": {"bounds": ("0.0005", "99.9995"), "step": "0.25"},
    "big": {"type": "integer", "bounds": (-(2**100), 2**100), "step": 2**60},
    "flag": {"keys": [True, False]},
    "raw": {"type": "decimal"},
}
LIMITS: Final = {"rows": 6, "groups": 4, "per_group": 3, "joined": 60}


def tables(seed: int = 0, people: int = 14) -> dict[str, Data]:
    """Visits and persons are private, regions public."""
    source = random.Random(seed)
    visits = [_visit(source, person) for person in range(people) for _ in range(source.choice((1, 2, 3, 25)))]
    persons = [
        {
            "person": person if source.random() > 0.1 else None,
            "town": source.choice((None, *CODES[:20])),
            "weight": source.choice((None, *DECIMALS)),
            "since": source.choice((None, *DAYS)),
        }
        for person in range(people)
        for _ in range(source.choice((1, 1, 2)))
    ]
    regions: list[Row] = [{"region": each, "level": i} for i, each in enumerate(REGIONS)]
    return {
        "visits": Data(types=VISITS, rows=visits, columns=DECLARED, limits=LIMITS),
        "persons": Data(
            types={"person": "BIGINT", "town": "VARCHAR", "weight": "DOUBLE", "since": "DATE"},
            rows=persons,
            columns={"weight": {"bounds": (0, 200), "step": "0.5"}},
            limits={"rows": 2, "groups": 2},
        ),
        "regions": Data(types={"region": "VARCHAR", "level": "BIGINT"}, rows=regions, public=True),
    }


def empty() -> dict[str, Data]:
    """The same tables without a private row."""
    return {
        name: each if each.public else Data(types=each.types, rows=[], columns=each.columns, limits=each.limits)
        for name, each in tables().items()
    }


def _visit(source: random.Random, person: int) -> Row:
    prices = (None, "0.000", "0.125", "0.124", "0.126", "99.999", "123456789.999", "-123456789.999", "0.375")
    bigs = (None, 0, 2**53 + 1, 2**100, -(2**100), 2**100 + 1, 10**38 - 1, 2**59, 2**59 - 1, -(2**59), 3 * 2**60)
    price, big = source.choice(prices), source.choice(bigs)
    return {
        "person": person if source.random() > 0.05 else None,
        "region": source.choice((*REGIONS, None, "elsewhere", "North")),
        "code": source.choice((None, *CODES)),
        "pad": source.choice((None, "", "ab", "a b", "abcdef")),
        "age": source.choice((None, -5, 0, 20, 21, 49, 50, 110, 111, 2**62)),
        "wide": source.choice((None, *INTEGERS)),
        "big": None if big is None else Decimal(big),
        "cost": source.choice((None, *DECIMALS)),
        "raw": source.choice((None, *DECIMALS)),
        "price": None if price is None else Decimal(price),
        "day": source.choice((None, *DAYS)),
        "moment": source.choice((None, *MOMENTS)),
        "flag": source.choice((None, True, False)),
    }


# Every pair of values of one column, and of two, of each type: the numbers of values are prime, or nearly so.
NASTY: Final = {
    "i": "BIGINT", "j": "BIGINT", "d": "DOUBLE", "e": "DOUBLE", "s": "VARCHAR", "u": "VARCHAR", "t": "DATE",
    "m": "TIMESTAMP", "b": "BOOLEAN",
}  # fmt: skip


def nasty() -> Data:
    """One table in which every pair of awkward values of every two columns stands, but for texts with themselves."""
    pools: dict[str, tuple[Any, ...]] = {
        "i": (None, *INTEGERS),
        "d": (None, *DECIMALS[:22]),
        "s": (None, *CODES),
        "t": (None, *DAYS),
        "m": (None, *MOMENTS),
        "b": (None, True, False),
    }
    second = {"j": "i", "e": "d", "u": "s"}
    rows = []
    for n in range(1300):
        row = {"n": n, **{name: pool[n % len(pool)] for name, pool in pools.items()}}
        row |= {name: pools[of][n // len(pools[of]) % len(pools[of])] for name, of in second.items()}
        rows.append(row)
    return Data(types={"n": "BIGINT", **NASTY}, rows=rows)
