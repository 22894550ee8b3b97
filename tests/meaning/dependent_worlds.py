"""Small priors and exact mechanisms for the tests of dependence, and posteriors by the book."""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from quincunx.finite import Mechanism, parallel
from quincunx.meaning.dependence import Joint
from quincunx.mechanisms import RandomizedResponse

Prior = dict[tuple[Any, ...], Fraction]
ODDS = Fraction(3)


def bits(records: int) -> list[tuple[int, ...]]:
    return list(itertools.product((0, 1), repeat=records))


def weighted(weights: Sequence[int], records: int) -> Joint:
    total = sum(weights)
    return Joint({x: Fraction(w, total) for x, w in zip(bits(records), weights, strict=True)})


def grid(records: int, most: int) -> Iterator[Joint]:
    """Every prior on bits with whole weights from 0 to `most` without a common factor; each once."""
    known = set()
    for weights in itertools.product(range(most + 1), repeat=2**records):
        if any(weights) and (joint := weighted(weights, records)) not in known:
            known.add(joint)
            yield joint


def responses(records: int, p: object = "3/4") -> Mechanism:
    return parallel([RandomizedResponse(probability=p).finite()] * records)


def noisy_count(records: int, odds: Fraction = ODDS) -> Mechanism:
    """The number of ones plus two-sided geometric noise with ratio q = 1/odds, clamped to 0 … n: ε = ln odds."""
    return Mechanism({x: geometric(sum(x), records, odds) for x in bits(records)})


def geometric(count: int, top: int, odds: Fraction) -> dict[Any, Fraction]:
    q = 1 / odds
    # P(Z = z) = (1 − q)/(1 + q)·q^|z|; beyond an end at distance k lies q^k/(1 + q).
    inner = {o: (1 - q) / (1 + q) * q ** abs(o - count) for o in range(1, top)}
    return {0: q**count / (1 + q), **inner, top: q ** (top - count) / (1 + q)}


def almost_truth(records: int, odds: Fraction = ODDS) -> Mechanism:
    """The dataset itself with `odds` times the probability of each other one: ε = ln odds for any change."""
    worlds = bits(records)
    share = 1 / (odds + len(worlds) - 1)
    return Mechanism({x: {y: odds * share if x == y else share for y in worlds} for x in worlds})


def noisy_parity(records: int, odds: Fraction = ODDS) -> Mechanism:
    """Whether the number of ones is odd, by randomized response."""
    p = odds / (1 + odds)
    return Mechanism({x: {sum(x) % 2: p, 1 - sum(x) % 2: 1 - p} for x in bits(records)})


def mechanisms(records: int) -> dict[str, Mechanism]:
    """Four mechanisms, each with e^ε = 3 for one bit replaced."""
    return {
        "responses": responses(records),
        "count": noisy_count(records),
        "almost truth": almost_truth(records),
        "parity": noisy_parity(records),
    }


def likelihood(mechanism: Mechanism, prior: Prior, output: Any, **known: Any) -> Fraction:
    """P(output and X_j = known[j] for every j), summed by the book; `known` is written x0=…, x1=…"""
    places = {int(name[1:]): value for name, value in known.items()}
    return sum(
        (
            weight * Fraction(str(mechanism.probability(x, output)))
            for x, weight in prior.items()
            if all(x[j] == value for j, value in places.items())
        ),
        Fraction(0),
    )


def by_the_book(
    mechanism: Mechanism, joint: Joint, record: int, known: Sequence[int] = ()
) -> list[tuple[Fraction, Fraction]]:
    """(prior, posterior) of every value of a record, for every output and every value of the known records."""
    prior, found = joint.table(), []
    for values in {tuple(x[j] for j in known) for x in prior}:
        case = {x: w for x, w in prior.items() if tuple(x[j] for j in known) == values}
        for value in {x[record] for x in case}:
            before = sum(w for x, w in case.items() if x[record] == value) / sum(case.values())
            for output in mechanism.outputs:
                seen = likelihood(mechanism, case, output)
                if seen:
                    found.append((before, likelihood(mechanism, case, output, **{f"x{record}": value}) / seen))
    return found


def factor(before: Fraction, after: Fraction, by: str) -> Fraction:
    """The larger of the factor and its inverse."""
    if before == after:
        return Fraction(1)
    moved = after / before if by == "ratio" else after * (1 - before) / (before * (1 - after))
    return max(moved, 1 / moved)


def parity_prior() -> Joint:
    """Three fair bits with X_0 = X_1 ⊕ X_2: each two are independent."""
    return Joint({(a ^ b, a, b): "1/4" for a in (0, 1) for b in (0, 1)})


def chain(records: int, copy: Fraction) -> Joint:
    """A fair bit, and each further one equal to the one before with probability `copy`."""
    prior = {}
    for x in bits(records):
        weight = Fraction(1, 2)
        for a, b in itertools.pairwise(x):
            weight *= copy if a == b else 1 - copy
        prior[x] = weight
    return Joint(prior)
