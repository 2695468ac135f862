"""Why something was charged: kept in the journal where it is given, and no trace of it where it is not."""

from __future__ import annotations

from typing import Any

import pytest

import bursar as b
from bursar.ledger.journal.body import body_in
from bursar.ledger.ledger import Ledger

SMALL = "laplace(scale=10)"


def said(ledger: Ledger, root: str = "data") -> list[str | None]:
    """The reasons of all entries but the openings."""
    bodies = [(one.entry.kind, body_in(one.entry.body)) for one in ledger.entries(root)]
    return [body.asked().get("reason") for kind, body in bodies if kind != "open"]


def test_charges_keep_their_reason(ledger: Ledger) -> None:
    """Spend, run, reserve and draw, in the entry of each root, and a refusal too; the journal verifies."""
    ledger.open("data", epsilon=1)
    ledger.open("other", epsilon=1)
    ledger.spend(["data", "other"], SMALL, reason="a map")
    assert ledger.run("data", SMALL, lambda: 7, key="once", reason="a query") == 7
    held = ledger.reserve("data", b.Laplace(scale=10) * 2, ttl=100, reason="a plan")
    ledger.draw(held, SMALL, reason="its first half")
    with pytest.raises(b.errors.BudgetExceeded):
        ledger.spend("data", "laplace(scale=1)", reason="too much")
    assert said(ledger) == ["a map", "a query", "a plan", "its first half", "too much"]
    assert said(ledger, "other") == ["a map"]
    assert ledger.verify(reprice=True)


def test_without_a_reason_nothing_is_written(ledger: Ledger) -> None:
    """The text that a key answers for is what it was before there were reasons."""
    ledger.open("data", epsilon=1)
    ledger.spend("data", SMALL, key="a")
    held = ledger.reserve("data", SMALL, ttl=100, key="r")
    ledger.draw(held, key="d")
    texts = [one.entry.body.partition('"request":')[2][:-1] for one in ledger.entries("data")[1:]]
    assert texts == [
        '{"scopes":["data"],"verb":"spend","what":"laplace(scale=10)"}',
        '{"scopes":["data"],"ttl":"100000000","verb":"reserve","what":"laplace(scale=10)"}',
        f'{{"reservation":"{held.id}","verb":"draw","what":null}}',
    ]


def test_a_key_answers_for_its_reason(ledger: Ledger) -> None:
    """The same charge for another reason is another request; the same one is charged once."""
    ledger.open("data", epsilon=1)
    assert not ledger.spend("data", SMALL, key="a", reason="a map").replayed
    assert ledger.spend("data", SMALL, key="a", reason="a map").replayed
    for other in ({}, {"reason": "a table"}):
        with pytest.raises(b.errors.KeyReused):
            ledger.spend("data", SMALL, key="a", **other)


@pytest.mark.parametrize("reason", ["", "  ", 7, "x" * 2001, "\ud800"])
def test_a_reason_says_something(ledger: Ledger, reason: Any) -> None:
    """An empty one, one that is no text or cannot be written is refused by name, and nothing is charged."""
    ledger.open("data", epsilon=1)
    held = ledger.reserve("data", SMALL, ttl=100)
    for charge in (
        lambda: ledger.spend("data", SMALL, reason=reason),
        lambda: ledger.reserve("data", SMALL, ttl=100, reason=reason),
        lambda: ledger.draw(held, reason=reason),
    ):
        with pytest.raises(b.InputError, match="reason"):
            charge()
    assert ledger.last("data") == 2
