"""The table that helps to choose a budget says what is so, and stands at every door."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import bursar as b
from bursar.cli.main import app
from bursar.errors import BursarError
from bursar.ledger.budget.choosing import CHOICES, REFERENCES, Choice, as_lines
from bursar.ledger.ledger import Ledger
from bursar.service.dashboard.forms import FORMS

TOP = Path(__file__).parents[3]


def as_markdown() -> str:
    """The table as its page has it."""
    names = " | ".join(f"`{what}`" for what in REFERENCES)
    rows = [f"| people release | open with | because | {names} |", "|---|---|---|---:|---:|---:|"]
    for one in CHOICES:
        counts = " | ".join(str(count) if count else "none" for count in one.fits)
        rows.append(f"| {one.releases} | {one.opened} | {one.why} | {counts} |")
    return "\n".join(rows)


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.releases)
def test_the_counts_are_what_fits(choice: Choice) -> None:
    """Each reference on each kind of budget, as `quote` counts it."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", **choice.terms)
        for text, count in zip(REFERENCES, choice.fits, strict=True):
            try:
                found = ledger.quote("data", text).fits
            except BursarError:
                found = 0
            assert found == count, text


def test_the_plan_that_is_named_fits() -> None:
    """1873 steps charged as one at δ = 1e-6 pass, and one more does not."""
    step = b.parse("poisson(gaussian(sigma=2), rate=0.01)")
    for steps, passes in ((1873, True), (1874, False)):
        with Ledger("memory://", alert=None) as ledger:
            ledger.open("data", **CHOICES[-1].terms)
            assert ledger.quote("data", step * steps, delta="1e-6").passes == passes


def test_it_stands_in_the_book_on_the_command_line_and_in_the_form() -> None:
    """The same words everywhere."""
    page = (TOP / "docs" / "howto" / "ledger.md").read_text(encoding="utf-8")
    assert as_markdown() in page
    help = " ".join(CliRunner().invoke(app, ["ledger", "open", "--help"]).output.replace("│", " ").split())
    for line in as_lines():
        assert " ".join(line.split()) in help
    assert FORMS["open"].choices == CHOICES
