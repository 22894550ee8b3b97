"""One picture of each kind, kept as it was judged by eye. To renew them: QUINCUNX_GOLDEN=write, then look at each."""

import os
from pathlib import Path

import pytest

from quincunx.chart import Axis, Bar, Box, Chart, Line, Panel, bars, boxes, grid, heat, lines, mosaic

GOLDEN = Path(__file__).parent / "golden"


def bars_picture() -> Chart:
    data = [("car", 489), ("bicycle & tandem", 221), ("on foot", 97), ("horse", 4)]
    return bars(
        [Bar(label=label, value=value, low=value - 15, high=value + 15) for label, value in data],
        title="Most people drive; whether anybody rides a horse cannot be told",
        x="people",
        note="The intervals hold all true counts at once with probability 95 %.",
    )


def series_picture() -> Chart:
    data = {"5 % swapped": (19.36, 17.99, 11.68), "50 % swapped": (16.42, 15.05, 8.73)}
    return bars(
        [
            Bar(label=label, value=values[i], series=series, text=f"{values[i]:.2f}")
            for i, label in enumerate(("13,475,623", "3,420,628", "6,204"))
            for series, values in data.items()
        ],
        title="Ten times the swap rate takes 3 from ε",
        x="ε",
    )


def lines_picture() -> Chart:
    counts = (1, 3, 10, 30, 100, 300, 1000)
    return lines(
        [Line(label=f"power {i}", points=[(n, n**i) for n in counts]) for i in (1, 2, 3)],
        title="Powers are straight on logarithmic axes",
        x=Axis(title="people", scale="log"),
        y=Axis(title="pairs, triples", scale="log"),
    )


def boxes_picture() -> Chart:
    spread = [(i * i * 7 % 20) / 40 for i in range(20)]
    return boxes(
        [Box(label=f"{rate} %", values=[rate + rate * each for each in spread]) for rate in (1, 5, 10, 50)],
        title="The error grows with the rate",
        x="swap rate",
        y="error (%)",
        zero=True,
    )


def heat_picture() -> Chart:
    return heat(
        [[120, 30, None], [80, 260, 9], [15, 70, 310]],
        rows=["Bristol", "Kent", "Newport"],
        columns=["White", "Black", "Hispanic"],
        title="Each county has its own majority",
        unit="people",
        x="race and ethnicity",
    )


def grid_picture() -> Chart:
    return grid(
        [["everything", "pure", "ε = 1"], ["agree on the totals", "zero-concentrated", "ρ = 2.63"]],
        rows=["first", "second"],
        columns=["scope", "standard", "intensity"],
        title="Two guarantees in three blocks",
    )


def mosaic_picture() -> Chart:
    # A disc, and the same disc in ever lighter rings.
    away = [[(i - 11.5) ** 2 + (j - 11.5) ** 2 for j in range(24)] for i in range(24)]
    return mosaic(
        [
            Panel(label="a disc", cells=[[int(d <= 81) for d in row] for row in away]),
            Panel(label="a disc that fades", cells=[[max(0.0, 1 - d / 100) for d in row] for row in away]),
        ],
        title="A disc with an edge, and one without",
        note="Dark is ink.",
    )


PICTURES = {
    "bars": bars_picture,
    "series": series_picture,
    "lines": lines_picture,
    "boxes": boxes_picture,
    "heat": heat_picture,
    "grid": grid_picture,
    "mosaic": mosaic_picture,
}


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_as_it_was_judged(name: str) -> None:
    drawn, path = PICTURES[name](), GOLDEN / f"{name}.svg"
    if os.environ.get("QUINCUNX_GOLDEN") == "write":
        drawn.write(path)
    assert drawn.svg == path.read_text(encoding="utf-8")
