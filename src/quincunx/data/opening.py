"""Data of this machine as sources: files by their paths, frames and relations as they are."""

from __future__ import annotations

from pathlib import Path

from quincunx.data import files, frames
from quincunx.data.notation import Notation
from quincunx.data.origin import Found


def origin_of(source: object, notation: Notation) -> Found:
    """Where the rows of a source are, and why questions cannot see some of its columns. Reads its metadata and no row.

    notation: how a CSV file is declared to be written.
    """
    if isinstance(source, str | Path):
        return files.find(source, notation)
    files.check_no_notation(notation, type(source).__name__)
    return frames.find(source)
