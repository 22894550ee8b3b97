"""Two sentences of a plan that are written as in SQL: a published fact, and a rule of structural zeros.

They are read by a grammar of their own, a few words wide; what it does not know is refused with what to write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from quincunx.errors import ParameterError

_FACT: Final = re.compile(
    r"\s*SELECT\s+(?P<items>.+?)\s+FROM\s+(?:persons|people|households)\s*(?:GROUP\s+BY\s+(?P<by>[\w\s,().]+?))?\s*;?\s*",
    re.IGNORECASE | re.DOTALL,
)
_ALIAS: Final = re.compile(r"\s+AS\s+\w+\s*$", re.IGNORECASE)
_PREFIX: Final = re.compile(r"SUBSTR(?:ING)?\s*\(\s*(\w+)\s*,\s*1\s*,\s*(\d+)\s*\)", re.IGNORECASE)
_TERM: Final = re.compile(r"\s*(\w+)\s*(?:=\s*(?P<one>'[^']*'|[\w.+-]+)|IN\s*\((?P<many>[^()]*)\))\s*", re.IGNORECASE)


def fact(text: str, levels: Mapping[str, Any], where: str) -> tuple[str, str]:
    """(level, query) of SELECT SUBSTRING(code, 1, n) AS level, attribute, …, COUNT(*) FROM persons GROUP BY ….

    A level may also be named by its own column. Without a level the fact is about the first.
    """
    match = _FACT.fullmatch(text)
    items = [] if match is None else [_ALIAS.sub("", item).strip() for item in _split(match["items"])]
    counts = [item for item in items if re.fullmatch(r"COUNT\s*\(\s*\*\s*\)", item, re.IGNORECASE)]
    if match is None or len(counts) != 1:
        hint = "Write SELECT SUBSTRING(code, 1, 2) AS state, race, COUNT(*) AS n FROM persons GROUP BY 1, 2."
        raise ParameterError("cannot read this published fact", where=where, got=ascii(text)[:80], hint=hint)
    rest = [item for item in items if item not in counts]
    names = list(levels["columns"] if "columns" in levels else levels.get("names", ()))
    found, parts = None, []
    for item in rest:
        level = _level(item, levels, names)
        if level is None:
            parts.append(item)
        elif found is not None:
            raise ParameterError("a fact is about one level", where=where, got=f"{found} and {level}")
        else:
            found = level
    if len(_split(match["by"] or "")) != len(rest):
        hint = "Group by every column that is selected."
        raise ParameterError("the groups differ from what is selected", where=where, got=match["by"] or "", hint=hint)
    return found or names[0], "*".join(parts) or "total"


def rule(text: str, where: str) -> dict[str, list[str]]:
    """attribute → values of a rule such as votingage = 0 AND gq IN ('nursing', 'college')."""
    found: dict[str, list[str]] = {}
    for part in re.split(r"\s+AND\s+", text.strip(), flags=re.IGNORECASE):
        match = _TERM.fullmatch(part)
        if match is None or match[1] in found:
            hint = "Write votingage = 0 AND gq IN ('nursing', 'college')."
            raise ParameterError("cannot read this rule", where=where, got=ascii(part)[:80], hint=hint)
        values = [match["one"]] if match["one"] is not None else _split(match["many"])
        found[match[1]] = [value.strip().strip("'") for value in values]
    return found


def _level(item: str, levels: Mapping[str, Any], names: list[str]) -> str | None:
    match = _PREFIX.fullmatch(item)
    if match is not None and match[1] == levels.get("column") and int(match[2]) in levels.get("prefix", ()):
        return str(names[list(levels["prefix"]).index(int(match[2]))])
    if item == levels.get("column"):
        return str(names[-1])
    return item if item in names else None


def _split(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    parts, depth, now = [], 0, ""
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            parts.append(now.strip())
            now = ""
        else:
            now += sign
    return [*parts, now.strip()] if now.strip() or parts else []
