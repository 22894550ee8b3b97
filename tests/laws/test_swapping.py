"""Swapping against enumeration: every permutation of every stratum of at most six records, exactly.

Nothing here is shared with the library: the law is summed over all selections and permutations. A dataset of one
stratum is the multiset of (rest, value) pairs; rests stay, values move.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from quincunx.finite import Mechanism
from quincunx.invariant import swap_epsilon
from quincunx.spec import Specification, domain, scope, standard, unit

RATES = [Fraction(1, 20), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(9, 10), Fraction(99, 100)]
KINDS = ["derangement", "uniform"]
Rest = tuple[int, ...]
Dataset = tuple[tuple[int, int], ...]


@cache
def permutations(n: int) -> list[tuple[tuple[int, ...], int]]:
    """Every permutation of n places with the number of places that it moves."""
    return [(p, sum(i != j for i, j in enumerate(p))) for p in itertools.permutations(range(n))]


@cache
def chance(n: int, rate: Fraction, kind: str) -> dict[int, Fraction]:
    """The probability of one permutation of n records that moves k of them, by what the algorithm does.

    Records are selected one by one. Derangements: a selection of exactly one is drawn again, which conditions on the
    others; then each derangement of the selected is as likely as any other. Uniform: each permutation of them.
    """
    if n < 2:
        return {0: Fraction(1)}
    again = n * rate * (1 - rate) ** (n - 1) if kind == "derangement" else Fraction(0)
    found: dict[int, Fraction] = {}
    for k in (0, *range(2, n + 1)):
        total = Fraction(0)
        for j in range(n + 1):
            selected = rate**j * (1 - rate) ** (n - j) / (1 - again)
            ways = math.comb(n - k, j - k) if j >= k else 0
            if kind == "uniform":
                total += ways * selected / math.factorial(j)
            elif j == k:
                total += selected / max(1, sum(moved == k for _, moved in permutations(k)))
        found[k] = total
    return found


def worlds(n: int) -> Iterator[tuple[Rest, Rest]]:
    """Rests and values of n records, distinct and repeated: one of each pattern."""
    patterns = list(partitions(n))
    for rests, values in itertools.product(patterns, repeat=2):
        yield labels(rests), labels(values)


def partitions(n: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    if n == 0:
        yield ()
    for first in range(min(n, most or n), 0, -1):
        for others in partitions(n - first, first):
            yield (first, *others)


def labels(parts: tuple[int, ...]) -> Rest:
    return tuple(label for label, count in enumerate(parts) for _ in range(count))


def universe(rests: Rest, values: Rest) -> list[Dataset]:
    """All datasets with these rests and these values."""
    return sorted({tuple(sorted(zip(rests, order, strict=True))) for order in itertools.permutations(values)})


def ways(datasets: list[Dataset]) -> dict[Dataset, dict[Dataset, Counter[int]]]:
    """x → w → how many permutations that move k places take x to w."""
    found: dict[Dataset, dict[Dataset, Counter[int]]] = {}
    for x in datasets:
        reached: dict[Dataset, Counter[int]] = {}
        for order, moved in permutations(len(x)):
            w = tuple(sorted((x[i][0], x[order[i]][1]) for i in range(len(x))))
            reached.setdefault(w, Counter())[moved] += 1
        found[x] = reached
    return found


def distance(x: Dataset, y: Dataset) -> int:
    return (Counter(x) - Counter(y)).total()


def squared(rate: Fraction, b: int, kind: str) -> Fraction:
    """e^{2ε} of the claims for b ≥ 4, a rational: so every comparison below is exact."""
    odds = rate / (1 - rate)
    if kind == "uniform":
        return 1 + 2 * b / odds + b * (b - 1) / odds**2
    count = {k: sum(moved == k for _, moved in permutations(k)) for k in (b - 2, b)}
    return max(odds**2, Fraction(count[b], count[b - 2]) / odds**2)


def table(rests: Rest, values: Rest) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(counts, distances): as `ways` and `distance`, over the whole universe at once.

    counts[x, w, k] is the number of permutations that move k places and take x to w.
    """
    n = len(rests)
    orders = np.array([order for order, _ in permutations(n)])
    moved = np.array([k for _, k in permutations(n)])
    kept = np.array(rests)

    def coded(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.sort(kept * n + rows, axis=-1) @ (n * n) ** np.arange(n)

    every = np.array(sorted(set(itertools.permutations(values))))
    codes, first = np.unique(coded(every), return_index=True)
    datasets = every[first]
    counts = np.zeros((len(codes), len(codes), n + 1), dtype=np.int64)
    for x, row in enumerate(datasets):
        np.add.at(counts, (x, np.searchsorted(codes, coded(row[orders])), moved), 1)
    cells = np.zeros((len(codes), n * n), dtype=np.int64)
    np.add.at(cells, (np.arange(len(codes))[:, None], kept * n + datasets), 1)
    distances = np.abs(cells[:, None, :] - cells[None, :, :]).sum(axis=2) // 2
    return counts, distances


def worst(rests: Rest, values: Rest, rates: list[Fraction], kind: str) -> dict[Fraction, Fraction]:
    """For each rate the largest ratio^{60/d} over pairs and outputs: e^{60ε}, exact, since d divides 60 for d ≤ 6.

    Floats find the pairs that may be the worst: their logarithms, at most 60 in size, are off by less than 1e-12, so
    whatever is within 1e-9 of the largest is computed exactly.
    """
    counts, distances = table(rests, values)
    found = {}
    for rate in rates:
        law = chance(len(rests), rate, kind)
        weights = np.log(counts @ np.array([float(law.get(k, 0)) for k in range(len(rests) + 1)]))
        best, places = 0.0, list[tuple[float, int, int, int]]()
        for x in range(len(weights) - 1):
            scores = np.abs(weights[x] - weights[x + 1 :]) / distances[x, x + 1 :, None]
            if scores.max() > best - 1e-9:
                best = max(best, float(scores.max()))
                close = np.argwhere(scores > best - 1e-9)[:4]
                places += [(float(scores[y, w]), x, x + 1 + int(y), int(w)) for y, w in close]
        exact = Fraction(1)
        for score, x, y, w in places:
            if score > best - 1e-9:
                p, q = (sum(int(c) * law.get(k, 0) for k, c in enumerate(counts[i, w])) for i in (x, y))
                exact = max(exact, max(p / q, q / p) ** (60 // int(distances[x, y])))
        found[rate] = exact
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [4, 5, 6])
def test_the_claims_hold_for_all_patterns_of_distinct_and_repeated_values(n: int, kind: str, full: bool) -> None:
    attained = Counter[Fraction]()
    rates = RATES if full or n < 6 else RATES[1:5]
    for rests, values in worlds(n):
        # Exchanging the roles of rests and values turns a permutation into its inverse, which moves as many places.
        if labels_key(rests) > labels_key(values) or (n == 6 and len(set(rests)) == len(set(values)) == 6):
            continue
        everywhere = len(set(rests)) == n == len(set(values))
        for rate, found in worst(rests, values, rates, kind).items():
            bound = squared(rate, n, kind) ** 30
            assert found <= bound
            assert found == bound or not everywhere
            attained[rate] += found == bound
            if len(set(rests)) == 1 or len(set(values)) == 1:
                # Nothing can be exchanged: the stratum costs nothing and does not count for b.
                assert found == 1
    assert n == 6 or all(attained.values())


def labels_key(labels: Rest) -> tuple[int, ...]:
    return tuple(sorted(Counter(labels).values()))


def test_the_fast_table_counts_what_the_plain_one_counts() -> None:
    for rests, values in worlds(4):
        datasets = universe(rests, values)
        plain = [tuple(sorted(map(tuple, (ks.items() for ks in row.values())))) for row in ways(datasets).values()]
        counts, distances = table(rests, values)
        fast = [
            tuple(sorted(tuple((k, int(c)) for k, c in sorted(enumerate(cell)) if c) for cell in row if cell.any()))
            for row in counts
        ]
        assert sorted(fast) == sorted(tuple(sorted(tuple(sorted(pairs)) for pairs in row)) for row in plain)
        pairs = itertools.combinations(datasets, 2)
        assert sorted(distances[np.triu_indices(len(datasets), 1)].tolist()) == sorted(
            distance(*pair) for pair in pairs
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 3])
def test_strata_of_two_and_three(n: int, kind: str) -> None:
    for rate in RATES:
        tight = Fraction(1)
        for rests, values in worlds(n):
            tight = max(tight, worst(rests, values, [rate], kind)[rate])
        stated = swap_epsilon(rate=rate, largest_stratum=n, kind=kind)
        # Largest over strata of at most n records; smaller ones can be the worse.
        smaller = worst((0, 1), (0, 1), [rate], kind)[rate]
        expected = math.log(max(tight, smaller)) / 60
        assert expected <= stated.exact * (1 + 1e-12)
        assert stated.exact == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert stated.exact <= stated.theorem


@pytest.mark.parametrize("kind", KINDS)
def test_six_different_records(kind: str) -> None:
    """All pairs (σ, σ') of S₆ through ρ = σ'⁻¹σ: only how many places each moves matters."""
    seen = set()
    moved = dict(permutations(6))
    for rho, m in permutations(6):
        for sigma, k in permutations(6):
            seen.add((m, k, moved[tuple(sigma[i] for i in rho)]))
    seen = {(m, k, other) for m, k, other in seen if m}
    assert all(abs(k - other) <= m for m, k, other in seen)
    assert (2, 6, 4) in seen
    assert (2, 0, 2) in seen
    for rate in RATES:
        law = chance(6, rate, kind)
        largest = max((law[k] / law[other]) ** (60 // m) for m, k, other in seen)
        assert largest == squared(rate, 6, kind) ** 30


@pytest.mark.parametrize("kind", KINDS)
def test_two_strata_cost_as_much_as_the_larger(kind: str) -> None:
    """Independent strata: log-ratios and distances both add up, so the mean cannot exceed the larger."""
    small, large = ways(universe((0, 1), (0, 1))), ways(universe((0, 1, 2, 3), (0, 1, 2, 3)))
    for rate in RATES[1::2]:
        laws = [chance(2, rate, kind), chance(4, rate, kind)]
        rows = [
            {x: {w: sum(c * law[k] for k, c in ks.items()) for w, ks in row.items()} for x, row in reached.items()}
            for reached, law in zip((small, large), laws, strict=True)
        ]
        bound = squared(rate, 4, kind) ** 30
        largest = Fraction(1)
        for (x, y), (u, v) in itertools.product(
            itertools.product(rows[0], repeat=2), itertools.combinations(rows[1], 2)
        ):
            d = distance(x, y) + distance(u, v)
            ratio = max(rows[0][x][w] / rows[0][y][w] for w in rows[0]) * max(
                max(rows[1][u][w] / rows[1][v][w], rows[1][v][w] / rows[1][u][w]) for w in rows[1]
            )
            largest = max(largest, ratio ** (60 // d))
        assert largest == bound


def mechanism(datasets: list[Dataset], rate: Fraction, kind: str) -> Mechanism:
    law = chance(len(datasets[0]), rate, kind)
    return Mechanism(
        {
            x: {w: sum((c * law[k] for k, c in ks.items()), Fraction(0)) for w, ks in row.items()}
            for x, row in ways(datasets).items()
        }
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rests", "values"), [((0, 1, 2, 3), (0, 1, 2, 3)), ((0, 0, 1, 1), (0, 1, 1, 2))])
def test_the_specification_holds_on_the_finite_world(rests: Rest, values: Rest, kind: str) -> None:
    """The same by the project's own checker: invariants as scope, the Hamming distance, pure privacy."""
    world = domain.Finite(datasets=universe(rests, values), columns=["rest", "value"])
    invariants = scope.Invariants.counts(["rest"], ["value"])
    assert len(invariants.universes(world)) == 1
    for rate in RATES[:4]:
        stated = swap_epsilon(rate=rate, largest_stratum=4, kind=kind)
        spec = Specification(
            domain=world, scope=invariants, unit=unit.Hamming(), standard=standard.Pure(), intensity=stated.intensity
        )
        verdict = spec.tightest(mechanism(universe(rests, values), rate, kind))
        assert spec.holds(mechanism(universe(rests, values), rate, kind))
        # Distances are at least 2 inside a universe, which is why the release is worth e^{2ε} to one person.
        assert verdict.intensity <= stated.exact
        if len(set(rests)) == 4:
            assert stated.exact == pytest.approx(verdict.intensity, rel=1e-15)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rests", [(0, 1, 2, 3), (0, 0, 1, 1)])
def test_several_columns_are_one_value(rests: Rest, kind: str) -> None:
    """A tract and its block move together: the claim for pairs, with the counts by both columns as an invariant."""

    def as_rows(dataset: Dataset) -> tuple[tuple[int, int, int], ...]:
        return tuple(sorted((rest, value // 2, value) for rest, value in dataset))

    datasets = universe(rests, (0, 1, 2, 3))
    world = domain.Finite(datasets=[as_rows(x) for x in datasets], columns=["rest", "tract", "block"])
    invariants = scope.Invariants.counts(["rest"], ["tract", "block"])
    assert len(invariants.universes(world)) == 1
    for rate in RATES[:4]:
        stated = swap_epsilon(rate=rate, largest_stratum=4, kind=kind)
        spec = Specification(
            domain=world, scope=invariants, unit=unit.Hamming(), standard=standard.Pure(), intensity=stated.intensity
        )
        drawn = mechanism(datasets, rate, kind)
        rows = {as_rows(x): {as_rows(w): drawn.row(x)[w] for w in drawn.row(x)} for x in datasets}
        assert spec.holds(Mechanism(rows))
        # The block alone moves: its tract stays, and tells where it came from; no ε holds for the counts above.
        torn: dict[object, dict[object, Fraction]] = {}
        for x in datasets:
            out: Counter[object] = Counter()
            for p, moved in permutations(4):
                seen = tuple(sorted((x[i][0], x[i][1] // 2, x[p[i]][1]) for i in range(4)))
                out[seen] += chance(4, rate, kind)[moved]
            torn[as_rows(x)] = dict(out)
        assert spec.tightest(Mechanism(torn)).intensity == math.inf


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_invariants_no_epsilon_is_enough(kind: str) -> None:
    rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
    world = domain.Finite.multisets(rows, 2, columns=["rest", "value"])
    law = {x: mechanism(universe(*zip(*x, strict=True)), Fraction(1, 2), kind).row(x) for x in world.datasets}
    release = Mechanism(law)

    def tightest(where: scope.Scope, what: unit.Unit) -> float:
        spec = Specification(domain=world, scope=where, unit=what, standard=standard.Pure(), intensity=1)
        return spec.tightest(release).intensity

    assert tightest(scope.Invariants.counts(["rest"], ["value"]), unit.Hamming()) <= 1
    assert tightest(scope.Everything(), unit.Hamming()) == math.inf
    # One of the two tables alone is not enough either.
    assert tightest(scope.Invariants.counts(["rest"]), unit.Hamming()) == math.inf
    assert tightest(scope.Invariants.counts(["value"]), unit.Hamming()) == math.inf


@pytest.mark.parametrize("kind", KINDS)
def test_households_move_as_one(kind: str) -> None:
    """Households of several people: a record of the claim is a household, whose rest is the list of its members."""
    families = [(("a", 30),), (("a", 30), ("b", 2)), (("c", 70), ("c", 71)), (("d", 40),)]
    for rate in RATES[:3]:
        law = chance(4, rate, kind)
        datasets = universe((0, 1, 2, 3), (0, 0, 1, 2))
        # People-level output: each member with the household's value; households are not told apart in it.
        people = {w: tuple(sorted((m, value) for rest, value in w for m in families[rest])) for w in datasets}
        rows: dict[Dataset, dict[object, Fraction]] = {}
        for x, row in ways(datasets).items():
            out: Counter[object] = Counter()
            for w, ks in row.items():
                out[people[w]] += sum((c * law[k] for k, c in ks.items()), Fraction(0))
            rows[x] = dict(out)
        for x, y in itertools.combinations(datasets, 2):
            for seen in set(rows[x]) | set(rows[y]):
                ratio = rows[x][seen] / rows[y][seen]
                assert max(ratio, 1 / ratio) ** (60 // distance(x, y)) <= squared(rate, 4, kind) ** 30


def test_row_order_leaks_unless_it_is_shuffled() -> None:
    """A sorted file: records leave in the order in which they came, by value. Their places tell who moved.

    Two people differ in their rest and in their value. The file lists them by the value that they had, so that the
    output is a vector: it shows the old values whatever the swap did, and no ε holds.
    """
    people = universe((0, 1), (0, 1))

    def sorted_file(x: Dataset) -> dict[object, Fraction]:
        first, second = sorted(x, key=lambda record: record[1])
        kept, moved = (first, second), ((first[0], second[1]), (second[0], first[1]))
        law = chance(2, Fraction(1, 2), "derangement")
        return {kept: law[0], moved: law[2]}

    spec = Specification(
        domain=domain.Finite(datasets=people, columns=["rest", "value"]),
        scope=scope.Invariants.counts(["rest"], ["value"]),
        unit=unit.Hamming(),
        standard=standard.Pure(),
        intensity=0,
    )
    leaking = Mechanism({x: sorted_file(x) for x in people})
    assert spec.tightest(leaking).intensity == math.inf
    # The same rows as a multiset, which is what a shuffle leaves to be seen: at p = 1/2 two records cost nothing.
    shuffled = leaking.map(lambda w: tuple(sorted(w)))
    assert spec.holds(shuffled)


# Misprints of the seed on swapping, entered in docs/errata.md.


def test_randomly_permuting_and_deranging_are_different_mechanisms() -> None:
    """Two records, p = 1/2: the slide's algorithm box costs ½·ln 7, the listing's (a derangement) costs nothing."""
    rate = Fraction(1, 2)
    derangement, uniform = (worst((0, 1), (0, 1), [rate], kind)[rate] for kind in ("derangement", "uniform"))
    assert derangement == 1
    assert uniform == Fraction(7) ** 30
    # At rates near 1 it is the other way round: one falls to 0, the other grows without bound.
    high = Fraction(99, 100)
    derangement, uniform = (
        worst((0, 1, 2, 3), (0, 1, 2, 3), [high], kind)[high] for kind in ("derangement", "uniform")
    )
    assert derangement == Fraction(99) ** 60
    assert uniform < 2**60


def test_the_budget_of_the_normalised_renyi_metric_is_the_root_of_rho() -> None:
    """D_nor(P, Q) = sup √(D_α/α) = √ρ. For P = (3/4, 1/4) and Q reversed, ρ is below 1, so √ρ is above ρ."""
    p, q = (0.75, 0.25), (0.25, 0.75)
    found = standard.ZCDP().least([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)])
    rho = float(found.upper)
    orders = [1 + 10 ** (i / 40) for i in range(-120, 80)]
    divergences = [
        math.log(sum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))) / (alpha - 1) for alpha in orders
    ]
    metric = max(math.sqrt(d / alpha) for d, alpha in zip(divergences, orders, strict=True))
    # The supremum is approached as α falls to 1; the grid ends at 1.001.
    assert metric <= math.sqrt(rho) * (1 + 1e-9)
    assert metric > 0.99 * math.sqrt(rho)
    assert metric > 1.2 * rho


def test_the_cumulative_budget_of_2020_contains_the_first() -> None:
    """15.29 is not the cost of the demographic file alone: 2.63 + 12.66, composed."""
    first, second = (
        Specification(
            domain=domain.Tables(columns={"person": "text", "block": "text"}),
            scope=scope.Invariants({"totals": "state populations"}),
            unit=unit.Replace(),
            standard=standard.ZCDP(),
            intensity=rho,
        )
        for rho in ("2.63", "12.66")
    )
    assert first.compose(second).intensity == Fraction("15.29")
