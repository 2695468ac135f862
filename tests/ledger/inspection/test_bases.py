"""Prices stand on their own: no engine is asked to check one, and what an engine found stands in the entry."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.errors import BursarError
from bursar.ledger.budget.currencies import Currency, _certificates, currency_of, sums
from bursar.ledger.budget.release import release_of
from bursar.ledger.inspection import bases
from bursar.ledger.journal.body import Basis, body_in
from bursar.ledger.ledger import Ledger
from bursar.losses.residue import Points
from support.catalogue import EXAMPLES

PLAN = "poisson(gaussian(sigma=5), rate=0.01)*10"
CHEAPER = "poisson(gaussian(sigma=7), rate=0.01)*10"
A_LITTLE = "poisson(gaussian(sigma=5), rate=0.00998)*10"
SCOPES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "default": ({"epsilon": 1, "delta": "1e-6"}, {}),
    "sums": ({"epsilon": 1, "delta": "1e-6", "currency": "sums"}, {"delta": "1e-7"}),
}
ENGINES = str(Path("losses", "engines"))


@contextmanager
def no_engine() -> Iterator[None]:
    """Whoever enters a function of an engine is caught."""
    entered: set[str] = set()

    def look(frame: Any, event: str, _: Any) -> None:
        if event == "call" and ENGINES in frame.f_code.co_filename and frame.f_code.co_name != "<module>":
            entered.add(f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}")

    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(None)
    assert not entered


CURRENCIES: list[dict[str, Any]] = [
    {"epsilon": 1, "delta": "1e-6"},
    {"epsilon": 1},
    {"rho": "1/10", "delta": "1e-6"},
    {"order": 8, "epsilon": 3, "delta": "1e-6"},
    {"mu": 1},
]


@pytest.mark.parametrize("terms", CURRENCIES, ids=str)
def test_no_price_of_a_mechanism_enters_an_engine(terms: dict[str, Any]) -> None:
    """Of the whole catalogue in every kind of currency: profiles and moments are those of the law itself."""
    priced = 0
    for mechanism in [*EXAMPLES, b.parse("allocated(gaussian(sigma=3), steps=20, times=3)").terms[0].mechanism]:
        currency: Currency = currency_of(None, terms)
        currency.rest_on(())
        with no_engine():
            try:
                currency.find([release_of(mechanism)], currency.opening())
                priced += 1
            except BursarError:
                continue
    assert priced > 10


def charged(scope: str, what: str = PLAN) -> Ledger:
    """A ledger with a plan in it; prices that were known are forgotten."""
    _certificates._LAWS.clear()
    terms, more = SCOPES[scope]
    ledger = Ledger("memory://", alert=None)
    ledger.open("data", **terms, alerts=[], unit=f"u{abs(hash((scope, what))) % 10**6}")
    ledger.scope("data").currency.__init__(*_arguments(ledger))  # type: ignore[misc]
    ledger.spend("data", what, **more)
    return ledger


def _arguments(ledger: Ledger) -> tuple[Any, ...]:
    """What its currency was made of, to make it anew."""
    currency: Any = ledger.scope("data").currency
    pair = (currency.epsilon, currency.delta)
    return (*pair, currency.leak, currency.shares) if currency.name == "residue" else pair


@pytest.mark.parametrize("scope", SCOPES)
def test_an_entry_has_what_its_price_rests_on(scope: str) -> None:
    """It is checked without an engine, and listed as what only a deep verification compares; that finds it true."""
    with charged(scope) as ledger:
        (basis,) = body_in(ledger.entries("data")[-1].entry.body).bases or []
        assert basis.what == b.parse(PLAN).text() or scope == "default"
        with no_engine():
            found = ledger.verify(reprice=True)
        assert found.ok
        (listed,) = found.notices
        assert "entry 2 rests on what an engine found of" in listed
        deep = ledger.verify(deep=True)
        assert (deep.problems, deep.notices) == ((), ())


def points_of(text: str) -> Any:
    """A forger's engine, which finds the points of another release."""
    real, other = _certificates.by_engines, b.parse(text)
    return lambda composition, cut: real(other, cut)


def interval_of(text: str) -> Any:
    """A forger's theorems, which prove the ε of another release."""
    real = sums.interval_of

    def forged(release: Any, delta: Fraction) -> Basis:
        basis = real(release_of(text), delta)
        return Basis(release.text, basis.at, basis.version, basis.numbers)

    return forged


@pytest.mark.parametrize("text", [CHEAPER, A_LITTLE])
@pytest.mark.parametrize("scope", SCOPES)
def test_the_law_of_a_cheaper_release_is_found(scope: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chain, the balances and the price agree with a law that is not the release's own."""
    with monkeypatch.context() as forger:
        forger.setattr(_certificates, "by_engines", points_of(text))
        forger.setattr(_certificates.Finder, "compose", points_of(text), raising=False)
        forger.setattr(sums, "interval_of", interval_of(text))
        ledger = charged(scope)
    with ledger:
        _certificates._LAWS.clear()
        assert ledger.verify()
        found = ledger.verify(reprice=True)
        assert found.problems if (scope, text) == ("default", CHEAPER) else found.problems or found.notices
        (problem,) = ledger.verify(deep=True).problems
        assert "it is that of a cheaper release" in problem


@pytest.mark.parametrize("what", [PLAN, "laplace(scale=100)", "randomized_response(epsilon=0.02)*3"])
def test_a_price_below_that_of_its_law_is_found(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Charges of half the certified ones: an entry that rests on a true law and paid too little."""
    real = _certificates.smallest_charge
    with monkeypatch.context() as forger:

        def halved(*given: Any) -> float | None:
            charge = real(*given)
            return None if charge is None else charge / 2

        forger.setattr(_certificates, "smallest_charge", halved)
        ledger = charged("default", what)
    with ledger:
        ledger.scope("data").currency.__init__(*_arguments(ledger))  # type: ignore[misc]
        _certificates._LAWS.clear()
        from bursar.ledger.budget.currencies import currency_with

        currency_with.cache_clear()
        assert ledger.verify()
        assert "less than its price" in str(ledger.verify(reprice=True).problems)


@pytest.mark.parametrize("scope", SCOPES)
def test_an_entry_that_hides_what_it_rests_on_is_found(scope: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it there is no such price, or a dearer one."""
    with monkeypatch.context() as forger:
        forger.setattr("bursar.ledger.verbs.spend.bases_of", lambda *_: None)
        ledger = charged(scope)
    with ledger:
        assert ledger.verify()
        assert ledger.verify(reprice=True).problems


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("numbers", ["", "nan", "0 1 2", "-1 2", "1e999 1", "inf inf", "x y", "0.5 " + "2 " * 41])
def test_a_damaged_basis_is_a_problem_and_no_crash(scope: str, numbers: str) -> None:
    """Whatever stands there instead of points or of an interval."""
    what, at = (PLAN, "1/10000000") if scope == "sums" else (b.parse(PLAN).text(), "1e-18")
    basis = Basis(release_of(what).text, at, 1, numbers)
    for compare in (bases.cheaply, bases.deeply):
        assert compare(basis)


def test_a_law_that_costs_a_little_more_than_today_is_none_of_a_cheaper_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine of another day that was less sharp: its entries verify, deeply too."""
    real = _certificates.by_engines

    def blunt(composition: b.Composition, cut: float) -> Points:
        found = real(composition, cut)
        return found._replace(deltas=tuple(min(1.0, delta * 1.001) for delta in found.deltas))

    with monkeypatch.context() as other:
        other.setattr(_certificates, "by_engines", blunt)
        ledger = charged("default")
    with ledger:
        assert ledger.verify(deep=True)
