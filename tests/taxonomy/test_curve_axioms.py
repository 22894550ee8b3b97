"""The axioms of definitions whose parameter is a curve, a region or a leak: searched by curves, not by numbers.

A curve of errors is kept by an axiom if what both mechanisms allow is allowed afterwards: the largest convex curve
below both for a mixture, the product of both for composition. A region M is 1 − f for such a curve f.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise, product

import pytest

from quincunx.taxonomy import Definition, World, axioms, generate, named, quantification
from quincunx.taxonomy.case import Law
from tests.taxonomy.test_axioms import kernels, relaw

F = Fraction
Curve = list[tuple[Fraction, Fraction]]
Joint = dict[str, dict[tuple[str, str], Fraction]]


def curve(definition: Definition, world: World) -> Curve:
    """The vertices of the best curve that the world satisfies."""
    return [(F(x.exact), F(y.exact)) for x, y in definition.tightest(world).rows]  # type: ignore[arg-type]


def below(points: Curve) -> Curve:
    """The largest convex curve below all points, from 0 to 1."""
    lowest: dict[Fraction, Fraction] = {}
    for x, y in points:
        lowest[x] = min(y, lowest.get(x, y))
    hull: Curve = []
    for x, y in sorted(lowest.items()):
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (x - hull[-2][0]) >= (y - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((x, y))
    return hull


def steps(points: Curve) -> list[tuple[Fraction, Fraction]]:
    """Two laws whose curve this is, as pairs (p, q): one for each side, and what only one of them has."""
    found = [(F(0), 1 - points[0][1])]
    found += [(c - a, b - d) for (a, b), (c, d) in pairwise(points)]
    return [each for each in found if each != (0, 0)]


def multiplied(one: Curve, other: Curve) -> Curve:
    """The curve of the two products of laws: f ⊗ g."""
    both = [(p * r, q * s) for (p, q), (r, s) in product(steps(one), steps(other))]
    # By the likelihood ratio q/p, falling; where p is 0 it is infinite.
    both.sort(key=lambda each: (each[0] != 0, -each[1] / each[0] if each[0] else F(0)))
    level, miss, found = F(0), F(1), [(F(0), F(1))]
    for p, q in both:
        level, miss = level + p, miss - q
        found.append((level, miss))
    return below(found)


def viewed(world: World, kernel: Mapping[str, Mapping[str, Fraction]], part: str) -> World:
    """The world after every viewer has processed what they see; outputs of the kernel are places of a view."""
    views: Mapping[str, Mapping[str, Law]] = getattr(world, part)
    after = {}
    for who, rows in views.items():
        labels = [str(i) for i in range(len(next(iter(rows.values()))))]
        seen = World(datasets=world.datasets, laws=rows, outputs=tuple(labels))
        after[who] = axioms.processed(seen, {a: row for a, row in kernel.items() if a in labels}).laws
    return dataclasses.replace(world, **{part: after})


def merging(dice: random.Random) -> dict[str, dict[str, Fraction]]:
    share = F(dice.randint(0, 4), 4)
    return {"0": {"0": share, "1": 1 - share}}


def together(one: World, other: World, part: str, weight: Fraction | None) -> World:
    """Views of a mixture, or of both mechanisms where no weight is given."""
    first: Mapping[str, Mapping[str, Law]] = getattr(one, part)
    second: Mapping[str, Mapping[str, Law]] = getattr(other, part)
    found = {}
    for who, rows in first.items():
        pairs = {x: (rows[x], second[who][x]) for x in rows}
        if weight is None:
            found[who] = {x: tuple(p * q for p in a for q in b) for x, (a, b) in pairs.items()}
        else:
            mix = {
                x: tuple(weight * p + (1 - weight) * q for p, q in zip(*both, strict=True)) for x, both in pairs.items()
            }
            found[who] = mix
    return dataclasses.replace(one, **{part: found})


@pytest.mark.parametrize("axiom", ["post_processing", "convexity", "composition"])
@pytest.mark.parametrize("short", ["f-DP", "wFDP", "sFDP"])
def test_curves_of_errors_keep_every_axiom(short: str, axiom: str, ci: bool, full: bool) -> None:
    dice, definition = random.Random(f"{short} {axiom}"), named(short).definition
    part = {"wFDP": "views", "sFDP": "joint_views"}.get(short)
    strict = 0
    for i in range(200 if full else 30 if ci else 4):
        made = [generate.random_world(dice, people=2, outputs=3, near=False, zeros=i % 2 == 0) for _ in range(2)]
        world, other = made if part else (made[0], relaw(dice, made[0]))
        if part:
            other = dataclasses.replace(world, **{part: getattr(other, part)})
        before, second = curve(definition, world), curve(definition, other)
        weight = F(dice.randint(1, 3), 4)
        if axiom == "post_processing":
            after = (
                viewed(world, merging(dice), part)
                if part
                else axioms.processed(world, dice.choice(kernels(dice, world)))
            )
            limit = before
        elif axiom == "convexity":
            after = together(world, other, part, weight) if part else axioms.mixed(world, other, weight)
            limit = below([*before, *second])
        else:
            after = together(world, other, part, None) if part else axioms.composed(world, other)
            limit = multiplied(before, second)
        assert definition.holds(after, points=limit).status == "holds", (short, world.to_json())
        # A curve that lies higher in the middle is refused by something: the search can fail.
        strict += definition.holds(after, points=[(F(0), F(1)), (F(1), F(0))]).status != "holds"
    assert strict


def region(points: Curve) -> Definition:
    """Generic privacy with M = 1 − f."""
    vertices = tuple((x, 1 - y) for x, y in points)
    return named("GcDP-KL10").definition.with_(quantification=quantification.Region(vertices))


@pytest.mark.parametrize("axiom", ["post_processing", "convexity"])
def test_regions_keep_post_processing_and_convexity(axiom: str, ci: bool, full: bool) -> None:
    """At the smallest region that the worlds satisfy; a smaller one is refused."""
    dice, definition, refused = random.Random(f"region {axiom}"), named("f-DP").definition, 0
    for i in range(200 if full else 30 if ci else 4):
        world = generate.random_world(dice, people=1, outputs=3, near=False, zeros=i % 2 == 0)
        names = list(world.datasets)
        world = dataclasses.replace(world, neighbours=[(x, y) for j, x in enumerate(names) for y in names[j + 1 :]])
        other = relaw(dice, world)
        one, two = curve(definition, world), curve(definition, other)
        if axiom == "post_processing":
            after, limit = axioms.processed(world, dice.choice(kernels(dice, world))), one
        else:
            after, limit = axioms.mixed(world, other, F(dice.randint(1, 3), 4)), below([*one, *two])
        assert region(one).tightest(world).holds
        assert region(limit).tightest(after).holds, world.to_json()
        # Half way to a curve that allows nothing.
        less = [(x, y + (1 - x - y) / 2) for x, y in one]
        refused += not region(less).tightest(world).holds
    assert refused


def leaking(world: World, joint: Joint) -> World:
    """The world of output and leak together: the law of the output, and of the leak given the output."""
    outputs = tuple(dict.fromkeys(o for rows in joint.values() for o, _ in rows))
    laws = {
        x: tuple(sum((p for (o, _), p in rows.items() if o == each), F(0)) for each in outputs)
        for x, rows in joint.items()
    }
    leakage = {
        x: {
            o: {b: rows[o, b] / p for (a, b) in rows if a == o} if p else {"l": F(1)}
            for o, p in zip(outputs, laws[x], strict=True)
        }
        for x, rows in joint.items()
    }
    return dataclasses.replace(world, outputs=outputs, laws=laws, leakage=leakage)


def shared(dice: random.Random, world: World, leaks: Mapping[str, Mapping[str, Fraction]]) -> Joint:
    """A mechanism beside a leak whose law is given: its output's law may depend on what leaks."""
    found: Joint = {}
    for x, law in leaks.items():
        rows = {b: generate.random_law(dice, world.outputs, zeros=dice.random() < 0.05) for b in law}
        found[x] = {(o, b): p * F(str(rows[b][o])) for b, p in law.items() for o in world.outputs}
    return found


@pytest.mark.parametrize("axiom", ["post_processing", "convexity", "composition"])
def test_bounded_leakage_keeps_every_axiom(axiom: str, ci: bool, full: bool) -> None:
    """The leak shares the mechanism's coins; those that are mixed share one leak, those that are composed have two."""
    dice, finite = random.Random(f"leak {axiom}"), 0
    delta = F(1, 10)
    base = named("BLDP").definition
    definition = base.with_(quantification=quantification.Approximate(delta=delta))
    twice = base.with_(quantification=quantification.Approximate(delta=2 * delta))
    for _ in range(200 if full else 30 if ci else 4):
        world = generate.random_world(dice, people=1, outputs=3, near=False, zeros=False)
        laws = {x: generate.random_law(dice, ["l", "m"], zeros=False) for x in world.datasets}
        leaks = {x: {b: F(str(p)) for b, p in law.items()} for x, law in laws.items()}
        one, two = shared(dice, world, leaks), shared(dice, world, leaks)
        a, b = (axioms.measure(definition.tightest(leaking(world, each))) for each in (one, two))
        if axiom == "post_processing":
            kernel = dice.choice(kernels(dice, world))
            moved: Joint = {}
            for x, rows in one.items():
                moved[x] = {}
                for (o, label), p in rows.items():
                    for new, share in kernel.get(o, {o: F(1)}).items():
                        moved[x][new, label] = moved[x].get((new, label), F(0)) + p * share
            after, limit, asked = moved, a.bounds[1], definition
        elif axiom == "convexity":
            share = F(dice.randint(1, 3), 4)
            after = {x: {k: share * p + (1 - share) * two[x][k] for k, p in rows.items()} for x, rows in one.items()}
            limit, asked = max(a.bounds[1], b.bounds[1]), definition
        else:
            after = {
                x: {(f"{o}|{e}", f"{k}|{m}"): p * q for (o, k), p in rows.items() for (e, m), q in two[x].items()}
                for x, rows in one.items()
            }
            limit, asked = a.bounds[1] + b.bounds[1], twice
        found = axioms.measure(asked.tightest(leaking(world, after)))
        assert not found.bounds[0] > limit * (1 + 1e-9), world.to_json()
        finite += limit < float("inf")
    assert finite


def test_a_leak_of_its_own_for_each_of_two_mechanisms_breaks_convexity() -> None:
    """Why the leak must be one: constants are private given any leak, and the leak may betray which was chosen."""
    world = generate.random_world(random.Random(1), people=1, outputs=2, near=False, zeros=False)
    names = list(world.datasets)
    definition = named("BLDP").definition.with_(quantification=quantification.Approximate(delta=F(0)))
    constant = []
    for output, chances in (("a", (F(9, 10), F(1, 10))), ("b", (F(1, 10), F(9, 10)))):
        rows = {x: {(output, "l"): chances[i % 2], (output, "m"): 1 - chances[i % 2]} for i, x in enumerate(names)}
        constant.append(rows)
        assert axioms.measure(definition.tightest(leaking(world, rows))).exact == 0
    mixed = {
        x: {k: (constant[0][x].get(k, F(0)) + constant[1][x].get(k, F(0))) / 2 for k in product("ab", "lm")}
        for x in names
    }
    assert axioms.measure(definition.tightest(leaking(world, mixed))).bounds[0] > 0
