"""People who do not exist: what everybody can know of them, and two secrets of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["DIAGNOSES", "SCORES", "People", "people"]

Ints = NDArray[np.int64]

# diagnosis → (weight, how much it grows with age, how many times as often women have it)
_DIAGNOSES: Final = {
    "none": (30, -0.6, 1.0),
    "injury": (14, -0.3, 0.8),
    "back pain": (12, 0.5, 1.1),
    "infection": (11, 0.0, 1.0),
    "high blood pressure": (9, 2.5, 0.9),
    "depression": (8, 0.0, 1.6),
    "asthma": (6, -0.2, 1.1),
    "diabetes": (5, 2.0, 0.9),
    "heart disease": (4, 4.0, 0.6),
    "migraine": (4, -0.2, 2.5),
    "cancer": (3, 3.0, 1.1),
    "hiv": (1, 0.0, 0.4),
}
DIAGNOSES: Final = tuple(_DIAGNOSES)
# The lowest and the highest credit score.
SCORES: Final = (300, 850)
_DISTRICTS, _CODES, _DECADES = 6, 8, 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """One row for each person.

    known: attribute → values that are no secret (age in years, sex, zip code, years at school, people at home).
    diagnosis: a place in `DIAGNOSES`. score: a credit score from 300 to 850. cell: a public group, sex by ten years of
    age by district of the zip code, 96 in all.
    """

    known: Mapping[str, NDArray[Any]]
    diagnosis: Ints
    score: Ints
    cell: Ints

    def rows(self, chosen: Ints) -> People:
        """The chosen rows."""
        return People(
            known={name: values[chosen] for name, values in self.known.items()},
            diagnosis=self.diagnosis[chosen],
            score=self.score[chosen],
            cell=self.cell[chosen],
        )


def people(draw: np.random.Generator, count: int) -> People:
    """Draw so many people."""
    age = 18 + np.minimum(draw.gamma(3.2, 10.0, count), 77).astype(np.int64)
    woman = draw.random(count) < 0.5 + (age - 45) / 500
    # Districts and their zip codes have very different sizes.
    district = draw.choice(_DISTRICTS, p=np.array([32, 24, 18, 12, 9, 5]) / 100, size=count)
    code = np.minimum(draw.geometric(0.25, count), _CODES) - 1
    school = np.clip(np.round(draw.normal(12.5, 2.5, count) - (age > 65)), 5, 20)
    home = np.minimum(draw.geometric(0.42, count), 7)
    weights = np.array(
        [
            weight * np.maximum(0.05, 1 + slope * (age - 18) / 60) * np.where(woman, factor, 1.0)
            for weight, slope, factor in _DIAGNOSES.values()
        ]
    )
    edges = np.cumsum(weights / weights.sum(axis=0), axis=0)
    diagnosis = (draw.random(count) > edges[:-1]).sum(axis=0)
    score = np.clip(np.round(draw.normal(640 + age, 80, count)), *SCORES)
    decade = np.minimum((age - 18) // 10, _DECADES - 1)
    return People(
        known={
            "age": age,
            "sex": np.where(woman, "female", "male"),
            "zip code": 30_100 + 100 * district + code,
            "years at school": school.astype(np.int64),
            "people at home": home.astype(np.int64),
        },
        diagnosis=diagnosis.astype(np.int64),
        score=score.astype(np.int64),
        cell=((woman * _DECADES + decade) * _DISTRICTS + district).astype(np.int64),
    )
