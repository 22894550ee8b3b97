"""F: in which terms is the attacker's gain described? Likelihoods, tests of hypotheses, or beliefs before and after."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias, cast

from quincunx.errors import SpecificationError
from quincunx.numbers import amount
from quincunx.taxonomy.adversary import priors_of
from quincunx.taxonomy.answer import Answer, Witness
from quincunx.taxonomy.case import Case, Law
from quincunx.taxonomy.choice import Choice
from quincunx.taxonomy.neighbourhood import FreeLunch, Neighbourhood, said
from quincunx.taxonomy.quantification import Approximate, Quantification
from quincunx.taxonomy.value import Value
from quincunx.taxonomy.world import World

# a fact, the datasets in which it is true
Fact: TypeAlias = tuple[str, frozenset[str]]


class Formalism(Choice):
    """How the gain of knowledge is bounded. posterior: by beliefs under a prior, instead of two laws."""

    __slots__ = ()
    letter: ClassVar[str] = "F"
    posterior: ClassVar[bool] = False

    def answer(
        self, quantification: Quantification, neighbourhood: Neighbourhood, world: World, laws: Mapping[str, Law]
    ) -> Answer:
        """The smallest parameters, for formalisms with beliefs."""
        del quantification, neighbourhood, world, laws
        raise SpecificationError(f"{self.name} has no beliefs to bound", where="formalism")


@dataclass(frozen=True, slots=True)
class Likelihoods(Formalism):
    """Two laws of the output are compared."""

    default: ClassVar[bool] = True

    def phrase(self) -> str:
        return "distinguish"

    def formula(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Testing(Formalism):
    """The best test of one dataset against another, by its two rates of error."""

    def phrase(self) -> str:
        return "test for"

    def formula(self) -> str:
        return r"T(Q, P)(x) = \inf\{1 - P(S) : Q(S) \le x\}"


@dataclass(frozen=True, slots=True)
class Odds(Formalism):
    """Posterior odds over prior odds of two datasets; the same numbers as likelihoods, said of beliefs."""

    def phrase(self) -> str:
        return "improve their odds on"

    def formula(self) -> str:
        return (
            r"\frac{\mathbb{P}[D_1 \mid O]}{\mathbb{P}[D_2 \mid O]} \le e^{\varepsilon} "
            r"\frac{\mathbb{P}[D_1]}{\mathbb{P}[D_2]}"
        )


def beliefs(
    facts: Sequence[Fact], world: World, laws: Mapping[str, Law]
) -> list[tuple[str, str, str, Fraction, Fraction, Fraction]]:
    """(prior's name, fact, output, belief before, belief after, probability of the output) where it is possible."""
    found = []
    for name, weights in priors_of(world, "beliefs").items():
        kept = [x for x in world.datasets if weights.get(x)]
        total = [sum((weights[x] * laws[x][o] for x in kept), Fraction(0)) for o in range(len(laws[kept[0]]))]
        for fact, where in facts:
            inside = [x for x in kept if x in where]
            before = sum((weights[x] for x in inside), Fraction(0))
            for o, mass in enumerate(total):
                if mass:
                    joint = sum((weights[x] * laws[x][o] for x in inside), Fraction(0))
                    found.append(
                        (name, fact, world.outputs[o] if o < len(world.outputs) else str(o), before, joint / mass, mass)
                    )
    return found


def _spoken(row: tuple[str, str, str, Fraction, Fraction, Fraction]) -> Witness:
    prior, fact, output, before, after, _ = row
    words = f"under {prior}, the belief in {fact} goes from {amount(before)} to {amount(after)} on seeing {output}"
    return Witness(first=prior, second=fact, event=(output,), probability=(before, after), words=words)


class _Beliefs(Formalism):
    __slots__ = ()
    posterior: ClassVar[bool] = True

    @abstractmethod
    def facts(self, neighbourhood: Neighbourhood, world: World) -> list[Fact]:
        """What the attacker believes something about."""

    @abstractmethod
    def factor(self, before: Fraction, after: Fraction) -> Fraction | None:
        """The smallest e^ε for one belief; None is infinite."""

    def answer(
        self, quantification: Quantification, neighbourhood: Neighbourhood, world: World, laws: Mapping[str, Law]
    ) -> Answer:
        del quantification
        best: Fraction | None = Fraction(1)
        witness, count = None, 0
        for row in beliefs(self.facts(neighbourhood, world), world, laws):
            count += 1
            factor = self.factor(row[3], row[4])
            if best is not None and (factor is None or factor > best):
                best, witness = factor, _spoken(row)
        return Answer(shape="number", symbol="ε", values={"ε": Value.log(best)}, witness=witness, compared=count)


def ratio(a: Fraction, b: Fraction) -> Fraction | None:
    """a/b with 0/0 = 1; None is infinite."""
    if a == b:
        return Fraction(1)
    return a / b if b else None


def largest(*factors: Fraction | None) -> Fraction | None:
    """The largest factor; None is infinite."""
    return None if None in factors else max(cast("tuple[Fraction, ...]", factors))


def values_of(world: World) -> list[Fact]:
    """D(i) = t for every protected position and value that occurs."""
    found = []
    for i in world.protected:
        groups: dict[object, set[str]] = {}
        for x, records in world.datasets.items():
            groups.setdefault(records[i], set()).add(x)
        found += [(said(i, t), frozenset(xs)) for t, xs in groups.items()]  # type: ignore[arg-type]
    return found


def members_of(world: World) -> list[Fact]:
    """t ∈ D for every record that occurs."""
    groups: dict[object, set[str]] = {}
    for x, records in world.datasets.items():
        for record in records:
            if record is not None:
                groups.setdefault(record, set()).add(x)
    return [(f"{', '.join(t) if isinstance(t, tuple) else t} in the data", frozenset(xs)) for t, xs in groups.items()]


@dataclass(frozen=True, slots=True)
class APosteriori(_Beliefs):
    """Beliefs about one record (with a free-lunch neighbourhood: about the whole dataset) before and after."""

    needs: ClassVar[tuple[str, ...]] = ("priors",)

    def facts(self, neighbourhood: Neighbourhood, world: World) -> list[Fact]:
        if isinstance(neighbourhood, FreeLunch):
            return [(f"dataset {x}", frozenset({x})) for x in world.datasets]
        return values_of(world)

    def factor(self, before: Fraction, after: Fraction) -> Fraction | None:
        return largest(ratio(after, before), ratio(before, after))

    def phrase(self) -> str:
        return "change their beliefs about"

    def formula(self) -> str:
        return r"D(i)_{|D \sim \theta, \mathcal{M}(D) \in S} \approx_{\varepsilon} D(i)_{|D \sim \theta}"


@dataclass(frozen=True, slots=True)
class Membership(_Beliefs):
    """Beliefs about whether a record is in the data. positive: they may not rise; negative: they may not fall."""

    positive: bool = True
    negative: bool = True
    needs: ClassVar[tuple[str, ...]] = ("priors",)

    def __post_init__(self) -> None:
        if not (self.positive or self.negative):
            raise SpecificationError(
                "membership privacy bounds beliefs from above, from below, or both", where="formalism"
            )

    def facts(self, neighbourhood: Neighbourhood, world: World) -> list[Fact]:  # noqa: ARG002
        return members_of(world)

    def factor(self, before: Fraction, after: Fraction) -> Fraction | None:
        found: list[Fraction | None] = [Fraction(1)]
        if self.positive and after > before:
            found += [ratio(after, before), ratio(1 - before, 1 - after)]
        if self.negative and after < before:
            found += [ratio(before, after), ratio(1 - after, 1 - before)]
        return largest(*found)

    def phrase(self) -> str:
        sides = ("raise or lower", "raise", "lower")[
            0 if self.positive and self.negative else 1 if self.positive else 2
        ]
        return f"{sides} their belief about the presence of"

    def formula(self) -> str:
        up = (
            r"\mathbb{P}[t \in D \mid S] \le e^{\varepsilon}\,\mathbb{P}[t \in D],\ "
            r"\mathbb{P}[t \notin D \mid S] \ge e^{-\varepsilon}\,\mathbb{P}[t \notin D]"
        )
        down = (
            r"\mathbb{P}[t \in D \mid S] \ge e^{-\varepsilon}\,\mathbb{P}[t \in D],\ "
            r"\mathbb{P}[t \notin D \mid S] \le e^{\varepsilon}\,\mathbb{P}[t \notin D]"
        )
        return r",\ ".join([up] * self.positive + [down] * self.negative)


@dataclass(frozen=True, slots=True)
class Adversarial(Formalism):
    """Posterior ≤ e^ε·prior + δ for the presence of a record; the whole front in (ε, δ), or ε at the stated δ."""

    posterior: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("priors",)

    def answer(
        self, quantification: Quantification, neighbourhood: Neighbourhood, world: World, laws: Mapping[str, Law]
    ) -> Answer:
        del neighbourhood
        rows = [row for row in beliefs(members_of(world), world, laws) if row[4] > row[3]]
        lines = [(row[4], row[3]) for row in rows]
        delta = quantification.delta if isinstance(quantification, Approximate) else Fraction(0)
        top = max(range(len(rows)), key=lambda i: lines[i][0] - lines[i][1], default=None)
        witness = _spoken(rows[top]) if top is not None else None
        count = len(rows)
        if delta is not None:
            # after ≤ t·before + δ; a belief that was 0 stays 0, so before > 0 here.
            best = max([Fraction(1), *((after - delta) / before for after, before in lines)])
            value = Value.log(best)
            return Answer(shape="number", symbol="ε", values={"ε": value}, witness=witness, compared=count)
        found = upper_lines(lines)
        return Answer(
            shape="front", symbol="ε", names=("ε", "δ"), witness=witness, compared=count,
            rows=tuple((Value.log(t), Value.of(d)) for t, d in found),
        )  # fmt: skip

    def phrase(self) -> str:
        return "raise their belief, up to a small error, about the presence of"

    def formula(self) -> str:
        return r"\mathbb{P}[t \in D \mid S] \le e^{\varepsilon}\,\mathbb{P}[t \in D] + \delta"


def upper_lines(lines: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The corners (t, δ) of max(0, max a − t·b) over lines (a, b), from t = 1 to where it is 0."""

    def height(t: Fraction) -> tuple[Fraction, Fraction]:
        """The value at t and the flattest slope that reaches it: what follows."""
        return max([(a - t * b, -b) for a, b in lines] + [(Fraction(0), Fraction(0))])

    t = Fraction(1)
    found = [(t, height(t)[0])]
    while found[-1][1] > 0:
        value, slope = height(t)
        ahead = [(a, b) for a, b in [*lines, (Fraction(0), Fraction(0))] if -b > slope]
        # The next corner is where a flatter line takes over.
        t = min((t + (value - (a - t * b)) / (-b - slope) for a, b in ahead), default=t)
        found.append((t, height(t)[0]))
    return found


@dataclass(frozen=True, slots=True)
class Federated(Formalism):
    """What other clients see when one client's records change: each alone (weak), or all together (strong)."""

    strong: bool = False
    posterior: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("clients", "views")

    def answer(
        self, quantification: Quantification, neighbourhood: Neighbourhood, world: World, laws: Mapping[str, Law]
    ) -> Answer:
        del neighbourhood, laws
        clients = cast("Mapping[str, frozenset[int]]", world.needed("clients", "federated privacy"))
        part = "joint_views" if self.strong else "views"
        views = cast("Mapping[str, Mapping[str, Law]]", world.needed(part, "federated privacy"))
        found: list[Case] = []
        for client, places in clients.items():
            for seen, rows in views.items():
                # A joint view is filed under the client that it must not betray; a single one under its viewer.
                if (seen == client) == self.strong:
                    found += _changes(world, client, places, seen, rows)
        width = max((len(case.p) for case in found), default=0)
        padded = [_padded(case, width) for case in found]
        return quantification.answer(padded, world)

    def phrase(self) -> str:
        return f"test, {'all clients together' if self.strong else 'each client alone'}, for"

    def formula(self) -> str:
        who = r"\text{all clients but } i" if self.strong else r"\text{client } j \ne i"
        return rf"T(V(D_1), V(D_2)) \ge f,\ V = \text{{view of }} {who}"


def _changes(world: World, client: str, places: frozenset[int], seen: str, rows: Mapping[str, Law]) -> list[Case]:
    from itertools import permutations

    from quincunx.taxonomy.neighbourhood import differences

    found = []
    for x, y in permutations(world.datasets, 2):
        moved = differences(world, x, y)
        if moved and set(moved) <= places:
            who = "the others" if seen == client else seen
            found.append(
                Case(p=rows[x], q=rows[y], first=f"dataset {x} as {who} sees", second=f"dataset {y}", x=x, y=y)
            )
    return found


def _padded(case: Case, width: int) -> Case:
    from dataclasses import replace

    missing = (Fraction(0),) * (width - len(case.p))
    return replace(case, p=case.p + missing, q=case.q + missing) if missing else case
