"""What every chart has around its data: title, legend, axes, note; and the value that a chart is.

All lengths are pixels of a picture 800 wide. Text is set in one font family at few sizes; colours differ in lightness,
and each series has a dash, a marker and a fill of its own, so that nothing is lost in grey.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from quincunx.chart.scale import TICK_SIZE, Bands, Scale
from quincunx.chart.text import clean, group, number, shortened, tag, width, words, wrapped
from quincunx.errors import DataError, ParameterError, cause

WIDTH: Final = 800.0
MARGIN: Final = 18.0
PAPER_SPAN: Final = (4.0, WIDTH - 4.0)
TITLE_SIZE, LABEL_SIZE, NOTE_SIZE = 20.0, 15.0, 14.0
INK, FADED, GRID, PAPER = "#1a1a1a", "#555555", "#dcdcdc", "#ffffff"
_NARROWEST: Final = 26.0
# The longest label of a band, in pixels.
LONGEST: Final = 240.0
# The share of a slanted label's length that it takes across and down: sin 45°, rounded up.
_SLANT: Final = 0.7072
_FONT: Final = "Helvetica, Arial, 'DejaVu Sans', sans-serif"


# The outlines of markers around their point; a circle is none of them.
_CORNERS: Final[dict[str, list[tuple[float, float]]]] = {
    "square": [(-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)],
    "triangle": [(0, -5.5), (5.5, 4.5), (-5.5, 4.5)],
    "diamond": [(0, -6), (6, 0), (0, 6), (-6, 0)],
    "cross": [(-5, -3), (-3, -5), (0, -2), (3, -5), (5, -3), (2, 0), (5, 3), (3, 5), (0, 2), (-3, 5), (-5, 3), (-2, 0)],
    "bar": [(-1.8, -6), (1.8, -6), (1.8, 6), (-1.8, 6)],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How one series looks: colour of line, fill (lighter or darker than its neighbours'), dash and marker."""

    colour: str
    fill: str
    dash: str
    marker: str


STYLES: Final = (
    Style(colour="#12395b", fill="#12395b", dash="", marker="circle"),
    Style(colour="#c0562f", fill="#e9b79d", dash="9 5", marker="square"),
    Style(colour="#2b8a6e", fill="#4f8f7a", dash="2 4", marker="triangle"),
    Style(colour="#7a4fa3", fill="#efe6f7", dash="13 4 2 4", marker="diamond"),
    Style(colour="#a8861b", fill="#b59a4d", dash="5 3", marker="cross"),
    Style(colour="#666666", fill="#5c5c5c", dash="16 6", marker="bar"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One axis. `title` names the quantity with its unit, as in "swap rate (%)". `scale` is "linear" or "log".

    `ticks`: value → label, instead of the ticks that would be chosen; their labels must fit.
    """

    title: str
    scale: str = "linear"
    ticks: Mapping[float, str] | None = field(default=None)

    def __post_init__(self) -> None:
        if self.scale not in ("linear", "log"):
            raise ParameterError("unknown scale", where="Axis", got=repr(self.scale), hint='Use "linear" or "log".')
        named(self.title, "Axis(title)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A finished picture: `svg` is its text, `title` what it shows, `width` and `height` its size in pixels."""

    title: str
    width: float
    height: float
    svg: str = field(repr=False)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file whose name ends in .svg, whole or not at all; returns the path."""
        target = Path(path)
        if target.suffix.lower() != ".svg":
            hint = "The picture is SVG; other tools convert it."
            raise ParameterError("the file's name must end in .svg", where="write", got=repr(target.name), hint=hint)
        partial = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
        try:
            partial.write_text(self.svg, encoding="utf-8")
            os.replace(partial, target)
        except OSError as error:
            with suppress(OSError):
                partial.unlink()
            got, hint = cause(error), "Make the folder first, and check that it may be written to."
            raise ParameterError("cannot write the picture", where="write", got=got, hint=hint) from None
        return target

    def _repr_svg_(self) -> str:
        return self.svg


def named(text: object, where: str) -> str:
    """A title or label: a text that says something."""
    if not isinstance(text, str) or not text.strip():
        hint = "Say in words what is shown, with its unit."
        got = "an empty text" if isinstance(text, str) else type(text).__name__
        raise ParameterError("expected a text", where=where, got=got, hint=hint)
    return text


def some(items: Sequence[object], what: str) -> None:
    """Refuse to draw nothing."""
    if len(items) == 0:
        raise DataError(f"there are no {what} to draw", where="chart", hint="A chart needs at least one value.")


def style_of(index: int, count: int) -> Style:
    """The style of one of `count` series; more than there are styles cannot be told apart."""
    if count > len(STYLES):
        hint = "Draw the most telling ones, or several charts."
        what = f"at most {len(STYLES)} series can be told apart"
        raise DataError(what, where="chart", got=f"{count} series", hint=hint)
    return STYLES[index]


def head(title: str, legend: Sequence[tuple[str, list[str]]]) -> tuple[list[str], float]:
    """Title and legend, and the pixel where they end. A legend entry is (label, key drawn in a box 34 by 16)."""
    parts, y = [], MARGIN + TITLE_SIZE
    for line in wrapped(named(title, "title"), TITLE_SIZE, WIDTH - 2 * MARGIN, bold=True):
        parts.append(tag("text", line, x=MARGIN, y=y, font_size=TITLE_SIZE, font_weight="bold", _class="title"))
        y += TITLE_SIZE * 1.3
    x = MARGIN
    for label, key in legend:
        text = shortened(label, LABEL_SIZE, WIDTH - 2 * MARGIN - 42)
        needed = 42 + width(text, LABEL_SIZE)
        if x > MARGIN and x + needed > WIDTH - MARGIN:
            x, y = MARGIN, y + LABEL_SIZE * 1.6
        parts.append(group(key, transform=f"translate({number(x)} {number(y - 8)})"))
        parts.append(tag("text", text, x=x + 42, y=y + 5, font_size=LABEL_SIZE, _class="legend"))
        x += needed + 24
    return parts, y + (LABEL_SIZE * 1.6 if legend else 0)


def foot(note: str, y: float) -> tuple[list[str], float]:
    """The note below the chart, and the pixel where the picture ends."""
    parts = []
    for line in wrapped(note, NOTE_SIZE, WIDTH - 2 * MARGIN):
        y += NOTE_SIZE * 1.35
        parts.append(tag("text", line, x=MARGIN, y=y, font_size=NOTE_SIZE, fill=FADED, _class="note"))
    return parts, y + MARGIN


def x_axis(scale: Scale, title: str, top: float, bottom: float) -> tuple[list[str], float]:
    """Grid lines, tick labels and title of a horizontal axis, and the pixel where they end."""
    parts = []
    for tick in scale.ticks:
        x = scale.at(tick.value)
        parts.append(tag("line", x1=x, y1=top, x2=x, y2=bottom + 5, stroke=GRID))
        parts.append(_text(tick.label, x, bottom + 22, "middle", "x-tick"))
    parts.append(_under(title, (scale.start + scale.end) / 2, bottom + 46))
    return parts, bottom + 52


def y_axis(scale: Scale, title: str, left: float, right: float) -> list[str]:
    """The same for a vertical axis; its title stands above it, so that nobody turns the head."""
    parts = []
    for tick in scale.ticks:
        y = scale.at(tick.value)
        parts.append(tag("line", x1=left - 5, y1=y, x2=right, y2=y, stroke=GRID))
        parts.append(_text(tick.label, left - 9, y + 5, "end", "y-tick"))
    title = shortened(title, LABEL_SIZE, WIDTH - 2 * MARGIN)
    parts.append(_text(title, MARGIN, min(scale.start, scale.end) - 14, "start", "y-title"))
    return parts


def bands_for(labels: Sequence[str], left: float) -> Bands:
    """Bands from `left`, or further right where the first label has to be slanted, to the right margin."""
    bands = Bands(count=len(labels), start=left, end=WIDTH - MARGIN)
    labels = [shortened(label, TICK_SIZE, LONGEST) for label in labels]
    # The first slanted label reaches to the left of its band.
    slant = MARGIN + width(labels[0], TICK_SIZE) * _SLANT - bands.breadth / 2
    bands = bands if _level(bands, labels) else replace(bands, start=max(left, slant))
    if bands.breadth < _NARROWEST:
        most = int((bands.end - bands.start) / _NARROWEST)
        hint = "Draw fewer labels, or several charts."
        raise DataError(f"at most {most} labels fit", where="chart", got=f"{len(labels)} labels", hint=hint)
    return bands


def _level(bands: Bands, labels: Sequence[str]) -> bool:
    """Whether every label fits into its band when it is broken at spaces."""
    room = bands.breadth - 8
    return all(" ".join(wrapped(label, TICK_SIZE, room)) == " ".join(words(label)) for label in labels)


def category_axis(bands: Bands, labels: Sequence[str], title: str, bottom: float) -> tuple[list[str], float]:
    """Labels of bands along the bottom, level where they fit and else slanted; and the pixel where they end."""
    labels = [shortened(label, TICK_SIZE, LONGEST) for label in labels]
    lines = [wrapped(label, TICK_SIZE, bands.breadth - 8) for label in labels]
    fits = _level(bands, labels)
    parts, deepest = [], 0.0
    for index, label in enumerate(labels):
        x = bands.middle(index)
        if fits:
            parts += [_text(line, x, bottom + 22 + 18 * i, "middle", "x-tick") for i, line in enumerate(lines[index])]
            deepest = max(deepest, 22.0 + 18 * (len(lines[index]) - 1))
        else:
            turn = f"rotate(-45 {number(x + 4)} {number(bottom + 16)})"
            parts.append(_text(label, x + 4, bottom + 16, "end", "x-tick", transform=turn))
            deepest = max(deepest, 16 + width(label, TICK_SIZE) * _SLANT)
    if title:
        parts.append(_under(title, (bands.start + bands.end) / 2, bottom + deepest + 26))
        deepest += 32
    return parts, bottom + deepest


def picture(title: str, parts: list[str], height: float, description: str) -> Chart:
    """The parts inside one SVG document of its own: white paper, one font, a title and a description for readers."""
    height = float(round(height))
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(WIDTH)}" height="{number(height)}" '
        f'viewBox="0 0 {number(WIDTH)} {number(height)}" role="img" font-family="{_FONT}" fill="{INK}">'
    )
    words = [tag("title", title), tag("desc", description)]
    paper = tag("rect", width=WIDTH, height=height, fill=PAPER)
    svg = "\n".join([opening, *words, paper, *parts, "</svg>", ""])
    return Chart(title=clean(title), width=WIDTH, height=height, svg=svg)


def _under(title: str, middle: float, y: float) -> str:
    """The title of a horizontal axis, in its middle or as near to it as the paper allows."""
    title = shortened(title, LABEL_SIZE, WIDTH - 2 * MARGIN)
    half = width(title, LABEL_SIZE) / 2
    return _text(title, min(max(middle, MARGIN + half), WIDTH - MARGIN - half), y, "middle", "x-title")


def _text(label: str, x: float, y: float, anchor: str, role: str, **more: str) -> str:
    faded = FADED if role.endswith("title") else INK
    return tag("text", label, x=x, y=y, font_size=TICK_SIZE, text_anchor=anchor, fill=faded, _class=role, **more)


def marker(shape: str, x: float, y: float, colour: str) -> str:
    """A small mark at a point, told from the others by its shape."""
    if shape not in _CORNERS:
        return tag("circle", cx=x, cy=y, r=4.5, fill=colour, stroke=PAPER, _class="mark")
    points = " ".join(f"{number(x + dx)},{number(y + dy)}" for dx, dy in _CORNERS[shape])
    return tag("polygon", points=points, fill=colour, stroke=PAPER, _class="mark")
