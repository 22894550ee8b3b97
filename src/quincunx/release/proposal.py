"""Spends for a whole plan, from how exact its outputs are to be. Nothing is paid, and no private row is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from quincunx.errors import ParameterError
from quincunx.numbers import Number, amount, at_most, exact_text, percent, positive, stated
from quincunx.release.plan_file import ReleaseEntry
from quincunx.release.within import assumed_rows

_ZERO: Final = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What one release would spend. within: output → half-width that was asked for, empty where the plan decides.

    written: how the plan says it now, "spend = …", "share = …" or "within = …".
    """

    name: str
    spend: Fraction
    delta: Fraction
    within: Mapping[str, Fraction]
    written: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Spends that reach half-widths: those of each release, their sum, and the lines for the plan file.

    assumed: the rows of a group for which half-widths of means and the like hold, or None. budget: the plan's, or the
    dataset's if that is smaller. affordable: the largest spend that every budget would admit now.
    """

    dataset: str
    symbol: str
    confidence: Fraction
    assumed: int | None
    releases: tuple[Proposed, ...]
    budget: Fraction
    affordable: Fraction

    @property
    def total(self) -> Fraction:
        """The sum of all spends, whatever was paid before."""
        return sum((each.spend for each in self.releases), _ZERO)

    @property
    def covered(self) -> bool:
        """Whether the budgets cover all of it, if none of it was paid before."""
        return self.total <= min(self.budget, self.affordable)

    @property
    def plan_lines(self) -> dict[str, str]:
        """Release → the line to write instead of its own spend, share or within."""
        return {each.name: f'spend = "{exact_text(each.spend)}"' for each in self.releases if each.within}

    def to_dict(self) -> dict[str, Any]:
        """The proposal as JSON values, amounts as exact texts."""
        releases = [
            {
                "name": each.name,
                "spend": exact_text(each.spend),
                "delta": exact_text(each.delta),
                "within": {name: exact_text(width) for name, width in each.within.items()},
                "line": self.plan_lines.get(each.name),
            }
            for each in self.releases
        ]
        return {
            "dataset": self.dataset,
            "symbol": self.symbol,
            "confidence": exact_text(self.confidence),
            "assumed_rows": self.assumed,
            "releases": releases,
            "total": exact_text(self.total),
            "budget": exact_text(self.budget),
            "affordable": exact_text(self.affordable),
            "covered": self.covered,
        }

    def lines(self) -> list[str]:
        """The proposal in words."""
        said = []
        for each in self.releases:
            widths = ", ".join(f"{name} ± {amount(width)}" for name, width in each.within.items())
            price = stated(self.symbol, each.spend, each.delta)
            said.append(f"{each.name}: {price} for {widths}" if widths else f"{each.name}: {price}, {each.written}")
        rest, total = min(self.budget, self.affordable), stated(self.symbol, self.total)
        said.append(f"all of it: {total}, of a budget of {amount(self.budget)} with {at_most(rest)} to spend now")
        if not self.covered:
            said.append(f"not covered: ask for wider intervals, or raise the budget by {amount(self.total - rest)}")
        group = "" if self.assumed is None else f", in groups of {self.assumed:,} rows for all but counts and sums"
        said.append(f"Half-widths hold at {percent(self.confidence)}{group}.")
        if self.plan_lines:
            said.append("In the plan file, instead of what is there:")
            said += [f"  {line}  # {name}" for name, line in self.plan_lines.items()]
        return [*said, "Nothing was spent, and no private row was read."]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def asked_of(
    entries: Sequence[ReleaseEntry],
    outputs: Mapping[str, Sequence[str]],
    within: Mapping[str, Number],
    assume: Mapping[str, Number] | None,
) -> list[ReleaseEntry]:
    """The entries, those of which half-widths are asked with these instead of what they spend.

    outputs: release → the names of its measured outputs. within: "release.output", or "output" for every release that
    has it. assume: instead of what the entry itself assumes.
    """
    widths: dict[str, dict[str, Fraction]] = {entry.name: {} for entry in entries}
    for name, width in within.items():
        places = [
            (release, output)
            for release in outputs
            for output in outputs[release]
            if str(name).lower() in (output.lower(), f"{release}.{output}".lower())
        ]
        if not places:
            known = ", ".join(f"{release}.{output}" for release in outputs for output in outputs[release])
            hint = f"Half-widths can be asked of {known or 'nothing here'}."
            raise ParameterError("no release has this output", where="within", got=repr(name)[:60], hint=hint)
        for release, output in places:
            widths[release][output] = positive(width, f"within[{str(name)[:40]!r}]")
    if not any(widths.values()):
        raise ParameterError("names no output", where="within", hint='Write within={"visits.n": 25}.')
    rows = assumed_rows(assume)
    found = []
    for entry in entries:
        size = entry.assume if rows is None else {"rows": Fraction(rows)}
        asked = widths[entry.name]
        found.append(replace(entry, spend=None, share=None, within=asked, assume=size) if asked else entry)
    return found


def written(entry: ReleaseEntry) -> str:
    """How the plan says what an entry spends."""
    if entry.share is not None:
        return f"its share {amount(entry.share)} of what is left, as the plan says"
    return "as the plan says"
