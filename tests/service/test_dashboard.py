"""The dashboard in a real browser: what people see and press, no console errors, nothing from elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bursar.service.demo import demo
from bursar.service.settings import Settings
from support.offices import Office, listening_office
from support.visits import AXE, FLAGS, Visit
from support.where import needs

sync_api = pytest.importorskip("playwright.sync_api")
VENDOR = Path(__file__).parents[2] / "src" / "bursar" / "service" / "dashboard" / "static" / "vendor"
WINDOWS = [(1280, "light"), (390, "light"), (1280, "dark"), (390, "dark")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium."""
    program = needs("chromium")
    with sync_api.sync_playwright() as play:
        made = play.chromium.launch(executable_path=program, args=FLAGS)
        yield made
        made.close()


@pytest.fixture
def story(browser: Any) -> Iterator[tuple[Any, str, dict[str, str]]]:
    """A browser, the demo's address, and its tokens."""
    service, secrets = demo(Settings(rate=1e6))
    with listening_office(Office(service)) as address:
        yield browser, address, secrets


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_a_steward_walks_through(story: Any, width: int, scheme: str) -> None:
    """Open, charge, be refused, raise with a second person, freeze, correct with its price, issue a token, verify:
    every screen is whole, in words, and open to everybody.
    """
    browser, address, secrets = story
    visit = Visit(browser, address, width, color_scheme=scheme, reduced_motion="reduce")
    visit.sign_in(secrets["owner"])
    visit.look("1-budgets")
    _opens(visit)
    _charges_and_is_refused(visit)
    _raises(visit, secrets["steward"])
    _freezes_and_thaws(visit)
    _corrects(visit)
    visit.go("/tokens")
    visit.page.fill("#t-name", "emmy")
    visit.click("button:has-text('Issue a token')")
    visit.page.wait_for_selector("#issued .secret")
    visit.page.wait_for_selector("#tokens td:has-text('emmy')")
    visit.page.evaluate("document.querySelector('.secret').textContent = 'bursar_shown_once'")  # not into a picture
    visit.look("8-tokens")
    visit.go("/verify")
    visit.click("button:has-text('Verify')")
    visit.page.wait_for_selector("#verified .good")
    visit.look("9-verify")
    visit.end()


def _opens(visit: Visit) -> None:
    visit.click("button:has-text('Open a budget')")
    visit.page.fill("#act-scope", "census/schools")
    visit.page.wait_for_selector("#parent:has-text('opens below census')")
    visit.page.fill("#act-epsilon", "0.2")
    visit.page.fill("#act-delta", "1e-8")
    visit.look("2-open")
    visit.click("#act button.primary")
    visit.page.wait_for_selector("#act button:has-text('Open it')")
    assert "census/schools opens below census: never more than ε = 0.2 at δ = 10⁻⁸" in visit.page.inner_text("#act")
    visit.click("#act button:has-text('Open it')")
    visit.page.wait_for_selector("#budgets a:has-text('schools')")  # the list has brought itself up to date


def _charges_and_is_refused(visit: Visit) -> None:
    visit.go("/scope?name=census/schools")
    visit.page.wait_for_selector("h1:has-text('census/schools')")
    visit.page.fill("#what", "gaussian(sigma=60)")
    visit.click("#ask button.primary")
    visit.page.wait_for_selector("#answer .good")
    assert "standard error 60" in visit.page.inner_text("#answer")
    visit.click("#answer button:has-text('Charge it')")
    visit.page.wait_for_selector("#act button:has-text('Charge it')")
    told = visit.page.inner_text("#act")
    assert "census/schools takes" in told
    assert "census takes" in told
    assert "afterwards" in told
    assert "left for Gaussian-like releases · ε" in told
    visit.page.fill("#why", "a map of schools")
    visit.look("3-charge")
    visit.click("#act button:has-text('Charge it')")
    visit.page.wait_for_selector("#act:has-text('Done')")
    visit.page.wait_for_selector("#releases tr:has-text('a map of schools') code:has-text('gaussian(sigma=60)')")
    visit.page.wait_for_selector(".chart canvas")
    visit.page.fill("#what", "gaussian(sigma=2)")
    visit.click("#ask button.primary")
    visit.page.wait_for_selector("#answer .problem")
    assert "would pass" in visit.page.inner_text("#answer")
    visit.look("4-refused")
    visit.click("#answer button:has-text('Try that')")
    visit.page.wait_for_selector("#answer .good")


def _raises(visit: Visit, second: str) -> None:
    visit.go("/scope?name=census")
    visit.act("Change the limit")
    visit.page.fill("#act-epsilon", "1.5")
    visit.page.fill("#act-reason", "a third edition")
    visit.click("#act button.primary")
    visit.page.wait_for_selector("#approval")
    assert "census ε = 1 at δ = 10⁻⁶ → ε = 1.5 at δ = 10⁻⁶" in visit.page.inner_text("#act")
    visit.look("5-limit")
    visit.page.fill("#approval", second)
    visit.click("#act button:has-text('Change the limit')")
    visit.page.wait_for_selector("#act:has-text('Done')")
    visit.page.wait_for_selector(".standing:has-text('ε = 1.5')")
    visit.click("summary:has-text('history of the limit')")
    assert "demo steward" in visit.page.inner_text("details:has-text('history of the limit')")


def _freezes_and_thaws(visit: Visit) -> None:
    visit.go("/scope?name=census/research")
    for verb, button, tag in (("Freeze", "Freeze it", "visible"), ("Thaw", "Thaw it", "detached")):
        visit.act(verb)
        visit.page.fill("#act-reason", "a question first")
        visit.click("#act button.primary")
        visit.click(f"#act button:has-text('{button}')")
        visit.page.wait_for_selector("#act:has-text('Done')")
        visit.page.wait_for_selector("h1 .tag.warn", state=tag)
        if tag == "visible":
            visit.look("6-frozen")


def _corrects(visit: Visit) -> None:
    visit.go("/scope?name=census/tables")
    visit.page.wait_for_selector(".chart canvas")
    seq = visit.page.inner_text("#releases tr:has-text('gaussian(sigma=70)') .seq >> nth=0").split()[-1]
    visit.act("Correct an entry")
    visit.page.fill("#act-seq", seq)
    visit.page.fill("#act-what", "gaussian(sigma=70)")
    visit.page.fill("#act-reason", "it ran twice")
    visit.click("#act button.primary")
    visit.page.wait_for_selector("#act button:has-text('Correct it')")
    assert "census/tables takes" in visit.page.inner_text("#act")
    visit.look("7-correct")
    visit.click("#act button:has-text('Correct it')")
    visit.page.wait_for_selector("#act:has-text('Done')")
    visit.page.wait_for_selector("#releases tr:has-text('corrected')")


def test_what_if(story: Any) -> None:
    """The theorem that decides comes first, the others are folded; a plan with its neighbour; mistakes are shown."""
    browser, address, secrets = story
    visit = Visit(browser, address)
    visit.sign_in(secrets["analyst"])
    assert not visit.page.locator("nav a:has-text('Verify')").count()
    assert not visit.page.locator("nav a:has-text('Tokens')").count()
    visit.click("a:has-text('What if')")
    visit.click("button:has-text('Account')")
    visit.page.wait_for_selector("#report .chart canvas")
    told = visit.page.inner_text("#report")
    assert "proved: ε ≤ 2.125 (to 9 digits) at δ = 10⁻⁶" in told or "proved: ε ≤ 2.125 (to 1" in told
    visit.look("11-what-if")
    assert "decided by:" in told
    assert "Those that do not apply" in told
    assert "decides" not in told
    visit.click("summary:has-text('Every theorem')")
    assert "decides" in visit.page.inner_text("#report")
    visit.click("button:has-text('Plan')")
    visit.page.wait_for_selector("#plan .chart canvas")
    assert "42.246" in visit.page.inner_text("#plan .answer >> nth=0")
    assert visit.serious() == []
    visit.page.fill("#composition", "gaussian(sigma=)")
    visit.click("button:has-text('Account')")
    visit.page.wait_for_selector("#report .problem")
    visit.end()


def test_the_slider_asks(story: Any) -> None:
    """Moving it writes the release and asks at once: more noise takes less, and more of them fit."""
    browser, address, secrets = story
    visit = Visit(browser, address)
    visit.sign_in(secrets["analyst"])
    visit.go("/scope?name=survey")
    visit.page.select_option("#ask-kind", "laplace(scale=?)")
    visit.page.wait_for_selector("#answer .good, #answer .problem")
    counts = []
    for place in ("220", "280"):
        visit.page.locator("#ask-noise").fill(place)
        noise = 0.5 * 1000 ** (int(place) / 300)
        written = f"laplace(scale={float(f'{noise:.2g}'):g})"
        visit.page.wait_for_selector(f"#answer .good:has-text('{written}')")
        counts.append(int(visit.page.inner_text("#answer strong >> nth=0")))
    assert 0 < counts[0] < counts[1]
    visit.end()


def test_an_auditor_looks_and_takes_the_journal(story: Any, tmp_path: Path) -> None:
    """No buttons that charge; filters; refusals in words; the expert's part; the journal, at its old address too."""
    browser, address, secrets = story
    visit = Visit(browser, address, accept_downloads=True)
    visit.sign_in(secrets["auditor"])
    visit.click("a:has-text('maps')")
    visit.page.wait_for_selector(".chart canvas")
    for missing in ("#ask", "button:has-text('Reserve')", ".menu"):
        assert not visit.page.locator(missing).count()
    visit.page.select_option("#f-only", "refused")
    visit.page.wait_for_selector("#table tbody tr.refused:only-child")
    row = visit.page.inner_text("#table tbody tr")
    assert "emmy" in row
    assert "asked for" in row
    assert "is left" in row
    assert "Europe/Zurich" in visit.page.inner_text("#table thead")
    visit.click("summary:has-text('How this is counted')")
    assert "odometer" in visit.said()
    visit.go("/audit")
    assert visit.page.inner_text("h1") == "Verify"
    with visit.page.expect_download() as downloaded:
        visit.click("a:has-text('JSON Lines')")
    downloaded.value.save_as(tmp_path / "journal.jsonl")
    assert "census/maps" in (tmp_path / "journal.jsonl").read_text(encoding="utf-8")
    visit.end()


def test_the_keyboard_is_enough(story: Any) -> None:
    """From sign-in to an answer without a mouse; the skip link works; folding is a button."""
    browser, address, secrets = story
    visit = Visit(browser, address)
    visit.sign_in(secrets["steward"])
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("document.activeElement.textContent") == "Skip to the content"
    visit.page.keyboard.press("Enter")
    _tab_to(visit, "document.activeElement.className == 'fold'")
    visit.page.keyboard.press("Enter")
    assert visit.page.locator("a:has-text('maps')").is_hidden()
    visit.page.keyboard.press("Enter")
    assert visit.page.locator("a:has-text('maps')").is_visible()
    visit.go("/scope?name=census")
    _tab_to(visit, "document.activeElement.tagName == 'SUMMARY'")
    visit.page.keyboard.press("Enter")
    visit.page.keyboard.press("Escape")
    assert not visit.page.locator(".menu[open]").count()
    _tab_to(visit, "document.activeElement.id == 'what'")
    visit.page.keyboard.type("gaussian(sigma=90)")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#answer .good")
    visit.end()


def _tab_to(visit: Visit, there: str) -> None:
    for _ in range(40):
        visit.page.keyboard.press("Tab")
        if visit.page.evaluate(there):
            return
    raise AssertionError(there)


def test_lost_pages_and_sessions_are_told_in_words(story: Any) -> None:
    """A wrong token, an address that is not there, a budget that is not there, and a session that has ended."""
    browser, address, secrets = story
    visit = Visit(browser, address)
    visit.go("/scope?name=survey")
    assert "/sign-in?next=" in visit.page.url
    visit.page.fill("#token", "bursar_wrong")
    with visit.page.expect_response(lambda response: response.status == 401):
        visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector(".problem")
    visit.page.fill("#token", secrets["owner"])
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("h1:has-text('survey')")  # where they wanted to go
    visit.go("/nowhere")
    assert "There is no page at this address" in visit.said()
    visit.look("10-lost")
    visit.go("/scope?name=nowhere")
    assert "No such scope" in visit.said()
    visit.troubles.clear()  # the browser reports a 401 and two 404s itself
    visit.go("/scope?name=survey")
    visit.context.clear_cookies()
    visit.context.add_cookies([{"name": "bursar_session", "value": "gone", "url": address}])
    visit.page.fill("#what", "laplace(scale=50)")
    visit.click("#ask button.primary")
    visit.page.wait_for_selector("h1:has-text('Sign in')")
    assert "Your session has ended" in visit.said()
    visit.end()


@pytest.mark.parametrize("folder", [VENDOR, AXE])
def test_vendored_files_are_what_they_say(folder: Path) -> None:
    """Each has its hash and its licence on record."""
    recorded = dict(reversed(line.split()) for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    files = {path.name for path in folder.iterdir()} - {"SHA256SUMS", "README.md"}
    assert files == set(recorded)
    for name, digest in recorded.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
