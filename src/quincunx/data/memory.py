"""How much memory an engine may take: a share of what the machine has, which is public and the same for all rows.

Without a limit below it, rows could exhaust the machine, which then ends the process: that cannot be withheld, while an
engine's own error can (see ../ledger/ledger.md).
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")


@lru_cache(maxsize=1)
def share() -> int | None:
    """Half of the least that the machine, its container and the process allow, in bytes; None where nobody says."""
    known = [each for each in (_machine(), *_container(), _process()) if each is not None]
    return min(known) // 2 if known else None


def _machine() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _container(groups: Path = _GROUPS, own: Path = Path("/proc/self/cgroup")) -> list[int]:
    """The limits of the process's control groups and of those around them (versions 1 and 2)."""
    names = ["memory.max", "memory/memory.limit_in_bytes"]
    try:
        inner = next(line[4:] for line in own.read_text().splitlines() if line.startswith("0::/"))
        parts = [part for part in inner.split("/") if part]
        names += ["/".join((*parts[: i + 1], "memory.max")) for i in range(len(parts))]
    except (OSError, StopIteration, UnicodeDecodeError):
        pass
    found = []
    for name in names:
        try:
            text = (groups / name).read_text().strip()
        except (OSError, UnicodeDecodeError):
            continue
        if text.isdecimal():
            found.append(int(text))
    return found


def _process() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if most == resource.RLIM_INFINITY else most
