"""The value that a chart is: XML, described, escaped, written whole or not at all."""

import ast
import dataclasses
import re
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from quincunx.chart import Axis, Bar, Box, Chart, Line, bars, boxes, frame, grid, heat, lines
from quincunx.chart.frame import STYLES
from quincunx.errors import ParameterError
from tests.chart.reading import check_readable, elements, texts
from tests.chart.test_heat import lightness

HOSTILE = 'a < b & "c" </text><script>alert(1)</script>\x00'


def chart() -> Chart:
    return bars([Bar(label="a", value=1)], title="One is one", x="people")


def test_it_is_a_picture_of_its_own() -> None:
    root = ElementTree.fromstring(chart().svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert (root.get("width"), root.get("role")) == ("800", "img")
    assert root.get("viewBox") == f"0 0 800 {chart().height:g}"
    assert root[0].text == "One is one"
    assert "people: a 1" in (root[1].text or "")
    assert not {"href", "src", "script"} & {key for each in root.iter() for key in each.keys()}  # noqa: SIM118


def test_text_is_escaped_everywhere() -> None:
    drawn = bars(
        [Bar(label=HOSTILE, value=1, series=HOSTILE), Bar(label="b", value=2)], title=HOSTILE, x=HOSTILE, note=HOSTILE
    )
    check = [each.tag.rpartition("}")[2] for each in ElementTree.fromstring(drawn.svg).iter()]
    assert "script" not in check
    assert any("alert(1)" in text for text in texts(drawn))
    assert "\x00" not in drawn.svg
    assert elements(drawn, "title")[0].text == HOSTILE.replace("\x00", "�")


def test_it_is_a_frozen_value() -> None:
    assert chart() == chart()
    assert "svg" not in repr(chart())
    with pytest.raises(dataclasses.FrozenInstanceError):
        chart().svg = ""  # type: ignore[misc]
    assert chart()._repr_svg_() == chart().svg


def test_it_is_written_and_replaces_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "a.svg"
    target.write_text("old")
    assert chart().write(target) == target
    assert target.read_text(encoding="utf-8") == chart().svg
    assert chart().write(str(tmp_path / "b.SVG")).exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "b.SVG"]


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="cannot write"):
        chart().write(tmp_path / "missing" / "a.svg")
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(ParameterError, match="cannot write"):
        chart().write(tmp_path / "folder.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.svg"]
    with pytest.raises(ParameterError, match=r"end in \.svg"):
        chart().write(tmp_path / "a.png")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(ParameterError, match="cannot write") as caught:
        chart().write(tmp_path / "file" / "a.svg")
    assert "folder" in caught.value.hint
    assert (tmp_path / "file").read_text() == "kept"


LONG = "a quantity with a very long name " * 8
EVERY = [
    lambda words: bars([Bar(label=words, value=1)], title=words, x=words, note=words),
    lambda words: lines([Line(label=words, points=[(1, 2), (3, 4)])], title=words, x=words, y=words, note=words),
    lambda words: boxes([Box(label=words, values=[1, 2])], title=words, x=words, y=words, note=words),
    lambda words: heat([[1, 2]], rows=[words], columns=[words, "b"], title=words, unit=words, x=words, note=words),
    lambda words: heat([[1.5]], rows=[words], columns=[words], title=words, unit=words, x=words, note=words),
    lambda words: grid([[words]], rows=[words], columns=[words], title=words, note=words),
]


@pytest.mark.parametrize("draw", EVERY)
def test_long_words_stay_on_the_paper(draw: Callable[[str], Chart]) -> None:
    check_readable(draw(LONG))
    check_readable(draw("unbreakable" * 30))
    check_readable(draw("統計" * 60))


@pytest.mark.parametrize("draw", EVERY)
def test_the_same_data_give_the_same_bytes(draw: Callable[[str], Chart]) -> None:
    assert draw("a").svg == draw("a").svg
    assert not {"nan", "inf"} & set(re.findall(r"[a-z]+", draw("x").svg))


@pytest.mark.parametrize("draw", EVERY)
def test_every_picture_describes_itself(draw: Callable[[str], Chart]) -> None:
    root = ElementTree.fromstring(draw("something telling").svg)
    assert [each.tag.rpartition("}")[2] for each in root[:2]] == ["title", "desc"]
    assert "something telling" in (root[1].text or "")


def test_the_room_stands_on_errors_alone() -> None:
    for path in sorted(Path(frame.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("quincunx"):
                assert (node.module or "").startswith(("quincunx.chart", "quincunx.errors")), path.name
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            assert {name.partition(".")[0] for name in names} <= set(sys.stdlib_module_names), path.name


def test_fills_can_be_told_apart_in_grey() -> None:
    shades = [lightness(style.fill) for style in STYLES]
    # Neighbours in a group of bars differ clearly; each pair differs at all.
    assert all(abs(a - b) > 40 for a, b in pairwise(shades))
    assert len({round(shade / 5) for shade in shades}) == len(STYLES)


def test_lines_are_dark_enough_on_paper() -> None:
    assert all(lightness(style.colour) < 145 for style in STYLES)


def test_a_long_legend_goes_on_in_the_next_row() -> None:
    data = [Bar(label="a", value=1, series=f"a series with a rather long name {i}") for i in range(6)]
    drawn = bars(data, title="T " * 200, x="x")
    assert len({each.get("y") for each in elements(drawn, "text", "legend")}) >= 3
    check_readable(drawn)
    long = bars([Bar(label="a", value=1, series=str(i) * 300) for i in range(2)], title="T", x="x")
    assert all(text.endswith("…") for text in texts(long, "legend"))
    check_readable(long)


def test_an_axis_is_a_value() -> None:
    assert Axis(title="x") == Axis(title="x", scale="linear")
