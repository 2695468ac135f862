"""Epochs whose steps are one random pattern are charged whole: no refund for the last steps, no draw of the first."""

from __future__ import annotations

import pytest

import bursar as b
from bursar.errors import InputError
from bursar.mechanisms import CATALOGUE, PATTERNS

EPOCH = "allocated(gaussian(sigma=40), steps=100)"
SHUFFLED = "shuffled(gaussian(sigma=40, relation=zero_out), steps=100)"


def _ledger(relation: str = "add_remove", currency: str = "zcdp") -> b.Ledger:
    ledger = b.Ledger("memory://", alert=None)
    limits = {"rho": "1/100"} if currency == "zcdp" else {"epsilon": 1, "delta": "1e-6"}
    ledger.open("model", currency=currency, relation=relation, **limits)
    return ledger


def _lines(ledger: b.Ledger) -> object:
    return ledger.show("model").to_dict()["lines"]


@pytest.mark.parametrize(("epoch", "relation"), [(EPOCH, "add_remove"), (SHUFFLED, "zero_out")])
def test_an_epoch_is_drawn_whole_before_its_first_step(epoch: str, relation: str) -> None:
    """Steps of it, fewer steps, and 99 of 100 are refused by name; nothing is drawn by the attempt."""
    ledger = _ledger(relation)
    held = ledger.reserve("model", f"{epoch}*10", ttl=600, key="run")
    before = _lines(ledger)
    step = epoch.partition("(")[2].partition(", steps")[0]
    sampled = f"poisson({step}, rate=0.01)"
    for part in (step, f"{step}*99", sampled, epoch.replace("steps=100", "steps=99"), f"{epoch}*11"):
        with pytest.raises(InputError, match="drawn whole, before its first step: draw " + epoch.partition("(")[0]):
            ledger.draw(held, part, key=f"draw {part}")
    assert _lines(ledger) == before


def test_only_epochs_of_which_nothing_ran_come_back() -> None:
    """One that was begun is spent, however many of its steps ran: closing gives back the other nine."""
    ledger = _ledger()
    held = ledger.reserve("model", f"{EPOCH}*10", ttl=600, key="run")
    ledger.draw(held, EPOCH, key="first epoch")
    ledger.close(held, key="stopped after 99 of its 100 steps")
    one = _ledger()
    one.spend("model", EPOCH, key="one epoch")
    assert _lines(ledger) == _lines(one)
    assert ledger.verify().ok


def test_patterns_are_mechanisms() -> None:
    """Each name is one of the catalogue."""
    assert set(PATTERNS) <= set(CATALOGUE)


def test_a_pattern_inside_a_group_is_drawn_whole_too() -> None:
    """Neither a step of it nor the epoch of one record: the refusal says what to draw."""
    ledger = _ledger()
    group = f"group({EPOCH}, size=2)"
    held = ledger.reserve("model", f"{group}*3", ttl=600, key="run")
    for part in ("group(gaussian(sigma=40), size=2)", EPOCH, f"{group}*4"):
        with pytest.raises(InputError, match="drawn whole, before its first step: draw group"):
            ledger.draw(held, part, key=f"draw {part}")


def test_no_correction_gives_back_steps_that_were_not_run() -> None:
    """A correction charges what it says beside what was charged: nobody corrects 100 steps to 99 for a refund."""
    ledger = _ledger()
    receipt = ledger.spend("model", EPOCH, key="one epoch")
    before = ledger.show("model")
    ledger.correct(receipt, EPOCH.replace("100", "99"), key="one step did not run", reason="stopped")
    after = ledger.show("model")
    assert all(new.spent > old.spent for old, new in zip(before.lines, after.lines, strict=True))
