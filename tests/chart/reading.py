"""What the tests read out of a picture."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from xml.etree import ElementTree

from quincunx.chart import Chart
from quincunx.chart.text import width

NAMESPACE = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Rectangle:
    """Where something stands, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Rectangle) -> bool:
        """Whether the two overlap by more than a hair."""
        hair = 0.01
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > hair and down > hair


def elements(chart: Chart, name: str, role: str | None = None) -> list[ElementTree.Element]:
    """The elements of one name, and of one class if it is given; parsing fails unless the picture is XML."""
    root = ElementTree.fromstring(chart.svg)
    found = root.iter(NAMESPACE + name)
    return [each for each in found if role is None or each.get("class") == role]


def texts(chart: Chart, role: str | None = None) -> list[str]:
    return [each.text or "" for each in elements(chart, "text", role)]


def number(element: ElementTree.Element, key: str) -> float:
    return float(element.get(key, "nan"))


def extent(element: ElementTree.Element) -> Rectangle:
    """The room of a text that is not turned, by the library's own upper estimate of widths."""
    size, x, y = (number(element, key) for key in ("font-size", "x", "y"))
    wide = width(element.text or "", size, bold=element.get("font-weight") == "bold")
    left = {"middle": x - wide / 2, "end": x - wide}.get(element.get("text-anchor", "start"), x)
    # Letters rise 0.75 of the size above the line and fall 0.22 below it.
    return Rectangle(left, y - 0.75 * size, left + wide, y + 0.22 * size)


def check_readable(chart: Chart) -> None:
    """No two texts overlap, and all are on the paper; turned labels are compared by their distance."""
    every = elements(chart, "text")
    level = [(each, extent(each)) for each in every if each.get("transform") is None]
    for each, room in level:
        assert room.left >= -0.01, each.text
        assert room.right <= chart.width + 0.01, each.text
        assert room.top >= 0, each.text
        assert room.bottom <= chart.height, each.text
    for (a, room_a), (b, room_b) in combinations(level, 2):
        assert not room_a.meets(room_b), (a.text, b.text)
    slanted = [each for each in every if each.get("transform") is not None]
    for each in slanted:
        reach = width(each.text or "", number(each, "font-size")) * 0.7071
        assert number(each, "x") - reach >= 0, each.text
        assert number(each, "y") + reach <= chart.height, each.text
    turned = sorted(number(each, "x") for each in slanted)
    for one, two in pairwise(turned):
        # Lines at 45° whose feet are d apart are d/√2 apart.
        assert (two - one) / 2**0.5 >= 15
