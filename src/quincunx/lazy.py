"""Names that are loaded on first use, so that importing the library stays fast."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def exports(
    module: str, names: Mapping[str, tuple[str, str | None]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a module with such names: name → (where it is, what it is there or None for
    the module itself)."""

    def load(name: str) -> Any:
        try:
            where, attribute = names[name]
        except KeyError:
            raise AttributeError(f"module {module!r} has no attribute {name!r}") from None
        loaded = import_module(where)
        value = loaded if attribute is None else getattr(loaded, attribute)
        setattr(sys.modules[module], name, value)
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[module]), *names})

    return load, listed
