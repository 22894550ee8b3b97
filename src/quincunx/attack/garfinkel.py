"""The fictional block of seven people with which Garfinkel, Abowd and Martindale (2018) explained reconstruction."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Final

from quincunx.attack.summaries import Found, Summary, reconstruct_people

# Nobody is known to have lived to be older.
_OLDEST: Final = 125
_ADULT: Final = 18
Kind = tuple[int, str, str, str]
# Age, sex (F, M), race (B, W), single or married (S, M).
KINDS: Final[tuple[Kind, ...]] = tuple(
    kind for kind in product(range(_OLDEST + 1), "FM", "BW", "SM") if kind[3] == "S" or kind[0] >= _ADULT
)
# Who is counted, how many there are, and the mean and the median of their ages. The printed table has seven statistics
# more, all about fewer than three people and left out; they are not needed.
_PRINTED: Final[tuple[tuple[Callable[[Kind], bool], int, str, str], ...]] = (
    (lambda kind: True, 7, "38", "30"),  # noqa: ARG005
    (lambda kind: kind[1] == "F", 4, "33.5", "30"),
    (lambda kind: kind[1] == "M", 3, "44", "30"),
    (lambda kind: kind[2] == "B", 4, "48.5", "51"),
    (lambda kind: kind[2] == "W", 3, "24", "24"),
    (lambda kind: kind[3] == "M", 4, "54", "51"),
    (lambda kind: kind[1:3] == ("F", "B"), 3, "36.7", "36"),
)


def printed() -> tuple[Summary, ...]:
    """What the table says."""
    return tuple(
        Summary(
            kinds=[place for place, kind in enumerate(KINDS) if counted(kind)], count=count, mean=mean, median=median
        )
        for counted, count, mean, median in _PRINTED
    )


def reconstruct_seven() -> tuple[tuple[str, ...], bool]:
    """The seven people as "8FBS" (age, sex, race, single), and whether they are the only ones that fit."""
    found: Found = reconstruct_people([kind[0] for kind in KINDS], printed())
    return tuple("".join(map(str, KINDS[place])) for place in found.people), found.unique
