"""People and households in one release: one budget, one scope, tables that agree."""

from __future__ import annotations

import csv
import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest
from typer.testing import CliRunner

from quincunx import noise
from quincunx.cli.app import app
from quincunx.errors import BudgetError, DataError, ParameterError
from quincunx.invariant.topdown import Bound, Edits, Pair, PairRelease, TopDown
from quincunx.invariant.topdown.edits import sizes_of
from quincunx.invariant.topdown.measure import draw, levels_of
from quincunx.invariant.topdown.people import counted
from quincunx.invariant.topdown.schema import Schema
from quincunx.ledger import Ledger
from quincunx.noise.testing import key_of, keyed
from tests.invariant.topdown.homes import PLAN, SIZES, geography, pair, write_homes, write_plan


def agree(plan: Pair, people: np.ndarray, homes: np.ndarray) -> None:
    """The rules of the issue, written out: relation × age against sizes."""
    relation = people.reshape(len(people), 3, 2).sum(axis=2)
    exact = homes[:, 1:7] @ np.arange(1, 7)
    inside = relation[:, 0] + relation[:, 1]
    assert (relation[:, 0] == homes[:, 1:].sum(axis=1)).all()
    assert (inside >= exact + 7 * homes[:, 7]).all()
    assert (inside[homes[:, 7] == 0] == exact[homes[:, 7] == 0]).all()
    assert (inside[homes[:, 1:].sum(axis=1) == 0] == 0).all()
    assert plan.broken(people, homes) == 0


@pytest.fixture
def worlds(ci: bool) -> int:
    return 60 if ci else 16


def test_both_tables_agree_and_keep_their_invariants(tmp_path: Path, worlds: int) -> None:
    """Little and much noise, with and without open sizes, with and without people elsewhere."""
    for number in range(worlds):
        places = geography(1 + number % 3, 1 + number % 4)
        most, nursing = (9, 6)[number % 2], (0, 7)[number // 2 % 2]
        write_homes(tmp_path, places, f"world {number}", units=30, most=most, nursing=nursing)
        changes = {}
        if not nursing:
            # Everybody lives in households: the number of people is known, and sizes must add up to it.
            attributes = {"relation": ["householder", "member"], "age": ["young", "old"]}
            changes = {"people": {"attributes": attributes, "zeros": []}}
        if most == 6:
            changes["households"] = {"attributes": {"size": SIZES[:-1]}}
        plan = pair(tmp_path, places, rho=(Fraction(1, 50), 1, 20)[number % 3], **changes)
        with keyed(key_of(f"pair {number}")):
            release = plan.run()
        people, homes = release.people.tables, release.households.tables
        for tables in (people, homes):
            for level in range(1, places.depth):
                assert (np.add.reduceat(tables[level], places.starts[level], axis=0) == tables[level - 1]).all()
                assert tables[level].min() >= 0
        truth = [counted(h.source, h.schema, places, key=h.key, counts=None) for h in plan.halves]
        assert people[0].sum() == truth[0].sum()
        assert (homes[-1].sum(axis=1) == truth[1].sum(axis=1)).all()
        wide = people[-1] if nursing else np.hstack([people[-1], np.zeros((len(people[-1]), 2), dtype=np.int64)])
        full = homes[-1] if most > 6 else np.hstack([homes[-1], np.zeros((len(homes[-1]), 1), dtype=np.int64)])
        if nursing and most > 6:
            agree(plan, wide, full)
        assert release.broken == 0
        relation = wide.reshape(len(wide), 3, 2).sum(axis=2)
        assert (relation[:, 0] == full[:, 1:].sum(axis=1)).all()
        closed = full[:, 7] == 0
        assert (relation[closed, :2].sum(axis=1) == full[closed, 1:7] @ np.arange(1, 7)).all()
        assert release.people.solved.repairs == ()


def test_one_scope_one_budget_and_prices_of_their_own(tmp_path: Path) -> None:
    write_homes(tmp_path, geography(), "budget")
    with keyed(key_of("budget")), Ledger.open(":memory:") as ledger:
        plan = pair(tmp_path, geography(), ledger=ledger)
        assert plan.people.specification == plan.households.specification == plan.specification
        assert dict(plan.specification.scope.texts) == {
            "households: total by block": "number of households in each block",
            "people: total by state": "number of people in each state",
        }
        assert plan.without == {"people: total by state": "∞", "households: total by block": "∞"}
        assert (plan.people.rho, plan.households.rho, plan.rho) == (Fraction(3, 2), Fraction(1, 2), 2)
        assert all(line.rho * line.sigma2 == 1 for line in plan.people.budget if line.sigma2)
        assert all(line.rho * line.sigma2 == 4 for line in plan.households.budget if line.sigma2)
        plan.run()
        assert ledger.account("homes").total.spent == 2
        again = plan.measure()
        assert [each.charged for each in again] == [0, 0]


def test_a_budget_for_one_table_alone_is_refused_whole(tmp_path: Path) -> None:
    write_homes(tmp_path, geography(), "refused")
    with keyed(key_of("refused")), Ledger.open(":memory:") as ledger:
        plan = pair(tmp_path, geography(), ledger=ledger, rho=2, intensity="19/10")
        with pytest.raises(BudgetError, match="nothing was spent") as caught:
            plan.run()
        assert caught.value.requested == 2
        assert ledger.account("homes").total.spent == 0


def test_one_person_costs_at_most_rho_in_both_tables_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three people, each with a home and a relation as recorded, in three units of two blocks; the sizes of the units
    follow from who lives there. Through the files and the code that draws: worlds at distance d cost at most d²·ρ."""
    places = geography(1, 2)
    units = [("h0", "c0b0"), ("h1", "c0b0"), ("h2", "c0b1")]
    write_homes(tmp_path, places, "enumerated", units=1)
    plan = pair(tmp_path, places)
    monkeypatch.setattr(noise, "discrete_gaussian", lambda **given: np.zeros(given["size"], dtype=np.int64))
    records = list(itertools.product(range(3), ("householder", "member")))
    worlds = list(itertools.product(records, repeat=3))
    answers, prices = [], []
    for world in worlds:
        people, living = [["person", "block", "relation", "age"]], Counter(home for home, _ in world)
        people += [[f"p{i}", units[home][1], relation, "old"] for i, (home, relation) in enumerate(world)]
        homes = [["home", "block", "size"], *([h, b, str(living[i] or "vacant")] for i, (h, b) in enumerate(units))]
        for name, rows in (("people.csv", people), ("units.csv", homes)):
            with (tmp_path / name).open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream, lineterminator="\n").writerows(rows)
        found, prices = [], []
        for half in plan.halves:
            tables = levels_of(counted(half.source, half.schema, places, key=half.key, counts=None), places)
            for line in half.budget:
                if line.sigma2 is not None:
                    (exact,) = draw(half.schema, tables[line.level], [line])
                    found.append(exact.reshape(-1))
                    prices += [1 / (2 * line.sigma2)] * exact.size
        answers.append(np.concatenate(found))
    # Exact: every price is a whole multiple of one unit, and squared distances are whole.
    unit = Fraction(1, math.lcm(*(price.denominator for price in prices)))
    weights, all_answers = np.array([int(price / unit) for price in prices]), np.array(answers)
    most = plan.rho / unit
    codes = np.array([[records.index(record) for record in world] for world in worlds])
    worst = 0.0
    for world, own in enumerate(all_answers):
        cost = ((all_answers - own) ** 2) @ weights
        distance = (codes != codes[world]).sum(axis=1)
        assert (cost <= most * distance**2).all()
        worst = max(worst, float((cost[distance == 1] / float(most)).max()))
    assert 0.8 < worst <= 1


def test_each_table_helps_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what people's measurements say, the noise of households decides how many people a block has."""
    places = geography(2, 10)
    write_homes(tmp_path, places, "helped", units=600, nursing=20)
    plan = pair(tmp_path, places)
    truth = [counted(h.source, h.schema, places, key=h.key, counts=None) for h in plan.halves]
    with keyed(key_of("helped")):
        measured = plan.measure()
        helped = plan.computed(*measured)
        monkeypatch.setattr(Pair, "_pulls", lambda *_: [])
        alone = plan.computed(*measured)

    def errors(release: PairRelease) -> tuple[float, float]:
        people, homes = release.people.tables[-1], release.households.tables[-1]
        totals = np.abs(people.sum(axis=1) - truth[0].sum(axis=1)).mean()
        return float(totals), float(np.abs(homes - truth[1]).mean())

    assert helped.broken == alone.broken == 0
    assert errors(helped)[0] < errors(alone)[0] / 3
    assert errors(helped)[1] < errors(alone)[1]


def test_facts_that_contradict_each_other_are_refused_before_anything_is_spent(tmp_path: Path) -> None:
    """Nobody lives elsewhere, and there are more people than one household of each block holds without an open size."""
    places = geography(1, 2)
    write_homes(tmp_path, places, "crowd", units=20, most=6, nursing=0)
    (tmp_path / "units.csv").write_text("home,block,size\nh0,c0b0,2\n", encoding="utf-8")
    people = {"attributes": {"relation": ["householder", "member"], "age": ["young", "old"]}, "zeros": []}
    homes = {"attributes": {"size": SIZES[:-1]}}
    with keyed(key_of("crowd")), Ledger.open(":memory:") as ledger:
        plan = pair(tmp_path, places, ledger=ledger, people=people, households=homes)
        with pytest.raises(DataError, match="no households go with the people"):
            plan.run()
        assert ledger.account("homes").total.spent == 0


def test_where_people_are_fixed_below_the_first_level_the_rules_give_way_and_it_is_told(tmp_path: Path) -> None:
    """Nobody may live in households of block c0b0, says an earlier release; noisy households say otherwise."""
    places = geography(1, 2)
    write_homes(tmp_path, places, "fixed", units=40, nursing=0)
    file = tmp_path / "known.csv"
    file.write_text("block,n\nc0b0,0\n", encoding="utf-8")
    known = Bound(level="block", query="total", file=file, provenance="published")
    with keyed(key_of("fixed")):
        release = pair(tmp_path, places, people={"bounds": [known]}).run()
    assert 1 <= release.broken <= 2
    assert release.people.tables[-1][0].sum() == 0
    assert (release.people.tables[-1].sum(axis=0) == release.people.tables[0][0]).all()


def test_a_plan_file_is_the_same_release_and_writes_both(tmp_path: Path) -> None:
    path = write_plan(tmp_path)
    assert Pair.open(path).people.public == pair(tmp_path, geography()).people.public
    assert Pair.open(path).specification == pair(tmp_path, geography()).specification
    out = tmp_path / "out"
    with keyed(key_of("plan")):
        result = CliRunner().invoke(app, ["topdown", str(path), "--out", str(out), "--report"])
    assert result.exit_code == 0, result.output
    assert "in all but 0 of 6 places" in result.output
    assert "ρ = 1.5 for people + ρ = 0.5 for households" in result.output
    names = {file.name for file in out.iterdir()}
    tables = {"microdata", "measurements", "estimates", "households_measurements", "households_estimates", "households"}
    assert names == {f"{name}.parquet" for name in tables} | {"budget.csv", "specification.json", "summary.json"}
    ask = duckdb.connect().execute
    people, homes = f"'{out / 'microdata.parquet'}'", f"'{out / 'households.parquet'}'"
    found = ask(
        f"WITH p AS (SELECT block, count(*) AS n FROM {people} WHERE relation = 'householder' GROUP BY 1), "
        f"h AS (SELECT block, count(*) AS n FROM {homes} WHERE size <> 'vacant' GROUP BY 1) "
        "SELECT count(*) FROM p FULL JOIN h USING (block) WHERE p.n IS DISTINCT FROM h.n"
    ).fetchone()
    assert found == (0,)
    told = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert told["rho"] == "2"
    assert told["broken"] == 0
    assert told["tables"]["households"]["households"] == 40
    budget = (out / "budget.csv").read_text(encoding="utf-8").splitlines()
    assert budget[0].startswith("table,level")
    assert {line.split(",")[0] for line in budget[1:]} == {"people", "households"}
    shown = json.loads(CliRunner().invoke(app, ["topdown", str(path), "--dry-run", "--json"]).stdout)
    assert shown["rho"] == "2"
    assert {row["table"] for row in shown["budget"]} == {"people", "households"}


@pytest.mark.parametrize(
    ("found", "instead", "message"),
    [
        ('size = "size"\n', 'size = "sizes"\n', "unknown attribute of households"),
        ('"6", "7+"]', '"6", "many"]', "no size of a household"),
        ("relation = 'householder'\"", "relation = 'head'\"", "unknown attribute or value"),
        (
            "householders = \"relation = 'householder'\"",
            "householders = \"relation = 'nursing'\"",
            "live in households",
        ),
        ('share = "1/4"\ninvariants', "share = 1\ninvariants", "between 0 and 1"),
        ("[topdown.edits]\nsize", "[topdown.edit]\nsize", r"plan.toml:\d+"),
        ("intensity = 2\n", 'intensity = 2\ncolumns = ["a"]\n', "does not go with two tables"),
        ('household = "home"\n', "", "household is missing"),
    ],
)
def test_plans_that_do_not_fit_are_refused(found: str, instead: str, message: str, tmp_path: Path) -> None:
    assert found in PLAN
    with pytest.raises((ParameterError, DataError), match=message):
        Pair.open(write_plan(tmp_path, plan=PLAN.replace(found, instead)))


def test_a_plan_is_opened_by_its_own_name(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="two tables"):
        TopDown.open(write_plan(tmp_path))
    one = PLAN[: PLAN.index("[topdown.households]")]
    with pytest.raises(ParameterError, match="one table"):
        Pair.open(write_plan(tmp_path, plan=one))


def test_both_tables_are_run_again_together(tmp_path: Path) -> None:
    arguments = ["topdown", str(write_plan(tmp_path)), "--out", str(tmp_path / "out"), "--reruns", "2", "--json"]
    with keyed(key_of("reruns of two")):
        result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)["reruns"]
    assert {each["table"] for each in told} == {"people", "households"}
    for each in told:
        # What is published exactly does not move.
        if (each["table"], each["level"], each["query"]) in {
            ("people", "state", "total"),
            ("households", "block", "total"),
        }:
            assert each["half"] == 0
    for name, table in (("intervals.parquet", "people"), ("households_intervals.parquet", "households")):
        rows = duckdb.sql(f"SELECT level, query, value, low, high FROM '{tmp_path / 'out' / name}'").fetchall()
        assert {(level, query) for level, query, *_ in rows} == {
            (each["level"], each["query"]) for each in told if each["table"] == table
        }
        assert all(0 <= low <= value <= high for _, _, value, low, high in rows)


def test_sizes() -> None:
    schema = Schema(attributes={"tenure": ["own", "rent"], "size": ["vacant", "1", "12", "20+"]})
    found = sizes_of(Edits(size="size"), schema)
    assert found.sizes.tolist() == [0, 1, 12, 20] * 2
    assert found.open.tolist() == [False, False, False, True] * 2
    assert found.occupied.tolist() == [False, True, True, True] * 2


BAD_PEOPLE = {
    "a structural zero": "q1,c0b0,nursing,young",
    "a code that is not in the geography": "q1,c9b9,member,old",
    "a value that is not declared": "q1,c0b0,guest,old",
    "an empty key": ",c0b0,member,old",
    "too few fields": "q1,c0b0",
    "an unclosed quote": 'q1,"c0b0,member,old',
    "bytes that are no text": "q1,c0b0,mem\udcff,old",
    "a key that is no text": "q\udcff,c0b0,member,old",
    "an empty line": "",
}
BAD_UNITS = {
    "a code that is not in the geography": "u1,c9b9,2",
    "a size that is not declared": "u1,c0b0,-3",
    "an empty key": ",c0b0,2",
    "too many fields": "u1,c0b0,2,2",
    "bytes that are no text": "u1,c0b0,\udcff",
    "an empty line": "",
}


@pytest.mark.parametrize(
    ("people", "units"),
    [
        (list(BAD_PEOPLE.values()), []),
        ([], list(BAD_UNITS.values())),
        *(pytest.param([row], [], id=name, marks=pytest.mark.ci) for name, row in BAD_PEOPLE.items()),
        *(pytest.param([], [row], id=f"units: {name}", marks=pytest.mark.ci) for name, row in BAD_UNITS.items()),
    ],
)
def test_bad_rows_of_either_table_change_no_message_no_file_and_no_key(
    people: list[str], units: list[str], tmp_path: Path
) -> None:
    """A repeated row goes with each: a person or a home that is listed twice counts once."""
    seen = []
    for name, more in (("without", {}), ("with", {"people.csv": people, "units.csv": units})):
        path = write_plan(tmp_path / name)
        for file, rows in more.items():
            if rows:
                lines = (path.parent / file).read_text(encoding="utf-8").splitlines()
                text = "\n".join([lines[0], rows[0], *lines[1:], *rows[1:], lines[7]]) + "\n"
                (path.parent / file).write_bytes(text.encode("utf-8", errors="surrogateescape"))
        out = tmp_path / name / "out"
        with keyed(key_of("bad rows")):
            result = CliRunner().invoke(app, ["topdown", str(path), "--out", str(out)])
        assert result.exit_code == 0, result.output
        files = {file.name: file.read_bytes() for file in sorted(out.iterdir()) if file.suffix != ".json"}
        # The head binds the time of the records.
        said = [line for line in result.output.splitlines() if not line.startswith("ledger head")]
        seen.append((said, files, [half.public for half in Pair.open(path).halves]))
    assert seen[0] == seen[1]
