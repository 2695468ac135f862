"""The words of docs/reference/words.md on every front: nothing raw in what people are shown or refused, at any door."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import bursar as b
from bursar.cli.main import app
from bursar.ledger.ledger import Ledger
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
    assert "% used" in said[2]
    assert "% left; about" in said[2]
    assert "never more than" in said[2]
    assert "would pass" in said[-1]
    assert raw(shown.counted())
    assert shown.odometer is None or f"{currency}, under" in shown.counted()


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
        assert f"| {name} |" in table
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
