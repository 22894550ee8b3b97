"""Three ways in which k-anonymous tables give away what they hide: homogeneity, intersection, and Mondrian's boxes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.attack.credit_scores import BANDS, COMPANY, EMPLOYEES, band
from quincunx.attack.intruder import Learnt, Release, from_classes, from_counts
from quincunx.attack.mondrian import mondrian as boxes_of
from quincunx.attack.people import DIAGNOSES, SCORES, People, people
from quincunx.attack.story import Story
from quincunx.attack.words import percent
from quincunx.chart import Axis, Bar, Chart, Line, bars, lines
from quincunx.mechanisms import DiscreteLaplace
from quincunx.numbers import amount

__all__ = ["homogeneity", "intersection", "mondrian"]

Ints = NDArray[np.int64]
_EPSILONS: Final = (Fraction(1, 10), Fraction(1), Fraction(10))
_KS: Final = (2, 5, 10, 25)
_DRAWS: Final = 20_000
_REPEATS: Final = 20
_CHAPTER: Final = (
    "F. Fioretto, P. Van Hentenryck, J. Ziani, Overview and fundamental techniques, in Differential privacy in "
    "artificial intelligence, 2025, section 1.2.2"
)
_MACHANAVAJJHALA: Final = (
    "A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, ℓ-diversity: privacy beyond k-anonymity, ICDE 2006"
)
_GANTA: Final = (
    "S. R. Ganta, S. Kasiviswanathan, A. Smith, Composition attacks and auxiliary information in data privacy, KDD 2008"
)
_LEFEVRE: Final = "K. LeFevre, D. J. DeWitt, R. Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006"


# Homogeneity.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marcia:
    """How often her band is guessed. right: from her group's counts. without: the same if she is left out. alone:
    from her own row, by somebody who subtracts all others. limit: what ε allows, all bands being equally likely."""

    right: float
    without: float
    alone: float
    limit: float


def homogeneity(*, series: int) -> Story:
    """The chapter's first table: nobody can be told apart, and every band is certain."""
    groups: dict[tuple[str, str], list[int]] = {}
    for row in EMPLOYEES:
        groups.setdefault((row.place, row.age), []).append(band(row.score))
    certain = sum(len(found) for found in groups.values() if len(set(found)) == 1)
    tried = {epsilon: _guessed(epsilon, groups["30***", "30-40"]) for epsilon in _EPSILONS}
    return Story(
        name="homogeneity",
        title="Four people cannot be told apart, and all four have a fair credit score",
        published="A table of eight state employees, 4-anonymous: zip code 30*** or 19***, age 30-40 or 60-70, and the "
        "credit score of each row.",
        known="Where Marcia lives, how old she is, and that she is in the table. As printed, her zip code is 19456, "
        "which does not generalise to 30***; the story goes on with the printed row.",
        recovered="Her row is one of four, with scores 650, 590, 597 and 613. All are from 580 to 669, the band Fair, "
        f"so Marcia's is. The other four, from 755 to 797, are all Very good. The band is certain for {certain} of 8.",
        columns=("released", "band certain", "guess right", "if left out", "from her row", "limit"),
        rows=(
            ("4-anonymous table", f"{certain} of 8", *(percent(1, 1),) * 3, "none"),
            *(
                (
                    f"counts by band, ε = {amount(epsilon)}",
                    "0 of 8",
                    *(percent(share, 1) for share in (each.right, each.without, each.alone, each.limit)),
                )
                for epsilon, each in tried.items()
            ),
            ("nothing", "0 of 8", *(percent(1 / len(BANDS), 1),) * 4),
        ),
        figures={
            "band certain": certain,
            "lowest score of the class": min(row.score for row in EMPLOYEES if row.place == "30***"),
            "highest score of the class": max(row.score for row in EMPLOYEES if row.place == "30***"),
            **{f"right at ε = {amount(e)}": each.right for e, each in tried.items()},
            **{f"right if left out at ε = {amount(e)}": each.without for e, each in tried.items()},
            **{f"right from her row alone at ε = {amount(e)}": each.alone for e, each in tried.items()},
            **{f"limit at ε = {amount(e)}": each.limit for e, each in tried.items()},
            "series": series,
        },
        charts={"homogeneity": _homogeneity_chart(tried)},
        lesson="k-anonymity hides which row is yours, not what is in it. With noise nothing is certain; a guess from a "
        "group's counts is right about as often if you stay out, and ε limits what your own row adds, even to somebody "
        "who knows all others. At ε = 10 that limit is no protection.",
        sources=(_MACHANAVAJJHALA, _CHAPTER),
    )


def _guessed(epsilon: Fraction, found: list[int]) -> _Marcia:
    """Counts of five bands in her group with discrete Laplace noise, drawn anew each time."""
    mechanism = DiscreteLaplace.calibrate(epsilon=epsilon)
    truth, bands = band(613), len(BANDS)
    others = np.bincount(found, minlength=bands) - np.eye(bands, dtype=np.int64)[truth]
    noise = mechanism.sample(np.zeros((_DRAWS, bands), dtype=np.int64))
    seen = noise + others
    seen[:, truth] += 1
    # Knowing the others, a band is more likely than not exactly if at least one more is seen than they explain.
    above = seen - others >= 1
    ties = np.maximum(above.sum(axis=1), 1)
    alone = np.where(above.any(axis=1), above[:, truth] / ties, 1 / bands)
    # Her band unknown is replace, two counts: the odds against each other band grow at most by e^{2ε}.
    return _Marcia(
        right=float((seen.argmax(axis=1) == truth).mean()),
        without=float(((noise + others).argmax(axis=1) == truth).mean()),
        alone=float(alone.mean()),
        limit=1 / (1 + (bands - 1) * math.exp(-2 * float(epsilon))),
    )


def _homogeneity_chart(tried: dict[Fraction, _Marcia]) -> Chart:
    names = ("Marcia is in the table", "she is left out", "from her row alone")
    shares = [("4-anonymous table", (1.0, 1.0, 1.0))]
    shares += [(f"noisy counts, ε = {amount(e)}", (m.right, m.without, m.alone)) for e, m in reversed(tried.items())]
    shares.append(("nothing released", (1 / len(BANDS),) * 3))
    data = [
        Bar(label=label, value=100 * share, series=series, text=percent(share))
        for label, each in shares
        for series, share in zip(names, each, strict=True)
    ]
    return bars(
        data,
        title="The 4-anonymous table makes Marcia's credit band certain; noise at ε = 1 or below does not",
        x="guesses of Marcia's band that are right (%)",
        note=f"Five bands; {_DRAWS:,} draws for each ε. What the group of four says is almost the same without Marcia. "
        "Her row alone: for somebody who knows and subtracts all others, and found all bands equally likely.",
    )


# Intersection.

_SHARED, _ALONE, _MOST_RELEASES = 500, 4_500, 4


def intersection(*, series: int) -> Story:
    """The chapter's two tables, then four companies that share 500 clients."""
    matches = sorted({row.score for row in EMPLOYEES if (row.place, row.age) == ("30***", "30-40")} & _company_scores())
    everybody = people(np.random.default_rng((9, series)), _SHARED + _MOST_RELEASES * _ALONE)
    companies = [everybody.rows(_clients(number)) for number in range(_MOST_RELEASES)]
    kinds = np.array([band(score) for score in range(SCORES[0], SCORES[1] + 1)], dtype=np.int64)
    broken = {k: [from_classes(tables, kinds=kinds) for tables in _growing(companies, k)] for k in _KS}
    noisy = {epsilon: _noisy(companies, kinds, epsilon) for epsilon in _EPSILONS}
    base = float(np.bincount(kinds[everybody.score[:_SHARED] - SCORES[0]]).max() / _SHARED)
    return Story(
        name="intersection",
        title="Two 4-anonymous tables have one score in common: Marcia's",
        published="Two 4-anonymous tables with exact credit scores, of state employees and of clients of Company Z. "
        f"Then, generated: {_MOST_RELEASES} companies with {_SHARED + _ALONE:,} clients each, made k-anonymous by age, "
        "sex, zip code, years at school and people at home.",
        known=f"That Marcia is in both tables; of {_SHARED} generated people their attributes, and that they are "
        "clients of every company.",
        recovered=f"Both tables have a row 30***, 30-40 with score {matches[0]}, and no other score in common: it is "
        "Marcia's. Of the generated people one 5-anonymous table tells the exact score of "
        f"{percent(broken[5][0].certain)}, two of {percent(broken[5][1].certain)}, and four of "
        f"{percent(broken[5][3].certain)}.",
        columns=("released", "sure: 1 table", "2 tables", "4 tables", "band guessed", "if left out"),
        rows=(
            ("the chapter's, 4-anonymous", "no", "613", "", "", ""),
            *((f"{k}-anonymous tables", *_told(broken[k])) for k in _KS),
            *((f"counts by band, ε = {amount(e)} each", *_told(noisy[e])) for e in _EPSILONS),
            ("nothing", *(percent(0, 1),) * 3, *(percent(base, 1),) * 2),
        ),
        figures={
            "score in common": matches[0],
            "scores in common": len(matches),
            **{f"certain, k = {k}, {n + 1} tables": each.certain for k in _KS for n, each in enumerate(broken[k])},
            **{f"band right at ε = {amount(e)}, 4 tables": noisy[e][3].right for e in _EPSILONS},
            **{f"band right if left out at ε = {amount(e)}, 4 tables": noisy[e][3].without for e in _EPSILONS},
            "commonest band": base,
        },
        charts={"intersection": _intersection_chart(broken)},
        lesson="Each k-anonymous table keeps its promise; together they keep none. Losses of noisy tables add up: four "
        "at ε = 1 are one at ε = 4, a number that is known beforehand and that a ledger can hold to a budget.",
        sources=(_GANTA, _CHAPTER),
    )


def _company_scores() -> set[int]:
    return {row.score for row in COMPANY}


def _clients(number: int) -> Ints:
    """The 500 whom every company has, and 4,500 of its own."""
    return np.concatenate([np.arange(_SHARED), _SHARED + number * _ALONE + np.arange(_ALONE)])


def _growing(companies: list[People], k: int) -> list[list[Release]]:
    asked = np.arange(_SHARED)
    tables = [
        Release(part=boxes_of(each.known, k).label, secret=each.score - SCORES[0], asked=asked) for each in companies
    ]
    return [tables[:count] for count in range(1, len(tables) + 1)]


def _noisy(companies: list[People], kinds: Ints, epsilon: Fraction) -> list[Learnt]:
    tables = [Release(part=c.cell, secret=kinds[c.score - SCORES[0]], asked=np.arange(_SHARED)) for c in companies]
    return [
        from_counts(tables[:count], secrets=len(BANDS), epsilon=epsilon, repeats=_REPEATS)
        for count in range(1, len(tables) + 1)
    ]


def _told(learnt: list[Learnt]) -> tuple[str, ...]:
    last = learnt[-1]
    shares = (learnt[0].certain, learnt[1].certain, last.certain, last.right, last.without)
    return tuple(percent(share, 1) for share in shares)


def _intersection_chart(broken: dict[int, list[Learnt]]) -> Chart:
    counts = range(1, _MOST_RELEASES + 1)
    drawn = [
        Line(label=f"k = {k}", points=[(n, 100 * each.certain) for n, each in zip(counts, broken[k], strict=True)])
        for k in _KS
    ]
    drawn.append(Line(label="noisy counts, any ε", points=[(n, 0) for n in counts]))
    return lines(
        drawn,
        title="One k-anonymous table tells almost nobody's score; four tell most people's, up to k = 10",
        x=Axis(title="tables released about the same person", ticks={n: str(n) for n in counts}),
        y="shared clients whose exact score is certain (%)",
        note=f"Companies with {_SHARED + _ALONE:,} clients, {_SHARED} of them in common. Mondrian boxes; scores from "
        "300 to 850.",
    )


# Mondrian.

_TOWN, _SAMPLE = 12_000, 8_000


def mondrian(*, series: int) -> Story:
    """A generated town with one diagnosis each, cut into boxes of k people."""
    draw = np.random.default_rng((10, series))
    everybody = people(draw, _TOWN)
    kinds = np.arange(len(DIAGNOSES))
    cut = {k: from_classes([_boxed(everybody, k, np.arange(_TOWN))], kinds=kinds) for k in _KS}
    again = {k: _second(everybody, k) for k in _KS}
    whole = Release(part=everybody.cell, secret=everybody.diagnosis, asked=np.arange(_TOWN))
    noisy = {e: from_counts([whole], secrets=len(DIAGNOSES), epsilon=e, repeats=_REPEATS) for e in _EPSILONS}
    base = float(np.bincount(everybody.diagnosis).max() / _TOWN)
    return Story(
        name="mondrian",
        title=f"In a table cut into boxes of at least two, {percent(cut[2].two)} of diagnoses are one of two or known",
        published=f"A table of {_TOWN:,} generated people with one of {len(DIAGNOSES)} diagnoses each. Mondrian made "
        "it k-anonymous by age, sex, zip code, years at school and people at home, in boxes as small as k allows.",
        known="The five attributes of a person, and that they are in the table.",
        recovered=f"At k = 2 the diagnosis is certain for {percent(cut[2].certain, 1)} and one of two for "
        f"{percent(cut[2].two - cut[2].certain)}; a second table that shares half of its people makes "
        f"{percent(again[2].certain)} certain. The best guess at k = 5 is right for {percent(cut[5].right)}; without "
        f"the person's own row, for {percent(cut[5].without)}. So it is the row that tells.",
        columns=("released", "certain", "one of two", "sure with a 2nd", "guess right", "if left out"),
        rows=(
            *((f"{k}-anonymous table", *_shown(cut[k], again[k].certain)) for k in _KS),
            *((f"counts, ε = {amount(e)}", *_shown(noisy[e], 0.0)) for e in _EPSILONS),
            ("nothing", *(percent(0, 1),) * 3, *(percent(base, 1),) * 2),
        ),
        figures={
            **{f"certain, k = {k}": cut[k].certain for k in _KS},
            **{f"one of two, k = {k}": cut[k].two for k in _KS},
            **{f"certain with a second table, k = {k}": again[k].certain for k in _KS},
            **{f"guess right, k = {k}": cut[k].right for k in _KS},
            **{f"guess right if left out, k = {k}": cut[k].without for k in _KS},
            **{f"guess right at ε = {amount(e)}": noisy[e].right for e in _EPSILONS},
            **{f"guess right if left out at ε = {amount(e)}": noisy[e].without for e in _EPSILONS},
            "commonest diagnosis": base,
        },
        charts={"mondrian": _mondrian_chart(cut, noisy, base)},
        lesson="Whatever a small box says about its people, it says about you. Counts with noise teach what is true of "
        "people like you, almost equally well without you: at most e^ε times as often right.",
        sources=(_LEFEVRE, _GANTA, _MACHANAVAJJHALA),
    )


def _boxed(rows: People, k: int, asked: Ints) -> Release:
    return Release(part=boxes_of(rows.known, k).label, secret=rows.diagnosis, asked=asked)


def _second(everybody: People, k: int) -> Learnt:
    """Two tables of 8,000 rows, 4,000 of them the same people: the first 4,000 of each."""
    half = _SAMPLE // 2
    first = everybody.rows(np.arange(_SAMPLE))
    second = everybody.rows(np.concatenate([np.arange(half), np.arange(_SAMPLE, _SAMPLE + half)]))
    tables = [_boxed(each, k, np.arange(half)) for each in (first, second)]
    return from_classes(tables, kinds=np.arange(len(DIAGNOSES)))


def _shown(learnt: Learnt, again: float) -> tuple[str, ...]:
    return tuple(percent(share, 1) for share in (learnt.certain, learnt.two, again, learnt.right, learnt.without))


def _mondrian_chart(cut: dict[int, Learnt], noisy: dict[Fraction, Learnt], base: float) -> Chart:
    told = [(f"boxes of at least {k}", cut[k]) for k in _KS]
    told += [(f"noisy counts, ε = {amount(e)}", noisy[e]) for e in reversed(_EPSILONS)]
    data = [
        Bar(label=label, value=100 * share, series=series, text=percent(share, 0))
        for label, each in told
        for series, share in (("with your row", each.right), ("without it", each.without))
    ]
    return bars(
        data,
        title="From small boxes your diagnosis is guessed because your row is in them",
        x="diagnoses guessed right (%)",
        note=f"{_TOWN:,} generated people, {len(DIAGNOSES)} diagnoses; the commonest has {percent(base)}. Counts are "
        "of diagnoses by sex, ten years of age and district.",
    )
