"""The client, in both forms: typed answers, the ledger's own exceptions, and retries that charge once."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

import bursar as b
from bursar.client import AsyncClient, Client, ServiceError
from support.offices import Office


class Flaky(httpx.BaseTransport):
    """Loses the answers to the first requests of each kind, after the service has performed them."""

    def __init__(self, lost: int) -> None:
        self._inner, self.lost, self.sent = httpx.HTTPTransport(), lost, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends it on, and perhaps drops the answer."""
        response = self._inner.handle_request(request)
        self.sent += 1
        if self.sent <= self.lost:
            response.read()
            response.close()
            raise httpx.ReadError("the connection was lost", request=request)
        return response

    def close(self) -> None:
        """Let go."""
        self._inner.close()


def client(office: Office, role: str = "owner", **more: Any) -> Client:
    """For somebody."""
    return Client(str(office.client.base_url), office.secrets[role, "*"], **more)


def test_the_verbs(memory: Office) -> None:
    """Each gives what the ledger gives, typed."""
    with client(memory) as bursar:
        assert bursar.health().status == "ok"
        assert bursar.account("laplace(scale=1)", delta="0")["epsilon"]["upper"] == 1
        assert bursar.plan("laplace(scale=?)", epsilon=1, delta=0)["value"]
        assert bursar.quote("data", "laplace(scale=10)").fits == 10
        receipt = bursar.spend("data", "laplace(scale=10)", key="q1")
        assert (receipt.root, receipt.key, receipt.replayed) == ("data", "q1", False)
        held = bursar.reserve("data", "laplace(scale=10)*2", ttl=60)
        assert bursar.draw(held.id, "laplace(scale=10)").kind == "draw"
        assert bursar.close(held.id).kind == "close"
        assert {scope.name for scope in bursar.scopes()} == {"data", "data/left", "data/right", "other"}
        assert bursar.statement("data").lines[0].spent == "1/5"
        assert [entry.kind for entry in bursar.entries("data").entries][-1] == "close"
        assert bursar.verify().ok
        assert bursar.export("csv").count("\n") > 3


def test_refusals_are_the_ledgers_own(memory: Office) -> None:
    """`BudgetExceeded` with exact numbers; other codes as their exceptions; the rest as `ServiceError`."""
    with client(memory) as bursar:
        with pytest.raises(b.BudgetExceeded) as refused:
            bursar.spend("data", "laplace(scale=1/2)")
        assert (refused.value.asked, refused.value.left) == (2, 1)
        with pytest.raises(b.errors.ScopeUnknown):
            bursar.spend("none", "laplace(scale=1)")
        with pytest.raises(ServiceError, match="cannot be meant"):
            bursar.spend("data", "nonsense")
    with client(memory, "auditor") as bursar, pytest.raises(b.errors.NotPermitted):
        bursar.spend("data", "laplace(scale=10)")
    with Client(str(memory.client.base_url), "wrong") as bursar, pytest.raises(ServiceError, match="token"):
        bursar.scopes()


def test_a_lost_answer_is_asked_again_and_charged_once(memory: Office) -> None:
    """The service performed it, the answer never came: the retry carries the same key."""
    flaky = Flaky(2)
    with client(memory, transport=flaky) as bursar:
        receipt = bursar.spend("data", "laplace(scale=10)")
    assert flaky.sent == 3
    assert receipt.replayed
    assert memory.ask("GET", "/v1/statement", {"scope": "data"}).json()["lines"][0]["spent"] == "1/10"


def test_it_gives_up_with_a_clear_error(memory: Office) -> None:
    """After as many attempts as were asked for."""
    flaky = Flaky(99)
    with client(memory, transport=flaky, attempts=2) as bursar, pytest.raises(ServiceError, match="2 attempts"):
        bursar.spend("data", "laplace(scale=10)", key="k")
    assert flaky.sent == 2


def test_asynchronously(memory: Office) -> None:
    """The same verbs, many at a time, in few commits."""

    async def run() -> None:
        async with AsyncClient(str(memory.client.base_url), memory.secrets["owner", "*"]) as bursar:
            receipts = await asyncio.gather(*(bursar.spend("data", "laplace(scale=100)") for _ in range(40)))
            assert len({receipt.seq for receipt in receipts}) == 40
            assert (await bursar.quote("data", "laplace(scale=100)")).fits == 60
            held = await bursar.reserve("data", "laplace(scale=100)", ttl=60)
            assert (await bursar.draw(held.id)).kind == "draw"
            assert (await bursar.close(held.id)).kind == "close"
            assert (await bursar.statement("data")).lines[0].spent == "41/100"
            assert len(await bursar.scopes()) == 4
            assert (await bursar.entries("data", most=5)).next is not None
            assert (await bursar.verify()).ok
            assert await bursar.export("csv")
            assert (await bursar.health()).status == "ok"
            assert (await bursar.account("laplace(scale=1)", delta="0"))["epsilon"]["upper"] == 1
            assert (await bursar.plan("laplace(scale=?)", epsilon=1, delta=0))["value"]
            with pytest.raises(b.BudgetExceeded):
                await bursar.spend("data", "laplace(scale=1)")

    asyncio.run(run())
    batches = memory.service.metrics.batches
    assert sum(batches.counts) < batches.total


def test_mechanisms_are_sent_as_the_text_that_means_them(memory: Office) -> None:
    """A value of the catalogue is spent as its text; a class of one's own is refused before anything is sent."""

    class Own(b.Laplace):
        """Not the catalogue's."""

    with Client(str(memory.client.base_url), memory.secrets["analyst", "*"]) as bursar:
        assert bursar.spend("data", b.Laplace(scale=100) * 2, key="m").kind == "spend"
        assert bursar.quote("data", b.Laplace(scale=100)).fits == 98
        with pytest.raises(b.errors.SpecError, match="class of your own"):
            bursar.spend("data", Own(scale=100), key="n")
