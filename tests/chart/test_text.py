"""Text: widths that are not below the truth, lines that fit, XML that parses."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.chart.text import ELLIPSIS, clean, group, number, shortened, tag, width, wrapped

# Advance widths of DejaVu Sans in units of the font size, as its metrics file states them.
DEJAVU = {
    "0": 0.636, "1": 0.636, ",": 0.318, ".": 0.318, " ": 0.318, "a": 0.613, "i": 0.278, "l": 0.278, "m": 0.974,
    "r": 0.411, "t": 0.392, "w": 0.818, "A": 0.684, "M": 0.863, "W": 0.989, "Q": 0.787, "%": 0.950, "−": 0.838,
    "×": 0.838, "ε": 0.541, "ρ": 0.635, "=": 0.838, "…": 1.0, "(": 0.390, "I": 0.295,
}  # fmt: skip


@pytest.mark.parametrize(("character", "advance"), DEJAVU.items())
def test_widths_are_not_below_the_widest_common_font(character: str, advance: float) -> None:
    assert width(character, 10) >= 10 * advance


def test_widths_add_and_scale() -> None:
    assert width("ab", 10) == pytest.approx(width("a", 10) + width("b", 10))
    assert width("ab", 20) == pytest.approx(2 * width("ab", 10))
    assert width("ab", 10, bold=True) > width("ab", 10)
    assert width("統計", 10) == pytest.approx(20)
    assert width("", 10) == 0


@given(st.text(), st.integers(min_value=30, max_value=400))
def test_wrapped_lines_fit_and_lose_no_word_that_fits(text: str, room: int) -> None:
    lines = wrapped(text, 14, room)
    assert all(width(line, 14) <= room for line in lines)
    if all(width(word, 14) <= room for word in text.split()):
        assert " ".join(lines).split() == text.split()


@given(st.text(min_size=1), st.integers(min_value=30, max_value=400))
def test_shortened_text_fits_and_begins_alike(text: str, room: int) -> None:
    short = shortened(text, 14, room)
    assert width(short, 14) <= room
    assert short == text or (short.endswith(ELLIPSIS) and text.startswith(short[:-1]))


@given(st.text())
def test_any_text_comes_back_from_xml(text: str) -> None:
    element = ElementTree.fromstring(tag("text", text, label=text))
    # XML reads line ends as one; nothing else may change.
    shown = clean(text).replace("\r\n", "\n").replace("\r", "\n")
    assert (element.text or "") == shown
    assert ElementTree.fromstring(group([tag("text", text)], id="g"))[0].tag == "text"


def test_forbidden_characters_are_replaced() -> None:
    assert clean("a\x00b\x1fc\ufffe") == "a�b�c�"
    assert clean("tab\tand\nline 統計 😀") == "tab\tand\nline 統計 😀"


def test_attributes_are_quoted_and_numbers_short() -> None:
    assert tag("text", font_size=12.0, _class='a"b<c') == '<text font-size="12" class=\'a"b&lt;c\'/>'
    assert [number(value) for value in (1.0, 1.239, -0.001, 100.10)] == ["1", "1.24", "0", "100.1"]
