"""What every choice of every dimension says about itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import ClassVar


class Choice(ABC):
    """A value along one dimension. phrase: its part of the informal sentence; formula: its part of the formal one."""

    __slots__ = ()

    letter: ClassVar[str]
    default: ClassVar[bool] = False
    # parts of a world without which the choice has no meaning
    needs: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        """The class's name in words: "ZeroKnowledge" is "zero knowledge"."""
        text = type(self).__name__
        return "".join(f" {c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(text))

    @property
    def settings(self) -> dict[str, object]:
        """The parameters that are stated."""
        return {f.name: getattr(self, f.name) for f in fields(self)} if is_dataclass(self) else {}

    @abstractmethod
    def phrase(self) -> str:
        """Its part of the survey's sentence."""

    @abstractmethod
    def formula(self) -> str:
        """Its part of the formal statement, in LaTeX."""


def tex(value: object) -> str:
    """A number in LaTeX."""
    if isinstance(value, Fraction) and value.denominator != 1:
        return rf"\tfrac{{{value.numerator}}}{{{value.denominator}}}"
    return str(value)
