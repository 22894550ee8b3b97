"""Values as Python text that can be pasted into a test: NaN and infinities too, heaps of equal items as products."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import singledispatch
from itertools import groupby
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# So many equal items in a row are written [item] * count.
_HEAP: Final = 4


@singledispatch
def literal(value: object) -> str:
    """The value as an expression that gives it again; `np` is NumPy."""
    return repr(value)


@literal.register(float)
def _float(value: float) -> str:
    return float.__repr__(value) if math.isfinite(value) else f'float("{float(value)}")'


# float64 is a float too; its own type is part of what it is.
@literal.register(np.floating)
def _numpy_float(value: np.floating[Any]) -> str:
    return repr(value) if np.isfinite(value) else f'np.{value.dtype.name}("{value}")'


@literal.register(np.ndarray)
def _array(value: NDArray[Any]) -> str:
    return f"np.array({literal(value.tolist())}, dtype={value.dtype.name!r})"


@literal.register(list)
def _list(value: list[Any]) -> str:
    return _joined(value, lambda items: f"[{', '.join(items)}]")


@literal.register(tuple)
def _tuple(value: tuple[Any, ...]) -> str:
    return _joined(value, lambda items: f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})")


@literal.register(dict)
def _dict(value: dict[Any, Any]) -> str:
    return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"


@literal.register(frozenset)
@literal.register(set)
def _set(value: frozenset[Any] | set[Any]) -> str:
    # Sorted by text: the order of a set is no part of it.
    listed = ", ".join(sorted(map(literal, value)))
    braces = f"{{{listed}}}" if value else ""
    return braces or "set()" if isinstance(value, set) else f"frozenset({braces})"


def _joined(value: Iterable[Any], bracket: Callable[[list[str]], str]) -> str:
    plain: list[str] = []
    parts: list[str] = []
    for text, count in _runs(value):
        if count < _HEAP:
            plain += [text] * count
            continue
        parts += [bracket(plain)] if plain else []
        parts.append(f"{bracket([text])} * {count}")
        plain = []
    if plain or not parts:
        parts.append(bracket(plain))
    return " + ".join(parts)


def _runs(value: Iterable[Any]) -> Iterator[tuple[str, int]]:
    for text, run in groupby(map(literal, value)):
        yield text, sum(1 for _ in run)
