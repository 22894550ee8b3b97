"""The axioms: every stored counterexample breaks what it should, and no search breaks what is said to be kept."""

from __future__ import annotations

import dataclasses
import math
import random
import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from quincunx.errors import SpecificationError
from quincunx.taxonomy import World, axioms, catalogue, generate
from quincunx.taxonomy.catalogue.row import AXIOMS, Row
from quincunx.taxonomy.relations import language
from quincunx.taxonomy.relations.language import Setting

F = Fraction
ROWS = [row for row in catalogue.definitions() if row.checkable in ("yes", "enclosed")]
FIXED: dict[str, Setting] = {
    "delta": F(1, 10), "outside": F(1, 10), "alpha": F(2), "xi": F(1, 10), "omega": F(4), "f": "chi-squared", "k": F(2),
    "size": F(2), "gamma": F(1, 4), "rate": F(1, 2), "radius": F(1), "known": F(0),
}  # fmt: skip
# Answers that are curves or regions, and leaks beside the output: searched in test_curve_axioms.py. Of any predicate
# (AbsDP) both axioms are refuted, and nothing is left to search.
CURVES = {"f-DP", "wFDP", "sFDP", "GcDP-KL10", "AbsDP", "BLDP"}
SLOW = {"mCoDP", "TypSt", "CWPr", "IBCWPr", "IBDDP", "AzCoDP"}


@pytest.mark.parametrize("key", axioms.counterexamples())
def test_every_counterexample_breaks_its_axiom(key: str) -> None:
    found = axioms.counterexamples()[key].replay()
    assert found.broken, (found.before, found.after)


def test_every_no_is_stored_and_every_stored_is_a_no() -> None:
    wanted = {
        axiom.source
        for row in catalogue.definitions()
        for axiom in row.axioms.values()
        if axiom.basis == "counterexample"
    }
    assert wanted == axioms.counterexamples().keys()
    for row in catalogue.definitions():
        for axiom in row.axioms.values():
            assert axiom.settled != "no" or axiom.basis in ("counterexample", "proof")


def test_every_proof_has_its_section() -> None:
    note = Path(axioms.__file__).with_suffix(".md").read_text(encoding="utf-8")
    sections = {each.replace(" ", "-") for each in re.findall(r"^## (.*)$", note, re.MULTILINE)}
    for row in catalogue.definitions():
        for axiom in row.axioms.values():
            assert axiom.basis != "proof" or axiom.source in sections, (row.short, axiom)


def settings(row: Row) -> dict[str, Setting]:
    return {name: FIXED[name] for name in language(row.short).settings}


def kernels(dice: random.Random, world: World) -> list[dict[str, dict[str, Fraction]]]:
    """Merging two outputs, exchanging two, and a random kernel."""
    a, b = dice.sample(list(world.outputs), 2)
    share = F(dice.randint(1, 3), 4)
    return [{a: {b: F(1)}}, {a: {b: F(1)}, b: {a: F(1)}}, {a: {a: share, b: 1 - share}}]


def made(dice: random.Random, i: int, short: str) -> World:
    absent = i % 2 == 0 or short in ("SemPr", "SamDP", "PerDP", "TaiDP", "OutPr", "AsDP", "PIDP", "uBoDP")
    zeros = i % 3 != 2 and short != "SemPr"
    return generate.random_world(
        dice, values=2, people=2 if short == "IDDP" else 1, outputs=3, near=False, zeros=zeros, absent=absent
    )


def relaw(dice: random.Random, world: World) -> World:
    """The same world with another mechanism."""
    laws = {}
    for name in world.laws:
        law = generate.random_law(dice, world.outputs, zeros=dice.random() < 0.5)
        laws[name] = tuple(F(str(law[o])) for o in world.outputs)
    return dataclasses.replace(world, laws=laws)


@pytest.mark.parametrize("axiom", ["post_processing", "convexity"])
@pytest.mark.parametrize("row", [row for row in ROWS if row.short not in CURVES], ids=lambda row: row.short)
def test_no_search_breaks_what_is_kept(row: Row, axiom: str, ci: bool, full: bool) -> None:
    """Where the answer is yes or open, no random world, kernel or mixture breaks it."""
    if row.axioms[axiom].settled == "no":
        return
    dice = random.Random(f"{row.short} {axiom}")
    definition, symbol = language(row.short).posed(settings(row)), "τ" if row.short in ("mCoDP", "tCoDP-Col16") else ""
    count = 200 if full else (4 if row.short in SLOW else 12) if ci else 1
    for i in range(count):
        world = made(dice, i, row.short)
        first = axioms.measure(definition.tightest(world), symbol)
        if axiom == "post_processing":
            for kernel in kernels(dice, world):
                after = axioms.measure(definition.tightest(axioms.processed(world, kernel)), symbol)
                assert not after.bounds[0] > first.bounds[1] * (1 + 1e-9), (kernel, world.to_json())
            continue
        other = relaw(dice, world)
        second = axioms.measure(definition.tightest(other), symbol)
        after = axioms.measure(definition.tightest(axioms.mixed(world, other, F(dice.randint(1, 3), 4))), symbol)
        most = max(first.bounds[1], second.bounds[1])
        assert not after.bounds[0] > most * (1 + 1e-9), world.to_json()


def both(short: str, a: float, b: float) -> float:
    """What two mechanisms with parameters a and b have together."""
    if short == "kDivDP":
        return (1 + a) * (1 + b) - 1
    if short == "DivDP":  # χ²
        return (1 + a) * (1 + b) - 1
    if short == "GaussDP":
        return math.hypot(a, b)
    if short == "mCoDP":
        return math.hypot(a, b)
    if short == "InfPr":
        return a + b + min(a, b)
    if short == "SemPr":
        return math.tanh(2 * (math.atanh(a) + math.atanh(b))) if max(a, b) < 1 else math.inf
    return a + b


# At fixed δ, γ or ξ both together have the sums of these too.
ADDED = ("delta", "outside", "gamma", "xi")


@pytest.mark.parametrize(
    "row",
    [r for r in ROWS if r.axioms["composition"].settled == "yes" and r.short not in CURVES],
    ids=lambda r: r.short,
)
def test_parameters_of_two_mechanisms_bound_both(row: Row, ci: bool, full: bool) -> None:
    dice = random.Random(f"{row.short} twice")
    stated = settings(row)
    single = language(row.short).posed(stated)
    double = language(row.short).posed({n: 2 * v if n in ADDED else v for n, v in stated.items()})  # type: ignore[operator]
    for i in range(200 if full else (4 if row.short in SLOW else 10) if ci else 1):
        world = made(dice, i, row.short)
        other = relaw(dice, world) if row.short != "SemPr" else made_positive(dice, world)
        symbol = "τ" if row.short in ("mCoDP", "tCoDP-Col16") else ""
        a, b = (axioms.measure(single.tightest(each), symbol).bounds[1] for each in (world, other))
        if math.inf in (a, b):
            continue
        pair = axioms.composed(world, other)
        if world.projection is not None:
            # Of two outputs both are projected.
            labels = {
                f"{a}|{b}": f"{world.projection[a]}|{world.projection[b]}" for a, b in product(*[world.outputs] * 2)
            }
            pair = dataclasses.replace(pair, projection=labels)
        after = axioms.measure(double.tightest(pair), symbol)
        assert after.bounds[0] <= both(row.short, a, b) * (1 + 1e-9), (row.short, a, b, str(after))


def made_positive(dice: random.Random, world: World) -> World:
    laws = {}
    for name in world.laws:
        law = generate.random_law(dice, world.outputs, zeros=False)
        laws[name] = tuple(F(str(law[o])) for o in world.outputs)
    return dataclasses.replace(world, laws=laws)


def test_divergences_do_not_compose_in_general() -> None:
    """f(t) = e^t − e: mass q at ratio ln(1/q) has about 1, two of them more than any bound."""
    single, double = [], []
    for q in (1e-3, 1e-6, 1e-12):
        t = math.log(1 / q)
        rest = (1 - q * t) / (1 - q)
        single.append(q * math.exp(t) + (1 - q) * math.exp(rest) - math.e)
        # Two at once: ratio t² with mass q²; the other terms are at least −e.
        double.append(2 * math.log(q) + t * t)
    assert max(single) < 2
    assert double[0] > 30 < double[1] < double[2]


def test_sampling_composes_worse_with_every_person() -> None:
    """The family of axioms.md: ε of one mechanism stays, that of two grows without bound in n."""
    c, eta = F(3), F(1, 4)
    ratio = [(1 + c**2 * (1 + eta**2) ** n) / 2 for n in (0, 10, 100)]
    assert ratio[0] == 5
    assert ratio[2] > 1000 > ratio[1]


def test_the_search_finds_what_is_broken() -> None:
    """The search can succeed: probabilistic DP under merging, range-bounded under mixing."""
    stored = axioms.counterexample("ProDP", "post_processing")
    assert axioms.search(stored.posed(), "post_processing", stored.worlds, [stored.kernel]) is not None
    mixture = axioms.counterexample("RBPr", "convexity")
    assert axioms.search(mixture.posed(), "convexity", mixture.worlds, []) is not None
    pure = language("DP").posed({})
    assert axioms.search(pure, "post_processing", stored.worlds, [stored.kernel]) is None
    assert axioms.search(pure, "convexity", mixture.worlds, []) is None


def test_what_is_not_stored_is_refused() -> None:
    with pytest.raises(SpecificationError, match="no counterexample is stored"):
        axioms.counterexample("DP", "convexity")
    with pytest.raises(SpecificationError, match="no single number"):
        axioms.measure(language("f-DP").posed({}).tightest(generate.randomized_response("3/4")))
    assert len(AXIOMS) == 3
