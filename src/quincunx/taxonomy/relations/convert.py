"""The best way from a guarantee in one language to a guarantee in another, with certified rounding."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Final, TypeAlias

from quincunx.errors import SpecificationError
from quincunx.numbers import Ball, Log, ball, float_above, precision, text
from quincunx.taxonomy.reading import nearest
from quincunx.taxonomy.relations.edge import CONDITIONS, Edge
from quincunx.taxonomy.relations.graph import edges, leaving
from quincunx.taxonomy.relations.language import SYMBOLS, Language, Number, Setting, language
from quincunx.taxonomy.value import Value

if TYPE_CHECKING:
    from quincunx.loss import Loss

_BITS: Final = 128
# More steps than any chain in the graph needs; every way is shorter.
_LONGEST: Final = 9
# Settings that a way may pass through where neither end states one: orders of Rényi divergences.
_BETWEEN: Final[Mapping[str, Sequence[Setting]]] = {
    "alpha": tuple(Fraction(x) for x in ("3/2", "2", "4", "8", "16", "32", "64")),
    "xi": (Fraction(0),),
    "size": (Fraction(1),),
    "gamma": (Fraction(0),),
    "outside": (Fraction(0),),
    "k": (Fraction(1), Fraction(2)),
    "f": ("chi-squared",),
    "rate": (),
    "radius": (),
    "known": (),
    "omega": (),
    "delta": (Fraction(0),),
}
_Place: TypeAlias = tuple[str, tuple[tuple[str, Setting], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """A guarantee in another language.

    parameters: typed name → number; what is bounded is a float that is never too small. values: the same as enclosures,
    exact where they are known. path: the edges, conditions: what they assume (keys of CONDITIONS). tighter: what the
    mechanism's own loss gives in place of the path, if it was asked and is smaller.
    """

    source: str
    target: str
    given: Mapping[str, str]
    values: Mapping[str, Value]
    settings: Mapping[str, Setting]
    path: tuple[Edge, ...]
    conditions: tuple[str, ...]
    tighter: str = ""

    @property
    def parameters(self) -> dict[str, float | Setting]:
        """What holds: measures as floats, settings as they were stated."""
        return {**{name: float(value) for name, value in self.values.items()}, **self.settings}

    @property
    def sources(self) -> tuple[str, ...]:
        """Papers and proof notes on the way."""
        told = (edge.origin if edge.basis == "paper" else f"relations.md, {edge.origin}" for edge in self.path)
        return tuple(dict.fromkeys(each for each in told if each and not each.endswith(", ")))

    def __str__(self) -> str:
        held = ", ".join(_stated(SYMBOLS[name], value) for name, value in self.values.items())
        rest = "".join(f", {_set(name, value)}" for name, value in self.settings.items())
        return f"{self.target} with {held}{rest}"

    def to_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "source": self.source,
            "target": self.target,
            "given": dict(self.given),
            "parameters": {n: v if isinstance(v, float) else str(v) for n, v in self.parameters.items()},
            "values": {name: value.to_json() for name, value in self.values.items()},
            "path": [edge.to_json() for edge in self.path],
            "conditions": [CONDITIONS[each] for each in self.conditions],
            "sources": list(self.sources),
            "tighter": self.tighter,
        }


def _stated(symbol: str, value: Value) -> str:
    """A bound that is no number of few digits is rounded up."""
    return value.stated(symbol) if value.exact is not None else f"{symbol} ≤ {text.above(float(value))}"


def _set(name: str, value: Setting) -> str:
    return f"{SYMBOLS[name]} = {value}" if isinstance(value, str) else text.stated(SYMBOLS[name], value)


@dataclass(frozen=True, slots=True)
class _Label:
    """A way so far, and what holds at its end."""

    measures: Mapping[str, Number]
    floats: tuple[float, ...]
    path: tuple[Edge, ...]
    parent: tuple[_Place, ...]


def convert(
    source: str,
    target: str,
    *,
    to: Mapping[str, object] | None = None,
    assume: Iterable[str] = (),
    loss: Loss | None = None,
    **parameters: object,
) -> Conversion:
    """What a guarantee says in another language: convert("pure", "zcdp", epsilon=1).parameters["rho"].

    parameters: of the source, and settings of the target that the source has not. to: settings of the target where both
    have one of that name. assume: keys of CONDITIONS that hold; where no way does without others, the best conditional
    one is returned with its conditions. loss: of the mechanism; where it knows better, that is the answer.
    """
    one, other = language(source), language(target)
    granted = set(assume)
    unknown = granted - CONDITIONS.keys()
    if unknown:
        got = repr(sorted(unknown)[0])[:40]
        raise SpecificationError(
            "unknown condition", where="assume", got=got, hint=nearest(sorted(unknown)[0], CONDITIONS)
        )
    given, settings = _read(one, other, parameters, to or {})
    for end, what in ((one, "convert from"), (other, "convert to")):
        if not end.measures:
            hint = "Its parameter is a curve or a condition. `implies` says what follows from what."
            raise SpecificationError(f"no number to {what}", where="convert", got=end.short, hint=hint)
    with precision(_BITS):
        found = _best(one, given, other, settings, granted) or _best(one, given, other, settings, set(CONDITIONS))
        if found is None:
            raise SpecificationError(
                "nothing is known to follow at these parameters", where="convert",
                got=f"{one.short} → {other.short}", hint=_why(one, other),
            )  # fmt: skip
        values = {name: _value(number) for name, number in found.measures.items()}
        tighter = ""
        if loss is not None:
            values, tighter = _with_loss(other, settings, values, loss)
    return Conversion(
        source=one.short,
        target=other.short,
        given={name: str(value) for name, value in given.items()},
        values=values,
        settings=settings,
        path=found.path,
        conditions=tuple(dict.fromkeys(c for edge in found.path for c in edge.conditions if c not in granted)),
        tighter=tighter,
    )


def _read(
    one: Language, other: Language, parameters: Mapping[str, object], to: Mapping[str, object]
) -> tuple[dict[str, Number | str], dict[str, Setting]]:
    wanted = {*one.measures, *one.settings, *other.settings}
    extra = next((name for name in parameters if name not in wanted), None) or next(
        (name for name in to if name not in other.settings), None
    )
    if extra is not None:
        hint = nearest(extra, sorted(wanted))
        raise SpecificationError("unknown parameter", where="convert", got=repr(extra)[:40], hint=hint)
    given = one.read(parameters, "convert")
    # A target's setting that nobody stated is the source's of the same name.
    told = {name: to[name] if name in to else parameters.get(name, given.get(name)) for name in other.settings}
    stated = {name: value for name, value in told.items() if value is not None}
    settings = Language(short=other.short, measures=(), settings=other.settings).read(stated, "convert")
    return given, settings  # type: ignore[return-value]


def _best(
    one: Language, given: Mapping[str, Number | str], other: Language, goal: Mapping[str, Setting], granted: set[str]
) -> _Label | None:
    """The Pareto-best labels spread from the source; the best at the goal."""
    useful = _reaching(other.short, granted)
    start: _Place = (one.short, _settings({name: given[name] for name in one.settings}))  # type: ignore[misc]
    finish: _Place = (other.short, _settings(goal))
    measures: dict[str, Number] = {name: given[name] for name in one.measures}  # type: ignore[misc]
    first = _Label(measures, _floats(measures), (), (start,))
    best: dict[_Place, list[_Label]] = {start: [first]}
    waiting: deque[tuple[_Place, _Label]] = deque([(start, first)])
    while waiting:
        here, label = waiting.popleft()
        if label not in best[here] or len(label.path) >= _LONGEST:
            continue
        known: dict[str, Number | str] = {**label.measures, **dict(here[1])}
        for edge in leaving().get(here[0], ()):
            if edge.target not in useful or not granted.issuperset(edge.conditions) or not edge.continues(label.path):
                continue
            for place in _places(edge.target, finish, start):
                if place in label.parent:
                    continue
                found = edge.apply(known, dict(place[1]))
                if found is None:
                    continue
                new = _Label(found, _floats(found), (*label.path, edge), (*label.parent, place))
                if _kept(best.setdefault(place, []), new):
                    waiting.append((place, new))
    ends = [each for each in best.get(finish, []) if each.path or start == finish]
    return min(ends, key=lambda each: (each.floats, len(each.path)), default=None)


def _reaching(target: str, granted: set[str]) -> set[str]:
    """The definitions from which edges lead to the target."""
    found, waiting = {target}, deque([target])
    while waiting:
        here = waiting.popleft()
        for edge in edges():
            if edge.target == here and edge.map and granted.issuperset(edge.conditions) and edge.source not in found:
                found.add(edge.source)
                waiting.append(edge.source)
    return found


def _places(short: str, finish: _Place, start: _Place) -> Iterator[_Place]:
    """The definition at every setting that is worth passing through."""
    if short == finish[0]:
        yield finish
        return
    ends = [dict(start[1]), dict(finish[1])]
    names = language(short).settings
    options = [list(dict.fromkeys([*(end[n] for end in ends if n in end), *_BETWEEN[n]])) for n in names]
    for chosen in product(*options):
        yield short, _settings(dict(zip(names, chosen, strict=True)))


def _settings(values: Mapping[str, Setting]) -> tuple[tuple[str, Setting], ...]:
    return tuple(sorted(values.items()))


def _floats(measures: Mapping[str, Number]) -> tuple[float, ...]:
    return tuple(float_above(ball(value)) for value in measures.values())


def _kept(labels: list[_Label], new: _Label) -> bool:
    """Add a label unless another is as good; drop those that it beats."""
    if any(all(a <= b for a, b in zip(old.floats, new.floats, strict=True)) for old in labels):
        return False
    labels[:] = [old for old in labels if not all(b <= a for a, b in zip(old.floats, new.floats, strict=True))]
    labels.append(new)
    return True


def _value(number: Number) -> Value:
    if isinstance(number, Fraction | Log):
        return Value.of(number)
    upper = number.upper() if isinstance(number, Ball) else ball(number)
    # The end is a bound, not the truth: the enclosure is of the bound.
    return Value(bounds=(float_above(upper), float_above(upper)))


def _with_loss(
    other: Language, settings: Mapping[str, Setting], values: Mapping[str, Value], loss: Loss
) -> tuple[dict[str, Value], str]:
    """What the mechanism's own law gives, where that is less."""
    s = {name: value for name, value in settings.items() if isinstance(value, Fraction)}
    asked = {
        "DP": loss.pure,
        "ADP": lambda: loss.epsilon(s["delta"]),
        "zCoDP": loss.zcdp,
        "RenyiDP": lambda: loss.renyi(s["alpha"]),
        "GaussDP": loss.gdp,
        "KLPr": loss.kl,
        "TVPr": loss.tv,
    }.get(other.short)
    if asked is None or s.get("xi"):
        return dict(values), ""
    number = float(asked())
    name = other.measures[0]
    if not number < float(values[name]):
        return dict(values), ""
    words = f"the mechanism's own loss; the path alone gives {_stated(SYMBOLS[name], values[name])}"
    return {name: Value(bounds=(number, number))}, words


def _why(one: Language, other: Language) -> str:
    from quincunx.taxonomy.relations.graph import implies

    found = implies(one.short, other.short)
    if found.path:
        stated = ", ".join(other.settings)
        return f"There is a way, at other settings ({stated})." if stated else "There is a way at other parameters."
    return f"{one.short} ⇒ {other.short}: {found}."
