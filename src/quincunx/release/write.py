"""Answers as files: NAME.csv and NAME.parquet for each, and a summary. Each file appears whole or not at all."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from datetime import date
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from quincunx.data import out
from quincunx.errors import UnavailableError, cause
from quincunx.release.answer import Answer
from quincunx.release.tabled import Tabled
from quincunx.release.whole import write_text, write_whole


def write(folder: Path, answers: Mapping[str, Answer], head: str) -> None:
    """All files. If the disk fails, the answers stay in the ledger and cost nothing when they are asked again."""
    try:
        for name, answer in answers.items():
            write_text(folder / f"{name}.csv", csv_text(answer))
            write_whole(folder / f"{name}.parquet", partial(_parquet, answer=answer))
        summary = {"head": head, "releases": {name: _summary(answer) for name, answer in answers.items()}}
        text = json.dumps(summary, ensure_ascii=False, indent=2) + "\n"
        write_text(folder / "summary.json", text)
        write_text(folder / "summary.md", summary_text(answers, head))
    except OSError as error:
        hint = "The answers are in the ledger: make room and release again, for nothing."
        raise UnavailableError("a file cannot be written", where=str(folder), got=cause(error), hint=hint) from None


def csv_text(answer: Tabled) -> str:
    """The table as CSV: exact decimals, ISO dates, nothing for a missing value."""
    out = StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in answer.columns])
    for row in zip(*(column.values for column in answer.columns), strict=True):
        writer.writerow([_field(value) for value in row])
    return out.getvalue()


def summary_text(answers: Mapping[str, Answer], head: str) -> str:
    """What was released, at which price, under which guarantee, for people."""
    parts = ["# Release", ""]
    for name, answer in answers.items():
        rows = f"{len(answer):,} {'row' if len(answer) == 1 else 'rows'}"
        parts += [f"## {name}", "", f"{rows} in `{name}.csv` and `{name}.parquet`.", ""]
        parts += ["```sql", answer.sql.strip(), "```", ""]
        parts += [f"- {line}" for line in answer.told()[:-1]]
        parts.append("")
    guarantees = dict.fromkeys(answer.specification.describe() for answer in answers.values())
    for words in guarantees:
        parts += ["## Guarantee", "", words, ""]
    return "\n".join([*parts, f"Ledger head: {head}", ""])


def _summary(answer: Answer) -> dict[str, Any]:
    content = answer.to_dict()
    del content["rows"]
    return content | {"rows": len(answer)}


def _parquet(path: Path, answer: Answer) -> None:
    out.relation(answer.columns, folder=path.parent).write_parquet(str(path))


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)
