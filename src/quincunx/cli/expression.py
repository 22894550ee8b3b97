"""The little language of `quincunx account`: sums of mechanisms with counts, and samples of such sums.

    sum     = product { "+" product }
    product = factor { "*" factor }           one factor is a loss, the others are counts
    factor  = count | term | "(" sum ")"
    term    = name "(" [ sum "," ] name "=" number { "," name "=" number } ")"

Every number means the decimal or the fraction that was typed. What cannot be read is an error that knows its place.
"""

from __future__ import annotations

import difflib
import inspect
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final, NoReturn

from quincunx.errors import ParameterError, PrivacyError

if TYPE_CHECKING:
    from quincunx.loss import Loss
    from quincunx.mechanisms import Mechanism

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:/\d+)?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z][A-Za-z0-9_]*)*)|(?P<sign>[-+*(),=])|(?P<other>\S))"
)
_LONGEST: Final = 20_000
_DEEPEST: Final = 20
_COUNT_DIGITS: Final = 18


class ExpressionError(ParameterError):
    """An expression cannot be read. Attributes: `text`, and the span `start` to `end` of what is wrong, from 0."""

    def __init__(self, what: str, *, where: str = "", got: str = "", hint: str = "", text: str = "", start: int = 0,
                 end: int = 0) -> None:  # fmt: skip
        super().__init__(what, where=where, got=got, hint=hint)
        self.text, self.start, self.end = text, start, end

    def underlined(self) -> str:
        """The text with what is wrong underlined: two lines, at most 100 columns around it."""
        low, high = max(0, self.start - 40), self.start + 60
        shown = "".join(" " if letter.isspace() else letter for letter in self.text[low:high])
        marks = min(max(1, self.end - self.start), high - self.start)
        return f"  {shown}\n  {' ' * (self.start - low)}{'^' * marks}"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of term: the mechanism's class, its parameters, those it needs, its law in words."""

    mechanism: type[Mechanism]
    parameters: tuple[str, ...]
    required: tuple[str, ...]
    words: str


@cache
def terms() -> dict[str, Kind]:
    """Every mechanism that says its law as a term, by its tag with underscores."""
    from quincunx.mechanisms import kinds

    found = {}
    for tag, kind in kinds().items():
        if kind.term:
            given = inspect.signature(kind).parameters
            needed = tuple(name for name, each in given.items() if each.default is inspect.Parameter.empty)
            found[tag.replace("-", "_")] = Kind(kind, tuple(given), needed, kind.term)
    return found


@dataclass(frozen=True, slots=True)
class Sampling:
    """One way of sampling people before a sum of terms is run on them."""

    scheme: str
    unit: str
    words: str


SAMPLINGS: Final[dict[str, Sampling]] = {
    "poisson": Sampling(
        "poisson",
        "AddRemove",
        "the terms inside on one Poisson sample of people, each in it with probability q; add/remove neighbours",
    ),
    "without_replacement": Sampling(
        "without-replacement",
        "Replace",
        "the terms inside on one sample of a fixed number of people, the share q of them; replace neighbours",
    ),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What an expression says: its loss, the kinds of terms in it, and the neighbours that its samplings demand."""

    loss: Loss
    kinds: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()


def read(text: str) -> Reading:
    """The reading of an expression, or an ExpressionError that knows where it stopped."""
    if len(text) > _LONGEST:
        what = "is too long"
        raise ExpressionError(what, where="expression", got=f"{len(text)} characters", text=text[:1], end=1)
    return _Reader(text).whole()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        yield _Token(kind if kind != "sign" else match[kind], match[kind], match.start(kind), match.end(kind))
    yield _Token("end", "", len(text.rstrip()), len(text.rstrip()) + 1)


@dataclass(slots=True)
class _Reader:
    text: str
    tokens: list[_Token] = field(init=False)
    at: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        self.tokens = list(_tokens(self.text))

    @property
    def now(self) -> _Token:
        return self.tokens[self.at]

    def whole(self) -> Reading:
        found = self.sum()
        if self.now.kind != "end":
            self.unexpected('Terms are joined by "+", counts by "*".')
        if len(found.units) > 1:
            what = "Poisson sampling and sampling without replacement have different neighbours"
            raise PrivacyError(what, where="expression", hint="Account for each of them apart.")
        return found

    def sum(self) -> Reading:
        from quincunx.loss import Loss

        parts = [self.product()]
        while self.now.kind == "+":
            self.at += 1
            parts.append(self.product())
        kinds, units = (frozenset().union(*(getattr(part, name) for part in parts)) for name in ("kinds", "units"))
        return Reading(Loss.compose(part.loss for part in parts), kinds, units)

    def product(self) -> Reading:
        start = self.now.start
        factors = [self.factor()]
        while self.now.kind == "*":
            self.at += 1
            factors.append(self.factor())
        end = self.tokens[self.at - 1].end
        readings = [factor for factor in factors if isinstance(factor, Reading)]
        if not readings:
            self.fail("a count stands alone", start, end, hint="Write what is repeated: 10*laplace(scale=20).")
        if len(readings) > 1:
            hint = 'Several mechanisms are composed by "+".'
            self.fail("a term is multiplied by a count, not by a term", start, end, hint=hint)
        count = math.prod(factor for factor in factors if isinstance(factor, int))
        return Reading(count * readings[0].loss, readings[0].kinds, readings[0].units)

    def factor(self) -> Reading | int:
        token = self.now
        if token.kind == "number":
            self.at += 1
            if not token.text.isdigit() or not token.text.strip("0") or len(token.text) > _COUNT_DIGITS:
                hint = f"At most {_COUNT_DIGITS} digits, without a point or an exponent."
                self.fail("a count is a whole number, 1 or greater", token.start, token.end, hint=hint)
            return int(token.text)
        if token.kind == "(":
            self.at += 1
            return self.inside(token)
        if token.kind != "name":
            self.unexpected("Expected a term, such as gaussian(sigma=50), or a count.")
        return self.term()

    def inside(self, opening: _Token) -> Reading:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail("is nested too deeply", opening.start, opening.end)
        found = self.sum()
        self.expect(")", opening)
        self.depth -= 1
        return found

    def term(self) -> Reading:
        name = self.now
        known = name.text.replace("-", "_")
        self.at += 1
        if known not in terms() and known not in SAMPLINGS:
            near = difflib.get_close_matches(known, [*terms(), *SAMPLINGS], n=1)
            hint = (f"Did you mean {near[0]}? " if near else "") + "quincunx account --list names the terms."
            self.fail("unknown term", name.start, name.end, got=repr(name.text[:40]), hint=hint)
        self.expect("(", name)
        return self.sampled(name, SAMPLINGS[known]) if known in SAMPLINGS else self.mechanism(name, known)

    def mechanism(self, name: _Token, known: str) -> Reading:
        kind = terms()[known]
        given = self.arguments(name, kind.parameters)
        values: dict[str, object] = {key: value.text for key, (_, value) in given.items()}
        if values.get("coordinates") == "1":
            # The one parameter that must be an int.
            values["coordinates"] = 1
        end = self.tokens[self.at - 1].end
        for missing in (each for each in kind.required if each not in given):
            hint = f"{known} takes {', '.join(kind.parameters)}."
            self.fail("a parameter is missing", name.start, end, got=f"no {missing}", hint=hint)
        try:
            loss = kind.mechanism(**values).loss
        except ParameterError as error:
            span = given.get(error.where)
            start, end = (span[0].start, span[1].end) if span else (name.start, end)
            self.fail(error.what, start, end, got=error.got, hint=error.hint, name=error.where)
        return Reading(loss, frozenset({known}))

    def sampled(self, name: _Token, sampling: Sampling) -> Reading:
        from quincunx.spec import unit

        opening = self.tokens[self.at - 1]
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail("is nested too deeply", opening.start, opening.end)
        inner = self.sum()
        self.depth -= 1
        self.expect(
            ",", name, hint=f"{name.text} takes what runs on the sample, and q: poisson(gaussian(sigma=1), q=0.01)."
        )
        given = self.arguments(name, ("q",))
        end = self.tokens[self.at - 1].end
        if "q" not in given:
            self.fail("q is missing", name.start, end, hint="q is the probability that a person is in the sample.")
        try:
            loss = inner.loss.subsample(given["q"][1].text, scheme=sampling.scheme, unit=getattr(unit, sampling.unit)())
        except ParameterError as error:
            start, end = given["q"][0].start, given["q"][1].end
            self.fail(error.what, start, end, got=error.got, hint=error.hint, name="q")
        return Reading(loss, inner.kinds | {name.text.replace("-", "_")}, inner.units | {sampling.unit})

    def arguments(self, name: _Token, allowed: tuple[str, ...]) -> dict[str, tuple[_Token, _Token]]:
        """name = number, separated by commas, up to and with the closing bracket."""
        given: dict[str, tuple[_Token, _Token]] = {}
        while self.now.kind != ")":
            key = self.expect("name", name, hint=f"{name.text} takes {', '.join(allowed)}, each as name=number.")
            if key.text not in allowed or key.text in given:
                what = "is given twice" if key.text in given else f"{name.text} has no such parameter"
                got = repr(key.text[:40])
                self.fail(what, key.start, key.end, got=got, hint=f"It takes {', '.join(allowed)}.")
            self.expect("=", key)
            given[key.text] = (key, self.expect("number", key, hint="Write a decimal or a fraction: 0.5 or 1/2."))
            if self.now.kind != ",":
                break
            self.at += 1
        self.expect(")", name)
        return given

    def expect(self, kind: str, after: _Token, hint: str = "") -> _Token:
        token = self.now
        if token.kind != kind:
            wanted = kind if kind in ("name", "number") else repr(kind)
            self.unexpected(hint or f"Expected a {wanted} after {after.text!r}.")
        self.at += 1
        return token

    def unexpected(self, hint: str) -> NoReturn:
        token = self.now
        what = "ends too early" if token.kind == "end" else "did not expect this here"
        self.fail(what, token.start, token.end, got=repr(token.text[:40]) if token.text else "", hint=hint)

    def fail(self, what: str, start: int, end: int, *, got: str = "", hint: str = "", name: str = "") -> NoReturn:
        where = (
            f"expression, characters {start + 1} to {end}" if end > start + 1 else f"expression, character {start + 1}"
        )
        where += f", {name}" if name else ""
        raise ExpressionError(what, where=where, got=got, hint=hint, text=self.text, start=start, end=end)
