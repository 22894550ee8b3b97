"""Which stories there are, and how one is told: its data from a number, its noise from an injected key."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Final

from quincunx.errors import ParameterError
from quincunx.noise.testing import key_of, keyed
from quincunx.numbers import Number, non_negative

if TYPE_CHECKING:
    from collections.abc import Callable

    from quincunx.attack.story import Story

# Data generators take seeds of 32 bits.
_MOST: Final = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """Where a story is written, and what it is about in one line. The module is loaded when it is told."""

    module: str
    words: str
    function: str = "story"


_STORIES: Final = {
    "linkage": _Entry(
        module="linkage", words="Sex, zip code and birth date name the patients of a file without names."
    ),
    "homogeneity": _Entry(
        module="anonymity",
        function="homogeneity",
        words="Four people cannot be told apart, and all four have the same secret.",
    ),
    "intersection": _Entry(
        module="anonymity", function="intersection", words="Two 4-anonymous files together single out one person."
    ),
    "mondrian": _Entry(
        module="anonymity", function="mondrian", words="A table made k-anonymous by machine still tells who has what."
    ),
    "differencing": _Entry(
        module="differencing", words="Two averages, before and after Rick came, give Rick's salary."
    ),
    "reconstruction": _Entry(
        module="reconstruction", words="Enough answers that are too accurate give back the whole column."
    ),
    "block": _Entry(module="block", words="A block's published tables give back the people who live on it."),
    "membership": _Entry(module="membership", words="The means of many traits tell whether a person was in the group."),
    "averaging": _Entry(module="averaging", words="Noise that is fresh for every repetition averages out."),
    "floating-point": _Entry(
        module="floating_point", words="The last bits of textbook noise tell what the noise was added to."
    ),
    "picture": _Entry(module="picture", words="A quarter of all cells are lies, and the picture is still seen."),
}


def names() -> tuple[tuple[str, str], ...]:
    """Every story's name, and what it is about in one line."""
    return tuple((name, entry.words) for name, entry in _STORIES.items())


def run(name: str, *, series: Number = 0) -> Story:
    """Tell one story. `series`, a whole number from 0, makes other people and other noise; the same one, the same."""
    entry = _STORIES.get(name) if isinstance(name, str) else None
    if entry is None:
        raise ParameterError("there is no such story", where="attack", got=repr(name)[:60], hint=_nearest(name))
    number = non_negative(series, "series")
    if number.denominator != 1 or number > _MOST:
        raise ParameterError(f"must be a whole number from 0 to {_MOST:,}", where="series", got=str(number)[:40])
    tell: Callable[..., Story] = getattr(import_module(f"quincunx.attack.{entry.module}"), entry.function)
    with keyed(key_of(f"attack {name} {number}")):
        return tell(series=int(number))


def _nearest(name: object) -> str:
    near = get_close_matches(str(name), _STORIES, n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"The stories are {', '.join(_STORIES)}."
