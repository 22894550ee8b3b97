"""SQL over published columns, worked out in a sealed connection, with intervals for what comes out. See then.md.

Everything is post-processing of published numbers and of the public law of their noise: it costs nothing, and is part
of no question. A column that depends on keys alone has no interval. One that is a published column keeps its own. One
that is proved to be linear in noisy numbers has an exact interval. Every other number has one by simulation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from quincunx.data import Given, Sealed, given, quoted
from quincunx.errors import QueryError
from quincunx.release.column import Column
from quincunx.release.drawn import DRAWS
from quincunx.release.lineage import Kind, Lineage, Origin, lineage
from quincunx.release.linear_form import Noises, half_width, standard_error
from quincunx.table import Floats

Tables: TypeAlias = Mapping[str, tuple[Column, ...]]

# What a statement calls the table that it is worked out from, where there is one.
TABLE: Final = "answer"
SIMULATED: Final = f"simulated: by {DRAWS:,} draws of the stored noise"
_BARE: Final = "no interval: it is no number"
_ALIKE: Final = "no interval: rows that depend on noise cannot be told apart by keys"
_END: Final = "as published beside its number"
_LAWLESS: Final = "no interval: the law of its noise is not at hand"
_LARGE: Final = "no interval: too many rows for a simulation"
# Cells of one column over all draws, and numbers of which a linear output is taken apart.
_CELLS: Final = 4_000_000
_PROBES: Final = 400
_SUFFIXES: Final = {"low": "_low", "high": "_high", "se": "_se"}
_TYPES: Final = {
    "BOOLEAN": "boolean", "VARCHAR": "text", "DATE": "date", "TIMESTAMP": "timestamp",
    **dict.fromkeys(("DOUBLE", "FLOAT"), "float"),
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
        "integer",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """For each row of a result the ends of an interval and a standard error; NaN where there is none."""

    low: Floats
    high: Floats
    se: Floats


def derived_columns(tables: Tables, sql: str, confidence: Fraction) -> tuple[Column, ...]:
    """The columns of a statement over published tables, each number that depends on noise with its companions."""
    with Sealed({name: given(columns) for name, columns in tables.items()}) as sealed:
        statement = sealed.check(sql)
        found = sealed.run(statement.text)
    _check_names(found.names)
    values = [[_value(row[place]) for row in found.rows] for place in range(len(found.names))]
    columns = [_column(*each) for each in zip(found.names, found.types, values, strict=True)]
    # The order and LIMIT of the result choose rows and change none.
    origins = lineage(statement.unordered, _kinds(tables), len(columns))
    bands = _passed(tables, columns, origins)
    wanted = [
        place
        for place, origin in enumerate(origins.columns)
        if origin.kind and place not in bands and _numeric(columns[place]) and not _is_end(tables, origin)
    ]
    more, why = _simulated(tables, statement.unordered, columns, origins, wanted, 1 - confidence)
    return tuple(
        each
        for place, column in enumerate(columns)
        for each in _with_companions(columns, place, origins, bands | more, why.get(place, ""), tables)
    )


def _check_names(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            hint = "Give one of them another name with AS."
            raise QueryError("two columns of the result have the same name", where="then", got=repr(name), hint=hint)
        seen.add(name.lower())


def _kinds(tables: Tables) -> dict[str, dict[str, Kind]]:
    return {name.lower(): {c.name.lower(): _kind(c, columns) for c in columns} for name, columns in tables.items()}


def _kind(column: Column, columns: Sequence[Column]) -> Kind:
    if column.role == "key":
        return Kind.KEYS
    if column.role == "value":
        return Kind.UNKNOWN if column.drawn is None else Kind.LINEAR if column.drawn.linear else Kind.OTHER
    whose = _value_of(column, columns)
    return Kind.OTHER if whose is not None and whose.drawn is not None else Kind.UNKNOWN


def _value_of(column: Column, columns: Iterable[Column]) -> Column | None:
    """The column whose companion this one is."""
    if column.role not in _SUFFIXES:
        return None
    name = column.name.removesuffix(_SUFFIXES[column.role])
    return next((each for each in columns if each.name == name), None)


def _passed(tables: Tables, columns: Sequence[Column], origins: Lineage) -> dict[int, tuple[Column, Band]]:
    """Published columns that came through as they are, with the intervals of the rows that they came from."""
    found = {}
    for place, origin in enumerate(origins.columns):
        if origin.kind == Kind.KEYS or origin.passed is None:
            continue
        table, name, way = origin.passed
        source = next(columns for each, columns in tables.items() if each.lower() == table)
        column = next(each for each in source if each.name.lower() == name)
        ends = [_companion(column, source, role) for role in ("low", "high", "se")]
        rows = _source_rows(source, (table, way), columns, origins.columns)
        if column.role == "value" and rows is not None and all(end is not None for end in ends):
            numbers = [_floats(end.values[row] for row in rows) for end in ends if end is not None]
            found[place] = (column, Band(low=numbers[0], high=numbers[1], se=numbers[2]))
    return found


def _is_end(tables: Tables, origin: Origin) -> bool:
    """Whether a column is a companion of a published one, as it was published."""
    if origin.passed is None:
        return False
    table, name, _ = origin.passed
    source = next(columns for each, columns in tables.items() if each.lower() == table)
    return any(each.role in _SUFFIXES and each.name.lower() == name for each in source)


def _companion(column: Column, columns: Iterable[Column], role: str) -> Column | None:
    wanted = column.name + _SUFFIXES[role]
    return next((each for each in columns if each.role == role and each.name == wanted), None)


def _source_rows(
    source: Sequence[Column], way: tuple[str, tuple[str, ...]], columns: Sequence[Column], origins: Sequence[Origin]
) -> list[int] | None:
    """For each row of the result the row of a table that it came from; None where keys do not tell."""
    shown = {
        origin.passed[1]: columns[place].values
        for place, origin in enumerate(origins)
        if origin.passed is not None and (origin.passed[0], origin.passed[2]) == way and origin.kind == Kind.KEYS
    }
    keys = [each for each in source if each.role == "key" and each.name.lower() in shown]
    size = len(source[0].values)
    places = {tuple(each.values[row] for each in keys): row for row in range(size)}
    count = len(columns[0].values)
    wanted = [tuple(shown[each.name.lower()][row] for each in keys) for row in range(count)]
    known = len(places) == size and all(each in places for each in wanted)
    return [places[each] for each in wanted] if known else None


def _simulated(
    tables: Tables, text: str, columns: Sequence[Column], origins: Lineage, wanted: Sequence[int], risk: Fraction
) -> tuple[dict[int, tuple[Column | None, Band]], dict[int, str]]:
    """Intervals of the columns at these places, and what is to be said about them."""
    lawless = [place for place in wanted if Kind.UNKNOWN in (origins.columns[place].kind, origins.rows)]
    why = dict.fromkeys(lawless, _LAWLESS)
    wanted = [place for place in wanted if place not in why]
    count = len(columns[0].values)
    if not wanted or not count:
        return {}, why
    rows = max(count, *(len(each[0].values) for each in tables.values()))
    if rows * DRAWS > _CELLS:
        return {}, why | dict.fromkeys(wanted, _LARGE)
    linear = [place for place in wanted if origins.columns[place].kind == Kind.LINEAR and origins.rows == Kind.KEYS]
    probes = _probes(tables) if linear else []
    if len(probes) > _PROBES:
        linear, probes = [], []
    keys = [place for place, origin in enumerate(origins.columns) if origin.kind == Kind.KEYS]
    runs = _runs(tables, text, columns, keys, wanted, probes)
    if runs is None:
        return {}, why | dict.fromkeys(wanted, _ALIKE)
    bands: dict[int, tuple[Column | None, Band]] = {}
    for place in wanted:
        if place in linear:
            bands[place] = (None, _exact(runs[place], probes, risk))
        else:
            bands[place] = (None, _quantiles(runs[place][1 : DRAWS + 1], rows, risk, wide=origins.picked[place]))
            why[place] = SIMULATED
    return bands, why


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One noisy number, moved by `by`: which table, column and row it is in, and its noise."""

    table: str
    column: Column
    row: int
    by: float

    @property
    def noises(self) -> list[tuple[tuple[str, int, int], float, Noises]]:
        """The name of each noise in it, its slope and its law."""
        drawn = self.column.drawn
        if drawn is None:
            return []
        return [
            ((drawn.origin, each.number, drawn.groups[self.row]), each.slopes[self.row], _law(each.noise, each.unit))
            for each in drawn.motions
        ]

    @property
    def rounding(self) -> float:
        """The noisy number less the published one."""
        value = self.column.values[self.row]
        return 0.0 if self.column.drawn is None or value is None else self.column.drawn.centres[self.row] - float(value)


def _law(noise: Any, unit: float) -> Noises:
    return Noises(noise=noise, unit=unit)


def _probes(tables: Tables) -> list[Probe]:
    found = []
    for name, columns in tables.items():
        for column in columns:
            drawn = column.drawn
            if column.role == "value" and drawn is not None and drawn.linear:
                wide = max((Noises(noise=each.noise, unit=each.unit).spread for each in drawn.motions), default=1.0)
                by = 2.0 ** max(0, round(math.log2(wide))) if wide > 0 else 1.0
                found += [Probe(table=name, column=column, row=row, by=by) for row in range(len(column.values))]
    return found


def _runs(
    tables: Tables,
    text: str,
    columns: Sequence[Column],
    keys: Sequence[int],
    wanted: Sequence[int],
    probes: list[Probe],
) -> dict[int, Floats] | None:
    """For each wanted column its numbers in each run and row, NaN where a row is missing.

    Run 0 is over the published numbers, then come the draws, then the probes. None where rows cannot be told apart.
    """
    total = 1 + DRAWS + len(probes)
    handed = {f"runs of {name}": _stacked(name, each, total, probes) for name, each in tables.items()}
    chosen = ", ".join(
        f"{quoted(name)} AS (SELECT {', '.join(quoted(c.name) for c in each)} "
        f"FROM {quoted(f'runs of {name}')} AS q WHERE q.run = r.run)"
        for name, each in tables.items()
    )
    whole = f"SELECT r.run, t.* FROM range({total}) AS r(run), LATERAL (WITH {chosen} SELECT * FROM ({text}) AS u) AS t"
    try:
        with Sealed(handed) as sealed:
            found = sealed.run(whole)
    except QueryError:
        return None
    count = len(columns[0].values)
    places = {tuple(columns[key].values[row] for key in keys): row for row in range(count)}
    if len(places) < count:
        return None
    runs = {place: np.full((total, count), np.nan) for place in wanted}
    seen = np.zeros((total, count), dtype=np.int64)
    for row in found.rows:
        at = places.get(tuple(_value(row[1 + key]) for key in keys))
        if at is not None:
            seen[row[0], at] += 1
            for place in wanted:
                # Over a published 0 a quotient is infinite: no number here, as in the column that is shown.
                value = _value(row[1 + place])
                runs[place][row[0], at] = np.nan if value is None else float(value)
    # Over the published numbers, every row must be there once, and be what was worked out without the runs.
    same = all(np.allclose(runs[place][0], _floats(columns[place].values), equal_nan=True) for place in wanted)
    return runs if same and (seen[0] == 1).all() and (seen <= 1).all() else None


def _stacked(name: str, columns: Sequence[Column], total: int, probes: list[Probe]) -> list[Given]:
    """A table with all its runs, one below the other."""
    size = len(columns[0].values)
    moved = {each.name: _moved(name, each, total, probes) for each in columns if each.drawn is not None}
    found = [
        Given(name="run", values=np.repeat(np.arange(total), size), present=np.ones(total * size, bool), type="BIGINT")
    ]
    for column, one in zip(columns, given(columns), strict=True):
        values, present, kind = np.tile(one.values, total), np.tile(one.present, total), one.type
        whose = column if column.drawn is not None else _value_of(column, columns)
        if whose is not None and whose.drawn is not None and column.role != "se":
            numbers = moved[whose.name]
            if whose is not column:
                # The ends of an interval move with its middle.
                numbers = numbers + np.tile(_floats(column.values) - numbers[:size], total)
            present = np.isfinite(numbers)
            values = np.where(present, numbers, 0.0)
            values = np.rint(values) if column.type == "integer" else values
        found.append(Given(name=column.name, values=values, present=present, type=kind))
    return found


def _moved(name: str, column: Column, total: int, probes: list[Probe]) -> Floats:
    drawn, published = column.drawn, _floats(column.values)
    runs = np.tile(published, (total, 1))
    if drawn is not None:
        runs[1 : DRAWS + 1] = drawn.values()
    for number, probe in enumerate(probes):
        if probe.table == name and probe.column is column:
            runs[1 + DRAWS + number, probe.row] += probe.by
    return runs.reshape(-1)


def _exact(runs: Floats, probes: list[Probe], risk: Fraction) -> Band:
    """Σ c·(exact number) for each row, from how far each probe moved it."""
    coefficients = (runs[1 + DRAWS :] - runs[0]) / np.array([[probe.by] for probe in probes])
    # What is left of cancelling digits is no coefficient.
    scale = np.nanmax(np.abs(coefficients), axis=0, initial=0.0)
    ends = []
    for row in range(runs.shape[1]):
        terms: dict[tuple[str, int, int], tuple[float, Noises]] = {}
        middle = runs[0, row]
        for c, probe in zip(coefficients[:, row].tolist(), probes, strict=True):
            if abs(c) > 1e-9 * scale[row]:
                middle += c * probe.rounding
                for noise, slope, law in probe.noises:
                    before = terms.get(noise, (0.0, law))[0]
                    terms[noise] = (before + c * slope, law)
        half = half_width(list(terms.values()), risk) * (1 + 1e-8)
        ends.append((middle - half, middle + half, standard_error(list(terms.values()))))
    low, high, se = (np.array(each) for each in zip(*ends, strict=True))
    return Band(low=low, high=high, se=se)


def _quantiles(runs: Floats, rows: int, risk: Fraction, *, wide: bool) -> Band:
    """From the draws of each row. What takes no more values than there are rows jumps, as ranks do: all count then.

    wide: an extreme may have been picked, whose draws are off to one side: all count too.
    """
    low, high, se = (np.full(runs.shape[1], np.nan) for _ in range(3))
    jumps = len(np.unique(runs[np.isfinite(runs)])) <= rows
    cut = 0 if wide or jumps else math.floor(len(runs) * risk / 2)
    for row in range(runs.shape[1]):
        known = np.sort(runs[np.isfinite(runs[:, row]), row])
        if 2 * len(known) >= len(runs):
            less = min(cut, (len(known) - 1) // 2)
            low[row], high[row], se[row] = known[less], known[-1 - less], known.std()
    return Band(low=low, high=high, se=se)


def _with_companions(
    columns: Sequence[Column],
    place: int,
    origins: Lineage,
    bands: Mapping[int, tuple[Column | None, Band]],
    why: str,
    tables: Tables,
) -> list[Column]:
    column, origin = columns[place], origins.columns[place]
    if origin.kind == Kind.KEYS:
        return [replace(column, role="key")]
    role = _band_role(columns, place, origins)
    if role is not None:
        return [replace(column, role=role)]
    if place not in bands:
        note = _END if _is_end(tables, origin) else why or ("" if _numeric(column) else _BARE)
        return [replace(column, note=note)]
    source, band = bands[place]
    about = ("simulated" if why == SIMULATED else "") if source is None else source.about
    known = replace(column, note=why if source is None else source.note, about=about)
    near = _floats(column.values)
    ends = {"low": np.fmin(band.low, near), "high": np.fmax(band.high, near), "se": band.se}
    both = np.isfinite(band.low) & np.isfinite(band.high) & np.isfinite(near)
    names = {each.name.lower() for each in columns}
    more = []
    for end, suffix in _SUFFIXES.items():
        if (column.name + suffix).lower() not in names:
            shown = np.where(both if end != "se" else np.isfinite(near), ends[end], np.nan)
            values = tuple(None if not math.isfinite(value) else value for value in shown.tolist())
            more.append(Column(name=column.name + suffix, type="float", role=end, values=values))  # type: ignore[arg-type]
    return [known, *more]


def _band_role(columns: Sequence[Column], place: int, origins: Lineage) -> Any:
    """low, high or se, for a column that was selected beside the one whose companion it is."""
    passed = origins.columns[place].passed
    for role, suffix in _SUFFIXES.items():
        if passed is not None and passed[1].endswith(suffix) and columns[place].name.lower() == passed[1]:
            whose = passed[0], passed[1].removesuffix(suffix), passed[2]
            if any(
                each.passed == whose and c.name.lower() == whose[1]
                for c, each in zip(columns, origins.columns, strict=True)
            ):
                return role
    return None


def _column(name: str, kind: str, values: list[Any]) -> Column:
    decimal = re.fullmatch(r"DECIMAL\(\d+,\s*(\d+)\)", kind)
    found = "decimal" if decimal else _TYPES.get(kind)
    if found is None:
        hint = "Cast it to a number, a text, a date or a moment."
        raise QueryError("a column of this type cannot be shown", where="then", got=f"{name}: {kind}"[:80], hint=hint)
    return Column(name=name, type=found, role="value", values=tuple(values), scale=int(decimal[1]) if decimal else 0)


def _numeric(column: Column) -> bool:
    return column.type in ("integer", "decimal", "float")


def _value(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _floats(values: Iterable[Any]) -> Floats:
    return np.array([math.nan if _missing(value) else float(value) for value in values], dtype=np.float64)


def _missing(value: Any) -> bool:
    return value is None or isinstance(value, str | date) or (isinstance(value, Decimal) and not value.is_finite())
