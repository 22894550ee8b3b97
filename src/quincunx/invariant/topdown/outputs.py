"""The names of a release's files: those that a plan may choose, and those that never change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from quincunx.errors import ParameterError

NAMES: Final = {
    "microdata": "microdata.parquet",
    "measurements": "measurements.parquet",
    "estimates": "estimates.parquet",
    "intervals": "intervals.parquet",
}
BUDGET: Final = "budget.csv"
SPECIFICATION: Final = "specification.json"
SUMMARY: Final = "summary.json"


def named(chosen: Mapping[str, str]) -> dict[str, str]:
    """All names, with those that were chosen. Each is a file of the folder itself, and no two are one file."""
    for kind, name in chosen.items():
        if kind not in NAMES:
            hint = f"Known: {', '.join(NAMES)}."
            raise ParameterError("unknown output", where="output", got=repr(kind)[:60], hint=hint)
        plain = isinstance(name, str) and name.endswith(".parquet") and not name.startswith(".")
        if not plain or any(sign in name for sign in "/\\\0") or not name.isprintable():
            hint = f'Write a name without folders that ends in .parquet: {kind} = "{NAMES[kind]}".'
            raise ParameterError("this is no name for an output", where="output", got=repr(name)[:60], hint=hint)
    found = NAMES | dict(chosen)
    # Names that differ in case alone are one file on some systems.
    if len({name.casefold() for name in found.values()}) < len(found):
        raise ParameterError("two outputs have one name", where="output", got=", ".join(found.values()))
    return found
