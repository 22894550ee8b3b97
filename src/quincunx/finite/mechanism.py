"""A mechanism on a world small enough to write down: for each input, the law of the output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from quincunx.errors import MatrixError, ParameterError
from quincunx.finite.exchange import Label, read_csv, read_json, write_csv, write_json
from quincunx.numbers import Ball, ball, positive_integer, precision, probability

Number: TypeAlias = Fraction | Ball
Row: TypeAlias = Mapping[Label, Number]

MOST_ENTRIES: Final = 2_000_000
_BITS: Final = 256
_WIDTH: Final = 2.0**-100


class Mechanism:
    """P(output | input) for every input and output of a finite world. Immutable.

    table: {input: {output: probability}}. A probability is a number as typed ("3/4", 0.25 for 1/4, Fraction, int) or a
    ball that contains it; outputs that a row leaves out have probability 0. Each row sums to exactly 1, or, with balls,
    to a ball around 1 narrower than 2^-100.

    Attributes: `inputs` in the order given, `outputs` in the order first seen.
    """

    __slots__ = ("_index", "_rows", "inputs", "outputs")

    inputs: tuple[Label, ...]
    outputs: tuple[Label, ...]
    _rows: Mapping[Label, Row]
    _index: Mapping[Label, int]

    def __init__(self, table: Mapping[Label, Mapping[Label, object]]) -> None:
        if not isinstance(table, Mapping) or not table:
            got = "no rows" if isinstance(table, Mapping) else type(table).__name__
            raise MatrixError("expected {input: {output: probability}} with at least one input", got=got)
        guard(sum(len(row) for row in table.values() if isinstance(row, Mapping)), "the table")
        rows = {given: MappingProxyType(_row(given, row)) for given, row in table.items()}
        outputs = dict.fromkeys(output for row in rows.values() for output in row)
        for name, value in (
            ("_rows", rows),
            ("_index", {output: place for place, output in enumerate(outputs)}),
            ("inputs", tuple(rows)),
            ("outputs", tuple(outputs)),
        ):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Mechanism is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Mechanism is immutable: cannot delete {name!r}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.table(),)

    def law(self, x: Label) -> tuple[Number, ...]:
        """The probabilities of `outputs`, in that order, on input x."""
        row = self.row(x)
        return tuple(row.get(output, Fraction(0)) for output in self.outputs)

    def row(self, x: Label) -> Row:
        """The outputs listed for input x, with their probabilities."""
        try:
            return self._rows[x]
        except KeyError:
            raise MatrixError("unknown input", where="inputs", got=repr(x), hint=_known(self.inputs)) from None

    def probability(self, x: Label, output: Label) -> Number:
        """P(output | x); 0 for an output that x's row leaves out. Unknown labels are refused."""
        if output not in self._index:
            raise MatrixError("unknown output", where="outputs", got=repr(output), hint=_known(self.outputs))
        return self.row(x).get(output, Fraction(0))

    @property
    def exact(self) -> bool:
        """Whether every probability is a rational."""
        return all(isinstance(x, Fraction) for row in self._rows.values() for x in row.values())

    def table(self) -> dict[Label, dict[Label, Number]]:
        """A copy of the table."""
        return {given: dict(row) for given, row in self._rows.items()}

    def map(self, function: Callable[[Label], Label]) -> Mechanism:
        """Deterministic post-processing: the mechanism x ↦ function(M(x))."""
        image = {output: function(output) for output in self.outputs}
        return Mechanism({given: merged((image[o], p) for o, p in row.items()) for given, row in self.table().items()})

    def post(self, kernel: Mechanism) -> Mechanism:
        """Randomised post-processing: x ↦ K(M(x)), with K's inputs the outputs of this mechanism."""
        missing = [output for output in self.outputs if output not in kernel.inputs]
        if missing:
            raise MatrixError("the kernel has no row for an output", where="post", got=repr(missing[0]))
        guard(sum(len(kernel.row(o)) for row in self.table().values() for o in row), "post-processing")
        return Mechanism(
            {
                given: merged((after, product(p, r)) for o, p in row.items() for after, r in kernel.row(o).items())
                for given, row in self.table().items()
            }
        )

    def on(self, function: Callable[[Label], Label], inputs: Iterable[Label]) -> Mechanism:
        """Pre-processing: the mechanism x ↦ M(function(x)) for the given inputs."""
        return Mechanism({x: self.row(function(x)) for x in inputs})

    def power(self, n: int) -> Mechanism:
        """n independent runs on the same input; the outputs are tuples of length n."""
        count = positive_integer(n, "n")
        guard(sum(len(row) ** count for row in self.table().values()), "the power")
        rows: dict[Label, dict[Label, Number]] = {}
        for given, row in self.table().items():
            rows[given] = joint([row] * count)
        return Mechanism(rows)

    @classmethod
    def from_json(cls, source: str | Mapping[str, object]) -> Mechanism:
        """From JSON text, or the object it stands for: {"input": {"output": "3/4", …}, …}."""
        return cls(read_json(source))

    @classmethod
    def from_csv(cls, source: str | Path) -> Mechanism:
        """From CSV text or a path: the header input,output,probability, then one line per entry."""
        return cls(read_csv(source))

    def to_json(self) -> str:
        """The JSON text that `from_json` reads. Exact worlds with text labels only."""
        return write_json(self.table())

    def to_csv(self) -> str:
        """The CSV text that `from_csv` reads. Exact worlds with text labels only."""
        return write_csv(self.table())

    def __eq__(self, other: object) -> bool:
        """Same inputs and the same laws, whatever the order; zero entries do not count. Never for worlds of balls."""
        if not isinstance(other, Mechanism):
            return NotImplemented
        return self is other or (self.exact and other.exact and self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key()) if self.exact else id(self)

    def _key(self) -> frozenset[tuple[Label, frozenset[tuple[Label, Number]]]]:
        return frozenset((x, frozenset((o, p) for o, p in row.items() if p != 0)) for x, row in self.table().items())

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "balls"
        return f"<finite.Mechanism: {len(self.inputs)} inputs, {len(self.outputs)} outputs, {kind}>"


def _row(given: Label, row: object) -> dict[Label, Number]:
    where = f"row {given!r}"
    if not isinstance(row, Mapping) or not row:
        got = "no entries" if isinstance(row, Mapping) else type(row).__name__
        raise MatrixError("expected {output: probability} with at least one output", where=where, got=got)
    entries = {output: _entry(value, f"{where}, output {output!r}") for output, value in row.items()}
    exact = [value for value in entries.values() if isinstance(value, Fraction)]
    if len(exact) == len(entries):
        total = sum(exact, Fraction(0))
        if total != 1:
            hint = 'Rows sum to exactly 1; write thirds as "1/3".'
            raise MatrixError("the probabilities do not sum to 1", where=where, got=_brief(total), hint=hint)
        return entries
    with precision(_BITS):
        whole = sum((ball(value) for value in entries.values()), Ball(0))
        if not whole.contains(1) or not whole.rad() < _WIDTH:
            hint = "Compute the balls with more bits."
            raise MatrixError("the sum is not a ball around 1 narrower than 2^-100", where=where, hint=hint)
    return entries


def _entry(value: object, where: str) -> Number:
    if isinstance(value, Ball):
        # NaN and infinite balls are not finite; a ball certainly outside [0, 1] is no probability.
        if not value.is_finite() or value < 0 or value > 1:
            raise MatrixError("not a probability", where=where, got=value.str(10))
        return value
    try:
        return probability(value, where)
    except ParameterError as error:
        raise MatrixError(error.what, where=where, got=error.got, hint=error.hint) from None


def product(a: Number, b: Number) -> Number:
    """a·b, exact where both are."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a * b
    # An exact zero stays one, and a factor of 1 costs no width.
    with precision(_BITS):
        return Fraction(0) if a == 0 or b == 0 else ball(a) * ball(b)


def merged(entries: Iterable[tuple[Label, Number]]) -> dict[Label, Number]:
    """The law that adds up entries with the same output."""
    law: dict[Label, Number] = {}
    for output, p in entries:
        before = law.get(output)
        if before is None:
            law[output] = p
        elif isinstance(before, Fraction) and isinstance(p, Fraction):
            law[output] = before + p
        else:
            with precision(_BITS):
                law[output] = ball(before) + ball(p)
    return law


def joint(laws: Iterable[Row]) -> dict[Label, Number]:
    """The law of independent draws, one from each law: outputs are tuples."""
    law: dict[tuple[Label, ...], Number] = {(): Fraction(1)}
    for each in laws:
        law = {(*past, o): product(p, r) for past, p in law.items() for o, r in each.items()}
    return dict[Label, Number](law.items())


def guard(entries: int, what: str) -> None:
    """Refuse a table of more than two million entries before it is built."""
    if entries > MOST_ENTRIES:
        hint = "A finite world is for enumeration: fewer outputs, fewer runs, or post-process first."
        raise MatrixError(f"{what} would have too many entries", got=f"more than {MOST_ENTRIES:,}", hint=hint)


def _brief(total: Fraction) -> str:
    text = str(total)
    return text if len(text) <= 40 else f"about {float(total):.12g}"


def _known(labels: Sequence[Label]) -> str:
    return f"Known: {', '.join(repr(label) for label in labels[:6])}{', …' if len(labels) > 6 else ''}."
