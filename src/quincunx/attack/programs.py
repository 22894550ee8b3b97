"""The two programs of the reconstruction attacks, solved by HiGHS: the closest point of a box, and the closest counts.

HiGHS computes in floating point. What it returns is checked: a point against the bound of the dual program, counts
against their rows in whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import DataError, UnavailableError, VerificationError, kind_of

Floats = NDArray[np.float64]
# How far primal and dual objective may lie apart, as a share of one plus the objective.
_GAP: Final = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """What HiGHS found: a value for each column, a price for each row, and the objective."""

    values: Floats
    prices: Floats
    objective: float


def numbers(values: object, where: str, dimensions: int) -> Floats:
    """What a caller gave as an array of finite numbers, or why it is none."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("expected numbers", where=where, got=kind_of(values)) from None
    if found.ndim != dimensions or not np.isfinite(found).all():
        got = f"{found.ndim} dimensions" if found.ndim != dimensions else "numbers that are not finite"
        raise DataError(f"expected finite numbers in {dimensions} dimensions", where=where, got=got)
    return found


def closest_point(matrix: Floats, target: Floats) -> Floats:
    """The x in [0, 1]^n for which Σ|target − matrix·x| is smallest.

    Solved through its dual, max Σ target_j·y_j − Σ max(0, (matrixᵀ·y)_i) over |y_j| ≤ 1, which has n rows where the
    program itself has one for each of the m > n answers. The prices of its rows are −x.
    """
    answers, people = matrix.shape
    found = minimise(
        cost=np.concatenate([-target, np.ones(people)]),
        lower=np.concatenate([-np.ones(answers), np.zeros(people)]),
        upper=np.concatenate([np.ones(answers), np.full(people, np.inf)]),
        matrix=np.hstack([matrix.T, -np.eye(people)]),
        row_lower=np.full(people, -np.inf),
        row_upper=np.zeros(people),
    )
    if found is None:
        raise VerificationError("a program that has solutions was called infeasible", where="closest_point")
    point = np.clip(-found.prices, 0.0, 1.0)
    distance = float(np.abs(target - matrix @ point).sum())
    # Every y bounds the distance from below, so a small gap proves that the point is as close as any.
    if distance + found.objective > _GAP * (1 + distance):
        raise VerificationError("the point found is not as close as its dual bound", where="closest_point")
    return point


def closest_counts(
    matrix: NDArray[np.int64], target: Floats, *, total: int, weight: Floats, cost: Floats
) -> NDArray[np.int64]:
    """The whole numbers x ≥ 0 with Σx = total that minimise Σ weight_r·|target_r − (matrix·x)_r| + Σ cost_c·x_c."""
    rows, cells = matrix.shape
    found = minimise(
        cost=np.concatenate([cost, weight, weight]),
        lower=np.zeros(cells + 2 * rows),
        upper=np.concatenate([np.full(cells, float(total)), np.full(2 * rows, np.inf)]),
        matrix=np.vstack(
            [
                np.hstack([matrix.astype(np.float64), np.eye(rows), -np.eye(rows)]),
                np.concatenate([np.ones(cells), np.zeros(2 * rows)])[None, :],
            ]
        ),
        row_lower=np.append(target, float(total)),
        row_upper=np.append(target, float(total)),
        whole=np.arange(cells + 2 * rows) < cells,
    )
    if found is None:
        raise VerificationError("a program that has solutions was called infeasible", where="closest_counts")
    return whole_numbers(found.values[:cells], total)


def whole_numbers(values: Floats, total: int) -> NDArray[np.int64]:
    """Values that HiGHS calls whole as integers, if they are close to them and sum to `total`; raised otherwise."""
    counts = np.rint(values).astype(np.int64)
    if counts.min(initial=0) < 0 or counts.sum() != total or np.abs(values - counts).max(initial=0.0) > 1e-4:
        raise VerificationError("the counts found are not whole numbers with their total", where="HiGHS")
    return counts


def minimise(
    *,
    cost: Floats,
    lower: Floats,
    upper: Floats,
    matrix: Floats,
    row_lower: Floats,
    row_upper: Floats,
    whole: NDArray[np.bool_] | None = None,
) -> Solved | None:
    """min cost·x with lower ≤ x ≤ upper and row_lower ≤ matrix·x ≤ row_upper; None where nothing satisfies them.

    `whole` marks the columns that must be whole numbers. One thread, so that the same program has the same answer.
    """
    highs = _highs()
    solver, program = highs.Highs(), highs.HighsLp()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    if whole is None:
        # The programs without whole numbers are dense and have nothing to presolve; corners are not needed.
        for option, value in (("solver", "ipm"), ("presolve", "off"), ("run_crossover", "off")):
            solver.setOptionValue(option, value)
    columns, rows = np.nonzero(matrix.T)
    program.num_col_, program.num_row_ = matrix.shape[1], matrix.shape[0]
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, lower, upper
    program.row_lower_, program.row_upper_ = row_lower, row_upper
    program.a_matrix_.format_ = highs.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.searchsorted(columns, np.arange(matrix.shape[1] + 1))
    program.a_matrix_.index_, program.a_matrix_.value_ = rows, matrix[rows, columns]
    if whole is not None:
        kinds = (highs.HighsVarType.kContinuous, highs.HighsVarType.kInteger)
        program.integrality_ = [kinds[int(each)] for each in whole]
    solver.passModel(program)
    solver.run()
    status = solver.getModelStatus()
    if status == highs.HighsModelStatus.kInfeasible:
        return None
    if status != highs.HighsModelStatus.kOptimal:
        raise VerificationError("the program was not solved", where="HiGHS", got=solver.modelStatusToString(status))
    found = solver.getSolution()
    values, prices = np.array(found.col_value), np.array(found.row_dual)
    return Solved(values=values, prices=prices, objective=float(solver.getInfo().objective_function_value))


def _highs() -> Any:
    # Loaded on use: `import quincunx` stays fast, and no other room needs a solver.
    try:
        import highspy
    except ImportError:
        hint = "Install highspy."
        raise UnavailableError(
            "this attack needs the solver HiGHS, which is missing", where="attack", hint=hint
        ) from None
    return highspy
