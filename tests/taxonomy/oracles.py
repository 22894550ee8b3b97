"""For each definition, what brute force says of its answer on a world."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product

import numpy as np
from scipy.optimize import linprog

from quincunx.numbers import Log
from quincunx.taxonomy import Answer, Value, World
from tests.taxonomy import brute
from tests.taxonomy.brute import F, Laws

Oracle = Callable[[World, Answer], None]
TENTH = F(1, 10)


def exactly(value: Value, factor: Fraction | None) -> None:
    """The value is the logarithm of this factor."""
    if factor is None:
        assert value.infinite
    elif factor == 1:
        assert value.exact == 0 or value.exact == Log(1)
    else:
        assert value.exact == Log(factor), (value, factor)


def near(value: Value, expected: float, above: float = 1e-9, below: float = 1e-9, digits: float = 1e-12) -> None:
    """The enclosure holds the expected number, which may itself be too low by `above` of it, or too high by `below`.

    digits: what the brute side's own arithmetic or bisection leaves open near 0.
    """
    if math.isinf(expected):
        assert value.infinite or value.bounds[1] == math.inf
        return
    assert value.bounds[0] <= expected * (1 + above) + digits, (value, expected)
    assert value.bounds[1] >= expected * (1 - below) - digits, (value, expected)


def factors(rows: tuple[tuple[Value, ...], ...]) -> list[tuple[Fraction, Fraction]]:
    return [(r[0].exact.of if isinstance(r[0].exact, Log) else F(1), F(r[1].exact)) for r in rows]  # type: ignore[arg-type]


def front(answer: Answer, pairs: Laws, curve: Callable[[Laws, Fraction], Fraction], *, steps: bool = False) -> None:
    """The front is the curve: at its corners, between them, and beyond."""
    if not answer.rows:
        assert not pairs
        return
    corners = factors(answer.rows)
    assert corners[0][0] == 1
    for t, delta in corners:
        assert curve(pairs, t) == delta
    for (a, x), (b, y) in pairwise(corners):
        middle = (a + b) / 2
        assert curve(pairs, middle) == (x if steps else (x + y) / 2)
    last = corners[-1]
    assert curve(pairs, last[0] * 1000) == last[1]


def pure_on(relation: Callable[[World], list[tuple[str, str]]]) -> Oracle:
    return lambda w, a: exactly(a.value, brute.factor(brute.laws(w, relation(w))))


def largest(measure: Callable[..., float], above: float = 1e-9, below: float = 1e-9, power: float = 1.0) -> Oracle:
    def check(w: World, a: Answer) -> None:
        found = max((measure(p, q) for p, q in brute.laws(w, brute.one(w))), default=0.0)
        near(a.value, found**power if found < math.inf else found, above, below)

    return check


def mean_concentrated(w: World, a: Answer) -> None:
    pairs = brute.laws(w, brute.one(w))
    near(a.values["μ"], max(brute.kl(p, q) for p, q in pairs))
    near(a.values["τ"], math.sqrt(max(brute.around_mean(p, q) for p, q in pairs)), 2e-3)


def approximate_concentrated(w: World, a: Answer) -> None:
    pairs = brute.laws(w, brute.one(w))
    whole = max(brute.concentrated(p, q) for p, q in pairs)
    assert a.value.bounds[0] <= whole * (1 + 1e-9) + 1e-12
    # It implies (ε, δ + …) for every ε: where δ alone already covers everything, nothing is left to bound.
    if brute.factor(pairs, TENTH) == 1:
        assert a.value.bounds == (0.0, 0.0)
    if len(pairs) != 2 or len(pairs[0][0]) != 2 or min(*pairs[0][0], *pairs[0][1]) < TENTH:
        return
    # Splits of both laws on a grid: the best of them is not below the true smallest ρ.
    p, q = pairs[0]
    best = math.inf
    for b, c in product([F(i, 4) for i in range(5)], repeat=2):
        one = [(p[0] - TENTH * b) / (1 - TENTH), (p[1] - TENTH * (1 - b)) / (1 - TENTH)]
        two = [(q[0] - TENTH * c) / (1 - TENTH), (q[1] - TENTH * (1 - c)) / (1 - TENTH)]
        best = min(best, max(brute.concentrated(one, two), brute.concentrated(two, one)))
    assert a.value.bounds[0] <= best * (1 + 1e-9) + 1e-12


def doubly(w: World, a: Answer) -> None:
    pairs = brute.laws(w, brute.one(w))
    exactly(a.values["η"], brute.factor(pairs))
    near(a.values["τ"], max(brute.concentrated(p, q) for p, q in pairs), 2e-3)


def rational(measure: Callable[..., Fraction | None]) -> Oracle:
    def check(w: World, a: Answer) -> None:
        found = [measure(p, q) for p, q in brute.laws(w, brute.one(w))]
        if None in found:
            assert a.value.infinite
        else:
            assert a.value.exact == max(found)  # type: ignore[type-var]

    return check


def capacity(w: World, a: Answer) -> None:
    best = F(0)
    for p, q in brute.laws(w, brute.one(w)):
        for h in w.functions:  # type: ignore[union-attr]
            s = [h[o] for o in w.outputs]
            # f*(s) = max over t ≥ 0 of st − (t − 1)², at t = 1 + s/2 or 0.
            conjugate = [x * max(1 + x / 2, F(0)) - (max(1 + x / 2, F(0)) - 1) ** 2 for x in s]
            best = max(
                best,
                sum((x * y for x, y in zip(p, s, strict=True)), F(0))
                - sum((x * y for x, y in zip(q, conjugate, strict=True)), F(0)),
            )
    assert a.value.exact == best


def client(w: World, part: int | None) -> list[tuple[str, str]]:
    who = [p if part is None else p[part] for p in w.persons]  # type: ignore[union-attr]
    return [(x, y) for x, y in brute.all_pairs(w) if len({who[i] for i in brute.places(w, x, y)}) == 1]


def dependent(w: World) -> list[tuple[str, str]]:
    found = []
    for x, y in brute.related(w, lambda c: len(c) <= 2 and all(None not in pair for pair in c)):
        moved = brute.places(w, x, y)
        for lead in moved:
            if all(j == lead or j in w.dependence.get(lead, ()) for j in moved):  # type: ignore[union-attr]
                found.append((x, y))
    return found


def adversaries(w: World, priors: list[str], who: list[tuple[int, list[int]]]) -> Laws:
    pairs: Laws = []
    for name in priors:
        weights = w.priors[name]  # type: ignore[index]
        for target, known in who:
            options = [brute.values(w, i, absent=True) for i in known]
            for fixed in product(*options):

                def fits(
                    x: str, t: object, known: list[int] = known, fixed: tuple[object, ...] = fixed, target: int = target
                ) -> bool:
                    r = w.datasets[x]
                    return r[target] == t and all(r[i] == v for i, v in zip(known, fixed, strict=True))

                for t, u in permutations(brute.values(w, target), 2):
                    p, q = (brute.given(w, weights, lambda x, v=v: fits(x, v)) for v in (t, u))  # type: ignore[misc, arg-type]
                    if p is not None and q is not None:
                        pairs.append((p, q))
    return pairs


def named(w: World) -> list[tuple[int, list[int]]]:
    return [(t, sorted(k)) for t, k in w.adversaries]  # type: ignore[union-attr]


def individual(w: World) -> list[tuple[str, str]]:
    return [pair for pair in brute.one(w) if w.dataset in pair]


def instance(w: World) -> list[tuple[str, str]]:
    return [(x, y) for x, y in brute.unbounded(w) if w.dataset in (x, y) and brute.places(w, x, y) == [w.position]]


def listed(w: World) -> list[tuple[str, str]]:
    return [pair for x, y in w.neighbours for pair in ((x, y), (y, x))]  # type: ignore[union-attr]


def constrained(w: World, *, common: bool) -> list[tuple[str, str]]:
    found = []
    for x, y in brute.all_pairs(w):
        if w.distance.get((x, y), F(99)) > 1:  # type: ignore[union-attr]
            continue
        shared = [r for r in w.datasets[x] if r is not None and r in w.datasets[y]]
        if not common or (x in w.possible and y in w.possible and shared):  # type: ignore[operator]
            found.append((x, y))
    return found


def induced_by_sensitivity(w: World) -> list[tuple[str, str]]:
    f = w.statistic
    reach = max(abs(f[x] - f[y]) for x, y in brute.one(w))  # type: ignore[index]
    return [(x, y) for x, y in brute.all_pairs(w) if abs(f[x] - f[y]) <= reach]  # type: ignore[index]


def induced(w: World) -> list[tuple[str, str]]:
    found = []
    for x, y in permutations(w.possible, 2):  # type: ignore[arg-type]
        moved = brute.places(w, x, y)
        between = [
            tuple(w.datasets[y][i] if i in part else w.datasets[x][i] for i in range(w.people))
            for size in range(1, len(moved))
            for part in combinations(moved, size)
        ]
        if not any(w.datasets[z] in between for z in w.possible):  # type: ignore[union-attr]
            found.append((x, y))
    return found


def blowfish(w: World) -> list[tuple[str, str]]:
    edges = [set(edge) for edge in w.policy]  # type: ignore[union-attr]
    pairs = brute.related(w, lambda c: len(c) == 1 and set(c[0]) in edges)
    return [(x, y) for x, y in pairs if x in w.possible and y in w.possible]  # type: ignore[operator]


def by_key(key: Callable[[World, str, str], object], relation: Callable[[World], list[tuple[str, str]]]) -> Oracle:
    def check(w: World, a: Answer) -> None:
        groups: dict[object, list[tuple[str, str]]] = {}
        for x, y in relation(w):
            groups.setdefault(key(w, x, y), []).append((x, y))
        assert len(groups) == len(a.entries)
        for name, pairs in groups.items():
            exactly(a.entries[name], brute.factor(brute.laws(w, pairs)))  # type: ignore[index]

    return check


def fuller(w: World, x: str, y: str) -> tuple[str, int]:
    (i,) = brute.places(w, x, y)
    return (x if w.datasets[x][i] is not None else y), i


def tailored(w: World, x: str, y: str) -> object:
    name, i = fuller(w, x, y)
    return (f"record {i}", f"of {name}")


def unusual(w: World, x: str, y: str) -> object:
    name, i = fuller(w, x, y)
    return f"{Counter(w.datasets[name])[w.datasets[name][i]]} alike"


def pareto(w: World) -> list[tuple[str, str]]:
    owners = [p for p, _ in w.persons]  # type: ignore[union-attr]
    return [(x, y) for x, y in brute.one(w) if owners.count(owners[brute.places(w, x, y)[0]]) <= 2]


def shares(a: Answer, draws: list[list[tuple[Fraction | None, Fraction]]]) -> None:
    """(γ, ε): at each γ of the front, the smallest factor that all but γ satisfy, for the worst prior."""
    for row in a.rows:
        gamma, value = F(row[0].exact), row[1]  # type: ignore[arg-type]
        worst: Fraction | None = F(1)
        for drawn in draws:
            options = sorted({f for f, _ in drawn if f is not None} | {F(1)})
            enough = [t for t in options if sum((v for f, v in drawn if f is None or f > t), F(0)) <= gamma]
            here = min(enough) if enough else None
            worst = None if worst is None or here is None else max(worst, here)
        exactly(value, worst)


def two_way(w: World, x: str, y: str) -> Fraction | None:
    return brute.factor(brute.laws(w, [(x, y), (y, x)]))


def random_dp(w: World, a: Answer) -> None:
    shares(a, [[(two_way(w, x, y), v) for x, y, _, v in brute.redraws(w, p)] for p in w.priors.values()])  # type: ignore[union-attr, arg-type]


def distributional(w: World, a: Answer) -> None:
    draws = []
    for weights in w.priors.values():  # type: ignore[union-attr]
        pi: dict[str, Fraction] = {}
        for x, v in weights.items():
            first = w.datasets[x][0]
            if first is not None and v:
                pi[str(first)] = pi.get(str(first), F(0)) + v
        law: dict[str, Fraction] = {}
        if len(pi) >= w.people:
            # All ordered draws with replacement that have no repetition, step by step renormalised.
            for order in product(pi, repeat=w.people):
                if len(set(order)) == w.people:
                    chance = F(1)
                    for i, record in enumerate(order):
                        chance *= pi[record] / (sum(pi.values(), F(0)) - sum((pi[r] for r in order[:i]), F(0)))
                    law[w.name(order)] = chance  # type: ignore[index]
        draws.append([(two_way(w, x, y), u * v) for x, u in law.items() for y, v in law.items()])
    shares(a, draws)


def joint(w: World) -> Laws:
    """For each prior, dataset and position, over the redrawn record: both laws, with the record's probability."""
    pairs: Laws = []
    for weights in w.priors.values():  # type: ignore[union-attr]
        groups: dict[tuple[str, int], list[tuple[str, Fraction]]] = {}
        for x, y, i, v in brute.redraws(w, weights):  # type: ignore[arg-type]
            groups.setdefault((x, i), []).append((y, v))
        for (x, _), others in groups.items():
            total = sum((v for _, v in others), F(0))
            pairs += [(others, x, total)]  # type: ignore[list-item]
    return pairs


def other_record(single: Callable[[Laws, Fraction], Fraction], *, steps: bool) -> Oracle:
    def check(w: World, a: Answer) -> None:
        groups = joint(w)

        def curve(_: Laws, t: Fraction) -> Fraction:
            worst = F(0)
            for others, x, total in groups:  # type: ignore[misc]
                for turn in (False, True):
                    mean = F(0)
                    for y, v in others:  # type: ignore[misc]
                        pair = (w.laws[y], w.laws[x]) if turn else (w.laws[x], w.laws[y])  # type: ignore[index]
                        mean += v / total * single([pair], t)  # type: ignore[operator, arg-type]
                    worst = max(worst, mean)
            return worst

        front(a, [([F(1)], [F(1)])], curve, steps=steps)

    return check


def average(w: World, a: Answer) -> None:
    worst = 0.0
    for weights in w.priors.values():  # type: ignore[union-attr]
        drawn = [(brute.kl(w.laws[x], w.laws[y]), v) for x, y, _, v in brute.redraws(w, weights)]  # type: ignore[arg-type]
        worst = max(
            worst, math.inf if any(math.isinf(k) for k, _ in drawn) else math.fsum(k * float(v) for k, v in drawn)
        )
    near(a.value, worst)


def metric(delta: Fraction) -> Oracle:
    def check(w: World, a: Answer) -> None:
        worst = 0.0
        for (x, y), d in w.distance.items():  # type: ignore[union-attr]
            t = brute.factor(brute.laws(w, [(x, y)]), delta)
            if t is None:
                assert a.value.infinite
                return
            worst = max(worst, math.log1p(float(t - 1)) / float(d))
        near(a.value, worst)

    return check


def metric_divergence(w: World, a: Answer) -> None:
    found = [(brute.divergence(w.laws[x], w.laws[y]), d) for (x, y), d in w.distance.items()]  # type: ignore[union-attr]
    if any(v is None for v, _ in found):
        assert a.value.infinite
    else:
        assert a.value.exact == max(v / d for v, d in found)  # type: ignore[operator]


def region(w: World, a: Answer) -> None:
    # M(x) = min(1, 3x + 1/10, 1 − (0.9 − x)/3) is (ln 3, 1/10).
    broken = False
    for p, q in brute.laws(w, listed(w)):
        for event in brute.events(len(p)):
            x, y = brute.mass(p, event), brute.mass(q, event)
            broken |= y > min(F(1), 3 * x + TENTH, 1 - (1 - x - TENTH) / 3)
    assert a.holds is not broken
    t = brute.factor(brute.laws(w, listed(w)), TENTH)
    assert a.holds is (t is not None and t <= 3)


def abstract(w: World, a: Answer) -> None:
    pairs = brute.laws(w, listed(w))
    assert a.holds is all([bool(x) for x in p] == [bool(y) for y in q] for p, q in pairs)


def causal(w: World, a: Answer) -> None:
    pairs: Laws = []
    for weights in w.priors.values():  # type: ignore[union-attr]
        for i in range(w.people):
            for t, u in permutations(brute.values(w, i), 2):
                kept = {x: v for x, v in weights.items() if w.datasets[x][i] == t and v}
                if kept:
                    total = sum(kept.values(), F(0))
                    p, q = [F(0)] * len(w.outputs), [F(0)] * len(w.outputs)
                    for x, v in kept.items():
                        y = next(z for z, r in w.datasets.items() if r[i] == u and set(brute.places(w, x, z)) <= {i})
                        for o in range(len(w.outputs)):
                            p[o] += v / total * w.laws[x][o]
                            q[o] += v / total * w.laws[y][o]
                    pairs += [(p, q), (q, p)]
    exactly(a.value, brute.factor(pairs))


def sampled(w: World, a: Answer) -> None:
    rate = w.sampling
    made = {}
    for x, records in w.datasets.items():
        law = [F(0)] * len(w.outputs)
        for keep in product((True, False), repeat=w.people):
            chance = math.prod([rate if k else 1 - rate for k in keep], start=F(1))  # type: ignore[operator]
            y = next(
                z
                for z, r in w.datasets.items()
                if r == tuple(v if k else None for v, k in zip(records, keep, strict=True))
            )
            law = [a_ + chance * b_ for a_, b_ in zip(law, w.laws[y], strict=True)]
        made[x] = law
    exactly(a.value, brute.factor([(made[x], made[y]) for x, y in brute.unbounded(w)]))


def leaked(w: World, weights: dict[str, Fraction], i: int, t: object, b: str) -> tuple[Fraction, list[Fraction] | None]:
    kept = {x: v * w.background[x].get(b, F(0)) for x, v in weights.items() if w.datasets[x][i] == t}  # type: ignore[index]
    return sum(kept.values(), F(0)), brute.given(w, kept, lambda _x: True)


def partial(*, active: bool) -> Oracle:
    def check(w: World, a: Answer) -> None:
        groups = []
        for weights in w.priors.values():  # type: ignore[union-attr]
            for i in range(w.people):
                for t, u in permutations(brute.values(w, i), 2):
                    rows = [(leaked(w, weights, i, t, b), leaked(w, weights, i, u, b)) for b in ("b", "c")]  # type: ignore[arg-type]
                    total = sum((one[0] for one, _ in rows), F(0))
                    common = any(one[0] and two[0] for one, two in rows)
                    # An active attacker compares only where the same leak is possible under both values.
                    if total and any(two[0] for _, two in rows) and (common or not active):
                        groups.append((total, rows))

        def curve(_: Laws, s: Fraction) -> Fraction:
            worst = F(0)
            for total, rows in groups:
                parts = [
                    (m / total, brute.stick([(p, q)], s)) for (m, p), (n, q) in rows if p is not None and q is not None
                ]
                worst = (
                    max([worst, *(d for _, d in parts)]) if active else max(worst, sum((m * d for m, d in parts), F(0)))
                )
            return worst

        front(a, [([F(1)], [F(1)])] if groups else [], curve)

    return check


def pufferfish(w: World, a: Answer) -> None:
    pairs: Laws = []
    for weights in w.priors.values():  # type: ignore[union-attr]
        for one, two in w.secrets:  # type: ignore[union-attr]
            p, q = (brute.given(w, weights, lambda x, s=s: x in s) for s in (one, two))  # type: ignore[misc, arg-type]
            if p is not None and q is not None:
                pairs += [(p, q), (q, p)]
    exactly(a.value, brute.factor(pairs))


def fixed(w: World) -> Laws:
    who = [
        (i, list(k))
        for i in range(w.people)
        for size in (0, 1)
        for k in combinations([j for j in range(w.people) if j != i], size)
    ]
    return adversaries(w, list(w.priors), who)  # type: ignore[arg-type]


def between_priors(w: World) -> list[tuple[list[Fraction], list[Fraction], Fraction]]:
    made = {n: brute.given(w, v, lambda _x: True) for n, v in w.priors.items()}  # type: ignore[union-attr, arg-type]
    both = [(x, y, d) for (x, y), d in w.pairs_of_priors.items()]  # type: ignore[union-attr]
    return [(made[x], made[y], d) for x, y, d in [*both, *((y, x, d) for x, y, d in both)]]  # type: ignore[misc]


def mixtures(w: World) -> Laws:
    return [(p, q) for p, q, _ in between_priors(w)]


def priors_divergence(*, far: bool) -> Oracle:
    def check(w: World, a: Answer) -> None:
        found = [(brute.divergence(p, q), d if far else F(1)) for p, q, d in between_priors(w)]
        if any(v is None for v, _ in found):
            assert a.value.infinite
        else:
            assert a.value.exact == max(v / d for v, d in found)  # type: ignore[operator]

    return check


def priors_far(w: World, a: Answer) -> None:
    worst = 0.0
    for p, q, d in between_priors(w):
        t = brute.factor([(p, q)])
        worst = math.inf if t is None else max(worst, math.log1p(float(t - 1)) / float(d))
        if math.isinf(worst):
            break
    near(a.value, worst)


def semantic(w: World, a: Answer) -> None:
    worst = 0.0
    dice = np.random.default_rng(1)
    for i in range(w.people):
        removed = {
            x: next(z for z, r in w.datasets.items() if r == (*w.datasets[x][:i], None, *w.datasets[x][i + 1 :]))
            for x in w.datasets
        }
        for event in brute.events(len(w.outputs)):
            one = np.array([float(brute.mass(w.laws[x], event)) for x in w.datasets])
            two = np.array([float(brute.mass(w.laws[removed[x]], event)) for x in w.datasets])
            # Two-point priors on a grid of odds, and a few random priors on everything.
            odds = np.geomspace(1e-7, 1e7, 2801)
            for s, t in combinations(range(len(one)), 2):
                m, n = odds * one[s] + one[t], odds * two[s] + two[t]
                if m.max() > 0 and n.max() > 0:
                    worst = max(worst, float(np.abs(odds * one[s] / m - odds * two[s] / n).max()))
            prior = dice.dirichlet(np.ones(len(one)))
            if prior @ one > 0 and prior @ two > 0:
                worst = max(worst, float(np.abs(prior * one / (prior @ one) - prior * two / (prior @ two)).sum() / 2))
    near(a.value, worst, 1e-4, 1e-6)


def range_bounded(w: World, a: Answer) -> None:
    worst: Fraction | None = F(1)
    for p, q in brute.laws(w, brute.one(w)):
        for i, j in product(range(len(p)), repeat=2):
            if not (p[i] or q[i]) or not (p[j] or q[j]):
                continue
            # P(i)/Q(i) ≤ t·P(j)/Q(j), multiplied out.
            top, bottom = p[i] * q[j], p[j] * q[i]
            if top and not bottom:
                worst = None
            elif top and worst is not None:
                worst = max(worst, top / bottom)
            elif not p[i] and q[i]:
                worst = None if p[j] else worst
    exactly(a.value, worst)


def polygon(a: Answer, pairs: Laws) -> None:
    """Every vertex is reached by an event of some pair, and no event of any pair is below the curve."""
    rows = [(F(x.exact), F(y.exact)) for x, y in a.rows]  # type: ignore[arg-type]
    points = {(brute.mass(q, e), 1 - brute.mass(p, e)) for p, q in pairs for e in ((), *brute.events(len(p)))}
    assert rows[0][0] == 0
    assert rows[-1] == (1, 0)
    assert all(row in points for row in rows)
    for x, y in points:
        for (a_, b), (c, d) in pairwise(rows):
            if a_ <= x <= c and c > a_:
                assert y >= b + (d - b) * (x - a_) / (c - a_)


def views(w: World, *, strong: bool) -> Laws:
    pairs: Laws = []
    for client_, own in w.clients.items():  # type: ignore[union-attr]
        for seen, rows in (w.joint_views if strong else w.views).items():  # type: ignore[union-attr]
            if (seen == client_) is strong:
                pairs += [(rows[x], rows[y]) for x, y in brute.all_pairs(w) if set(brute.places(w, x, y)) <= own]
    return pairs


def beliefs(w: World, facts: Callable[[World], list[Callable[[str], bool]]]) -> list[tuple[Fraction, Fraction]]:
    """(before, after) for every prior, fact and event of outputs, by Bayes' rule on the joint law."""
    found = []
    for weights in w.priors.values():  # type: ignore[union-attr]
        for fact in facts(w):
            before = sum((v for x, v in weights.items() if fact(x)), F(0))
            for event in brute.events(len(w.outputs)):
                both = sum((v * brute.mass(w.laws[x], event) for x, v in weights.items() if fact(x)), F(0))
                total = sum((v * brute.mass(w.laws[x], event) for x, v in weights.items()), F(0))
                if total:
                    found.append((before, both / total))
    return found


def record_facts(w: World) -> list[Callable[[str], bool]]:
    return [
        lambda x, i=i, part=part: w.datasets[x][i] in part  # type: ignore[misc]
        for i in range(w.people)
        for part in chain_subsets(brute.values(w, i, absent=True))
    ]


def chain_subsets(items: list[object]) -> list[tuple[object, ...]]:
    return [part for size in range(1, len(items) + 1) for part in combinations(items, size)]


def presence_facts(w: World) -> list[Callable[[str], bool]]:
    records = {r for d in w.datasets.values() for r in d if r is not None}
    return [lambda x, r=r: r in w.datasets[x] for r in sorted(records, key=str)]  # type: ignore[misc]


def dataset_facts(w: World) -> list[Callable[[str], bool]]:
    return [lambda x, y=y: x == y for y in w.datasets]  # type: ignore[misc]


def over(a: Fraction, b: Fraction) -> Fraction | None:
    return F(1) if a == b == 0 else None if not b else a / b


def believed(facts: Callable[[World], list[Callable[[str], bool]]], sides: str) -> Oracle:
    def check(w: World, a: Answer) -> None:
        worst: Fraction | None = F(1)
        for before, after in beliefs(w, facts):
            options = {
                "+": [over(after, before), over(1 - before, 1 - after)],
                "-": [over(before, after), over(1 - after, 1 - before)],
                "=": [over(after, before), over(before, after)],
            }
            for each in [o for side in sides for o in options[side]]:
                worst = None if worst is None or each is None else max(worst, each)
        exactly(a.value, worst)

    return check


def adversarial(w: World, a: Answer) -> None:
    rows = beliefs(w, presence_facts)
    front(a, [([F(1)], [F(1)])], lambda _, t: max([F(0), *(after - t * before for before, after in rows)]))


def zero_knowledge(w: World, a: Answer) -> None:
    rows, targets = [], []
    for x, records in w.datasets.items():
        for i, record in enumerate(records):
            if record is not None:
                rows.append({str((i, records[:i], records[i + 1 :])): F(1)})
                targets.append(w.laws[x])
    # A dataset without the record is the same whichever record was left out, if the others agree.
    for row, (x, i) in zip(
        rows, [(x, i) for x, r in w.datasets.items() for i, v in enumerate(r) if v is not None], strict=True
    ):
        row.clear()
        row[str([v if j != i else None for j, v in enumerate(w.datasets[x])])] = F(1)
    near(a.value, brute.smallest_factor(brute.program(rows, targets, 0.0)), 1e-5, 1e-5, 1e-6)


def subspace(w: World, a: Answer) -> None:
    def push(law: tuple[Fraction, ...]) -> list[Fraction]:
        return [sum((p for o, p in zip(w.outputs, law, strict=True) if w.projection[o] == v), F(0)) for v in "uv"]  # type: ignore[index]

    front(a, [(push(p), push(q)) for p, q in brute.laws(w, brute.one(w))], brute.stick)  # type: ignore[arg-type]


def leakage(w: World, a: Answer) -> None:
    pairs: Laws = []
    for x, y in brute.one(w):
        for label in ("l", "m"):
            sides = []
            for z in (x, y):
                both = [p * w.leakage[z][o].get(label, F(0)) for o, p in zip(w.outputs, w.laws[z], strict=True)]  # type: ignore[index]
                sides.append([b / sum(both, F(0)) for b in both] if any(both) else None)
            if None not in sides:
                pairs.append((sides[0], sides[1]))  # type: ignore[arg-type]
    front(a, pairs, brute.stick)


def coupled(w: World) -> tuple[list[dict[str, Fraction]], list[list[Fraction]]]:
    rows, targets = [], []
    pair = w.coupled["one"]  # type: ignore[index]
    for weights in w.priors.values():  # type: ignore[union-attr]
        for value in "pq":
            law = brute.given(w, weights, lambda x, value=value: pair.private[x] == value)  # type: ignore[misc, arg-type]
            if law is not None:
                total = sum((v for x, v in weights.items() if pair.private[x] == value), F(0))
                rows.append(
                    {
                        b: sum(
                            (
                                v * pair.aggregate[x].get(b, F(0))
                                for x, v in weights.items()
                                if pair.private[x] == value
                            ),
                            F(0),
                        )
                        / total
                        for b in "st"
                    }
                )
                targets.append(law)
    return rows, targets


def coupled_worlds(w: World, a: Answer) -> None:
    rows, targets = coupled(w)
    near(a.value, brute.smallest_factor(brute.program(rows, targets, 0.0)), 1e-4, 1e-4, 1e-6)


def inferred(
    w: World, couplings: list[tuple[dict[str, dict[str, Fraction]], dict[str, str]]]
) -> Callable[[float], bool]:
    """Posterior bounds as a program by scipy, without normalising: one column for each label and output.

    And each output that the mechanism gives under a prior by itself: the simulator gives it too.
    """
    labels = sorted({b for agg, _ in couplings for law in agg.values() for b in law})
    k = len(w.outputs)
    fixed, growing, given = [], [], []
    for weights in w.priors.values():  # type: ignore[union-attr]
        for agg, private in couplings:
            for value in sorted(set(private.values())):
                for o in range(k):
                    total = sum((v * w.laws[x][o] for x, v in weights.items()), F(0))
                    if not total or not sum((v for x, v in weights.items() if private[x] == value), F(0)):
                        continue
                    inside = sum((v * w.laws[x][o] for x, v in weights.items() if private[x] == value), F(0))
                    belief = float(inside / total)
                    whole, part = np.zeros(len(labels) * k), np.zeros(len(labels) * k)
                    for x, v in weights.items():
                        for b, u in agg[x].items():
                            whole[labels.index(b) * k + o] += float(v * u)
                            part[labels.index(b) * k + o] += float(v * u) * (private[x] == value)
                    given.append(whole > 0)
                    fixed += [belief * whole, part]
                    growing += [part, belief * whole]
    left, rising = np.array(fixed), np.array(growing)
    sums = np.zeros((len(labels), len(labels) * k))
    for i in range(len(labels)):
        sums[i, i * k : (i + 1) * k] = 1

    def check(t: float) -> bool:
        cost, zeros = np.zeros(len(labels) * k), np.zeros(len(left))

        def solved(equal: np.ndarray) -> bool:
            return linprog(cost, left - t * rising, zeros, equal, np.ones(len(equal)), method="highs").status == 0

        return solved(sums) and all(solved(each[None, :].astype(float)) for each in given)

    return check


def inference(w: World, a: Answer) -> None:
    pair = w.coupled["one"]  # type: ignore[index]
    agg = {x: dict(law) for x, law in pair.aggregate.items()}
    near(a.value, brute.smallest_factor(inferred(w, [(agg, dict(pair.private))])), 1e-3, 1e-3, 1e-6)


def distributional_inference(w: World, a: Answer) -> None:
    couplings = [
        (
            {x: {f"{i}{r[:i]}{r[i + 1 :]}": F(1)} for x, r in w.datasets.items()},
            {x: str(r[i]) for x, r in w.datasets.items()},
        )
        for i in range(w.people)
    ]
    near(a.value, brute.smallest_factor(inferred(w, couplings)), 1e-3, 1e-3, 1e-6)


def typical(w: World, a: Answer) -> None:
    worst = 0.0
    for weights in w.priors.values():  # type: ignore[union-attr]
        kept = [x for x, v in weights.items() if v]
        best = math.inf
        for size in range(len(kept)):
            for gone in combinations(kept, size):
                if sum((weights[x] for x in gone), F(0)) <= TENTH:
                    left = [w.laws[x] for x in kept if x not in gone]
                    best = min(best, brute.smallest_factor(brute.program([{"": F(1)}] * len(left), left, 0.1)))
            if not any(sum((weights[x] for x in gone), F(0)) <= TENTH for gone in combinations(kept, size + 1)):
                break
        worst = max(worst, best)
    near(a.value, worst, 1e-3, 1e-3, 1e-6)


ORACLES: dict[str, Oracle] = {
    "DP": pure_on(brute.one),
    "ADP": lambda w, a: front(a, brute.laws(w, brute.one(w)), brute.stick),
    "ProDP": lambda w, a: front(a, brute.laws(w, brute.one(w)), brute.tail, steps=True),
    "RelDP": lambda w, a: exactly(a.value, brute.relaxed(brute.laws(w, brute.one(w)), F(1, 100), F(1, 100))),
    "KLPr": largest(brute.kl),
    "RenyiDP": largest(lambda p, q: brute.renyi(p, q, 2.0)),
    "mCoDP": mean_concentrated,
    "zCoDP": largest(brute.concentrated, 2e-3),
    "AzCoDP": approximate_concentrated,
    "bCoDP": largest(lambda p, q: brute.concentrated(p, q, 0.1, 8.0), 2e-3),
    "tCoDP-Col16": doubly,
    "tCoDP-BDRS18": largest(lambda p, q: brute.concentrated(p, q, 0.0, 8.0), 2e-3),
    "DivDP": rational(brute.divergence),
    "kDivDP": largest(
        lambda p, q: math.inf if brute.divergence(p, q) is None else float(brute.divergence(p, q)), power=0.5
    ),  # type: ignore[arg-type]
    "CBDP": capacity,
    "uBoDP": pure_on(brute.unbounded),
    "BoDP": pure_on(brute.bounded),
    "OSDP": pure_on(
        lambda w: brute.related(w, lambda c: len(c) == 1 and c[0][0] in w.sensitive and c[0][1] is not None)
    ),  # type: ignore[operator]
    "AsDP": pure_on(lambda w: brute.related(w, lambda c: len(c) == 1 and c[0][0] in w.sensitive and c[0][1] is None)),  # type: ignore[operator]
    "ClDP": pure_on(lambda w: client(w, 0)),
    "ElDP": pure_on(lambda w: client(w, None)),
    "GrDP": pure_on(lambda w: brute.related(w, lambda c: len(c) <= 2)),
    "DepDP": pure_on(dependent),
    "BayDP-YSN15": lambda w, a: exactly(a.value, brute.factor(adversaries(w, ["even"], named(w)))),
    "CorDP": lambda w, a: exactly(a.value, brute.factor(adversaries(w, ["even"], [(i, []) for i in range(w.people)]))),
    "PriDP": lambda w, a: exactly(a.value, brute.factor(adversaries(w, list(w.priors), named(w)))),  # type: ignore[arg-type]
    "FLPr": pure_on(brute.all_pairs),
    "InDP": pure_on(individual),
    "PIDP": pure_on(instance),
    "GcDP-KM11": pure_on(listed),
    "ConsDP": pure_on(lambda w: constrained(w, common=False)),
    "DlPr-ZLW09": pure_on(lambda w: constrained(w, common=True)),
    "SIDP": pure_on(induced_by_sensitivity),
    "INDP": pure_on(induced),
    "BFPr": pure_on(blowfish),
    "PerDP": by_key(lambda w, x, y: f"record {brute.places(w, x, y)[0]}", brute.unbounded),
    "TaiDP": by_key(tailored, brute.unbounded),
    "IDDP": by_key(lambda _w, x, y: tuple(sorted((x, y))), brute.one),
    "OutPr": by_key(unusual, brute.unbounded),
    "ParDP": pure_on(pareto),
    "RanDP": random_dp,
    "dD-Pr": metric(F(0)),
    "SmoDP": metric(F(0)),
    "DlPr-Rot10": distributional,
    "WBDP": other_record(brute.stick, steps=False),
    "avgKLPr": average,
    "BayDP-TF20": other_record(brute.tail, steps=True),
    "PsDP": metric(TENTH),
    "EDivDP": metric_divergence,
    "GcDP-KL10": region,
    "AbsDP": abstract,
    "NPr": lambda w, a: exactly(a.value, brute.factor(brute.conditionals(w))),
    "CausDP": causal,
    "SamDP": sampled,
    "APKDP": partial(active=True),
    "PPKDP": partial(active=False),
    "PFPr": pufferfish,
    "BayDP-LL12": lambda w, a: exactly(a.value, brute.factor(fixed(w))),
    "DnPr": lambda w, a: front(a, mixtures(w), brute.stick),
    "PBDP": lambda w, a: front(a, mixtures(w), brute.stick),
    "PDnPr": lambda w, a: front(a, mixtures(w), brute.tail, steps=True),
    "DDnPr": priors_divergence(far=False),
    "EDnPr": priors_far,
    "EDDnPr": priors_divergence(far=True),
    "IndPr": pure_on(brute.one),
    "SemPr": semantic,
    "RBPr": range_bounded,
    "f-DP": lambda w, a: polygon(a, brute.laws(w, brute.one(w))),
    "GaussDP": lambda w, a: near(a.value, brute.gaussian(brute.laws(w, brute.one(w))), 1e-6, 1e-6),
    "wFDP": lambda w, a: polygon(a, views(w, strong=False)),
    "sFDP": lambda w, a: polygon(a, views(w, strong=True)),
    "ANPr": believed(record_facts, "="),
    "PMPr": believed(presence_facts, "+"),
    "NMPr": believed(presence_facts, "-"),
    "MPr": believed(presence_facts, "+-"),
    "AdvPr": adversarial,
    "InfPr": believed(dataset_facts, "="),
    "ZKPr": zero_knowledge,
    "SubDP": subspace,
    "BLDP": leakage,
    "CWPr": coupled_worlds,
    "IBCWPr": inference,
    "IBDDP": distributional_inference,
    "TypSt": typical,
}
