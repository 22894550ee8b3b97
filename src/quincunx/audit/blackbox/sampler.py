"""Where outputs come from: any callable, called once for each output, or one that returns many at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Final

from quincunx.errors import DataError, ParameterError, kind_of

_SHOWN: Final = 80


def shown(value: object) -> str:
    """An input in an error or a report: its repr, cut where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


@dataclass(frozen=True, slots=True)
class Raised:
    """An output of its own: the callable raised an exception of this type."""

    kind: str
    message: str = ""

    def __eq__(self, other: object) -> bool:
        # Messages may hold addresses or times: the type is what is observed.
        return isinstance(other, Raised) and self.kind == other.kind

    def __hash__(self) -> int:
        return hash(self.kind)

    def __repr__(self) -> str:
        return f"raises {self.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler:
    """A mechanism as the auditor sees it: a dataset goes in, an output comes out, independently every time.

    function: dataset → output, or (dataset, size) → `size` outputs where `vectorised`. name: for reports.
    """

    function: Callable[..., Any]
    vectorised: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        given: object = self.function
        if not callable(given):
            hint = "Pass a function from a dataset to an output."
            raise ParameterError("expected a callable", where="sampler", got=kind_of(given), hint=hint)
        name = self.name or getattr(given, "__qualname__", type(given).__name__)
        object.__setattr__(self, "name", name)

    @classmethod
    def one(cls, function: Callable[[Any], Any], name: str = "") -> Sampler:
        """A function from a dataset to one output."""
        return cls(function=function, name=name)

    @classmethod
    def many(cls, function: Callable[[Any, int], Any], name: str = "") -> Sampler:
        """A function from (dataset, size) to `size` independent outputs: an array whose first axis counts them."""
        return cls(function=function, vectorised=True, name=name)

    @classmethod
    def read(cls, sampler: Sampler | Callable[[Any], Any]) -> Sampler:
        """A Sampler as it is; any other callable is called once for each output."""
        return sampler if isinstance(sampler, Sampler) else cls(function=sampler)

    def draw(self, dataset: object, size: int) -> Sequence[Any]:
        """`size` outputs. Where one call makes one output, an exception is an output: `Raised`."""
        return self._many(dataset, size) if self.vectorised else [self._one(dataset) for _ in range(size)]

    def _one(self, dataset: object) -> Any:
        try:
            return self.function(dataset)
        except Exception as error:
            return Raised(type(error).__name__, " ".join(str(error).split())[:_SHOWN])

    def _many(self, dataset: object, size: int) -> Sequence[Any]:
        where = f"{self.name}({shown(dataset)}, {size})"
        try:
            outputs = self.function(dataset, size)
        except Exception as error:
            hint = "An exception is an output only where one call makes one output."
            what, got = "the vectorised callable raised", f"{type(error).__name__}: {error}"
            raise DataError(what, where=where, got=got[:200], hint=hint) from error
        if not isinstance(outputs, Sized) or not hasattr(outputs, "__getitem__") or len(outputs) != size:
            got = f"{len(outputs)} outputs" if isinstance(outputs, Sized) else type(outputs).__name__
            hint = "Return an array or a list with one entry for each output."
            raise DataError(f"a vectorised callable returns {size} outputs", where=where, got=got, hint=hint)
        return outputs  # type: ignore[return-value]
