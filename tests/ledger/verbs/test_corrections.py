"""Corrections: they reach all that the release touched, what they overdraw stays owed, and order matters."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import bursar as b
from bursar.ledger.budget import words
from bursar.ledger.ledger import Ledger
from support.hands import TENTH, Clock, agreed, left


def status(ledger: Ledger, name: str) -> str:
    """Of a scope."""
    return ledger.show(name).scope.row.status


def test_what_is_overdrawn_is_owed(ledger: Ledger) -> None:
    """A larger limit pays it first, and one that does not cover it is refused."""
    ledger.open("data", epsilon=1)
    receipt = ledger.spend("data", TENTH * 5)
    agreed(ledger, receipt, TENTH * 11, reason="forgotten")
    agreed(ledger, receipt, TENTH * 3, reason="and more")
    assert status(ledger, "data") == "frozen"
    assert left(ledger, "data") == 0
    assert "overdrawn: a correction took 90 % beyond the limit" in str(ledger.show("data"))
    with pytest.raises(b.InputError, match="overdrawn"):
        ledger.thaw("data", reason="not yet")
    with pytest.raises(b.InputError, match="used 106 % of that limit"):
        ledger.limit("data", epsilon="1.8", reason="too little")
    ledger.limit("data", epsilon=2, reason="enough")
    ledger.thaw("data", reason="settled")
    assert ledger.quote("data", TENTH).fits == 1
    ledger.limit("data", epsilon=3, reason="paid once")
    assert left(ledger, "data") == Fraction(11, 10)
    assert ledger.verify()


def test_what_is_held_gives_way_to_what_has_happened(ledger: Ledger) -> None:
    """A correction that needs the room of a reservation closes it; it cannot be drawn or given back afterwards."""
    ledger.open("data", epsilon=1)
    ledger.open("team", parent="data", epsilon=1)
    receipt = ledger.spend("data", TENTH * 5)
    held = ledger.reserve("team", TENTH * 5, ttl=100)
    agreed(ledger, receipt, TENTH * 5, reason="forgotten")
    for ended in (lambda: ledger.draw(held), lambda: ledger.close(held)):
        with pytest.raises(b.errors.ReservationClosed):
            ended()
    assert left(ledger, "data") == 0
    assert left(ledger, "team") == 1
    assert status(ledger, "data") == "open"
    assert ledger.verify()


def test_a_closed_scope_stays_closed(ledger: Ledger) -> None:
    """A correction that overdraws it does not open it again."""
    ledger.open("data", epsilon=1)
    receipt = ledger.spend("data", TENTH * 5)
    ledger.retire("data", reason="done")
    agreed(ledger, receipt, TENTH * 9, reason="forgotten")
    assert status(ledger, "data") == "closed"
    with pytest.raises(b.errors.ScopeClosed):
        ledger.thaw("data", reason="no")
    assert ledger.verify()


def test_blocks_that_were_opened_since(ledger: Ledger) -> None:
    """A release on the whole data touched their part of it too."""
    ledger.open("data", epsilon=1)
    receipt = ledger.spend("data", TENTH)
    ledger.open("north", parent="data", kind="block")
    ledger.correct(receipt, TENTH * 4, reason="forgotten")
    assert ledger.quote("north", TENTH).fits == 5
    assert left(ledger, "data") == Fraction(1, 2)
    assert ledger.verify()


def test_every_root_of_a_charge(ledger: Ledger) -> None:
    """One correction reaches them all, whichever entry it names."""
    ledger.open("north", epsilon=1)
    ledger.open("south", epsilon=1)
    receipt = ledger.spend(["north", "south"], TENTH)
    first = ledger.correct(receipt, TENTH * 2, reason="forgotten", key="fix")
    again = ledger.correct(receipt, TENTH * 2, reason="forgotten", key="fix")
    assert again.replayed
    assert (again.root, again.seq) == (first.root, first.seq)
    assert left(ledger, "north") == left(ledger, "south") == Fraction(7, 10)
    ledger.correct(("south", 2), TENTH, reason="the other entry")
    assert left(ledger, "north") == left(ledger, "south") == Fraction(6, 10)
    ledger.correct(first, TENTH, reason="the correction was wrong too")
    assert left(ledger, "north") == left(ledger, "south") == Fraction(5, 10)
    assert ledger.verify()


def test_draws_where_the_root_holds_nothing(ledger: Ledger) -> None:
    """What was paid at once on the root is still released there, and corrected there."""
    ledger.open("data", epsilon=1, delta="1e-6", currency="sums")
    ledger.open("team", parent="data", epsilon=1)
    drawn = ledger.draw(ledger.reserve("team", "laplace(scale=20)*5", ttl=100, delta="1e-7"))
    assert ledger.show("data").released == (("laplace(scale=20)*5", 1),)
    before = left(ledger, "data")
    ledger.correct(drawn, "laplace(scale=5)", reason="forgotten", delta="1e-7")
    assert left(ledger, "data") < before - Fraction(19, 100)
    assert ledger.verify()


GAUSSIAN = b.Gaussian(sigma=50)
RESPONSE = b.RandomizedResponse(epsilon=0.1)


def test_squares_of_gaussians_add_up_in_any_order(ledger: Ledger) -> None:
    """Where all is Gaussian a late one costs its square, and the scope goes on."""
    ledger.open("data", epsilon=1, delta="1e-6")
    receipt = ledger.spend("data", GAUSSIAN * 3)
    before = left(ledger, "data", "residue")
    ledger.correct(receipt, GAUSSIAN, reason="forgotten")
    assert left(ledger, "data", "residue") < before
    assert status(ledger, "data") == "open"
    ledger.bring_in("data", "what,count\ngaussian(sigma=50),4\n")
    ledger.spend("data", GAUSSIAN)
    assert ledger.verify(reprice=True)


@pytest.mark.parametrize("there", ["ran", "reserved"])
def test_certificates_speak_of_an_order(ledger: Ledger, there: str) -> None:
    """Beside a release that was charged by a certificate, run or reserved, nothing is charged late by its square."""
    ledger.open("data", epsilon=1, delta="1e-6")
    receipt = ledger.spend("data", GAUSSIAN)
    if there == "ran":
        ledger.spend("data", RESPONSE)
    else:
        ledger.reserve("data", RESPONSE, ttl=100)
    with pytest.raises(b.errors.CostInvalid, match="order"):
        ledger.bring_in("data", "what\ngaussian(sigma=50)\n")
    with pytest.raises(b.errors.CostInvalid, match="order"):
        ledger.open("part", parent="data", kind="block", spent=[GAUSSIAN])
    assert ledger.quote("data", GAUSSIAN).fits > 0
    agreed(ledger, receipt, GAUSSIAN, reason="forgotten")
    assert status(ledger, "data") == "frozen"
    with pytest.raises(b.InputError, match="no price"):
        ledger.limit("data", epsilon=2, reason="nobody knows by how much")
    with pytest.raises(b.InputError, match="overdrawn"):
        ledger.thaw("data", reason="try")
    assert "no price" in str(ledger.show("data"))
    assert ledger.verify()


def test_sums_of_losses_pay_late_where_they_live(ledger: Ledger) -> None:
    """Pure releases out of order are paid by Σε alone; the residue is given up."""
    ledger.open("data", epsilon=1, delta="1e-6")
    receipt = ledger.spend("data", RESPONSE)
    agreed(ledger, receipt, RESPONSE, reason="forgotten")
    found = ledger.show("data")
    assert found.line("residue").dead
    assert found.line("epsilon").left == Fraction(8, 10)
    ledger.bring_in("data", "what,count\nrandomized_response(epsilon=0.1),3\n")
    assert left(ledger, "data") == Fraction(5, 10)
    assert ledger.quote("data", RESPONSE).fits == 5
    assert ledger.verify()


def test_reservations_that_are_over_do_not_count(url: str, tmp_path: Path) -> None:
    """What can no longer be drawn does not stand in the way of a late Gaussian."""
    clock = Clock()
    with Ledger(url, anchor=str(tmp_path / "a"), clock=clock, alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        ledger.spend("data", GAUSSIAN)
        ledger.reserve("data", RESPONSE, ttl=1)
        clock.now += 2_000_000
        ledger.bring_in("data", "what\ngaussian(sigma=50)\n")
        assert ledger.verify(reprice=True)


def test_windows_start_anew_after_an_overdraft(url: str, tmp_path: Path) -> None:
    """What one period was overdrawn by is its root's, not the next period's."""
    clock = Clock()
    with Ledger(url, anchor=str(tmp_path / "a"), clock=clock, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.open("daily", parent="data", kind="window", epsilon="1/5", period=86400)
        agreed(ledger, ledger.spend("daily", TENTH), TENTH * 4, reason="forgotten")
        assert status(ledger, "daily") == "frozen"
        clock.now += 86_400_000_000
        ledger.thaw("daily", reason="another day")
        assert ledger.quote("daily", TENTH).fits == 2
        assert left(ledger, "data") == Fraction(1, 2)
        assert ledger.verify()


def test_a_closed_block_does_not_hold_its_root(ledger: Ledger) -> None:
    """However overdrawn it is: nothing is charged to it any more."""
    ledger.open("data", epsilon=1)
    ledger.open("north", parent="data", kind="block")
    agreed(ledger, ledger.spend("north", TENTH), TENTH * 30, reason="forgotten")
    with pytest.raises(b.InputError, match="north"):
        ledger.limit("data", epsilon=2, reason="more")
    ledger.retire("north", reason="done")
    ledger.limit("data", epsilon=2, reason="more")
    assert ledger.verify()


def test_more_than_the_release_needs_consent(ledger: Ledger) -> None:
    """A late response is paid by Σε alone: the refusal says what that takes and gives up, and charges nothing."""
    ledger.open("data", epsilon=1, delta="1e-6")
    receipt = ledger.spend("data", RESPONSE)
    before = ledger.show("data").lines
    with pytest.raises(b.errors.ConsentNeeded) as price:
        ledger.correct(receipt, RESPONSE, reason="forgotten", key="fix")
    for said in (
        "data: charged out of its order",
        "takes 10 %",
        "a way of counting ends",
        "in its order it would take",
    ):
        assert said in str(price.value)
    assert ledger.show("data").lines == before
    with pytest.raises(b.errors.ConsentNeeded, match="not what it would do now") as other:
        ledger.correct(receipt, RESPONSE, reason="forgotten", key="fix", consent="something else")
    assert other.value.consent == price.value.consent
    done = ledger.correct(receipt, RESPONSE, reason="forgotten", key="fix", consent=price.value.consent)
    assert not done.replayed
    assert done.body["consent"] == price.value.consent
    assert ledger.correct(receipt, RESPONSE, reason="forgotten", key="fix").replayed
    ledger.correct(receipt, RESPONSE, reason="again", key="now the other way is gone")


def test_what_costs_the_same_needs_none(ledger: Ledger) -> None:
    """Gaussians among Gaussians, and all where prices do not depend on the order; a consent is not in the way."""
    ledger.open("data", epsilon=1, delta="1e-6")
    ledger.correct(ledger.spend("data", GAUSSIAN), GAUSSIAN * 2, reason="forgotten", consent="not asked for")
    for number, currency in enumerate(("sums", "advanced", "concentrated")):
        ledger.open(f"s{number}", epsilon=1, delta="1e-6", currency=currency)
        ledger.correct(ledger.spend(f"s{number}", RESPONSE), RESPONSE, reason="forgotten")
    ledger.open("rho", rho=1)
    ledger.correct(ledger.spend("rho", GAUSSIAN), RESPONSE, reason="forgotten")
    with pytest.raises(b.InputError, match="consent"):
        ledger.correct(("rho", 2), RESPONSE, reason="x", consent=7)  # type: ignore[arg-type]


def test_consent_to_what_freezes(ledger: Ledger) -> None:
    """The refusal says which scope has not enough left, what is asked, and for how long it freezes."""
    ledger.open("data", epsilon=1)
    ledger.open("team", parent="data", epsilon="1/2")
    receipt = ledger.spend("team", TENTH * 4)
    with pytest.raises(b.errors.ConsentNeeded) as price:
        ledger.correct(receipt, TENTH * 2, reason="forgotten")
    assert "team: it asked for 40 %, 20 % is left" in str(price.value)
    assert "frozen until a larger limit has paid for it" in str(price.value)
    assert "data:" not in str(price.value)
    assert status(ledger, "team") == "open"
    ledger.open("exact", epsilon=1, delta="1e-6")
    late = ledger.spend("exact", GAUSSIAN)
    ledger.spend("exact", RESPONSE)
    with pytest.raises(b.errors.ConsentNeeded, match="frozen for good"):
        ledger.correct(late, GAUSSIAN, reason="forgotten")
    assert status(ledger, "exact") == "open"


def test_consent_to_the_end_of_a_reservation(ledger: Ledger) -> None:
    """Nothing ends before somebody has agreed to that."""
    ledger.open("data", epsilon=1)
    receipt = ledger.spend("data", TENTH * 5)
    held = ledger.reserve("data", TENTH * 5, ttl=100)
    with pytest.raises(b.errors.ConsentNeeded, match=f"reservation {held.id} ends") as price:
        ledger.correct(receipt, TENTH * 2, reason="forgotten")
    assert "frozen" not in str(price.value)
    ledger.draw(held, TENTH)
    ledger.correct(receipt, TENTH * 2, reason="forgotten", consent=price.value.consent)
    with pytest.raises(b.errors.ReservationClosed):
        ledger.draw(held, TENTH)
    assert left(ledger, "data") == Fraction(2, 10)


def test_consent_outlives_what_others_spend(ledger: Ledger) -> None:
    """It is to prices and ways, not to balances; where these change, it is asked for again."""
    ledger.open("data", epsilon=1, delta="1e-6")
    receipt = ledger.spend("data", RESPONSE)
    with pytest.raises(b.errors.ConsentNeeded) as price:
        ledger.correct(receipt, RESPONSE, reason="forgotten")
    ledger.spend("data", b.RandomizedResponse(epsilon=0.01))
    ledger.correct(receipt, RESPONSE, reason="forgotten", consent=price.value.consent)
    with pytest.raises(b.errors.ConsentNeeded, match="not what it would do now"):
        ledger.correct(receipt, RESPONSE * 20, reason="forgotten", consent=price.value.consent)


def test_a_gaussian_that_only_waits_for_a_reservation(ledger: Ledger) -> None:
    """A reserved response stands in the way of a late Gaussian's square, but holds nothing: there is no price."""
    ledger.open("data", epsilon=1, delta="1e-6")
    receipt = ledger.spend("data", GAUSSIAN)
    ledger.reserve("data", RESPONSE, ttl=100)
    with pytest.raises(b.errors.ConsentNeeded, match="out of its order, and not all there is Gaussian"):
        ledger.correct(receipt, GAUSSIAN, reason="forgotten")


def test_the_foreseen_is_what_happens(ledger: Ledger) -> None:
    """Over several roots, quotas and reservations, the amounts that were shown are those that are charged."""
    small = b.RandomizedResponse(epsilon="0.02")
    ledger.open("north", epsilon=1, delta="1e-6")
    ledger.open("south", epsilon=1)
    ledger.open("south/team", epsilon="1/2")
    receipt = ledger.spend(["north", "south/team"], small * 15)
    ledger.reserve("south/team", small * 5, ttl=100)
    spent = {name: ledger.show(name).line("epsilon").spent for name in ("north", "south", "south/team")}
    with pytest.raises(b.errors.ConsentNeeded) as price:
        ledger.correct(receipt, small * 10, reason="forgotten")
    assert "reservation" in str(price.value)
    left_before = ledger.show("north").left
    ledger.correct(receipt, small * 10, reason="forgotten", consent=price.value.consent)
    for name, before in spent.items():
        assert ledger.show(name).line("epsilon").spent - before == Fraction(2, 10)
    taken = words.taken(left_before - ledger.show("north").left)
    assert f"north: charged out of its order it takes {taken}, 50 % is left afterwards" in str(price.value)
    for name in spent:
        assert status(ledger, name) == "open"
