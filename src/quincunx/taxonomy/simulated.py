"""What a simulator must come close to, as bounds that are linear in it, and the answer that follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Final, TypeAlias

from quincunx.errors import WorldError
from quincunx.numbers import amount
from quincunx.spec import whole
from quincunx.taxonomy.adversary import priors_of
from quincunx.taxonomy.answer import Answer, Witness
from quincunx.taxonomy.case import Law, mixture
from quincunx.taxonomy.dataset import Coupling
from quincunx.taxonomy.simulate import CLOSE, Bound, Found, Simulator, least_factor, never
from quincunx.taxonomy.value import INFINITE, Value
from quincunx.taxonomy.world import World

_ZERO = Fraction(0)
MOST_ENTRIES: Final = 2_000
# Labels that matter give at least this part of an output, where a limit would have them give nothing.
_SHARE: Final = 10**4
# an output, the belief in a private value after it, and the weights of the labels: with that value, and all
Row: TypeAlias = tuple[int, Fraction, dict[str, Fraction], dict[str, Fraction]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A law, and the weights of the labels that the simulator sees in its place: the two must look alike."""

    law: Law
    weights: Mapping[str, Fraction]
    said: str

    def mixed(self, simulator: Simulator) -> list[Fraction]:
        """The law of the simulator's output."""
        labels = [label for label, w in self.weights.items() if w]
        return list(mixture([tuple(simulator[label]) for label in labels], [self.weights[label] for label in labels]))


def factor_of(p: Sequence[Fraction], q: Sequence[Fraction], delta: Fraction) -> tuple[Fraction | None, tuple[int, ...]]:
    """The smallest e^ε with P(S) ≤ e^ε·Q(S) + δ for all S, and the event; None is infinite."""
    from quincunx.spec import by_ratio, factor_outside

    return factor_outside(p, q, by_ratio(p, q), delta)


def simulated(
    comparisons: Sequence[Comparison], world: World, delta: Fraction = _ZERO, limit: Fraction | None = None
) -> Answer:
    """The smallest ε over all simulators, between certified ends; beyond ln(limit) only that it is beyond."""
    labels = tuple(dict.fromkeys(label for c in comparisons for label, w in c.weights.items() if w))
    size = len(comparisons[0].law)
    banned = frozenset(
        (label, o)
        for c in comparisons
        for label, w in c.weights.items()
        for o in range(size)
        if w and not c.law[o] and not delta
    )
    said = f"{len(comparisons)} laws"
    if not delta:
        blocked = any(all((label, o) in banned for o in range(size)) for label in labels)
        missing = next(
            (
                (c, o) for c in comparisons for o in range(size)
                if c.law[o] and all((label, o) in banned for label, w in c.weights.items() if w)
            ),
            None,
        )  # fmt: skip
        if blocked or missing is not None:
            where = (
                f": {missing[0].said} gives {_label(world, missing[1])}, which it must never give" if missing else ""
            )
            words = f"no simulator has the right support{where}"
            witness = Witness(first=said, second="", event=(), probability=(_ZERO, _ZERO), words=words)
            return Answer(
                shape="number", symbol="ε", values={"ε": INFINITE}, witness=witness, compared=len(comparisons)
            )

    elif never(labels, size, [_outside(c, delta) for c in comparisons]):
        words = f"every simulator gives, for some law, outputs that it cannot give with more than {delta}"
        witness = Witness(first=said, second="", event=(), probability=(_ZERO, _ZERO), words=words)
        return Answer(shape="number", symbol="ε", values={"ε": INFINITE}, witness=witness, compared=len(comparisons))

    def factor(simulator: Simulator) -> Fraction | None:
        worst: Fraction | None = Fraction(1)
        for c in comparisons:
            mixed = c.mixed(simulator)
            for p, q in ((c.law, mixed), (mixed, c.law)):
                here, _ = factor_of(p, q, delta)
                if here is None:
                    return None
                worst = max(worst, here) if worst is not None else here
        return worst

    singles = [bound for c in comparisons for o in range(size) for bound in _bounds(c, (o,), delta)]
    given: set[tuple[int, bool, tuple[int, ...]]] = set()

    def bounds(simulator: Simulator, t: Fraction) -> list[Bound]:
        """Every output by itself where δ = 0; otherwise the worst event of each comparison, as they come up."""
        found = []
        if not given:
            given.add((-1, False, ()))
            found += singles if not delta else []
        for i, c in enumerate(comparisons if delta else ()):
            mixed = c.mixed(simulator)
            for ahead, (p, q) in ((True, (c.law, mixed)), (False, (mixed, c.law))):
                event = tuple(o for o in range(size) if p[o] > t * q[o])
                if event and (i, ahead, event) not in given:
                    given.add((i, ahead, event))
                    found.append(_bounds(c, event, delta)[0 if ahead else 1])
        return found

    starts = [_average(comparisons, labels, size, banned), _even(labels, size, banned)]
    return _answer(least_factor(labels, size, bounds, factor, banned, starts, limit), comparisons, said)


def _outside(c: Comparison, delta: Fraction) -> Bound:
    """What the simulator gives and the law cannot is at most δ, whatever the factor."""
    places = {(label, o): (w, _ZERO) for label, w in c.weights.items() if w for o, p in enumerate(c.law) if not p}
    return Bound(constant=-delta, growing=_ZERO, entries=places)


def _bounds(c: Comparison, event: tuple[int, ...], delta: Fraction) -> tuple[Bound, Bound]:
    mass = sum((c.law[o] for o in event), _ZERO)
    places = {(label, o): w for label, w in c.weights.items() if w for o in event}
    ahead = Bound(constant=mass - delta, growing=_ZERO, entries={k: (_ZERO, -w) for k, w in places.items()})
    back = Bound(constant=-delta, growing=-mass, entries={k: (w, _ZERO) for k, w in places.items()})
    return ahead, back


def _average(
    comparisons: Sequence[Comparison], labels: Sequence[str], size: int, banned: frozenset[tuple[str, int]]
) -> Simulator:
    """Each label gives the average of the laws in which it occurs."""
    found: Simulator = {}
    for label in labels:
        row = [_ZERO] * size
        for c in comparisons:
            w = c.weights.get(label, _ZERO)
            row = [x + w * p for x, p in zip(row, c.law, strict=True)]
        row = [_ZERO if (label, o) in banned else x for o, x in enumerate(row)]
        total = sum(row, _ZERO)
        found[label] = [x / total for x in row] if total else _even([label], size, banned)[label]
    return found


def _even(labels: Sequence[str], size: int, banned: frozenset[tuple[str, int]]) -> Simulator:
    found: Simulator = {}
    for label in labels:
        free = [o for o in range(size) if (label, o) not in banned]
        found[label] = [Fraction(int(o in free), len(free)) for o in range(size)]
    return found


def _label(world: World, o: int) -> str:
    return world.outputs[o] if o < len(world.outputs) else str(o)


def _answer(found: Found, comparisons: Sequence[object], said: str) -> Answer:
    low = Value.log(found.lower).bounds[0]
    exact = found.upper is not None and found.upper == found.lower
    high = INFINITE if found.upper is None else Value.log(found.upper)
    value = high if exact else Value(bounds=(low, high.bounds[1]))
    words = "" if found.upper is None else f"a simulator with factor {amount(found.upper)} is known, and none below"
    if found.upper is not None:
        words += f" {amount(found.lower)} exists"
    witness = Witness(
        first=said, second="", event=(), probability=(_ZERO, _ZERO), words=words or "no simulator is close"
    )
    return Answer(shape="number", symbol="ε", values={"ε": value}, witness=witness, compared=len(comparisons))


def inferred(couplings: Sequence[tuple[str, Coupling]], world: World) -> Answer:
    """The smallest ε such that the beliefs about priv(D) after M(D) = O and after Sim(agg(D)) = O are alike.

    Under each prior the simulator gives every output that the mechanism gives, however rarely: else the second belief
    would not exist. What it gives and the mechanism never does is not compared.
    """
    size = len(world.outputs)
    labels = tuple(
        dict.fromkeys(label for _, c in couplings for law in c.aggregate.values() for label, w in law.items() if w)
    )
    if len(labels) * size > MOST_ENTRIES:
        got = f"{len(labels)} aggregates and {size} outputs"
        hint = f"Beliefs are decided up to {MOST_ENTRIES:,} entries of a simulator."
        raise WorldError("the simulator is too large", where="coupled", got=got, hint=hint)
    rows: list[Row] = []
    for _, weights in priors_of(world, "inference-based privacy").items():
        kept = [x for x in world.datasets if weights.get(x)]
        for _, pair in couplings:
            every = _seen(kept, weights, pair)
            for value in sorted({pair.private[x] for x in kept}):
                inside = [x for x in kept if pair.private[x] == value]
                part = _seen(inside, weights, pair)
                for o in range(size):
                    mass = sum((weights[x] * world.laws[x][o] for x in kept), _ZERO)
                    if mass:
                        rows.append(
                            (o, sum((weights[x] * world.laws[x][o] for x in inside), _ZERO) / mass, part, every)
                        )

    banned, bounds = _banned(rows), _once([each for row in rows for each in _both(*row)])
    said = f"{len(rows)} beliefs"
    given = list(dict.fromkeys((row[0], frozenset(row[3])) for row in rows))
    words = ""
    if any(all((label, o) in banned for o in range(size)) for label in labels):
        words = "whatever the simulator gives for some aggregate, a belief that was excluded is not"
    elif lost := [o for o, seen in given if all((label, o) in banned for label in seen)]:
        words = f"{_label(world, lost[0])} excludes a belief, and for no aggregate could a simulator give it"
    if words:
        witness = Witness(first=said, second="", event=(), probability=(_ZERO, _ZERO), words=words)
        return Answer(shape="number", symbol="ε", values={"ε": INFINITE}, witness=witness, compared=len(rows))
    starts = [{label: [Fraction(int(i == o)) for i in range(size)] for label in labels} for o in range(size)]
    starts.append(_even(labels, size, banned))
    found = [least_factor(labels, size, bounds, _Weighed(rows).factor, banned, starts)]
    found += [_given(o, seen, rows, banned) for o, seen in given]
    upper = None if any(each.upper is None for each in found) else max(each.upper or _ZERO for each in found)
    worst = Found(lower=max(each.lower for each in found), upper=upper, simulator=None)
    return _answer(worst, rows, said)


def _given(o: int, seen: frozenset[str], rows: Sequence[Row], banned: frozenset[tuple[str, int]]) -> Found:
    """The smallest factor at which a simulator gives one output at all to whom the labels `seen` may be shown.

    Bounds of an output are homogeneous in what each label gives it with, so that this is a law on the labels: a
    simulator that sees nothing. Labels that share no bound with these may give it or not.
    """
    near, size = set(seen), 0
    while len(near) > size:
        size = len(near)
        near |= {label for row in rows if row[0] == o and near & row[3].keys() for label in row[3]}
    free = sorted(label for label in near if (label, o) not in banned)
    some = [row for row in rows if row[0] == o and near & row[3].keys()]
    weighed, never = _Weighed(some), [_ZERO] * o

    def factor(given: Simulator) -> Fraction | None:
        table = dict.fromkeys(near, _ZERO) | dict(zip(free, given[""], strict=True))
        if not any(table[label] for label in seen):
            return None
        return weighed.factor({label: [*never, share] for label, share in table.items()})

    def bound(entries: Mapping[str, tuple[Fraction, Fraction]]) -> Bound:
        places = {("", free.index(label)): entry for label, entry in entries.items() if label in free}
        return Bound(constant=_ZERO, growing=_ZERO, entries=places)

    alike = [
        bound({label: entry for (label, _), entry in each.entries.items()}) for row in some for each in _both(*row)
    ]
    starts: list[Simulator] = [{"": [Fraction(int(i == j)) for j in range(len(free))]} for i in range(len(free))]
    starts.append({"": [Fraction(1, len(free))] * len(free)})
    found = least_factor(("",), len(free), _once(alike), factor, frozenset(), starts)
    if found.upper is not None and found.upper <= found.lower * (1 + CLOSE):
        return found
    # The best may be a limit at which the labels that matter give nothing: let them give a share.
    shared = bound({label: (Fraction(-_SHARE if label in seen else 1), _ZERO) for label in near})
    other = least_factor(("",), len(free), _once([*alike, shared]), factor, frozenset(), starts)
    uppers = [each.upper for each in (found, other) if each.upper is not None]
    return Found(lower=found.lower, upper=min(uppers) if uppers else None, simulator=None)


def _banned(rows: Sequence[Row]) -> frozenset[tuple[str, int]]:
    """What a simulator must never give for a label: where a belief of 0 would not stay 0, or another would become 0."""
    found = {(label, o) for o, belief, part, _ in rows if not belief for label in part}
    while True:
        emptied = [(o, every) for o, belief, part, every in rows if belief and all((a, o) in found for a in part)]
        more = {(label, o) for o, every in emptied for label in every} - found
        if not more:
            return frozenset(found)
        found |= more


def _once(bounds: list[Bound]) -> Callable[[Simulator, Fraction], list[Bound]]:
    """Bounds that are all given at the first call."""
    left = [bounds]

    def given(simulator: Simulator, t: Fraction) -> list[Bound]:
        del simulator, t
        return left.pop() if left else []

    return given


def _both(o: int, belief: Fraction, part: Mapping[str, Fraction], every: Mapping[str, Fraction]) -> tuple[Bound, Bound]:
    """The belief after the mechanism's output is at most t times that after the simulator's, and the reverse."""
    ahead = _homogeneous(o, [(belief, every, False), (Fraction(1), part, True)])
    return ahead, _homogeneous(o, [(Fraction(1), part, False), (belief, every, True)])


class _Weighed:
    """Beliefs in whole numbers: the weights over one denominator, those of all labels, and of those with the value."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = []
        for o, belief, part, every in rows:
            labels = tuple(every)
            numbers, _ = whole([*every.values(), *(part.get(label, _ZERO) for label in labels)])
            self.rows.append((o, belief, labels, numbers[: len(labels)], numbers[len(labels) :]))

    def factor(self, simulator: Simulator) -> Fraction | None:
        """The exact smallest factor of a simulator; None if infinite."""
        size = len(next(iter(simulator.values())))
        entries, _ = whole([x for row in simulator.values() for x in row])
        table = {label: entries[i * size : (i + 1) * size] for i, label in enumerate(simulator)}
        top, bottom = 1, 1
        for o, belief, labels, every, part in self.rows:
            column = [table[label][o] for label in labels]
            total = sum(map(mul, every, column))
            if not total:
                continue
            inside = sum(map(mul, part, column))
            if (belief == 0) != (inside == 0):
                return None
            if belief:
                one, other = belief.numerator * total, belief.denominator * inside
                high, low = (one, other) if one > other else (other, one)
                if high * bottom > top * low:
                    top, bottom = high, low
        return Fraction(top, bottom)


def _seen(names: Sequence[str], weights: Mapping[str, Fraction], pair: Coupling) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for x in names:
        for label, w in pair.aggregate[x].items():
            if w:
                found[label] = found.get(label, _ZERO) + weights[x] * w
    return found


def _homogeneous(o: int, parts: Sequence[tuple[Fraction, Mapping[str, Fraction], bool]]) -> Bound:
    """scale·weights minus t times the growing part."""
    entries: dict[tuple[str, int], tuple[Fraction, Fraction]] = {}
    for scale, weights, grows in parts:
        for label, w in weights.items():
            c, d = entries.get((label, o), (_ZERO, _ZERO))
            entries[label, o] = (c, d - scale * w) if grows else (c + scale * w, d)
    return Bound(constant=_ZERO, growing=_ZERO, entries=entries)
