"""One tree of errors.

QuincunxError
├── InputError            what was typed cannot be used (also a ValueError); command line exit code 2
│   ├── ParameterError    a parameter is out of range or not a number
│   ├── DataError         data of a wrong type, shape or lattice
│   ├── MatrixError       a finite mechanism is malformed
│   └── SpecificationError  the five blocks do not fit together, or a stored one cannot be read
├── PrivacyError          what was asked would break, or cannot state, a guarantee; exit code 4
│   ├── BudgetError       a budget does not cover what was asked; nothing was spent; exit code 3
│   └── MisuseError       a bound was asked of an object whose theorem does not give it (also a TypeError)
└── VerificationError     a result failed its own certified check; nothing was released; exit code 6

QuincunxWarning           allowed, but probably not what was meant

Every message says what is wrong, where, what was got, and what to do. `got` never holds a private value:
callers pass types, shapes and parameters, not data.
"""

from __future__ import annotations

from fractions import Fraction


class QuincunxError(Exception):
    """Root of the tree. Attributes: `what`, `where`, `got`, `hint`; the last three may be empty."""

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", got: str = "", hint: str = "") -> None:
        self.what, self.where, self.got, self.hint = what, where, got, hint
        sentence = f"{where}: {what}" if where else what
        if got:
            sentence += f"; got {got}"
        if hint:
            sentence += f". {hint}"
        super().__init__(sentence)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.what, self.where, self.got, self.hint)


def _rebuild(kind: type[QuincunxError], what: str, where: str, got: str, hint: str) -> QuincunxError:
    return kind(what, where=where, got=got, hint=hint)


class InputError(QuincunxError, ValueError):
    """What was typed cannot be used. Nothing was sampled and nothing was spent."""

    exit_code = 2


class ParameterError(InputError):
    """A parameter is not a number, not finite, or out of its range."""


class DataError(InputError):
    """Data have the wrong type, shape or lattice. The message names types and shapes, never values."""


class MatrixError(InputError):
    """A finite mechanism is malformed: a row that does not sum to one, a negative entry, unequal inputs."""


class SpecificationError(InputError):
    """The five building blocks do not fit together, or a stored specification cannot be read."""


class PrivacyError(QuincunxError):
    """What was asked would break a guarantee, or no guarantee can be stated for it."""

    exit_code = 4


class BudgetError(PrivacyError):
    """A budget does not cover what was asked. Nothing was released and nothing was spent.

    Attributes, exact, all in the parameter that `symbol` names (ε, ρ, μ² or δ): `requested`, `spent`, `remaining`, and
    `affordable`, the largest request that would have been admitted. They are None where the error was made without.
    """

    exit_code = 3

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        got: str = "",
        hint: str = "",
        symbol: str = "",
        requested: Fraction | None = None,
        spent: Fraction | None = None,
        remaining: Fraction | None = None,
        affordable: Fraction | None = None,
    ) -> None:
        super().__init__(what, where=where, got=got, hint=hint)
        self.symbol, self.requested, self.spent = symbol, requested, spent
        self.remaining, self.affordable = remaining, affordable

    def __reduce__(self) -> tuple[object, ...]:
        # The numbers travel as state, beside the four parts of the message.
        return (*super().__reduce__(), dict(self.__dict__))


class MisuseError(PrivacyError, TypeError):
    """A bound was asked of an object whose theorem does not give it. It is also a TypeError."""


class VerificationError(QuincunxError):
    """A result failed its own certified check, so it was not returned."""

    exit_code = 6


class QuincunxWarning(UserWarning):
    """Something is allowed but probably not what was meant."""
