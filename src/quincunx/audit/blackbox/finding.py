"""What an audit found: a lower bound that holds with the stated confidence, and the event that gives it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from quincunx.audit.blackbox.claim import Claim, Weighed, least
from quincunx.errors import VerificationError
from quincunx.numbers import Number, ball, float_above, float_below, non_negative, precision
from quincunx.spec import Standard


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One pair of neighbouring inputs against one claim.

    mechanism, inputs: in words; inputs[0] is the one that makes the event likelier. event: in words. p_low: a lower
    bound on its probability there; q_high: an upper bound on its probability at the other input; both hold together
    with probability at least `confidence`. samples: how many outputs of each input were drawn; tested: how many of them
    the bounds rest on. seconds: wall time. weighed: the claim against the two probabilities.
    """

    mechanism: str
    claim: Claim
    inputs: tuple[str, str]
    event: str
    p_low: float
    q_high: float
    samples: int
    tested: int
    confidence: Fraction
    seconds: float
    weighed: Weighed

    @property
    def bound(self) -> float:
        """What the claim's parameter is at least, with the stated confidence: ε at the claim's δ, ρ, μ, or power."""
        return self.weighed.bound

    @property
    def stated(self) -> float:
        """What the claim says that the parameter is at most."""
        return self.weighed.stated

    @property
    def tightness(self) -> float:
        """The bound as a part of what is stated; above 1 the claim is refuted. For a loss: of p − q."""
        return self.weighed.tightness

    @property
    def refuted(self) -> bool:
        """Whether the claim is false, with the stated confidence."""
        return self.weighed.contradicted

    @property
    def verdict(self) -> str:
        """ "refuted" or "not refuted": no number of samples proves a claim."""
        return "refuted" if self.refuted else "not refuted"

    def least(self, standard: Standard) -> float:
        """The same evidence in any standard: its intensity is at least this, with the stated confidence."""
        with precision(256):
            return max(0.0, float_below(least(standard, self.p_low, self.q_high)))

    def delta(self, epsilon: Number) -> float:
        """δ at `epsilon` is at least this: the larger of p − e^ε·q and (1 − q) − e^ε·(1 − p)."""
        with precision(256):
            growth, p, q = ball(non_negative(epsilon, "epsilon")).exp(), ball(self.p_low), ball(self.q_high)
            return max(0.0, float_below(p - growth * q), float_below((1 - q) - growth * (1 - p)))

    @property
    def tradeoff(self) -> tuple[float, float]:
        """A point (α, β): a test with false-alarm rate at most α misses at most β."""
        return self.q_high, float_above(1 - Fraction(self.p_low))

    def to_json(self) -> dict[str, object]:
        """The finding as one JSON object; a tightness that is infinite is null."""
        return {
            "mechanism": self.mechanism,
            "claim": self.claim.text,
            "parameter": self.claim.parameter,
            "stated": self.stated,
            "bound": self.bound,
            "tightness": self.tightness if math.isfinite(self.tightness) else None,
            "verdict": self.verdict,
            "event": self.event,
            "likelier": self.inputs[0],
            "other": self.inputs[1],
            "p_low": self.p_low,
            "q_high": self.q_high,
            "samples": self.samples,
            "tested": self.tested,
            "confidence": str(self.confidence),
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        return (
            f"{self.mechanism}: {self.claim.text} {self.verdict}; {self.claim.parameter} ≥ {self.bound:.6g}. "
            f"The event “{self.event}” has probability at least {self.p_low:.6g} at {self.inputs[0]} "
            f"and at most {self.q_high:.6g} at {self.inputs[1]}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Several pairs against one claim. confidence: of all findings together."""

    findings: tuple[Finding, ...]
    confidence: Fraction

    @property
    def refuted(self) -> bool:
        """Whether any pair refutes the claim."""
        return any(finding.refuted for finding in self.findings)

    @property
    def verdict(self) -> str:
        """ "refuted" where any pair refutes the claim, else "not refuted"."""
        return "refuted" if self.refuted else "not refuted"

    @property
    def worst(self) -> Finding:
        """The finding that comes closest to the claim, or goes farthest beyond it."""
        return max(self.findings, key=lambda finding: (finding.refuted, finding.tightness))

    def check(self) -> Report:
        """The report itself; a VerificationError where the claim is refuted."""
        if self.refuted:
            raise VerificationError(str(self.worst), where="audit")
        return self

    def to_json(self) -> dict[str, object]:
        """The report as one JSON object."""
        return {
            "verdict": self.verdict,
            "confidence": str(self.confidence),
            "findings": [finding.to_json() for finding in self.findings],
        }

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))
