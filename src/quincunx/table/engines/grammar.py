"""Texts that are values: one grammar for each type, the same on every engine. What is not of it has no value.

Only ASCII, with spaces around. A text of the grammar has a value on every engine, so that its CAST cannot fail: numbers
are short enough, and a date is one of the calendar, leap years included.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.typed_sql import Piece, call, choose, whole
from quincunx.table.schema import LENGTH

INTEGER: Final = "[+-]?[0-9]{1,37}"
# At most 10^250 and, unless it is 0, at least 10^−250 in size: inside the doubles, and then brought into the range.
DECIMAL: Final = (
    r"[+-]?([0-9]{1,100}(\.[0-9]{0,100})?|\.[0-9]{1,100})([eE][+-]?(0?0?[0-9]|0?[1-9][0-9]|1[0-4][0-9]|150))?"
)
_YEAR: Final = "([0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})"
_LEAP: Final = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
DATE: Final = (
    f"({_YEAR}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    f"|02-(0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
)
TIMESTAMP: Final = rf"{DATE}([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{{1,6}})?)?)?"
TRUE: Final = "([tT]([rR][uU][eE])?|1)"
FALSE: Final = "([fF]([aA][lL][sS][eE])?|0)"

_GRAMMARS: Final = {"HUGEINT": INTEGER, "DOUBLE": DECIMAL, "DATE": DATE, "TIMESTAMP": TIMESTAMP}


def around(grammar: str) -> str:
    """The grammar with spaces around."""
    return f" *{grammar} *"


def stored(d: Dialect, x: Piece, kind: str) -> Piece:
    """What a text of a column says; a regular expression has no memory for one of hundreds of megabytes."""
    fits = exp.LTE(this=call("OCTET_LENGTH", x.sql.copy()), expression=whole(LENGTH))
    return Piece(sql=choose([(fits, value(d, x, kind).sql)], exp.null()), type=kind)


def value(d: Dialect, x: Piece, kind: str) -> Piece:
    """What a text says, as a value of the type; NULL where it is not of the grammar."""
    if kind == "BOOLEAN":
        cases = [
            (d.matches(x.sql.copy(), around(each)), found) for each, found in ((TRUE, exp.true()), (FALSE, exp.false()))
        ]
        return Piece(sql=choose(cases, exp.null()), type=kind)
    fits = d.matches(x.sql.copy(), around(_GRAMMARS[kind]))
    bare = Piece(sql=d.text("trim", x.sql), type="VARCHAR")
    return Piece(sql=choose([(fits, d.attempt(bare, kind))], exp.null()), type=kind)
