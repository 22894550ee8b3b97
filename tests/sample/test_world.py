"""The sample's people: the same every time, of the shape that the plan and the guides rely on."""

import numpy as np
import pytest

from quincunx.errors import ParameterError
from quincunx.sample import World, world


@pytest.fixture(scope="module")
def made() -> World:
    return world(6_000)


def test_it_is_the_same_every_time(made: World) -> None:
    again = world(6_000)
    for table in ("persons", "visits", "regions", "households", "encounters", "treatments"):
        one, two = getattr(made, table), getattr(again, table)
        assert list(one) == list(two)
        for name in one:
            assert np.array_equal(one[name], two[name], equal_nan=one[name].dtype.kind == "f")


def test_people_live_in_households_in_blocks_in_counties(made: World) -> None:
    persons = made.persons
    assert len(set(persons["person_id"].tolist())) == 6_000
    homes = dict.fromkeys(persons["household_id"].tolist())
    assert 2_000 < len(homes) < 3_500
    place = list(zip(persons["county"].tolist(), persons["block"].tolist(), strict=True))
    for home, where in zip(persons["household_id"].tolist(), place, strict=True):
        assert homes[home] in (None, where)
        homes[home] = where
    assert len(set(persons["county"].tolist())) == 8
    assert 40 < len(set(place)) < 400
    assert np.array_equal(persons["voting_age"], persons["age"] >= 18)
    assert 0 <= persons["age"].min() <= persons["age"].max() <= 102


def test_every_household_has_somebody_grown_up(made: World) -> None:
    persons = made.persons
    grown = set(persons["household_id"][persons["voting_age"]].tolist())
    assert grown == set(persons["household_id"].tolist())


def test_visits_are_several_rows_for_a_person(made: World) -> None:
    visits = made.visits
    _, rows = np.unique(visits["person_id"], return_counts=True)
    # A few people have far more rows than most: that is what limits are for.
    assert 2 < rows.mean() < 5
    assert rows.max() > 4 * np.quantile(rows, 0.99) / 2
    assert set(visits["person_id"].tolist()) <= set(made.persons["person_id"].tolist())
    assert set(visits["region"].tolist()) == set(made.regions["region"].tolist())
    assert np.all(np.diff(visits["visited_at"]).astype(int) >= 0)
    assert 0.005 < np.isnan(visits["cost"]).mean() < 0.05
    assert np.nanmax(visits["cost"]) > 5_000


def test_departments_fit_their_patients(made: World) -> None:
    visits = made.visits
    assert visits["age"][visits["department"] == "paediatrics"].max() < 18
    mothers = visits["age"][visits["department"] == "maternity"]
    assert 18 <= mothers.min() <= mothers.max() <= 45
    assert len(set(visits["department"].tolist())) == 7


@pytest.mark.parametrize("people", [0, 99, 5_000_001, "many", 1.5])
def test_bad_sizes(people: object) -> None:
    with pytest.raises(ParameterError):
        world(people)


def test_the_smallest_world() -> None:
    small = world(100)
    assert small.persons["person_id"].size == 100
    assert small.visits["person_id"].size > 0


def test_encounters_lead_to_one_person_or_two_of_a_household_and_treatments_to_encounters(made: World) -> None:
    home = dict(zip(made.persons["person_id"].tolist(), made.persons["household_id"].tolist(), strict=True))
    met: dict[int, list[int]] = {}
    for number, person in zip(made.encounters["encounter_id"], made.encounters["person_id"], strict=True):
        met.setdefault(int(number), []).append(int(person))
    assert {len(people) for people in met.values()} == {1, 2}
    assert all(len({home[person] for person in people}) == 1 for people in met.values())
    assert all(len(set(people)) == len(people) for people in met.values())
    assert set(made.treatments["encounter_id"].tolist()) < met.keys()
    assert set(made.households["household_id"].tolist()) == set(home.values())
