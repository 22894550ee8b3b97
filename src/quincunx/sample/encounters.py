"""What a hospital and a register keep besides visits: homes, and encounters of one person or two with treatments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# treatment → (share in thousandths, minutes that it takes)
_TREATMENTS: Final = {
    "examination": (450, 20),
    "imaging": (200, 35),
    "laboratory": (180, 10),
    "physiotherapy": (110, 45),
    "operation": (60, 150),
}


def households(draw: np.random.Generator, persons: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """One row for a home; the people in it have its number."""
    homes, sizes = np.unique(persons["household_id"], return_counts=True)
    return {
        "household_id": homes,
        "rooms": np.minimum(1 + draw.poisson(1 + sizes), 12).astype(np.int64),
        "owned": draw.random(homes.size) < 0.55,
    }


def encounters(draw: np.random.Generator, persons: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Who was there: one row for a person in an encounter, and a second one for somebody who came along."""
    people, home = persons["person_id"].size, persons["household_id"]
    count = people * 3 // 4
    patient = draw.integers(0, people, count)
    # People of one household stand side by side in the table of persons.
    beside = np.where(patient + 1 < people, patient + 1, patient - 1)
    along = (home[beside] == home[patient]) & (draw.random(count) < 0.4)
    numbers = np.arange(count) + 500_001
    who = np.concatenate([patient, beside[along]])
    order = np.argsort(np.concatenate([numbers, numbers[along]]), kind="stable")
    roles = np.array(["patient"] * count + ["companion"] * int(along.sum()), dtype=object)
    return {
        "encounter_id": np.concatenate([numbers, numbers[along]])[order],
        "person_id": persons["person_id"][who][order],
        "role": roles[order],
    }


def treatments(draw: np.random.Generator, met: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """What was done in an encounter; the table has no column for a person."""
    numbers = np.unique(met["encounter_id"])
    rows = np.repeat(numbers, draw.integers(0, 5, numbers.size))
    shares = np.array([share for share, _ in _TREATMENTS.values()]) / 1000
    kind = draw.choice(len(_TREATMENTS), p=shares, size=rows.size)
    typical = np.array([minutes for _, minutes in _TREATMENTS.values()])[kind]
    minutes = np.clip(np.round(typical * draw.lognormal(0, 0.4, rows.size)), 1, 600).astype(np.int64)
    return {
        "encounter_id": rows,
        "treatment": np.array(list(_TREATMENTS), dtype=object)[kind],
        "minutes": minutes,
    }
