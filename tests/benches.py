"""Benches as modules, so that tests can call what they measure with."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def bench(name: str) -> ModuleType:
    """The module bench/`name`.py."""
    path = Path(__file__).parents[1] / "bench" / f"{name}.py"
    found = importlib.util.spec_from_file_location(f"bench_{name}", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module
