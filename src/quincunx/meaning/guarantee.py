"""What every guarantee answers, whether a specification states it (of_specification.py) or a loss does (of_loss.py).

`growth`: the factor by which the odds of a statement can move, and the probability outside which it holds. `delta`: the
curve δ(ε). `grown`: the same for several steps at once. Proofs: belief/posterior.md, testing.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, Protocol, TypeAlias

from quincunx.errors import ParameterError, PrivacyError
from quincunx.meaning.curves import Delta
from quincunx.numbers import Ball, Exact, positive_integer
from quincunx.spec import AddRemove, Replace

PRECISION: Final = 256
ABOUT: Final = ("record", "presence")

Unit: TypeAlias = AddRemove | Replace
Growth: TypeAlias = tuple[Fraction | Ball, Fraction]


class Guarantee(Protocol):
    """What the rest of this room asks. Balls are at the working precision."""

    @property
    def unit(self) -> Unit:
        """The change that is one step."""
        ...

    @property
    def stated(self) -> str:
        """The guarantee at one step, with its symbol: "ε = 1"."""
        ...

    @property
    def counted(self) -> str:
        """What the guarantee covers, in words: "one release at ε = 1"."""
        ...

    @property
    def public(self) -> bool:
        """Whether some facts are published exactly beside it."""
        ...

    @property
    def pure(self) -> Exact | Ball | None:
        """ε where the guarantee holds always; None where it does not."""
        ...

    def grown(self, steps: int) -> Guarantee:
        """The guarantee for `steps` steps at once."""
        ...

    def growth(self, risk: Fraction | None) -> Growth:
        """The factor by which the odds can move, and the probability outside which it holds: 0, or `risk`."""
        ...

    def delta(self) -> Delta:
        """ε ↦ an upper bound on δ(ε)."""
        ...


def for_people(guarantee: Guarantee, about: object, people: object = 1) -> Guarantee:
    """The guarantee for as many steps as lie between two datasets that the holder of the belief holds possible.

    A statement about a record under add/remove costs two steps for each person: one record out, another in.
    """
    if not isinstance(about, str) or about not in ABOUT:
        raise ParameterError('must be "record" or "presence"', where="about", got=repr(about)[:40])
    count = positive_integer(people, "people")
    return guarantee.grown(guarantee.unit.steps_for(count, presence=about == "presence"))


def undecided(what: str, stated: str) -> PrivacyError:
    """The refusal where bounds were asked for that hold always."""
    hint = 'Say with which probability they may fail: outside="0.001".'
    return PrivacyError(f"no bounds hold always under {what}", where="posterior_bounds", got=stated, hint=hint)
