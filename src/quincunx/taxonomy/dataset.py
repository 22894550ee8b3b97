"""What a world is made of: records, datasets, kernels, and pairs of what may be seen and what must stay hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

# one record: a text, or a tuple of attributes; None where nobody is
Record: TypeAlias = str | tuple[str, ...]
Dataset: TypeAlias = tuple[Record | None, ...]
Kernel: TypeAlias = Mapping[str, Mapping[str, Fraction]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coupling:
    """A pair (agg, priv): what a simulator may see of a dataset, and what must stay hidden."""

    aggregate: Kernel
    private: Mapping[str, str]
