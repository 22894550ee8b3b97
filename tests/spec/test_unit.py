"""Units: distances by enumeration under both conventions, steps between units, and the course's sensitivities."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import fields
from datetime import date, datetime
from fractions import Fraction
from itertools import combinations, product

import pytest

from quincunx.errors import ParameterError, SpecificationError
from quincunx.spec import unit
from quincunx.spec.domain import Finite, Histogram, Tables
from quincunx.spec.period import Per, pieces
from quincunx.spec.unit import AddRemove, Metric, Neighbours, Replace

MULTISETS = Finite.multisets("ab", range(4))
VECTORS = Finite.vectors("ab", 3)
COLUMNS = ("person", "day")
DAY = {"column": "day", "period": "day"}
INF = math.inf


def distances(value, datasets, world):
    return {(x, y): value.distance(x, y, world) for x, y in product(datasets, repeat=2)}


class TestAddRemoveOfRecords:
    @pytest.mark.parametrize(
        ("x", "y", "expected"),
        [
            (("a",), ("a",), 0),
            (("a",), (), 1),
            (("a", "b"), ("a",), 1),
            (("a", "a"), ("a",), 1),
            (("a",), ("b",), INF),
            (("a", "b"), (), INF),
            (("a", "a", "b"), ("a", "b", "b"), INF),
        ],
    )
    def test_one_record_more_or_less(self, x, y, expected):
        assert AddRemove().distance(x, y, MULTISETS) == expected
        assert AddRemove().distance(y, x, MULTISETS) == expected

    def test_the_order_of_records_has_no_meaning(self):
        assert AddRemove().distance(("b", "a"), ("a", "b"), MULTISETS) == 0

    @pytest.mark.parametrize("group", [1, 2, 3])
    def test_groups_are_the_symmetric_difference(self, group):
        value = AddRemove(group=group)
        for x, y in combinations(MULTISETS.datasets, 2):
            changes = sum(abs(x.count(letter) - y.count(letter)) for letter in "ab")
            assert value.distance(x, y, MULTISETS) == (1 if changes <= group else INF)

    def test_insertion_on_vectors(self):
        words = Finite(datasets=[(), ("a",), ("a", "b"), ("b", "a")], ordered=True)
        value = AddRemove()
        assert value.distance(("a", "b"), ("a",), words) == 1
        assert value.distance(("b", "a"), ("a",), words) == 1
        assert value.distance(("a", "b"), ("b", "a"), words) == INF
        assert AddRemove(group=2).distance(("a", "b"), ("b", "a"), words) == 1

    def test_vectors_of_one_length_have_no_neighbours(self):
        assert list(AddRemove().protected_pairs(VECTORS.datasets, VECTORS)) == []

    def test_it_does_not_move_people(self):
        assert AddRemove().moves_between_parts is False


class TestReplaceOfRecords:
    @pytest.mark.parametrize(
        ("x", "y", "expected"),
        [
            (("a", "b"), ("b", "a"), 0),
            (("a",), ("b",), 1),
            (("a", "a"), ("a", "b"), 1),
            (("a", "a"), ("b", "b"), INF),
            (("a",), (), INF),
            (("a",), ("a", "b"), INF),
        ],
    )
    def test_one_record_for_another(self, x, y, expected):
        assert Replace().distance(x, y, MULTISETS) == expected
        assert Replace().distance(y, x, MULTISETS) == expected

    @pytest.mark.parametrize("group", [1, 2])
    def test_hamming_on_vectors(self, group):
        for x, y in combinations(VECTORS.datasets, 2):
            differing = sum(a != b for a, b in zip(x, y, strict=True))
            assert Replace(group=group).distance(x, y, VECTORS) == (1 if differing <= group else INF)

    def test_vectors_of_other_lengths_are_far(self):
        world = Finite(datasets=[("a",), ("a", "b")], ordered=True)
        assert Replace(group=5).distance(("a",), ("a", "b"), world) == INF

    def test_it_moves_people(self):
        assert Replace().moves_between_parts is True


class TestHistograms:
    def test_add_remove_is_one_count(self):
        world = Histogram(cells=3)
        assert AddRemove().distance((1, 0, 2), (1, 1, 2), world) == 1
        assert AddRemove().distance((1, 0, 2), (0, 1, 2), world) == INF
        assert AddRemove(group=2).distance((1, 0, 2), (0, 1, 2), world) == 1

    def test_replace_moves_one_person(self):
        world = Histogram(cells=3)
        assert Replace().distance((1, 0, 2), (0, 1, 2), world) == 1
        assert Replace().distance((1, 0, 2), (1, 1, 2), world) == INF


PEOPLE = Finite.multisets(
    [("ann", "2024-01-01"), ("ann", "2024-01-02"), ("bob", "2024-01-01"), ("bob", "2024-02-01")],
    range(4),
    columns=COLUMNS,
)


class TestPeopleWithRows:
    def test_a_person_is_all_their_rows(self):
        x = (("ann", "2024-01-01"), ("ann", "2024-01-02"), ("bob", "2024-01-01"))
        without = (("bob", "2024-01-01"),)
        assert AddRemove(key="person").distance(x, without, PEOPLE) == 1
        assert AddRemove().distance(x, without, PEOPLE) == INF

    def test_a_person_with_fewer_rows_was_removed_and_added_back(self):
        x, y = (("ann", "2024-01-01"), ("ann", "2024-01-02")), (("ann", "2024-01-01"),)
        assert AddRemove(key="person").distance(x, y, PEOPLE) == INF
        assert AddRemove(key="person", group=2).distance(x, y, PEOPLE) == 1
        assert Replace(key="person").distance(x, y, PEOPLE) == 1

    def test_the_same_row_twice_is_another_person(self):
        row = ("ann", "2024-01-01")
        assert AddRemove(key="person").distance((row, row), (row,), PEOPLE) == INF
        assert Replace(key="person").distance((row, row), (row,), PEOPLE) == 1

    def test_replace_keeps_the_number_of_people(self):
        ann, bob = ("ann", "2024-01-01"), ("bob", "2024-01-01")
        assert Replace(key="person").distance((ann,), (bob,), PEOPLE) == 1
        assert Replace(key="person").distance((ann, bob), (bob,), PEOPLE) == INF

    def test_a_person_day_is_the_rows_of_one_day(self):
        value = AddRemove(key="person", per=DAY)
        one, two = ("ann", "2024-01-01"), ("ann", "2024-01-02")
        assert value.distance((one, two), (one,), PEOPLE) == 1
        assert value.distance((one, one, two), (two,), PEOPLE) == 1
        assert value.distance((one, two), (), PEOPLE) == INF

    @pytest.mark.parametrize(
        ("period", "same", "other"),
        [
            ("day", "2024-03-05", "2024-03-06"),
            ("week", "2024-12-30", "2025-01-06"),
            ("month", "2024-03-31", "2024-04-01"),
            ("quarter", "2024-03-31", "2024-04-01"),
            ("year", "2024-12-31", "2025-01-01"),
        ],
    )
    def test_periods_begin_where_the_calendar_says(self, period, same, other):
        per = Per(column="day", period=period)
        start = {"day": "2024-03-05", "week": "2025-01-05", "month": "2024-03-01", "quarter": "2024-01-01"}
        assert per.of(same) == per.of(start.get(period, "2024-01-01"))
        assert per.of(same) != per.of(other)

    def test_dates_timestamps_and_texts_agree(self):
        per = Per(column="day", period="day")
        assert per.of(date(2024, 2, 29)) == per.of(datetime(2024, 2, 29, 23, 59)) == per.of("2024-02-29T01:00:00")

    def test_a_missing_date_is_a_period_of_its_own(self):
        assert Per(column="day", period="day").of(None) is None

    @pytest.mark.parametrize("value", ["yesterday", 20240101, ("2024", 1)])
    def test_what_is_no_date_is_refused_and_not_shown(self, value):
        with pytest.raises(SpecificationError, match="is not a date") as caught:
            Per(column="day", period="day").of(value)
        assert "yesterday" not in str(caught.value)


class TestListedPairs:
    WORLD = Finite(datasets=["x", "y", "z", 1])

    def test_neighbours_are_symmetric(self):
        value = Neighbours([("x", "y"), ("z", "y"), ("y", "x")])
        assert value.pairs == (("x", "y"), ("y", "z"))
        assert distances(value, "xyz", self.WORLD)["y", "x"] == 1
        assert value.distance("x", "z", self.WORLD) == INF
        assert value.distance("x", "x", self.WORLD) == 0

    def test_two_steps_of_a_chain(self):
        chain = Neighbours([("a", "b"), ("b", "c"), ("c", "d")])
        assert chain.times(2) == Neighbours([("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("b", "d")])
        assert chain.times(3) == Neighbours(list(combinations("abcd", 2)))
        assert chain.times(1) == chain

    def test_metric_distances(self):
        value = Metric({("x", "y"): "1/2", ("z", "y"): 3, ("x", "x"): 0})
        assert value.distance("y", "x", self.WORLD) == Fraction(1, 2)
        assert value.distance("y", "z", self.WORLD) == 3
        assert value.distance("x", "z", self.WORLD) == INF
        assert value.distance("z", "z", self.WORLD) == 0
        assert list(value.protected_pairs(("x", "y", "z"), self.WORLD)) == [("x", "y", Fraction(1, 2)), ("y", "z", 3)]

    def test_a_typed_decimal_is_the_decimal(self):
        assert Metric({("x", "y"): 0.1}).distance("x", "y", self.WORLD) == Fraction(1, 10)

    @pytest.mark.parametrize("pairs", [[("x",)], [("x", "y", "z")], ["xy"], [3]])
    def test_a_pair_has_two_ends(self, pairs):
        with pytest.raises(SpecificationError, match="expected a pair"):
            Neighbours(pairs)

    def test_nobody_is_their_own_neighbour(self):
        with pytest.raises(SpecificationError, match="its own neighbour"):
            Neighbours([("x", "x")])

    @pytest.mark.parametrize("listed", [{("x", "y"): 0}, {("x", "x"): 1}])
    def test_zero_means_equal(self, listed):
        with pytest.raises(SpecificationError, match="a distance of 0"):
            Metric(listed)

    def test_negative_and_infinite_distances_are_refused(self):
        for value in (-1, math.inf, "a"):
            with pytest.raises(ParameterError):
                Metric({("x", "y"): value})

    def test_two_values_for_one_pair_are_refused(self):
        with pytest.raises(SpecificationError, match="two distances"):
            Metric({("x", "y"): 1, ("y", "x"): 2})
        assert Metric({("x", "y"): 1, ("y", "x"): 1}).distances == ((("x", "y"), 1),)

    def test_a_metric_has_no_group(self):
        with pytest.raises(SpecificationError, match="no group of steps"):
            Metric({("x", "y"): 1}).times(2)

    @pytest.mark.parametrize("value", [Neighbours([("x", "w")]), Metric({("w", "x"): 1})])
    def test_datasets_outside_the_domain_are_refused(self, value):
        with pytest.raises(SpecificationError, match="outside the domain; got 'w'"):
            value.check(self.WORLD)

    @pytest.mark.parametrize("value", [Neighbours([("x", "y")]), Metric({("x", "y"): 1})])
    def test_only_on_finite_worlds(self, value):
        with pytest.raises(SpecificationError, match="use AddRemove or Replace"):
            value.check(Histogram(cells=2))

    def test_only_themselves_are_one_step_away(self):
        one, two = Neighbours([("x", "y")]), Neighbours([("x", "z")])
        assert one.steps_to(one) == 1
        assert one.steps_to(two) is None
        assert one.steps_to(AddRemove()) is None
        assert Metric({("x", "y"): 1}).steps_to(one) is None


class TestFit:
    TABLE = Tables(columns={"person": "text", "day": "date", "seen": "timestamp", "age": "integer"})

    @pytest.mark.parametrize("kind", [AddRemove, Replace])
    def test_declared_columns_fit(self, kind):
        kind().check(self.TABLE)
        kind(key="person").check(self.TABLE)
        kind(key="person", per=DAY).check(self.TABLE)
        kind(key="person", per={"column": "seen", "period": "week"}).check(self.TABLE)
        kind(key="person", per=DAY).check(PEOPLE)

    @pytest.mark.parametrize("kind", [AddRemove, Replace])
    @pytest.mark.parametrize(
        ("world", "options", "message"),
        [
            (TABLE, {"key": "household"}, "no column 'household'"),
            (TABLE, {"key": "person", "per": {"column": "month", "period": "day"}}, "no column 'month'"),
            (TABLE, {"key": "person", "per": {"column": "age", "period": "day"}}, "'age' has no calendar; got integer"),
            (Histogram(cells=2), {"key": "person"}, "no column 'person'"),
            (MULTISETS, {"key": "person"}, "no column 'person'"),
            (Finite.vectors([("ann", 1)], 1, columns=("person", "day")), {"key": "person"}, "ordered domain"),
            (Finite(datasets=["x0", "x1"]), {}, "a label without records"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, kind, world, options, message):
        with pytest.raises(SpecificationError, match=message):
            kind(**options).check(world)

    def test_a_missing_column_is_refused_in_distances_too(self):
        with pytest.raises(SpecificationError, match="no column 'household'"):
            AddRemove(key="household").distance((), (("ann", "2024-01-01"),), PEOPLE)

    @pytest.mark.parametrize("kind", [AddRemove, Replace])
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"key": ""}, "name of a column"),
            ({"key": 3}, "name of a column"),
            ({"per": DAY}, "needs a key"),
            ({"key": "p", "per": "day"}, "cannot read the period"),
            ({"key": "p", "per": {"column": "day"}}, "cannot read the period"),
            ({"key": "p", "per": {"column": "day", "period": "day", "zone": "UTC"}}, "cannot read the period"),
            ({"key": "p", "per": {"column": "day", "period": "decade"}}, "unknown period"),
            ({"key": "p", "per": {"column": "", "period": "day"}}, "name of a column"),
        ],
    )
    def test_what_cannot_be_read_is_refused(self, kind, options, message):
        with pytest.raises(SpecificationError, match=message):
            kind(**options)

    @pytest.mark.parametrize("group", [0, -1, 1.5, "two", True])
    def test_a_group_is_a_whole_number(self, group):
        with pytest.raises(ParameterError, match="group"):
            AddRemove(group=group)


MONTH = {"column": "day", "period": "month"}
YEAR = {"column": "day", "period": "year"}
WEEK = {"column": "day", "period": "week"}
OTHER = {"column": "seen", "period": "day"}


class TestSteps:
    @pytest.mark.parametrize(
        ("ours", "other", "steps"),
        [
            (AddRemove(), AddRemove(), 1),
            (AddRemove(), AddRemove(group=3), 3),
            (AddRemove(group=2), AddRemove(group=3), 2),
            (AddRemove(group=3), AddRemove(), 1),
            (AddRemove(), Replace(), 2),
            (AddRemove(), Replace(group=2), 4),
            (AddRemove(group=2), Replace(), 1),
            (AddRemove(group=3), Replace(group=2), 2),
            (Replace(), AddRemove(), None),
            (Replace(), Replace(group=3), 3),
            (Replace(group=2), Replace(group=3), 2),
            (AddRemove(key="p"), AddRemove(key="p", per=DAY), 2),
            (AddRemove(key="p"), AddRemove(key="p", per=DAY, group=2), 4),
            (AddRemove(key="p", group=2), AddRemove(key="p", per=DAY), 1),
            (AddRemove(key="p"), Replace(key="p", per=DAY), 4),
            (AddRemove(key="p", per=DAY), AddRemove(key="p"), None),
            (AddRemove(key="p", per=MONTH), AddRemove(key="p", per=DAY), 2),
            (AddRemove(key="p", per=DAY), AddRemove(key="p", per=MONTH), 31),
            (AddRemove(key="p", per=DAY), Replace(key="p", per=WEEK), 14),
            (AddRemove(key="p", per=MONTH), AddRemove(key="p", per=YEAR), 12),
            (AddRemove(key="p", per=WEEK), AddRemove(key="p", per=MONTH), None),
            (AddRemove(key="p", per=MONTH), AddRemove(key="p", per=WEEK), None),
            (AddRemove(key="p", per=DAY), AddRemove(key="p", per=OTHER), None),
            (Replace(key="p"), Replace(key="p", per=DAY), None),
            (Replace(key="p"), AddRemove(key="p", per=DAY), None),
            (Replace(key="p", per=DAY), Replace(key="p"), None),
            (Replace(key="p", per=DAY), Replace(key="p", per=DAY), 1),
            (AddRemove(key="p"), AddRemove(key="household"), None),
            (AddRemove(key="p"), AddRemove(), None),
            (AddRemove(), AddRemove(key="p"), None),
            (AddRemove(), Neighbours([("x", "y")]), None),
        ],
    )
    def test_table(self, ours, other, steps):
        assert ours.steps_to(other) == steps

    @pytest.mark.parametrize(
        ("ours", "theirs", "count"),
        [
            ("day", "week", 7),
            ("day", "month", 31),
            ("day", "quarter", 92),
            ("day", "year", 366),
            ("month", "quarter", 3),
            ("month", "year", 12),
            ("quarter", "year", 4),
        ],
    )
    def test_a_coarse_period_has_so_many_fine_ones(self, ours, theirs, count):
        # By counting: the largest number of fine periods that the days of one coarse period fall into.
        fine, coarse = Per(column="d", period=ours), Per(column="d", period=theirs)
        inside: dict[object, set[object]] = {}
        for ordinal in range(date(2023, 1, 1).toordinal(), date(2029, 1, 1).toordinal()):
            day = date.fromordinal(ordinal)
            inside.setdefault(coarse.of(day), set()).add(fine.of(day))
        assert max(len(found) for found in inside.values()) == count == pieces(fine, coarse)
        assert pieces(coarse, fine) == 2


def hops(value, world, start):
    """Breadth-first search along protected steps: a second opinion on `steps_to`."""
    near = {x: [] for x in world.datasets}
    for x, y, _ in value.protected_pairs(world.datasets, world):
        near[x].append(y)
        near[y].append(x)
    found, queue = {start: 0}, deque([start])
    while queue:
        x = queue.popleft()
        for y in near[x]:
            if y not in found:
                found[y] = found[x] + 1
                queue.append(y)
    return found


FOUR_VISITS = (("ann", "2024-01-01"), ("ann", "2024-01-02"), ("bob", "2024-01-01"), ("bob", "2024-01-02"))


class TestStepsByEnumeration:
    """On a world with all intermediate tables, the longest shortest path equals `steps_to`."""

    # Every set of visits, so that whatever lies between two of them is there.
    WORLD = Finite(datasets=[x for size in range(5) for x in combinations(FOUR_VISITS, size)], columns=COLUMNS)

    @pytest.mark.parametrize(
        ("ours", "other"),
        [
            (AddRemove(), AddRemove(group=2)),
            (AddRemove(), Replace()),
            (AddRemove(), Replace(group=2)),
            (AddRemove(group=2), Replace(group=2)),
            (AddRemove(key="person"), Replace(key="person")),
            (AddRemove(key="person"), AddRemove(key="person", per=DAY)),
            (AddRemove(key="person"), Replace(key="person", per=DAY)),
            (AddRemove(key="person", per=DAY), Replace(key="person", per=DAY)),
            (AddRemove(key="person", per=MONTH), AddRemove(key="person", per=DAY)),
            (Replace(key="person"), Replace(key="person", group=2)),
        ],
        ids=repr,
    )
    def test_the_bound_is_reached_and_never_exceeded(self, ours, other):
        longest = 0
        for x, y, _ in other.protected_pairs(self.WORLD.datasets, self.WORLD):
            longest = max(longest, hops(ours, self.WORLD, x)[y])
        assert longest == ours.steps_to(other)

    @pytest.mark.parametrize(
        ("ours", "other"),
        [
            (Replace(key="person"), AddRemove(key="person")),
            (Replace(key="person"), AddRemove(key="person", per=DAY)),
            (Replace(key="person"), Replace(key="person", per=DAY)),
            (Replace(key="person", per=DAY), Replace(key="person")),
        ],
        ids=repr,
    )
    def test_no_number_of_steps_is_enough(self, ours, other):
        assert ours.steps_to(other) is None
        pairs = other.protected_pairs(self.WORLD.datasets, self.WORLD)
        assert any(y not in hops(ours, self.WORLD, x) for x, y, _ in pairs)


def sensitivity(value, world, statistic):
    """The largest ℓ1 change of a statistic over one protected step."""
    worst = Fraction(0)
    for x, y, _ in value.protected_pairs(world.datasets, world):
        worst = max(worst, sum(abs(a - b) for a, b in zip(statistic(x), statistic(y), strict=True)))
    return worst


class TestCourseExamples:
    """The same statistic has another sensitivity under the other convention of neighbours."""

    def test_counts_by_hair_colour(self):
        colours = ("blond", "dark", "brown", "red")
        world = Finite.multisets(colours, range(4))

        def counts(x):
            return [x.count(colour) for colour in colours]

        assert sensitivity(AddRemove(), world, counts) == 1
        assert sensitivity(Replace(), world, counts) == 2

    def test_sum_of_salaries_between_20_and_200(self):
        world = Finite.multisets((20, 50, 125, 200), range(4))
        assert sensitivity(AddRemove(), world, lambda x: [sum(x)]) == 200
        assert sensitivity(Replace(), world, lambda x: [sum(x)]) == 180

    def test_average_age_with_a_public_number_of_people(self):
        n, ages = 3, (0, 40, 100)
        world = Finite.vectors(ages, n)
        assert sensitivity(Replace(), world, lambda x: [Fraction(sum(x), n)]) == Fraction(100, n)
        assert list(AddRemove().protected_pairs(world.datasets, world)) == []

    def test_average_age_without_one_moves_more(self):
        # From one person of age 0 to two people, one of age 100: by 50, more than 100/3.
        world = Finite.multisets((0, 100), range(1, 4))
        assert sensitivity(AddRemove(), world, lambda x: [Fraction(sum(x), len(x))]) == 50


EXAMPLES = [
    AddRemove(),
    AddRemove(key="person", group=3),
    AddRemove(key="person", per=DAY),
    Replace(key="person", per={"column": "day", "period": "quarter"}, group=2),
    Neighbours([("x", "y"), (1, (2, "z"))]),
    Neighbours([]),
    Metric({("x", "y"): "1/3", (1, 2): 5}),
]


@pytest.mark.parametrize("value", EXAMPLES, ids=repr)
class TestEveryUnit:
    def test_json_gives_it_back(self, value):
        assert unit.from_json(value.to_json()) == value

    def test_repr_rebuilds_it(self, value):
        names = {name: getattr(unit, name) for name in ("AddRemove", "Replace", "Neighbours", "Metric", "Per")}
        assert eval(repr(value), {**names, "Fraction": Fraction}) == value

    def test_it_is_frozen_and_hashable(self, value):
        assert hash(value) == hash(unit.from_json(value.to_json()))
        for each in fields(value):
            with pytest.raises(AttributeError):
                setattr(value, each.name, 1)

    def test_one_step_reaches_itself(self, value):
        assert value.steps_to(value) == 1

    def test_words_are_sentences(self, value):
        assert value.words().endswith(".")
        assert value.words()[0].isupper()
        assert value.hidden()
        assert value.unpromised()
        assert "d_{" in value.latex()


class TestWords:
    @pytest.mark.parametrize(
        ("value", "start"),
        [
            (AddRemove(), "One person, who is one record, being added to the data or removed from them."),
            (AddRemove(key="id"), "One person, with all their rows, being added to the data or removed from them."),
            (AddRemove(key="id", group=4), "Up to 4 people, with all their rows, being added"),
            (AddRemove(key="id", per=WEEK), "One person's rows of one week being added to the data or removed"),
            (Replace(), "One person, who is one record, being exchanged for another person, while the number"),
            (Replace(group=2), "Up to 2 people, one record each, being exchanged for others, while the number"),
            (Replace(key="id", per=DAY, group=2), "Up to 2 times one person's rows of one day being exchanged for"),
        ],
    )
    def test_words_before_symbols(self, value, start):
        assert value.words().startswith(start)

    def test_what_is_left_unprotected(self):
        assert AddRemove().unpromised() == "hide equally well what several people show together"
        assert "rows of several days" in AddRemove(key="p", per=DAY).unpromised()
        assert "more than 3 people" in AddRemove(group=3).unpromised()
        assert Replace().unpromised().startswith("hide how many people are in the data, nor hide equally well")
        assert "from Monday to Sunday" in AddRemove(key="p", per=WEEK).words()


def _reached(value: AddRemove | Replace, vectors: list[tuple[Fraction, ...]], norm: int) -> Fraction:
    """The square of the farthest that one step moves a sum, over all datasets of up to three of these vectors."""
    world = Finite.multisets(tuple(range(len(vectors))), range(4))
    sums = {
        x: tuple(map(sum, zip(*(vectors[i] for i in x), strict=True))) or (0,) * len(vectors[0]) for x in world.datasets
    }
    moved = (
        tuple(abs(a - b) for a, b in zip(sums[x], sums[y], strict=True))
        for x, y, _ in value.protected_pairs(world.datasets, world)
    )
    return max(sum(each) ** 2 if norm == 1 else sum(part**2 for part in each) for each in moved)


class TestWhatATableAsks:
    @pytest.mark.parametrize("norm", [1, 2])
    @pytest.mark.parametrize("signed", [False, True])
    @pytest.mark.parametrize("single", [False, True])
    @pytest.mark.parametrize("value", [AddRemove(), Replace(), AddRemove(group=2), Replace(group=2)], ids=repr)
    def test_reach_is_what_enumeration_finds(self, value, norm, signed, single):
        # (0, 1), (1, 0), (3/5, 4/5) and so on: no vector is longer than 1 in the norm, and the extremes are among them.
        inside = Fraction(1, 2) if norm == 1 else Fraction(3, 5)
        rest = Fraction(1, 2) if norm == 1 else Fraction(4, 5)
        one, none = Fraction(1), Fraction(0)
        vectors = [(one,), (none,), (inside,)] if single else [(one, none), (none, one), (inside, rest)]
        if signed:
            vectors[-1] = tuple(-each for each in vectors[0])
        assert _reached(value, vectors, norm) == value.reach2(norm, signed=signed, single=single)

    @pytest.mark.parametrize("value", [Replace(group=2), unit.AddRemoveReplace(group=2)], ids=repr)
    def test_reach_of_what_also_exchanges_is_that_of_exchanges(self, value):
        assert [value.reach2(norm, signed=False) for norm in (1, 2)] == [16, 8]

    @pytest.mark.parametrize("group", [1, 2, 3, 7])
    @pytest.mark.parametrize("people", [1, 2, 5, 12])
    def test_steps_for_people_are_steps_to_the_unit_that_says_so(self, group, people):
        added, replaced = AddRemove(group=group), Replace(group=group)
        assert added.steps_for(people, presence=True) == added.steps_to(AddRemove(group=people))
        assert added.steps_for(people, presence=False) == added.steps_to(Replace(group=people))
        assert replaced.steps_for(people, presence=True) == replaced.steps_to(Replace(group=people))
        assert replaced.steps_for(people, presence=False) == replaced.steps_to(Replace(group=people))

    @pytest.mark.parametrize("value", [AddRemove(), Replace(), unit.Hamming(), unit.SymmetricDifference()], ids=repr)
    def test_the_number_of_people_is_kept_where_it_is_said(self, value):
        pairs = list(value.protected_pairs(MULTISETS.datasets, MULTISETS))
        assert pairs
        assert value.keeps_number == all(len(x) == len(y) for x, y, _ in pairs)

    @pytest.mark.parametrize("value", [AddRemove(), Replace(), unit.Hamming(), unit.SymmetricDifference()], ids=repr)
    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_up_to_a_distance_is_one_step(self, value, k):
        single = {AddRemove: AddRemove, Replace: Replace, unit.Hamming: Replace, unit.SymmetricDifference: AddRemove}
        near = single[type(value)]()
        for x, y in product(MULTISETS.datasets, repeat=2):
            apart = near.changes(near.view(x, MULTISETS), near.view(y, MULTISETS))
            assert (value.up_to(k).distance(x, y, MULTISETS) <= 1) == (apart <= k)

    def test_only_units_of_whole_people_are_of_people(self):
        assert all(
            unit.of_people(each) for each in (AddRemove(), Replace(), unit.Hamming(), unit.SymmetricDifference())
        )
        others = (
            unit.AddRemoveReplace(),
            unit.Element(key="a", element="b"),
            unit.FreeLunch(),
            Neighbours([]),
            "replace",
            None,
        )
        assert not any(unit.of_people(each) for each in others)
