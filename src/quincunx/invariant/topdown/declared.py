"""What a plan declares besides numbers: words, the unit with its key, and the columns of the domain."""

from __future__ import annotations

from collections.abc import Sequence

from quincunx.errors import ParameterError, SpecificationError
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.schema import Schema
from quincunx.spec import Replace


def check_word(value: object, known: tuple[str, ...], where: str) -> None:
    """Refuse a word that is not known."""
    if value not in known:
        raise ParameterError(
            "unknown word", where=where, got=repr(value)[:40], hint=f"Choose among {', '.join(known)}."
        )


def key_of(unit: object, counts: str | None, records: str, household: str | None, taken: Sequence[str]) -> str | None:
    """The column by which records are told apart: people's, or households'; None with counts."""
    if type(unit) is not Replace or unit.per is not None or unit.group != 1:
        hint = 'Write unit.Replace(key="person_id"): one person replaced.'
        raise SpecificationError("TopDown protects one person replaced", where="unit", got=repr(unit)[:80], hint=hint)
    if (household is not None) != (records == "households"):
        hint = 'Write records = "households" with household = "household_id".'
        raise ParameterError("households need their key", where="household", got=repr(household), hint=hint)
    if counts is not None and (unit.key is not None or household is not None):
        hint = "With counts there is no key: you vouch that one person is one count."
        raise ParameterError("a key and counts exclude each other", where="counts", got=repr(counts), hint=hint)
    if counts is not None and counts in taken:
        raise ParameterError("the column of counts has another part already", where="counts", got=repr(counts))
    return unit.key if household is None else household


def columns_of(
    geography: Geography, schema: Schema, unit: Replace, key: str | None, more: Sequence[str]
) -> dict[str, str]:
    """The columns of the domain, by name, so that releases of one dataset can state one domain. A column of counts is
    none of them: the dataset is its people, one record each, however the file writes them down."""
    names = [unit.key, key, geography.column, *schema.names, *more]
    return dict.fromkeys(sorted({name for name in names if name is not None}), "text")
