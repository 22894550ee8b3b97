"""Pieces of SQL, put together as trees and never as texts, so that no name and no value is read as anything else.

Types are DuckDB's words; an engine that has others puts them in their place when it prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from sqlglot import exp

LANGUAGE: Final = "duckdb"


@cache
def _type(name: str) -> exp.DataType:
    """A type by its name; reading the name takes longer than everything else about a cast."""
    return exp.DataType.build(name, dialect=LANGUAGE)


def cast(sql: exp.Expression, wanted: str) -> exp.Expression:
    """CAST(sql AS wanted)."""
    return exp.Cast(this=sql, to=_type(wanted).copy())


def try_cast(sql: exp.Expression, wanted: str) -> exp.Expression:
    """TRY_CAST(sql AS wanted): NULL where the value does not fit."""
    return exp.TryCast(this=sql, to=_type(wanted).copy())


def call(name: str, *arguments: exp.Expression) -> exp.Expression:
    """A function by its name, as it is."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def option(name: str, value: exp.Expression) -> exp.Expression:
    """A named argument of a function."""
    return exp.PropertyEQ(this=exp.to_identifier(name), expression=value)


def binary(kind: type[exp.Binary], left: exp.Expression, right: exp.Expression) -> exp.Expression:
    """A binary operator in parentheses."""
    return exp.Paren(this=kind(this=left, expression=right))


def both(parts: Sequence[exp.Expression]) -> exp.Expression:
    """All conditions, in parentheses; TRUE where there is none."""
    if not parts:
        return exp.true()
    joined = parts[0]
    for part in parts[1:]:
        joined = exp.And(this=joined, expression=part)
    return joined if len(parts) == 1 else exp.Paren(this=joined)


def choose(cases: Sequence[tuple[exp.Expression, exp.Expression]], otherwise: exp.Expression) -> exp.Expression:
    """CASE WHEN … THEN … ELSE … END."""
    branches = [exp.If(this=condition, true=value) for condition, value in cases]
    return exp.Case(ifs=branches, default=otherwise)


def text(value: str) -> exp.Expression:
    """A text as a quoted constant."""
    return exp.Literal.string(value)


def column(name: str, table: str | None = None) -> exp.Expression:
    """A quoted column."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """A text as SQL writes it."""
    return "'" + value.replace("'", "''") + "'"
