"""Injected keys, for tests only: what is drawn inside `keyed` is repeatable and therefore not private.

```python
with quincunx.noise.testing.keyed(key_of("a name")) as stream:
    quincunx.noise.discrete_laplace(2, size=10)
```
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from quincunx.errors import ParameterError
from quincunx.noise.bits import INJECTED, PREFIX_BITS, SecureBits


class KeyedBits(SecureBits):
    """A repeatable stream. `fallbacks` counts the draws that were decided exactly."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes, *, prefix_bits: int = PREFIX_BITS) -> None:
        if not isinstance(key, bytes) or len(key) != 32:
            got = f"{len(key)} bytes" if isinstance(key, bytes) else type(key).__name__
            raise ParameterError("a test key is 32 bytes", where="key", got=got, hint="Use key_of(name).")
        if type(prefix_bits) is not int or not 1 <= prefix_bits <= PREFIX_BITS:
            what = f"must be a whole number from 1 to {PREFIX_BITS}"
            raise ParameterError(what, where="prefix_bits", got=str(prefix_bits))
        super().__init__()
        self._key = key
        self.prefix_bits = prefix_bits
        self._start(key)

    def _after_fork(self) -> None:
        # A repeatable stream stays repeatable; parallel work takes substreams.
        self._lock = threading.Lock()
        self._start(self._key)

    @property
    def injected(self) -> bool:
        """Always true: these bits are not secret."""
        return True

    def substream(self, name: str) -> KeyedBits:
        """An independent repeatable stream for parallel work, the same for the same key and name."""
        return KeyedBits(key_of(name, self._key), prefix_bits=self.prefix_bits)


def key_of(name: str, parent: bytes = b"") -> bytes:
    """The 32-byte test key of a name: SHA-256 of it, after the parent key."""
    return hashlib.sha256(b"quincunx test key\0" + parent + b"\0" + name.encode()).digest()


@contextmanager
def keyed(key: bytes | KeyedBits, *, prefix_bits: int | None = None) -> Iterator[KeyedBits]:
    """Draw from an injected key inside the block; gives the stream, whose `fallbacks` can be read afterwards.

    `key` is 32 bytes or a `KeyedBits` (a substream). `prefix_bits` narrows the filter, so that a test can force the
    exact fallback: with 4 bits most draws take it.
    """
    if isinstance(key, KeyedBits):
        if prefix_bits is not None:
            raise ParameterError("a stream has its width already", where="prefix_bits", got=str(prefix_bits))
        stream = key
    else:
        stream = KeyedBits(key, prefix_bits=PREFIX_BITS if prefix_bits is None else prefix_bits)
    token = INJECTED.set(stream)
    try:
        yield stream
    finally:
        INJECTED.reset(token)
