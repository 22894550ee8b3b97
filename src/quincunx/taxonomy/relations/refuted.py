"""Claims that do not hold: each with the world that refutes it, stored and replayed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final

from quincunx.numbers import Ball, Exact, Log, float_above
from quincunx.spec import scaled
from quincunx.taxonomy.relations.language import Setting, language
from quincunx.taxonomy.value import Value
from quincunx.taxonomy.world import World, build

_MAPS: Final[Mapping[str, Callable[[Exact], Exact | Ball]]] = {"ε": lambda x: x, "2ε": lambda x: scaled(x, 2)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refutation:
    """source at its smallest ε on the world was claimed to imply target at `claim`; the world has more.

    right: what holds instead. everywhere: whether the target is infinite, so that no other map helps on such worlds.
    """

    key: str
    source: str
    target: str
    source_settings: Mapping[str, Setting]
    target_settings: Mapping[str, Setting]
    claim: str
    right: str
    world: World

    def replay(self) -> tuple[Value, Value, bool]:
        """The source's value, the target's, and whether the claim fails."""
        one = language(self.source).posed(self.source_settings).tightest(self.world).value
        other = language(self.target).posed(self.target_settings).tightest(self.world).value
        if one.infinite:
            return one, other, False
        known: Exact = one.exact if one.exact is not None else Fraction(one.bounds[1])
        claimed = _MAPS[self.claim](known)
        limit: Exact = claimed if isinstance(claimed, Fraction | Log) else Fraction(float_above(claimed))
        return one, other, other.infinite or other.within(limit) is False

    def __str__(self) -> str:
        one, other, _ = self.replay()
        return f"on the stored world {self.key} {self.source} has {one} and {self.target} has {other}; {self.right}"


@cache
def refutations() -> Mapping[str, Refutation]:
    """All of them, by key."""
    text = (Path(__file__).parents[1] / "catalogue" / "refutations.json").read_text(encoding="utf-8")
    return {key: _read(key, data) for key, data in json.loads(text).items()}


def _read(key: str, data: Mapping[str, Any]) -> Refutation:
    def settings(name: str) -> dict[str, Setting]:
        return {n: v if n == "f" else Fraction(v) for n, v in data.get(name, {}).items()}

    return Refutation(
        key=key,
        source=data["source"],
        target=data["target"],
        source_settings=settings("source_settings"),
        target_settings=settings("target_settings"),
        claim=data["claim"],
        right=data["right"],
        world=build(data["world"]),
    )


def refutation(source: str, target: str) -> str:
    """Why one definition at no parameters implies another; empty where nothing is known."""
    for each in refutations().values():
        if (each.source, each.target) == (source, target) and each.replay()[1].infinite:
            return str(each)
    return ""
