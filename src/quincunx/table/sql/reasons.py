"""Why a node of the parser's tree is refused, and what to write instead."""

from __future__ import annotations

import difflib
from typing import Final, TypeAlias

from sqlglot import exp

from quincunx.table.aggregates import AGGREGATES
from quincunx.table.sql.functions import known
from quincunx.table.sql.rewrites import instead

Reason: TypeAlias = tuple[str, str]

_CLOCK: Final = (
    "the clock is no part of the data: the same question must have the same answer",
    "Write the date, as in DATE '2024-02-29'.",
)
_CHANCE: Final = (
    "a result must be a fixed function of each row",
    "Leave randomness out; the noise is added by the mechanism.",
)
_SETTING: Final = ("this depends on the server, not on the data", "Leave it out.")
_INNER: Final = (
    "a subquery here would look at the rows of other people",
    "Write the values themselves, as in x IN ('a', 'b'), or in WHERE a subquery about the same person.",
)
# The first three, and where all are: a hint is one line, however many there come to be.
_KNOWN: Final = f"There are {', '.join(each.names[0] for each in AGGREGATES[:3])} and more: docs/reference/sql.md."
_SINGLE: Final = ("this aggregate shows the value of a single row", _KNOWN)
_AGGREGATE: Final = ("this aggregate is not on the list", _KNOWN)
_ORDERED: Final = (
    "this aggregate depends on the order of rows, which depends on other people",
    "Use MIN or MAX.",
)
_WINDOW: Final = ("window functions compare rows of different people", "Use GROUP BY with an aggregate.")
_NESTED: Final = ("lists and structs are not understood", "Use columns of single values.")
_PATTERN: Final = ("regular expressions are not understood", "Write LIKE, STARTS_WITH, ENDS_WITH or CONTAINS.")
_JOIN: Final = ("joins in brackets are not understood", "Write them one after another: FROM a JOIN b ON … JOIN c ON ….")
_LATERAL: Final = (
    "LATERAL is not understood",
    "Write JOIN … ON …, and QUALIFY ROW_NUMBER() OVER (PARTITION BY …) = 1 in a subquery for the first row of each.",
)
_GROUPING: Final = ("groups of several kinds are not understood", "Ask one question for each GROUP BY.")
_PARAMETER: Final = ("parameters are not understood", "Write the value itself into the question.")
_PIVOT: Final = ("PIVOT is not understood", "Use GROUP BY.")
_SAMPLE: Final = ("samples are not understood", "Ask about all rows.")
_FUNCTION: Final = (
    "this function is not on the list of those that are fixed, total and bounded",
    "Leave it out; docs/reference/sql.md lists them.",
)

# Aggregates of which a roll-up could be made if rows had an order of their own.
ORDERED: Final = (exp.First, exp.Last, exp.AnyValue, exp.ArgMin, exp.ArgMax, exp.Mode, exp.GroupConcat, exp.ArrayAgg)

# The first class that fits decides, so that special ones stand before general ones.
NODES: Final[tuple[tuple[tuple[type[exp.Expr], ...], Reason], ...]] = (
    ((exp.Window,), _WINDOW),
    ((exp.SetOperation,), ("questions cannot be joined by UNION, EXCEPT or INTERSECT", "Ask one question for each.")),
    ((exp.Lateral,), _LATERAL),
    ((exp.Exists, exp.Any, exp.All, exp.Subquery, exp.Select), _INNER),
    ((exp.Pivot,), _PIVOT),
    ((exp.TableSample,), _SAMPLE),
    ((exp.Rollup, exp.Cube, exp.GroupingSets), _GROUPING),
    ((exp.Placeholder, exp.Parameter, exp.SessionParameter), _PARAMETER),
    ((exp.Rand, exp.Randn, exp.Uuid), _CHANCE),
    (
        (exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp, exp.CurrentDatetime, exp.Localtime),
        _CLOCK,
    ),
    ((exp.CurrentUser, exp.CurrentVersion, exp.CurrentSchema, exp.CurrentCatalog), _SETTING),
    (
        (exp.Min, exp.Max, exp.First, exp.Last, exp.AnyValue, exp.ArgMin, exp.ArgMax, exp.Mode),
        _SINGLE,
    ),
    ((exp.IgnoreNulls, exp.RespectNulls), _AGGREGATE),
    ((exp.AggFunc,), _AGGREGATE),
    ((exp.RegexpLike, exp.RegexpILike, exp.RegexpExtract, exp.RegexpReplace, exp.SimilarTo, exp.Glob), _PATTERN),
    ((exp.Escape,), ("LIKE with ESCAPE is not understood", "Write CONTAINS for a text with % or _ in it.")),
    ((exp.Collate,), ("collations depend on the server's settings", "Compare LOWER(x) with a text.")),
    (
        (exp.Lambda, exp.Kwarg, exp.PropertyEQ),
        ("functions of functions are not understood", "Write the expression itself."),
    ),
    (
        (exp.Array, exp.Struct, exp.Bracket, exp.Tuple, exp.Map, exp.Explode, exp.Unnest, exp.JSONExtract, exp.Dot),
        _NESTED,
    ),
    (
        (exp.Interval,),
        ("intervals of time are not understood", "Compare with a date, or group by DATE_TRUNC or a date part."),
    ),
    ((exp.Pow,), ("powers are not understood", "Multiply: x * x.")),
    ((exp.Values,), ("a list of values is no private table", "Name a private table in FROM.")),
    ((exp.ReadCSV, exp.ReadParquet), ("a question reads declared tables only, no files", "Name a table in FROM.")),
    (
        (exp.DataTypeParam,),
        ("types with a size are not understood", "Write BIGINT, DOUBLE or VARCHAR; ROUND(x, digits) for decimals."),
    ),
    (
        (exp.ByteString, exp.HexString, exp.BitString, exp.RawString),
        ("this kind of text is not understood", "Write '…'."),
    ),
    ((exp.Columns, exp.PositionalColumn), ("columns must be named one by one", "Write their names.")),
    ((exp.Try,), ("TRY is not needed: every operator gives NULL where it has no result", "Leave TRY out.")),
    ((exp.Var,), ("this word is not understood here", "Name a column or an aggregate.")),
    ((exp.Func,), _FUNCTION),
)

# (node, part) → why that part of an otherwise accepted node is refused.
PARTS: Final[dict[tuple[str, str], Reason]] = {
    ("Select", "distinct"): ("SELECT DISTINCT shows which values exist", "Use GROUP BY and add COUNT(*)."),
    ("Join", "method"): (
        "NATURAL, ASOF and POSITIONAL joins are not understood",
        "Write JOIN … USING (…) or JOIN … ON ….",
    ),
    ("Select", "laterals"): _LATERAL,
    ("Select", "sample"): _SAMPLE,
    ("Table", "sample"): _SAMPLE,
    ("Subquery", "sample"): _SAMPLE,
    ("Select", "qualify"): ("QUALIFY compares rows of different people", "Use GROUP BY and HAVING with an aggregate."),
    ("Select", "windows"): _WINDOW,
    ("Select", "locks"): ("a question changes and locks nothing", "Leave FOR UPDATE out."),
    ("Select", "into"): ("a question stores nothing", "Leave INTO out."),
    ("Select", "pivots"): _PIVOT,
    ("Table", "pivots"): _PIVOT,
    ("Subquery", "pivots"): _PIVOT,
    ("Table", "joins"): _JOIN,
    ("Subquery", "joins"): _JOIN,
    ("Table", "db"): ("a table is named by one word", "Write the name under which it was declared."),
    ("Table", "catalog"): ("a table is named by one word", "Write the name under which it was declared."),
    ("Column", "db"): ("a column is named by at most two words", "Write table.column."),
    ("Column", "catalog"): ("a column is named by at most two words", "Write table.column."),
    ("Group", "rollup"): _GROUPING,
    ("Group", "cube"): _GROUPING,
    ("Group", "grouping_sets"): _GROUPING,
    ("With", "recursive"): ("recursive queries are not understood", "Leave RECURSIVE out."),
    ("CTE", "materialized"): ("the engine decides what it materialises", "Leave MATERIALIZED out."),
    ("Limit", "limit_options"): ("LIMIT takes a number of rows", "Write a whole number."),
    ("In", "query"): _INNER,
    ("In", "field"): ("IN takes a list in brackets", "Write x IN (1, 2, 3)."),
    ("Between", "symmetric"): ("BETWEEN SYMMETRIC is not understood", "Write the smaller bound first."),
    ("WindowSpec", "exclude"): ("a frame is taken whole: EXCLUDE is not understood", "Leave EXCLUDE out."),
    ("Count", "expressions"): ("COUNT takes one column", "Write one COUNT for each column."),
    ("Star", "except_"): ("columns must be named one by one here", "List the columns that you want."),
    ("Star", "replace"): ("columns must be named one by one here", "List the columns that you want."),
    ("Star", "rename"): ("columns must be named one by one here", "List the columns that you want."),
    ("Trim", "expression"): ("TRIM removes blanks only", "Write TRIM(x)."),
    ("Order", "this"): ("the order of rows inside an aggregate is not understood", "Leave ORDER BY out."),
    ("DataType", "expressions"): (
        "types with a size are not understood",
        "Write BIGINT, DOUBLE or VARCHAR; ROUND(x, digits) for decimals.",
    ),
    ("DataType", "nested"): _NESTED,
    ("Ceil", "decimals"): ("CEIL takes one argument", "Write ROUND(x, digits)."),
    ("Floor", "decimals"): ("FLOOR takes one argument", "Write ROUND(x, digits)."),
}

# Node, or node.part → the words to underline where the parser marks no place.
WORDS: Final[dict[str, tuple[str, ...]]] = {
    "Select.distinct": ("DISTINCT",),
    "Select.locks": ("FOR",),
    "With.recursive": ("RECURSIVE",),
    "CTE.materialized": ("MATERIALIZED",),
    "Between.symmetric": ("SYMMETRIC",),
    "WindowSpec.exclude": ("EXCLUDE",),
    "Placeholder": ("?", "$", ":"),
    "CurrentDate": ("CURRENT_DATE", "TODAY"),
    "CurrentTime": ("CURRENT_TIME",),
    "CurrentTimestamp": ("CURRENT_TIMESTAMP",),
    "CurrentUser": ("CURRENT_USER",),
    "Collate": ("COLLATE",),
    "JSON": ("JSON",),
}

# Functions that the parser knows by name only, and that deserve their own reason.
NAMES: Final[dict[str, Reason]] = {
    "now": _CLOCK,
    "today": _CLOCK,
    "get_current_timestamp": _CLOCK,
    "transaction_timestamp": _CLOCK,
    "current_localtimestamp": _CLOCK,
    "getenv": _SETTING,
    "current_setting": _SETTING,
    "version": _SETTING,
    "nextval": _CHANCE,
    "setseed": _CHANCE,
    "list": _AGGREGATE,
    "row": _NESTED,
}


def why(node: exp.Expr) -> Reason:
    """The reason for a node that is not listed, and what to write instead."""
    if isinstance(node, exp.Anonymous):
        return NAMES.get(node.name.lower()) or _misspelt(node.name) or _FUNCTION
    if isinstance(node, ORDERED) and node.find_ancestor(exp.Subquery, exp.CTE) is not None:
        return _ORDERED
    for classes, (what, hint) in NODES:
        if isinstance(node, classes):
            return what, instead(node) or hint
    return "this part of the question is not on the list of what is understood", "Leave it out."


def _misspelt(name: str) -> Reason | None:
    close = difflib.get_close_matches(name.upper(), known(), n=1, cutoff=0.75)
    return (_FUNCTION[0], f"Did you mean {close[0]}?") if close and close[0] != name.upper() else None
