"""The names of functions: which operator each stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from quincunx.table.aggregates import AGGREGATES

# Function → operator, and the node's parts in the order of the operator's arguments.
ARGUMENTS: Final[Mapping[type[exp.Expr], tuple[str, tuple[str, ...]]]] = {
    exp.Abs: ("abs", ("this",)),
    exp.Floor: ("floor", ("this",)),
    exp.Ceil: ("ceil", ("this",)),
    exp.Least: ("least", ("this", "expressions")),
    exp.Greatest: ("greatest", ("this", "expressions")),
    exp.Coalesce: ("coalesce", ("this", "expressions")),
    exp.Nullif: ("nullif", ("this", "expression")),
    exp.Upper: ("upper", ("this",)),
    exp.Lower: ("lower", ("this",)),
    exp.Length: ("length", ("this",)),
    exp.Left: ("left", ("this", "expression")),
    exp.Right: ("right", ("this", "expression")),
    exp.Substring: ("substring", ("this", "start", "length")),
    exp.Concat: ("concat", ("expressions",)),
    exp.Replace: ("replace", ("this", "expression", "replacement")),
    exp.StartsWith: ("starts_with", ("this", "expression")),
    exp.EndsWith: ("ends_with", ("this", "expression")),
    exp.Contains: ("contains", ("this", "expression")),
}

# Function of a date → the part that it takes.
PARTS: Final[Mapping[type[exp.Expr], str]] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Week: "week",
    exp.WeekOfYear: "week",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfWeek: "dow",
    exp.DayOfWeekIso: "isodow",
    exp.DayOfYear: "doy",
    exp.Hour: "hour",
    exp.Minute: "minute",
    exp.Second: "second",
}

# Window function → its name, and the node's parts in the order of its arguments.
WINDOWS: Final[Mapping[type[exp.Expr], tuple[str, tuple[str, ...]]]] = {
    exp.RowNumber: ("row_number", ()),
    exp.Rank: ("rank", ("expressions",)),
    exp.DenseRank: ("dense_rank", ("expressions",)),
    exp.PercentRank: ("percent_rank", ("expressions",)),
    exp.CumeDist: ("cume_dist", ("expressions",)),
    exp.Ntile: ("ntile", ("this",)),
    exp.Lag: ("lag", ("this", "offset", "default")),
    exp.Lead: ("lead", ("this", "offset", "default")),
    exp.FirstValue: ("first_value", ("this",)),
    exp.LastValue: ("last_value", ("this",)),
    exp.NthValue: ("nth_value", ("this", "offset")),
}

# Functions that the parser knows by name only.
NAMED: Final[Mapping[str, str]] = {
    "clamp": "clamp",
    "date_part": "date_part",
    "datepart": "date_part",
    "doy": "part:doy",
    "weekday": "part:dow",
    "dow": "part:dow",
    "prefix": "starts_with",
    "suffix": "ends_with",
}

_MORE: Final = ("ROUND", "TRIM", "DATE_TRUNC", "EXTRACT")

_SYNONYMS: Final[Mapping[str, str]] = {
    "dayofweek": "dow",
    "weekday": "dow",
    "dayofyear": "doy",
    "dayofmonth": "day",
    "weekofyear": "week",
}


def known() -> list[str]:
    """The names of all functions and aggregates, as people write them."""
    functions = [node for node in (*ARGUMENTS, *PARTS) if issubclass(node, exp.Func)]
    listed = {name for node in functions for name in node.sql_names()}
    aggregates = {name for each in AGGREGATES for name in each.names}
    return sorted({*listed, *(name.upper() for name in NAMED), *_MORE, *aggregates})


def part_name(written: str) -> str:
    """The name of a date part, as operators know it."""
    lower = written.lower()
    return _SYNONYMS.get(lower, lower)
