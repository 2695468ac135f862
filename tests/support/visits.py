"""Somebody with a browser window, and everything that goes wrong in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from support.patience import NET

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
AXE = Path(__file__).parents[1] / "vendor" / "axe-core"
RAW = re.compile(
    r"B²|Σ|½|\bresidue\b|half_squares|\bodometer\b|\bhindsight\b|certificate|given up|\bspent\b|(?<!JSON )\blines?\b|"
    r"\d[eE][-+]?\d|\d\.\d{4,}|\d/\d{4,}|NaN|None|undefined|Infinity",
    re.IGNORECASE,
)
"""What belongs into the expert's part, or to machines."""


def raw(text: str) -> list[str]:
    """What a text says that is not in the vocabulary of the fronts."""
    return [found[0] for found in RAW.finditer(text)]


class Visit:
    """One person with one browser window."""

    def __init__(self, browser: Any, address: str, width: int = 1280, **options: Any) -> None:
        self.address, self.width, self.troubles = address, width, list[str]()
        self.foreign = list[str]()
        self.scheme = options.get("color_scheme", "light")
        window = {"viewport": {"width": width, "height": 900}, "timezone_id": "Europe/Zurich", "locale": "en-GB"}
        self.context = browser.new_context(**window, **options)
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
        self.page.wait_for_selector("h1:has-text('Budgets')")

    def go(self, path: str) -> None:
        """To a page of the service."""
        self.page.goto(f"{self.address}{path}")

    def click(self, what: str) -> None:
        """On the first thing that is described so."""
        self.page.locator(what).first.click()

    def act(self, verb: str) -> None:
        """Choose something from the menu of a budget."""
        self.page.click("summary:has-text('More')")
        self.page.click(f".menu button:has-text('{verb}')")
        self.page.wait_for_selector("#act form")

    def said(self) -> str:
        """What the page says to somebody who opens nothing."""
        text: str = self.page.locator("main").inner_text()
        return text

    def look(self, name: str) -> None:
        """Keep a picture; nothing is cut, nothing is raw, and axe-core finds nothing serious."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.wait_for_selector(".htmx-request", state="detached")
        self.page.screenshot(path=str(PICTURES / f"{name}-{self.width}-{self.scheme}.png"), full_page=True)
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is cut"
        cut = "[...document.querySelectorAll('main *')].filter(e => e.scrollWidth > e.clientWidth + 1 && "
        cut += "getComputedStyle(e).overflowX != 'visible' && e.clientWidth > 1 && "
        cut += "!['INPUT', 'svg'].includes(e.tagName)).map(e => e.outerHTML.slice(0, 80))"
        for wrong in (self.page.evaluate(cut), raw(self.said()), self.serious()):
            assert not wrong, f"{name}: {wrong}"

    def serious(self) -> list[str]:
        """What axe-core finds that keeps somebody from using the page."""
        # by its protocol, which the policy of the page does not stop
        self.context.new_cdp_session(self.page).send(
            "Runtime.evaluate", {"expression": (AXE / "axe.min.js").read_text(encoding="utf-8")}
        )
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{one['id']}: {one['nodes'][0]['html'][:120]} {one['nodes'][0]['failureSummary'][:200]}"
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
        ]

    def end(self) -> None:
        """Nothing went wrong, and nothing came from elsewhere."""
        assert not self.troubles, self.troubles
        assert not self.foreign, self.foreign
        self.context.close()
