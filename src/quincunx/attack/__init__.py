"""The attacks that motivated all this, as small stories: what was published, what was known, what came out.

Every story is about people who do not exist. Told again with the same `series` it is the same, byte for byte.
"""

from quincunx.attack.catalogue import names, run
from quincunx.attack.story import Story

__all__ = ["Story", "names", "run"]
