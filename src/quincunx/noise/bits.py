"""Where randomness comes from: AES-256 in counter mode, keyed from the operating system for every call.

A sampler asks `source()` once per public call. Outside tests that is a new `SecureBits` with a new key from
`os.urandom`, so no two calls, threads, processes after a fork, or restored copies of a virtual machine share a
stream. Given ideal bits every law of this room is exact; with AES the guarantee is computational: as good as AES-256
is indistinguishable from random bits.
"""

from __future__ import annotations

import os
import threading
from contextvars import ContextVar
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

# Bits of U that the floating-point filter reads. 2a + 1 < 2^53 keeps the midpoint (a + 1/2)·2^-52 exact.
PREFIX_BITS: Final = 52

_ZEROS: Final = bytes(1 << 17)
_NONCE: Final = bytes(16)
# The cipher's interface asks for one block more room than it writes.
_SLACK_WORDS: Final = 2


class SecureBits:
    """A stream of secret uniform bits.

    `prefix_bits` is how many bits of each uniform the filter reads before it may ask for more, and `fallbacks` counts
    the draws that were decided exactly because the filter could not.
    """

    __slots__ = ("_encryptor", "_lock", "_pid", "fallbacks", "prefix_bits")

    def __init__(self) -> None:
        self.prefix_bits = PREFIX_BITS
        self.fallbacks = 0
        self._lock = threading.Lock()
        self._start(os.urandom(32))

    def _start(self, key: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(_NONCE)).encryptor()
        self._pid = os.getpid()

    def _after_fork(self) -> None:
        # The parent goes on with the old key: the child must not repeat its stream. The lock may be held by a
        # thread that the child does not have.
        self._lock = threading.Lock()
        self._start(os.urandom(32))

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` fresh 64-bit words. Each bit has one owner: the caller never reads it twice for two purposes."""
        if self._pid != os.getpid():
            self._after_fork()
        room = np.empty(count + _SLACK_WORDS, dtype="<u8")
        view = room.view(np.uint8).data
        with self._lock:
            for start in range(0, 8 * count, len(_ZEROS)):
                size = min(len(_ZEROS), 8 * count - start)
                self._encryptor.update_into(memoryview(_ZEROS)[:size], view[start:])
        return room[:count]

    def integer(self, bits: int) -> int:
        """One uniform integer of `bits` bits, a multiple of 64."""
        if self._pid != os.getpid():
            self._after_fork()
        with self._lock:
            return int.from_bytes(self._encryptor.update(_ZEROS[: bits // 8]), "little")

    @property
    def injected(self) -> bool:
        """Whether the key was supplied by a test. What is drawn then is not private."""
        return False


INJECTED: Final[ContextVar[SecureBits | None]] = ContextVar("quincunx_injected_bits", default=None)


def source() -> SecureBits:
    """The stream of one public call: a new key, or the injected stream inside `noise.testing.keyed`."""
    return INJECTED.get() or SecureBits()


def injected() -> bool:
    """Whether draws made here and now come from an injected key and are therefore not private."""
    return INJECTED.get() is not None
