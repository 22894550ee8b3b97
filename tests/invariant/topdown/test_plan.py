"""Plans: what is refused, with its place and before anything is spent; and the way of a release through the ledger."""

from __future__ import annotations

import hashlib
import json
import re
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app
from quincunx.errors import (
    BudgetError,
    DataError,
    ParameterError,
    PrivacyError,
    QuincunxError,
    RegistrationError,
    SpecificationError,
)
from quincunx.invariant.topdown import Bound, TopDown
from quincunx.invariant.topdown.geography import Geography, read_geography
from quincunx.invariant.topdown.schema import Schema
from quincunx.invariant.topdown.write import write
from quincunx.ledger import Ledger
from quincunx.noise.testing import key_of, keyed
from quincunx.spec.unit import AddRemove, Hamming, Replace
from tests.invariant.topdown.plans import PLAN, people, write_plan

BOUNDS = '[[topdown.bounds]]\nlevel = "block"\nquery = "age"\nfile = "b.csv"\nprovenance = "{}"\n'
BROKEN = {
    "shares of a level": ('detailed = "3/4"', 'detailed = "1/2"', "the shares do not add up to 1", 22),
    "shares of the levels": ('share = "1/2"', 'share = "1/3"', "the shares do not add up to 1", 22),
    "an unknown query": ('age = "1/4"', 'agee = "1/4"', "unknown query", 22),
    "an unknown level": ("region = {{ share", "regions = {{ share", "unknown level", 22),
    "an unknown level of an invariant": ('level = "country", query', 'level = "nation", query', "unknown level", 17),
    "an unknown word": ("{more}", 'estimate = "best"', "unknown word", 18),
    "an unknown key": ("{more}", 'estimates = "level"', "unknown key", 18),
    "an unknown value in a rule": ('work = "yes"', 'work = "perhaps"', "unknown attribute or value", 20),
    "no unit": ("unit = {{ kind", "units = {{ kind", "unknown key", 7),
    "another unit": ('kind = "replace"', 'kind = "add-remove"', "one person replaced", 7),
    "another standard": ('kind = "zcdp"', 'kind = "pure"', "stated in zCDP", 8),
    "columns that the people do not have": ('work = ["yes", "no"]', 'job = ["yes", "no"]', "unknown attribute", 20),
    "levels that the geography does not have": ('"region", "block"]', '"land", "block"]', "no column 'land'", 15),
    "a missing part": ('source = "{source}"\n', "", "source is missing", 11),
}


@pytest.mark.parametrize(("old", "new", "message", "line"), BROKEN.values(), ids=BROKEN)
def test_what_a_plan_gets_wrong_is_said_with_its_line(
    old: str, new: str, message: str, line: int, tmp_path: Path
) -> None:
    assert PLAN.count(old) >= 1
    path = write_plan(tmp_path, ledger="ledger.db", plan=PLAN.replace(old, new, 1))
    with pytest.raises(QuincunxError, match=message) as caught:
        TopDown.open(path)
    found = int(str(caught.value.where).split("plan.toml:")[1].split(":")[0])
    assert abs(found - line) <= 3, (found, line)
    assert not (tmp_path / "ledger.db").exists()


def test_contradictions_are_found_before_anything_is_spent(tmp_path: Path) -> None:
    """A bound against a structural zero, against another bound, and against an invariant."""
    head = "block,age,work,low,high\n"
    # Nobody young works: a lower bound there contradicts the rule. Seen at the plan where there are no invariants.
    free = PLAN.replace('invariants = [{{ level = "country", query = "total" }}]\n', "")
    path = write_plan(tmp_path, ledger="a.db", plan=free, more=BOUNDS.replace('"age"', '"detailed"').format("public"))
    (tmp_path / "b.csv").write_text(head + "n1,young,yes,1,\n", encoding="utf-8")
    with pytest.raises(DataError, match="no table can satisfy this in block n1, age=young, work=yes"):
        TopDown.open(path)
    (tmp_path / "b.csv").write_text(head + "n1,old,yes,5,3\n", encoding="utf-8")
    with pytest.raises(DataError, match="no table can satisfy this in block n1, age=old, work=yes"):
        TopDown.open(path)
    # More people in one block than the country has: seen when the invariant is read, which costs nothing.
    path = write_plan(tmp_path, ledger="b.db", more=BOUNDS.format("public"))
    (tmp_path / "b.csv").write_text("block,age,low\nn1,old,201\n", encoding="utf-8")
    plan = TopDown.open(path)
    with pytest.raises(DataError, match="no table can satisfy this in"):
        plan.run()
    with Ledger.open(tmp_path / "b.db") as ledger:
        assert ledger.account("small").total.spent == 0
    # The message does not depend on who is in the data, as long as the invariant is the same.
    messages = set()
    for shift in range(3):
        path = write_plan(tmp_path / str(shift), rows=people(200 + shift)[shift:], more=BOUNDS.format("public"))
        (tmp_path / str(shift) / "b.csv").write_text("block,age,low\nn1,old,201\n", encoding="utf-8")
        with pytest.raises(DataError) as caught:
            TopDown.open(path).run()
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_bound_files(tmp_path: Path) -> None:
    path = write_plan(tmp_path, more=BOUNDS.format("public"))
    for text, message in (
        ("block,age,low\nx,old,1\n", "unknown place or value"),
        ("block,age,low\nn1,oldish,1\n", "unknown place or value"),
        ("block,age,low\nn1,old,-1\n", "whole number"),
        ("block,age,low\nn1,old,1.5\n", "whole number"),
        ("block,low\nn1,1\n", "columns are missing"),
        ("block,age\nn1,old\n", "columns are missing"),
    ):
        (tmp_path / "b.csv").write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            TopDown.open(path)
    (tmp_path / "b.csv").unlink()
    with pytest.raises(DataError, match="cannot be read"):
        TopDown.open(path)
    with pytest.raises(ParameterError, match="say where the bound comes from"):
        TopDown.open(write_plan(tmp_path, more=BOUNDS.format("somewhere")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("block,age,low\nn1,old,3\nn1,old,2\n", r"listed twice.*b.csv:3|b.csv:3.*listed twice"),
        # A line that says nothing is still a line.
        ("block,age,low\nn1,old,\nn1,old,2\n", "listed twice"),
        ("block,age,low,low\nn1,old,3,2\n", "two columns have one name"),
        ("block,age,n,low\nn1,old,3,2\n", "given twice"),
        ("block,age,low\nn1,old\n", "another number of fields"),
        ("block,age,low\nn1,old,3,4\n", "another number of fields"),
        ("block,ages,low\n", "columns are missing"),
        ("", "columns are missing"),
    ],
)
def test_files_of_bounds_that_say_two_things_or_none_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = write_plan(tmp_path, ledger="ledger.db", more=BOUNDS.format("public"))
    (tmp_path / "b.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        TopDown.open(path)
    assert not (tmp_path / "ledger.db").exists()


def test_the_digest_is_that_of_the_bytes_that_were_read(tmp_path: Path) -> None:
    """A file that changes or goes after the plan was opened neither ends the run nor lends its name to other bytes."""
    path = write_plan(tmp_path, more=BOUNDS.format("public"))
    content = "\ufeffblock,age,low\nn1,old,3\n".encode()
    (tmp_path / "b.csv").write_bytes(content)
    planned = TopDown.open(path)
    (tmp_path / "b.csv").unlink()
    with keyed(key_of("digest")):
        write(planned.run(), tmp_path)
    told = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert told["bounds"][0]["sha256"] == hashlib.sha256(content).hexdigest()


def test_what_is_read_from_the_confidential_file_is_in_the_scope(tmp_path: Path) -> None:
    for provenance, inside in (("invariant", True), ("public", False), ("published", False)):
        path = write_plan(tmp_path, more=BOUNDS.format(provenance) + "zero_where_none = true\n")
        (tmp_path / "b.csv").write_text("block,age,low\nn1,old,1\nn2,old,1\ns1,young,1\n", encoding="utf-8")
        plan = TopDown.open(path)
        names = dict(plan.specification.scope.texts)
        assert ("b: age by block" in names) == ("b: age by block" in plan.without) == inside
        with keyed(key_of(provenance)):
            release = plan.run()
        ages = plan.schema.answers(plan.schema.query("age"), release.tables[-1])
        listed = np.array([[0, 1], [0, 1], [0, 0], [1, 0], [0, 0]])
        assert (ages[listed == 0] == 0).all()
        assert (ages >= listed).all()


def test_public_bounds_that_contradict_each_other_inside_structural_zeros_are_refused(tmp_path: Path) -> None:
    """The young do not work, so they are among those without work: at least 60 of at most 50."""
    more = BOUNDS.format("public") + BOUNDS.format("public").replace('"age"', '"work"').replace("b.csv", "c.csv")
    path = write_plan(tmp_path, more=more)
    (tmp_path / "b.csv").write_text("block,age,low\nn1,young,60\n", encoding="utf-8")
    (tmp_path / "c.csv").write_text("block,work,high\nn1,no,50\n", encoding="utf-8")
    with pytest.raises(DataError, match="no table can satisfy this in block n1"):
        TopDown.open(path).run()


def test_invariants_that_cross_in_too_many_places_are_refused() -> None:
    given = {"a": ["x", "y"], "b": ["p", "q"]}
    many = Geography.of([("r", f"l{i}") for i in range(20_000)], ["root", "leaf"], "place")
    with pytest.raises(ParameterError, match=r"cross.*80,000"):
        small(
            attributes=given,
            invariants=[("root", "a"), ("leaf", "b")],
            source=np.zeros((20_000, 4), dtype=np.int64),
            geography=many,
        )


def small(**changes: object) -> TopDown:
    given = {
        "dataset": "d",
        "version": "1",
        "ledger": ":memory:",
        "source": np.array([[5, 0], [2, 9]]),
        "geography": Geography.of([("r", "l1"), ("r", "l2")], ["root", "leaf"], "place"),
        "attributes": {"a": ["x", "y"]},
        "shares": {"root": {"share": "1/2", "a": 1}, "leaf": {"share": "1/2", "detailed": 1}},
        "rho": 1,
        "unit": Replace(),
    }
    return TopDown(**{**given, **changes})


def test_arguments_that_do_not_fit_are_refused() -> None:
    for wrong in (AddRemove(), Hamming(), Replace(group=2)):
        with pytest.raises(SpecificationError, match="one person replaced"):
            small(unit=wrong)
    with pytest.raises(ParameterError, match="households need their key"):
        small(records="households")
    with pytest.raises(ParameterError, match="exclude each other"):
        small(unit=Replace(key="p"), counts="n")
    with pytest.raises(ParameterError, match="another part already"):
        small(counts="a")
    with pytest.raises(ParameterError, match="nothing would be measured"):
        small(invariants=[("leaf", "a")])
    with pytest.raises(ParameterError, match=r"positive|greater"):
        small(rho=0)
    with pytest.raises(ParameterError, match="unknown word"):
        small(freed="kept")
    with pytest.raises(ParameterError, match="name of an invariant"):
        small(invariants=[("root", "total")], facts={"total by root": "something else"})
    with pytest.raises(ParameterError, match="passes belong to the published algorithm"):
        small(passes="total first")
    with pytest.raises(ParameterError, match="share is missing"):
        small(shares={"root": {"a": 1}})


@pytest.mark.parametrize("estimate", ["subtree", "level"])
def test_noise_that_would_make_more_rows_than_can_be_written_is_refused(estimate: str) -> None:
    """Such a release was paid for, and then ended without memory for its microdata."""
    with pytest.raises(ParameterError, match=r"rho: so much noise.*Raise rho"):
        small(rho="1e-24", estimate=estimate)
    with keyed(key_of("little")):
        assert small(rho="1e-24", estimate=estimate, invariants=[("root", "total")]).run().tables[0].sum() == 16
    assert small(rho="1e-9", estimate=estimate).rho > 0


def test_schemas_that_do_not_fit_are_refused() -> None:
    good = {"a": ["x", "y"], "b": ["p", "q", "r"]}
    for changes, message in (
        ({"attributes": {}}, "needs an attribute"),
        ({"attributes": {"total": ["x"]}}, "cannot be an attribute's name"),
        ({"attributes": {"a*b": ["x"]}}, "cannot be an attribute's name"),
        ({"attributes": {"a": []}}, "needs values"),
        ({"attributes": {"a": ["x", "x"]}}, "listed twice"),
        ({"attributes": {f"a{i}": list("wxyz") for i in range(9)}}, "at most"),
        ({"zeros": [{"a": ["x", "y"]}]}, "leave no cell"),
        ({"zeros": [{}]}, "names an attribute"),
        ({"recodes": {"a": {"attribute": "b", "groups": [["p"], ["q", "r"]]}}}, "cannot read this recode"),
        ({"recodes": {"c": {"attribute": "b", "groups": [["p"], ["q"]]}}}, "do not divide"),
        ({"recodes": {"c": {"attribute": "b", "groups": "pq"}}}, "lists of values"),
    ):
        with pytest.raises(ParameterError, match=message):
            Schema(**{"attributes": good, **changes})
    with pytest.raises(ParameterError, match="twice"):
        Schema(attributes=good).query("a*a")


def test_geographies_that_are_no_hierarchy_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "g.csv"
    columns = {"columns": ["state", "county"]}
    for text, levels, message in (
        ("state,county\na,1\nb,1\n", columns, "no hierarchy"),
        ("state,county\na,1\na,1\n", columns, "listed twice"),
        ("state,county\n", columns, "lists no place"),
        ("state,county\na,\n", columns, "a code is empty"),
        ("state,county\na\n", columns, "another number of fields"),
        ("code\n12\n123\n", {"column": "code", "prefix": [1, 2], "names": ["s", "c"]}, "must have 2 characters"),
        ("code\n12\n", {"column": "id", "prefix": [1, 2], "names": ["s", "c"]}, "no column 'id'"),
        ("code\n12\n", {"column": "code", "prefix": [2, 1], "names": ["s", "c"]}, "cannot read the levels"),
        ("code\n12\n", {"column": "code", "prefix": [2], "names": ["s", "c"]}, "cannot read the levels"),
        ("code\n12\n", {"columns": []}, "cannot read the levels"),
        ("state,county\na,1\n", {"columns": ["state", "state"]}, "different names"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises((DataError, ParameterError), match=message):
            read_geography(file, levels)
    file.write_bytes(b"code\n\xff\n")
    with pytest.raises(DataError, match="cannot be read"):
        read_geography(file, {"columns": ["code"]})


def test_a_release_costs_once_and_the_next_run_nothing(tmp_path: Path) -> None:
    path = write_plan(tmp_path, ledger="ledger.db")
    out = tmp_path / "out"
    first = CliRunner().invoke(app, ["topdown", str(path), "--out", str(out), "--json"])
    assert first.exit_code == 0, first.output
    told = json.loads(first.stdout)
    assert told["charged"] == told["rho"] == "2"
    kept = {file.name: file.read_bytes() for file in out.iterdir()}
    again = json.loads(CliRunner().invoke(app, ["topdown", str(path), "--out", str(out), "--json"]).stdout)
    assert again["charged"] == "0"
    for name in ("measurements.parquet", "estimates.parquet", "budget.csv", "specification.json", "summary.json"):
        assert (out / name).read_bytes() == kept[name]
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.verify(told["head"])
        assert ledger.account("small").total.spent == 2


def test_a_budget_that_does_not_do_is_refused_whole(tmp_path: Path) -> None:
    path = write_plan(tmp_path, ledger="ledger.db", more='rho = "21/10"')
    plan = TopDown.open(path)
    with pytest.raises(BudgetError, match="nothing was spent") as caught:
        plan.run()
    assert caught.value.requested == Fraction(21, 10)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.account("small").total.spent == 0


def test_another_plan_of_the_same_dataset_shares_its_budget_and_its_registration(tmp_path: Path) -> None:
    for name, rho in (("one", "rho = 1"), ("two", "rho = 1.5")):
        path = write_plan(tmp_path, ledger="ledger.db", more=rho)
        plan = TopDown.open(path)
        if name == "one":
            plan.run()
        else:
            with pytest.raises(BudgetError):
                plan.run()
    other = PLAN.replace('query = "total" }}]', 'query = "age" }}]')
    with pytest.raises(RegistrationError):
        TopDown.open(write_plan(tmp_path, ledger="ledger.db", plan=other)).run()


def test_an_injected_key_gives_the_same_release_and_no_ledger_keeps_it(tmp_path: Path) -> None:
    path = write_plan(tmp_path)
    found = []
    for cores in (1, 2, 1):
        with keyed(key_of("same")):
            release = TopDown.open(path).run(cores=cores)
        assert release.measured.injected
        found.append([table.tolist() for table in release.tables])
    assert found[0] == found[1] == found[2]
    path = write_plan(tmp_path, ledger="ledger.db")
    with keyed(key_of("same")), pytest.raises(PrivacyError, match="injected key"):
        TopDown.open(path).run()


def test_the_files_say_what_was_measured_and_estimated(tmp_path: Path) -> None:
    path = write_plan(tmp_path)
    out = tmp_path / "out"
    with keyed(key_of("files")):
        plan = TopDown.open(path)
        release = plan.run()
        out.mkdir()
        write(release, out)
    ask = duckdb.connect().execute
    rows = ask(f"SELECT block, age, work, COUNT(*) FROM '{out}/microdata.parquet' GROUP BY ALL").fetchall()
    table = {(block, f"age={age}, work={work}"): count for block, age, work, count in rows}
    labels = plan.schema.labels(plan.schema.query("detailed"))
    for place, code in enumerate(plan.geography.codes[-1]):
        for cell, label in enumerate(labels):
            assert table.get((code, label), 0) == release.tables[-1][place, cell]
    measured = ask(
        f"SELECT level, query, COUNT(*), MIN(variance) FROM '{out}/measurements.parquet' GROUP BY ALL"
    ).fetchall()
    assert {(level, query): count for level, query, count, _ in measured} == {
        ("country", "detailed"): 4, ("region", "age"): 4, ("region", "detailed"): 8,
        ("block", "total"): 5, ("block", "detailed"): 20,
    }  # fmt: skip
    where = "level = 'country' AND query = 'total'"
    exact = ask(f"SELECT estimate, variance, low, high FROM '{out}/estimates.parquet' WHERE {where}").fetchall()
    assert exact == [(200.0, 0.0, 200.0, 200.0)]
    said = json.loads((out / "specification.json").read_text(encoding="utf-8"))
    assert said["rho"] == "2"
    assert said["without"] == {"total by country": "∞"}
    assert said["metric"]["standard"] == {"kind": "normalised-renyi"}
    budget = (out / "budget.csv").read_text(encoding="utf-8").splitlines()
    assert budget[1].startswith("country,total,1/8,0,0,,free: the invariants determine it")
    assert sum(Fraction(line.split(",")[3]) for line in budget[1:]) == 2


def test_the_command_speaks(tmp_path: Path) -> None:
    path = write_plan(tmp_path)
    dry = CliRunner().invoke(app, ["topdown", str(path), "--dry-run"])
    assert dry.exit_code == 0
    assert "1 country, 2 region, 5 block" in dry.stdout
    assert "without “total by country” in the scope: ρ = ∞" in dry.stdout
    assert CliRunner().invoke(app, ["topdown", str(path)]).exit_code == 2
    assert CliRunner().invoke(app, ["topdown", str(path), "--out", str(tmp_path / "o"), "--reruns", "1"]).exit_code == 2
    with keyed(key_of("speaks")):
        run = CliRunner().invoke(app, ["topdown", str(path), "--out", str(tmp_path / "o"), "--reruns", "3", "--report"])
    assert run.exit_code == 0, run.output
    assert "not private: injected key" in run.stdout
    assert "For the curator's eyes only" in run.stderr
    assert "covers" in run.stdout
    columns = duckdb.connect().execute(f"DESCRIBE SELECT * FROM '{tmp_path}/o/intervals.parquet'").fetchall()
    assert [row[0] for row in columns] == ["level", "geography", "query", "cell", "value", "low", "high"]


def test_a_bound_of_the_curators_that_cannot_be_kept_is_reported(tmp_path: Path) -> None:
    """Two public bounds that no table of 200 people satisfies together: the least change, and the invariant stays."""
    more = BOUNDS.format("public") + BOUNDS.format("public").replace('"age"', '"work"').replace("b.csv", "c.csv")
    path = write_plan(tmp_path, more=more)
    (tmp_path / "b.csv").write_text("block,age,low\nn1,old,150\n", encoding="utf-8")
    (tmp_path / "c.csv").write_text("block,work,low\ns1,no,150\n", encoding="utf-8")
    with keyed(key_of("repairs")):
        release = TopDown.open(path).run()
    assert release.solved.repairs
    blocks = (", n1, ", ", s1, ")
    assert sum(amount for name, amount in release.solved.repairs if any(each in name for each in blocks)) == 100
    assert release.tables[0].sum() == 200


def test_bounds_may_be_given_in_python(tmp_path: Path) -> None:
    file = tmp_path / "low.csv"
    file.write_text("place,n\nl1,7\n", encoding="utf-8")
    bound = Bound(level="leaf", query="total", file=file, provenance="published")
    with keyed(key_of("python")):
        release = small(bounds=[bound]).run()
    assert release.tables[-1][0].sum() == 7


def test_the_optimised_spine_pools_an_only_child() -> None:
    """A root with one child: level estimates of the root use both measurements, whose precisions add."""
    only = Geography.of([("r", "m", "l1"), ("r", "m", "l2")], ["root", "middle", "leaf"], "place")
    shares = {
        "root": {"share": "1/4", "a": 1},
        "middle": {"share": "1/4", "a": 1},
        "leaf": {"share": "1/2", "detailed": 1},
    }
    errors = {"given": [], "optimised": []}
    for spine, found in errors.items():
        plan = small(
            geography=only, shares=shares, estimate="level", spine=spine, rho="1/50", source=np.full((2, 2), 500)
        )
        for key in range(60):
            with keyed(key_of(f"spine {key}")):
                plan.ledger = ":memory:"
                found.append(float(((plan.run().tables[0] - 1000) ** 2).mean()))
    # Half the variance: 60 keys of two cells tell 1/2 from 1 with a false alarm far below 1e-6 for these fixed keys.
    assert np.mean(errors["optimised"]) < 0.75 * np.mean(errors["given"])


def test_the_guides_plan_runs(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "topdown.md").read_text(encoding="utf-8")
    (tmp_path / "plan.toml").write_text(guide.split("```toml plan.toml\n")[1].split("```")[0], encoding="utf-8")
    towns = "country,region,town\nc,n,n1\nc,n,n2\nc,s,s1\n"
    (tmp_path / "geography.csv").write_text(towns, encoding="utf-8")
    rows = [f"p{i},{('n1', 'n2', 's1')[i % 3]},18+,{('owned', 'rented')[i % 2]}" for i in range(50)]
    (tmp_path / "people.csv").write_text("\n".join(["person,town,age,tenure", *rows]) + "\n", encoding="utf-8")
    run = CliRunner().invoke(app, ["topdown", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "published")])
    assert run.exit_code == 0, run.output
    listed = set(re.findall(r"^\| `([a-z.]+)`", guide, re.MULTILINE))
    assert listed <= {file.name for file in (tmp_path / "published").iterdir()}


def test_a_column_of_counts_is_no_column_of_the_people(tmp_path: Path) -> None:
    """The unit is one record of the domain, so the domain is the people and not the file's lines of counts."""
    file = tmp_path / "counts.csv"
    file.write_text("place,a,n\nl1,x,5\nl2,y,7\n", encoding="utf-8")
    plan = small(source=file, counts="n")
    assert [name for name, _ in plan.specification.domain.columns] == ["a", "place"]
    assert "vouch" in CliRunner().invoke(app, ["topdown", str(_counted_plan(tmp_path)), "--dry-run"]).stdout


def _counted_plan(folder: Path) -> Path:
    plan = PLAN.replace(', key = "person"', "")
    path = write_plan(folder, plan=plan, more='counts = "n"')
    (folder / "people.csv").write_text("block,age,work,n\nn1,old,yes,12\n", encoding="utf-8")
    return path


DESIGN = """
dataset = "small"
version = "1"
ledger = ":memory:"

[spec]
unit = { kind = "replace", key = "person" }
standard = { kind = "zcdp" }
intensity = 2
invariants = ["SELECT country, COUNT(*) AS n FROM persons GROUP BY 1"]

[topdown]
source = "people.csv"
geography = "geography.csv"
levels = { columns = ["country", "region", "block"] }
attributes = { age = ["young", "old"], work = ["yes", "no"] }

[topdown.shares]
country = { share = "1/4", total = "1/2", detailed = "1/2" }
region = { share = "1/4", age = "1/4", detailed = "3/4" }
block = { share = "1/2", total = "1/2", detailed = "1/2" }

[topdown.zeros]
rules = ["age = 'young' AND work = 'yes'"]

[[topdown.bounds]]
level = "block"
query = "age"
low = "low.csv"
high = "high.csv"
provenance = "public"

[output]
microdata = "ppmf.parquet"
measurements = "nmf.parquet"
"""


def test_a_plan_as_designed_is_the_same_plan_with_files_of_its_own_names(tmp_path: Path) -> None:
    path = write_plan(tmp_path / "one")
    (tmp_path / "one" / "low.csv").write_text("block,age,n\nn1,old,3\n", encoding="utf-8")
    (tmp_path / "one" / "high.csv").write_text("block,age,high\nn1,old,5\nn2,old,90\n", encoding="utf-8")
    first = TopDown.open(path)
    path.write_text(DESIGN, encoding="utf-8")
    second = TopDown.open(path)
    assert second.public == first.public
    assert second.specification == first.specification
    ends = [(limit.low[0, 1], limit.high[0, 1], limit.high[1, 1]) for limit in second.limits]
    assert ends == [(3, np.inf, np.inf), (0, 5, 90)]
    with keyed(key_of("designed")):
        release = second.run()
    assert 3 <= second.schema.answers(second.schema.query("age"), release.tables[-1])[0, 1] <= 5
    names = {file.name for file in write(release, tmp_path / "one")}
    fixed = {"estimates.parquet", "budget.csv", "specification.json", "summary.json"}
    assert names == {"ppmf.parquet", "nmf.parquet"} | fixed


@pytest.mark.parametrize(
    ("found", "instead", "message"),
    [
        ('microdata = "ppmf.parquet"', 'microdata = "../ppmf.parquet"', "no name for an output"),
        ('microdata = "ppmf.parquet"', 'microdata = "ppmf.csv"', "no name for an output"),
        ('microdata = "ppmf.parquet"', 'microdata = "NMF.parquet"', "two outputs have one name"),
        ('microdata = "ppmf.parquet"', 'people = "ppmf.parquet"', r"plan.toml:\d+.*people"),
        ('low = "low.csv"', 'low = "low.csv"\nfile = "low.csv"', "name the file of the bound"),
        ('low = "low.csv"\nhigh = "high.csv"', "", "name the file of the bound"),
        ("rules = [", "rule = [", r"plan.toml:\d+.*rule"),
    ],
)
def test_a_plan_as_designed_is_refused_where_it_is_wrong(
    found: str, instead: str, message: str, tmp_path: Path
) -> None:
    path = write_plan(tmp_path)
    for name in ("low.csv", "high.csv"):
        (tmp_path / name).write_text("block,age,n\nn1,old,3\n", encoding="utf-8")
    assert found in DESIGN
    path.write_text(DESIGN.replace(found, instead), encoding="utf-8")
    with pytest.raises(ParameterError, match=message):
        TopDown.open(path)
