"""What every registered mechanism must satisfy, over edge-loaded parameters."""

import copy
import dataclasses
import inspect
import itertools
import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import quincunx as qx
from quincunx.loss import Loss
from quincunx.mechanisms import DiscreteGaussian, RandomizedResponse
from quincunx.mechanisms.additive import LIMIT, Additive
from quincunx.noise.testing import KeyedBits
from quincunx.numbers import Ball, Log, ball, float_above, float_below, float_near, precision
from quincunx.spec.standard import KL, TV, Approximate, Pure

from .grid import ADDITIVE, ALL, ONE_EACH

DRAWS = 200_000


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_frozen_equal_and_rebuilt_by_repr(mechanism: object) -> None:
    names = {name: getattr(qx.mechanisms, name) for name in qx.mechanisms.__all__} | {"Fraction": Fraction}
    assert eval(repr(mechanism), names) == mechanism
    assert hash(copy.deepcopy(mechanism)) == hash(mechanism)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    field = dataclasses.fields(mechanism)[0].name  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        setattr(mechanism, field, 1)


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_loss_obeys_the_algebra(mechanism: Any) -> None:
    loss: Loss = mechanism.loss
    assert 3 * loss == loss + loss + loss == Loss.compose([loss] * 3) == sum([loss] * 3)
    assert (0 * loss, 1 * loss, loss.group(1), loss + Loss()) == (Loss(), loss, loss, loss)
    for delta in ("1e-9", "1e-3"):
        low, high = loss.epsilon_bounds(delta)
        assert 0 <= low <= high
    assert loss.group(2).zcdp() >= 2 * loss.zcdp_bounds()[0] * (1 - 1e-12)


def altered(mechanism: Any, name: str, factor: int) -> Any:
    fields = {field.name: getattr(mechanism, field.name) for field in dataclasses.fields(mechanism)}
    return type(mechanism)(**fields | {name: factor * fields[name]})


@pytest.mark.parametrize("mechanism", [m for m in ALL if m.directions], ids=repr)
def test_every_parameter_moves_the_loss_its_way(mechanism: Any) -> None:
    def leaks(one: Any) -> list[tuple[float, float]]:
        loss: Loss = one.loss
        with precision(128):
            parameters = float_above(loss.total_zcdp()[1]), float_above(loss.stated_delta())
        # The discrete Gaussian's δ(ε) is not monotone in σ: only its ρ is.
        return [parameters] if isinstance(one, DiscreteGaussian) else [parameters, (loss.tv(), loss.epsilon("0.2"))]

    before = leaks(mechanism)
    for name, direction in mechanism.directions.items():
        after = leaks(altered(mechanism, name, 4))
        smaller, larger = (before, after) if direction > 0 else (after, before)
        assert all(a <= b for low, high in zip(smaller, larger, strict=True) for a, b in zip(low, high, strict=True))
        assert smaller != larger, name


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
@pytest.mark.parametrize("delta", ["0", "1e-6", "0.02", "0.2"])
def test_the_loss_is_never_below_enumeration(mechanism: Any, delta: str) -> None:
    """Every kind on its own small world, every pair of neighbours in it."""
    world, pairs = mechanism.world()
    claimed, distance = mechanism.loss.epsilon(delta), mechanism.loss.tv()
    assert pairs
    for x, y in pairs:
        with precision(512):
            laws = world.law(x), world.law(y)
            assert float_below(Approximate(delta).least(*laws).lower) <= claimed * (1 + 1e-12)
            assert float_below(TV().least(*laws).lower) <= distance * (1 + 1e-12)


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_the_loss_is_rebuilt_from_json_and_from_its_repr(mechanism: Any) -> None:
    loss: Loss = 7 * mechanism.loss
    names = {name: getattr(qx.loss, name) for name in qx.loss.__all__} | {"Fraction": Fraction, "Log": Log}
    assert Loss.from_json(loss.to_json()) == loss
    assert eval(repr(loss), names) == loss


@pytest.mark.parametrize(("first", "second"), [*itertools.combinations(ONE_EACH, 2)], ids=repr)
def test_the_order_of_two_mechanisms_does_not_matter(first: Any, second: Any) -> None:
    one, other = first.loss + 2 * second.loss, 2 * second.loss + first.loss
    assert (one, hash(one)) == (other, hash(other))
    assert (one.zcdp_bounds(), one.pure_bounds()) == (other.zcdp_bounds(), other.pure_bounds())
    (low, high), (lower, higher) = one.delta_bounds("1/2"), other.delta_bounds("1/2")
    # Both enclose the same number; sums in another order may round otherwise.
    assert (high, low) == (pytest.approx(higher, rel=1e-9), pytest.approx(lower, rel=1e-6, abs=1e-9))


@pytest.mark.parametrize("mechanism", ONE_EACH, ids=repr)
def test_two_uses_are_never_below_enumeration(mechanism: Any) -> None:
    """n-fold composition on a small world: the law of both answers together against 2·loss."""
    world, pairs = mechanism.world()
    twice = world.power(2)
    for x, y in pairs[:3]:
        for delta in ("0", "1/50", "1/5"):
            claimed = (2 * mechanism.loss).epsilon(delta)
            with precision(512):
                assert float_below(Approximate(delta).least(twice.law(x), twice.law(y)).lower) <= claimed * (1 + 1e-12)


@pytest.mark.parametrize("mechanism", [m for m in ALL if getattr(m, "options", 0) <= 5], ids=repr)
@pytest.mark.parametrize("k", [2, 3])
def test_the_group_map_is_never_below_enumeration(mechanism: Any, k: int) -> None:
    """Every two inputs of a small world that are k steps apart."""
    world, pairs = mechanism.world(k)
    grouped: Loss = mechanism.loss.group(k)
    claims = {delta: grouped.epsilon(delta) for delta in ("0", "1/50", "1/5")}
    distance = grouped.tv()
    for x, y in pairs:
        with precision(512):
            laws = world.law(x), world.law(y)
            for delta, claimed in claims.items():
                assert float_below(Approximate(delta).least(*laws).lower) <= claimed * (1 + 1e-12)
            assert float_below(TV().least(*laws).lower) <= distance * (1 + 1e-12)


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_a_sample_of_everyone_is_the_identity(mechanism: Any) -> None:
    for scheme, unit in (("poisson", qx.unit.AddRemove()), ("without-replacement", qx.unit.Replace())):
        if mechanism.loss.stated_delta():
            with pytest.raises(qx.errors.PrivacyError, match="stated δ"):
                mechanism.loss.subsample(1, scheme=scheme, unit=unit)
        else:
            assert mechanism.loss.subsample(1, scheme=scheme, unit=unit) == mechanism.loss


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_post_processing_never_raises_the_loss(mechanism: Any, classes: int) -> None:
    """Outputs merged into a few classes: no standard finds the neighbours farther apart than before."""
    world, pairs = mechanism.world()
    place = {output: index for index, output in enumerate(world.outputs)}
    coarse = world.map(lambda output: place[output] % classes)
    for x, y in pairs[:2]:
        for standard in (Pure(), Approximate("1/50"), TV(), KL()):
            with precision(512):
                before, after = (standard.least(each.law(x), each.law(y)) for each in (world, coarse))
                assert float_below(after.lower) <= float_above(before.upper) * (1 + 1e-12)


@pytest.mark.parametrize("options", [2, 3, 12])
def test_answers_nearer_to_guessing_leak_less(options: int) -> None:
    """Randomized response on both sides of p = 1/k, where it leaks nothing."""
    fair = Fraction(1, options)
    for end in (Fraction(1, 1000), Fraction(999, 1000)):
        losses = [
            RandomizedResponse(probability=fair + share * (end - fair), options=options).loss
            for share in (Fraction(n, 8) for n in range(9))
        ]
        for answers in ([each.pure() for each in losses], [each.tv() for each in losses],
                        [each.zcdp() for each in losses], [each.epsilon("0.01") for each in losses]):  # fmt: skip
            assert answers[0] == 0
            assert answers == sorted(answers)


def test_the_delta_of_the_discrete_gaussian_is_not_monotone_in_sigma() -> None:
    """Why calibration promises a verified σ and not the smallest: more noise, and more δ at the same ε. Enumerated."""
    deltas = []
    for sigma in ("0.71", "0.75"):
        mechanism = DiscreteGaussian(sigma=sigma)
        low, high = mechanism.loss.delta_bounds(1)
        world = mechanism.finite([0, 1], reach=25)
        with precision(512):
            growth = ball(Fraction(1)).exp()
            pairs = list(zip(world.law(0), world.law(1), strict=True))
            both = [sum(((ball(p) - growth * ball(q)).max(Ball(0)) for p, q in way), Ball(0))
                    for way in (pairs, [(q, p) for p, q in pairs])]  # fmt: skip
            found = float_near(max(both, key=float_near))
        assert low * (1 - 1e-9) <= found <= high * (1 + 1e-9)
        deltas.append((low, high))
    assert deltas[0][1] < deltas[1][0]
    # ρ is monotone, and is what `zcdp` answers.
    assert DiscreteGaussian(sigma="0.71").loss.zcdp() > DiscreteGaussian(sigma="0.75").loss.zcdp()


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=repr)
def test_more_noise_is_less_accurate(mechanism: Additive) -> None:
    quieter = altered(mechanism, "scale" if hasattr(mechanism, "scale") else "sigma2", 4)
    assert quieter.variance > mechanism.variance
    assert quieter.error(beta="0.05") >= mechanism.error(beta="0.05")


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("mechanism", ADDITIVE, ids=repr)
def test_the_sampler_fits_its_own_variance_and_error(mechanism: Additive) -> None:
    """False-alarm rate: each assertion below 1e-9."""
    draws = mechanism.sample(np.zeros(DRAWS, dtype=np.int64))
    step = float(mechanism.step)
    with precision(128):
        tails = [float_near(mechanism._tail(m)) for m in range(4)]
    for m, tail in enumerate(tails):
        beyond = int(np.sum(np.abs(draws) > m))
        assert stats.binomtest(beyond, DRAWS, min(max(tail, 0.0), 1.0)).pvalue > 1e-10
    # Six standard errors of a sample variance, whose own variance is (κ − 1)/n·var², κ ≤ 9 for a lattice law as wide as
    # one step, is 6·√(8/200,000) = 4 %; narrower laws are tested by their tails alone.
    if mechanism.variance > 4 * step**2:
        assert draws.var() * step**2 == pytest.approx(mechanism.variance, rel=0.04)


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=repr)
@pytest.mark.parametrize(("beta", "size"), [("0.05", 1), ("0.05", 8), ("0.3", 1), ("1e-9", 1000)])
def test_error_is_the_smallest_that_covers(mechanism: Additive, beta: str, size: int) -> None:
    steps = Fraction(mechanism.error(beta=beta, size=size)) / mechanism.step
    m = round(steps)
    # `error` is a float above m·step: at most an ulp off.
    assert abs(steps - m) <= m * Fraction(1, 2**50)
    with precision(256):
        covered = [float_near((1 - mechanism._tail(k)) ** size) for k in (m, max(m - 1, 0))]
    assert covered[0] >= 1 - float(beta) - 1e-12
    if m > 0:
        assert covered[1] < 1 - float(beta) + 1e-12


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=repr)
def test_finite_model_is_a_law_and_matches_the_tail(mechanism: Additive) -> None:
    world = mechanism.finite([0, 3], reach=5)
    for x in (0, 3):
        assert sum(float_near(p) for p in world.law(x)) == pytest.approx(1, abs=1e-12)
    with precision(256):
        beyond = float_near(mechanism._tail(4))
        ends = float_near(world.probability(0, -5)) + sum(float_near(world.probability(0, y)) for y in range(5, 9))
    assert ends == pytest.approx(beyond, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=repr)
def test_sums_are_clamped_and_never_wrapped(mechanism: Additive) -> None:
    extremes = [2**63 - 1, -(2**63), 2**62, 10**30, -(10**30), 0]
    noisy = mechanism.sample(extremes)
    assert noisy.dtype == np.int64
    assert np.all(np.abs(noisy) <= LIMIT)
    assert np.all(mechanism.sample(np.array([2**64 - 1], dtype=np.uint64)) <= LIMIT)
    # Far from zero the sign is the input's: noise of these scales never crosses 2^62.
    assert noisy[0] > 0 > noisy[1]


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=repr)
def test_shapes_and_types_come_back(mechanism: Additive) -> None:
    assert isinstance(mechanism.sample(3), int)
    assert isinstance(mechanism.sample(np.int32(3)), int)
    assert mechanism.sample([[1, 2], [3, 4]]).shape == (2, 2)
    assert mechanism.sample(np.zeros((2, 3, 1), dtype=np.int8)).shape == (2, 3, 1)
    assert mechanism.sample((5,)).dtype == np.int64


BAD_VALUES = [
    1.0,
    [1.5],
    [1, 2.0],
    [True, False],
    True,
    "3",
    None,
    [],
    [[]],
    [[1], [2, 3]],
    np.array([1.0]),
    np.array([True]),
    np.array([], dtype=np.int64),
    np.array(["a"]),
    np.array([1, 2], dtype=object),
    {1: 2},
    float("nan"),
    [None],
]


@pytest.mark.parametrize("mechanism", ADDITIVE[::5], ids=repr)
@pytest.mark.parametrize("values", BAD_VALUES, ids=repr)
def test_bad_values_are_refused_and_nothing_is_drawn(mechanism: Additive, values: object, stream: KeyedBits) -> None:
    with pytest.raises(qx.errors.DataError) as caught:
        mechanism.sample(values)
    assert caught.value.where == type(mechanism).__name__
    # Nothing was drawn: the stream still stands at its first word.
    first = int(stream.words(1)[0])
    assert first == int(type(stream)(stream._key).words(1)[0])


# What no mechanism takes, whatever its data are.
NEVER_VALUES = [1.5, [1.5], [1, 2.0], "3", None, [], [[1], [2, 3]], np.array([1.0]), np.array(["a"]), {1: 2}, [None]]


@pytest.mark.parametrize("mechanism", list({type(m): m for m in ALL}.values()), ids=repr)
@pytest.mark.parametrize("values", NEVER_VALUES, ids=repr)
def test_what_no_mechanism_takes_is_refused_and_nothing_is_drawn(
    mechanism: Any, values: object, stream: KeyedBits
) -> None:
    with pytest.raises(qx.errors.DataError) as caught:
        mechanism.sample(values)
    assert caught.value.where == type(mechanism).__name__
    assert int(stream.words(1)[0]) == int(type(stream)(stream._key).words(1)[0])


@pytest.mark.parametrize("mechanism", list({type(m): m for m in ALL}.values()), ids=repr)
def test_messages_never_hold_a_value(mechanism: Any) -> None:
    secret = 987654321.5
    with pytest.raises(qx.errors.DataError) as caught:
        mechanism.sample([secret])
    assert "987654321" not in str(caught.value)


@pytest.mark.parametrize("beta", [0, 1, -0.1, "nan", None, 2])
def test_bad_beta(beta: object) -> None:
    with pytest.raises(qx.errors.ParameterError):
        ADDITIVE[0].error(beta=beta)


@pytest.mark.parametrize("size", [0, -1, 1.5, "nan", None, True])
def test_bad_error_size(size: object) -> None:
    with pytest.raises(qx.errors.ParameterError):
        ADDITIVE[0].error(beta="0.05", size=size)


@pytest.mark.parametrize("inputs", [[], [0.5], [True], ["0"]])
def test_finite_needs_integer_inputs(inputs: list[object]) -> None:
    with pytest.raises(qx.errors.DataError):
        ADDITIVE[0].finite(inputs)  # type: ignore[arg-type]


def test_every_mechanism_is_in_the_grid_and_has_a_note_and_a_test() -> None:
    classes = {
        value
        for name in qx.mechanisms.__all__
        if inspect.isclass(value := getattr(qx.mechanisms, name)) and hasattr(value, "sample")
        if not inspect.isabstract(value)
    }
    assert classes == {type(mechanism) for mechanism in ALL}
    room = Path(inspect.getfile(qx.mechanisms)).parent
    for kind in classes:
        stem = kind.__module__.rsplit(".", 1)[1]
        assert (room / f"{stem}.md").read_text(encoding="utf-8").count("**Claim.**") >= 1
        assert (Path(__file__).parent / f"test_{stem}.py").exists()


def test_loss_is_a_loss_and_pure_only_where_it_is() -> None:
    for mechanism in ALL:
        assert isinstance(mechanism.loss, Loss)
        # In norm 2 a move is bounded by squares, and no ε follows.
        gaussian = getattr(getattr(mechanism, "noise", mechanism), "norm", 1) == 2
        approximate = mechanism.loss.stated_delta() > 0
        assert math.isinf(mechanism.loss.pure()) == (gaussian or approximate)
        assert float_above(Fraction(0)) == 0.0
