"""The misprints of the documents this library was built from, each with its smallest counterexample.

`docs/errata.md` tells the same in words and links here. Every check is exact, or certified by balls.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import pytest

from quincunx.errors import QuincunxWarning
from quincunx.finite import Mechanism, parallel, sequential
from quincunx.mechanisms import DiscreteLaplace, Laplace, RandomizedResponse
from quincunx.numbers import Ball, Log, ball, precision
from quincunx.spec import Specification, domain, scope, standard, unit

HALF = Fraction(1, 2)


def expectation(p: Fraction, truth: tuple[int, ...], estimator: Callable[[tuple[int, ...]], Fraction]) -> Fraction:
    """The exact mean of an estimator over every pattern of responses under randomized response."""
    law = sequential(*(RandomizedResponse(probability=p).finite().on(lambda _, x=x: x, [truth]) for x in truth))
    return sum((chance * estimator(answers) for answers, chance in law.row(truth).items()), Fraction(0))  # type: ignore[arg-type, operator]


# The chapter: "Overview and Fundamental Techniques", 2025.


def test_lemma_1_18_corrects_once_instead_of_once_per_respondent() -> None:
    p = Fraction(3, 4)

    def printed(answers: tuple[int, ...]) -> Fraction:
        return (sum(answers) + p - 1) / ((2 * p - 1) * len(answers))

    def right(answers: tuple[int, ...]) -> Fraction:
        return sum((answer + p - 1 for answer in answers), Fraction(0)) / ((2 * p - 1) * len(answers))

    # With one respondent the two agree; two respondents are the smallest counterexample.
    assert expectation(p, (0,), printed) == 0
    assert expectation(p, (0, 0), printed) == Fraction(1, 4)
    mechanism = RandomizedResponse(probability=p)
    for n in (1, 2, 3, 4):
        for truth in itertools.product((0, 1), repeat=n):
            assert expectation(p, truth, right) == Fraction(sum(truth), n)
            assert expectation(p, truth, lambda a: mechanism.estimate(a).value) == Fraction(sum(truth), n)


def test_lemma_1_18_calls_the_chance_of_the_truth_the_chance_of_a_flip() -> None:
    # e^ε = 3: the definition tells the truth with probability p = 3/4; the sentence before the lemma flips with it.
    world = RandomizedResponse(probability="3/4").finite()
    assert world.probability(1, 0) == Fraction(1, 4) != Fraction(3, 4)


def test_lemma_1_18_bounds_a_distance_by_a_negative_number() -> None:
    p, n, beta = Fraction(3, 4), 4, Fraction(1, 20)
    with precision(128):
        printed = ball(1 / beta).sqrt() / (2 * ball(1 - 2 * p) * ball(Fraction(n)).sqrt())
        right = ball(1 / beta).sqrt() / (2 * ball(2 * p - 1) * ball(Fraction(n)).sqrt())
    # Every distance is at least a negative number, so the printed event has probability 1, not β.
    assert printed < 0
    # Chebyshev with p(1 − p) ≤ 1/4: our half-width never exceeds the corrected bound.
    assert RandomizedResponse(probability=p).error(beta=beta, size=n) <= float(right.upper())


def test_one_plus_e_to_epsilon_tends_to_two() -> None:
    with precision(128):
        small = ball(Fraction(1, 10**6)).exp()
    assert abs(1 + small - 2) < 1.1e-6
    assert abs(1 + small - 1) > 0.9
    # And it is e^ε − 1, not 1 − e^ε, that is near ε.
    assert abs((small - 1) - 1e-6) < 1e-11
    assert 1 - small < 0


def neighbours(rows: int, columns: int) -> Iterator[tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]]:
    records = list(itertools.product((0, 1), repeat=columns))
    for data in itertools.product(records, repeat=rows):
        for place in range(rows):
            for record in records:
                yield data, (*data[:place], record, *data[place + 1 :])


def squared_sensitivity(rows: int, columns: int) -> Fraction:
    """The largest squared ℓ2 distance between means of tables that differ in one row."""
    largest = Fraction(0)
    for data, other in neighbours(rows, columns):
        moved = [sum(a) - sum(b) for a, b in zip(zip(*data, strict=True), zip(*other, strict=True), strict=True)]
        largest = max(largest, sum((Fraction(step, rows) ** 2 for step in moved), Fraction(0)))
    return largest


@pytest.mark.parametrize(("rows", "columns"), [(2, 1), (2, 2), (3, 2), (2, 3)])
def test_the_l2_sensitivity_of_a_mean_is_root_d_over_n(rows: int, columns: int) -> None:
    found = squared_sensitivity(rows, columns)
    assert found == Fraction(columns, rows**2)
    # Printed: √(d/n), whose square is d/n.
    assert found < Fraction(columns, rows)


def test_the_gaussian_scale_falls_with_n_not_with_its_root() -> None:
    # Definition 1.11 takes σ² = 2·ln(1.25/δ)·Δ₂²/ε², so σ² follows the enumerated Δ₂².
    fewer, more = squared_sensitivity(2, 2), squared_sensitivity(4, 2)
    assert fewer / more == 2**2
    # As printed, σ² would be d·ln(1/δ)/(nε): twice the people would only halve it.
    assert fewer / more != 2


def test_theorem_1_9_keeps_a_product_that_would_give_e_to_d_epsilon() -> None:
    epsilon, here, there = HALF, (0, 0), (1, 0)
    distance = sum(abs(a - b) for a, b in zip(here, there, strict=True))
    right = sum((epsilon * abs(a - b) for a, b in zip(here, there, strict=True)), Fraction(0))
    printed = sum((epsilon * distance for _ in here), Fraction(0))
    assert right == epsilon
    assert printed == 2 * epsilon
    # The theorem itself holds: the enumerated two-coordinate world needs ε, not 2ε.
    part = DiscreteLaplace(scale=1 / epsilon).finite([0, 1], reach=12)
    world = sequential(part.on(lambda x: x[0], [here, there]), part.on(lambda x: x[1], [here, there]))
    with precision(256):
        least = standard.Pure().least(world.law(here), world.law(there))
        assert abs(least.upper - ball(right)) < 1e-30
        assert least.upper < ball(printed)


@pytest.mark.parametrize("beta", ["0.5", "0.05", "1e-6"])
def test_theorem_1_10_holds_in_the_sup_norm_and_fails_in_l1(beta: str) -> None:
    risk, d = Fraction(beta), 2
    with precision(256):
        t = ball(d / risk).log()
        one = (-t).exp()
        # |Z_i|/b is exponential: the largest of two exceeds t with 1 − (1 − e^{−t})², their sum with e^{−t}(1 + t).
        largest, total = 1 - (1 - one) ** d, one * (1 + t)
        assert largest <= ball(risk)
        assert total > ball(risk)


def test_theorem_1_10_is_an_upper_bound_for_the_error_of_many_answers() -> None:
    mechanism = Laplace(scale=2, step="1/1000")
    with precision(128):
        bound = float((ball(Fraction(7) / Fraction(1, 20)).log() * 2).upper())
    # The union bound is a little longer than the exact quantile, and the lattice adds at most one step.
    assert bound * 0.99 < mechanism.error(beta="0.05", size=7) <= bound + 0.001


def test_theorem_1_16_plugs_in_delta_for_beta() -> None:
    epsilon, sensitivity, best, size = HALF, Fraction(3), Fraction(7), 4
    beta, delta = Fraction(1, 20), Fraction(1, 3)

    def proved(b: Fraction) -> Ball:
        """The last line of the proof, |ℋ|·exp(ε(c − OPT)/2Δs), at c = OPT − (2Δs/ε)·ln(|ℋ|/b)."""
        c = ball(best) - ball(2 * sensitivity / epsilon) * ball(size / b).log()
        return size * (ball(epsilon / (2 * sensitivity)) * (c - ball(best))).exp()

    with precision(128):
        assert abs(proved(beta) - ball(beta)) < 1e-30
        assert proved(delta) > ball(beta)


@pytest.mark.parametrize("scores", [(0, 1), (0, 0, 9), (3, 1, 4, 1, 5)])
def test_theorem_1_16_itself_holds_with_beta(scores: tuple[int, ...]) -> None:
    # Δs = 1, ε = 1: weights e^{s/2}.
    with precision(128):
        weights = [ball(Fraction(score, 2)).exp() for score in scores]
        for beta in (Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000)):
            floor = max(scores) - 2 * ball(len(scores) / beta).log()
            low = sum((w for w, score in zip(weights, scores, strict=True) if Ball(score) < floor), Ball(0))
            assert low / sum(weights, Ball(0)) <= ball(beta)


AGES = (0, 50, 100)


def mean(data: tuple[int, ...]) -> Fraction:
    return Fraction(sum(data), len(data))


def largest_change(world: domain.Finite, step: unit.Unit) -> Fraction:
    return max(abs(mean(x) - mean(y)) for x, y, _ in step.protected_pairs(world.datasets, world))  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_average_age_moves_by_100_over_n_when_n_is_public(n: int) -> None:
    assert largest_change(domain.Finite.multisets(AGES, n), unit.Replace()) == Fraction(100, n)


def test_the_average_age_has_no_sensitivity_100_over_n_under_add_remove() -> None:
    # The global sensitivity is a maximum over all datasets, and {0} and {0, 100} are neighbours: 50, not 0.01.
    worlds = domain.Finite.multisets(AGES, range(1, 5))
    assert largest_change(worlds, unit.AddRemove()) == 50 > Fraction(100, 10_000)


def test_noise_scaled_by_a_private_n_gives_no_epsilon_at_all() -> None:
    epsilon = HALF

    def log_tail(n: int, m: int) -> Fraction:
        """ln P(answer ≥ 100 + m) + ln 2 where all n people are 100: Laplace of scale 100/(nε) around 100."""
        return -m * n * epsilon / 100

    # {100} and {100, 100} have the same average; the scale alone tells them apart, without bound.
    ratios = [log_tail(1, m) - log_tail(2, m) for m in (0, 100, 200, 10_000)]
    assert ratios == [0, epsilon, 2 * epsilon, 100 * epsilon]


TABLE_1_1 = {
    "Rick": ("19456", 67, "19***", "60-70"),
    "Nathan": ("30309", 33, "30***", "30-40"),
    "Yani": ("19445", 64, "19***", "60-70"),
    "Xiao": ("30457", 35, "30***", "30-40"),
    "Luciana": ("19456", 67, "19***", "60-70"),
    "Anastasia": ("30271", 38, "30***", "30-40"),
    "Marcia": ("19456", 31, "30***", "30-40"),
    "Yuki": ("19456", 62, "19***", "60-70"),
}


def test_table_1_1_generalises_marcia_to_a_zip_code_she_does_not_have() -> None:
    wrong = [name for name, (code, _, printed, _) in TABLE_1_1.items() if code[:2] + "***" != printed]
    assert wrong == ["Marcia"]
    groups: dict[tuple[str, str], list[str]] = {}
    for name, (code, _, _, decade) in TABLE_1_1.items():
        groups.setdefault((code[:2] + "***", decade), []).append(name)
    # Generalised from the original, she is alone: the table is 1-anonymous, not 4-anonymous.
    assert groups["19***", "30-40"] == ["Marcia"]
    assert sorted(map(len, groups.values())) == [1, 3, 4]


def test_table_1_1_has_two_people_with_the_same_zip_code_and_age() -> None:
    pairs = [(code, age) for code, age, _, _ in TABLE_1_1.values()]
    assert {pair for pair in pairs if pairs.count(pair) > 1} == {("19456", 67)}
    assert TABLE_1_1["Rick"][:2] == TABLE_1_1["Luciana"][:2]


# The slides: "Five Building Blocks of Differential Privacy", 2025.

ODDS = Fraction(3)  # e^ε; p = 3/4
Prior = Mapping[tuple[int, ...], Fraction]


def likelihood_ratio(prior: Prior, answers: tuple[int, ...], odds: Fraction = ODDS) -> Fraction:
    """P(T = answers | X_1 = 1)/P(T = answers | X_1 = 0) under randomized response, by summing over the prior."""
    p = odds / (1 + odds)

    def given(first: int) -> Fraction:
        weights = {x: weight for x, weight in prior.items() if x[0] == first and weight}
        chance = {x: Fraction(1) for x in weights}
        for x in weights:
            for truth, answer in zip(x, answers, strict=True):
                chance[x] *= p if truth == answer else 1 - p
        return sum((weights[x] * chance[x] for x in weights), Fraction(0)) / sum(weights.values(), Fraction(0))

    return given(1) / given(0)


def pairs(t11: int, t10: int, t01: int, t00: int) -> dict[tuple[int, ...], Fraction]:
    total = t11 + t10 + t01 + t00
    return {
        (1, 1): Fraction(t11, total),
        (1, 0): Fraction(t10, total),
        (0, 1): Fraction(t01, total),
        (0, 0): Fraction(t00, total),
    }


@pytest.mark.parametrize("weights", [(1, 1, 1, 1), (1, 0, 0, 1), (3, 1, 2, 4), (1, 5, 5, 1), (7, 0, 1, 2)])
def test_lr_1_1_multiplies_by_e_to_epsilon(weights: tuple[int, int, int, int]) -> None:
    prior = pairs(*weights)
    one, zero = prior[1, 1] + prior[1, 0], prior[0, 1] + prior[0, 0]
    right = (ODDS * prior[1, 1] / one + prior[1, 0] / one) / (prior[0, 1] / zero + prior[0, 0] / zero / ODDS)
    assert likelihood_ratio(prior, (1, 1)) == right


def test_lr_1_1_as_printed_misses_independent_people() -> None:
    # Two fair independent people: the answer of the second says nothing, so the ratio is e^ε = 3.
    prior = pairs(1, 1, 1, 1)
    assert likelihood_ratio(prior, (1, 1)) == ODDS
    with precision(128):
        printed = ((ball(Log(ODDS)) * ball(HALF)).exp() + ball(HALF)) / ball(HALF + HALF / ODDS)
    assert printed > 3.34
    # The claim drawn from it is right: identical people give e^{2ε}.
    assert likelihood_ratio(pairs(1, 0, 0, 1), (1, 1)) == ODDS**2


@pytest.mark.parametrize("p", ["1/4", "1/3", "2/5", "3/5", "3/4"])
def test_epsilon_is_the_absolute_logit(p: str) -> None:
    chance = Fraction(p)
    odds = chance / (1 - chance)
    world = RandomizedResponse(probability=p).finite()
    least = standard.Pure().least(world.law(0), world.law(1))
    assert least.exact == Log(max(odds, 1 / odds))
    # Below 1/2 the printed ε = logit p is negative, which no mechanism satisfies.
    assert (odds < 1) == (chance < HALF)


def sets_of_others(count: int) -> Iterator[tuple[int, ...]]:
    others = range(1, count)
    return itertools.chain.from_iterable(itertools.combinations(others, size) for size in range(count))


def law_of(prior: Prior, places: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
    law: dict[tuple[int, ...], Fraction] = {}
    for x, weight in prior.items():
        key = tuple(x[place] for place in places)
        law[key] = law.get(key, Fraction(0)) + weight
    return law


def markov_boundary(prior: Prior, count: int) -> tuple[int, ...]:
    """The smallest set C with π(X_1 | everyone else) = π(X_1 | C), as the slides define the chamber."""
    everyone = tuple(range(count))
    for chosen in sets_of_others(count):
        whole, part = law_of(prior, everyone), law_of(prior, (0, *chosen))
        rest, known = law_of(prior, everyone[1:]), law_of(prior, chosen)
        fits = all(
            whole[x] * known[tuple(x[i] for i in chosen)] == part[x[0], *(x[i] for i in chosen)] * rest[x[1:]]
            for x in prior
            if rest[x[1:]]
        )
        if fits:
            return chosen
    raise AssertionError("everyone else is always such a set")


def chamber(prior: Prior, count: int) -> tuple[int, ...]:
    """The smallest set S such that X_1 is jointly independent of everyone outside S."""
    for chosen in sets_of_others(count):
        outside = tuple(i for i in range(1, count) if i not in chosen)
        both, first, rest = law_of(prior, (0, *outside)), law_of(prior, (0,)), law_of(prior, outside)
        if all(both.get((a, *b), Fraction(0)) == first[a,] * rest[b] for (a,) in first for b in rest):
            return chosen
    raise AssertionError("with everyone in S nobody is outside")


def full(prior: Prior, count: int) -> dict[tuple[int, ...], Fraction]:
    return {x: prior.get(x, Fraction(0)) for x in itertools.product((0, 1), repeat=count)}


def test_the_information_chamber_fails_for_three_identical_records() -> None:
    prior = full({(1, 1, 1): Fraction(1, 100), (0, 0, 0): Fraction(99, 100)}, 3)
    printed = 1 + len(markov_boundary(prior, 3))
    assert printed == 2
    ratio = likelihood_ratio(prior, (1, 1, 1))
    assert ratio == ODDS**3
    # Posterior over prior, as the slides bound it.
    gain = ratio / (ratio * Fraction(1, 100) + Fraction(99, 100))
    assert gain == Fraction(150, 7) > ODDS**printed
    corrected = 1 + len(chamber(prior, 3))
    assert corrected == 3
    assert gain <= ODDS**corrected


def chain(copy: Fraction) -> dict[tuple[int, ...], Fraction]:
    """X_1 — X_2 — X_3, each equal to the one before with probability `copy`."""
    prior = {}
    for x in itertools.product((0, 1), repeat=3):
        weight = HALF
        for a, b in itertools.pairwise(x):
            weight *= copy if a == b else 1 - copy
        prior[x] = weight
    return prior


def test_the_information_chamber_fails_for_a_chain() -> None:
    # No two records are identical here; one in a thousand differs from its neighbour.
    prior = chain(Fraction(999, 1000))
    assert markov_boundary(prior, 3) == (1,)
    assert chamber(prior, 3) == (1, 2)
    assert ODDS**2 < likelihood_ratio(prior, (1, 1, 1)) <= ODDS**3


PRIORS = [
    full({(1, 1, 1): Fraction(1, 100), (0, 0, 0): Fraction(99, 100)}, 3),
    chain(Fraction(999, 1000)),
    chain(HALF),
    full({(a ^ b, a, b): Fraction(1, 4) for a in (0, 1) for b in (0, 1)}, 3),
    full({(a, a, b): Fraction(1 + a, 6) for a in (0, 1) for b in (0, 1)}, 3),
    *(
        {x: Fraction(w, sum(weights)) for x, w in zip(itertools.product((0, 1), repeat=3), weights, strict=True)}
        for weights in [
            (1, 2, 3, 4, 5, 6, 7, 8),
            (1, 0, 0, 1, 0, 1, 1, 0),
            (9, 1, 1, 0, 0, 1, 1, 9),
            (0, 3, 0, 1, 5, 0, 2, 0),
        ]
    ),
]


@pytest.mark.parametrize("prior", PRIORS)
def test_the_corrected_chamber_bounds_every_answer(prior: Prior) -> None:
    limit = ODDS ** (1 + len(chamber(prior, 3)))
    for answers in itertools.product((0, 1), repeat=3):
        assert 1 / limit <= likelihood_ratio(prior, answers) <= limit


def test_the_corrected_chambers_differ_in_size() -> None:
    assert {len(chamber(prior, 3)) for prior in PRIORS} == {0, 1, 2}


# The course: "Differential Privacy", 2026.


def test_vectors_of_length_n_have_no_add_remove_neighbours() -> None:
    world = domain.Finite.vectors((0, 1), 3)
    assert not list(unit.AddRemove().protected_pairs(world.datasets, world))
    assert list(unit.Replace().protected_pairs(world.datasets, world))
    with pytest.warns(QuincunxWarning, match="no two datasets are at distance 1"):
        Specification(
            domain=world, scope=scope.Everything(), unit=unit.AddRemove(), standard=standard.Pure(), intensity=1
        )


def histogram(world: domain.Finite, epsilon: Fraction) -> Mechanism:
    cell = DiscreteLaplace(scale=1 / epsilon).finite(range(3), reach=6)
    return parallel([cell, cell], lambda x: (x.count("blond"), x.count("dark")), inputs=world.datasets)


@pytest.mark.parametrize(("step", "sizes", "factor"), [(unit.AddRemove(), (0, 1, 2), 1), (unit.Replace(), 2, 2)])
def test_a_histogram_costs_epsilon_under_add_remove_and_twice_that_under_replace(
    step: unit.Unit, sizes: object, factor: int
) -> None:
    epsilon = HALF
    world = domain.Finite.multisets(("blond", "dark"), sizes)  # type: ignore[arg-type]
    spec = Specification(domain=world, scope=scope.Everything(), unit=step, standard=standard.Pure(), intensity=epsilon)
    low, high = spec.tightest(histogram(world, epsilon)).bounds
    assert low <= factor * epsilon <= high
    assert high - low < 1e-12
