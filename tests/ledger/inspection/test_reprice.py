"""Repricing a journal that an earlier version wrote: what it charged is what it would be charged now."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

import bursar as b
from bursar.ledger.budget.currencies import Balance, currency_with
from bursar.ledger.budget.release import release_of
from bursar.ledger.inspection.reprice import _apart
from bursar.ledger.ledger import Ledger
from support.hands import brought_in

# Written by the version before reservations kept their prices, with its own texts: four roots with a charge of two
# terms, whose price depends on their order, and a reservation of three and two of them on the root parts, of which one
# was drawn.
DUMP = Path(__file__).parents[2] / "data" / "ledgers" / "prices-by-ratio.sql"
RESERVATION = "39bd9707809852ed9cbfbbdd26b963fb"


@pytest.fixture
def earlier(tmp_path: Path) -> str:
    """The address of that ledger, in a file of its own."""
    with sqlite3.connect(tmp_path / "earlier.db") as database:
        database.executescript(DUMP.read_text(encoding="utf-8"))
    database.close()
    return f"sqlite:///{tmp_path}/earlier.db"


def test_an_earlier_journal_is_not_accused(earlier: str) -> None:
    """Its prices are found again to the unit: terms are priced in the order that they had then."""
    with Ledger(earlier, alert=None, clock=lambda: 10**15 + 10**8) as ledger:
        found = ledger.verify(reprice=True)
        assert found.problems == ()
        assert found.notices == ()


def test_last_digits_of_another_processor_are_no_other_price() -> None:
    """Charges that end otherwise are neither accused nor noticed, as long as 48 bits agree; larger ones are."""
    opening, one, other = (Balance(1 << 54, spent, 0, False) for spent in (0, 1 << 53, (1 << 53) + 32))
    more = Balance(1 << 54, (1 << 53) + 33, 0, False)
    assert _apart("residue", {"residue": opening}, one, other) == 0
    assert _apart("residue", {"residue": opening}, other, one) == 0
    assert _apart("residue", {"residue": opening}, more, one) == 33
    assert _apart("residue", {"residue": opening}, one, more) == -33
    assert _apart("epsilon", {"epsilon": opening}, other, one) == 32


def test_terms_are_priced_by_their_numbers_as_ratios() -> None:
    """Whatever order their texts have: 1/4 comes before 7/100, and 0.07 before 0.25. Other processes are told so."""
    release = release_of("declared(pure_dp(epsilon=0.25)) + declared(pure_dp(epsilon=0.07))*2")
    assert [count for _, count in release.terms] == [2, 1]
    assert release.order == (1, 0)
    rebuilt, arguments = release.__reduce__()
    assert rebuilt(*arguments).order == release.at(Fraction(1, 9)).order == (1, 0)
    assert release_of(release, "1/9").order == (1, 0)


def test_an_earlier_reservation_is_drawn_in_parts_by_its_own_text(earlier: str) -> None:
    """By the text with which it was made, which it has kept in another spelling; and for no more than was reserved."""
    small, large = "declared(pure_dp(epsilon=0.07))", "declared(pure_dp(epsilon=0.25))"
    with Ledger(earlier, alert=None, clock=lambda: 10**15 + 10**8) as ledger:
        before = ledger.show("parts").line("epsilon")
        ledger.draw(RESERVATION, small)
        ledger.draw(RESERVATION, f"{large}*2")
        after = ledger.show("parts").line("epsilon")
        assert after.spent - before.spent == before.held - after.held == pytest.approx(Fraction(57, 100), abs=1e-12)
        with pytest.raises(b.InputError, match="not part of what is left"):
            ledger.draw(RESERVATION, f"{small}*2")
        ledger.draw(RESERVATION, small)
        assert ledger.show("parts").line("epsilon").held == 0
        assert ledger.verify(reprice=True)


@pytest.mark.parametrize("late", ["laplace(scale=100)", "randomized_response(epsilon=0.01)"])
@pytest.mark.parametrize("reserved", ["gaussian(sigma=100)", "laplace(scale=100)"])
def test_what_is_brought_in_beside_a_reservation_is_not_accused(reserved: str, late: str) -> None:
    """What may still run by a reservation counts as run when something comes late, and again when it is repriced; once
    the reservation is closed it does not.
    """
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        held = ledger.reserve("data", reserved, ttl=1000)
        brought_in(ledger, "data", f"what\n{late}\n")
        ledger.open("other", epsilon=1, delta="1e-6")
        ledger.close(ledger.reserve("other", reserved, ttl=1000))
        brought_in(ledger, "other", f"what\n{late}\n")
        ledger.close(held)
        found = ledger.verify(reprice=True)
        assert (found.problems, found.notices) == ((), ())


def test_what_was_released_before_a_scope_was_opened_is_repriced() -> None:
    """In roots, quotas, windows and blocks, under the limit of the day: what paid its price is not accused, and what
    paid less, as a homonym did, is named.
    """
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6", spent=["laplace(scale=100)", "gaussian(sigma=100)"])
        ledger.reserve("data", "laplace(scale=100)", ttl=1000)
        ledger.open("plain", epsilon=1, spent=["laplace(scale=100)"])
        ledger.open("plain/quota", epsilon="1/2", spent=["laplace(scale=100)"])
        ledger.open("plain/week", epsilon="1/2", kind="window", period=604_800, spent=["laplace(scale=100)"])
        ledger.limit("plain", epsilon=2, reason="more")
        ledger.open("plain/block", kind="block", spent=["laplace(scale=5)"])
        found = ledger.verify(reprice=True)
        assert (found.problems, found.notices) == ((), ())
        cheap = release_of("laplace(scale=1)").at(None)
        cheap.__dict__["mechanisms"] = (b.Declared(b.PureDP("0.01")),)
        for place in ({"epsilon": 9, "scope": "forged"}, {"kind": "block", "scope": "plain/forged"}):
            currency_with.cache_clear()
            ledger.office.catalogue = type(ledger.office.catalogue)()
            ledger.open(**place, spent=[cheap])
        currency_with.cache_clear()
        ledger.office.catalogue = type(ledger.office.catalogue)()
        problems = ledger.verify(reprice=True).problems
        assert [problem.split(" less than")[0] for problem in problems] == [
            "forged: entry 1 charged forged",
            "plain: entry 6 charged plain/forged",
        ]
