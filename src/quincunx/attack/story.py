"""What one attack tells: what was published, what the attacker knew, what came out, and how other releases fare.

Stories are about people who do not exist, made anew from a number (`series`), with noise from an injected key: they can
be repeated, and protect nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quincunx.chart import Chart


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One attack, told from end to end.

    name: as in `quincunx attack run NAME`. title: the finding, one sentence. published, known, recovered: one or two
    sentences each, the last with figures. columns, rows: one row for each way of publishing, the old one first and then
    releases of Quincunx at several ε; cells are text. figures: the numbers behind the words, by name. charts: file stem
    → picture. lesson: what to take home. sources: where the attack was first described.
    """

    name: str
    title: str
    published: str
    known: str
    recovered: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: Mapping[str, float | int | str]
    charts: Mapping[str, Chart]
    lesson: str
    sources: tuple[str, ...] = field(default=())
