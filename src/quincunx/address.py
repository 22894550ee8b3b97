"""Addresses of databases, as people type them, without their passwords: the one place that knows what they look like.

Every error passes its parts through here (errors.py), and so does everything that echoes a path that somebody typed. It
errs on the side of hiding: a text that only looks like an address loses a few characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

HIDDEN: Final = "***"
_NAMES: Final = r"\w*(?:password|passwd|passphrase|pwd|secret|token|api_?key)\w*"
_VALUE: Final = r"""'(?:\\+'|[^'])*'?|"(?:\\+"|[^"])*"?|\{[^}]*\}?|[^\s&;,'"]+"""
# Each with one group `secret`. Slashes may have been joined by a path's own reading.
_PATTERNS: Final = (
    # scheme://user:secret@host, up to the last @: a password may hold any of / : @ and spaces.
    re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:/+[^\s/:@]*:(?P<secret>.+)@", re.DOTALL),
    # The same cut short before its @; what looks like a port stays.
    re.compile(
        r"[A-Za-z][A-Za-z0-9+.\-]*:/+[^\s/:@]*:(?!\d{1,5}(?:[/?#'\"\s]|$))(?P<secret>[^\s/@*][^\s@*]*)(?![^@]*@)"
    ),
    # user:secret@host, what is left of an address whose scheme was cut off; scheme://user@host holds no secret.
    re.compile(r"(?<![^\s/'\"(])[^\s/:@'\"(]+:(?P<secret>(?!//[^\s/:@]*@)[^\s@*]+)@(?=[\w\[.\-])"),
    # password=secret, in an address or among key=value pairs.
    re.compile(rf"\b{_NAMES}\s*=\s*(?P<secret>{_VALUE})", re.IGNORECASE),
)


def masked(text: str) -> str:
    """The text with every password replaced by ***."""
    return _hidden(text, lambda secret: HIDDEN)  # noqa: ARG005


def masked_in_place(text: str) -> str:
    """The same with as many stars as there were characters, so that places in the text stay where they are."""
    return _hidden(text, lambda secret: "".join(each if each == "\n" else "*" for each in secret))


def _hidden(text: str, stars: Callable[[str], str]) -> str:
    # Most texts hold no address.
    if not any(mark in text for mark in (":", "=")):
        return text
    for pattern in _PATTERNS:
        text = pattern.sub(lambda match: _replaced(match, stars), text)
    return text


def _replaced(match: re.Match[str], stars: Callable[[str], str]) -> str:
    whole, start = match[0], match.start()
    first, last = match.start("secret") - start, match.end("secret") - start
    return whole[:first] + stars(match["secret"]) + whole[last:]
