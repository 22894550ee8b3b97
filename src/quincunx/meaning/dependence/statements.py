"""How far one output moves a belief about one record, enumerated: what ε promises under dependence and what not.

The conditional statement (everyone else's records known) always holds; the marginal one (nothing known) holds under
independence; with chambers it always holds. Proofs: statements.md and chambers.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import lcm, prod
from operator import itemgetter
from typing import TypeAlias

from quincunx.errors import MatrixError, ParameterError, PrivacyError
from quincunx.finite import Mechanism
from quincunx.meaning.dependence.chambers import chamber, intensity
from quincunx.meaning.dependence.joint import MOST, Joint, Label, Records
from quincunx.meaning.dependence.judgement import Judgement, Moved
from quincunx.numbers import Exact, Log
from quincunx.spec import at_most

# For each dataset the probabilities of the outputs, in their order, in whole parts of one common denominator.
_Rows: TypeAlias = Mapping[Records, tuple[int, ...]]


def farthest(mechanism: Mechanism, joint: Joint, *, record: int, known: Iterable[int] = (), by: str = "ratio") -> Moved:
    """The belief about one record that some output moves by the largest factor, for someone who knows some others.

    known: the numbers of the records known; their values are those for which the belief moves most. by: "ratio", the
    factor is posterior/prior, or "odds", it is the same of the odds, which is the likelihood ratio and never smaller.
    """
    place = joint.place(record)
    return _most(_moved(_rows(mechanism, joint), mechanism, joint, place, _known(joint, place, known)), _by(by))


def conditional(
    mechanism: Mechanism, joint: Joint, *, epsilon: object = None, record: int | None = None, by: str = "ratio"
) -> Judgement:
    """Is π(X_i | T, all others)/π(X_i | all others) within e^{±ε}? Yes for every prior if the mechanism is ε-DP.

    epsilon: by default the mechanism's own, for one record replaced. record: i; by default every record is asked about.
    by: as for `farthest`.
    """
    rows, bound = _rows(mechanism, joint), _bound(mechanism, joint, epsilon)
    found = []
    for i in _asked(joint, record):
        others = tuple(j for j in range(joint.records) if j != i)
        found.append((1, _most(_moved(rows, mechanism, joint, i, others), _by(by))))
    return _judged("conditional", by, bound, found)


def marginal(
    mechanism: Mechanism, joint: Joint, *, epsilon: object = None, record: int | None = None, by: str = "ratio"
) -> Judgement:
    """Is π(X_i | T)/π(X_i) within e^{±ε}? Not in general; parameters as for `conditional`."""
    rows, bound = _rows(mechanism, joint), _bound(mechanism, joint, epsilon)
    found = [(1, _most(_moved(rows, mechanism, joint, i, ()), _by(by))) for i in _asked(joint, record)]
    return _judged("marginal", by, bound, found)


def chambered(
    mechanism: Mechanism,
    joint: Joint,
    *,
    epsilon: object = None,
    record: int | None = None,
    known: Iterable[int] = (),
    by: str = "ratio",
) -> Judgement:
    """Is the factor within e^{±c·ε}, c the size of the record's chamber? Yes for every prior if the mechanism is ε-DP.

    known: records that are known; for each of their values the chamber is that of the prior given them. Other
    parameters as for `conditional`; with `known`, say which record is asked about.
    """
    rows, bound, places = _rows(mechanism, joint), _bound(mechanism, joint, epsilon), tuple(known)
    found = []
    for i in _asked(joint, record):
        for facts, part in _cases(joint, _known(joint, i, places)):
            moved = _most(_moved(rows, mechanism, part, i, ()), _by(by))
            found.append((chamber(part, i).size, replace(moved, known=facts)))
    return _judged("chamber", by, bound, found)


def _judged(statement: str, by: str, epsilon: Exact, found: list[tuple[int, Moved]]) -> Judgement:
    broken = [(size, moved) for size, moved in found if not _within(moved.spread(by), epsilon, size)]
    witness = _most([moved for _, moved in broken or found], by)
    size = next(size for size, moved in found if moved is witness)
    return Judgement(statement=statement, by=by, epsilon=epsilon, size=size, holds=not broken, witness=witness)


def _within(spread: Fraction | None, epsilon: Exact, size: int) -> bool:
    return spread is not None and at_most(Log(spread), epsilon, Fraction(size)) is True


def _most(found: Iterable[Moved], by: str) -> Moved:
    """The first belief of those that move most; an infinite factor is None."""
    ranked = [(moved.spread(by), moved) for moved in found]
    return max(ranked, key=lambda each: (each[0] is None, each[0] or 0))[1]


def _by(by: str) -> str:
    if by not in ("ratio", "odds"):
        raise ParameterError('must be "ratio" or "odds"', where="by", got=repr(by)[:40])
    return by


def _cases(joint: Joint, known: tuple[int, ...]) -> Iterator[tuple[tuple[tuple[int, Label], ...], Joint]]:
    """What the known records may be, with the prior given that."""
    for values in joint.sums(known):
        facts = tuple(zip(known, values, strict=True))
        yield facts, joint.given(dict(facts)) if facts else joint


def _moved(rows: _Rows, mechanism: Mechanism, joint: Joint, record: int, known: tuple[int, ...]) -> Iterator[Moved]:
    """For each case and value, the output that moves the belief most up and the one that moves it most down."""
    for facts, part in _cases(joint, known):
        before = part.sums((record,))
        # seen[value][o]: Σ of weight × P(output o | dataset) over the datasets in which the record has the value.
        seen = {value: [0] * len(mechanism.outputs) for (value,) in before}
        for x, weight in part.cells:
            sums = seen[x[record]]
            for o, p in enumerate(rows[x]):
                sums[o] += weight * p
        every = [sum(column) for column in zip(*seen.values(), strict=True)]
        for (value,), weight in before.items():
            beliefs = [(Fraction(seen[value][o], total), o) for o, total in enumerate(every) if total]
            # Of outputs that move it alike, the first.
            for posterior, o in (max(beliefs, key=itemgetter(0)), min(beliefs, key=itemgetter(0))):
                yield Moved(
                    record=record,
                    value=value,
                    output=mechanism.outputs[o],
                    known=facts,
                    prior=Fraction(weight, part.total),
                    posterior=posterior,
                )


def _rows(mechanism: Mechanism, joint: Joint) -> _Rows:
    if not mechanism.exact:
        hint = "Give probabilities as rationals; ε may be the logarithm of one."
        raise MatrixError("only exact worlds can be judged", where="mechanism", got="balls", hint=hint)
    inputs = set(mechanism.inputs)
    missing = [x for x, _ in joint.cells if x not in inputs]
    if missing:
        got, hint = f"no row for {len(missing)} of {len(joint.cells)} tuples", "Inputs are the tuples of the prior."
        raise MatrixError("the mechanism does not know a dataset of the prior", where="mechanism", got=got, hint=hint)
    laws = {x: [Fraction(p) for p in mechanism.law(x) if isinstance(p, Fraction)] for x, _ in joint.cells}
    parts = lcm(*(p.denominator for law in laws.values() for p in law))
    return {x: tuple(int(p * parts) for p in law) for x, law in laws.items()}


def _bound(mechanism: Mechanism, joint: Joint, epsilon: object) -> Exact:
    """ε as given, or the smallest for which the mechanism is ε-DP when one record is replaced."""
    if epsilon is not None:
        return intensity(epsilon)
    choices = [joint.values(i) for i in range(joint.records)]
    if prod(len(each) for each in choices) > MOST:
        raise ParameterError("too many datasets to compare", where="epsilon", hint="State the mechanism's ε.")
    worst = Fraction(1)
    # A bound for c records needs the datasets between two of them, also those of prior probability 0.
    for x in product(*choices):
        law = mechanism.law(x)
        for i, values in enumerate(choices):
            for other in (mechanism.law((*x[:i], value, *x[i + 1 :])) for value in values):
                for p, q in zip(law, other, strict=True):
                    if p != 0 and q == 0:
                        hint = "An output that one dataset makes impossible reveals that it is not that one."
                        raise PrivacyError("the mechanism has no finite ε", where="mechanism", hint=hint)
                    if p != 0 and isinstance(p, Fraction) and isinstance(q, Fraction):
                        worst = max(worst, p / q)
    return Log(worst)


def _asked(joint: Joint, record: int | None) -> range | list[int]:
    return range(joint.records) if record is None else [joint.place(record)]


def _known(joint: Joint, record: int, known: Iterable[int]) -> tuple[int, ...]:
    places = tuple(sorted({joint.place(j) for j in known}))
    if record in places:
        hint = "Only other records can be known beforehand."
        raise ParameterError("the record asked about cannot be known", where="known", got=str(record), hint=hint)
    return places
