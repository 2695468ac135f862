"""Corrections and past releases: they reach all that was touched, what they overdraw stays owed, order matters, and
where they do more than charge a release somebody is asked first. The ledger's fixture verifies and reprices it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.errors import ConsentNeeded
from bursar.ledger.ledger import Ledger
from support.hands import TENTH, Clock, agreed, left

GAUSSIAN = b.Gaussian(sigma=50)
RESPONSE = b.RandomizedResponse(epsilon=0.1)
SMALL = b.RandomizedResponse(epsilon="0.02")
TABLE = "what,count\nrandomized_response(epsilon=0.02),5\n"
NOT_NOW = "not what it would do now"


def status(ledger: Ledger, name: str = "data") -> str:
    """Of a scope."""
    return ledger.show(name).scope.row.status


def used(ledger: Ledger, what: object, **terms: Any) -> b.Receipt:
    """A scope with one release in it."""
    ledger.open("data", epsilon=1, **terms)
    return ledger.spend("data", what)


def asked(verb: Callable[..., object], *given: object, **more: Any) -> ConsentNeeded:
    """What a verb asks before it does more than charge."""
    with pytest.raises(ConsentNeeded) as price:
        verb(*given, **more)
    return price.value


def test_what_is_overdrawn_is_owed(ledger: Ledger) -> None:
    """A larger limit pays it first, one that does not cover it is refused, and no overdraft opens a closed scope."""
    receipt = used(ledger, TENTH * 5)
    agreed(ledger, receipt, TENTH * 11, reason="forgotten")
    agreed(ledger, receipt, TENTH * 3, reason="and more")
    assert status(ledger) == "frozen"
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
    ledger.retire("data", reason="done")
    agreed(ledger, receipt, TENTH * 20, reason="and even more")
    assert status(ledger) == "closed"
    with pytest.raises(b.errors.ScopeClosed):
        ledger.thaw("data", reason="no")


def test_a_block_was_touched_before_it_was_opened(ledger: Ledger) -> None:
    """A release on the whole data touched it too; once it is closed it holds its root no more, however overdrawn."""
    receipt = used(ledger, TENTH)
    ledger.open("north", parent="data", kind="block")
    ledger.correct(receipt, TENTH * 4, reason="forgotten")
    assert ledger.quote("north", TENTH).fits == 5
    assert left(ledger, "data") == Fraction(1, 2)
    agreed(ledger, ledger.spend("north", TENTH), TENTH * 30, reason="forgotten")
    with pytest.raises(b.InputError, match="north"):
        ledger.limit("data", epsilon=2, reason="more")
    ledger.retire("north", reason="done")
    ledger.limit("data", epsilon=2, reason="more")


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
    for entry, tenths in ((("south", 2), 6), (first, 5)):
        ledger.correct(entry, TENTH, reason="by the other entry, and because the correction was wrong too")
        assert left(ledger, "north") == left(ledger, "south") == Fraction(tenths, 10)


def test_draws_where_the_root_holds_nothing(ledger: Ledger) -> None:
    """What was paid at once on the root is still released there, and corrected there."""
    ledger.open("data", epsilon=1, delta="1e-6", currency="sums")
    ledger.open("team", parent="data", epsilon=1)
    drawn = ledger.draw(ledger.reserve("team", "laplace(scale=20)*5", ttl=100, delta="1e-7"))
    assert ledger.show("data").released == (("laplace(scale=20)*5", 1),)
    before = left(ledger, "data")
    ledger.correct(drawn, "laplace(scale=5)", reason="forgotten", delta="1e-7")
    assert left(ledger, "data") < before - Fraction(19, 100)


@pytest.mark.parametrize(
    ("verb", "terms", "question"),
    [("spend", {}, "frozen for good"), ("reserve", {"ttl": 100}, "out of its order")],
)
def test_certificates_speak_of_an_order(ledger: Ledger, verb: str, terms: dict[str, Any], question: str) -> None:
    """Beside a release that was charged by a certificate, run or reserved, nothing is charged late by its square."""
    receipt = used(ledger, GAUSSIAN, delta="1e-6", splits=[("0", "1")])
    getattr(ledger, verb)("data", RESPONSE, **terms)
    with pytest.raises(b.errors.CostInvalid, match="order"):
        ledger.bring_in("data", "what\ngaussian(sigma=50)\n")
    with pytest.raises(b.errors.CostInvalid, match="order"):
        ledger.open("part", parent="data", kind="block", spent=[GAUSSIAN])
    assert ledger.quote("data", GAUSSIAN).fits > 0
    assert question in str(asked(ledger.correct, receipt, GAUSSIAN, reason="forgotten"))
    assert status(ledger) == "open"
    agreed(ledger, receipt, GAUSSIAN, reason="forgotten")
    assert status(ledger) == "frozen"
    with pytest.raises(b.InputError, match="no price"):
        ledger.limit("data", epsilon=2, reason="nobody knows by how much")
    with pytest.raises(b.InputError, match="overdrawn"):
        ledger.thaw("data", reason="try")
    assert "no price" in str(ledger.show("data"))


def test_what_is_over_does_not_count(url: str, tmp_path: Path) -> None:
    """Reservations past their time, of which nothing ran, do not count as having run."""
    clock = Clock()
    with Ledger(url, anchor=str(tmp_path / "a"), clock=clock, alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        ledger.reserve("data", RESPONSE, ttl=86399)
        scope = ledger.scope("data")
        with ledger.store.reading() as reader:
            assert ledger.office.view(reader).ran(scope)
        clock.now += 86_400_000_000
        ledger.bring_in("data", "what\nlaplace(scale=50)\n")
        assert [one.entry.kind for one in ledger.entries("data")][-2:] == ["expire", "import"]
        assert ledger.verify(reprice=True)


LARGE = b.RandomizedResponse(epsilon=Fraction(9, 10))
LATE = f"what,count\n{LARGE},1\n"
ASKED: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = {
    "correct": (
        {"entry": ("data", 2), "what": LARGE, "reason": "forgotten"},
        {"what": b.RandomizedResponse(epsilon=Fraction(91, 100))},
        ("correcting entry 2 of data", "correct again"),
    ),
    "bring_in": (
        {"scope": "data", "table": LATE},
        {"table": LATE.replace("9/10", "91/100")},
        ("bringing a past release into data", "bring in again"),
    ),
    "open": (
        {"scope": "data/may", "kind": "block", "spent": [LARGE]},
        {"spent": [b.RandomizedResponse(epsilon=Fraction(91, 100))]},
        ("opening data/may", "open data/may again"),
    ),
}
"""By verb: what comes late, how something else would, and what the question says."""


@pytest.mark.parametrize("verb", ASKED)
def test_more_than_the_release_needs_consent(ledger: Ledger, verb: str) -> None:
    """What comes late may leave nothing for Gaussian-like releases: the refusal says so, and charges nothing until
    somebody agrees to just that; a replay asks nobody, nor does a block that is opened later.
    """
    given, other, question = ASKED[verb]
    given = {**given, "key": "late"}
    used(ledger, b.RandomizedResponse(epsilon=Fraction(1, 100)), delta="1e-6")
    before, do = ledger.show("data").lines, getattr(ledger, verb)
    price = asked(do, **given)
    for said in (*question, "nothing is left for Gaussian-like releases afterwards, for good"):
        assert said in str(price)
    again = asked(do, **given, consent="something else")
    assert again.consent == price.consent
    for refusal in (again, asked(do, **{**given, **other}, consent=price.consent)):
        assert NOT_NOW in str(refusal)
    assert ledger.show("data").lines == before
    assert [scope.name for scope in ledger.scopes()] == ["data"]
    done = do(**given, consent=price.consent)
    assert not done.replayed
    assert done.body["consent"] == price.consent
    assert do(**given).replayed
    ledger.open("data/june", kind="block")


def test_pure_releases_pay_late_without_a_question(ledger: Ledger) -> None:
    """By the pure parts alone, which have no order: it is dearer than in its order, and nobody is asked."""
    receipt = used(ledger, RESPONSE, delta="1e-6")
    ledger.correct(receipt, RESPONSE, reason="forgotten")
    found = ledger.show("data").figures
    assert found is not None
    assert found.pure == Fraction(8, 10)
    ledger.bring_in("data", "what,count\nrandomized_response(epsilon=0.1),2\n")
    assert ledger.quote("data", RESPONSE).fits == 6
    assert ledger.quote("data", b.Gaussian(sigma=50)).fits > 10
    again = asked(ledger.correct, receipt, RESPONSE * 20, reason="forgotten")
    assert "frozen for good" in str(again)


EXACT = {"epsilon": 1, "delta": "1e-6"}
SAME: list[tuple[dict[str, Any], Any, Any]] = [
    (EXACT, GAUSSIAN * 3, GAUSSIAN),
    *(({**EXACT, "currency": name}, SMALL, SMALL) for name in ("sums", "advanced", "concentrated")),
    ({"epsilon": 1}, SMALL, SMALL),
    ({"rho": 1}, GAUSSIAN, SMALL),
]
"""Terms of a scope, a release in it, and one that comes late."""


def test_what_costs_the_same_needs_no_consent(ledger: Ledger) -> None:
    """An unused scope, Gaussians among Gaussians, whose squares add up in any order, and all where prices do not depend
    on the order: the scope goes on, and a consent is not in the way.
    """
    ledger.open("new", **EXACT)
    ledger.bring_in("new", TABLE)
    for number, (terms, before, late) in enumerate(SAME):
        name = f"s{number}"
        ledger.open(name, **terms)
        receipt = ledger.spend(name, before)
        unspent = ledger.show(name).left
        ledger.correct(receipt, late, reason="forgotten")
        assert ledger.show(name).left < unspent
        ledger.correct(receipt, late, reason="forgotten too", consent="not asked for")
        assert "consent" not in ledger.bring_in(name, f"what,count\n{late},4\n").body
        assert status(ledger, name) == "open"
        ledger.spend(name, before)
    with pytest.raises(b.InputError, match="consent"):
        ledger.correct(("s0", 2), RESPONSE, reason="x", consent=7)  # type: ignore[arg-type]


def test_consent_to_what_freezes(ledger: Ledger) -> None:
    """The refusal says which scope has not enough left, what is asked, and for how long it freezes."""
    ledger.open("data", epsilon=1)
    ledger.open("team", parent="data", epsilon="1/2")
    price = str(asked(ledger.correct, ledger.spend("team", TENTH * 4), TENTH * 2, reason="forgotten"))
    assert "team: it asked for 40 %, 20 % is left" in price
    assert "frozen until a larger limit has paid for it" in price
    assert "data:" not in price
    assert status(ledger, "team") == "open"


def test_what_is_held_gives_way_to_what_has_happened(ledger: Ledger) -> None:
    """A correction ends, once that is agreed to, a reservation whose room it needs: it is not drawn or given back."""
    receipt = used(ledger, TENTH * 5)
    ledger.open("team", parent="data", epsilon=1)
    held = ledger.reserve("team", TENTH * 5, ttl=100)
    assert left(ledger, "team") == Fraction(5, 10)
    price = asked(ledger.correct, receipt, TENTH * 4, reason="forgotten")
    assert f"reservation {held.id} ends" in str(price)
    assert "frozen" not in str(price)
    ledger.draw(held, TENTH)
    ledger.correct(receipt, TENTH * 4, reason="forgotten", consent=price.consent)
    for ended in (lambda: ledger.draw(held), lambda: ledger.close(held)):
        with pytest.raises(b.errors.ReservationClosed):
            ended()
    assert left(ledger, "data") == 0
    assert left(ledger, "team") == Fraction(9, 10)
    assert status(ledger) == "open"


def test_the_foreseen_is_what_happens(ledger: Ledger) -> None:
    """Over several roots, quotas and reservations, the amounts that were shown are those that are charged."""
    ledger.open("north", epsilon=1, delta="1e-6")
    ledger.open("south", epsilon=1)
    ledger.open("south/team", epsilon="1/2")
    receipt = ledger.spend(["north", "south/team"], SMALL * 15)
    ledger.reserve("south/team", SMALL * 5, ttl=100)
    spent = {name: ledger.show(name).line("epsilon").spent for name in ("south", "south/team")}
    price = asked(ledger.correct, receipt, SMALL * 10, reason="forgotten")
    assert "reservation" in str(price)
    ledger.correct(receipt, SMALL * 10, reason="forgotten", consent=price.consent)
    for name, before in spent.items():
        assert ledger.show(name).line("epsilon").spent - before == Fraction(2, 10)
        assert status(ledger, name) == "open"
    found = ledger.show("north").figures
    assert found is not None
    assert found.pure == Fraction(1, 2)


def test_the_question_names_every_scope(ledger: Ledger) -> None:
    """The scope and the one above it, each with a line in the question; what does not fit is refused, not asked."""
    ledger.open("data", epsilon=1, delta="1e-6")
    ledger.open("data/team", epsilon="1/2", delta="1e-7")
    ledger.spend("data/team", SMALL)
    for consent in (None, "something"):
        with pytest.raises(b.errors.BudgetExceeded):
            ledger.bring_in("data/team", TABLE.replace(",5", ",2000"), consent=consent)
    price = asked(ledger.bring_in, "data/team", "what\nrandomized_response(epsilon=0.45)\n")
    assert [scope for scope, _ in price.lines] == ["data/team"]
    ledger.bring_in("data/team", "what\nrandomized_response(epsilon=0.45)\n", consent=price.consent)
    assert "0 % left for Gaussian-like releases" in str(ledger.show("data/team"))


def test_who_may_not_see_a_scope_is_not_told_its_price() -> None:
    """The line of a scope beyond somebody's reach becomes one without a name or a number."""
    lines = [("data", "data: takes 7 %"), ("data/team", "data/team: takes 9 %"), ("top", "top: takes 3 %")]
    said = "it does more:\n" + "".join(f"  {line}\n" for _, line in lines) + "Nothing was charged"
    needed = ConsentNeeded(said, consent="abc", lines=lines)
    told = needed.about(lambda scope: scope == "data/team")
    assert "data/team: takes 9 %" in str(told)
    assert "a budget above yours" in str(told)
    assert not [hidden for hidden in ("data: ", "7 %", "top", "3 %") if hidden in str(told)]
    assert told.consent == "abc"
    assert needed.about(lambda scope: True) is needed
