"""Weights of those who are over the limit; all others count in full. See ../measure.md.

For each unit W is the largest integer with W·‖v‖ ≤ C·2^bits, at most 2^bits. Only units with ‖v‖ > C have W < 2^bits,
so only they are joined back: a choice of speed that changes no result.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial, reduce
from math import isqrt

from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.rows import Part
from quincunx.table.engines.typed_sql import (
    Piece,
    binary,
    both,
    call,
    cast,
    choose,
    column,
    constant,
    double,
    text,
    whole,
)
from quincunx.table.measure import Vector


def in_full(vector: Vector) -> int:
    """⌊C⌋: whoever has at most so many rows has a norm of at most C, and counts in full."""
    return isqrt(int(vector.bound2))


# A double is exact below 2^53: a person's rows are counted from its bit 40 on, and below it by parts of the groups.
_EXACT, _BELOW = 53, 40


def parts(vector: Vector) -> int | None:
    """Into how many parts groups are laid to see that few rows of a person share one; None: only rows are counted.

    A part has _BELOW / parts bits, which hold what one with ‖v‖₂ ≤ C has there.
    """
    few = (each for each in (8, 4, 2) if in_full(vector) < min(2 ** (_BELOW // each), 2 ** (_EXACT - _BELOW - 1)))
    return next(few, None)


def crowding(
    vector: Vector, number: int, part: exp.Expression, owners: Sequence[str], source: str, over: str
) -> list[tuple[str, exp.Select]]:
    """Relations that end with `over`: the owners who may have ‖v‖₂ > C. part: that of a row's group, below number.

    One double is added up for each owner, because where there is one number alone they are counted faster: proof in
    ../measure.md.
    """
    keys, width = [column(name) for name in owners], _BELOW // number
    place = cast(binary(exp.Mul, part, whole(width)), "INTEGER")
    row = binary(exp.Add, whole(1 << _BELOW), exp.BitwiseLeftShift(this=whole(1), expression=place))
    added = call("LEAST", exp.Sum(this=cast(row, "DOUBLE")), double(Fraction(1 << _EXACT)))
    counted, parted, names = f"counted_{over}", f"parted_{over}", [f"p{i}" for i in range(number)]
    bits = [exp.alias_(_bits("t", width * i, width), name) for i, name in enumerate(names)]
    here = [column(name) for name in names]
    together = reduce(partial(binary, exp.Add), here)
    squares = reduce(partial(binary, exp.Add), [binary(exp.Mul, each, each.copy()) for each in here])
    carried = exp.NEQ(this=together, expression=column("n"))
    far = exp.GT(this=squares, expression=whole(int(vector.bound2)))
    rows = exp.alias_(_bits("t", _BELOW, _EXACT - _BELOW + 1), "n")
    return [
        (counted, exp.select(*keys, exp.alias_(cast(added, "BIGINT"), "t")).from_(source).group_by(*keys)),
        (parted, exp.select(*keys, rows, *bits).from_(counted)),
        (over, exp.select(*keys).from_(parted).where(exp.Or(this=carried, expression=far))),
    ]


def _bits(name: str, first: int, number: int) -> exp.Expression:
    """The number that some bits of a column make, which is a whole number and not negative."""
    shifted = exp.Paren(this=exp.BitwiseRightShift(this=column(name), expression=exp.Literal.number(first)))
    return exp.Paren(this=exp.BitwiseAnd(this=shifted, expression=whole((1 << number) - 1)))


def over_rows(
    d: Dialect, vector: Vector, owners: Sequence[str], groups: Sequence[str], source: str = "kept", mark: str = ""
) -> list[tuple[str, exp.Select]]:
    """Relations that end with `heavy`: owners and w, from a relation of owners, g and one row for each that counts.

    mark: what the names of these relations end with.
    """
    over, each_group, heavy_name = f"over{mark}", f"each{mark}", f"heavy{mark}"
    keys = [column(name) for name in owners]
    rows = exp.Count(this=exp.Star())
    most = isqrt(int(vector.bound2))
    heavy = exp.select(*keys, exp.alias_(rows, "n")).from_(source).group_by(*keys)
    found = [(over, heavy.having(exp.GT(this=rows.copy(), expression=whole(most))))]
    number = parts(vector) if vector.norm == 2 and groups else None
    part = None if number is None else d.part_of([column(name) for name in groups], number)
    if number is not None and part is not None:
        found = crowding(vector, number, part, owners, source, over)
    if vector.norm == 1:
        weight = d.quotient(constant(most << vector.bits), _small("n"))
        return [*found, (heavy_name, exp.select(*keys, exp.alias_(weight, "w")).from_(over))]
    # ‖v‖₂ ≤ ‖v‖₁: whoever has at most C rows has a norm of at most C, and needs no look at the groups.
    counts = exp.select(*keys, exp.alias_(exp.Count(this=exp.Star()), "v")).from_(source)
    each = d.semi(counts, over, owners).group_by(*keys, *(column(name) for name in groups))
    square = d.total(_square(vector))
    quotient = d.quotient(constant(int(vector.bound2) << 2 * vector.bits), Piece(sql=square, type="HUGEINT"))
    squares = (
        exp.select(*keys, exp.alias_(quotient, "q"))
        .from_(each_group)
        .group_by(*keys)
        .having(exp.GT(this=square.copy(), expression=whole(int(vector.bound2))))
    )
    squared = f"squares{mark}"
    return [*found, (each_group, each), (squared, squares), *roots(d, squared, heavy_name, keys)]


def of_numbers(d: Dialect, vector: Vector, owners: Sequence[str], keys: Sequence[str]) -> list[Part]:
    """Relations that end with `whole` and `cut`: rows of `adding` with w, of those over the limit in ℓ1.

    n is the number of rows that the owner of a row has in all; `other` are the keys whose rows do not count. Whoever
    has no such row has n rows that count, and the others n less those: nobody's rows are counted but these.
    """
    most, n = in_full(vector), Piece(sql=column("n", "adding"), type="BIGINT")
    over = exp.GT(this=n.sql, expression=whole(most))
    whose = [column(name, "adding") for name in owners]
    rows = both([d.same(column(name, "adding"), column(name, "other"), nulls=True) for name in keys])
    lost = exp.select(*whose, exp.alias_(exp.Count(this=exp.Star()), "t")).from_("adding")
    lost = lost.join("other", join_type="semi", on=rows).where(over).group_by(*(each.copy() for each in whose))
    same = both([exp.EQ(this=column(name, "adding"), expression=column(name, "lost")) for name in owners])
    left = Piece(sql=binary(exp.Sub, n.sql, column("t", "lost")), type="BIGINT")
    full = constant(most << vector.bits)
    whole_ = exp.select("adding.*", exp.alias_(d.quotient(full, n), "w")).from_("adding")
    cut = exp.select("adding.*", exp.alias_(d.quotient(full, left), "w")).from_("adding").join("lost", on=same)
    return [
        Part(name="lost", select=lost, once=True),
        Part(name="whole", select=d.anti(whole_, "lost", owners).where(over.copy()), once=False),
        Part(
            name="cut",
            select=d.anti(cut, "other", keys).where(exp.GT(this=left.sql.copy(), expression=whole(most))),
            once=False,
        ),
    ]


def crowded(d: Dialect, vector: Vector, owners: Sequence[str], key: Piece, rows: str) -> exp.Select:
    """The owners with ‖v‖₂ > C among all rows of a kept table, grouped by one key: see duckdb/snapshot.md."""
    whose = [column(name) for name in owners]
    each = exp.select(*whose, exp.alias_(exp.Count(this=exp.Star()), "v")).from_(rows)
    each = each.where(exp.GT(this=column("n"), expression=whole(in_full(vector)))).group_by(*whose, key.sql)
    square = d.total(_square(vector))
    found = exp.select(*(each.copy() for each in whose)).from_(each.subquery("pairs"))
    return found.group_by(*whose).having(exp.GT(this=square, expression=whole(int(vector.bound2))))


def _small(name: str) -> Piece:
    """A number of rows or groups."""
    return Piece(sql=column(name), type="BIGINT")


def _square(vector: Vector) -> Piece:
    """v² in a type that holds it: v saturated at ⌊C·2^bits⌋ + 1, where W = 0 anyway, if that makes it a BIGINT."""
    cap = isqrt(int(vector.bound2) << 2 * vector.bits) + 1
    small = cap < 2**31
    v = call("LEAST", column("v"), whole(cap)) if small else cast(column("v"), "HUGEINT")
    square = binary(exp.Mul, v, v.copy())
    return Piece(sql=square, type="BIGINT", bits=2 * cap.bit_length()) if small else Piece(sql=square, type="HUGEINT")


def over_groups(
    d: Dialect, vector: Vector, owners: Sequence[str], present: str, name: str
) -> list[tuple[str, exp.Select]]:
    """The same for v_g = 1: relations that end with `name`, from the relation `present` of owners and g."""
    keys = [column(each) for each in owners]
    groups = exp.Count(this=exp.Star())
    bound2 = int(vector.bound2)
    most = isqrt(bound2) if vector.norm == 1 else bound2
    counted = (
        exp.select(*keys, exp.alias_(groups, "n"))
        .from_(present)
        .group_by(*keys)
        .having(exp.GT(this=groups.copy(), expression=whole(most)))
    )
    over = f"over_{name}"
    if vector.norm == 1:
        weight = d.quotient(constant(most << vector.bits), _small("n"))
        return [(over, counted), (name, exp.select(*keys, exp.alias_(weight, "w")).from_(over))]
    quotient = d.quotient(constant(bound2 << 2 * vector.bits), _small("n"))
    squares = exp.select(*keys, exp.alias_(quotient, "q")).from_(over)
    return [(over, counted), (f"squares_{name}", squares), *roots(d, f"squares_{name}", name, keys)]


def roots(d: Dialect, source: str, name: str, keys: Sequence[exp.Expression]) -> list[tuple[str, exp.Select]]:
    """w = ⌊√q⌋ from q < 2^52: the double root, corrected by one both ways so that it is exact on any engine."""
    guess = d.root(column("q"))
    guessed = exp.select(*keys, exp.alias_(cast(column("q"), "BIGINT"), "q"), exp.alias_(guess, "r")).from_(source)
    return [
        (f"guess_{name}", guessed),
        (name, exp.select(*keys, exp.alias_(corrected(column("r"), column("q")), "w")).from_(f"guess_{name}")),
    ]


def corrected(root: exp.Expression, square: exp.Expression) -> exp.Expression:
    """The root, one less if its square is too large, one more if the next square still fits."""
    one = cast(text("1"), "BIGINT")
    up = binary(exp.Add, root.copy(), one)
    too_large = exp.GT(this=binary(exp.Mul, root.copy(), root.copy()), expression=square.copy())
    fits = exp.LTE(this=binary(exp.Mul, up, up.copy()), expression=square.copy())
    return choose([(too_large, binary(exp.Sub, root.copy(), one.copy())), (fits, up.copy())], root.copy())
