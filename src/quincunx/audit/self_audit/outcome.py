"""What a self-audit found: one outcome for each claim, each control and each replay, and all of them as a report."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Final

FORMAT: Final = "quincunx/audit-self/1"
REFUTED: Final = "refuted"
STANDS: Final = "not refuted"
# The part of a claim that the bound of a tight entry must reach, with this many draws on each side.
GOAL: Final = Fraction(9, 10)
GOAL_SAMPLES: Final = 10**7


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One claim, tried.

    name, room, words, why, tight: of the entry. claim: in symbols. parameter: what `bound` measures. bound: what the
    claim's parameter certainly reaches, at the report's confidence. tightness: the bound as a part of the claim; above
    1 where it is refuted. event: the output event that shows it, with probability at least p_low on one of the two
    datasets and at most q_high on the other. samples: draws on each side. verdict: "not refuted" or "refuted".
    """

    name: str
    room: str
    words: str
    claim: str
    parameter: str
    bound: float
    tightness: float
    tight: bool
    event: str
    p_low: float
    q_high: float
    samples: int
    seconds: float
    verdict: str
    why: str = ""

    @property
    def refuted(self) -> bool:
        """Whether the claim is certainly false."""
        return self.verdict == REFUTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One neighbour replay: exact results of generated neighbours against the declared sensitivity, without chance.

    cases: pairs compared. largest: the largest distance as a part of what is declared. violations: how many are beyond
    it. shown: the smallest violation, in words. control: whether it must be refuted.
    """

    name: str
    words: str
    cases: int
    largest: float
    violations: int
    seconds: float
    shown: str = ""
    control: bool = False

    @property
    def refuted(self) -> bool:
        """Whether a declaration was broken."""
        return self.violations > 0

    @property
    def verdict(self) -> str:
        """The verdict in the same two words."""
        return REFUTED if self.refuted else STANDS


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfReport:
    """The whole audit. claims, replays: what Quincunx says of itself. controls: broken mechanisms, to be refuted.

    samples: draws on each side that were asked for. risk: the probability, at most, that any claim that is true is
    refuted: of all `tried` claims of the catalogue together, whether or not all of them were run. keyed: whether the
    draws came from an injected key, so that they can be repeated. made: when, in UTC. version: of Quincunx.
    """

    claims: tuple[Outcome, ...]
    controls: tuple[Outcome, ...]
    replays: tuple[Replayed, ...]
    samples: int
    risk: Fraction
    tried: int
    seconds: float
    keyed: bool
    made: str
    version: str

    @property
    def refuted(self) -> tuple[str, ...]:
        """The names of what was refuted and should not be."""
        lines: list[Outcome | Replayed] = [*self.claims, *(each for each in self.replays if not each.control)]
        return tuple(each.name for each in lines if each.refuted)

    @property
    def missed(self) -> tuple[str, ...]:
        """The names of controls that were not refuted: the audit is not to be relied on."""
        lines: list[Outcome | Replayed] = [*self.controls, *(each for each in self.replays if each.control)]
        return tuple(each.name for each in lines if not each.refuted)

    @property
    def short(self) -> tuple[str, ...]:
        """The names of tight claims whose bound stayed below nine tenths."""
        return tuple(each.name for each in self.claims if each.tight and each.tightness < GOAL)

    @property
    def finding(self) -> str:
        """The result in one sentence."""
        if self.missed:
            return f"The audit failed: it did not refute {', '.join(self.missed)}, which is broken on purpose."
        if self.refuted:
            return f"Refuted: {', '.join(self.refuted)}."
        replays = sum(not each.control for each in self.replays)
        caught = len(self.controls) + len(self.replays) - replays
        own = [_count(number, thing) for number, thing in ((len(self.claims), "claim"), (replays, "replay")) if number]
        told = [f"none of {' and '.join(own)} was refuted"] if own else []
        told += [f"all of {_count(caught, 'broken control')} refuted"] if caught else []
        sentence = ", ".join(told)
        return f"{sentence[:1].upper()}{sentence[1:]}."

    def to_dict(self) -> dict[str, Any]:
        """The report as a JSON value."""
        return {
            "format": FORMAT,
            "version": self.version,
            "made": self.made,
            "finding": self.finding,
            "samples": self.samples,
            "confidence": f"1 - {float(self.risk):g}",
            "claims in the family": self.tried,
            "keyed": self.keyed,
            "seconds": round(self.seconds, 1),
            "refuted": list(self.refuted),
            "controls missed": list(self.missed),
            "tight claims below nine tenths": list(self.short),
            "claims": [_line(each) for each in self.claims],
            "controls": [_line(each) for each in self.controls],
            "replays": [_line(each) | {"verdict": each.verdict} for each in self.replays],
        }


def _line(outcome: Outcome | Replayed) -> dict[str, Any]:
    found = asdict(outcome)
    found["seconds"] = round(outcome.seconds, 2)
    # JSON has no infinity: a bound beyond every number is a text.
    infinite = {name: str(value) for name, value in found.items() if isinstance(value, float) and math.isinf(value)}
    return {name: value for name, value in (found | infinite).items() if value != ""}


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
