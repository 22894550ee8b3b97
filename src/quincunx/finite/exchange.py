"""Finite mechanisms as CSV and JSON. Probabilities travel as exact rationals in text, never as floats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Hashable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Final, TypeAlias

from quincunx.errors import MatrixError, cause, kind_of

Label: TypeAlias = Hashable
# {input: {output: probability}}
Table: TypeAlias = Mapping[Label, Mapping[Label, object]]

_HEADER: Final = ["input", "output", "probability"]


def read_json(source: object) -> dict[Label, dict[Label, object]]:
    """The table in a JSON object {"input": {"output": probability}}; repeated keys are refused."""
    data = source
    if isinstance(source, str):
        try:
            # A decimal in JSON means its digits, so it is kept as text.
            data = json.loads(source, object_pairs_hook=_no_repeats, parse_float=str, parse_constant=str, parse_int=str)
        except json.JSONDecodeError as error:
            raise MatrixError("not JSON", where=f"line {error.lineno}", got=error.msg) from None
    if not isinstance(data, Mapping) or not all(isinstance(row, Mapping) for row in data.values()):
        got = type(data).__name__
        raise MatrixError('expected {"input": {"output": probability}}', where="JSON", got=got)
    return {given: dict(row) for given, row in data.items()}


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    data = dict(pairs)
    if len(data) != len(pairs):
        repeated = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise MatrixError("a label appears twice", where="JSON", got=repr(repeated))
    return data


def read_csv(source: str | Path) -> dict[Label, dict[Label, object]]:
    """The table in CSV text (it contains a line break) or in the file at a path."""
    if not isinstance(source, str | Path):
        raise MatrixError("expected CSV text or a path", where="CSV", got=kind_of(source))
    text = source if isinstance(source, str) and "\n" in source else _read(Path(source))
    try:
        lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True))
    except csv.Error as error:
        raise MatrixError("not CSV", where="CSV", got=str(error)) from None
    if not lines or [cell.strip() for cell in lines[0]] != _HEADER:
        got = ",".join(lines[0])[:60] if lines else "nothing"
        raise MatrixError("the header must be input,output,probability", where="CSV line 1", got=got)
    table: dict[Label, dict[Label, object]] = {}
    for number, line in enumerate(lines[1:], 2):
        where = f"CSV line {number}"
        if len(line) != len(_HEADER) or not all(cell.strip() for cell in line):
            hint = "Every line needs three cells, none of them empty."
            raise MatrixError("expected input,output,probability", where=where, got=f"{len(line)} cells", hint=hint)
        given, output, value = line
        row = table.setdefault(given, {})
        if output in row:
            raise MatrixError("the entry appears twice", where=where, got=f"{given!r}, {output!r}")
        row[output] = value
    return table


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        hint = "CSV text needs a line break; anything else is read as a path."
        raise MatrixError("cannot read the file", where=str(path)[:80], got=cause(error), hint=hint) from None


def write_json(given: Table) -> str:
    """JSON with every probability as an exact rational in text."""
    return json.dumps(_texts(given), ensure_ascii=False, indent=1)


def write_csv(given: Table) -> str:
    """CSV in long form, one line per listed entry."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_HEADER)
    writer.writerows((x, output, p) for x, row in _texts(given).items() for output, p in row.items())
    return out.getvalue()


def _texts(exact: Table) -> dict[str, dict[str, str]]:
    table: dict[str, dict[str, str]] = {}
    for given, row in exact.items():
        for output, p in row.items():
            if not isinstance(p, Fraction):
                raise MatrixError("only exact worlds can be stored", where=f"row {given!r}", got="a ball")
            if not isinstance(given, str) or not isinstance(output, str):
                label = output if isinstance(given, str) else given
                hint = "Rename the outputs with m.map(str) and the inputs with m.on(…)."
                raise MatrixError("only text labels can be stored", where=f"row {given!r}", got=repr(label), hint=hint)
            table.setdefault(given, {})[output] = str(p)
    return table
