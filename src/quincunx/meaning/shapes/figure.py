"""Figure 2 of the survey, drawn: where each of four promises lets a belief go. One panel each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from quincunx.chart import Chart, Scale, Tick, frame, group, shortened, tag
from quincunx.chart import number_text as number
from quincunx.errors import DataError
from quincunx.meaning.shapes.shape import Adversarial, APosterioriNoiseless, Differential, PositiveMembership, Shape
from quincunx.numbers import Log

_SIDE: Final = 290.0
_LEFT: Final = 62.0
_HEAD: Final = 64.0
_PITCH: Final = (frame.WIDTH / 2, _HEAD + _SIDE + 58)
_STEPS: Final = 200
_TICKS: Final = tuple(Tick(value=float(each), label=str(each)) for each in (0, 25, 50, 75, 100))
_AXIS: Final = "belief before (%)"


def figure(shapes: Sequence[tuple[str, Shape]] | None = None, *, title: str = "", note: str = "") -> Chart:
    """Up to four shapes side by side, each with its name: the band of posteriors that it allows, against the prior.

    Without `shapes`, the survey's four: ε = ln 3, and δ = 0.05 for the adversarial one.
    """
    survey = shapes is None
    drawn = list(_SURVEY if shapes is None else shapes)
    if not 1 <= len(drawn) <= 4:
        raise DataError("expected one to four shapes", where="figure", got=f"{len(drawn)} shapes")
    title = title or (_TITLE if survey else "Where each promise lets a belief go")
    note = note or (_NOTE if survey else "")
    parts, top = frame.head(title, [("allowed", [_key("band")]), ("nothing learned", [_key("line")])])
    for place, (name, shape) in enumerate(drawn):
        x, y = (place % 2) * _PITCH[0], top + (place // 2) * _PITCH[1]
        parts.append(group(_panel(name, shape), transform=f"translate({number(x)} {number(y)})"))
    end = top + ((len(drawn) + 1) // 2) * _PITCH[1]
    foot, end = frame.foot(note, end)
    described = f"Belief after against {_AXIS}: {', '.join(name for name, _ in drawn)}. {note}"
    return frame.picture(title, [*parts, *foot], end, described)


def _panel(name: str, shape: Shape) -> list[str]:
    """One panel in its own coordinates, its name above it."""
    across = Scale(low=0.0, high=100.0, start=_LEFT, end=_LEFT + _SIDE, logarithmic=False, ticks=_TICKS)
    up = Scale(low=0.0, high=100.0, start=_HEAD + _SIDE, end=_HEAD, logarithmic=False, ticks=_TICKS)
    label = shortened(frame.named(name, "shapes"), frame.LABEL_SIZE, _SIDE + _LEFT, bold=True)
    parts = [
        tag("text", label, x=frame.MARGIN, y=26, font_size=frame.LABEL_SIZE, font_weight="bold", _class="panel")
    ]  # fmt: skip
    parts += frame.y_axis(up, "belief after (%)", across.start, across.end)
    axis, _ = frame.x_axis(across, _AXIS, _HEAD, _HEAD + _SIDE)
    parts += axis
    grid = [i / _STEPS for i in range(_STEPS + 1)]
    ends = [(100 * x, *shape.bounds(repr(x))) for x in grid]
    above = [(across.at(x), up.at(100 * high)) for x, _, high in ends]
    below = [(across.at(x), up.at(100 * low)) for x, low, _ in ends]
    style = frame.STYLES[0]
    parts.append(
        tag("polygon", points=_joined([*above, *below[::-1]]), fill=style.fill, fill_opacity=0.2, stroke="none",
            _class="band")
    )  # fmt: skip
    for places in (above, below):
        parts.append(
            tag("polyline", points=_joined(places), fill="none", stroke=style.colour, stroke_width=2.5, _class="line")
        )
    diagonal = [(across.at(0), up.at(0)), (across.at(100), up.at(100))]
    parts.append(
        tag("polyline", points=_joined(diagonal), fill="none", stroke=frame.STYLES[1].colour, stroke_width=2,
            stroke_dasharray=frame.STYLES[1].dash, _class="line")
    )  # fmt: skip
    return parts


def _joined(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in places)


def _key(kind: str) -> str:
    if kind == "band":
        style = frame.STYLES[0]
        return tag("rect", x=4, y=1, width=26, height=14, fill=style.fill, fill_opacity=0.2, stroke=style.colour)
    style = frame.STYLES[1]
    return tag("line", x1=0, y1=8, x2=34, y2=8, stroke=style.colour, stroke_width=2, stroke_dasharray=style.dash)


_SURVEY: Final = (
    ("Differential", Differential(Log(3))),
    ("Positive membership", PositiveMembership(Log(3))),
    ("Adversarial, δ = 0.05", Adversarial(Log(3), "0.05")),  # type: ignore[arg-type]
    ("A-posteriori noiseless", APosterioriNoiseless(Log(3))),
)
_TITLE: Final = "Of four promises at ε = ln 3, two let a belief fall to nothing"
_NOTE: Final = (
    "After Figure 2 of Desfontaines and Pejó 2022. A belief inside the band is allowed. Differential privacy allows "
    "least: a belief of 50 % ends between 25 % and 75 %."
)
