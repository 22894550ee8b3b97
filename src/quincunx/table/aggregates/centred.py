"""Terms of centred arguments: sums, squares and products of the rows in which all of them are there. See pair.md."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Final

from quincunx.table.aggregates.term import ONES, Factor, Lattice, Term, counted, lattice_of, onto
from quincunx.table.expression import Expression

# Steps from the middle to a bound: a square has at most 2^42 of them, so that thousands of rows of one person fit.
_STEPS: Final = 2**21


def lattice(argument: Expression, called: str) -> Lattice:
    """The lattice of a mean; coarser by powers of ten where squares would have too many steps."""
    found = lattice_of(argument, True, called)
    while found.size > _STEPS:
        step = 10 * found.step
        low, high = (onto(end, step) for end in (argument.low, argument.high) if end is not None)
        found = Lattice(step=step, low=low, high=high, centre=(low + high) // 2)
    return found


def half(found: Lattice) -> Fraction:
    """Half of the range; no variance is larger than its square (Popoviciu 1935)."""
    return (found.high - found.low) * found.step / 2


def total(argument: Expression, found: Lattice, where: Expression | None, beside: Expression | None = None) -> Term:
    """The centred sum, of the rows in which `beside` is there too; alone, it is that of a mean, and measured once."""
    if not _missing(beside):
        return Term(counts=False, argument=argument, where=where, centred=True, lattice=found)
    # A product is centred after its factors are multiplied.
    factors = (Factor.of(argument, replace(found, centre=0)), *_there((beside,)))
    return Term(counts=False, factors=factors, where=where, lattice=found, of="values")


def squares(argument: Expression, found: Lattice, where: Expression | None, beside: Expression | None = None) -> Term:
    """Squares of the centred argument, less half of the largest."""
    factor, high = Factor.of(argument, found), found.size**2
    placed = Lattice(step=found.step**2, low=0, high=high, centre=high // 2)
    factors = (factor, factor, *_there((beside,)))
    return Term(counts=False, factors=factors, where=where, lattice=placed, of="squares")


def products(one: Expression, of_one: Lattice, two: Expression, of_two: Lattice, where: Expression | None) -> Term:
    """Products of two centred arguments."""
    high = of_one.size * of_two.size
    placed = Lattice(step=of_one.step * of_two.step, low=-high, high=high, centre=0)
    factors = (Factor.of(one, of_one), Factor.of(two, of_two))
    return Term(counts=False, factors=factors, where=where, lattice=placed, of="products")


def together(one: Expression, two: Expression, where: Expression | None) -> Term:
    """The number of rows in which both are there."""
    if not (_missing(one) and _missing(two)):
        return counted(one if _missing(one) else two, where)
    return Term(counts=False, factors=_there((one, two)), where=where, lattice=ONES, of="ones")


def _missing(argument: Expression | None) -> bool:
    return argument is not None and argument.nullable


def _there(arguments: Iterable[Expression | None]) -> tuple[Factor, ...]:
    """1 in the rows in which an argument is there, whatever it is: a factor with one value."""
    one = Lattice(step=Fraction(1), low=1, high=1, centre=0)
    return tuple(Factor.of(each, one) for each in arguments if each is not None and each.nullable)
