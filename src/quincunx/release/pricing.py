"""What a planned question costs: how the spend is shared out, which noise that buys, and the certified loss.

Every measure of a question gets an equal share, and so does the selection of unknown keys, unless weights are given.
For a mean, the centred sum and the count have equal shares, minimax over the declared bounds: with half-range R
the error is about (noise of the sum + r·noise of the count)/n with |r| ≤ R, and both noises are R·C to C before
sharing. See pricing.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import ParameterError, PrivacyError, VerificationError
from quincunx.loss import Loss, StatedLaw
from quincunx.mechanisms import (
    Additive,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Mechanism,
    PartitionSelection,
    ThresholdSelection,
    noise_of,
    stated,
)
from quincunx.numbers import Number, positive
from quincunx.release.climb import PRICE, choice
from quincunx.release.ladder import laddered
from quincunx.release.measurement import KeySelection, Measurement
from quincunx.release.quantiles import quantiles
from quincunx.release.tree import tree
from quincunx.release.weighting import shares
from quincunx.spec import ZCDP, Approximate, Budgeted
from quincunx.table import Climb, Measure, Part, Program, Result, Selection, Value

# No half-width is looked for beyond this spend.
_MOST: Final = 2**50
_LEAST: Final = Fraction(1, 2**50)
_WAYS_OUT: Final = (
    "List the public keys of the column, or state a delta above 0 in the standard and in the question, "
    "or leave the column out of GROUP BY."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noisy:
    """The drawn integers of the groups that may be shown, in an order that depends on the keys alone.

    rows: how much of one person counted, where that was chosen first.
    """

    keys: tuple[tuple[Value, ...], ...]
    measures: tuple[NDArray[np.int64], ...]
    rows: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Climbing:
    """How many rows of one person count, chosen on a ladder. rows: the rungs. rungs: the question at each of them."""

    rows: tuple[int, ...]
    choice: Measurement
    rungs: tuple[Priced, ...]

    @property
    def loss(self) -> Loss:
        """That of the choice, and of what follows it: by its parameters alone where laws differ from rung to rung."""
        numbers = [Loss.compose(each.loss for each in rung.measurements) for rung in self.rungs]
        after = numbers[0] if all(each == numbers[0] for each in numbers) else _parameters(self.rungs[-1])
        selection = self.rungs[-1].selection
        return self.choice.loss + (after if selection is None else after + selection.loss)


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """A planned question with what is drawn for it: one measurement for each measure, and the selection of keys.

    spend: in the standard's additive parameter, ε, ρ or μ². delta: the δ that the selection of keys or the noise uses.
    climb: how much of one person counts is chosen first; all else is then as at the highest rung.
    """

    program: Program
    standard: Budgeted
    spend: Fraction
    delta: Fraction
    measurements: tuple[Measurement, ...]
    selection: KeySelection | None
    climb: Climbing | None = None

    @property
    def programs(self) -> tuple[Program, ...]:
        """All that the engine may be asked for it."""
        climb = self.program.climb
        return (self.program,) if climb is None else (climb.choice, *climb.programs)

    @property
    def noise(self) -> tuple[Mechanism, ...]:
        """What each measure is drawn by."""
        return tuple(each.mechanism for each in self.measurements)

    @property
    def loss(self) -> Loss:
        """What the whole answer leaks when the data change by one unit of protection."""
        if self.climb is not None:
            return self.climb.loss
        numbers = Loss.compose(each.loss for each in self.measurements)
        return numbers if self.selection is None else numbers + self.selection.loss

    def at(self, rows: int | None) -> Priced:
        """The question where so many rows of one person count; itself where that is not chosen."""
        if self.climb is None or rows is None:
            return self
        return self.climb.rungs[self.climb.rows.index(rows)]

    def ask(self, run: Callable[[Program], Result]) -> Noisy:
        """What is drawn for what `run` gives, limits that are chosen before all else."""
        if self.climb is None:
            return self.draw(run(self.program))
        (rung,) = self.climb.choice.draw(run(self.programs[0]).measures[0]).tolist()
        found = self.climb.rungs[rung]
        noisy = found.draw(run(found.program))
        return Noisy(keys=noisy.keys, measures=noisy.measures, rows=self.climb.rows[rung])

    def draw(self, exact: Result) -> Noisy:
        """What is drawn for every group, and for every key where keys are unknown. The keys kept are sorted."""
        keys, order = exact.keys, range(len(exact.keys))
        if self.selection is not None and exact.selection is not None:
            kept = self.selection.draw(exact.selection)
            order = sorted(np.flatnonzero(kept).tolist(), key=lambda place: _rank(keys[place]))  # type: ignore[assignment]
        places = np.fromiter(order, dtype=np.intp, count=len(order))
        # Answers are drawn for the keys kept alone: nobody sees the others.
        noisy = (each.draw(numbers[places]) for each, numbers in zip(self.measurements, exact.measures, strict=True))
        return Noisy(keys=tuple(keys[place] for place in order), measures=tuple(noisy))


def price(
    program: Program, standard: Budgeted, spend: Number, delta: Number = 0, other: Program | None = None
) -> Priced:
    """The noise that `spend` (ε, ρ or μ²) and `delta` buy for the program, verified against the certified loss.

    δ is stated exactly where keys are unknown, and only within a standard that has one. other: under (ε, δ), the same
    question planned for Gaussian noise; then a δ may be stated where keys are public, and is used if it lowers the
    error.
    """
    if program.climb is not None:
        return _climbing(program, program.climb, standard, positive(spend, "spend"), delta)
    if other is not None and delta and program.selection is None:
        return _by_curve(program, other, standard, positive(spend, "spend"), positive(delta, "delta"))
    total, share = positive(spend, "spend"), _stated_delta(program, standard, delta)
    each, rest = shares(program, total)
    selection = None if program.selection is None else _selector(program.selection, standard, rest, share)
    bought = zip(program.measures, each, strict=True)
    drawn = tuple(Measurement(measure=measure, mechanism=_bought(measure, standard, part)) for measure, part in bought)
    return _verified(
        Priced(program=program, standard=standard, spend=total, delta=share, measurements=drawn, selection=selection)
    )


def _climbing(program: Program, climb: Climb, standard: Budgeted, spend: Fraction, delta: Number) -> Priced:
    """The question at every rung for three quarters of the spend, and the choice of one for the rest. See climb.md."""
    if delta and program.selection is None:
        hint = 'Leave delta out, or state limits: those that are "auto" are priced without.'
        raise ParameterError("this question uses no δ", where="delta", got=str(delta)[:40], hint=hint)
    part = spend * PRICE
    rungs = tuple(
        price(replace(each, weights=program.weights), standard, spend - part, delta) for each in climb.programs
    )
    measure = climb.choice.measures[0]
    chosen = choice(measure, len(climb.rungs), standard, part)
    found = Climbing(rows=climb.rungs, choice=Measurement(measure=measure, mechanism=chosen), rungs=rungs)
    return _verified(replace(rungs[-1], program=program, spend=spend, climb=found))


def _by_curve(program: Program, other: Program, standard: Budgeted, epsilon: Fraction, delta: Fraction) -> Priced:
    """One question by the curve of its own loss: Laplace or Gaussian noise, whichever errs less.

    Where δ buys nothing it is the plain question, which uses none.
    """
    (priced,) = price_batch([[program, other]], [Fraction(1)], epsilon, delta)
    plain = price(program, standard, epsilon)
    if _log_error([plain]) <= _log_error([priced]):
        return plain
    if Fraction(priced.loss.delta(epsilon)) > delta:
        raise VerificationError("the certified loss exceeds the spend, so nothing was asked", where="price")
    return replace(priced, delta=delta)


def price_batch(
    programs: Sequence[Sequence[Program]], weights: Sequence[Fraction], epsilon: Fraction, delta: Fraction
) -> list[Priced]:
    """Several questions, fixed before the first is answered, together (ε, δ)-private by their composed δ(ε) curve.

    programs: for each question its plans, one for each norm that it may use. weights: how much of the accuracy each
    question gets; a question with half the weight has twice the noise. The whole batch takes one kind of noise, that
    with the smaller errors. `spend` of each is its share ε·weight/Σ, a label: the batch is charged as one.
    """
    if any(program.climb is not None for plans in programs for program in plans):
        hint = "State limits in each of these releases, or leave delta out of all of them."
        what = 'a batch that is charged as one chooses no limits: they are "auto"'
        raise PrivacyError(what, where="limits", hint=hint)
    options = [
        priced
        for norm in (1, 2)
        if (chosen := [next((p for p in plans if _norm(p) == norm), None) for plans in programs]) and None not in chosen
        if (priced := _batch([p for p in chosen if p is not None], norm, weights, epsilon, delta)) is not None
    ]
    if not options:
        raise PrivacyError("no plan of this batch fits the standard", where="release", hint=_WAYS_OUT)
    return min(options, key=_log_error)


def spend_for(
    program: Program,
    standard: Budgeted,
    within: Mapping[int, Number],
    confidence: Number,
    delta: Number = 0,
    other: Program | None = None,
    rows: int | None = None,
) -> Fraction:
    """The smallest spend, to 4 digits, at which the statistics numbered in `within` have these half-widths.

    within: aggregate of the query → half-width of its interval, in its own unit. rows: how many a group is assumed to
    have, for all but counts and sums, whose error depends on it.
    """
    risk = 1 - positive(confidence, "confidence")
    wanted = {index: positive(width, "within") for index, width in within.items()}
    for index in wanted:
        aggregate = program.query.aggregates[index]
        if not aggregate.linear and rows is None:
            hint = f"The error of a {aggregate.noun} depends on the group's size: give a spend, or assume rows = 1000."
            got = f"a {aggregate.noun}"
            raise ParameterError("half-widths can be asked of counts and sums", where="within", got=got, hint=hint)

    def enough(spend: Fraction) -> bool:
        priced = price(program, standard, spend, delta, other)
        return all(_half_width(priced, index, risk, rows) <= width for index, width in wanted.items())

    return smallest(enough)


def smallest(enough: Callable[[Fraction], bool]) -> Fraction:
    """The smallest spend, to 4 digits, that is enough for a half-width: where one is, every larger one is."""
    high = Fraction(1)
    while not enough(high):
        high *= 2
        if high > _MOST:
            hint = "Ask for a wider one, or assume more rows in a group."
            raise ParameterError("no spend reaches this half-width", where="within", hint=hint)
    while enough(high / 2):
        high /= 2
        if high < _LEAST:
            hint = "It is as wide as what is known without an answer: ask for a narrower one."
            raise ParameterError("every spend reaches this half-width", where="within", hint=hint)
    # Four digits, rounded up: the spend is what people read.
    digit = Fraction(10) ** (math.floor(math.log10(high / 2)) - 3)
    low, steps = math.floor(high / 2 / digit), math.ceil(high / digit)
    while steps - low > 1:
        middle = (low + steps) // 2
        low, steps = (low, middle) if enough(middle * digit) else (middle, steps)
    return steps * digit


def parts_of(priced: Priced, index: int) -> list[Part]:
    """The measures of an aggregate with their noise."""
    program = priced.program
    return [
        Part(lattice=program.measures[each].lattice, unit=program.measures[each].unit, noise=priced.noise[each])
        for each in program.parts[index]
    ]


def _half_width(priced: Priced, index: int, risk: Fraction, rows: int | None) -> Fraction | float:
    """How wide the interval of an aggregate will be, half of it: of a count or sum exactly, else where assumed."""
    aggregate, program = priced.program.query.aggregates[index], priced.program
    if aggregate.linear or rows is None:
        (at,) = program.parts[index]
        return Fraction(noise_of(priced.noise[at]).error(risk)) * program.measures[at].unit
    return aggregate.expected(parts_of(priced, index), risk, rows).half_width


def _bought(measure: Measure, standard: Budgeted, part: Fraction) -> Mechanism:
    """What a part of a spend buys for a measure in a standard."""
    share = standard.of_noise(part)
    # In Gaussian privacy a choice of bounded range costs more than noise of the same ρ.
    return _mechanism(measure, share, rounded=standard.rounded, choices=standard.of_choice(part) / share)


def _mechanism(
    measure: Measure, share: Fraction, *, rounded: bool = False, choices: Fraction = Fraction(1)
) -> Mechanism:
    """What a share of the spend (ε in norm 1, ρ in norm 2) buys for a measure; choices: as in quantiles.py."""
    norm = measure.vector.norm
    if measure.grid is not None and measure.grid.branching:
        return tree(measure, measure.grid, share, partial(_noise, norm=norm, rounded=rounded))
    if measure.grid is not None:
        return quantiles(measure, measure.grid, share, partial(_noise, norm=norm, rounded=rounded), choices)
    if measure.ladder is not None:
        return laddered(measure, measure.ladder, share, partial(_noise, norm=norm, rounded=rounded), choices)
    # A measure that no row can move still gets the noise of one lattice unit: its value is not a secret, its price is.
    return _noise(max(measure.sensitivity2, Fraction(1)), share, norm=norm, rounded=rounded)


def _noise(squared: Fraction, share: Fraction, *, norm: int, rounded: bool) -> Additive:
    """Noise for a distance of √squared lattice units."""
    if norm == 1:
        # Results are integers, so a distance is a whole number of lattice units.
        distance = math.isqrt(squared.numerator // squared.denominator)
        return DiscreteLaplace(scale=distance / share, sensitivity=distance)
    if rounded:
        return Gaussian(sigma2=squared / (2 * share), sensitivity2=squared)
    return DiscreteGaussian(sigma2=squared / (2 * share), sensitivity2=squared)


def _selector(selection: Selection, standard: Budgeted, share: Fraction, delta: Fraction) -> KeySelection:
    if selection.groups == 1 and selection.people == 1:
        # The optimal rule is stated for one key, so a person who moves is charged twice.
        uses = 2 if _moves(selection) else 1
        epsilon = share / uses if standard.symbol == "ε" else _pure_within(share / uses)
        rule = PartitionSelection(epsilon=epsilon, delta=delta / uses)
        return KeySelection(votes=selection, mechanism=rule, uses=uses)
    squared = selection.sensitivity2 * 4**selection.bits
    noise: DiscreteLaplace | DiscreteGaussian
    if selection.norm == 1:
        distance = math.isqrt(squared.numerator // squared.denominator)
        noise = DiscreteLaplace(scale=distance / share, sensitivity=distance)
    else:
        noise = DiscreteGaussian(sigma2=squared / (2 * share), sensitivity2=squared)
    votes = ThresholdSelection(
        noise=noise, groups=selection.groups, people=selection.people, bits=selection.bits, delta=delta
    )
    # Votes cover a move themselves.
    return KeySelection(votes=selection, mechanism=votes, uses=1)


def _moves(selection: Selection) -> bool:
    """Whether a person can leave one key for another (replace): then the distance exceeds that of adding people."""
    return selection.sensitivity2 > selection.people**2


def _pure_within(rho: Fraction) -> Fraction:
    """An ε with ε·tanh(ε/2) ≤ ρ, the largest but for nine digits."""
    low, high = 0.0, 2 * math.sqrt(rho) + float(rho) + 1
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * math.tanh(middle / 2) <= float(rho) else (low, middle)
    epsilon = Fraction(f"{low * (1 - 1e-9):.9e}")
    while PartitionSelection(epsilon=epsilon, delta=Fraction(1, 2)).loss.spend(ZCDP(delta=Fraction(1, 2))) > rho:
        epsilon *= Fraction(10**9 - 1, 10**9)
    return epsilon


def _stated_delta(program: Program, standard: Budgeted, delta: object) -> Fraction:
    share = positive(delta, "delta") if delta else Fraction(0)
    allowed = standard.delta_budget
    if program.selection is None:
        if share:
            hint = "Leave delta out: the groups of this question are public, and its noise is private without."
            raise ParameterError("this question uses no δ", where="delta", got=str(share)[:40], hint=hint)
        return share
    if not allowed:
        what = "the keys of this question are unknown, and selecting them needs a δ that the standard does not have"
        whole = [key.name for key in program.query.keys if key.values is None and key.expression.type == "integer"]
        hint = _WAYS_OUT + "".join(f" Within bounds {name} has public keys: CLAMP({name}, 0, 20)." for name in whole)
        raise PrivacyError(what, where="GROUP BY", got=f"{type(standard).__name__} with δ = 0", hint=hint)
    if not share:
        hint = f'Write delta="…", at most {allowed}: what the dataset may ever spend.'
        raise ParameterError(
            "the keys of this question are unknown, so it must state its δ", where="delta", got="none", hint=hint
        )
    return share


def _parameters(priced: Priced) -> Loss:
    """What the shares of all measures are in ε or ρ, which they cost at every rung."""
    each, _ = shares(priced.program, priced.spend)
    whole = priced.standard.of_noise(sum(each, Fraction(0)))
    return stated(whole) if _norm(priced.program) == 1 else Loss.of(StatedLaw(epsilon=None, rho=whole))


def _verified(priced: Priced) -> Priced:
    loss = priced.loss
    if loss.spend(priced.standard) > priced.spend or loss.stated_delta() > priced.delta:
        raise VerificationError("the certified loss exceeds the spend, so nothing was asked", where="price")
    return priced


def _norm(program: Program) -> int:
    return program.measures[0].vector.norm


def _batch(
    programs: list[Program], norm: int, weights: Sequence[Fraction], epsilon: Fraction, delta: Fraction
) -> list[Priced] | None:
    selecting = sum(program.selection is not None for program in programs)
    if selecting and norm == 2:
        # Selections under Gaussian-type noise are known by ρ alone, which wastes the curve.
        return None
    # Half of δ pays for the selections, half for the curve.
    keys_delta = delta / (2 * selecting) if selecting else Fraction(0)
    whole = sum(weights, Fraction(0))
    standard = Approximate(delta)

    def at(stretch: Fraction) -> list[Priced]:
        return [
            _stretched(program, standard, epsilon * weight / whole, keys_delta, stretch)
            for program, weight in zip(programs, weights, strict=True)
        ]

    def fits(stretch: Fraction) -> bool:
        # One point of the curve, instead of a search along it.
        return Fraction(Loss.compose(priced.loss for priced in at(stretch)).delta(epsilon)) <= delta

    low, high = (Fraction(1), Fraction(2)) if norm == 1 else (Fraction(1, 1024), Fraction(1, 512))
    if not fits(low):
        return None
    while fits(high) and high < 2**20:
        low, high = high, 2 * high
    for _ in range(9):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return at(low)


def _stretched(program: Program, standard: Approximate, share: Fraction, delta: Fraction, stretch: Fraction) -> Priced:
    """The question at `stretch` times the accuracy that its share would buy by adding up ε."""
    each, rest = shares(program, stretch * share)
    # Gaussian noise of σ = Δ/each has ρ = each²/2, so equal weights have equal errors under both kinds of noise.
    amounts = each if _norm(program) == 1 else [part**2 / 2 for part in each]
    selection = None
    if program.selection is not None and delta:
        selection = _selector(program.selection, standard, rest, delta)
    elif program.selection is not None:
        raise PrivacyError("the keys of a question are unknown and the batch has no δ", where="delta", hint=_WAYS_OUT)
    noise = (_mechanism(measure, part, rounded=True) for measure, part in zip(program.measures, amounts, strict=True))
    drawn = tuple(Measurement(measure=m, mechanism=n) for m, n in zip(program.measures, noise, strict=True))
    used = delta if selection is not None else Fraction(0)
    return Priced(program=program, standard=standard, spend=share, delta=used, measurements=drawn, selection=selection)


def _log_error(batch: list[Priced]) -> float:
    """The mean logarithm of the standard errors: which kind of noise is better on the whole."""
    errors = [
        0.5 * math.log(drawn.mechanism.variance) + math.log(drawn.measure.unit)
        for priced in batch
        for drawn in priced.measurements
    ]
    return sum(errors) / len(errors)


def _rank(key: tuple[Value, ...]) -> tuple[tuple[bool, object], ...]:
    # NULL last, as DuckDB sorts; values of one column have one type.
    return tuple((value is None, 0 if value is None else value) for value in key)
