"""Composition theorems, checked on every pair of inputs of random worlds. Proofs: finite/compose.md."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction

import pytest
import tables

from quincunx.errors import MatrixError
from quincunx.finite import Mechanism, adaptive, mixture, parallel, sequential
from quincunx.numbers import Ball, Log, precision
from quincunx.spec.standard import (
    KL,
    TV,
    ZCDP,
    Approximate,
    Divergence,
    GaussianDP,
    Least,
    Pure,
    Renyi,
    Standard,
    Tradeoff,
)

F = Fraction
INPUTS = ("x", "y", "z")
EVERY: list[Standard] = [
    Pure(),
    Approximate("1/20"),
    Approximate("1/3"),
    ZCDP(),
    ZCDP("1/20"),
    Renyi(2),
    Renyi("11/2"),
    GaussianDP(),
    Tradeoff(((0, "9/10"), ("3/10", "3/10"), ("9/10", 0), (1, 0))),
    KL(),
    TV(),
    Divergence("chi-squared"),
    Divergence("jensen-shannon"),
    Divergence("squared-hellinger"),
]
# Standards whose intensities add up under composition, adaptive or not (proofs in compose.md).
ADDITIVE: list[Standard] = [Pure(), ZCDP(), Renyi(2), Renyi("11/2"), KL(), TV()]


def names(standard: Standard) -> str:
    return f"{standard.kind}-{'-'.join(str(getattr(standard, name))[:12] for name in standard.parameters)}"


def pairs(m: Mechanism) -> list[tuple[object, object]]:
    return list(itertools.combinations(m.inputs, 2))


def least(standard: Standard, m: Mechanism, x: object, y: object) -> Least:
    return standard.least(m.law(x), m.law(y))


def ratio(found: Least) -> Fraction | None:
    """e^ε exactly, for pure and approximate; None is infinite."""
    if found.exact is None:
        return None
    return found.exact.of if isinstance(found.exact, Log) else F(1)


def not_above(found: Least, bound: Ball) -> bool:
    with precision(256):
        return not found.lower > bound.upper()


def total(bounds: list[Least]) -> Ball:
    with precision(256):
        return sum((b.upper for b in bounds), Ball(0))


# What the constructions are.


def test_sequential_is_the_product_law() -> None:
    rng = random.Random("product")
    for _ in range(20):
        one, two, three = (tables.mechanism(rng) for _ in range(3))
        m = sequential(one, two, three)
        for x in INPUTS:
            for a, b, c in itertools.product(one.outputs, two.outputs, three.outputs):
                expected = one.probability(x, a) * two.probability(x, b) * three.probability(x, c)
                if (a, b, c) in m.outputs:
                    assert m.probability(x, (a, b, c)) == expected
                else:
                    assert expected == 0
    one = tables.response()
    assert sequential(one, one, one) == one.power(3)
    assert sequential(one).outputs == ((0,), (1,))


def test_adaptive_draws_the_second_from_the_first_output() -> None:
    rng = random.Random("adaptive law")
    for _ in range(20):
        first = tables.mechanism(rng)
        then = {o: tables.mechanism(rng) for o in first.outputs}
        m = adaptive(first, then)
        assert m == adaptive(first, then.__getitem__)
        for x in INPUTS:
            for a in first.outputs:
                for b in then[a].outputs:
                    expected = first.probability(x, a) * then[a].probability(x, b)
                    assert ((a, b) in m.outputs and m.probability(x, (a, b)) == expected) or expected == 0


def test_adaptive_with_a_constant_choice_is_sequential() -> None:
    rng = random.Random("constant")
    for _ in range(10):
        one, two = tables.mechanism(rng), tables.mechanism(rng)
        assert adaptive(one, lambda _, two=two: two) == sequential(one, two)


def test_parallel_gives_each_part_its_share() -> None:
    coin, die = tables.response(), tables.response(5)
    m = parallel([coin, die], lambda x: (x // 2, x % 2), inputs=range(4))
    assert m.inputs == (0, 1, 2, 3)
    assert m.probability(2, (1, 0)) == F(3, 4) * F(5, 6)
    assert parallel([coin, die]).inputs == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert parallel([coin, die]).law((1, 0)) == m.law(2)


def test_mixture_is_the_weighted_sum() -> None:
    rng = random.Random("weighted")
    for _ in range(20):
        one, two = tables.mechanism(rng), tables.mechanism(rng)
        m = mixture(["1/3", "2/3"], [one, two])
        for x in INPUTS:
            for o in m.outputs:
                parts = [part.probability(x, o) if o in part.outputs else F(0) for part in (one, two)]
                assert m.probability(x, o) == parts[0] / 3 + parts[1] * F(2, 3)
        assert one == two or mixture({one: "1/3", two: "2/3"}) == m


# Composition theorems.


@pytest.mark.parametrize("standard", ADDITIVE, ids=names)
def test_sequential_intensities_add_up(standard: Standard) -> None:
    rng = random.Random(f"sequential {names(standard)}")
    finite = 0
    for _ in range(40):
        parts = [tables.mechanism(rng, most=3) for _ in range(rng.choice((2, 2, 3)))]
        whole = sequential(*parts)
        for x, y in pairs(whole):
            each = [least(standard, part, x, y) for part in parts]
            bound = total(each)
            finite += bound.is_finite()
            assert not_above(least(standard, whole, x, y), bound)
    assert finite > 40


def test_sequential_pure_renyi_and_kl_are_exactly_additive_in_one_direction() -> None:
    # For independent runs the bound is attained when the same direction is worse in both parts: run M twice.
    rng = random.Random("attained")
    for _ in range(20):
        m = Mechanism({x: tables.dense_row(rng, list("abc")) for x in "xy"})
        twice = m.power(2)
        one, two = ratio(least(Pure(), m, "x", "y")), ratio(least(Pure(), twice, "x", "y"))
        assert two == one**2
        for standard in (KL(), Renyi(2), Renyi("11/2")):
            with precision(256):
                double = 2 * least(standard, m, "x", "y").upper
                assert abs(least(standard, twice, "x", "y").upper - double) < Ball(1e-50)


@pytest.mark.parametrize("standard", ADDITIVE, ids=names)
def test_adaptive_intensities_add_up(standard: Standard) -> None:
    rng = random.Random(f"adaptive {names(standard)}")
    finite = 0
    for _ in range(25):
        first = tables.mechanism(rng, most=3)
        then = {o: tables.mechanism(rng, most=3) for o in first.outputs}
        whole = adaptive(first, then)
        for x, y in pairs(whole):
            second = [least(standard, m, x, y) for m in then.values()]
            with precision(256):
                worst = Ball(0)
                for found in second:
                    worst = found.upper if found.upper > worst else worst
                bound = least(standard, first, x, y).upper + worst
            finite += bound.is_finite()
            assert not_above(least(standard, whole, x, y), bound)
    assert finite > 20


@pytest.mark.parametrize("make", ["sequential", "adaptive"])
def test_epsilons_and_deltas_add_up(make: str) -> None:
    rng = random.Random(f"epsilon delta {make}")
    finite = 0
    for _ in range(60):
        d1, d2 = rng.choice((F(0), F(1, 20), F(1, 5))), rng.choice((F(1, 100), F(1, 5)))
        first = tables.mechanism(rng)
        then = {o: tables.mechanism(rng) for o in first.outputs}
        if make == "sequential":
            only = tables.mechanism(rng)
            then = dict.fromkeys(first.outputs, only)
        whole = adaptive(first, then)
        for x, y in pairs(whole):
            one = ratio(least(Approximate(d1), first, x, y))
            two = [ratio(least(Approximate(d2), m, x, y)) for m in then.values()]
            if one is None or None in two:
                continue
            finite += 1
            found = ratio(least(Approximate(d1 + d2), whole, x, y))
            assert found is not None
            assert found <= one * max(two)
    assert finite > 60


@pytest.mark.parametrize("adaptively", [False, True])
def test_squares_of_mu_add_up(adaptively: bool) -> None:
    rng = random.Random(f"gaussian {adaptively}")
    finite = 0
    for _ in range(40):
        first = Mechanism({x: tables.dense_row(rng, list("abc")) for x in INPUTS})
        then = {o: Mechanism({x: tables.dense_row(rng, list("abc")) for x in INPUTS}) for o in first.outputs}
        if not adaptively:
            then = dict.fromkeys(first.outputs, then["a"])
        whole = adaptive(first, then)
        for x, y in pairs(whole):
            with precision(256):
                one = least(GaussianDP(), first, x, y).upper
                two = max(float(least(GaussianDP(), m, x, y).upper) for m in then.values()) * (1 + 1e-12)
                bound = (one * one + Ball(two) * Ball(two)).sqrt()
            finite += 1
            assert not_above(least(GaussianDP(), whole, x, y), bound)
    assert finite == 120


def test_many_runs_of_randomized_response() -> None:
    n = 6
    m = tables.response().power(n)
    assert least(Pure(), m, 0, 1).exact == Log(3**n)
    counts = m.map(sum)
    # The count is sufficient: no standard changes.
    for standard in EVERY:
        one, other = least(standard, m, 0, 1), least(standard, counts, 0, 1)
        assert one.exact == other.exact
        with precision(256):
            assert abs(one.upper - other.upper) <= one.upper * Ball(1e-5)


# Parallel composition.


def person_worlds(parts: int) -> list[tuple[int, ...]]:
    """One person who may be absent, in any one part: what each part counts."""
    empty = (0,) * parts
    return [empty, *(tuple(int(i == j) for j in range(parts)) for i in range(parts))]


def test_parallel_under_replace_where_a_person_changes_part_is_nine_not_three() -> None:
    # Seed 002 prints the maximum. Truth ¾ in each of two parts: moving from one part to the other costs 9.
    whole = parallel([tables.response(), tables.response()], inputs=person_worlds(2))
    absent, first, second = whole.inputs
    assert ratio(least(Pure(), whole, first, second)) == 9
    assert ratio(least(Pure(), whole, absent, first)) == 3
    assert ratio(least(Pure(), whole, absent, second)) == 3


def test_parallel_under_replace_inside_a_part_is_three() -> None:
    # The person stays in the first part and changes an answer; the second part does not see it.
    whole = parallel([tables.response(), tables.response()], lambda bit: (bit, 0), inputs=(0, 1))
    assert ratio(least(Pure(), whole, 0, 1)) == 3


@pytest.mark.parametrize("standard", EVERY, ids=names)
def test_parallel_where_one_share_changes_costs_that_part(standard: Standard) -> None:
    rng = random.Random(f"one share {names(standard)}")
    for _ in range(12):
        parts = [tables.mechanism(rng, (0, 1), most=3) for _ in range(2)]
        whole = parallel(parts)
        for place in (0, 1):
            for other in (0, 1):
                x, y = ((0, other), (1, other)) if place == 0 else ((other, 0), (other, 1))
                alone, found = least(standard, parts[place], 0, 1), least(standard, whole, x, y)
                if alone.exact is not None and found.exact is not None:
                    assert alone.exact == found.exact
                assert alone.lower.is_finite() == found.lower.is_finite()
                if alone.upper.is_finite():
                    with precision(256):
                        assert abs(found.upper - alone.upper) <= alone.upper * Ball(1e-4)


@pytest.mark.parametrize("standard", ADDITIVE, ids=names)
def test_parallel_under_replace_is_the_largest_sum_of_two_parts(standard: Standard) -> None:
    rng = random.Random(f"two parts {names(standard)}")
    for _ in range(12):
        parts = [tables.mechanism(rng, (0, 1), most=2) for _ in range(3)]
        whole = parallel(parts, inputs=person_worlds(3))
        add = [least(standard, part, 0, 1) for part in parts]
        people = whole.inputs[1:]
        for (i, x), (j, y) in itertools.combinations(enumerate(people), 2):
            assert not_above(least(standard, whole, x, y), total([add[i], add[j]]))


# Post-processing, pre-processing and mixing.


def random_function(rng: random.Random, m: Mechanism) -> Callable[[object], int]:
    image = {o: rng.randrange(2) for o in m.outputs}
    return image.__getitem__


@pytest.mark.parametrize("standard", EVERY, ids=names)
def test_post_processing_never_costs(standard: Standard) -> None:
    rng = random.Random(f"post {names(standard)}")
    strict = 0
    for _ in range(14):
        m = tables.mechanism(rng)
        kernel = tables.mechanism(rng, m.outputs)
        for after in (m.post(kernel), m.map(random_function(rng, m))):
            for x, y in pairs(m):
                before, found = least(standard, m, x, y), least(standard, after, x, y)
                assert not_above(found, before.upper)
                if before.exact is not None and found.exact is not None:
                    strict += _value(found) < _value(before)
                    assert _value(found) <= _value(before)
                else:
                    strict += bool(found.upper < before.lower)
    assert strict > 6


def _value(found: Least) -> Fraction:
    return found.exact.of - 1 if isinstance(found.exact, Log) else found.exact


@pytest.mark.parametrize("standard", EVERY, ids=names)
def test_renaming_outputs_changes_nothing(standard: Standard) -> None:
    rng = random.Random("rename")
    for _ in range(10):
        m = tables.mechanism(rng)
        renamed = m.map(lambda o: f"<{o}>")
        for x, y in pairs(m):
            assert least(standard, m, x, y).exact == least(standard, renamed, x, y).exact


@pytest.mark.parametrize("standard", [s for s in EVERY if s.kind not in {"zcdp", "tradeoff"}] + [ZCDP()], ids=names)
def test_mixing_is_quasi_convex(standard: Standard) -> None:
    # The hidden coin: the mixture's intensity is at most the larger of the parts'.
    rng = random.Random(f"mix {names(standard)}")
    finite = 0
    for _ in range(40):
        one, two = tables.mechanism(rng), tables.mechanism(rng)
        weight = F(rng.randint(0, 10), 10)
        mixed = mixture([weight, 1 - weight], [one, two])
        for x, y in pairs(mixed):
            parts = [least(standard, m, x, y) for m in (one, two)]
            found = least(standard, mixed, x, y)
            with precision(256):
                bound = parts[0].upper if parts[0].upper > parts[1].upper else parts[1].upper
            finite += bound.is_finite()
            assert not_above(found, bound)
            if all(part.exact is not None for part in (*parts, found)):
                assert _value(found) <= max(map(_value, parts))
    assert finite > 30


def smallest_delta(m: Mechanism, x: object, y: object, factor: Fraction) -> Fraction:
    """max over all events, both ways, of P(S) − e^ε Q(S): the sum of the positive parts."""
    return max(
        sum((max(a - factor * b, F(0)) for a, b in zip(m.law(p), m.law(q), strict=True)), F(0))
        for p, q in ((x, y), (y, x))
    )


def test_mixing_averages_delta_at_fixed_epsilon() -> None:
    rng = random.Random("mix delta")
    strict = 0
    for _ in range(60):
        one, two = tables.mechanism(rng), tables.mechanism(rng)
        weight = F(rng.randint(1, 9), 10)
        mixed = mixture([weight, 1 - weight], [one, two])
        for x, y in pairs(mixed):
            for factor in (F(1), F(3, 2), F(4)):
                a, b, c = (smallest_delta(m, x, y, factor) for m in (one, two, mixed))
                assert c <= weight * a + (1 - weight) * b <= max(a, b)
                strict += c < max(a, b)
    assert strict > 100


def test_mixing_different_epsilons_and_deltas() -> None:
    # (ε₁, δ₁) with weight w and (ε₂, δ₂) otherwise: (max ε, wδ₁ + (1−w)δ₂).
    rng = random.Random("mix both")
    for _ in range(40):
        one, two = tables.mechanism(rng), tables.mechanism(rng)
        weight, d1, d2 = F(rng.randint(1, 9), 10), F(1, 50), F(1, 4)
        mixed = mixture([weight, 1 - weight], [one, two])
        for x, y in pairs(mixed):
            first, second = ratio(least(Approximate(d1), one, x, y)), ratio(least(Approximate(d2), two, x, y))
            if first is None or second is None:
                continue
            found = ratio(least(Approximate(weight * d1 + (1 - weight) * d2), mixed, x, y))
            assert found is not None
            assert found <= max(first, second)


def test_pre_processing_keeps_laws() -> None:
    rng = random.Random("pre")
    for _ in range(10):
        m = tables.mechanism(rng)
        after = m.on(lambda i: INPUTS[i % 3], range(7))
        for i, j in pairs(after):
            assert least(TV(), after, i, j).exact == TV().least(m.law(INPUTS[i % 3]), m.law(INPUTS[j % 3])).exact


# Refusals.


def test_mechanisms_must_share_their_inputs() -> None:
    one, two = tables.response(), Mechanism({0: {"a": 1}})
    with pytest.raises(MatrixError, match="sequential: the mechanisms must have the same inputs"):
        sequential(one, two)
    with pytest.raises(MatrixError, match="mixture: the mechanisms must have the same inputs"):
        mixture(["1/2", "1/2"], [one, two])
    with pytest.raises(MatrixError, match=r"then\(0\): the mechanisms must have the same inputs"):
        adaptive(one, lambda _: two)


def test_nothing_to_compose() -> None:
    with pytest.raises(MatrixError, match="at least one"):
        sequential()
    with pytest.raises(MatrixError, match="at least one"):
        parallel([])
    with pytest.raises(MatrixError, match="at least one"):
        mixture([], [])
    with pytest.raises(MatrixError, match="at least one"):
        mixture({})


def test_adaptive_needs_a_mechanism_for_every_output() -> None:
    one = tables.response()
    with pytest.raises(MatrixError, match=r"then\(1\): no mechanism follows an output; got nothing"):
        adaptive(one, {0: one})
    with pytest.raises(MatrixError, match="got str"):
        adaptive(one, lambda _: "next")


def test_split_must_fit_the_parts() -> None:
    one = tables.response()
    with pytest.raises(MatrixError, match="one share per part; got 1 for 2 parts"):
        parallel([one, one], lambda x: (x,), inputs=(0, 1))
    with pytest.raises(MatrixError, match="unknown input"):
        parallel([one, one], lambda x: (x, 7), inputs=(0, 1))


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (["1/2", "1/3"], "do not sum to 1; got 5/6"),
        (["1/2"], "1 weights for 2"),
        ([2, -1], "from 0 to 1"),
        ([float("nan"), 1], "finite"),
        ([None, 1], "number"),
    ],
)
def test_weights_are_a_law(weights: list[object], said: str) -> None:
    one, two = tables.response(), tables.response(5)
    with pytest.raises(MatrixError, match=said):
        mixture(weights, [one, two])


def test_a_mapping_of_weights_stands_alone() -> None:
    one = tables.response()
    with pytest.raises(MatrixError, match="not both"):
        mixture({one: 1}, [one])


def test_sizes_are_guarded_before_building() -> None:
    wide = Mechanism({0: {i: F(1, 200) for i in range(200)}, 1: {i: F(1, 200) for i in range(200)}})
    with pytest.raises(MatrixError, match="sequential composition would have too many entries"):
        sequential(wide, wide, wide)
    with pytest.raises(MatrixError, match="parallel composition would have too many entries"):
        parallel([wide, wide, wide])
    with pytest.raises(MatrixError, match="parallel composition would have too many entries"):
        parallel([tables.response()] * 30)
    wider = Mechanism({0: {i: F(1, 2000) for i in range(2000)}})
    with pytest.raises(MatrixError, match="adaptive composition would have too many entries"):
        adaptive(wider, lambda _: wider)
    many = Mechanism({x: {i: F(1, 200) for i in range(200)} for x in range(60)})
    with pytest.raises(MatrixError, match="post-processing would have too many entries"):
        many.post(wide.on(lambda _: 0, range(200)))
