"""What a replay found: how many cases of each kind, how close they came, and what broke a declaration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from quincunx.audit.gap import Gap
from quincunx.audit.tables.world import Pair, Row
from quincunx.errors import VerificationError
from quincunx.table import Program, Schema

# What is compared of the choice of limits: whose place on its ladder changes, and by how much.
CHOICE: Final = "choice of limits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A kind of case and how it fared.

    aggregate: the label of a measure ("COUNT(*)", "SUM" …), "votes" or "choice of limits"; unit, limits, keys: in
    words. cases: how many (question, pair) cases were compared. largest: the largest distance as a part of what is
    declared, above 1 for a violation; near 1 shows that the worlds were hard.
    """

    aggregate: str
    unit: str
    limits: str
    keys: str
    cases: int
    largest: float

    @property
    def kind(self) -> tuple[str, str, str, str]:
        """What the cell is about, without its numbers."""
        return self.aggregate, self.unit, self.limits, self.keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A question and two neighbouring worlds that are farther apart than declared. The worlds are generated, not data.

    part: which comparison failed ("measure 0", "votes", "votes of new keys", "new keys", "choice"), or "engine" where
    the engine failed on a world. gap: by how much; None for "engine". columns: the names of the columns of the rows, by
    table. pair: the worlds, shrunk. norm: 1 or 2.
    """

    sql: str
    norm: int
    unit: str
    limits: str
    part: str
    gap: Gap | None
    columns: Mapping[str, tuple[str, ...]]
    pair: Pair

    def __str__(self) -> str:
        lines = [f"{self.part}, ℓ{self.norm}, {self.unit}, limits: {self.limits}", f"  {self.sql}"]
        if self.gap is not None:
            lines.append(f"  distance² {self.gap.distance2}, declared {self.gap.allowed2}")
        for title, pieces in (("both", self.pair.common), ("before", self.pair.before), ("after", self.pair.after)):
            rows = [(piece.table, row) for piece in pieces for row in piece.rows]
            lines += [f"  {title}: {self._shown(table, row)}" for table, row in rows[:10]]
            lines += [f"  {title}: and {len(rows) - 10:,} more rows"] if len(rows) > 10 else []
        return "\n".join(lines)

    def _shown(self, table: str, row: Row) -> str:
        named = zip(self.columns[table], row, strict=True)
        shown = ", ".join(f"{name} = {cell!r}" for name, cell in named if cell is not None) or "a row of NULL"
        return shown if len(self.columns) == 1 else f"{table}: {shown}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The report of a replay. cases: (question, pair) cases compared. refused: questions that no plan was made for."""

    cases: int
    refused: int
    cells: tuple[Cell, ...]
    violations: tuple[Violation, ...]

    @property
    def holds(self) -> bool:
        """Whether no declaration was broken; also true where nothing was compared, which `check` refuses."""
        return not self.violations

    def check(self) -> Replay:
        """The report itself; a VerificationError where a declaration was broken or nothing was compared."""
        if self.violations:
            shown = "\n".join(str(violation) for violation in self.violations[:3])
            what = f"{len(self.violations)} of {self.cases:,} cases broke a declared sensitivity\n{shown}"
            raise VerificationError(what, where="replay")
        if not self.cases:
            # A check that nothing went through must not look like one that was passed.
            what = f"nothing was compared: {self.refused:,} questions were refused"
            raise VerificationError(what, where="replay", hint="Ask about a private table, in the accepted SQL.")
        return self

    def __str__(self) -> str:
        widths = [max(len(row[i]) for row in self._rows()) for i in range(6)]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in self._rows()]
        last = f"{self.cases:,} cases, {self.refused:,} questions refused, {len(self.violations):,} violations"
        return "\n".join([*(line.rstrip() for line in lines), last])

    def _rows(self) -> list[tuple[str, ...]]:
        title = ("aggregate", "unit", "limits", "keys", "cases", "largest")
        return [title, *((*cell.kind, f"{cell.cases:,}", f"{cell.largest:.6f}") for cell in self.cells)]

    def __add__(self, other: Replay) -> Replay:
        """Both reports as one."""
        return Replay(
            cases=self.cases + other.cases,
            refused=self.refused + other.refused,
            cells=merged((*self.cells, *other.cells)),
            violations=(*self.violations, *other.violations),
        )


EMPTY = Replay(cases=0, refused=0, cells=(), violations=())


def merged(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """One cell for each kind, in order."""
    found: dict[tuple[str, ...], Cell] = {}
    for cell in cells:
        known = found.get(cell.kind)
        cases, largest = (0, 0.0) if known is None else (known.cases, known.largest)
        found[cell.kind] = Cell(
            aggregate=cell.aggregate,
            unit=cell.unit,
            limits=cell.limits,
            keys=cell.keys,
            cases=cases + cell.cases,
            largest=max(largest, cell.largest),
        )
    return tuple(found[kind] for kind in sorted(found))


def labels(program: Program) -> list[str]:
    """The aggregate of each measure, in words."""
    aggregates = [""] * len(program.measures)
    for parts, aggregate in zip(program.parts, program.query.aggregates, strict=True):
        for role, (part, label) in enumerate(zip(parts, aggregate.labels(), strict=True)):
            if not role or not aggregates[part]:
                aggregates[part] = label
    return aggregates


def unit_words(schema: Schema) -> str:
    """The unit of protection in a few words."""
    unit = schema.unit
    what = "row" if unit.key is None else "person" if unit.per is None else f"person-{unit.per.period}"
    return f"{unit.kind} {what}" + (f" x {unit.group}" if unit.group > 1 else "")


def limit_words(program: Program) -> str:
    """Which limits there are, without their amounts; "auto" where one is chosen."""
    stated = [name for name, amount in program.query.rows.limits.stated.items() if amount is not None]
    return " + ".join(["auto", *stated] if program.climb is not None else stated) or "none"


def key_words(program: Program) -> str:
    """Whether the keys are public."""
    known = [key.values is not None for key in program.query.keys]
    return "no keys" if not known else "public" if all(known) else "mixed" if any(known) else "unknown"
