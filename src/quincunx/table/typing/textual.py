"""Typing of text functions: only those whose result is at most a fixed number of times as long as its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from quincunx.errors import QueryError
from quincunx.table.expression import Expression
from quincunx.table.typing.facts import Facts, any_nullable, constant, require, whole_constant

# Matching % backtracks: the work grows like the text's length to the power of their number.
PATTERN_LENGTH = 1_000
PATTERN_WILDCARDS = 4
CUT = 1_000_000


def text(arguments: Sequence[Expression]) -> Facts:
    """A text from texts: NULL if any is."""
    require(arguments, ("text",), "a text")
    return Facts(type="text", nullable=any_nullable(arguments))


def concat(arguments: Sequence[Expression]) -> Facts:
    """CONCAT leaves NULL out, so that it is never NULL itself."""
    require(arguments, ("text",), "a text")
    return Facts(type="text", nullable=False)


def length(arguments: Sequence[Expression]) -> Facts:
    """The number of characters."""
    require(arguments, ("text",), "a text")
    return Facts(type="integer", nullable=arguments[0].nullable, low=Fraction(0), step=Fraction(1))


def cut(arguments: Sequence[Expression]) -> Facts:
    """LEFT and RIGHT: so many characters, a constant."""
    require(arguments[:1], ("text",), "a text")
    whole_constant(arguments[1], 0, CUT)
    return Facts(type="text", nullable=arguments[0].nullable)


def substring(arguments: Sequence[Expression]) -> Facts:
    """SUBSTRING: positions are constants, the first character is 1; before it every engine means something else."""
    require(arguments[:1], ("text",), "a text")
    first, *rest = arguments[1:]
    whole_constant(first, 1, CUT)
    for argument in rest:
        whole_constant(argument, 0, CUT)
    return Facts(type="text", nullable=arguments[0].nullable)


def replace(arguments: Sequence[Expression]) -> Facts:
    """REPLACE(x, from, to): constants, so that the growth is known; `from` is not empty."""
    require(arguments[:1], ("text",), "a text")
    for argument in arguments[1:]:
        constant(argument, ("text",), "a text")
    if constant(arguments[1], ("text",), "a text").value == "":
        raise QueryError("REPLACE needs a text to look for", got="an empty text")
    return Facts(type="text", nullable=arguments[0].nullable)


def test(arguments: Sequence[Expression]) -> Facts:
    """A question about two texts."""
    require(arguments, ("text",), "a text")
    return Facts(type="boolean", nullable=any_nullable(arguments))


def pattern(arguments: Sequence[Expression]) -> Facts:
    """LIKE and ILIKE with a constant pattern of bounded work."""
    require(arguments[:1], ("text",), "a text")
    found = str(constant(arguments[1], ("text",), "a pattern").value)
    if len(found) > PATTERN_LENGTH or found.count("%") > PATTERN_WILDCARDS:
        hint = f"At most {PATTERN_LENGTH:,} characters and {PATTERN_WILDCARDS} times %."
        raise QueryError("the pattern is too long", hint=hint)
    return Facts(type="boolean", nullable=arguments[0].nullable)
