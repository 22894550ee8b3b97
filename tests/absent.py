"""Python that behaves as if some libraries were not installed."""

from __future__ import annotations

import subprocess
import sys
import textwrap

_HIDE = """
import importlib.machinery
_found = importlib.machinery.PathFinder.find_spec
def _without(name, *more):
    return None if name.partition(".")[0] in {names!r} else _found(name, *more)
importlib.machinery.PathFinder.find_spec = _without
"""


def run_without(names: tuple[str, ...], code: str) -> str:
    """What `code` prints in a new process in which these libraries cannot be found."""
    script = _HIDE.format(names=names) + textwrap.dedent(code)
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr[-2000:]
    return found.stdout
