"""What the doors let through: no host and no path, nothing of others, and requests that say each thing once."""

from __future__ import annotations

import logging
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import bursar as b
from bursar.client import Client
from bursar.errors import refusals
from bursar.ledger.ledger import Ledger
from bursar.problems import REFUSALS, problem_of, told
from bursar.service.core import Service
from bursar.service.settings import Settings
from bursar.service.tokens import Tokens
from support.offices import Office, listening_office, open_office
from support.patience import NET


def test_every_refusal_has_a_code_of_its_own() -> None:
    """And the closed list of problems is the tree of errors."""
    assert refusals().keys() == REFUSALS.keys()
    assert refusals()["storage_unavailable"] is b.errors.StorageFailed
    assert refusals()["storage_full"] is b.errors.StorageFull


SECRETS = ("/var/run", ".s.PGSQL", "10.1.2.3", "db.internal", "password", "/srv/ledger")
SAID = 'connection to server on socket "/var/run/.s.PGSQL.5432", host db.internal (10.1.2.3): password of /srv/ledger'


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (b.errors.StorageFailed(f"the store failed, retry with the same key: {SAID}"), 503),
        (b.errors.StorageFull(f"the disk is full, nothing was charged: {SAID}"), 507),
        (b.errors.LedgerHalted(f"/srv/ledger/anchor is no anchor file: {SAID}"), 503),
    ],
)
def test_where_the_ledger_lives_is_for_the_log(
    error: Exception, status: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Endpoints, pages and counters tell what kind of trouble it is; the log and the embedded user see all of it."""
    with open_office(Ledger("memory://", alert=None)) as office:
        signed = office.client.post("/sign-in", data={"token": office.secrets["owner", "*"]})
        assert signed.status_code == 303

        def away(*_: Any, **__: Any) -> Any:
            raise error

        monkeypatch.setattr(office.service.ledger.store, "reading", away)
        monkeypatch.setattr(office.service.ledger.store, "writing", away)
        with caplog.at_level(logging.ERROR, "bursar"):
            answers = [
                office.spend(),
                office.ask("GET", "/v1/scopes"),
                office.ask("GET", "/v1/show", {"scope": "data"}),
                office.ask("POST", "/v1/verify", {}),
                office.client.get("/scope?name=data"),
            ]
        fragment = office.client.post(
            "/act/do",
            data={"verb": "spend", "scope": "data", "what": "laplace(scale=10)", "key": "x"},
            headers={"HX-Request": "true"},
        )
        counters = office.ask("GET", "/metrics")
    assert [one.status_code for one in answers] == [status] * 5
    assert answers[0].json()["code"] == error.code  # type: ignore[attr-defined]
    for one in [*answers, fragment, counters]:
        assert not [secret for secret in SECRETS if secret in one.text], one.text
    assert SAID in caplog.text
    assert SAID in problem_of(error).detail
    assert caplog.text.count(SAID) == 1, "the same trouble is written once in a while"


def test_a_postgres_that_is_away() -> None:
    """It is no full disk; in Python the driver's own words are there, over the wire they are not."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(b.errors.StorageFailed) as away:
        Ledger(f"postgresql://nobody@127.0.0.1:{port}/budget?connect_timeout=2")
    assert away.value.code == "storage_unavailable"
    assert type(away.value) is b.errors.StorageFailed
    assert "127.0.0.1" in str(away.value)
    found = told(away.value)
    assert (found.status, found.code) == (503, "storage_unavailable")
    assert "127.0.0.1" not in found.detail


def test_the_client_knows_them_apart(memory: Office) -> None:
    """A refusal is the same exception through the service, with what consent needs."""
    ledger = memory.service.ledger
    receipt = ledger.spend("other", "randomized_response(epsilon=0.1)", key="r")
    again: dict[str, Any] = {"what": "randomized_response(epsilon=0.8)", "reason": "x", "key": "c"}
    with Client(str(memory.client.base_url), memory.secrets["owner", "*"], attempts=1) as client:
        with pytest.raises(b.errors.ConsentNeeded, match="nothing is left for Gaussian-like releases") as price:
            client.correct(("other", receipt.seq), **again)
        assert client.correct(("other", receipt.seq), **again, consent=price.value.consent).kind == "correct"
        facts = {
            "data_curators": ["The Bureau"],
            "intended_use": "Planning",
            "data_product_type": "Dataset",
            "data_product_region": "Norway",
            "description": "Counts",
            "publication_date": "2026-07-01",
        }
        assert 'data_product_region: "Norway"' in client.export("opendp", root="other", facts=facts)
        for error in (b.errors.StorageFailed("x"), b.errors.StorageFull("x")):

            def fails(*_: Any, raised: Exception = error, **__: Any) -> Any:
                raise raised

            ledger.scopes = fails  # type: ignore[method-assign]
            with pytest.raises(b.errors.StorageFailed) as away:
                client.scopes()
            assert type(away.value) is type(error)


@pytest.fixture
def halted(tmp_path: Path) -> Iterator[Office]:
    """A service over an older copy of its ledger."""
    path = tmp_path / "budget.db"
    with Ledger(f"sqlite:///{path}", alert=None) as ledger:
        ledger.open("secret-root", epsilon=1)
        ledger.backup(str(tmp_path / "old.db"))
        ledger.spend("secret-root", "laplace(scale=10)", key="lost")
    for extra in ("-wal", "-shm"):
        (tmp_path / f"budget.db{extra}").unlink(missing_ok=True)
    shutil.move(tmp_path / "old.db", path)
    made = Office(Service(Settings(), Ledger(f"sqlite:///{path}", alert=None), Tokens(":memory:")))
    made.secrets["owner", "*"] = made.service.tokens.add("ada", "owner")[1]
    with listening_office(made) as address, httpx.Client(base_url=address, timeout=NET) as made.client:
        yield made


def test_a_halted_ledger_says_so(halted: Office) -> None:
    """In its statement and on both pages, with the reason, which names neither files nor roots."""
    shown = halted.ask("GET", "/v1/show", {"scope": "secret-root"}).json()
    assert "behind the anchor" in shown["halted"]
    assert halted.client.post("/sign-in", data={"token": halted.secrets["owner", "*"]}).status_code == 303
    for page in ("/", "/scope?name=secret-root"):
        text = halted.client.get(page).text
        assert "HALTED" in text
        assert "behind the anchor" in text
    refused = halted.spend("secret-root").json()
    assert refused["code"] == "ledger_halted"
    assert "secret-root" not in refused["detail"]
    assert "behind the anchor" in refused["detail"]


def test_a_ledger_that_goes_on_does_not(memory: Office) -> None:
    """The same places say nothing of it."""
    assert memory.ask("GET", "/v1/show", {"scope": "data"}).json()["halted"] is None
    memory.client.post("/sign-in", data={"token": memory.secrets["owner", "*"]})
    assert "HALTED" not in memory.client.get("/").text + memory.client.get("/scope?name=data").text


@pytest.fixture
def blocks() -> Iterator[Office]:
    """A root with two blocks and a quota, and charges on each of them, on all of them and on two of them."""
    with open_office(Ledger("memory://", alert=None), largest_charge="1/2") as office:
        ledger = office.service.ledger
        ledger.open("all", epsilon=1, by="steward")
        for name in ("all/north", "all/south"):
            ledger.open(name, parent="all", kind="block", by="steward")
        office.secrets["steward", "all/north"] = office.service.tokens.add("nora", "steward", "all/north")[1]
        ledger.spend("all/north", "laplace(scale=100)", key="own-key", by="nora")
        ledger.spend("all/south", "laplace(scale=90)", key="south-key", by="sue")
        wide = ledger.spend("all", "laplace(scale=80)", key="wide-key", by="wendy")
        ledger.spend(["all/north", "all/south"], "laplace(scale=70)", key="two-key", by="tom")
        held = ledger.reserve("all", "laplace(scale=60)*2", ttl=600, key="held-key", by="rita")
        ledger.draw(held, "laplace(scale=60)", key="draw-key", by="dora")
        ledger.close(held, key="close-key", by="cleo")
        ledger.correct(wide, "laplace(scale=50)", reason="wide-reason", key="fix-key", by="fred")
        ledger.limit("all", epsilon=2, reason="limit-reason", key="limit-key", by="lena")
        mine = ledger.reserve("all/north", "laplace(scale=40)", ttl=600, key="mine-key", by="nora")
        ledger.draw(mine, key="drawn-key", by="nora")
        ledger.spend("all/north", "laplace(scale=2)", key="half-key", by="nora")
        with pytest.raises(b.BudgetExceeded):
            ledger.spend("all", "laplace(scale=3/5)", key="much-key", by="mona")  # the north has not so much left
        yield office


FOREIGN = [
    *("wide-key", "two-key", "held-key", "draw-key", "close-key", "fix-key", "limit-key", "much-key", "south-key"),
    *("sue", "wendy", "tom", "rita", "dora", "cleo", "fred", "lena", "mona", "wide-reason", "limit-reason"),
    *("laplace(scale=90)", "laplace(scale=80)", "laplace(scale=60)", "laplace(scale=50)", "laplace(scale=3/5)"),
]
OWN = ["own-key", "mine-key", "half-key", "drawn-key", "nora", "laplace(scale=100)", "laplace(scale=40)"]


def test_a_block_sees_nothing_of_charges_beside_it(blocks: Office) -> None:
    """When and how much of its own was touched; key, person, release, reason and hash of its own requests only."""
    mine = blocks.ask("GET", "/v1/entries", {"scope": "all/north"}, role="steward", scope="all/north")
    every = blocks.ask("GET", "/v1/entries", {"scope": "all/north"})
    assert not [word for word in [*FOREIGN, "laplace(scale=70)"] if word in mine.text], mine.text
    assert not [word for word in OWN if word not in mine.text]
    kept = ("seq", "at", "kind", "effect", "refusal")
    pairs = list(zip(mine.json()["entries"], every.json()["entries"], strict=True))
    assert len(pairs) >= 10
    for seen, whole in pairs:
        assert [seen[name] for name in kept] == [whole[name] for name in kept]
        assert seen == whole or (seen["key"], seen["actor"], seen["hash"], seen["what"]) == ("", "", "", None)
    assert all(
        word in every.text for word in FOREIGN if "south" not in word and word not in ("sue", "laplace(scale=90)")
    )


def test_pages_and_statements_of_a_block_neither(blocks: Office) -> None:
    """The dashboard lists the same entries; the statement has the block's own releases, and all of its balances."""
    secret = blocks.secrets["steward", "all/north"]
    assert blocks.client.post("/sign-in", data={"token": secret}).status_code == 303
    page = blocks.client.get("/scope?name=all/north").text
    assert not [word for word in FOREIGN if word in page]
    assert "nora" in page
    mine = blocks.ask("GET", "/v1/show", {"scope": "all/north"}, role="steward", scope="all/north").json()
    whole = blocks.ask("GET", "/v1/show", {"scope": "all/north"}).json()
    assert mine["lines"] == whole["lines"]
    assert mine["hindsight"] == whole["hindsight"]
    named = {"laplace(scale=100)", "laplace(scale=40)", "laplace(scale=2)"}
    assert {row["what"] for row in mine["released"] if row["count"] == 1} == named
    assert len(mine["released"]) == 3
    assert len(whole["released"]) == 7


def test_the_branch_of_a_token_is_seen_whole(memory: Office) -> None:
    """What is charged on scopes below the token's own, opened a moment ago, is not blank."""
    memory.ask("GET", "/v1/scopes", role="steward", scope="data/left")  # the tree is known from now on
    memory.service.ledger.open("data/left/new", parent="data/left", epsilon="1/10")
    asked = {"scopes": ["data/left/new"], "what": "laplace(scale=100)", "key": "fresh"}
    assert memory.ask("POST", "/v1/spend", asked, role="steward", scope="data/left").status_code == 200
    seen = memory.ask("GET", "/v1/entries", {"scope": "data/left"}, role="steward", scope="data/left").json()
    assert [one["key"] for one in seen["entries"] if one["kind"] == "spend"] == ["fresh"]


def test_refusals_do_not_name_scopes_beside(blocks: Office) -> None:
    """Frozen, closed and capped scopes out of reach are "a scope that this debits"."""
    ledger = blocks.service.ledger
    ledger.open("all/team", parent="all", epsilon="1/10")
    blocks.secrets["steward", "all/team"] = blocks.service.tokens.add("tess", "steward", "all/team")[1]
    asked = {"scopes": ["all/team"], "what": "laplace(scale=1000)", "key": "t1"}
    ledger.freeze("all/south", reason="x")
    frozen = blocks.ask("POST", "/v1/spend", asked, role="steward", scope="all/team").json()
    assert frozen["code"] == "scope_frozen"
    assert "south" not in frozen["detail"]
    assert "all/south" in blocks.ask("POST", "/v1/quote", {"scopes": ["all/team"], "what": asked["what"]}).text
    ledger.thaw("all/south", reason="x")
    ledger.limit("all/team", epsilon=10, reason="x")
    capped = blocks.ask(
        "POST", "/v1/spend", {**asked, "what": "laplace(scale=0.9)", "key": "t2"}, role="steward", scope="all/team"
    ).json()
    assert capped["code"] == "per_charge_cap"
    assert "all's" not in capped["detail"]
    ledger.freeze("all/team", reason="x")
    own = blocks.ask("POST", "/v1/spend", {**asked, "key": "t3"}, role="steward", scope="all/team").json()
    assert "all/team" in own["detail"]


BODY = b'{"scopes": ["data"], "what": "laplace(scale=10)", "key": "k"}'


@pytest.mark.parametrize(
    "body",
    [
        BODY.replace(b'"k"', b'"\xff"'),
        BODY.replace(b'"key"', b'"k\xffy"'),
        BODY.replace(b'"k"', b'"\xed\xa0\x80"'),
        BODY.replace(b'"k"', b'"k", "key": "l"'),
        BODY.replace(b'"k"', b'"k", "k\\u0065y": "l"'),
        b" \n" + BODY.replace(b'"k"', b'"k", "what": "laplace(scale=1000)"'),
    ],
)
def test_bodies_that_can_be_read_in_two_ways(memory: Office, body: bytes) -> None:
    """Invalid UTF-8 and members that are given twice are malformed, and nothing is charged."""
    headers = {"Authorization": f"Bearer {memory.secrets['owner', '*']}", "Content-Type": "application/json"}
    before = memory.service.ledger.last("data")
    refused = memory.client.post("/v1/spend", content=body, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (400, "malformed")
    assert memory.service.ledger.last("data") == before
    assert memory.client.post("/v1/spend", content=b" \n" + BODY + b"\n", headers=headers).status_code == 200


@pytest.mark.parametrize("facts", [b'{"a": {"b": 1, "b": 2}}', b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}"])
def test_objects_inside_objects(memory: Office, facts: bytes) -> None:
    """Members are given once at every depth, and no depth is a fault."""
    headers = {"Authorization": f"Bearer {memory.secrets['owner', '*']}", "Content-Type": "application/json"}
    refused = memory.client.post("/v1/export", content=b'{"root": "data", "facts": ' + facts + b"}", headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (400, "malformed")


def test_depth_does_not_depend_on_the_interpreter(memory: Office) -> None:
    """A library that lets the interpreter recurse further does not let requests in that nobody could read."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    try:
        test_objects_inside_objects(memory, b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}")
    finally:
        sys.setrecursionlimit(usual)


def test_headers_that_can_be_read_in_two_ways(memory: Office) -> None:
    """Two tokens, two types, two lengths or two sessions: neither counts, on endpoints and on pages."""
    secret = ("Authorization", f"Bearer {memory.secrets['owner', '*']}")
    weak = ("Authorization", f"Bearer {memory.secrets['auditor', 'data/left']}")
    kind = ("Content-Type", "application/json")
    for headers in ([secret, weak, kind], [weak, secret, kind], [secret, secret, kind], [secret, kind, kind]):
        refused = memory.client.post("/v1/spend", content=BODY, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (400, "malformed"), headers
    assert memory.client.get("/v1/scopes", headers=[secret, weak]).status_code == 400
    assert memory.client.get("/", headers=[("Cookie", "a=b"), ("Cookie", "a=c")]).status_code == 400
    assert memory.client.get("/v1/scopes", headers=[secret, ("Accept", "a/b"), ("Accept", "c/d")]).status_code == 200
    with socket.create_connection((memory.client.base_url.host, memory.client.base_url.port), 10) as raw:
        lengths = f"Content-Length: {len(BODY)}\r\n" * 2
        head = f"POST /v1/spend HTTP/1.1\r\nHost: x\r\n{': '.join(secret)}\r\n{': '.join(kind)}\r\n{lengths}\r\n"
        raw.sendall(head.encode() + BODY)
        assert b" 400 " in raw.recv(4096).split(b"\r\n")[0]


def test_forms_say_each_thing_once(memory: Office) -> None:
    """As bodies do."""
    secret = memory.secrets["owner", "*"]
    refused = memory.client.post(
        "/sign-in",
        content=f"token=x&token={secret}",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert refused.status_code == 400


def test_json_forms_say_each_thing_once() -> None:
    """Those of compositions too."""
    form = '{"bursar": 1, "terms": [{"mechanism": {"name": "laplace", "scale": "1", "scale": "9"}, "count": 1}]}'
    with pytest.raises(b.errors.SpecError, match="'scale' is given twice"):
        b.from_json(form)
    assert b.from_json(form.replace('"scale": "1", ', "")) == b.Composition([(b.Laplace(scale=9), 1)])
