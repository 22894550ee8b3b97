"""What k-anonymous releases of real tables give away, and what noisy counts do: Mondrian, homogeneity, intersection.

    python bench/anonymity.py                       a summary
    python bench/anonymity.py --json                the same for machines
    python bench/anonymity.py --out docs/images     also the picture (SVG)

Two public files below `QUINCUNX_DATA` (default ../shared/data): persons/adult.data, of whom the occupation is the
secret, and the people of persons/ma2019.csv who are 15 or older, of whom the decile of income is. Mondrian has no
chance in it; the two samples and the noise are injected, so that the figures can be made again.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from quincunx.attack.intruder import Learnt, Release, from_classes, from_counts
from quincunx.attack.mondrian import mondrian
from quincunx.chart import Axis, Chart, Line, lines
from quincunx.noise.testing import key_of, keyed

KS = (2, 5, 10, 25)
EPSILONS = ("0.1", "1", "10")
REPEATS = 20
# The columns of adult.data in their order; the file's own first line is wrong.
ADULT = (
    "age", "workclass", "weight", "education", "years at school", "marital status", "occupation", "relationship",
    "race", "sex", "capital gain", "capital loss", "hours a week", "country", "income",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One file. known: what the attacker knows; secret: what is hidden, as codes; cell: a public group."""

    name: str
    known: dict[str, Any]
    secret: np.ndarray[Any, Any]
    cell: np.ndarray[Any, Any]


def data(name: str) -> Path:
    """A file of the public data."""
    folder = Path(os.environ.get("QUINCUNX_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not (folder / name).is_file():
        raise SystemExit(f"{name} is missing below {folder}; set QUINCUNX_DATA to the folder of the public data.")
    return folder / name


def adult() -> Case:
    """UCI Adult, where the occupation is not missing: eight attributes, 14 occupations. Counts by sex, ten years of age
    and schooling."""
    text = data("persons/adult.data").read_text(encoding="utf-8").splitlines()[1:]
    rows = [row for row in (line.split(", ") for line in text) if len(row) == len(ADULT)]
    rows = [row for row in rows if row[ADULT.index("occupation")] != "?"]
    column = {name: np.array([row[place] for row in rows]) for place, name in enumerate(ADULT)}
    numbers = {name: column[name].astype(int) for name in ("age", "years at school", "hours a week")}
    texts = {name: column[name] for name in ("workclass", "marital status", "race", "sex", "country")}
    schooling = np.digitize(numbers["years at school"], [9, 10, 13])
    return Case(
        name="Adult: occupation",
        known={**numbers, **texts},
        secret=codes(column["occupation"]),
        cell=codes((texts["sex"] == "Male") * 1000 + np.minimum(numbers["age"] // 10, 7) * 10 + schooling),
    )


def massachusetts() -> Case:
    """American Community Survey 2019, 15 or older: eight attributes, ten deciles of income. Counts by sex, ten years
    and area."""
    with data("persons/ma2019.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["PINCP_DECILE"] != "N"]
    age = np.array([int(row["AGEP"]) for row in rows])
    texts = {
        name: np.array([row[name] for row in rows]) for name in ("PUMA", "SEX", "MSP", "RAC1P", "HISP", "OWN_RENT")
    }
    school = np.array([int(row["EDU"]) for row in rows])
    return Case(
        name="Massachusetts: income decile",
        known={"AGEP": age, "EDU": school, **texts},
        secret=np.array([int(row["PINCP_DECILE"]) for row in rows]),
        cell=codes((texts["SEX"] == "1") * 10_000 + np.minimum(age // 10, 8) * 100 + codes(texts["PUMA"])),
    )


def codes(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def broken(case: Case, k: int) -> tuple[Learnt, Learnt]:
    """From one k-anonymous table of everybody; and from two, each of two thirds of the people, a third in both."""
    kinds, people = np.arange(int(case.secret.max()) + 1), case.secret.size
    whole = Release(part=mondrian(case.known, k).label, secret=case.secret, asked=np.arange(people))
    order = np.random.default_rng(1875).permutation(people)
    both, first, second = np.array_split(order, 3)
    tables = []
    for alone in (first, second):
        rows = np.concatenate([both, alone])
        part = mondrian({name: values[rows] for name, values in case.known.items()}, k).label
        tables.append(Release(part=part, secret=case.secret[rows], asked=np.arange(both.size)))
    return from_classes([whole], kinds=kinds), from_classes(tables, kinds=kinds)


def noisy(case: Case, epsilon: str) -> Learnt:
    """From counts of the secret in public groups."""
    whole = Release(part=case.cell, secret=case.secret, asked=np.arange(case.secret.size))
    with keyed(key_of(f"anonymity {case.name} {epsilon}")):
        return from_counts([whole], secrets=int(case.secret.max()) + 1, epsilon=epsilon, repeats=REPEATS)


def report(case: Case) -> dict[str, Any]:
    """All figures of one file."""
    started = time.perf_counter()
    mondrian(case.known, 2)
    seconds = time.perf_counter() - started
    tables = {k: broken(case, k) for k in KS}
    return {
        "people": int(case.secret.size),
        "groups": int(case.cell.max()) + 1,
        "seconds of one Mondrian at k = 2": seconds,
        "commonest": float(np.bincount(case.secret).max() / case.secret.size),
        "k": {k: {**asdict(one), "certain with a second": two.certain} for k, (one, two) in tables.items()},
        "epsilon": {epsilon: asdict(noisy(case, epsilon)) for epsilon in EPSILONS},
    }


def chart(found: dict[str, dict[str, Any]]) -> Chart:
    """Certain from one table and from two, by k, for both files."""
    drawn = []
    for name, figures in found.items():
        file = name.partition(":")[0]
        for words, key in (("one table", "certain"), ("two tables", "certain with a second")):
            drawn.append(Line(label=f"{file}, {words}", points=[(k, 100 * figures["k"][k][key]) for k in KS]))
    drawn.append(Line(label="noisy counts, any ε", points=[(k, 0) for k in KS]))
    people = ", ".join(f"{name} of {figures['people']:,} people" for name, figures in found.items())
    return lines(
        drawn,
        title="On real tables, too, two 2-anonymous releases tell what each of them hides",
        x=Axis(title="k: people in a box, at least", scale="log", ticks={k: str(k) for k in KS}),
        y="people whose secret is certain (%)",
        note=f"Mondrian boxes of eight attributes. {people}. Two tables have half of their people in common, who are "
        "asked about.",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--out", type=Path, help="folder for the picture")
    arguments = parser.parse_args()
    found = {case.name: report(case) for case in (adult(), massachusetts())}
    if arguments.out:
        chart(found).write(arguments.out / "attack_mondrian_real.svg")
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    for name, figures in found.items():
        print(f"{name}: {figures['people']:,} people, the commonest value {figures['commonest']:.1%}")
        print(f"{'released':<16}{'certain':>10}{'one of two':>12}{'with a 2nd':>12}{'right':>9}{'left out':>10}")
        for k, each in figures["k"].items():
            again = f"{each['certain with a second']:>12.1%}"
            print(f"{f'{k}-anonymous':<16}{each['certain']:>10.1%}{each['two']:>12.1%}{again}", end="")
            print(f"{each['right']:>9.1%}{each['without']:>10.1%}")
        for epsilon, each in figures["epsilon"].items():
            print(f"{f'counts, ε = {epsilon}':<16}{0:>10.1%}{0:>12.1%}{0:>12.1%}", end="")
            print(f"{each['right']:>9.1%}{each['without']:>10.1%}")
        print()


if __name__ == "__main__":
    main()
