"""Too large, too slow, too often, malformed: each is refused by name, and the service goes on."""

from __future__ import annotations

import socket
import time
from urllib.parse import urlsplit

import pytest

from bursar.ledger.ledger import Ledger
from bursar.service.limits import Buckets
from support.offices import Office, open_office
from support.patience import NET


def raw(office: Office, text: bytes) -> bytes:
    """Bytes sent as they are, and what comes back before the service closes."""
    place = urlsplit(str(office.client.base_url))
    with socket.create_connection((place.hostname, place.port), timeout=NET) as sock:
        sock.sendall(text)
        parts = []
        while part := sock.recv(65_536):
            parts.append(part)
            if b"\r\n\r\n" in b"".join(parts):
                break
        return b"".join(parts)


def test_large_bodies_are_refused_before_they_arrive(memory: Office) -> None:
    """By their announced length, and by what really comes."""
    large = {"composition": "laplace(scale=1)+" * 10_000, "delta": "0"}
    assert memory.ask("POST", "/v1/account", large).status_code == 413
    headers = {"Authorization": f"Bearer {memory.secrets['owner', '*']}", "Content-Type": "application/json"}

    def chunks() -> object:
        for _ in range(200):
            yield b" " * 1024

    assert memory.client.post("/v1/account", content=chunks(), headers=headers).status_code == 413
    assert memory.spend().status_code == 200


def test_slow_bodies_are_given_up(memory: Office) -> None:
    """A body that dribbles in is answered 408, and holds nobody up."""
    with open_office(Ledger("memory://", alert=None), patience=0.5) as office:
        token = office.secrets["owner", "*"]
        head = (
            f"POST /v1/spend HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
            "Content-Length: 100\r\n\r\n{"
        )
        answer = raw(office, head.encode())
        assert b" 408 " in answer.split(b"\r\n")[0]
        assert office.spend().status_code == 200


@pytest.mark.parametrize(
    ("content", "kind", "code"),
    [
        (b"{", "application/json", "malformed"),
        (b"\xff\xfe", "application/json", "malformed"),
        (b"", "application/json", "malformed"),
        (b'{"a": 1}', "text/plain", "not_json"),
        (b"[]", "application/json", "input_invalid"),
        (b"null", "application/json", "input_invalid"),
        (b'{"scopes": ["data"], "scopes": ["other"]}', "application/json", "input_invalid"),
        (b'{"scopes": ["\\ud800"], "what": "x", "key": "k"}', "application/json", "malformed"),
        (b"[" * 20_000, "application/json", "input_invalid"),
    ],
)
def test_malformed_bodies(memory: Office, content: bytes, kind: str, code: str) -> None:
    """Each gets a problem with its code, none a fault."""
    headers = {"Authorization": f"Bearer {memory.secrets['owner', '*']}", "Content-Type": kind}
    found = memory.client.post("/v1/spend", content=content, headers=headers)
    assert found.status_code in (400, 415, 422), found.text
    assert found.json()["code"] == code


def test_what_is_not_there(memory: Office) -> None:
    """Unknown pages and methods are problems too; parameters are given once."""
    assert memory.client.get("/v1/none").json()["code"] == "not_found"
    assert memory.client.get("/v1/spend").json()["code"] == "method_not_allowed"
    headers = {"Authorization": f"Bearer {memory.secrets['owner', '*']}"}
    assert memory.client.get("/v1/show?scope=data&scope=other", headers=headers).json()["code"] == "malformed"
    assert memory.client.get("/v1/show?scope=data&more=1", headers=headers).json()["code"] == "input_invalid"
    assert b" 400 " in raw(memory, b"NONSENSE\r\n\r\n").split(b"\r\n")[0]


def test_guessing_tokens_is_limited(memory: Office) -> None:
    """Ten wrong tokens from one address, then the next ones have to wait; whoever has a token does not."""
    for number in range(10):
        found = memory.client.get("/v1/scopes", headers={"Authorization": f"Bearer bursar_guess{number}"})
        assert found.status_code == 401
        assert found.headers["www-authenticate"] == "Bearer"
    blocked = memory.client.get("/v1/scopes", headers={"Authorization": "Bearer bursar_guess"})
    assert blocked.status_code == 429
    assert int(blocked.headers["retry-after"]) >= 1
    assert memory.ask("GET", "/v1/scopes").status_code == 200


def test_requests_without_a_token_are_not_guesses(memory: Office) -> None:
    """They are refused, and cost nobody the right to ask."""
    for _ in range(30):
        assert memory.client.get("/v1/scopes").status_code == 401
    assert memory.ask("GET", "/v1/scopes").status_code == 200


def test_each_token_has_its_rate() -> None:
    """A burst, then a refusal that says how long to wait; other tokens go on."""
    with open_office(Ledger("memory://", alert=None), rate=5.0) as office:
        answers = [office.ask("GET", "/v1/scopes").status_code for _ in range(14)]
        assert answers[:10] == [200] * 10
        assert 429 in answers
        assert office.ask("GET", "/v1/scopes", role="auditor").status_code == 200


def test_buckets_refill_and_forget() -> None:
    """One a second; names that are full again take no room."""
    now = [0.0]
    buckets = Buckets(1.0, 2.0, lambda: now[0])
    buckets.take("a", "x")
    buckets.take("a", "x")
    assert buckets.left("a") < 1
    now[0] = 1.0
    buckets.take("a", "x")
    for number in range(10_500):
        now[0] += 0.01
        buckets.take(str(number), "x")
    assert len(buckets._levels) <= 10_001


def test_charges_and_reservations_have_caps() -> None:
    """One charge takes at most its share, and at most a share sits reserved; the ledger's own list names both."""
    with open_office(Ledger("memory://", alert=None), largest_charge="1/10", most_scopes=2) as office:
        assert office.spend(what="laplace(scale=10)", key="a").status_code == 200
        assert office.spend(what="laplace(scale=9)", key="b").json()["code"] == "per_charge_cap"

        def reserve(key: str) -> object:
            asked = {"scopes": ["data"], "what": "laplace(scale=10)*3", "ttl": "60", "key": key}
            return office.ask("POST", "/v1/reserve", asked)

        assert reserve("r").status_code == 200
        assert reserve("s").json()["code"] == "per_charge_cap"
        many = {"scopes": ["data", "data/left", "data/right"], "what": "laplace(scale=100)", "key": "m"}
        assert office.ask("POST", "/v1/spend", many).json()["code"] == "input_invalid"


def test_what_would_pass_is_within_the_caps() -> None:
    """More than is left was asked for; what is named in its place is no charge that a cap refuses."""
    with open_office(Ledger("memory://", alert=None), largest_charge="1/10") as office:
        for key, verb in (("s", "spend"), ("r", "reserve")):
            asked = {"scopes": ["data"], "what": "laplace(scale=1/2)", "key": key}
            asked |= {"ttl": "60"} if verb == "reserve" else {}
            named = office.ask("POST", f"/v1/{verb}", asked).json()["would_pass"]
            assert office.ask("POST", f"/v1/{verb}", {**asked, "what": named, "key": f"{key}2"}).status_code == 200


def test_heads_that_do_not_end_are_given_up() -> None:
    """Half a head, nothing at all, or a head without end: the connection is closed, and others are served."""
    with open_office(Ledger("memory://", alert=None), patience=0.5) as office:
        for half in (b"GET /health HTTP/1.1\r\nX: ", b""):
            assert raw(office, half) == b""
        whole = b"GET /health HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 20_000 + b"\r\n\r\n"
        assert b" 200 " in raw(office, whole).split(b"\r\n")[0]


def test_heads_that_grow_without_end_are_given_up(memory: Office) -> None:
    """Long before patience is over."""
    place = urlsplit(str(memory.client.base_url))
    with socket.create_connection((place.hostname, place.port), timeout=NET) as sock:
        sock.sendall(b"GET /health HTTP/1.1\r\nX: ")

        def dribble() -> None:
            for _ in range(200):
                sock.sendall(b"a" * 4096)
                time.sleep(0.005)

        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            dribble()
    assert memory.ask("GET", "/health").status_code == 200


def test_caps_hold_for_reservations_too() -> None:
    """What one charge may not take is not reserved and drawn either; on residue scopes it is taken at once."""
    with open_office(Ledger("memory://", alert=None), largest_charge="1/10") as office:
        asked = {"scopes": ["data"], "what": "laplace(scale=10)*4", "ttl": "60", "key": "r"}
        held = office.ask("POST", "/v1/reserve", asked).json()["id"]
        whole = office.ask("POST", "/v1/draw", {"reservation": held, "key": "d"})
        assert whole.json()["code"] == "per_charge_cap"
        part = {"reservation": held, "what": "laplace(scale=10)", "key": "e"}
        assert office.ask("POST", "/v1/draw", part).status_code == 200
        office.ask("POST", "/v1/open", {"scope": "main", "epsilon": "1", "delta": "1e-6", "key": "o"})
        asked = {"scopes": ["main"], "what": "gaussian(sigma=6)", "ttl": "60", "key": "g"}
        assert office.ask("POST", "/v1/reserve", asked).json()["code"] == "per_charge_cap"
