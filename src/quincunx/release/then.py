"""Free SQL above the noise: one SELECT over what one or several answers published. See then.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from quincunx.data import FrameT
from quincunx.errors import ParameterError, kind_of
from quincunx.numbers import exact_text, percent
from quincunx.release import show
from quincunx.release.column import Column
from quincunx.release.derive import SIMULATED, TABLE, Tables, derived_columns
from quincunx.release.ranking import contested_above
from quincunx.release.tabled import Tabled


class Said(Protocol):
    """What of an answer is said again below what is worked out from it."""

    @property
    def confidence(self) -> Fraction:
        """Of its intervals."""
        ...

    @property
    def source(self) -> str:
        """The kind of frame that it is given back as."""
        ...

    @property
    def dataset(self) -> str:
        """The data."""
        ...

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The noise of each measured number."""
        ...

    @property
    def biases(self) -> tuple[str, ...]:
        """What the bounded statistic may lack."""
        ...

    @property
    def head(self) -> str:
        """The ledger's head."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What is published and may be worked with: tables by name, and the answers that they come from."""

    tables: Tables
    answers: tuple[Said, ...]

    def then(self, sql: str) -> Derived:
        """Any SELECT over these tables."""
        first = self.answers[0]
        columns = derived_columns(self.tables, sql, first.confidence)
        ranked = contested_above(self.tables, sql, first.confidence)
        return Derived(
            columns=columns, sql=sql, confidence=first.confidence, source=first.source, basis=self, ranked=ranked
        )

    def after(self, first: str, sql: str) -> Derived:
        """Any SELECT over the table `answer`, which a first statement gives."""
        inner = first.strip().rstrip(";")
        return self.then(f"WITH step AS (\n{inner}\n), {TABLE} AS (SELECT * FROM step)\n{sql}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Derived(Tabled[FrameT]):
    """A table that was worked out from published ones. It cost nothing, and the ledger knows nothing of it.

    columns: as of an answer; a number whose interval was simulated says so in its note. sql: the statement. basis: what
    it was worked out from. ranked: which of its rows may change places, where it is ordered and cut.
    """

    columns: tuple[Column, ...]
    sql: str
    confidence: Fraction
    source: str
    basis: Basis
    ranked: tuple[str, ...] = ()

    def told(self) -> list[str]:
        """The lines below the table: that it was free, which noise is in it, and what must be said."""
        answers = self.basis.answers
        about = ", ".join(dict.fromkeys(each.dataset for each in answers))
        lines = [f"worked out from published numbers about {about}: cost 0"]
        lines += [f"noise: {words}" for words in dict.fromkeys(words for a in answers for words in a.mechanisms)]
        lines += show.column_notes(self.columns)
        if any(column.role == "low" for column in self.columns):
            often = " Those that are simulated do so about as often." if _simulated(self.columns) else ""
            lines.append(f"{show.COVERED.format(percent(self.confidence))}; sampling error is not included.{often}")
        lines += self.ranked
        lines += dict.fromkeys(words for each in answers for words in each.biases)
        return [*lines, f"ledger head {', '.join(dict.fromkeys(each.head for each in answers))}"]

    def then(self, sql: str) -> Derived[FrameT]:
        """Any SELECT over the table `answer`, which is this one."""
        return self.basis.after(self.sql, sql)

    def to_dict(self) -> dict[str, Any]:
        """The whole table as JSON values."""
        return {
            "rows": self._json_rows(),
            "spent": "0",
            "confidence": exact_text(self.confidence),
            "columns": self._json_columns(),
            "sql": self.sql,
            "notes": self.told(),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


def _simulated(columns: tuple[Column, ...]) -> bool:
    return any(column.note == SIMULATED for column in columns)


def combine(**answers: Tabled) -> Basis:
    """Several answers as tables of one statement: `combine(a=…, b=…).then("SELECT … FROM a JOIN b USING (region)")`."""
    hint = 'Write combine(a=session.sql(…), b=session.sql(…)).then("SELECT … FROM a JOIN b USING (region)").'
    for name, each in answers.items():
        if not isinstance(each, Tabled) or not hasattr(each, "mechanisms"):
            raise ParameterError("expected answers", where=f"combine({name})", got=kind_of(each), hint=hint)
    if not answers:
        raise ParameterError("expected at least one answer", where="combine", hint=hint)
    if len({name.lower() for name in answers}) < len(answers):
        raise ParameterError("two answers have the same name", where="combine", hint=hint)
    if len({each.confidence for each in answers.values()}) > 1:
        raise ParameterError("the answers have intervals of different confidence", where="combine")
    tables: Mapping[str, tuple[Column, ...]] = {name: each.columns for name, each in answers.items()}
    return Basis(tables=tables, answers=tuple(answers.values()))  # type: ignore[arg-type]
