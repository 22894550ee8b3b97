"""Which stories there are, and that each is the same whenever it is told."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from quincunx.attack import catalogue, names, run
from quincunx.errors import ParameterError
from quincunx.noise import injected
from tests.attack.telling import told
from tests.chart.reading import check_readable, texts

OURS = ("linkage", "differencing", "averaging", "picture")
IMAGES = Path(__file__).parents[2] / "docs" / "images"


def test_the_stories_of_the_room() -> None:
    listed = dict(names())
    assert set(listed) == {
        "linkage", "homogeneity", "intersection", "mondrian", "differencing", "reconstruction", "block", "membership",
        "averaging", "floating-point", "picture",
    }  # fmt: skip
    for about in listed.values():
        assert about.endswith(".")
        assert "\n" not in about
        assert len(about) <= 72


@pytest.mark.parametrize("name", OURS)
def test_a_story_told_twice_is_the_same_byte_for_byte(name: str) -> None:
    first, second = told(name), run(name)
    assert dataclasses.asdict(first) == dataclasses.asdict(second)
    assert repr(first) == repr(second)


@pytest.mark.parametrize("name", OURS)
def test_another_series_is_another_story(name: str) -> None:
    first, second = told(name), told(name, 7)
    assert first.rows != second.rows
    assert first.columns == second.columns
    assert [row[0] for row in first.rows] == [row[0] for row in second.rows]
    assert first.charts.keys() == second.charts.keys()


@pytest.mark.parametrize("name", OURS)
def test_a_story_is_whole(name: str) -> None:
    story = told(name)
    assert story.name == name
    for part in (story.title, story.published, story.known, story.recovered, story.lesson):
        assert part.strip() == part != ""
    assert all(part.endswith(".") for part in (story.published, story.known, story.recovered, story.lesson))
    assert len(story.rows) >= 3
    assert all(len(row) == len(story.columns) for row in story.rows)
    assert all(isinstance(cell, str) for row in story.rows for cell in row)
    assert any("0.1" in cell for row in story.rows for cell in row)
    assert story.sources
    json.dumps(dict(story.figures))


@pytest.mark.parametrize("name", OURS)
def test_the_pictures_can_be_read(name: str) -> None:
    for stem, chart in told(name).charts.items():
        assert stem.startswith(name)
        check_readable(chart)
        assert not any("…" in text for text in texts(chart)), stem
        assert len(chart.svg) < 150_000


@pytest.mark.parametrize("name", OURS)
def test_the_documentation_shows_the_pictures_as_they_are_drawn_now(name: str) -> None:
    # To renew: quincunx attack run NAME --out FOLDER, look at them, and copy each with "attack_" before its name.
    for stem, chart in told(name).charts.items():
        assert (IMAGES / f"attack_{stem}.svg").read_text(encoding="utf-8") == chart.svg
        assert (IMAGES / f"attack_{stem}.png").is_file()


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("linkag", "Did you mean linkage?"),
        ("floating_point", "Did you mean floating-point?"),
        ("zzz", "The stories are"),
    ],
)
def test_an_unknown_name_gets_the_nearest(typed: str, hint: str) -> None:
    with pytest.raises(ParameterError, match="there is no such story") as caught:
        run(typed)
    assert hint in caught.value.hint
    assert caught.value.got == repr(typed)


def test_a_name_that_is_no_text_is_refused() -> None:
    for name in (None, 3, ["linkage"]):
        with pytest.raises(ParameterError, match="there is no such story"):
            run(name)  # type: ignore[arg-type]


@pytest.mark.parametrize("series", [-1, "1/2", 0.5, 2**32, "x", None, True])
def test_a_series_is_a_whole_number(series: object) -> None:
    with pytest.raises(ParameterError, match="series"):
        run("picture", series=series)


def test_a_series_may_be_typed() -> None:
    assert run("picture", series="7").rows == told("picture", 7).rows


def test_the_key_is_taken_back() -> None:
    run("picture")
    assert not injected()


def test_no_module_is_loaded_before_its_story() -> None:
    assert all(isinstance(entry.module, str) for entry in catalogue._STORIES.values())
    assert len({(entry.module, entry.function) for entry in catalogue._STORIES.values()}) == len(names())
