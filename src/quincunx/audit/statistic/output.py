"""What a statistic gave for one world: numbers by place, and everything else about it that an observer could see."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.audit.spaces.literal import literal
from quincunx.errors import DataError

Path: TypeAlias = tuple[Hashable, ...]

_NUMBERS: Final = (int, float, Fraction, Decimal, np.number, np.bool_)
# Longer texts of a world are cut in messages.
_SHOWN: Final = 400


@dataclass(slots=True)
class Output:
    """One result, taken apart. A path leads from the whole to a place in it: keys and indices.

    numbers: what stands at each place, as it came. arrays: arrays of numbers, in one row. types: of every place and
    container, with dtype. sizes: length or shape of sequences and arrays. keys: of mappings, in order. undefined:
    places without a finite number. foreign: places that hold something which is no number. raised, warned: the types
    of the exception and the warnings.
    """

    numbers: dict[Path, Any] = field(default_factory=dict)
    arrays: dict[Path, NDArray[Any]] = field(default_factory=dict)
    types: dict[Path, str] = field(default_factory=dict)
    sizes: dict[Path, tuple[int, ...]] = field(default_factory=dict)
    keys: dict[Path, tuple[Hashable, ...]] = field(default_factory=dict)
    undefined: dict[Path, str] = field(default_factory=dict)
    foreign: dict[Path, str] = field(default_factory=dict)
    raised: str = ""
    warned: tuple[str, ...] = ()
    value: Any = None

    @property
    def shown(self) -> str:
        """The result as text, cut where it is long."""
        text = f"raises {self.raised}" if self.raised else literal(self.value)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

    def visible(self) -> tuple[Any, ...]:
        """All that two calls on one world must agree on."""
        exact = {path: _exact(number) for path, number in self.numbers.items() if path not in self.undefined}
        rows = {path: array.tobytes() for path, array in self.arrays.items()}
        return exact, rows, self.types, self.sizes, self.keys, self.undefined, self.raised, self.warned


def call(statistic: Callable[[Any], Any], world: Any) -> Output:
    """The statistic on a world: its result, or the type of what it raised."""
    output = Output()
    with warnings.catch_warnings(record=True) as caught:
        # Every time, whatever was shown before: a warning that comes once depends on the history.
        warnings.simplefilter("always")
        try:
            output.value = statistic(world)
        except Exception as error:  # the finding itself: an exception tells the worlds apart
            output.raised = type(error).__name__
        else:
            _read(output, output.value, ())
    output.warned = tuple(sorted({each.category.__name__ for each in caught}))
    return output


def foreign(output: Output, world: Any) -> DataError:
    """The error of a result that holds something which is no number, with the world on which it did."""
    path, kind = next(iter(output.foreign.items()))
    place = f"at {literal(path)}" if path else "as a whole"
    hint = "Return a number, a sequence or mapping of numbers, or a NumPy array of numbers."
    got = f"{kind} for {literal(world)[:_SHOWN]}"
    return DataError(f"the result is no number {place}", where="statistic", got=got, hint=hint)


def _read(output: Output, value: Any, path: Path) -> None:
    output.types[path] = type(value).__name__
    if isinstance(value, np.ndarray):
        _read_array(output, value, path)
    elif isinstance(value, _NUMBERS):
        _read_number(output, value, path)
    elif value is None:
        output.undefined[path] = "None"
    elif isinstance(value, Mapping):
        output.keys[path] = tuple(value)
        for key, each in value.items():
            _read(output, each, (*path, key))
    elif isinstance(value, list | tuple):
        output.sizes[path] = (len(value),)
        for i, each in enumerate(value):
            _read(output, each, (*path, i))
    else:
        output.foreign[path] = type(value).__name__


def _read_number(output: Output, value: Any, path: Path) -> None:
    if isinstance(value, complex | np.complexfloating):
        output.foreign[path] = type(value).__name__
        return
    output.numbers[path] = value
    if isinstance(value, Decimal):
        finite = value.is_finite()
    else:
        finite = not isinstance(value, float | np.floating) or bool(np.isfinite(value))
    if not finite:
        output.undefined[path] = str(value)


def _read_array(output: Output, value: NDArray[Any], path: Path) -> None:
    output.types[path] = f"array of {value.dtype.name}"
    output.sizes[path] = value.shape
    if np.ma.isMaskedArray(value):
        output.types[path] = f"masked {output.types[path]}"
        value = np.where(np.ma.getmaskarray(value), np.nan, np.ma.getdata(value))
    if value.dtype.kind not in "biufO":
        output.foreign[path] = output.types[path]
        return
    if value.dtype.kind == "O":
        for place in np.ndindex(value.shape):
            _read(output, value[place], (*path, *place))
        return
    output.arrays[path] = value.ravel()
    if not np.isfinite(value).all():
        place = tuple(int(each) for each in np.argwhere(~np.isfinite(np.atleast_1d(value)))[0])
        output.undefined[(*path, *place)] = str(np.atleast_1d(value)[place])


def distances(before: Output, after: Output) -> list[Fraction]:
    """By how much each number differs, exactly; what is missing in one world counts as 0. Zeros may be left out."""
    paths = dict.fromkeys((*before.numbers, *after.numbers))
    found = [difference(before.numbers.get(path, 0), after.numbers.get(path, 0)) for path in paths]
    for path in dict.fromkeys((*before.arrays, *after.arrays)):
        first, second = before.arrays.get(path), after.arrays.get(path)
        a = np.zeros_like(second) if first is None else first
        b = np.zeros_like(first) if second is None else second
        # Equal entries are most of a large array; only the others become rationals.
        moved = np.nonzero(a != b)
        found += [difference(x, y) for x, y in zip(a[moved].tolist(), b[moved].tolist(), strict=True)]
    return found


def difference(a: Any, b: Any) -> Fraction:
    """The exact distance of two finite numbers; floats are the binary fractions that they are."""
    return abs(_exact(a) - _exact(b))


def _exact(value: Any) -> Fraction:
    if isinstance(value, np.bool_ | np.integer):
        return Fraction(int(value))
    if isinstance(value, np.floating):
        return Fraction(*value.as_integer_ratio())
    return Fraction(value) if math.isfinite(value) else Fraction(0)
