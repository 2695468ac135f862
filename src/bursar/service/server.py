"""Running the application under uvicorn: one process, TLS if asked, and a shutdown that loses nothing.

Uvicorn stops accepting on SIGTERM or Ctrl-C, lets requests in flight finish, then ends the application, which commits
what its clerk has accepted and lets go of the ledger.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable

import uvicorn

from bursar.errors import InputError
from bursar.service.app import Application
from bursar.service.core import Service
from bursar.service.guard import dismiss, guarded, proxies

_GRACE = 20  # seconds for requests in flight
_SWITCH = 0.0005  # seconds that a thread keeps the interpreter while another wants it


class _Server(uvicorn.Server):
    """Tells when it accepts connections."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], patience: float) -> None:
        super().__init__(config)
        self._ready, self._patience = ready, patience

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Then say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second; once a second, look for those who only pretend to ask."""
        if counter % 10 == 0:
            dismiss(self.server_state.connections, self._patience)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """A stop that was asked for is no failure: uvicorn would raise the signal again."""
        await super().shutdown(sockets)
        self._captured_signals.clear()


def serve(service: Service, *, ready: Callable[[], None] = lambda: None, bound: socket.socket | None = None) -> None:
    """Until it is told to stop."""
    settings = service.settings
    sys.setswitchinterval(_SWITCH)  # who reads long pages in a thread holds up the loop for no longer
    config = uvicorn.Config(
        Application(service),
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
        http=guarded(settings),
        ws="none",
    )
    _Server(config, ready, settings.patience).run([bound or listening(settings.host, settings.port)])


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
