"""Every call has its own key, no bit has two owners, and injected keys are seen to be injected."""

from __future__ import annotations

import asyncio
import os
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from quincunx import noise
from quincunx.noise.bits import PREFIX_BITS, SecureBits, source
from quincunx.noise.testing import KeyedBits, key_of, keyed
from tests.noise.scripted import Watched


def keystream(key: bytes, words: int) -> list[int]:
    """AES-256-CTR from counter 0, built from single blocks: the counter is encrypted, block by block."""
    block = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    blocks = b"".join(block.update(counter.to_bytes(16, "big")) for counter in range(words // 2 + 1))
    return [int.from_bytes(blocks[8 * i : 8 * i + 8], "little") for i in range(words)]


def in_child(work: Callable[[], bytes]) -> bytes:
    """What `work` returns in a forked child."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Newer Pythons warn about forking next to threads; the runner has some.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os.write(writing, work())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def test_words_are_the_keystream_however_they_are_asked_for() -> None:
    key = key_of("keystream")
    sizes = [1, 2, 3, 0, 1, 17, 64, 5, 1 << 14, (1 << 14) + 1, 40_000, 1]
    stream = KeyedBits(key)
    got: list[int] = []
    for turn, size in enumerate(sizes):
        got += [int(word) for word in stream.words(size)]
        got += [stream.integer(64)] if turn % 2 else []
    assert got == keystream(key, len(got))


def test_integers_of_several_words_are_little_endian_words_of_the_keystream() -> None:
    key = key_of("integers")
    first, second, third = keystream(key, 3)
    stream = KeyedBits(key)
    assert stream.integer(64) == first
    assert stream.integer(128) == second | third << 64


def test_words_have_the_count_and_dtype_that_were_asked_for() -> None:
    for count in (0, 1, 2, 16_383, 16_384, 16_385, 100_000):
        words = SecureBits().words(count)
        assert words.shape == (count,)
        assert words.dtype == np.uint64
        assert words.flags.writeable


def test_two_requests_never_share_memory() -> None:
    stream = SecureBits()
    assert not np.shares_memory(stream.words(100), stream.words(100))


@pytest.mark.parametrize("prefix_bits", [4, 20, 52])
def test_no_sampler_uses_a_bit_twice(prefix_bits: int) -> None:
    # Whatever is drawn, the words given away are the keystream without gap or repetition, and the samplers ask for
    # as many first words as their laws need; what is more was refinement, counted in `fallbacks`.
    key = key_of(f"owners {prefix_bits}")
    stream = Watched(key, prefix_bits=prefix_bits)
    with keyed(stream):
        for one in (noise.geometric, noise.discrete_laplace, noise.rounded_laplace):
            before, fallbacks = len(stream.given), stream.fallbacks
            one(3, size=50)
            asked = len(stream.given) - before
            assert asked >= 50
            assert asked - 50 >= 0 if stream.fallbacks > fallbacks else asked == 50
        before, fallbacks = len(stream.given), stream.fallbacks
        noise.rounded_gaussian(3, size=50)
        assert (len(stream.given) - before - 100) % 2 == 0, "U and V are refined together"
        noise.discrete_gaussian(3, size=50)
        noise.choice([0, 1, 2], size=50)
        noise.bernoulli("1/3", size=50)
        noise.bernoulli_exp("1/3", size=50)
        noise.uniform_integers(6, size=50)
        noise.permutation(50)
        for one in (noise.geometric, noise.discrete_laplace, noise.discrete_gaussian, noise.rounded_gaussian):
            one(3)
    assert stream.given == keystream(key, len(stream.given))
    assert len(set(stream.given)) == len(stream.given)


def test_sign_prefix_and_refinement_bits_are_disjoint() -> None:
    # The prefix takes the highest bits of a word, the sign the lowest; 52 + 1 < 64.
    assert PREFIX_BITS + 1 < 64
    # The midpoint (a + 1/2)·2^-52 is (2a + 1)·2^-53 with an odd numerator below 2^53, so float64 holds it.
    for a in (0, 1, 2**51, 2**52 - 1):
        assert (float(a) + 0.5) * 2.0**-52 == (2 * a + 1) / 2**53
        assert ((float(a) + 0.5) * 2.0**-52).as_integer_ratio()[1] == 2**53


def test_every_call_has_a_new_key() -> None:
    assert source() is not source()
    # 128 bits that agree by chance: 2^-128.
    assert source().integer(128) != source().integer(128)
    draws = {tuple(noise.uniform_integers(2**62, size=4)) for _ in range(50)}
    assert len(draws) == 50


def test_a_call_asks_the_operating_system_for_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[int] = []
    original = os.urandom

    def watched(size: int) -> bytes:
        keys.append(size)
        return original(size)

    monkeypatch.setattr(os, "urandom", watched)
    for call in (noise.geometric, noise.discrete_laplace, noise.discrete_gaussian, noise.rounded_gaussian):
        before = len(keys)
        call(3, size=10)
        call(3)
        assert keys[before:] == [32, 32]


def test_a_restored_copy_of_the_process_does_not_repeat_the_next_call() -> None:
    # A copy of the process is what fork makes. Parent and child go on from the same memory and call once each.
    child = in_child(lambda: noise.uniform_integers(2**62, size=4).tobytes())
    assert len(child) == 32
    assert child != noise.uniform_integers(2**62, size=4).tobytes()


def test_a_stream_held_across_a_fork_differs_in_the_child() -> None:
    stream = SecureBits()
    stream.words(5)
    children = [in_child(lambda: stream.words(4).tobytes()), in_child(lambda: stream.integer(256).to_bytes(32, "big"))]
    parent = stream.words(8).tobytes()
    assert len({parent[:32], parent[32:], *children}) == 4


def test_a_fork_while_another_thread_draws_does_not_hang() -> None:
    stream = SecureBits()
    with stream._lock:
        assert len(in_child(lambda: stream.words(2).tobytes())) == 16
    assert len(stream.words(2)) == 2


def test_a_keyed_stream_repeats_itself_after_a_fork_and_substreams_do_not() -> None:
    stream = KeyedBits(key_of("fork"))
    first = stream.words(4).tobytes()
    assert in_child(lambda: stream.words(4).tobytes()) == first
    names = [in_child(lambda name=name: stream.substream(name).words(4).tobytes()) for name in ("a", "b")]
    assert len({first, *names}) == 3
    assert names[0] == KeyedBits(key_of("fork")).substream("a").words(4).tobytes()


def test_threads_share_one_stream_without_sharing_bits() -> None:
    key = key_of("threads")
    stream = KeyedBits(key)
    taken: list[list[int]] = [[] for _ in range(8)]

    def work(mine: list[int]) -> None:
        for size in range(1, 40):
            mine.extend(int(word) for word in stream.words(size))
            mine.append(stream.integer(64))

    workers = [threading.Thread(target=work, args=(mine,)) for mine in taken]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    everything = [word for mine in taken for word in mine]
    # Each request is under one lock, so requests are intact and together are the keystream, in some order.
    assert sorted(everything) == sorted(keystream(key, len(everything)))


def test_a_long_request_is_one_piece_of_the_stream_among_threads() -> None:
    # A request of 40,000 words is encrypted in three pieces; without the lock another thread's could come between.
    key, size, turns = key_of("pieces"), 40_000, 60
    stream = KeyedBits(key)
    with ThreadPoolExecutor(8) as pool:
        requests = list(pool.map(lambda _: stream.words(size), range(turns)))
    whole = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(8 * size * turns))
    pieces = np.frombuffer(whole, dtype="<u8").reshape(turns, size)
    place = {int(piece[0]): piece for piece in pieces}
    assert len(place) == turns
    for request in requests:
        assert np.array_equal(request, place.pop(int(request[0])))


def test_threads_outside_tests_draw_from_their_own_keys() -> None:
    with ThreadPoolExecutor(8) as pool:
        draws = list(pool.map(lambda _: tuple(noise.uniform_integers(2**62, size=3)), range(64)))
    assert len(set(draws)) == 64


def test_an_injected_key_stays_in_its_thread() -> None:
    seen: list[bool] = []
    with keyed(key_of("thread")):
        worker = threading.Thread(target=lambda: seen.append(noise.injected()))
        worker.start()
        worker.join()
        assert noise.injected()
    # A thread starts from an empty context before Python 3.14, where a build option copies it.
    assert seen in ([False], [True])
    assert not noise.injected()


def test_an_injected_key_follows_its_task_and_no_other() -> None:
    async def inside(name: str) -> bytes:
        with keyed(key_of(name)) as stream:
            await asyncio.sleep(0)
            assert source() is stream
            return noise.uniform_integers(2**62, size=2).tobytes()

    async def main() -> list[bytes | bool]:
        return list(await asyncio.gather(inside("a"), inside("b"), asyncio.to_thread(noise.injected)))

    first, second, outside = asyncio.run(main())
    assert first != second
    assert outside is False


def test_secure_bits_know_that_they_are_not_injected() -> None:
    assert SecureBits().injected is False
    assert KeyedBits(key_of("x")).injected is True
    assert not noise.injected()
    assert SecureBits().prefix_bits == PREFIX_BITS
    assert SecureBits().fallbacks == 0
