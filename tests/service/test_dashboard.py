"""The dashboard in a real browser: what people see and press, no console errors, nothing from elsewhere."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from bursar.service.dashboard.pages import HEADERS
from bursar.service.demo import demo
from bursar.service.settings import Settings
from support.offices import BROWSER, Office, listening_office
from support.patience import NET

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(not os.path.exists(BROWSER), reason="there is no browser")
PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
VENDOR = Path(__file__).parents[2] / "src" / "bursar" / "service" / "dashboard" / "static" / "vendor"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


class Visit:
    """One person with one browser window, and everything that went wrong in it."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.address, self.troubles = address, list[str]()
        self.foreign = list[str]()
        self.context = browser.new_context(viewport={"width": 1200, "height": 900}, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * NET)
        self.page.on("console", lambda said: self.troubles.append(said.text) if said.type != "log" else None)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", self._asked)
        # a violation of the policy is an event, whether or not the console shows it
        self.page.add_init_script(
            "addEventListener('securitypolicyviolation', e => console.error('policy', e.violatedDirective))"
        )

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:")):
            self.foreign.append(request.url)

    def sign_in(self, secret: str) -> None:
        """With a token."""
        self.page.goto(self.address)
        self.page.fill("#token", secret)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("h1:has-text('Scopes')")

    def picture(self, name: str) -> None:
        """Kept as an artefact of the tests."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(PICTURES / f"{name}.png"), full_page=True)

    def end(self) -> None:
        """Nothing went wrong, and nothing came from elsewhere."""
        assert self.troubles == []
        assert self.foreign == []
        self.context.close()


@pytest.fixture(scope="module")
def shown() -> Iterator[tuple[Any, str, dict[str, str]]]:
    """A browser, the demo's address, and its tokens."""
    service, secrets = demo(Settings(rate=1e6))
    with listening_office(Office(service)) as address, sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser, address, secrets
        browser.close()


def test_an_analyst_looks_asks_and_spends(shown: Any) -> None:
    """Scopes, burn-down, entries, refusals, how many fit, a charge and its refusal."""
    browser, address, secrets = shown
    visit = Visit(browser, address)
    visit.sign_in(secrets["analyst"])
    assert visit.page.locator("section.card h2").all_inner_texts()[0].startswith("census")
    assert not visit.page.locator("a:has-text('Audit')").count()
    visit.picture("scopes")
    visit.page.click("a:has-text('survey')")
    visit.page.wait_for_selector(".chart canvas")
    text = visit.page.inner_text("main")
    for expected in ("Odometer", "Hindsight", "refused: asked 0.5", "0.25", "Entries and refusals"):
        assert expected in text
    visit.page.fill("#what", "laplace(scale=100)")
    visit.page.click("button:has-text('Ask')")
    visit.page.wait_for_selector("#fits .good")
    assert "25 more" in visit.page.inner_text("#fits")
    visit.page.on("dialog", lambda dialog: dialog.accept())
    visit.page.click("button:has-text('Charge it')")
    visit.page.wait_for_selector("#fits:has-text('Charged')")
    visit.page.reload()
    assert "0.24" in visit.page.inner_text("main")
    visit.page.fill("#what", "laplace(scale=1)")
    visit.page.click("button:has-text('Charge it')")
    visit.page.wait_for_selector("#fits .problem")
    assert "asked 1 of" in visit.page.inner_text("#fits")
    visit.page.fill("#what", "nonsense(")
    visit.page.click("button:has-text('Ask')")
    visit.page.wait_for_selector("#fits .problem:has-text('cannot be meant')")
    visit.page.goto(f"{address}/scope?name=census")
    visit.page.wait_for_selector(".chart canvas")
    visit.picture("scope")
    visit.end()


def test_what_if(shown: Any) -> None:
    """Account with the theorems' table and the curve, plan with its neighbour; a mistake is pointed at."""
    browser, address, secrets = shown
    visit = Visit(browser, address)
    visit.sign_in(secrets["analyst"])
    visit.page.click("a:has-text('What if')")
    visit.page.click("button:has-text('Account')")
    visit.page.wait_for_selector("#report .chart canvas")
    assert "2.1245151 ≤ ε ≤ 2.124515" in visit.page.inner_text("#report")
    assert "decides" in visit.page.inner_text("#report table.entries")
    visit.page.click("button:has-text('Plan')")
    visit.page.wait_for_selector("#plan .chart canvas")
    assert "42.246" in visit.page.inner_text("#plan .answer >> nth=0")
    visit.picture("what-if")
    visit.page.fill("#composition", "gaussian(sigma=)")
    visit.page.click("button:has-text('Account')")
    visit.page.wait_for_selector("#report .problem")
    visit.end()


def test_an_auditor_verifies_and_takes_the_journal(shown: Any, tmp_path: Path) -> None:
    """No spend buttons; verify; the journal as a file."""
    browser, address, secrets = shown
    visit = Visit(browser, address, accept_downloads=True)
    visit.sign_in(secrets["auditor"])
    visit.page.click("a:has-text('survey')")
    visit.page.wait_for_selector(".chart canvas")
    assert not visit.page.locator("button:has-text('Charge')").count()
    assert not visit.page.locator("button:has-text('Ask')").count()
    visit.page.click("a:has-text('Audit')")
    visit.page.check("input[name=reprice]")
    visit.page.click("button:has-text('Verify')")
    visit.page.wait_for_selector("#verified .good")
    with visit.page.expect_download() as downloaded:
        visit.page.click("a:has-text('JSON Lines')")
    downloaded.value.save_as(tmp_path / "journal.jsonl")
    assert "census/maps" in (tmp_path / "journal.jsonl").read_text(encoding="utf-8")
    visit.picture("audit")
    visit.end()


def test_the_keyboard_is_enough_and_dark_is_dark(shown: Any) -> None:
    """From sign-in to an answer without a mouse; the skip link works; the dark palette is used."""
    browser, address, secrets = shown
    visit = Visit(browser, address, color_scheme="dark")
    visit.sign_in(secrets["steward"])
    background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in background[4:-1].split(",")) < 60
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("document.activeElement.textContent") == "Skip to the content"
    visit.page.keyboard.press("Enter")
    for _ in range(20):
        visit.page.keyboard.press("Tab")
        if visit.page.evaluate("document.activeElement.textContent") == "survey":
            break
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#what")
    for _ in range(30):
        visit.page.keyboard.press("Tab")
        if visit.page.evaluate("document.activeElement.id") == "what":
            break
    visit.page.keyboard.type("laplace(scale=50)")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#fits .good")
    visit.picture("scope-dark")
    visit.end()


def test_signing_in_and_out(shown: Any) -> None:
    """A wrong token is refused; signing out ends it; pages without a session lead to the sign-in."""
    browser, address, secrets = shown
    visit = Visit(browser, address)
    visit.page.goto(f"{address}/audit")
    assert visit.page.url.endswith("/sign-in")
    visit.page.fill("#token", "bursar_wrong")
    with visit.page.expect_response(lambda response: response.status == 401):
        visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector(".problem")
    visit.troubles.clear()  # the browser reports the 401 itself
    visit.sign_in(secrets["owner"])
    visit.page.click("button:has-text('Sign out')")
    visit.page.goto(address)
    assert visit.page.url.endswith("/sign-in")
    visit.end()


def test_pages_are_guarded(shown: Any) -> None:
    """A strict policy on every page, a cookie that scripts cannot read, and no forms from other sites."""
    _, address, secrets = shown
    with httpx.Client(base_url=address) as client:
        page = client.get("/sign-in")
        assert "unsafe" not in page.headers["content-security-policy"]
        assert "default-src 'none'" in HEADERS["Content-Security-Policy"]
        assert "<script>" not in page.text
        assert "style=" not in page.text
        foreign = client.post("/sign-in", data={"token": secrets["owner"]}, headers={"Origin": "https://evil.example"})
        assert foreign.status_code == 403
        entered = client.post("/sign-in", data={"token": secrets["owner"]})
        cookie = entered.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        crossed = client.post("/scope/spend", data={"scope": "survey"}, headers={"Sec-Fetch-Site": "cross-site"})
        assert crossed.status_code == 403
        assert client.get("/v1/scopes").status_code == 401  # the cookie opens pages, not the interface


def test_vendored_files_are_what_they_say() -> None:
    """Each has its hash and its licence on record."""
    recorded = dict(reversed(line.split()) for line in (VENDOR / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    files = {path.name for path in VENDOR.iterdir()} - {"SHA256SUMS", "README.md"}
    assert files == set(recorded)
    for name, digest in recorded.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest
