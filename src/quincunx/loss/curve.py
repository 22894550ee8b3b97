"""δ(ε) of one composition, by the best way known: exact where it is closed or a finite sum, inverted, or bounded.

Closed families merge before anything numerical. Where all moments are known the inversion gives both bounds; what is
known by parameters alone is left to bounds that hold for every mechanism.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Final, TypeAlias

from quincunx.loss.convert import delta_from_pure, delta_from_zcdp, gaussian_epsilon
from quincunx.loss.grid_inversion import GridInversion
from quincunx.loss.inversion import CLOSED, Inversion, supported
from quincunx.loss.law import Law, Profile, Real, Terms, View, as_ball, total, total_of
from quincunx.loss.solve import WIDTH
from quincunx.loss.spacing import spacing, where
from quincunx.numbers import Ball, ball, float_above, float_below

Inverter: TypeAlias = Inversion | GridInversion

# Mass of unbounded loss that a grid may leave in all.
_CUT: Final = 1e-16
# A grid whose e^L would overflow is not made: only parameters are known then.
_LONGEST: Final = 600.0


class Curve:
    """δ(ε) of the composition of `terms`. Parameters, profile and moments are computed once, questions are cheap."""

    def __init__(self, terms: Terms) -> None:
        groups = [group[0][0].merged(group) for group in families(terms)]
        self._profile = groups[0][0][0].profile(groups[0]) if len(groups) == 1 else None
        self._groups = groups
        self._terms = tuple(term for group in groups for term in group)
        self._sampled = [(law, count) for law, count in self._terms if law.span(_CUT) > 0]
        self._views = self._directions() if self._profile is None else ()
        self._above = tuple(self._inverter(view) for view in self._views)
        self._below: dict[View, Inverter] = {}
        self._stated = ball(sum((law.stated_delta * count for law, count in terms), Fraction(0)))
        self._pure = as_ball(total_pure(self._terms))
        self._zcdp = as_ball(total_of(self._terms, lambda law: law.zcdp())[1])

    @property
    def pure(self) -> Ball:
        """A ball around the total ε, outside of any stated δ; infinite where there is none."""
        return self._pure

    def delta(self, epsilon: Ball) -> tuple[Ball, Ball]:
        """Balls around a certified lower and upper bound on δ(ε)."""
        return self.lower(epsilon), self.upper(epsilon)

    def lower(self, epsilon: Ball) -> Ball:
        """A ball around a certified lower bound on δ(ε)."""
        if not self._terms:
            return Ball(0)
        if self._profile is not None:
            return self._profile.delta(epsilon)[0].max(Ball(0))
        if self._above and epsilon < self._pure:
            # δ falls with ε, so a float above ε keeps the bound; the larger direction counts.
            at, top = max(0.0, float_above(epsilon)), 0.0
            for place in sorted(range(len(self._views)), key=lambda i: -self._above[i].estimate(at)):
                if self._above[place].chernoff(at) > top:
                    top = max(top, self._dominated(self._views[place]).bounds(at)[0])
            return Ball(top)
        return self._largest_single(epsilon)

    def upper(self, epsilon: Ball) -> Ball:
        """A ball around a certified upper bound on δ(ε)."""
        if not self._terms:
            return Ball(0)
        # P = (1 − δ₀)P' + δ₀P'': what is stated only outside δ₀ adds it.
        return (self._inside(epsilon) + self._stated).min(Ball(1))

    def _inside(self, epsilon: Ball) -> Ball:
        if self._profile is not None:
            return self._profile.delta(epsilon)[1].max(Ball(0)).min(Ball(1))
        ceiling = delta_from_pure(self._pure, epsilon)
        ceiling = ceiling.min(delta_from_zcdp(self._zcdp, epsilon)).min(self._pure_first(epsilon))
        if not self._above or not ceiling > 0:
            return ceiling
        at, top = max(0.0, float_below(epsilon)), 0.0
        for each in sorted(self._above, key=lambda each: -each.estimate(at)):
            # A direction whose Chernoff bound is below what another one reaches needs no inversion.
            if each.chernoff(at) + each.infinite > top:
                top = max(top, each.bounds(at)[1] + each.infinite)
        return ceiling.min(Ball(math.nextafter(top, math.inf)))

    def guess(self, delta: float) -> float:
        """An ε near the one with δ(ε) = `delta`: by the saddle point where moments are known, else as if Gaussian."""
        if not self._above:
            return gaussian_epsilon(2 * float_above(self._zcdp), delta)

        return where(lambda epsilon: max(each.estimate(epsilon) for each in self._above), delta)

    def sharpness(self, epsilon: float) -> float:
        """How closely, in shares of ε, it is worth closing in on an ε near this one."""
        return max((each.sharpness(epsilon) for each in self._above), default=WIDTH)

    def _directions(self) -> tuple[View, ...]:
        """One view where all laws are closed and symmetric; else one for each direction, on a grid."""
        if not self._terms or not supported(self._terms):
            return ()
        if not self._sampled:
            return (CLOSED,)
        # What lies beyond the cut counts as unbounded loss: next to nothing in all.
        cut = _CUT / sum(count for _, count in self._sampled)
        if max(law.span(cut) for law, _ in self._sampled) > _LONGEST:
            return ()
        view = View(mesh=spacing(self._terms, cut), cut=cut)
        return view, replace(view, backwards=True)

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

    def _largest_single(self, epsilon: Ball) -> Ball:
        # Leaving out all but one law is post-processing, so its δ is a lower bound.
        floor = Ball(0)
        for law, _ in self._terms:
            single = law.profile([(law, 1)])
            if single is not None:
                floor = floor.max(single.delta(epsilon)[0])
        return floor

    def _pure_first(self, epsilon: Ball) -> Ball:
        # (ε₀, 0) composed with (ε − ε₀, δ) is (ε, δ): spend the pure terms first, and ask the one that is not pure.
        unbounded = [group for group in self._groups if not as_ball(total_pure(group)).is_finite()]
        if len(unbounded) != 1:
            return Ball(1)
        profile: Profile | None = unbounded[0][0][0].profile(unbounded[0])
        spent = total(total_pure(group) for group in self._groups if group is not unbounded[0])
        rest = epsilon - as_ball(spent)
        return profile.delta(rest)[1] if profile is not None and rest >= 0 else Ball(1)


def families(terms: Terms) -> list[list[tuple[Law, int]]]:
    """The terms, sorted into families that answer together."""
    found: dict[object, list[tuple[Law, int]]] = {}
    for law, count in terms:
        found.setdefault(law.family(), []).append((law, count))
    return list(found.values())


def total_pure(terms: Terms) -> Real:
    """The total ε: exact where all of it is rational."""
    return total(law.pure() * count for law, count in terms)
