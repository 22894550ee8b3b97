"""Linkage: who is alone, who is named, and what counts tell; by hand on small towns."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.attack.hospital import YEARS, by_age, codes, exact_counts, guessed, released_counts
from quincunx.attack.linkage import combined, linked, unique_share
from quincunx.attack.town import DIAGNOSES, TODAY, ZIPS, Town, general_shares, name_of, town
from quincunx.noise.testing import KeyedBits
from tests.attack.telling import told
from tests.datasets import real_data


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=30))
def test_unique_shares_by_hand(rows: list[tuple[str, int]]) -> None:
    letters, numbers = np.array([a for a, _ in rows], dtype=object), np.array([n for _, n in rows])
    counts = Counter(rows)
    assert unique_share(letters, numbers) == Fraction(sum(counts[row] == 1 for row in rows), len(rows))
    key = combined(letters, numbers)
    assert all((key[i] == key[j]) == (rows[i] == rows[j]) for i in range(len(rows)) for j in range(len(rows)))


def small(series: int) -> Town:
    """A town so crowded that some are alone, some not, and some links are wrong."""
    made = town(series, people=400)
    return replace(made, born=made.born // 4_000 * 4_000, patient=made.patient | (np.arange(400) % 3 == 0))


@pytest.mark.parametrize("series", range(8))
def test_links_by_hand(series: int) -> None:
    people = small(series)
    keys = list(zip(people.sex, people.zip, people.born.tolist(), strict=True))
    found = linked(people, (people.sex, people.zip, people.born))
    everyone = Counter(keys)
    voters = Counter(key for key, who in zip(keys, people.voter, strict=True) if who)
    records = Counter(key for key, who in zip(keys, people.patient, strict=True) if who)
    says = {key: diagnosis for key, diagnosis, who in zip(keys, people.diagnosis, people.patient, strict=True) if who}
    links = [key for key in everyone if voters[key] == 1 == records[key]]
    both = [i for i in range(400) if people.voter[i] and people.patient[i]]
    named = [i for i in both if keys[i] in links]
    otherwise = by_age(people.year)
    told_ = [says[keys[i]] if keys[i] in links else otherwise[i] for i in both]
    right = sum(say == people.diagnosis[i] for say, i in zip(told_, both, strict=True))
    assert found.unique == pytest.approx(sum(everyone[key] == 1 for key in keys) / 400)
    assert found.named == pytest.approx(len(named) / len(both))
    assert found.wrong == pytest.approx(1 - len(named) / len(links))
    assert found.right == pytest.approx(right / len(both))
    # Named people have their own record's diagnosis.
    assert all(says[keys[i]] == people.diagnosis[i] for i in named)


def test_small_towns_have_wrong_links_too() -> None:
    assert any(linked(small(s), (small(s).sex, small(s).zip, small(s).born)).wrong > 0 for s in range(8))


def test_nobody_is_named_where_everyone_is_alike() -> None:
    people = town(0, people=300)
    found = linked(people, (np.zeros(300, dtype=np.int64),))
    assert (found.unique, found.named, found.wrong) == (0, 0, 0)
    both = people.voter & people.patient
    assert found.right == pytest.approx(float((by_age(people.year[both]) == people.diagnosis[both]).mean()))


def test_the_town_is_like_a_town() -> None:
    people = town(0)
    ages = TODAY.year - 1 - people.year
    assert ages.min() >= 0
    assert ages.max() <= 100
    sizes = Counter(people.zip.tolist())
    assert max(sizes.values()) > 40 * min(sizes.values())
    assert set(sizes) == set(ZIPS)
    assert not np.any(people.voter & (ages < 17))
    assert 0.2 < people.patient.mean() < 0.3
    assert set(people.diagnosis.tolist()) == set(DIAGNOSES)
    shares = general_shares(np.array([0.0, 50.0, 100.0]))
    assert shares.sum(axis=1) == pytest.approx(1)
    assert np.all(shares > 0)


def test_the_same_series_is_the_same_town() -> None:
    one, two, other = town(3, people=500), town(3, people=500), town(4, people=500)
    assert all(np.array_equal(getattr(one, f), getattr(two, f)) for f in one.__dataclass_fields__)
    assert not np.array_equal(one.born, other.born)
    assert np.array_equal(one.month // 12 - (one.month % 12 == 0), one.year)


def test_names_are_names() -> None:
    assert name_of(0, "F") == "Ada Alder"
    assert len({name_of(i, "M") for i in range(1000)}) == 50


def test_counts_by_hand_and_from_a_session_without_noise_to_speak_of(stream: KeyedBits) -> None:
    people = town(1, people=600)
    places = codes(people, people.patient)
    exact = exact_counts(places)
    assert exact.sum() == people.patient.sum()
    hand = Counter(
        zip(people.zip[people.patient], people.sex[people.patient], people.year[people.patient],
            people.diagnosis[people.patient], strict=True)
    )  # fmt: skip
    for (zip_, sex, year, diagnosis), n in hand.items():
        place = (list(ZIPS).index(zip_), "FM".index(sex), YEARS.index(year), list(DIAGNOSES).index(diagnosis))
        assert exact[place] == n
    (released,) = released_counts(people, (Fraction(1_000),))
    assert np.array_equal(released, exact)
    (noisy,) = released_counts(people, (Fraction(1, 10),))
    assert not np.array_equal(noisy, exact)
    assert stream.injected


def test_guesses_by_hand() -> None:
    people = town(2, people=300)
    places = codes(people, people.patient)
    counts = exact_counts(places)
    with_, without = guessed(counts, places)
    shares = general_shares(TODAY.year - np.array(YEARS, dtype=float))
    best = (0.0, 0.0)
    for trust in (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 1e12):
        right = [0, 0]
        for zip_, sex, year, truth in places.tolist():
            for away in (0, 1):
                seen = counts[zip_, sex, year].copy()
                seen[truth] -= away
                right[away] += int((seen + trust * shares[year]).argmax() == truth)
        best = max(best, (right[0] / len(places), right[1] / len(places)))
    assert (with_, without) == pytest.approx(best)
    # Alone in a cell, a person is read off the exact counts.
    assert with_ > 0.8 > 0.4 > without


def test_the_story_names_most_patients() -> None:
    story = told("linkage")
    figures = story.figures
    assert 0.80 < float(figures["unique by sex, zip code, birth date"]) < 0.95
    named = [float(value) for name, value in figures.items() if name.startswith("named by")]
    assert named[0] == max(named) > 0.85
    assert named[-1] < 0.01
    first, men, one = map(int, str(figures["steps"]).split(", "))
    assert first > men > one == 1
    assert f"{first} voters have his birth date, {men} of them are men" in story.recovered


def test_counts_at_a_small_epsilon_tell_what_nothing_tells() -> None:
    figures = told("linkage").figures
    base = float(figures["commonest at that age"])
    exact = float(figures["right by exact counts"])
    right = [float(figures[f"right at ε = {e}"]) for e in ("0.1", "1", "10")]
    away = [float(figures[f"right at ε = {e}, had they stayed away"]) for e in ("0.1", "1", "10")]
    assert abs(right[0] - base) < 0.01
    assert right == sorted(right)
    assert exact - right[2] < 0.01
    assert exact > base + 0.1
    # The ratio is at most e^ε in the mean over the noise; here with a tenth for one draw of the noise.
    for ratio, epsilon in zip((r / a for r, a in zip(right, away, strict=True)), (0.1, 1.0, 10.0), strict=True):
        assert ratio <= 1.1 * np.exp(epsilon)


def test_real_people_are_alone_with_a_few_attributes() -> None:
    with real_data("persons", "ma2019.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kept = ["PUMA", "SEX", "AGEP", "RAC1P", "HISP", "MSP", "EDU", "INDP", "PINCP"]
    columns = [np.array([row[name] for row in rows], dtype=object) for name in kept]
    shares = [unique_share(*columns[: i + 1]) for i in range(len(kept))]
    for name, share in zip(kept, shares, strict=True):
        print(f"with {name}: {float(share):.1%} of {len(rows):,} people are alone")
    by_hand = Counter(tuple(row[name] for name in kept) for row in rows)
    assert shares[-1] == Fraction(sum(n == 1 for n in by_hand.values()), len(rows))
    # Every attribute that is kept can only single out more.
    assert shares == sorted(shares)
    assert [round(float(share), 3) for share in shares] == [0, 0, 0.003, 0.074, 0.1, 0.197, 0.476, 0.779, 0.838]
