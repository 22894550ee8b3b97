"""Where Spark runs, as people name it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from quincunx.errors import DataError, kind_of

_LOCAL: Final = re.compile(r"local(\[.*\])?")
_THREADS: Final = re.compile(r"local\[(\d+)[,\]].*")
_MEMORY: Final = re.compile(r"(\d+)([kmgt]?)b?")
# What Spark takes where nothing is said; and cores that a worker may have.
_USUAL, _CORES = "1g", 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Where Spark runs. master: of a session that is started where none runs, "local[4]", "spark://host:7077"; None:
    the session that runs. scratch: a folder that all machines see under this path, in which rows are written down while
    a question is answered; None: the temporary folder of this machine, where Spark runs on it alone.
    """

    master: str | None = None
    scratch: str | None = None

    def __post_init__(self) -> None:
        for name in ("master", "scratch"):
            given = getattr(self, name)
            if given is not None and (not isinstance(given, str) or not given):
                raise DataError("expected a text", where=f"Spark.{name}", got=kind_of(given))
        if self.scratch is not None and not self.scratch.startswith("/"):
            hint = "Write an absolute path of a folder that every machine of the cluster sees."
            raise DataError("this is no path of a folder", where="Spark.scratch", got=self.scratch[:80], hint=hint)

    @property
    def here(self) -> bool:
        """Whether the session that it would start runs on this machine alone."""
        return self.master is not None and is_local(self.master)


def is_local(master: str) -> bool:
    """Whether Spark runs on this machine alone."""
    return _LOCAL.fullmatch(master) is not None


def room(setting: Callable[[str, str], str | None]) -> int:
    """The bytes of heap for each task that a worker runs at a time, from settings; few where they are not known."""
    here = is_local(setting("spark.master", "") or "")
    said = setting("spark.driver.memory" if here else "spark.executor.memory", _USUAL) or _USUAL
    found = _MEMORY.fullmatch(said.strip().lower())
    heap = int(found[1]) << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[found[2]] if found else 1 << 30
    return heap // max(1, _cores(setting, here=here))


def _cores(setting: Callable[[str, str], str | None], *, here: bool) -> int:
    if not here:
        said = setting("spark.executor.cores", "") or ""
        return int(said) if said.isdecimal() else _CORES
    master = setting("spark.master", "") or ""
    threads = _THREADS.fullmatch(master)
    return int(threads[1]) if threads else 1 if master == "local" else os.cpu_count() or _CORES
