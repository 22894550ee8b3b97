"""Boxes and arrows: what follows from what. Light or dark by the reader's setting, and nothing told by hue alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from quincunx.chart.frame import Chart, named, some
from quincunx.chart.text import clean, number, shortened, tag, width, wrapped

WIDTH: Final = 1200.0
SIZE, TITLE, NOTE, SMALL = 14.0, 22.0, 14.0, 12.0
HEIGHT: Final = 26.0
_PAD: Final = 9.0
_FONT: Final = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
_STYLE: Final = """
.paper { fill: #ffffff } .ink { fill: #1a1a1a } .faded { fill: #555555 }
.box { fill: #ffffff; stroke: #1a1a1a; stroke-width: 1.2 } .here { fill: #1a1a1a } .here-ink { fill: #ffffff }
.band { fill: #f1f1f1 } .arrow { fill: none; stroke: #5f5f5f; stroke-width: 1.1 } .head { fill: #5f5f5f }
@media (prefers-color-scheme: dark) {
.paper { fill: #16181b } .ink { fill: #ececec } .faded { fill: #b0b0b0 }
.box { fill: #16181b; stroke: #ececec } .here { fill: #ececec } .here-ink { fill: #16181b }
.band { fill: #22262b } .arrow { stroke: #a5a5a5 } .head { fill: #a5a5a5 }
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A box with its middle at (x, y) below the title. here: the one that the picture is about. below: lines in small
    letters under the box, in place of arrows that would come from far away."""

    label: str
    x: float
    y: float
    here: bool = False
    below: tuple[str, ...] = ()

    @property
    def breadth(self) -> float:
        """How wide the box is."""
        return width(self.label, SIZE) + 2 * _PAD

    @property
    def room(self) -> float:
        """How wide the box is with what stands below it."""
        return max([self.breadth, *(width(line, SMALL) + 6 for line in self.below)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """From one label to another. dashed: under conditions. both: there and back."""

    source: str
    target: str
    dashed: bool = False
    both: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A strip behind the boxes, from top to bottom, with its title."""

    title: str
    top: float
    bottom: float


def diagram(
    nodes: Sequence[Node], arrows: Sequence[Arrow], *, title: str, bands: Sequence[Band] = (), note: str = ""
) -> Chart:
    """The picture, 1,200 pixels wide; arrows run behind the boxes."""
    some(nodes, "boxes")
    parts, top = [], 16 + TITLE
    for line in wrapped(named(title, "title"), TITLE, WIDTH - 36, bold=True):
        parts.append(tag("text", line, x=18, y=top, font_size=TITLE, font_weight="bold", _class="ink"))
        top += TITLE * 1.3
    bottom = max([node.y + HEIGHT for node in nodes] + [band.bottom for band in bands])
    for band in bands:
        parts.append(
            tag("rect", x=8, y=top + band.top, width=WIDTH - 16, height=band.bottom - band.top, rx=6, _class="band")
        )
    places = {node.label: node for node in nodes}
    for arrow in arrows:
        parts += _drawn(places[arrow.source], places[arrow.target], arrow, top)
    for band in bands:
        text = shortened(band.title, NOTE, WIDTH - 60)
        long = width(text, NOTE) + 12
        parts.append(tag("rect", x=14, y=top + band.top + 3, width=long, height=21, _class="band"))
        parts.append(tag("text", text, x=20, y=top + band.top + 19, font_size=NOTE, _class="faded"))
    for node in nodes:
        look = "box here" if node.here else "box"
        left, up = node.x - node.breadth / 2, top + node.y - HEIGHT / 2
        parts.append(tag("rect", x=left, y=up, width=node.breadth, height=HEIGHT, rx=5, _class=look))
        ink = "here-ink" if node.here else "ink"
        parts.append(
            tag("text", node.label, x=node.x, y=top + node.y + 5, font_size=SIZE, text_anchor="middle", _class=ink)
        )
        parts += _below(node, top)
    y = top + bottom + 14
    for line in wrapped(note, NOTE, WIDTH - 36):
        y += NOTE * 1.35
        parts.append(tag("text", line, x=18, y=y, font_size=NOTE, _class="faded"))
    height = float(round(y + 18))
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(WIDTH)}" height="{number(height)}" '
        f'viewBox="0 0 {number(WIDTH)} {number(height)}" role="img" font-family="{_FONT}">'
    )
    told = "; ".join(f"{a.source} {'↔' if a.both else '→'} {a.target}" for a in arrows) or "no arrows"
    head = [opening, tag("title", title), tag("desc", told), f"<style>{_STYLE}</style>"]
    paper = tag("rect", width=WIDTH, height=height, _class="paper")
    return Chart(title=clean(title), width=WIDTH, height=height, svg="\n".join([*head, paper, *parts, "</svg>", ""]))


def _below(node: Node, top: float) -> list[str]:
    """The small lines, on a ground that keeps arrows off them."""
    parts, y = [], top + node.y + HEIGHT / 2 + 2
    for line in node.below:
        long = width(line, SMALL) + 4
        parts.append(tag("rect", x=node.x - long / 2, y=y, width=long, height=SMALL * 1.25, _class="band"))
        parts.append(tag("text", line, x=node.x, y=y + SMALL, font_size=SMALL, text_anchor="middle", _class="faded"))
        y += SMALL * 1.25
    return parts


def _drawn(one: Node, other: Node, arrow: Arrow, top: float) -> list[str]:
    """A curve between the borders of two boxes, with a head at its end."""
    dash: Mapping[str, str] = {"stroke_dasharray": "5 4"} if arrow.dashed else {}
    if abs(one.y - other.y) < HEIGHT:
        side = 1 if other.x > one.x else -1
        gap = abs(other.x - one.x) - (one.breadth + other.breadth) / 2
        start = (one.x + side * one.breadth / 2, top + one.y)
        end = (other.x - side * other.breadth / 2, top + other.y)
        if gap > 170:
            # Over the boxes between, not through them.
            start, end = (one.x, top + one.y - HEIGHT / 2), (other.x, top + other.y - HEIGHT / 2)
            lift = min(26.0, 10 + gap / 40)
            control = [(one.x + side * 30, start[1] - lift), (other.x - side * 30, end[1] - lift)]
        else:
            control = [start, end]
    else:
        down = 1 if other.y > one.y else -1
        start = (one.x, top + one.y + down * HEIGHT / 2)
        end = (other.x, top + other.y - down * HEIGHT / 2)
        reach = min(60.0, abs(end[1] - start[1]) * 0.45)
        control = [(start[0], start[1] + down * reach), (end[0], end[1] - down * reach)]
    points = " ".join(f"{number(x)},{number(y)}" for x, y in (*control, end))
    path = f"M{number(start[0])},{number(start[1])} C{points}"
    heads = [_head(control[1] if control[1] != end else start, end)]
    if arrow.both:
        heads.append(_head(control[0] if control[0] != start else end, start))
    return [tag("path", d=path, _class="arrow", **dash), *heads]


def _head(before: tuple[float, float], tip: tuple[float, float]) -> str:
    angle = math.atan2(tip[1] - before[1], tip[0] - before[0])
    corners = [tip, *((tip[0] - 8 * math.cos(angle + s), tip[1] - 8 * math.sin(angle + s)) for s in (0.42, -0.42))]
    return tag("polygon", points=" ".join(f"{number(x)},{number(y)}" for x, y in corners), _class="head")
