"""Outputs of any kind as columns of numbers and labels, in which events are looked for.

A number is one column; an array, a tuple or a list of numbers has one for each coordinate; a mapping one for each key.
What has no numbers has a label: texts, None, exceptions, nested values. Numbers, arrays and tuples must keep their
shape: a mechanism that returns three numbers and then four is an error, not an event. The length of a list, a text,
a set or a mapping may vary: it is part of the output.
"""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.audit.blackbox.sampler import Raised
from quincunx.errors import DataError

Floats = NDArray[np.float64]
# Coordinates and keys beyond these are not looked at one by one.
_MOST_COLUMNS: Final = 64
_HINT: Final = "Return a list or a dict where the length is part of the answer; arrays and tuples keep their shape."


@dataclass(frozen=True, slots=True)
class Batch:
    """Outputs as numbers: one row for each output, NaN where it has no such number.

    labels: what an output is where it is not numbers alone, None where it is; empty where no output has one.
    """

    rows: Floats
    labels: Sequence[Hashable | None] = ()

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How outputs are read, learned from the first of them.

    names: of the columns, in words. shape: of the numbers, arrays and tuples; None where there are none of them.
    """

    names: tuple[str, ...]
    shape: tuple[int, ...] | None

    @classmethod
    def learn(cls, outputs: Iterable[tuple[Sequence[Any], str]]) -> Layout:
        """The layout of some outputs of both inputs, each with the words that name the input in errors."""
        shape: tuple[int, ...] | None = None
        names: dict[str, int] = {}
        for part, where in outputs:
            array = _array(part)
            if array is not None:
                shape = _kept(shape, array.shape[1:], where)
                names.update(dict.fromkeys(_coordinates(array.shape[1:]), 1))
                continue
            for output in part:
                found = _shape(output)
                shape = shape if found is None else _kept(shape, found, where)
                for name in _spread(output):
                    names[name] = names.get(name, 0) + 1
        # The most frequent columns are kept, in order of appearance.
        kept = sorted(names, key=lambda name: -names[name])[:_MOST_COLUMNS]
        return cls(names=tuple(name for name in names if name in set(kept)), shape=shape)

    def read(self, outputs: Sequence[Any], where: str) -> Batch:
        """Outputs as columns. `where` names the input, for errors."""
        array = _array(outputs)
        if array is not None:
            shape = _kept(self.shape, array.shape[1:], where)
            if self.names == tuple(_coordinates(shape)):
                return Batch(array.reshape(len(array), -1)[:, :_MOST_COLUMNS])
        rows = np.full((len(outputs), len(self.names)), np.nan)
        labels: list[Hashable | None] = []
        place = {name: i for i, name in enumerate(self.names)}
        for i, output in enumerate(outputs):
            found = _shape(output)
            if found is not None:
                _kept(self.shape, found, where)
            for name, value in _spread(output).items():
                if name in place:
                    rows[i, place[name]] = value
            labels.append(None if found is not None else _label(output))
        return Batch(rows, labels if any(label is not None for label in labels) else ())


def _array(outputs: Sequence[Any]) -> Floats | None:
    """Numbers, or arrays and tuples of numbers of one shape, as one array; None for anything else."""
    given: object = outputs
    if isinstance(given, np.ndarray):
        return given.astype(np.float64) if given.dtype.kind in "biuf" else None
    plain = {type(output) for output in outputs} <= {bool, int, float}
    shapes = set() if plain else {_shape(output) for output in outputs}
    if plain or (len(shapes) == 1 and None not in shapes):
        try:
            array = np.array(outputs)
        except (ValueError, OverflowError):
            return None
        return array.astype(np.float64) if array.dtype.kind in "biuf" else None
    return None


def _kept(known: tuple[int, ...] | None, found: tuple[int, ...], where: str) -> tuple[int, ...]:
    if known is not None and found != known:
        got = f"{_words(known)}, then {_words(found)}"
        raise DataError("the outputs change their shape", where=where, got=got, hint=_HINT)
    return found


def _words(shape: tuple[int, ...]) -> str:
    return "a number" if not shape else f"{shape[0]} numbers" if len(shape) == 1 else f"an array of shape {shape}"


def _shape(output: object) -> tuple[int, ...] | None:
    """The shape of a number, of an array of numbers or of a tuple of numbers; None for anything else."""
    if isinstance(output, np.ndarray):
        return output.shape if output.dtype.kind in "biuf" else None
    if isinstance(output, tuple):
        return (len(output),) if output and all(_number(each) is not None for each in output) else None
    return () if _number(output) is not None else None


def _number(value: object) -> float | None:
    if isinstance(value, numbers.Real | Decimal | np.bool_):
        try:
            return float(value)
        except (OverflowError, ValueError):
            return None
    return None


def _coordinates(shape: tuple[int, ...]) -> list[str]:
    if not shape:
        return ["output"]
    places = list(np.ndindex(*shape))[:_MOST_COLUMNS]
    return [f"output[{', '.join(map(str, place))}]" for place in places]


def _spread(output: object) -> dict[str, float]:
    """The numbers of an output by name."""
    if isinstance(output, np.ndarray) and output.dtype.kind in "biuf":
        return dict(zip(_coordinates(output.shape), output.ravel().astype(float).tolist(), strict=False))
    if (number := _number(output)) is not None:
        return {"output": number}
    if isinstance(output, Mapping):
        found = {f"{key!r} in output": 1.0 for key in output}
        found |= {f"output[{key!r}]": x for key, value in output.items() if (x := _number(value)) is not None}
        return {"len(output)": float(len(output)), **found}
    if isinstance(output, tuple | list):
        places = list(output)[:_MOST_COLUMNS]
        found = {f"output[{i}]": x for i, value in enumerate(places) if (x := _number(value)) is not None}
        return found if isinstance(output, tuple) else {"len(output)": float(len(output)), **found}
    if isinstance(output, AbstractSet | str | bytes):
        return {"len(output)": float(len(output))}
    return {}


def _label(output: object) -> Hashable:
    """What an output is, as something that can be counted: equal outputs have equal labels."""
    if output is None or isinstance(output, str | bytes | Raised):
        return output if output is not None else "None"
    if isinstance(output, Mapping):
        return "dict", tuple(sorted(f"{key!r}: {_label(value)!r}" for key, value in output.items()))
    if isinstance(output, AbstractSet):
        return "set", tuple(sorted(map(repr, output)))
    if isinstance(output, list | tuple):
        return type(output).__name__, tuple(_label(each) for each in output)
    return repr(output)
