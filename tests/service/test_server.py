"""Stopping a server: whoever asks for a stop gets one, and it is no failure."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
import uvicorn

from bursar.ledger.ledger import Ledger
from bursar.service.server import Server, listening
from support.offices import office

Handler = Callable[[int, FrameType | None], Any] | int | None


@pytest.fixture
def raised() -> Iterator[list[int]]:
    """Signals that reach whoever ran the server."""
    found: list[int] = []
    before: dict[int, Handler] = {
        number: signal.signal(number, lambda number, _: found.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    yield found
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_that_was_asked_for_is_no_failure(number: int, raised: list[int]) -> None:
    """The server ends and the signal is not raised again, neither as an exception nor for the handler before it."""
    assert threading.current_thread() is threading.main_thread()
    made = office(Ledger("memory://", alert=None))
    before = signal.getsignal(number)
    Server(made.service, lambda: os.kill(os.getpid(), number)).run(listening("127.0.0.1", 0))
    assert raised == []
    assert signal.getsignal(number) is before


def test_a_signal_that_comes_too_early_is_not_lost(raised: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Before uvicorn listens to signals the server does, and ends as soon as it has begun."""

    class Early(uvicorn.Server):
        """Is told to stop before it does anything."""

        async def serve(self, sockets: Any = None) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(0)
            await super().serve(sockets)

    monkeypatch.setattr(uvicorn, "Server", Early)
    made = office(Ledger("memory://", alert=None))
    begun = []
    Server(made.service, lambda: begun.append(True)).run(listening("127.0.0.1", 0))
    assert begun == [True]
    assert raised == []
