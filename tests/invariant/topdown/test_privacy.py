"""What neighbours can tell: nodes, keys, messages and files; and the ρ of every pair of a small world, enumerated."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest
from typer.testing import CliRunner

from quincunx import noise
from quincunx.cli.app import app
from quincunx.finite import Mechanism
from quincunx.invariant.topdown import TopDown
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.measure import draw, levels_of, variance_of
from quincunx.ledger import Ledger
from quincunx.noise.testing import key_of, keyed
from quincunx.spec import Specification, scope
from quincunx.spec.domain import Finite
from quincunx.spec.standard import NormalisedRenyi
from quincunx.spec.unit import Hamming, Replace
from tests.invariant.topdown.plans import PLAN, people, write_plan

PLACES = Geography.of([("r", "b1"), ("r", "b2")], ["root", "block"], "place")
CELLS = ("x", "y")
# Where a person can be: a block with a value, or nowhere that is counted.
RECORDS = [*itertools.product(("b1", "b2"), CELLS), ("elsewhere", "x")]


def table(dataset: tuple) -> np.ndarray:
    found = np.zeros((2, 2), dtype=np.int64)
    for place, cell in dataset:
        if place != "elsewhere":
            found[("b1", "b2").index(place), CELLS.index(cell)] += 1
    return found


def planned(invariants: list[tuple[str, str]], **changes: object) -> TopDown:
    given = {
        "dataset": "two blocks",
        "version": "1",
        "ledger": ":memory:",
        "source": np.zeros((2, 2), dtype=np.int64),
        "geography": PLACES,
        "attributes": {"a": list(CELLS)},
        "shares": {
            "root": {"share": "1/3", "total": "1/4", "a": "3/4"},
            "block": {"share": "2/3", "total": "1/5", "detailed": "4/5"},
        },
        "rho": "1/2",
        "unit": Replace(),
        "invariants": invariants,
    }
    return TopDown(**{**given, **changes})


def exact_answers(plan: TopDown, dataset: tuple, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Fraction, np.ndarray]]:
    """(σ², answers before noise) of every measurement, through the code that draws."""
    monkeypatch.setattr(noise, "discrete_gaussian", lambda **given: np.zeros(given["size"], dtype=np.int64))
    tables = levels_of(table(dataset), PLACES)
    found = []
    for line in plan.budget:
        if line.sigma2 is not None:
            (answers,) = draw(plan.schema, tables[line.level], [line])
            found.append((line.sigma2, answers))
    monkeypatch.undo()
    return found


FACTS = {
    ("root", "total"): lambda dataset: int(table(dataset).sum()),
    ("root", "a"): lambda dataset: tuple(table(dataset).sum(axis=0).tolist()),
    ("block", "total"): lambda dataset: tuple(table(dataset).sum(axis=1).tolist()),
}


@pytest.mark.parametrize("freed", ["given", "dropped"])
@pytest.mark.parametrize(
    "invariants", [[], [("root", "total")], [("root", "a"), ("block", "total")], [("root", "a")], [("block", "total")]]
)
def test_every_pair_of_the_scope_costs_at_most_rho_times_its_squared_distance(
    invariants: list[tuple[str, str]], freed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A discrete Gaussian moved by a whole Δ has sup D_α/α = Δ²/2σ², and independent draws add."""
    world = Finite.multisets(RECORDS, 3)
    plan = planned(invariants, freed=freed)
    answers = {dataset: exact_answers(plan, dataset, monkeypatch) for dataset in world.datasets}
    worst, pairs = Fraction(0), 0
    for x, y in itertools.combinations(world.datasets, 2):
        if any(FACTS[fact](x) != FACTS[fact](y) for fact in invariants):
            continue
        distance = Hamming().distance(x, y, world)
        rho = sum(
            (Fraction(int(((a - b) ** 2).sum())) / (2 * sigma2))
            for (sigma2, a), (_, b) in zip(answers[x], answers[y], strict=True)
        )
        assert rho <= plan.rho * distance**2
        worst = max(worst, rho / distance**2)
        pairs += 1
    assert pairs >= 5
    # With the total alone, somebody who moves and changes attains it.
    assert worst == plan.rho or invariants != [("root", "total")]
    assert plan.rho == Fraction(1, 2) if freed == "given" else plan.rho <= Fraction(1, 2)


def clipped(plan: TopDown, dataset: tuple) -> dict[tuple, Fraction]:
    """The law of the invariants with the measurements of the blocks' table, each cut to −1 … 2."""
    (sigma2, exact), *_ = [
        (line.sigma2, plan.schema.answers(line.query, table(dataset)))
        for line in plan.budget
        if line.query.name == "detailed"
    ]
    weights = {k: Fraction(math.exp(-k * k / (2 * float(sigma2)))) for k in range(-60, 61)}
    total = sum(weights.values())
    laws = []
    for value in exact.reshape(-1):
        law: dict[int, Fraction] = {}
        for k, weight in weights.items():
            at = min(max(int(value) + k, -1), 2)
            law[at] = law.get(at, Fraction(0)) + weight / total
        laws.append(law)
    facts = tuple(FACTS[fact](dataset) for fact in (("root", "a"), ("block", "total")))
    return {
        (facts, *(at for at, _ in outcome)): math.prod((p for _, p in outcome), start=Fraction(1))
        for outcome in itertools.product(*(law.items() for law in laws))
    }


def test_the_finite_world_holds_in_the_scope_and_no_proper_subset_of_the_invariants_does() -> None:
    facts = {"a by root": FACTS["root", "a"], "total by block": FACTS["block", "total"]}
    # The blocks' table alone is measured, with all of ρ.
    only = {"block": {"share": 1, "detailed": 1}}
    plan = planned([("root", "a"), ("block", "total")], shares=only)
    assert plan.without == {"a by root": "∞", "total by block": "∞"}
    world = Finite.multisets(RECORDS, 2)
    laws = {dataset: clipped(plan, dataset) for dataset in world.datasets}
    release = Mechanism(laws)

    def spec(names: tuple[str, ...]) -> Specification:
        where = scope.Invariants({name: (name, facts[name]) for name in names}) if names else scope.Everything()
        intensity = NormalisedRenyi.root(plan.rho)
        return Specification(domain=world, scope=where, unit=Hamming(), standard=NormalisedRenyi(), intensity=intensity)

    full = spec(tuple(facts))
    assert full.holds(release)
    assert 0 < full.tightest(release).intensity <= float(NormalisedRenyi.root(plan.rho))
    for names in ((), ("a by root",), ("total by block",)):
        assert spec(names).tightest(release).bounds[0] == math.inf


def test_an_invariant_that_others_determine_costs_nothing_to_leave_out() -> None:
    plan = planned([("root", "total"), ("block", "total")])
    assert plan.without == {"total by root": "0", "total by block": "∞"}


def test_one_person_moves_a_table_of_households_by_at_most_eight() -> None:
    """Households by size, vacant ones included: leaving one and joining another moves two of them."""
    assert planned([], records="households", household="home").rho == Fraction(1, 2)
    costs = planned([], records="households", household="home").budget
    assert all(line.rho * line.sigma2 == 4 for line in costs)
    worst = 0
    for homes in itertools.product(range(4), repeat=3):
        for leaves, joins in itertools.permutations(range(3), 2):
            if homes[leaves]:
                after = list(homes)
                after[leaves] -= 1
                after[joins] += 1
                gap = np.bincount(homes, minlength=8) - np.bincount(after, minlength=8)
                worst = max(worst, int((gap**2).sum()))
    assert worst == 6 <= 8


BAD_ROWS = {
    "a structural zero": "q1,n1,young,yes",
    "a code that is not in the geography": "q1,x9,old,yes",
    "a value that is not declared": "q1,n1,ancient,yes",
    "an empty key": ",n1,old,yes",
    "too few fields": "q1,n1",
    "too many fields": "q1,n1,old,yes,no",
    "an unclosed quote": 'q1,"n1,old,yes',
    "an empty line": "",
    "bytes that are no text": "q1,n1,ol\udcff,yes",
    "a field beyond every limit": '"' + "a" * 200_000 + '",n1,old,yes',
    "a repeated key in the same place": people()[7],
}


@pytest.mark.parametrize("bad", BAD_ROWS.values(), ids=BAD_ROWS)
@pytest.mark.parametrize("where", ["first", "last"])
def test_bad_rows_change_no_message_no_file_and_no_key(bad: str, where: str, tmp_path: Path) -> None:
    rows = people()
    seen = []
    for name, content in (("without", rows), ("with", [bad, *rows] if where == "first" else [*rows, bad])):
        path = write_plan(tmp_path / name, rows=content)
        out = tmp_path / name / "out"
        with keyed(key_of("bad rows")):
            result = CliRunner().invoke(app, ["topdown", str(path), "--out", str(out)])
        assert result.exit_code == 0, result.output
        plan = TopDown.open(path)
        files = {file.name: file.read_bytes() for file in sorted(out.iterdir()) if file.suffix != ".json"}
        # The head binds the time of the records.
        said = [line for line in result.output.splitlines() if not line.startswith("ledger head")]
        seen.append((said, files, plan.public))
    assert seen[0] == seen[1]


def test_a_person_with_many_rows_counts_once_and_moves_two_cells(tmp_path: Path) -> None:
    rows = people(40)
    one = write_plan(tmp_path / "one", rows=[*rows, "z,n1,old,yes", "z,n2,old,no", "z,s1,young,no"])
    other = write_plan(tmp_path / "other", rows=[*rows, *["z,s2,young,no"] * 50])
    first, second = (TopDown.open(path) for path in (one, other))
    from quincunx.invariant.topdown.people import counted

    a, b = (counted(plan.source, plan.schema, plan.geography, key=plan.key, counts=None) for plan in (first, second))
    assert a.sum() == b.sum() == 41
    assert int(((a - b) ** 2).sum()) == 2
    assert first.public == second.public


def test_populated_or_not_every_node_is_measured(tmp_path: Path) -> None:
    """Two worlds with one populated block each: the same measured keys, the same numbers of measurements."""
    found = []
    for place in ("n1", "s2"):
        path = write_plan(tmp_path / place, rows=[f"p{i},{place},old,yes" for i in range(9)])
        plan = TopDown.open(path)
        with keyed(key_of("nodes")), Ledger.open(":memory:") as ledger:
            plan.ledger = ledger
            measured = plan.measure()
            asked = [record.body["question"] for record in ledger.records() if record.kind == "reservation"]
        found.append((asked, [(line.level, line.query.name, y.shape) for line, y in measured.answers]))
    assert found[0] == found[1]


def test_every_number_gets_noise_of_its_own_and_of_the_stated_size() -> None:
    """4,000 places: the variance is within 6 standard errors of the law's, and neighbours are uncorrelated (a false
    alarm has probability below 1e-8 for each)."""
    leaves = Geography.of([("r", f"b{i:04d}") for i in range(4000)], ["root", "block"], "place")
    only = {"block": {"share": 1, "detailed": 1}}
    plan = planned([], geography=leaves, source=np.zeros((4000, 2), dtype=np.int64), shares=only)
    (line,) = plan.budget
    with keyed(key_of("noise of its own")):
        (drawn,) = draw(plan.schema, np.zeros((4000, 2), dtype=np.int64), [line])
    values = drawn.reshape(-1).astype(float)
    variance = variance_of(line)
    assert abs(float((values**2).mean()) - variance) < 6 * variance * math.sqrt(2 / len(values))
    assert abs(float((values[1:] * values[:-1]).mean())) < 6 * variance / math.sqrt(len(values))
    assert abs(float((drawn[:, 0] * drawn[:, 1]).mean())) < 6 * variance / math.sqrt(4000)


def test_measurements_with_an_inner_budget_charge_what_they_leak(tmp_path: Path) -> None:
    path = write_plan(tmp_path, ledger="ledger.db")
    plan = TopDown.open(path)
    measured = plan.measure()
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        spent = ledger.account("small").total.spent
    assert spent == measured.charged == sum(Fraction(1) / line.sigma2 for line, _ in measured.answers)


@pytest.mark.parametrize(
    "bad",
    [
        "(NULL, 'n1', 'old', 'yes')",
        "('q', 'x9', 'old', 'yes')",
        "('q', 'n1', NULL, 'yes')",
        "('q', 'n1', 'young', 'yes')",
        "('p7', 'n2', 'old', 'yes')",
        "('', 'n1', 'old', 'yes')",
        "('q', NULL, NULL, NULL)",
    ],
)
def test_bad_rows_of_parquet_change_nothing_either(bad: str, tmp_path: Path) -> None:
    rows = [tuple(row.split(",")) for row in people()]
    # The repeated row of p7 is the one that there is.
    assert rows[7] == ("p7", "n2", "old", "yes")
    seen = []
    for name, more in (("without", []), ("with", [bad])):
        path = write_plan(tmp_path / name, plan=PLAN.replace("{source}", "people.parquet"))
        file = tmp_path / name / "people.parquet"
        values = ", ".join([*(str(row) for row in rows), *more])
        duckdb.connect().execute(f"COPY (SELECT * FROM (VALUES {values}) t(person, block, age, work)) TO '{file}'")
        plan = TopDown.open(path)
        with keyed(key_of("parquet")):
            measured = plan.measure()
        seen.append(([answers.tolist() for _, answers in measured.answers], plan.public))
    assert seen[0] == seen[1]
