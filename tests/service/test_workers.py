"""Counting happens elsewhere: in processes that are bounded, shared fairly, and ended when nobody waits for them."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from bursar.client import Client
from bursar.errors import TooMuchWork
from bursar.ledger.budget import release
from bursar.ledger.budget.currencies import _base, currency_with
from bursar.ledger.budget.currencies._certificates import Finder
from bursar.ledger.ledger import Ledger
from bursar.service.workers import line
from support.offices import RESPONSES, Command, Office, open_office
from support.patience import NET, until

SAMPLED = " + ".join(f"poisson(laplace(scale=1.{100 + number}), rate=0.1)" for number in range(29))
DENSITIES = "densities(p='1+sin(1000000*x)/2', q='1', low=0, high=1)"
TINY = "laplace(scale=1e30)*1000000000000"


@pytest.fixture
def nothing_counts_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, which is the service's, nothing may be read, priced or composed."""

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("the service's own process counts")

    currency_with.cache_clear()
    monkeypatch.setattr(release, "_texts", {})
    monkeypatch.setattr(release, "parse", never)
    monkeypatch.setattr(_base.Stateless, "ask", never)
    monkeypatch.setattr(Finder, "_said", never)
    monkeypatch.setattr(Finder, "_law", never)
    monkeypatch.setattr("bursar.jobs.account.account", never)


@pytest.mark.usefixtures("nothing_counts_here")
def test_the_service_itself_never_counts() -> None:
    """Every verb, with releases that are new to it: all is read and priced in other processes, down many rungs."""
    with open_office(Ledger("memory://", alert=None), largest_reserved="1") as office:
        for number in range(60):
            assert office.spend("other", "laplace(scale=41)", f"{number}").status_code == 200, number
        assert office.spend("data", "laplace(scale=70) + laplace(scale=71)", "a").status_code == 200
        asked = {"scopes": ["data"], "what": "laplace(scale=72)*4", "ttl": "60", "key": "r"}
        held = office.ask("POST", "/v1/reserve", asked).json()["id"]
        part = {"reservation": held, "what": "laplace(scale=72)", "key": "d"}
        assert office.ask("POST", "/v1/draw", part).status_code == 200
        assert office.ask("POST", "/v1/close", {"reservation": held, "key": "c"}).status_code == 200
        quoted = office.ask("POST", "/v1/quote", {"scopes": ["other"], "what": "laplace(scale=73)"})
        assert quoted.json()["fits"] > 1
        opened = {"scope": "past", "epsilon": "1", "spent": ["laplace(scale=74)"], "key": "o"}
        assert office.ask("POST", "/v1/open", opened).status_code == 201
        wrong = {"root": "past", "seq": 1, "what": "laplace(scale=75)", "reason": "forgotten", "key": "w"}
        assert office.spend("past", "laplace(scale=76)", "p").status_code == 200
        assert office.ask("POST", "/v1/correct", {**wrong, "seq": 2}).status_code == 200
        shown = office.ask("GET", "/v1/show", {"scope": "other"}).json()
        assert shown["hindsight"]["epsilon"]["upper"] > 0
        counted = office.ask("POST", "/v1/account", {"composition": "laplace(scale=77)", "delta": "0"})
        assert counted.json()["epsilon"]["upper"] >= 1 / 77
        planned = {"template": "laplace(scale=?)", "epsilon": "1", "delta": "0"}
        assert office.ask("POST", "/v1/plan", planned).status_code == 200
        assert office.ask("POST", "/v1/verify", {"reprice": True}).json()["ok"]


@pytest.mark.parametrize(
    "what", [SAMPLED, RESPONSES, DENSITIES, TINY], ids=["sampled", "responses", "densities", "tiny"]
)
def test_bodies_that_would_count_for_minutes_are_refused(what: str) -> None:
    """Within their ceiling, with what would pass; the next one is answered."""
    with open_office(Ledger("memory://", alert=None), price_seconds=0.3) as office:
        found = office.ask("POST", "/v1/quote", {"scopes": ["other"], "what": what})
        assert found.status_code == 422, found.text
        assert found.json()["code"] == "too_much_work"
        assert "What would pass" in found.json()["detail"]
        assert office.ask("POST", "/v1/quote", {"scopes": ["other"], "what": "laplace(scale=9)"}).status_code == 200
        charged = office.spend("other", what, "k")
        assert charged.status_code == 200 or charged.json()["code"] == "too_much_work"


def test_a_worker_has_so_much_memory_and_no_more() -> None:
    """What needs more is refused, and does not take the service with it."""
    with open_office(Ledger("memory://", alert=None), work_memory=64) as office:
        few = "poisson(laplace(scale=1), rate=0.5) + poisson(laplace(scale=0.7), rate=0.3)"
        large = {"composition": few, "delta": "1e-6", "width": "1e-11"}
        found = office.ask("POST", "/v1/account", large)
        assert found.json()["code"] == "too_much_work", found.text
        assert "memory" in found.json()["detail"]
        small = office.ask("POST", "/v1/account", {"composition": "laplace(scale=9)", "delta": "0"})
        assert small.status_code == 200


def _until(true: Any) -> None:
    """Wait for something that must come."""
    while not true():
        time.sleep(0.01)


def test_a_client_that_leaves_ends_what_it_asked_for() -> None:
    """Its worker is killed, though nothing else would have ended it."""
    with open_office(Ledger("memory://", alert=None), work_seconds=1e6, price_seconds=1e6) as office:
        place = urlsplit(str(office.client.base_url))
        body = json.dumps({"composition": SAMPLED, "delta": "1e-6", "width": "1e-12", "effort": "high"}).encode()
        head = (
            f"POST /v1/account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {office.secrets['analyst', '*']}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection((place.hostname, place.port)) as leaving:
            leaving.sendall(head.encode() + body)
            _until(lambda: any(job.worker for job in list(office.service.workers._jobs.values())))
            (job,) = office.service.workers._jobs.values()
        _until(job.done.done)
        assert job.done.result() is None, "it was counted to its end"
        assert office.service.workers.busy == 0
        assert office.ask("POST", "/v1/quote", {"scopes": ["other"], "what": "laplace(scale=9)"}).status_code == 200


@contextmanager
def hostile(office: Office, tokens: int) -> Iterator[list[Any]]:
    """So many tokens that never stop asking; afterwards those who still wait are let go."""
    secrets = [office.service.tokens.add(f"hostile {number}", "analyst")[1] for number in range(tokens)]
    with attacked(str(office.client.base_url), secrets) as attack:
        try:
            yield attack.answered
        finally:
            attack.over.set()
            _let_go(office, attack.asking)


@dataclass(frozen=True)
class Attack:
    """What hostile tokens do at the moment."""

    answered: list[Any] = field(default_factory=list)
    asking: list[Future[Any]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def attacked(address: str, secrets: list[str]) -> Iterator[Attack]:
    """Each token asks for endless things, twice at a time, again and again."""
    asked = [
        ("/v1/quote", {"scopes": ["other"], "what": RESPONSES}),
        ("/v1/quote", {"scopes": ["other"], "what": DENSITIES}),
        ("/v1/quote", {"scopes": ["other"], "what": TINY}),
        ("/v1/quote", {"scopes": ["other"], "what": SAMPLED}),
    ]
    attack = Attack()

    def go_on(number: int) -> None:
        with httpx.Client(base_url=address, timeout=None) as client:
            for turn in range(1_000_000):
                if attack.over.is_set():
                    return
                path, body = asked[(number + turn) % len(asked)]
                # another text each time: nothing is shared, nothing remembered
                body = {**body, "what": f"{body['what']} + laplace(scale={10**9 + number * 10**6 + turn})"}
                headers = {"Authorization": f"Bearer {secrets[number % len(secrets)]}"}
                try:
                    found = client.post(path, json=body, headers=headers)
                except httpx.TransportError:
                    return
                attack.answered.append((path, found.status_code))

    with ThreadPoolExecutor(2 * len(secrets)) as crowd:
        attack.asking.extend(crowd.submit(go_on, number) for number in range(2 * len(secrets)))
        try:
            yield attack
        finally:
            attack.over.set()


def _let_go(office: Office, asking: list[Future[Any]]) -> None:
    """End what is counted for them until all are answered: between two jobs of one request there is none to end."""

    def ended() -> bool:
        for job in list(office.service.workers._jobs.values()):
            job.ceiling = 0.0
        return all(one.done() for one in asking)

    _until(ended)


def test_six_hostile_tokens_stop_nobody() -> None:
    """Ordinary charges at new prices are all served while everything hostile that was asked before still counts."""
    endless = {"work_seconds": 1e6, "price_seconds": 1e6}
    with open_office(Ledger("memory://", alert=None), **endless) as office, hostile(office, 6) as answered:
        until(lambda: office.service.workers.busy >= 6, going=lambda: not answered)
        for number in range(20):
            charged = office.spend("other", f"laplace(scale={900 + number})", f"{number}")
            assert charged.status_code == 200, charged.text
            assert office.ask("GET", "/health").status_code == 200
        assert office.ask("POST", "/v1/account", {"composition": "laplace(scale=7)", "delta": "0"}).status_code == 200
        assert answered == []  # none of them had to end first


def test_hostile_tokens_make_nobodys_charges_dearer(command: Callable[..., Command]) -> None:
    """The service's processor time for an ordinary charge, beside six tokens that ask for endless things, against the
    same when all is quiet: at most twice.
    """
    server = command(rate=1e6, work_seconds=1e6, price_seconds=1e6)
    with server.client() as client:
        for scope in ({"scope": "data", "epsilon": "1"}, {"scope": "other", "epsilon": "1", "delta": "1e-6"}):
            assert client.post("/v1/open", json={**scope, "key": scope["scope"]}).status_code == 201
        names = [{"name": f"hostile {number}", "role": "analyst"} for number in range(6)]
        secrets = [client.post("/v1/token_add", json=name).json()["secret"] for name in names]

        def cost(tag: str) -> float:
            body = {"scopes": ["data"], "what": "laplace(scale=1000000)"}
            before = _processor_time(server.process.pid)
            for number in range(800):
                assert client.post("/v1/spend", json={**body, "key": f"{tag}-{number}"}).status_code == 200
            return _processor_time(server.process.pid) - before

        cost("warm")
        quiet = cost("quiet")
        with attacked(server.address, secrets) as attack:
            time.sleep(1)
            beside = cost("beside")
            assert attack.answered == []
            server.process.kill()
        assert beside <= 2 * quiet


def _processor_time(pid: int) -> float:
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_at_most_one_worker_counts_beside_the_service_on_two_cores() -> None:
    """Others stand still, or wait."""
    with open_office(Ledger("memory://", alert=None), work_seconds=1e6, price_seconds=1e6) as office:
        workers = office.service.workers
        assert workers.most == max(1, len(os.sched_getaffinity(0)) - 1)
        with hostile(office, 4):
            _until(lambda: workers.busy >= 4)
            for _ in range(50):
                assert sum(job.counting for job in list(workers._jobs.values())) <= workers.most
                time.sleep(0.01)


def test_one_token_has_its_share_of_the_queue() -> None:
    """Beyond it requests are refused at once, and others go on."""
    settings = {"most_waiting": 2, "work_seconds": 1e6, "price_seconds": 1e6}
    with open_office(Ledger("memory://", alert=None), **settings) as office, hostile(office, 1) as answered:
        _until(lambda: office.service.workers.busy >= 2)
        assert office.ask("POST", "/v1/account", {"composition": "laplace(scale=6)", "delta": "0"}).status_code == 200
        assert all(status in (422, 429) for _, status in answered)


def test_workers_open_no_ledger(command: Callable[..., Command], tmp_path: Path) -> None:
    """Neither they nor the nursery have a file of the ledger, of its anchor or of the tokens open; the service has."""
    service = command(work_seconds=1e6, price_seconds=1e6)
    with service.client() as client:
        assert client.post("/v1/open", json={"scope": "data", "epsilon": "1", "key": "o"}).status_code == 201
        charge = {"scopes": ["data"], "what": "laplace(scale=9)", "key": "k"}
        assert client.post("/v1/spend", json=charge).status_code == 200
        below = [_files(pid, tmp_path) for pid in _below(service.process.pid)]
        alive = [files for files in below if files is not None]
        assert len(alive) >= 2, "a nursery and a worker"
        assert not any(alive)
        assert _files(service.process.pid, tmp_path)


def _below(pid: int) -> list[int]:
    """The processes that one has started, and those that they have."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = [int(child) for child in file.read().split()]
    return [*children, *(later for child in children for later in _below(child))]


def _files(pid: int, folder: Path) -> list[str] | None:
    """What a process has open in a folder, or mapped from it; None if it has just ended."""
    try:
        numbers = os.listdir(f"/proc/{pid}/fd")
        with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
            mapped = [row.split(maxsplit=5)[-1].strip() for row in file]
        named = [*mapped, *(os.readlink(f"/proc/{pid}/fd/{number}") for number in numbers)]
    except (FileNotFoundError, ProcessLookupError):
        return None
    return [name for name in named if name.startswith(str(folder))]


def test_only_expected_things_are_heard_from_a_worker() -> None:
    """An answer that names anything else is not unpickled."""
    import io
    import pickle

    with pytest.raises(pickle.UnpicklingError, match="not expected"):
        line._Careful(io.BytesIO(pickle.dumps(os.system))).load()


def test_idle_connections_make_room() -> None:
    """Three times as many as there may be, all idle: whoever asks something is served at once."""
    with open_office(Ledger("memory://", alert=None), most_connections=100, most_from_one_address=60) as office:
        place = urlsplit(str(office.client.base_url))
        idle = [socket.create_connection((place.hostname, place.port)) for _ in range(300)]
        try:
            for number in range(5):
                with httpx.Client(base_url=office.client.base_url, timeout=None) as fresh:
                    assert fresh.get("/health").status_code == 200, number
        finally:
            for one in idle:
                one.close()


@pytest.mark.parametrize("source", ["127.0.2.1", "127.0.1.1"], ids=["a new address", "one of theirs"])
def test_idle_connections_from_many_addresses_make_room(source: str) -> None:
    """No address has more than its share, all together have every place: whoever asks something is served at once."""
    with open_office(Ledger("memory://", alert=None), most_connections=100, most_from_one_address=60) as office:
        place = urlsplit(str(office.client.base_url))
        here = [(f"127.0.1.{1 + number % 50}", 0) for number in range(300)]
        idle = [socket.create_connection((place.hostname, place.port), source_address=one) for one in here]
        try:
            for number in range(5):
                there = httpx.HTTPTransport(local_address=source)
                with httpx.Client(base_url=office.client.base_url, transport=there, timeout=NET) as fresh:
                    assert fresh.get("/health").status_code == 200, number
        finally:
            for one in idle:
                one.close()


def test_behind_a_proxy_the_share_is_that_of_the_client() -> None:
    """The proxy's own address has no share of its own; a client's has, as far as the proxy names it."""
    with open_office(
        Ledger("memory://", alert=None), behind_proxy=True, most_from_one_address=3, price_seconds=1e6
    ) as office:
        headers = {"Authorization": f"Bearer {office.secrets['analyst', '*']}", "X-Forwarded-For": "10.0.0.7"}
        body = {"scopes": ["other"], "what": RESPONSES}

        def ask(number: int) -> int:
            other = {**body, "what": f"{RESPONSES} + laplace(scale={number + 1})"}
            return httpx.post(
                f"{office.client.base_url}/v1/quote", json=other, headers=headers, timeout=None
            ).status_code

        with ThreadPoolExecutor(3) as crowd:
            slow = [crowd.submit(ask, number) for number in range(3)]
            try:
                _until(lambda: office.service.workers.busy == 3)
                assert ask(99) == 429
                assert office.ask("GET", "/v1/scopes", role="analyst").status_code == 200
            finally:
                _let_go(office, slow)
            assert [one.result() for one in slow] == [422] * 3


def test_ready_means_that_the_store_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it does not, health says so with 503 and a reason; it comes back by itself."""
    from bursar.errors import StorageFailed

    with open_office(Ledger("memory://", alert=None)) as office:
        assert office.client.get("/health").status_code == 200

        def away() -> Any:
            raise StorageFailed("connection to server at /secret/socket failed")

        def health() -> Any:
            office.service._asked = None  # else an answer counts for a second
            return office.client.get("/health")

        with monkeypatch.context() as broken:
            broken.setattr(office.service.ledger.store, "answers", away)
            found = health()
            assert found.status_code == 503
            assert found.json()["status"] == "unavailable"
            assert "secret" not in found.json()["reason"]
        asked = iter(range(200))  # a busy machine may take too long to answer
        until(lambda: health().status_code == 200, going=lambda: next(asked, None) is not None)


def test_what_was_too_much_is_not_asked_again_by_itself() -> None:
    """The client raises it at once, as the class that the library has: to count it again would help nobody."""
    sent: list[httpx.Request] = []

    def answer(asked: httpx.Request) -> httpx.Response:
        sent.append(asked)
        return httpx.Response(found.status_code, headers=found.headers, content=found.content)

    with open_office(Ledger("memory://", alert=None), work_seconds=0.2) as office:
        found = office.ask("POST", "/v1/account", {"composition": DENSITIES, "delta": "1e-6"})
    client = Client("http://x", "t", transport=httpx.MockTransport(answer))
    with client, pytest.raises(TooMuchWork, match="What would pass"):
        client.account(DENSITIES, delta="1e-6")
    assert len(sent) == 1


def test_readers_of_pages_do_not_keep_charges_from_their_scope() -> None:
    """Every thread that reads pages is busy: a token of one scope is placed and its charge served all the same."""
    with open_office(Ledger("memory://", alert=None)) as office:
        go_on, reading = threading.Event(), []

        async def read(token: str) -> None:
            await office.service._looks.run(lambda: (reading.append(token), go_on.wait()), token)

        async def all_at_once() -> None:
            await asyncio.gather(*(read(f"reader {number}") for number in range(12)))

        asking = threading.Thread(target=asyncio.run, args=(all_at_once(),))
        asking.start()
        try:
            _until(lambda: len(reading) == 4)
            office.service.tree = type(office.service.tree)(office.service.ledger)
            asked = {"scopes": ["data/left"], "what": "laplace(scale=9)", "key": "k"}
            charges: list[Any] = []
            charge = threading.Thread(
                target=lambda: charges.append(office.ask("POST", "/v1/spend", asked, role="analyst", scope="data/left"))
            )
            charge.start()
            _until(lambda: charges or any(not who.startswith("reader") for who in list(office.service._looks._asking)))
            assert charges, "it waits behind those who read"
            assert charges[0].status_code == 200, charges[0].text
            assert len(reading) == 4, "none of them has ended"
        finally:
            go_on.set()
            asking.join()
