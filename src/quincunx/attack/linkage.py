"""Linkage: sex, zip code and birth date join a hospital's file without names to a voter list with names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.attack.hospital import by_age, codes, exact_counts, guessed, released_counts
from quincunx.attack.story import Story
from quincunx.attack.town import TODAY, Town, name_of, town
from quincunx.attack.words import CHAPTER, percent
from quincunx.chart import Bar, Chart, bars
from quincunx.numbers import amount

_EPSILONS: Final = (Fraction(1, 10), Fraction(1), Fraction(10))
_FULL: Final = "sex, zip code, birth date"


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """What a linker gets from a file that keeps certain attributes.

    unique: the share of everyone whose attributes nobody else has. named: the share of the patients on the voter list
    who are named correctly. wrong: the share of the names given that are wrong. right: the share of the same patients
    whose diagnosis is guessed right, with the commonest one at their age for those who are not named.
    """

    unique: float
    named: float
    wrong: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One man, found step by step in the voter list: how many share his birth date, of these are men, live there."""

    name: str
    born: date
    steps: tuple[int, int, int]
    diagnosis: str


def story(*, series: int) -> Story:
    """Join the two files by what they have in common; then publish noisy counts instead."""
    people = town(series)
    both = people.voter & people.patient
    links = {kept: linked(people, columns) for kept, columns in _kept(people).items()}
    found = _found(people)
    everyone, targets = codes(people, people.patient), codes(people, both)
    exact = guessed(exact_counts(everyone), targets)
    released = dict(
        zip(_EPSILONS, (guessed(each, targets) for each in released_counts(people, _EPSILONS)), strict=True)
    )
    common = float((by_age(people.year[both]) == people.diagnosis[both]).mean())
    whole = links[_FULL]
    date_, men, one = found.steps
    return Story(
        name="linkage",
        title=f"Sex, zip code and birth date give {percent(whole.named)} of the patients their names back",
        published=f"A hospital's file of {int(people.patient.sum()):,} patients in a town of {len(people.sex):,}: sex, "
        "zip code, birth date and diagnosis, no names.",
        known=f"The voter list: {int(people.voter.sum()):,} people with name, sex, zip code and birth date.",
        recovered=f"{percent(whole.unique, 1)} of the town are alone with their sex, zip code and birth date. Of the "
        f"{int(both.sum()):,} patients who vote {percent(whole.named, 1)} get their name back, and with it their "
        f"diagnosis; {percent(whole.wrong, 1)} of the names are wrong. {found.name}, born {found.born.isoformat()}: "
        f"{date_} voters have his birth date, {men} of them are men, {one} of these lives in his zip code; the "
        f"file says {found.diagnosis}.",
        columns=("published", "alone in town", "named", "diagnosis right", "had they stayed away"),
        rows=(
            *(
                (
                    f"file with {kept}",
                    percent(e.unique, 1),
                    percent(e.named, 1),
                    percent(e.right, 1),
                    percent(common, 1),
                )
                for kept, e in links.items()
            ),
            ("exact counts by zip code, sex, year", "", "", *(percent(share, 1) for share in exact)),
            *((f"the same counts, ε = {amount(e)}", "", "", *(percent(s, 1) for s in r)) for e, r in released.items()),
            ("nothing: the commonest at that age", "", "", percent(common, 1), percent(common, 1)),
        ),
        figures={
            "people": len(people.sex),
            "patients": int(people.patient.sum()),
            "voters": int(people.voter.sum()),
            "patients who vote": int(both.sum()),
            **{f"unique by {kept}": each.unique for kept, each in links.items()},
            **{f"named by {kept}": each.named for kept, each in links.items()},
            "steps": f"{date_}, {men}, {one}",
            "commonest at that age": common,
            "right by exact counts": exact[0],
            **{f"right at ε = {amount(e)}": r[0] for e, r in released.items()},
            **{f"right at ε = {amount(e)}, had they stayed away": r[1] for e, r in released.items()},
        },
        charts={"linkage_unique": _unique_chart(links), "linkage_release": _release_chart(exact, released, common)},
        lesson="Names are not what identifies people. What few people share does, and nobody can list in advance what "
        "others know. Counts with noise name nobody; how much more they tell about those who are in them is at most "
        "a factor e^ε: almost nothing at 0.1, and at 10 no protection that is worth the name.",
        sources=(
            "L. Sweeney, Simple demographics often identify people uniquely (2000)",
            f"{CHAPTER}, section 1.2.1: six had the governor's birth date, three were men, one had his zip code",
        ),
    )


def unique_share(*columns: NDArray[Any]) -> Fraction:
    """The share of rows whose combination of values no other row has."""
    _, counts = np.unique(combined(*columns), return_counts=True)
    return Fraction(int((counts == 1).sum()), len(columns[0]))


def combined(*columns: NDArray[Any]) -> NDArray[np.int64]:
    """One number for each row, equal where all columns are equal."""
    total = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, places = np.unique(column.astype(str) if column.dtype == object else column, return_inverse=True)
        # Renumbered after every column, so that the product stays small.
        total = np.unique(total * len(values) + places, return_inverse=True)[1]
    return total


def linked(people: Town, columns: tuple[NDArray[Any], ...]) -> Linked:
    """Join on the columns; a name is given where one voter and one record have the same values."""
    key = combined(*columns)
    size = int(key.max()) + 1
    everyone, records, voters = (
        np.bincount(key[who], minlength=size) for who in (np.ones_like(people.voter), people.patient, people.voter)
    )
    both = people.voter & people.patient
    joined = (records == 1) & (voters == 1)
    # Where voter and record are alone and one person is both, the name is right.
    correct = both & joined[key]
    told = np.where(joined[key], _of_record(people, key)[key], by_age(people.year))
    return Linked(
        unique=float((everyone[key] == 1).mean()),
        named=float(correct.sum() / both.sum()),
        wrong=float(1 - correct.sum() / joined.sum()) if joined.any() else 0.0,
        right=float((told[both] == people.diagnosis[both]).mean()),
    )


def _of_record(people: Town, key: NDArray[np.int64]) -> NDArray[Any]:
    """The diagnosis that the file gives for each key; the last record's where there are several."""
    diagnoses = np.full(int(key.max()) + 1, "", dtype=object)
    diagnoses[key[people.patient]] = people.diagnosis[people.patient]
    return diagnoses


def _kept(people: Town) -> dict[str, tuple[NDArray[Any], ...]]:
    # A zip area is the first three digits.
    area = np.array([each[:3] for each in people.zip.tolist()], dtype=object)
    return {
        _FULL: (people.sex, people.zip, people.born),
        "zip code, birth date": (people.zip, people.born),
        "sex, zip area, birth date": (people.sex, area, people.born),
        "sex, zip code, month of birth": (people.sex, people.zip, people.month),
        "sex, zip code, year of birth": (people.sex, people.zip, people.year),
        "sex, zip area, year of birth": (people.sex, area, people.year),
    }


def _found(people: Town) -> Found:
    """The man, 50 to 70 years old, who shares his birth date with most voters and is still found."""
    same = np.bincount(people.born[people.voter], minlength=int(people.born.max()) + 1)[people.born]
    man = people.sex == "M"
    brothers = np.bincount(people.born[people.voter & man], minlength=int(people.born.max()) + 1)[people.born]
    key = combined(people.sex, people.zip, people.born)
    size = int(key.max()) + 1
    alone = (np.bincount(key[people.voter], minlength=size) == 1) & (
        np.bincount(key[people.patient], minlength=size) == 1
    )
    age = TODAY.year - people.year
    fits = people.voter & people.patient & man & alone[key] & (age >= 50) & (age < 70)
    # Among equals the first: the choice must not depend on the sort.
    person = int(np.lexsort((np.arange(len(key)), -brothers, -same, ~(fits & (same > brothers)), ~fits))[0])
    return Found(
        name=name_of(person, "M"),
        born=date.fromordinal(int(people.born[person])),
        steps=(int(same[person]), int(brothers[person]), 1),
        diagnosis=str(people.diagnosis[person]),
    )


def _unique_chart(links: dict[str, Linked]) -> Chart:
    shares = (("alone in town with them", "unique"), ("patients on the voter list who are named", "named"))
    return bars(
        [
            Bar(label=kept, value=100 * getattr(each, field), series=words, text=percent(getattr(each, field), 1))
            for kept, each in links.items()
            for words, field in shares
        ],
        title="Birth dates give people away, years of birth hardly",
        x="share of people (%)",
        note="A generated town of 50,000 people in 12 zip codes. The labels say what the file keeps; a zip area is "
        "the first three digits.",
    )


def _release_chart(exact: tuple[float, float], released: dict[Fraction, tuple[float, float]], common: float) -> Chart:
    rows = {"exact counts": exact}
    rows |= {f"ε = {amount(epsilon)}": released[epsilon] for epsilon in sorted(released, reverse=True)}
    rows["nothing published"] = (common, common)
    series = ("with their own record in the counts", "had they stayed away")
    return bars(
        [
            Bar(label=label, value=100 * share, series=words, text=percent(share, 1))
            for label, shares in rows.items()
            for words, share in zip(series, shares, strict=True)
        ],
        title="At ε = 0.1 the counts tell almost nothing that they would not tell without the person",
        x="patients whose diagnosis is guessed right (%)",
        note="Counts of diagnoses by zip code, sex and year of birth. The attacker knows these three of everyone on "
        "the voter list, and what is common at an age. In small cells the guess is the person's own record, or "
        f"wrong. The ratio of two bars is at most e^ε in the mean over the noise: {math.exp(0.1):.2f} at ε = 0.1, "
        f"{math.exp(1):.2f} at ε = 1.",
    )
