"""δ(ε) of one composition, by the best way known: exact where it is closed or a finite sum, inverted, or bounded.

Closed families merge before anything numerical. Where all moments are known the inversion gives both bounds; what is
known by parameters alone is left to bounds that hold for every mechanism.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Final, TypeAlias

from quincunx.loss.ceiling import Ceiling
from quincunx.loss.convert import gaussian_epsilon
from quincunx.loss.grid_inversion import GridInversion
from quincunx.loss.inversion import CLOSED, Inversion, supported
from quincunx.loss.law import Law, Profile, Real, Terms, View, as_ball, total
from quincunx.loss.solve import WIDTH
from quincunx.loss.spacing import spacing, where
from quincunx.numbers import Ball, ball, float_above, float_below

Inverter: TypeAlias = Inversion | GridInversion

# Mass of unbounded loss that a grid may leave in all; smaller ones are for a δ that the first would hide.
_CUTS: Final = (1e-16, 1e-36, 1e-76, 1e-156, 1e-236)
# How far below the δ that is asked for a cut should be.
_HIDDEN: Final = 1e-4
# The share of a δ that the cut may be, before a smaller one is asked for.
_VISIBLE: Final = 1e-3
# Floats below this have lost digits.
_SMALLEST: Final = 1e-290
# A grid whose e^L would overflow is not made: only parameters are known then.
_LONGEST: Final = 600.0


class Curve:
    """δ(ε) of the composition of `terms`. Parameters, profile and moments are computed once, questions are cheap.

    cut: the mass of unbounded loss that grids may leave in all. Where it hides the δ that is asked for, a curve with a
    smaller one is asked too.
    """

    def __init__(self, terms: Terms, cut: float = _CUTS[0]) -> None:
        groups = [group[0][0].merged(group) for group in families(terms)]
        self._profile = groups[0][0][0].profile(groups[0]) if len(groups) == 1 else None
        self._groups, self._cut = groups, cut
        self._terms = tuple(term for group in groups for term in group)
        self._sampled = [(law, count) for law, count in self._terms if law.span(cut) > 0]
        self._known = tuple((law, count) for law, count in self._terms if law.has_moments)
        self._below: dict[View, Inverter] = {}
        self._deeper: dict[float, Curve] = {}
        self._parts: list[Profile] | None = None
        self._stated = ball(sum((law.stated_delta * count for law, count in terms), Fraction(0)))
        self._ceiling = Ceiling(self._terms)

    @property
    def pure(self) -> Ball:
        """A ball around the total ε, outside of any stated δ; infinite where there is none."""
        return self._ceiling.pure

    def delta(self, epsilon: Ball) -> tuple[Ball, Ball]:
        """Balls around a certified lower and upper bound on δ(ε)."""
        return self.lower(epsilon), self.upper(epsilon)

    def lower(self, epsilon: Ball) -> Ball:
        """A ball around a certified lower bound on δ(ε)."""
        if not self._terms:
            return Ball(0)
        floor = Ball(0)
        if self._profile is not None:
            low, high = self._profile.delta(epsilon)
            if _sharp(low, high):
                return low.max(Ball(0))
            floor = low.max(Ball(0))
        at = max(0.0, float_above(epsilon))
        if self._above and epsilon < self.pure:
            # δ falls with ε, so a float above ε keeps the bound; the larger direction counts.
            top = 0.0
            for place in sorted(range(len(self._views)), key=lambda i: -self._above[i].estimate(at)):
                if self._above[place].chernoff(at) > top:
                    top = max(top, self._dominated(self._views[place]).bounds(at)[0])
            floor = floor.max(Ball(top))
            deeper = self._deepened(at) if self._hidden(top) else None
            if deeper is not None:
                return floor.max(deeper.lower(epsilon))
            if top > max(each.estimate(at) for each in self._above) / 2:
                return floor
        # Leaving out laws is post-processing, so what remains is a lower bound.
        floor = floor.max(self._largest_part(epsilon))
        return floor if self._rest is None else floor.max(self._rest.lower(epsilon))

    def upper(self, epsilon: Ball) -> Ball:
        """A ball around a certified upper bound on δ(ε)."""
        if not self._terms:
            return Ball(0)
        # P = (1 − δ₀)P' + δ₀P'': what is stated only outside δ₀ adds it.
        return (self._inside(epsilon) + self._stated).min(Ball(1))

    def _inside(self, epsilon: Ball) -> Ball:
        """The least of all upper bounds that are known; what takes long only where the others leave something."""
        best = Ball(1)
        if self._profile is not None:
            low, high = self._profile.delta(epsilon)
            best = high.max(Ball(0)).min(best)
            if _sharp(low, high):
                return best
        best = best.min(self._ceiling.quick(epsilon)).min(self._pure_first(epsilon))
        if not best > 0:
            return best
        at = max(0.0, float_below(epsilon))
        if self._above:
            top = 0.0
            for each in sorted(self._above, key=lambda each: -each.estimate(at)):
                # A direction whose Chernoff bound is below what another one reaches needs no inversion.
                if each.chernoff(at) + each.infinite > top:
                    top = max(top, min(each.bounds(at)[1], each.chernoff(at)) + each.infinite)
            best = best.min(Ball(math.nextafter(top, math.inf)))
            if top > _SMALLEST and not self._hidden(top):
                return best
        deeper = self._deepened(at)
        return best.min(self._ceiling.thorough(epsilon) if deeper is None else deeper._inside(epsilon))

    def guess(self, delta: float) -> float:
        """An ε near the one with δ(ε) = `delta`: by the saddle point where moments are known, else as if Gaussian."""
        if self._profile is not None or not self._above or delta < self._cut:
            return gaussian_epsilon(2 * float_above(self._ceiling.zcdp), delta)

        return where(lambda epsilon: max(each.estimate(epsilon) for each in self._above), delta)

    def sharpness(self, epsilon: float) -> float:
        """How closely, in shares of ε, it is worth closing in on an ε near this one."""
        if self._profile is not None:
            return WIDTH
        return max((each.sharpness(epsilon) for each in self._above), default=WIDTH)

    @cached_property
    def _views(self) -> tuple[View, ...]:
        """One view where all laws are closed and symmetric; else one for each direction, on a grid."""
        if not self._terms or not supported(self._terms):
            return ()
        if not self._sampled:
            return (CLOSED,)
        # What lies beyond the cut counts as unbounded loss: next to nothing in all.
        cut = self._cut / sum(count for _, count in self._sampled)
        if max(law.span(cut) for law, _ in self._sampled) > _LONGEST:
            return ()
        view = View(mesh=spacing(self._terms, cut, self._cut / _HIDDEN), cut=cut)
        return view, replace(view, backwards=True)

    @cached_property
    def _above(self) -> tuple[Inverter, ...]:
        return tuple(self._inverter(view) for view in self._views)

    @cached_property
    def _rest(self) -> Curve | None:
        """The laws whose moments are known, where not all are."""
        return Curve(self._known, self._cut) if 0 < len(self._known) < len(self._terms) else None

    def _deepened(self, at: float) -> Curve | None:
        """The same curve with a cut below the δ expected at ε = `at`; None where there is none, or no law is cut."""
        cuts = [cut for cut in _CUTS if cut < self._cut]
        if not self._sampled or not self._above or not cuts:
            return None
        wanted = _HIDDEN * max(each.estimate(at) for each in self._above)
        # An estimate from what the grids hold may be too low: the smallest cut serves then.
        cut = next((each for each in cuts if each <= wanted), cuts[-1])
        if cut not in self._deeper:
            self._deeper[cut] = Curve(self._terms, cut)
        return self._deeper[cut]

    def _hidden(self, delta: float) -> bool:
        """Whether the cut is a visible part of this δ."""
        return any(each.infinite > _VISIBLE * delta for each in self._above)

    def _dominated(self, view: View) -> Inverter:
        if view == CLOSED:
            return self._above[0]
        if view not in self._below:
            self._below[view] = self._inverter(replace(view, below=True))
        return self._below[view]

    def _inverter(self, view: View) -> Inverter:
        if len(self._sampled) < len(self._terms):
            return Inversion(self._terms, view)
        return GridInversion([(grid, count) for law, count in self._terms if (grid := law.grid(view)) is not None])

    def _largest_part(self, epsilon: Ball) -> Ball:
        """The largest δ of one family, or of one law of it, that is closed or a finite sum."""
        if self._parts is None:
            families_of = [group[0][0].profile(group) for group in self._groups] if len(self._groups) > 1 else []
            singles = [law.profile([(law, 1)]) for law, _ in self._terms]
            self._parts = [profile for profile in (*families_of, *singles) if profile is not None]
        floor = Ball(0)
        for profile in self._parts:
            floor = floor.max(profile.delta(epsilon)[0])
        return floor

    def _pure_first(self, epsilon: Ball) -> Ball:
        # (ε₀, 0) composed with (ε − ε₀, δ) is (ε, δ): spend the pure terms first, and ask the one that is not pure.
        best = Ball(1)
        unbounded = [group for group in self._groups if not as_ball(total_pure(group)).is_finite()]
        if len(unbounded) == 1 and len(self._groups) > 1:
            profile: Profile | None = unbounded[0][0][0].profile(unbounded[0])
            spent = total(total_pure(group) for group in self._groups if group is not unbounded[0])
            rest = epsilon - as_ball(spent)
            best = profile.delta(rest)[1] if profile is not None and rest >= 0 else best
        if self._rest is not None:
            # The same with those whose moments are not known.
            spent = total(law.pure() * count for law, count in self._terms if not law.has_moments)
            rest = epsilon - as_ball(spent)
            best = best.min(self._rest._inside(rest)) if rest >= 0 else best
        return best


def _sharp(low: Ball, high: Ball) -> bool:
    """Whether bounds are so close, or so small, that others would not help."""
    return not high > 2 * low.max(Ball(0))


def families(terms: Terms) -> list[list[tuple[Law, int]]]:
    """The terms, sorted into families that answer together."""
    found: dict[object, list[tuple[Law, int]]] = {}
    for law, count in terms:
        found.setdefault(law.family(), []).append((law, count))
    return list(found.values())


def total_pure(terms: Terms) -> Real:
    """The total ε: exact where all of it is rational."""
    return total(law.pure() * count for law, count in terms)
