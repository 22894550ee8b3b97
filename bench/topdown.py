"""TopDown's solver beside Clarabel and OSQP, and how a whole release grows.

    python bench/topdown.py              the fit of one family beside the peers, rounding, growth, a state
    python bench/topdown.py --part fit   one part: fit, growth, state, cores or island
    python bench/topdown.py --json       the same, for programs

The family is one parent with 30 children and the 2,016 cells of the 2020 redistricting file, measured with the
published shares of blocks; then 10 children with 80 bounds that bind. The peers get the same problem as a sparse
quadratic program with one residual for each measurement, in their own environment and process, made on demand below
`bench/.venvs`. Ratios are of processor seconds over all threads, which a busy machine does not change as it does the
clock's; both are printed. Objectives are worked out here from what each returns. The state is generated: 5 million
people in 100,000 blocks; `cores` solves it with one core and with two, in turn. Exit code 6 where a limit is missed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
VENVS = HERE / ".venvs"
PEERS = ["clarabel==0.11.1", "osqp==1.1.3", "scipy==1.17.1", "numpy==2.4.6"]
LEAST_FASTER, LEAST_FASTER_BOUNDED = 40.0, 15.0
MOST_STATE_SECONDS, MOST_STATE_GIGABYTES = 180.0, 4.0
MOST_ISLAND_SECONDS, MOST_ISLAND_GIGABYTES = 10.0, 1.0
QUERIES = ("total", "cenrace", "hispanic", "votingage", "hhgq", "hispanic*cenrace", "votingage*cenrace")
QUERIES += ("votingage*hispanic", "votingage*hispanic*cenrace", "detailed")
# The published shares of blocks, without the recode of institutions.
PARTS = (5, 9, 5, 5, 5, 21, 21, 5, 71, 3945)
RHO = Fraction(542, 339) ** 2 * Fraction(165, 4099)


def family(children: int, seed: int) -> dict[str, Any]:
    """One parent, its children's measurements, and the problem in both forms."""
    from quincunx.invariant.topdown.basis import Basis
    from quincunx.invariant.topdown.schema import Schema

    attributes = {"hhgq": range(8), "votingage": range(2), "hispanic": range(2), "cenrace": range(63)}
    schema = Schema(attributes={name: [str(value) for value in values] for name, values in attributes.items()})
    basis, source = Basis.of(schema), np.random.default_rng(seed)
    popular = np.sort(source.pareto(0.7, 2016))[::-1] * (source.random(2016) < 0.75)
    truth = source.poisson(60 * popular / popular.sum() + 0.66 / children, (children, 2016))
    weight, pull, lines = np.zeros(2016), np.zeros((children, 2016)), []
    for name, part in zip(QUERIES, PARTS, strict=True):
        query = schema.query(name)
        variance = float(1 / (RHO * Fraction(part, 4097)))
        noisy = schema.answers(query, truth) + np.rint(source.normal(0, np.sqrt(variance), (children, query.cells)))
        weight += basis.weights(query) / variance
        pull += basis.back(query, noisy) / variance
        lines.append({"groups": schema.groups(query), "answers": noisy, "variance": variance})
    return {
        "schema": schema,
        "basis": basis,
        "lines": lines,
        "value": pull / weight,
        "precision": np.tile(weight, (children, 1)),
        "parent": truth.sum(axis=0),
    }


def bounded(problem: dict[str, Any]) -> dict[str, Any]:
    """Bounds on group quarters of every child that the unbounded solution breaks."""
    schema = problem["schema"]
    query = schema.query("hhgq")
    sums = schema.answers(query, ours(problem, None)["tables"])
    source, total = np.random.default_rng(5), schema.answers(query, problem["parent"][None, :])[0]
    share = source.dirichlet(np.full(len(sums), 8.0), size=query.cells).T * total
    low, high = np.floor(0.9 * share), np.ceil(1.1 * share)
    return {
        "groups": schema.groups(query),
        "low": low,
        "high": high,
        "diagonal": problem["basis"].weights(query),
        "violation": float(np.maximum(low - sums, sums - high).max()),
    }


def ours(problem: dict[str, Any], slab: dict[str, Any] | None) -> dict[str, Any]:
    """Our fit: seconds and tables."""
    from quincunx.invariant.topdown.fit import Slab, fit

    slabs = [] if slab is None else [Slab(**{key: slab[key] for key in ("groups", "low", "high", "diagonal")})]
    start, cpu = time.perf_counter(), time.process_time()
    found = fit(
        problem["basis"],
        value=problem["value"],
        precision=problem["precision"],
        totals=problem["parent"][None, :].astype(float),
        starts=np.array([0]),
        mask=np.ones(2016, dtype=np.bool_),
        slabs=slabs,
        tolerance=1e-3 if slab is not None else 1e-6,
    )
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"seconds": seconds, "cpu": cpu, "tables": found.tables, "steps": found.steps, "gap": found.gap}


def objective(problem: dict[str, Any], tables: np.ndarray) -> float:
    """½ Σ (Qx − y)²/σ², from the measurements themselves."""
    total = 0.0
    for line in problem["lines"]:
        sums = np.zeros_like(line["answers"], dtype=float)
        for child in range(len(tables)):
            sums[child] = np.bincount(line["groups"], weights=tables[child], minlength=sums.shape[1])
        total += float(((sums - line["answers"]) ** 2).sum()) / (2 * line["variance"])
    return total


def rounded(problem: dict[str, Any], tables: np.ndarray, slab: dict[str, Any] | None) -> dict[str, Any]:
    """The rounding program of the family."""
    from quincunx.invariant.topdown.rounding import Row, Solver
    from quincunx.invariant.topdown.rounding import rounded as made

    rows = []
    if slab is not None:
        for child, cell in np.ndindex(slab["low"].shape):
            low, high = float(slab["low"][child, cell]), float(slab["high"][child, cell])
            cells = np.flatnonzero(slab["groups"] == cell)
            rows.append(Row(child=child, cells=cells, low=low, high=high, firm=False))
    start = time.perf_counter()
    found = made(Solver(), tables, problem["parent"], rows, mask=np.ones(2016, dtype=np.bool_))
    return {
        "seconds": time.perf_counter() - start,
        "fractional": found.fractional,
        "wide": found.wide,
        "relaxed": found.relaxed,
    }


def peer(name: str, problem: dict[str, Any], slab: dict[str, Any] | None) -> dict[str, Any]:
    """A peer's answer to the same problem, in its own process."""
    python = VENVS / "topdown" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENVS / "topdown"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS], check=True)
    with tempfile.TemporaryDirectory() as folder:
        task, answer = Path(folder) / "task.npz", Path(folder) / "answer.npz"
        content: dict[str, Any] = {"parent": problem["parent"], "lines": len(problem["lines"])}
        for number, line in enumerate(problem["lines"]):
            content |= {f"{key}{number}": value for key, value in line.items()}
        if slab is not None:
            content |= {f"slab_{key}": slab[key] for key in ("groups", "low", "high")}
        np.savez(task, **content)
        subprocess.run([str(python), __file__, "--worker", name, str(task), str(answer)], check=True)
        with np.load(answer) as found:
            clocks = {"seconds": float(found["seconds"]), "cpu": float(found["cpu"])}
            return {**clocks, "tables": found["tables"], "status": str(found["status"])}


def worker(name: str, task: str, answer: str) -> None:
    """Solve the sparse quadratic program with a peer."""
    import scipy.sparse as sparse

    data = np.load(task)
    parent = data["parent"]
    children, free = data["answers0"].shape[0], np.flatnonzero(parent)
    size = children * len(free)
    blocks, targets, weights = [], [], []
    for number in range(int(data["lines"])):
        groups, answers = data[f"groups{number}"][free], data[f"answers{number}"]
        used = np.unique(groups)
        matrix = sparse.csr_matrix((np.ones(len(free)), (np.searchsorted(used, groups), np.arange(len(free)))))
        blocks.append(sparse.block_diag([matrix] * children))
        targets.append(answers[:, used].reshape(-1))
        weights.append(np.full(children * len(used), 1 / float(data[f"variance{number}"])))
    measured, target, weight = sparse.vstack(blocks).tocsc(), np.concatenate(targets), np.concatenate(weights)
    rows = measured.shape[0]
    quadratic = sparse.block_diag([sparse.csc_matrix((size, size)), sparse.diags(weight)]).tocsc()
    linear = np.zeros(size + rows)
    equal = sparse.bmat([[measured, -sparse.eye(rows)]])
    sums = sparse.hstack([sparse.hstack([sparse.eye(len(free))] * children), sparse.csc_matrix((len(free), rows))])
    positive = sparse.hstack([sparse.eye(size), sparse.csc_matrix((size, rows))])
    low = high = np.zeros(0)
    bound = sparse.csc_matrix((0, size + rows))
    if "slab_groups" in data:
        groups = data["slab_groups"][free]
        count = data["slab_low"].shape[1]
        matrix = sparse.csr_matrix((np.ones(len(free)), (groups, np.arange(len(free)))), shape=(count, len(free)))
        bound = sparse.hstack([sparse.block_diag([matrix] * children), sparse.csc_matrix((children * count, rows))])
        low, high = data["slab_low"].reshape(-1), data["slab_high"].reshape(-1)
    if name == "clarabel":
        import clarabel

        matrix = sparse.vstack([equal, sums, -positive, bound, -bound]).tocsc()
        right = np.concatenate([target, parent[free], np.zeros(size), high, -low])
        cones = [clarabel.ZeroConeT(rows + len(free)), clarabel.NonnegativeConeT(size + 2 * len(low))]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        start, cpu = time.perf_counter(), time.process_time()
        found = clarabel.DefaultSolver(quadratic, linear, matrix, right, cones, settings).solve()
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        x, status = np.array(found.x), str(found.status)
    else:
        import osqp

        matrix = sparse.vstack([equal, sums, positive, bound]).tocsc()
        lower = np.concatenate([target, parent[free], np.zeros(size), low])
        upper = np.concatenate([target, parent[free], np.full(size, np.inf), high])
        solver = osqp.OSQP()
        start, cpu = time.perf_counter(), time.process_time()
        solver.setup(
            quadratic, linear, matrix, lower, upper, verbose=False, max_iter=20_000, eps_abs=1e-5, eps_rel=1e-5
        )
        found = solver.solve()
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        x, status = np.asarray(found.x), str(found.info.status)
    tables = np.zeros((children, len(parent)))
    tables[:, free] = x[:size].reshape(children, -1)
    np.savez(answer, seconds=seconds, cpu=cpu, tables=tables, status=status)


def fits() -> tuple[list[dict[str, Any]], bool]:
    """The family with and without bounds, ours and the peers'."""
    found, good = [], True
    for children, with_bounds in ((30, False), (10, True)):
        problem = family(children, 1)
        slab = bounded(problem) if with_bounds else None
        mine = min((ours(problem, slab) for _ in range(3)), key=lambda each: each["cpu"])
        case = {
            "children": children,
            "free variables": int(children * (problem["parent"] > 0).sum()),
            "measurements": int(sum(line["answers"].size for line in problem["lines"])),
            "bounds": 0 if slab is None else int(slab["low"].size),
            "violation without bounds": 0.0 if slab is None else slab["violation"],
            "ours": {key: mine[key] for key in ("seconds", "cpu", "steps", "gap")}
            | {"objective": objective(problem, mine["tables"])},
            "rounding": rounded(problem, mine["tables"], slab),
        }
        for name in ("clarabel", "osqp"):
            theirs = peer(name, problem, slab)
            case[name] = {
                "seconds": theirs["seconds"],
                "cpu": theirs["cpu"],
                "objective": objective(problem, theirs["tables"]),
                "status": theirs["status"],
                "times": theirs["cpu"] / mine["cpu"],
            }
        least = LEAST_FASTER_BOUNDED if with_bounds else LEAST_FASTER
        good &= case["clarabel"]["times"] >= least and case["rounding"]["fractional"] == 0
        if not with_bounds:
            good &= case["ours"]["objective"] <= case["clarabel"]["objective"]
        found.append(case)
    return found, good


def generated(people: int, blocks: int, cells: int = 16) -> tuple[Any, Any]:
    """A generated state: counties, tracts, groups and blocks. The plan and its people."""
    from quincunx.invariant.topdown import TopDown
    from quincunx.invariant.topdown.geography import Geography
    from quincunx.spec.unit import Replace

    source = np.random.default_rng(2)
    paths = [
        ("s", f"c{i // 5000:03d}", f"t{i // 100:05d}", f"g{i // 30:05d}.{i // 100:05d}", f"b{i:06d}")
        for i in range(blocks)
    ]
    places = Geography.of(paths, ["state", "county", "tract", "group", "block"], "block")
    size = source.gamma(0.5, 2 * people / blocks, blocks)
    mix = source.dirichlet(np.full(cells, 0.3), size=blocks)
    table = source.poisson(size[:, None] * mix).astype(np.int64)
    half = cells // 2
    level = {"total": "1/4", "a": "1/4", "detailed": "1/2"}
    shares = {name: {"share": Fraction(1, 5), **level} for name in places.names}
    planned = TopDown(
        dataset="generated",
        version="1",
        ledger=":memory:",
        source=table,
        geography=places,
        attributes={"a": ["0", "1"], "b": [str(i) for i in range(half)]},
        shares=shares,
        rho="2.56",
        unit=Replace(),
        invariants=[("state", "total")],
    )
    return planned, table


def state(people: int, blocks: int, cells: int = 16) -> dict[str, Any]:
    """Seconds and memory of a release of a generated state, in this process and those that it starts."""
    from quincunx.noise.testing import key_of, keyed

    planned, table = generated(people, blocks, cells)
    start = time.perf_counter()
    with keyed(key_of("state")):
        release = planned.run()
    seconds = time.perf_counter() - start
    return {
        "people": int(table.sum()),
        "blocks": blocks,
        "cells": cells,
        "seconds": seconds,
        "gigabytes": memory(),
        "programs": release.solved.programs,
        "fractional": release.solved.fractional,
    }


def memory() -> float:
    """The most that this process had, and beside it two of those that it started, each as large as the largest."""
    own, others = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return (own + 2 * others) / 2**20


def workers(people: int, blocks: int) -> dict[str, Any]:
    """The same measurements solved by one core and by two, in turn: seconds, and processor time here and elsewhere.

    On a busy machine seconds say little; processor time elsewhere is what the other processes do at the same time.
    """
    from quincunx.noise.testing import key_of, keyed

    planned, _ = generated(people, blocks)
    with keyed(key_of("state")):
        measured = planned.measure()
    found: dict[str, Any] = {"blocks": blocks}
    digests = set()
    for turn in range(2):
        for cores in (1, 2):
            before = os.times()
            release = planned.computed(measured, cores=cores)
            after = os.times()
            digests.add(hashlib.sha256(b"".join(table.tobytes() for table in release.tables)).hexdigest())
            clocks = {
                "seconds": after.elapsed - before.elapsed,
                "here": after.user + after.system - before.user - before.system,
                "elsewhere": after.children_user
                + after.children_system
                - before.children_user
                - before.children_system,
            }
            name = f"{cores} cores"
            if turn == 0 or clocks["seconds"] < found[name]["seconds"]:
                found[name] = clocks
    found["times"] = found["1 cores"]["seconds"] / found["2 cores"]["seconds"]
    found["same tables"] = len(digests) == 1
    return found


def apart(*arguments: object) -> dict[str, Any]:
    """A measurement in a process of its own, so that its peak memory is its own."""
    command = [sys.executable, __file__, "--alone", *(str(each) for each in arguments)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def island(file: Path) -> dict[str, Any]:
    """Rhode Island 2010, one release."""
    sys.path.insert(0, str(HERE.parent))
    from tests.invariant.topdown.rhode_island import planned

    from quincunx.noise.testing import key_of, keyed

    plan = planned(file)
    start = time.perf_counter()
    with keyed(key_of("island")):
        plan.run()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "gigabytes": memory()}


def shown(case: dict[str, Any]) -> str:
    """A case on one line."""
    parts = []
    for key, value in case.items():
        if isinstance(value, dict):
            parts.append(f"{key}: ({shown(value)})")
        else:
            parts.append(f"{key} {value:,.6g}" if isinstance(value, float) else f"{key} {value}")
    return ", ".join(parts)


def main() -> None:
    """Measure, print, and leave with 6 where a limit is missed."""
    parser = argparse.ArgumentParser(description="TopDown beside Clarabel and OSQP, and its growth.")
    parser.add_argument("--part", choices=("fit", "growth", "state", "cores", "island"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", default=os.environ.get("QUINCUNX_DATA", str(HERE.parents[1] / "shared" / "data")))
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--alone", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(*given.worker)
        return
    if given.alone:
        kind, *rest = given.alone
        made = {"state": state, "cores": workers}
        print(json.dumps(island(Path(rest[0])) if kind == "island" else made[kind](*(int(each) for each in rest))))
        return
    results: dict[str, Any] = {}
    good = True
    if given.part in (None, "fit"):
        results["fit"], good = fits()
    if given.part in (None, "growth"):
        results["growth with blocks"] = [apart("state", 50 * n, n) for n in (5_000, 10_000, 20_000, 40_000)]
        results["growth with cells"] = [apart("state", 250_000, 5_000, c) for c in (8, 16, 64, 256)]
    if given.part in (None, "state"):
        found = apart("state", 5_000_000, 100_000)
        good &= found["seconds"] <= MOST_STATE_SECONDS and found["gigabytes"] <= MOST_STATE_GIGABYTES
        results["state"] = [found]
    if given.part in (None, "cores"):
        found = apart("cores", 5_000_000, 100_000)
        good &= found["same tables"]
        results["cores"] = [found]
    blocks = Path(given.data) / "census_blocks" / "rhode_island_2010.csv"
    if given.part in (None, "island") and blocks.exists():
        found = apart("island", blocks)
        good &= found["seconds"] <= MOST_ISLAND_SECONDS and found["gigabytes"] <= MOST_ISLAND_GIGABYTES
        results["Rhode Island"] = [found]
    if given.json:
        print(json.dumps({"limits kept": good, **results}, indent=2))
    else:
        for name, cases in results.items():
            print(name)
            for case in cases:
                print(f"  {shown(case)}")
        print("limits kept" if good else "a limit was missed")
    sys.exit(0 if good else 6)


if __name__ == "__main__":
    main()
