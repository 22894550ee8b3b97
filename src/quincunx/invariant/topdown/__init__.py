"""TopDown: hierarchical releases that keep invariants, with intervals."""

from quincunx.invariant.topdown.bounds import Bound
from quincunx.invariant.topdown.topdown import Measured, Release, TopDown

__all__ = ["Bound", "Measured", "Release", "TopDown"]
