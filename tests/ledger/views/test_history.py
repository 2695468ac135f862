"""What each entry took of a scope, and what was left after it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

import bursar as b
from bursar.ledger.ledger import Ledger
from bursar.ledger.views.looks import walk


@pytest.fixture
def lived() -> Ledger:
    """A scope that gives up a way, holds something back, refuses and is raised; what was left after each entry."""
    ledger = Ledger("memory://", alert=None)
    ledger.open("data", epsilon=1, delta="1e-6")
    ledger.open("data/team", epsilon="1/2")
    ledger.spend("data", b.RandomizedResponse("0.01"))
    ledger.spend("data", b.Gaussian(sigma=50))
    held = ledger.reserve("data/team", "laplace(scale=100)*5", ttl=60)
    ledger.draw(held, "laplace(scale=100)")
    ledger.close(held)
    ledger.limit("data/team", epsilon=1, reason="more")
    with pytest.raises(b.BudgetExceeded):
        ledger.spend("data/team", "laplace(scale=1)*3")
    ledger.open("plain", epsilon=1, delta="1e-6", currency="sums")
    ledger.spend("plain", "laplace(scale=10)")  # of ε alone
    ledger.spend("plain", "gaussian(sigma=50)", delta="5e-7")
    return ledger


@pytest.mark.parametrize("name", ["data", "data/team", "plain"])
def test_every_page_says_the_same(lived: Ledger, name: str) -> None:
    """However the journal is cut into pages, an entry took the same, and each begins where the one before ended."""
    whole = walk(lived.office, name, 0, 100).steps
    seqs = sorted(whole)
    for before, after in itertools.pairwise(seqs):
        assert whole[before].after == whole[after].before
    assert whole[seqs[-1]].after == lived.show(name).left
    assert whole[seqs[0]].before == 1
    for start in range(len(seqs) + 2):
        for most in (1, 2, 5):
            page = walk(lived.office, name, start, most).steps
            assert page == {seq: step for seq, step in whole.items() if start < seq <= start + most}


def test_what_was_taken_adds_up(lived: Ledger) -> None:
    """Of a scope that gives nothing back, all that was taken is all that is used."""
    steps = walk(lived.office, "data", 0, 100).steps.values()
    assert sum((step.took for step in steps), Fraction(0)) == 1 - lived.show("data").left
    assert [step.entry.kind for step in steps if step.entry.kind == "refuse"] == []


def test_refusals_and_limits_take_nothing(lived: Ledger) -> None:
    """A refusal leaves what there was; a new limit changes the share that is left and takes nothing."""
    steps = {step.entry.kind: step for step in walk(lived.office, "data/team", 0, 100).steps.values()}
    assert steps["refuse"].took == 0
    assert steps["refuse"].before == steps["refuse"].after
    assert steps["limit"].took == 0
    assert steps["limit"].after > steps["limit"].before
