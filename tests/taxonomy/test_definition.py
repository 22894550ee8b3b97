"""Definitions as values: what they say, what fits together, and how they become specifications."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

from quincunx import Specification, domain, scope, standard, unit
from quincunx.errors import PrivacyError, SpecificationError, WorldError
from quincunx.numbers import Log
from quincunx.taxonomy import (
    DIMENSIONS,
    Definition,
    World,
    adversary,
    background,
    computation,
    entries,
    formalism,
    generate,
    named,
    neighbourhood,
    quantification,
    random_inputs,
    relativisation,
    semantic,
    variation,
)
from quincunx.taxonomy.check import check, chosen

F = Fraction
MODULES = (
    adversary, background, computation, formalism, neighbourhood, quantification, random_inputs, relativisation,
    semantic, variation,
)  # fmt: skip
EXAMPLES = {"Region": ((0, "1/2"), (1, 1)), "Predicate": lambda p, q: p == q or bool(p)}


def choices(letter: str) -> list[object]:
    """One value of every choice of a dimension."""
    base = DIMENSIONS[next(name for name in DIMENSIONS if name[0].upper() == letter)]
    found = []
    for module in MODULES:
        for name, kind in vars(module).items():
            own = isinstance(kind, type) and kind.__module__.startswith(module.__name__) and not name.startswith("_")
            if own and issubclass(kind, base) and kind is not base:
                found.append(kind(EXAMPLES[name]) if name in EXAMPLES else kind())
    return found


def test_all_defaults_are_the_surveys_sentence() -> None:
    assert Definition().sentence() == (
        "An attacker with perfect background knowledge and unbounded computation power is unable to distinguish "
        "anything about an individual, uniformly across users even in the worst-case scenario."
    )
    assert Definition().letters == ""
    assert r"e^{\varepsilon}" in Definition().latex()


def test_every_choice_has_words_and_a_formula() -> None:
    count = 0
    for letter in "QNVBFRC":
        for choice in choices(letter):
            assert choice.letter == letter
            assert choice.phrase()
            assert choice.name
            formula = choice.formula()
            assert formula.count("{") == formula.count("}"), formula
            count += 1
    assert count >= 70


def test_every_listed_definition_has_a_sentence_and_a_formula() -> None:
    for entry in entries():
        sentence, formula = entry.definition.sentence(), entry.definition.latex()
        assert sentence.startswith("An attacker with ")
        assert sentence.endswith(".")
        assert formula.count("{") == formula.count("}")
    assert len({entry.short for entry in entries()}) == 89


def test_letters_are_the_tables_or_the_note_says_why() -> None:
    for entry in entries():
        if set(entry.definition.letters) != set(entry.letters):
            assert entry.note or entry.definition.undecided, entry.short


def refusal(build: Callable[[], object]) -> SpecificationError | None:
    """The refusal of something, None where it is not refused."""
    try:
        build()
    except SpecificationError as error:
        return error
    return None


def test_every_pair_of_choices_fits_or_is_refused_with_a_reason(ci: bool) -> None:
    made, refused = 0, 0
    world = generate.random_world(random.Random(1), zeros=False)
    dimensions = list(DIMENSIONS)
    for i, one in enumerate(dimensions):
        for two in dimensions[i + 1 :]:
            for a, b in product(choices(one[0].upper()), choices(two[0].upper())):
                both = {one: a, two: b}
                error = refusal(lambda both=both: Definition(**both))  # type: ignore[misc]
                if error is not None:
                    assert error.what and error.hint, both  # noqa: PT018
                    refused += 1
                    continue
                made += 1
                definition = Definition(**both)  # type: ignore[arg-type]
                if made % (3 if ci else 29) == 0 and not definition.undecided:
                    left = refusal(lambda definition=definition: definition.tightest(world))  # type: ignore[misc]
                    # What is refused only in view of the world: one δ is needed, or pairs that differ in one record.
                    assert left is None or "δ" in left.what or "one record" in left.what, (definition, left)
    assert made > 500
    assert refused > 300


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"formalism": formalism.APosteriori()}, "prior"),
        ({"quantification": quantification.TradeOff()}, "tests"),
        ({"neighbourhood": neighbourhood.Secrets()}, "prior"),
        ({"variation": variation.Proportional()}, "belong together"),
        ({"neighbourhood": neighbourhood.Metric()}, "belong together"),
        (
            {"relativisation": relativisation.ZeroKnowledge(), "quantification": quantification.Renyi(2)},
            "output by output",
        ),
        ({"background": background.Noiseless(), "neighbourhood": neighbourhood.Client()}, "no secrets"),
        ({"background": background.Noiseless(), "variation": random_inputs.Random()}, "prior of their own"),
        ({"relativisation": relativisation.CoupledWorlds()}, "background"),
    ],
)
def test_misfits_are_refused_with_the_reason(wrong: dict[str, object], reason: str) -> None:
    with pytest.raises(SpecificationError, match=reason):
        Definition(**wrong)  # type: ignore[arg-type]


def test_with_refuses_other_dimensions_and_kinds() -> None:
    with pytest.raises(SpecificationError, match="Did you mean 'neighbourhood'"):
        Definition().with_(neighborhood=neighbourhood.Bounded())
    with pytest.raises(SpecificationError, match="expected a choice of variation"):
        Definition().with_(variation=neighbourhood.Bounded())
    with pytest.raises(SpecificationError, match="Did you mean 'ADP'"):
        named("ADPP")


def test_holds_compares_every_parameter() -> None:
    world = generate.randomized_response("3/4", 2, absent=True)
    dp = Definition()
    assert dp.holds(world, epsilon=Log(3))
    assert dp.holds(world, epsilon="1.0986").status == "fails"
    assert dp.holds(world, epsilon="1.0987").status == "holds"
    approximate = named("ADP").definition
    assert approximate.holds(world, epsilon=Log(2), delta="1/4")
    assert not approximate.holds(world, epsilon=Log(2), delta="0.2499")
    assert named("mCoDP").definition.holds(world, mu="0.5494", tau="1.0482")
    assert not named("mCoDP").definition.holds(world, mu="0.5493", tau="1.0482")
    assert named("PerDP").definition.holds(world, epsilon={"0": "0.7", "1": "0.7"})
    assert not named("PerDP").definition.holds(world, epsilon={"0": "0.7", "1": "0.69"})
    assert named("f-DP").definition.holds(world, points=[(0, 1), ("1/4", "1/4"), (1, 0)])
    assert not named("f-DP").definition.holds(world, points=[(0, 1), ("1/4", "1/3"), (1, 0)])
    for parameters in ({}, {"rho": 1}):
        with pytest.raises(SpecificationError):
            dp.holds(world, **parameters)
    with pytest.raises(SpecificationError, match="state"):
        named("mCoDP").definition.holds(world, tau=2)
    with pytest.raises(WorldError, match="levels"):
        named("PerDP").definition.holds(world, epsilon={"0": 1})


@pytest.mark.parametrize(
    ("choice", "measure"),
    [
        (quantification.WorstCase(), standard.Pure()),
        (quantification.Approximate("1/10"), standard.Approximate("1/10")),
        (quantification.KullbackLeibler(), standard.KL()),
        (quantification.ZeroConcentrated(), standard.ZCDP()),
        (quantification.Renyi(3), standard.Renyi(3)),
        (quantification.Divergence(), standard.Divergence("chi-squared")),
    ],
)
def test_five_blocks_say_the_same(choice: quantification.Quantification, measure: standard.Standard) -> None:
    for seed in range(4):
        world = generate.random_world(random.Random(seed), zeros=seed % 2 == 0)
        for change in (neighbourhood.OneRecord(), neighbourhood.FreeLunch(), neighbourhood.Listed()):
            definition = Definition(quantification=choice, neighbourhood=change)
            spec = definition.specification(world, 1)
            assert spec.standard == measure
            verdict, answer = spec.tightest(world.mechanism()), definition.tightest(world)
            assert verdict.bounds == answer.value.bounds or (
                verdict.exact is not None and verdict.exact == answer.value.exact
            )
            assert Definition.of(spec).quantification == choice
            assert Definition.of(spec).neighbourhood == neighbourhood.Listed()


def test_a_metric_maps_to_five_blocks_and_back() -> None:
    world = generate.random_world(random.Random(3), zeros=False)
    definition = named("dD-Pr").definition
    spec = definition.specification(world, 1)
    assert spec.tightest(world.mechanism()).bounds == definition.tightest(world).value.bounds
    assert Definition.of(spec) == definition
    mapped = (
        (unit.AddRemove(), neighbourhood.Unbounded()),
        (unit.Replace(), neighbourhood.Bounded()),
        (unit.FreeLunch(), neighbourhood.FreeLunch()),
    )
    for change, expected in mapped:
        given = Specification(
            domain=domain.Histogram(cells=["a", "b"]),
            scope=scope.Everything(),
            unit=change,
            standard=standard.Pure(),
            intensity=1,
        )
        assert Definition.of(given).neighbourhood == expected


def test_what_five_blocks_do_not_state_is_refused() -> None:
    world = generate.random_world(random.Random(3))
    for name in ("NPr", "RanDP", "ZKPr", "f-DP", "IndCDP", "OutPr"):
        with pytest.raises(SpecificationError, match="five blocks"):
            named(name).definition.specification(world, 1)
    invariant = Specification(
        domain=domain.Histogram(cells=["a", "b"]), scope=scope.Invariants({"total": "total"}), unit=unit.Replace(),
        standard=standard.Pure(), intensity=1,
    )  # fmt: skip
    with pytest.raises(SpecificationError, match="universes"):
        Definition.of(invariant)


def test_what_a_world_does_not_say_is_asked_for() -> None:
    world = generate.randomized_response("3/4")
    for entry in entries():
        missing = [part for part in entry.definition.needs if getattr(world, part) is None]
        if missing and not entry.definition.undecided:
            with pytest.raises(WorldError, match=missing[0]):
                entry.definition.tightest(world)


def test_a_check_sorts_answered_unsaid_and_undecided() -> None:
    world = generate.randomized_response("3/4", 2, absent=True)
    seen: list[str] = []
    found = check(world, progress=lambda _d, _t, name: seen.append(name))
    assert len(found) == len(seen) == 89
    status = {finding.entry.short: finding.status for finding in found}
    assert status["DP"] == "answered"
    assert status["NPr"] == "unsaid"
    assert status["SimCDP"] == "undecided"
    assert {f.entry.short for f in check(world, ["ADP", "uBoDP"])} == {"ADP", "uBoDP"}
    assert all("V" in entry.letters for entry in chosen(["v"]))
    with pytest.raises(SpecificationError, match="unknown definition"):
        check(world, ["nonsense"])


def test_computational_choices_cannot_be_checked_and_say_so() -> None:
    with pytest.raises(PrivacyError, match="security parameter"):
        Definition(computation=computation.PolynomialDistinguisher()).tightest(World.from_json('{"laws": {"x": "0"}}'))


def test_witnesses_can_be_verified_by_hand() -> None:
    for seed in range(6):
        world = generate.random_world(random.Random(seed), zeros=False)
        for name in ("DP", "FLPr", "NPr", "PFPr", "OSDP", "GcDP-KM11", "BayDP-YSN15"):
            answer = named(name).definition.tightest(world)
            if answer.witness is not None and isinstance(answer.value.exact, Log):
                p, q = answer.witness.probability
                assert p / q == answer.value.exact.of
