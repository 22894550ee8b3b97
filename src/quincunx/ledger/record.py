"""Records: what happened, in order, each bound to the one before by its hash.

The constitution of records: a kind is never removed and its meaning never changes; a new kind needs a new format, which
older versions refuse; what is not known is refused. A ledger of format 1 is used as it is until the first record that
format 1 does not know; that record's own transaction makes it format 2. Format 3 has the same records and keeps what
is worked out from them in rows that are only added (`store.py`). Format 4 is format 3 with the record that ends a
ledger which goes on in another place.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from quincunx.errors import ParameterError, UnavailableError
from quincunx.ledger.canonical import digest, dumped

# The format of a new file.
FORMAT: Final = 3
# kind → the keys of its body
KINDS: Final[dict[str, frozenset[str]]] = {
    "registration": frozenset({"dataset", "specification", "budgets"}),
    "amendment": frozenset({"dataset", "specification", "budgets", "reason"}),
    "reservation": frozenset({"dataset", "version", "question", "asked", "cost", "delta", "analyst", "plan"}),
    "answer": frozenset({"dataset", "question", "digest", "size"}),
    "replay": frozenset({"dataset", "question", "analyst", "cost", "delta"}),
    "external": frozenset({"dataset", "cost", "delta", "note", "when"}),
    # Format 2. version of "reopened": the new one that reopened the dataset; None where a reason did.
    "halted": frozenset({"dataset", "version"}),
    "reopened": frozenset({"dataset", "version", "reason"}),
    # Format 4. ledger: which one it goes on in, of all that exist; address: where that was.
    "moved": frozenset({"ledger", "address"}),
}
# kind → the first format that can hold it, where that is not 1.
SINCE: Final = {"halted": 2, "reopened": 2, "moved": 4}
# How every chain begins, whatever the format: a head that was printed once stays a head.
GENESIS: Final = digest("quincunx/ledger/1")
_SHOWN: Final = 32
_HEAD: Final = re.compile(r"(0|[1-9][0-9]{0,17}):([0-9a-f]{16,64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record. `hash` is SHA-256 of the others, so that it fixes this record and all before it.

    seq: 1, 2, 3, …  time: UTC, ISO 8601. kind: registration, amendment, reservation, answer, replay, external, halted,
    reopened or moved. body: what happened, as JSON. previous: the hash of the record before.
    """

    seq: int
    time: str
    kind: str
    body: dict[str, Any]
    previous: str
    hash: str

    def to_json(self) -> str:
        """The record as one line of canonical JSON."""
        return dumped({name: getattr(self, name) for name in self.__slots__})


def chained(seq: int, time: str, kind: str, body: str, previous: str) -> str:
    """The hash of a record: SHA-256 of the canonical JSON list of its parts, `body` as stored."""
    return digest(dumped([seq, time, kind, body, previous]))


def decoded(row: tuple[Any, ...]) -> Record:
    """The record of a row (seq, time, kind, body, previous, hash). A kind that is not known is refused."""
    seq, time, kind, body, previous, hashed = row
    try:
        data = json.loads(body)
        known = isinstance(data, dict) and data.keys() == KINDS[kind]
    except (KeyError, TypeError, ValueError):
        known = False
    if not known:
        hint = "Update Quincunx if a newer version wrote it; otherwise `quincunx ledger verify` says what is wrong."
        raise UnavailableError(f"record {seq} cannot be read: its kind or content is not known", hint=hint)
    return Record(seq=seq, time=time, kind=kind, body=data, previous=previous, hash=hashed)


def head_text(seq: int, hashed: str) -> str:
    """The head as it is printed: the number of records, a colon, the first 32 hexadecimal digits of the last hash."""
    return f"{seq}:{hashed[:_SHOWN]}"


def read_head(text: object) -> tuple[int, str]:
    """(number of records, beginning of the hash) of a printed head."""
    match = _HEAD.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        got = repr(text[:60]) if isinstance(text, str) else type(text).__name__
        hint = "Copy it from an answer or a card: a number, a colon and at least 16 hexadecimal digits."
        raise ParameterError("this is not a ledger's head", where="head", got=got, hint=hint)
    return int(match[1]), match[2]
