"""Columns of pandas that the engine's own reader would choke on, in a form that it reads whatever they hold.

Texts of Python objects may hold lone surrogates, which are no Unicode; objects may refuse to be texts; categories are
values; moments in a zone are converted to microseconds, which overflows. Each becomes what no row can spoil: a text
that is valid or missing, or the whole number that is stored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np

from quincunx.data import arrow
from quincunx.data.names import is_unicode
from quincunx.data.storage import MILLISECONDS, RAW_TEXT, SECONDS


def storage_of(dtype: Any) -> str | None:
    """How a column of this dtype arrives after `column_of`; None where the engine reads it as it is."""
    name = str(dtype)
    if hasattr(dtype, "pyarrow_dtype"):
        return arrow.storage(dtype.pyarrow_dtype)
    if name == "object" or _is_text(dtype) or (name == "category" and _is_text(dtype.categories.dtype)):
        return RAW_TEXT
    if name.startswith("datetime64[s,"):
        return SECONDS
    return MILLISECONDS if name.startswith("datetime64[ms,") else None


def _is_text(dtype: Any) -> bool:
    return str(dtype) in ("object", "str") or type(dtype).__name__ == "StringDtype"


def column_of(series: Any) -> Any:
    """The column as Arrow, or as a series of texts or whole numbers. Every row gives a value or is missing."""
    dtype = series.dtype
    if hasattr(dtype, "pyarrow_dtype"):
        return arrow.safe(series.array.__arrow_array__())
    if str(dtype) == "category":
        return _categories(series)
    if _is_text(dtype):
        return _texts(series)
    # Missing moments are the smallest whole number, which is no moment either.
    return type(series)(sys.modules["pandas"].DatetimeIndex(series).asi8)


def _categories(series: Any) -> Any:
    """A code for each row, and each category once; a category that is no text stands for nothing."""
    texts = list(_valid(series.cat.categories))
    names = [text for text in texts if text is not None]
    # The place of each category among those that are texts; the last entry is for rows without one, whose code is −1.
    counted = np.cumsum([text is not None for text in texts], dtype=np.int64) - 1
    place = np.append(np.where([text is not None for text in texts], counted, -1), -1).astype(np.int64)
    codes = place[series.cat.codes.to_numpy()]
    pyarrow = arrow.pyarrow()
    if pyarrow is None:
        return _series(series, np.array([*names, None], dtype=object)[codes])
    listed = pyarrow.array(names, type=pyarrow.string())
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(codes, mask=codes < 0), listed)


def _texts(series: Any) -> Any:
    if getattr(series.dtype, "storage", "") == "pyarrow":
        return series.array.__arrow_array__()
    return _series(series, _valid(series))


def _series(series: Any, texts: Iterable[str | None]) -> Any:
    """Texts in a dtype that says so: of objects the engine would guess the type from their values."""
    pandas = sys.modules["pandas"]
    return type(series)(list(texts), dtype=pandas.StringDtype("python"))


def _valid(values: Iterable[object]) -> Iterator[str | None]:
    """Each value as a text that is Unicode, or nothing. Objects are asked one by one, so that none spoils another."""
    for value in values:
        if type(value) is str and value.isascii():
            # Most texts are seen through at once: in pandas 2 every text is an object.
            yield value
            continue
        try:
            text = None if _missing(value) else str(value)
            yield text if text is None or is_unicode(text) else None
        except Exception:
            # An object that refuses to be a text has none; what it says about it, only its owner may know.
            yield None


def _missing(value: object) -> bool:
    pandas = sys.modules["pandas"]
    if value is None or value is pandas.NA or value is pandas.NaT:
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return value.is_nan() if isinstance(value, Decimal) else isinstance(value, float) and value != value
