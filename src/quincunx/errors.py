"""One tree of errors.

QuincunxError
├── InputError            what was typed cannot be used (also a ValueError); command line exit code 2
│   ├── ParameterError    a parameter is out of range or not a number
│   ├── DataError         data of a wrong type, shape or lattice
│   ├── MatrixError       a finite mechanism is malformed
│   ├── WorldError        a world file of the taxonomy is malformed, or misses what a definition needs
│   ├── QueryError        a question cannot be read: its grammar, a name or a type; shows the place
│   └── SpecificationError  the five blocks do not fit together, or a stored one cannot be read
├── PrivacyError          what was asked would break, or cannot state, a guarantee; exit code 4
│   ├── BudgetError       a budget does not cover what was asked; nothing was spent; exit code 3
│   ├── RefusalError      a question asks for what cannot be released; shows the place and what to write
│   ├── RegistrationError a dataset is not registered, or differs from what is registered
│   └── MisuseError       a bound was asked of an object whose theorem does not give it (also a TypeError)
├── UnavailableError      an engine or a ledger cannot be used now; exit code 5
│   └── HaltedError       an engine failed on the rows of a dataset, which answers nothing until it is reopened
└── VerificationError     a result or a record failed its check; exit code 6

QuincunxWarning           allowed, but probably not what was meant

Every message says what is wrong, where, what was got, and what to do. `got` never holds a private value:
callers pass types, shapes and parameters, not data. No part holds the password of an address that somebody typed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Self

from quincunx.address import masked, masked_in_place


class QuincunxError(Exception):
    """Root of the tree. Attributes: `what`, `where`, `got`, `hint`; the last three may be empty.

    path: the keys that lead to what is wrong in a plan file, as ("tables", "visits", "columns", "age"); empty where
    nothing of a plan is meant.
    """

    exit_code = 1
    path: tuple[str | int, ...] = ()

    def __init__(self, what: str, *, where: str = "", got: str = "", hint: str = "") -> None:
        what, where, got, hint = (masked(part) for part in (what, where, got, hint))
        self.what, self.where, self.got, self.hint = what, where, got, hint
        _mask_handled(sys.exception())
        sentence = f"{where}: {what}" if where else what
        if got:
            sentence += f"; got {got}"
        if hint:
            sentence += f". {hint}"
        super().__init__(sentence)

    @property
    def details(self) -> dict[str, str]:
        """What a program may want to know besides the message, as text; amounts are exact fractions."""
        return {}

    def __reduce__(self) -> tuple[object, ...]:
        # Further attributes travel as state, beside the four parts of the message.
        return _rebuild, (type(self), self.what, self.where, self.got, self.hint), dict(self.__dict__)


@contextmanager
def under(*keys: str | int) -> Iterator[None]:
    """Errors of the block are about what stands under these keys of a plan: they go in front of the error's path."""
    try:
        yield
    except QuincunxError as error:
        error.path = (*keys, *error.path)
        raise


def _mask_handled(error: BaseException | None) -> None:
    """The error that is being handled stays reachable as __context__, also after `from None`: no password there."""
    if error is None or isinstance(error, QuincunxError):
        return
    # Files of an OSError, the document of a JSONDecodeError, the object of a UnicodeError, and the like.
    for name in ("filename", "filename2", "object", *getattr(error, "__dict__", ())):
        text = getattr(error, name, None)
        if isinstance(text, str) and masked(text) != text:
            setattr(error, name, masked(text))
    if any(isinstance(part, str) and masked(part) != part for part in error.args):
        error.args = tuple(masked(part) if isinstance(part, str) else part for part in error.args)


# What an operating system or a reader of bytes says, for people; a class's name helps nobody.
_CAUSES: tuple[tuple[type[BaseException], str], ...] = (
    (FileNotFoundError, "no such file or folder"),
    (PermissionError, "no permission"),
    (IsADirectoryError, "a folder"),
    (NotADirectoryError, "a path that goes through a file"),
    (FileExistsError, "a file that exists already"),
    (UnicodeError, "bytes that are no UTF-8"),
    (RecursionError, "something nested too deeply"),
    (MemoryError, "more than fits into memory"),
)


def cause(error: BaseException) -> str:
    """Why something could not be read or written, in words that hold no value: for `got`."""
    for kind, words in _CAUSES:
        if isinstance(error, kind):
            return words
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno).lower()
    return _SPOKEN.get(type(error).__name__, type(error).__name__)


# By name, because their modules need not be installed or loaded.
_SPOKEN = {
    "JSONDecodeError": "a text that is no JSON",
    "IOException": "a file that cannot be opened",
    "InvalidInputException": "a file of another kind",
    "ConversionException": "a value of another type",
    "BinderException": "a column that is not there",
    "OutOfMemoryException": "more than fits into memory",
}


# What plan files hold too, and so people who do not write Python.
_KINDS = {type(None): "nothing", str: "a text", bool: "true or false", dict: "a mapping", list: "a list"}


def kind_of(value: object) -> str:
    """What was given, for `got`: what it is in words, or that it is empty where only that can be wrong."""
    if isinstance(value, str) and not value.strip():
        return "an empty text"
    return _KINDS.get(type(value), type(value).__name__)


def _rebuild(kind: type[QuincunxError], what: str, where: str, got: str, hint: str) -> QuincunxError:
    return kind(what, where=where, got=got, hint=hint)


class _Placed:
    """A place in a question: characters `start` to `end` (not included) of `sql`; no place where `sql` is empty."""

    sql: str = ""
    start: int = 0
    end: int = 0

    def at(self, sql: str, start: int, end: int) -> Self:
        """The same error, with its place."""
        self.sql, self.start, self.end = masked_in_place(sql), start, end
        return self

    @property
    def excerpt(self) -> str:
        """The line of the question with the place underlined; empty without a place."""
        if not self.sql:
            return ""
        first = self.sql.rfind("\n", 0, self.start) + 1
        last = self.sql.find("\n", first)
        line = self.sql[first:] if last < 0 else self.sql[first:last]
        start, end = self.start - first, min(self.end - first, len(line))
        # A long line is shown around the place only.
        cut = max(0, start - 60) if len(line) > 120 else 0
        shown = line[cut : start + 60] if len(line) > 120 else line
        mark = " " * (start - cut) + "^" * max(1, min(end, cut + len(shown)) - start)
        shown = "".join(character if character.isprintable() else " " for character in shown)
        return f"  {shown.rstrip()}\n  {mark}"

    def __str__(self) -> str:
        excerpt = self.excerpt
        return f"{super().__str__()}\n{excerpt}" if excerpt else super().__str__()


class InputError(QuincunxError, ValueError):
    """What was typed cannot be used. Nothing was sampled and nothing was spent."""

    exit_code = 2


class ParameterError(InputError):
    """A parameter is not a number, not finite, or out of its range."""


class DataError(InputError):
    """Data have the wrong type, shape or lattice. The message names types and shapes, never values."""


class MatrixError(InputError):
    """A finite mechanism is malformed: a row that does not sum to one, a negative entry, unequal inputs."""


class WorldError(InputError):
    """A world of the taxonomy is malformed, or lacks what a definition needs. It names the place in the file."""


class SpecificationError(InputError):
    """The five building blocks do not fit together, or a stored specification cannot be read."""


class QueryError(_Placed, InputError):
    """A question cannot be read: its grammar, a name or a type. Nothing was read and nothing was spent.

    Attributes: `sql`, `start`, `end`, the place in the question; `excerpt`, its line with the place underlined.
    """


class PrivacyError(QuincunxError):
    """What was asked would break a guarantee, or no guarantee can be stated for it."""

    exit_code = 4


class BudgetError(PrivacyError):
    """A budget does not cover what was asked. Nothing was released and nothing was spent.

    Attributes, exact, all in the parameter that `symbol` names (ε, ρ, μ² or δ): `requested`, `spent`, `remaining`, and
    `affordable`, the largest request that would have been admitted. They are None where the error was made without.
    `budget` says which of a ledger's budgets refused: "dataset", "plan" or "analyst".
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
        budget: str = "",
    ) -> None:
        super().__init__(what, where=where, got=got, hint=hint)
        self.budget = budget
        self.symbol, self.requested, self.spent = symbol, requested, spent
        self.remaining, self.affordable = remaining, affordable

    @property
    def details(self) -> dict[str, str]:
        """The amounts that are known, which parameter they are in, and whose budget refused."""
        names = ("budget", "symbol", "requested", "spent", "remaining", "affordable")
        return {name: str(value) for name in names if (value := getattr(self, name)) not in ("", None)}


class RefusalError(_Placed, PrivacyError):
    """A question asks for what cannot be released privately. No private row was read and nothing was spent.

    Attributes: `sql`, `start`, `end`, the place in the question; `excerpt`, its line with the place underlined.
    """


class RegistrationError(PrivacyError):
    """A dataset is not registered, or what was asked differs from what is registered. Nothing was spent."""


class MisuseError(PrivacyError, TypeError):
    """A bound was asked of an object whose theorem does not give it. It is also a TypeError."""


class UnavailableError(QuincunxError):
    """An engine or a ledger cannot be used now: locked, full, read-only, missing, or of another format."""

    exit_code = 5


class HaltedError(UnavailableError):
    """An engine failed on the rows of a dataset. It answers nothing new until its curator reopens it.

    The same sentence for everyone, so that nobody learns on which question it failed.
    """


class VerificationError(QuincunxError):
    """A result failed its own certified check and was not returned, or a stored record is not what was recorded."""

    exit_code = 6


class QuincunxWarning(UserWarning):
    """Something is allowed but probably not what was meant."""
