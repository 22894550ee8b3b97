"""Block: tables of counts about a few neighbours, and the neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, log10
from statistics import median
from typing import Final

import numpy as np

from quincunx.attack.consistent import Ints, Reconstruction, best_guess
from quincunx.attack.fitting import fit_block, reconstruct_block
from quincunx.attack.garfinkel import reconstruct_seven
from quincunx.attack.gibbs import believed_guess
from quincunx.attack.population import blocks, state_shares, tables, words
from quincunx.attack.story import Story
from quincunx.attack.summaries import Found, Summary, reconstruct_people
from quincunx.attack.words import percent
from quincunx.chart import Axis, Chart, Line, lines
from quincunx.mechanisms import DiscreteGaussian
from quincunx.numbers import amount

# The story itself is told by `quincunx.attack.run`.
__all__ = ["Found", "Reconstruction", "Summary", "fit_block", "reconstruct_block", "reconstruct_people"]

BLOCKS: Final = 20
EPSILONS: Final = (Fraction(1, 2), Fraction(1), Fraction(5), Fraction(10), Fraction(20), Fraction(50))
DELTA: Final = Fraction(1, 10**6)
# Noisy tables are fitted for this many blocks.
_FITTED: Final = 10
_SOURCES: Final = (
    "S. Garfinkel, J. M. Abowd, C. Martindale, Understanding database reconstruction attacks on public data (2018), "
    "doi:10.1145/3291276.3295691",
    "J. M. Abowd and others, The 2010 census confidentiality protections failed, here's how and why (2023), "
    "arXiv:2312.11283",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """What the first tables give away. numbers: how many counts they hold for one block. populations: how many agree,
    block by block. certain: the share of people in every one of them. guessed: the share that the best guess names.
    """

    numbers: int
    populations: tuple[int, ...]
    certain: float
    guessed: float

    @property
    def pinned(self) -> float:
        """The share of blocks with one population only."""
        return sum(each == 1 for each in self.populations) / len(self.populations)


def story(*, series: int) -> Story:
    """Publish one table after the other about all blocks; then all tables with noise, about the first ones."""
    made, published = blocks(BLOCKS, series=series), tables()
    levels = [level(made, tuple(table.rows for table in published[: 1 + k])) for k in range(len(published))]
    fitted = made[:_FITTED]
    chance = named_by_state(fitted)
    source = np.random.default_rng((series, 2020))
    noisy = {epsilon: named_from_noise(fitted, epsilon, source) for epsilon in EPSILONS}
    everyone, last = sum(int(each.sum()) for each in made), levels[-1]
    one = Fraction(1)
    seven, alone = reconstruct_seven()
    rows = [("nothing: the state's shares and the number of people", "none", "", "", percent(chance))]
    for k, found in enumerate(levels):
        name = published[k].name if k == 0 else f"and {published[k].name}"
        agree = power(median(found.populations))
        rows.append((name, "none", agree, percent(found.certain), percent(found.guessed)))
    for epsilon, (_, known) in noisy.items():
        rows.append(("Quincunx: all five, with noise", f"ε = {amount(epsilon)}", "", "", percent(known)))
    example = words(int(np.flatnonzero(made[0])[0]))
    return Story(
        name="block",
        title=f"Five tables of counts name {percent(last.certain)} of the people with certainty; under ε = 1 the best "
        f"guess from them names {percent(noisy[one][1])}, and a guess without them {percent(chance)}",
        published=f"Five tables for each of {BLOCKS} blocks of 7 to 30 people, like those of the 2010 census: "
        f"{'; '.join(table.name for table in published)}. Each block has {last.numbers} counts. "
        f"With noise, and without any table, the first {_FITTED} of the blocks are tried.",
        known="How common each kind of person is in the state, and how many people live on the block.",
        recovered=f"With all five tables {percent(last.pinned)} of the blocks have one population that agrees, "
        f"and every person there is known by sex, age group, race and origin, as “{example}”. With the first table "
        f"alone, {power(median(levels[0].populations))} populations agree on the middle block, and nobody is certain. "
        f"The example of the literature, seven statistics with means and medians, has "
        f"{'one solution' if alone else 'several solutions'}: {', '.join(seven)}.",
        columns=("published", "guarantee", "populations that agree (middle block)", "certain", "named right"),
        rows=tuple(rows),
        figures={
            "blocks": BLOCKS,
            "blocks under noise": _FITTED,
            "people": everyone,
            "counts for each block": last.numbers,
            **{f"certain, {k + 1} tables": found.certain for k, found in enumerate(levels)},
            **{f"named, {k + 1} tables": found.guessed for k, found in enumerate(levels)},
            **{f"pinned, {k + 1} tables": found.pinned for k, found in enumerate(levels)},
            "named by the state's shares": chance,
            "the seven of the literature": " ".join(seven),
            "they are the only ones": str(alone),
            **{f"closest, ε = {amount(epsilon)}": both[0] for epsilon, both in noisy.items()},
            **{f"guessed, ε = {amount(epsilon)}": both[1] for epsilon, both in noisy.items()},
        },
        charts={
            "block_tables": _by_tables(levels),
            "block_populations": _populations(levels),
            "block_noise": _by_noise(noisy, chance, last.guessed),
        },
        lesson="A table of small counts is its people in another order: each leaves many populations possible, and all "
        "together leave one. Only noise for all tables together helps. What is left then is what everyone may guess "
        "about anyone from the state's shares.",
        sources=_SOURCES,
    )


def power(number: float) -> str:
    """A number of populations in words: whole up to 9,999, then the nearest power of ten."""
    return f"{int(number):,}" if number < 10_000 else f"about 10^{round(log10(number))}"


def level(made: list[Ints], rows: tuple[Ints, ...]) -> Level:
    """What these tables give away about these blocks."""
    stacked, shares = np.vstack(rows), state_shares()
    found = [reconstruct_block(stacked, stacked @ block, shares=shares) for block in made]
    everyone = sum(int(block.sum()) for block in made)
    return Level(
        numbers=len(stacked),
        populations=tuple(each.solutions for each in found),
        certain=sum(each.certain for each in found) / everyone,
        guessed=sum(overlap(each.guess, block) for each, block in zip(found, made, strict=True)) / everyone,
    )


def overlap(guess: tuple[int, ...], block: Ints) -> int:
    """How many people a guess names correctly: those in both, kind by kind."""
    return int(np.minimum(guess, block).sum())


def named_by_state(made: list[Ints]) -> float:
    """The share of people named by the best guess from the state's shares and the number of people alone."""
    everyone = sum(int(block.sum()) for block in made)
    return sum(overlap(_guess_of(int(block.sum())), block) for block in made) / everyone


def _guess_of(size: int) -> tuple[int, ...]:
    shares = state_shares().tolist()
    return best_guess({kind: _tails(size, share) for kind, share in enumerate(shares)}, len(shares))


def _tails(size: int, share: float) -> list[float]:
    """P(X ≥ k) for k = 1 … size, X binomial."""
    chances = [comb(size, k) * share**k * (1 - share) ** (size - k) for k in range(size + 1)]
    return [sum(chances[k:]) for k in range(1, size + 1)]


def noise_for(epsilon: Fraction) -> DiscreteGaussian:
    """The noise on every count of all five tables together, for (ε, 10^-6) and replacing one person.

    Replacing a person lowers one count and raises one in each table: ℓ2 distance² at most 2·5.
    """
    return DiscreteGaussian.calibrate(sensitivity2=2 * len(tables()), epsilon=epsilon, delta=DELTA)


def named_from_noise(made: list[Ints], epsilon: Fraction, source: np.random.Generator) -> tuple[float, float]:
    """The shares of people named from noisy tables: by the closest population, and by the best guess."""
    stacked, shares, noise = np.vstack([table.rows for table in tables()]), state_shares(), noise_for(epsilon)
    closest = guessed = everyone = 0
    for block in made:
        told = noise.sample(stacked @ block)
        near = fit_block(stacked, told, people=int(block.sum()))
        best = believed_guess(stacked, told, variance=float(noise.sigma2), shares=shares, start=near, source=source)
        closest, guessed = closest + overlap(near, block), guessed + overlap(best, block)
        everyone += int(block.sum())
    return closest / everyone, guessed / everyone


def _by_tables(levels: list[Level]) -> Chart:
    def line(label: str, shares: list[float]) -> Line:
        return Line(label=label, points=[(k + 1, 100 * share) for k, share in enumerate(shares)])

    return lines(
        [
            line("people named by the best guess", [each.guessed for each in levels]),
            line("people known with certainty", [each.certain for each in levels]),
            line("blocks with one population only", [each.pinned for each in levels]),
        ],
        title=f"Five tables of counts leave no doubt about {percent(levels[-1].certain)} of the people",
        x=Axis(
            title="tables published",
            ticks={
                1: "sex by age",
                2: "+ race by origin",
                3: "+ of adults",
                4: "+ sex by age by race",
                5: "+ by origin",
            },
        ),
        y=Axis(title="share (%)", ticks={y: str(y) for y in range(0, 101, 20)}),
        note=f"{BLOCKS} generated blocks of 7 to 30 people; sex, 23 age groups, 7 races, Hispanic origin. Certain: in "
        "every population that agrees with all counts published, by exact enumeration.",
    )


def _populations(levels: list[Level]) -> Chart:
    def line(label: str, numbers: list[float]) -> Line:
        return Line(label=label, points=[(k + 1, max(1.0, each)) for k, each in enumerate(numbers)])

    return lines(
        [
            line("the block with most", [float(max(each.populations)) for each in levels]),
            line("the middle block", [float(median(each.populations)) for each in levels]),
        ],
        title="Each table of counts rules out most of the populations that were still possible",
        x=Axis(title="tables published", ticks={k + 1: str(k + 1) for k in range(len(levels))}),
        y=Axis(
            title="populations that agree with all tables (how many)",
            scale="log",
            ticks={10.0**k: f"10^{k}" if k else "1" for k in range(0, 41, 10)},
        ),
        note=f"{BLOCKS} generated blocks of 7 to 30 people, 644 kinds of people; exact numbers.",
    )


def _by_noise(noisy: dict[Fraction, tuple[float, float]], chance: float, exact: float) -> Chart:
    xs = [float(epsilon) for epsilon in noisy]
    return lines(
        [
            Line(
                label="best guess from the noisy tables",
                points=[(float(e), 100 * both[1]) for e, both in noisy.items()],
            ),
            Line(label="closest population", points=[(float(e), 100 * both[0]) for e, both in noisy.items()]),
            Line(
                label="guess from the state's shares, no tables",
                points=[(xs[0], 100 * chance), (xs[-1], 100 * chance)],
                marks=False,
            ),
            Line(label="exact tables", points=[(xs[0], 100 * exact), (xs[-1], 100 * exact)], marks=False),
        ],
        title=f"Under ε = 1 the best guess from noisy tables names {percent(noisy[Fraction(1)][1])}, without tables "
        f"{percent(chance)}",
        x=Axis(title="ε for all five tables together, δ = 10⁻⁶", scale="log", ticks={x: f"{x:g}" for x in xs}),
        y=Axis(title="people named right (%)", ticks={y: str(y) for y in range(0, 101, 20)}),
        note=f"The first {_FITTED} of the {BLOCKS} generated blocks of 7 to 30 people. Discrete Gaussian noise on "
        "every count. Everyone knows how many people live there. The closest population is an integer program; the "
        "best guess also weighs how common people are in the state.",
    )
