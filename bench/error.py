"""How far grouped counts and means are off, next to opendp and PipelineDP, at the same ε, unit and bounds.

    python bench/error.py            a table; the exit code is the number of targets missed
    python bench/error.py --json     the same for machines

Real tables (`QUINCUNX_DATA`, default `../shared/data`), pure privacy with ε = 1 for each question, a person (or a
household) with all their rows as the unit, public groups, the same limit of rows and the same bounds of values for all.
Errors are root mean squares over groups and runs, against two truths: the plain statistic of all rows as they are, and
the bounded one, in which values are clipped and each row of a unit with n rows counts min(1, limit/n). That is what
weighting computes and what cutting to a random sample of rows computes on average. Each peer runs in its own virtual
environment below `bench/.venvs`. A ratio of ours to theirs is missed when it is above 1 by more than two of its
standard errors, which are shown.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("QUINCUNX_DATA", HERE.parent.parent / "shared" / "data"))
PEERS = {"opendp-polars": "opendp[polars]==0.16.0", "pipeline-dp": "pipeline-dp==0.3.1"}
KINDS = ("count", "mean")
Answers = list[float]


@dataclass(frozen=True)
class Case:
    """A table as (unit, grp, value), written by `sql` from `file`; bounds of value and the limit of rows of a unit."""

    name: str
    file: str
    sql: str
    low: int
    high: int
    limit: int


CASES = (
    Case(
        name="CDNOW: purchases by month, dollars",
        file="userlog/cdnow.txt",
        sql="""SELECT p[1]::BIGINT AS unit, (p[2][1:4]::BIGINT - 1997) * 12 + p[2][5:6]::BIGINT AS grp,
            p[4]::DOUBLE AS value
            FROM (SELECT regexp_extract_all(line, '[0-9.]+') AS p FROM read_csv(
                '{path}', header = false, skip = 1, delim = '\\0', quote = '', columns = {{line: 'VARCHAR'}}))
            WHERE len(p) = 4""",
        low=0,
        high=150,
        limit=10,
    ),
    Case(
        name="RAND HIE: person-years by site, visits to a doctor",
        file="health/rand_hie.csv",
        sql="SELECT zper::BIGINT AS unit, site::BIGINT AS grp, mdvis::DOUBLE AS value FROM read_csv('{path}')",
        low=0,
        high=30,
        limit=4,
    ),
    Case(
        name="CPS: tax units by state, age of the head",
        file="households/cps_tax_units.csv.gz",
        sql="""SELECT FLPDYR::BIGINT * 1000000 + h_seq::BIGINT AS unit, fips::BIGINT AS grp,
            age_head::DOUBLE AS value FROM read_csv('{path}')""",
        low=0,
        high=100,
        limit=2,
    ),
)


# --- inside a worker: a task is a case with its file and keys; the answers are one number for each key


def ours(case: dict[str, Any]) -> dict[str, Callable[[], Answers]]:
    """This library, with a ledger in memory: every run is a session of its own, so that none is a replay."""
    import quincunx as qx

    columns = {"grp": {"keys": case["keys"]}, "value": {"bounds": (case["low"], case["high"]), "step": "0.01"}}
    table = qx.Table(case["path"], limits={"rows": case["limit"]}, columns=columns)

    def ask(statistic: str) -> Answers:
        with qx.Session(
            dataset="bench",
            version="1",
            ledger=":memory:",
            tables={"t": table},
            unit=qx.unit.AddRemove(key="unit"),
            standard=qx.standard.Pure(),
            intensity=1,
        ) as session:
            answer = session.sql(f"SELECT grp, {statistic} AS a FROM t GROUP BY grp", spend=1).to_pandas()
        found = dict(zip(answer["grp"].tolist(), answer["a"].tolist(), strict=True))
        return [float(found[key]) for key in case["keys"]]

    return {"count": lambda: ask("COUNT(*)"), "mean": lambda: ask("AVG(value)")}


def opendp(case: dict[str, Any]) -> dict[str, Callable[[], Answers]]:
    """opendp's Polars interface: rows of a unit cut to a random sample; the mean is its sum by its length."""
    import warnings

    import opendp.prelude as dp
    import polars as pl

    warnings.filterwarnings("ignore")
    dp.enable_features("contrib")
    keys, bounds = pl.LazyFrame({"grp": case["keys"]}), (float(case["low"]), float(case["high"]))

    def ask(*statistics: Any) -> Any:
        context = dp.Context.compositor(
            data=pl.scan_parquet(case["path"]),
            privacy_unit=dp.unit_of(contributions=1, identifier="unit"),
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["grp"], max_length=1_000_000)],
        )
        query = context.query().truncate_per_group(case["limit"]).group_by("grp").agg(*statistics)
        return pl.DataFrame({"grp": case["keys"]}).join(query.with_keys(keys).release().collect(), on="grp", how="left")

    def count() -> Answers:
        return [float(each) for each in ask(dp.len().alias("a"))["a"].to_list()]

    def mean() -> Answers:
        filled = pl.col("value").fill_nan(bounds[0]).fill_null(bounds[0])
        return [float(each) for each in ask(filled.dp.mean(bounds).alias("a"))["a"].to_list()]

    return {"count": count, "mean": mean}


def pipeline_dp(case: dict[str, Any]) -> dict[str, Callable[[], Answers]]:
    """PipelineDP on its local backend: rows of a unit cut to a random sample, Laplace noise."""
    import csv

    import pipeline_dp

    with Path(case["path"]).with_suffix(".csv").open() as file:
        rows = [(int(row["unit"]), int(row["grp"]), float(row["value"])) for row in csv.DictReader(file)]
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )

    def ask(metric: Any, name: str, **more: Any) -> Answers:
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=0)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        params = pipeline_dp.AggregateParams(
            metrics=[metric],
            noise_kind=pipeline_dp.NoiseKind.LAPLACE,
            max_contributions=case["limit"],
            **more,
        )
        result = engine.aggregate(rows, params, extractors, public_partitions=case["keys"])
        accountant.compute_budgets()
        found = {key: getattr(value, name) for key, value in result}
        return [float(found[key]) for key in case["keys"]]

    bounds = {"min_value": case["low"], "max_value": case["high"]}
    return {
        "count": lambda: ask(pipeline_dp.Metrics.COUNT, "count"),
        "mean": lambda: ask(pipeline_dp.Metrics.MEAN, "mean", **bounds),
    }


WORKERS = {"quincunx": ours, "opendp-polars": opendp, "pipeline-dp": pipeline_dp}


def work(name: str) -> None:
    """Answer one task: a JSON line with the case; back come the answers of every run, by kind."""
    case = json.loads(sys.stdin.readline())
    tasks = WORKERS[name](case)
    print(json.dumps({kind: [tasks[kind]() for _ in range(case["runs"])] for kind in KINDS}))


# --- the conductor


def python_of(peer: str) -> str:
    """The interpreter of the peer's environment, which is made when it is missing."""
    if peer not in PEERS:
        return sys.executable
    home = HERE / ".venvs" / peer
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        print(f"making {home.relative_to(HERE.parent)} with {PEERS[peer]}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", PEERS[peer]], check=True, stdout=sys.stderr)
        (home / "ready").touch()
    return str(python)


def prepared(case: Case, folder: Path, runs: int) -> tuple[dict[str, Any], dict[str, dict[str, Answers]]]:
    """The task of a case, its files written; and its truths: true or bounded → count or mean → one number a key."""
    import duckdb

    connection, path = duckdb.connect(), folder / "t.parquet"
    connection.execute(f"CREATE TABLE t AS {case.sql.format(path=DATA / case.file)}")
    for target in (path, path.with_suffix(".csv")):
        connection.execute(f"COPY t TO '{target}'")
    weighted = f"""SELECT grp, sum(w), sum(w * least(greatest(value, {case.low}), {case.high})) / sum(w)
        FROM t JOIN (SELECT unit, least(1, {case.limit} / count(*)) AS w FROM t GROUP BY unit) USING (unit)
        GROUP BY grp ORDER BY grp"""
    truths = {}
    for name, sql in (
        ("true", "SELECT grp, count(*), avg(value) FROM t GROUP BY grp ORDER BY grp"),
        ("bounded", weighted),
    ):
        rows = connection.execute(sql).fetchall()
        truths[name] = {"count": [float(row[1]) for row in rows], "mean": [float(row[2]) for row in rows]}
    connection.close()
    return asdict(case) | {"path": str(path), "keys": [row[0] for row in rows], "runs": runs}, truths


def measure(runs: int, only: str) -> list[dict[str, Any]]:
    """The errors of everybody in every case whose name begins with `only`."""
    results = []
    for case in (case for case in CASES if case.name.startswith(only)):
        with tempfile.TemporaryDirectory() as folder:
            task, truths = prepared(case, Path(folder), runs)
            for name in WORKERS:
                print(f"{case.name}: {name}", file=sys.stderr)
                command = [python_of(name), str(Path(__file__).resolve()), "--worker", name]
                done = subprocess.run(command, input=json.dumps(task) + "\n", capture_output=True, text=True)
                if done.returncode:
                    print(done.stderr[-2000:], file=sys.stderr)
                    raise SystemExit(f"the worker {name} failed in {case.name!r}")
                answers = json.loads(done.stdout.splitlines()[-1])
                for kind in KINDS:
                    found = {truth: rmse(answers[kind], values[kind]) for truth, values in truths.items()}
                    results.append({"case": case.name, "kind": kind, "who": name, **found})
    return results


def rmse(runs: list[Answers], truth: Answers) -> tuple[float, float]:
    """The root mean square error and its relative standard error, from the spread between runs.

    The groups are the same in every run, so how they differ from each other is no uncertainty.
    """
    means = [math.fsum((a - b) ** 2 for a, b in zip(run, truth, strict=True)) / len(truth) for run in runs]
    mean = math.fsum(means) / len(means)
    variance = math.fsum((each - mean) ** 2 for each in means) / (len(means) - 1)
    # √ halves a relative error.
    return math.sqrt(mean), math.sqrt(variance / len(means)) / mean / 2


def judged(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ours beside each peer: one line for each case, statistic and truth."""
    lines = []
    mine = {(one["case"], one["kind"]): one for one in results if one["who"] == "quincunx"}
    for one in results:
        if one["who"] == "quincunx":
            continue
        for truth in ("true", "bounded"):
            (a, my_spread), (b, their_spread) = mine[one["case"], one["kind"]][truth], one[truth]
            ratio, spread = a / b, a / b * math.hypot(my_spread, their_spread)
            named = {"case": one["case"], "kind": one["kind"], "peer": one["who"], "truth": truth}
            lines.append(
                named | {"ours": a, "theirs": b, "ratio": ratio, "se": spread, "kept": ratio - 2 * spread <= 1}
            )
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    parser.add_argument("--runs", type=int, default=20, help="runs of each question, at least 2 (20)")
    parser.add_argument("--case", default="", help="only the cases whose name begins so")
    parser.add_argument("--worker", choices=list(WORKERS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return
    if options.runs < 2 or not any(case.name.startswith(options.case) for case in CASES):
        parser.error("at least 2 runs of at least one case are needed")
    if not DATA.exists():
        raise SystemExit(f"the real tables are missing: {DATA} (set QUINCUNX_DATA)")
    lines = judged(measure(options.runs, options.case))
    missed = sum(not line["kept"] for line in lines)
    if options.json:
        print(json.dumps(lines, indent=2))
        sys.exit(missed)
    print(f"{'case':<54}{'what':<7}{'truth':<9}{'peer':<15}{'ours':>10}{'theirs':>10}{'ratio':>16}  verdict")
    for one in lines:
        figures = f"{one['ours']:>10.4g}{one['theirs']:>10.4g}{one['ratio']:>9.3f} ± {one['se']:.3f}"
        verdict = "pass" if one["kept"] else "miss"
        print(f"{one['case']:<54}{one['kind']:<7}{one['truth']:<9}{one['peer']:<15}{figures}  {verdict}")
    print(f"\nRoot mean square errors over groups and {options.runs} runs; {missed} of {len(lines)} targets missed.")
    sys.exit(missed)


if __name__ == "__main__":
    main()
