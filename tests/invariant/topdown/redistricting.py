"""The configuration of the 2020 redistricting file, persons: published with the code of the production run."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from quincunx.invariant.topdown import TopDown
from quincunx.invariant.topdown.geography import Geography
from quincunx.spec.unit import Replace

RHO = Fraction(542, 339) ** 2
LEVELS = {"us": 104, "state": 1440, "county": 447, "tract": 687, "group": 1256, "block": 165}
QUERIES = (
    "total",
    "cenrace",
    "hispanic",
    "votingage",
    "hhinst",
    "hhgq",
    "hispanic*cenrace",
    "votingage*cenrace",
    "votingage*hispanic",
    "votingage*hispanic*cenrace",
    "detailed",
)
# Each level's shares over one denominator, in the order of QUERIES.
PARTS = {
    "us": (4097, (0, 52, 26, 26, 26, 26, 130, 130, 26, 442, 3213)),
    "state": (4097, (3773, 6, 6, 6, 6, 6, 12, 12, 6, 34, 230)),
    "county": (4097, (3126, 10, 10, 10, 10, 10, 28, 28, 10, 101, 754)),
    "tract": (4102, (1567, 8, 5, 5, 5, 5, 1933, 20, 5, 67, 482)),
    "group": (4099, (1705, 3, 3, 3, 3, 3, 1055, 9, 3, 24, 1288)),
    "block": (4097, (5, 9, 5, 5, 5, 5, 21, 21, 5, 71, 3945)),
}
QUARTERS = ("household", "prison", "juvenile", "nursing", "institution", "college", "military", "other")


def shares() -> dict[str, dict[str, Fraction]]:
    return {
        level: {
            "share": Fraction(LEVELS[level], 4099),
            **{query: Fraction(part, whole) for query, part in zip(QUERIES, parts, strict=True) if part},
        }
        for level, (whole, parts) in PARTS.items()
    }


def planned(geography: Geography | None = None, source: np.ndarray | None = None, **changes: object) -> TopDown:
    """The configuration on one block, or on a geography of one's own."""
    places = geography or Geography.of([("us", "s", "c", "t", "g", "b")], list(LEVELS), "geocode")
    given = {
        "dataset": "redistricting",
        "version": "1",
        "ledger": ":memory:",
        "source": np.zeros((1, 2016), dtype=np.int64) if source is None else source,
        "geography": places,
        "attributes": {
            "hhgq": QUARTERS,
            "votingage": ["0", "1"],
            "hispanic": ["0", "1"],
            "cenrace": [f"{i:02d}" for i in range(63)],
        },
        "recodes": {"hhinst": {"attribute": "hhgq", "groups": [QUARTERS[:1], QUARTERS[1:5], QUARTERS[5:]]}},
        "zeros": [{"hhgq": "nursing", "votingage": "0"}],
        "shares": shares(),
        "rho": RHO,
        "unit": Replace(),
    }
    return TopDown(**{**given, **changes})
