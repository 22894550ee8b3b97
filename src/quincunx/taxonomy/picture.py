"""The order of the definitions as a picture: all, those of one dimension, or what surrounds one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from quincunx.chart import DIAGRAM_HEIGHT as HEIGHT
from quincunx.chart import DIAGRAM_SMALL as SMALL
from quincunx.chart import DIAGRAM_WIDTH as WIDTH
from quincunx.chart import Arrow, Band, Chart, Node, diagram
from quincunx.errors import SpecificationError
from quincunx.taxonomy import catalogue
from quincunx.taxonomy.check import QUESTIONS
from quincunx.taxonomy.relations.graph import always, edges
from quincunx.taxonomy.relations.language import EXTRA, language

_ROW: Final = 58.0
_GAP: Final = 22.0
_TITLES: Final = {"2": "", "3": "Q", "4": "N", "5": "V", "6": "B", "7": "F", "8": "R", "9": "C"}
_NOTE: Final = (
    "An arrow leads from a definition to one that follows from it, at parameters that `quincunx taxonomy convert` "
    "computes; two heads: both follow from each other; dashed: under conditions."
)
_LEFT_OUT: Final = " Arrows that follow from others are left out."
_FAR: Final = (
    " What comes from another section is written under the box: ← it follows from, ↔ each from the other, "
    "in brackets under conditions."
)


@cache
def _links() -> dict[tuple[str, str], bool]:
    """(source, target) → whether only under conditions; special cases of parameters are not drawn."""
    found: dict[tuple[str, str], bool] = {}
    for edge in edges():
        if edge.source != edge.target and always(edge) and not {edge.source, edge.target} & EXTRA.keys():
            pair = (edge.source, edge.target)
            found[pair] = found.get(pair, True) and bool(edge.conditions)
    return found


def _drawn(shorts: Sequence[str]) -> list[Arrow]:
    """The arrows between some definitions, without those that a longer way of no more conditions makes superfluous."""
    inside = {pair: cond for pair, cond in _links().items() if set(pair) <= set(shorts)}

    def way(source: str, target: str, without: tuple[str, str], conditional: bool) -> bool:
        seen, waiting = {source}, [source]
        while waiting:
            here = waiting.pop()
            for (a, b), cond in inside.items():
                if a == here and b not in seen and (a, b) != without and (conditional or not cond):
                    if b == target:
                        return True
                    seen.add(b)
                    waiting.append(b)
        return False

    for pair, cond in list(inside.items()):
        if way(*pair, without=pair, conditional=cond):
            del inside[pair]
    arrows, done = [], set()
    for (a, b), cond in inside.items():
        if (b, a) in done:
            continue
        back = inside.get((b, a))
        both = back is not None and back == cond
        arrows.append(Arrow(source=a, target=b, dashed=cond, both=both))
        if both:
            done.add((a, b))
    return arrows


def _depth(shorts: Iterable[str]) -> dict[str, int]:
    """How many strict steps below the strongest a definition stands; what is equivalent stands alike."""
    names = list(shorts)
    follows = {a: {b for (x, b), cond in _links().items() if x == a and not cond and b in names} for a in names}
    reach = {a: _closure(a, follows) for a in names}
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for a in names:
            for b in follows[a]:
                if a not in reach[b]:
                    depth[b] = max(depth[b], depth[a] + 1)
    return depth


def _closure(start: str, follows: dict[str, set[str]]) -> set[str]:
    seen, waiting = set(), [start]
    while waiting:
        for b in follows[waiting.pop()]:
            if b not in seen:
                seen.add(b)
                waiting.append(b)
    return seen


def graph(around: str | None = None, dimension: str | None = None) -> Chart:
    """The order of all definitions, of those that change a dimension, or around one definition."""
    if around is not None and dimension is not None:
        raise SpecificationError("draw around one definition or one dimension", where="graph", got="both")
    if around is not None:
        return _around(language(around).short)
    rows = catalogue.definitions()
    if dimension is not None:
        letter = dimension.upper()
        if len(letter) != 1 or letter not in QUESTIONS:
            hint = "Give one of the letters Q, N, V, B, F, R, C."
            raise SpecificationError("unknown dimension", where="graph", got=repr(dimension)[:40], hint=hint)
        rows = tuple(row for row in rows if letter in row.letters or row.short == "DP")
        title = f"Definitions that change {QUESTIONS[letter]}"
    else:
        title = "The 89 definitions and what follows from what"
    shorts = [row.short for row in rows]
    depth = _depth(shorts)
    arrows, below = _parted(_drawn(shorts), {row.short: row.section[0] for row in rows})
    nodes: list[Node] = []
    bands: list[Band] = []
    y = 0.0
    for section, first in _TITLES.items():
        some = sorted((row for row in rows if row.section[0] == section), key=lambda row: depth[row.short])
        if not some:
            continue
        top = y
        lines = _lines([row.short for row in some], below)
        y += 30
        for line in lines:
            y += _ROW / 2
            nodes += _placed(line, y, below)
            y += _ROW / 2 + SMALL * 1.25 * max(len(below.get(label, ())) for label in line)
        question = QUESTIONS[first] if first else "The original"
        bands.append(Band(title=f"Section {section}. {question}", top=top, bottom=y))
        y += 8
    return diagram(nodes, arrows, title=title, bands=bands, note=_NOTE + _LEFT_OUT + (_FAR if below else ""))


def _parted(arrows: Sequence[Arrow], sections: Mapping[str, str]) -> tuple[list[Arrow], dict[str, tuple[str, ...]]]:
    """The arrows inside a section, and the others as lines under the boxes where they end."""
    inside = [each for each in arrows if sections[each.source] == sections[each.target]]
    far: dict[str, dict[str, list[str]]] = {}
    for each in arrows:
        if sections[each.source] != sections[each.target]:
            words = ("(↔ {})" if each.both else "(← {})") if each.dashed else "↔ {}" if each.both else "← {}"
            far.setdefault(each.target, {}).setdefault(words, []).append(each.source)
            if each.both:
                far.setdefault(each.source, {}).setdefault(words, []).append(each.target)
    return inside, {
        name: tuple(words.format(some) for words, every in lines.items() for some in _short(every))
        for name, lines in far.items()
    }


def _short(names: Sequence[str]) -> list[str]:
    """Names in lines of at most two."""
    return [", ".join(names[i : i + 2]) for i in range(0, len(names), 2)]


def _lines(labels: Sequence[str], below: Mapping[str, tuple[str, ...]] | None = None) -> list[list[str]]:
    """Labels in lines that fit, about equally full."""
    breadths = [Node(label=label, x=0, y=0, below=(below or {}).get(label, ())).room + _GAP for label in labels]
    count = max(1, -(-int(sum(breadths)) // int(WIDTH - 120)))
    room = max(sum(breadths) / count * 1.12, *breadths)
    lines: list[list[str]] = [[]]
    used = 0.0
    for label, breadth in zip(labels, breadths, strict=True):
        if lines[-1] and used + breadth > min(room, WIDTH - 60):
            lines.append([])
            used = 0.0
        lines[-1].append(label)
        used += breadth
    return lines


def _placed(line: Sequence[str], y: float, below: Mapping[str, tuple[str, ...]] | None = None) -> list[Node]:
    boxes = [Node(label=label, x=0, y=y, below=(below or {}).get(label, ())) for label in line]
    left, right = 30.0, WIDTH - 30
    spare = (right - left - sum(each.room for each in boxes)) / (len(line) + 1)
    nodes, x = [], left + spare
    for each in boxes:
        nodes.append(replace(each, x=x + each.room / 2))
        x += each.room + spare
    return nodes


def _around(short: str) -> Chart:
    """What implies one definition above it, what follows from it below."""
    links = _links()
    both = sorted({b for (a, b) in links if a == short and (b, short) in links})
    above = sorted({a for (a, b) in links if b == short} - set(both))
    below = sorted({b for (a, b) in links if a == short} - set(both))
    nodes: list[Node] = []
    bands: list[Band] = []
    y = 0.0
    half = len(both) // 2
    middle = [*both[:half], short, *both[half:]]
    parts = ((above, "It follows from"), (middle, "It, and what follows both ways"), (below, "It implies"))
    for some, title in parts:
        top, y = y, y + 30
        for line in _lines(list(some)) if some else []:
            y += _ROW / 2
            nodes += _placed(line, y)
            y += _ROW / 2
        bands.append(Band(title=title if some else f"{title} nothing that is known", top=top, bottom=y + 2))
        y += 10 + HEIGHT / 2
    nodes = [replace(each, here=each.label == short) for each in nodes]
    arrows = []
    for other in (*above, *below, *both):
        out = links.get((short, other))
        back = links.get((other, short))
        if out is not None and back is not None and out == back:
            arrows.append(Arrow(source=short, target=other, dashed=out, both=True))
            continue
        if out is not None:
            arrows.append(Arrow(source=short, target=other, dashed=out))
        if back is not None:
            arrows.append(Arrow(source=other, target=short, dashed=back))
    name = catalogue.get(short).name if short not in EXTRA else EXTRA[short][0]
    return diagram(nodes, arrows, title=f"{short}, {name}", bands=bands, note=_NOTE)
