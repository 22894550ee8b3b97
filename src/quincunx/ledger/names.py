"""Names that look alike are one name: a budget belongs to a name, so a second spelling must not be a second budget.

Two names look alike if they are equal after NFKC and case folding, or letter by letter:

- the Cyrillic and Greek letters of the tables below, large and small, for the Latin letters that they are drawn as;
- 0 for O and o; 1, | and the capital I for a small l; decimal digits of every script for the ASCII ones;
- dashes and the minus sign for a hyphen, typographic apostrophes for a straight one;
- letters with marks as their bare letter does, with the same marks (é in Latin and in Cyrillic).

It does not know pairs of letters ("rn" for "m"), other scripts, or words with the same meaning.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from quincunx.errors import RegistrationError

# Who asks on behalf of nobody else: the one name that no analyst can have.
CURATOR: Final = "curator"

_CYRILLIC: Final = ("АВЕЅІЈКМНОРСТУХԌԚԜҺӀЗаеѕіјкморстухԁԛԝһӏгѵзԍ", "ABESIJKMHOPCTYXGQWhI3aesijkmopctyxdqwhlrv3g")
_GREEK: Final = ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹαγικνορτυχϲϳωη", "ABEZHIKMNOPTYXCayikvoptuxcjwn")
_OTHER: Final = ("ıȷɑɡɩʟ|0I1’‘ʼ´`", "ijagiLlOll'''''")
_DRAWN: Final = {ord(a): b for given, drawn in (_CYRILLIC, _GREEK, _OTHER) for a, b in zip(given, drawn, strict=True)}


def looks(name: str) -> frozenset[str]:
    """How a name looks, in every case that it may be written in. Two names look alike if they share one of these."""
    plain = unicodedata.normalize("NFKC", name)
    # The small form of a dotted capital I is an i with a second dot, which is not drawn.
    folded = unicodedata.normalize("NFKC", plain.casefold()).replace("i\u0307", "i")
    drawn = {_drawn(plain).casefold(), _drawn(folded).casefold(), folded}
    # Capitals are compared with capitals: IAN is drawn as lAN is, and LAN is not.
    return frozenset({*drawn, "^" + _drawn(plain), "^" + _drawn(plain.upper())})


def check_new(name: str, known: Iterable[str], where: str) -> None:
    """RegistrationError if a name that is new looks like one that is known."""
    seen = looks(name)
    for other in known:
        if other != name and seen & looks(other):
            raise RegistrationError(
                "this name looks like one that is known here, and would have a budget of its own",
                where=where,
                got=ascii(name[:60]),
                hint=f"Write {other!a}, or a name that cannot be taken for it.",
            )


def _drawn(text: str) -> str:
    """Each letter as the Latin one that it is drawn as; marks stay apart, so that they count by themselves."""
    parts = []
    for letter in unicodedata.normalize("NFKD", text):
        digit = unicodedata.decimal(letter, None)
        dash = unicodedata.category(letter) == "Pd" or letter == "\N{MINUS SIGN}"
        plain = "-" if dash else letter if digit is None else str(digit)
        parts.append(plain.translate(_DRAWN))
    return "".join(parts)
