"""The pages without a browser: who may see and do what, what stays hidden, and how much work they make."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from bursar.ledger.ledger import Ledger
from bursar.ledger.verbs.open import Place, open_scope
from bursar.service.core import Audit
from bursar.service.dashboard.budgets import PAGE
from bursar.service.dashboard.desk import HEADERS, HERE
from bursar.service.dashboard.forms import FORMS
from bursar.service.dashboard.pages import PAGES
from bursar.service.permissions import MAY
from bursar.service.tokens import ROLES
from support.offices import Office, open_office
from support.patience import NET
from support.visits import raw

_KEYS = itertools.count()
FRAGMENT = {"HX-Request": "true"}
GIVEN = {
    "spend": {"what": "laplace(scale=1000)"},
    "reserve": {"what": "laplace(scale=1000)", "hours": "1"},
    "limit": {"epsilon": "2/5", "reason": "test"},
    "freeze": {"reason": "test"},
    "thaw": {"reason": "test"},
    "retire": {"reason": "test"},
    "correct": {"seq": "1", "what": "laplace(scale=1000)", "reason": "test"},
    "bring_in": {"table": "what\nlaplace(scale=1000)\n"},
    "open": {"epsilon": "1/50"},
}
"""What each form is filled in with, beside the scope."""


@contextmanager
def signed_in(office: Office, role: str, scope: str = "*") -> Iterator[httpx.Client]:
    """A browser of its own, for somebody."""
    with httpx.Client(base_url=office.client.base_url, timeout=NET) as client:
        assert client.post("/sign-in", data={"token": office.secrets[role, scope]}).status_code == 303
        yield client


def filled(verb: str, scope: str) -> dict[str, str]:
    """A form of a verb on a scope."""
    name = f"{scope}/new{next(_KEYS)}" if verb == "open" else scope
    return {"verb": verb, "scope": name, "root": scope, "key": f"k{next(_KEYS)}", **GIVEN[verb]}


@pytest.mark.parametrize("role", ROLES)
def test_the_matrix_of_what_can_be_done(memory: Office, role: str) -> None:
    """Every verb's form, its price and the deed: for the whole, for the branch asked about, and for another."""
    assert set(GIVEN) == set(FORMS)
    for bound in ("*", "data/left", "other"):
        with signed_in(memory, role, bound) as client:
            for verb in FORMS:
                branch = "data/left"
                if verb == "retire":  # for good: on a branch of its own
                    branch = f"data/left/{next(_KEYS)}"
                    memory.service.ledger.open(branch, epsilon="1/100")
                allowed = verb in MAY[role] and bound in ("*", "data/left")
                told = f"{role} {bound} {verb}"
                # without a name it is a form for anywhere
                shown = client.get("/act", params={"verb": verb, "name": branch})
                assert (shown.status_code == 403) is not allowed, told
                for path in ("/act/confirm", "/act/do"):
                    found = client.post(path, data=filled(verb, branch))
                    assert (found.status_code == 403) is not allowed, (told, path, found.status_code, found.text[-900:])
                    assert found.status_code < 500, (told, path, found.text)
                memory.service.ledger.thaw("data/left", reason="test")


@pytest.mark.parametrize("role", ROLES)
def test_the_matrix_of_what_can_be_seen(memory: Office, role: str) -> None:
    """Verify, the journal and tokens are for their roles, and for tokens of the whole ledger."""
    for bound in ("*", "data/left"):
        with signed_in(memory, role, bound) as client:
            for path, verb in (("/verify/journal", "export"), ("/audit/journal", "export"), ("/tokens", "token_list")):
                allowed = verb in MAY[role] and bound == "*"
                assert (client.get(path).status_code == 403) is not allowed, (role, bound, path)
            assert (client.get("/verify").status_code == 403) is ("verify" not in MAY[role])
            assert (client.post("/tokens", data={"name": "eve", "role": "auditor"}).status_code == 403) is (
                "token_add" not in MAY[role] or bound != "*"
            )


@pytest.mark.parametrize("role", ROLES)
def test_nothing_of_another_branch_is_on_a_page(memory: Office, role: str) -> None:
    """Whoever holds a token for data/left reads no name, no person, no release and no key of what lies beside it."""
    ledger = memory.service.ledger
    ledger.spend("data/left", "laplace(scale=70)", key="mine", by="ann", reason="a map of ours")
    ledger.spend("data/right", "laplace(scale=123)", key="secret-key", by="zoe", reason="secret one")
    ledger.spend("data", "laplace(scale=124)", key="secret-root", by="zoe", reason="secret two")
    ledger.spend(["data/left", "other"], "laplace(scale=125)", key="secret-both", by="zoe", reason="secret three")
    memory.service.audit = Audit(ledger.office.clock(), "zoe", {"ok": False, "problems": ["data/right: secret"]})
    ledger.limit("data/right", epsilon="0.43", reason="secret-reason", by="zoe")
    seen = []
    with signed_in(memory, role, "data/left") as client:
        for path in (
            "/",
            "/budgets?q=a",
            "/budgets?under=data/left",
            "/scope?name=data/left",
            "/what-if",
            "/verify",
            "/scope/releases?name=data/left&text=laplace",
            "/scope/releases?name=data/left&text=secret",
            "/scope/statement?name=data/left",
            "/scope/statement?name=data/right",
            "/act/parent?scope=data/right/x",
            "/act?verb=open",
            "/budgets?under=data",
            "/scope?name=data/right",
            "/scope?name=data",
            "/scope/releases?name=other",
        ):
            seen.append((path, client.get(path).text))
        for verb in FORMS:
            for scope in ("data/left", "data/right"):
                seen.append(
                    (f"{verb} {scope}", client.post("/act/confirm", data=filled(verb, scope), headers=FRAGMENT).text)
                )
        seen.append(("fits", client.post("/scope/fits", data={"scope": "data/left", "what": "laplace(scale=3)"}).text))
    hidden = re.compile(r"zoe|secret|scale=12[345]|0\.43|data/right\b(?!/x)|\bother\b(?!s)")
    for path, text in seen:
        asked_for = path.rpartition("=")[2] in ("data/right", "other") or "data/right" in path
        found = [one for one in hidden.findall(text) if not (asked_for and one in ("data/right", "other"))]
        assert not found, (path, found)
    book = dict(seen)["/scope?name=data/left"]
    assert "laplace(scale=70)" in book
    assert "a map of ours" in book
    assert "something is wrong" in book
    assert "<tr" not in dict(seen)["/scope/releases?name=data/left&text=secret"], "a filter finds what it may show"


def test_reasons_are_asked_for_shown_and_found(memory: Office) -> None:
    """Where something is charged there is room for a reason; the table has it, and finds it."""
    with signed_in(memory, "analyst") as client:
        for verb in ("spend", "reserve"):
            assert 'name="reason"' in client.get("/act", params={"verb": verb, "name": "data"}).text
        given = filled("spend", "data")
        assert 'name="reason"' in client.post("/act/confirm", data=given).text
        told = client.post("/act/confirm", data={**given, "reason": "tulips by street"}).text
        assert "Reason: tulips by street" in told
        assert client.post("/act/do", data={**given, "reason": "tulips by street"}).status_code == 200
        assert client.post("/act/do", data=filled("spend", "data")).status_code == 200
        for text, rows in (("tulips", 1), ("laplace", 2), ("roses", 0)):
            found = client.get("/scope/releases", params={"name": "data", "text": text}).text
            assert found.count('data-label="Reason"') == rows, text


def test_refusals_on_a_page_lead_to_what_would_pass(memory: Office) -> None:
    """The deed says it; the table of a budget has a button that asks, for whoever may ask there."""
    with signed_in(memory, "analyst") as client:
        deed = {**filled("spend", "data"), "what": "laplace(scale=1/3)"}
        refused = client.post("/act/do", data=deed, headers=FRAGMENT).text
        assert "laplace(scale=1.01) would pass" in refused
        assert 'data-try="laplace(scale=1/3)"' in client.get("/scope?name=data").text
    with signed_in(memory, "auditor") as client:
        assert "data-try" not in client.get("/scope?name=data").text


def test_past_releases_are_agreed_to_on_a_page(memory: Office) -> None:
    """What they do beyond their price is shown before the button, and the button agrees to it."""
    ledger, response = memory.service.ledger, "randomized_response(epsilon=0.9)"
    ledger.spend("other", "randomized_response(epsilon=0.02)")
    with signed_in(memory, "steward") as client:
        given = {**filled("bring_in", "other"), "table": f"what\n{response}\n"}
        shown = client.post("/act/confirm", data=given).text
        assert "It does more than charge" in shown
        assert "nothing is left for Gaussian-like releases" in shown
        assert not raw(re.sub(r"<[^>]+>", " ", shown)), "in words for people"
        (consent,) = re.findall(r'name="consent" value="(\w+)"', shown)
        assert "consent" in client.post("/act/do", data=given).text  # nothing was agreed to
        assert client.post("/act/do", data={**given, "consent": consent}).status_code == 200
    assert ledger.entries("other")[-1].entry.kind == "import"


def test_an_audit_is_remembered(memory: Office) -> None:
    """Who verified last, when and with what result stands on the page of verifications and on every budget's."""
    with signed_in(memory, "auditor") as client:
        assert "Nobody has verified the journal" in client.get("/scope?name=data").text
        assert "All 4 entries of 2 roots agree" in client.post("/verify").text
        assert "Verified on" in client.get("/verify").text
        assert "everything adds up" in client.get("/scope?name=data").text
        statement = client.get("/scope/statement?name=data")
    assert statement.headers["content-disposition"].startswith("attachment")
    assert 'budget "data": ε = 1 (pure), protects each' in statement.text


def test_pages_are_guarded(memory: Office) -> None:
    """A strict policy on every page, a cookie that scripts cannot read, and no forms from other sites."""
    with signed_in(memory, "owner") as client:
        for method, path, _ in PAGES:
            answer = client.request(method, path, params={"name": "data", "verb": "open"} if method == "GET" else None)
            assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"], path
            assert "<script>" not in answer.text, path
            assert " style=" not in answer.text, path
            assert " onclick=" not in answer.text, path
            if method == "POST":
                foreign = client.post(path, data={"scope": "data"}, headers={"Origin": "https://evil.example"})
                assert foreign.status_code == 403, path
        assert "unsafe" not in HEADERS["Content-Security-Policy"]
        assert client.get("/v1/scopes").status_code == 401  # the cookie opens pages, not the interface
        entered = client.post("/sign-in", data={"token": memory.secrets["owner", "*"]})
        cookie = entered.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        crossed = client.post("/act/do", data={"verb": "spend"}, headers={"Sec-Fetch-Site": "cross-site"})
        assert crossed.status_code == 403


@pytest.mark.parametrize("address", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\\b", "x"])
def test_the_sign_in_leads_to_this_site_only(memory: Office, address: str) -> None:
    """Whatever address it was given, it goes on to a page of the service."""
    secret = memory.secrets["owner", "*"]
    answer = memory.client.post("/sign-in", data={"token": secret, "next": address})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    answer = memory.client.post("/sign-in", data={"token": secret, "next": "/scope?name=data"})
    assert answer.headers["location"] == "/scope?name=data"


def test_programs_get_problems_and_people_get_pages(memory: Office) -> None:
    """What is not there is told in words to a browser, and as a problem to everybody else."""
    page = memory.client.get("/nowhere", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no page at this address" in page.text
    assert page.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
    assert memory.client.get("/nowhere").json()["code"] == "not_found"
    assert memory.client.get("/v1/nowhere", headers={"Accept": "text/html"}).json()["code"] == "not_found"


@pytest.fixture
def many() -> Iterator[tuple[Ledger, Office]]:
    """A ledger to which thousands of budgets are added."""
    ledger = Ledger("memory://", alert=None)
    with open_office(ledger) as office:
        yield ledger, office


def added(ledger: Ledger, count: int) -> None:
    """So many budgets more below one root, each with a charge."""
    before = len(ledger.scopes())
    names = [f"data/n{before + number:04d}" for number in range(count)]
    opened = [ledger.request(open_scope(name, Place(), None, {"epsilon": "1/2"}, {}), key=name) for name in names]
    for start in range(0, count, 200):
        ledger.commit(opened[start : start + 200])
    for name in names[: 2 * PAGE]:
        ledger.spend(name, "laplace(scale=100000)", key=f"spend {name}")


def test_two_thousand_budgets_are_no_more_work_than_twenty(many: Any) -> None:
    """As many prices, as many rows and about as many bytes: a page has fifty, whatever there is."""
    ledger, office = many
    work: dict[str, int] = {}
    counted, office.service.count = office.service.count, None

    async def count(token: Any, kind: str, *given: Any) -> Any:
        work[kind] = work.get(kind, 0) + 1
        return await counted(token, kind, *given)

    office.service.count = count
    pages = {}
    with signed_in(office, "owner") as client:
        for there_are, more in ((24, 20), (2004, 1980)):
            added(ledger, more)
            work.clear()
            pages[there_are] = client.get("/").text
            unfolded = client.get("/budgets?under=data").text
            assert len(ledger.scopes()) == there_are
            assert sum(work.values()) <= 2 * PAGE, work
            assert pages[there_are].count('class="budget"') <= PAGE
            assert unfolded.count('class="budget"') <= PAGE
        assert len(pages[2004]) < len(pages[24])
        found = client.get("/budgets?q=n1999").text
        assert found.count('class="budget"') == 1
        assert "data/n1999" in found
        following = client.get(f"/budgets?under=data&sort=name&start={PAGE}").text
        below = sorted(scope.name for scope in ledger.scopes() if scope.row.parent == "data")
        assert re.findall(r"name=(data/\w+)\"", following) == below[PAGE : 2 * PAGE]
        assert following.count('class="budget"') == PAGE


def test_the_least_left_comes_first(memory: Office) -> None:
    """In the list of all, and below each; by name if that is asked for."""
    ledger = memory.service.ledger
    ledger.spend("other", "gaussian(sigma=10)", key="a")
    ledger.spend("data/right", "laplace(scale=4)", key="b")
    with signed_in(memory, "auditor") as client:
        order = re.findall(r'scope\?name=([\w/%]+)"', client.get("/").text)
        assert order == ["other", "data", "data/right", "data/left"]
        named = re.findall(r'scope\?name=([\w/%]+)"', client.get("/?sort=name").text)
        assert named == ["data", "data/left", "data/right", "other"]


def test_a_halted_ledger_says_so_on_every_page(memory: Office) -> None:
    """Whoever looks at any page learns that nothing is charged."""
    from bursar.errors import LedgerHalted

    with signed_in(memory, "owner") as client:
        memory.service.ledger.office._halted = LedgerHalted("somewhere on the disk")
        for path in ("/", "/scope?name=data", "/what-if", "/verify", "/tokens"):
            text = client.get(path).text
            assert "HALTED: nothing is charged" in text, path
            assert "somewhere on the disk" not in text, path


@pytest.mark.parametrize("number", ["²", "9" * 5000, "9" * 30, "-1", "1.5", "x"])
def test_numbers_that_are_none(memory: Office, number: str) -> None:
    """Whatever stands where a page expects a number, it is a mistake of the asker's or the first page, not a fault."""
    with signed_in(memory, "owner") as client:
        for path in ("/budgets?start=", "/?start=", "/scope/releases?name=data&before="):
            assert client.get(path + number).status_code == 200, path
        asked = {**filled("correct", "data"), "seq": number}
        for path in ("/act/confirm", "/act/do"):
            found = client.post(path, data=asked)
            assert (found.status_code, "is a whole number" in found.text) == (422, True), path
        issued = client.post("/tokens", data={"name": "eve", "role": "auditor", "days": number})
        assert (issued.status_code, "days must be" in issued.text) == (422, True)


def test_the_list_counts_what_its_reader_may_know(memory: Office) -> None:
    """How many more like the last one fit would tell what ran beside a token's branch."""
    ledger = memory.service.ledger
    ledger.spend("data/left", "laplace(scale=70)", key="mine", by="ann")
    with signed_in(memory, "analyst", "data/left") as client:
        assert "more like the last" in client.get("/").text
        ledger.spend(["data/left", "other"], "laplace(scale=125)", key="both", by="zoe")
        assert "more like the last" not in client.get("/").text
    with signed_in(memory, "analyst") as client:
        assert "more like the last" in client.get("/").text


def test_nothing_typed_goes_into_an_address() -> None:
    """Where scripts do not run, a form is sent as it would be otherwise: the second person's token is in no address."""
    for path in sorted((HERE / "templates").glob("*.html")):
        for form in re.findall(r"<form[^>]*>", path.read_text(encoding="utf-8")):
            sent = re.search(r'hx-post="([^"]+)"', form)
            assert sent is None or f'method="post" action="{sent[1]}"' in form, (path.name, form)
