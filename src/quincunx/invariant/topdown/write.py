"""A release as files. Each appears whole or not at all; the summary comes last, so a folder with one is complete."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from quincunx import noise
from quincunx.data import quoted, write_file
from quincunx.errors import UnavailableError, cause
from quincunx.invariant.topdown import bounds as bound_files
from quincunx.invariant.topdown.measure import variance_of
from quincunx.invariant.topdown.outputs import BUDGET, SPECIFICATION, SUMMARY
from quincunx.invariant.topdown.pair import Pair, PairRelease
from quincunx.invariant.topdown.published import half_width, queries
from quincunx.invariant.topdown.rerun import Spread
from quincunx.invariant.topdown.schema import Query
from quincunx.invariant.topdown.topdown import Release, TopDown
from quincunx.release.whole import write_whole

Makers = dict[str, Callable[[Path], None]]


def write(release: Release | PairRelease, folder: Path) -> list[Path]:
    """All files of a release; running again writes the same numbers, for nothing."""
    made: Makers = {}
    for each in _halves(release):
        made |= _data(each)
    planned = release.pair if isinstance(release, PairRelease) else release.topdown
    made |= {
        BUDGET: lambda path: _text(path, budget_text(planned)),
        SPECIFICATION: lambda path: _text(path, _json(specification(planned))),
        SUMMARY: lambda path: _text(path, _json(summary(release))),
    }
    for name, make in made.items():
        _write(folder / name, make)
    return [folder / name for name in made]


def _write(file: Path, make: Callable[[Path], None]) -> None:
    try:
        write_whole(file, make)
    except OSError as error:
        hint = "The measurements are in the ledger: make room and run again, for nothing."
        got = cause(error)
        raise UnavailableError("a file cannot be written", where=str(file), got=got, hint=hint) from None


def _halves(release: Release | PairRelease) -> tuple[Release, ...]:
    return (release.people, release.households) if isinstance(release, PairRelease) else (release,)


def _data(release: Release) -> Makers:
    names, half = release.topdown.outputs, half_width(release.topdown.confidence)
    return {
        names["microdata"]: lambda path: _microdata(path, release),
        names["measurements"]: lambda path: _measurements(path, release),
        names["estimates"]: lambda path: _estimates(path, release, half),
    }


def budget_rows(planned: TopDown) -> Iterator[dict[str, str]]:
    """One line for each query of each level."""
    for line in planned.budget:
        if line.sigma2 is None:
            note = "free: the invariants determine it" if line.share else "no share"
        else:
            note = "measured"
        yield {
            "level": planned.geography.names[line.level],
            "query": line.query.name,
            "share": str(line.share),
            "rho": str(line.rho),
            "rho_decimal": f"{float(line.rho):.6g}",
            "sigma": "" if line.sigma2 is None else f"{math.sqrt(line.sigma2):.6g}",
            "note": note,
        }


def budget_text(planned: TopDown | Pair) -> str:
    """The budget as CSV; shares and ρ exact. With two tables a column says which."""
    out = StringIO(newline="")
    if isinstance(planned, Pair):
        rows = [{"table": half.universe, **row} for half in planned.halves for row in budget_rows(half)]
    else:
        rows = list(budget_rows(planned))
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def specification(planned: TopDown | Pair) -> dict[str, Any]:
    """The guarantee in both forms, and what a smaller scope would cost."""
    halves = planned.halves if isinstance(planned, Pair) else (planned,)
    return {
        "rho": str(planned.rho),
        "registered": planned.specification.to_dict(),
        "metric": planned.metric.to_dict(),
        "without": planned.without,
        "words": planned.metric.describe(),
        "vouched": "One count is one person." if any(each.counts is not None for each in halves) else "",
    }


def summary(release: Release | PairRelease) -> dict[str, Any]:
    """What was made, how, and under which head; of two tables, of each, and in how many places they disagree."""
    if isinstance(release, PairRelease):
        tables = {each.topdown.universe: summary(each) for each in _halves(release)}
        first, rho = release.people, release.pair.rho
        return {
            "dataset": first.topdown.dataset,
            "version": first.topdown.version,
            "head": first.measured.head,
            "rho": str(rho),
            "rho_decimal": f"{float(rho):.6g}",
            "injected": first.measured.injected,
            "broken": release.broken,
            "tables": tables,
        }
    planned, solved = release.topdown, release.solved
    return {
        "dataset": planned.dataset,
        "version": planned.version,
        "head": release.measured.head,
        "rho": str(planned.rho),
        "rho_decimal": f"{float(planned.rho):.6g}",
        "injected": release.measured.injected,
        "estimate": planned.estimate,
        "spine": planned.spine,
        "passes": planned.passes,
        "confidence": str(planned.confidence),
        "levels": {
            name: {"places": planned.geography.nodes(level), "steps": solved.steps[level]}
            for level, name in enumerate(planned.geography.names)
        },
        "bounds": [
            {"name": bound_files.name(each), "provenance": each.provenance, "sha256": digest}
            for each, digest in zip(planned.bounds, planned.digests, strict=True)
        ],
        "rounding": {
            "programs": solved.programs,
            "fractional": solved.fractional,
            "wide": solved.wide,
            "joint": solved.joint,
            "unproved": solved.unproved,
        },
        "repairs": [{"bound": name, "amount": amount} for name, amount in solved.repairs],
        planned.records: int(release.tables[-1].sum()),
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")


def _microdata(path: Path, release: Release) -> None:
    planned = release.topdown
    leaves, cells = release.tables[-1], planned.schema.cells
    rows = np.repeat(np.arange(leaves.size, dtype=np.int64), leaves.reshape(-1))
    # The order tells nothing that the table does not; shuffled, nobody takes it for an order of the data.
    rows = rows[noise.permutation(len(rows))] if len(rows) else rows
    tables: dict[str, dict[str, Any]] = {
        "rows": {"place": np.arange(len(rows)), "leaf": rows // cells, "cell": rows % cells},
        "leaves": {"leaf": np.arange(len(leaves)), "code": np.array(planned.geography.codes[-1], dtype=object)},
    }
    picked = [f"leaves.code AS {quoted(planned.geography.column)}"]
    joins = ["JOIN leaves ON leaves.leaf = rows.leaf"]
    places = np.unravel_index(np.arange(cells), planned.schema.sizes)
    values: dict[str, Any] = {"cell": np.arange(cells)}
    for axis, (name, known) in enumerate(planned.schema.attributes):
        values[f"v{axis}"] = np.array(known, dtype=object)[places[axis]]
        picked.append(f"cells.v{axis} AS {quoted(name)}")
    tables["cells"] = values
    joins.append("JOIN cells ON cells.cell = rows.cell")
    write_file(path, f"SELECT {', '.join(picked)} FROM rows {' '.join(joins)} ORDER BY rows.place", tables, ".parquet")


def _numbers(
    path: Path, release: Release, parts: list[tuple[int, Query, dict[str, Any]]], columns: dict[str, str]
) -> None:
    """Rows (level, geography, query, cell, …) in the order of levels, queries, places and cells."""
    planned = release.topdown
    found: dict[str, list[Any]] = {name: [] for name in ("part", "place", "cell", *columns)}
    names: dict[str, list[Any]] = {"part": [], "level": [], "query": []}
    codes: dict[str, list[Any]] = {"part": [], "place": [], "code": []}
    labels: dict[str, list[Any]] = {"part": [], "cell": [], "label": []}
    for number, (level, query, values) in enumerate(parts):
        places, cells = planned.geography.nodes(level), query.cells
        found["part"].append(np.full(places * cells, number))
        found["place"].append(np.repeat(np.arange(places), cells))
        found["cell"].append(np.tile(np.arange(cells), places))
        for name in columns:
            found[name].append(np.asarray(values[name]).reshape(-1))
        names["part"].append(number)
        names["level"].append(planned.geography.names[level])
        names["query"].append(query.name)
        codes["part"] += [number] * places
        codes["place"] += range(places)
        codes["code"] += planned.geography.codes[level]
        labels["part"] += [number] * cells
        labels["cell"] += range(cells)
        labels["label"] += planned.schema.labels(query)
    tables: dict[str, dict[str, Any]] = {
        "numbers": {name: np.concatenate(arrays) for name, arrays in found.items()},
        "names": _arrays(names),
        "codes": _arrays(codes),
        "labels": _arrays(labels),
    }
    picked = ", ".join(f"{column} AS {name}" for name, column in columns.items())
    query_text = (
        f"SELECT names.level, codes.code AS geography, names.query, labels.label AS cell, {picked} FROM numbers n "
        "JOIN names ON names.part = n.part JOIN codes ON codes.part = n.part AND codes.place = n.place "
        "JOIN labels ON labels.part = n.part AND labels.cell = n.cell ORDER BY n.part, n.place, n.cell"
    )
    write_file(path, query_text, tables, ".parquet")


def _arrays(columns: dict[str, list[Any]]) -> dict[str, Any]:
    return {
        name: np.array(values, dtype=object if isinstance(values[0], str) else None) for name, values in columns.items()
    }


def _measurements(path: Path, release: Release) -> None:
    parts = [
        (line.level, line.query, {"value": answers, "variance": np.full(answers.size, variance_of(line))})
        for line, answers in release.measured.answers
    ]
    _numbers(path, release, parts, {"value": "n.value", "variance": "n.variance"})


def _estimates(path: Path, release: Release, half: float) -> None:
    planned, parts = release.topdown, []
    for level, estimate in enumerate(release.estimates):
        for query in queries(planned, level):
            found = estimate.of(query)
            reach = half * np.sqrt(np.where(np.isfinite(found.variance), found.variance, 0.0))
            ends = {"low": found.value - reach, "high": found.value + reach}
            parts.append((level, query, {"estimate": found.value, "variance": found.variance, **ends}))
    # What nobody measured has no estimate, rather than an infinite interval that a reader may choke on.
    columns = {
        name: f"CASE WHEN isfinite(n.variance) THEN n.{name} END" for name in ("estimate", "variance", "low", "high")
    }
    _numbers(path, release, parts, columns)


def write_intervals(release: Release | PairRelease, spreads: Sequence[Spread], folder: Path) -> list[Path]:
    """Approximate intervals for the whole tables: columns level … cell, value, low, high; a file for each table."""
    return [
        _intervals(half, [s for s in spreads if s.table == half.topdown.universe], folder) for half in _halves(release)
    ]


def _intervals(release: Release, spreads: Sequence[Spread], folder: Path) -> Path:
    planned, parts = release.topdown, []
    for each in spreads:
        level, query = planned.geography.level(each.level), planned.schema.query(each.query)
        value = planned.schema.answers(query, release.tables[level])
        # A count is not negative, so neither is the lower end.
        low = np.maximum(np.ceil(value - each.half), 0)
        parts.append((level, query, {"value": value, "low": low, "high": np.floor(value + each.half)}))
    columns = {"value": "n.value", "low": "n.low::BIGINT", "high": "n.high::BIGINT"}
    file = folder / planned.outputs["intervals"]
    _write(file, lambda path: _numbers(path, release, parts, columns))
    return file
