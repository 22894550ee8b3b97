"""Every space: its pairs are neighbours under the unit itself, and they stay neighbours when they are made small."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from quincunx.audit.spaces import Finite, Histograms, OneOf, Real, Records, Row, Space, Tables, Whole
from quincunx.audit.spaces.literal import literal
from quincunx.audit.spaces.records import _GIANTS
from quincunx.errors import ParameterError
from quincunx.spec import Specification, domain, scope, standard
from quincunx.spec.unit import AddRemove, Metric, Replace
from tests.audit.tables.scenes import scene

ROWS = Row({"person": Whole(0, 40), "x": Real(-1, 1), "kind": OneOf("ab")})
UNITS = [AddRemove(), Replace(), AddRemove(group=3), Replace(group=3)]
KEYED = [type(unit)(key="person", group=unit.group) for unit in UNITS]


def pairs(space: Space[Any], count: int) -> list[tuple[Any, Any]]:
    found = []
    for i in range(count):
        source = random.Random(f"pairs {i}")
        before = space.draw(source)
        found.append((before, space.neighbour(before, source)))
    return found


def view(records: list[Any], space: Records) -> Counter[Hashable] | tuple[Hashable, ...]:
    """What the unit sees, from the records alone."""
    key = space.unit.key
    if key is None:
        written = [literal(record) for record in records]
        return tuple(written) if space.ordered else Counter(written)
    owned: dict[str, Counter[str]] = {}
    for record in records:
        owned.setdefault(literal(record[key]), Counter())[literal(record)] += 1
    return Counter((owner, frozenset(rows.items())) for owner, rows in owned.items())


def changes(space: Records, before: Any, after: Any) -> int | float:
    return space.unit.changes(view(space.given(before), space), view(space.given(after), space))


@pytest.mark.parametrize(
    "space",
    [
        *(Records(Whole(0, 9), unit=unit, giant=60) for unit in UNITS),
        *(Records(Whole(0, 9), unit=unit, giant=60, ordered=True) for unit in UNITS),
        *(Records(ROWS, unit=unit, giant=30, size=3) for unit in KEYED),
    ],
    ids=lambda space: space.words(),
)
def test_records_are_neighbours_and_stay_neighbours_when_made_small(space: Records) -> None:
    found = set()
    for before, after in pairs(space, 150 if space.unit.key is None else 60):
        distance = changes(space, before, after)
        assert distance <= space.unit.group
        assert (distance == 0) == space.same(before, after)
        found.add(distance)
        if len(before) < 9 and distance:
            for small, other in list(space.smaller(before, after))[:40]:
                assert changes(space, small, other) <= space.unit.group
                assert min(map(space.people, (small, other))) >= space.least
    assert max(found) == space.unit.group


@pytest.mark.parametrize("unit", [*UNITS, *KEYED], ids=lambda unit: f"{unit.kind} {unit.key} {unit.group}")
def test_making_records_small_ends(unit: AddRemove | Replace) -> None:
    """Whatever is taken, the way down is finite, and ends at as little as the unit allows."""
    space = Records(ROWS, unit=unit, giant=40, size=4)
    for pair in pairs(space, 12):
        (before, after), steps = pair, 0
        if space.same(before, after):
            # Added and removed again; replay draws another.
            continue
        while steps < 2_000:
            candidates = (each for each in space.smaller(before, after) if not space.same(*each))
            smaller = next(candidates, None)
            if smaller is None:
                break
            (before, after), steps = smaller, steps + 1
        assert steps < 2_000
        assert sorted(map(space.people, (before, after))) == ([1, 1] if isinstance(unit, Replace) else [0, 1])


def test_records_hold_what_breaks_things() -> None:
    space = Records(Real(missing=True), unit=AddRemove(), size=8)
    worlds = [space.given(world) for pair in pairs(space, 600) for world in pair]
    sizes = Counter(map(len, worlds))
    assert {0, 1, 2, 7, 8, 9, 999, 1_000, 1_001} <= sizes.keys()
    assert 600 * _GIANTS / 3 < sum(size > 100 for size in map(len, worlds)) / 2 < 600 * _GIANTS * 3
    assert any(None in world for world in worlds)
    assert any(isinstance(x, float) and math.isnan(x) for world in worlds for x in world)
    assert any(len(world) == 8 and len(set(map(literal, world))) == 1 for world in worlds)
    kinds = {space.kind(*pair) for pair in pairs(space, 300)}
    assert kinds == {"giant", "empty", "missing or undefined", "equal records", "ordinary"}


def test_records_that_are_not_ordered_are_shuffled() -> None:
    """A neighbour may stand in any order; in an ordered space what stays keeps its order."""
    for ordered in (False, True):
        space = Records(Whole(), unit=AddRemove(), size=8, giant=0, ordered=ordered)
        moved = 0
        for before, after in pairs(space, 100):
            both = {number for number, _ in before} & {number for number, _ in after}
            moved += [n for n, _ in before if n in both] != [n for n, _ in after if n in both]
        assert (moved > 20) != ordered


def test_a_public_number_of_people_is_kept() -> None:
    space = Records(Whole(0, 9), unit=Replace(), size=5, least=5)
    assert {len(world) for pair in pairs(space, 100) for world in pair} == {5}
    assert space.giant == 0
    assert all(len(world) == 5 for pair in pairs(space, 5) for small in space.smaller(*pair) for world in small)


def test_a_person_may_have_a_thousand_rows() -> None:
    space = Records(ROWS, unit=AddRemove(key="person"), size=4)
    owners = [Counter(row["person"] for row in space.given(world)) for pair in pairs(space, 60) for world in pair]
    assert max(max(each.values(), default=0) for each in owners) == 1_000
    assert max(map(len, owners)) <= 5


def test_what_is_given_is_fresh() -> None:
    space = Records(ROWS, unit=AddRemove(key="person"), size=4, least=2)
    world = space.draw(random.Random(1))
    given = space.given(world)
    given[0]["x"] = "changed"
    given.clear()
    assert space.given(world)[0]["x"] != "changed"
    assert isinstance(Records(Whole(), unit=AddRemove(), form=np.array).given(()), np.ndarray)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit.kind} {unit.group}")
@pytest.mark.parametrize("sparse", [False, True])
def test_histograms_are_neighbours(unit: AddRemove | Replace, sparse: bool) -> None:
    space = Histograms(list("abc"), unit=unit, sparse=sparse)
    seen = set()
    for before, after in pairs(space, 300):
        counts = [Counter(dict(enumerate(world))) for world in (before, after)]
        distance = unit.changes(*counts)
        assert distance <= unit.group
        seen.add(distance)
        assert all(0 <= n <= space.most for world in (before, after) for n in world)
        for small in space.smaller(before, after):
            assert unit.changes(*(Counter(dict(enumerate(world))) for world in small)) == distance
            assert sum(map(sum, small)) < sum(before) + sum(after)
    assert max(seen) == unit.group
    given = [space.given(before) for before, _ in pairs(space, 100)]
    assert any(len(each) < 3 for each in given) == sparse
    assert {space.kind(*pair) for pair in pairs(space, 300)} >= {"large counts", "a cell comes or goes", "ordinary"}


def specification(unit: Any, datasets: Any = None) -> Specification:
    listed = domain.Finite.multisets((0, 1), (0, 1, 2)) if datasets is None else datasets
    return Specification(domain=listed, scope=scope.Everything(), unit=unit, standard=standard.Pure(), intensity=1)


def test_finite_lists_every_pair_once_and_the_smallest_first() -> None:
    space = Finite(specification(AddRemove()))
    expected = {
        frozenset((a, b))
        for a in space.specification.domain.datasets  # type: ignore[attr-defined]
        for b in space.specification.domain.datasets  # type: ignore[attr-defined]
        if AddRemove().changes(Counter(a), Counter(b)) == 1
    }
    assert [frozenset(pair[:2]) for pair in space.listed()] == list(
        dict.fromkeys(frozenset(p[:2]) for p in space.listed())
    )
    assert {frozenset(pair[:2]) for pair in space.listed()} == expected
    sizes = [len(a) + len(b) for a, b, _ in space.listed()]  # type: ignore[arg-type]
    assert sizes == sorted(sizes)
    assert space.words() == "all 6 pairs of 6 datasets"
    for before, after in pairs(space, 20):
        assert frozenset((before, after)) in expected
    assert list(space.smaller(*space.listed()[0][:2])) == []


def test_finite_keeps_to_the_universes_and_the_distances() -> None:
    invariant = scope.Invariants({"size": len})
    within = Specification(
        domain=domain.Finite.multisets((0, 1), (1, 2)),
        scope=invariant,
        unit=Replace(),
        standard=standard.Pure(),
        intensity=1,
    )
    assert all(len(a) == len(b) for a, b, _ in Finite(within).listed())  # type: ignore[arg-type]
    metric = Metric({("a", "b"): 1, ("b", "c"): 1, ("a", "c"): 2})
    space = Finite(specification(metric, domain.Finite(datasets="abc")))
    assert {pair[:2]: pair[2] for pair in space.listed()}[("a", "c")] == Fraction(2)


def test_tables_are_the_pairs_of_table_replay() -> None:
    each = scene("replace person", "rows")
    space = Tables(each.schema)
    for before, after in pairs(space, 10):
        first, second = (space.given(world) for world in (before, after))
        assert {type(row["person"]) for row in (*first, *second)} <= {int, type(None)}
        assert before[0] is after[0]
        assert not space.same(before, after)
        for small, other in list(space.smaller(before, after))[:5]:
            assert len(space.given(small)) + len(space.given(other)) <= len(first) + len(second)
    assert space.words() == "replace one person of visits"
    assert Tables(scene("add-remove person-week", "rows").schema).words() == "add-remove one person-week of visits"


def test_rows_of_nobody_do_not_change_by_halves() -> None:
    space = Tables(scene("add-remove person", "rows").schema)
    seen = 0
    for (pair, _), _ in pairs(space, 400):
        nobody = [piece for piece in (*pair.before, *pair.after) if piece.owner == (None,)]
        seen += bool(nobody)
        assert not nobody or all(piece.owner != (None,) for piece in pair.common)
    assert seen > 5


class Counts(Space[int]):
    """The least that a space needs."""

    def draw(self, source: random.Random) -> int:
        return source.randint(0, 9)

    def neighbour(self, world: int, source: random.Random) -> int:  # noqa: ARG002
        return world + 1


def test_a_space_of_ones_own_needs_two_methods() -> None:
    space = Counts()
    assert (space.words(), space.kind(1, 2), list(space.smaller(1, 2)), space.listed()) == ("Counts", "pair", [], None)
    assert space.same(3, 3)
    assert not space.same(3, 4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Records(3, unit=AddRemove()), "Records: a parameter is of a wrong kind; got int"),  # type: ignore[arg-type]
        (lambda: Records(Whole(), unit="add"), "Records: a parameter is of a wrong kind; got a text"),  # type: ignore[arg-type]
        (lambda: Records(Whole(), unit=AddRemove(), size=0), "1 or greater"),
        (lambda: Records(Whole(), unit=AddRemove(), size=2, least=3), "least must be from 0 to size"),
        (lambda: Records(Whole(), unit=AddRemove(key="person")), "the key is no field"),
        (lambda: Records(ROWS, unit=AddRemove(key="nobody")), "the key is no field of the records; got 'nobody'"),
        (lambda: Records(ROWS, unit=AddRemove(key="person"), ordered=True), "no meaning where records have places"),
        (
            lambda: Records(ROWS, unit=AddRemove(key="person", per={"column": "day", "period": "day"})),
            "no person-periods",
        ),
        (lambda: Histograms(3, unit=AddRemove(key="a")), "single records"),
        (lambda: Histograms(1, unit=Replace()), "no two histograms of one cell"),
        (lambda: Histograms(2, unit=AddRemove(), most=0), "1 or greater"),
        (lambda: Finite(3), "Finite: a parameter is of a wrong kind; got int"),  # type: ignore[arg-type]
        (lambda: Finite(specification(AddRemove(), domain.Histogram(cells=2))), "cannot be listed; got histogram"),
        (lambda: Tables(scene("replace row", "rows").schema, table="calls"), "no such private table; got 'calls'"),
        (lambda: Tables(scene("replace row", "rows").schema, storage={"agee": "VARCHAR"}), "no such column; got agee"),
    ],
)
def test_bad_spaces_are_refused(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()
