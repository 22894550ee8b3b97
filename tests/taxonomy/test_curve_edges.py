"""Implications whose parameter is a curve, a region or a predicate: each has a test of its own."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

from scipy.stats import norm

from quincunx.numbers import Log
from quincunx.taxonomy import World, generate, named, quantification
from quincunx.taxonomy.relations import edges, language
from quincunx.taxonomy.world import build
from tests.taxonomy.test_curve_axioms import curve, region

F = Fraction


def all_near(name: str, count: int) -> Iterator[World]:
    """One record, any two values of which are neighbours."""
    dice = random.Random(name)
    for i in range(count):
        world = generate.random_world(dice, people=1, outputs=3, near=False, zeros=i % 2 == 0)
        yield dataclasses.replace(world, neighbours=list(combinations(world.datasets, 2)))


def test_a_bell_curve_bounds_the_errors_and_touches_them(ci: bool, full: bool) -> None:
    """GaussDP → f-DP: Φ(Φ⁻¹(1 − x) − μ) is convex, so at the vertices of a convex polygon below it is below."""
    compared = 0
    for world in all_near("bell", 1000 if full else 50 if ci else 8):
        mu = float(named("GaussDP").definition.tightest(world).value)
        if mu == float("inf") or mu == 0:
            continue
        points = [(float(x), float(y)) for x, y in curve(named("f-DP").definition, world)]
        gaps = [y - norm.cdf(norm.ppf(1 - x) - mu) for x, y in points if 0 < x < 1]
        # Errors of SciPy's normal law are far below 1e-9.
        assert min(gaps) >= -1e-9
        assert min(gaps) <= 1e-6
        compared += 1
    assert compared >= 3


def test_a_curve_of_errors_gives_epsilon_and_delta_exactly(ci: bool, full: bool) -> None:
    """f-DP → ADP: δ(ε) = 1 + f*(−e^ε), the largest 1 − y − e^ε·x on the curve; and no smaller δ is enough."""
    sharp = 0
    for world in all_near("delta of a curve", 1000 if full else 50 if ci else 8):
        points = curve(named("f-DP").definition, world)
        for factor in (F(1), F(3, 2), F(4)):
            delta = max(F(0), *(1 - y - factor * x for x, y in points))
            if delta == 1:
                continue
            limit = Log(factor) if factor > 1 else F(0)
            assert language("ADP").posed({"delta": delta}).tightest(world).value.within(limit)
            if delta:
                assert not language("ADP").posed({"delta": delta * F(99, 100)}).tightest(world).value.within(limit)
                sharp += 1
    assert sharp >= 5


def federation(dice: random.Random) -> World:
    """Three clients of one record; what each sees, and what any two see together, come from one law of all three."""
    names = {f"{a},{b},{c}": [a, b, c] for a, b, c in product("xy", repeat=3)}
    seen = list(product("01", repeat=3))
    views: dict[str, dict[str, dict[str, Fraction]]] = {f"c{i}": {} for i in range(3)}
    joint: dict[str, dict[str, dict[str, Fraction]]] = {f"c{i}": {} for i in range(3)}
    for name in names:
        weights = [dice.randint(1, 9) for _ in seen]
        law = {each: F(w, sum(weights)) for each, w in zip(seen, weights, strict=True)}
        for i in range(3):
            alone, others = dict.fromkeys("01", F(0)), {a + b: F(0) for a, b in product("01", repeat=2)}
            for each, p in law.items():
                alone[each[i]] += p
                others["".join(each[j] for j in range(3) if j != i)] += p
            views[f"c{i}"][name], joint[f"c{i}"][name] = alone, others
    clients = {f"c{i}": [i] for i in range(3)}
    laws = {name: {"o": F(1)} for name in names}
    return build({"datasets": names, "laws": laws, "clients": clients, "views": views, "joint_views": joint})


def test_what_all_others_may_see_each_of_them_may(ci: bool, full: bool) -> None:
    """sFDP → wFDP, at the same curve; the other way round fails."""
    dice, back = random.Random("federation"), 0
    strong, weak = named("sFDP").definition, named("wFDP").definition
    for _ in range(1000 if full else 50 if ci else 5):
        world = federation(dice)
        assert weak.holds(world, points=curve(strong, world)).status == "holds", world.to_json()
        back += strong.holds(world, points=curve(weak, world)).status != "holds"
    assert back


def test_a_region_is_a_predicate(ci: bool, full: bool) -> None:
    """GcDP-KL10 → AbsDP: M asked event by event says what the region says along the power curve."""
    kept = broken = 0
    for world in all_near("predicates", 1000 if full else 50 if ci else 8):
        points = curve(named("f-DP").definition, world)
        for share in (F(0), F(1, 3)):
            posed = region([(x, y + share * (1 - x - y)) for x, y in points])
            stated = posed.quantification
            assert isinstance(stated, quantification.Region)

            def holds(p: tuple[Fraction, ...], q: tuple[Fraction, ...], at=stated.at) -> bool:  # type: ignore[no-untyped-def]
                events = [s for size in range(len(p) + 1) for s in combinations(range(len(p)), size)]
                pairs = [(sum((p[i] for i in s), F(0)), sum((q[i] for i in s), F(0))) for s in events]
                return all(b <= at(a) and 1 - b <= at(1 - a) for a, b in pairs)

            predicate = named("AbsDP").definition.with_(quantification=quantification.Predicate(holds))
            assert predicate.tightest(world).holds == posed.tightest(world).holds
            kept += bool(posed.tightest(world).holds)
            broken += not posed.tightest(world).holds
    assert kept
    assert broken


def test_every_edge_that_is_compared_by_itself_is_compared_here_or_beside_the_graph() -> None:
    """GaussDP, f-DP, sFDP and the predicate above; (ε, δ), membership and adversaries in test_relations.py."""
    alone = {edge.name.partition(" if ")[0] for edge in edges() if "a test of its own" in edge.untested}
    assert alone == {
        "ADP → f-DP", "GaussDP → f-DP", "f-DP → ADP", "sFDP → wFDP", "GcDP-KL10 → AbsDP", "ADP → GcDP-KL10",
        "GcDP-KL10 → ADP", "PMPr → BoDP", "NMPr → BoDP", "MPr → uBoDP", "AdvPr → BoDP",
    }  # fmt: skip
    assert sum(bool(edge.untested) for edge in edges()) == len(alone) + 6
