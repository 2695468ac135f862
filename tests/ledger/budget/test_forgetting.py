"""What is remembered may be forgotten by another thread at any moment: whoever has just found it still has it."""

from __future__ import annotations

from typing import Any

from bursar.ledger.budget.currencies import currency_of
from bursar.ledger.budget.currencies._base import Stateless
from bursar.ledger.budget.currencies._residue_prices import Tariff
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


def test_a_law_that_was_just_found() -> None:
    """On a residue line, with more laws known than are kept."""
    currency = currency_of(None, {"epsilon": 1, "delta": "1e-6"})
    assert isinstance(currency, Residue)
    currency.appraiser._laws = Forgetful()
    assert currency.price(RELEASE, currency.opening()).ways["residue"]["residue"] > 0
    assert not currency.appraiser._laws


def test_a_charge_that_is_known() -> None:
    """It is found in the tariff, or computed again."""
    currency = currency_of(None, {"epsilon": 1, "delta": "1e-6"})
    assert isinstance(currency, Residue)
    price = currency.price(RELEASE, currency.opening())
    currency.tariff.charges, currency.tariff.sums = Forgetful(currency.tariff.charges), {}
    assert currency.price(RELEASE, currency.opening()) == price


def test_lessons() -> None:
    """What was known a moment ago is left out where it is gone now, of both kinds of currencies."""
    pure = currency_of(None, {"epsilon": 1})
    assert isinstance(pure, Stateless)
    pure.price(RELEASE, pure.opening())
    pure._prices = Forgetful(pure._prices)
    assert set(pure.lessons([RELEASE])) == {RELEASE.mark}
    currency = currency_of(None, {"epsilon": 1, "delta": "1e-6"})
    assert isinstance(currency, Residue)
    currency.price(RELEASE, currency.opening())
    tariff: Tariff = currency.tariff
    tariff.mechanisms, tariff.reasons = Forgetful(tariff.mechanisms), Forgetful(tariff.reasons)
    assert set(tariff.part([RELEASE]).mechanisms) == {RELEASE.text}


def test_the_oldest_prices_go_first(monkeypatch: Any) -> None:
    """A tariff keeps so many entries and no more."""
    monkeypatch.setattr("bursar.ledger.budget.currencies._residue_prices._MOST", 3)
    tariff, more = Tariff(), Tariff()
    more.reasons = {str(number): "" for number in range(5)}
    tariff.learn(more)
    assert list(tariff.reasons) == ["2", "3", "4"]


def test_a_scope_that_was_just_read() -> None:
    """The catalogue of scopes gives what it read, whatever becomes of its memory."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        catalogue = Catalogue()
        catalogue._known = Forgetful()
        with ledger.store.reading() as reader:
            scope, debited, head = catalogue.find("data", reader)
        assert (scope.name, debited, head.seq) == ("data", ["data"], 1)
