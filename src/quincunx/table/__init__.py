"""Private tables: sources and their declarations, SQL, plans and rules, engines."""

from quincunx.table.aggregates import AGGREGATES, Estimate, Floats, Part, decimals, exact_decimal
from quincunx.table.engines import ENGINES, DuckDB, Engine, Result, evaluate, open_engine
from quincunx.table.expression import (
    NUMBERS,
    Call,
    Column,
    Expression,
    GroupKey,
    Literal,
    Measured,
    Slot,
    Value,
)
from quincunx.table.interval import Bounds, End
from quincunx.table.measure import Measure, Program, Selection, columns_read
from quincunx.table.plan import Key, Query
from quincunx.table.rules import plan as planned
from quincunx.table.schema import ColumnSchema, Limits, Schema, TableSchema
from quincunx.table.sql import read as read_sql
from quincunx.table.table import Table
from quincunx.table.table import schema as schema_of

__all__ = ["Table"]
