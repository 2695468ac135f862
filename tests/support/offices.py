"""Services to ask: in this process, over a real socket, and as a command."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from bursar.ledger.ledger import Ledger
from bursar.service.core import Service
from bursar.service.server import Server, listening
from bursar.service.settings import Settings
from bursar.service.tokens import ROLES, Tokens
from support.patience import NET

RESPONSES = " + ".join(f"randomized_response(epsilon=0.{1000 + number})" for number in range(399))
"""What takes a worker seconds."""


@dataclass
class Office:
    """A service with a small tree of scopes, and a token of each role for the whole and for one branch."""

    service: Service
    secrets: dict[tuple[str, str], str] = field(default_factory=dict)
    client: Any = None

    def ask(
        self, method: str, path: str, body: Any = None, *, role: str = "owner", scope: str = "*", **more: Any
    ) -> Any:
        """A request by somebody."""
        headers = {"Authorization": f"Bearer {self.secrets[role, scope]}"}
        if method == "GET":
            return self.client.get(path, params=body, headers=headers, **more)
        return self.client.post(path, json=body, headers=headers, **more)

    def spend(self, scope: str = "data", what: str = "laplace(scale=10)", key: str = "k", **more: Any) -> Any:
        """Charge something."""
        return self.ask("POST", "/v1/spend", {"scopes": [scope], "what": what, "key": key}, **more)


def office(ledger: Ledger, **settings: Any) -> Office:
    """With data, data/left, data/right and other."""
    made = Office(Service(Settings(**{"rate": 1e6, **settings}), ledger, Tokens(":memory:")))
    ledger.open("data", epsilon=1)
    ledger.open("data/left", parent="data", epsilon="1/2")
    ledger.open("data/right", parent="data", epsilon="1/2")
    ledger.open("other", epsilon=1, delta="1e-6")
    for role in ROLES:
        for scope in ("*", "data", "data/left", "other"):
            made.secrets[role, scope] = made.service.tokens.add(f"{role} {scope}", role, scope)[1]
    return made


@contextmanager
def listening_office(made: Office) -> Iterator[str]:
    """The service on a socket, in a thread; gives its address."""
    bound = listening("127.0.0.1", 0)
    address = f"http://127.0.0.1:{bound.getsockname()[1]}"
    ready = threading.Event()
    server = Server(made.service, ready.set)
    thread = threading.Thread(target=server.run, args=(bound,), daemon=True)
    thread.start()
    assert ready.wait(NET)
    try:
        yield address
    finally:
        server.stop()
        thread.join(NET)
        assert not thread.is_alive()


@contextmanager
def open_office(ledger: Ledger, **settings: Any) -> Iterator[Office]:
    """An office that answers on a socket."""
    made = office(ledger, **settings)
    with listening_office(made) as address, httpx.Client(base_url=address, timeout=NET) as made.client:
        yield made


@dataclass
class Command:
    """`bursar serve` as a process of its own."""

    process: subprocess.Popen[str]
    address: str
    token: str

    def client(self) -> httpx.Client:
        """A client with the owner's token."""
        return httpx.Client(base_url=self.address, headers={"Authorization": f"Bearer {self.token}"}, timeout=NET)

    def stop(self, how: int = signal.SIGTERM) -> int:
        """Stop it, and wait."""
        self.process.send_signal(how)
        return self.process.wait(NET)
