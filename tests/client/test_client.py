"""The client, in both forms: typed answers, the ledger's own exceptions, and retries that charge once."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import httpx
import pytest

import bursar as b
from bursar import wire
from bursar.client import AsyncClient, Client, ServiceError
from bursar.client.calls import call
from bursar.wire import VERBS, verbs
from support.hands import FACTS
from support.offices import Office

ROOT = Path(__file__).parents[2]


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
        held = bursar.reserve("data", "laplace(scale=10)*3", ttl=60)
        assert bursar.draw(held.id, "laplace(scale=10)").kind == "draw"
        assert bursar.draw(held, b.Laplace(scale=10)).kind == "draw"
        assert bursar.close(held).kind == "close"
        assert {scope.name for scope in bursar.scopes()} == {"data", "data/left", "data/right", "other"}
        assert bursar.show("data").lines[0].spent == "3/10"
        assert [entry.kind for entry in bursar.entries("data").entries][-1] == "close"
        assert bursar.verify().ok
        assert bursar.export("csv").count("\n") > 3


def test_the_verbs_of_stewards(memory: Office) -> None:
    """Open, limit, freeze, thaw, correct, bring in and retire, with the arguments that the ledger takes."""
    with client(memory, "steward") as bursar:
        made = bursar.open("new", epsilon=1, spent=[b.Laplace(scale=10)], key="open")
        assert (made.kind, made.key) == ("open", "open")
        assert bursar.limit("new", epsilon="2", reason="approved").kind == "limit"
        assert bursar.freeze("new", reason="audit").kind == "status"
        with pytest.raises(b.errors.ScopeFrozen):
            bursar.spend("new", "laplace(scale=10)")
        bursar.thaw("new", reason="done")
        spent = bursar.spend("new", "laplace(scale=10)")
        assert bursar.correct(spent, "laplace(scale=10)", reason="twice").kind == "correct"
        assert bursar.correct((spent.root, spent.seq), "laplace(scale=10)", reason="thrice").kind == "correct"
        assert bursar.bring_in("new", "what,count\nlaplace(scale=10),2\n", key="old").kind == "import"
        released = {one.what: one.count for one in bursar.released("new")}
        assert released == {"laplace(scale=10)": 4, "laplace(scale=10)*2": 1}
        assert bursar.show("new").lines[0].left == "7/5"
        assert bursar.retire("new", reason="over").kind == "status"
        with pytest.raises(b.errors.ScopeClosed):
            bursar.spend("new", "laplace(scale=10)")


def test_a_second_person_and_consent(memory: Office) -> None:
    """What needs another person's token, and what needs to be agreed to, as the ledger asks for it."""
    with client(memory, "steward") as bursar:
        bursar.open("pair", epsilon=1, delta="1e-6", second_person=True)
        with pytest.raises(b.errors.NotPermitted):
            bursar.limit("pair", epsilon=2, reason="more")
        assert bursar.limit("pair", epsilon=2, reason="more", approval=memory.secrets["owner", "*"]).kind == "limit"
        spent = bursar.spend("pair", "randomized_response(epsilon=0.1)")
        with pytest.raises(b.errors.ConsentNeeded) as price:
            bursar.correct(spent, "randomized_response(epsilon=1.8)", reason="twice", key="fix")
        agreed = price.value.consent
        done = bursar.correct(spent, "randomized_response(epsilon=1.8)", reason="twice", key="fix", consent=agreed)
        assert done.kind == "correct"


def test_the_verbs_of_who_runs_it(memory: Office) -> None:
    """Tokens and counters; a draft for the registry names the facts that are missing."""
    with client(memory) as bursar:
        made = bursar.token_add("eve", "auditor", "data", days=1)
        assert (made.token.name, made.token.scope) == ("eve", "data")
        assert made.token.id in {token.id for token in bursar.token_list()}
        assert bursar.token_revoke(made.token.id)
        assert not bursar.token_revoke("none")
        assert "bursar_requests_total" in bursar.metrics()
        with pytest.raises(ServiceError, match="data_curators"):
            bursar.export("opendp", root="other")
        with pytest.raises(ServiceError, match="data_curators"):
            bursar.export("opendp", root="other", facts={})
        assert "privacy_loss" in bursar.export("opendp", root="data", facts=FACTS)
        with pytest.raises(b.InputError, match="facts are for the registry"):
            bursar.export("csv", facts={})


def test_old_names_go_on_with_a_warning(memory: Office) -> None:
    """Of both clients; the warning names the line of whoever asks."""
    with client(memory) as bursar:
        with pytest.warns(DeprecationWarning, match="show") as told:
            assert bursar.statement("data") == bursar.show("data")
        assert told[0].filename == __file__
        with pytest.warns(DeprecationWarning, match="export") as told:
            assert bursar.registry("data", FACTS) == bursar.export("opendp", root="data", facts=FACTS)
        assert told[0].filename == __file__

    async def run() -> None:
        async with AsyncClient(str(memory.client.base_url), memory.secrets["owner", "*"]) as bursar:
            with pytest.warns(DeprecationWarning, match="show"):
                assert await bursar.statement("data") == await bursar.show("data")

    asyncio.run(run())


def test_both_clients_have_every_verb() -> None:
    """Each verb of the service is a method of the same name with the same words for it; nothing else is asked."""
    beside = {"send", "shut"}
    old = {"statement", "registry"}
    for kind in (Client, AsyncClient):
        public = {name for name in dir(kind) if not name.startswith("_")}
        assert public - beside - old == {verb.name for verb in VERBS}
        assert all((getattr(kind, name).__doc__ or "").strip() for name in public)
    assert inspect.signature(Client.spend) == inspect.signature(AsyncClient.spend)


def test_a_token_is_not_asked_for_twice(memory: Office) -> None:
    """Adding one has no key, so a lost answer is told and not asked for again; a refusal for now is."""
    flaky = Flaky(1)
    with client(memory, transport=flaky) as bursar, pytest.raises(ServiceError, match="lost"):
        bursar.token_add("eve", "auditor")
    assert flaky.sent == 1
    course = call(verbs.TOKEN_ADD, wire.NewToken("eve", "auditor")).attempts(3)
    next(course)
    assert course.send(httpx.Response(429, headers={"retry-after": "7"})) == 7.0
    with pytest.raises(ServiceError, match="504"):
        course.send(httpx.Response(504))


def test_numbers_that_are_none_are_not_read() -> None:
    """A refusal whose numbers are missing or cannot be meant is a refusal all the same, by its code."""
    said = {"type": "t", "title": "t", "status": 409, "detail": "no", "code": "insufficient_budget"}
    for numbers in ({}, dict.fromkeys(("asked", "spent", "held", "limit", "left"), "1e999999999"), {"asked": "1/0"}):
        course = call(verbs.SPEND, wire.Spend(["data"], "x", "k")).attempts(1)
        next(course)
        with pytest.raises(b.Refused, match="no") as refused:
            course.send(httpx.Response(409, json={**said, **numbers}))
        assert type(refused.value) is b.Refused
        assert refused.value.code == "insufficient_budget"


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
    assert memory.ask("GET", "/v1/show", {"scope": "data"}).json()["lines"][0]["spent"] == "1/10"


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
            assert (await bursar.show("data")).lines[0].spent == "41/100"
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
