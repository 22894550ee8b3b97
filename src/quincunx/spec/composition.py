"""Several releases about the same people, and one guarantee stated in another scope (`specification.md`).

Two guarantees compose only on the joined scope: what is compared must be compared by both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeVar

from quincunx.errors import PrivacyError, SpecificationError, kind_of
from quincunx.numbers import Ball, Exact, Log, ball, precision, stated
from quincunx.spec.blocks import Blocks
from quincunx.spec.drawn import Drawn
from quincunx.spec.intensity import StatedIntensity
from quincunx.spec.order import at_most, rounded_up
from quincunx.spec.scope import Everything, Scope
from quincunx.spec.standard import TV, ZCDP, Approximate, Standard, Tradeoff
from quincunx.spec.tradeoff import product
from quincunx.spec.varying import Varying

_BITS: Final = 256
_MOST_VERTICES: Final = 100_000
# As in `Specification.by_universe`.
EVERYWHERE: Final = "everywhere"
Stated = tuple[Standard, Exact]
Made = TypeVar("Made", bound=Blocks)


def composed(one: Made, two: Blocks) -> Made:
    """What holds when both releases are published, the second perhaps chosen after the first."""
    if not (one.domain.covers(two.domain) and two.domain.covers(one.domain)):
        hint = "State both guarantees about the same datasets."
        raise SpecificationError("the two domains differ", where="compose", got=kind_of(two.domain), hint=hint)
    if one.unit != two.unit:
        hint = "State both guarantees for one unit; group() and implies() say what one unit gives for another."
        got = f"{one.unit!r} and {two.unit!r}"
        raise SpecificationError("the two units differ", where="compose", got=got, hint=hint)
    scope = one.scope.join(two.scope)
    if one.unit.directed and one.standard.kind != two.standard.kind:
        # The rules between standards use both directions of a pair.
        hint = "State both guarantees in one standard."
        got = f"{type(one.standard).__name__} and {type(two.standard).__name__}"
        raise PrivacyError("no conversion keeps the direction of the unit", where="compose", got=got, hint=hint)
    if isinstance(one.intensity, Varying | Drawn) or isinstance(two.intensity, Varying | Drawn):
        return _varying(one, two, scope)
    sums = {
        name: _added(one.standard, a, two.standard, b) for name, a, b in _pairs(_intensities(one), _intensities(two))
    }
    # A rule makes the same standard of every pair of intensities.
    standard = next(iter(sums.values()))[0]
    _check_ceiling(one, list(sums.values()))
    intensity: StatedIntensity = {name: value for name, (_, value) in sums.items()}
    if sums.keys() == {EVERYWHERE}:
        intensity = sums[EVERYWHERE][1]
    return type(one)(domain=one.domain, scope=scope, unit=one.unit, standard=standard, intensity=intensity)


def _check_ceiling(one: Blocks, sums: list[Stated]) -> None:
    if one.unit.is_metric and any(isinstance(standard, TV) and value == 1 for standard, value in sums):
        # Total variation is never above 1, and a sum cut to 1 would be too small a slope for distances below 1.
        hint = "State the two guarantees apart, or in a standard whose sums have no ceiling."
        raise PrivacyError("the sum of the intensities reaches 1 for a metric", where="compose", got="TV", hint=hint)


def _varying(one: Made, two: Blocks, scope: Scope) -> Made:
    """Numbers by person, by record or for drawn pairs: added name by name, in one standard for all of them."""
    first, second = one.intensity, two.intensity
    if isinstance(first, Drawn) or isinstance(second, Drawn):
        return _drawn(one, two, scope)
    if isinstance(first, Varying) and type(first) is type(second) and isinstance(second, Varying):
        # Who has a number in one of the two only has no guarantee for both.
        other = dict(second.values)
        sums = {
            name: _added(one.standard, value, two.standard, other[name])
            for name, value in first.values
            if name in other
        }
        _check_ceiling(one, list(sums.values()))
        if sums:
            made: StatedIntensity = type(first)({name: value for name, (_, value) in sums.items()})  # type: ignore[call-arg]
            standard = next(iter(sums.values()))[0]
            return type(one)(domain=one.domain, scope=scope, unit=one.unit, standard=standard, intensity=made)
    if scope.enumerable(one.domain):
        # Every pair has a number, so that the largest holds for all.
        standard, value = _added(one.standard, one.largest, two.standard, two.largest)
        _check_ceiling(one, [(standard, value)])
        return type(one)(domain=one.domain, scope=scope, unit=one.unit, standard=standard, intensity=value)
    hint = "State both intensities for the same people."
    raise PrivacyError("no rule adds these intensities", where="compose", got=type(second).__name__, hint=hint)


def _drawn(one: Made, two: Blocks, scope: Scope) -> Made:
    first, second = one.intensity, two.intensity
    if not isinstance(first, Drawn) or not isinstance(second, Drawn) or first.prior != second.prior:
        hint = "State both for pairs that one law of the data draws, or both for every pair."
        got = f"{type(first).__name__} and {type(second).__name__}"
        raise PrivacyError("no rule adds these intensities", where="compose", got=got, hint=hint)
    standard, value = _added(one.standard, first.value, two.standard, second.value)
    share = first.share + second.share
    if share >= 1:
        what = "the shares of the releases add up to 1 or more, which promises nothing"
        raise PrivacyError(what, where="compose", got=f"γ = {share}", hint="Use a smaller share for each release.")
    # A pair that neither excuses satisfies both; those that one excuses are at most the sum of the shares.
    total = Drawn(value=value, prior=dict(first.prior), share=share)
    return type(one)(domain=one.domain, scope=scope, unit=one.unit, standard=standard, intensity=total)


def within(spec: Made, scope: Scope) -> Made:
    """The same guarantee stated in a scope whose universes lie inside this one's; any other scope is refused."""
    given: object = scope
    if not isinstance(given, Scope):
        hint = "Take one from quincunx.spec.scope."
        raise SpecificationError("expected a scope", where="within", got=kind_of(given), hint=hint)
    if scope == spec.scope:
        return spec
    if not spec.scope.covers(scope) and not _inside(spec, scope):
        raise _refused(spec, scope)
    if isinstance(spec.intensity, Varying | Drawn):
        return replace(spec, scope=scope)
    held = _intensities(spec)
    intensity: StatedIntensity = held[EVERYWHERE] if held.keys() == {EVERYWHERE} else held
    return type(spec)(domain=spec.domain, scope=scope, unit=spec.unit, standard=spec.standard, intensity=intensity)


def _inside(spec: Blocks, scope: Scope) -> bool:
    """Whether, on a finite world, every universe of `scope` is a part of one of the specification's."""
    if not (spec.scope.enumerable(spec.domain) and scope.enumerable(spec.domain)):
        return False
    scope.check(spec.domain)
    larger = [set(datasets) for _, datasets in spec.scope.universes(spec.domain)]
    return all(any(each.issuperset(datasets) for each in larger) for _, datasets in scope.universes(spec.domain))


def _refused(spec: Blocks, scope: Scope) -> PrivacyError:
    compared = spec.scope.misfit(scope) or "datasets that are not compared here"
    standard = spec.standard
    # Two laws without a common output: what the publication of a fact makes of two datasets that disagree on it.
    apart = standard.least([Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)])
    if apart.exact is None and not apart.lower.is_finite():
        why = (
            f"A release that publishes such a fact exactly gives them laws without a common output, and then no finite "
            f"{standard.symbol} exists"
        )
    else:
        why = f"Nothing is known about the {standard.symbol} between them"
    hint = f"{why}. Keep the facts in the scope: scope.join(other) adds them."
    what = f"the guarantee does not extend to this scope, which compares {compared}"
    return PrivacyError(what, where="within", got=kind_of(scope), hint=hint)


def _intensities(spec: Blocks) -> dict[str, Exact]:
    """Universe → intensity. Where universes can be listed, the largest for all; elsewhere their names are kept: each
    says of which datasets its number speaks, and goes on doing so in a scope that compares fewer of them."""
    listed = isinstance(spec.scope, Everything) or spec.scope.enumerable(spec.domain)
    return {EVERYWHERE: spec.largest} if listed or not spec.varies else dict(spec.by_universe)


def _pairs(one: dict[str, Exact], two: dict[str, Exact]) -> Iterator[tuple[str, Exact, Exact]]:
    """(name, a, b) for the universes in which both have a number."""
    for name, a in one.items():
        for other, b in two.items():
            if name == other:
                yield name, a, b
            elif EVERYWHERE in (name, other):
                yield name if other == EVERYWHERE else other, a, b
            elif one.keys() != two.keys():
                yield f"{name}; {other}", a, b


def _added(first: Standard, a: Exact, second: Standard, b: Exact) -> Stated:
    for target, value, other, rest in ((first, a, second, b), (second, b, first, a)):
        rule = _RULES.get(target.kind)
        if rule is None:
            continue
        # A conversion may use up a δ of its own; without one first, since it is added.
        ways = [other] if other.kind == target.kind else [*_without_delta(target), target]
        for way in ways:
            implied = other.implied(rest, way)
            converted = None if implied is None else rounded_up(implied)
            found = None if converted is None else rule(target, value, way, converted)
            if found is not None:
                return found
    hint = "State both in one standard that composes: pure, approximate, zCDP, Rényi of one order, Gaussian, KL or TV."
    got = f"{first!r} and {second!r}"
    raise PrivacyError("no rule composes these standards", where="compose", got=got, hint=hint)


def _without_delta(standard: Standard) -> list[Standard]:
    return [replace(standard, delta=Fraction(0))] if isinstance(standard, Approximate | ZCDP) else []


def plus(a: Exact, b: Exact) -> Exact:
    """a + b: exact for two rationals or two logarithms, otherwise rounded up to 12 decimals."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b
    if isinstance(a, Log) and isinstance(b, Log):
        return Log(a.of * b.of)
    with precision(_BITS):
        return _up(ball(a) + ball(b))


def _up(value: Ball) -> Exact:
    above = rounded_up(value)
    if above is None:
        raise PrivacyError("the sum of the intensities is not finite", where="compose")
    return above


def _same(target: Standard, a: Exact, other: Standard, b: Exact) -> Stated | None:
    return (target, plus(a, b)) if target == other else None


def _with_delta(make: Callable[[Fraction], Standard]) -> Callable[[Any, Exact, Any, Exact], Stated]:
    def rule(target: Any, a: Exact, other: Any, b: Exact) -> Stated:
        delta = target.delta + other.delta
        if delta >= 1:
            what = "the δ of the releases add up to 1 or more, which promises nothing"
            raise PrivacyError(what, where="compose", got=stated("δ", delta), hint="Use a smaller δ for each release.")
        return make(delta), plus(a, b)

    return rule


def _gaussian(target: Standard, a: Exact, _other: Standard, b: Exact) -> Stated:
    if a == 0 or b == 0:
        return target, b if a == 0 else a
    with precision(_BITS):
        return target, _up((ball(a) * ball(a) + ball(b) * ball(b)).sqrt())


def _tv(target: Standard, a: Exact, _other: Standard, b: Exact) -> Stated:
    total = plus(a, b)
    return target, total if at_most(total, Fraction(1)) else Fraction(1)


def _tradeoff(target: Any, a: Exact, other: Any, b: Exact) -> Stated | None:
    """Two curves of errors as they are (k = 1): the curve of the pair of releases, again a polygon."""
    if a == 0 or b == 0:
        return (other, b) if a == 0 else (target, a)
    if a != 1 or b != 1 or len(target.points) * len(other.points) > _MOST_VERTICES:
        return None
    return Tradeoff(product(target.points, other.points)), Fraction(1)


# kind → what holds for both releases together; `finite/compose.md` proves each line
_RULES: Final[dict[str, Callable[[Any, Exact, Any, Exact], Stated | None]]] = {
    "pure": _same,
    "approximate": _with_delta(Approximate),
    "zcdp": _with_delta(ZCDP),
    "renyi": _same,
    "gaussian": _gaussian,
    "normalised-renyi": _gaussian,
    "kl": _same,
    TV.kind: _tv,
    "tradeoff": _tradeoff,
}
