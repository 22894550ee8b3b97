"""What `size` means: None is one Python int, a number is a length, a tuple is a shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import ParameterError

Shape: TypeAlias = int | tuple[int, ...]
Size: TypeAlias = Shape | None
_HINT: Final = "Give a length, a tuple of lengths, or None for one draw."
# Words of 8 bytes in an address space of 2^63 bytes, with room for a sampler's second word.
_MOST: Final = 2**58


def _dimension(value: object) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < 0:
        got = type(value).__name__ if not isinstance(value, int | np.integer) else str(value)
        raise ParameterError("must be a whole number, 0 or greater", where="size", got=got, hint=_HINT)
    return int(value)


def shaped(size: object, draw: Callable[[int], NDArray[Any]], draw_one: Callable[[], Any] | None = None) -> Any:
    """Call `draw` with the number of values that `size` asks for and shape what it returns.

    `draw_one` is the short way to one value, where a sampler has one.
    """
    if size is None:
        return draw(1)[0].item() if draw_one is None else draw_one()
    shape = tuple(_dimension(part) for part in size) if isinstance(size, tuple) else (_dimension(size),)
    if math.prod(shape) > _MOST:
        raise ParameterError("asks for more than memory can hold", where="size", got=str(shape)[:40], hint=_HINT)
    return draw(math.prod(shape)).reshape(shape)
