"""One guarantee, explained whole: numbers, plain words with their conditions, and pictures."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from quincunx.loss import Loss
from quincunx.meaning.belief.groups import SIZES, Group, groups_of, vacuous_from
from quincunx.meaning.belief.odds import Odds, ratios, times
from quincunx.meaning.belief.posterior import Posterior, chance, known, percent, posterior_bounds, sentence
from quincunx.meaning.given import guarantee_of
from quincunx.meaning.guarantee import Guarantee
from quincunx.meaning.testing import Attack, attack_on
from quincunx.numbers import amount, positive_integer
from quincunx.spec import Specification

if TYPE_CHECKING:
    from quincunx.chart import Chart

CERTAINTY: Final = Fraction(95, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What a guarantee means for a belief of `prior` about `people` people; every bound is certified.

    guarantee: what is explained; unit: the unit it was given with, None where it states its own. stated: it in one
    phrase, "ε = 1". posterior, odds, attack: its bounds in three forms. groups: the same for other numbers of people.
    vacuous_from: how many people must be unknown before the belief may reach 95 %; None where it never does, or where
    the prior is there already. sentence: the posterior in words. conditions: what must be true for all of this.
    """

    guarantee: Specification | Loss = field(repr=False)
    unit: object = field(repr=False)
    stated: str
    about: str
    people: int
    posterior: Posterior
    odds: Odds
    attack: Attack
    groups: tuple[Group, ...]
    vacuous_from: int | None
    sentence: str
    conditions: tuple[str, ...]

    @property
    def prior(self) -> Fraction:
        """The belief before."""
        return self.posterior.prior

    def words(self) -> str:
        """The explanation as paragraphs, the last of them its conditions."""
        low, high = (Fraction(end) for end in (self.posterior.low, self.posterior.high))
        risk = self.posterior.outside
        except_ = f", except with probability at most {amount(risk)}" if risk else ""
        parts = [
            f"What may be believed. {self.sentence}",
            f"As odds. Whatever was believed, its odds move by a factor of at most {times(self.odds.factor)}, up or "
            f"down; a belief of {chance(self.prior)} stays between {percent(low, up=False)} and "
            f"{percent(high, up=True)}{except_}.",
            f"As a test between two datasets. {self.attack.words()}",
            f"For groups. {self._group_words()}",
            "Conditions. " + " ".join(self.conditions),
        ]
        return "\n\n".join(parts)

    def _group_words(self) -> str:
        told = [
            f"{each.people:,} {'person' if each.people == 1 else 'people'}: "
            + (f"no bound ({each.why})" if each.why else f"at most {percent(Fraction(each.high), up=True)}")
            for each in self.groups
        ]
        start = f"The same belief of {chance(self.prior)} about several people together may become, for "
        end = ""
        if self.vacuous_from is not None:
            who = "one person" if self.vacuous_from == 1 else f"{self.vacuous_from:,} people"
            end = f" From {who} on it may reach {chance(CERTAINTY)}."
        return start + "; ".join(told) + "." + end

    def to_dict(self) -> dict[str, object]:
        """The numbers and the words, ready for JSON; what is not finite is None."""
        return {
            "stated": self.stated,
            "about": self.about,
            "people": self.people,
            "prior": str(self.prior),
            "outside": str(self.posterior.outside),
            "posterior": {"low": self.posterior.low, "high": self.posterior.high},
            "odds": {
                "factor": _number(self.odds.factor),
                "likelihood_ratio": [_number(each) for each in self.odds.likelihood_ratio],
                "before": _number(self.odds.before),
                "after": [_number(each) for each in self.odds.after],
                "relative_risk": [_number(each) for each in self.odds.relative_risk],
            },
            "attack": {
                "false_alarms": str(self.attack.false_alarms),
                "misses_at_least": self.attack.misses,
                "power_at_most": self.attack.power,
                "advantage_at_most": self.attack.advantage,
                "errors_at_least": self.attack.errors,
            },
            "groups": [
                {
                    "people": each.people,
                    "low": each.low,
                    "high": each.high,
                    "factor": _number(each.factor),
                    "advantage_at_most": each.advantage,
                    "power_at_most": each.power,
                    "why": each.why,
                    "outside": str(each.outside),
                }
                for each in self.groups
            ],
            "vacuous_from": self.vacuous_from,
            "sentence": self.sentence,
            "conditions": list(self.conditions),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def charts(self) -> dict[str, Chart]:
        """Four pictures by the stem of their file: belief, errors, epsilons, groups."""
        from quincunx.meaning import pictures

        return pictures.pictures(self, guarantee_of(self.guarantee, self.unit))


def explain(
    prior: object,
    guarantee: Specification | Loss,
    *,
    unit: object = None,
    about: str = "record",
    people: object = 1,
    outside: object = None,
    false_alarms: object = "0.05",
    sizes: Iterable[object] = SIZES,
) -> Meaning:
    """Everything this room says about one guarantee; parameters as for `posterior_bounds`, `best_attack`, `groups`."""
    read, count = guarantee_of(guarantee, unit), positive_integer(people, "people")
    asked = {"unit": unit, "about": about, "outside": outside}
    posterior = posterior_bounds(prior, guarantee, people=count, **asked)  # type: ignore[arg-type]
    certain = 0 < posterior.prior < CERTAINTY
    table = groups_of(prior, read, sizes, about, outside, false_alarms)
    # Some of the bounds may fail where others hold always; the conditions are for all of them.
    risk = max(posterior.outside, *(each.outside for each in table))
    return Meaning(
        guarantee=guarantee,
        unit=unit,
        stated=read.stated,
        about=about,
        people=count,
        posterior=posterior,
        odds=ratios(prior, read, about, count, outside),
        attack=attack_on(read, false_alarms, about, count),
        groups=table,
        vacuous_from=(
            vacuous_from(prior, guarantee, certainty=CERTAINTY, **asked) if certain else None  # type: ignore[arg-type]
        ),
        sentence=sentence(prior, guarantee, people=count, **asked),  # type: ignore[arg-type]
        conditions=_conditions(read, about, count, risk),
    )


def _conditions(guarantee: Guarantee, about: str, people: int, outside: Fraction) -> tuple[str, ...]:
    found = [
        f"One step of the guarantee is: {guarantee.unit.words()}",
        f"The belief is held by someone who already knows {known(guarantee, about, people)}.",
        f"It is about {guarantee.counted}; every further release about the same people adds to it.",
        "Where people's data depend on each other, someone who does not know the others may learn about one person "
        "from the others' answers, and the belief may move further.",
        "What is true of people in general may be learned, whether this person is in the data or not.",
    ]
    if outside:
        found.append(
            f"The bounds on beliefs may fail with probability at most {amount(outside)}, over the noise of the "
            "release; the bounds on tests always hold."
        )
    return tuple(found)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
