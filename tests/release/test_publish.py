"""From noisy integers to a table: rounding, types, order, HAVING, LIMIT, tidying, derived outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from quincunx.loss import Loss
from quincunx.release.column import Column
from quincunx.release.pricing import Noisy
from quincunx.release.publish import publish
from quincunx.release.stored import Stored
from quincunx.table.engines import evaluate
from quincunx.table.measure import Program
from tests.release.world import gaussian, session

BITS = 2**20


def stored(program: Program, *numbers: Sequence[float], keys: Sequence[tuple[Any, ...]] | None = None) -> Stored:
    """Measured numbers in the data's unit, as if the noise had been 0, under noise of σ = 1/1000 of a row."""
    units = [measure.unit for measure in program.measures]
    measures = tuple(
        np.array([round(Fraction(str(value)) / unit) for value in column], dtype=np.int64)
        for column, unit in zip(numbers, units, strict=True)
    )
    names = [("north",), ("south",), ("east",), ("west",)][: len(numbers[0])] if keys is None else keys
    noise = tuple(gaussian(max(1, round(Fraction(1, 1000) / unit))) for unit in units)
    return Stored(noisy=Noisy(keys=tuple(names), measures=measures), mechanisms=noise, loss=Loss(), injected=False)


def shown(text: str, *numbers: Sequence[float], tidy: tuple[str, ...] = (), **more: Any) -> dict[str, Column]:
    with session() as asked:
        program = asked._dataset.program(text)
    kept = stored(program, *numbers, **more)
    columns = publish(program, kept, confidence=Fraction(19, 20), tidy=tidy, evaluate=evaluate)
    return {column.name: column for column in columns}


COUNTS = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"


def test_counts_are_rounded_to_whole_numbers_and_intervals_are_not() -> None:
    found = shown(COUNTS, [10.4, 10.5, -0.5, -0.6])
    assert found["n"].values == (10, 11, 0, -1)
    assert found["n"].type == "integer"
    # The interval is around the noisy number, and wide enough for the rounded one.
    assert found["n_low"].values[0] == pytest.approx(10.0, abs=1e-9)
    assert found["n_high"].values[0] == pytest.approx(10.4, abs=0.01)
    assert found["n_low"].values[1] == pytest.approx(10.5, abs=0.01)
    assert found["n_high"].values[1] == 11.0
    assert [found[name].role for name in ("region", "n", "n_low", "n_high", "n_se")] == [
        "key",
        "value",
        "low",
        "high",
        "se",
    ]


def test_sums_are_at_their_step() -> None:
    found = shown("SELECT SUM(cost) AS c, SUM(age) AS a FROM visits", [12.344], [7.6], keys=[()])
    assert found["c"].values == (Decimal("12.34"),)
    assert (found["c"].type, found["c"].scale) == ("decimal", 2)
    assert found["a"].values == (8,)
    assert found["a"].type == "integer"


def test_means_stay_within_their_bounds() -> None:
    text = "SELECT region, AVG(age) AS a FROM visits GROUP BY region"
    found = shown(text, [-550.0, 10.0, 5000.0, 3.0], [10.0, 10.0, 10.0, -1.0])
    assert found["a"].values[0] == pytest.approx(0.0)
    assert found["a"].values[1] == pytest.approx(56.0)
    assert found["a"].values[2] == 110.0
    assert found["a"].values[3] == 55.0
    assert (found["a_low"].values[3], found["a_high"].values[3], found["a_se"].values[3]) == (0.0, 110.0, None)
    assert found["a"].type == "float"


@pytest.mark.parametrize(
    ("end", "rows"),
    [
        ("ORDER BY n", ["east", "west", "north", "south"]),
        ("ORDER BY n DESC, region", ["south", "north", "east", "west"]),
        ("ORDER BY n, region DESC", ["west", "east", "north", "south"]),
        ("ORDER BY region", ["east", "north", "south", "west"]),
        ("ORDER BY 2 DESC LIMIT 1", ["south"]),
        ("ORDER BY 2 DESC LIMIT 2 OFFSET 1", ["north", "east"]),
        ("LIMIT 0", []),
        ("LIMIT 9 OFFSET 3", ["west"]),
        ("HAVING COUNT(*) > 1", ["north", "south"]),
        ("HAVING COUNT(*) > 5 ORDER BY n", ["south"]),
        ("HAVING region <> 'south'", ["north", "east", "west"]),
        ("ORDER BY NULLIF(COUNT(*), 2) NULLS FIRST", ["north", "east", "west", "south"]),
        ("ORDER BY NULLIF(COUNT(*), 2) DESC NULLS LAST", ["south", "east", "west", "north"]),
        ("ORDER BY -COUNT(*)", ["south", "north", "east", "west"]),
    ],
)
def test_order_having_and_limit(end: str, rows: list[str]) -> None:
    found = shown(f"{COUNTS} {end}", [2, 7, 1, 1])
    assert list(found["region"].values) == rows
    assert len(found["n_low"].values) == len(rows)


def test_rows_are_in_the_order_of_the_keys_without_order_by() -> None:
    assert shown(COUNTS, [1, 2, 3, 4])["region"].values == ("north", "south", "east", "west")


def test_derived_outputs_have_values_intervals_and_errors() -> None:
    text = "SELECT region, SUM(cost) / COUNT(*) AS per, COUNT(*) + 1 AS more, 3 AS three FROM visits GROUP BY region"
    found = shown(text, [50.0, 10.0, 0.0, 1.0], [10.0, 4.0, 2.0, 0.0])
    assert found["per"].values[:3] == (5.0, 2.5, 0.0)
    assert found["per"].values[3] is None
    assert found["per_low"].values[0] < 5.0 < found["per_high"].values[0]
    assert found["per_low"].values[3] is None
    # ∂(c/n)/∂c = 1/10 and ∂(c/n)/∂n = −5/10, under noises of 1/1000.
    assert found["per_se"].values[0] == pytest.approx(0.001 * (0.1**2 + 0.5**2) ** 0.5, rel=0.02)
    assert found["more"].values == (11, 5, 3, 1)
    assert found["more"].type == "integer"
    assert found["three"].values == (3, 3, 3, 3)
    assert found["three"].role == "key"
    assert "three_low" not in found


def test_what_is_not_arithmetic_has_a_note_instead_of_an_interval() -> None:
    outputs = "COUNT(*) > 3 AS big, CASE WHEN COUNT(*) > 3 THEN 1 ELSE 0 END AS one"
    text = f"SELECT region, {outputs} FROM visits GROUP BY region"
    found = shown(text, [1, 5, 3, 4])
    assert found["big"].values == (False, True, False, True)
    assert found["one"].values == (0, 1, 0, 1)
    assert found["big"].note.startswith("no interval")
    assert "big_low" not in found
    assert "one_low" not in found


def test_tidying_is_said_and_keeps_the_value_inside() -> None:
    text = "SELECT region, SUM(cost) AS c FROM visits GROUP BY region"
    found = shown(text, [-3.0, 2.5, 2.49, -0.2], tidy=("non-negative", "integer"))
    assert found["c"].values == (0, 3, 2, 0)
    assert found["c"].type == "integer"
    assert "shown as 0" in found["c"].note
    assert "whole numbers" in found["c"].note
    for low, value, high in zip(found["c_low"].values, found["c"].values, found["c_high"].values, strict=True):
        assert 0 <= low <= value <= high
    plain = shown(text, [-3.0, 2.5, 2.49, -0.2], tidy=("non-negative",))
    assert plain["c"].values[1] == Decimal("2.50")
    assert plain["c"].values[0] == 0
    means = shown("SELECT AVG(age) AS a FROM visits", [3.0], [2.0], keys=[()], tidy=("integer",))
    # A mean is not a whole number by nature.
    assert means["a"].values == (56.5,)


def test_a_step_that_is_no_decimal_leaves_as_a_float() -> None:
    with session() as asked:
        program = asked._dataset.program("SELECT SUM(cost) AS c FROM visits")
    third = replace(program.measures[0], step=Fraction(1, 3))
    odd = replace(program, measures=(third,))
    columns = publish(odd, stored(odd, [2.0], keys=[()]), confidence=Fraction(1, 2), tidy=(), evaluate=evaluate)
    assert columns[0].type == "float"
    assert columns[0].values == (2.0,)


def test_no_group_is_no_row() -> None:
    found = shown("SELECT town, COUNT(*) AS n, COUNT(*) / 2 AS h FROM visits GROUP BY town", [], keys=[])
    assert [column.values for column in found.values()] == [()] * len(found)


@pytest.mark.usefixtures("stream")
def test_derived_intervals_cover() -> None:
    """Bonferroni over two aggregates: 2,000 draws of a quotient, at least 95 %, false-alarm rate 1e-9."""
    with session() as asked:
        program = asked._dataset.program("SELECT SUM(cost) / COUNT(*) AS per FROM visits")
    draws = 2_000
    kept = stored(program, [500.0] * draws, [100.0] * draws, keys=[()] * draws)
    noise = tuple(gaussian(round(Fraction(5) / measure.unit)) for measure in program.measures)
    noisy = tuple(each.sample(numbers) for each, numbers in zip(noise, kept.noisy.measures, strict=True))
    drawn = replace(kept, mechanisms=noise, noisy=replace(kept.noisy, measures=noisy))
    columns = {c.name: c for c in publish(program, drawn, confidence=Fraction(19, 20), tidy=(), evaluate=evaluate)}
    ends = zip(columns["per_low"].values, columns["per_high"].values, strict=True)
    covered = sum(low <= 5.0 <= high for low, high in ends) / draws
    assert covered >= 0.95 - (np.log(1e9) / (2 * draws)) ** 0.5
