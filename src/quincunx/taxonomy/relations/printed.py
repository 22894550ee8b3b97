"""What the survey's table claims about strength, beside the graph: agreement, and the differences with reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from quincunx.taxonomy import catalogue
from quincunx.taxonomy.relations.graph import Implication, implies

# How the table's last column calls rows, where that is neither their abbreviation nor printed elsewhere.
_CALLED: Final = {
    "ε-DP": "DP",
    "(ε,δ)-DP": "ADP",
    "(ε,δ)-ProDP": "ProDP",
    "(ε,δp)-ProDP": "ProDP",
    "(ε,δa)-DP": "ADP",
    "RényiDP": "RenyiDP",
    "BayDP": "BayDP-TF20",
    "DDP": "",
    "GcDP": "GcDP-KM11",
    "f-wFDP": "wFDP",
    "f-sFDP": "sFDP",
    "d_D-Pr": "dD-Pr",
}
_SIGNS: Final = re.compile(r" ([⊂⊃]?[≺≻∼]|[⊂⊃]) ")
# (stronger, weaker) as printed → why the graph does not have it
DIFFERENCES: Final[Mapping[tuple[str, str], str]] = {
    ("NPr", "DP"): "printed reversed: noiseless privacy follows from ε-DP, for independent records",
    ("RanDP", "WBDP"): "δ = γ holds on average over the data, not for each dataset",
    ("RanDP", "BayDP-TF20"): "δ = γ holds on average over the data, not for each dataset",
    ("RanDP", "avgKLPr"): "for γ > 0 the average may be infinite",
    ("IBCWPr", "CWPr"): "printed reversed: coupled worlds with ε gives the inference-based form with 2ε",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The table's row `row` claims that `stronger` implies `weaker` at some parameters."""

    row: str
    text: str
    stronger: str
    weaker: str

    def judged(self) -> Implication:
        """What the graph says."""
        return implies(self.stronger, self.weaker)


def claims() -> Iterator[Claim]:
    """Every claim of strength in the table's last column; ∼ makes two."""
    for row in catalogue.definitions():
        for text in row.relations:
            parts = _SIGNS.split(text)
            for left, sign, right in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
                one, other = _short(left, row), _short(right, row)
                if one is None or other is None:
                    continue
                if sign[-1] in "≻∼":
                    yield Claim(row=row.short, text=text, stronger=one, weaker=other)
                if sign[-1] in "≺∼":
                    yield Claim(row=row.short, text=text, stronger=other, weaker=one)


def _short(name: str, row: catalogue.Row) -> str | None:
    own = {row.short, *row.printed_as}
    if name in own or name.replace(" ", "") in own or _bare(name) in {_bare(each) for each in own}:
        return row.short
    if name in _CALLED:
        return _CALLED[name] or None
    for each in catalogue.definitions():
        if name in (each.short, *each.printed_as) or _bare(name) == _bare(each.short):
            return each.short
    return None


def _bare(name: str) -> str:
    return re.sub(r"\[.*?\]|-(?:[A-Z][A-Za-z]*\d\d)$", "", name).lower()
