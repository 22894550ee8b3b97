"""Where each value of a TOML text stands: key path → line number. `tomllib` reads values but keeps no lines.

The text has been read by `tomllib` before, so it is valid TOML and this scanner only has to find its way through it.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_right
from typing import TypeAlias

# The keys that lead to a value; positions in arrays are whole numbers from 0.
Path: TypeAlias = tuple[str | int, ...]

_BARE_END = frozenset(" \t\r\n,]}#=.")


def line_index(text: str) -> dict[Path, int]:
    """The line, counted from 1, on which each key of valid TOML is written; `()` is line 1."""
    return _Scanner(text).index()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._starts = [0, *(i + 1 for i, character in enumerate(text) if character == "\n")]
        self._found: dict[Path, int] = {(): 1}
        # How many elements each array of tables has so far.
        self._arrays: dict[Path, int] = {}

    def index(self) -> dict[Path, int]:
        base: Path = ()
        self._skip()
        while self._at < len(self._text):
            if self._text.startswith("[[", self._at):
                base = self._array_header()
            elif self._text[self._at] == "[":
                self._at += 1
                base = self._header()
                self._at += 1
            else:
                self._pair(base)
            self._skip()
        return self._found

    def _array_header(self) -> Path:
        line = self._line()
        self._at += 2
        *above, last = self._key()
        self._at += 2
        array = (*self._resolved(above, line), last)
        self._arrays[array] = self._arrays.get(array, 0) + 1
        element = (*array, self._arrays[array] - 1)
        self._note(array, line)
        self._note(element, line)
        return element

    def _header(self) -> Path:
        line = self._line()
        return self._resolved(self._key(), line)

    def _resolved(self, keys: list[str], line: int) -> Path:
        """The path of a header, with the last element wherever it leads through an array of tables."""
        path: Path = ()
        for key in keys:
            path = (*path, key)
            self._note(path, line)
            if path in self._arrays:
                path = (*path, self._arrays[path] - 1)
        return path

    def _pair(self, base: Path) -> None:
        line = self._line()
        for key in self._key():
            base = (*base, key)
            self._note(base, line)
        self._skip()
        self._at += 1  # the equals sign
        self._skip()
        self._value(base)

    def _key(self) -> list[str]:
        keys = []
        while True:
            self._blanks()
            keys.append(self._one_key())
            self._blanks()
            if self._at >= len(self._text) or self._text[self._at] != ".":
                return keys
            self._at += 1

    def _one_key(self) -> str:
        start = self._at
        if self._text[start] in "\"'":
            self._string()
            # The reader of values decodes the quotes, so that both agree on the name.
            return str(tomllib.loads(f"k = {self._text[start : self._at]}")["k"])
        self._bare()
        return self._text[start : self._at]

    def _value(self, path: Path) -> None:
        opening = self._text[self._at]
        if opening in "\"'":
            self._string()
        elif opening == "[":
            self._elements(path)
        elif opening == "{":
            self._members(path)
        else:
            # Numbers and dates contain points, dates may contain one space; neither contains these.
            while self._at < len(self._text) and self._text[self._at] not in ",]}#\n":
                self._at += 1

    def _elements(self, path: Path) -> None:
        self._at += 1
        position = 0
        self._skip()
        while self._text[self._at] != "]":
            self._note((*path, position), self._line())
            self._value((*path, position))
            position += 1
            self._comma()
        self._at += 1

    def _members(self, path: Path) -> None:
        self._at += 1
        self._skip()
        while self._text[self._at] != "}":
            self._pair(path)
            self._comma()
        self._at += 1

    def _comma(self) -> None:
        self._skip()
        if self._text[self._at] == ",":
            self._at += 1
            self._skip()

    def _string(self) -> None:
        quote = self._text[self._at]
        fence = quote * 3 if self._text.startswith(quote * 3, self._at) else quote
        self._at += len(fence)
        while not self._text.startswith(fence, self._at):
            self._at += 2 if quote == '"' and self._text[self._at] == "\\" else 1
        self._at += len(fence)
        # Up to two quotes may stand before the closing three.
        while len(fence) == 3 and self._text.startswith(quote, self._at):
            self._at += 1

    def _bare(self) -> None:
        while self._at < len(self._text) and self._text[self._at] not in _BARE_END:
            self._at += 1

    def _blanks(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in " \t":
            self._at += 1

    def _skip(self) -> None:
        """Past blanks, line ends and comments."""
        while self._at < len(self._text) and self._text[self._at] in " \t\r\n#":
            if self._text[self._at] == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                self._at += 1

    def _line(self) -> int:
        return bisect_right(self._starts, self._at)

    def _note(self, path: Path, line: int) -> None:
        self._found.setdefault(path, line)
