"""Post-processing that a reader may ask for. It costs nothing, and the column's note says that it was done."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from quincunx.errors import ParameterError

# name → what the column's note says
TIDY: Final = {
    "non-negative": "negative values and ends of intervals are shown as 0",
    "integer": "values are rounded to whole numbers",
}


def read_tidy(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each once and in a fixed order; unknown ones are refused."""
    given = (names,) if isinstance(names, str) else tuple(names)
    for name in given:
        if name not in TIDY:
            near = get_close_matches(str(name), TIDY, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(TIDY)}."
            raise ParameterError("unknown post-processing", where="tidy", got=repr(name), hint=hint)
    return tuple(name for name in TIDY if name in given)
