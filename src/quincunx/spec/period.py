"""Calendar periods: the "day" in a person-day, and which periods lie inside which."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from quincunx.errors import SpecificationError, kind_of
from quincunx.spec.domain import Domain

# period → its name on the calendar; weeks are ISO weeks, which begin on Monday
_NAMES: Final[dict[str, Callable[[date], tuple[int, ...]]]] = {
    "day": lambda day: (day.year, day.month, day.day),
    "week": lambda day: day.isocalendar()[:2],
    "month": lambda day: (day.year, day.month),
    "quarter": lambda day: (day.year, (day.month + 2) // 3),
    "year": lambda day: (day.year,),
}

# (finer, coarser) → the largest number of finer periods in a coarser one; weeks straddle months and years
_INSIDE: Final = {
    ("day", "week"): 7,
    ("day", "month"): 31,
    ("day", "quarter"): 92,
    ("day", "year"): 366,
    ("month", "quarter"): 3,
    ("month", "year"): 12,
    ("quarter", "year"): 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Per:
    """A unit's period. `column`: the date or timestamp column; `period`: day, week, month, quarter or year."""

    column: str
    period: str

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise SpecificationError("expected the name of a column", where="per", got=kind_of(self.column))
        if self.period not in _NAMES:
            hint = f"Choose among {', '.join(_NAMES)}."
            raise SpecificationError("unknown period", where="per", got=repr(self.period), hint=hint)

    @classmethod
    def read(cls, value: Per | Mapping[str, str] | None) -> Per | None:
        """From a mapping with exactly the keys "column" and "period", or as it is."""
        if value is None or isinstance(value, Per):
            return value
        if not isinstance(value, Mapping) or set(value) != {"column", "period"}:
            hint = 'Write per={"column": "visit_date", "period": "day"}.'
            raise SpecificationError("cannot read the period", where="per", got=kind_of(value), hint=hint)
        return cls(**value)

    def check_type(self, domain: Domain) -> None:
        """Raise unless the column is declared a date or a timestamp; finite worlds declare no types."""
        found = domain.column(self.column)
        if found is not None and found[1] not in (None, "date", "timestamp"):
            hint = "Choose a column of type date or timestamp."
            got = str(found[1])
            raise SpecificationError(f"column {self.column!r} has no calendar", where="per", got=got, hint=hint)

    def of(self, value: Hashable) -> Hashable:
        """The period of a value: a date, a timestamp or their ISO texts. A missing value is a period of its own."""
        if value is None:
            return None
        try:
            day = datetime.fromisoformat(value) if isinstance(value, str) else value
        except ValueError:
            day = value
        if not isinstance(day, date):
            hint = 'Write dates as datetime.date or as "2024-02-29".'
            raise SpecificationError(
                f"a value of {self.column!r} is not a date", where="per", got=kind_of(value), hint=hint
            )
        return _NAMES[self.period](day)


def pieces(ours: Per | None, theirs: Per | None) -> int | None:
    """How many of a person's `ours` pieces must be added or removed to add or remove one `theirs` piece, at most.

    None stands for all rows of the person. Same period: 1. Ours coarser: 2, removing the whole and adding it back
    without the part. Ours finer: as many as lie in theirs; unbounded for a whole person (None).
    """
    if ours == theirs:
        return 1
    if ours is None:
        return 2
    if theirs is None or ours.column != theirs.column:
        return None
    if (theirs.period, ours.period) in _INSIDE:
        return 2
    return _INSIDE.get((ours.period, theirs.period))
