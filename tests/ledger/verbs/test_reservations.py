"""Allowances for a time, in every store: reservations that are drawn, closed or expire."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import bursar as b
from bursar.ledger.budget.release import spelled
from bursar.ledger.ledger import Ledger
from bursar.ledger.views.looks import held_by
from support.hands import TENTH, Clock, left


def test_reservations(ledger: Ledger) -> None:
    """Held at once, drawn in parts, the rest given back; nothing more than was reserved can be drawn."""
    ledger.open("data", epsilon=1)
    held = ledger.reserve("data", TENTH * 6, ttl=60, key="r")
    assert held.given_back
    assert left(ledger, "data") == Fraction(4, 10)
    with pytest.raises(b.BudgetExceeded):
        ledger.spend("data", TENTH * 5)
    ledger.draw(held, TENTH * 2, key="d")
    assert ledger.draw(held, TENTH * 2, key="d").replayed
    state = ledger.show("data").line("epsilon")
    assert (state.spent, state.held) == (Fraction(2, 10), Fraction(4, 10))
    with pytest.raises(b.InputError, match="not part of"):
        ledger.draw(held, TENTH * 5)
    with pytest.raises(b.InputError, match="not part of"):
        ledger.draw(held, b.Laplace(scale=20))
    ledger.close(held)
    state = ledger.show("data").line("epsilon")
    assert (state.spent, state.held, state.left) == (Fraction(2, 10), 0, Fraction(8, 10))
    with pytest.raises(b.errors.ReservationClosed):
        ledger.draw(held)
    with pytest.raises(b.errors.ReservationClosed):
        ledger.draw("no such reservation")
    assert ledger.reserve("data", TENTH * 6, ttl=60, key="r").replayed


def test_all_of_a_reservation(ledger: Ledger) -> None:
    """A draw without an amount takes all that is left; then there is nothing to draw."""
    ledger.open("data", epsilon=1)
    held = ledger.reserve("data", TENTH * 3 + b.Laplace(scale=7), ttl=60)
    ledger.draw(held, TENTH)
    ledger.draw(held)
    assert ledger.show("data").line("epsilon").spent == Fraction(3, 10) + Fraction(1, 7)
    with pytest.raises(b.errors.ReservationClosed, match="drawn"):
        ledger.draw(held)


def test_reservations_expire(url: str, tmp_path: Path) -> None:
    """When its time has passed a draw is refused and what was held is given back, whatever happens first."""
    clock = Clock()
    with Ledger(url, anchor=str(tmp_path / "a"), clock=clock, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        held = ledger.reserve("data", TENTH * 6, ttl=60)
        ledger.draw(held, TENTH)
        clock.now += 60_000_000
        with pytest.raises(b.errors.ReservationExpired):
            ledger.draw(held, TENTH)
        ledger.spend("data", TENTH * 9)
        assert left(ledger, "data") == 0
        assert ledger.verify()


def test_residue_reservations_give_nothing_back(ledger: Ledger) -> None:
    """On a residue scope a reservation is spent at once, and the quote says so."""
    ledger.open("data", epsilon=1, delta="1e-6")
    assert not ledger.quote("data", b.Gaussian(sigma=50.0)).parts[0].given_back
    held = ledger.reserve("data", b.Gaussian(sigma=50.0) * 10, ttl=60)
    assert not held.given_back
    before = left(ledger, "data", "gaussian")
    ledger.draw(held, b.Gaussian(sigma=50.0) * 4)
    ledger.close(held)
    assert left(ledger, "data", "gaussian") == before
    assert ledger.show("data").released == (("gaussian(sigma=50)*4", 1),)


def test_there_are_no_windows(ledger: Ledger) -> None:
    """A budget for each period is a quota that a scheduled job opens: who asks for a window is told how."""
    ledger.open("data", epsilon=1)
    with pytest.raises(b.InputError, match="quota that a scheduled job opens"):
        ledger.open("daily", parent="data", kind="window", epsilon="1/5")


def test_frozen_and_closed_scopes_are_not_drawn_on(ledger: Ledger) -> None:
    """Nor are reservations on a root's block where the root is frozen; what is held can still be given back."""
    ledger.open("data", epsilon=1)
    ledger.open("north", parent="data", kind="block")
    held = ledger.reserve("north", TENTH * 2, ttl=100)
    ledger.freeze("data", reason="stop")
    for charge in (
        lambda: ledger.draw(held, TENTH),
        lambda: ledger.spend("north", TENTH),
        lambda: ledger.reserve("north", TENTH, ttl=9),
        lambda: ledger.quote("north", TENTH),
        lambda: ledger.bring_in("north", "what\nlaplace(scale=10)\n"),
    ):
        with pytest.raises(b.errors.ScopeFrozen):
            charge()
    ledger.thaw("data", reason="go on")
    ledger.draw(held, TENTH)
    ledger.retire("north", reason="done")
    with pytest.raises(b.errors.ScopeClosed):
        ledger.draw(held)
    ledger.close(held)
    assert left(ledger, "north") == Fraction(9, 10)
    assert ledger.verify()


@pytest.mark.parametrize("end", ["draw", "close", "expire"])
def test_blocks_that_open_under_a_reservation_share_it(url: str, tmp_path: Path, end: str) -> None:
    """What is held on all of the data is held on the new part, is drawn there, and comes back there."""
    clock = Clock()
    with Ledger(url, anchor=str(tmp_path / "a"), clock=clock, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.open("team", parent="data", epsilon=1)
        old = ledger.reserve("data", TENTH, ttl=1)
        held = ledger.reserve("team", TENTH * 5, ttl=100)
        clock.now += 2_000_000
        ledger.open("north", parent="data", kind="block")
        with pytest.raises(b.errors.ReservationExpired):
            ledger.draw(old)
        assert ledger.show("north").line("epsilon").held == Fraction(1, 2)
        if end == "draw":
            ledger.draw(held, TENTH * 2)
            ledger.close(held)
            assert ledger.show("north").released == (("laplace(scale=10)*2", 1),)
        elif end == "close":
            ledger.close(held)
        clock.now += 100_000_000
        expected = Fraction(8, 10) if end == "draw" else 1
        for name in ("data", "north", "team"):
            assert left(ledger, name) == expected, name
        assert held_by(ledger.office, held.id) == ("team",)
        ledger.spend("data", TENTH)
        assert ledger.verify(reprice=True)


@pytest.mark.parametrize(
    ("reserved", "drawn"),
    [
        ("laplace(scale=0.5)", "laplace(scale=1/2)"),
        ("laplace(scale=1/2)", "laplace(scale=0.5)"),
        ("laplace(scale=10)", "laplace(scale=1e1)"),
        ("declared(approx_dp(epsilon=0.5, delta=1e-9))", "declared(approx_dp(epsilon=1/2, delta=1/1000000000))"),
    ],
)
def test_a_part_may_be_spelled_otherwise(ledger: Ledger, reserved: str, drawn: str) -> None:
    """A text with the same numbers means the same release: it is drawn at the price that was reserved, and no more."""
    terms = {"epsilon": 100} if "approx" not in reserved else {"epsilon": 100, "delta": "1e-3", "currency": "sums"}
    ledger.open("data", **terms)
    held = ledger.reserve("data", f"{reserved}*3 + laplace(scale=7)", ttl=100)
    for text in (drawn, reserved, drawn):
        ledger.draw(held, text)
    with pytest.raises(b.InputError, match="not part of what is left"):
        ledger.draw(held, drawn)
    once = ledger.show("data").line("epsilon").spent
    ledger.spend("data", f"{reserved}*3")
    assert ledger.show("data").line("epsilon").spent == 2 * once


def test_another_release_is_not_another_spelling() -> None:
    """Numbers are compared by value, and everything else as it stands: formulas in quotes, words and names."""
    alike = ("laplace(scale=0.50)", "laplace( scale = 5e-1 )", "laplace(scale=1/2)")
    assert len({spelled(text) for text in alike}) == 1
    others = (
        "laplace(scale=0.5)",
        "laplace(scale=0.51)",
        "discrete_laplace(scale=0.5)",
        "laplace(scale=0.5, relation=replace_one)",
        'densities("x^2/4", "1", low=0, high=1)',
        'densities("x^1/2", "1", low=0, high=1)',
        "disjoint(laplace(scale=1)*2)",
        "disjoint(laplace(scale=1)*3)",
    )
    assert len({spelled(text) for text in others}) == len(others)
