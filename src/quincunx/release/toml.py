"""A TOML document whose every value knows its place, so that every error says file and line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path as File
from typing import Any, TypeVar

from quincunx.errors import InputError, ParameterError, QuincunxError, cause
from quincunx.release.toml_lines import Path, line_index

T = TypeVar("T")

# A fraction after an equals sign, a comma or a bracket: TOML has none.
_FRACTION = re.compile(r"[=,\[{]\s*([+-]?[\d.]+)\s*/\s*(\d+)(?![\d/.])")
_KINDS = {str: "a text", bool: "true or false", int: "a whole number", dict: "a table", list: "a list"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value of a TOML document, with the path that leads to it.

    file: as the reader named it; index: key path → line.
    """

    file: str
    index: Mapping[Path, int]
    path: Path
    value: Any

    @property
    def line(self) -> int:
        """The line on which the value's key stands; that of the nearest key above it where it has none."""
        path = self.path
        while path not in self.index:
            path = path[:-1]
        return self.index[path]

    @property
    def place(self) -> str:
        """`plan.toml:12: spec.unit`."""
        name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path).lstrip(".")
        return f"{self.file}:{self.line}" + (f": {name}" if name else "")

    def wrong(self, what: str, *, got: str = "", hint: str = "") -> ParameterError:
        """An error about this value."""
        error = ParameterError(what, where=self.place, got=got, hint=hint)
        error.path = self.path
        return error

    @contextmanager
    def located(self) -> Iterator[None]:
        """Errors about what was typed get this place in front of their own."""
        try:
            yield
        except InputError as error:
            error.path = self.path
            raise placed(error, self.place) from None

    def child(self, key: str | int) -> Node:
        """The value under a key or position that exists."""
        return Node(file=self.file, index=self.index, path=(*self.path, key), value=self.value[key])

    def at(self, path: Path) -> Node:
        """The value that the path leads to, or the nearest above it that is there."""
        node = self
        for key in path:
            found = node._spelled(key)
            if found is None:
                break
            node = node.child(found)
        return node

    def _spelled(self, key: str | int) -> str | int | None:
        """The key as it is written here; names of columns and tables are compared without case."""
        if isinstance(self.value, list):
            return key if isinstance(key, int) and key < len(self.value) else None
        names = self.value if isinstance(self.value, dict) else ()
        same = [name for name in names if name.lower() == str(key).lower()]
        return key if key in names else same[0] if len(same) == 1 else None

    def members(self, known: tuple[str, ...] | None = None) -> dict[str, Node]:
        """The members of a table; with `known`, others are refused and the nearest known name is suggested."""
        self.expect(dict)
        for key in self.value:
            if known is not None and key not in known:
                near = get_close_matches(key, known, n=1)
                hint = f"Did you mean {near[0]}?" if near else f"Known here: {', '.join(known)}."
                raise self.child(key).wrong("unknown key", got=repr(key), hint=hint)
        return {key: self.child(key) for key in self.value}

    def elements(self) -> list[Node]:
        """The elements of an array."""
        self.expect(list)
        return [self.child(position) for position in range(len(self.value))]

    def text(self) -> str:
        """A text that is not empty."""
        self.expect(str)
        if not self.value:
            raise self.wrong("must not be empty")
        return str(self.value)

    def flag(self) -> bool:
        """true or false."""
        self.expect(bool)
        return bool(self.value)

    def number(self, read: Callable[[Any, str], T]) -> T:
        """A number, or a text that denotes one, as `read(value, name)` understands it."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | Decimal | Fraction | str):
            raise self.wrong("expected a number", got=_kind(self.value), hint='Write 2, 0.05 or "1/3".')
        with self.located():
            return read(self.value, "")

    def expect(self, kind: type) -> None:
        """Raise unless the value is of this kind."""
        if type(self.value) is not kind:
            raise self.wrong(f"expected {_KINDS[kind]}", got=_kind(self.value))


def read_toml(file: File) -> Node:
    """The document in `file`. Decimals stay the decimals that were typed."""
    try:
        # Some editors put a mark of the encoding in front.
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError("the plan cannot be read", where=str(file), got=cause(error)) from None
    text = text.replace("\r\n", "\n")
    try:
        value = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        reason, _, place = str(error).rpartition(" (at ")
        digits = "".join(character for character in place.partition(",")[0] if character.isdigit())
        line = int(digits) if digits else text.count("\n") + 1
        hint = _unquoted(text.split("\n")[line - 1])
        raise ParameterError("not valid TOML", where=f"{file}:{line}", got=reason or str(error), hint=hint) from None
    except RecursionError:
        raise ParameterError("nested too deeply", where=str(file)) from None
    return Node(file=str(file), index=line_index(text), path=(), value=value)


def _unquoted(line: str) -> str:
    """What to write where a line holds a fraction that is no text."""
    found = _FRACTION.search(line)
    return "" if found is None else f'Quote the fraction: "{found[1]}/{found[2]}".'


def placed(error: QuincunxError, place: str) -> QuincunxError:
    """The same error, attributes and all, with `place` in front of where it happened."""
    moved = type(error).__new__(type(error))
    moved.__dict__.update(error.__dict__)
    where = f"{place}: {error.where}" if error.where else place
    QuincunxError.__init__(moved, error.what, where=where, got=error.got, hint=error.hint)
    return moved


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number" if isinstance(value, Decimal) else type(value).__name__)
