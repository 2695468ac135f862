"""A refused charge says what would pass: counted beside the service, once, and never at the expense of others."""

from __future__ import annotations

from typing import Any

import pytest

import bursar as b
from bursar.client import Client
from bursar.service.workers import tasks
from support.offices import Office

MUCH = "laplace(scale=1/3)"


@pytest.fixture
def counted(memory: Office) -> list[tuple[str, str]]:
    """Whom the workers count for, and what."""
    found: list[tuple[str, str]] = []
    real = memory.service.workers.run

    async def run(token: str, kind: str, *given: Any, counted: Any) -> Any:
        found.append((token, kind))
        return await real(token, kind, *given, counted=counted)

    memory.service.workers.run = run  # type: ignore[method-assign]
    return found


@pytest.mark.parametrize("what", [MUCH, "laplace(scale=10)*40", "randomized_response(epsilon=3)"])
def test_what_would_pass_passes(memory: Office, what: str) -> None:
    """Spend and reserve name a release of the same kind; charged, it is admitted."""
    refused = memory.spend(what=what, key="much").json()
    assert refused["code"] == "insufficient_budget"
    assert refused["detail"].endswith(f"; {refused['would_pass']} would pass")
    asked = {"scopes": ["data"], "what": what, "ttl": "60", "key": "held"}
    named = memory.ask("POST", "/v1/reserve", asked).json()["would_pass"]
    held = memory.ask("POST", "/v1/reserve", {**asked, "what": named, "key": "held-2"}).json()["id"]
    assert memory.ask("POST", "/v1/close", {"reservation": held, "key": "close"}).status_code == 200
    assert memory.spend(what=refused["would_pass"], key="less").status_code == 200


def test_the_clients_say_it_once(memory: Office) -> None:
    """The exception of a client has what the ledger's own has, and says it in the same words."""
    client = Client(str(memory.client.base_url), memory.secrets["analyst", "*"], attempts=1)
    with client, pytest.raises(b.errors.BudgetExceeded) as away:
        client.spend("data", MUCH, key="a")
    with pytest.raises(b.errors.BudgetExceeded) as here:
        memory.service.ledger.spend("data", MUCH, key="b")
    assert away.value.would_pass == here.value.would_pass == "laplace(scale=1.01)"
    assert str(away.value) == str(here.value)


def test_a_refusal_is_counted_for_once(memory: Office, counted: list[tuple[str, str]]) -> None:
    """It changes nothing, so whoever is refused again is told what was found before; a charge makes it new."""
    for number in range(3):
        assert memory.spend(what=MUCH, key=f"again-{number}").json()["would_pass"] == "laplace(scale=1.01)"
    assert memory.spend(what=MUCH, key="again-0").json()["replayed"]
    assert [kind for _, kind in counted].count("instead") == 1
    memory.spend(what="laplace(scale=10)", key="fine")
    assert memory.spend(what=MUCH, key="after").json()["would_pass"] not in (None, "laplace(scale=1.01)")
    assert [kind for _, kind in counted].count("instead") == 2


def test_advice_ends_where_it_would_cost_others(memory: Office, counted: list[tuple[str, str]]) -> None:
    """A token that has had much counted lately is refused as before, in no more words and without a worker."""
    who = next(one.id for one in memory.service.tokens.all() if one.name == "analyst *")
    memory.service.workers._uses.add(who, 60.0)
    refused = memory.spend(what=MUCH, key="a", role="analyst").json()
    assert refused["code"] == "insufficient_budget"
    assert "would_pass" not in refused
    assert (who, "instead") not in counted
    assert memory.spend(what=MUCH, key="b").json()["would_pass"] == "laplace(scale=1.01)"


def test_advice_that_takes_long_is_left_out(memory: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its ceiling is its own, far below that of a price; the refusal comes all the same."""
    queue = memory.service.workers
    assert queue._ceiling("instead") < queue._ceiling("quote")
    assert "instead" in tasks.TASKS

    real = queue.run

    async def endless(token: str, kind: str, *given: Any, counted: Any) -> Any:
        if kind == "instead":
            raise b.errors.TooMuchWork("counting this took more than 0.5 s")
        return await real(token, kind, *given, counted=counted)

    monkeypatch.setattr(queue, "run", endless)
    refused = memory.spend("data/left", "laplace(scale=1)", key="a")
    assert (refused.status_code, refused.json()["code"]) == (409, "insufficient_budget")
    assert "would_pass" not in refused.json()


def test_a_scope_above_tells_what_would_pass_and_no_more(memory: Office) -> None:
    """Whoever sees a branch is told what a quote tells: no name, no number of what lies above."""
    memory.spend("data", "laplace(scale=5/4)", key="most")
    asked = {"scopes": ["data/left"], "what": "laplace(scale=4)"}
    quoted = memory.ask("POST", "/v1/quote", asked, role="analyst", scope="data/left").json()
    refused = memory.ask("POST", "/v1/spend", {**asked, "key": "x"}, role="analyst", scope="data/left").json()
    assert set(refused) == {"type", "title", "status", "detail", "code", "would_pass"}
    assert refused["would_pass"] == quoted["would_pass"] == "laplace(scale=5.03)"
    assert "data" not in refused["detail"]
    assert "%" not in refused["detail"]


def test_consent_below_names_nothing_above(memory: Office) -> None:
    """An import that costs more above a branch asks whoever sees the branch alone, without a name or a price."""
    ledger = memory.service.ledger
    ledger.open("other/team", epsilon="1/2", delta="1e-7")
    ledger.spend("other/team", "randomized_response(epsilon=0.02)")
    ledger.spend("other", "randomized_response(epsilon=0.5)")
    memory.secrets["steward", "team"] = memory.service.tokens.add("tim", "steward", "other/team")[1]
    asked = {"scope": "other/team", "table": "what\nrandomized_response(epsilon=0.45)\n", "key": "past"}
    whole = memory.ask("POST", "/v1/bring_in", asked, role="steward").json()
    part = memory.ask("POST", "/v1/bring_in", asked, role="steward", scope="team").json()
    assert whole["code"] == part["code"] == "consent_needed"
    assert "\n  other: " in whole["detail"]
    assert "\n  other: " not in part["detail"]
    assert "a budget above yours" in part["detail"]
    done = memory.ask("POST", "/v1/bring_in", {**asked, "consent": part["consent"]}, role="steward", scope="team")
    assert (done.status_code, done.json()["kind"]) == (200, "import")


def test_reasons_over_http(memory: Office) -> None:
    """They are in the entries for those who reach the charge, and for nobody else; a bad one is refused by name."""
    charge = {"scopes": ["data/left", "other"], "what": "laplace(scale=100)", "key": "k", "reason": "the secret map"}
    assert memory.ask("POST", "/v1/spend", charge).status_code == 200
    held = memory.ask("POST", "/v1/reserve", {**charge, "scopes": ["data/left"], "ttl": "60", "key": "r"}).json()
    drawn = {"reservation": held["id"], "key": "d", "reason": "the second half"}
    assert memory.ask("POST", "/v1/draw", drawn).status_code == 200
    entries = [
        memory.ask("GET", "/v1/entries", {"scope": "data/left"}, role="auditor", scope=scope).json()["entries"]
        for scope in ("*", "data/left")
    ]
    told = [[one["reason"] for one in some if one["kind"] != "open"] for some in entries]
    assert told == [
        ["the secret map", "the secret map", "the second half"],
        [None, "the secret map", "the second half"],
    ]
    empty = memory.ask("POST", "/v1/spend", {**charge, "key": "e", "reason": ""})
    assert (empty.status_code, empty.json()["code"]) == (422, "input_invalid")
    with Client(str(memory.client.base_url), memory.secrets["owner", "*"]) as client:
        client.spend("data", "laplace(scale=100)", reason="by a client")
        assert client.entries("data").entries[-1].reason == "by a client"
