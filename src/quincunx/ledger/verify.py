"""The check of a ledger: everything that can be worked out from the records is worked out again and compared.

It shares with the ledger only how a record is hashed and how a question is named: a checker that used the ledger's own
sums would repeat its mistakes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from quincunx.errors import QuincunxError, VerificationError
from quincunx.ledger.canonical import canonical, digest, dumped
from quincunx.ledger.question import key_of
from quincunx.ledger.record import GENESIS, KINDS, SINCE, chained, read_head
from quincunx.ledger.registration import Registration
from quincunx.ledger.store import Transaction
from quincunx.numbers import amount, stated

_SHOWN: Final = 20
_ZERO: Final = Fraction(0)
Total = tuple[str, str, str]
Body = dict[str, Any]


def checked(transaction: Transaction, head: str | None, path: str) -> tuple[int, str]:
    """(number of records, last hash), or VerificationError with what was found."""
    expected = None if head is None else read_head(head)
    try:
        found, chain = findings(transaction)
    except Exception as error:
        damage = transaction.damage(error)
        if damage is None:
            raise
        found, chain = [f"the file is damaged: {damage}"], {0: GENESIS}
    if expected is not None:
        found = [*_against(expected, chain), *found]
    if found:
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        hint = "Restore a copy that verifies with the last printed head; do not spend from this one."
        what = "the ledger is not what was recorded"
        raise VerificationError(what, where=path, got="; ".join(found[:_SHOWN]) + more, hint=hint)
    last = max(chain)
    return last, chain[last]


def findings(transaction: Transaction) -> tuple[list[str], dict[int, str]]:
    """(what is wrong, the hash of each record by its number; 0 is the beginning)."""
    found = [f"the file is damaged: {what}" for what in transaction.damages()]
    state, chain, last = _State(found=found, format=transaction.format), {0: GENESIS}, 0
    for row in transaction.records():
        seq, time, kind, body, previous, hashed = row
        if seq != last + 1:
            found.append(f"record {last + 1} is missing: record {seq} stands in its place")
        elif previous != chain[last]:
            found.append(f"record {seq} does not follow record {last}: one of them was exchanged")
        chain[seq], last = str(hashed), seq
        if not all(isinstance(part, str) for part in row[1:]):
            found.append(f"record {seq} was changed: a part of it is not a text")
            continue
        if hashed != chained(seq, time, kind, body, previous):
            found.append(f"record {seq} was changed: its hash is not that of its content")
        state.take(seq, kind, body)
    if state.gone is not None and state.gone[1] != transaction.ledger and state.gone[0] != last:
        found.append(f"record {state.gone[0]} says that the ledger moved, and more was recorded here")
    found.extend(state.against(transaction))
    return found, chain


def _against(expected: tuple[int, str], chain: dict[int, str]) -> Iterator[str]:
    length, beginning = expected
    if length > max(chain):
        yield f"the head names record {length}, but the last is record {max(chain)}: the ledger was rolled back or cut"
    elif not chain.get(length, "").startswith(beginning):
        yield f"record {length} is not the one that the head names: the ledger was rewritten"


@dataclass(slots=True)
class _State:
    """What the records say, worked out one by one."""

    found: list[str]
    format: int
    registered: dict[str, str] = field(default_factory=dict)
    spent: dict[Total, tuple[Fraction, Fraction]] = field(default_factory=dict)
    asked: dict[str, tuple[str, int, Fraction, Fraction]] = field(default_factory=dict)
    # What each of the two was after which record.
    agreed: dict[tuple[str, int], str] = field(default_factory=dict)
    totals: dict[tuple[str, str, str, int], tuple[str, str]] = field(default_factory=dict)
    paid: set[tuple[str, str]] = field(default_factory=set)
    answered: dict[str, tuple[int, str, int]] = field(default_factory=dict)
    # (dataset, version) of everything asked; record of a halt → [dataset, version, reopened, allowed]; key → its halt.
    versions: set[tuple[str, str]] = field(default_factory=set)
    halts: dict[int, list[Any]] = field(default_factory=dict)
    reopenings: dict[int, tuple[str, int]] = field(default_factory=dict)
    withheld: dict[str, int] = field(default_factory=dict)
    # (record, ledger) of the last move.
    gone: tuple[int, str] | None = None

    def take(self, seq: int, kind: str, text: str) -> None:
        """Apply one record; what contradicts the records before it becomes a finding."""
        try:
            body = json.loads(text)
            known = (
                kind in KINDS
                and self.format >= SINCE.get(kind, 1)
                and body.keys() == KINDS[kind]
                and dumped(body) == text
            )
            if not known:
                self.found.append(f"record {seq} has a kind or content that is not known")
                return
            if "dataset" in body and kind != "registration" and body["dataset"] not in self.registered:
                self.found.append(f"record {seq} speaks of a dataset that is not registered before it")
                return
            _RULES[kind](self, seq, body)
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, QuincunxError):
            self.found.append(f"record {seq} cannot be read")

    def register(self, seq: int, body: Body) -> None:
        if body["dataset"] in self.registered:
            self.found.append(f"record {seq} registers a dataset for the second time")
        self.agree(seq, body)

    def amend(self, seq: int, body: Body) -> None:
        self.agree(seq, {key: value for key, value in body.items() if key != "reason"})

    def agree(self, seq: int, body: Body) -> None:
        text = dumped(body)
        registration = Registration.from_text(text)
        self.registered[body["dataset"]] = self.agreed[body["dataset"], seq] = text
        self.within(seq, registration, (body["dataset"], "dataset", ""), registration.total, registration.delta)

    def reserve(self, seq: int, body: Body) -> None:
        registration = Registration.from_text(self.registered[body["dataset"]])
        parts = {name: body[name] for name in ("dataset", "version", "cost", "delta", "asked")}
        key, cost, delta = body["question"], Fraction(body["cost"]), Fraction(body["delta"])
        if key != key_of(**parts, guarantee=registration.guarantee):
            self.found.append(f"record {seq} reserves under a key that is not its question's")
        if key in self.asked:
            self.found.append(f"record {seq} reserves a question that record {self.asked[key][1]} reserved")
        if any(halt[2] is None or (halt[1] == body["version"] and halt[3] is None) for halt in self.of(body)):
            self.found.append(f"record {seq} reserves a question while the dataset is halted")
        self.versions.add((body["dataset"], body["version"]))
        self.asked[key] = (body["dataset"], seq, cost, delta)
        self.charge(seq, registration, (body["dataset"], "dataset", ""), cost, delta)
        self.charge(seq, registration, (body["dataset"], "plan", body["plan"]), cost, delta)
        if body["analyst"] is not None:
            self.paid.add((key, body["analyst"]))
            self.charge(seq, registration, (body["dataset"], "analyst", body["analyst"]), cost, delta)

    def replay(self, seq: int, body: Body) -> None:
        key, analyst = body["question"], body["analyst"]
        dataset, _, cost, delta = self.asked.get(key, ("", 0, None, None))
        if (body["dataset"], Fraction(body["cost"]), Fraction(body["delta"])) != (dataset, cost, delta):
            self.found.append(f"record {seq} replays a question that was not reserved at this price")
        if (key, analyst) in self.paid:
            self.found.append(f"record {seq} charges an analyst twice for one question")
        self.paid.add((key, analyst))
        registration = Registration.from_text(self.registered[body["dataset"]])
        holder = (body["dataset"], "analyst", analyst)
        self.charge(seq, registration, holder, Fraction(body["cost"]), Fraction(body["delta"]))

    def answer(self, seq: int, body: Body) -> None:
        key = body["question"]
        if self.asked.get(key, ("",))[0] != body["dataset"]:
            self.found.append(f"record {seq} answers a question that was not reserved")
        if key in self.answered:
            self.found.append(f"record {seq} answers a question that record {self.answered[key][0]} answered")
        if key in self.withheld:
            self.found.append(f"record {seq} answers a question that was open when record {self.withheld[key]} halted")
        self.answered[key] = (seq, body["digest"], body["size"])

    def external(self, seq: int, body: Body) -> None:
        registration = Registration.from_text(self.registered[body["dataset"]])
        cost, delta = Fraction(body["cost"]), Fraction(body["delta"])
        self.charge(seq, registration, (body["dataset"], "dataset", ""), cost, delta)

    def of(self, body: Body) -> list[list[Any]]:
        """The halts of the dataset that a record speaks of."""
        return [halt for halt in self.halts.values() if halt[0] == body["dataset"]]

    def halt(self, seq: int, body: Body) -> None:
        dataset, version = body["dataset"], body["version"]
        if any(halt[2] is None for halt in self.of(body)):
            self.found.append(f"record {seq} halts a dataset that is halted")
        if (dataset, version) not in self.versions:
            self.found.append(f"record {seq} halts on a version that nobody asked about")
        self.halts[seq] = [dataset, version, None, None]
        for key, (owner, _, _, _) in self.asked.items():
            if owner == dataset and key not in self.answered:
                self.withheld.setdefault(key, seq)

    def reopen(self, seq: int, body: Body) -> None:
        version, reason = body["version"], body["reason"]
        halts = [halt for halt in self.of(body) if halt[2 if reason is None else 3] is None]
        old = (body["dataset"], version) in self.versions
        if not halts or (version is None) == (reason is None) or old:
            self.found.append(f"record {seq} reopens a dataset that is not halted, or by an old version")
        self.reopenings[seq] = (body["dataset"], int(reason is None))
        for halt in halts:
            halt[2] = seq if halt[2] is None else halt[2]
            halt[3] = halt[3] if reason is None else seq

    def move(self, seq: int, body: Body) -> None:
        self.gone = (seq, body["ledger"])

    def charge(self, seq: int, registration: Registration, holder: Total, cost: Fraction, delta: Fraction) -> None:
        if cost < 0 or delta < 0:
            self.found.append(f"record {seq} spends less than nothing")
        spent, used = self.spent.get(holder, (_ZERO, _ZERO))
        # Most questions spend no δ, and sums of fractions take most of the time.
        spent, used = spent + cost, used + delta if delta else used
        self.spent[holder] = (spent, used)
        self.totals[*holder, seq] = (str(spent), str(used))
        limits = {"dataset": registration.total, "plan": registration.plan, "analyst": registration.limit(holder[2])}
        limit = limits[holder[1]] if cost else None
        self.within(seq, registration, holder, limit, registration.delta if holder[1] == "dataset" else None)

    def within(
        self, seq: int, registration: Registration, holder: Total, limit: Fraction | None, delta: Fraction | None
    ) -> None:
        spent, used = self.spent.get(holder, (_ZERO, _ZERO))
        for gone, most, symbol in ((spent, limit, registration.symbol), (used, delta, "δ")):
            if most is not None and gone > most:
                whose = " ".join(part for part in holder[1:] if part)
                what = f"record {seq} spends more than the budget of {whose} in {holder[0]!r}"
                self.found.append(f"{what}: {stated(symbol, gone)} of {amount(most)}")

    def against(self, transaction: Transaction) -> Iterator[str]:
        """Compare with what the ledger keeps for speed, and with the answers' bytes."""
        spent: dict[Any, Any] = self.totals
        registered: dict[Any, str] = self.agreed
        if self.format < 3:
            # The newest only, without the record that made it.
            spent = {key: (str(cost), str(delta)) for key, (cost, delta) in self.spent.items()}
            registered = self.registered
        yield from _compared("total", spent, {row[:-2]: row[-2:] for row in transaction.rows("totals")})
        kept = {_single(row[:-1]): row[-1] for row in transaction.rows("datasets")}
        yield from _compared("registration", registered, kept)
        asked = {key: (dataset, seq) for key, (dataset, seq, _, _) in self.asked.items()}
        yield from _compared("question", asked, {row[0]: row[1:] for row in transaction.rows("questions")})
        yield from _compared("charge", dict.fromkeys(self.paid), dict.fromkeys(transaction.rows("charges")))
        stored = transaction.rows("answers")
        contents = {key: (seq, digest(bytes(content)), len(content)) for key, seq, content in stored}
        yield from _compared("stored answer", self.answered, contents)
        halts = {str(row[0]): list(row[1:]) for row in transaction.rows("halts")}
        yield from _compared("halt", {str(seq): halt for seq, halt in self.halts.items()}, halts)
        yield from _compared("withheld question", self.withheld, dict(transaction.rows("withheld")))
        if self.format > 2:
            reopenings = {str(row[0]): row[1:] for row in transaction.rows("reopenings")}
            yield from _compared("reopening", {str(seq): kept for seq, kept in self.reopenings.items()}, reopenings)


def _single(key: tuple[Any, ...]) -> Any:
    return key[0] if len(key) == 1 else key


def _compared(noun: str, expected: dict[Any, Any], kept: dict[Any, Any]) -> Iterator[str]:
    if expected == kept:
        # As good as always; putting every key into words to sort them would take longer than all the rest.
        return
    for key in sorted({*expected, *kept}, key=str):
        label = canonical(key, noun) if not isinstance(key, str) else key[:32]
        if key not in kept:
            yield f"the {noun} {label} is missing: the records have it"
        elif key not in expected:
            yield f"the {noun} {label} has no record"
        elif kept[key] != expected[key]:
            yield f"the {noun} {label} is not what the records say"


_RULES: Final[dict[str, Callable[[_State, int, Body], None]]] = {
    "registration": _State.register,
    "amendment": _State.amend,
    "reservation": _State.reserve,
    "answer": _State.answer,
    "replay": _State.replay,
    "external": _State.external,
    "halted": _State.halt,
    "reopened": _State.reopen,
    "moved": _State.move,
}
