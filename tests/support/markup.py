"""HTML as results give it: everything that opens closes, and nothing in it can run."""

from __future__ import annotations

from html.parser import HTMLParser

ALONE = ("br", "img")


class Balanced(HTMLParser):
    """Checks that tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember it."""
        assert tag not in ("script", "style")
        if tag not in ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """It must be the last one opened."""
        assert self.open.pop() == tag


def balanced(text: str) -> None:
    """Check a piece of HTML."""
    parser = Balanced()
    parser.feed(text)
    parser.close()
    assert parser.open == []
