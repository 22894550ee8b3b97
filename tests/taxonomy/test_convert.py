"""Conversions: known figures, the best path, certified rounding, and never better than the truth on worlds."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

import quincunx as qx
from quincunx.errors import QuincunxError, SpecificationError
from quincunx.numbers import Log
from quincunx.taxonomy import catalogue, generate
from quincunx.taxonomy.relations import convert, edges, language
from quincunx.taxonomy.relations.language import Setting
from tests.taxonomy.edges import measured, settings, tight, worlds

F = Fraction
# Checkers of these refuse a world in which nobody is ever absent.
ABSENT = ("uBoDP", "AsDP", "PerDP", "TaiDP", "OutPr", "SemPr", "PIDP")


@pytest.mark.parametrize(
    ("source", "target", "given", "measure", "expected"),
    [
        ("pure", "zcdp", {"epsilon": 1}, "rho", math.tanh(0.5)),  # 0.4621, not 1/2
        ("pure", "KL", {"epsilon": 1}, "epsilon", math.tanh(0.5)),
        ("pure", "SemPr", {"epsilon": 1}, "epsilon", math.tanh(0.5)),
        ("pure", "mCDP", {"epsilon": 1}, "tau", 1.0),
        ("pure", "ADP", {"epsilon": Log(3), "delta": "1/4"}, "epsilon", math.log(2)),
        ("pure", "GDP", {"epsilon": Log(3)}, "mu", 1.348980),
        ("pure", "RBPr", {"epsilon": 1}, "epsilon", 2.0),
        ("pure", "GrDP", {"epsilon": 1, "size": 5}, "epsilon", 5.0),
        ("pure", "kDivDP", {"epsilon": Log(3), "k": 2}, "epsilon", math.sqrt(4 / 3)),
        ("pure", "DivDP", {"epsilon": Log(3), "f": "chi-squared"}, "epsilon", 4 / 3),
        ("pure", "renyi", {"epsilon": Log(3), "alpha": 2}, "epsilon", math.log(7 / 3)),
        ("add/remove", "SamDP", {"epsilon": 1, "rate": "1/10"}, "epsilon", math.log1p(0.1 * math.expm1(1))),
        ("zCDP", "renyi", {"rho": "1/2", "alpha": 4}, "epsilon", 2.0),
        ("mCDP", "zCDP", {"mu": F(8591, 10000), "tau": 1, "xi": F(3591, 10000)}, "rho", 0.5),
        ("AdvPr", "BoDP", {"epsilon": Log(3), "delta": "0.05"}, "epsilon", math.log(4.6665)),
        ("ANPr", "NPr", {"epsilon": "1/2"}, "epsilon", 1.0),
        ("TV", "ADP", {"epsilon": "1/10", "delta": "1/10"}, "epsilon", 0.0),
        ("SemPr", "uBoDP", {"epsilon": "1/2"}, "epsilon", 2 * math.log(3)),
    ],
)
def test_known_figures(source: str, target: str, given: dict[str, object], measure: str, expected: float) -> None:
    found = convert(source, target, **given)
    assert found.parameters[measure] == pytest.approx(expected, rel=2e-5)
    assert float(found.parameters[measure]) >= expected - 5e-5


def test_the_bound_is_certified_from_above() -> None:
    found = convert("pure", "zcdp", epsilon=1)
    exact = F("0.46211715726000975850231848364367254873028928033011303855273181583808")
    assert F(found.parameters["rho"]) >= exact
    assert found.parameters["rho"] <= math.nextafter(float(exact), 2) * (1 + 1e-15)
    assert found.values["rho"].exact is None
    assert convert("pure", "RBPr", epsilon=Log(3)).values["epsilon"].exact == Log(9)


def test_approximate_concentration_without_slope_is_approximate_privacy() -> None:
    """(ξ, 0, δ) is (ξ, δ): both ways through δ-approximate ρ = 0, by the checkers on one world."""
    world = generate.randomized_response("3/4")
    for delta in (F(1, 4), F(1, 2)):
        slack = tight("ADP", {"delta": delta}, world)["epsilon"]
        slope = tight("AzCoDP", {"delta": delta}, world)["rho"]
        assert (slack.exact == 0) == (slope.bounds[0] == 0)
    assert convert("ADP", "AzCoDP", epsilon=0, delta="1/10").parameters["rho"] == 0.0
    assert convert("AzCoDP", "ADP", rho=0, delta="1/10", to={"delta": "1/5"}).parameters["epsilon"] == 0.0


def test_truncated_concentration_is_at_most_the_papers_formula() -> None:
    for omega, paper in ((10, 8.4338), (3, 9.9078)):
        found = convert("tCDP", "ADP", rho=1, omega=omega, delta="1e-6")
        assert found.parameters["epsilon"] <= paper
    whole = convert("zCDP", "ADP", rho=1, delta="1e-6").parameters["epsilon"]
    assert whole <= convert("tCDP", "ADP", rho=1, omega=100, delta="1e-6").parameters["epsilon"]


def test_the_best_of_several_ways() -> None:
    """At a large δ pure privacy is best through its own curve; no detour is better, and none is taken."""
    direct = convert("pure", "ADP", epsilon=2, delta="1/10")
    assert [edge.target for edge in direct.path] == ["ADP"]
    assert direct.parameters["epsilon"] == pytest.approx(math.log(math.exp(2) - 0.1 * (1 + math.exp(2))))
    # Through several orders the smallest is taken.
    found = convert("GDP", "kDivDP", mu=1, k=1)
    assert found.parameters["epsilon"] == pytest.approx(math.sqrt(math.expm1(1)), rel=1e-9)


def test_five_edges_and_their_sources() -> None:
    found = convert("OutPr", "tCDP", epsilon=1, omega=8)
    assert [edge.target for edge in found.path] == ["TaiDP", "PerDP", "uBoDP", "DP", "zCoDP", "bCoDP", "tCoDP-BDRS18"]
    assert found.parameters["rho"] == pytest.approx(2 * math.tanh(1))
    assert found.conditions == ("absence",)
    assert found.sources == ("KM11", "relations.md, concentrated")
    unconditional = convert("tCDP", "CBDP", rho=1, omega=8, f="kl")
    assert len(unconditional.path) >= 4
    assert unconditional.conditions == ()


def test_conditions_are_returned_and_can_be_granted() -> None:
    found = convert("InfPr", "ADP", epsilon="1/2", delta="1/100")
    assert found.conditions == ("supported",)
    assert convert("InfPr", "ADP", epsilon="1/2", delta="1/100", assume=["supported"]).conditions == ()
    # A way without conditions is preferred to a better one with them, unless they are granted.
    loose = convert("uBoDP", "NPr", epsilon=1, assume=["absence", "independent"])
    assert loose.parameters["epsilon"] == 2.0
    with pytest.raises(SpecificationError, match="unknown condition"):
        convert("pure", "zcdp", epsilon=1, assume=["independence"])


def test_the_loss_is_tighter_and_says_so() -> None:
    laplace = qx.mechanisms.Laplace(scale=1)
    found = convert("pure", "zcdp", epsilon=1, loss=laplace.loss)
    assert found.parameters["rho"] == pytest.approx(math.exp(-1), rel=1e-9)  # ε + e^−ε − 1
    assert "own loss" in found.tighter
    assert "0.462118" in found.tighter
    response = qx.mechanisms.RandomizedResponse(probability="3/4")
    same = convert("pure", "KL", epsilon=Log(3), loss=response.loss)
    assert same.parameters["epsilon"] == pytest.approx(math.log(3) / 2)


@pytest.mark.parametrize(
    ("source", "target", "given", "what"),
    [
        ("pure", "zcdp", {}, "epsilon is missing"),
        ("pure", "ADP", {"epsilon": 1}, "delta is missing"),
        ("pure", "zcdp", {"epsilon": -1}, "0 or greater"),
        ("pure", "zcdp", {"epsilon": "nan"}, "number"),
        ("pure", "zcdp", {"epsilon": 1, "rho": 2}, "unknown parameter"),
        ("pure", "f-DP", {"epsilon": 1}, "no number to convert to"),
        ("KL", "DP", {"epsilon": 1}, "nothing is known to follow"),
        ("renyi", "ADP", {"epsilon": 1, "alpha": 1, "delta": "1/10"}, "greater than 1"),
        ("pure", "GrDP", {"epsilon": 1, "size": "3/2"}, "whole number"),
        ("pure", "SamDP", {"epsilon": 1, "rate": 2}, "at most 1"),
        ("pure", "zzz", {"epsilon": 1}, "unknown definition"),
        ("ADP", "DP", {"epsilon": 1, "delta": "1/10"}, "nothing is known to follow"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(source: str, target: str, given: dict[str, object], what: str) -> None:
    with pytest.raises(QuincunxError, match=what):
        convert(source, target, **given)


def test_conversions_are_never_better_than_the_truth(ci: bool, full: bool) -> None:
    """Along whole paths: random ends, random worlds, the target's smallest parameter is within the conversion."""
    dice, compared, long = random.Random("paths"), 0, 0
    ends = ["DP", "FLPr", "ADP", "zCoDP", "GaussDP", "RenyiDP", "ProDP", "IndPr", "RBPr", "ZKPr", "InfPr", "ClDP"]
    lasts = [row.short for row in catalogue.definitions() if row.checkable == "yes" and language(row.short).measures]
    some = next(edge for edge in edges() if edge.name == "DP → ADP")
    for world in worlds(some, 2000 if full else 300 if ci else 40):
        source, target = dice.choice(ends), dice.choice(lasts)
        if target in ("mCoDP", "GcDP-KL10"):
            continue
        stated, goal = settings(source, dice), settings(target, dice)
        truth = tight(source, stated, world)
        if any(v.bounds[1] == math.inf for v in truth.values()):
            continue
        given = {n: v.exact if v.exact is not None else F(v.bounds[1]) for n, v in truth.items()}
        try:
            found = convert(source, target, to=goal, **given, **stated)
        except QuincunxError:
            continue
        if found.conditions:
            continue
        if target in ("SamDP", *ABSENT) and all(None not in records for records in world.datasets.values()):
            continue
        answer = measured(language(target).posed(goal).tightest(world), language(target).measures)
        for name, value in answer.items():
            assert value.bounds[0] <= float(found.values[name]) * (1 + 1e-12), (source, target, given, goal)
        compared += 1
        long += len(found.path) >= 3
    assert compared >= (300 if full else 50 if ci else 5)
    assert long


@pytest.mark.parametrize(
    ("source", "target", "least", "stated", "goal"),
    [
        ("ClDP", "OutPr", 6, {}, {}),
        ("ClDP", "tCoDP-BDRS18", 5, {}, {"omega": F(4)}),
        ("ElDP", "OutPr", 5, {}, {}),
        ("tCoDP-BDRS18", "CBDP", 5, {"omega": F(4)}, {"f": "kl"}),
    ],
)
def test_five_edges_and_more_are_never_better_than_the_truth(
    source: str, target: str, least: int, stated: dict[str, Setting], goal: dict[str, Setting], ci: bool, full: bool
) -> None:
    dice, compared = random.Random(f"{source} to {target}"), 0
    wanted = 200 if full else 30 if ci else 3
    while compared < wanted:
        world = generate.random_world(dice, people=1, outputs=3, near=False, zeros=compared % 2 == 0)
        truth = tight(source, stated, world)
        if any(v.bounds[1] == math.inf for v in truth.values()):
            continue
        given = {n: v.exact if v.exact is not None else F(v.bounds[1]) for n, v in truth.items()}
        found = convert(source, target, **given, **stated, **goal)
        assert len(found.path) >= least
        assert found.conditions == ()
        for name, value in tight(target, goal, world).items():
            assert value.bounds[0] <= float(found.values[name]) * (1 + 1e-12)
        compared += 1


def test_extreme_parameters_convert_or_are_refused_with_a_sentence(ci: bool) -> None:
    """Nothing overflows, underflows to nan or divides by zero."""
    dice, answered = random.Random("extremes"), 0
    values = [0, "1e-300", "1e-12", F(1, 3), 1, "1000", "1e6", "1e150", Log(3), Log(F(10**30))]
    extremes: dict[str, list[object]] = {
        "delta": [0, "1e-400", "1e-6", "0.999"], "outside": [0, "1/10"], "alpha": ["1.0000001", 2, "1e9"],
        "xi": [0, 1, "1e9"], "omega": ["1.0001", 10, "1e9"], "f": ["kl", "squared-hellinger", "zzz"], "k": [1, 2, 50],
        "size": [1, 10**6], "gamma": [0, "1/2"], "rate": [0, "1/2", 1], "radius": [0, 1], "known": [0, 3],
    }  # fmt: skip
    shorts = [row.short for row in catalogue.definitions() if language(row.short).measures]
    fixed = [("NMPr", "RelDP", {"epsilon": "1e-300", "delta": "1e-6", "outside": 0})]
    fixed.append(("tCoDP-BDRS18", "ADP", {"rho": 1, "omega": 2, "delta": "1e-400"}))
    for i in range(3000 if ci else 200):
        source, target = dice.choice(shorts), dice.choice(shorts)
        one, other = language(source), language(target)
        given = {name: dice.choice(values) for name in one.measures}
        given |= {name: dice.choice(extremes[name]) for name in (*one.settings, *other.settings)}
        source, target, given = fixed[i] if i < len(fixed) else (source, target, given)
        try:
            found = convert(source, target, **given)
        except QuincunxError:
            continue
        answered += 1
        assert not any(math.isnan(float(value)) for value in found.values.values()), (source, target, given)
        assert str(found)
    assert answered >= 20
