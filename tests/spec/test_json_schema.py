"""JSON: the published schema accepts every stored specification, and the reader enforces exactly that schema."""

from __future__ import annotations

import copy
import json
import warnings
from fractions import Fraction

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.errors import SpecificationError
from quincunx.numbers import Log
from quincunx.spec import Specification, domain, exchange, intensity, scope, standard, unit

SCHEMA = Specification.schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
TABLE = domain.Tables(columns={"id": "text", "day": "date", "age": "integer"})
ALL = [("a", "a"), ("a", 1), (1, 1), ("a", None)]
BITS = domain.Finite(datasets=ALL, ordered=True)
LINE = domain.Finite(datasets=["a", 1, None, True and "t", Fraction(1, 3), ("r", ("s", 2))], ordered=True)


def spec(**changes):
    blocks = {
        "domain": TABLE,
        "scope": scope.Everything(),
        "unit": unit.AddRemove(key="id"),
        "standard": standard.Pure(),
        "intensity": 1,
    }
    return Specification(**{**blocks, **changes})


STANDARDS = [
    standard.Pure(),
    standard.Approximate("1e-6"),
    standard.ZCDP(),
    standard.ZCDP("1/1000"),
    standard.Renyi("3/2"),
    standard.GaussianDP(),
    standard.Tradeoff(((0, 1), ("1/4", "1/4"), (1, 0))),
    standard.KL(),
    standard.TV(),
    standard.Divergence("chi-squared"),
    standard.Divergence("jensen-shannon"),
    standard.Probabilistic("1/10"),
    standard.Relaxed("1/10", "1/20"),
    standard.RangeBounded(),
    standard.Concentrated(),
    standard.Concentrated("1/2", 8),
    standard.MeanConcentrated(),
    standard.MeanConcentrated("1/3"),
    standard.PowerDivergence(3),
    standard.CapacityBounded("kl", ((1, "-1/2"), (0, 1))),
]

EXAMPLES = [
    *(spec(standard=each) for each in STANDARDS),
    spec(intensity=Log("3/2")),
    spec(intensity="0.1"),
    spec(unit=unit.Replace(key="id", per={"column": "day", "period": "quarter"}, group=3)),
    spec(unit=unit.Hamming(key="id"), scope=scope.Invariants.counts(["id"], ["id", "day"])),
    spec(unit=unit.SymmetricDifference(key="id"), standard=standard.NormalisedRenyi()),
    spec(domain=domain.Histogram(cells=4), unit=unit.AddRemove()),
    spec(domain=domain.Histogram(cells=("a", 2, ("b", None))), unit=unit.Replace(group=2)),
    spec(scope=scope.Invariants({"total": "SELECT COUNT(*)", "ü": "Umlaut"})),
    spec(scope=scope.Invariants({"total": "n"}), intensity={"total = 1": 1, "total = 2": Log(2)}),
    spec(scope=scope.OneDataset("census 2020")),
    spec(domain=LINE, unit=unit.Neighbours([("a", 1), (None, "t")])),
    spec(domain=LINE, unit=unit.Metric({("a", 1): "1/2", (("r", ("s", 2)), Fraction(1, 3)): 7})),
    spec(domain=LINE, unit=unit.Neighbours([("a", 1)]), scope=scope.OneDataset("a")),
    spec(
        domain=domain.Finite.multisets([("ann", "2024-01-01"), ("bob", "2024-01-02")], range(3), columns=("id", "day")),
        unit=unit.AddRemove(key="id", per={"column": "day", "period": "week"}),
    ),
    spec(domain=domain.Finite(datasets=[(("f", 1),), (("m", 1),)], ordered=True), unit=unit.Attribute()),
    spec(domain=domain.Finite(datasets=[("01",), ("11",)], ordered=True), unit=unit.Bit()),
    spec(domain=domain.Finite(datasets=[("a",), (1,)], ordered=True), unit=unit.Blowfish([("a", 1)])),
    spec(domain=LINE, unit=unit.FreeLunch(), scope=scope.Universes({"one": ["a", 1], "two": [1, None]})),
    spec(unit=unit.AddRemoveReplace(key="id", per={"column": "day", "period": "day"}, group=2)),
    spec(unit=unit.Element(key="id", element="age", group=2)),
    spec(domain=LINE, unit=unit.Directed([("a", 1), (1, None)])),
    spec(unit=unit.Distance("years between them"), standard=standard.Approximate("1/10")),
    spec(domain=BITS, unit=unit.OneSided(["a", 1])),
    spec(domain=BITS, unit=unit.Dependent({0: [1], 1: []}, 2)),
    spec(domain=BITS, unit=unit.FreeLunch(), scope=scope.OneInstance(("a", 1), 1)),
    spec(scope=scope.OneInstance("census 2020", "the record of Ann")),
    spec(intensity=intensity.PerPerson({"ann": 1, 7: Log("3/2")})),
    spec(domain=BITS, unit=unit.Replace(), intensity=intensity.PerRecord({(r, x): "1/2" for x in ALL for r in x})),
    spec(
        domain=BITS,
        unit=unit.Replace(),
        intensity=intensity.Drawn(value=Log(2), prior={("a", 1): "1/2", ("a", "a"): "1/2"}, share="1/9"),
    ),
]


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["properties"]["version"] == {"const": "quincunx/specification/1"}
    assert SCHEMA["required"] == ["version", "domain", "scope", "unit", "standard", "intensity"]


def test_the_schema_is_a_fresh_copy():
    Specification.schema()["required"].clear()
    assert Specification.schema() == SCHEMA


def test_the_reader_knows_every_keyword_of_the_schema():
    def keywords(rule):
        for key, value in rule.items():
            yield key
            if key in ("properties", "$defs"):
                for inner in value.values():
                    yield from keywords(inner)
            elif key == "oneOf":
                for inner in value:
                    yield from keywords(inner)
            elif key in ("items", "additionalProperties") and isinstance(value, dict):
                yield from keywords(value)

    assert set(keywords(SCHEMA)) <= set(exchange._KEYWORDS) | exchange._TALK


def test_every_object_is_closed():
    def objects(rule):
        if isinstance(rule, dict):
            if rule.get("type") == "object":
                yield rule
            for value in rule.values():
                yield from objects(value)
        elif isinstance(rule, list):
            for value in rule:
                yield from objects(value)

    found = list(objects(SCHEMA))
    assert len(found) > 20
    assert all("additionalProperties" in rule for rule in found)


def test_every_kind_of_block_is_in_the_schema_and_the_examples():
    listed = [rule.get("properties", {}) for rule in SCHEMA["$defs"].values()]
    kinds = {properties["kind"]["const"] for properties in listed if "kind" in properties}
    seen = set()
    for value in EXAMPLES:
        data = json.loads(value.to_json())
        seen |= {data[block]["kind"] for block in ("domain", "scope", "unit", "standard")}
    assert seen == kinds


@pytest.mark.parametrize("value", EXAMPLES, ids=range(len(EXAMPLES)))
class TestExamples:
    def test_valid(self, value):
        VALIDATOR.validate(json.loads(value.to_json()))

    def test_text_and_dict_agree(self, value):
        assert json.loads(value.to_json()) == value.to_dict()

    def test_round_trip(self, value):
        again = Specification.from_json(value.to_json())
        assert again == value
        assert again.to_json() == value.to_json()
        assert again.describe() == value.describe()
        assert hash(again) == hash(value)

    def test_nothing_may_be_missing_or_added(self, value):
        data = json.loads(value.to_json())
        for broken in broken_copies(data):
            assert not VALIDATOR.is_valid(broken)
            with pytest.raises(SpecificationError) as caught:
                Specification.from_json(json.dumps(broken))
            assert caught.value.where.startswith("specification")


def broken_copies(data):
    """The same data with one required key missing, or one unknown key added, at every place with a fixed shape."""
    for name in data:
        fewer = copy.deepcopy(data)
        del fewer[name]
        yield fewer
    yield {**copy.deepcopy(data), "note": "hello"}
    for block in ("domain", "scope", "unit", "standard"):
        more = copy.deepcopy(data)
        more[block]["note"] = "hello"
        yield more
        unknown = copy.deepcopy(data)
        unknown[block]["kind"] = "other"
        yield unknown
        without = copy.deepcopy(data)
        del without[block]["kind"]
        yield without
        other = copy.deepcopy(data)
        other[block] = [data[block]]
        yield other


def changed(path, value):
    data = json.loads(spec(unit=unit.AddRemove(key="id", per={"column": "day", "period": "day"})).to_json())
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return data


BROKEN = [
    (changed(["version"], "quincunx/specification/2"), "version"),
    (changed(["version"], 1), "version"),
    (changed(["intensity"], 1), "intensity"),
    (changed(["intensity"], "-1"), "intensity"),
    (changed(["intensity"], "1/0"), "intensity"),
    (changed(["intensity"], "1e3"), "intensity"),
    (changed(["intensity"], "inf"), "intensity"),
    (changed(["intensity"], "ln(-3)"), "intensity"),
    (changed(["intensity"], {}), "intensity"),
    (changed(["intensity"], {"everything": 1}), "intensity"),
    (changed(["intensity"], None), "intensity"),
    (changed(["domain", "columns"], []), "domain.columns"),
    (changed(["domain", "columns", 0, "type"], "float"), "domain.columns[0].type"),
    (changed(["domain", "columns", 0, "name"], ""), "domain.columns[0].name"),
    (changed(["domain", "columns", 0, "nullable"], True), "domain.columns[0]"),
    (changed(["domain", "columns", 1], {"name": "x"}), "domain.columns[1]"),
    (changed(["domain"], {"kind": "histogram", "cells": 0}), "domain.cells"),
    (changed(["domain"], {"kind": "histogram", "cells": True}), "domain.cells"),
    (changed(["domain"], {"kind": "histogram", "cells": [0.5]}), "domain.cells"),
    (changed(["domain"], {"kind": "finite", "datasets": []}), "domain.datasets"),
    (changed(["domain"], {"kind": "finite", "datasets": [{"rational": "x"}]}), "domain.datasets[0]"),
    (changed(["domain"], {"kind": "finite", "datasets": [{"a": 1}]}), "domain.datasets[0]"),
    (changed(["domain"], {"kind": "finite", "datasets": ["x"], "ordered": "yes"}), "domain.ordered"),
    (changed(["scope"], {"kind": "invariants", "invariants": {}}), "scope.invariants"),
    (changed(["scope"], {"kind": "invariants", "invariants": {"a": 3}}), "scope.invariants.a"),
    (changed(["scope"], {"kind": "one-dataset"}), "scope"),
    (changed(["unit", "group"], 0), "unit.group"),
    (changed(["unit", "group"], "2"), "unit.group"),
    (changed(["unit", "key"], ""), "unit.key"),
    (changed(["unit", "per", "period"], "decade"), "unit.per.period"),
    (changed(["unit", "per", "zone"], "UTC"), "unit.per"),
    (changed(["unit"], {"kind": "neighbours", "pairs": [["a"]]}), "unit.pairs[0]"),
    (changed(["unit"], {"kind": "neighbours", "pairs": [["a", "b", "c"]]}), "unit.pairs[0]"),
    (changed(["unit"], {"kind": "metric", "distances": [{"between": ["a", "b"]}]}), "unit.distances[0]"),
    (
        changed(["unit"], {"kind": "metric", "distances": [{"between": ["a", "b"], "distance": 1}]}),
        "unit.distances[0].distance",
    ),
    (changed(["standard"], {"kind": "approximate"}), "standard"),
    (changed(["standard"], {"kind": "approximate", "delta": 0.1}), "standard.delta"),
    (changed(["standard"], {"kind": "divergence", "f": "hockey"}), "standard.f"),
    (changed(["standard"], {"kind": "tradeoff", "points": [["0", "1"]]}), "standard.points"),
    (changed(["standard"], "pure"), "standard"),
    ([], ""),
    ("text", ""),
    (None, ""),
]


@pytest.mark.parametrize(("data", "place"), BROKEN, ids=range(len(BROKEN)))
def test_broken_ones_are_refused_by_both_with_the_place(data, place):
    assert not VALIDATOR.is_valid(data)
    with pytest.raises(SpecificationError) as caught:
        Specification.from_json(json.dumps(data))
    assert caught.value.where == ".".join(part for part in ("specification", place) if part)


FITS_THE_SCHEMA_BUT_MEANS_NOTHING = [
    (changed(["domain", "columns", 1, "name"], "id"), "declared twice"),
    (changed(["unit", "key"], "household"), "no column 'household'"),
    (changed(["unit"], {"kind": "add-remove", "group": 1, "per": {"column": "day", "period": "day"}}), "needs a key"),
    (changed(["unit"], {"kind": "neighbours", "pairs": [["a", "b"]]}), "Finite domain"),
    (changed(["standard"], {"kind": "approximate", "delta": "1"}), "below 1"),
    (changed(["standard"], {"kind": "renyi", "alpha": "1"}), "greater than 1"),
    (changed(["standard"], {"kind": "tradeoff", "points": [["0", "1"], ["1", "1"]]}), "trade-off"),
    (changed(["intensity"], "ln(0)"), "greater than 0"),
    (changed(["intensity"], {"somewhere": "1"}), "universes"),
    (changed(["domain"], {"kind": "finite", "datasets": [{"date": "2024-02-30"}]}), "a date cannot be read"),
]


@pytest.mark.parametrize(("data", "message"), FITS_THE_SCHEMA_BUT_MEANS_NOTHING)
def test_what_fits_the_schema_is_still_checked(data, message):
    assert VALIDATOR.is_valid(data)
    with pytest.raises(SpecificationError, match=message):
        Specification.from_json(json.dumps(data))


def test_a_stored_intensity_out_of_range_is_refused():
    data = json.loads(spec(standard=standard.TV()).to_json())
    data["intensity"] = "2"
    with pytest.raises(SpecificationError, match="at most 1"):
        Specification.from_json(json.dumps(data))


@pytest.mark.parametrize("text", ["", "{", "nonsense", "[" * 100_000, '{"a": 1,}'])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(SpecificationError, match="this is not JSON"):
        Specification.from_json(text)


@pytest.mark.parametrize("text", [None, 3, {"version": 1}])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(SpecificationError, match="this is not JSON; got"):
        Specification.from_json(text)


def test_duplicate_keys_are_refused():
    text = spec().to_json().replace('"intensity": "1"', '"intensity": "1", "intensity": "1/1000"')
    with pytest.raises(SpecificationError, match="occurs twice"):
        Specification.from_json(text)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_outside_json_are_refused(constant):
    text = spec(domain=domain.Histogram(cells=4), unit=unit.AddRemove()).to_json()
    text = text.replace('"cells": 4', f'"cells": {constant}')
    with pytest.raises(SpecificationError, match="only finite numbers"):
        Specification.from_json(text)


@pytest.mark.parametrize(
    "value",
    [
        spec(domain=domain.Finite(datasets=[0.5, 1.5]), unit=unit.Neighbours([(0.5, 1.5)])),
        spec(domain=domain.Finite(datasets=[frozenset("a"), "b"]), unit=unit.Neighbours([(frozenset("a"), "b")])),
    ],
    ids=["float", "frozenset"],
)
def test_labels_without_an_exact_form_are_refused(value):
    with pytest.raises(SpecificationError, match="no exact form in JSON"):
        value.to_json()


def test_functions_of_invariants_are_not_stored():
    value = spec(domain=domain.Finite.multisets("ab", 2), unit=unit.Replace(), scope=scope.Invariants({"total": len}))
    again = Specification.from_json(value.to_json())
    assert again == value
    with pytest.raises(SpecificationError, match="no function"):
        again.scope.universes(again.domain)


def test_decimals_are_accepted_and_written_as_fractions():
    text = spec().to_json().replace('"intensity": "1"', '"intensity": "0.10"')
    assert json.loads(Specification.from_json(text).to_json())["intensity"] == "1/10"


NAMES = st.text(min_size=1, max_size=6)
RATIONALS = st.fractions(min_value=0, max_value=10, max_denominator=1000)
NUMBERS = st.one_of(RATIONALS, st.fractions(min_value=1, max_value=50, max_denominator=99).map(Log))
LABELS = st.one_of(st.text(max_size=3), st.integers(), st.none(), st.fractions(max_denominator=9), st.dates())


@st.composite
def domains_and_units(draw):
    kind = draw(st.sampled_from(["tables", "histogram", "labels", "multisets"]))
    people = draw(st.sampled_from([unit.AddRemove, unit.Replace]))
    group = draw(st.integers(1, 9))
    if kind == "tables":
        names = draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
        types = ["date", *(draw(st.sampled_from(domain.TYPES)) for _ in names[1:])]
        period = draw(st.sampled_from(["day", "week", "month", "quarter", "year"]))
        per = draw(st.sampled_from([None, {"column": names[0], "period": period}]))
        table = domain.Tables(columns=dict(zip(names, types, strict=True)))
        return table, people(key=names[1], per=per, group=group)
    if kind == "histogram":
        cells = draw(st.one_of(st.integers(1, 9), st.lists(LABELS, min_size=1, max_size=4, unique=True)))
        return domain.Histogram(cells=cells), people(group=group)
    if kind == "labels":
        labels = draw(st.lists(LABELS, min_size=2, max_size=5, unique=True))
        chosen = st.lists(st.lists(st.sampled_from(labels), min_size=2, max_size=2, unique=True), max_size=4)
        pairs = [tuple(pair) for pair in draw(chosen)]
        if draw(st.booleans()):
            return domain.Finite(datasets=labels), unit.Neighbours(pairs)
        listed = {frozenset(pair): (pair, draw(RATIONALS) + 1) for pair in pairs}
        return domain.Finite(datasets=labels), unit.Metric(list(listed.values()))
    records = draw(st.lists(LABELS, min_size=1, max_size=2, unique=True))
    return domain.Finite.multisets(records, range(draw(st.integers(1, 3)))), people(group=group)


@st.composite
def specifications(draw):
    domain_, unit_ = draw(domains_and_units())
    scopes = [scope.Everything(), scope.Invariants(draw(st.dictionaries(NAMES, NAMES, min_size=1, max_size=3)))]
    scopes.append(scope.OneDataset(domain_.datasets[0] if isinstance(domain_, domain.Finite) else draw(NAMES)))
    scope_ = draw(st.sampled_from(scopes))
    standard_ = standard.Pure() if isinstance(unit_, unit.Metric) else draw(st.sampled_from(STANDARDS))
    small = isinstance(standard_, standard.TV | standard.Tradeoff)
    numbers = st.sampled_from([Fraction(0), Fraction(1)]) if small else NUMBERS
    intensity = draw(numbers)
    if isinstance(scope_, scope.Invariants) and draw(st.booleans()):
        intensity = draw(st.dictionaries(NAMES, numbers, min_size=1, max_size=3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Specification(domain=domain_, scope=scope_, unit=unit_, standard=standard_, intensity=intensity)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(specifications())
def test_json_gives_every_specification_back(value):
    text = value.to_json()
    data = json.loads(text)
    assert VALIDATOR.is_valid(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = Specification.from_json(text)
    assert again == value
    assert again.to_json() == text


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=6,
)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    st.sampled_from(range(len(EXAMPLES))),
    st.sampled_from(["domain", "scope", "unit", "standard", "intensity"]),
    st.sampled_from(["", "kind", "cells", "datasets", "columns", "group", "key", "per", "delta", "f", "points"]),
    JSON,
)
def test_the_reader_and_jsonschema_agree_on_mutations(index, block, key, junk):
    data = json.loads(EXAMPLES[index].to_json())
    if key and isinstance(data[block], dict):
        data[block][key] = junk
    else:
        data[block] = junk
    accepted = True
    try:
        exchange._check(data, SCHEMA, SCHEMA, "specification")
    except SpecificationError:
        accepted = False
    assert accepted is VALIDATOR.is_valid(data)
