"""Swapping as a differentially private release: the data leave with the guarantee that they satisfy (`swap.md`)."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quincunx import noise
from quincunx.errors import DataError, QuincunxWarning, kind_of
from quincunx.invariant.swapping.columns import FrameTable, Integers, Table, combined
from quincunx.invariant.swapping.dependence import Dependence, dependences
from quincunx.invariant.swapping.epsilon import Kind, SwapEpsilon, read_rate
from quincunx.invariant.swapping.rearrange import rearrangement, shuffle
from quincunx.invariant.swapping.report import Report, TableError, table_error
from quincunx.invariant.swapping.strata import Roles, Strata, identifies, read_roles, read_strata
from quincunx.numbers import Number
from quincunx.spec import Counts, Hamming, Invariants, Pure, Specification, Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Swapped:
    """A swapped table with its guarantee.

    frame: the swapped data, of the kind that came in, in uniformly random order, without index and household key.
    specification: pure privacy per record (or household) of Hamming distance, among datasets that agree on the
    invariants. epsilon: its ε, with the theorem's bound. report: what happened, for the curator's eyes only. injected:
    whether the randomness came from a test key, so that nothing is private.
    """

    frame: Any = field(repr=False)
    specification: Specification
    epsilon: SwapEpsilon
    report: Report = field(repr=False)
    injected: bool

    @property
    def invariants(self) -> Invariants:
        """The tables that are published exactly by the release, at no cost inside its scope."""
        return invariants_of(self.specification)

    def words(self) -> str:
        """The guarantee in words, what is published exactly, and what the smallest change costs."""
        return described(self.specification, self.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A swap before it is written: row order[i] leaves as number i, with the values of row source[order[i]]."""

    order: Integers
    source: Integers
    roles: Roles
    specification: Specification
    epsilon: SwapEpsilon
    report: Report
    injected: bool


def swap(
    frame: Any,
    *,
    column: str | list[str] | tuple[str, ...],
    match: str | list[str] | tuple[str, ...],
    rate: Number,
    kind: str = "derangement",
    household: str | None = None,
    move: str | list[str] | tuple[str, ...] = (),
) -> Swapped:
    """Exchange the values of `column` at random between records that agree on `match`.

    frame: an eager data frame that narwhals knows (pandas, Polars, PyArrow and others); the same kind comes out.
    column: the swapped column, or several that move together. match: the columns that define a stratum; an empty list
    makes the whole table one. rate: p, the probability with which a record is selected, 0 < p < 1, or ≤ 1 for the
    uniform kind. kind: "derangement" or "uniform", as in `Kind`. household: the column that identifies households,
    which then move as a whole and are the unit of protection; the key itself is not in what comes out. move: columns
    that go along with `column`, because they would give the swap away if they stayed.
    """
    import narwhals as nw

    try:
        inside = nw.from_native(frame, eager_only=True)
    except (TypeError, ValueError) as error:
        hint = "Give a data frame of pandas, Polars or PyArrow; collect a lazy one first."
        raise DataError("expected a data frame", where="frame", got=kind_of(frame), hint=hint) from error
    drawn = draw(FrameTable(inside), column=column, match=match, rate=rate, kind=kind, household=household, move=move)
    kept = [name for name in inside.columns if name != drawn.roles.household]
    moved = nw.maybe_reset_index(inside.select(drawn.roles.column)[drawn.source[drawn.order]])
    still = [name for name in kept if name not in drawn.roles.column]
    stayed = nw.maybe_reset_index(inside.select(still)[drawn.order]) if still else moved
    made = nw.from_dict({name: (stayed if name in still else moved)[name] for name in kept})
    return Swapped(
        frame=made.to_native(),
        specification=drawn.specification,
        epsilon=drawn.epsilon,
        report=drawn.report,
        injected=drawn.injected,
    )


def draw(
    table: Table, *, column: object, match: object, rate: Number, kind: object, household: object, move: object = ()
) -> Drawn:
    """Check everything, then draw; the table itself is left as it is."""
    chosen = Kind.read(kind)
    share = read_rate(rate, chosen)
    roles = read_roles(table, column, match, household, move)
    moving = {name: table.codes(name) for name in roles.column}
    swapped = combined(list(moving.values()), table.rows)
    strata = read_strata(table, roles, swapped)
    epsilon = SwapEpsilon(rate=share, largest_stratum=strata.largest, kind=chosen)
    specification = specified(table.types, roles, epsilon)
    # Rules between columns are looked for beside the drawing, which knows nothing of them.
    with ThreadPoolExecutor(max_workers=1) as beside:
        rest = roles.rest if strata.largest else ()
        looked = beside.submit(lambda: tuple(dependences(strata, moving, rest, table.codes)))
        to, from_ = rearrangement(strata.of, share, chosen)
        order = shuffle(table.rows)
        given_away = looked.result()
    _warn(table, roles, strata, given_away)
    source = _sources(strata, to, from_)

    def error(name: str) -> TableError:
        if name not in roles.rest:
            hint = f"Choose among {', '.join(roles.rest)}."
            raise DataError("tables of this column are exact, or it is unknown", where="table", got=name, hint=hint)
        return table_error((name, *roles.column), table.codes(name), swapped, swapped[source])

    report = Report(
        records=table.rows,
        units=len(strata.of),
        strata=int(np.count_nonzero(np.bincount(strata.of))),
        selected=len(to),
        moved=int(np.count_nonzero(swapped[strata.first[to]] != swapped[strata.first[from_]])),
        dependences=given_away,
        _table=error,
        _rest=roles.rest,
    )
    return Drawn(
        order=order,
        source=source,
        roles=roles,
        specification=specification,
        epsilon=epsilon,
        report=report,
        injected=noise.injected(),
    )


def _sources(strata: Strata, to: Integers, from_: Integers) -> Integers:
    """For each row the row whose values it receives."""
    givers = np.arange(len(strata.of), dtype=np.int64)
    givers[to] = from_
    # Without households a unit is a row.
    return givers if strata.units is strata.first else strata.first[givers[strata.units]]


def _warn(table: Table, roles: Roles, strata: Strata, given_away: tuple[Dependence, ...]) -> None:
    if strata.largest == 0:
        what = (
            "no stratum has two records with different values to swap and different other columns, so swapping changes "
            "nothing: the data leave as they are, and all of them are invariants"
        )
        warnings.warn(what, QuincunxWarning, stacklevel=4)
        return
    for name in roles.rest:
        if table.types[name] in ("integer", "text") and identifies(table, name):
            what = (
                f"column {name!r} has a different value in every row and leaves beside the columns that are not "
                "swapped, as an identifier would; drop it unless it is meant to be published"
            )
            warnings.warn(what, QuincunxWarning, stacklevel=4)
    for each in given_away:
        warnings.warn(each.words("record" if roles.household is None else "household"), QuincunxWarning, stacklevel=4)


def specified(types: dict[str, str], roles: Roles, epsilon: SwapEpsilon) -> Specification:
    """The guarantee of a swap. The invariants are the counts by (match, rest) and by (match, swapped).

    They fix b, on which ε depends, so ε is stated for the universes with this b and no others.
    """
    unit = "record" if roles.household is None else "household"
    universe = f"the largest stratum that can swap has {epsilon.largest_stratum:,} {unit}s"
    return Specification(
        domain=Tables(columns=types),
        scope=_scope(roles),
        unit=Hamming(key=roles.household),
        standard=Pure(),
        intensity={universe: epsilon.intensity},
    )


def _scope(roles: Roles) -> Invariants:
    fixed, moving = (*roles.match, *roles.rest), (*roles.match, *roles.column)
    if roles.household is None:
        groupings = [Counts(*moving)] + ([Counts(*fixed)] if roles.rest else [])
        return Invariants({each.name: each for each in groupings})
    keys, swapped = ", ".join(roles.match) or "no column", ", ".join(roles.column)
    facts = {f"households by {' × '.join(moving)}": f"number of households for each value of {', '.join(moving)}"}
    if roles.rest:
        facts[f"households by {' × '.join(roles.match)} and members"] = (
            f"number of households for each value of {keys} and each list of members, described by "
            f"{', '.join(roles.rest)}; everything but {swapped}"
        )
    return Invariants(facts)


def invariants_of(specification: Specification) -> Invariants:
    """The scope of a swap's specification."""
    if not isinstance(specification.scope, Invariants):
        raise DataError("this is not the specification of a swap", got=kind_of(specification.scope))
    return specification.scope


def described(specification: Specification, epsilon: SwapEpsilon) -> str:
    """The specification in words, with what the smallest change costs."""
    record = "record" if specification.unit == Hamming() else "household"
    return f"{specification.describe()}\n\n{epsilon.words(record)}"
