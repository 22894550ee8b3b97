"""When does one specification imply another? By rules that are proved; where none applies the answer is "unknown".

Two ways. On finite worlds whose universes can be listed, every protected pair of the other specification is looked up:
it must be joined by a path of protected steps inside one of our universes. Elsewhere the four blocks are compared by
rule. Both end in the standard's group map and the conversions between standards (`specification.md`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from quincunx.errors import ParameterError
from quincunx.numbers import Ball, Exact, precision
from quincunx.spec.blocks import Blocks
from quincunx.spec.domain import Domain, Finite
from quincunx.spec.drawn import Drawn
from quincunx.spec.intensity import PerUniverse
from quincunx.spec.order import at_most, largest, multiple, rounded_up
from quincunx.spec.paths import Paths
from quincunx.spec.scope import Everything
from quincunx.spec.varying import Varying

if TYPE_CHECKING:
    from quincunx.spec.standard import Standard
    from quincunx.spec.unit_base import Unit

Bound: TypeAlias = "tuple[Standard, Exact | Ball]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Implication:
    """`holds`: whether the implication is proved; `reason`: the rule used, or the rule that is missing."""

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`relation`: "stronger" (implies the other; the converse is not known), "weaker", "equal" (each implies the
    other) or "unknown". `reason`: the rules used or missing."""

    relation: str
    reason: str


def implication(ours: Blocks, other: Blocks) -> Implication:
    """Does every mechanism that satisfies `ours` satisfy `other`?"""
    if not ours.domain.covers(other.domain):
        return _no("the domain of the one is not known to contain the domain of the other")
    if isinstance(ours.intensity, Drawn) or isinstance(other.intensity, Drawn):
        return _of_drawn(ours, other)
    listed = all(each.scope.enumerable(each.domain) and each.unit.computed for each in (ours, other))
    if listed:
        return _by_paths(ours, other)
    return _by_rules(ours, other)


def comparison(ours: Blocks, other: Blocks) -> Comparison:
    """Both implications together."""
    forth, back = implication(ours, other), implication(other, ours)
    if forth.holds and back.holds:
        return Comparison(relation="equal", reason=f"Each implies the other: {forth.reason}")
    if forth.holds:
        return Comparison(relation="stronger", reason=forth.reason)
    if back.holds:
        return Comparison(
            relation="weaker", reason=f"The other implies this one: seen from it, {_lowered(back.reason)}"
        )
    reason = forth.reason if forth.reason == back.reason else f"{forth.reason} Conversely, {_lowered(back.reason)}"
    return Comparison(relation="unknown", reason=reason)


def joined(domain: Domain, scope_is_everything: bool) -> bool:
    """Whether every path of steps between two datasets of a universe surely stays inside the universe."""
    return scope_is_everything and not isinstance(domain, Finite)


def longest_path(ours: Blocks, unit: Unit) -> Fraction | None:
    """The largest distance, along steps of our unit inside one universe, between two datasets at distance 1 of `unit`.

    Finite domains. None where some pair is not joined.
    """
    domain = ours.domain
    longest = Fraction(0)
    for _, datasets in ours.scope.universes(domain):
        paths = Paths(ours.unit, datasets, domain)
        for x, x_prime, _ in unit.protected_pairs(datasets, domain):
            length = paths.length(x, x_prime)
            if length is None:
                return None
            longest = max(longest, length)
    return longest


def reached(standard: Standard, intensity: Exact, steps: Fraction) -> Bound | None:
    """What holds after a path of total length `steps`, by the group map; None where the standard has none."""
    if steps == 1:
        return standard, intensity
    if standard.linear_in_distance:
        return standard, multiple(intensity, steps)
    return standard.group(intensity, int(steps)) if steps.denominator == 1 else None


def _bounds(
    standard: Standard, intensity: Exact, steps: Fraction, target: Standard, stepwise: bool
) -> Iterator[Exact | Ball]:
    """Intensities of `target` that follow: group map first, then conversion; and the other way round.

    stepwise: every step on the way has the distance 1, so that each may be converted by itself.
    """
    with precision(256):
        after = reached(standard, intensity, steps)
        if after is not None:
            converted = after[0].implied(after[1], target)
            if converted is not None:
                yield converted
        if steps != 1 and stepwise:
            converted = standard.implied(intensity, target)
            single = None if converted is None else rounded_up(converted)
            after = None if single is None or not _allowed(target, single) else reached(target, single, steps)
            if after is not None:
                converted = after[0].implied(after[1], target)
                if converted is not None:
                    yield converted


def _allowed(standard: Standard, intensity: Exact) -> bool:
    try:
        standard.check(intensity)
    except ParameterError:
        return False
    return True


def _follows(
    ours: Blocks,
    intensity: Exact,
    steps: Fraction,
    other: Blocks,
    wanted: Exact,
    times: Fraction = Fraction(1),
) -> bool | None:
    """Whether wanted · times of the other's standard follows from ours after `steps`; None: no rule relates them."""
    if steps == 0:
        return True
    if ours.unit.directed and ours.standard != other.standard:
        # The rules between standards use both directions of a pair.
        return None
    stepwise = not ours.unit.is_metric
    bounds = _bounds(ours.standard, intensity, steps, other.standard, stepwise)
    outcomes = [at_most(bound, wanted, times) for bound in bounds]
    return any(outcomes) if outcomes else None


def _of_drawn(ours: Blocks, other: Blocks) -> Implication:
    """All but a share of the drawn pairs follows from all of them, and from a smaller share of the same draws."""
    mine, theirs = ours.intensity, other.intensity
    if not isinstance(theirs, Drawn):
        return _no("here a share of the pairs is excused, and there none is")
    if not isinstance(mine, Drawn):
        found = implication(ours, replace(other, intensity=theirs.value))
        return found if not found else _yes("what holds for every pair holds for most of those that are drawn")
    same = all(getattr(ours, block) == getattr(other, block) for block in ("domain", "scope", "unit", "standard"))
    if not same or mine.prior != theirs.prior:
        return _no("guarantees for drawn pairs are compared only for one law of the data and the same other blocks")
    if mine.share <= theirs.share and at_most(mine.value, theirs.value):
        return _yes("the same draws, with no larger share that is excused and no larger intensity")
    return _no("the share that is excused or the intensity is larger here")


def _by_pairs(ours: Blocks, other: Blocks) -> Implication:
    """For a unit with a direction: each pair by itself, in one standard, since neither conversions nor paths are known
    to keep a direction."""
    if ours.standard != other.standard:
        return _no(_no_rule(ours, other))
    mine = [(name, set(datasets)) for name, datasets in ours.scope.universes(ours.domain)]
    empty = True
    for universe, datasets in other.scope.universes(other.domain):
        for x, x_prime, times in other.unit.protected_pairs(datasets, other.domain):
            wanted = other.at(x, x_prime, universe)
            # A pair without a direction asks for both.
            for first, second in ((x, x_prime),) if other.unit.directed else ((x, x_prime), (x_prime, x)):
                empty = False
                distance = ours.unit.distance(first, second, ours.domain)
                ways = [name for name, inside in mine if first in inside and second in inside]
                if not isinstance(distance, Fraction) or not ways:
                    return _no("some change that the other protects is not protected here in that direction")
                stated = [multiple(ours.at(first, second, name), distance) for name in ways]
                if not any(at_most(value, wanted, times) for value in stated):
                    return _no(_too_weak(Fraction(1)))
    if empty:
        return _yes("the other protects no pair of datasets, so it holds for every mechanism")
    return _yes("every change that the other protects is protected here in its direction, within its intensity")


def _by_paths(ours: Blocks, other: Blocks) -> Implication:
    if ours.unit.directed:
        return _by_pairs(ours, other)
    mine = [(name, Paths(ours.unit, datasets, ours.domain)) for name, datasets in ours.scope.universes(ours.domain)]
    known: dict[tuple[Exact, Fraction, Exact, Fraction], bool | None] = {}
    longest = Fraction(0)
    for universe, datasets in other.scope.universes(other.domain):
        one = None if isinstance(other.intensity, Varying) else _along(other, universe)
        for x, x_prime, times in other.unit.protected_pairs(datasets, other.domain):
            wanted = other.at(x, x_prime, universe) if one is None else one
            steps = [(paths.length(x, x_prime), _along(ours, name)) for name, paths in mine]
            ways = [(length, intensity) for length, intensity in steps if length is not None] + _directly(
                ours, x, x_prime
            )
            if not ways:
                return _no("some change that the other protects is no chain of changes protected here in one universe")
            for length, intensity in ways:
                case = (intensity, length, wanted, times)
                if case not in known:
                    known[case] = _follows(ours, intensity, length, other, wanted, times)
            decided = [(length, known[intensity, length, wanted, times]) for length, intensity in ways]
            proved = [length for length, follows in decided if follows]
            if not proved:
                missing = all(follows is None for _, follows in decided)
                return _no(_no_rule(ours, other) if missing else _too_weak(min(n for n, _ in decided)))
            longest = max(longest, min(proved))
    if longest == 0:
        return _yes("the other protects no pair of datasets, so it holds for every mechanism")
    return _yes(f"every pair of datasets that the other protects was found, {_steps(longest)}{_by(ours, other)}")


def _directly(ours: Blocks, x: Hashable, x_prime: Hashable) -> list[tuple[Fraction, Exact]]:
    """The pair by itself, where intensities differ from pair to pair: a path has the largest of all."""
    if not isinstance(ours.intensity, Varying):
        return []
    distance = ours.unit.distance(x, x_prime, ours.domain)
    inside = any(x in datasets and x_prime in datasets for _, datasets in ours.scope.universes(ours.domain))
    return [(distance, ours.at(x, x_prime, ""))] if isinstance(distance, Fraction) and inside else []


def _along(ours: Blocks, universe: str) -> Exact:
    """An intensity that holds for every step inside a universe."""
    value = ours.intensity
    return dict(value.values)[universe] if isinstance(value, PerUniverse) else ours.largest


def _by_rules(ours: Blocks, other: Blocks) -> Implication:
    if not ours.scope.covers(other.scope):
        return _no("no rule puts the universes of the other inside the universes here")
    steps = ours.unit.steps_to(other.unit)
    if steps is None:
        return _no("no number of protected changes here always makes one protected change of the other")
    # A metric of ours protects distant pairs directly; otherwise they need a path inside the universe.
    distant = steps > 1 or other.unit.is_metric
    if distant and not ours.unit.is_metric and not joined(ours.domain, isinstance(ours.scope, Everything)):
        many = "several changes" if steps == 1 else f"{steps} changes"
        return _no(f"one change of the other may be {many} here, and those on the way may leave the universe")
    cases = _cases(ours, other)
    if cases is None:
        return _no("intensities per universe are compared only for equal scopes, or against one number")
    outcomes = [_follows(ours, mine, Fraction(steps), other, wanted) for mine, wanted in cases]
    if all(outcomes):
        return _yes(f"domain and scope here contain the other's, {_steps(Fraction(steps))}{_by(ours, other)}")
    return _no(_no_rule(ours, other) if None in outcomes else _too_weak(Fraction(steps)))


def _cases(ours: Blocks, other: Blocks) -> list[tuple[Exact, Exact]] | None:
    """The pairs (our intensity, wanted intensity) that together cover every universe of the other."""
    mine, wanted = ours.intensity, other.intensity
    if isinstance(mine, Varying) or isinstance(wanted, Varying):
        return _varying_cases(ours, other)
    if isinstance(mine, Drawn) or isinstance(wanted, Drawn):
        return None
    if isinstance(wanted, PerUniverse):
        if not isinstance(mine, PerUniverse):
            return [(mine, value) for value in wanted]
        listed = dict(mine.values)
        if ours.scope == other.scope and wanted.names <= mine.names:
            return [(listed[name], value) for name, value in wanted.values]
        return None
    if not isinstance(mine, PerUniverse):
        return [(mine, wanted)]
    # One number is wanted everywhere, so every universe must be known to have an entry.
    return [(largest(list(mine)), wanted)] if isinstance(ours.scope, Everything) else None


def _varying_cases(ours: Blocks, other: Blocks) -> list[tuple[Exact, Exact]] | None:
    """One number against each entry, or entry against entry of one unit; who has none has no guarantee.

    One change of another unit may concern several people here, whose numbers add up: then nothing is compared.
    """
    mine, wanted = ours.intensity, other.intensity
    if not isinstance(wanted, Varying):
        return None
    if isinstance(mine, PerUniverse | Varying | Drawn):
        same = type(mine) is type(wanted) and ours.unit == other.unit
        if not same or not isinstance(mine, Varying) or not wanted.names <= mine.names:
            return None
        listed = dict(mine.values)
        return [(listed[name], value) for name, value in wanted.values]
    return [(mine, value) for value in wanted]


def _steps(steps: Fraction) -> str:
    return "one change of it is one change here" if steps == 1 else f"one change of it is at most {steps} changes here"


def _by(ours: Blocks, other: Blocks) -> str:
    same = ours.standard == other.standard
    return f", and {'' if same else 'after conversion of the standard '}its intensity is not exceeded"


def _no_rule(ours: Blocks, other: Blocks) -> str:
    return f"no rule leads from the standard {ours.standard!r} to {other.standard!r} over the changes between the units"


def _too_weak(steps: Fraction) -> str:
    over = "" if steps == 1 else f" over {steps} changes"
    return f"what follows from the intensity here{over} is not known to be within the intensity of the other"


def _yes(reason: str) -> Implication:
    return Implication(holds=True, reason=_sentence(reason))


def _no(reason: str) -> Implication:
    return Implication(holds=False, reason=_sentence(reason))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _lowered(text: str) -> str:
    return f"{text[0].lower()}{text[1:]}"
