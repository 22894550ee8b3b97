"""What a question would do, before it is asked: the plan in words, its cost and its errors. No private row is read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import Any, Final

from quincunx.numbers import above, exact_text, near, percent, stated
from quincunx.release.expected import expected
from quincunx.release.pricing import Priced
from quincunx.release.weighting import shares
from quincunx.release.words import climb_words, measure_words, selection_words, sharing_words
from quincunx.table import Key, Measured, Program

GROUP_SIZE: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputError:
    """How far one output will be off. half_width: holds with the stated confidence; se: the noise's standard
    deviation; None where they depend on the answer. assumed: the condition under which they hold, empty if none.
    """

    name: str
    half_width: float | None
    se: float | None
    assumed: str

    def to_dict(self) -> dict[str, Any]:
        """The error as JSON values."""
        return {"name": self.name, "half_width": self.half_width, "se": self.se, "assumed": self.assumed}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a question would cost. spend, delta: its price; charged, charged_delta: what the dataset would pay now, 0
    for a question that was paid before. remaining, affordable: what the dataset has left, and the largest spend that
    every budget would admit.
    """

    symbol: str
    spend: Fraction
    delta: Fraction
    charged: Fraction
    charged_delta: Fraction
    remaining: Fraction
    affordable: Fraction

    @property
    def covered(self) -> bool:
        """Whether the budgets cover it."""
        return self.charged <= self.affordable

    def to_dict(self) -> dict[str, Any]:
        """The cost as JSON values, amounts as exact texts."""
        names = ("spend", "delta", "charged", "charged_delta", "remaining", "affordable")
        amounts = {name: exact_text(getattr(self, name)) for name in names}
        return {"symbol": self.symbol, **amounts, "covered": self.covered}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A planned question. sharing: which declarations would leave fewer numbers to measure. _written: makes the
    statement that the engine would run. Without a spend there is no cost, no noise and no error.
    """

    sql: str
    dataset: str
    unit: str
    confidence: Fraction
    keys: tuple[str, ...]
    measures: tuple[str, ...]
    selection: str
    noise: tuple[str, ...]
    errors: tuple[OutputError, ...]
    cost: Cost | None
    biases: tuple[str, ...]
    sharing: tuple[str, ...]
    _written: Callable[[], str] = field(repr=False, compare=False)

    @property
    def engine_sql(self) -> str:
        """The statement that the engine would run: written when it is read, which takes longer than all the rest."""
        return self._written()

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON values."""
        return {
            "sql": self.sql,
            "dataset": self.dataset,
            "unit": self.unit,
            "confidence": exact_text(self.confidence),
            "keys": list(self.keys),
            "measures": list(self.measures),
            "selection": self.selection or None,
            "noise": list(self.noise),
            "errors": [error.to_dict() for error in self.errors],
            "cost": None if self.cost is None else self.cost.to_dict(),
            "biases": list(self.biases),
            "sharing": list(self.sharing),
            "engine_sql": self.engine_sql,
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def lines(self) -> list[str]:
        """The explanation in words, a line for each fact."""
        lines = [f"protects: {self.unit}"]
        lines += [f"groups: {key}" for key in self.keys] or ["groups: none, one row"]
        for index, measure in enumerate(self.measures):
            noise = f"; {self.noise[index]}" if self.noise else ""
            lines.append(f"measures: {measure}{noise}")
        lines += [self.selection] if self.selection else []
        lines += [_error_line(error, self.confidence) for error in self.errors]
        if self.cost is None:
            lines.append("cost: say what you would spend, and the errors follow")
        else:
            lines.append(_cost_line(self.cost))
        return [*lines, *self.sharing, *self.biases, "No private row was read."]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    # What a plain interpreter shows is for people: the plan in words.
    __repr__ = __str__

    def _repr_html_(self) -> str:
        lines = "<br>".join(escape(line) for line in self.lines())
        folded = f'<pre style="white-space: pre-wrap; overflow-wrap: anywhere">{escape(self.engine_sql)}</pre>'
        return f"<div><p>{lines}</p><details><summary>the engine's SQL</summary>{folded}</details></div>"


def output_errors(priced: Priced, confidence: Fraction, group_size: int) -> tuple[OutputError, ...]:
    """The error of each measured output. Means: for a group of `group_size` rows in the middle of their bounds."""
    outputs = [
        each
        for each in priced.program.query.outputs
        if any(isinstance(node, Measured) for node in each.expression.walk())
    ]
    return tuple(
        OutputError(
            name=output.name,
            half_width=None if math.isnan(one.half_width) else one.half_width,
            se=one.se,
            assumed=one.assumed,
        )
        for output, one in zip(outputs, expected(priced, outputs, 1 - confidence, group_size), strict=True)
    )


def key_words(program: Program) -> tuple[str, ...]:
    """The keys of GROUP BY, and whether they are public."""
    return tuple(
        f"{key.name}: unknown, selected privately"
        if key.values is None
        else f"{key.name}: {len(key.values):,} public keys{_from_facts(key)}, all of them shown"
        for key in program.query.keys
    )


def _from_facts(key: Key) -> str:
    return " that follow from what is declared" if key.complete else ""


def plan_words(program: Program, priced: Priced | None) -> dict[str, Any]:
    """The parts of an Explanation that follow from the plan and the price."""
    noise = _noise_words(priced) if priced else ()
    measures = tuple(measure_words(measure) for measure in program.measures)
    if program.climb is not None:
        measures = (climb_words(program.climb), *(f"at the highest rung {each}" for each in measures))
        noise = (priced.climb.choice.words(), *noise) if priced and priced.climb else ()
    return {
        "keys": key_words(program),
        "measures": measures,
        "selection": selection_words(priced) if priced else "",
        "noise": noise,
        "biases": program.biases,
        "sharing": sharing_words(program),
    }


def _noise_words(priced: Priced) -> tuple[str, ...]:
    """The noise of each measure, with its share of the spend where shares differ."""
    words, (parts, _) = [each.words() for each in priced.measurements], shares(priced.program, Fraction(1))
    if not priced.program.weights:
        return tuple(words)
    return tuple(f"{each}, for {part} of the spend" for each, part in zip(words, parts, strict=True))


def _error_line(error: OutputError, confidence: Fraction) -> str:
    after = f" ({error.assumed})" if error.assumed else ""
    if error.half_width is None:
        return f"error of {error.name}: not known beforehand{after}"
    se = "" if error.se is None else f", standard error {near(error.se, 4)}"
    return f"error of {error.name}: ± {above(error.half_width, 4)} at {percent(confidence)}{se}{after}"


def _cost_line(cost: Cost) -> str:
    price = stated(cost.symbol, cost.spend, cost.delta)
    rest = f"remaining {stated(cost.symbol, cost.remaining)}"
    if not cost.charged and not cost.charged_delta:
        return f"cost: 0, because this question was paid for before ({price}); {rest}"
    refused = f"; not covered: at most {stated(cost.symbol, cost.affordable)}" if not cost.covered else ""
    return f"cost: {price}; {rest}{refused}"
