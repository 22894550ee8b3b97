"""Bars with intervals."""

import pytest

from quincunx.cli.chart import Bar, draw

BARS = [Bar("car", 500, 475, 525), Bar("bicycle", 20, -5, 45), Bar("horse", -3, -28, 22)]


@pytest.mark.parametrize("width", [20, 60, 120])
def test_lines_fit_and_align(width: int) -> None:
    lines = draw(BARS, width)
    # Ten columns of bar are kept even where the window is narrower than the labels.
    assert max(map(len, lines)) <= max(width, 10 + len("bicycle") + len("500  [475, 525]") + 4)
    assert [line.index(word) for line, word in zip(lines, ["500", " 20", " -3"], strict=True)] == [
        lines[0].index("500")
    ] * 3


def test_parts_are_proportional() -> None:
    line = draw([Bar("a", 50, 25, 100)], 1 + 2 + 100 + 2 + len("50  [25, 100]"))[0]
    assert (line.count("█"), line.count("▒"), line.count("░")) == (25, 25, 50)


def test_nothing_is_drawn_below_zero() -> None:
    line = draw(BARS, 80)[2]
    assert "█" not in line
    assert "▒" not in line
    assert "[0, 22]" in line
