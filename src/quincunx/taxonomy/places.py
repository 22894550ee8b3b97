"""JSON with places: the value, and the line on which each part of it begins."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Final, TypeAlias

from quincunx.errors import WorldError

Path: TypeAlias = tuple[str, ...]

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_WORD: Final = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|null")
_DEEPEST: Final = 40


def read(text: str) -> tuple[object, dict[Path, int]]:
    """The value of a JSON text and path → line. Numbers stay texts, so that a decimal means its digits."""
    reader = _Reader(text)
    value, end = reader.value(reader.skip(0), (), 0)
    if reader.skip(end) != len(text):
        raise reader.wrong("something follows the end of the value", end)
    return value, reader.lines


def shown(path: Path, lines: dict[Path, int]) -> str:
    """A path with its line, or with the line of the nearest part around it that has one."""
    name = ".".join(path) or "the file"
    for size in range(len(path), -1, -1):
        if path[:size] in lines:
            return f"{name}, line {lines[path[:size]]}"
    return name


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: dict[Path, int] = {}

    def skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def wrong(self, what: str, at: int) -> WorldError:
        line = self.text.count("\n", 0, at) + 1
        return WorldError(what, where=f"line {line}", got="no JSON", hint="A world file is one JSON object.")

    def value(self, at: int, path: Path, depth: int) -> tuple[object, int]:
        self.lines.setdefault(path, self.text.count("\n", 0, at) + 1)
        if depth > _DEEPEST:
            raise self.wrong("the value is nested too deeply", at)
        start = self.text[at : at + 1]
        if start == "{":
            return self.members(at + 1, path, depth)
        if start == "[":
            return self.items(at + 1, path, depth)
        if start == '"':
            return self.string(at)
        found = _WORD.match(self.text, at)
        if not found:
            raise self.wrong("expected a value", at)
        word = found.group()
        return {"true": True, "false": False, "null": None}.get(word, word), found.end()

    def string(self, at: int) -> tuple[str, int]:
        try:
            found: tuple[str, int] = scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as error:
            raise self.wrong("a text does not end, or holds a character that JSON forbids", error.pos) from None
        return found

    def members(self, at: int, path: Path, depth: int) -> tuple[object, int]:
        data: dict[str, object] = {}
        at = self.skip(at)
        if self.text[at : at + 1] == "}":
            return data, at + 1
        while True:
            if self.text[at : at + 1] != '"':
                raise self.wrong("expected a name in quotation marks", at)
            name, end = self.string(at)
            if name in data:
                here = f"{'.'.join(path) or 'the file'}, line {self.text.count(chr(10), 0, at) + 1}"
                raise WorldError("a name occurs twice", where=here, got=repr(name)[:60])
            end = self.skip(end)
            if self.text[end : end + 1] != ":":
                raise self.wrong("expected a colon", end)
            data[name], end = self.value(self.skip(end + 1), (*path, name), depth + 1)
            at = self.skip(end)
            mark = self.text[at : at + 1]
            if mark == "}":
                return data, at + 1
            if mark != ",":
                raise self.wrong("expected a comma or a closing brace", at)
            at = self.skip(at + 1)

    def items(self, at: int, path: Path, depth: int) -> tuple[object, int]:
        data: list[object] = []
        at = self.skip(at)
        if self.text[at : at + 1] == "]":
            return data, at + 1
        while True:
            value, end = self.value(at, (*path, str(len(data))), depth + 1)
            data.append(value)
            at = self.skip(end)
            mark = self.text[at : at + 1]
            if mark == "]":
                return data, at + 1
            if mark != ",":
                raise self.wrong("expected a comma or a closing bracket", at)
            at = self.skip(at + 1)
