"""Answers as files: NAME.csv and NAME.parquet for each, and a summary. Each file appears whole or not at all."""

from __future__ import annotations

import csv
import json
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from quincunx.errors import UnavailableError, cause
from quincunx.release import frame, show
from quincunx.release.answer import Answer


def check_folder(folder: Path) -> None:
    """Make the folder, before anything is spent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".{secrets.token_hex(8)}.tmp"
        probe.touch()
        probe.unlink()
    except OSError as error:
        hint = "Check the path and who may write there; nothing was spent."
        raise UnavailableError("the folder cannot be written", where=str(folder), got=cause(error), hint=hint) from None


def write(folder: Path, answers: Mapping[str, Answer], head: str) -> None:
    """All files. If the disk fails, the answers stay in the ledger and cost nothing when they are asked again."""
    try:
        for name, answer in answers.items():
            _whole(folder / f"{name}.csv", partial(_text, text=csv_text(answer)))
            _whole(folder / f"{name}.parquet", partial(_parquet, answer=answer))
        summary = {"head": head, "releases": {name: _summary(answer) for name, answer in answers.items()}}
        text = json.dumps(summary, ensure_ascii=False, indent=2) + "\n"
        _whole(folder / "summary.json", partial(_text, text=text))
        _whole(folder / "summary.md", partial(_text, text=summary_text(answers, head)))
    except OSError as error:
        hint = "The answers are in the ledger: make room and release again, for nothing."
        raise UnavailableError("a file cannot be written", where=str(folder), got=cause(error), hint=hint) from None


def csv_text(answer: Answer) -> str:
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
        parts += [f"- {line}" for line in show.footer(answer)[:-1]]
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
    frame.relation(answer.columns, folder=path.parent).write_parquet(str(path))


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")


def _whole(path: Path, make: Callable[[Path], None]) -> None:
    """Write beside the file, then take its place in one step."""
    fresh = path.with_name(f".{secrets.token_hex(8)}.{path.name}")
    try:
        make(fresh)
        os.replace(fresh, path)
    finally:
        with suppress(FileNotFoundError):
            fresh.unlink()


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)
