"""The figures that must come out: known values of known mechanisms under known definitions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest

from quincunx.numbers import Ball, Log, ball, float_near, normal_tail, precision
from quincunx.spec import standard
from quincunx.spec.concentrated import MeanConcentrated
from quincunx.spec.divergence import as_rational
from quincunx.taxonomy import (
    Definition,
    World,
    background,
    formalism,
    generate,
    named,
    neighbourhood,
    quantification,
    relativisation,
    variation,
)
from quincunx.taxonomy import random_inputs as drawn
from quincunx.taxonomy import semantic as semantics
from quincunx.taxonomy.world import build

F = Fraction
HALF = F(1, 2)
EVEN = {"even": {"0": HALF, "1": HALF}}
RESPONSE = generate.randomized_response("3/4", priors=EVEN)


def epsilon(definition: Definition, world: World) -> Fraction | None:
    """e^ε of an answer that is known exactly; None where it is infinite."""
    value = definition.tightest(world).value
    if value.infinite:
        return None
    return value.exact.of if isinstance(value.exact, Log) else F(1)


def delta_at(definition: Definition, world: World, factor: Fraction) -> Fraction:
    """δ at a factor e^ε, from the front of an approximate definition."""
    rows = [
        (r[0].exact.of if isinstance(r[0].exact, Log) else F(1), F(r[1].exact)) for r in definition.tightest(world).rows
    ]  # type: ignore[arg-type]
    for (a, x), (b, y) in pairwise(rows):
        if a <= factor <= b:
            return x + (y - x) * (factor - a) / (b - a)
    return rows[-1][1]


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("DP", F(3)), ("RBPr", F(9)), ("ZKPr", F(2)), ("InfPr", F(2)), ("ANPr", F(2)), ("PMPr", F(2)), ("NMPr", F(2)),
        ("MPr", F(2)), ("NPr", F(3)), ("CausDP", F(3)), ("IndPr", F(3)), ("CorDP", F(3)), ("BayDP-LL12", F(3)),
    ],
)  # fmt: skip
def test_randomized_response_in_factors(name: str, factor: Fraction) -> None:
    assert epsilon(named(name).definition, RESPONSE) == factor


@pytest.mark.parametrize(
    ("choice", "value"),
    [
        (quantification.KullbackLeibler(), math.log(3) / 2),
        (quantification.ZeroConcentrated(), math.log(3) / 2),
        (quantification.Renyi(2), math.log(7 / 3)),
        (quantification.Divergence("squared-hellinger"), 1 - 2 * math.sqrt(3) / 4),
        (quantification.Divergence(), 4 / 3),
        (quantification.TotalVariation(), 0.5),
        (quantification.Power(2), math.sqrt(4 / 3)),
    ],
)
def test_randomized_response_in_numbers(choice: quantification.Quantification, value: float) -> None:
    low, high = Definition(quantification=choice).tightest(RESPONSE).value.bounds
    assert low <= value * (1 + 1e-9)
    assert high >= value * (1 - 1e-9)
    assert high - low <= 2e-6


def test_randomized_response_under_tests_and_around_its_mean() -> None:
    gaussian = Definition(quantification=quantification.Gaussian(), formalism=formalism.Testing())
    assert round(gaussian.tightest(RESPONSE).value.bounds[1], 6) == 1.348980
    concentrated = named("mCoDP").definition.tightest(RESPONSE)
    assert round(concentrated.values["μ"].bounds[1], 6) == 0.549306
    low, high = concentrated.values["τ"].bounds
    # τ² is enclosed to a hundred-thousandth.
    assert low <= math.sqrt(math.log(3)) <= high <= low * (1 + 6e-6)
    # Kearns and Saul: τ² = 2ε·tanh(ε/2).
    for odds in (2, 9, 3000):
        p, q = [F(odds, odds + 1), F(1, odds + 1)], [F(1, odds + 1), F(odds, odds + 1)]
        least = MeanConcentrated().least(p, q)
        square = 2 * math.log(odds) * math.tanh(math.log(odds) / 2)
        assert float_near(least.lower) ** 2 <= square * (1 + 1e-12) <= float_near(least.upper) ** 2 * (1 + 1e-9)


def test_randomized_response_fronts() -> None:
    approximate = named("ADP").definition
    assert delta_at(approximate, RESPONSE, F(2)) == F(1, 4)
    assert epsilon(approximate.with_(quantification=quantification.Approximate("1/10")), RESPONSE) == F(13, 5)
    # D_½ = −2·ln Σ √(PQ) is 0.287682, more than ρ/2: concentration says nothing below order 1.
    hellinger = Definition(quantification=quantification.Divergence("squared-hellinger")).tightest(RESPONSE).value
    assert round(-2 * math.log(1 - hellinger.bounds[1]), 6) == 0.287682
    random = named("RanDP").definition.tightest(RESPONSE)
    assert [(row[0].exact, row[1].exact) for row in random.rows] == [(F(0), Log(3)), (HALF, F(0))]


def test_two_people_alike() -> None:
    alike = {"0,0": HALF, "1,1": HALF, "0,1": 0, "1,0": 0}
    world = generate.randomized_response("3/4", 2, priors={"alike": alike})
    expected = {"NPr": 9, "CausDP": 3, "BoDP": 3, "FLPr": 9, "ZKPr": 2}
    assert {name: epsilon(named(name).definition, world) for name in expected} == expected


def test_revealing_with_a_tenth() -> None:
    def law(records: tuple[str | None, ...]) -> dict[str, object]:
        return {"nothing": F(9, 10), str(records[0]): F(1, 10)}

    world = generate.over("01", 1, law)
    assert epsilon(Definition(), world) is None
    for name in ("ADP", "ProDP"):
        front = named(name).definition.tightest(world)
        assert [row[1].exact for row in front.rows] == [F(1, 10)]
    assert named("KLPr").definition.tightest(world).value.infinite


def test_probabilistic_and_approximate_part_on_a_certain_output() -> None:
    world = World.of(build({"laws": {"x": {"a": 1, "b": 0}, "y": {"a": HALF, "b": HALF}}}).mechanism())
    half = {"quantification": quantification.Approximate(HALF)}
    assert epsilon(Definition(**half), world) == 1
    assert epsilon(Definition(quantification=quantification.Probabilistic(HALF)), world) == 2


@pytest.mark.parametrize(("delta", "broken"), [(F(1, 10), True), (F(21, 100), True), (F(22, 100), False)])
def test_proposition_2_needs_a_small_delta(delta: Fraction, broken: bool) -> None:
    """Two mechanisms are (ln 1/(1−δ), δ)-probabilistic; their mixture is not, for δ below (5 − √17)/4."""

    def tail(world: World) -> Fraction:
        rows = [
            (r[0].exact.of if isinstance(r[0].exact, Log) else F(1), F(r[1].exact))
            for r in named("ProDP").definition.tightest(world).rows
        ]  # type: ignore[arg-type]
        return next(d for t, d in reversed(rows) if t <= 1 / (1 - delta))

    one = {"0": {"0": F(1), "1": F(0)}, "1": {"0": 1 - delta, "1": delta}}
    two = {x: {"0": F(0), "1": F(1)} for x in "01"}
    mixed = {x: {o: (1 - 2 * delta) * one[x][o] + 2 * delta * two[x][o] for o in "01"} for x in "01"}
    assert tail(build({"laws": one})) == delta
    assert tail(build({"laws": two})) == 0
    found = tail(build({"laws": mixed}))
    assert (found > delta) is broken
    if delta == F(1, 10):
        assert found == F(28, 100)


def test_adversarial_privacy_on_two_point_priors() -> None:
    """(ln 3, 0.05) for every two-point prior is pure DP with the factor 4.6665, which the worst prior decides."""
    priors = {str(i): {"in": F(i, 10_000), "out": F(10_000 - i, 10_000)} for i in range(500, 900, 2)}

    def allowed(factor: Fraction) -> bool:
        # For symmetric laws the likelihood ratio of an output is p/(1 − p).
        p = factor / (1 + factor)
        world = build(
            {
                "datasets": {"in": ["t"], "out": [None]},
                "laws": {"in": {"1": p, "0": 1 - p}, "out": {"1": 1 - p, "0": p}},
                "priors": priors,
            },
        )
        return named("AdvPr").definition.holds(world, epsilon=Log(3), delta="0.05").status == "holds"

    low, high = F(3), F(9)
    while high - low > F(1, 10**5):
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(middle) else (low, middle)
    assert round(float(high), 4) == 4.6665


def test_the_exact_count_of_100_fair_bits_is_noiseless() -> None:
    """One bit against the count of the 99 others: pure ∞, and δ by the exact hockey stick."""
    others = [F(math.comb(99, j), 2**99) for j in range(100)]
    names = {(b, j): f"{b},{j}" for b in "01" for j in range(100)}
    world = build(
        {
            "datasets": {name: [b, str(j)] for (b, j), name in names.items()},
            "laws": {name: {str(int(b) + j): 1} for (b, j), name in names.items()},
            "priors": {"fair": {name: others[j] / 2 for (b, j), name in names.items()}},
            "targets": ["0"],
        },
    )
    noiseless = named("NPr").definition
    assert noiseless.tightest(world).value.infinite
    front = noiseless.with_(quantification=quantification.Approximate())
    for eps, delta in ((0.25, 0.01169), (0.5, 5.990e-4), (1.0, 8.598e-8)):
        with precision(128):
            factor = F(str(float_near(Ball(eps).exp())))
        assert float(delta_at(front, world, factor)) == pytest.approx(delta, rel=5e-4)
    # With the count of all but one person known, nothing is hidden.
    leaking = build(
        {
            "datasets": {name: [b, str(j)] for (b, j), name in names.items()},
            "laws": {name: {str(int(b) + j): 1} for (b, j), name in names.items()},
            "priors": {"fair": {name: others[j] / 2 for (b, j), name in names.items()}},
            "background": {name: str(j) for (b, j), name in names.items()},
            "targets": ["0"],
        },
    )
    assert named("APKDP").definition.tightest(leaking).rows[-1][1].exact == 1


def test_passive_is_a_thousandth_where_active_is_one() -> None:
    """All others leak with probability 1/1000, and the sum is published."""

    def law(records: tuple[str | None, ...]) -> dict[str, object]:
        return {str(sum(int(r or 0) for r in records)): 1}

    people = 12
    rows = ["".join(bits) for bits in product("01", repeat=people)]
    counts = {(b, j): F(math.comb(people - 1, j), 2**people) for b in "01" for j in range(people)}
    data = {
        "datasets": {f"{b},{j}": [b, str(j)] for b, j in counts},
        "laws": {f"{b},{j}": law((b, str(j))) for b, j in counts},
        "priors": {"fair": {f"{b},{j}": w for (b, j), w in counts.items()}},
        "background": {f"{b},{j}": {f"others {j}": F(1, 1000), "nothing": F(999, 1000)} for b, j in counts},
        "targets": ["0"],
    }
    assert len(rows) == 2**people
    world = build(data)
    active, passive = (named(name).definition for name in ("APKDP", "PPKDP"))
    assert active.tightest(world).rows[-1][1].exact == 1
    large = passive.tightest(world).rows[-1][1].exact
    # All zeros and all ones give the bit away even without the leak: 2^-11 each way beside 1/1000.
    assert large == F(1, 1000) + F(999, 1000) * F(1, 2 ** (people - 1))
    assert 0.001 <= float(large) < 0.0015  # type: ignore[arg-type]


def test_one_sided_is_finite_where_two_sided_is_not() -> None:
    world = build({"laws": {"ill": {"yes": HALF, "no": HALF}, "well": {"yes": 1, "no": 0}}, "sensitive": ["well"]})
    assert epsilon(named("OSDP").definition, world) == 2
    assert epsilon(Definition(), world) is None


def test_a_line_policy_has_sensitivity_1_where_the_complete_graph_has_k_minus_1() -> None:
    k, ratio = 6, F(3)
    values = [str(i) for i in range(k)]

    def law(records: tuple[str | None, ...]) -> dict[str, object]:
        x = int(records[0] or 0)
        weights = [ratio ** -abs(x - y) for y in range(-1, k + 1)]
        # What lies beyond the line is clamped to its ends, so that ratios stay exact.
        weights[0], weights[-1] = weights[0] * ratio / (ratio - 1), weights[-1] * ratio / (ratio - 1)
        return {str(y): w / sum(weights) for y, w in zip(range(-1, k + 1), weights, strict=True)}

    line = [[a, b] for a, b in pairwise(values)]
    world = generate.over(values, 1, law, policy=line)
    assert epsilon(named("BFPr").definition, world) == ratio
    assert epsilon(named("BoDP").definition, world) == ratio ** (k - 1)


def test_places_in_proportion_to_their_distance() -> None:
    """Places 0, 1, 2 with weights 4 : 2 : 1 by distance."""

    def law(records: tuple[str | None, ...]) -> dict[str, object]:
        weights = {y: F(4, 2 ** abs(int(records[0] or 0) - y)) for y in range(3)}
        return {str(y): w / sum(weights.values()) for y, w in weights.items()}

    far = [{"between": [a, b], "distance": abs(int(a) - int(b))} for a, b in (("0", "1"), ("1", "2"), ("0", "2"))]
    world = generate.over("012", 1, law, distance=far)
    assert epsilon(named("dD-Pr").definition, world) == F(16, 7)


def gaussian(mean: Fraction, borders: list[Fraction]) -> World:
    """N(mean, 1) and N(0, 1) seen in cells between some borders, to thirty digits."""
    rows = {}
    with precision(192):
        for name, centre in (("0", F(0)), ("1", mean)):
            tails = [Ball(1), *(normal_tail(ball(x - centre)) for x in borders), Ball(0)]
            cells = [as_rational((a - b).mid()) for a, b in pairwise(tails)]
            rows[name] = {str(j): cell / sum(cells, F(0)) for j, cell in enumerate(cells)}
    return build({"laws": rows})


def test_gaussian_probabilistic_and_approximate_deltas() -> None:
    """σ = 1, ε = 1: the loss of N(1, 1) against N(0, 1) exceeds 1 with 0.30854; the hockey stick is 0.12694.

    The loss is 1 at 3/2, a border of the cells, and by symmetry at −1/2: merging outputs into them changes neither.
    """
    world = gaussian(F(1), [F(j, 16) for j in range(-96, 113)])
    factor = F(math.e)
    assert round(float(delta_at(named("ADP").definition, world, factor)), 5) == 0.12694
    tails = named("ProDP").definition.tightest(world).rows
    at = [F(r[1].exact) for r in tails if (r[0].exact.of if isinstance(r[0].exact, Log) else F(1)) <= factor][-1]  # type: ignore[arg-type]
    assert round(float(at), 5) == 0.30854


@pytest.mark.parametrize(("omega", "expected"), [(10, 8.4338), (3, 9.9078)])
def test_truncated_concentration_gives_epsilon(omega: int, expected: float) -> None:
    """ρ = 1, δ = 1e-6: what the checker finds of a world goes through the conversion, and the world is within it."""
    promised = standard.Concentrated(omega=omega).implied(F(1), standard.Approximate("1e-6"))
    assert promised is not None
    assert round(float_near(ball(promised)), 4) == expected
    # A bell curve whose centre moves by a little less than √2 has ρ = 1 in every order.
    world = gaussian(F(141_421, 100_000), [F(j, 8) for j in range(-56, 57)])
    truncated = Definition(quantification=quantification.ZeroConcentrated(omega=F(omega))).tightest(world).value
    assert 0.9 < truncated.bounds[1] <= 1
    found = standard.Concentrated(omega=omega).implied(F(truncated.bounds[1]), standard.Approximate("1e-6"))
    assert found is not None
    exact = Definition(quantification=quantification.Approximate("1e-6")).tightest(world).value
    assert exact.bounds[1] <= float_near(ball(found)) <= expected


def test_personalised_levels_are_not_the_surveys_own_dp() -> None:
    """∅ (½, ½), a (⅔, ⅓), b (⅓, ⅔): 3/2 for the record, 2 for bounded and unbounded together."""
    world = build(
        {
            "datasets": {"none": [None], "a": ["a"], "b": ["b"]},
            "laws": {
                "none": {"0": HALF, "1": HALF},
                "a": {"0": F(2, 3), "1": F(1, 3)},
                "b": {"0": F(1, 3), "1": F(2, 3)},
            },
        },
    )
    assert named("PerDP").definition.tightest(world).entries["record 0"].exact == Log(F(3, 2))
    assert epsilon(Definition(), world) == 2


def test_semantic_privacy_is_tanh_half_epsilon_and_not_closed_under_merging() -> None:
    names = {"none": [None, None], "1": ["x", None], "2": [None, "x"], "12": ["x", "x"]}
    rows = {"none": (1, 1, 4), "1": (1, 2, 3), "2": (3, 1, 2), "12": (1, 1, 4)}

    def world(move: Fraction) -> World:
        laws = {n: {"0": F(a) + move * b, "1": (1 - move) * b, "2": F(c)} for n, (a, b, c) in rows.items()}
        return build({"datasets": names, "laws": {n: {o: v / 6 for o, v in r.items()} for n, r in laws.items()}})

    semantic = Definition(formalism=semantics.Semantic())
    assert semantic.tightest(world(F(0))).value.bounds[1] == pytest.approx(0.26795, abs=5e-6)
    # The spread of the ratios goes from 3 to 28/9: (√28/9 − 1)/(√28/9 + 1).
    assert semantic.tightest(world(HALF)).value.bounds[1] == pytest.approx(0.27637, abs=5e-6)
    single = build(
        {
            "datasets": {"in": ["t"], "out": [None]},
            "laws": {"in": {"0": F(3, 4), "1": F(1, 4)}, "out": {"0": F(1, 4), "1": F(3, 4)}},
        },
    )
    value = semantic.tightest(single).value
    # Ratios 3 and 1: (√3 − 1)/(√3 + 1) = tanh(ln 3/4), below tanh(ε/2) = 1/2.
    assert value.bounds[1] == pytest.approx(math.tanh(math.log(3) / 4))
    assert value.bounds[1] <= math.tanh(math.log(3) / 2)


def test_random_dp_of_ten_bits_after_proposition_4() -> None:
    """All-zeros told apart, ten fair bits: γ = 2^-10 under Definition 23, and twice that for the mixture."""
    people = 4

    def zeros(records: tuple[str | None, ...]) -> dict[str, object]:
        return {"0" if set(records) == {"0"} else "⊥": 1}

    def either(records: tuple[str | None, ...]) -> dict[str, object]:
        same = records[0] if len(set(records)) == 1 else None
        return {"⊥": 1} if same is None else {str(same): HALF, "⊥": HALF}

    fair = {"fair": generate.independent({"0": HALF, "1": HALF}, people)}
    for law, gamma in ((zeros, F(1, 2**people)), (either, F(2, 2**people))):
        world = generate.over("01", people, law, priors=fair)
        rows = named("RanDP").definition.tightest(world).rows
        assert rows[-1][1].exact == 0
        assert rows[-1][0].exact == gamma


def test_zero_knowledge_closed_form_and_the_smallest_counterexample() -> None:
    world = build({"datasets": {"none": [None], "a": ["a"]}, "laws": {"none": "0", "a": "1"}})
    assert epsilon(named("ZKPr").definition, world) == 1
    assert epsilon(named("uBoDP").definition, world) is None


def test_coupled_worlds_of_randomized_response_is_half_of_one_plus_the_odds() -> None:
    coupled = Definition(background=background.Noiseless(), relativisation=relativisation.CoupledWorlds())
    for odds in (3, 7):
        world = generate.randomized_response(F(odds, odds + 1), priors=EVEN)
        assert epsilon(coupled, world) == F(odds + 1, 2)


def test_every_figure_has_a_definition_of_its_own() -> None:
    # A composition that no paper has named: one-sided, in Rényi divergence, one number for each record.
    new = Definition(
        quantification=quantification.Renyi(3),
        neighbourhood=neighbourhood.OneSided(),
        variation=variation.Personalised(),
    )
    world = generate.randomized_response("3/4", 2, sensitive=["1"])
    assert new.tightest(world).entries.keys() == {"record 0", "record 1"}
    assert new.letters == "QNV"
    assert drawn.Random(HALF).share == HALF
