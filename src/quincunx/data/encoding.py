"""Encodings of CSV files: declared, never guessed. What cannot be decoded is marked, and no byte is an error.

The engine's own decoders end a whole question at one byte that they do not expect, and its reader drops a line that is
not UTF-8. So a file that is not all UTF-8 is decoded here, into a file that only this process can reach and that is
gone when the question ends.
"""

from __future__ import annotations

import codecs
import gzip
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BufferedIOBase
from pathlib import Path
from typing import Final

from quincunx.data.storage import MARK
from quincunx.errors import DataError, under

UTF8: Final = "utf-8"
# What may be declared → Python's codec.
ENCODINGS: Final[Mapping[str, str]] = {
    UTF8: "utf-8",
    "latin-1": "latin-1",
    "windows-1252": "cp1252",
    "utf-16": "utf-16",
}
_CHUNK: Final = 1 << 20
_LONGEST_HEADER: Final = 1 << 22
_MARKED: Final = "quincunx.marked"
codecs.register_error(_MARKED, lambda error: (MARK, error.end))  # type: ignore[attr-defined]


def read_encoding(given: object) -> str | None:
    """A declared encoding."""
    if given is None or given in ENCODINGS:
        return None if given is None else str(given)
    hint = f"Choose among {', '.join(ENCODINGS)}."
    with under("encoding"):
        raise DataError("unknown encoding", where="Table.encoding", got=repr(given)[:60], hint=hint)


def first_line(path: Path, encoding: str) -> str:
    """The first line as text: no byte after it is decoded. A quoted name may hold a line break."""
    with _open(str(path)) as file:
        line = b"".join(_header(file, encoding))
    try:
        return line.decode("utf-8-sig" if encoding == UTF8 else ENCODINGS[encoding]).rstrip("\r\n")
    except UnicodeDecodeError:
        what, hint = f"the first line is not {encoding}", f"Declare the encoding: {', '.join(ENCODINGS)}."
    # Raised outside of the handler: the decoder's error holds the bytes of the file.
    raise DataError(what, where="Table.encoding", got=str(path), hint=hint)


def _open(path: str) -> BufferedIOBase:
    """The bytes of a file, unpacked where its name says that it is compressed."""
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb")


def _header(file: BufferedIOBase, encoding: str) -> Iterator[bytes]:
    width = 2 if encoding == "utf-16" else 1
    quoted, size = False, 0
    ends = {b"\n", b"\n\0", b"\0\n"}
    while (unit := file.read(width)) and size < _LONGEST_HEADER:
        size += width
        yield unit
        if unit.strip(b"\0") == b'"':
            quoted = not quoted
        if unit in ends and not quoted:
            return


def private_folder() -> str:
    """The name of a folder that does not exist yet, for decoded files of one table."""
    return os.path.join(os.path.realpath(tempfile.gettempdir()), f"quincunx-{secrets.token_hex(8)}") + os.sep


@contextmanager
def readable(path: str, encoding: str, folder: str) -> Iterator[str]:
    """The path of the same lines in UTF-8: the file itself where it is all UTF-8, else a decoded copy in `folder`."""
    if encoding == UTF8 and _is_utf8(path):
        yield path
        return
    os.makedirs(folder, mode=0o700, exist_ok=True)
    copy = os.path.join(folder, f"{secrets.token_hex(8)}.csv")
    try:
        decoder = codecs.getincrementaldecoder(ENCODINGS[encoding])(errors=_MARKED)
        handle = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with _open(path) as source, os.fdopen(handle, "wb") as target:
            while chunk := source.read(_CHUNK):
                target.write(decoder.decode(chunk).encode("utf-8"))
            target.write(decoder.decode(b"", final=True).encode("utf-8"))
        yield copy
    finally:
        with suppress(OSError):
            os.unlink(copy)
        with suppress(OSError):
            os.rmdir(folder)


def _is_utf8(path: str) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with _open(path) as source:
            while chunk := source.read(_CHUNK):
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
