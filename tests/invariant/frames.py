"""Tables of every kind of frame, that several test files share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import pytest

KINDS = ["pandas", "polars", "pyarrow"]


def frame(kind: str, columns: Mapping[str, Sequence[Any]]) -> Any:
    """A frame of the kind; skipped, by name, where the library is missing."""
    module = pytest.importorskip(kind)
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[kind]
    return getattr(module, make)({name: list(values) for name, values in columns.items()})


def rows(native: Any, columns: Sequence[str] | None = None) -> list[tuple[Any, ...]]:
    """The rows as tuples, in order; missing values as None."""
    inside = nw.from_native(native, eager_only=True)
    names = list(columns or inside.columns)
    lists = [[None if value != value else value for value in inside[name].to_list()] for name in names]
    return list(zip(*lists, strict=True))


def counts(native: Any, columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
    return Counter(rows(native, columns))
