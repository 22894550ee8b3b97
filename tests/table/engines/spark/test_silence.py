"""pyspark's loggers, which print values: silent as long as any thread is at work, and then as they were."""

from __future__ import annotations

import logging
import threading

import pytest

from quincunx.table.engines.spark.session import silenced

LOGGER = logging.getLogger("SQLQueryContextLogger")


def test_nobody_ends_the_silence_of_another() -> None:
    assert not LOGGER.disabled
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with silenced():
            inside.set()
            assert leave.wait(60)

    thread = threading.Thread(target=other)
    with silenced():
        thread.start()
        assert inside.wait(60)
    assert LOGGER.disabled, "the other thread is still at work"
    leave.set()
    thread.join()
    assert not LOGGER.disabled


def test_a_logger_that_was_silent_stays_so() -> None:
    LOGGER.disabled = True
    try:
        with silenced(), silenced():
            pass
        assert LOGGER.disabled
    finally:
        LOGGER.disabled = False


def test_a_failure_ends_it_too() -> None:
    with pytest.raises(ValueError, match="failed"), silenced():
        raise ValueError("failed")
    assert not LOGGER.disabled
