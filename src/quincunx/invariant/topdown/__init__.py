"""TopDown: hierarchical releases that keep invariants, with intervals."""

from quincunx.invariant.topdown.bounds import Bound
from quincunx.invariant.topdown.edits import Edits
from quincunx.invariant.topdown.keep import Measured
from quincunx.invariant.topdown.pair import Pair, PairRelease
from quincunx.invariant.topdown.topdown import Release, TopDown

__all__ = ["Bound", "Edits", "Measured", "Pair", "PairRelease", "Release", "TopDown"]
