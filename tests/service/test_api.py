"""The endpoints, over a real socket: the same JSON as Python and the command line, and problems with their codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from typer.testing import CliRunner

import bursar as b
from bursar import wire
from bursar.cli.main import app
from bursar.ledger.ledger import Ledger
from bursar.ledger.verbs.spend import spend
from bursar.numerics.real import read_text
from bursar.problems import REFUSALS
from bursar.service.core import Service
from bursar.service.endpoints import ENDPOINTS
from bursar.service.settings import Settings
from bursar.service.tokens import Tokens
from support.offices import Office, listening_office, open_office

COMPOSITION = "gaussian(sigma=20)*100 + laplace(scale=50)*3"


def cli(*arguments: str) -> Any:
    """The command line's JSON."""
    found = CliRunner().invoke(app, [*arguments, "--json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.output)


def test_account_is_the_same_through_every_door(memory: Office) -> None:
    """Python, command line and HTTP give one JSON."""
    over_http = memory.ask("POST", "/v1/account", {"composition": COMPOSITION, "delta": "1e-6"}).json()
    in_python = b.account(b.parse(COMPOSITION), delta=read_text("1e-6", "delta")).to_dict()
    assert over_http == in_python == cli("account", COMPOSITION, "--delta", "1e-6")


def test_plan_is_the_same_through_every_door(memory: Office) -> None:
    """Python, command line and HTTP give one JSON."""
    asked = {"template": "gaussian(sigma=?)*50", "epsilon": "1", "delta": "1e-6"}
    found = memory.ask("POST", "/v1/plan", asked).json()
    one, small = read_text("1", "epsilon"), read_text("1e-6", "delta")
    assert found == b.plan(asked["template"], epsilon=one, delta=small).to_dict()
    assert found == cli("plan", asked["template"], "--epsilon", "1", "--delta", "1e-6")


def test_the_ledger_is_the_same_through_every_door(tmp_path: Path) -> None:
    """Quotes, statements and verifications of one file, asked three ways."""
    path = str(tmp_path / "budget.db")
    with open_office(Ledger(f"sqlite:///{path}", alert=None)) as office:
        assert office.spend("other", "gaussian(sigma=50)").status_code == 200
        quoted = office.ask("POST", "/v1/quote", {"scopes": ["other"], "what": "gaussian(sigma=50)"}).json()
        shown = office.ask("GET", "/v1/show", {"scope": "other"}).json()
        checked = office.ask("POST", "/v1/verify", {}).json()
        receipt = office.spend("other", "gaussian(sigma=50)").json()
    assert quoted == cli("ledger", "quote", "other", "gaussian(sigma=50)", "--ledger", path)
    assert shown == cli("ledger", "show", "other", "--ledger", path)
    assert checked == cli("ledger", "verify", "--ledger", path)
    again = cli("ledger", "spend", "other", "gaussian(sigma=50)", "--key", "k", "--ledger", path)
    assert receipt == again
    assert receipt["replayed"]
    with Ledger(f"sqlite:///{path}") as ledger:
        assert quoted == ledger.quote("other", "gaussian(sigma=50)").to_dict()
        assert shown == ledger.show("other").to_dict()
        assert checked == ledger.verify().to_dict()


def test_a_refusal_carries_its_numbers(memory: Office) -> None:
    """Asked, spent, held, limit and left, as exact text; and the ledger goes on."""
    assert memory.spend(what="laplace(scale=2)", key="half").status_code == 200
    refused = memory.spend(what="laplace(scale=1)", key="all")
    assert refused.status_code == 409
    assert refused.headers["content-type"] == "application/problem+json"
    problem = msgspec.json.decode(refused.content, type=wire.Problem)
    assert (problem.code, problem.asked, problem.spent, problem.left) == ("insufficient_budget", "1", "1/2", "1/2")
    assert problem.replayed is False
    assert msgspec.json.decode(memory.spend(what="laplace(scale=1)", key="all").content, type=wire.Problem).replayed
    assert memory.spend(what="laplace(scale=2)", key="rest").status_code == 200


def test_keys_make_retries_safe(memory: Office) -> None:
    """The same request again gives the first receipt; another one with its key is refused without telling whose."""
    first, again = memory.spend().json(), memory.spend().json()
    assert again == {**first, "replayed": True}
    other = memory.spend("other", "gaussian(sigma=50)")
    assert (other.status_code, other.json()["code"]) == (409, "key_reused")
    assert "data" not in other.json()["detail"]


def test_reserve_draw_and_close(memory: Office) -> None:
    """An allowance is set aside, drawn in part, and given back."""
    asked = {"scopes": ["data"], "what": "laplace(scale=10)*4", "ttl": "60", "key": "r"}
    reservation = memory.ask("POST", "/v1/reserve", asked).json()
    drawn = memory.ask("POST", "/v1/draw", {"reservation": reservation["id"], "what": "laplace(scale=10)", "key": "d"})
    assert drawn.status_code == 200
    held = memory.ask("GET", "/v1/show", {"scope": "data"}).json()["lines"][0]
    assert (held["spent"], held["held"]) == ("1/10", "3/10")
    assert memory.ask("POST", "/v1/close", {"reservation": reservation["id"], "key": "c"}).status_code == 200
    line = memory.ask("GET", "/v1/show", {"scope": "data"}).json()["lines"][0]
    assert (line["spent"], line["held"]) == ("1/10", "0")
    late = memory.ask("POST", "/v1/draw", {"reservation": reservation["id"], "key": "e"})
    assert late.json()["code"] == "reservation_closed"


def test_stewards_open_limit_freeze_thaw_retire_and_correct(memory: Office) -> None:
    """The whole life of a scope over HTTP."""

    def steward(path: str, **body: Any) -> Any:
        return memory.ask("POST", f"/v1/{path}", {"key": f"{path}-{len(body)}", **body}, role="steward")

    assert steward("open", scope="new", epsilon="1").status_code == 201
    assert steward("limit", scope="new", epsilon="2", reason="approved").status_code == 200
    spent = memory.spend("new", "laplace(scale=1)", key="n1").json()
    assert steward("correct", root="new", seq=spent["seq"], what="laplace(scale=4)", reason="twice").status_code == 200
    assert memory.ask("GET", "/v1/show", {"scope": "new"}).json()["lines"][0]["spent"] == "5/4"
    assert steward("freeze", scope="new", reason="holiday").status_code == 200
    assert memory.spend("new", key="n2").json()["code"] == "scope_frozen"
    assert steward("thaw", scope="new", reason="back").status_code == 200
    assert memory.spend("new", key="n3").status_code == 200
    assert steward("retire", scope="new", reason="done").status_code == 200
    assert memory.spend("new", key="n4").json()["code"] == "scope_closed"


def test_a_table_is_brought_in_as_python_brings_it_in(memory: Office) -> None:
    """The journal has the same entry, whichever door it came through: counts, deltas, and texts written otherwise."""
    rows = ("laplace(scale=100),3,", " gaussian(sigma=200) + laplace(scale=0.1e3) ,1,1e-9", "laplace(scale=100.0),,")
    asked = {"scope": "sums", "table": "\n".join(("what,count,delta", *rows)), "key": "table"}
    with Ledger("memory://", alert=None) as ledger:
        for books in (ledger, memory.service.ledger):
            books.open("sums", epsilon=1, delta="1e-6", currency="sums")
        ledger.bring_in("sums", asked["table"], key="table")
        mine, shown = ledger.entries("sums")[-1].entry.body, ledger.released("sums")
    assert memory.ask("POST", "/v1/bring_in", asked, role="steward").status_code == 200
    assert memory.service.ledger.entries("sums")[-1].entry.body == mine
    found = memory.ask("GET", "/v1/released", {"scope": "sums"}).json()["released"]
    assert [(one["what"], one["count"]) for one in found] == shown


def test_entries_come_in_pages_and_show_refusals(memory: Office) -> None:
    """Only what concerns the scope, in order, with the reasons of refusals."""
    for number in range(5):
        memory.spend("data/left", "laplace(scale=20)", key=f"l{number}")
    memory.spend("data/left", "laplace(scale=1)", key="much")
    memory.spend("data/right", "laplace(scale=20)", key="r")
    seen, after = [], 0
    while after is not None:
        page = memory.ask("GET", "/v1/entries", {"scope": "data/left", "after": after, "most": 3}).json()
        seen += page["entries"]
        after = page["next"]
    assert [one["kind"] for one in seen] == ["open", *["spend"] * 5, "refuse"]
    assert seen[-1]["refusal"]["asked"] == "1"
    assert all(row["line"] == "epsilon" for one in seen for row in one["effect"])
    assert seen[-2]["effect"][0]["spent"] == "1/4"


def test_exports_health_metrics_and_the_description(memory: Office) -> None:
    """What auditors and machines fetch."""
    memory.spend()
    lines = memory.ask("GET", "/v1/export", {"form": "jsonl"}, role="auditor").text.splitlines()
    assert json.loads(lines[-1])
    assert memory.ask("GET", "/v1/export", {"form": "csv"}, role="auditor").text.count("\n") >= 2
    draft = memory.ask("GET", "/v1/export", {"form": "opendp", "root": "other"}, role="auditor")
    assert draft.status_code == 422
    assert "data_curators" in draft.json()["detail"]
    assert memory.client.get("/health").json()["status"] == "ok"
    text = memory.ask("GET", "/metrics").text
    assert 'bursar_requests_total{route="/v1/spend",status="200"} 1' in text
    assert "bursar_batch_size_count 1" in text
    assert "data" not in text
    document = memory.client.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert set(document["paths"]) == {endpoint.path for endpoint in ENDPOINTS}
    old = {path for path, ways in document["paths"].items() if any(way.get("deprecated") for way in ways.values())}
    assert old == {"/v1/statement", "/v1/tokens", "/v1/tokens/revoke"}
    listed = document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
    assert set(REFUSALS) <= set(listed)


def test_every_answer_is_of_the_type_it_is_described_by(memory: Office) -> None:
    """Strictly: no field more, none less."""
    memory.spend()
    asked: dict[str, Any] = {
        "/v1/scopes": None,
        "/v1/show": {"scope": "data"},
        "/v1/entries": {"scope": "data"},
        "/v1/released": {"scope": "data"},
        "/v1/token_list": None,
        "/health": None,
    }
    assert set(asked) == {verb.path for verb in wire.VERBS if verb.method == "GET" and verb.answer is not str}
    for verb in wire.VERBS:
        if verb.method == "GET" and verb.path in asked:
            content = memory.ask("GET", verb.path, asked[verb.path]).content
            read = msgspec.json.decode(content, type=verb.answer)
            assert json.loads(msgspec.json.encode(read)) == json.loads(content)


def test_old_addresses_answer_as_the_new_ones_do(memory: Office) -> None:
    """Each says that it is old and which one came after it, also where it refuses; those of now say nothing of it."""
    added = {"name": "eve", "role": "auditor"}
    secret = memory.ask("POST", "/v1/tokens", added)
    assert secret.status_code == 201
    token = secret.json()["token"]["id"]
    asked: dict[tuple[str, str], Any] = {
        ("GET", "/v1/statement"): {"scope": "data"},
        ("GET", "/v1/tokens"): None,
        ("POST", "/v1/tokens"): {"name": "", "role": "auditor"},
        ("POST", "/v1/tokens/revoke"): {"id": token},
    }
    old = [endpoint for endpoint in ENDPOINTS if endpoint.old is not None]
    assert {(one.verb.method, one.path) for one in old} == set(asked)
    for one in old:
        body = asked[one.verb.method, one.path]
        before, now = (memory.ask(one.verb.method, path, body) for path in (one.path, one.verb.path))
        assert (before.status_code, before.content) == (now.status_code, now.content)
        assert before.headers["deprecation"] == "@1794787200"
        assert before.headers["link"] == f'<{one.verb.path}>; rel="successor-version"'
        assert "deprecation" not in now.headers


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/v1/account", {"composition": "gaussian(sigma=1)"}, 422, "input_invalid"),
        ("/v1/account", {"composition": "nonsense(1)", "delta": "1e-6"}, 422, "input_invalid"),
        ("/v1/account", {"composition": "gaussian(sigma=1)", "delta": 1e-6}, 422, "input_invalid"),
        ("/v1/account", {"composition": "gaussian(sigma=1)", "delta": "nan"}, 422, "input_invalid"),
        ("/v1/plan", {"template": "laplace(scale=?)", "epsilon": "-1", "delta": "0"}, 422, "input_invalid"),
        ("/v1/spend", {"scopes": ["data"], "what": "laplace(scale=1)"}, 422, "input_invalid"),
        ("/v1/spend", {"scopes": [], "what": "laplace(scale=1)", "key": "k"}, 422, "input_invalid"),
        ("/v1/spend", {"scopes": ["none"], "what": "laplace(scale=1)", "key": "k"}, 404, "scope_unknown"),
        ("/v1/spend", {"scopes": ["data"], "what": "gaussian(sigma=1)", "key": "k"}, 422, "cost_invalid"),
        ("/v1/spend", {"scopes": ["data"], "what": "laplace(scale=1)", "key": "k", "more": 1}, 422, "input_invalid"),
        ("/v1/draw", {"reservation": "none", "key": "k"}, 409, "reservation_closed"),
        ("/v1/open", {"scope": "bad\u0000name", "key": "k", "epsilon": "1"}, 422, "input_invalid"),
        ("/v1/limit", {"scope": "data", "reason": "why", "key": "k", "epsilon": "inf"}, 422, "input_invalid"),
    ],
)
def test_bad_requests_get_clear_problems(memory: Office, path: str, body: Any, status: int, code: str) -> None:
    """And change nothing."""
    before = memory.ask("GET", "/v1/show", {"scope": "data"}).json()
    found = memory.ask("POST", path, body)
    assert (found.status_code, found.json()["code"]) == (status, code), found.text
    assert found.json()["detail"]
    assert memory.ask("GET", "/v1/show", {"scope": "data"}).json() == before


def test_a_refusal_is_the_same_through_every_door(tmp_path: Path) -> None:
    """The command line's --json and HTTP say one problem, with what would pass; the exit code is 1."""
    path = str(tmp_path / "budget.db")
    with open_office(Ledger(f"sqlite:///{path}", alert=None)) as office:
        over_http = office.spend("data", "laplace(scale=1/3)", key="much").json()
    found = CliRunner().invoke(
        app, ["ledger", "spend", "data", "laplace(scale=1/3)", "--key", "much", "--ledger", path, "--json"]
    )
    assert found.exit_code == 1
    assert over_http["would_pass"] == "laplace(scale=1.01)"
    assert json.loads(found.output) == {**over_http, "replayed": True}
    bad = CliRunner().invoke(app, ["account", "gaussian(sigma=0)", "--delta", "1e-6", "--json"])
    assert bad.exit_code == 2
    assert json.loads(bad.output)["code"] == "input_invalid"


def test_a_halted_ledger_and_a_full_disk_have_their_own_statuses(tmp_path: Path) -> None:
    """503 and 507, on purpose: nothing was charged, and a retry with the same key is safe."""
    path = tmp_path / "budget.db"
    with Ledger(f"sqlite:///{path}", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.backup(str(tmp_path / "old.db"))
        ledger.spend("data", "laplace(scale=10)", key="lost")
    for extra in ("-wal", "-shm"):
        (tmp_path / f"budget.db{extra}").unlink(missing_ok=True)
    (tmp_path / "old.db").replace(path)
    made = Office(Service(Settings(), Ledger(f"sqlite:///{path}", alert=None), Tokens(":memory:")))
    made.secrets["owner", "*"] = made.service.tokens.add("ada", "owner")[1]
    with listening_office(made) as address, httpx.Client(base_url=address) as made.client:
        assert made.client.get("/health").json()["status"] == "halted"
        refused = made.spend()
        assert (refused.status_code, refused.json()["code"]) == (503, "ledger_halted")
        assert "bursar_ledger_halted 1" in made.ask("GET", "/metrics").text
    with open_office(Ledger("memory://", alert=None)) as office:

        def full(requests: object) -> None:
            raise b.errors.StorageFull("the disk is full, nothing was charged")

        office.service.ledger.commit = full
        refused = office.spend()
        assert (refused.status_code, refused.json()["code"]) == (507, "storage_full")


def signed_in(office: Office, role: str = "owner") -> None:
    """The client of an office carries a session from now on."""
    answer = office.client.post("/sign-in", data={"token": office.secrets[role, "*"]})
    assert answer.status_code == 303


def key_in(text: str) -> str:
    """The key that a form would be sent with."""
    found = re.search(r'name="key" value="([^"]+)"', text)
    assert found is not None
    return found[1]


def test_what_is_in_doubt_is_retried_with_its_key(memory: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every confirmation has a key of its own; trouble is told beside the form, which keeps it."""
    signed_in(memory)
    fragment = {"HX-Request": "true"}
    form = {"verb": "spend", "scope": "data", "what": "laplace(scale=1000)"}
    keys = [key_in(memory.client.post("/act/confirm", data=form, headers=fragment).text) for _ in range(2)]
    assert len(set(keys)) == 2

    def away(*_: object) -> None:
        raise b.errors.StorageFailed("the disk is away")

    with monkeypatch.context() as trouble:
        trouble.setattr(memory.service.ledger, "begin", away)
        answer = memory.client.post("/act/do", data={**form, "key": keys[0]}, headers=fragment)
    assert answer.headers["hx-retarget"] == "#trouble"
    assert "retry with the same key" in answer.text
    for said in ("Done", "nothing new was charged"):
        answer = memory.client.post("/act/do", data={**form, "key": keys[0]}, headers=fragment)
        assert said in answer.text
        assert answer.headers["hx-trigger"] == "changed"
    assert memory.service.ledger.released("data") == [("laplace(scale=1000)", 1)]


def test_a_scope_shows_its_last_entries(memory: Office) -> None:
    """However many came before them, the last one first, and older ones when they are asked for."""
    signed_in(memory)
    assert memory.service.ledger.quote("data", "laplace(scale=1000000)").passes  # now its price is known
    requests = [
        memory.service.ledger.request(spend("data", "laplace(scale=1000000)"), key=f"n{i}") for i in range(1100)
    ]
    for start in range(0, len(requests), 500):
        memory.service.ledger.commit(requests[start : start + 500])
    page = memory.client.get("/scope?name=data").text
    last = memory.service.ledger.last("data")
    shown = [int(number) for number in re.findall(r">entry (\d+)<", page)]
    assert shown == list(range(last, last - 20, -1))
    older = memory.client.get(f"/scope/releases?name=data&before={shown[-1]}").text
    assert [int(number) for number in re.findall(r">entry (\d+)<", older)] == list(range(last - 20, last - 40, -1))
    assert "took" not in older
    assert "0.0001 %" in older.replace("less than ", "") or "less than 0.001 %" in older


def test_forms_of_another_shape(memory: Office) -> None:
    """Too many fields, and forms of other sites, are problems, not faults."""
    assert memory.client.post("/sign-in", data={f"f{i}": "1" for i in range(60)}).status_code == 400
    assert memory.client.post("/sign-out", headers={"Origin": "http://elsewhere"}).status_code == 403
    assert memory.client.get("/v1/scopes/").status_code == 404


def test_bound_auditors_are_told_what_they_need(memory: Office) -> None:
    """They see no button that always fails."""
    answer = memory.client.post("/sign-in", data={"token": memory.secrets["auditor", "data/left"]})
    assert answer.status_code == 303
    page = memory.client.get("/audit").text
    assert "not bound to a budget" in page
    assert 'hx-post="/verify"' not in page
