"""World files: what they hold, what is refused, and where."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest

from quincunx.errors import WorldError
from quincunx.finite import Mechanism
from quincunx.taxonomy import Definition, World, generate
from quincunx.taxonomy.reading import schema

F = Fraction
SMALL = """{
 "datasets": {
  "x": ["a", null],
  "y": ["b", null]
 },
 "laws": {
  "x": {"0": "1/3", "1": "2/3"},
  "y": {"0": 0.5, "1": 0.5}
 }
}"""


def test_numbers_mean_what_was_typed() -> None:
    world = World.from_json(SMALL)
    assert world.laws == {"x": (F(1, 3), F(2, 3)), "y": (F(1, 2), F(1, 2))}
    assert world.datasets["x"] == ("a", None)
    assert world.people == 2


def test_a_world_is_written_and_read_back(ci: bool) -> None:
    for seed in range(30 if ci else 5):
        world = generate.random_world(random.Random(seed))
        text = world.to_json()
        again = World.from_json(text)
        for part in World.__dataclass_fields__:
            assert getattr(again, part) == getattr(world, part), part
        jsonschema.validate(json.loads(text), schema())


def test_the_schema_lists_every_part_of_a_world() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    parts = {name for name in World.__dataclass_fields__ if not name.startswith("_")} - {"outputs"}
    assert set(schema()["properties"]) == parts


def edit(**changes: object) -> str:
    data = json.loads(SMALL)
    for path, value in changes.items():
        *before, last = path.split("__")
        inner = data
        for step in before:
            inner = inner[step]
        inner[last] = value
    return json.dumps(data, indent=1)


PRIOR = {"x": "1/2", "y": "1/2"}


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (edit(laws__x={"0": "1/2", "1": "1/3"}), "laws.x, line", "do not sum to 1; got 5/6"),
        (edit(laws__x={"0": "3/2", "1": "-1/2"}), "laws.x.0, line", "probability"),
        (edit(laws__x={"0": "-1/2", "1": "3/2"}), "laws.x.0, line", "probability"),
        (edit(laws__x={}), "laws.x, line", "at least one entry"),
        (edit(laws__x={"0": "a half", "1": "1/2"}), "laws.x.0, line", "expected a finite number"),
        (edit(neighbours=[]), "neighbours, line", "at least 1 entry"),
        (edit(neighbours=[["x", "z"]]), "neighbours.0.1, line", "Did you mean"),
        (edit(neighbours=[["x", "x"]]), "neighbours.0, line", "not its own neighbour"),
        (edit(neighbours=[["x"]]), "neighbours.0, line", "expected a pair"),
        (edit(priors={"p": {"x": 1}}), "priors.p, line", "misses a dataset; got 'y'"),
        (edit(priors={"p": {"x": 1, "y": 0, "w": 0}}), "priors.p.w, line", "unknown dataset"),
        (edit(priors={"p": {"x": "1/2", "y": "1/3"}}), "priors.p, line", "do not sum to 1"),
        (edit(prior={"p": PRIOR}), "prior, line", "Did you mean 'priors'"),
        (edit(pairs_of_priors=[{"between": ["p", "q"]}]), "pairs_of_priors, line", "need priors"),
        (
            edit(priors={"p": PRIOR, "r": PRIOR}, pairs_of_priors=[{"between": ["p", "q"]}]),
            "pairs_of_priors.0",
            "unknown prior",
        ),
        (edit(datasets={"x": ["a"]}), "laws, line", "a law has no dataset; got 'y'"),
        (edit(datasets={"x": ["a"], "y": ["a"]}), "datasets.y, line", "same records"),
        (edit(datasets={"x": ["a"], "y": ["b"], "z": ["c"]}), "datasets.z, line", "no law"),
        (edit(datasets={"x": [True], "y": ["b"]}), "datasets.x.0, line", "a record is a text"),
        (edit(distance=[{"between": ["x", "y"], "distance": 0}]), "distance.0, line", "greater than 0"),
        (edit(distance=[{"between": ["x", "y"]}]), "distance.0, line", "distance is missing"),
        (edit(persons=[{"person": "p"}]), "persons, line", "each of 2 positions"),
        (edit(targets=[2]), "targets.0, line", "position from 0 to 1"),
        (edit(targets=[0.5]), "targets.0, line", "position"),
        (edit(adversaries=[{"target": 0, "known": [0]}]), "adversaries.0, line", "nothing to learn"),
        (edit(aggregate={"x": "s"}), "aggregate, line", "misses a dataset"),
        (edit(functions=[{"0": 1}]), "functions.0, line", "misses a output"),
        (edit(sampling=2), "sampling, line", "probability"),
        (edit(dataset="xx"), "dataset, line", "Did you mean 'x'"),
        ("[]", "the file", "one JSON object"),
        ('{"laws": {"x": {"0": 1}, "x": {"0": 1}}}', "laws, line 1", "occurs twice"),
        ('{"laws": {"x": {"0": 1}}', "line 1", "expected a comma"),
        ('{"laws": {"x": {"0": NaN}}}', "line 1", "expected a value"),
        ('{"laws": ' + "[" * 100 + "}", "line 1", "nested too deeply"),
        ("{}", "the file", "at least one entry"),
        ('{"datasets": {"x": ["a"]}}', "the file", "needs laws"),
    ],
)
def test_bad_files_are_refused_with_the_place(text: str, where: str, what: str) -> None:
    with pytest.raises(WorldError) as caught:
        World.from_json(text)
    assert caught.value.where.startswith(where), caught.value
    assert what in str(caught.value), caught.value


def test_the_line_is_the_line_of_the_file() -> None:
    broken = SMALL.replace('"2/3"', '"1/3"')
    with pytest.raises(WorldError, match=r"laws\.x, line 7"):
        World.from_json(broken)


def test_a_csv_file_is_a_world_of_single_records(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("input,output,probability\nx,0,1/4\nx,1,3/4\ny,0,3/4\ny,1,1/4\n", encoding="utf-8")
    world = World.read(path)
    assert world.datasets == {"x": ("x",), "y": ("y",)}
    assert str(Definition().tightest(world).value.exact) == "ln(3)"
    for text in ("input,output\n", "input,output,probability\nx,0,1/2\n", ""):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(WorldError):
            World.read(path)
    with pytest.raises(WorldError, match="cannot read"):
        World.read(tmp_path / "missing.json")


def test_a_world_of_a_mechanism() -> None:
    world = World.of(Mechanism({0: {"a": "1/2", "b": "1/2"}, 1: {"a": 1}}))
    assert world.laws["1"] == (F(1), F(0))
    assert world.mechanism().probability("0", "a") == F(1, 2)


@pytest.mark.parametrize(("people", "absent"), [(1, True), (2, True), (2, False), (3, False)])
def test_products_have_every_neighbour(people: int, absent: bool) -> None:
    world = generate.randomized_response("3/4", people, absent=absent)
    assert len(world.datasets) == (3 if absent else 2) ** people
    for name, records in world.datasets.items():
        for i in range(people):
            for record in ("0", "1", *([None] if absent else [])):
                other = world.changed(name, i, record)
                assert other is not None
                assert world.datasets[other] == (*records[:i], record, *records[i + 1 :])


def test_independent_priors_are_products() -> None:
    prior = generate.independent({"0": F(1, 4), "1": F(3, 4)}, 2)
    assert prior == {"0,0": F(1, 16), "0,1": F(3, 16), "1,0": F(3, 16), "1,1": F(9, 16)}


def test_random_worlds_have_near_ties_zeros_and_certain_outputs() -> None:
    seen = {"near": 0, "zero": 0, "sure": 0, "tie": 0}
    for seed in range(40):
        rows = list(generate.random_world(random.Random(seed)).laws.values())
        seen["zero"] += any(0 in row for row in rows)
        seen["sure"] += any(1 in row for row in rows)
        seen["tie"] += len(set(rows)) < len(rows)
        seen["near"] += any(
            0 < abs(a - b) < F(1, 10**15) for row in rows for other in rows for a, b in zip(row, other, strict=True)
        )
    assert min(seen.values()) >= 10, seen
