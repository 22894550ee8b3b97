"""Who spent what on which data, for ever: registration, reserve, store, reveal, and a chain that shows tampering."""

from quincunx.ledger.account import Account, Answer, Reservation, Standing
from quincunx.ledger.budget import Balance
from quincunx.ledger.halting import Halt
from quincunx.ledger.ledger import Ledger
from quincunx.ledger.question import Question
from quincunx.ledger.record import Record
from quincunx.ledger.registration import Budgets, Registration
from quincunx.ledger.view import View

__all__ = [
    "Account",
    "Answer",
    "Balance",
    "Halt",
    "Ledger",
    "Question",
    "Record",
    "Registration",
    "Reservation",
    "Standing",
    "View",
]
