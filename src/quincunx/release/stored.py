"""What a ledger keeps of an answer: keys, noisy integers and the noise's parameters. Everything shown follows from it.

The form is JSON that stays readable for ever: names are never removed and never change their meaning; what is unknown
is refused. Confidence, rounding, tidying and the order of rows are post-processing and are not stored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np

from quincunx.errors import DataError, kind_of
from quincunx.loss import Loss
from quincunx.mechanisms import Mechanism, from_json
from quincunx.release.pricing import Noisy, Priced
from quincunx.table import Value

FORMAT: Final = "quincunx/answer/1"


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A stored answer. injected: drawn under an injected key, and therefore not private."""

    noisy: Noisy
    mechanisms: tuple[Mechanism, ...]
    loss: Loss
    injected: bool

    @cached_property
    def origin(self) -> str:
        """A name for what was drawn: a digest of the keys, the noisy numbers and their noise."""
        parts = [repr(self.noisy.keys), *(repr(each.tolist()) for each in self.noisy.measures), repr(self.mechanisms)]
        return hashlib.sha256("\n".join(parts).encode("utf-8")).hexdigest()


def encode(priced: Priced, noisy: Noisy, *, injected: bool) -> dict[str, Any]:
    """The answer as a JSON value."""
    return {
        "format": FORMAT,
        "injected": injected,
        "loss": json.loads(priced.loss.to_json()),
        # Only where it was chosen: other answers are stored as they always were.
        **({} if noisy.rows is None else {"limits": {"rows": noisy.rows}}),
        "noise": [each.mechanism.to_json() for each in priced.at(noisy.rows).measurements],
        "keys": [[value_out(value) for value in key] for key in noisy.keys],
        "measures": [numbers.tolist() for numbers in noisy.measures],
    }


def to_bytes(data: Mapping[str, Any]) -> bytes:
    """The JSON text of one answer, or of a batch {name: answer}."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def from_bytes(content: bytes) -> dict[str, Any]:
    """What `to_bytes` wrote."""
    data = json.loads(content.decode("utf-8"))
    if not isinstance(data, dict):
        raise DataError("a stored answer cannot be read", where="ledger", got=kind_of(data))
    return data


def decode(data: Mapping[str, Any]) -> Stored:
    """The answer that `encode` wrote."""
    if data.get("format") != FORMAT:
        got, hint = str(data.get("format"))[:40], "A newer version wrote it: update Quincunx."
        raise DataError(f"expected a stored answer of format {FORMAT}", where="ledger", got=got, hint=hint)
    return Stored(
        noisy=Noisy(
            keys=tuple([tuple([value_in(value) for value in key]) for key in data["keys"]]),
            measures=tuple(np.array(numbers, dtype=np.int64) for numbers in data["measures"]),
            rows=None if "limits" not in data else int(data["limits"]["rows"]),
        ),
        mechanisms=tuple(from_json(each) for each in data["noise"]),
        loss=Loss.from_json(json.dumps(data["loss"])),
        injected=bool(data["injected"]),
    )


# Numbers with decimals, dates and times are marked; the rest is JSON's own.
_OUT: Final[dict[type, Callable[[Any], object]]] = {
    Fraction: lambda value: {"decimal": str(value)},
    datetime: lambda value: {"timestamp": value.isoformat()},
    date: lambda value: {"date": value.isoformat()},
}
_IN: Final[dict[str, Callable[[str], Value]]] = {
    "decimal": Fraction,
    "timestamp": datetime.fromisoformat,
    "date": date.fromisoformat,
}


def value_out(value: Value) -> object:
    """A key as JSON."""
    mark = _OUT.get(type(value))
    return value if mark is None else mark(value)


def value_in(value: Any) -> Value:
    """The key that `value_out` wrote."""
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    (mark, text), *rest = value.items()
    if rest or mark not in _IN:
        raise DataError("unknown kind of key", where="ledger", got=str(mark)[:40], hint="Update Quincunx.")
    return _IN[mark](text)
