"""Answers from a list in the catalogue: randomized response, exponential, permute-and-flip, sparse vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final

from quincunx.audit.self_audit.additive import EPSILONS
from quincunx.audit.self_audit.entry import Entry, in_bulk, one_at_a_time
from quincunx.mechanisms import Exponential, PermuteAndFlip, RandomizedResponse, SparseVector

ROOM: Final = "choices"
_SLOW: Final = "Drawn one at a time, as it is used: fewer draws."
# The part of the draws asked for that a choice drawn by itself gets, beside those drawn in bulk.
_BY_ITSELF: Final = Fraction(1, 20)


def entries() -> Iterator[Entry]:
    """Randomized response with two options and with three, two ways of selecting, and the sparse vector technique."""
    yield from _responses()
    for made in (_flipped, _exponential):
        for epsilon in EPSILONS:
            yield made(epsilon)
        yield made("1", by_itself=True)
    yield from _sparse()


def _responses() -> Iterator[Entry]:
    for epsilon in EPSILONS:
        for options in (2, 3):
            mechanism = RandomizedResponse.calibrate(epsilon=epsilon, options=options)
            yield Entry(
                name=f"RandomizedResponse, ε = {epsilon}, {options} options",
                room=ROOM,
                covers=("RandomizedResponse",),
                pair=(0, options - 1),
                words="one respondent with another answer",
                claim=f"epsilon={epsilon}",
                tight=True,
                draw=in_bulk(mechanism),
            )
    coin = RandomizedResponse(probability="0.75")

    def estimated(answers: Any) -> float:
        return float(coin.estimate(coin.sample(list(answers))).value)

    yield Entry(
        name="Estimate, from three randomized responses",
        room=ROOM,
        covers=("Estimate", "RandomizedResponse"),
        pair=((1, 1, 0), (1, 1, 1)),
        words="one of three respondents with another answer",
        claim=coin.loss,
        tight=False,
        draw=one_at_a_time(estimated),
        share=Fraction("0.02"),
        why=f"An estimate adds up what the others said, which hides the one. {_SLOW}",
    )


def _flipped(epsilon: str, *, by_itself: bool = False) -> Entry:
    # The worse of two candidates is taken with probability e^{−gap/scale}/2, so the ratio of two gaps is e^ε exactly.
    return _selecting(
        PermuteAndFlip(scale=2 / Fraction(epsilon)),
        epsilon,
        ((0, 0), (1, -1)),
        "two candidates whose scores move apart",
        tight=True,
        why="",
        by_itself=by_itself,
    )


def _exponential(epsilon: str, *, by_itself: bool = False) -> Entry:
    # A candidate of probability q moves by about (1 − q)·ε: here q is about 1/50.
    gap = round(8 / Fraction(epsilon))
    strong = Fraction(epsilon) >= Fraction(1, 2)
    needed = "" if strong else " So weak a law needs far more draws for that."
    return _selecting(
        Exponential(scale=2 / Fraction(epsilon)),
        epsilon,
        ((0, gap), (1, gap - 1)),
        "two candidates, one far behind, whose scores come closer",
        tight=strong,
        why=f"Its ε is a limit of ever less likely candidates: this pair attains 94 to 98 % of it.{needed}",
        by_itself=by_itself,
    )


def _selecting(
    mechanism: Exponential | PermuteAndFlip,
    epsilon: str,
    pair: tuple[Any, Any],
    words: str,
    *,
    tight: bool,
    why: str,
    by_itself: bool,
) -> Entry:
    kind = type(mechanism).__name__
    return Entry(
        name=f"{kind}, ε = {epsilon}" + (", single" if by_itself else ""),
        room=ROOM,
        covers=(kind,),
        pair=pair,
        words=words,
        claim=f"epsilon={epsilon}",
        # A single choice is drawn by other code than a table of them; few draws do not come as close.
        tight=tight and not by_itself,
        draw=one_at_a_time(lambda scores: mechanism.sample(list(scores))) if by_itself else in_bulk(mechanism),
        share=_BY_ITSELF if by_itself else Fraction(1),
        why=f"{why} {_SLOW}".lstrip() if by_itself else why,
    )


def _sparse() -> Iterator[Entry]:
    once = SparseVector(threshold=1, threshold_scale=2, query_scale=4)
    same = SparseVector(threshold=1, threshold_scale=4, query_scale=4, aboves=3, monotone=True)
    apart = "six values, of which the first five grow and the last falls"
    listed = _listed(lambda values: once.sample(list(values)).tolist())
    yield _sparse_entry("a list of values", "epsilon=1", ((0,) * 6, (1, 1, 1, 1, 1, -1)), apart, listed, Fraction(1))
    # Monotone: ε = 1/4 + 3·1/4.
    several = _listed(lambda values: same.sample(list(values)).tolist())
    yield _sparse_entry("three above", "epsilon=1", ((0,) * 6, (1,) * 6), "six values that grow", several)

    def asked(values: Any) -> list[bool]:
        session, found = once.start(), []
        for value in values:
            found.append(session.ask(value))
            if not session.remaining:
                break
        return found

    yield _sparse_entry("a session", "epsilon=1", ((0,) * 6, (1, 1, 1, 1, 1, -1)), apart, _listed(asked))


def _listed(answers: Callable[[Any], list[bool]]) -> Callable[[Any], int]:
    """The answers as one number: a leading 1, then a binary digit for each."""
    return lambda values: int("1" + "".join("1" if above else "0" for above in answers(values)), 2)


def _sparse_entry(
    rest: str,
    claim: str,
    pair: tuple[Any, Any],
    words: str,
    function: Callable[[Any], int],
    share: Fraction = _BY_ITSELF,
) -> Entry:
    return Entry(
        name=f"SparseVector, {rest}",
        room=ROOM,
        covers=("SparseVector", "SparseVectorSession"),
        pair=pair,
        words=words,
        claim=claim,
        tight=False,
        draw=one_at_a_time(function),
        share=share,
        why="Its ε is a limit of ever more values." + ("" if share == 1 else f" {_SLOW}"),
    )
