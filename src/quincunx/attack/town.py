"""A town of people who do not exist: names, sex, zip code, birth date; who votes, who was in hospital, and for what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

PEOPLE: Final = 50_000
TODAY: Final = date(2024, 1, 1)
# zip code → its people in thousandths: a few large ones, some small ones, as in a county
ZIPS: Final = {
    "04101": 300, "04102": 200, "04103": 140, "04104": 100, "04105": 80, "04106": 60,
    "04210": 45, "04211": 30, "04212": 20, "04213": 13, "04214": 8, "04215": 4,
}  # fmt: skip
# diagnosis → (share among the young, share among the old) in hundredths
DIAGNOSES: Final = {
    "injury": (30, 10),
    "asthma": (18, 8),
    "depression": (16, 8),
    "diabetes": (8, 18),
    "heart disease": (4, 24),
    "cancer": (4, 16),
    "infection": (14, 10),
    "migraine": (6, 6),
}
# A population pyramid: of so many people in hundredths, the ages from and below.
_AGES: Final = ((17, 0, 15), (13, 15, 25), (27, 25, 45), (25, 45, 65), (15, 65, 85), (3, 85, 100))
_FIRST: Final = {"F": ("Ada", "Bea", "Cleo", "Dora", "Edna", "Flora"), "M": ("Abel", "Boris", "Carl", "Dean", "Egon")}
_LAST: Final = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Gale", "Hazel", "Ivy", "Juniper")


@dataclass(frozen=True, slots=True, kw_only=True)
class Town:
    """Everyone, as columns of one length. born: days since 1 January of year 1. diagnosis: of those in hospital."""

    sex: NDArray[Any]
    zip: NDArray[Any]
    born: NDArray[np.int64]
    voter: NDArray[np.bool_]
    patient: NDArray[np.bool_]
    diagnosis: NDArray[Any]

    @property
    def year(self) -> NDArray[np.int64]:
        """The year of birth."""
        return np.array([date.fromordinal(day).year for day in self.born.tolist()], dtype=np.int64)

    @property
    def month(self) -> NDArray[np.int64]:
        """The month of birth, counted through the years."""
        days = (date.fromordinal(day) for day in self.born.tolist())
        return np.array([12 * day.year + day.month for day in days], dtype=np.int64)

    @property
    def band(self) -> NDArray[np.int64]:
        """The year of birth in bands of five years, by the first of them."""
        return self.year // 5 * 5


def town(series: int, people: int = PEOPLE) -> Town:
    """A town of so many people; the same series makes the same one."""
    draw = np.random.default_rng([1997, series])
    sex = np.array(["F", "M"], dtype=object)[(draw.random(people) < 0.49).astype(np.int64)]
    shares = np.array(list(ZIPS.values())) / 1000
    zips = np.array(list(ZIPS), dtype=object)[draw.choice(len(ZIPS), p=shares, size=people)]
    age_days = _age_in_days(draw, people)
    adult = age_days >= 18 * 366
    return Town(
        sex=sex,
        zip=zips,
        born=TODAY.toordinal() - 1 - age_days,
        voter=adult & (draw.random(people) < 0.75),
        patient=draw.random(people) < 0.15 + 0.25 * age_days / 36_500,
        diagnosis=_diagnoses(draw, age_days / 365),
    )


def name_of(person: int, sex: str) -> str:
    """A name for the person of this number; several people may have the same."""
    first = _FIRST[sex]
    return f"{first[person % len(first)]} {_LAST[person // 7 % len(_LAST)]}"


def general_shares(age: NDArray[np.float64]) -> NDArray[np.float64]:
    """The shares of the diagnoses at an age in years, one row for each: from young to old in a straight line.

    Anybody may know these; they are about no person of the town.
    """
    young, old = (np.array([share[i] for share in DIAGNOSES.values()]) / 100 for i in (0, 1))
    return np.asarray(young + age[:, None] / 100 * (old - young))


def _age_in_days(draw: np.random.Generator, people: int) -> NDArray[np.int64]:
    shares = np.array([share for share, _, _ in _AGES]) / 100
    group = draw.choice(len(_AGES), p=shares, size=people)
    low = np.array([low for _, low, _ in _AGES])[group]
    high = np.array([high for _, _, high in _AGES])[group]
    return np.asarray((low + draw.random(people) * (high - low)) * 365.25, dtype=np.int64)


def _diagnoses(draw: np.random.Generator, age: NDArray[np.float64]) -> NDArray[Any]:
    reached = np.cumsum(general_shares(age), axis=1)
    chosen = (draw.random(len(age))[:, None] >= reached).sum(axis=1)
    return np.asarray(np.array(list(DIAGNOSES), dtype=object)[np.minimum(chosen, len(DIAGNOSES) - 1)])
