"""How tests wait: for events, for work done, or for processor time, never for so many seconds of the clock on the wall.

A busy machine is slow, not wrong. So nothing here fails because time went by: `within` counts what this process itself
computes, `until` waits for something to happen, and what may hang has the one limit `NET`, which no test that works
comes near on any machine.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NET = 1800.0
"""Seconds. It measures nothing: a test that hangs shall not hang for ever."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail what takes more processor time than this, however long other processes make it wait."""

    def give_up(*_: object) -> None:
        raise AssertionError(f"no answer within {seconds} seconds of processor time")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def until(happened: Callable[[], object], going: Callable[[], object] = lambda: True) -> None:
    """Wait for an event, as long as whatever brings it about is still going on."""
    while not happened():
        assert going(), "what was waited for can no longer happen"
        time.sleep(0.001)
