"""What the survey prints and what does not hold: the smallest counterexamples."""

from __future__ import annotations

import dataclasses
import math
import random
from fractions import Fraction

import pytest

from quincunx.numbers import Ball, Log, float_near, normal_quantile, normal_tail, precision
from quincunx.spec import standard
from quincunx.taxonomy import World, axioms, catalogue, generate, named
from quincunx.taxonomy.relations import convert, implies, language
from quincunx.taxonomy.relations.refuted import refutations
from quincunx.taxonomy.world import build

F = Fraction
HALF = F(1, 2)


def pair(p: tuple[Fraction, ...], q: tuple[Fraction, ...], **parts: object) -> World:
    """One record, x or y, with these laws."""
    laws = {name: {f"o{i}": v for i, v in enumerate(law)} for name, law in (("x", p), ("y", q))}
    return build({"laws": laws, **parts})


def refuted(key: str) -> tuple[object, object]:
    one, other, broken = refutations()[key].replay()
    assert broken
    return one.exact, None if other.infinite else other.exact


def delta(p: tuple[float, ...], q: tuple[float, ...], epsilon: float) -> float:
    return max(sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (q, p)))


def renyi(p: tuple[float, ...], q: tuple[float, ...], alpha: float) -> float:
    return math.log(sum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))) / (alpha - 1)


# Section 2.


def test_parallel_composition_fails_when_a_record_changes_part() -> None:
    """Each part answers by randomized response whether the record is in it: a move changes both answers."""

    def law(records: tuple[str | None, ...]) -> dict[str, object]:
        part = records[0]
        return {
            a + b: (F(3, 4) if (a == "1") == (part == "left") else F(1, 4))
            * (F(3, 4) if (b == "1") == (part == "right") else F(1, 4))
            for a in "01"
            for b in "01"
        }

    world = generate.over(["left", "right"], 1, law, absent=True)
    assert named("BoDP").definition.tightest(world).value.exact == Log(9)
    assert named("uBoDP").definition.tightest(world).value.exact == Log(3)


# Section 3.


def test_delta_is_about_losses_above_epsilon_not_above_its_exponential() -> None:
    world = generate.randomized_response("3/4")
    # At ε = 1/2 the loss is ln 3 = 1.0986 with probability 3/4: above ε, and below e^ε = 1.6487.
    tails = language("ProDP").definition.tightest(world).rows
    at = [F(row[1].exact) for row in tails if float(row[0]) <= 0.5][-1]  # type: ignore[arg-type]
    assert at == F(3, 4)
    assert 0.5 < math.log(3) < math.exp(0.5)


def test_concentration_says_nothing_below_order_one() -> None:
    p, q = (0.75, 0.25), (0.25, 0.75)
    rho = math.log(3) / 2
    assert renyi(p, q, 0.5) == pytest.approx(0.287682, abs=1e-6)
    assert renyi(p, q, 0.5) > rho * 0.5
    assert all(renyi(p, q, a) <= rho * a + 1e-12 for a in (1.0001, 1.5, 2.0, 8.0, 64.0))


def test_lemma_3_7_needs_every_delta() -> None:
    """ε = 3 at one δ with √(ρ ln 1/δ) = 3 is claimed to have KL at most 1/2."""
    xi, rho = 0.0, 1e-4
    claimed = (xi - rho / 4 + 5 * rho**0.25) + rho / 4
    assert claimed == pytest.approx(0.5)
    assert 3 * math.tanh(1.5) == pytest.approx(2.715, abs=5e-4)
    assert 3 * math.tanh(1.5) > claimed


def test_truncated_concentration_converts_with_the_logarithm_of_delta() -> None:
    p, q = (1 / 6, 5 / 6), (4 / 5, 1 / 5)
    world = pair((F(1, 6), F(5, 6)), (F(4, 5), F(1, 5)))
    rho = float(named("zCoDP").definition.tightest(world).value)
    printed = rho + 2 * math.sqrt(rho * max(0.0, math.log(1 / rho)))
    assert delta(p, q, printed) == pytest.approx(0.178, abs=2e-3)
    right = rho + 2 * math.sqrt(rho * math.log(1 / 0.01))
    assert delta(p, q, right) <= 0.01


def test_zero_concentration_to_approximate_has_no_root_for_large_delta() -> None:
    rho, slack = 0.01, 0.5
    assert math.log(min(1, math.sqrt(math.pi * rho)) / slack) < 0
    assert convert("zCDP", "ADP", rho="0.01", delta="1/2").parameters["epsilon"] == 0.0


def test_mean_to_zero_concentration_may_have_a_negative_offset() -> None:
    """Randomized response with odds 3000, half of the time withheld: μ = 4.0, τ²/2 = 8.02."""
    stored = axioms.counterexample("mCoDP", "post_processing")
    found = named("mCoDP").definition.tightest(stored.after())
    assert float(found.values["μ"]) - found.values["τ"].bounds[0] ** 2 / 2 < -4


def test_definition_13_averages_over_the_second_law() -> None:
    p, q = (F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))

    def printed(one: tuple[Fraction, ...], other: tuple[Fraction, ...]) -> Fraction:
        return sum((a * abs(a / b - 1) / 2 for a, b in zip(one, other, strict=True)), F(0))

    assert printed(p, q) == F(5, 6)
    assert standard.TV().least(p, q).exact == HALF
    # And as printed it grows when outputs are merged, so that Proposition 1 needs the correction.
    before = printed((F(1, 4), F(1, 4), HALF), (F(1, 4), HALF, F(1, 4)))
    after = printed((HALF, HALF), (F(3, 4), F(1, 4)))
    assert (before, after) == (F(5, 16), F(1, 3))


def test_f_k_is_a_divergence_from_k_equal_to_one_on() -> None:
    """At k = 1/2 merging outputs with ratios 2 and 1 raises the mean from 1/4 to √2/4."""
    ratios, weights = (2.0, 1.0, 0.5), (0.25, 0.25, 0.5)

    def mean(r: tuple[float, ...], w: tuple[float, ...], k: float) -> float:
        return sum(b * abs(a - 1) ** k for a, b in zip(r, w, strict=True))

    merged, both = (1.5, 0.5), (0.5, 0.5)
    assert mean(merged, both, 0.5) > mean(ratios, weights, 0.5)
    assert mean(merged, both, 1.0) <= mean(ratios, weights, 1.0)
    # For k ≥ 1 what follows from ε-DP is the mean of randomized response, at most e^ε − 1.
    for k in (1, 2, 3):
        assert convert("pure", "kDivDP", epsilon=1, k=k).parameters["epsilon"] <= math.expm1(1)


def test_f_2_is_renyi_two_over_the_second_law() -> None:
    p, q = (HALF, HALF), (F(2, 3), F(1, 3))
    over_second = sum((b * (a / b - 1) ** 2 for a, b in zip(p, q, strict=True)), F(0))
    over_first = sum((a * (a / b - 1) ** 2 for a, b in zip(p, q, strict=True)), F(0))
    square = sum((a * a / b for a, b in zip(p, q, strict=True)), F(0))
    # ε² with (2, ln(1 + ε²))-Rényi is e^{D₂} − 1 = 1/8; as printed it would be 5/32.
    assert (over_second, square - 1, over_first) == (F(1, 8), F(1, 8), F(5, 32))


def test_approximate_concentration_without_slope_is_not_probabilistic() -> None:
    world = pair((F(1), F(0)), (HALF, HALF))
    assert language("AzCoDP").posed({"delta": HALF}).tightest(world).value.bounds[1] == 0
    assert language("ADP").posed({"delta": HALF}).tightest(world).value.exact == 0
    assert language("ProDP").posed({"delta": HALF}).tightest(world).value.exact == Log(2)


def test_capacity_bounded_privacy_extends_divergence_privacy() -> None:
    assert implies("DivDP", "CBDP")
    assert refuted("capacity") == (0, None)
    assert axioms.counterexample("CBDP", "post_processing").replay().broken


# Sections 4 and 5.


def test_asymmetric_privacy_has_one_direction() -> None:
    assert refuted("asymmetric") == (Log(2), None)


@pytest.mark.parametrize("name", ["BayDP-YSN15", "CorDP", "PriDP"])
def test_bayesian_correlated_and_prior_privacy_do_not_compose(name: str) -> None:
    found = axioms.counterexample(name, "composition").replay()
    assert [value.exact for value in found.before] == [0, 0]
    assert found.after.infinite


def test_definition_21_as_printed_bounds_one_direction() -> None:
    """Absent a, present a or b: P(absent ∈ S) ≤ 2·P(present ∈ S) as printed, and no ε is finite."""
    absent, present = (F(1), F(0)), (HALF, HALF)
    assert all(a <= 2 * b for a, b in zip(absent, present, strict=True))
    world = build(
        {"datasets": {"none": [None], "x": ["x"]},
         "laws": {"none": {"a": 1, "b": 0}, "x": {"a": HALF, "b": HALF}}},
    )  # fmt: skip
    assert named("PerDP").definition.tightest(world).value.infinite


def test_random_privacy_is_bounded_privacy_for_priors_of_full_support() -> None:
    size = refutations()["bounded to DP"].world
    fair = {"fair": {"none": F(0), "a": HALF, "b": HALF}}
    world = dataclasses.replace(size, priors=fair)
    assert language("RanDP").posed({"gamma": F(0)}).tightest(world).value.exact == 0
    assert named("DP").definition.tightest(world).value.infinite


@pytest.mark.parametrize("key", ["random to average KL", "random to Bayesian", "random to weak Bayesian"])
def test_random_privacy_implies_no_average_for_each_dataset(key: str) -> None:
    assert refuted(key) == (0, None)


def test_bayesian_privacy_of_typical_records_is_not_closed_under_merging() -> None:
    found = axioms.counterexample("BayDP-TF20", "post_processing").replay()
    assert [value.exact for value in found.before] == [0]
    assert found.after.exact == Log(2)


def test_distributional_privacy_of_samples_is_no_free_lunch() -> None:
    assert refuted("distributional to free lunch") == (0, None)


@pytest.mark.parametrize("people", [1, 2])
def test_distributional_privacy_below_an_explicit_share_is_bounded(people: int) -> None:
    """Uniform draws of n of n + 1 records: two given neighbours are drawn with probability 2/(n + 1)²."""
    drawn = F(1, people + 1)  # one dataset of n records, as a set, of the n + 1 that there are
    assert 2 * drawn**2 == F(2, (people + 1) ** 2)


# Section 6.


def test_causal_and_noiseless_differ_without_support() -> None:
    assert refuted("noiseless without support") == (0, None)


def test_definition_29_is_silent_where_the_background_tells_everything() -> None:
    """The attacker knows the record, the mechanism publishes it, and the loss is set to 0."""
    even = {"even": {"x": HALF, "y": HALF}}
    world = pair((F(1), F(0)), (F(0), F(1)), priors=even, background={"x": "it is x", "y": "it is y"})
    assert language("APKDP").posed({"delta": F(0)}).tightest(world).value.exact == 0
    assert named("NPr").definition.tightest(world).value.infinite


# Section 7.


def test_semantic_privacy_is_pure_privacy_where_all_outputs_are_possible() -> None:
    one, other, broken = refutations()["semantic without common outputs"].replay()
    assert broken
    assert other.infinite
    assert float(one) == pytest.approx((math.sqrt(2) - 1) / (math.sqrt(2) + 1))


def test_semantic_privacy_keeps_neither_axiom() -> None:
    for axiom, after in (("post_processing", 0.27637), ("convexity", 4 / 9)):
        found = axioms.counterexample("SemPr", axiom).replay()
        assert found.broken
        assert float(found.after) == pytest.approx(after, abs=5e-6)


@pytest.mark.parametrize("eta", [F(1, 10), F(1, 1000)])
def test_no_adversarial_privacy_is_approximate_privacy(eta: Fraction) -> None:
    """Revealing with probability η is (0, η), and its posterior is 1 for every η: AdvPr does not see η."""
    world = build(
        {
            "datasets": {"in": ["t"], "out": [None]},
            "laws": {"in": {"in": eta, "nothing": 1 - eta}, "out": {"out": eta, "nothing": 1 - eta}},
            "priors": {"even": {"in": HALF, "out": HALF}},
        },
    )
    assert language("ADP").posed({"delta": eta}).tightest(world).value.exact == 0
    assert language("AdvPr").posed({"delta": F(0)}).tightest(world).value.exact == Log(2)


def test_a_trade_off_curve_need_not_be_gaussian() -> None:
    """f of pure ε = 1 is 1 − e·x near 0. A Gaussian curve that is nowhere above it falls below it somewhere."""
    with precision(64):
        mu = float_near(-2 * normal_quantile(1 / (1 + Ball(1).exp())))
        for x in (1e-4, 1e-2):
            gaussian = float_near(normal_tail(Ball(mu) - normal_quantile(1 - Ball(x))))
            assert gaussian < 1 - math.e * x - 1e-6


def test_a_posteriori_noiseless_is_noiseless_up_to_two() -> None:
    assert refuted("a posteriori") == (Log(2), Log(3))
    assert convert("ANPr", "NPr", epsilon=1).parameters["epsilon"] == 2.0


def test_information_privacy_needs_support_and_twice_epsilon() -> None:
    assert refuted("information") == (Log(2), Log(3))
    assert refuted("information without support") == (0, None)


def test_information_privacy_keeps_both_axioms_as_proposition_5_says() -> None:
    row = catalogue.get("InfPr")
    assert [row.axioms[a].printed for a in ("post_processing", "convexity")] == ["?", "?"]
    assert [row.axioms[a].settled for a in ("post_processing", "convexity")] == ["yes", "yes"]


# Sections 8 to 10.


def test_zero_knowledge_implies_bounded_and_not_unbounded_privacy() -> None:
    assert refuted("zero knowledge") == (0, None)
    assert implies("ZKPr", "BoDP")


def test_coupled_worlds_with_all_others_is_not_pure_privacy() -> None:
    assert refuted("coupled worlds") == (Log(2), Log(3))


def test_inference_based_coupled_worlds_is_weaker() -> None:
    assert refuted("inference-based") == (0, None)
    assert convert("CWPr", "IBCWPr", epsilon=1).parameters["epsilon"] == 2.0


def test_typical_stability_composes() -> None:
    """Both together are within the sums, and often above either; where noiseless privacy breaks nothing does."""
    dice, compared, more = random.Random("typical stability"), 0, 0
    for i in range(12):
        world = generate.random_world(dice, people=1, outputs=2, near=False, zeros=i % 3 == 0, absent=i % 2 == 0)
        laws = generate.random_world(dice, people=1, outputs=2, near=False, zeros=False, absent=i % 2 == 0).laws
        other = dataclasses.replace(world, laws=laws)
        single = language("TypSt").posed({"gamma": F(1, 8), "delta": F(1, 20)})
        double = language("TypSt").posed({"gamma": F(1, 4), "delta": F(1, 10)})
        a, b = (axioms.measure(single.tightest(each)) for each in (world, other))
        if a.infinite or b.infinite:
            continue
        both = axioms.measure(double.tightest(axioms.composed(world, other)))
        assert both.bounds[0] <= (a.bounds[1] + b.bounds[1]) * (1 + 1e-9), world.to_json()
        compared += 1
        # With the slack of one alone more than the larger of the two is needed: the sum says something.
        tight = axioms.measure(single.tightest(axioms.composed(world, other)))
        more += tight.bounds[0] > max(a.bounds[1], b.bounds[1])
    assert compared >= 6
    assert more
    stored = axioms.counterexample("NPr", "composition")
    definition = language("TypSt").posed({"gamma": F(0), "delta": F(0)})
    assert all(axioms.measure(definition.tightest(world)).infinite for world in stored.worlds)


def test_the_proof_of_proposition_5_needs_delta_inside_the_product() -> None:
    """With δ outside, as printed, the last step fails: (X₁c + δ + X₂c + δ)/(X₁ + X₂) against c + δ."""
    x1, x2, c, slack = F(1, 10), F(1, 10), F(1), F(1, 10)
    assert (x1 * c + slack + x2 * c + slack) / (x1 + x2) > c + slack
    assert (x1 * (c + slack) + x2 * (c + slack)) / (x1 + x2) == c + slack


def test_the_proof_of_proposition_7_exchanges_the_mechanisms() -> None:
    """P[M₂(D₂) = O₁] for P[M₁(D₂) = O₁]: with M₁ constant and M₂ never giving its output the line would be 0."""
    first, second = pair((F(1), F(0)), (F(1), F(0))), pair((F(0), F(1)), (F(0), F(1)))
    assert first.laws["y"][0] == 1
    assert second.laws["y"][0] == 0
    assert axioms.measure(named("DP").definition.tightest(axioms.composed(first, second))).exact == 0
