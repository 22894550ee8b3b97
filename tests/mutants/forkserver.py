"""A process with pytest and the libraries from outside already loaded, which forks one run of tests for each task.

Loading them takes most of the time of a short run. The library itself is not loaded here: every child loads it anew,
from the copy that the task names. A task is one line of JSON on standard input, {"path": …, "output": …, "arguments":
[…]}; the answer is one line, pytest's exit code. What the child prints goes to the file `output`.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

# Loaded for the children; `cryptography` and `flint` by the parts that the library uses.
import cryptography.hazmat.primitives.ciphers
import flint
import hypothesis.strategies
import numpy as np
import pytest
import scipy.stats
import typer.testing

LOADED = (cryptography, flint, hypothesis, np, scipy, typer)
# No code of pytest: the child itself failed, and the output says how.
BROKEN = 70
ROOT = Path(__file__).resolve().parent.parent.parent


def run(task: dict[str, Any]) -> int:
    """pytest's exit code, in a child of its own."""
    output = os.open(task["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(ROOT)
    # The copy comes first on the path, before the installed library; also for what the tests start themselves.
    sys.path.insert(0, task["path"])
    os.environ["PYTHONPATH"] = task["path"]
    # What is loaded before pytest starts is not rewritten by it: no assertion of ours is in there.
    return int(pytest.main(["-W", "ignore::pytest.PytestAssertRewriteWarning", *task["arguments"]]))


def main() -> None:
    """Answer tasks until the input ends."""
    if "quincunx" in sys.modules:
        raise RuntimeError("the library is already loaded: every child would run that one")
    # What is loaded stays: no child looks for garbage in it, at the end of its tests twice.
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            code = BROKEN
            try:
                code = run(json.loads(line))
            except BaseException:
                traceback.print_exc(file=sys.stdout)
            sys.stdout.flush()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
