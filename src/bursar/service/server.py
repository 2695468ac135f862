"""Running the application under uvicorn: one process, TLS if asked, and a shutdown that loses nothing.

Uvicorn stops accepting on SIGTERM or Ctrl-C, lets requests in flight finish, then ends the application, which commits
what its clerk has accepted and lets go of the ledger.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from bursar.errors import InputError
from bursar.service.app import Application
from bursar.service.core import Service
from bursar.service.guard import Doors, guarded, proxies

_GRACE = 20  # seconds for requests in flight
_SWITCH = 0.0005  # seconds that a thread keeps the interpreter while another wants it


class Server:
    """One service on one socket; ``ready`` is called when whoever connects will be answered."""

    def __init__(self, service: Service, ready: Callable[[], None] = lambda: None) -> None:
        settings = service.settings
        self._settings, self._doors = settings, Doors(settings)
        config = uvicorn.Config(
            Application(service, ready),
            host=settings.host,
            port=settings.port,
            ssl_certfile=settings.tls_certificate,
            ssl_keyfile=settings.tls_key,
            proxy_headers=settings.behind_proxy,
            forwarded_allow_ips=sorted(proxies(settings)),
            server_header=False,
            access_log=False,
            log_level="warning",
            timeout_keep_alive=30,
            timeout_graceful_shutdown=_GRACE,
            http=guarded(self._doors),
            ws="none",
        )
        self._server = uvicorn.Server(config)

    def run(self, bound: socket.socket | None = None) -> None:
        """Answer until it is told to stop."""
        sys.setswitchinterval(_SWITCH)  # who reads long pages in a thread holds up the loop for no longer
        place = bound or listening(self._settings.host, self._settings.port)
        with self._signals(), asyncio.Runner(loop_factory=_loop()) as runner:
            runner.run(self._watched(place))

    def stop(self, *_: Any) -> None:
        """Accept nothing more, finish what was accepted, and end."""
        self._server.should_exit = True

    async def _watched(self, place: socket.socket) -> None:
        """Serve, and meanwhile look for those who only pretend to ask."""
        watch = asyncio.create_task(self._doors.watch(self._settings.patience))
        try:
            await self._server.serve([place])
        finally:
            watch.cancel()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """A stop that was asked for is no failure. Uvicorn stops on a signal and then raises it again, for the handlers
        that were there before its own: these, which ask for a stop. So does one that comes before uvicorn listens.
        """
        if threading.current_thread() is not threading.main_thread():  # which alone hears signals
            yield
            return
        before = {number: signal.signal(number, self.stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The faster loop, where there is one."""
    try:
        import uvloop
    except ImportError:  # on Windows
        return None
    return uvloop.new_event_loop


def listening(host: str, port: int) -> socket.socket:
    """A socket for this address; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as problem:
        made.close()
        raise InputError(f"cannot listen on {host}:{port}: {problem}", argument="port") from None
    made.listen(1024)
    made.set_inheritable(True)
    return made
