"""Columns of a table as whole numbers: equal values, equal codes. What swapping needs to know of any kind of frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw

Integers: TypeAlias = NDArray[np.int64]
# Codes are below this many times the number of rows, so that strata can be counted in a table of modest size.
_SPREAD: Final = 4
EVERY: Final = slice(None)
# The product of two codes must fit into 64 bits.
_MOST: Final = 2**62


class Table(Protocol):
    """A table whose columns can be read as codes."""

    @property
    def types(self) -> dict[str, str]:
        """Column → type, in the words of `domain.Tables`, in the table's order."""
        ...

    @property
    def rows(self) -> int:
        """How many rows there are."""
        ...

    def incomplete(self, name: str) -> bool:
        """Whether the column has missing values."""
        ...

    def codes(self, name: str, rows: slice = EVERY) -> Integers:
        """A whole number ≥ 0 for each row, the same for equal values and not much larger than there are rows; missing
        values are equal to each other. With `rows`, for these alone, numbered among themselves."""
        ...


class Codes(Protocol):
    """`Table.codes`, by itself."""

    def __call__(self, name: str, rows: slice = EVERY) -> Integers:
        """The codes of the column, or of some of its rows."""
        ...


class FrameTable:
    """An eager frame of any kind that narwhals knows."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.types = {name: _type(name, dtype) for name, dtype in frame.schema.items()}

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.frame)

    def incomplete(self, name: str) -> bool:
        """Whether the column has missing values; a float that is not a number is one."""
        series = self.frame[name]
        return bool(series.is_null().any() or (series.dtype.is_float() and series.is_nan().any()))

    def codes(self, name: str, rows: slice = EVERY) -> Integers:
        """The codes of the column, or of some of its rows."""
        series = self.frame[name] if rows == EVERY else self.frame[name][rows]
        if not series.is_null().any():
            return _values(series, False)
        found, missing = _values(series, True), series.is_null().to_numpy()
        return np.where(missing, found[~missing].max(initial=-1) + 1, found)


def _type(name: str, dtype: Any) -> str:
    import narwhals as nw

    if dtype.is_integer():
        return "integer"
    if dtype.is_float() or dtype.is_decimal():
        return "decimal"
    kinds = {nw.String: "text", nw.Categorical: "text", nw.Enum: "text", nw.Object: "text"}
    kinds |= {nw.Boolean: "boolean", nw.Date: "date", nw.Datetime: "timestamp"}
    for kind, word in kinds.items():
        if dtype == kind:
            return word
    hint = "Convert it to numbers, texts or dates, or drop it."
    raise DataError(f"column {name!r} has a type that no schema describes", got=str(dtype)[:40], hint=hint)


def _values(series: nw.Series[Any], gaps: bool) -> Integers:
    import narwhals as nw

    dtype = series.dtype
    if dtype == nw.String:
        encode: Callable[[Any], Integers] = _ENCODERS.get(str(series.implementation), _by_hand)
        return encode(series)
    if gaps:
        return _by_hand(series)
    if dtype == nw.Date or dtype == nw.Datetime:
        unit: Any = "ns" if getattr(dtype, "time_unit", "us") == "ns" else "us"
        moments: NDArray[Any] = series.dt.timestamp(unit).to_numpy()
        return compact(moments)
    if dtype.is_integer() or dtype == nw.Boolean:
        numbers: NDArray[Any] = series.to_numpy()
        return compact(numbers)
    if dtype.is_float():
        # −0 equals 0, and what is not a number equals itself.
        values: NDArray[np.float64] = np.asarray(series.to_numpy(), dtype=np.float64) + 0.0
        values[np.isnan(values)] = np.nan
        return compact(values.view(np.int64))
    return _by_hand(series)


def _polars(series: nw.Series[Any]) -> Integers:
    import narwhals as nw

    codes: NDArray[Any] = series.cast(nw.Categorical()).to_native().to_physical().fill_null(0).to_numpy()
    return compact(codes.astype(np.int64))


def _pandas(series: nw.Series[Any]) -> Integers:
    codes: Integers = np.asarray(series.to_native().factorize()[0], dtype=np.int64)
    return np.maximum(codes, 0)


def _pyarrow(series: nw.Series[Any]) -> Integers:
    encoded = series.to_native().combine_chunks().dictionary_encode()
    chunks = encoded.chunks if hasattr(encoded, "chunks") else [encoded]
    parts = [chunk.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64) for chunk in chunks]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _by_hand(series: nw.Series[Any]) -> Integers:
    seen: dict[object, int] = {}
    return np.array([seen.setdefault(value, len(seen)) for value in series.to_list()], dtype=np.int64)


# How each kind of frame numbers its texts; any other is numbered by hand.
_ENCODERS: Final[dict[str, Callable[[Any], Integers]]] = {"polars": _polars, "pandas": _pandas, "pyarrow": _pyarrow}


def compact(values: NDArray[Any]) -> Integers:
    """The whole numbers themselves, moved to begin at 0; numbered anew where they are spread too widely to count by."""
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    if values.dtype == np.bool_:
        return values.astype(np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low >= _SPREAD * len(values):
        return numbered(values)
    if low:
        # Subtraction in the values' own type: what a uint64 holds need not fit into an int64 before it.
        values = values - values.dtype.type(low)
    return values.astype(np.int64, copy=False)


def numbered(values: NDArray[Any]) -> Integers:
    """0, 1, … for the different values, in their order, without gaps."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64, copy=False)


def combined(parts: Sequence[Integers], rows: int) -> Integers:
    """Codes of the tuples of several columns' codes; one code for all rows where there is no column."""
    if not parts:
        return np.zeros(rows, dtype=np.int64)
    total = parts[0]
    for part in parts[1:]:
        width = int(part.max(initial=0)) + 1
        if width * (int(total.max(initial=0)) + 1) > _MOST:
            total, part = numbered(total), numbered(part)  # noqa: PLW2901 - the same column, numbered anew
            width = int(part.max(initial=0)) + 1
        total = total * width
        total += part
        total = compact(total)
    return total
