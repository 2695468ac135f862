"""Many clients at once, kill −9 in the middle, and stopping: never too much, nothing acknowledged lost."""

from __future__ import annotations

import asyncio
import itertools
import signal
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import httpx

from bursar.client import AsyncClient
from bursar.errors import BudgetExceeded
from bursar.ledger.ledger import Ledger
from support.offices import Command, open_office
from support.patience import NET, until

CLIENTS = 64


def test_sixty_four_clients_never_overspend(tmp_path: Path) -> None:
    """They ask for twice the budget; exactly the budget is admitted, in shared commits."""
    with open_office(Ledger(f"sqlite:///{tmp_path}/budget.db", alert=None)) as office:
        address, token = str(office.client.base_url), office.secrets["analyst", "*"]
        tally = {"admitted": 0, "refused": 0}

        async def one(number: int) -> None:
            async with AsyncClient(address, token, timeout=NET) as bursar:
                for turn in range(32):
                    try:
                        await bursar.spend("data", "laplace(scale=1000)", key=f"{number}-{turn}")
                        tally["admitted"] += 1
                    except BudgetExceeded:
                        tally["refused"] += 1

        async def all_of_them() -> None:
            await asyncio.gather(*(one(number) for number in range(CLIENTS)))

        asyncio.run(all_of_them())
        assert tally == {"admitted": 1000, "refused": CLIENTS * 32 - 1000}
        assert office.ask("GET", "/v1/show", {"scope": "data"}).json()["lines"][0]["left"] == "0"
        assert office.ask("POST", "/v1/verify", {}).json()["ok"]
        batches = office.service.metrics.batches
        assert sum(batches.counts) < batches.total
        assert sum(batches.counts[4:]) > 0  # more than eight in one


def test_the_service_answers_while_others_write(tmp_path: Path) -> None:
    """Another writer has the file: a charge waits for it, everything else is answered meanwhile."""
    url = f"sqlite:///{tmp_path}/budget.db"
    with open_office(Ledger(url, alert=None)) as office, Ledger(url, alert=None) as other:
        charged: list[int] = []
        waiting = threading.Thread(target=lambda: charged.append(office.spend(key="waits").status_code))
        with other.store.writing():
            waiting.start()
            for _ in range(20):
                assert office.ask("GET", "/health").json()["status"] == "ok"
            assert charged == []
        waiting.join(NET)
        assert charged == [200]


def test_the_service_answers_while_somebody_reads_for_long(tmp_path: Path) -> None:
    """A token bound to a branch asks for a scope that nobody knows, while an audit has the readers' connection."""
    with open_office(Ledger(f"sqlite:///{tmp_path}/budget.db", alert=None)) as office:
        refused: list[int] = []
        bound = office.secrets["analyst", "data"]
        body = {"scopes": ["nowhere"], "what": "laplace(scale=10)", "key": "k"}

        def ask() -> None:
            headers = {"Authorization": f"Bearer {bound}"}
            refused.append(
                httpx.post(
                    f"{office.client.base_url}".rstrip("/") + "/v1/spend", json=body, headers=headers, timeout=NET
                ).status_code
            )

        waiting = threading.Thread(target=ask)
        with office.service.ledger.store.reading():
            waiting.start()
            time.sleep(0.2)
            for _ in range(5):
                assert office.client.get("/health").status_code == 200
        waiting.join(NET)
        assert refused == [403]


def hammer(server: Command, acknowledged: dict[str, int], asked: set[str], stop: threading.Event, name: str) -> None:
    """Spend until told to stop or until the service is gone."""
    with server.client() as client:
        for number in itertools.count():
            if stop.is_set():
                return
            key = f"{name}-{number}"
            asked.add(key)
            try:
                body = {"scopes": ["data"], "what": "laplace(scale=1000000)", "key": key}
                answer = client.post("/v1/spend", json=body)
            except httpx.TransportError:
                return
            if answer.status_code == 200:
                acknowledged[key] = answer.json()["seq"]


def under_load(server: Command, charges: int, how: int) -> tuple[dict[str, int], set[str]]:
    """Stop a service while eight threads spend, once they did so often: what was acknowledged, and what was asked."""
    acknowledged: dict[str, int] = {}
    asked: set[str] = set()
    stop = threading.Event()
    threads = [
        threading.Thread(target=hammer, args=(server, acknowledged, asked, stop, str(number))) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    until(lambda: len(acknowledged) >= charges, lambda: any(thread.is_alive() for thread in threads))
    server.stop(how)
    stop.set()
    for thread in threads:
        thread.join(NET)
    return acknowledged, asked


def check(server: Command, acknowledged: dict[str, int], asked: set[str]) -> None:
    """Everything acknowledged is there; every key in doubt resolves when it is sent again, and is charged once."""
    with server.client() as client:
        quote = client.post("/v1/quote", json={"scopes": ["data"], "what": "laplace(scale=1000000)"}).json()
        price = Fraction(quote["parts"][0]["asked"])
        before = Fraction(client.get("/v1/show", params={"scope": "data"}).json()["lines"][0]["spent"])
        assert before >= len(acknowledged) * price
        for key in sorted(asked):
            body = {"scopes": ["data"], "what": "laplace(scale=1000000)", "key": key}
            answer = client.post("/v1/spend", json=body)
            assert answer.status_code == 200, answer.text
            if key in acknowledged:
                assert answer.json()["replayed"]
                assert answer.json()["seq"] == acknowledged[key]
        after = Fraction(client.get("/v1/show", params={"scope": "data"}).json()["lines"][0]["spent"])
        assert after == len(asked) * price
        assert client.post("/v1/verify", json={"reprice": True}).json()["ok"]


def test_kill_under_load_loses_nothing_acknowledged(command: Callable[..., Command]) -> None:
    """kill −9, twice, then a third service finds every acknowledged charge and resolves every doubt."""
    server = command(rate=1e6)
    with server.client() as client:
        assert client.post("/v1/open", json={"scope": "data", "epsilon": "1", "key": "open"}).status_code == 201
    acknowledged: dict[str, int] = {}
    asked: set[str] = set()
    for turn in range(2):
        done, tried = under_load(server, 100 + 77 * turn, signal.SIGKILL)
        assert done
        acknowledged |= {key: seq for key, seq in done.items() if key not in acknowledged}
        asked |= tried
        server = command(rate=1e6)
    check(server, acknowledged, asked)


def test_a_graceful_stop_answers_what_it_accepted(command: Callable[..., Command]) -> None:
    """SIGTERM under load: exit code 0, and nothing acknowledged is missing."""
    server = command(rate=1e6)
    with server.client() as client:
        client.post("/v1/open", json={"scope": "data", "epsilon": "1", "key": "open"})
    acknowledged, asked = under_load(server, 100, signal.SIGTERM)
    assert server.process.returncode == 0
    assert acknowledged
    check(command(rate=1e6), acknowledged, asked)
