"""What is remembered may be forgotten by another thread at any moment: whoever has just found it still has it."""

from __future__ import annotations

from typing import Any

from bursar.ledger.budget.currencies import _certificates, currency_of
from bursar.ledger.budget.currencies._base import Stateless
from bursar.ledger.budget.currencies._residue_costs import Costs
from bursar.ledger.budget.currencies.residue import Residue
from bursar.ledger.budget.release import release_of
from bursar.ledger.commit.catalogue import Catalogue
from bursar.ledger.ledger import Ledger

RELEASE = release_of("laplace(scale=100)")


class Forgetful(dict[Any, Any]):
    """Loses everything as soon as something was put in or seen to be there, as if another thread had cleared it."""

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self.clear()

    def __contains__(self, key: object) -> bool:
        there = super().__contains__(key)
        self.clear()
        return there


def default() -> Residue:
    """A currency of which nothing is remembered."""
    made = currency_of(None, {"epsilon": 1, "delta": "1e-6"})
    assert isinstance(made, Residue)
    return made


def test_a_law_that_was_just_found(monkeypatch: Any) -> None:
    """With more laws known than are kept, a charge is found all the same."""
    monkeypatch.setattr(_certificates, "_LAWS", laws := Forgetful())
    currency = default()
    payment = currency.price(RELEASE, currency.opening()).payments[0]
    assert payment is not None
    assert payment.gaussian > 0
    assert not laws


def test_a_charge_that_is_known() -> None:
    """It is found in the table of costs, or computed again."""
    currency = default()
    price = currency.price(RELEASE, currency.opening())
    currency.costs.table = currency.finder.table = Forgetful(currency.costs.table)
    currency.finder._payments.clear()
    assert currency.price(RELEASE, currency.opening()) == price


def test_lessons() -> None:
    """What was known a moment ago is left out where it is gone now, of a currency without a state."""
    pure = currency_of(None, {"epsilon": 1})
    assert isinstance(pure, Stateless)
    pure.price(RELEASE, pure.opening())
    pure._prices = Forgetful(pure._prices)
    assert set(pure.lessons([RELEASE])) == {RELEASE.mark}


def test_the_oldest_prices_go_first(monkeypatch: Any) -> None:
    """A table of costs keeps so many entries and no more."""
    monkeypatch.setattr("bursar.ledger.budget.currencies._residue_costs._MOST", 3)
    costs = Costs()
    costs.learn({("why", str(number), 0): "" for number in range(5)})
    assert [text for _, text, _ in costs.table] == ["2", "3", "4"]


def test_a_scope_that_was_just_read() -> None:
    """The catalogue of scopes gives what it read, whatever becomes of its memory."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        catalogue = Catalogue()
        catalogue._known = Forgetful()
        with ledger.store.reading() as reader:
            scope, debited, head = catalogue.find("data", reader)
        assert (scope.name, debited, head.seq) == ("data", ["data"], 1)
