"""Where dividing from the top down cannot keep every invariant: whole subtrees, against every table there is."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quincunx.errors import DataError
from quincunx.invariant.topdown import Bound, TopDown
from quincunx.invariant.topdown import together as whole_programs
from quincunx.invariant.topdown.batch import Fixed, transported
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.limits import Limit, branching, carried, crossing
from quincunx.invariant.topdown.measure import levels_of
from quincunx.invariant.topdown.rounding import Solver, UnsolvedError
from quincunx.invariant.topdown.schema import Schema
from quincunx.invariant.topdown.together import Atoms, together
from quincunx.noise.testing import key_of, keyed
from quincunx.spec.unit import Replace

TWO = Geography.of([("r", "b1"), ("r", "b2")], ["root", "block"], "block")
DEEP = Geography.of(
    [("r", f"m{i}", f"m{i}d{j}", f"m{i}d{j}b{k}") for i in range(2) for j in range(2) for k in range(3)],
    ["root", "region", "district", "block"],
    "block",
)


def planned(geography: Geography, leaves: np.ndarray, attributes: dict[str, Any], **changes: object) -> TopDown:
    share = {name: {"share": f"1/{geography.depth}", "detailed": 1} for name in geography.names}
    given: dict[str, Any] = {
        "dataset": "d",
        "version": "1",
        "ledger": ":memory:",
        "source": leaves,
        "geography": geography,
        "attributes": attributes,
        "shares": share,
        "rho": "1/2",
        "unit": Replace(),
    }
    return TopDown(**{**given, **changes})


def test_nursing_homes_and_totals_of_blocks(tmp_path: Path) -> None:
    """No table of the root is wrong by its sums (nursing ≤ 2, college ≤ 2), and two of each cannot be divided: all
    four would live in the block of two. Before subtrees were solved as a whole this ended a third of the runs."""
    file = tmp_path / "gq.csv"
    file.write_text("block,gq,high\nb1,nursing,0\nb1,college,0\n", encoding="utf-8")
    bound = Bound(level="block", query="gq", file=file, provenance="invariant")
    leaves = np.array([[8, 0, 0, 2], [0, 1, 1, 0]])
    plan = planned(
        TWO,
        leaves,
        {"gq": ["household", "nursing", "college", "other"]},
        invariants=[("block", "total")],
        bounds=[bound],
    )
    joint = 0
    for run in range(12):
        with keyed(key_of(f"nursing {run}")):
            release = plan.run()
        root, blocks = release.tables
        assert (blocks.sum(axis=0) == root[0]).all()
        assert blocks.sum(axis=1).tolist() == [10, 2]
        assert blocks[0, 1] == blocks[0, 2] == 0
        assert blocks.min() >= 0
        joint += release.solved.joint
        assert release.solved.unproved == 0
    assert joint > 1


@pytest.mark.parametrize("number", range(6))
def test_crossing_invariants_are_kept_at_every_level(number: int) -> None:
    """Three attributes, each an invariant of every block: a table that keeps them need not exist for every parent."""
    source = np.random.default_rng(number)
    leaves = source.poisson(1.2, (12, 8))
    attributes = {name: ["0", "1"] for name in "abc"}
    facts = [("block", "a*b"), ("block", "b*c"), ("district", "a*c")]
    with keyed(key_of(f"crossing {number}")):
        plan = planned(DEEP, leaves, attributes, invariants=facts)
        release = plan.run()
    tables = levels_of(leaves, DEEP)
    for fact in plan.invariants:
        exact = plan.schema.answers(fact.query, tables[fact.level])
        assert (plan.schema.answers(fact.query, release.tables[fact.level]) == exact).all()
    for level in range(1, 4):
        assert (np.add.reduceat(release.tables[level], DEEP.starts[level], axis=0) == release.tables[level - 1]).all()
        assert release.tables[level].min() >= 0


def limits_of(schema: Schema, geography: Geography, tables: list[np.ndarray], facts: list[tuple[int, str]]) -> Any:
    found = []
    for level, name in facts:
        query = schema.query(name)
        exact = schema.answers(query, tables[level]).astype(float)
        found.append(Limit(level=level, query=query, low=exact, high=exact, firm=True, name=name))
    return carried(schema, geography, found)


@pytest.mark.parametrize("number", range(12))
def test_the_whole_program_is_the_nearest_of_all_tables(number: int) -> None:
    source = np.random.default_rng(number)
    schema = Schema(attributes={"a": ["0", "1"], "b": ["0", "1"]})
    leaves = source.integers(0, 3, (2, 4))
    limits = limits_of(schema, TWO, [leaves.sum(axis=0, keepdims=True), leaves], [(1, "a"), (1, "b")])
    targets = [source.normal(2, 2, (1, 4)), source.normal(1, 2, (2, 4))]
    found = together(Solver(), Atoms.made(schema, limits), schema, TWO, limits, top=0, nodes=(0, 1), targets=targets)
    assert found is not None
    assert found.nearest

    def cost(table: np.ndarray) -> float:
        own = np.abs(table - np.maximum(targets[1], 0)).sum()
        return float(own + np.abs(table.sum(axis=0) - np.maximum(targets[0][0], 0)).sum())

    # A 2 × 2 table with known margins is known by one cell.
    options = []
    for first, second in itertools.product(range(5), repeat=2):
        table = np.array(
            [
                [x, row[0] + row[1] - x, row[0] + row[2] - x, row[3] - row[0] + x]
                for x, row in zip((first, second), leaves, strict=True)
            ]
        )
        if table.min() >= 0:
            options.append(table)
    assert cost(found.sums[1]) == pytest.approx(min(map(cost, options)), abs=1e-6)
    assert any((found.sums[1] == table).all() for table in options)
    assert (found.sums[0] == found.sums[1].sum(axis=0)).all()


def test_a_parent_that_cannot_be_divided_is_seen_and_a_subtree_that_can_is_found() -> None:
    schema = Schema(attributes={"a": ["0", "1"], "b": ["0", "1"]})
    leaves = np.array([[1, 0, 0, 1], [0, 1, 1, 0]])
    limits = limits_of(schema, TWO, [leaves.sum(axis=0, keepdims=True), leaves], [(1, "a"), (1, "b")])
    # Both blocks have margins (1, 1) and (1, 1): cells 0 and 3 go together, so these totals are impossible.
    asked = (Solver(), Atoms.made(schema, limits), schema, TWO, limits)
    assert together(*asked, top=1, nodes=(0, 2), totals=np.array([2.0, 0, 1, 1])) is None
    found = together(*asked, top=1, nodes=(0, 2), totals=np.array([2.0, 0, 0, 2]))
    assert found is not None
    assert found.sums[0].tolist() == [[1, 0, 0, 1], [1, 0, 0, 1]]


def test_what_no_table_keeps_is_said_before_anything_is_spent(tmp_path: Path) -> None:
    """Every sum is right, and no whole table has these three margins (each pair of two values agrees, in a circle)."""
    attributes = {name: ["0", "1"] for name in "abc"}
    bounds = []
    for pair, equal in (("a*b", True), ("b*c", True), ("a*c", False)):
        one, other = pair.split("*")
        lines = [f"b1,{i},{j},{int((i == j) == equal)}" for i in (0, 1) for j in (0, 1)]
        file = tmp_path / f"{one}{other}.csv"
        file.write_text("\n".join([f"block,{one},{other},n", *lines]) + "\n", encoding="utf-8")
        bounds.append(Bound(level="block", query=pair, file=file, provenance="published"))
    with pytest.raises(DataError, match="nothing was spent"):
        planned(TWO, np.zeros((2, 8), dtype=np.int64), attributes, bounds=bounds)


@pytest.mark.parametrize("trouble", ["large", "unsolved", "nothing is solved"])
def test_no_run_ends_after_its_measurements_are_paid_for(
    trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A place of any size, a search that ends without an answer, a solver that gives up every program: the tables keep
    the invariants all the same, since some that do were found before anything was spent."""
    file = tmp_path / "gq.csv"
    file.write_text("block,gq,high\nb1,nursing,0\nb1,college,0\n", encoding="utf-8")
    bound = Bound(level="block", query="gq", file=file, provenance="invariant")
    leaves = np.array([[8, 0, 0, 2, 3], [0, 1, 1, 0, 0]])
    values = {"gq": ["household", "nursing", "college", "other", "more"]}
    plan = planned(TWO, leaves, values, invariants=[("block", "total")], bounds=[bound])
    solve_program = Solver.solve

    def failing(self: Solver, cost: Any, upper: Any, rows: Any, *, whole: Any = None, **more: Any) -> Any:
        # A program without a cost asks whether there is any table: the one question that must have an answer.
        if not cost.any() or (trouble == "unsolved" and whole is None):
            return solve_program(self, cost, upper, rows, whole=whole, **more)
        raise UnsolvedError

    if trouble == "large":
        monkeypatch.setattr(whole_programs, "MOST", 1)
    joint = 0
    for run in range(12):
        with keyed(key_of(f"nursing {run}")):
            measured = plan.measure()
        with monkeypatch.context() as patched:
            if trouble != "large":
                patched.setattr(Solver, "solve", failing)
            solved = plan.computed(measured).solved
        root, blocks = solved.tables
        assert (blocks.sum(axis=0) == root[0]).all()
        assert blocks.sum(axis=1).tolist() == [13, 2]
        assert blocks[0, 1] == blocks[0, 2] == 0
        assert blocks.min() >= 0
        joint += solved.joint
    assert joint > 1


def test_cells_that_no_limit_tells_apart_are_one() -> None:
    schema = Schema(attributes={"a": ["x", "y", "z"], "b": ["p", "q"]}, zeros=[{"a": "z", "b": "q"}])
    query = schema.query("a")
    high = np.array([[np.inf, 0.0, np.inf]])
    limit = Limit(level=0, query=query, low=np.zeros((1, 3)), high=high, firm=True, name="a")
    found = Atoms.made(schema, [[limit], []])
    assert found.of.tolist() == [0, 0, 1, 1, 0, -1]
    assert (found.count, found.last) == (2, 0)
    assert found.sums(np.array([[1, 2, 3, 4, 5, 0]])).tolist() == [[8, 7]]


def test_decided_sums_can_always_be_transported() -> None:
    source = np.random.default_rng(8)
    for _ in range(200):
        atoms = source.integers(-1, 3, 7)
        atoms = np.unique(atoms, return_inverse=True)[1] - int((atoms < 0).any())
        truth = source.poisson(2, (4, 7)) * (atoms >= 0)
        sums = np.stack([truth[:, atoms == atom].sum(axis=1) for atom in range(atoms.max() + 1)], axis=1)
        fixed = Fixed(atoms=atoms, sums=sums)
        for totals in (truth.sum(axis=0), None):
            made = transported(fixed, totals)
            assert made.min() >= 0
            assert (
                np.stack([made[:, atoms == atom].sum(axis=1) for atom in range(sums.shape[1])], axis=1) == sums
            ).all()
            assert totals is None or (made.sum(axis=0) == totals).all()


def test_which_limits_branch_and_cross() -> None:
    schema = Schema(
        attributes={"a": ["x", "y", "z"], "b": ["p", "q"]},
        recodes={"pair": {"attribute": "a", "groups": [["x", "y"], ["z"]]}},
    )

    def limit(name: str, limited: list[int] | None = None) -> Limit:
        query = schema.query(name)
        high = np.full((1, query.cells), np.inf)
        high[0, list(range(query.cells)) if limited is None else limited] = 3.0
        return Limit(level=0, query=query, low=np.zeros_like(high), high=high, firm=True, name=name)

    assert crossing(schema, [limit("a"), limit("b")]) is not None
    assert crossing(schema, [limit("a"), limit("pair"), limit("total")]) is None
    assert crossing(schema, [limit("a*b", [0]), limit("b", [1])]) is None
    assert branching(schema, [limit("a"), limit("total")])
    assert branching(schema, [limit("a", [0]), limit("total")])
    assert branching(schema, [limit("a"), limit("pair"), limit("total")])
    assert not branching(schema, [limit("pair"), limit("total")])
    assert not branching(schema, [limit("a"), limit("pair")])
    assert not branching(schema, [limit("a")])


def test_limits_that_do_not_branch_can_always_be_divided() -> None:
    """Claim 2 on every pair of children with two parts and a sum, of up to two people, and every parent's table."""
    schema = Schema(attributes={"a": ["x", "y"]})
    spans = [(low, high) for low in range(3) for high in range(low, 3)]
    source, seen = np.random.default_rng(3), 0
    for _ in range(300):
        chosen = [spans[k] for k in source.integers(0, len(spans), 6)]
        low, high = (np.array([each[side] for each in chosen], dtype=float).reshape(2, 3) for side in (0, 1))
        limits = [
            Limit(level=1, query=schema.query("a"), low=low[:, :2], high=high[:, :2], firm=True, name="a"),
            Limit(level=1, query=schema.query("total"), low=low[:, 2:], high=high[:, 2:], firm=True, name="total"),
        ]
        try:
            found = carried(schema, TWO, limits)
        except DataError:
            continue
        assert not branching(schema, found[1])
        tables = [np.array(table) for table in itertools.product(range(3), repeat=2)]
        fits = [
            [
                t
                for t in tables
                if all((each.low[c] <= s).all() and (s <= each.high[c]).all() for each, s in _sums(limits, t))
            ]
            for c in (0, 1)
        ]
        reached = {tuple((one + other).tolist()) for one in fits[0] for other in fits[1]}
        allowed = {
            (x, y)
            for x, y in itertools.product(range(5), repeat=2)
            if all(
                (each.low[0] <= s).all() and (s <= each.high[0]).all() for each, s in _sums(found[0], np.array([x, y]))
            )
        }
        assert allowed == reached
        seen += 1
    assert seen > 50


def _sums(limits: list[Limit], table: np.ndarray) -> list[tuple[Limit, np.ndarray]]:
    return [(limit, table if limit.name == "a" else table.sum(keepdims=True)) for limit in limits]


def test_a_limit_above_that_says_more_than_those_below_is_kept() -> None:
    """Blocks have at most 3 of x each, so the root has at most 6; that it has exactly 4 does not follow."""
    schema = Schema(attributes={"a": ["x", "y"]})
    query = schema.query("a")
    free = np.array([[np.inf, np.inf]])
    below = Limit(
        level=1, query=query, low=np.zeros((2, 2)), high=np.array([[3.0, np.inf]] * 2), firm=True, name="blocks"
    )
    for root, expected in ((np.array([[4.0, np.inf]]), 4), (free, 0)):
        low = np.where(np.isfinite(root), root, 0.0)
        above = Limit(level=0, query=query, low=low, high=root, firm=True, name="root")
        limits = carried(schema, TWO, [below, above])
        atoms = Atoms.made(schema, limits)
        found = together(Solver(), atoms, schema, TWO, limits, top=0, nodes=(0, 1))
        assert found is not None
        assert found.sums[0][0, atoms.of[0]] == expected
        assert found.sums[1][:, atoms.of[0]].max() <= 3
