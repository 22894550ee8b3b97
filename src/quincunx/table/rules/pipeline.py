"""The rules in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from quincunx.table.measure import Program
from quincunx.table.plan import Query
from quincunx.table.rules.bias import bias
from quincunx.table.rules.bound import bound
from quincunx.table.rules.clamp import clamp
from quincunx.table.rules.climb import climb
from quincunx.table.rules.draft import Draft
from quincunx.table.rules.growth import growth
from quincunx.table.rules.ladder import ladder
from quincunx.table.rules.lattice import lattice
from quincunx.table.rules.merge import merge
from quincunx.table.rules.scale import scale
from quincunx.table.rules.select import select
from quincunx.table.rules.share import share
from quincunx.table.rules.split import split
from quincunx.table.schema import Schema

RULES: Final[tuple[Callable[[Draft], Draft], ...]] = (
    merge,
    clamp,
    growth,
    climb,
    split,
    ladder,
    lattice,
    share,
    bound,
    scale,
    select,
    bias,
)


def plan(query: Query, schema: Schema, norm: Literal[1, 2]) -> Program:
    """The program of a question: its measures with their sensitivities in the ℓ1 or ℓ2 norm. Reads no data."""
    draft = Draft(query=query, schema=schema, norm=norm, bounds2={})
    for rule in RULES:
        draft = rule(draft)
    return draft.program()
