"""Maps of parameters: how much of one definition follows from how much of another. Proofs: relations.md."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast

from quincunx.numbers import Ball, Log, ball, float_above
from quincunx.spec import Standard, approximate_to_tv, exponential, kl_to_tv, renyi_to_approximate, scaled
from quincunx.spec import standard as standards
from quincunx.taxonomy.relations.edge import Map
from quincunx.taxonomy.relations.language import Given, Number


def num(given: Given, name: str) -> Number:
    """A measure."""
    return cast("Number", given[name])


def setting(given: Given, name: str) -> Fraction:
    """A setting that is a rational."""
    return cast(Fraction, given[name])


def same(g: Given, _t: Given) -> Number:
    """ε."""
    return num(g, "epsilon")


def times(factor: int) -> Map:
    """factor·ε."""
    return lambda g, _t: scaled(num(g, "epsilon"), factor)


def no_less(name: str, measure: str = "epsilon") -> Map:
    """The same measure, where the target's setting is at least the source's."""

    def found(g: Given, t: Given) -> Number | None:
        return num(g, measure) if setting(t, name) >= setting(g, name) else None

    return found


def no_more(name: str, measure: str = "epsilon") -> Map:
    """The same measure, where the target's setting is at most the source's."""

    def found(g: Given, t: Given) -> Number | None:
        return num(g, measure) if setting(t, name) <= setting(g, name) else None

    return found


def equal(name: str) -> Map:
    """The same ε, where both have the same setting."""
    return lambda g, t: num(g, "epsilon") if g[name] == t[name] else None


def exactly(g: Given, _t: Given) -> Number | None:
    """ε, where δ = 0."""
    return num(g, "epsilon") if g["delta"] == 0 else None


def of_shape(f: str) -> Map:
    """ε, where the source's divergence is f."""
    return lambda g, _t: num(g, "epsilon") if g["f"] == f else None


def to_shape(f: str) -> Map:
    """ε, where the target's divergence is f."""
    return lambda g, t: num(g, "epsilon") if t["f"] == f else None


def bounded(g: Given, t: Given) -> Number | None:
    """ρ + max(0, ξ − ξ'), where ω' ≤ ω."""
    return concentrated(g, t) if setting(t, "omega") <= setting(g, "omega") else None


def by_standard(source: Any, target: Any, measure: str = "epsilon") -> Map:
    """What the kernel's standards say: source and target make a standard from parameters."""

    def found(g: Given, t: Given) -> Number | None:
        one: Standard = source(g)
        other: Standard = target(t)
        return one.implied(num(g, measure), other)

    return found


def logarithm(factor: Number) -> Number:
    """ln of a factor, 0 below 1."""
    if isinstance(factor, Fraction):
        return Log(factor) if factor > 1 else Fraction(0)
    return ball(factor).log().nonnegative_part()


def with_slack(epsilon: Number, delta: Fraction, target: Fraction) -> Number | None:
    """ε' with e^ε' = e^ε − (δ' − δ)(1 + e^ε)/(1 − δ): the extremal pair at δ' ≥ δ."""
    if target < delta:
        return None
    if target == delta:
        return epsilon
    e = exponential(epsilon)
    share = (target - delta) / (1 - delta)
    return logarithm(e - share * (1 + e) if isinstance(e, Fraction) else e - ball(share) * (1 + e))


def approximate(g: Given, t: Given) -> Number | None:
    """(ε, δ) at another δ."""
    return with_slack(num(g, "epsilon"), setting(g, "delta"), setting(t, "delta"))


def pure_to_approximate(g: Given, t: Given) -> Number | None:
    """Pure ε at a δ."""
    return with_slack(num(g, "epsilon"), Fraction(0), setting(t, "delta"))


def to_probabilistic(g: Given, t: Given) -> Number | None:
    """ε − ln(1 − δ/δ') at δ' > δ; ε where δ = 0."""
    delta, wanted = setting(g, "delta"), setting(t, "delta")
    if delta == 0:
        return num(g, "epsilon")
    if wanted <= delta:
        return None
    e, more = num(g, "epsilon"), wanted / (wanted - delta)
    return Log(e.of * more) if isinstance(e, Log) else Log(more) if e == 0 else ball(e) + ball(Log(more))


def relaxed_to_approximate(g: Given, t: Given) -> Number | None:
    """ε, where δ ≥ δ_a + δ_p."""
    enough = setting(t, "delta") >= setting(g, "delta") + setting(g, "outside")
    return num(g, "epsilon") if enough else None


def pure_to_concentrated(g: Given, t: Given) -> Number:
    """(1 − ξ/ε)·ε·tanh(ε/2), 0 from ξ = ε on."""
    e, xi = ball(num(g, "epsilon")), ball(setting(t, "xi"))
    return ((e - xi) * (e / 2).tanh()).nonnegative_part()


def pure_to_mean(g: Given, _t: Given) -> Mapping[str, Number]:
    """(ε·tanh(ε/2), ε)."""
    e = num(g, "epsilon")
    return {"mu": ball(e) * (ball(e) / 2).tanh(), "tau": e}


def mean_to_concentrated(g: Given, t: Given) -> Number:
    """τ²/2 + max(0, μ − τ²/2 − ξ)."""
    tau, mu = ball(num(g, "tau")), ball(num(g, "mu"))
    return tau * tau / 2 + (mu - tau * tau / 2 - ball(setting(t, "xi"))).nonnegative_part()


def concentrated(g: Given, t: Given) -> Number:
    """ρ + max(0, ξ − ξ')."""
    return _plus(num(g, "rho"), max(Fraction(0), setting(g, "xi") - setting(t, "xi")))


def concentrated_to_renyi(g: Given, t: Given) -> Number | None:
    """ξ + ρα, for α ≤ ω."""
    if "omega" in g and setting(t, "alpha") > setting(g, "omega"):
        return None
    return _plus(scaled(num(g, "rho"), setting(t, "alpha")), _offset(g))


def concentrated_to_kl(g: Given, _t: Given) -> Number:
    """ξ + ρ."""
    return _plus(num(g, "rho"), _offset(g))


def concentrated_to_pure(g: Given, _t: Given) -> Number | None:
    """ξ, where ρ = 0."""
    return _offset(g) if num(g, "rho") == 0 else None


def concentrated_to_approximate(g: Given, t: Given) -> Number | None:
    """The smallest that any order up to ω gives: D_α + ln(1/(αδ))/(α − 1) + ln(1 − 1/α), D_α = ξ + ρα."""
    rho, delta = num(g, "rho"), setting(t, "delta")
    top = setting(g, "omega") if "omega" in g else None
    if delta == 0:
        return _offset(g) if rho == 0 and top is None else None
    if top is None:
        found = standards.ZCDP().implied(rho, standards.Approximate(delta))
        return None if found is None else _plus(found, _offset(g))
    best: Ball | None = None
    size = float_above(ball(rho))
    toll = -float(ball(delta).log().mid())
    near = 1 + math.sqrt(toll / size) if 0 < size < math.inf else math.inf
    # Any order is valid: a few around the best of the simpler bound, and the largest.
    around = [Fraction(near * share).limit_denominator(1000) for share in (0.7, 0.85, 1.0)] if near < 1e6 else []
    for order in [top, *(min(top, each) for each in around)]:
        if order > 1:
            d = ball(rho) * ball(order) + ball(_offset(g))
            here = renyi_to_approximate(d, order, delta)
            if here is not None and (best is None or here.upper() < best.upper()):
                best = here
    return best


def doubly_to_concentrated(g: Given, t: Given) -> Number:
    """(1 − ξ/η)·τ, 0 from ξ = η on."""
    eta, tau, xi = ball(num(g, "eta")), num(g, "tau"), setting(t, "xi")
    if xi == 0:
        return tau
    return ((eta - ball(xi)) * ball(tau) / eta).nonnegative_part() if eta > 0 else Fraction(0)


def pure_to_doubly(g: Given, _t: Given) -> Mapping[str, Number]:
    """(ε, ε·tanh(ε/2))."""
    e = num(g, "epsilon")
    return {"eta": e, "tau": ball(e) * (ball(e) / 2).tanh()}


def pure_to_power(g: Given, t: Given) -> Number:
    """(((e^ε − 1)^k + e^ε(1 − e^−ε)^k)/(1 + e^ε))^{1/k}."""
    e, k = exponential(num(g, "epsilon")), ball(setting(t, "k"))
    if isinstance(e, Fraction) and e == 1:
        return Fraction(0)
    f = ball(e) if not isinstance(e, Ball) else e
    return (((f - 1) ** k + f * (1 - 1 / f) ** k) / (1 + f)) ** (1 / k)


def power_to_renyi(g: Given, t: Given) -> Number | None:
    """ln(1 + ε²), from k ≥ 2 to α ≤ 2."""
    if setting(g, "k") < 2 or setting(t, "alpha") > 2:
        return None
    return _log_one_plus_square(num(g, "epsilon"))


def renyi_to_power(g: Given, t: Given) -> Number | None:
    """√(e^ε − 1), from α ≥ 2 to k ≤ 2."""
    if setting(g, "alpha") < 2 or setting(t, "k") > 2:
        return None
    return ball(num(g, "epsilon")).expm1().nonnegative_part().sqrt()


def divergence_to_renyi(g: Given, t: Given) -> Number | None:
    """ln(1 + ε) for chi-squared, α ≤ 2."""
    if g["f"] != "chi-squared" or setting(t, "alpha") > 2:
        return None
    e = num(g, "epsilon")
    return Log(1 + e) if isinstance(e, Fraction) else (1 + ball(e)).log()


def renyi_to_divergence(g: Given, t: Given) -> Number | None:
    """e^ε − 1 for chi-squared, α ≥ 2."""
    if t["f"] != "chi-squared" or setting(g, "alpha") < 2:
        return None
    e = exponential(num(g, "epsilon"))
    return e - 1


def half(g: Given, _t: Given) -> Number:
    """ε/2."""
    return scaled(num(g, "epsilon"), Fraction(1, 2))


def group(g: Given, t: Given) -> Number:
    """cε."""
    return scaled(num(g, "epsilon"), setting(t, "size"))


def sampled(g: Given, t: Given) -> Number:
    """ln(1 + β(e^ε − 1))."""
    e, rate = exponential(num(g, "epsilon")), setting(t, "rate")
    return logarithm(1 + rate * (e - 1) if isinstance(e, Fraction) else 1 + ball(rate) * (e - 1))


def to_semantic(g: Given, _t: Given) -> Number:
    """tanh(ε/2) = (e^ε − 1)/(e^ε + 1)."""
    return approximate_to_tv(num(g, "epsilon"), Fraction(0))


def from_semantic(g: Given, _t: Given) -> Number | None:
    """2·ln((1 + ε)/(1 − ε)), ε < 1."""
    s = num(g, "epsilon")
    if isinstance(s, Fraction):
        return Log(((1 + s) / (1 - s)) ** 2) if s < 1 else None
    s = ball(s).upper()
    return 2 * ((1 + s) / (1 - s)).log() if s < 1 else None


def adversarial_to_pure(g: Given, _t: Given) -> Number | None:
    """ln of the smallest (1 − π)(e^ε·π + δ)/(π(1 − e^ε·π − δ)) over priors π: any prior is valid."""
    e, delta = ball(exponential(num(g, "epsilon"))), setting(g, "delta")
    rough, slack = float_above(e), float(delta)

    def ratio(prior: float) -> float:
        top = rough * prior + slack
        return (1 - prior) * top / (prior * (1 - top)) if top < 1 else math.inf

    low, high = 1e-300, (1 - slack) / rough
    if high <= low:
        return None
    if delta == 0:
        return num(g, "epsilon")
    golden = (math.sqrt(5) - 1) / 2
    a, b = math.log(1e-12), math.log(high)
    for _ in range(120):
        x, y = b - golden * (b - a), a + golden * (b - a)
        a, b = (a, y) if ratio(math.exp(x)) <= ratio(math.exp(y)) else (x, b)
    prior = ball(Fraction(math.exp((a + b) / 2)).limit_denominator(10**12))
    top = e * prior + ball(delta)
    return ((1 - prior) * top / (prior * (1 - top))).log() if top < 1 else None


def kl_to_approximate(g: Given, t: Given) -> Number | None:
    """0, where the total variation that KL allows is at most δ."""
    return Fraction(0) if kl_to_tv(num(g, "epsilon")) <= ball(setting(t, "delta")) else None


def concentrated_to_tv(g: Given, _t: Given) -> Number:
    """What the mean ξ + ρ of the loss allows."""
    return kl_to_tv(concentrated_to_kl(g, _t))


def _offset(g: Given) -> Fraction:
    return setting(g, "xi") if "xi" in g else Fraction(0)


def _plus(x: Number, more: Fraction) -> Number:
    if more == 0:
        return x
    return x + more if isinstance(x, Fraction) else ball(x) + ball(more)


def _log_one_plus_square(x: Number) -> Number:
    return Log(1 + x * x) if isinstance(x, Fraction) else (1 + ball(x) * ball(x)).log()
