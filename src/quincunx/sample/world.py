"""People who do not exist: persons in households in blocks in counties, and their visits to a hospital.

Everything is drawn from one fixed stream, so every sample of one size is the same. None of it is private.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import ParameterError
from quincunx.numbers import Number, positive_integer
from quincunx.sample.encounters import encounters, households, treatments

Columns: TypeAlias = Mapping[str, NDArray[Any]]

# county → (region, share of the people in thousandths)
_COUNTIES: Final = {
    "Aldermoor": ("north", 190),
    "Birchfell": ("north", 95),
    "Corriedale": ("west", 140),
    "Dunmarsh": ("west", 70),
    "Eastholt": ("south", 230),
    "Fennimere": ("south", 155),
    "Garrowby": ("coast", 85),
    "Hythe": ("coast", 35),
}
# department → (share of visits in thousandths, typical cost, ages from and to, how much the share grows with age)
_DEPARTMENTS: Final = {
    "emergency": (260, 420.0, (0, 120), 0.2),
    "surgery": (120, 1900.0, (0, 120), 0.8),
    "cardiology": (90, 780.0, (30, 120), 2.5),
    "oncology": (60, 1500.0, (20, 120), 2.0),
    "paediatrics": (500, 210.0, (0, 17), 0.0),
    "maternity": (110, 950.0, (18, 45), 0.0),
    "outpatient": (200, 130.0, (0, 120), 0.4),
}
_SIZES: Final = ((1, 0.30), (2, 0.33), (3, 0.15), (4, 0.14), (5, 0.05), (6, 0.03))
_DAYS: Final = 366
_LEAST, _MOST = 100, 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The sample's tables, as columns. `regions` is public; `treatments` lead to people through `encounters`, and
    `households` through `persons`.
    """

    persons: Columns
    visits: Columns
    regions: Columns
    households: Columns
    encounters: Columns
    treatments: Columns


def world(people: Number = 12_000) -> World:
    """A world of so many people, from 100 to 5,000,000. About four visits each in the year 2024, up to 200."""
    count = positive_integer(people, "people")
    if not _LEAST <= count <= _MOST:
        raise ParameterError(f"must be from {_LEAST} to {_MOST:,}", where="people", got=str(count))
    draw = np.random.default_rng(1875)
    persons = _persons(draw, count)
    visits = _visits(draw, persons)
    homes, met = households(draw, persons), encounters(draw, persons)
    return World(
        persons=persons,
        visits=visits,
        regions=_regions(),
        households=homes,
        encounters=met,
        treatments=treatments(draw, met),
    )


def _persons(draw: np.random.Generator, count: int) -> dict[str, NDArray[Any]]:
    sizes = draw.choice([size for size, _ in _SIZES], p=[share for _, share in _SIZES], size=count)
    household = np.repeat(np.arange(count), sizes)[:count]
    homes = int(household[-1]) + 1
    shares = np.array([share for _, share in _COUNTIES.values()]) / 1000
    county = draw.choice(len(_COUNTIES), p=shares, size=homes)
    # About forty homes to a block; blocks are numbered inside their county.
    blocks = np.maximum(1, np.bincount(county, minlength=len(_COUNTIES)) // 40)
    block = (draw.random(homes) * blocks[county]).astype(np.int64) + 1
    first = np.concatenate([[True], household[1:] != household[:-1]])
    adult = first | (draw.random(count) < 0.55)
    age = np.where(adult, 18 + np.minimum(draw.gamma(4.0, 9.0, count), 84), draw.integers(0, 18, count))
    names = np.array(list(_COUNTIES), dtype=object)
    return {
        # A number that says nothing: a permutation, so that neighbours in the file are not neighbours in the street.
        "person_id": draw.permutation(count) + 1_000_001,
        "household_id": household + 1,
        "county": names[county[household]],
        "block": np.char.add("B", np.char.zfill(block[household].astype(str), 3)).astype(object),
        "age": age.astype(np.int64),
        "sex": np.array(["female", "male"], dtype=object)[draw.integers(0, 2, count)],
        "voting_age": age >= 18,
    }


def _visits(draw: np.random.Generator, persons: Columns) -> dict[str, NDArray[Any]]:
    people = persons["person_id"].size
    # A few people come very often: this is what limits are for.
    often = np.minimum(draw.poisson(1.2 + persons["age"] / 40 + draw.pareto(2.5, people)), 200)
    who = np.repeat(np.arange(people), often)
    rows = who.size
    age = persons["age"][who]
    years = np.arange(121)
    weights = np.array(
        [
            np.where((low <= years) & (years <= high), share * (1 + slope * years / 100), 0.0)
            for share, _, (low, high), slope in _DEPARTMENTS.values()
        ]
    )
    edges = np.cumsum(weights / weights.sum(axis=0), axis=0)
    department = (draw.random(rows) > edges[:-1, age]).sum(axis=0)
    typical = np.array([cost for _, cost, _, _ in _DEPARTMENTS.values()])[department]
    cost = np.round(np.minimum(typical * draw.lognormal(-0.3, 0.8, rows), 20_000), 2)
    # Bills that are still open have no cost yet.
    cost[draw.random(rows) < 0.02] = np.nan
    minutes = draw.integers(0, _DAYS * 24 * 60, rows)
    order = np.argsort(minutes, kind="stable")
    regions = np.array([region for region, _ in _COUNTIES.values()], dtype=object)
    counties = {name: place for place, name in enumerate(_COUNTIES)}
    home = np.array([counties[name] for name in persons["county"].tolist()])
    return {
        "person_id": persons["person_id"][who][order],
        "visited_at": (np.datetime64("2024-01-01T00:00") + minutes[order].astype("timedelta64[m]")).astype(
            "datetime64[us]"
        ),
        "region": regions[home[who]][order],
        "department": np.array(list(_DEPARTMENTS), dtype=object)[department][order],
        "age": age[order],
        "cost": cost[order],
    }


def _regions() -> dict[str, NDArray[Any]]:
    names = list(dict.fromkeys(region for region, _ in _COUNTIES.values()))
    hospitals = {"north": 3, "west": 2, "south": 5, "coast": 1}
    return {
        "region": np.array(names, dtype=object),
        "hospitals": np.array([hospitals[name] for name in names], dtype=np.int64),
    }
