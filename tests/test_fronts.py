"""The words of docs/reference/words.md on every front: nothing raw in what people are shown or refused, at any door."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import bursar as b
from bursar.cli.main import app
from bursar.ledger.ledger import Ledger
from bursar.problems import problem_of
from support.visits import raw

TOP = Path(__file__).parents[1]
TERMS: dict[str, tuple[dict[str, Any], str, str]] = {
    "pure": ({"epsilon": 1}, "laplace(scale=9)", "laplace(scale=1/2)"),
    "sums": ({"epsilon": 1, "delta": "1e-6"}, "laplace(scale=9)", "laplace(scale=1/2)"),
    "advanced": ({"epsilon": 1, "delta": "1e-6"}, "laplace(scale=90)", "laplace(scale=1/2)"),
    "concentrated": ({"epsilon": 1, "delta": "1e-6"}, "gaussian(sigma=90)", "gaussian(sigma=1/2)"),
    "residue": ({"epsilon": 1, "delta": "1e-6"}, "gaussian(sigma=90)", "gaussian(sigma=1/2)"),
    "zcdp": ({"rho": "1/50"}, "gaussian(sigma=90)", "gaussian(sigma=1/2)"),
    "renyi": ({"epsilon": 1, "delta": "1e-6", "order": 32}, "gaussian(sigma=90)", "gaussian(sigma=1/2)"),
    "gdp": ({"mu": "0.3"}, "gaussian(sigma=90)", "gaussian(sigma=1/2)"),
}
"""A scope of each currency, a release that fits, and one that does not."""


@pytest.mark.parametrize("currency", TERMS)
def test_in_python(currency: str) -> None:
    """A standing, a quote, a receipt and a refusal of every currency; the rest is in the expert's part."""
    terms, fits, much = TERMS[currency]
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", currency=currency, **terms)
        said = [str(ledger.show("data")), str(ledger.spend("data", fits, key="k")), str(ledger.show("data"))]
        said += [str(ledger.quote("data", fits)), str(ledger.quote("data", much))]
        with pytest.raises(b.BudgetExceeded) as refusal:
            ledger.spend("data", much)
        said.append(str(refusal.value))
        shown = ledger.show("data")
    for text in said:
        assert raw(text) == [], text
    assert ("Gaussian-like releases · ε" if currency == "residue" else "% used") in said[2]
    assert "about" in said[2]
    assert "never more than" in said[2]
    assert "would pass" in said[-1]
    assert raw(shown.counted())
    assert shown.odometer is None or f"{currency}, under" in shown.counted()


@pytest.mark.parametrize("currency", TERMS)
def test_every_refusal(currency: str) -> None:
    """Whatever a ledger says no to, and what it wants consent for, is said in words; over HTTP it is the same text."""
    terms, fits, much = TERMS[currency]
    limit = {name: "1/1000" for name in ("epsilon", "rho", "mu") if name in terms}
    with Ledger("memory://", alert=None) as ledger:
        for name, more in (("data", {}), ("pair", {"second_person": True}), ("cold", {}), ("gone", {})):
            ledger.open(name, currency=currency, **terms, **more)
        charged = ledger.spend("data", fits, key="k")
        ledger.spend("data", "randomized_response(epsilon=0.001)", key="r")
        held = ledger.reserve("data", fits, ttl=100, key="h")
        ledger.freeze("cold", reason="x")
        ledger.retire("gone", reason="x")
        refused: dict[str, Callable[[], Any]] = {
            "spend": lambda: ledger.spend("data", much),
            "reserve": lambda: ledger.reserve("data", much, ttl=9),
            "draw": lambda: ledger.draw(held, much),
            "frozen": lambda: ledger.spend("cold", fits),
            "closed": lambda: ledger.spend("gone", fits),
            "key": lambda: ledger.spend("data", much, key="k"),
            "two people": lambda: ledger.limit("pair", reason="x", **limit),
            "open": lambda: ledger.open("new", currency=currency, spent=[much], **terms),
            "correct": lambda: ledger.correct(charged, much, reason="x"),
            "bring in": lambda: ledger.bring_in("data", f"what\n{much}\n"),
        }
        for name, refuse in refused.items():
            with pytest.raises(b.errors.BursarError) as refusal:
                refuse()
            said = problem_of(refusal.value).detail
            for given in (held.id, getattr(refusal.value, "consent", "")):  # names, which may look like numbers
                said = said.replace(given, "")
            assert raw(said) == [], (name, said)


@pytest.mark.parametrize("currency", TERMS)
def test_on_the_command_line(currency: str, tmp_path: Path) -> None:
    """Show, quote, spend, entries, scopes and a refusal; --counted opens the expert's part, --json is exact."""
    terms, fits, much = TERMS[currency]
    path = str(tmp_path / "budget.db")
    with Ledger(f"sqlite:///{path}", alert=None) as ledger:
        ledger.open("data", currency=currency, **terms)

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, ["ledger", *words, "--ledger", path])
        return done.stdout + done.stderr

    charge = ("spend", "data", fits, "--key", "a"), ("spend", "data", much, "--key", "b")
    asked = (*charge, ("quote", "data", fits), ("quote", "data", much), ("entries", "data"), ("scopes",), ("show",))
    for words in asked:
        assert raw(run(*words)) == [], (words, run(*words))
    assert "How this is counted" in run("show", "data", "--counted")
    assert '"left_percent"' in run("show", "data", "--json")
    assert '"decimal"' in run("show", "data", "--json")


def test_the_odometer_does_not_contradict_the_limit() -> None:
    """Where it says less than the limit, the limit is shown in its place; nothing above the limit is on a front."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        for _ in range(20):
            ledger.spend("data", "gaussian(sigma=30)")
        shown = ledger.show("data")
        assert shown.odometer is not None
        assert shown.odometer > 1
        assert "says no more than the limit at present, ε = 1" in shown.counted()
        assert f"{shown.odometer:.2f}" not in shown.counted() + str(shown)


def test_every_word_is_in_the_table() -> None:
    """What the fronts say is what docs/reference/words.md explains."""
    table = (TOP / "docs" / "reference" / "words.md").read_text(encoding="utf-8")
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6", unit="person")
        ledger.spend("data", "gaussian(sigma=60)")
        names = [row.split(":")[0].strip() for row in ledger.show("data").counted().splitlines()]
    for name in names:
        assert f"| {name} |" in table or (name.startswith("split ") and "| split 1, split 2, … |" in table)
    for word in (
        "used",
        "left",
        "about 78 more like",
        "never more than",
        "would pass",
        "HALTED",
        "frozen",
        "overdrawn",
    ):
        assert word in table
