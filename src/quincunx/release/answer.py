"""An answer: a table with companion columns, and everything there is to know about it. A frozen value."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from quincunx.data import FrameT
from quincunx.loss import Loss
from quincunx.numbers import exact_text, percent, stated
from quincunx.release import show
from quincunx.release.column import Column
from quincunx.release.derive import TABLE
from quincunx.release.tabled import Tabled
from quincunx.release.then import Basis, Derived
from quincunx.spec import Specification


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Answer(Tabled[FrameT]):
    """The answer to one question, read from what the ledger stored.

    columns: keys, and every measured output n with n_low, n_high and n_se. The interval covers the bounded statistic
    with probability at least `confidence`, row by row; sampling error is not included. n_se: the standard deviation of
    the noise. sql: the question. dataset, version: the data. specification: the dataset's guarantee. loss: what this
    answer leaks at input distance 1. symbol: ε or ρ. spent, delta: what this answer cost the dataset now; 0 for a
    stored answer. remaining, remaining_delta: what the dataset has left. head: the ledger's head. mechanisms: the noise
    of each measured number, in words. biases: what the bounded statistic may lack. notes: what else must be said.
    source: the kind of the first private table's source, which `frame` gives back. worked: where the question holds
    windows over its groups, the published numbers below them and the statement that is worked out from these.
    """

    columns: tuple[Column, ...]
    sql: str
    dataset: str
    version: str
    specification: Specification
    loss: Loss
    symbol: str
    spent: Fraction
    delta: Fraction
    remaining: Fraction
    remaining_delta: Fraction
    head: str
    confidence: Fraction
    mechanisms: tuple[str, ...]
    biases: tuple[str, ...]
    notes: tuple[str, ...]
    source: str
    worked: tuple[tuple[Column, ...], str] | None = field(default=None, repr=False, compare=False)

    def told(self) -> list[str]:
        """The lines below the table: what it cost, what it protects, and what must be said."""
        price, left = (self.spent, self.delta), (self.remaining, self.remaining_delta)
        lines = [
            f"spent {stated(self.symbol, *price)}; remaining {stated(self.symbol, *left)} for {self.dataset}",
            *(f"noise: {words}" for words in self.mechanisms),
            f"protects: {self.specification.unit.words()}",
            *show.column_notes(self.columns),
        ]
        if any(column.role == "low" for column in self.columns):
            lines.append(f"{show.COVERED.format(percent(self.confidence))}; sampling error is not included.")
        return [*lines, *self.biases, *self.notes, f"ledger head {self.head}"]

    def then(self, sql: str) -> Derived[FrameT]:
        """Any SELECT over the table `answer`, worked out from what is published: free, and part of no question.

        Every number that depends on noise has an interval, exact where it is linear in noisy numbers, else simulated.
        """
        if self.worked is None:
            return Basis(tables={TABLE: self.columns}, answers=(self,)).then(sql)
        columns, above = self.worked
        return Basis(tables={TABLE: columns}, answers=(self,)).after(above, sql)

    def to_dict(self) -> dict[str, Any]:
        """The whole answer as JSON values: rows, amounts as exact texts, specification, notes."""
        return {
            "rows": self._json_rows(),
            "spent": exact_text(self.spent),
            "delta": exact_text(self.delta),
            "remaining": exact_text(self.remaining),
            "remaining_delta": exact_text(self.remaining_delta),
            "symbol": self.symbol,
            "head": self.head,
            "confidence": exact_text(self.confidence),
            "columns": self._json_columns(),
            "dataset": self.dataset,
            "version": self.version,
            "sql": self.sql,
            "mechanisms": list(self.mechanisms),
            "biases": list(self.biases),
            "notes": list(self.notes),
            "specification": self.specification.to_dict(),
            "loss": json.loads(self.loss.to_json()),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)
