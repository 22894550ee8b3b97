"""Rhode Island 2010 by block, sixteen cells, with the published shares of the 2020 redistricting file."""

from __future__ import annotations

import csv
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np

from quincunx.invariant.topdown import TopDown
from quincunx.invariant.topdown.geography import Geography, read_geography
from quincunx.spec.unit import Replace

RACES = ("white", "black", "hisp", "aian", "asian", "nhpi", "other", "two")
LEVELS = ("state", "county", "tract", "group", "block")
QUERIES = ("total", "votingage", "race", "detailed")
# The published queries on race and ethnicity together are `race` here, and the rest is `detailed`.
SHARES = {
    "state": ("1440/3995", 4097, (3773, 6, 24, 294)),
    "county": ("447/3995", 4097, (3126, 10, 48, 913)),
    "tract": ("687/3995", 4102, (1567, 5, 1946, 584)),
    "group": ("1256/3995", 4099, (1705, 3, 1061, 1330)),
    "block": ("165/3995", 4097, (5, 5, 35, 4052)),
}


@cache
def world(file: Path) -> tuple[Geography, np.ndarray]:
    """The geography and the blocks' tables."""
    levels = {"column": "GEOID", "prefix": [2, 5, 11, 12, 15], "names": list(LEVELS)}
    geography = read_geography(file, levels)
    with file.open(encoding="utf-8") as stream:
        rows = {row["GEOID"]: row for row in csv.DictReader(stream)}
    table = np.zeros((geography.nodes(4), 2, len(RACES)), dtype=np.int64)
    for place, code in enumerate(geography.codes[4]):
        for number, race in enumerate(RACES):
            adults, everyone = int(rows[code][f"vap_{race}"]), int(rows[code][f"pop_{race}"])
            table[place, :, number] = everyone - adults, adults
    return geography, table.reshape(-1, 16)


def planned(file: Path, **changes: object) -> TopDown:
    """ρ = 2.56 with noise as published: the state's total is an invariant, and its share is dropped."""
    geography, table = world(file)
    given = {
        "dataset": "rhode island",
        "version": "1",
        "ledger": ":memory:",
        "source": table,
        "geography": geography,
        "attributes": {"votingage": ["0", "1"], "race": RACES},
        "shares": {
            level: {"share": share, **{q: Fraction(n, whole) for q, n in zip(QUERIES, parts, strict=True)}}
            for level, (share, whole, parts) in SHARES.items()
        },
        "rho": "64/25",
        "unit": Replace(),
        "invariants": [("state", "total")],
        "freed": "dropped",
    }
    return TopDown(**{**given, **changes})
