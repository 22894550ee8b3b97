"""What swapping does to real tables: two tables before and after, and their error over repeated runs.

    python bench/swap_demonstration.py                  a summary
    python bench/swap_demonstration.py --json           the same for machines
    python bench/swap_demonstration.py --out docs/images    also the pictures (SVG)

It repeats the demonstration of Bailie, Gong and Meng (https://arxiv.org/abs/2501.08449) on two public files, found
below `QUINCUNX_DATA` (default ../shared/data): households of the Current Population Survey, whose state is swapped
within household size; and the people of Rhode Island in 2010, rebuilt from the published counts of blocks, whose block
is swapped within county and voting age. Needs Polars. The randomness is injected, so that the pictures can be made
again; an ordinary release is never made so. The invariants are compared exactly in every run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from quincunx.chart import Box, Chart, boxes, heat
from quincunx.invariant import SwapEpsilon, swap
from quincunx.noise.testing import key_of, keyed
from quincunx.numbers.text import above

Counts = dict[tuple[object, object], int]
RATES = (1, 2, 5, 10, 20, 30, 40, 50)
RUNS = 20
STATES = (
    "01AL 02AK 04AZ 05AR 06CA 08CO 09CT 10DE 11DC 12FL 13GA 15HI 16ID 17IL 18IN 19IA 20KS 21KY 22LA 23ME 24MD 25MA "
    "26MI 27MN 28MS 29MO 30MT 31NE 32NV 33NH 34NJ 35NM 36NY 37NC 38ND 39OH 40OK 41OR 42PA 44RI 45SC 46SD 47TN 48TX "
    "49UT 50VT 51VA 53WA 54WV 55WI 56WY"
)
RACES = ("white", "black", "hisp", "asian", "aian", "nhpi", "other", "two")
SHOWN_RACES = {"white": "White", "black": "Black", "hisp": "Hispanic", "asian": "Asian"}


@dataclass(frozen=True)
class Case:
    """One file and one swap. `place` is the expression by which the two-way table counts, `rest` what stays."""

    name: str
    records: pl.DataFrame
    column: str
    match: list[str]
    rest: str
    place: pl.Expr
    rows: list[object]
    row_names: list[str]
    columns: dict[str, str]
    what: str
    table_title: str
    error_title: Callable[[float, float], str]
    note: str


def data(name: str) -> Path:
    """A file of the public data."""
    folder = Path(os.environ.get("QUINCUNX_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not (folder / name).is_file():
        raise SystemExit(f"{name} is missing below {folder}; set QUINCUNX_DATA to the folder of the public data.")
    return folder / name


def survey() -> Case:
    """Households of the Current Population Survey, 2012 to 2014."""
    units = pl.read_csv(data("households/cps_tax_units.csv.gz"))
    households = (
        units.group_by("FLPDYR", "h_seq", maintain_order=True)
        .agg(
            pl.col("fips").first().alias("state"), pl.col("XTOT").sum().alias("size"), snap=pl.col("snap_ben").sum() > 0
        )
        .select("state", "size", pl.when("snap").then(pl.lit("yes")).otherwise(pl.lit("no")).alias("snap"))
    )
    largest = households.group_by("state").len().sort("len", "state", descending=True).head(12)["state"].to_list()
    names = {int(code[:2]): code[2:] for code in STATES.split()}
    return Case(
        name="survey",
        records=households,
        column="state",
        match=["size"],
        rest="snap",
        place=pl.col("state"),
        rows=largest,
        row_names=[names[state] for state in largest],
        columns={"no": "no food aid", "yes": "food aid"},
        what="households",
        table_title="Half of the records selected: food aid by state drifts towards the national share",
        error_title=lambda low, high: f"The error of food aid by state grows from {low:.1f} % to {high:.0f} %",
        note="Current Population Survey 2012 to 2014, state swapped within household size. Households by state and "
        "size, and by food aid and size, are exact.",
    )


def rhode_island() -> Case:
    """The people of Rhode Island in 2010, one record each, rebuilt from the counts of blocks."""
    blocks = pl.read_csv(data("census_blocks/rhode_island_2010.csv"), schema_overrides={"GEOID": pl.Int64})
    parts = []
    for race in RACES:
        adults = blocks[f"vap_{race}"].to_numpy()
        for age, counts in (("18 and over", adults), ("under 18", blocks[f"pop_{race}"].to_numpy() - adults)):
            where = np.repeat(blocks["GEOID"].to_numpy(), counts)
            shown = SHOWN_RACES.get(race, "other")
            parts.append(pl.DataFrame({"block": where}).with_columns(age=pl.lit(age), race=pl.lit(shown)))
    people = pl.concat(parts).with_columns((pl.col("block") // 10**10 % 1000).alias("county"))
    tract = pl.col("block") // 10**4
    diverse = (
        people.group_by(tract.alias("tract")).agg(pl.len(), (pl.col("race") == "Hispanic").sum().alias("hispanic"))
        .sort("hispanic", "tract", descending=True).head(10)["tract"].to_list()
    )  # fmt: skip
    return Case(
        name="rhode_island",
        records=people,
        column="block",
        match=["county", "age"],
        rest="race",
        place=tract,
        rows=diverse,
        row_names=[f"tract {code % 10**6 / 100:g}" for code in diverse],
        columns={name: name for name in (*SHOWN_RACES.values(), "other")},
        what="people",
        table_title="Half of the records selected: tracts with many Hispanic people lose their profile",
        error_title=lambda low, high: f"The error of race by tract grows from {low:.1f} % to {high:.0f} %",
        note="Rhode Island 2010, block swapped within county and voting age. People by block and age, and by race, "
        "county and age, are exact.",
    )


def table(case: Case, records: pl.DataFrame) -> Counts:
    """The two-way table: (place, rest) → records."""
    counted = records.group_by(case.place.alias("place"), case.rest).len()
    return {(place, rest): count for place, rest, count in counted.iter_rows()}


def exact(case: Case, before: pl.DataFrame, after: pl.DataFrame) -> bool:
    """Whether both invariants are what they were."""
    groupings = ([*case.match, case.column], [*case.match, case.rest])
    return all(
        before.group_by(keys).len().sort(keys).equals(after.group_by(keys).len().sort(keys)) for keys in groupings
    )


def error(before: Counts, after: Counts) -> float:
    """The mean of 100·|after − before|/before over the cells that are not empty before, in percent."""
    return statistics.fmean(100 * abs(after.get(cell, 0) - count) / count for cell, count in before.items())


def run(case: Case, runs: int) -> tuple[dict[int, list[float]], Counts, dict[int, SwapEpsilon]]:
    """Errors by rate in percent, the table after the first run at the last rate, and ε by rate."""
    before, errors, shown, costs = table(case, case.records), {}, {}, {}
    for rate in RATES:
        errors[rate] = []
        for number in range(runs):
            with keyed(key_of(f"swap demonstration, {case.name}, {rate} %, run {number}")):
                swapped = swap(case.records, column=case.column, match=case.match, rate=f"{rate}/100")
            if not exact(case, case.records, swapped.frame):
                raise SystemExit(f"{case.name}: an invariant changed at {rate} %; this must not happen.")
            after = table(case, swapped.frame)
            errors[rate].append(error(before, after))
            if number == 0:
                shown, costs[rate] = after, swapped.epsilon
        if sys.stderr.isatty():
            print(f"{case.name}: {rate} % done", file=sys.stderr)
    return errors, shown, costs


def pictures(case: Case, errors: dict[int, list[float]], after: Counts) -> dict[str, Chart]:
    """The two-way table before and after, and the box plots of the error."""
    before = table(case, case.records)
    values = [
        [counts.get((row, column), 0) for column in case.columns for counts in (before, after)] for row in case.rows
    ]
    low, high = statistics.median(errors[RATES[0]]), statistics.median(errors[RATES[-1]])
    return {
        f"swap_{case.name}_table.svg": heat(
            values,
            rows=case.row_names,
            columns=[f"{name} {when}" for name in case.columns.values() for when in ("before", "after")],
            title=case.table_title,
            unit=case.what,
            note=f"{case.note} One run at {RATES[-1]} %.",
        ),
        f"swap_{case.name}_error.svg": boxes(
            [Box(label=f"{rate} %", values=found) for rate, found in errors.items()],
            title=case.error_title(low, high),
            x="swap rate",
            y="mean absolute percentage error of the cells (%)",
            note=f"{len(errors[RATES[0]])} runs at each rate. {case.note}",
            zero=True,
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON value")
    parser.add_argument("--out", type=Path, help="a folder for the pictures")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs at each rate")
    options = parser.parse_args()
    results = []
    for make in (survey, rhode_island):
        case = make()
        start = time.perf_counter()
        errors, after, costs = run(case, options.runs)
        seconds = time.perf_counter() - start
        results.append(
            {
                "case": case.name,
                "records": len(case.records),
                "largest_stratum": costs[RATES[0]].largest_stratum,
                "seconds": round(seconds, 1),
                "rates": [
                    {
                        "rate": rate,
                        "epsilon": costs[rate].theorem,
                        "exact": costs[rate].exact,
                        "median_error": statistics.median(errors[rate]),
                    }
                    for rate in RATES
                ],
            }
        )
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            for name, chart in pictures(case, errors, after).items():
                chart.write(options.out / name)
    if options.json:
        print(json.dumps(results, indent=2))
        return
    for result in results:
        print(f"{result['case']}: {result['records']:,} records, largest stratum {result['largest_stratum']:,}; "
              f"{options.runs} runs at each rate, invariants exact in all; {result['seconds']} s")  # fmt: skip
        print("  rate   ε (theorem)  ε (exact)  median error")
        for row in result["rates"]:
            costs = f"{above(row['epsilon']):>11}  {above(row['exact']):>9}"
            print(f"  {row['rate']:>3} %  {costs}  {row['median_error']:>10.2f} %")


if __name__ == "__main__":
    main()
