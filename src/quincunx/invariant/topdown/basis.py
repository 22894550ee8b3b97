"""The basis in which marginal queries are diagonal: a table's coordinates, one number for each.

Along an attribute of n values the basis is 1/√n, then differences between the groups of a recode whose groups have
equal sizes, then differences inside them. A query sums an axis, keeps it or groups it, so Q'Q is diagonal in the
product of these bases; what it is there is `weights`. Least squares becomes arithmetic on single numbers
(`estimate.md`). A recode with unequal groups is not diagonal: it has no weights, the
estimates couple the coordinates that it mixes (`blocks.py`), and the fit takes it as a term of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.invariant.topdown.schema import Floats, Query, Schema

# Axes are joined into one matrix up to this size: one multiplication by a small dense matrix is the fastest.
_JOINED: Final = 64
# Multiplications up to here are done by one thread.
_SINGLE: Final = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The orthonormal basis of a schema. axes: one n × n matrix for each attribute, its columns the basis."""

    schema: Schema
    axes: tuple[Floats, ...] = field(compare=False, repr=False)
    joined: tuple[Floats, ...] = field(compare=False, repr=False)
    grouped: tuple[str | None, ...]

    @staticmethod
    def of(schema: Schema) -> Basis:
        """The basis for the schema's recodes: of each attribute the first whose groups have equal sizes."""
        axes, grouped = [], []
        for axis, (name, values) in enumerate(schema.attributes):
            equal = [
                recode
                for recode, each in schema.recodes
                if each.attribute == name and len({len(group) for group in each.groups}) == 1
            ]
            grouped.append(equal[0] if equal else None)
            coarse = [schema.matrix(axis, equal[0]).T] if equal else []
            axes.append(orthonormal(np.hstack([np.ones((len(values), 1)), *coarse, np.eye(len(values))])))
        joined: list[Floats] = []
        for matrix in axes:
            if joined and len(joined[-1]) * len(matrix) <= _JOINED:
                joined[-1] = np.asarray(np.kron(joined[-1], matrix), dtype=np.float64)
            else:
                joined.append(matrix)
        return Basis(schema=schema, axes=tuple(axes), joined=tuple(joined), grouped=tuple(grouped))

    def coordinates(self, tables: NDArray[Any]) -> Floats:
        """(places, cells) to (places, coordinates)."""
        return self._turned(tables, transpose=False)

    def tables(self, coordinates: Floats) -> Floats:
        """(places, coordinates) back to (places, cells)."""
        return self._turned(coordinates, transpose=True)

    def _turned(self, given: NDArray[Any], transpose: bool) -> Floats:
        matrices = [matrix.T if transpose else matrix for matrix in self.joined]
        if len(matrices) == 1:
            return _product(given, matrices[0])
        found = given.reshape(-1, *(len(matrix) for matrix in matrices))
        for axis, matrix in enumerate(matrices[:-1]):
            shape = found.shape
            # One axis moved by broadcasting a matrix product over what is before and after it.
            flat = found.reshape(math.prod(shape[: axis + 1]), shape[axis + 1], -1)
            found = (matrix.T @ flat).reshape(shape)
        return _product(found.reshape(-1, len(matrices[-1])), matrices[-1]).reshape(len(given), -1)

    def weights(self, query: Query) -> Floats | None:
        """The diagonal of Q'Q in this basis; None for a query with a recode that is not diagonal here."""
        found: Floats = np.ones(1)
        for axis, (part, (name, values)) in enumerate(zip(query.parts, self.schema.attributes, strict=True)):
            size = len(values)
            line = np.zeros(size)
            if part is None:
                line[0] = size
            elif part == name:
                line[:] = 1
            elif part == self.grouped[axis]:
                line[: query.shape[axis]] = size / query.shape[axis]
            else:
                return None
            found = np.asarray(np.kron(found, line), dtype=np.float64)
        return found

    def back(self, query: Query, answers: NDArray[Any]) -> Floats:
        """Q'y in coordinates, for answers y of shape (places, cells of the query)."""
        return self._applied(query, answers, squared=False, forward=False)

    def answers(self, query: Query, coordinates: Floats) -> Floats:
        """Q x for x given by its coordinates."""
        return self._applied(query, coordinates, squared=False, forward=True)

    def variances(self, query: Query, variances: Floats) -> Floats:
        """The variances of Q x for independent coordinates with these variances."""
        return self._applied(query, variances, squared=True, forward=True)

    def _applied(self, query: Query, given: NDArray[Any], *, squared: bool, forward: bool) -> Floats:
        shape = self.schema.sizes if forward else query.shape
        found = given.reshape(-1, *shape).astype(np.float64)
        for axis, part in enumerate(query.parts):
            matrix = self.schema.matrix(axis, part) @ self.axes[axis]
            # A sum over differences is 0 and not 1e-17: what is known exactly stays so.
            matrix[np.abs(matrix) < 1e-12] = 0.0
            if squared:
                matrix = matrix * matrix
            found = np.moveaxis(np.tensordot(found, matrix, axes=(axis + 1, 1 if forward else 0)), -1, axis + 1)
        return np.ascontiguousarray(found).reshape(len(given), -1)


def _product(rows: NDArray[Any], matrix: Floats) -> Floats:
    """rows @ matrix in pieces too small for the linear algebra library to wake threads of its own: ours have the cores
    already, and threads that wait for each other make it slower."""
    piece = max(1, _SINGLE // matrix.size)
    whole = len(rows) // piece * piece
    found = np.empty((len(rows), matrix.shape[1]))
    if whole:
        found[:whole] = (rows[:whole].reshape(-1, piece, rows.shape[1]) @ matrix).reshape(whole, -1)
    found[whole:] = rows[whole:] @ matrix
    return found


def orthonormal(columns: Floats) -> Floats:
    """Gram and Schmidt in the order of the columns; those that add nothing are left out."""
    found: list[Floats] = []
    for column in columns.T:
        rest = column.astype(np.float64)
        for _ in range(2):
            for one in found:
                rest = rest - (one @ rest) * one
        length = float(np.linalg.norm(rest))
        if length > 1e-9 * float(np.linalg.norm(column)):
            found.append(rest / length)
    return np.array(found).T
