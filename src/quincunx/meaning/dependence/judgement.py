"""A belief that moved, and whether every belief moves within a bound."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from quincunx.meaning.dependence.joint import Label
from quincunx.numbers import Exact, amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A belief, before and after one output: π(X_record = value | known) and the same given the output too.

    known: the other records that are known, as (number, value).
    """

    record: int
    value: Label
    output: Label
    known: tuple[tuple[int, Label], ...]
    prior: Fraction
    posterior: Fraction

    @property
    def ratio(self) -> Fraction:
        """posterior/prior."""
        return self.posterior / self.prior

    @property
    def odds(self) -> Fraction | None:
        """The odds afterwards over the odds before: the likelihood ratio. None where it is infinite: certainty."""
        if self.prior == self.posterior:
            return Fraction(1)
        if self.posterior == 1:
            return None
        return self.posterior * (1 - self.prior) / (self.prior * (1 - self.posterior))

    def spread(self, by: str) -> Fraction | None:
        """The larger of the factor and its inverse, of `ratio` or of `odds`; None where it is infinite."""
        factor = self.ratio if by == "ratio" else self.odds
        return max(factor, 1 / factor) if factor else None

    def __str__(self) -> str:
        facts = ", ".join(f"record {j} is {value!r}" for j, value in self.known)
        who = f"knowing that {facts}, " if facts else ""
        return (
            f"{who}the output {self.output!r} moves the belief that record {self.record} is {self.value!r} "
            f"from {amount(self.prior)} to {amount(self.posterior)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Whether beliefs move by factors within e^{±c·ε}, for every output, every value and every record asked about.

    statement: "conditional" (all other records known), "marginal" (none) or "chamber". by: "ratio", posterior/prior, or
    "odds", the same of the odds. epsilon: ε. size: c, 1 but for chambers. holds: decided exactly. witness: a belief
    that breaks the bound where one does, else the one that moves most.
    """

    statement: str
    by: str
    epsilon: Exact
    size: int
    holds: bool
    witness: Moved

    def __bool__(self) -> bool:
        return self.holds

    def words(self) -> str:
        """The judgement as a sentence, with its witness."""
        who = {
            "conditional": "someone who knows all other records",
            "marginal": "someone who knows none of the other records",
            "chamber": f"someone who counts {self.size} records together",
        }[self.statement]
        power = "e^ε" if self.size == 1 else f"e^({self.size}ε)"
        what = "a belief" if self.by == "ratio" else "the odds of a belief"
        return (
            f"For {who}, one output {'cannot' if self.holds else 'can'} move {what} about one record by more than a "
            f"factor of {power}, ε = {amount(self.epsilon)}. {'The farthest' if self.holds else 'For example'}: "
            f"{self.witness}."
        )
