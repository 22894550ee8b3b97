"""Text in a picture: how wide it is, where it breaks, how it is written into XML.

A static picture cannot measure the reader's font. Widths are those of DejaVu Sans and Verdana, the widest of the common
sans-serif fonts, so that what fits here fits in Helvetica and Arial too.
"""

from __future__ import annotations

import re
from typing import Final
from xml.sax.saxutils import escape, quoteattr

# Widths in units of the font size, each at least that of DejaVu Sans.
_NARROW, _SLIM = frozenset("IJijl|.,:;' \u00a0"), frozenset('!`frt()[]/\\-"')
_BROAD, _WIDE = frozenset("#&+<=>^~×−≤≥√"), frozenset("mwMW@%—→∞…")
_NARROW_EM, _SLIM_EM, _SMALL_EM, _BROAD_EM, _WIDE_EM = 0.37, 0.53, 0.645, 0.84, 1.0
_BOLD: Final = 1.12
ELLIPSIS: Final = "…"


def width(text: str, size: float, *, bold: bool = False) -> float:
    """An upper estimate of the text's width in pixels, at the font size `size` in pixels."""
    return sum(_em(character) for character in text) * size * (_BOLD if bold else 1.0)


def _em(character: str) -> float:
    if character in _NARROW:
        return _NARROW_EM
    if character in _SLIM:
        return _SLIM_EM
    if character in _WIDE or ord(character) >= 0x2E80:
        return _WIDE_EM
    return _BROAD_EM if character in _BROAD or character.isupper() else _SMALL_EM


def wrapped(text: str, size: float, room: float, *, bold: bool = False) -> list[str]:
    """The text in lines of at most `room` pixels, broken at spaces; a word that is wider alone is shortened. What is
    `unbroken` is one word."""
    lines: list[str] = []
    for word in words(text):
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and width(joined, size, bold=bold) <= room:
            lines[-1] = joined
        else:
            lines.append(shortened(word, size, room, bold=bold))
    return lines


def words(text: str) -> list[str]:
    """The words between spaces; a space that does not break is none of these."""
    return [word for word in re.split(r"[ \t\r\n\f\v]+", text) if word]


def unbroken(text: str) -> str:
    """The text as one word: a number with its unit, say."""
    return text.replace(" ", "\u00a0")


def shortened(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """The text, or its longest beginning with an ellipsis that fits into `room` pixels."""
    if width(text, size, bold=bold) <= room:
        return text
    kept = len(text)
    while kept > 1 and width(text[:kept].rstrip() + ELLIPSIS, size, bold=bold) > room:
        kept -= 1
    return text[:kept].rstrip() + ELLIPSIS


def clean(text: str) -> str:
    """The text with what XML 1.0 forbids (control characters, lone surrogates) replaced by �."""
    return "".join(each if _allowed(ord(each)) else "�" for each in text)


def _allowed(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def tag(name: str, content: str | None = None, **attributes: float | str) -> str:
    """One element. `content` is text and is escaped; an underscore in an attribute's name is written as a hyphen."""
    written = "".join(f" {key.strip('_').replace('_', '-')}={_value(value)}" for key, value in attributes.items())
    return f"<{name}{written}/>" if content is None else f"<{name}{written}>{escape(clean(content))}</{name}>"


def group(parts: list[str], **attributes: float | str) -> str:
    """The parts, which are elements already, inside one element."""
    written = "".join(f" {key.strip('_').replace('_', '-')}={_value(value)}" for key, value in attributes.items())
    return "\n".join([f"<g{written}>", *parts, "</g>"])


def number(value: float) -> str:
    """A coordinate with two decimals at most: hundredths of a pixel are not seen."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _value(value: float | str) -> str:
    return quoteattr(clean(value)) if isinstance(value, str) else f'"{number(value)}"'
