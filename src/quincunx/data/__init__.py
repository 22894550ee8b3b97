"""Data of this machine: which types they arrive in, how frames and files are read, and how they are written back.

Reading converts nothing that could fail on a row (origin.md). DuckDB is loaded when something is opened.
"""

from quincunx.data.connection import connect
from quincunx.data.delimited import observed
from quincunx.data.files import check_local
from quincunx.data.names import distinct_names, is_unicode
from quincunx.data.notation import Notation, read_notation
from quincunx.data.opening import origin_of
from quincunx.data.origin import Found, Hidden, Origin
from quincunx.data.out import FrameT, copy_to, write_file
from quincunx.data.sealed import Given, Sealed, Statement, given
from quincunx.data.server import check_encrypted, server_parts
from quincunx.data.sql import (
    binary,
    both,
    call,
    cast,
    choose,
    column,
    literal,
    option,
    quoted,
    text,
    try_cast,
)
from quincunx.data.storage import (
    DAY_MILLISECONDS,
    MARK,
    MARKED_TEXT,
    MILLISECONDS,
    RAW_TEXT,
    SECONDS,
    decimal_parts,
    engine_type,
    frame_name,
    numerals,
    type_of,
    unchecked,
)

__all__ = [
    "DAY_MILLISECONDS",
    "MARK",
    "MARKED_TEXT",
    "MILLISECONDS",
    "RAW_TEXT",
    "SECONDS",
    "Found",
    "FrameT",
    "Given",
    "Hidden",
    "Notation",
    "Origin",
    "Sealed",
    "Statement",
    "binary",
    "both",
    "call",
    "cast",
    "check_encrypted",
    "check_local",
    "choose",
    "column",
    "connect",
    "copy_to",
    "decimal_parts",
    "distinct_names",
    "engine_type",
    "frame_name",
    "given",
    "is_unicode",
    "literal",
    "numerals",
    "observed",
    "option",
    "origin_of",
    "quoted",
    "read_notation",
    "server_parts",
    "text",
    "try_cast",
    "type_of",
    "unchecked",
    "write_file",
]
