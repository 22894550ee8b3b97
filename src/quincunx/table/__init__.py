"""Private tables: sources and their declarations, SQL, plans and rules, engines.

DuckDB is loaded when it is first used: data that live elsewhere are read by engines of their own.
"""

from typing import TYPE_CHECKING

from quincunx.lazy import exports
from quincunx.table.aggregates import (
    AGGREGATES,
    Estimate,
    Expected,
    Floats,
    LinearForm,
    Noise,
    Part,
    decimals,
    exact_decimal,
    quotient,
)
from quincunx.table.content import Content
from quincunx.table.declaration import question_limits
from quincunx.table.engines import ENGINES, Engine, KeptFile, Result, keep_rows, open_engine
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
from quincunx.table.measure import Climb, Grid, Ladder, Measure, Program, Selection, columns_read
from quincunx.table.plan import CHOSEN, Key, Output, Query
from quincunx.table.rules import plan as planned
from quincunx.table.rules.climbing import climbing, rungs
from quincunx.table.schema import Auto, ColumnSchema, Limits, Link, Schema, TableSchema
from quincunx.table.sql import read as read_sql
from quincunx.table.table import Table
from quincunx.table.table import schema as schema_of

# A checker of types sees the names themselves, so that a name that is not there stays an error.
if TYPE_CHECKING:
    from quincunx.table.engines import DuckDB, evaluate
    from quincunx.table.engines.postgres.source import Postgres
    from quincunx.table.engines.spark.source import Spark
else:
    __getattr__, __dir__ = exports(
        __name__,
        {
            "DuckDB": ("quincunx.table.engines", "DuckDB"),
            "Postgres": ("quincunx.table.engines.postgres.source", "Postgres"),
            "Spark": ("quincunx.table.engines.spark.source", "Spark"),
            "evaluate": ("quincunx.table.engines", "evaluate"),
        },
    )

__all__ = ["Postgres", "Spark", "Table"]
