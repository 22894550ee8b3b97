"""What each query of each level may spend, and how much noise that is. Everything is rational and exact.

One step of the unit moves a marginal query by a squared ℓ2 distance of at most D, so noise of parameter σ² costs
ρ = D/(2σ²) for all places of the level together: two cells change in each level, and D = 2 (`measure.md`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from quincunx.errors import ParameterError
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.schema import Query, Schema
from quincunx.numbers import near, non_negative

# A person replaced: one cell less, one more. Two households replaced (a person leaves one and joins another): four.
PEOPLE: Final = 2
HOUSEHOLDS: Final = 8
# Rows that noise may add to the microdata: what fits in the memory of a small machine.
_MOST_ROWS: Final = 1 << 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """A query that is published exactly at one level."""

    level: int
    query: Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the budget. share: of the whole, as the plan says. rho: what it spends; 0 where the invariants fix
    its answer, and then it is not measured. sigma2: the noise's parameter σ², None where not measured."""

    level: int
    query: Query
    share: Fraction
    rho: Fraction
    sigma2: Fraction | None


def lines(
    schema: Schema,
    geography: Geography,
    *,
    shares: Mapping[str, Mapping[str, Any]],
    rho: Fraction,
    invariants: Sequence[Invariant],
    freed: str,
    distance: int = PEOPLE,
) -> tuple[Line, ...]:
    """The budget. shares: level → {"share": part of ρ, query: part of the level's}. freed: what becomes of the shares
    of queries that the invariants determine: "given" to the others in proportion, or "dropped", and then less than ρ
    is spent."""
    if freed not in ("given", "dropped"):
        hint = 'Write "given" (the others get it) or "dropped" (the noise stays as stated and less is spent).'
        raise ParameterError("unknown word", where="freed", got=repr(freed)[:40], hint=hint)
    found: list[tuple[int, Query, Fraction, bool]] = []
    for name in sorted(shares, key=lambda each: geography.level(each, "shares")):
        level, where = geography.level(name, "shares"), f"shares.{name}"
        given = dict(shares[name])
        if "share" not in given:
            raise ParameterError("share is missing", where=where, hint='Write the level\'s part of ρ: share = "1/4".')
        part = non_negative(given.pop("share"), f"{where}.share")
        parts = {query: non_negative(value, f"{where}.{query}") for query, value in given.items()}
        _whole(sum(parts.values(), Fraction(0)), f"{where}: its queries")
        for query_name, value in parts.items():
            query = schema.query(query_name, f"{where}.{query_name}")
            found.append((level, query, part * value, determined(schema, level, query, invariants)))
    level_shares = [non_negative(each["share"], "share") for each in shares.values()]
    _whole(sum(level_shares, Fraction(0)), "shares: the levels")
    paid = sum((share for _, _, share, free in found if not free), Fraction(0))
    if paid == 0:
        hint = "Give a share to a query that the invariants do not determine."
        raise ParameterError("nothing would be measured", where="shares", hint=hint)
    made = []
    for level, query, share, free in found:
        spent = Fraction(0) if free else rho * share / (paid if freed == "given" else 1)
        sigma2 = Fraction(distance, 2) / spent if spent else None
        made.append(Line(level=level, query=query, share=share, rho=spent, sigma2=sigma2))
    return tuple(made)


def check_rows(found: Sequence[Line], geography: Geography, *, first: bool) -> None:
    """Refuse noise that could make more rows of microdata than can be written, where their number is not published.

    Tables that are not negative gain at most about |noise| in each cell of any one query, so the query that says most
    decides. first: only the first level's are used for its tables.
    """
    sizes = [
        geography.nodes(line.level) * line.query.cells * math.sqrt(line.sigma2)
        for line in found
        if line.sigma2 is not None and not (first and line.level)
    ]
    if sizes and min(sizes) > _MOST_ROWS:
        what = f"so much noise could make more than {_MOST_ROWS:,} rows of microdata"
        hint = f"Raise rho, or make the total of {geography.names[0]} an invariant."
        raise ParameterError(what, where="rho", got=f"about {min(sizes):.2g}", hint=hint)


def determined(schema: Schema, level: int, query: Query, invariants: Sequence[Invariant]) -> bool:
    """Whether an invariant at this level or a lower one fixes the query's answer at this level."""
    return any(each.level >= level and schema.determines(each.query, query) for each in invariants)


def _whole(total: Fraction, where: str) -> None:
    if total != 1:
        got = f"{total} (about {near(total)})" if total.denominator > 1 else str(total)
        raise ParameterError("the shares do not add up to 1", where=where, got=got, hint='Write fractions: "1/3".')
