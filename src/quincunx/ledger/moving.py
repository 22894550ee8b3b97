"""Moving a ledger: the old one is closed first, by a record that names the new one; then everything is copied.

At every moment at most one of the two can be spent from: see ledger.md, "Moving".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, get_args

from quincunx.errors import ParameterError, UnavailableError
from quincunx.ledger import verify
from quincunx.ledger.book import Book
from quincunx.ledger.canonical import dumped
from quincunx.ledger.postgres import Postgres, is_address
from quincunx.ledger.record import head_text
from quincunx.ledger.store import Store, TableName, Transaction

_TABLES: Final[tuple[TableName, ...]] = get_args(TableName)


def moved(old: Store, address: str, now: Callable[[], str]) -> str:
    """Close the old ledger, copy everything, and check the new one; its head."""
    if not is_address(address) or old.memory:
        hint = "Write postgresql://teller@host/database of a ledger that its owner has made."
        raise ParameterError("a ledger moves from a file or a database to a database", where="move", hint=hint)
    with old.reading() as transaction:
        # What is damaged would be damaged there too, and the old place be closed.
        verify.checked(transaction, None, old.path)
        itself = transaction.ledger
    new = Postgres(address, wait=30)
    try:
        if new.ledger == itself:
            raise ParameterError("a ledger cannot move to where it is", where="move", got=new.path)
        with new.writing() as there:
            with old.writing() as here:
                done = _closed(here, there, new.path, now)
            if not done:
                with old.reading() as here:
                    there.add("records", here.records())
                    for table in _TABLES:
                        there.add(table, here.rows(table))
        with new.reading() as transaction:
            return head_text(*verify.checked(transaction, None, new.path))
    finally:
        new.close()


def _closed(old: Transaction, new: Transaction, path: str, now: Callable[[], str]) -> bool:
    """End the old ledger by a record that names the new one; whether an earlier attempt has copied everything.

    The new one is held meanwhile, so that nobody begins another ledger there.
    """
    gone, last = old.moved(), new.last()
    if gone is not None and gone[0] != new.ledger:
        hint = "Name that one to finish the move."
        raise UnavailableError("this ledger has moved to another place", where="move", got=gone[1], hint=hint)
    if last is not None and (gone is None or not _holds(new, old.last())):
        hint = "Let the owner make an empty one, in another schema."
        raise UnavailableError("the new ledger is not empty", where=path, hint=hint)
    if gone is None:
        old.require(4)
        Book(old).append("moved", dumped({"ledger": new.ledger, "address": path}), now())
    return last is not None


def _holds(transaction: Transaction, record: tuple[int, str] | None) -> bool:
    """Whether the record (number, hash) is there; more may have been recorded after it."""
    found = None if record is None else next(transaction.records(record[0]), None)
    return found is not None and (found[0], found[-1]) == record
