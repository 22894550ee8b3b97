"""What the signatures of standards promise a type checker is what they read: every kind of number means one value."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from inspect import signature
from typing import Any

import numpy as np
import pytest

from quincunx.errors import QuincunxError
from quincunx.spec.standard import ZCDP, Approximate, Renyi
from quincunx.spec.tails import Probabilistic, Relaxed

QUARTER = (0.25, "1/4", "0.25", Fraction(1, 4), Decimal("0.25"), np.float64(0.25))


@pytest.mark.parametrize("number", QUARTER, ids=repr)
def test_every_kind_of_number_means_one_value(number: Any) -> None:
    made = (Approximate(number), ZCDP(delta=number), Probabilistic(number), Relaxed(number, outside=number))
    for standard in made:
        assert standard.delta == Fraction(1, 4)
        assert type(standard.delta) is Fraction
    assert Renyi(alpha=Fraction(number) + 2 if isinstance(number, Fraction) else 3).alpha > 1


@pytest.mark.parametrize("kind", [Approximate, ZCDP, Probabilistic, Renyi])
@pytest.mark.parametrize(
    "wrong", [None, object(), [1], True, "much", float("nan")], ids=lambda wrong: type(wrong).__name__
)
def test_what_is_no_number_is_refused(kind: Any, wrong: object) -> None:
    with pytest.raises(QuincunxError):
        kind(wrong)


def test_what_a_checker_sees_has_the_names_that_there_are() -> None:
    assert list(signature(Approximate).parameters) == ["delta"]
    assert list(signature(Relaxed).parameters) == ["delta", "outside"]
    assert list(signature(Renyi).parameters) == ["alpha"]
    assert ZCDP() == ZCDP(0)
