"""Past releases in a budget that is in use: their price is shown, and agreed to, where they do more than cost it."""

from __future__ import annotations

from typing import Any

import pytest

import bursar as b
from bursar.ledger.ledger import Ledger

RESPONSE = "randomized_response(epsilon=0.02)"
TABLE = f"what,count\n{RESPONSE},2\n"


def test_a_used_scope_asks_first(ledger: Ledger) -> None:
    """Late responses give up the residue, which spent now they would not: nothing is charged until that is agreed."""
    ledger.open("data", epsilon=1, delta="1e-6")
    ledger.spend("data", RESPONSE)
    before = ledger.show("data").lines
    with pytest.raises(b.errors.ConsentNeeded) as price:
        ledger.bring_in("data", TABLE, key="past")
    for said in (
        "bringing a past release into data",
        "a way of counting ends for good",
        "is left afterwards",
        "bring in again",
    ):
        assert said in str(price.value)
    assert ledger.show("data").lines == before
    with pytest.raises(b.errors.ConsentNeeded, match="not what it would do now"):
        ledger.bring_in("data", TABLE, key="past", consent="something else")
    done = ledger.bring_in("data", TABLE, key="past", consent=price.value.consent)
    assert done.body["consent"] == price.value.consent
    assert ledger.bring_in("data", TABLE, key="past").replayed
    assert ledger.verify(reprice=True)


def test_the_foreseen_is_what_is_charged(ledger: Ledger) -> None:
    """On the scope and on the one above it, each with its own line in the question."""
    ledger.open("data", epsilon=1, delta="1e-6")
    ledger.open("data/team", epsilon="1/2", delta="1e-7")
    ledger.spend("data/team", RESPONSE)
    with pytest.raises(b.errors.ConsentNeeded) as price:
        ledger.bring_in("data/team", TABLE)
    assert [scope for scope, _ in price.value.lines] == ["data/team", "data"]
    ledger.bring_in("data/team", TABLE, consent=price.value.consent)
    for name, line in price.value.lines:
        left = str(ledger.show(str(name))).partition(" used, ")[2].partition(" left")[0]
        assert f"{left} is left afterwards" in line


def test_what_costs_the_same_needs_no_consent(ledger: Ledger) -> None:
    """An unused scope, Gaussians among Gaussians, and all where prices do not depend on the order."""
    ledger.open("new", epsilon=1, delta="1e-6")
    ledger.bring_in("new", TABLE)
    ledger.open("gaussians", epsilon=1, delta="1e-6")
    ledger.spend("gaussians", "gaussian(sigma=50)")
    ledger.bring_in("gaussians", "what\ngaussian(sigma=60)\n")
    for name, terms in (("pure", {}), ("sums", {"delta": "1e-6", "currency": "sums"})):
        ledger.open(name, epsilon=1, **terms)
        ledger.spend(name, RESPONSE)
        assert "consent" not in ledger.bring_in(name, TABLE).body


def test_too_much_is_refused_before_anybody_is_asked(ledger: Ledger) -> None:
    """What does not fit is no question: all of it is refused, whatever was agreed to."""
    ledger.open("data", epsilon=1, delta="1e-6")
    ledger.spend("data", RESPONSE)
    for consent in (None, "something"):
        with pytest.raises(b.errors.BudgetExceeded):
            ledger.bring_in("data", f"what,count\n{RESPONSE},2000\n", consent=consent)


def test_who_may_not_see_a_scope_is_not_told_its_price() -> None:
    """The line of a scope beyond somebody's reach becomes one without a name or a number."""
    lines = [("data", "data: takes 7 %"), ("data/team", "data/team: takes 9 %"), ("top", "top: takes 3 %")]
    said = "it does more:\n" + "".join(f"  {line}\n" for _, line in lines) + "Nothing was charged"
    needed = b.errors.ConsentNeeded(said, consent="abc", lines=lines)
    told = needed.about(lambda scope: scope == "data/team")
    assert "data/team: takes 9 %" in str(told)
    assert "a budget above yours" in str(told)
    assert not [hidden for hidden in ("data: ", "7 %", "top", "3 %") if hidden in str(told)]
    assert told.consent == "abc"
    assert needed.about(lambda scope: True) is needed


def test_a_block_of_a_used_root_asks_first(ledger: Ledger) -> None:
    """What was released before it was opened comes late there: no way is given up until somebody agrees to that."""
    ledger.open("data", epsilon=1, delta="1e-6")
    ledger.spend("data", RESPONSE)
    given: dict[str, Any] = {"kind": "block", "spent": [RESPONSE], "key": "block"}
    with pytest.raises(b.errors.ConsentNeeded) as price:
        ledger.open("data/may", **given)
    for said in ("opening data/may", "a way of counting ends for good", "open data/may again"):
        assert said in str(price.value)
    assert [scope.name for scope in ledger.scopes()] == ["data"]
    with pytest.raises(b.errors.ConsentNeeded, match="not what it would do now"):
        ledger.open("data/may", **{**given, "spent": [RESPONSE] * 2}, consent=price.value.consent)
    done = ledger.open("data/may", **given, consent=price.value.consent)
    assert done.body["consent"] == price.value.consent
    assert ledger.open("data/may", **given).replayed
    ledger.open("data/june", kind="block")
    assert ledger.verify(reprice=True)
