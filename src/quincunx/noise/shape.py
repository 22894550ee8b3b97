"""What `size` means: None is one Python int, a number is a length, a tuple is a shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import ParameterError

Size: TypeAlias = int | tuple[int, ...] | None


def _dimension(value: object) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < 0:
        got = type(value).__name__ if not isinstance(value, int | np.integer) else str(value)
        hint = "Give a length, a tuple of lengths, or None for one draw."
        raise ParameterError("must be a whole number, 0 or greater", where="size", got=got, hint=hint)
    return int(value)


def shaped(size: object, draw: Callable[[int], NDArray[Any]], draw_one: Callable[[], Any] | None = None) -> Any:
    """Call `draw` with the number of values that `size` asks for and shape what it returns.

    `draw_one` is the short way to one value, where a sampler has one.
    """
    if size is None:
        return draw(1)[0].item() if draw_one is None else draw_one()
    shape = tuple(_dimension(part) for part in size) if isinstance(size, tuple) else (_dimension(size),)
    return draw(math.prod(shape)).reshape(shape)
