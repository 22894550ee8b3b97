"""What a swap did to the data, for the curator's eyes: nothing here is protected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from quincunx.invariant.swapping.columns import Integers
from quincunx.invariant.swapping.dependence import Dependence


@dataclass(frozen=True, slots=True, kw_only=True)
class TableError:
    """How far one two-way table of the swapped data is from the truth.

    columns: the column that stayed and the swapped columns. cells: how many cells are not empty before the swap.
    misplaced: records counted in another cell, half of Σ|after − before|. mean_absolute_error: the mean of
    |after − before| over cells that are not empty before or after. mean_absolute_percentage_error: the mean of
    100·|after − before|/before over cells that are not empty before, in percent.
    """

    columns: tuple[str, ...]
    cells: int
    misplaced: int
    mean_absolute_error: float
    mean_absolute_percentage_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Exact facts about one swap. They are not protected: do not publish them.

    records: how many rows. units: how many records or households could be selected. strata: how many strata.
    selected: how many units were selected. moved: how many units have other values than before, which is fewer where
    equal values were exchanged. dependences: columns that stay and give the swap away, with the share of records.
    """

    records: int
    units: int
    strata: int
    selected: int
    moved: int
    dependences: tuple[Dependence, ...]
    _table: Callable[[str], TableError] = field(repr=False, compare=False)
    _rest: tuple[str, ...] = field(repr=False)

    def table(self, column: str) -> TableError:
        """The error of the table of `column`, one that stayed in its place, by the swapped columns."""
        return self._table(column)

    @property
    def tables(self) -> tuple[TableError, ...]:
        """The errors of all such tables, computed when asked."""
        return tuple(self._table(column) for column in self._rest)


def table_error(columns: tuple[str, ...], rest: Integers, before: Integers, after: Integers) -> TableError:
    """The error of the table of `rest` by the swapped value, given as codes `before` and `after` the swap."""
    width = int(before.max(initial=0)) + 1
    cells, places = np.unique(np.concatenate((rest * width + before, rest * width + after)), return_inverse=True)
    counts = np.bincount(places[: len(rest)], minlength=len(cells))
    changes = np.abs(np.bincount(places[len(rest) :], minlength=len(cells)) - counts)
    known = counts > 0
    return TableError(
        columns=columns,
        cells=int(known.sum()),
        misplaced=int(changes.sum()) // 2,
        mean_absolute_error=float(changes.mean()) if len(cells) else 0.0,
        mean_absolute_percentage_error=float((100 * changes[known] / counts[known]).mean()) if len(cells) else 0.0,
    )
