"""Repricing: what was charged is checked against its price, and no engine is asked."""

from __future__ import annotations

from fractions import Fraction

import pytest

import bursar as b
from bursar.ledger.budget.currencies import currency_with
from bursar.ledger.budget.release import release_of
from bursar.ledger.inspection.reprice import _apart
from bursar.ledger.journal.rows import Split
from bursar.ledger.ledger import Ledger
from support.hands import brought_in


def test_last_digits_of_another_processor_are_no_other_price() -> None:
    """Charges that end otherwise are neither accused nor noticed, as long as 48 bits agree; larger ones are."""
    opening, one, other, more = (
        Split((1 << 54) - taken, 0, 0, 3) for taken in (0, 1 << 53, (1 << 53) + 32, (1 << 53) + 34)
    )
    assert _apart(opening, one, other) == 0
    assert _apart(opening, other, one) == 0
    assert _apart(opening, more, one) == 34
    assert _apart(opening, one, more) == -34


def test_terms_are_priced_by_their_numbers_as_ratios() -> None:
    """Whatever order their texts have: 1/4 comes before 7/100, and 0.07 before 0.25. Other processes are told so."""
    release = release_of("declared(pure_dp(epsilon=0.25)) + declared(pure_dp(epsilon=0.07))*2")
    assert [count for _, count in release.terms] == [2, 1]
    assert release.order == (1, 0)
    rebuilt, arguments = release.__reduce__()
    assert rebuilt(*arguments).order == release.at(Fraction(1, 9)).order == (1, 0)
    assert release_of(release, "1/9").order == (1, 0)


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
    """In roots, quotas and blocks, under the limit of the day: what paid its price is not accused, and what
    paid less, as a homonym did, is named.
    """
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6", spent=["laplace(scale=100)", "gaussian(sigma=100)"])
        ledger.reserve("data", "laplace(scale=100)", ttl=1000)
        ledger.open("plain", epsilon=1, spent=["laplace(scale=100)"])
        ledger.open("plain/quota", epsilon="1/2", spent=["laplace(scale=100)"])
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
            "plain: entry 5 charged plain/forged",
        ]
