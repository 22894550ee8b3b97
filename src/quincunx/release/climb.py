"""What a share of a spend buys for the choice of limits: a rung of a public ladder of rows. See climb.md."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from quincunx.errors import QueryError
from quincunx.mechanisms import LadderChoice
from quincunx.release.ladder import STEEP
from quincunx.release.quantiles import root_below
from quincunx.spec import Budgeted
from quincunx.table import Measure

# Of the spend of a question, for the choice of its limits.
PRICE: Final = Fraction(1, 4)


def choice(measure: Measure, rungs: int, standard: Budgeted, share: Fraction) -> LadderChoice:
    """The mechanism that chooses among rungs; share: in the standard's additive parameter."""
    if measure.grid is None:
        raise QueryError("a choice of limits counts people by rungs", where="plan")
    part = standard.of_choice(share)
    # In norm 2 a choice of range η costs η²/8.
    eta = part if measure.vector.norm == 1 else root_below(8 * part)
    return LadderChoice(eta=eta, weight=max(measure.grid.weight, 1), rungs=rungs, steep=STEEP)
