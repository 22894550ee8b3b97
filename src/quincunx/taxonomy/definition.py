"""A definition: one choice along each of the seven dimensions, composed freely, checked on finite worlds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from quincunx.errors import PrivacyError, SpecificationError, kind_of
from quincunx.numbers import Exact, Log, rational
from quincunx.spec import Specification
from quincunx.spec.intensity import StatedIntensity
from quincunx.taxonomy import blocks, misfits
from quincunx.taxonomy.answer import Answer
from quincunx.taxonomy.background import Background, Full
from quincunx.taxonomy.choice import Choice
from quincunx.taxonomy.computation import Computation, Unlimited
from quincunx.taxonomy.formalism import APosteriori, Formalism, Likelihoods
from quincunx.taxonomy.neighbourhood import FreeLunch, Neighbourhood, OneRecord, PrivateValue
from quincunx.taxonomy.quantification import Approximate, Quantification, WorstCase
from quincunx.taxonomy.random_inputs import Random
from quincunx.taxonomy.reading import nearest
from quincunx.taxonomy.relativisation import Absolute, Asked, Relativisation
from quincunx.taxonomy.variation import Uniform, Variation, levels_hold
from quincunx.taxonomy.world import World

DIMENSIONS: Final = {
    "quantification": Quantification,
    "neighbourhood": Neighbourhood,
    "variation": Variation,
    "background": Background,
    "formalism": Formalism,
    "relativisation": Relativisation,
    "computation": Computation,
}
# how people type the symbols of answers
_TYPED: Final = {"epsilon": "ε", "rho": "ρ", "mu": "μ", "tau": "τ", "eta": "η", "delta": "δ", "gamma": "γ"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Whether a world satisfies a definition at stated parameters: "holds", "fails" or "undecided", and the answer."""

    status: str
    answer: Answer

    def __bool__(self) -> bool:
        return self.status == "holds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One choice per dimension; all seven defaults are ε-differential privacy."""

    quantification: Quantification = WorstCase()  # noqa: RUF009 - frozen values
    neighbourhood: Neighbourhood = OneRecord()  # noqa: RUF009
    variation: Variation = Uniform()  # noqa: RUF009
    background: Background = Full()  # noqa: RUF009
    formalism: Formalism = Likelihoods()  # noqa: RUF009
    relativisation: Relativisation = Absolute()  # noqa: RUF009
    computation: Computation = Unlimited()  # noqa: RUF009

    def __post_init__(self) -> None:
        for name, kind in DIMENSIONS.items():
            given = getattr(self, name)
            if not isinstance(given, kind):
                hint = f"Take one from quincunx.taxonomy.{name}."
                raise SpecificationError(f"expected a choice of {name}", where=name, got=kind_of(given), hint=hint)
        reason = misfits.reason(self)
        if reason:
            raise SpecificationError(reason[0], where="Definition", hint=reason[1])

    def with_(self, **choices: Choice) -> Definition:
        """Another definition with some choices replaced; refused with the reason where two do not fit."""
        unknown = next((name for name in choices if name not in DIMENSIONS), None)
        if unknown is not None:
            raise SpecificationError("unknown dimension", where="with_", got=unknown, hint=nearest(unknown, DIMENSIONS))
        return dataclasses.replace(self, **choices)  # type: ignore[arg-type]

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The seven choices, in the order of the survey."""
        return tuple(getattr(self, name) for name in DIMENSIONS)

    @property
    def letters(self) -> str:
        """The dimensions that differ from ε-differential privacy: "QN"."""
        return "".join(choice.letter for choice in self.choices if not choice.default)

    @property
    def needs(self) -> tuple[str, ...]:
        """The parts of a world without which it cannot be checked."""
        return tuple(dict.fromkeys(part for choice in self.choices for part in choice.needs))

    @property
    def undecided(self) -> str:
        """Why no finite world decides it; empty where one does."""
        return self.computation.undecided

    def sentence(self) -> str:
        """The survey's informal sentence, with these choices."""
        q, n, v, b, f, r, c = (choice.phrase() for choice in self.choices)
        return f"An attacker with {b} and {c} is {r} to {f} {n}, {v} {q}.".replace(",,", ",")

    def latex(self) -> str:
        """The formal statement."""
        q, n, v, b, f, r, c = (choice.formula() for choice in self.choices)
        return r";\quad ".join(part for part in (n, b, r, v, f, c, q) if part)

    def tightest(self, world: World) -> Answer:
        """The smallest parameters at which the world satisfies it, with a witness."""
        if self.undecided:
            hint = "Drop the choice of computation to check the definition against an unlimited attacker."
            raise PrivacyError(
                "no finite world decides this definition", where="computation", got=self.undecided, hint=hint
            )
        for part in self.needs:
            world.needed(part, "this definition")
        laws = self.relativisation.laws(world)
        if self.relativisation.simulates:
            return self.relativisation.answer(world, self._asked())
        if self.formalism.posterior:
            return self.formalism.answer(self.quantification, self.neighbourhood, world, laws)
        if isinstance(self.variation, Random) and isinstance(self.neighbourhood, FreeLunch):
            return self.variation.over(self.quantification, self.variation.independent(world), world)
        cases = self.background.cases(world, self.neighbourhood, laws)
        return self.variation.answer(self.quantification, self.relativisation.split(cases, world), world)

    def _asked(self) -> Asked:
        q, v = self.quantification, self.variation
        return Asked(
            delta=(q.delta or Fraction(0)) if isinstance(q, Approximate) else Fraction(0),
            share=(v.share or Fraction(0)) if isinstance(v, Random) else Fraction(0),
            inference=isinstance(self.formalism, APosteriori),
            others=not isinstance(self.neighbourhood, PrivateValue),
        )

    def holds(self, world: World, **parameters: Any) -> Judged:
        """Whether the world satisfies it: epsilon=…, with δ, γ, α and the like as they are needed.

        A number is a decimal, a fraction or Log(…). epsilon may be a mapping from position or dataset to number where
        the definition has one for each; points=… is a curve of errors.
        """
        fixed, limits = self._fixed(parameters)
        answer = fixed.tightest(world)
        if answer.shape == "verdict":
            return Judged(status="holds" if answer.holds else "fails", answer=answer)
        found = [fixed._within(answer, name, limit) for name, limit in limits.items()]
        missing = [symbol for symbol in answer.values if symbol not in limits] if answer.shape == "several" else []
        if not limits or missing:
            what = f"state {', '.join(missing) or answer.symbol}"
            typed = ", ".join(f"{k} for {v}" for k, v in _TYPED.items())
            raise SpecificationError(what, where="holds", got="no such parameter", hint=f"Symbols are typed: {typed}.")
        status = "fails" if False in found else "undecided" if None in found else "holds"
        return Judged(status=status, answer=answer)

    def _fixed(self, parameters: Mapping[str, Any]) -> tuple[Definition, dict[str, Any]]:
        """The definition with the stated settings, and what is left: limits on answers."""
        settings: dict[str, dict[str, Any]] = {}
        limits: dict[str, Any] = {}
        for name, value in parameters.items():
            wanted = "share" if name == "gamma" else name
            owner = next((d for d in DIMENSIONS if wanted in getattr(self, d).settings), None)
            if owner is not None:
                settings.setdefault(owner, {})[wanted] = value
            else:
                limits[_TYPED.get(name, name)] = value
        changed = {owner: dataclasses.replace(getattr(self, owner), **values) for owner, values in settings.items()}
        return self.with_(**changed), limits

    def _within(self, answer: Answer, name: str, limit: Any) -> bool | None:
        if isinstance(limit, Mapping):
            return levels_hold(answer.entries, {str(k): rational(v, str(k)) for k, v in limit.items()})
        if name == "points":
            return _below(limit, answer)
        number: Exact = limit if isinstance(limit, Log) else rational(limit, name)
        if answer.shape in ("front", "polygon") or (answer.values and name not in answer.values):
            hint = (
                f"The answer is in {', '.join(answer.names or answer.values)}: state all but one of them as settings."
            )
            raise SpecificationError(
                "the answer is not one number in this parameter", where="holds", got=name, hint=hint
            )
        return answer.values[name].within(number) if answer.values else answer.within(number)

    def specification(self, world: World, intensity: StatedIntensity) -> Specification:
        """The same as five blocks, where it can be stated in them."""
        return blocks.specification(self, world, intensity)

    @classmethod
    def of(cls, specification: Specification) -> Definition:
        """The definition that a specification's unit and standard choose."""
        return cls(**blocks.choices(specification))


def _below(points: Any, answer: Answer) -> bool:
    """Whether the polygon through `points` is at most the answer's: at the answer's vertices that is enough."""
    given = [(rational(x, "points"), rational(y, "points")) for x, y in points]
    for row in answer.rows:
        x, y = (Fraction(value.exact) for value in row)  # type: ignore[arg-type]
        for (a, b), (c, d) in pairwise(given):
            if a <= x <= c and (b + (d - b) * (x - a) / (c - a) if c > a else d) > y:
                return False
    return True
