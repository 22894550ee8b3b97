"""Every implication on random worlds, every refutation replayed, and the whole graph beside the survey's table."""

from __future__ import annotations

import dataclasses
import math
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest

from quincunx.errors import SpecificationError
from quincunx.numbers import Log, ball, float_above, float_below, precision
from quincunx.taxonomy import World, catalogue, generate, named, quantification
from quincunx.taxonomy.relations import CONDITIONS, Edge, edges, implies, language, printed
from quincunx.taxonomy.relations.edge import Map
from quincunx.taxonomy.relations.refuted import refutations
from quincunx.taxonomy.world import build
from tests.taxonomy.edges import compared_on, settings, worlds

TESTED = [edge for edge in edges() if not edge.untested]


@pytest.mark.parametrize("edge", TESTED, ids=lambda edge: edge.name)
def test_the_implied_parameters_never_exceed_the_converted_ones(edge: Edge, ci: bool, full: bool) -> None:
    """At least so many worlds on which the source is finite and the map says something, of ten times as many tries."""
    # The scale τ of a mean-concentrated loss takes a branch and bound of a quarter of a second for each world.
    wanted = 1000 if full else (10 if "mCoDP" in (edge.source, edge.target) else 50) if ci else 1
    dice, reached = random.Random(f"settings of {edge.name}"), 0
    for world in worlds(edge, 20 * wanted):
        compared, violation = compared_on(edge, world, dice)
        assert not violation, violation
        reached += compared > 0
        if reached == wanted:
            return
    assert reached == wanted, f"{reached} of {wanted} worlds said something"


@pytest.mark.parametrize(
    ("source", "target", "wrong"),
    [
        ("uBoDP", "BoDP", lambda g, _t: g["epsilon"]),
        ("DP", "GrDP", lambda g, _t: g["epsilon"]),
        ("uBoDP", "SamDP", lambda _g, _t: Fraction(0)),
        ("ANPr", "NPr", lambda g, _t: g["epsilon"]),
    ],
)
def test_a_wrong_map_is_found(source: str, target: str, wrong: Map) -> None:
    edge = next(edge for edge in TESTED if (edge.source, edge.target) == (source, target))
    broken = dataclasses.replace(edge, map=wrong)
    dice = random.Random(1)
    assert any(compared_on(broken, world, dice)[1] for world in worlds(broken, 60))


@pytest.mark.parametrize("key", refutations())
def test_every_refutation_refutes(key: str) -> None:
    found = refutations()[key]
    _, _, broken = found.replay()
    assert broken
    # What was claimed with this map is not in the graph: its unconditional edge says more.
    for edge in edges():
        if (edge.source, edge.target) == (found.source, found.target) and not edge.conditions and found.claim == "ε":
            assert edge.words != "ε"


def test_every_edge_says_where_it_comes_from() -> None:
    note = Path(printed.__file__).with_name("relations.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^## (.*)$", note, re.MULTILINE))
    for edge in edges():
        assert edge.basis in ("definition", "proof", "paper")
        if edge.basis == "proof":
            assert edge.origin in sections, edge.name
        elif edge.basis == "paper":
            assert edge.origin in catalogue.papers(), edge.name
        assert set(edge.conditions) <= CONDITIONS.keys(), edge.name
        assert (edge.map is None) <= bool(edge.untested), edge.name
        assert language(edge.source).short == edge.source
        assert language(edge.target).short == edge.target
    used = {each for edge in edges() for each in edge.conditions}
    assert used == CONDITIONS.keys()
    assert {edge.origin for edge in edges() if edge.basis == "proof"} == sections


def test_every_definition_is_reached_or_leaves() -> None:
    ends = {edge.source for edge in edges()} | {edge.target for edge in edges()}
    assert {row.short for row in catalogue.definitions()} - ends == set()


def test_strict_relations_have_no_cycle() -> None:
    """No implication that is refuted at all parameters stands between definitions that imply each other."""
    for found in refutations().values():
        if found.replay()[1].infinite:
            forward = implies(found.source, found.target)
            assert forward.status != "yes", found.key
    # Printed as stronger, and equivalent up to parameters: nothing in the table says "strictly".
    both = {
        (claim.stronger, claim.weaker)
        for claim in printed.claims()
        if "∼" not in claim.text and implies(claim.weaker, claim.stronger) and claim.judged()
    }
    assert both == {("ProDP", "RelDP"), ("ADP", "RelDP"), ("ADP", "AzCoDP"), ("bCoDP", "tCoDP-BDRS18")}


def test_the_graph_agrees_with_the_table_but_for_the_errata(capsys: pytest.CaptureFixture[str]) -> None:
    claims = list(printed.claims())
    assert len(claims) == 71
    missing = {(c.stronger, c.weaker) for c in claims if c.judged().status not in ("yes", "if")}
    with capsys.disabled():
        for pair in sorted(missing):
            print(f"\n  {pair[0]} ⇒ {pair[1]} is printed and not in the graph: {printed.DIFFERENCES.get(pair)}", end="")
    assert missing == printed.DIFFERENCES.keys()


def test_implies_answers_yes_if_no_and_unknown() -> None:
    assert implies("pure", "zCDP")
    assert str(implies("DP", "DP")) == "yes: it is the same"
    found = implies("InfPr", "ADP")
    assert (found.status, found.conditions, bool(found)) == ("if", ("supported",), False)
    assert implies("ZKPr", "uBoDP").status == "no"
    assert "2ε for bounded DP" in str(implies("ZKPr", "uBoDP"))
    # Priors about presence and priors about values are not the same priors.
    assert {"two values", "presence"} - set(implies("PMPr", "uBoDP").conditions)
    assert implies("KLPr", "DP").status == "unknown"
    assert implies("ADP", "DP").status == "no"
    with pytest.raises(SpecificationError, match="unknown definition"):
        implies("DP", "DPP")


def test_nothing_that_assumes_presence_leads_to_absence() -> None:
    for target in ("SemPr", "SamDP", "PerDP"):
        assert implies("BoDP", target).status != "if" or "public size" not in implies("BoDP", target).conditions


def test_curves_of_approximate_privacy(ci: bool) -> None:
    """(ε, δ) is the curve of errors f with its three pieces, and the region M of generic privacy, on worlds."""
    dice, compared = random.Random("curves"), 0
    for i in range(60 if ci else 8):
        world = generate.random_world(dice, people=1, outputs=3, near=False, zeros=i % 2 == 0)
        names = list(world.datasets)
        near = [(x, y) for j, x in enumerate(names) for y in names[j + 1 :]]  # one record: any two are neighbours
        world = dataclasses.replace(world, neighbours=near)
        delta = dice.choice((Fraction(0), Fraction(1, 10), Fraction(1, 4)))
        value = language("ADP").posed({"delta": delta}).tightest(world).value
        if value.infinite:
            continue
        factor = value.exact.of if isinstance(value.exact, Log) else Fraction(1)
        knee = (1 - delta) / (1 + factor)
        curve = [(Fraction(0), 1 - delta), (knee, knee), (1 - delta, Fraction(0)), (Fraction(1), Fraction(0))]
        assert language("f-DP").definition.holds(world, points=curve).status == "holds"
        region = named("GcDP-KL10").definition.with_(quantification=quantification.Region.approximate(factor, delta))
        assert region.tightest(world).holds
        if factor > 1:
            # A little less than the smallest e^ε is refused, so the curve says neither more nor less.
            less = 1 + (factor - 1) * Fraction(99, 100)
            smaller = named("GcDP-KL10").definition.with_(quantification=quantification.Region.approximate(less, delta))
            assert not smaller.tightest(world).holds
        compared += 1
    assert compared >= (20 if ci else 2)


def two_point(world: World, x: str, y: str, share: Fraction) -> World:
    prior = {n: share * (n == x) + (1 - share) * (n == y) for n in world.datasets}
    return dataclasses.replace(world, priors={"two": prior})


@pytest.mark.parametrize(("name", "target"), [("PMPr", "BoDP"), ("NMPr", "BoDP"), ("MPr", "uBoDP")])
def test_membership_under_extreme_two_point_priors_bounds_the_ratio(name: str, target: str, ci: bool) -> None:
    """At π near 0 and 1 the belief moves by nearly the ratio r: by r/(1 + π(r − 1)) or 1 + π(r − 1)."""
    dice, hair = random.Random(f"{name} at extremes"), Fraction(1, 10**12)
    for i in range(20 if ci else 3):
        world = generate.random_world(dice, values=2, people=1, outputs=3, near=False, zeros=i % 2 == 0)
        ends = ("a", "b") if target == "BoDP" else ("a", "–")
        pair = dataclasses.replace(
            world, datasets={n: world.datasets[n] for n in ends}, laws={n: world.laws[n] for n in ends}
        )
        ratio = float(named(target).definition.tightest(pair).value)
        shares = (hair, 1 - hair)
        found = max(float(named(name).definition.tightest(two_point(pair, *ends, share)).value) for share in shares)
        assert found >= min(ratio, 20) - 1e-6
        # One direction of adding a record is not bounded by positive membership alone: see the next test.


def test_positive_membership_is_silent_about_one_direction_of_presence() -> None:
    world = build(
        {"datasets": {"in": ["t"], "out": [None]}, "laws": {"in": {"a": 1, "b": 0}, "out": {"a": "1/2", "b": "1/2"}}},
    )
    for share in (Fraction(1, 10**6), Fraction(1, 2), 1 - Fraction(1, 10**6)):
        assert (
            float(named("PMPr").definition.tightest(two_point(world, "in", "out", share)).value) <= math.log(2) + 1e-9
        )
    assert named("uBoDP").definition.tightest(world).value.infinite
    assert implies("PMPr", "uBoDP").status != "yes"


def test_adversarial_privacy_under_two_point_priors_bounds_the_ratio(ci: bool) -> None:
    """Every prior π gives the ratio (1 − π)(tπ + δ)/(π(1 − tπ − δ)), t = e^ε, exactly."""
    dice, compared = random.Random("adversarial"), 0
    for _ in range(30 if ci else 5):
        world = generate.random_world(dice, values=2, people=1, outputs=3, near=False, zeros=False, absent=False)
        ratio = named("BoDP").definition.tightest(world).value.exact
        delta, share = Fraction(1, 20), dice.choice((Fraction(1, 100), Fraction(1, 10), Fraction(1, 4)))
        value = language("AdvPr").posed({"delta": delta}).tightest(two_point(world, "a", "b", share)).value.exact
        other = language("AdvPr").posed({"delta": delta}).tightest(two_point(world, "b", "a", share)).value.exact
        t = max(each.of if isinstance(each, Log) else Fraction(1) for each in (value, other))
        top = t * share + delta
        if top < 1:
            bound = (1 - share) * top / (share * (1 - top))
            assert (ratio.of if isinstance(ratio, Log) else 1) <= bound
            compared += 1
    assert compared


def test_every_map_grows_with_what_it_is_given(ci: bool) -> None:
    """More of the source never gives less of the target: ways may go on from upper ends."""
    dice = random.Random("growing")
    for edge in (each for each in edges() if each.map is not None):
        for _ in range(20 if ci else 3):
            stated, goal = settings(edge.source, dice), settings(edge.target, dice)
            small = {name: Fraction(dice.randint(0, 40), 50) for name in language(edge.source).measures}
            large = {name: value + Fraction(dice.randint(0, 9), 50) for name, value in small.items()}
            with precision(128):
                less, more = edge.apply({**small, **stated}, goal), edge.apply({**large, **stated}, goal)
                if less is None or more is None:
                    assert more is None or large == small or edge.name in ("KLPr → ADP", "TVPr → ADP"), edge.name
                    continue
                for name in less:
                    assert float_below(ball(less[name])) <= float_above(ball(more[name])) * (1 + 1e-12), edge.name
