"""What goes wrong around workers: clients that leave, workers that die, a stop in the middle, answers nobody reads."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import threading
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from bursar.errors import TooMuchWork
from bursar.ledger.budget.currencies import currency_with
from bursar.ledger.ledger import Ledger
from bursar.service import guard, server
from bursar.service.workers.job import Counted
from support.offices import RESPONSES, Office, open_office
from support.packages import HEAD, Packages
from support.patience import NET, until


def request(office: Office, path: str, body: Any) -> bytes:
    """A request as bytes."""
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {office.secrets['analyst', '*']}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


def test_clients_that_leave_at_once_leave_no_workers() -> None:
    """Hundreds of them: as many workers are kept as may count at a time, and no more."""
    with open_office(Ledger("memory://", alert=None)) as office:
        place = urlsplit(str(office.client.base_url))
        workers = office.service.workers
        for number in range(150):
            with socket.create_connection((place.hostname, place.port)) as leaving:
                what = f"{RESPONSES} + laplace(scale={number + 1})"
                leaving.sendall(request(office, "/v1/quote", {"scopes": ["other"], "what": what}))
        until(lambda: workers.busy == 0 and not workers._talks)
        assert len(workers._bench.idle) <= workers.most
        assert office.spend("other", "laplace(scale=77)", "k").status_code == 200


def test_a_worker_that_is_killed_is_replaced() -> None:
    """Its job begins again, once; whoever asked notices nothing, and pays for what was counted and no more."""
    with open_office(Ledger("memory://", alert=None)) as office:
        workers = office.service.workers
        found: list[Any] = []
        what = {"composition": RESPONSES, "delta": "1e-6"}
        asking = threading.Thread(target=lambda: found.append(office.ask("POST", "/v1/account", what)))
        asking.start()
        until(lambda: any(job.worker for job in list(workers._jobs.values())))
        for job in list(workers._jobs.values()):
            if job.worker is not None:
                os.kill(job.worker.pid, signal.SIGKILL)
        asking.join()
        assert found[0].status_code == 200, found[0].text
        assert all(workers._uses.of(token) < 60 for token in list(workers._uses._used))


def test_a_stop_while_everything_is_repriced_ends() -> None:
    """The thread that reprices and the service that stops do not wait for each other."""
    with open_office(Ledger("memory://", alert=None)) as office:
        for number in range(8):
            assert office.spend("other", f"laplace(scale={5000 + number})", f"{number}").status_code == 200
        currency_with.cache_clear()
        office.service.ledger.office.catalogue = type(office.service.ledger.office.catalogue)()
        asking = threading.Thread(target=lambda: _quietly(office), daemon=True)
        asking.start()
        until(lambda: office.service._jobs.running > 0 or not asking.is_alive())
    asking.join()


def _quietly(office: Office) -> None:
    with suppress(httpx.HTTPError):
        office.ask("POST", "/v1/verify", {"reprice": True})


def test_answers_that_nobody_reads_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many requests in one go, and no look at the answers: the connection is ended, and its place is free."""
    doors: list[guard.Doors] = []
    real = guard.Doors
    monkeypatch.setattr(server, "Doors", lambda settings: doors.append(real(settings)) or doors[-1])
    with open_office(Ledger("memory://", alert=None), patience=0.5) as office:
        place = urlsplit(str(office.client.base_url))
        with socket.create_connection((place.hostname, place.port)) as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 400)
            until(lambda: any(one.stuck for one in list(doors[0].open)))
            until(lambda: not any(one.stuck for one in list(doors[0].open)))
        assert office.client.get("/health").status_code == 200


PLUG_INS = f"""{HEAD}
@dataclass(frozen=True)
class Rude(b.Mechanism):
    name = "rude"
    way: str
    relation = "add_remove"

    def __post_init__(self):
        if self.way == "exit":
            raise SystemExit("bye")
        if self.way == "made":
            raise ZeroDivisionError("boom")
        if self.way == "interrupt":
            raise KeyboardInterrupt

    def claims(self):
        if self.way == "leave":
            raise SystemExit("bye")
        if self.way == "asked":
            raise RuntimeError("boom")
        return pure("1/10")
"""


def test_plug_ins_that_fail_are_refused_with_a_sentence(packages: Packages, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they raise, when they are loaded, made or asked: 422 with their name, and the same workers go on."""
    places = [
        packages.install("fixture_rude", PLUG_INS, {"rude": "Rude"}),
        packages.install("fixture_gone", "raise SystemExit('bye')", {"gone": "Gone"}),
    ]
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*map(str, places), before]))
    # workers of another size come from a nursery of their own, which finds these packages
    with open_office(Ledger("memory://", alert=None), work_memory=900) as office:
        workers = office.service.workers
        assert office.spend("data", "rude(way=well)", "first").status_code == 200
        until(lambda: workers.busy == 0 and workers._bench.idle)
        pids = {worker.pid for worker in workers._bench.idle}
        for way, said in (
            ("rude(way=exit)", "rude"),
            ("rude(way=made)", "ZeroDivisionError"),
            ("rude(way=interrupt)", "plug-in"),
            ("rude(way=leave)", "failed to state its claims"),
            ("rude(way=asked)", "failed to state its claims"),
            ("rude(way=[1, 2])", "in its field way, a list"),
            ("rude(what=1)", "has no 'what'"),
            ("gone(scale=1)", "gone of fixture_gone cannot be loaded"),
        ):
            for scope in ("data", "other"):
                found = office.spend(scope, way, f"{way} {scope}")
                assert found.status_code == 422, found.text
                assert said in found.json()["detail"]
            found = office.ask("POST", "/v1/account", {"composition": way, "delta": "1e-6"})
            assert found.status_code == 422, found.text
            assert said in found.json()["detail"]
        until(lambda: workers.busy == 0 and workers._bench.idle)
        assert {worker.pid for worker in workers._bench.idle} == pids
        assert office.spend("data", "rude(way=well)", "last").status_code == 200


def test_bodies_that_do_not_come_make_room() -> None:
    """Connections with a head and half a body take every place, and no token: whoever asks something is served."""
    head = b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    rules = {"most_connections": 60, "most_from_one_address": 60, "patience": 1e6}
    with open_office(Ledger("memory://", alert=None), **rules) as office:
        place = urlsplit(str(office.client.base_url))
        half = [socket.create_connection((place.hostname, place.port)) for _ in range(60)]
        try:
            for one in half:
                with suppress(OSError):
                    one.sendall(head + b"Content-Length: 100\r\n\r\nt")
            for number in range(5):
                with httpx.Client(base_url=office.client.base_url, timeout=NET) as fresh:
                    headers = {"Authorization": f"Bearer {office.secrets['analyst', '*']}"}
                    asked = {"scopes": ["other"], "what": "laplace(scale=77)", "key": f"{number}"}
                    assert fresh.post("/v1/spend", json=asked, headers=headers).status_code == 200
        finally:
            for one in half:
                one.close()


def test_the_ceiling_is_on_all_that_a_request_needs() -> None:
    """What was counted to read it is a part of its time: nothing is left for its price where that took everything."""
    with open_office(Ledger("memory://", alert=None), price_seconds=5.0) as office:
        assert office.ask("GET", "/v1/show", {"scope": "other"}).status_code == 200  # now it knows its loop
        counted, loop = Counted(), office.service._loop
        assert loop is not None

        def run() -> Any:
            asked = office.service.workers.run("t", "read", "laplace(scale=123)", None, counted=counted)
            return asyncio.run_coroutine_threadsafe(asked, loop).result()

        assert run().text == "laplace(scale=123)"
        assert 0 <= counted.seconds < 5
        counted.seconds = 5.0
        with pytest.raises(TooMuchWork, match="more than 5 s"):
            run()
