"""`quincunx demo`: one release from start to end, on people who do not exist."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from quincunx.cli import chart
from quincunx.cli.output import AsJson, console, print_json, reports_errors, shown_above

if TYPE_CHECKING:
    from quincunx.mechanisms import DiscreteLaplace
    from quincunx.spec import Specification

# How 1,200 generated people travel to work: shares in thousandths.
_SHARES = {"car": 402, "bicycle": 187, "bus": 143, "train": 121, "on foot": 83, "tram": 41, "ferry": 15, "horse": 8}
_PEOPLE = 1_200
_BETA = "0.05"


@reports_errors
def demo(
    epsilon: Annotated[str, typer.Option(help="The intensity ε of the release, exact as typed.")] = "1/5",
    as_json: AsJson = False,
) -> None:
    """Release a small histogram and show its specification, its intervals and its loss.

    The people are generated, the noise is real: every run gives another answer.
    """
    from quincunx.mechanisms import DiscreteLaplace
    from quincunx.numbers import positive

    population = _population()
    mechanism = DiscreteLaplace(scale=1 / positive(epsilon, "epsilon"))
    specification = _specification(tuple(population), epsilon)
    noisy = mechanism.sample(list(population.values())).tolist()
    half_width = mechanism.error(beta=_BETA, size=len(population))
    if as_json:
        print_json(_as_json(population, noisy, half_width, mechanism, specification))
    else:
        _show(population, noisy, half_width, mechanism, specification)


def _population() -> dict[str, int]:
    """The true counts: one generated person after another chooses by a fixed sequence of uniforms."""
    import numpy as np

    edges = np.cumsum(list(_SHARES.values())) / 1000
    chosen = np.searchsorted(edges, np.random.default_rng(1889).random(_PEOPLE), side="right")
    counts = np.bincount(chosen, minlength=len(_SHARES))
    return dict(zip(_SHARES, counts.tolist(), strict=True))


def _specification(cells: tuple[str, ...], epsilon: str) -> Specification:
    from quincunx.spec import Specification, domain, scope, standard, unit

    return Specification(
        domain=domain.Histogram(cells=cells),
        scope=scope.Everything(),
        unit=unit.AddRemove(),
        standard=standard.Pure(),
        intensity=epsilon,
    )


def _standards(mechanism: DiscreteLaplace) -> list[tuple[str, str, str]]:
    from quincunx.numbers import Ball, float_above
    from quincunx.spec.standard import GaussianDP, Pure

    loss = mechanism.loss
    mu = Pure().implied(mechanism.sensitivity / mechanism.scale, GaussianDP())
    rows = [
        ("pure", "ε", loss.pure(), "no event is more than e^ε times as likely with the person as without"),
        ("approximate, δ = 10⁻⁶", "ε", loss.epsilon(delta="1e-6"), "the same, plus δ on every probability"),
        ("zero-concentrated", "ρ", loss.zcdp(), "Rényi divergence at most ρ·α at every order α"),
        *(
            [("Gaussian", "μ", float_above(mu), "no easier to tell than N(0, 1) from N(μ, 1)")]
            if isinstance(mu, Ball)
            else []
        ),
        ("total variation", "TV", loss.delta(epsilon=0), "no event's probability changes by more"),
        ("pure, a family of four", "ε", loss.group(4).pure(), "four people together"),
    ]
    return [(name, f"{symbol} = {shown_above(value)}", words) for name, symbol, value, words in rows]


def _as_json(
    population: dict[str, int],
    noisy: list[int],
    half_width: float,
    mechanism: DiscreteLaplace,
    specification: Specification,
) -> dict[str, Any]:
    return {
        "specification": json.loads(specification.to_json()),
        "mechanism": repr(mechanism),
        "confidence": str(1 - float(_BETA)),
        "answers": [
            {"cell": cell, "n": n, "n_low": n - half_width, "n_high": n + half_width}
            for cell, n in zip(population, noisy, strict=True)
        ],
        "loss": [{"standard": name, "value": value} for name, value, _ in _standards(mechanism)],
    }


def _show(
    population: dict[str, int],
    noisy: list[int],
    half_width: float,
    mechanism: DiscreteLaplace,
    specification: Specification,
) -> None:
    out = console()
    out.rule("[bold]What is promised", align="left")
    out.print(specification.describe(), markup=False)
    out.print()
    out.rule("[bold]How 1,200 generated people travel to work", align="left")
    bars = [chart.Bar(cell, n, n - half_width, n + half_width) for cell, n in zip(population, noisy, strict=True)]
    for line in chart.draw(bars, out.width):
        out.print(line, markup=False, no_wrap=True)
    out.print()
    out.print(f"{chart.LEGEND}", markup=False)
    out.print(
        f"With probability 95 % or more, all eight intervals (± {half_width:,.0f}) hold the true counts at once. "
        f"Noise: discrete Laplace of scale {mechanism.scale}, exactly distributed.",
        markup=False,
    )
    worst = max(abs(n - true) for n, true in zip(noisy, population.values(), strict=True))
    out.print(
        f"These people are generated, so this once we may look: the worst answer is off by {worst}.", markup=False
    )
    out.print()
    out.rule("[bold]What it costs each person, in every standard it can state", align="left")
    table = Table(box=None, pad_edge=False, show_header=True, header_style="")
    table.add_column("standard", no_wrap=True)
    table.add_column("loss", no_wrap=True)
    table.add_column("in words")
    for row in _standards(mechanism):
        table.add_row(*row)
    out.print(table)
