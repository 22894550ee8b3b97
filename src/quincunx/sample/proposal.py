"""What a column's name lets one expect: a type to propose where a file has none, and what only its curator can say.

A name is public and a guess from it discloses nothing; a guess from the rows would.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# A word of a column's name → the type that it lets one expect. The last known word decides: "date_of_visit_count".
_WORDS: Final = {
    **dict.fromkeys(("id", "key", "code", "uuid", "zip", "postcode", "plz", "phone", "name", "email"), "text"),
    **dict.fromkeys(("date", "dob", "birthday", "birthdate"), "date"),
    **dict.fromkeys(("timestamp", "datetime", "at"), "timestamp"),
    **dict.fromkeys(("age", "year", "count", "children", "visits", "quantity", "qty", "persons", "rooms"), "integer"),
    **dict.fromkeys(("cost", "price", "amount", "income", "salary", "wage", "revenue", "balance", "rent"), "decimal"),
    **dict.fromkeys(("weight", "height", "rate", "score", "percent", "distance", "latitude", "longitude"), "decimal"),
}
_FIRST: Final = {"is": "boolean", "has": "boolean", "was": "boolean"}
# Words for those whose rows they are.
_PEOPLE: Final = frozenset(
    (
        *("person", "patient", "customer", "user", "client", "member", "respondent", "pupil", "student", "employee"),
        *("worker", "citizen", "resident", "subject", "participant", "household", "subscriber", "passenger", "insured"),
    )
)
_KEYS: Final = frozenset(("id", "key", "nr", "no", "number", "uuid", "code"))


def expected(name: str) -> str | None:
    """The type that a column's name lets one expect; None where it says nothing."""
    words = _words(name)
    known = [_WORDS[word] for word in words if word in _WORDS]
    return _FIRST.get(words[0] if len(words) > 1 else "") or (known[-1] if known else None)


def owner(name: str) -> bool:
    """Whether a name sounds like that of the column that says whose a row is."""
    words = _words(name)
    return bool(_PEOPLE.intersection(words)) and (len(words) == 1 or bool(_KEYS.intersection(words)))


def _words(name: str) -> list[str]:
    """The words of patient_id, patient-id, patientId and "Patient ID"."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[\W_]+", parted.lower()) if word]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a curator said, as a plan writes it; an empty text leaves the blank. key: the column that says whose a row
    is; intensity: how much may ever be told; rows: how many rows of one person may count."""

    key: str = ""
    intensity: str = ""
    rows: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a plan leaves for its curator to fill in. owners: columns that sound like the person's; bounds: numbers to
    add up; keys: texts to group by; proposed: columns whose type is a guess from the name; columns: all that a question
    may name; said: what was filled in already.
    """

    owners: tuple[str, ...]
    bounds: tuple[str, ...]
    keys: tuple[str, ...]
    proposed: tuple[str, ...]
    columns: tuple[str, ...] = ()
    said: Answers = Answers()

    def lines(self) -> list[str]:
        """One line for each thing that is left to fill in."""
        who = f"; by its name {' or '.join(self.owners)}" if self.owners else ""
        found = [
            *([] if self.said.key else [f"unit: which column says whose a row is{who}"]),
            *([] if self.said.intensity else ["intensity: how much may ever be told"]),
            *([] if self.said.rows else ["limits: how many rows of one person may count in a question"]),
        ]
        if self.bounds:
            found.append(f"bounds: between which numbers {_some(self.bounds)} may lie, to add them up")
        if self.keys:
            found.append(f"keys: which values of {_some(self.keys)} may be published, to group by them")
        if self.proposed:
            found.append(f"types: {_some(self.proposed)} by name alone; a value that is not of its type is NULL")
        return found


def _some(names: tuple[str, ...], most: int = 6) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
